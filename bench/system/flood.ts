/** Unsigned orders flooded into a lane: rest, trade and cancel, as fast as the matcher takes them. */
import { CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { available, consume, front, publish, reserve } from '../../core/ring/spsc.ts'
import type { Matcher } from './matcher.ts'

const C = ORDER_COMMAND.at
const PLACE = kindOf(CommandType.PLACE_ORDER, 1, 1)
const CANCEL = kindOf(CommandType.CANCEL_ORDER, 1, 1)

export interface Flood {
  readonly matcher: Matcher
  readonly sessions: readonly { session: number; generation: number }[]
  readonly random: Prng
  /** Resting orders it may cancel: slot, sequence, session index; the oldest is forgotten beyond the room. */
  readonly slots: Int32Array
  readonly sequences: Float64Array
  readonly owners: Int32Array
  known: number
  inFlight: number
}

export function createFlood(matcher: Matcher, sessions: Flood['sessions'], seed: number): Flood {
  const room = 1 << 16
  return {
    matcher,
    sessions,
    random: createPrng(seed),
    slots: new Int32Array(room),
    sequences: new Float64Array(room),
    owners: new Int32Array(room),
    known: 0,
    inFlight: 0,
  }
}

/**
 * Sends `count` commands, at most `window` unanswered; `cancels` of 100 cancel, `takes` of 100 cross, the others rest away from the
 * touch.
 */
export function flood(f: Flood, count: number, cancels: number, takes: number, window = 6000): void {
  const { commands, replies } = f.matcher
  let sent = 0
  let answered = 0
  while (answered < count) {
    let ahead = 0
    while (sent < count && f.inFlight < window && ahead < 256) {
      const at = reserve(commands, ahead)
      if (at < 0) break
      write(f, at, cancels, takes)
      ahead++
      sent++
      f.inFlight++
    }
    if (ahead > 0) {
      publish(commands, ahead)
      f.matcher.wake()
    }
    const waiting = available(replies)
    for (let index = 0; index < waiting; index++) remember(f, front(replies, index))
    if (waiting > 0) consume(replies, waiting)
    answered += waiting
    f.inFlight -= waiting
  }
}

function write(f: Flood, at: number, cancels: number, takes: number): void {
  const { random } = f
  const { i32, f64, u32 } = f.matcher.commands.slots
  i32.fill(0, at, at + RECORD_WORDS)
  const dice = random.below(100)
  const cancel = dice < cancels && f.known > 0
  const pick = cancel ? random.below(f.known) : 0
  const owner = cancel ? f.owners[pick]! : random.below(f.sessions.length)
  u32[at] = cancel ? CANCEL : PLACE
  i32[at + C.correlation] = owner
  i32[at + C.session] = f.sessions[owner]!.session
  i32[at + C.sessionGeneration] = f.sessions[owner]!.generation
  if (cancel) {
    i32[at + C.targetSlot] = f.slots[pick]!
    f64[(at + C.targetSequence) >>> 1] = f.sequences[pick]!
    f.known--
    f.slots[pick] = f.slots[f.known]!
    f.sequences[pick] = f.sequences[f.known]!
    f.owners[pick] = f.owners[f.known]!
    return
  }
  const sell = random.below(2)
  const away = dice < cancels + takes ? -random.below(3) : 1 + random.below(2000)
  i32[at + C.flags] = sell === 1 ? Flag.SELL : 0
  i32[at + C.price] = 500_000 + (sell === 1 ? away : -away)
  i32[at + C.lots] = 1 + random.below(100)
}

/** Keeps an accepted resting order for a later cancel. */
function remember(f: Flood, at: number): void {
  const { i32, f64 } = f.matcher.replies.slots
  const status = i32[at + RESULT.at.outcome]! & 0xff
  if (i32[at + RESULT.at.code] !== 0 || status === 0 || status > 2 || f.known === f.slots.length) return
  f.slots[f.known] = i32[at + RESULT.at.slot]!
  f.sequences[f.known] = f64[(at + RESULT.at.orderSequence) >>> 1]!
  f.owners[f.known] = i32[at + RESULT.at.correlation]!
  f.known++
}
