/** The memory that the threads of an exchange share, but for the engine's columns, which the matcher makes. */
import { frontThreads, type Config } from '../config.ts'
import { createBroadcast } from '../ring/broadcast.ts'
import { countersBytes } from '../ring/counters.ts'
import { portsBytes } from '../ring/ports.ts'
import { createQuestions } from '../ring/questions.ts'
import { commandSlots, createRing } from '../ring/spsc.ts'
import { WAIT_WORDS } from '../ring/wait.ts'
import type { Lane, Shared } from '../threads.ts'

export function allocate(config: Config): Omit<Shared, 'columns'> {
  const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
  const lane = (): Lane => ({
    commands: createRing(commandSlots(config)).buffer,
    replies: createRing(config.replyRing).buffer, wait: cell(), questions: createQuestions(),
  })
  return {
    gate: cell(),
    events: createBroadcast(config.eventRing).buffer,
    counters: new SharedArrayBuffer(countersBytes(frontThreads(config))),
    ports: new SharedArrayBuffer(portsBytes(frontThreads(config))),
    matcherWait: cell(),
    lanes: Array.from({ length: frontThreads(config) + 1 }, lane),
  }
}
