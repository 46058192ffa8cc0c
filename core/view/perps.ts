/**
 * Perpetuals for who runs the exchange: prices, funding, open interest; the insurance fund; buckets in liquidation. Each figure is read by
 * itself, so two of them may be of different commands: good enough to look at, nothing is decided by them.
 */
import { fundAllowance, fundShare } from '../margin/fund_limits.ts'
import { parentOf } from '../margin/buckets.ts'
import { rateSoFar } from '../margin/funding_rate.ts'
import { fundBucket } from '../margin/fund.ts'
import { isUnconfirmed } from '../margin/index_jump.ts'
import { indexStepPpm } from '../margin/index_step.ts'
import { ACCOUNT, PAIR, SCALAR, TERMS, TOTAL } from '../state/columns.ts'
import { MARGIN_ACCOUNT, MARGIN_TOTAL, PERP, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  accountRow, bucketRow, get, getF64, getI64, marginTotalRow, pairRow, perpRow, perpTermsRow, positionRow, scalar, termsRow, totalRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'

export interface PerpFigures {
  /** Ticks; 0: there is none. */
  readonly index: number
  readonly mark: number
  readonly settlement: number
  readonly forcedMark: number
  /** PriceSource and PerpMode, by number. */
  readonly source: number
  readonly mode: number
  /** Sequenced time of the index, when its source saw it, when a forced mark ends, when funding is paid next: Unix ms, 0: never. */
  readonly indexAt: number
  readonly observedAt: number
  readonly forcedUntil: number
  readonly nextFundingAt: number
  /** ms, from when on the index is stale. */
  readonly staleMs: number
  /** 10^-8 of the notional: what was paid last, what would be paid now. */
  readonly lastRate: number
  readonly predictedRate: number
  /** Lots; the cap 0: none. */
  readonly openLots: number
  readonly openCap: number
  readonly positions: number
  /** Marks that conditional orders still have to be held against. */
  readonly pendingMarks: number
  /** Ticks: where the embedded price begins. An index price within so many ppm of the one before is taken (margin/index_step.ts). */
  readonly reference: number
  readonly indexBandPpm: number
  /** What the insurance fund covers in a day: of itself, ppm; for one owner, atoms. */
  readonly fundSharePpm: number
  readonly fundAllowance: number
  /** The index jumped and is not confirmed: only orders that reduce are taken. */
  readonly unconfirmed: boolean
}

/** True of a perpetual. */
export const isPerp = (state: State, pair: number): boolean => get(state, termsRow(state, pair), TERMS.PERP) !== 0

export function perpFigures(state: State, pair: number): PerpFigures {
  const perp = perpRow(state, pair)
  const terms = perpTermsRow(state, pair)
  return {
    index: get(state, perp, PERP.INDEX), mark: get(state, perp, PERP.MARK), settlement: get(state, perp, PERP.SETTLEMENT),
    forcedMark: get(state, perp, PERP.FORCED_MARK), source: get(state, perp, PERP.SOURCE), mode: get(state, perp, PERP.MODE),
    indexAt: getF64(state, perp, PERP.INDEX_AT), observedAt: getF64(state, perp, PERP.OBSERVED_AT),
    forcedUntil: getF64(state, perp, PERP.FORCED_UNTIL), nextFundingAt: getF64(state, perp, PERP.NEXT_FUNDING_AT),
    staleMs: getF64(state, terms, PERP_TERMS.STALE_MS), lastRate: get(state, perp, PERP.LAST_RATE),
    predictedRate: rateSoFar(state, pair), openLots: getF64(state, perp, PERP.OPEN_LOTS), openCap: getF64(state, perp, PERP.OPEN_CAP),
    positions: get(state, perp, PERP.POSITIONS), pendingMarks: get(state, perp, PERP.MARKS),
    reference: get(state, terms, PERP_TERMS.REFERENCE),
    indexBandPpm: indexStepPpm(state, pair), fundSharePpm: fundShare(state, pair), fundAllowance: fundAllowance(state, pair),
    unconfirmed: isUnconfirmed(state, pair),
  }
}

/** Price of the last trade of a pair, ticks; 0: it had none. */
export const lastPriceOf = (state: State, pair: number): number => get(state, pairRow(state, pair), PAIR.LAST_PRICE)

export interface FundFigures {
  /** There is one. */
  readonly exists: boolean
  /** Atoms: what was put in, what it is worth with its positions at their marks, losses that nobody could bear, fee income of the house. */
  readonly deposited: bigint
  readonly equity: bigint
  readonly badDebt: bigint
  readonly feeIncome: bigint
  readonly positions: number
}

export function fundFigures(state: State): FundFigures {
  const asset = state.collateralAsset
  const badDebt = asset < 0 ? 0n : getI64(state, marginTotalRow(state, asset), MARGIN_TOTAL.BAD_DEBT)
  const feeIncome = asset < 0 ? 0n : getI64(state, totalRow(state, asset), TOTAL.FEES)
  const bucket = asset < 0 ? -1 : fundBucket(state)
  if (bucket < 0) return { exists: false, deposited: 0n, equity: 0n, badDebt, feeIncome, positions: 0 }
  const deposited = getI64(state, parentOf(state, get(state, bucket, RISK_BUCKET.ACCOUNT)), MARGIN_ACCOUNT.DEPOSITED)
  let equity = getI64(state, bucket, RISK_BUCKET.ALLOCATED) + getI64(state, bucket, RISK_BUCKET.REALIZED)
  let positions = 0
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  // One a perpetual; a list that changes meanwhile is left after so many.
  for (let steps = state.genesis.limits.perps; next !== 0 && steps > 0; steps--) {
    const position = positionRow(state, next - 1)
    if (get(state, position, POSITION.LOTS) !== 0) positions++
    equity += worthOf(state, position)
    next = get(state, position, POSITION.NEXT)
  }
  return { exists: true, deposited, equity, badDebt, feeIncome, positions }
}

/** Unrealised profit and unsettled funding of a position, atoms. */
function worthOf(state: State, position: number): bigint {
  const pair = get(state, position, POSITION.PAIR)
  const perp = perpRow(state, pair)
  const lots = BigInt(get(state, position, POSITION.LOTS))
  const value = lots * BigInt(get(state, perp, PERP.MARK)) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  const owed = lots * BigInt.asIntN(64, getI64(state, perp, PERP.CUMULATIVE) - getI64(state, position, POSITION.FUNDED_TO))
  // Down to a whole atom, whoever pays.
  const funding = -owed / 1_000_000n - (owed > 0n && owed % 1_000_000n !== 0n ? 1n : 0n)
  return value - getI64(state, position, POSITION.COST) + funding
}

export interface InLiquidation {
  /** Rows and the sequences that made them; `pair` -1: a cross bucket. */
  readonly account: number
  readonly accountSequence: number
  readonly bucket: number
  readonly bucketSequence: number
  readonly pair: number
  /** Sequence at which it began. */
  readonly began: number
  readonly state: number
  readonly allocated: bigint
  readonly realized: bigint
  readonly positions: number
}

/** Buckets in liquidation, those that began first first, `most` at most; and how many there are. */
export function inLiquidation(state: State, most: number): { total: number; buckets: InLiquidation[] } {
  const buckets: InLiquidation[] = []
  let next = scalar(state, SCALAR.LIQUIDATIONS_OLDEST)
  while (next !== 0 && buckets.length < most) {
    const row = bucketRow(state, next - 1)
    const account = get(state, row, RISK_BUCKET.ACCOUNT)
    buckets.push({
      account, accountSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE), bucket: next - 1,
      bucketSequence: getF64(state, row, RISK_BUCKET.CREATED_SEQUENCE), pair: get(state, row, RISK_BUCKET.PAIR),
      began: getF64(state, row, RISK_BUCKET.LIQUIDATION), state: get(state, row, RISK_BUCKET.STATE),
      allocated: getI64(state, row, RISK_BUCKET.ALLOCATED), realized: getI64(state, row, RISK_BUCKET.REALIZED),
      positions: get(state, row, RISK_BUCKET.POSITIONS),
    })
    next = get(state, row, RISK_BUCKET.LIQUIDATED_NEXT)
  }
  return { total: scalar(state, SCALAR.LIQUIDATIONS), buckets }
}
