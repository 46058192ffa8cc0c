/**
 * A client that only listens: it rebuilds books, balances, open orders and trades from frames alone, and throws at the first frame that
 * does not continue what it has.
 */
import { crc32 } from 'node:zlib'
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

export class Listener {
  readonly client: SocketClient
  /** By magnitude. */
  readonly books = new Map<number, Book>()
  /** Rows by asset. */
  readonly balances = new Map<string, Frame>()
  /** Records by id. */
  readonly orders = new Map<string, Frame>()
  readonly trades: Frame[] = []
  /** Event names, and how often each came. */
  readonly events = new Map<string, number>()
  /** Fills told, by order and trade. */
  readonly fills = new Set<string>()
  #taken = 0

  constructor(client: SocketClient) {
    this.client = client
  }

  /** Takes in the frames that came since the last time. */
  catchUp(): void {
    for (; this.#taken < this.client.frames.length; this.#taken++) {
      const frame = this.client.frames[this.#taken]!
      if (frame['type'] === 'error') throw new Error(JSON.stringify(frame))
      if (frame['data'] !== undefined) this.#take(frame)
    }
  }

  #take(frame: Frame): void {
    const { channel, data } = frame
    switch (channel) {
      case 'orderbook': {
        const book = this.books.get(data.magnitude) ?? new Book()
        this.books.set(data.magnitude, book)
        return book.take(frame)
      }
      case 'trades':
        return void this.trades.push(...data.trades)
      case 'balances':
        for (const row of data.balances ?? [data]) this.#takeBalance(row)
        return
      case 'orders':
        if (frame['type'] === 'snapshot') for (const order of data.orders) this.orders.set(order.orderId, order)
        else this.#takeOrder(data)
    }
  }

  #takeBalance({ reasons: _, tokenSymbol: __, ...row }: Frame): void {
    const known = this.balances.get(row['assetId'])
    if (known === undefined || row['version'] > known['version']) this.balances.set(row['assetId'], row)
  }

  #takeOrder(data: Frame): void {
    const {
      eventType, tradeId, lastFillQuantity, lastFillPrice, role, feeRaw, totalFee, stpCounterpartyOrderId: _, replacedByOrderId: __, ...rest
    } = data
    this.events.set(eventType, (this.events.get(eventType) ?? 0) + 1)
    const id = rest['orderId'] as string
    if (tradeId !== undefined) {
      if (this.fills.has(`${id} ${tradeId}`)) throw new Error(`a fill was told twice: ${id} ${tradeId}`)
      this.fills.add(`${id} ${tradeId}`)
      if (!(Number(lastFillQuantity) > 0 && Number(lastFillPrice) > 0 && ['maker', 'taker'].includes(role) && /^-?\d+$/.test(feeRaw))) {
        throw new Error(`a fill without its terms: ${JSON.stringify(data)}`)
      }
    }
    if (eventType === 'OrderSubmitted' && this.orders.has(id)) throw new Error(`an order was submitted twice: ${id}`)
    if (eventType !== 'OrderSubmitted' && !this.orders.has(id)) throw new Error(`${eventType} of an order nobody knows: ${id}`)
    if (ENDS.includes(eventType)) this.orders.delete(id)
    else this.orders.set(id, { ...rest, postOnly: rest['postOnly'] ?? false, fee: totalFee ?? rest['fee'] })
  }
}
