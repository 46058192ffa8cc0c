/**
 * The channels: what they declare, known without an exchange, and how a thread makes them. Those of features that are still to come
 * (conditional and TWAP orders, positions, margin accounts, liquidations, candles and statistics) are one file and one line in each list;
 * until then subscribing to them is refused like to any name that is none.
 */
import type { Gateway } from '../../context.ts'
import { BALANCES, createBalances } from './balances.ts'
import type { Channel, Declaration } from './channel.ts'
import { createInstruments, INSTRUMENTS } from './instruments.ts'
import { createOrderbook, ORDERBOOK } from './orderbook.ts'
import { createOrders, ORDERS } from './orders.ts'
import { createTrades, TRADES } from './trades.ts'

export const DECLARATIONS = [ORDERBOOK, TRADES, INSTRUMENTS, ORDERS, BALANCES] as const satisfies readonly Declaration[]
const CREATORS = [createOrderbook, createTrades, createInstruments, createOrders, createBalances] as const

/** The channels of a thread by name. */
export const createChannels = (gateway: Gateway): ReadonlyMap<string, Channel> =>
  new Map(CREATORS.map((create) => create(gateway)).map((channel) => [channel.declaration.name, channel]))
