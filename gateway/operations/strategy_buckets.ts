/**
 * Risk buckets for strategy keys. An order names its bucket by the hash of the key (bridge/strategy_key.ts), so the text must be known
 * to the engine before: a key that no bucket has yet is told by an OPEN_RISK_BUCKET in front of the order.
 *
 *   ring:  OPEN_RISK_BUCKET key | PLACE_ORDER key | ...
 *
 * Both go into the ring together, and the engine takes one after the other: nothing is waited for, orders keep the order in which they
 * were sent, and a batch still enters whole. A bucket that could not be opened leaves the order STRATEGY_KEY_UNKNOWN, which is answered
 * with the reason that the opening had. Opening one that is there does no harm, so a look at the columns while they change is enough.
 * A batch opens each key once. An opening draws on no budget: its order did.
 */
import { RESULT } from '../../core/layout/event.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { Flag } from '../../core/layout/flags.ts'
import type { Views } from '../../core/layout/table.ts'
import { hasBucket } from '../../core/view/order_margin.ts'
import { readReceipt } from '../../core/view/receipts.ts'
import type { Caller } from '../auth/signed_request.ts'
import { encodeOpenRiskBucket, keyWords, type RiskBucketTerms } from '../bridge/encode.ts'
import { CREDIT, registerUntil, slotAt, WAY_IN } from '../bridge/engine_client.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { engineRefusal, type Preparation } from './operation.ts'

/** The opening of one bucket, for the orders behind it. */
export class BucketOpening implements Preparation {
  readonly terms: RiskBucketTerms
  /** Why it was not opened; `null`: it was, or nobody knows yet. */
  refused: Refused | null = null

  constructor(terms: RiskBucketTerms) {
    this.terms = terms
  }

  onResult(records: Views, base: number): void {
    if (records.i32[base + RESULT.at.code] !== 0) this.refused = engineRefusal(records, base)
  }

  /** The orders behind it have the same deadline. */
  onDeadline(): void {}

  encode({ engine }: Gateway, caller: Caller, at: number, correlation: number): void {
    encodeOpenRiskBucket(engine, at, correlation, caller, this.terms)
  }
}

/** What has to be opened for the order of these terms; `null`: nothing. */
export function bucketToOpen(
  { state, gate }: Gateway, account: number, { margin, pair, flags, key }: Pick<OrderTerms, 'margin' | 'pair' | 'flags' | 'key'>,
): RiskBucketTerms | null {
  if (margin === null || margin.strategyKey === '' || margin.bucket !== 0) return null
  const { keyLow, keyHigh, strategyKey, accountSequence: createdSequence } = margin
  const terms = { marginAccount: margin.marginAccount - 1, createdSequence, pair: (flags & Flag.CROSS) !== 0 ? -1 : pair, strategyKey }
  if (hasBucket(state, account, { ...terms, keyLow, keyHigh })) return null
  // What repeats a key has been done, and opens nothing.
  return key !== '' && readReceipt(state, gate, account, keyWords(account, key)) !== 'unknown' ? null : terms
}

const nameOf = ({ marginAccount, pair, strategyKey }: RiskBucketTerms): string => `${marginAccount}/${pair}/${strategyKey}`

/** The openings in front of one batch, each bucket once. */
export class BucketOpenings {
  readonly #openings = new Map<string, BucketOpening>()

  get count(): number {
    return this.#openings.size
  }

  /** The opening that the order of these terms needs; `null`: none. */
  of(gateway: Gateway, account: number, terms: OrderTerms): BucketOpening | null {
    const bucket = bucketToOpen(gateway, account, terms)
    if (bucket === null) return null
    const known = this.#openings.get(nameOf(bucket))
    if (known !== undefined) return known
    const opening = new BucketOpening(bucket)
    this.#openings.set(nameOf(bucket), opening)
    return opening
  }

  /** Writes all of them into the ring, which has room for {@link count} more commands. */
  encode(gateway: Gateway, caller: Caller, until: number): void {
    const { engine } = gateway
    for (const opening of this.#openings.values()) {
      const correlation = registerUntil(engine, opening, caller.account, CREDIT, WAY_IN, until, 0)
      opening.encode(gateway, caller, slotAt(engine), correlation)
    }
  }
}

/** Why the order at word `base` was refused, when that is because its bucket was not opened; otherwise `null`. */
export const openingRefusal = ({ i32 }: Views, base: number, opening: BucketOpening | null): Refused | null =>
  opening !== null && i32[base + RESULT.at.code] === REFUSALS.STRATEGY_KEY_UNKNOWN.number ? opening.refused : null
