/**
 * Movements of margin accounts. Their balance is what was deposited and what their buckets realised since; of that, what the buckets have
 * (EARMARKED) is locked and the rest is free, which may be less than nothing while losses are not settled. So
 *
 *   a deposit, withdrawal or transfer         credits or debits it
 *   collateral into a bucket, and back        locks it, and unlocks it
 *   profit, funding and fees of a position    credit or debit it at once
 *   what a bucket settles                     was its own before: it only unlocks
 *
 * An event says what margin account and bucket have after it; what they had before stands in their records (buckets.ts), and the difference
 * is the movement. So balances and movements agree with the events whatever was the reason for them.
 */
import { COLLATERAL } from '../../layout/event.ts'
import { CollateralReason } from '../../layout/margin_events.ts'
import type { Views } from '../../layout/table.ts'
import { Posting } from '../store/layout.ts'
import { MARGIN_ACCOUNT_RECORD, MARGIN_POSTING, RISK_BUCKET_RECORD } from '../store/margin_layout.ts'
import { collateralShape, positionShape } from '../store/margin_shapes.ts'
import { addWide, HOUR_MS, TALLY, type AccountsModel } from './accounts.ts'
import { UNNAMED, type Buckets } from './buckets.ts'
import type { Exposures } from './exposures.ts'
import type { PortfolioModel } from './portfolio.ts'
import type { Postings } from './postings.ts'

const { at: E } = COLLATERAL
const { at: M } = MARGIN_ACCOUNT_RECORD
const { at: B } = RISK_BUCKET_RECORD
const { at: P } = MARGIN_POSTING

/** The position whose figures changed, and by how much. */
export interface PositionChange {
  account: number
  sequence: number
  /** Unix ms. */
  time: number
  openedSequence: number
  position: number
  pair: number
  /** Number of the record of its bucket. */
  bucket: number
  /** PositionReason. */
  reason: number
  /** Atoms: profit without fees, funding that it got, fees that it paid. */
  profit: bigint
  funding: bigint
  fee: bigint
}

export class MarginMovements {
  readonly #postings: Postings
  readonly #buckets: Buckets
  readonly #exposures: Exposures
  readonly #accounts: AccountsModel
  readonly #portfolio: PortfolioModel
  readonly #assetOf: (pair: number) => number

  /** `assetOf` a pair: that of its collateral. */
  constructor(
    postings: Postings, buckets: Buckets, exposures: Exposures, accounts: AccountsModel, portfolio: PortfolioModel,
    assetOf: (pair: number) => number,
  ) {
    this.#postings = postings
    this.#buckets = buckets
    this.#exposures = exposures
    this.#accounts = accounts
    this.#portfolio = portfolio
    this.#assetOf = assetOf
  }

  /** COLLATERAL. */
  moved({ i32, f64, i64 }: Views, base: number): void {
    const buckets = this.#buckets
    const account = i32[base + E.account]!
    const row = i32[base + E.accountKind] === 0 ? -1 : i32[base + E.marginAccount]!
    const margin = buckets.marginOf(account, f64[(base + E.marginAccountSequence) >>> 1]!, row)
    const bucketSequence = f64[(base + E.bucketSequence) >>> 1]!
    const bucket = i32[base + E.bucket]! < 0 ? -1 : buckets.bucketOf(account, bucketSequence, i32[base + E.bucket]!)
    let realized = 0n
    if (bucket >= 0) {
      buckets.name(account, bucket, margin)
      realized = this.#realized(account, bucket, i64[(base + E.realized) >>> 1]!)
    }
    const at = buckets.margin(account, margin)
    const { i64: to, i32: words } = buckets.marginViews
    words[at + M.asset] = i32[base + E.asset]!
    const [deposited, earmarked] = [i64[(base + E.deposited) >>> 1]!, i64[(base + E.earmarked) >>> 1]!]
    const change = deposited - to[(at + M.deposited) >>> 1]! + realized
    const hold = earmarked - to[(at + M.earmarked) >>> 1]!
    to[(at + M.deposited) >>> 1] = deposited
    to[(at + M.earmarked) >>> 1] = earmarked
    to[(at + M.realized) >>> 1]! += realized
    const time = f64[(base + E.time) >>> 1]!
    const reason = i32[base + E.reason]!
    if (change !== 0n) this.#tell(account, time, i32[base + E.asset]!, reason, change)
    if (change === 0n && hold === 0n) return
    const shape = collateralShape(i32[base + E.asset]!, reason, change, hold)
    const posting = this.#append(account, f64[(base + E.sequence) >>> 1]!, time, Posting.COLLATERAL, shape, margin)
    const { i32: own, i64: atoms } = this.#postings.views
    own[posting + P.reason] = reason
    own[posting + P.bucket] = i32[base + E.bucket]!
    atoms[(posting + P.bucketSequence) >>> 1] = BigInt(bucketSequence)
    atoms[(posting + P.amount) >>> 1] = change
    atoms[(posting + P.fee) >>> 1] = hold
  }

  /** A position realised something. */
  realized(change: PositionChange): void {
    const { account, time, pair, profit, funding, fee } = change
    const asset = this.#assetOf(pair)
    const total = profit + funding - fee
    const margin = this.#enter(account, change.bucket, total)
    this.#exposures.collected(account, Math.floor(time / HOUR_MS), total)
    const row = this.#accounts.touch(account, Math.floor(time / HOUR_MS))
    addWide(this.#accounts.rows, row + TALLY.REALIZED, this.#portfolio.valueOf(asset, profit + funding))
    addWide(this.#accounts.rows, row + TALLY.FEES, this.#portfolio.valueOf(asset, fee))
    const shape = positionShape(asset, change.reason, profit, funding, fee)
    const at = this.#append(account, change.sequence, time, Posting.POSITION, shape, margin)
    const { i32, f64, i64 } = this.#postings.views
    const bucket = this.#buckets.bucket(account, change.bucket)
    i32[at + P.reason] = change.reason
    f64[(at + P.positionSequence) >>> 1] = change.openedSequence
    i32[at + P.position] = change.position
    i32[at + P.pair] = pair
    i32[at + P.bucket] = this.#buckets.bucketViews.i32[bucket + B.row]!
    i64[(at + P.bucketSequence) >>> 1] = BigInt(this.#buckets.bucketViews.f64[(bucket + B.sequence) >>> 1]!)
    i64[(at + P.amount) >>> 1] = profit
    i64[(at + P.fee) >>> 1] = fee
    i64[(at + P.funding) >>> 1] = funding
  }

  /** A bucket has realised `total` atoms more; number of the record of its margin account. */
  #enter(account: number, bucket: number, total: bigint): number {
    const { bucketViews, marginViews } = this.#buckets
    const at = this.#buckets.bucket(account, bucket)
    bucketViews.i64[(at + B.realized) >>> 1]! += total
    const margin = bucketViews.i32[at + B.marginAccount]!
    if (margin !== UNNAMED) marginViews.i64[(this.#buckets.margin(account, margin) + M.realized) >>> 1]! += total
    return margin
  }

  /** A bucket has realised `now` atoms; how many more that is than were known. */
  #realized(account: number, bucket: number, now: bigint): bigint {
    const { i64 } = this.#buckets.bucketViews
    const at = this.#buckets.bucket(account, bucket)
    const more = now - i64[(at + B.realized) >>> 1]!
    i64[(at + B.realized) >>> 1] = now
    return more
  }

  /** `change` of the collateral of an account in the sums of its portfolio. */
  #tell(account: number, time: number, asset: number, reason: number, change: bigint): void {
    const hour = Math.floor(time / HOUR_MS)
    this.#exposures.collected(account, hour, change)
    const isFee = reason === CollateralReason.LIQUIDATION_FEE || reason === CollateralReason.APPLICATION_FEE
    if (!isFee && reason !== CollateralReason.INSURANCE && reason !== CollateralReason.BAD_DEBT) return
    const row = this.#accounts.touch(account, hour)
    const value = this.#portfolio.valueOf(asset, change)
    if (isFee) addWide(this.#accounts.rows, row + TALLY.FEES, -value)
    else addWide(this.#accounts.rows, row + TALLY.REALIZED, value)
  }

  /** A posting with the name and the balance of the margin account `margin`, {@link UNNAMED}: of none; its address. */
  #append(account: number, sequence: number, time: number, kind: number, shape: number, margin: number): number {
    const at = this.#postings.append(account, sequence, time, kind, shape >>> 16)
    this.#postings.refer(account, sequence, shape)
    if (margin === UNNAMED) return at
    const { i32, f64, i64 } = this.#postings.views
    const from = this.#buckets.margin(account, margin)
    const { i32: words, f64: doubles, i64: atoms } = this.#buckets.marginViews
    const earmarked = atoms[(from + M.earmarked) >>> 1]!
    i32[at + P.marginAccount] = words[from + M.row]!
    f64[(at + P.marginAccountSequence) >>> 1] = doubles[(from + M.sequence) >>> 1]!
    i64[(at + P.available) >>> 1] = atoms[(from + M.deposited) >>> 1]! + atoms[(from + M.realized) >>> 1]! - earmarked
    i64[(at + P.locked) >>> 1] = earmarked
    return at
  }
}
