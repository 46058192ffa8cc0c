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

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { ACCOUNT: OWNER, PAIR, FLAGS, MAKER_PPM } = ORDER
const { MASTER, FIRST_LIMIT } = PROFILE
const { ASSET, NEXT, STATE, RESET_AT, MAX, DAILY, OUTSTANDING, SPENT } = SPEND_LIMIT
const { SELL, MASTER_FUNDED } = Flag
const { BASE: BASE_ASSET, QUOTE: QUOTE_ASSET } = TERMS
const { QUOTE, BASE, TAKER_FEE, MAKER_FEE, REQUIRED, RELEASE, TAKEN, RESERVED } = R
const [ACCOUNT_ROW, PROFILE_ROW, LIMIT_ROW, TERMS_ROW] = [ACCOUNT_WORDS, PROFILE_WORDS, SPEND_LIMIT_WORDS, TERMS_WORDS]
const ACCOUNT_VERSION = ACCOUNT.VERSION
const USABLE = SpendLimitState.EXISTS | SpendLimitState.ACTIVE
const TIME = CLOCK_AT + CLOCK.TIME
const DAY_MS = 86_400_000
const MOST = MAX_ISSUED
const limitOf = addressOfLimit
const countFor = count

/** The UTC midnight at or before a time, Unix ms. */
export const midnightOf = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS

/** The account whose balances pay for an order of `account` with these flags; -1: a master asked for its master. */
export function payerFor(state: State, account: number, flags: number): number {
  if ((flags & MASTER_FUNDED) === 0) return account
  return state.i32[(state.profilesAt + account * PROFILE_ROW + MASTER) & ADDRESS]! - 1
}

/** The account that pays for the order at `row`. */
export function payerOf(state: State, row: number): number {
  row &= ADDRESS
  return payerFor(state, state.i32[row + OWNER]!, state.i32[row + FLAGS]!)
}

/** True when the order at `row` and an order of `account` that `payer` pays for must not trade with each other. */
export function isOwn(state: State, row: number, account: number, payer: number): boolean {
  row &= ADDRESS
  return state.i32[row + OWNER] === account || payerFor(state, state.i32[row + OWNER]!, state.i32[row + FLAGS]!) === payer
}

/** Address of the limit row of (sub-account, asset), whatever its state, or -1. */
export function addressOfLimit(state: State, sub: number, asset: number): number {
  const { i32 } = state
  let next = i32[(state.profilesAt + sub * PROFILE_ROW + FIRST_LIMIT) & ADDRESS]!
  while (next !== 0) {
    const row = (state.spendLimitsAt + (next - 1) * LIMIT_ROW) & ADDRESS
    if (i32[row + ASSET] === asset) return row
    next = i32[row + NEXT]!
  }
  return -1
}

/**
 * True when `sub` may spend register REQUIRED more of its master's `asset` today. Register RELEASE is what a replaced order under
 * the same limit gives back first.
 */
export function maySpend(state: State, sub: number, asset: number): boolean {
  const { i32, i64, f64 } = state
  const row = limitOf(state, sub, asset)
  if (row < 0 || i32[row + STATE] !== USABLE) return false
  i64[RESERVED] = i64[(row + OUTSTANDING) >>> 1]! - i64[RELEASE]! + i64[REQUIRED]!
  if (i64[RESERVED]! > i64[(row + MAX) >>> 1]!) return false
  if (i32[row + DAILY + 1]! < 0) return true
  i64[TAKEN] = i64[(row + DAILY) >>> 1]!
  if (f64[(row + RESET_AT) >>> 1]! + DAY_MS > f64[TIME]!) i64[TAKEN] = i64[TAKEN]! - i64[(row + SPENT) >>> 1]!
  return i64[RESERVED]! <= i64[TAKEN]!
}

/** Counts the hold in register HOLD of the master-funded order at `row`, which rests from now on, and marks its payer as changed. */
export function countHold(state: State, row: number): void {
  state.i64[RESERVED] = state.i64[R.HOLD]!
  state.i64[TAKEN] = 0n
  countFor(state, row)
}

/** Counts what the master-funded order at `row` gave back, register RELEASE, and marks its payer as changed. */
export function countRelease(state: State, row: number): void {
  state.i64[RESERVED] = -state.i64[RELEASE]!
  state.i64[TAKEN] = 0n
  countFor(state, row)
}

/** Counts a fill that registers QUOTE, BASE, TAKER_FEE and MAKER_FEE describe, for each of the two orders that is master-funded. */
export function countFill(state: State, taker: number, maker: number): void {
  taker &= ADDRESS
  maker &= ADDRESS
  const { i32, i64 } = state
  if ((i32[taker + FLAGS]! & MASTER_FUNDED) !== 0) {
    i64[RESERVED] = 0n
    if ((i32[taker + FLAGS]! & SELL) !== 0) i64[TAKEN] = i64[BASE]!
    else if (i64[TAKER_FEE]! > 0n) i64[TAKEN] = i64[QUOTE]! + i64[TAKER_FEE]!
    else i64[TAKEN] = i64[QUOTE]!
    countFor(state, taker)
  }
  if ((i32[maker + FLAGS]! & MASTER_FUNDED) !== 0) {
    if ((i32[maker + FLAGS]! & SELL) !== 0) i64[TAKEN] = i64[BASE]!
    else if (i32[maker + MAKER_PPM]! > 0) i64[TAKEN] = i64[QUOTE]! + i64[MAKER_FEE]!
    else i64[TAKEN] = i64[QUOTE]!
    i64[RESERVED] = -i64[TAKEN]!
    countFor(state, maker)
  }
}

/** Adds registers RESERVED and TAKEN to the limit of the master-funded order at `row`. Readers of its payer see a change. */
function count(state: State, row: number): void {
  row &= ADDRESS
  const { i32, i64, f64 } = state
  const sub = i32[row + OWNER]!
  const terms = (state.termsAt + i32[row + PAIR]! * TERMS_ROW) & ADDRESS
  const limit = limitOf(state, sub, i32[terms + ((i32[row + FLAGS]! & SELL) !== 0 ? BASE_ASSET : QUOTE_ASSET)]!) & ADDRESS
  const outstanding = (limit + OUTSTANDING) >>> 1
  const spent = (limit + SPENT) >>> 1
  i64[outstanding] = i64[outstanding]! + i64[RESERVED]!
  if (f64[(limit + RESET_AT) >>> 1]! + DAY_MS <= f64[TIME]!) {
    i64[spent] = 0n
    f64[(limit + RESET_AT) >>> 1] = Math.floor(f64[TIME]! / DAY_MS) * DAY_MS
  }
  i64[spent] = i64[spent]! + i64[TAKEN]!
  if (i64[spent]! > MOST) i64[spent] = MOST
  const payer = i32[(state.profilesAt + sub * PROFILE_ROW + MASTER) & ADDRESS]! - 1
  i32[(state.accountsAt + payer * ACCOUNT_ROW + ACCOUNT_VERSION) & ADDRESS]!++
}
