/**
 * What the examples of several operations and channels say. Ids are those of the shipped genesis.
 */
import { movementId, orderId, tradeId, userId } from '../../core/layout/ids.ts'

export const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const SESSION_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
export const NONCE = '3f0e6b1c7a52d94f8e07c1b6a5d43e2f190c8b7a6f5e4d3c2b1a09f8e7d6c5b4'
export const USER = userId(17, 3)
export const ORDER = orderId(42, 7)
export const SUCCESSOR = orderId(43, 7)
export const TRADE = tradeId(43, 0)
export const USDC = '5a1c0000-0000-4000-8000-000000000001'
export const BTC = '5a1c0000-0000-4000-8000-000000000002'
export const PAIR = '7a1c0000-0000-4000-8000-000000000001'
export const MOMENT = '2026-01-15T09:30:00.000Z'
export const LATER = '2026-01-15T09:30:02.125Z'
export const EXPIRES = 1_768_555_800
export const usdc = {
  assetId: USDC,
  token: '0x0000000000000000000000000000000000001001',
  symbol: 'USDC',
  decimals: 6,
  amountDecimals: 6,
  availableBalance: '7000',
  lockedBalance: '3000',
  totalBalance: '10000',
  availableBalanceRaw: '7000000000',
  lockedBalanceRaw: '3000000000',
  version: 42,
}
export const pair = {
  id: PAIR,
  symbol: 'BTC/USDC',
  baseToken: 'BTC',
  quoteToken: 'USDC',
  baseAssetId: BTC,
  quoteAssetId: USDC,
  baseTokenContract: '0x0000000000000000000000000000000000001002',
  quoteTokenContract: '0x0000000000000000000000000000000000001001',
  baseDecimals: 8,
  quoteDecimals: 6,
  baseAmountDecimals: 8,
  quoteAmountDecimals: 6,
  baseIconUrl: null,
  quoteIconUrl: null,
  isActive: true,
  makerFeeBps: '-0.5',
  takerFeeBps: '5',
  minOrderSize: '0.0001',
  maxOrderSize: '1000',
  minNotional: '1',
  tickSize: '0.01',
  lotSize: '0.0001',
  marketType: 'SPOT' as const,
  category: 'major',
}
export const item = { tradingPairId: PAIR, orderType: 'LIMIT' as const, side: 'BUY' as const, quantity: '0.05', price: '60000' }
export const resting = { tradesCount: 0, totalFilled: '0', remainingQuantity: '0.05', status: 'SUBMITTED' as const }
export const filled = {
  tradesCount: 1,
  totalFilled: '0.05',
  remainingQuantity: '0',
  averageFillPrice: '60000',
  status: 'FILLED' as const,
  actualSlippageBps: 0,
  executionPriceRange: { bestPrice: '60000', worstPrice: '60000' },
  totalFilledQuote: '3000',
  totalFee: '1.5',
}
export const filledWithFills = { ...filled, fills: [{ tradeId: TRADE, price: '60000', quantity: '0.05', fee: '1.5' }] }
export const order = {
  orderId: ORDER,
  id: ORDER,
  userId: USER,
  tradingPairId: PAIR,
  symbol: 'BTC/USDC',
  side: 'BUY' as const,
  orderType: 'LIMIT' as const,
  tradingMode: 'SPOT' as const,
  status: 'PARTIALLY_FILLED' as const,
  price: '60000',
  quantity: '0.05',
  filledQuantity: '0.02',
  remainingQuantity: '0.03',
  averageFillPrice: '60000',
  timeInForce: 'GTC' as const,
  postOnly: false,
  reduceOnly: false,
  clientOrderId: 'quote-1',
  fee: '-0.06',
  expirationDate: '2026-04-15T09:30:00.000Z',
  createdAt: MOMENT,
  updatedAt: LATER,
}
export const page = { page: 1, pageSize: 20, total: 1, totalPages: 1 }
export const trade = {
  id: TRADE,
  tradingPairId: PAIR,
  price: '60000',
  quantity: '0.05',
  quoteQuantity: '3000',
  makerSide: 'SELL' as const,
  executedAt: LATER,
  settlementStatus: 'PENDING' as const,
}
export const candle = {
  t: 1_768_467_600_000, T: 1_768_471_199_999, o: '59990', h: '60120.5', l: '59950', c: '60000', v: '1.25', q: '75012.5', n: 42,
}
export const movement = {
  id: movementId(43, 2),
  assetId: USDC,
  token: usdc.token,
  symbol: 'USDC',
  entryType: 'DEBIT' as const,
  transactionType: 'FEE' as const,
  amount: '1.5',
  balanceAfter: '6998.5',
  lockedAfter: '0',
  referenceId: TRADE,
  createdAt: LATER,
}
export const SUB_ACCOUNT = userId(51, 9)
export const WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
export const metadata = {
  tradingPairId: PAIR,
  symbol: 'BTC/USDC',
  lastPrice: '60000',
  volume24h: '21.5',
  quoteVolume24h: '1287655',
  high24h: '60410.5',
  low24h: '59020',
  priceChangePercent24h: '-1.25',
}
export const candles = { tradingPairId: PAIR, interval: '1h' as const, candles: [candle] }
