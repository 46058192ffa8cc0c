/**
 * The channels: what they declare, known without an exchange, and how a thread makes them. Those of features that are still to come
 * (conditional and TWAP orders, positions, margin accounts, liquidations) say that there is none of it (not_yet_served.ts).
 */
import type { Gateway } from '../../context.ts'
import { ACCOUNT, createAccount } from './account.ts'
import { BALANCES, createBalances } from './balances.ts'
import type { Channel, Declaration } from './channel.ts'
import { CONDITIONAL_ORDERS, createConditionalOrders } from './conditional_orders.ts'
import { createInstruments, INSTRUMENTS } from './instruments.ts'
import { createLiquidations, LIQUIDATIONS } from './liquidations.ts'
import { createMarketStats, MARKET_STATS } from './market_stats.ts'
import { createOhlcv, OHLCV } from './ohlcv.ts'
import { createOrderbook, ORDERBOOK } from './orderbook.ts'
import { createOrders, ORDERS } from './orders.ts'
import { createPositions, POSITIONS } from './positions.ts'
import { createTrades, TRADES } from './trades.ts'
import { createTwapOrders, TWAP_ORDERS } from './twap_orders.ts'

export const DECLARATIONS = [
  ORDERBOOK, TRADES, OHLCV, MARKET_STATS, INSTRUMENTS, ORDERS, BALANCES, CONDITIONAL_ORDERS, TWAP_ORDERS, POSITIONS, ACCOUNT, LIQUIDATIONS,
] as const satisfies readonly Declaration[]
const CREATORS = [
  createOrderbook, createTrades, createOhlcv, createMarketStats, createInstruments, createOrders, createBalances, createConditionalOrders,
  createTwapOrders, createPositions, createAccount, createLiquidations,
] as const

/** The channels of a thread by name. */
export const createChannels = (gateway: Gateway): ReadonlyMap<string, Channel> =>
  new Map(CREATORS.map((create) => create(gateway)).map((channel) => [channel.declaration.name, channel]))
