/**
 * TWAP orders of an account that wait or run, from the shared columns, in one consistent copy; and of which TWAP order a resting order is
 * a slice.
 */
import { Flag, Origin, originOf } from '../layout/flags.ts'
import { ACCOUNT, CLOCK, ORDER, SCALAR } from '../state/columns.ts'
import { TWAP, WAITING } from '../state/conditional_rows.ts'
import { MARGIN_ACCOUNT, MarginAccountKind } from '../state/margin_rows.ts'
import {
  accountRow, bytesOf, get, getF64, getI64, marginAccountRow, orderRow, twapRow, waitingRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { consistently } from './consistent.ts'
import { copyBucketPlace, copyMarginAccountName, findBucket, paddedText, type NamedRow } from './order_margin.ts'

/** What a TWAP order of a perpetual names, and what that stands for now. */
export interface TwapPlace {
  readonly marginAccount: NamedRow
  /** `null`: there is none yet; the first slice makes it. */
  readonly bucket: NamedRow | null
  /** '': none. */
  readonly strategyKey: string
}

/** A TWAP order as numbers: as it waits or runs, or as its end was told. */
export interface TwapView {
  account: number
  /** Identity: the sequence of the command that made it, and its row. */
  createdSequence: number
  twap: number
  /** TwapState. */
  state: number
  pair: number
  /** Flag bits of its slices. */
  flags: number
  /** TwapOption bits. */
  options: number
  lots: number
  /** Those of a slice that rests among them. */
  filled: number
  /** Ticks: limit, and price that it waits for; 0: none. */
  price: number
  trigger: number
  slippageBps: number
  /** Slices that are planned, those whose time has come, orders that were placed. */
  slices: number
  reached: number
  placed: number
  /** Number of the refusal of the last slice; 0: it was placed. */
  code: number
  /** Unix ms; 0: not known yet. */
  startAt: number
  endAt: number
  /** When the next slice is due; 0: none is, or it waits for its price. */
  nextAt: number
  /** Until when it waits for its price; 0: it does not. */
  conditionalExpiry: number
  /** From its start to its end; 0: it ends at `endAt`. */
  durationMs: number
  /** Hundredths. */
  leverage: number
  createdAt: number
  updatedAt: number
  /** Quote atoms. */
  filledQuote: bigint
  fee: bigint
  /** The client's id, '' without one. */
  label: string
  /** Of a perpetual; absent of spot, and where it is not known any more. */
  place?: TwapPlace
}

/** Those of an account that wait or run, newest first, when every command up to `sequence` was applied and none behind it. */
export interface LiveTwaps {
  readonly sequence: number
  readonly twaps: readonly TwapView[]
}

/** {@link LiveTwaps} of `account`; `null` when they are unreadable. */
export function readTwaps(state: State, gate: Int32Array, account: number): LiveTwaps | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const sequence = state.clock[CLOCK.SEQUENCE]!
    const { twapOrders, twapOrdersPerAccount } = state.genesis.limits
    const twaps: TwapView[] = []
    let number = get(state, waitingRow(state, account), WAITING.FIRST_TWAP) - 1
    // A copy that turns out torn may follow any link: rows are checked and steps counted.
    for (let left = twapOrdersPerAccount; left > 0 && number >= 0 && number < twapOrders; left--) {
      twaps.push(copyTwap(state, number))
      number = get(state, twapRow(state, number), TWAP.NEXT) - 1
    }
    return { sequence, twaps }
  })
}

/** The one in row `number` that the command `sequence` made, if it is of `account`; `undefined`: none is, `null`: unreadable. */
export function readTwap(
  state: State, gate: Int32Array, account: number, number: number, sequence: number,
): TwapView | undefined | null {
  if (number < 0 || number >= state.scalars[SCALAR.TWAPS_USED]!) return undefined
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const row = twapRow(state, number)
    const named = get(state, row, TWAP.STATE) !== 0 && get(state, row, TWAP.ACCOUNT) === account &&
      getF64(state, row, TWAP.CREATED_SEQUENCE) === sequence
    return named ? copyTwap(state, number) : undefined
  })
}

/** The one in row `number` as it is now: consistent only inside {@link consistently}. */
function copyTwap(state: State, number: number): TwapView {
  const row = twapRow(state, number)
  const [account, pair, flags] = [get(state, row, TWAP.ACCOUNT), get(state, row, TWAP.PAIR), get(state, row, TWAP.FLAGS)]
  const child = get(state, row, TWAP.CHILD) - 1
  const slice = child >= 0 && child < state.genesis.limits.orders ? orderRow(state, child) : -1
  const view: TwapView = {
    account,
    createdSequence: getF64(state, row, TWAP.CREATED_SEQUENCE),
    twap: number,
    state: get(state, row, TWAP.STATE),
    pair,
    flags,
    options: get(state, row, TWAP.OPTIONS),
    lots: get(state, row, TWAP.LOTS),
    filled: get(state, row, TWAP.FILLED) + (slice < 0 ? 0 : get(state, slice, ORDER.LOTS) - get(state, slice, ORDER.REMAINING)),
    price: get(state, row, TWAP.PRICE),
    trigger: get(state, row, TWAP.TRIGGER),
    slippageBps: get(state, row, TWAP.SLIPPAGE_BPS),
    slices: get(state, row, TWAP.SLICES),
    reached: get(state, row, TWAP.REACHED),
    placed: get(state, row, TWAP.PLACED),
    code: get(state, row, TWAP.CODE),
    startAt: getF64(state, row, TWAP.START_AT),
    endAt: getF64(state, row, TWAP.END_AT),
    nextAt: getF64(state, row, TWAP.NEXT_AT),
    conditionalExpiry: getF64(state, row, TWAP.CONDITIONAL_EXPIRY),
    durationMs: getF64(state, row, TWAP.DURATION),
    leverage: get(state, row, TWAP.LEVERAGE),
    createdAt: getF64(state, row, TWAP.CREATED_AT),
    updatedAt: getF64(state, row, TWAP.UPDATED_AT),
    filledQuote: getI64(state, row, TWAP.FILLED_QUOTE) + (slice < 0 ? 0n : getI64(state, slice, ORDER.FILLED_QUOTE)),
    fee: getI64(state, row, TWAP.FEE) + (slice < 0 ? 0n : getI64(state, slice, ORDER.FEE)),
    label: paddedText(bytesOf(state, row, TWAP.LABEL, get(state, row, TWAP.LABEL_LENGTH) & 63)),
  }
  if ((flags & Flag.MARGIN) !== 0) {
    const named = getF64(state, row, TWAP.NAMED_SEQUENCE)
    view.place = twapPlace(state, account, {
      marginAccount: get(state, row, TWAP.MARGIN_ACCOUNT) - 1, bucket: get(state, row, TWAP.BUCKET) - 1, namedSequence: named,
      pair: (flags & Flag.CROSS) !== 0 ? -1 : pair, keyLow: get(state, row, TWAP.KEY_LOW), keyHigh: get(state, row, TWAP.KEY_HIGH),
    })
  }
  return view
}

/** What a TWAP order says of where it trades: rows, -1 the parent and none; `pair` -1: in a cross bucket. */
export interface TwapTarget {
  readonly marginAccount: number
  readonly bucket: number
  readonly namedSequence: number
  readonly pair: number
  readonly keyLow: number
  readonly keyHigh: number
}

/** What that stands for now: a bucket that is named, or the one that there is for the key or without one. */
export function twapPlace(state: State, account: number, target: TwapTarget): TwapPlace {
  const { riskBuckets, marginAccounts } = state.genesis.limits
  const named = target.bucket >= 0 && target.bucket < riskBuckets ? target.bucket : findBucket(state, account, target)
  if (named >= 0) {
    const { marginAccount, bucket, strategyKey } = copyBucketPlace(state, named)
    return { marginAccount, bucket, strategyKey }
  }
  const margin = target.marginAccount
  const parent = { sequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE), row: -1 }
  const isSub = margin >= 0 && margin < marginAccounts &&
    get(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.KIND) === MarginAccountKind.SUB
  return { marginAccount: isSub ? copyMarginAccountName(state, margin) : parent, bucket: null, strategyKey: '' }
}

/** The TWAP order of which the resting order in `slot`, with these flags, is a slice; `undefined`: of none that is there. */
export function parentOf(state: State, slot: number, flags: number): NamedRow | undefined {
  if (originOf(flags) !== Origin.TWAP) return undefined
  const row = state.orderParents[slot]! - 1
  if (row < 0 || row >= state.genesis.limits.twapOrders) return undefined
  return { sequence: getF64(state, twapRow(state, row), TWAP.CREATED_SEQUENCE), row }
}
