/** Memory and bridges of one life of the simulated exchange, and what may be seen in them. */
import { ACCEPT_CLOCK_COMMAND, CommandType, kindOf, slotsOfKind } from '../../core/layout/command.ts'
import { createBroadcast, type Reader } from '../../core/ring/broadcast.ts'
import { countersBytes, gatewayCounters, matcherCounters } from '../../core/ring/counters.ts'
import { createQuestions } from '../../core/ring/questions.ts'
import { available, commandSlots, createRing, front, type Ring } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import type { Snapshotter } from '../../core/recovery/snapshotter.ts'
import { endSequence } from '../../core/journal/reader.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS } from '../../core/layout/table.ts'
import { CLOCK } from '../../core/state/columns.ts'
import type { Sequencer } from '../../core/sequencer/loop.ts'
import type { Lane, Shared } from '../../core/threads.ts'
import {
  closeEngineClient, createEngineClient, CREDIT, register, send, slotAt, WAY_OUT, type EngineClient,
} from '../../gateway/bridge/engine_client.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Request } from './clients.ts'
import type { SimulatedJournal } from './journal.ts'
import type { LifeQuestions } from './questions.ts'

export const GATEWAYS = 2
/** Slots of a command ring and records of a reply ring: small, so that both are full often. */
const [COMMAND_RING, REPLY_RING, EVENT_RING] = [16, 64, 4096]

/** The matcher, recovered. */
export interface Recovered {
  readonly shared: Omit<Shared, 'columns'>
  readonly counters: Float64Array
  readonly journal: SimulatedJournal
  readonly sequencer: Sequencer
}

/** The exchange while it lives. */
export interface Life {
  readonly journal: SimulatedJournal
  readonly sequencer: Sequencer
  readonly bridges: readonly EngineClient[]
  readonly operator: EngineClient
  readonly events: Reader
  readonly questions: LifeQuestions
  readonly counters: Float64Array
  follower: Snapshotter | null
}

/** A copy of the answer at word `base` of a ring. */
export const replyAt = ({ slots: { bytes } }: Ring, base: number): Uint8Array => bytes.slice(base * 4, base * 4 + RECORD_BYTES)

/** A copy of the command at word `base` of a ring, which may go on at its beginning. */
export function recordAt({ slots: { bytes, u32 }, capacity }: Ring, base: number): Uint8Array {
  const slots = slotsOfKind(u32[base]!)
  const place = (slot: number): number => ((base / RECORD_WORDS + slot) % capacity) * RECORD_BYTES
  return Buffer.concat(Array.from({ length: slots }, (_, slot) => bytes.slice(place(slot), place(slot) + RECORD_BYTES)))
}

export function allocate(): Omit<Shared, 'columns'> {
  const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
  return {
    gate: cell(),
    events: createBroadcast(EVENT_RING).buffer,
    counters: new SharedArrayBuffer(countersBytes(GATEWAYS + 2)),
    ports: new SharedArrayBuffer(64),
    matcherWait: cell(),
    lanes: Array.from({ length: GATEWAYS + 1 }, () => ({
      commands: createRing(commandSlots({ commandRing: COMMAND_RING })).buffer, replies: createRing(REPLY_RING).buffer,
      wait: cell(), questions: createQuestions(),
    })),
  }
}

/** A gateway's side of a lane, the real one. The world looks for its answers; it must not look for work by itself. */
export function bridgeOn(
  shared: Omit<Shared, 'columns'>, lane: Lane, number: number, onError: (error: unknown) => void,
): EngineClient {
  const counters = gatewayCounters(shared.counters, number + 1)
  const matcher = matcherCounters(shared.counters)
  const engine = createEngineClient({
    lane, matcherWait: shared.matcherWait, gateway: number, accounts: 64, counters, matcher, faults: new Faults(onError),
    formerKeys: () => false, polls: 0,
  })
  closeEngineClient(engine)
  engine.polling = true
  engine.waking = true
  return engine
}

/** Places of the matcher itself at which a crash may happen. */
export function watchPlaces({ meter }: Sequencer, reached: (place: string) => void): void {
  const { published, applied } = meter
  Object.assign(meter, {
    published: (events: number) => {
      published(events)
      reached('applied, not answered')
    },
    applied: (...what: Parameters<typeof applied>) => {
      applied(...what)
      reached('answered')
    },
  })
}

/** The operator accepts the clock: `wall`. `posted` hears of the record. */
export function acceptClock(operator: EngineClient, wall: number, posted: (record: Uint8Array, request: Request) => void): void {
  const request: Request = { type: CommandType.ACCEPT_CLOCK, key: '', sentAt: 0, send: () => undefined }
  const pending = { onResult: () => undefined, onDeadline: () => undefined }
  const correlation = register(operator, pending, -1, CREDIT, WAY_OUT, 1e9)
  const kind = kindOf(CommandType.ACCEPT_CLOCK, 1, 0)
  const at = slotAt(operator)
  encode(ACCEPT_CLOCK_COMMAND, operator.commands.slots, at, { kind, correlation, session: -1, wall })
  posted(recordAt(operator.commands, at), request)
  send(operator, 1)
}

/**
 * Nothing of a batch is visible before its commit returned: not in the shared columns, not as an answer. What is, in
 * words; `null`: nothing.
 */
export function visibleTooEarly({ journal, sequencer, bridges }: Life): string | null {
  const end = endSequence(journal)
  const applied = sequencer.state.clock[CLOCK.SEQUENCE]!
  if (applied > end) return `sequence ${applied} is applied, only ${end} is durable`
  for (const { replies } of bridges) {
    for (let index = 0; index < available(replies); index++) {
      const at = front(replies, index)
      if (eventTypeOf(replies.slots.u32[at]!) !== EventType.RESULT) continue
      const sequence = replies.slots.f64[(at + RESULT.at.sequence) >>> 1]!
      if (sequence > end) return `sequence ${sequence} is answered, only ${end} is durable`
    }
  }
  return null
}
