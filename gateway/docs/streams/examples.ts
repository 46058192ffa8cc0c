/**
 * Parameters and frames of every channel, as they really look; typed by what the channel declares. Records are those of the examples of
 * operations. A channel without its examples is a type error here.
 */
import type { Static } from 'typebox'
import { userId } from '../../../core/layout/ids.ts'
import {
  candles, EXPIRES, LATER, metadata, order, pair as tradingPair, SESSION_KEY, trade, usdc as balance,
} from '../../operations/example_values.ts'
import { checksumOf } from '../../operations/orderbook.ts'
import type { DECLARATIONS } from '../../ws/channels/index.ts'
import type { Declaration } from '../../ws/channels/channel.ts'
import type { FRAMES, MESSAGES } from '../../ws/protocol.ts'

type Declared = (typeof DECLARATIONS)[number]
interface ChannelExample<D extends Declaration> {
  readonly params: Static<D['params']>
  /** What the frame of each type carries under `data`. */
  readonly frames: { readonly [Type in keyof D['frames']]: Static<D['frames'][Type]['data']> }
}
type ChannelExamples = { readonly [Name in Declared['name']]: ChannelExample<Extract<Declared, { readonly name: Name }>> }

const { tradingPairId } = order
export const EXAMPLE_TIME = LATER
/** Sequence of the example frames, and that of the frame before. */
export const EXAMPLE_SEQUENCE = 43
const BEFORE = 42

const bids = [{ price: '60000', quantity: '0.03' }]
const asks = [{ price: '60010.5', quantity: '1.2' }]
const pair = { tradingPairId, magnitude: 1 }
const { postOnly: _, ...told } = order
const conditional = {
  createdAt: order.createdAt, conditionType: 'TRAILING_STOP', trailBps: 50, activationPrice: '60000', watermarkPrice: '60010.5',
  trailArmedAt: order.createdAt,
} as const

export const CHANNEL_EXAMPLES: ChannelExamples = {
  orderbook: {
    params: pair,
    frames: {
      snapshot: { ...pair, bids, asks, checksum: checksumOf(bids, asks) },
      orderbook_update: {
        ...pair, previousSequence: BEFORE, bids: [{ price: '59999.5', quantity: '0' }], asks: [], checksum: checksumOf(bids, asks),
      },
    },
  },
  trades: {
    params: { tradingPairId },
    frames: { snapshot: { tradingPairId, trades: [trade] }, trades_update: { tradingPairId, trades: [trade] } },
  },
  ohlcv: {
    params: { tradingPairId, interval: candles.interval },
    frames: { snapshot: candles, ohlcv_update: candles },
  },
  market_stats: { params: { tradingPairId }, frames: { snapshot: { tradingPairId, markets: [metadata] }, market_stats_update: metadata } },
  instruments: {
    params: {},
    frames: { snapshot: { instruments: [tradingPair] }, instruments_update: { instruments: [{ ...tradingPair, isActive: false }] } },
  },
  orders: {
    params: { tradingPairId },
    frames: {
      snapshot: { tradingPairId, commandSequence: 41, orders: [order], more: false },
      order_update: {
        eventType: 'OrderPartiallyFilled', commandSequence: 43, ...told, postOnly: true, tradeId: trade.id,
        lastFillQuantity: '0.02', lastFillPrice: '60000',
        role: 'maker', fee: '-0.06', feeRaw: '-60000', totalFee: '-0.06',
      },
    },
  },
  balances: {
    params: {},
    frames: {
      snapshot: { balances: [balance] },
      balance_update: { ...balance, version: 43, reasons: ['trade', 'fee'], tokenSymbol: 'USDC' },
    },
  },
  conditionalOrders: {
    params: {},
    frames: { snapshot: { conditionalOrders: [] }, conditional_order_update: conditional },
  },
  twapOrders: {
    params: { tradingPairId },
    frames: { snapshot: { tradingPairId, twapOrders: [] }, twap_order_update: { twapOrderId: order.orderId, state: 'ACTIVE' } },
  },
  positions: { params: {}, frames: { snapshot: { positions: [] }, position_update: { version: 43 } } },
  account: { params: {}, frames: { snapshot: { accounts: [] }, account_update: { marginAccountId: userId(2, 2) } } },
  liquidations: {
    params: {},
    frames: { snapshot: { liquidations: [] }, liquidation_update: { status: 'COMPLETED', accountState: 'Normal' } },
  },
}

type Messages = { readonly [Type in Exclude<keyof typeof MESSAGES, 'subscribe' | 'unsubscribe'>]: Static<(typeof MESSAGES)[Type]> }
export const MESSAGE_EXAMPLES: Messages = {
  auth: {
    type: 'auth', publicKey: SESSION_KEY, timestamp: '1768469402125', signature: '5e'.repeat(64),
  },
  ping: { type: 'ping' },
}

type Frames = { readonly [Type in Exclude<keyof typeof FRAMES, 'error'>]: Static<(typeof FRAMES)[Type]> }
const subscription = { id: 1, channel: 'orderbook', params: pair }
export const FRAME_EXAMPLES: Frames = {
  connected: { type: 'connected', connectionId: userId(1, 1), heartbeatMs: 60_000 },
  authenticated: { type: 'authenticated', expiresAt: EXPIRES },
  subscribed: { type: 'subscribed', ...subscription },
  unsubscribed: { type: 'unsubscribed', ...subscription },
  pong: { type: 'pong', timestamp: EXAMPLE_TIME },
}
