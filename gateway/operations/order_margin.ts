/**
 * What an order of a perpetual says besides: leverage, margin mode, margin account, risk bucket, strategy key. (Specification, Order entry,
 * Margin accounts.)
 *
 * - A perpetual takes `tradingMode` MARGIN and a spot pair SPOT, which is the default. On a spot pair every field that only means something
 *   on margin is refused rather than ignored: an order that is not what its sender thinks it is costs money.
 * - Leverage is needed unless the order is reduce-only, whose leverage is ignored. `positionSide` is ignored always: the side is what
 *   `side` says.
 * - A margin account or risk bucket of somebody else and a missing one are the same 404. With an idempotency key the engine decides: a
 *   repeated key has its first answer, also when what it named is gone.
 *
 * What depends on the state (margin, modes, tiers, limits) the engine decides.
 */
import { Flag } from '../../core/layout/command.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { parsePositive } from '../../core/lib/decimal.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { findOwnBucket, ownsMarginAccount, STRATEGY_KEY_BYTES } from '../../core/view/order_margin.ts'
import { strategyKeyWords } from '../bridge/strategy_key.ts'
import { noMarginTerms, type MarginTerms, type OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { atomsOf } from './amounts.ts'

/** Fields of an order, as far as they are about margin. */
export interface MarginItem {
  readonly tradingMode?: 'SPOT' | 'MARGIN'
  readonly useMasterBalance?: boolean
  readonly marginAccountId?: string
  readonly riskBucketId?: string
  readonly riskBucketCollateral?: string
  readonly leverage?: string
  readonly reduceOnly?: boolean
  readonly strategyKey?: string
  readonly marginMode?: 'ISOLATED' | 'CROSS'
  readonly trailingStop?: unknown
  readonly takeProfit?: unknown
  readonly stopLoss?: unknown
  readonly idempotencyKey?: string
}

const MARGIN_ONLY = [
  'marginAccountId', 'riskBucketId', 'riskBucketCollateral', 'leverage', 'strategyKey', 'marginMode', 'trailingStop', 'takeProfit',
  'stopLoss',
] as const
const STRATEGY_KEY = new RegExp(`^[\\x20-\\x7e]{1,${STRATEGY_KEY_BYTES}}$`)
/** Digits of a leverage behind the point. */
export const LEVERAGE_SCALE = 2
const LEVERAGE_MOST = 2 ** 31 - 1

/** Whether an order of `item` may be one of this pair at all; `null`: it may. */
export function checkTradingMode(pair: Pair, item: MarginItem): Refused | null {
  const isPerpetual = pair.perp !== null
  if (isPerpetual) {
    return item.tradingMode === 'MARGIN'
      ? null : refusedField('tradingMode', `tradingMode must be MARGIN: ${pair.symbol} is a perpetual`, 'WRONG_TRADING_MODE')
  }
  if (item.tradingMode === 'MARGIN') {
    return refusedField('tradingMode', `tradingMode must be SPOT: ${pair.symbol} is a spot pair`, 'WRONG_TRADING_MODE')
  }
  for (const field of MARGIN_ONLY) if (item[field] !== undefined) return refusedField(field, `${field} is for margin orders only`)
  return item.reduceOnly === true ? refusedField('reduceOnly', 'reduceOnly is for margin orders only') : null
}

/** Takes what an order of `account` on the perpetual `pair` says about margin into its terms, or says why it cannot be. */
export function takeMargin(
  gateway: Gateway, account: number, item: MarginItem, pair: Pair, terms: Pick<OrderTerms, 'flags' | 'margin'>,
): Refused | null {
  if (item.useMasterBalance === true) {
    return refusedField('useMasterBalance', 'useMasterBalance cannot apply to margin orders', 'MASTER_BALANCE_NOT_ALLOWED')
  }
  const margin = noMarginTerms()
  terms.margin = margin
  terms.flags |= Flag.MARGIN
  if (item.marginMode === 'CROSS') terms.flags |= Flag.CROSS
  if (item.reduceOnly === true) terms.flags |= Flag.REDUCE_ONLY
  return takeLeverage(item, margin) ?? takeCollateral(gateway, item, pair, margin) ?? takeStrategyKey(item, margin) ??
    takeMarginAccount(gateway, account, item, margin) ?? takeBucket(gateway, account, item, margin)
}

function takeLeverage({ leverage, reduceOnly }: MarginItem, margin: MarginTerms): Refused | null {
  if (reduceOnly === true) return null
  if (leverage === undefined) return refusedField('leverage', 'A margin order needs leverage, unless it is reduceOnly')
  const hundredths = parsePositive(leverage, LEVERAGE_SCALE)
  if (hundredths < 1 || hundredths > LEVERAGE_MOST) {
    return refusedField('leverage', `leverage must be a positive decimal string with at most ${LEVERAGE_SCALE} digits behind the point`)
  }
  margin.leverage = hundredths
  return null
}

function takeCollateral({ genesis }: Gateway, item: MarginItem, pair: Pair, margin: MarginTerms): Refused | null {
  if (item.riskBucketCollateral === undefined) return null
  if (item.reduceOnly === true) return refusedField('riskBucketCollateral', 'A reduceOnly order brings no riskBucketCollateral')
  const atoms = atomsOf(genesis.assets[pair.quote]!, 'riskBucketCollateral', item.riskBucketCollateral, 0n)
  if (atoms instanceof Refused) return atoms
  margin.collateral = atoms
  return null
}

function takeStrategyKey({ strategyKey }: MarginItem, margin: MarginTerms): Refused | null {
  if (strategyKey === undefined) return null
  if (!STRATEGY_KEY.test(strategyKey)) {
    return refusedField('strategyKey', `strategyKey must be 1 to ${STRATEGY_KEY_BYTES} printable ASCII characters`)
  }
  margin.strategyKey = strategyKey
  const [low, high] = strategyKeyWords(strategyKey)
  margin.keyLow = low
  margin.keyHigh = high
  return null
}

const noAccount = (): Refused => new Refused('NOT_FOUND', 'Margin account not found', { field: 'marginAccountId' })
const noBucket = (): Refused => new Refused('NOT_FOUND', 'Risk bucket not found', { field: 'riskBucketId' })

function takeMarginAccount(
  { state, genesis }: Gateway, account: number, { marginAccountId, idempotencyKey }: MarginItem, margin: MarginTerms,
): Refused | null {
  if (marginAccountId === undefined) return null
  const parent = parseId(IdKind.PARENT_MARGIN, marginAccountId)
  if (parent !== null) {
    return parent.slot === account && parent.sequence === readAccount(state, account).createdSequence ? null : noAccount()
  }
  const id = parseId(IdKind.MARGIN_ACCOUNT, marginAccountId)
  if (id === null || id.slot >= genesis.limits.marginAccounts) return noAccount()
  const known = idempotencyKey !== undefined || ownsMarginAccount(state, account, { row: id.slot, sequence: id.sequence })
  if (!known) return noAccount()
  margin.marginAccount = id.slot + 1
  margin.accountSequence = id.sequence
  margin.namedSequence = id.sequence
  return null
}

/** A bucket that is named says which margin account and strategy key it has, where the order does not. */
function takeBucket(
  { state, genesis }: Gateway, account: number, { riskBucketId, marginAccountId, strategyKey, idempotencyKey }: MarginItem,
  margin: MarginTerms,
): Refused | null {
  if (riskBucketId === undefined) return null
  const id = parseId(IdKind.RISK_BUCKET, riskBucketId)
  if (id === null || id.slot >= genesis.limits.riskBuckets) return noBucket()
  const bucket = findOwnBucket(state, account, { row: id.slot, sequence: id.sequence })
  if (bucket === null && idempotencyKey === undefined) return noBucket()
  margin.bucket = id.slot + 1
  margin.namedSequence = id.sequence
  if (bucket === null) return null
  if (marginAccountId === undefined) margin.marginAccount = bucket.marginAccount + 1
  if (strategyKey === undefined) {
    margin.keyLow = bucket.keyLow
    margin.keyHigh = bucket.keyHigh
  }
  return null
}
