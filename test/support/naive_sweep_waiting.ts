/** Mass cancels of what waits in the naive exchange: conditional orders, then TWAP orders, newest first. See naive_sweeps.ts. */
import { ConditionalReason, ConditionalState } from '../../core/layout/conditional.ts'
import { TwapReason, TwapState } from '../../core/layout/twap.ts'
import { conditionalsOf, endConditional, isCancellable, type Conditional } from './naive_conditional.ts'
import { endTwap, twapsOf, type Twap } from './naive_twap.ts'
import type { Ex } from './naive_terms.ts'

type IsMeant = (pair: number) => boolean

/** Those that were there when it began, on pairs that are meant. */
const meantConditionals = (ex: Ex, account: number, isMeant: IsMeant, began: number): Conditional[] =>
  conditionalsOf(ex, account).filter((each) => isCancellable(each) && isMeant(each.pair) && each.createdSequence <= began)
const meantTwaps = (ex: Ex, account: number, isMeant: IsMeant, began: number): Twap[] =>
  twapsOf(ex, account).filter((each) => isMeant(each.pair) && each.createdSequence <= began)

/** Ends so many of them at most; how many. */
export function sweepWaiting(ex: Ex, account: number, isMeant: IsMeant, began: number, limit: number, byOperator: boolean): number {
  const most = Math.max(0, limit)
  const conditionals = meantConditionals(ex, account, isMeant, began).slice(0, most)
  const reason = byOperator ? ConditionalReason.BY_OPERATOR : ConditionalReason.USER_CANCELLED
  for (const each of conditionals) endConditional(ex, each, ConditionalState.CANCELLED, reason)
  const twaps = meantTwaps(ex, account, isMeant, began).slice(0, most - conditionals.length)
  for (const each of twaps) endTwap(ex, each, TwapState.CANCELLED, byOperator ? TwapReason.BY_OPERATOR : TwapReason.USER_CANCELLED)
  return conditionals.length + twaps.length
}

export const hasWaiting = (ex: Ex, account: number, isMeant: IsMeant, began: number): boolean =>
  meantConditionals(ex, account, isMeant, began).length + meantTwaps(ex, account, isMeant, began).length > 0

/** Anything waits for the account, also what is not cancelled. */
export const waitsForAny = (ex: Ex, account: number): boolean => conditionalsOf(ex, account).length + twapsOf(ex, account).length > 0
