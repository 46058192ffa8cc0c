/**
 * The real engine behind the real rings, without journal, snapshots or timers: a worker that drains every lane, applies and
 * answers. For tests of what stands in front of the engine. Ends when its control word becomes 1.
 */
import { workerData } from 'node:worker_threads'
import { apply, setTime } from '../../core/engine/apply.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { attachState, type State } from '../../core/state/state.ts'
import { CommandType, slotsOfKind, typeOfKind } from '../../core/layout/command.ts'
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { monotonicMs } from '../../core/lib/io.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { attachBroadcast, broadcast } from '../../core/ring/broadcast.ts'
import { APPLYING, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { attachRing, available, consume, front, push, type Ring } from '../../core/ring/spsc.ts'
import { waitFor, wake } from '../../core/ring/wait.ts'
import type { Shared } from '../../core/threads.ts'

export interface LoopbackData {
  readonly genesis: string
  readonly shared: Shared
  /** Word 0: 1 asks the loop to end. Word 1: 1 makes it hold commands back. */
  readonly control: SharedArrayBuffer
}

interface LoopLane {
  readonly commands: Ring
  readonly replies: Ring
  readonly cell: Int32Array
}

function run({ genesis, shared, control }: LoopbackData): void {
  const outbox = createOutbox(8192)
  const state = attachState(parseGenesis(genesis), shared.columns, outbox)
  const words = new Int32Array(control)
  const gate = new Int32Array(shared.gate)
  const cell = new Int32Array(shared.matcherWait)
  const events = attachBroadcast(shared.events)
  const counters = matcherCounters(shared.counters)
  const lanes = shared.lanes.map((lane): LoopLane =>
    ({ commands: attachRing(lane.commands), replies: attachRing(lane.replies), cell: new Int32Array(lane.wait) }))
  const held = (): boolean => Atomics.load(words, 1) === 1
  const ready = (): boolean => Atomics.load(words, 0) === 1 || (!held() && lanes.some((lane) => available(lane.commands) > 0))
  while (Atomics.load(words, 0) === 0) {
    waitFor(cell, ready, 2000, 50)
    counters[MATCHER.heartbeat_ms] = Date.now()
    // Date.now() cuts the milliseconds; the greatest difference seen is the nearest to the truth.
    counters[MATCHER.clock_offset_ms] = Math.max(counters[MATCHER.clock_offset_ms]!, Date.now() - monotonicMs())
    if (held()) continue
    for (const lane of lanes) {
      const count = available(lane.commands)
      if (count === 0) continue
      setTime(state, Math.max(Date.now(), state.clock[CLOCK.TIME]!))
      Atomics.add(gate, APPLYING, 1)
      for (let done = 0; done < count; ) done += step(state, lane)
      Atomics.add(gate, APPLYING, 1)
      counters[MATCHER.sequence] = state.clock[CLOCK.SEQUENCE]!
      broadcast(events, outbox.i32, outbox.count)
      outbox.count = 0
      wake(lane.cell)
    }
  }
}

/** Applies one command and copies its answers; returns its slots. */
function step(state: State, lane: LoopLane): number {
  const { outbox } = state
  const at = front(lane.commands, 0)
  const kind = lane.commands.slots.u32[at]!
  const first = outbox.count
  apply(state, lane.commands.slots, at)
  for (let i = first; i < outbox.count; i++) {
    const base = i * RECORD_WORDS
    const type = eventTypeOf(outbox.u32[base]!)
    const mass = typeOfKind(kind) === CommandType.CANCEL_ALL && type === EventType.ORDER_ENDED
    if ((type === EventType.RESULT || mass) && !push(lane.replies, outbox.i32, base)) throw new Error('a reply ring overflowed')
  }
  const slots = Math.max(1, slotsOfKind(kind))
  consume(lane.commands, slots)
  return slots
}

run(workerData as LoopbackData)
