/** What the tale of margin trading (margin_tale.ts) keeps of its people. */
import type { HistoryPosition } from '../../core/history/answer/queries.ts'

export interface Margin { sequence: number; row: number; deposited: bigint; earmarked: bigint }
export interface Bucket {
  sequence: number; row: number; margin: Margin; mode: number; pair: number; key: string; allocated: bigint; realized: bigint
}
export interface Holding { record: HistoryPosition; bucket: Bucket; cost: bigint; fundedTo: number }
export interface User { wallet: bigint; margins: Margin[]; buckets: Bucket[]; holdings: Holding[] }
/** Open interest and mark of a pair from a time on. */
export interface InterestChange { pair: number; time: number; lots: number; mark: number }
/** What an account had at a time: atoms of collateral, and (lots, cost) by pair. */
export interface Worth { time: number; wallet: bigint; collateral: bigint; held: Map<number, { lots: number; cost: bigint }> }
