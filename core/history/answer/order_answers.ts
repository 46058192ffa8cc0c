/** Orders of the history: one, those of an account, and those of an application. */
import { Flag, CLIENT_ORDER_ID_SHIFT } from '../../layout/command.ts'
import { Status } from '../../layout/event.ts'
import { ORDER_RECORD, ORDER_REFERENCE } from '../store/layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { MOST_BATCHES } from '../store/vault_layout.ts'
import type { ApplicationOrdersAsk, HistoryOrder, HistoryOrderMargin, Named, OrdersAsk } from './queries.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import type { Trail } from './walk.ts'

const { at: O } = ORDER_RECORD
const { at: REF } = ORDER_REFERENCE

/** Text of a client order id in record bytes. */
function labelOf(reader: PageReader, at: number): string {
  const length = Math.min(40, reader.views.u32[at + O.flags]! >>> CLIENT_ORDER_ID_SHIFT)
  return length === 0 ? '' : Buffer.from(reader.views.bytes.buffer as ArrayBuffer, (at + O.label) * 4, length).toString('latin1')
}

/** What other tables say of an order; `null`: nothing. */
export interface OrderLinks {
  /** Where an order of a perpetual stands (margin_answers.ts). */
  readonly margin: (account: number, pair: number, sequence: number) => HistoryOrderMargin | null
  /** The TWAP order of which it is a slice (waiting_answers.ts). */
  readonly parent: (account: number, flags: number, sequence: number) => Named | null
  /** What an order is by now that came to `outcome` after so many batches of settlement were opened (settlement_answers.ts). */
  readonly outcome: (outcome: number, batches: number) => number
  /** What looking there has cost so far, in pages. */
  readonly loads: () => number
}

export function orderAt(reader: PageReader, links: OrderLinks, account: number, at: number): HistoryOrder {
  const { i32, u32, f64, i64 } = reader.views
  const sequence = f64[(at + O.sequence) >>> 1]!
  const margin = links.margin(account, i32[at + O.pair]!, sequence)
  const parent = links.parent(account, u32[at + O.flags]!, sequence)
  return {
    account,
    sequence,
    slot: i32[at + O.slot]!,
    pair: i32[at + O.pair]!,
    flags: u32[at + O.flags]!,
    price: i32[at + O.price]!,
    lots: i32[at + O.lots]!,
    remaining: (i32[at + O.outcome]! & 0xff) === Status.FILLED ? 0 : i32[at + O.remaining]!,
    filledQuote: i64[(at + O.filledQuote) >>> 1]!,
    fee: i64[(at + O.fee) >>> 1]!,
    createdAt: f64[(at + O.createdAt) >>> 1]!,
    updatedAt: f64[(at + O.updatedAt) >>> 1]!,
    expiresAt: f64[(at + O.expiresAt) >>> 1]!,
    outcome: links.outcome(i32[at + O.outcome]!, i32[at + O.remaining]!),
    slippageBps: i32[at + O.slippageBps]!,
    clientOrderId: labelOf(reader, at),
    ...(margin === null ? {} : { margin }),
    ...(parent === null ? {} : { parent }),
  }
}

export function findOrder(reader: PageReader, links: OrderLinks, account: number, sequence: number): HistoryOrder | null {
  const { f64 } = reader.views
  const word = (at: number): number => f64[(at + O.sequence) >>> 1]!
  const number = reader.search(account, reader.count(account), (at) => word(at) <= sequence) - 1
  if (number < 0) return null
  const at = reader.locate(account, number)
  return word(at) === sequence ? orderAt(reader, links, account, at) : null
}

/** Orders of one account. */
export function orderTrail(reader: PageReader, links: OrderLinks, isPerp: (pair: number) => boolean, ask: OrdersAsk): Trail<HistoryOrder> {
  const { account, statuses, pair, sell, market, margin, clientOrderId } = ask
  const { i32, u32, f64 } = reader.views
  const bounds = boundsOf(ask)
  const passes = (at: number): boolean => {
    const flags = u32[at + O.flags]!
    if (statuses !== undefined && !statuses.includes(links.outcome(i32[at + O.outcome]!, i32[at + O.remaining]!) & 0xff)) return false
    if (pair !== undefined && i32[at + O.pair] !== pair) return false
    if (sell !== undefined && sell !== ((flags & Flag.SELL) !== 0)) return false
    if (market !== undefined && market !== ((flags & Flag.MARKET) !== 0)) return false
    if (margin !== undefined && margin !== isPerp(i32[at + O.pair]!)) return false
    return clientOrderId === undefined ||
    (flags >>> CLIENT_ORDER_ID_SHIFT === clientOrderId.length && labelOf(reader, at) === clientOrderId)
  }
  const all = [statuses, pair, sell, market, margin, clientOrderId].every((filter) => filter === undefined)
  const first = start(reader, account, bounds, O.sequence, O.createdAt)
  return {
    ...(all ? descendThrough(reader, account, first, bounds.from, O.createdAt) : descend(reader, account, first)),
    isOver: (at) => f64[(at + O.createdAt) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + O.sequence) >>> 1]!, index: 0 }),
    build: (at) => orderAt(reader, links, account, at),
    loads: () => reader.loads + links.loads(),
  }
}

/** Orders of all accounts of an application, by their references; only those that are shown are looked up. */
export function applicationOrderTrail(
  references: PageReader, orders: PageReader, links: OrderLinks, ask: ApplicationOrdersAsk,
): Trail<HistoryOrder> {
  const { application, statuses, pair, sell, market } = ask
  const { i32, f64 } = references.views
  const recordOf = (at: number): number => orders.locate(i32[at + REF.account]!, f64[(at + REF.number) >>> 1]!)
  const statusAt = (at: number): number => {
    const [status, batches] = [i32[at + REF.status]! & 0xff, i32[at + REF.status]! >>> 8]
    if (status !== Status.FILLED) return status
    return links.outcome(status, batches < MOST_BATCHES ? batches : orders.views.i32[recordOf(at) + O.remaining]!) & 0xff
  }
  const passes = (at: number): boolean => {
    const flags = i32[at + REF.flags]!
    if (statuses !== undefined && !statuses.includes(statusAt(at))) return false
    if (pair !== undefined && i32[at + REF.pair] !== pair) return false
    if (sell !== undefined && sell !== ((flags & Flag.SELL) !== 0)) return false
    return market === undefined || market === ((flags & Flag.MARKET) !== 0)
  }
  const all = [statuses, pair, sell, market].every((filter) => filter === undefined)
  // A pair that does not exist: nothing to look through.
  const isPair = pair === undefined || pair >= 0
  const first = isPair ? start(references, application, boundsOf(ask), REF.sequence, REF.sequence) : 0
  return {
    ...(all ? descendThrough(references, application, first, 0, REF.sequence) : descend(references, application, first)),
    isOver: () => false,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + REF.sequence) >>> 1]!, index: 0 }),
    build: (at) => orderAt(orders, links, i32[at + REF.account]!, recordOf(at)),
    loads: () => references.loads + orders.loads + links.loads(),
  }
}
