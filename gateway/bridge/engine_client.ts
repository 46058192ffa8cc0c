/**
 * Commands on their way and who waits for their answers.
 *
 *   noRoom -> register -> slots of the command ring -> send ... matcher ... reply ring -> drain -> pending request
 *
 * Credits: every command reserves as many reply records as it can cause, so what is in flight always fits the reply ring and
 * the matcher never has to wait for a gateway. A command may take up to three slots of the command ring and is reckoned with four
 * (ring/spsc.ts). No credit or no room is an answer, and nothing was applied. A command whose deadline passed loses its pending request
 * but keeps its credits until its RESULT arrives.
 *
 * Shares: an account may have in flight half of what is free, so nobody takes the room of all: n accounts that take what they
 * can leave 2 parts of n + 2, and a newcomer gets as much as each of them. One that asks for more is TOO_MANY_IN_FLIGHT; when a
 * newcomer would not get it either, it is OVERLOADED. What is free is the smaller of credits and commands that the ring has
 * room for. An eighth is kept for ways out: cancels and revocations may use it, nothing else. Ways in and ways out of an
 * account are counted apart, so that whoever has its share of orders in flight can cancel.
 *
 * The correlation number of a command is its row in the tables here; a row is used again only after its RESULT. What a pending request
 * throws ends the request for which the command was sent (faults.ts).
 */
import { askerOf } from '../../core/layout/answers.ts'
import { EventType, eventTypeOf, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import { DISK, GATEWAY, MATCHER } from '../../core/ring/counters.ts'
import { attachRing, available, consume, front, publish, reserve, room, SLOTS_RECKONED, type Ring } from '../../core/ring/spsc.ts'
import { WAIT, wake } from '../../core/ring/wait.ts'
import type { Lane } from '../../core/threads.ts'
import type { Faulted, Faults } from '../faults.ts'

/** Reply records that every command causes; a mass cancel causes one more for each order it ends. */
export const CREDIT = 1

/** What a command draws on: ways out may use the eighth that is kept for them. */
export const WAY_IN = 0
export const WAY_OUT = 1
export type Way = typeof WAY_IN | typeof WAY_OUT

/** How often deadlines are looked at, ms. */
const SWEEP_MS = 1000

/** Who waits for the answers of one command or of several, which it tells apart by the `index` it gave each. */
export interface PendingRequest {
  /** The RESULT, at word `base`; the record is gone when this returns. */
  onResult(records: Views, base: number, index: number): void
  /** Another record of the same command; only mass cancels have them: ORDER_ENDED, CONDITIONAL or TWAP, by `eventTypeOf` its kind. */
  onRecord?(records: Views, base: number): void
  /** The deadline passed: whether the command was applied is unknown. */
  onDeadline(index: number): void
}

export interface EngineClient {
  /** Of this gateway, as in command headers. */
  readonly gateway: number
  readonly commands: Ring
  readonly replies: Ring
  readonly cell: Int32Array
  readonly matcherCell: Int32Array
  readonly counters: Float64Array
  /** Of the matcher, read only. */
  readonly matcher: Float64Array
  readonly faults: Faults
  /** Receipts may have a payload hash of before the rules 4 (payload.ts). */
  readonly formerKeys: () => boolean
  /** Turns of the event loop that look for replies in vain before the thread parks (`polls` of core/config.ts). */
  readonly polls: number
  readonly pending: (PendingRequest | null)[]
  /** The request that each row is of (faults.ts); `null`: of none. */
  readonly requests: (Faulted | null)[]
  /** What the pending request calls the command of each row. */
  readonly indexes: Int32Array
  /** Credits each row holds; 0: the row is free. */
  readonly held: Int32Array
  /** Whose they are: index into the shares. */
  readonly holders: Int32Array
  /** Credits in flight of each account and way: 2 × (account + 1) + way; account -1: of what belongs to none. */
  readonly shares: Int32Array
  /** Kept for ways out. */
  readonly kept: number
  readonly deadlines: Float64Array
  readonly free: Int32Array
  /** Slots of the command ring that are written and not yet published. */
  written: number
  freeCount: number
  credits: number
  inFlight: number
  /** A poll is scheduled, or the thread is parked on its wait cell. */
  polling: boolean
  sweeper: NodeJS.Timeout | null
  /** The matcher is woken at the end of this turn. */
  waking: boolean
  readonly wakeMatcher: () => void
}

export interface EngineClientParts extends Pick<EngineClient, 'gateway' | 'counters' | 'matcher' | 'faults' | 'formerKeys' | 'polls'> {
  readonly lane: Lane
  readonly matcherWait: SharedArrayBuffer
  /** How many there can be. */
  readonly accounts: number
}

export function createEngineClient({ lane, matcherWait, accounts, ...parts }: EngineClientParts): EngineClient {
  const replies = attachRing(lane.replies)
  const commands = attachRing(lane.commands)
  const rows = replies.capacity
  const engine: EngineClient = {
    ...parts, replies, commands,
    holders: new Int32Array(rows),
    shares: new Int32Array(2 * (accounts + 1)),
    kept: Math.min(rows, Math.floor(commands.capacity / SLOTS_RECKONED)) >>> 3,
    cell: new Int32Array(lane.wait),
    matcherCell: new Int32Array(matcherWait),
    pending: new Array<PendingRequest | null>(rows).fill(null),
    requests: new Array<Faulted | null>(rows).fill(null),
    indexes: new Int32Array(rows),
    held: new Int32Array(rows),
    deadlines: new Float64Array(rows),
    free: Int32Array.from({ length: rows }, (_, i) => rows - 1 - i),
    written: 0,
    freeCount: rows,
    credits: rows,
    inFlight: 0,
    polling: false,
    sweeper: null,
    waking: false,
    wakeMatcher: () => {
      engine.waking = false
      wake(engine.matcherCell)
    },
  }
  engine.sweeper = setInterval(() => sweep(engine), SWEEP_MS)
  return engine
}

export function closeEngineClient(engine: EngineClient): void {
  if (engine.sweeper !== null) clearInterval(engine.sweeper)
}

const shareOf = (account: number, way: Way): number => 2 * (account + 1) + way

/** Credits that `account` (-1: none) may take now, of {@link WAY_IN} or {@link WAY_OUT}; may be negative. */
export function allowance(engine: EngineClient, account: number, way: Way): number {
  return (freeFor(engine, way, engine.replies.capacity) >> 1) - engine.shares[shareOf(account, way)]!
}

/** What is free for this way; it looks at the matcher's side of the ring only when it saw fewer than `enough` last. */
function freeFor(engine: EngineClient, way: Way, enough: number): number {
  const kept = way === WAY_OUT ? 0 : engine.kept
  return Math.min(engine.credits, Math.floor(room(engine.commands, (enough + kept) * SLOTS_RECKONED) / SLOTS_RECKONED)) - kept
}

export type Full = 'OVERLOADED' | 'TOO_MANY_IN_FLIGHT' | 'DISK_FULL'

/**
 * `null`: commands of `account` (-1: none) that need `credits` in all, at least one each, can be sent now. Otherwise why not, and it
 * is counted.
 */
export function noRoom(engine: EngineClient, account: number, credits: number, way: Way): Full | null {
  if (engine.matcher[MATCHER.disk_level] === DISK.FULL) return 'DISK_FULL'
  const needed = 2 * (engine.shares[shareOf(account, way)]! + credits)
  const free = freeFor(engine, way, needed)
  if (free >= needed) return null
  const shared = free >= 2 * credits
  engine.counters[shared ? GATEWAY.share_full : GATEWAY.ring_full]!++
  if (way === WAY_OUT) engine.counters[GATEWAY.exits_refused]!++
  return shared ? 'TOO_MANY_IN_FLIGHT' : 'OVERLOADED'
}

/**
 * Makes `pending request` wait for one command of `account` for `deadlineMs`; returns its correlation number. Only after {@link noRoom}
 * said `null`.
 */
export const register = (
  engine: EngineClient, pending: PendingRequest, account: number, credits: number, way: Way, deadlineMs: number,
): number => registerUntil(engine, pending, account, credits, way, performance.now() + deadlineMs, 0)

/**
 * As {@link register} for one of several commands of the same pending request, which calls it `index`; `until` on performance.now()'s
 * clock.
 */
export function registerUntil(
  engine: EngineClient, pending: PendingRequest, account: number, credits: number, way: Way, until: number, index: number,
): number {
  const row = engine.free[--engine.freeCount]!
  engine.pending[row] = pending
  engine.requests[row] = engine.faults.current
  engine.indexes[row] = index
  engine.deadlines[row] = until
  take(engine, row, shareOf(account, way), credits)
  const { counters } = engine
  const inFlight = ++engine.inFlight
  counters[GATEWAY.pending] = inFlight
  if (inFlight > counters[GATEWAY.pending_high_water]!) counters[GATEWAY.pending_high_water] = inFlight
  return row
}

function take(engine: EngineClient, row: number, holder: number, credits: number): void {
  engine.held[row] = credits
  engine.holders[row] = holder
  engine.shares[holder]! += credits
  engine.credits -= credits
  engine.counters[GATEWAY.credits] = engine.replies.capacity - engine.credits
}

function giveBack(engine: EngineClient, row: number): void {
  const credits = engine.held[row]!
  engine.held[row] = 0
  engine.shares[engine.holders[row]!]! -= credits
  engine.credits += credits
  engine.counters[GATEWAY.credits] = engine.replies.capacity - engine.credits
}

/** Word offset of the slot for the next command. */
export const slotAt = (engine: EngineClient): number => reserve(engine.commands, engine.written)

/**
 * Makes the encoded commands visible to the matcher; `slots`: for who wrote them otherwise than by encode.ts. A matcher that
 * sleeps is woken at the end of this turn of the event loop: waking costs fifteen microseconds, and under load one turn
 * carries many requests.
 */
export function send(engine: EngineClient, slots: number = engine.written): void {
  publish(engine.commands, slots)
  engine.written = 0
  if (!engine.waking) {
    engine.waking = true
    setImmediate(engine.wakeMatcher)
  }
  startPolling(engine)
}

/** Hands waiting replies to their pending requests; returns how many records there were. */
export function drain(engine: EngineClient): number {
  const { replies, faults } = engine
  const count = available(replies)
  for (let i = 0; i < count; i++) {
    const base = front(replies, 0)
    faults.current = null
    try {
      dispatch(engine, replies.slots, base)
    } catch (error) {
      faults.end(error)
    }
    consume(replies, 1)
  }
  faults.current = null
  engine.counters[GATEWAY.reply_records]! += count
  return count
}

function dispatch(engine: EngineClient, records: Views, base: number): void {
  const kind = records.u32[base]!
  if (eventTypeOf(kind) !== EventType.RESULT) {
    // What a mass cancel ended: ORDER_ENDED, CONDITIONAL or TWAP. The correlation stands elsewhere in the record.
    const ended = eventTypeOf(kind) === EventType.ORDER_ENDED ? records.u32[base + ORDER_ENDED.at.correlation]! : askerOf(kind)
    engine.faults.current = engine.requests[ended] ?? null
    engine.pending[ended]?.onRecord?.(records, base)
    return
  }
  const row = records.u32[base + RESULT.at.correlation]!
  const pending = engine.pending[row]
  if (pending === undefined || engine.held[row] === 0) throw new Error(`reply to unknown command ${row}`)
  giveBack(engine, row)
  engine.faults.current = engine.requests[row]!
  engine.requests[row] = null
  engine.pending[row] = null
  engine.free[engine.freeCount++] = row
  engine.counters[GATEWAY.pending] = --engine.inFlight
  pending?.onResult(records, base, engine.indexes[row]!)
}

/** A parked thread looks again after this long whatever happens, ms. */
const PARK_MS = 1000

/**
 * While commands are in flight, looks for replies once per turn of the event loop, and parks when they take longer. A turn costs a few
 * microseconds and is how a reply is seen within one; parking costs the matcher a wake-up. Where threads share cores, matcher and clients
 * want the core that a vain look would burn.
 */
function startPolling(engine: EngineClient): void {
  if (engine.polling) return
  engine.polling = true
  let idle = 0
  const poll = (): void => {
    idle = drain(engine) > 0 ? 0 : idle + 1
    if (engine.inFlight === 0) engine.polling = false
    else if (idle <= engine.polls) setImmediate(poll)
    else park(engine, resume)
  }
  const resume = (): void => {
    idle = 0
    poll()
  }
  setImmediate(poll)
}

/** Calls `resume` when the matcher wakes this lane (protocol of ring/wait.ts, for a thread that may not block). */
function park(engine: EngineClient, resume: () => void): void {
  const { cell } = engine
  const seen = Atomics.load(cell, WAIT.WAKE)
  Atomics.store(cell, WAIT.SLEEPING, 1)
  const wakeUp = (): void => {
    Atomics.store(cell, WAIT.SLEEPING, 0)
    resume()
  }
  if (available(engine.replies) > 0) return void setImmediate(wakeUp)
  const wait = Atomics.waitAsync(cell, WAIT.WAKE, seen, PARK_MS)
  if (wait.async) void wait.value.then(wakeUp)
  else setImmediate(wakeUp)
}

/** Tells the pending requests of commands that are out of time. Their late RESULTs only free the row. */
function sweep(engine: EngineClient): void {
  if (engine.inFlight === 0) return
  const now = performance.now()
  for (let row = 0; row < engine.held.length; row++) {
    if (engine.held[row] === 0 || engine.deadlines[row]! > now) continue
    const pending = engine.pending[row]
    const request = engine.requests[row]!
    engine.pending[row] = null
    engine.requests[row] = null
    engine.faults.guard(request, () => pending?.onDeadline(engine.indexes[row]!))
  }
}
