/** Parameters that several channels take. */
import type { Pair } from '../../../core/engine/genesis.ts'
import type { Gateway } from '../../context.ts'
import { findPair } from '../../operations/order_entry.ts'
import type { Params } from '../frames.ts'

/** The pair that `tradingPairId` names, or what is wrong with it. */
export function readPair(gateway: Gateway, { tradingPairId }: Params): Pair | string {
  if (typeof tradingPairId !== 'string') return 'tradingPairId is required'
  return findPair(gateway, tradingPairId) ?? 'tradingPairId names no trading pair'
}
