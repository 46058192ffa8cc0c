/**
 * The channels. Those of features that are still to come (conditional and TWAP orders, positions, margin accounts, liquidations, candles
 * and statistics) are one file and one line here each; until then subscribing to them is refused like to any name that is none.
 */
import type { Gateway } from '../../context.ts'
import { createBalances } from './balances.ts'
import type { Channel } from './channel.ts'
import { createInstruments } from './instruments.ts'
import { createOrderbook } from './orderbook.ts'
import { createOrders } from './orders.ts'
import { createTrades } from './trades.ts'

const CHANNELS = [createOrderbook, createTrades, createInstruments, createOrders, createBalances] as const

/** The channels of a thread by name. */
export const createChannels = (gateway: Gateway): ReadonlyMap<string, Channel> =>
  new Map(CHANNELS.map((create) => create(gateway)).map((channel) => [channel.name, channel]))
