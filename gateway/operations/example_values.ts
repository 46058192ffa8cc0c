/**
 * What the examples of several operations and channels say. Ids are those of the shipped genesis.
 */
import { ConditionType } from '../../core/layout/conditional.ts'
import {
  conditionalOrderId, followId, marginAccountId, movementId, ocoGroupId, orderId, parentMarginId, positionId, riskBucketId, tradeId,
  twapOrderId, userId, withdrawalId,
} from '../../core/layout/ids.ts'

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
export const WITHDRAWAL = withdrawalId(90, 2)
export const VAULT = '0x9A8f92a830A5cB89a3816e3D267CB7791c16b04D'
export const FACTORY = '0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6'
export const TX_HASH = '0x1b9b7ba1ce0a5c2b9d1e5f7a0c4b3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c'
export const withdrawal = {
  id: WITHDRAWAL,
  assetId: USDC,
  token: usdc.token,
  amount: '250',
  amountRaw: '250000000',
  destination: ADDRESS,
  status: 'SIGNED' as const,
  needsApproval: false,
  nonce: '90',
  createdAt: MOMENT,
  expiresAt: '2026-01-15T10:30:00.000Z',
}
export const calldata = {
  withdrawalId: WITHDRAWAL, chainId: 1328, to: VAULT, data: `0x0f0b1c1e${'00'.repeat(12)}${usdc.token.slice(2)}`, value: '0', nonce: '90',
  expiresAt: withdrawal.expiresAt,
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

export const PERP = '7a1c0000-0000-4000-8000-000000000005'
export const PARENT_MARGIN = parentMarginId(17, 3)
export const MARGIN_SUB = marginAccountId(60, 4)
export const RISK_BUCKET = riskBucketId(62, 5)
export const POSITION = positionId(63, 6)
export const TAKE_PROFIT = conditionalOrderId(70, ConditionType.TAKE_PROFIT)
export const STOP_LOSS = conditionalOrderId(70, ConditionType.STOP_LOSS)
export const OCO_GROUP = ocoGroupId(70)
export const TRAILING_STOP = conditionalOrderId(69, ConditionType.TRAILING_STOP)
export const TWAP = twapOrderId(72, 2)
export const SLICE = orderId(73, 8)
/** A parent with one isolated position of 0.05 BTC, bought at 60,000 with leverage 10 and marked at 60,200. */
export const marginAccount = {
  marginAccountId: PARENT_MARGIN, accountKind: 'PARENT' as const, accountState: 'Normal' as const, collateralAsset: 'USDC',
  depositedCollateral: '2000', earmarkedCollateral: '300', equity: '2008.5', initialMarginRequired: '301',
  maintenanceMarginRequired: '30.1',
  freeCollateral: '1707.5', withdrawableCollateral: '1700', totalPositionNotional: '3010', unrealizedPnl: '10', realizedPnl: '-1.5',
  updatedAt: LATER,
}
export const marginSub = {
  marginAccountId: MARGIN_SUB, accountKind: 'SUB' as const, accountState: 'Normal' as const, collateralAsset: 'USDC', label: 'basis',
  depositedCollateral: '0', earmarkedCollateral: '0', equity: '0', initialMarginRequired: '0', maintenanceMarginRequired: '0',
  freeCollateral: '0', withdrawableCollateral: '0', totalPositionNotional: '0', unrealizedPnl: '0', realizedPnl: '0', updatedAt: LATER,
}
export const riskBucket = {
  riskBucketId: RISK_BUCKET, marginAccountId: PARENT_MARGIN, marginMode: 'ISOLATED' as const, state: 'ACTIVE' as const,
  accountState: 'Normal' as const, collateralAsset: 'USDC', allocatedCollateral: '300', pendingCollateral: '0', equity: '308.5',
  initialMarginRequired: '301', maintenanceMarginRequired: '30.1', freeCollateral: '7.5', withdrawableCollateral: '0',
  totalPositionNotional: '3010', unrealizedPnl: '10', realizedPnl: '-1.5', openPositions: 1, openOrders: 0, tradingPairId: PERP,
  availableOrderCollateral: '1707.5', createdAt: MOMENT, updatedAt: LATER,
}
export const perpConfig = {
  tradingPairId: PERP, symbol: 'BTC/USDC-PERP', minLeverage: '1', maxLeverage: '50', initialMarginRatio: '0.02',
  maintenanceMarginRatio: '0.01', fundingIntervalSeconds: 28_800, liquidationFeeBps: '50',
  riskTiers: [
    {
      tierLevel: 1, lowerBoundNotional: '0', initialMarginRatio: '0.02', maintenanceMarginRatio: '0.01', maxLeverage: '50',
      initialMarginDeduction: '0', maintenanceMarginDeduction: '0', maxPositionNotional: '100', maxPositionSize: '100',
    },
    {
      tierLevel: 2, lowerBoundNotional: '500000', initialMarginRatio: '0.05', maintenanceMarginRatio: '0.025', maxLeverage: '20',
      initialMarginDeduction: '15000', maintenanceMarginDeduction: '7500', maxPositionNotional: '100', maxPositionSize: '100',
    },
  ],
  maxPositionSize: '100', maxPositionNotional: '100', updatedAt: null,
}
export const fundingRate = {
  tradingPairId: PERP, fundingRate: '0.0001', fundingTime: LATER, markPrice: '60200', indexPrice: '60194', samples: 480,
  openInterest: '21.5',
}
export const position = {
  positionId: POSITION, marginAccountId: PARENT_MARGIN, riskBucketId: RISK_BUCKET, tradingPairId: PERP, symbol: 'BTC/USDC-PERP',
  side: 'LONG' as const, status: 'OPEN' as const, size: '0.05', entryPrice: '60000', markPrice: '60200', leverage: '10',
  marginMode: 'ISOLATED' as const, isolatedMargin: '300', initialMarginRequired: '301', maintenanceMarginRequired: '30.1',
  liquidationPrice: '54575.75', realizedPnl: '0', unrealizedPnl: '10', accruedFunding: '0', unsettledFunding: '0', version: 1,
  createdAt: MOMENT, updatedAt: LATER,
}
export const fundingPayment = {
  positionId: POSITION, tradingPairId: PERP, amount: '-0.301', size: '0.05', side: 'LONG' as const, fundingRate: '0.0001',
  markPrice: '60200', createdAt: LATER,
}
export const positionRisk = {
  ...position, marginRatio: '0.097569', bankruptcyPrice: '54030', equity: '308.5', notional: '3010', tierLevel: 1,
}
export const orderRisk = {
  accepted: true, equityAfter: '310', initialMarginRequiredAfter: '301', maintenanceMarginRequiredAfter: '30.1', freeCollateralAfter: '9',
  estimatedFee: '1.5', estimatedLiquidationPrice: '54575.75', marginAccountId: PARENT_MARGIN, marginMode: 'ISOLATED' as const,
  expectedMatchResult: {
    tradesCount: 1, totalFilled: '0.05', remainingQuantity: '0', averageFillPrice: '60000', status: 'FILLED' as const, actualSlippageBps: 0,
    executionPriceRange: { bestPrice: '60000', worstPrice: '60000' },
  },
  referencePrice: '60000',
}
/** A trailing stop of that position: the best mark since it was armed was 60,400. */
export const conditionalOrder = {
  conditionalOrderId: TRAILING_STOP, id: TRAILING_STOP, conditionType: 'TRAILING_STOP' as const, state: 'ARMED' as const,
  tradingPairId: PERP, symbol: 'BTC/USDC-PERP', side: 'SELL' as const, positionId: POSITION, marginAccountId: PARENT_MARGIN,
  riskBucketId: RISK_BUCKET, triggerPrice: '59796', orderType: 'MARKET' as const, quantity: '0.05', closePosition: true, trailBps: 100,
  watermarkPrice: '60400', trailArmedAt: MOMENT, createdAt: MOMENT, updatedAt: MOMENT,
}
/** Of 0.3 BTC three of ten slices were placed, in 5 minutes. */
export const twapOrder = {
  twapOrderId: TWAP, id: TWAP, state: 'ACTIVE' as const, tradingPairId: PAIR, symbol: 'BTC/USDC', side: 'BUY' as const,
  tradingMode: 'SPOT' as const, quantity: '0.3', filledQuantity: '0.0891', remainingQuantity: '0.2109', averageFillPrice: '60004.25',
  slicesPlaced: 3, plannedSlices: 10, startTime: MOMENT, endTime: '2026-01-15T09:35:00.000Z', durationSeconds: 300, firstSliceAt: MOMENT,
  nextSliceAt: '2026-01-15T09:31:28.500Z', randomize: true, reduceOnly: false, executionStyle: 'MARKET' as const,
  clientTwapId: 'in-parts-1', fee: '2.673189', createdAt: MOMENT, updatedAt: '2026-01-15T09:31:02.250Z',
}
/** Its third slice. */
export const slice = {
  orderId: SLICE, id: SLICE, userId: USER, tradingPairId: PAIR, symbol: 'BTC/USDC', side: 'BUY' as const, orderType: 'MARKET' as const,
  tradingMode: 'SPOT' as const, status: 'FILLED' as const, quantity: '0.0291', filledQuantity: '0.0291', remainingQuantity: '0',
  averageFillPrice: '60010', postOnly: false, reduceOnly: false, parentOrderId: TWAP, fee: '0.873145',
  createdAt: '2026-01-15T09:31:02.250Z', updatedAt: '2026-01-15T09:31:02.250Z',
}

export const otherUser = { walletAddress: WALLET, display: '0x3C44…93BC' }
const rewarded = { token: usdc.token, amount: '1.25' }
export const reward = { tradeId: TRADE, level: 1, source: otherUser, ...rewarded, createdAt: LATER }
export const rewardSource = { source: otherUser, level: 1, earned: [rewarded], lastEarnedAt: LATER }
export const referee = { ...otherUser, joinedAt: MOMENT }
export const referralLevel = { level: 1, referees: 1, share: '0.2', earned: [rewarded] }

export const FOLLOW = followId(81, 3)
export const leader = {
  handle: 'north-star', followers: 12, allocation: '25000', since: MOMENT, returnPercent: null, maxDrawdownPercent: null,
}
export const leaderPosition = {
  tradingPairId: PERP, side: 'LONG' as const, size: '0.1', entryPrice: '60000', markPrice: '60500', unrealizedPnl: '50', leverage: '5',
  marginMode: 'ISOLATED' as const,
}
export const follower = {
  walletAddress: WALLET, display: '0x3C44…93BC', status: 'ACTIVE' as const, allocation: '1500', startedAt: MOMENT,
}
export const follow = {
  followId: FOLLOW, leader: 'north-star', status: 'ACTIVE' as const, allocation: '1500', maxLeverage: '5', marginMode: 'ISOLATED' as const,
  marginAccountId: MARGIN_SUB, strategyKey: `copy:${FOLLOW}`, ordersCopied: 0, skips: 0, lastSkip: null, nextAttemptAt: null,
  lastCopy: null, slippageCost: '0',
  startedAt: MOMENT, updatedAt: MOMENT,
}
