/**
 * Who pays for an order, and what a sub-account has spent of its master.
 *
 * The payer of an order is its owner, or its owner's master when it carries Flag.MASTER_FUNDED: funds check, hold, fills, fees and
 * release go to the payer's balances; the order, its rates and its place among the owner's orders stay the owner's.
 *
 * A spend limit counts, per (sub-account, asset), OUTSTANDING: the holds of its resting master-funded orders that spend the asset, and
 * SPENT: what their fills took since the UTC midnight RESET_AT. Both are kept whether or not the limit still exists or is active, so that
 * nothing is forgotten by deleting it. SPENT of an earlier day counts as nothing and is cleared by the next fill. It stops growing at
 * MAX_ISSUED, which is more than any daily limit leaves room for.
 *
 * A master-funded order was admitted under a limit, whose row stays, so counting always finds one. Orders without the flag pay one test.
 */
import { Flag } from '../layout/command.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, CLOCK, CLOCK_AT, ORDER, PROFILE, PROFILE_WORDS, SPEND_LIMIT, SPEND_LIMIT_WORDS, SpendLimitState,
  TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'

const USABLE = SpendLimitState.EXISTS | SpendLimitState.ACTIVE
const TIME = CLOCK_AT + CLOCK.TIME
const DAY_MS = 86_400_000

/** The UTC midnight at or before a time, Unix ms. */
export const midnightOf = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS

/** The account whose balances pay for an order of `account` with these flags; -1: a master asked for its master. */
export function payerFor(state: State, account: number, flags: number): number {
  if ((flags & Flag.MASTER_FUNDED) === 0) return account
  return state.i32[(state.profilesAt + account * PROFILE_WORDS + PROFILE.MASTER) & ADDRESS_BITS]! - 1
}

/** The account that pays for the order at `row`. */
export function payerOf(state: State, row: number): number {
  row &= ADDRESS_BITS
  return payerFor(state, state.i32[row + ORDER.ACCOUNT]!, state.i32[row + ORDER.FLAGS]!)
}

/** True when the order at `row` and an order of `account` that `payer` pays for must not trade with each other. */
export function isOwn(state: State, row: number, account: number, payer: number): boolean {
  row &= ADDRESS_BITS
  const owner = state.i32[row + ORDER.ACCOUNT]!
  return owner === account || payerFor(state, owner, state.i32[row + ORDER.FLAGS]!) === payer
}

/** Address of the limit row of (sub-account, asset), whatever its state, or -1. */
export function addressOfLimit(state: State, sub: number, asset: number): number {
  const { i32 } = state
  let next = i32[(state.profilesAt + sub * PROFILE_WORDS + PROFILE.FIRST_LIMIT) & ADDRESS_BITS]!
  while (next !== 0) {
    const row = (state.spendLimitsAt + (next - 1) * SPEND_LIMIT_WORDS) & ADDRESS_BITS
    if (i32[row + SPEND_LIMIT.ASSET] === asset) return row
    next = i32[row + SPEND_LIMIT.NEXT]!
  }
  return -1
}

/**
 * True when `sub` may spend register REQUIRED more of its master's `asset` today. Register RELEASE is what a replaced order under
 * the same limit gives back first.
 */
export function maySpend(state: State, sub: number, asset: number): boolean {
  const { i32, i64, f64 } = state
  const row = addressOfLimit(state, sub, asset)
  if (row < 0 || i32[row + SPEND_LIMIT.STATE] !== USABLE) return false
  i64[R.RESERVED] = i64[(row + SPEND_LIMIT.OUTSTANDING) >>> 1]! - i64[R.RELEASE]! + i64[R.REQUIRED]!
  if (i64[R.RESERVED]! > i64[(row + SPEND_LIMIT.MAX) >>> 1]!) return false
  if (i32[row + SPEND_LIMIT.DAILY + 1]! < 0) return true
  i64[R.TAKEN] = i64[(row + SPEND_LIMIT.DAILY) >>> 1]!
  if (f64[(row + SPEND_LIMIT.RESET_AT) >>> 1]! + DAY_MS > f64[TIME]!) i64[R.TAKEN] = i64[R.TAKEN]! - i64[(row + SPEND_LIMIT.SPENT) >>> 1]!
  return i64[R.RESERVED]! <= i64[R.TAKEN]!
}

/** Counts the hold in register HOLD of the master-funded order at `row`, which rests from now on, and marks its payer as changed. */
export function countHold(state: State, row: number): void {
  state.i64[R.RESERVED] = state.i64[R.HOLD]!
  state.i64[R.TAKEN] = 0n
  count(state, row)
}

/** Counts what the master-funded order at `row` gave back, register RELEASE, and marks its payer as changed. */
export function countRelease(state: State, row: number): void {
  state.i64[R.RESERVED] = -state.i64[R.RELEASE]!
  state.i64[R.TAKEN] = 0n
  count(state, row)
}

/** Counts a fill that registers QUOTE, BASE, TAKER_FEE and MAKER_FEE describe, for each of the two orders that is master-funded. */
export function countFill(state: State, taker: number, maker: number): void {
  taker &= ADDRESS_BITS
  maker &= ADDRESS_BITS
  const { i32, i64 } = state
  if ((i32[taker + ORDER.FLAGS]! & Flag.MASTER_FUNDED) !== 0) {
    i64[R.RESERVED] = 0n
    if ((i32[taker + ORDER.FLAGS]! & Flag.SELL) !== 0) i64[R.TAKEN] = i64[R.BASE]!
    else if (i64[R.TAKER_FEE]! > 0n) i64[R.TAKEN] = i64[R.QUOTE]! + i64[R.TAKER_FEE]!
    else i64[R.TAKEN] = i64[R.QUOTE]!
    count(state, taker)
  }
  if ((i32[maker + ORDER.FLAGS]! & Flag.MASTER_FUNDED) !== 0) {
    if ((i32[maker + ORDER.FLAGS]! & Flag.SELL) !== 0) i64[R.TAKEN] = i64[R.BASE]!
    else if (i32[maker + ORDER.MAKER_PPM]! > 0) i64[R.TAKEN] = i64[R.QUOTE]! + i64[R.MAKER_FEE]!
    else i64[R.TAKEN] = i64[R.QUOTE]!
    i64[R.RESERVED] = -i64[R.TAKEN]!
    count(state, maker)
  }
}

/** Adds registers RESERVED and TAKEN to the limit of the master-funded order at `row`. Readers of its payer see a change. */
function count(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, i64, f64 } = state
  const sub = i32[row + ORDER.ACCOUNT]!
  const terms = (state.termsAt + i32[row + ORDER.PAIR]! * TERMS_WORDS) & ADDRESS_BITS
  const asset = i32[terms + ((i32[row + ORDER.FLAGS]! & Flag.SELL) !== 0 ? TERMS.BASE : TERMS.QUOTE)]!
  const limit = addressOfLimit(state, sub, asset) & ADDRESS_BITS
  const outstanding = (limit + SPEND_LIMIT.OUTSTANDING) >>> 1
  const spent = (limit + SPEND_LIMIT.SPENT) >>> 1
  i64[outstanding] = i64[outstanding]! + i64[R.RESERVED]!
  if (f64[(limit + SPEND_LIMIT.RESET_AT) >>> 1]! + DAY_MS <= f64[TIME]!) {
    i64[spent] = 0n
    f64[(limit + SPEND_LIMIT.RESET_AT) >>> 1] = Math.floor(f64[TIME]! / DAY_MS) * DAY_MS
  }
  i64[spent] = i64[spent]! + i64[R.TAKEN]!
  if (i64[spent]! > MAX_ISSUED) i64[spent] = MAX_ISSUED
  const payer = i32[(state.profilesAt + sub * PROFILE_WORDS + PROFILE.MASTER) & ADDRESS_BITS]! - 1
  i32[(state.accountsAt + payer * ACCOUNT_WORDS + ACCOUNT.VERSION) & ADDRESS_BITS]!++
}
