/**
 * A client that only listens: it rebuilds books, balances, open orders, trades and its own fills from frames alone, and throws at the first
 * frame that does not continue what it has. {@link differences} holds what it has against what REST answers at rest.
 */
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { checkOrderUpdate, type KnownOrder } from './order_updates.ts'
import type { Frame, SocketClient } from './sockets.ts'

/** Levels of each side that a subscriber sees. */
const DEPTH = 1000

export class Book {
  readonly bids = new Map<string, string>()
  readonly asks = new Map<string, string>()
  sequence = -1
  checksum = 0
  updates = 0

  take({ type, sequence, data }: Frame): void {
    if (type === 'snapshot') {
      this.bids.clear()
      this.asks.clear()
    } else {
      if (data.previousSequence !== this.sequence) throw new Error(`a gap: ${data.previousSequence} behind ${this.sequence}`)
      if (!(sequence > this.sequence)) throw new Error(`a repetition: ${sequence} behind ${this.sequence}`)
      this.updates++
    }
    this.sequence = sequence
    change(this.bids, data.bids)
    change(this.asks, data.asks)
    this.checksum = crc32([...this.side('bids').slice(0, 10), ...this.side('asks').slice(0, 10)]
      .map(({ price, quantity }) => `${price}:${quantity}`).join(','))
    if (this.checksum !== data.checksum) throw new Error(`the checksum at ${sequence} is ${data.checksum}, not ${this.checksum}`)
    if (this.bids.size > DEPTH || this.asks.size > DEPTH) throw new Error('more levels than there are')
  }

  /** Best first. */
  side(name: 'bids' | 'asks'): { price: string; quantity: string }[] {
    const sign = name === 'bids' ? -1 : 1
    return [...this[name]].map(([price, quantity]) => ({ price, quantity })).sort((a, b) => sign * (Number(a.price) - Number(b.price)))
  }
}

function change(levels: Map<string, string>, changes: { price: string; quantity: string }[]): void {
  for (const { price, quantity } of changes) {
    if (quantity === '0') levels.delete(price)
    else levels.set(price, quantity)
  }
}

const ENDS = ['OrderFilled', 'OrderCancelled', 'OrderExpired', 'OrderReplaced']
/** Reasons of balance updates that name the token. */
const NAMING = ['trade', 'fee', 'rebate']

/** One side of a trade, as the account's own list of trades has it too. */
export interface Fill {
  readonly id: string
  readonly orderId: string
  readonly side: string
  readonly role: string
  readonly price: string
  readonly quantity: string
  readonly fee: string
  readonly feeRaw: string
}

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

export class Listener {
  readonly client: SocketClient
  /** By magnitude. */
  readonly books = new Map<number, Book>()
  /** Rows by asset. */
  readonly balances = new Map<string, Frame>()
  /** Records by id. */
  readonly orders = new Map<string, Frame>()
  readonly trades: Frame[] = []
  /** Names of order events, reasons orders ended for and reasons of balance updates, and how often each came. */
  readonly events = new Map<string, number>()
  readonly endings = new Map<string, number>()
  readonly reasons = new Map<string, number>()
  /** Fills told, by order and trade. */
  readonly fills = new Map<string, Fill>()
  readonly #tradeIds = new Set<string>()
  /** The last snapshot of orders goes on in the next frame; or one that was asked for could not be read yet. */
  #more = false
  #waits = false
  #taken = 0

  /** A client, or whatever else has frames. */
  constructor(client: SocketClient | { readonly frames: readonly Frame[] }) {
    this.client = client as SocketClient
  }

  /** Takes in the frames that came since the last time. */
  catchUp(): void {
    for (; this.#taken < this.client.frames.length; this.#taken++) {
      const frame = this.client.frames[this.#taken]!
      if (frame['type'] === 'error') this.#takeError(frame)
      else if (frame['type'] === 'unsubscribed') this.#forget(frame)
      else if (frame['data'] !== undefined) this.#take(frame)
    }
  }

  /** A snapshot that comes later is no fault: until then the orders are not known. */
  #takeError(frame: Frame): void {
    if (frame['code'] !== 'SNAPSHOT_UNAVAILABLE') throw new Error(JSON.stringify(frame))
    if (frame['channel'] === 'orders') this.#waits = true
  }

  #forget({ channel, params }: Frame): void {
    if (channel === 'orderbook') this.books.delete(params.magnitude)
    else if (channel === 'balances') this.balances.clear()
    else if (channel === 'orders') this.orders.clear()
  }

  #take(frame: Frame): void {
    const { channel, type, data } = frame
    switch (channel) {
      case 'orderbook': {
        const book = this.books.get(data.magnitude) ?? new Book()
        this.books.set(data.magnitude, book)
        return book.take(frame)
      }
      case 'trades':
        // Those of the time before, and perhaps some that are known.
        if (type === 'snapshot') return this.#takeTrades(data.trades.filter(({ id }: Frame) => !this.#tradeIds.has(id)))
        return this.#takeTrades(data.trades)
      case 'balances':
        if (type === 'snapshot') for (const row of data.balances) this.#takeBalance(row)
        else this.#takeBalanceUpdate(frame)
        return
      case 'orders':
        if (type === 'snapshot') this.#takeOrders(data)
        else if (!this.#waits) this.#takeOrder(data)
    }
  }

  #takeTrades(trades: readonly Frame[]): void {
    for (const trade of trades) {
      if (this.#tradeIds.has(trade['id'])) throw new Error(`a trade was told twice: ${trade['id']}`)
      this.#tradeIds.add(trade['id'])
      this.trades.push(trade)
    }
  }

  #takeBalance(row: Frame): void {
    const known = this.balances.get(row['assetId'])
    if (known !== undefined && row['version'] < known['version']) throw new Error(`a version fell: ${JSON.stringify(row)}`)
    if (known !== undefined && row['version'] === known['version'] && !isDeepStrictEqual(row, known)) {
      throw new Error(`two rows of one version: ${JSON.stringify([known, row])}`)
    }
    this.balances.set(row['assetId'], row)
  }

  #takeBalanceUpdate({ reason, data: { reasons, tokenSymbol, ...row } }: Frame): void {
    const named = (reasons as string[]).some((each) => NAMING.includes(each))
    if (reason !== reasons[0] || named !== (tokenSymbol !== undefined)) throw new Error(`reasons: ${reason} ${reasons} ${tokenSymbol}`)
    for (const each of reasons) count(this.reasons, each)
    this.#takeBalance(row)
  }

  #takeOrders({ tradingPairId, orders, more }: Frame): void {
    if (!this.#more) {
      const isOfIt = ({ tradingPairId: of }: Frame): boolean => of === (tradingPairId ?? of)
      for (const [id, order] of this.orders) if (isOfIt(order)) this.orders.delete(id)
    }
    this.#more = more
    this.#waits = false
    for (const order of orders) this.orders.set(order.orderId, order)
  }

  #takeOrder(data: Frame): void {
    const {
      eventType, tradeId, lastFillQuantity, lastFillPrice, role, feeRaw, totalFee, stpCounterpartyOrderId, replacedByOrderId: _,
      commandSequence,
      ...rest
    } = data
    if (!Number.isSafeInteger(commandSequence)) throw new Error('an order event without the number of its command')
    const { orderId, side, fee } = rest as Record<'orderId' | 'side' | 'fee', string>
    checkOrderUpdate(data, this.orders.get(orderId) as KnownOrder | undefined)
    count(this.events, eventType)
    if (stpCounterpartyOrderId !== undefined) count(this.endings, `${data['selfTradePreventionMode']} names the other order`)
    if (tradeId !== undefined) {
      const fill = { id: tradeId, orderId, side, role, price: lastFillPrice, quantity: lastFillQuantity, fee, feeRaw }
      if (this.fills.has(`${orderId} ${tradeId}`)) throw new Error(`a fill was told twice: ${orderId} ${tradeId}`)
      this.fills.set(`${orderId} ${tradeId}`, fill)
    }
    if (ENDS.includes(eventType)) {
      count(this.endings, rest['terminalReason'] ?? 'FILLED')
      this.orders.delete(orderId)
    } else this.orders.set(orderId, { ...rest, postOnly: rest['postOnly'] ?? false, fee: totalFee })
  }
}

/** What REST answers at rest; the parts that are given are compared. */
export interface AtRest {
  /** By magnitude, all levels. */
  readonly books?: ReadonlyMap<number, { sequence: number; checksum: number; bids: readonly Priced[]; asks: readonly Priced[] }>
  readonly balances?: readonly { assetId: string }[]
  readonly orders?: readonly { orderId: string }[]
  readonly trades?: readonly { id: string }[]
  /** The account's own trades. */
  readonly fills?: readonly Fill[]
}
interface Priced {
  readonly price: string
  readonly quantity: string
}

const priced = (levels: readonly Priced[]): Priced[] => levels.map(({ price, quantity }) => ({ price, quantity }))
const by = <T>(rows: Iterable<T>, key: (row: T) => string): Record<string, T> => Object.fromEntries([...rows].map((row) => [key(row), row]))
const fillOf = ({ id, orderId, side, role, price, quantity, fee, feeRaw }: Fill): Fill =>
  ({ id, orderId, side, role, price, quantity, fee, feeRaw })

/** Where a listener differs from REST, by name; empty when it has exactly that. */
export function differences(listener: Listener, rest: AtRest): string[] {
  const found: string[] = []
  const same = (what: string, told: unknown, answered: unknown): void => {
    if (!isDeepStrictEqual(told, answered)) found.push(`${what}: ${JSON.stringify(told)} is not ${JSON.stringify(answered)}`)
  }
  for (const [magnitude, { sequence, checksum, bids, asks }] of rest.books ?? []) {
    const book = listener.books.get(magnitude)
    same(`book by ${magnitude}`, [book?.sequence, book?.checksum], [sequence, checksum])
    same(`bids by ${magnitude}`, book?.side('bids'), priced(bids))
    same(`asks by ${magnitude}`, book?.side('asks'), priced(asks))
  }
  if (rest.balances !== undefined) same('balances', Object.fromEntries(listener.balances), by(rest.balances, ({ assetId }) => assetId))
  if (rest.orders !== undefined) same('open orders', Object.fromEntries(listener.orders), by(rest.orders, ({ orderId }) => orderId))
  if (rest.trades !== undefined) same('trades', by(listener.trades, ({ id }) => id), by(rest.trades, ({ id }) => id))
  if (rest.fills !== undefined) {
    const key = ({ orderId, id }: Fill): string => `${orderId} ${id}`
    same('fills', by(listener.fills.values(), key), by(rest.fills.map(fillOf), key))
  }
  return found
}
