/** Requests about orders that wait as command records (layout/conditional.ts, layout/twap.ts), as encode.ts writes the others. */
import { CommandType, ORDER_COMMAND } from '../../core/layout/command.ts'
import { ATTACH_CONDITIONALS_COMMAND, CANCEL_CONDITIONAL_COMMAND } from '../../core/layout/conditional.ts'
import { CANCEL_TWAP_COMMAND, CREATE_TWAP_COMMAND } from '../../core/layout/twap.ts'
import type { Caller } from '../auth/signed_request.ts'
import type { EngineClient } from './engine_client.ts'
import { begin, finishFor, scratch, scratchBytes } from './scratch.ts'
import type { LegsTerms, LegTerms, TrailTerms, TwapTerms } from './terms.ts'

const O = ORDER_COMMAND.at
const A = ATTACH_CONDITIONALS_COMMAND.at
const T = CREATE_TWAP_COMMAND.at

/** Words of a leg from its first on: of a trailing stop that is its bps, and the third its activation price. */
const LEG = { FIRST: 0, FLAGS: 1, THIRD: 2, LOTS: 3, SLIPPAGE: 4, EXPIRES: 6 } as const

function writeLeg(at: number, first: number, third: number, leg: LegTerms | TrailTerms): void {
  const { i32, f64 } = scratch
  i32[at + LEG.FIRST] = first
  i32[at + LEG.FLAGS] = leg.flags
  i32[at + LEG.THIRD] = third
  i32[at + LEG.LOTS] = leg.lots
  i32[at + LEG.SLIPPAGE] = leg.slippageBps
  f64[(at + LEG.EXPIRES) >>> 1] = leg.expiresAt
}

function writeLegs(legs: LegsTerms, profit: number, stop: number, trail: number): void {
  if (legs.takeProfit !== null) writeLeg(profit, legs.takeProfit.trigger, legs.takeProfit.limit, legs.takeProfit)
  if (legs.stopLoss !== null) writeLeg(stop, legs.stopLoss.trigger, legs.stopLoss.limit, legs.stopLoss)
  if (legs.trailingStop !== null) writeLeg(trail, legs.trailingStop.bps, legs.trailingStop.activation, legs.trailingStop)
}

/** The legs of the PLACE_ORDER in the scratch, in its third slot. */
export const writeOrderLegs = (legs: LegsTerms): void => writeLegs(legs, O.profitTrigger, O.stopTrigger, O.trailBps)

/** ATTACH_CONDITIONALS to the position in this row that the command `openedSequence` opened. */
export function encodeAttach(
  engine: EngineClient, at: number, correlation: number, caller: Caller, position: number, openedSequence: number, legs: LegsTerms,
): void {
  begin(CommandType.ATTACH_CONDITIONALS)
  scratch.i32[A.position] = position
  scratch.f64[A.openedSequence >>> 1] = openedSequence
  writeLegs(legs, A.profitTrigger, A.stopTrigger, A.trailBps)
  finishFor(engine, at, CommandType.ATTACH_CONDITIONALS, correlation, caller)
}

/** CANCEL_CONDITIONAL of what is `leg` (ConditionType) of the command `createdSequence`. */
export function encodeCancelConditional(
  engine: EngineClient, at: number, correlation: number, caller: Caller, leg: number, createdSequence: number,
): void {
  begin(CommandType.CANCEL_CONDITIONAL)
  scratch.i32[CANCEL_CONDITIONAL_COMMAND.at.leg] = leg
  scratch.f64[CANCEL_CONDITIONAL_COMMAND.at.createdSequence >>> 1] = createdSequence
  finishFor(engine, at, CommandType.CANCEL_CONDITIONAL, correlation, caller)
}

export function encodeCreateTwap(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: TwapTerms): void {
  begin(CommandType.CREATE_TWAP)
  const { i32, u32, f64, i64 } = scratch
  i32[T.pair] = terms.pair
  u32[T.flags] = terms.flags
  i32[T.price] = terms.price
  i32[T.lots] = terms.lots
  i32[T.slippageBps] = terms.slippageBps
  i32[T.options] = terms.options
  i32[T.trigger] = terms.trigger
  i32[T.labelLength] = terms.label.length
  f64[T.startAt >>> 1] = terms.startAt
  f64[T.endAt >>> 1] = terms.endAt
  f64[T.conditionalExpiry >>> 1] = terms.conditionalExpiry
  i64[T.seed >>> 1] = terms.seed
  i32[T.durationMs] = terms.durationMs
  if (terms.margin !== null) {
    const { namedSequence, marginAccount, bucket, leverage, keyLow, keyHigh } = terms.margin
    f64[T.namedSequence >>> 1] = namedSequence
    i32[T.marginAccount] = marginAccount
    i32[T.bucket] = bucket
    i32[T.leverage] = leverage
    i32[T.keyLow] = keyLow
    i32[T.keyHigh] = keyHigh
  }
  scratchBytes.write(terms.label, T.label * 4, 'latin1')
  finishFor(engine, at, CommandType.CREATE_TWAP, correlation, caller)
}

/** CANCEL_TWAP of the TWAP order in row `twap` that the command `createdSequence` made. */
export function encodeCancelTwap(
  engine: EngineClient, at: number, correlation: number, caller: Caller, twap: number, createdSequence: number,
): void {
  begin(CommandType.CANCEL_TWAP)
  scratch.i32[CANCEL_TWAP_COMMAND.at.twap] = twap
  scratch.f64[CANCEL_TWAP_COMMAND.at.createdSequence >>> 1] = createdSequence
  finishFor(engine, at, CommandType.CANCEL_TWAP, correlation, caller)
}
