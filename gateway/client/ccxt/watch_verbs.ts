/**
 * ccxt's `watch` verbs. The first call subscribes; each call answers with what came since the last call of its reader, and with `limit` its
 * oldest rows, so that the others come with the next call. `params.reader` names a reader where several watch the same (feed.ts).
 */
import type { Output } from '../index.ts'
import type { LocalBook } from '../book.ts'
import { unified } from './errors.ts'
import type { Feed } from './feed.ts'
import { MoneyVerbs } from './money.ts'
import { RestingOrders } from './resting_orders.ts'
import { balancesOf, localBookOf, orderOf, tradeOf, type Balances, type OrderBook, type Trade, type UnifiedOrder } from './shapes.ts'
import type { Watched, Watching } from './watching.ts'

type Params = Readonly<Record<string, unknown>>
type BalanceRow = Output<'ListBalances'>['balances'][number]

/** For `has` of the adapter. */
export const WATCH_VERBS = ['watchOrderBook', 'watchTrades', 'watchOrders', 'watchBalance'] as const

export abstract class WatchVerbs extends MoneyVerbs {
  protected abstract readonly watching: Watching
  protected abstract pairOf(symbol: string | undefined): Promise<{ tradingPairId?: string }>

  /** The book after its next change; every change was verified. */
  watchOrderBook(symbol: string, limit?: number, params: Params = {}): Promise<OrderBook> {
    return this.onMarket(symbol, async ({ id: tradingPairId, symbol: name }) => {
      const watched: Watched<LocalBook> = {
        key: `book ${tradingPairId}`, options: { isState: true, isUrgent: true },
        start: (into, watch) => this.client.book({ tradingPairId }, { changed: (now) => now.live && into.push([now]), ...watch }),
      }
      for (;;) {
        const book = (await this.watching.next(watched, params)).at(-1)!
        // What came before the connection was lost is old, and after a wrong checksum the book is empty.
        if (book.live) return localBookOf(name, book, limit)
      }
    })
  }

  /** Trades since the last call. */
  watchTrades(symbol: string, since?: number, limit?: number, params: Params = {}): Promise<Trade[]> {
    return this.onMarket(symbol, async ({ id: tradingPairId, symbol: name }) => {
      const watched: Watched<Trade> = {
        key: `trades ${tradingPairId}`,
        start: (into, watch) => this.client.subscribe('trades', { tradingPairId }, {
          update: ({ trades }) => into.push(trades.map((trade) => tradeOf(trade, name))), ...watch,
        }),
      }
      return from(await this.watching.next(watched, params, limit), since)
    })
  }

  /**
   * What happened to orders since the last call; after a lost connection also those that rest, and those that ended
   * meanwhile.
   */
  watchOrders(symbol?: string, since?: number, limit?: number, params: Params = {}): Promise<UnifiedOrder[]> {
    return this.privately(async () => {
      const pair = await this.pairOf(symbol)
      const watched: Watched<UnifiedOrder> = {
        key: `orders ${pair.tradingPairId ?? ''}`,
        start: (into, watch) => {
          const resting = new RestingOrders()
          return this.client.subscribe('orders', pair, {
            snapshot: ({ orders }) => {
              const ended = resting.snapshot(orders)
              if (ended === null) return
              into.push(orders.map(orderOf))
              void this.#tellEnded(ended, into)
            },
            update: (order) => {
              resting.update(order)
              into.push([orderOf(order)])
            },
            ...watch,
          })
        },
      }
      return from(await this.watching.next(watched, params, limit), since)
    })
  }

  /** Asks what became of orders whose end was not told. */
  async #tellEnded(ids: readonly string[], into: Feed<UnifiedOrder>): Promise<void> {
    try {
      for (const orderId of ids) into.push([orderOf(await this.client.GetOrder({ orderId }))])
    } catch (error) {
      into.fail(unified(error))
    }
  }

  /** All balances, now and then after each change. */
  watchBalance(params: Params = {}): Promise<Balances> {
    return this.privately(async () => {
      const watched: Watched<Balances> = {
        key: 'balances', options: { isState: true },
        start: (into, watch) => {
          const rows = new Map<string, BalanceRow>()
          const keep = (more: readonly BalanceRow[]): void => {
            for (const row of more) rows.set(row.assetId, row)
            into.push([balancesOf([...rows.values()])])
          }
          return this.client.subscribe('balances', {}, {
            snapshot: ({ balances }) => keep(balances), update: (row) => keep([row]), ...watch,
          })
        },
      }
      return (await this.watching.next(watched, params)).at(-1)!
    })
  }
}

const from = <Row extends { timestamp: number | undefined }>(rows: readonly Row[], since = 0): Row[] =>
  rows.filter(({ timestamp = since }) => timestamp >= since)
