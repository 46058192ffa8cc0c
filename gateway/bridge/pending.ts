/**
 * Commands on their way and who waits for their answers.
 *
 *   enlist -> slots of the command ring -> send ... matcher ... reply ring -> drain -> waiter
 *
 * Credits: every command reserves as many reply records as it can cause, so what is in flight always fits the reply ring and
 * the matcher never has to wait for a gateway. No credit or no room is an answer (OVERLOADED), and nothing was applied. A
 * command whose deadline passed loses its waiter but keeps its credits until its RESULT arrives.
 *
 * The correlation number of a command is its row in the tables here; a row is used again only after its RESULT.
 */
import { CANCEL_ALL_MAX } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { attachRing, available, consume, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { WAIT, wake } from '../../core/ring/wait.ts'
import type { Lane } from '../../core/threads.ts'

/** Reply records an ordinary command causes, and a mass cancel at most. */
export const CREDIT = 1
export const CANCEL_ALL_CREDITS = 1 + CANCEL_ALL_MAX

/** How often deadlines are looked at, ms. */
const SWEEP_MS = 1000

/** Who waits for the answers of one command or of several, which it tells apart by the `index` it gave each. */
export interface Waiter {
  /** The RESULT, at word `base`; the record is gone when this returns. */
  onResult(records: Views, base: number, index: number): void
  /** Another record of the same command; only mass cancels have them. */
  onRecord?(records: Views, base: number): void
  /** The deadline passed: whether the command was applied is unknown. */
  onDeadline(index: number): void
}

export interface Bridge {
  /** Of this gateway, as in command headers. */
  readonly gateway: number
  readonly commands: Ring
  readonly replies: Ring
  readonly cell: Int32Array
  readonly matcherCell: Int32Array
  readonly counters: Float64Array
  readonly onError: (error: unknown) => void
  readonly waiters: (Waiter | null)[]
  /** What the waiter calls the command of each row. */
  readonly indexes: Int32Array
  /** Credits each row holds; 0: the row is free. */
  readonly held: Int32Array
  readonly deadlines: Float64Array
  readonly free: Int32Array
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

export function createBridge(
  lane: Lane, matcherWait: SharedArrayBuffer, gateway: number, counters: Float64Array, onError: (error: unknown) => void,
): Bridge {
  const replies = attachRing(lane.replies)
  const rows = replies.capacity
  const bridge: Bridge = {
    gateway, counters, onError, replies,
    commands: attachRing(lane.commands),
    cell: new Int32Array(lane.wait),
    matcherCell: new Int32Array(matcherWait),
    waiters: new Array<Waiter | null>(rows).fill(null),
    indexes: new Int32Array(rows),
    held: new Int32Array(rows),
    deadlines: new Float64Array(rows),
    free: Int32Array.from({ length: rows }, (_, i) => rows - 1 - i),
    freeCount: rows,
    credits: rows,
    inFlight: 0,
    polling: false,
    sweeper: null,
    waking: false,
    wakeMatcher: () => {
      bridge.waking = false
      wake(bridge.matcherCell)
    },
  }
  bridge.sweeper = setInterval(() => sweep(bridge), SWEEP_MS)
  return bridge
}

export function closeBridge(bridge: Bridge): void {
  if (bridge.sweeper !== null) clearInterval(bridge.sweeper)
}

/** Whether `commands` commands that need `credits` in all can be sent now. */
export function hasRoom(bridge: Bridge, commands: number, credits: number): boolean {
  if (bridge.credits >= credits && bridge.freeCount >= commands && reserve(bridge.commands, commands - 1) >= 0) return true
  bridge.counters[GATEWAY.ring_full]!++
  return false
}

/** Makes `waiter` wait for one command for `deadlineMs`; returns its correlation number. Only after {@link hasRoom}. */
export const enlist = (bridge: Bridge, waiter: Waiter, credits: number, deadlineMs: number): number =>
  enlistUntil(bridge, waiter, credits, performance.now() + deadlineMs, 0)

/** As {@link enlist} for one of several commands of the same waiter, which calls it `index`; `until` on performance.now()'s clock. */
export function enlistUntil(bridge: Bridge, waiter: Waiter, credits: number, until: number, index: number): number {
  const row = bridge.free[--bridge.freeCount]!
  bridge.waiters[row] = waiter
  bridge.indexes[row] = index
  bridge.held[row] = credits
  bridge.credits -= credits
  bridge.deadlines[row] = until
  const { counters } = bridge
  const inFlight = ++bridge.inFlight
  counters[GATEWAY.pending] = inFlight
  if (inFlight > counters[GATEWAY.pending_high_water]!) counters[GATEWAY.pending_high_water] = inFlight
  return row
}

/** Word offset of the slot for the `index`-th command of this turn. */
export const slotAt = (bridge: Bridge, index: number): number => reserve(bridge.commands, index)

/**
 * Makes `count` encoded commands visible to the matcher. A matcher that sleeps is woken at the end of this turn of the event
 * loop: waking costs fifteen microseconds, and under load one turn carries many requests.
 */
export function send(bridge: Bridge, count: number): void {
  publish(bridge.commands, count)
  if (!bridge.waking) {
    bridge.waking = true
    setImmediate(bridge.wakeMatcher)
  }
  startPolling(bridge)
}

/** Hands waiting replies to their waiters; returns how many records there were. */
export function drain(bridge: Bridge): number {
  const { replies } = bridge
  const count = available(replies)
  for (let i = 0; i < count; i++) {
    const base = front(replies, 0)
    try {
      dispatch(bridge, replies.slots, base)
    } catch (error) {
      bridge.onError(error)
    }
    consume(replies, 1)
  }
  bridge.counters[GATEWAY.reply_records]! += count
  return count
}

function dispatch(bridge: Bridge, records: Views, base: number): void {
  if (eventTypeOf(records.u32[base]!) !== EventType.RESULT) {
    // ORDER_ENDED of a mass cancel; its correlation stands elsewhere in the record.
    bridge.waiters[records.u32[base + ORDER_ENDED.at.correlation]!]?.onRecord?.(records, base)
    return
  }
  const row = records.u32[base + RESULT.at.correlation]!
  const waiter = bridge.waiters[row]
  if (waiter === undefined || bridge.held[row] === 0) throw new Error(`reply to unknown command ${row}`)
  bridge.credits += bridge.held[row]!
  bridge.held[row] = 0
  bridge.waiters[row] = null
  bridge.free[bridge.freeCount++] = row
  bridge.counters[GATEWAY.pending] = --bridge.inFlight
  waiter?.onResult(records, base, bridge.indexes[row]!)
}

/**
 * Turns of the event loop that look for replies in vain before the thread parks. A turn costs a few microseconds and is how a
 * reply is seen within one; parking costs the matcher a wake-up. Few, because on a small machine the matcher, the disk and the
 * clients want the core that an idle poll would burn.
 */
const POLLS = 32
/** A parked thread looks again after this long whatever happens, ms. */
const PARK_MS = 1000

/** While commands are in flight, looks for replies once per turn of the event loop; parks when they take longer. */
function startPolling(bridge: Bridge): void {
  if (bridge.polling) return
  bridge.polling = true
  let idle = 0
  const poll = (): void => {
    idle = drain(bridge) > 0 ? 0 : idle + 1
    if (bridge.inFlight === 0) bridge.polling = false
    else if (idle < POLLS) setImmediate(poll)
    else park(bridge, resume)
  }
  const resume = (): void => {
    idle = 0
    poll()
  }
  setImmediate(poll)
}

/** Calls `resume` when the matcher wakes this lane (protocol of ring/wait.ts, for a thread that may not block). */
function park(bridge: Bridge, resume: () => void): void {
  const { cell } = bridge
  const seen = Atomics.load(cell, WAIT.WAKE)
  Atomics.store(cell, WAIT.SLEEPING, 1)
  const wakeUp = (): void => {
    Atomics.store(cell, WAIT.SLEEPING, 0)
    resume()
  }
  if (available(bridge.replies) > 0) return void setImmediate(wakeUp)
  const wait = Atomics.waitAsync(cell, WAIT.WAKE, seen, PARK_MS)
  if (wait.async) void wait.value.then(wakeUp)
  else setImmediate(wakeUp)
}

/** Tells the waiters of commands that are out of time. Their late RESULTs only free the row. */
function sweep(bridge: Bridge): void {
  if (bridge.inFlight === 0) return
  const now = performance.now()
  for (let row = 0; row < bridge.held.length; row++) {
    if (bridge.held[row] === 0 || bridge.deadlines[row]! > now) continue
    const waiter = bridge.waiters[row]
    bridge.waiters[row] = null
    try {
      waiter?.onDeadline(bridge.indexes[row]!)
    } catch (error) {
      bridge.onError(error)
    }
  }
}
