/** What a State is: the views and addresses of all columns, and what is worked out once of its genesis (state.ts makes it). */
import type { ColumnName, Columns } from './columns.ts'
import type { Genesis } from './genesis.ts'
import type { Buffers } from './memory.ts'
import type { Outbox } from './outbox.ts'
import type { PageStore } from './page_store.ts'
import type { ReceiptRoom } from './receipt_room.ts'

/** What the view of an element type is. */
export interface ViewOf { i32: Int32Array; f64: Float64Array; i64: BigInt64Array }

type Views<V extends string, View> = { readonly [N in ColumnName as V extends Further<N> ? `${N}${V}` : never]: View }
/** What stands in `views` of a column's declaration. */
type Further<N extends ColumnName> = Columns[N] extends { readonly views: readonly (infer V)[] } ? V : never

/** Of every declared column (columns.ts) its address in 32-bit words, `ordersAt` ... */
export type ColumnAddresses = { readonly [N in ColumnName as `${N}At`]: number }
/** ... its view, `orders`, and its further views, `ordersF64`. */
export type ColumnViews =
  { readonly [N in ColumnName]: ViewOf[Columns[N]['type']] } & Views<'F64', Float64Array> & Views<'I64', BigInt64Array>

export interface State extends ColumnAddresses, ColumnViews {
  /** With the assets and pairs that are listed now. */
  readonly genesis: Genesis
  readonly buffers: Buffers
  readonly outbox: Outbox
  /** The memory of all columns. */
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array
  /** 32-bit words of one account's balance rows. */
  readonly balanceStride: number
  /** Limits of the genesis. */
  readonly maxOrders: number
  readonly maxOpenOrders: number
  readonly priceTicks: number
  readonly orderLifetimeMs: number
  /** Places of the due queue that are of orders; those of accounts follow. */
  readonly dueOrderPlaces: number
  /** The quote asset of all perpetuals, which is their collateral; -1: there are none. */
  readonly collateralAsset: number
  readonly receiptRoom: ReceiptRoom
  /** Where pages of receipts are that the memory has no room for. */
  readonly receiptStore: PageStore
  /** Memory that was got for limits which are about to be in force; `null`: it is got when they are (state.ts, `enlarge`). */
  ahead: Buffers | null
  /** Word offsets of the summary levels inside one side's bitmap. */
  readonly bitmapOffsets: Int32Array
  readonly bitmapTotal: number
  /** Pages of ticks per pair. */
  readonly pagesPerPair: number
}
