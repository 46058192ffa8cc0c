/**
 * Operator commands: through lane 0's command ring like anybody's, answered on lane 0's reply ring.
 *
 * The lane has one producer and one consumer of answers, this thread. Answers are taken off the ring as they come, asked for or
 * not, so that the ring never fills. An answer that does not come in time is reported as such: the command may still be applied.
 */
import { answerOf } from '../../core/layout/answers.ts'
import { kindOf } from '../../core/layout/command.ts'
import { answeredTypeOf, eventTypeOf, EventType, RESULT } from '../../core/layout/event.ts'
import { decode, encode, type Decoded, type Layout } from '../../core/layout/table.ts'
import { attachRing, available, consume, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { WAIT, wake } from '../../core/ring/wait.ts'
import type { Lane } from '../../core/threads.ts'

/** How long an answer is waited for. */
export const ANSWER_TIMEOUT_MS = 5_000
/** Commands waiting for their answers; more are refused. */
export const PENDING_MAX = 16
/** Longest sleep between two looks at the ring. */
const LOOK_EVERY_MS = 1_000

export interface Admin {
  /** Sends a command: its answer by the names of layout/answers.ts, `full` when nothing was sent, `late` when no answer came in time. */
  send(type: number, layout: Layout, values: Decoded): Promise<Sent>
  stop(): void
}

export interface LaneAdmin extends Admin {
  /** Several of one type, in order: behind the first that finds no room none is sent. */
  sendAll(type: number, layout: Layout, all: readonly Decoded[]): Promise<Sent[]>
}

export type Sent = Decoded | 'full' | 'late'

type Pending = Map<number, (result: Decoded) => void>

/** Takes all that is in the ring; who waits for one gets it. */
function takeAnswers(replies: Ring, pending: Pending): void {
  const count = available(replies)
  for (let i = 0; i < count; i++) {
    const at = front(replies, i)
    if (eventTypeOf(replies.slots.u32[at + RESULT.at.kind]!) !== EventType.RESULT) continue
    const answered = replies.slots.u32[at + RESULT.at.correlation]!
    const layout = answerOf(answeredTypeOf(replies.slots.u32[at]!), replies.slots.i32[at + RESULT.at.code]!)
    pending.get(answered)?.(decode(layout, replies.slots, at))
    pending.delete(answered)
  }
  if (count > 0) consume(replies, count)
}

export function createAdmin(lane: Lane, matcherWait: SharedArrayBuffer, timeoutMs = ANSWER_TIMEOUT_MS): LaneAdmin {
  const commands = attachRing(lane.commands)
  const replies = attachRing(lane.replies)
  const cell = new Int32Array(lane.wait)
  const matcherCell = new Int32Array(matcherWait)
  const pending: Pending = new Map()
  let correlation = 0
  let stopped = false

  /** The consumer's half of ring/wait.ts, without blocking the thread. */
  async function listen(): Promise<void> {
    while (!stopped) {
      takeAnswers(replies, pending)
      const seen = Atomics.load(cell, WAIT.WAKE)
      Atomics.store(cell, WAIT.SLEEPING, 1)
      if (available(replies) === 0) {
        const wait = Atomics.waitAsync(cell, WAIT.WAKE, seen, LOOK_EVERY_MS)
        if (wait.async) await wait.value
      }
      Atomics.store(cell, WAIT.SLEEPING, 0)
    }
  }
  void listen()

  /** Its answer to come, or `full` at once. */
  function put(type: number, layout: Layout, values: Decoded): Promise<Sent> | 'full' {
    const at = pending.size >= PENDING_MAX ? -1 : reserve(commands, 0)
    if (at < 0) return 'full'
    correlation = (correlation + 1) >>> 0
    const asked = correlation
    const answer = new Promise<Decoded | 'late'>((resolve) => {
      const timer = setTimeout(() => {
        pending.delete(asked)
        resolve('late')
      }, timeoutMs)
      pending.set(asked, (result) => {
        clearTimeout(timer)
        resolve(result)
      })
    })
    encode(layout, commands.slots, at, { kind: kindOf(type, 1, 0), correlation: asked, session: -1, ...values })
    publish(commands, 1)
    wake(matcherCell)
    return answer
  }

  return {
    send: async (type, layout, values) => put(type, layout, values),
    sendAll(type, layout, all) {
      let full = false
      return Promise.all(all.map((values) => {
        const sent = full ? 'full' : put(type, layout, values)
        full ||= sent === 'full'
        return sent
      }))
    },
    stop() {
      stopped = true
      Atomics.add(cell, WAIT.WAKE, 1)
      Atomics.notify(cell, WAIT.WAKE)
    },
  }
}
