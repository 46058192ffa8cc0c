/** What is asked of a listing and what it answers, from the open orders in the columns as from the history. Listings are newest first. */

/** Where a listing goes on: after (older than) this row. */
export interface Position {
  sequence: number
  index: number
}

export interface Walk {
  /** 1..1000. */
  limit: number
  /** Rows to leave out: page mode. */
  skip: number
  /** Cursor mode. */
  after: Position | null
  /** Count matching rows up to this many; 0 counts nothing. */
  countMost: number
}

export interface Listing<Row> {
  rows: Row[]
  /** Matching rows, at most `countMost`; 0 when not counted. */
  total: number
  /** There are rows after the last of these. */
  more: boolean
}

/** Times are Unix ms, both ends inclusive; absent filters let everything pass. */
export interface OrdersAsk extends Walk {
  account: number
  /** Status numbers (layout/event.ts). */
  statuses?: number[]
  pair?: number
  sell?: boolean
  market?: boolean
  /** Of perpetuals, or of spot pairs. */
  margin?: boolean
  clientOrderId?: string
  from?: number
  to?: number
}
