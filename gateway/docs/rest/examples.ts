/**
 * One call of every operation and its answer, as they really look; typed as the operation's own input and output.
 *
 * Inputs are flat, as operations take them: the document splits them into path, query and body. Ids are those of the shipped genesis.
 */
import { agentId, movementId, orderId, spendLimitId, tradeId, userId } from '../../../core/layout/ids.ts'
import { challengeText } from '../../auth/challenge.ts'
import { NONCE_LIFETIME_MS } from '../../auth/nonces.ts'
import type { OperationName, OperationTypes } from '../../operations/index.ts'
import { checksumOf } from '../../operations/orderbook.ts'

type Example<Name extends OperationName> = {
  readonly input: OperationTypes[Name]['input']
  readonly output: OperationTypes[Name]['output']
}
type Examples = { readonly [Name in OperationName]: Example<Name> }

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SESSION_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
const NONCE = '3f0e6b1c7a52d94f8e07c1b6a5d43e2f190c8b7a6f5e4d3c2b1a09f8e7d6c5b4'
const USER = userId(17, 3)
const ORDER = orderId(42, 7)
const SUCCESSOR = orderId(43, 7)
const TRADE = tradeId(43, 0)
const USDC = '5a1c0000-0000-4000-8000-000000000001'
const BTC = '5a1c0000-0000-4000-8000-000000000002'
const PAIR = '7a1c0000-0000-4000-8000-000000000001'
const MOMENT = '2026-01-15T09:30:00.000Z'
const LATER = '2026-01-15T09:30:02.125Z'
const EXPIRES = 1_768_555_800
const ISSUED = Date.parse(MOMENT)
const NONCE_EXPIRES = ISSUED + NONCE_LIFETIME_MS

const message = challengeText(
  {
    purpose: 'sign-in', nonce: NONCE, address: ADDRESS, sessionPublicKey: SESSION_KEY, application: 0, master: null, issuedAt: ISSUED,
    expiresAt: NONCE_EXPIRES,
  },
  { application: 'Ringbook', host: '127.0.0.1:8080', chainId: 1328 },
)

const usdc = {
  assetId: USDC,
  token: '0x0000000000000000000000000000000000001001',
  symbol: 'USDC',
  decimals: 6,
  availableBalance: '7000',
  lockedBalance: '3000',
  totalBalance: '10000',
  availableBalanceRaw: '7000000000',
  lockedBalanceRaw: '3000000000',
  version: 42,
}

const pair = {
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

const item = { tradingPairId: PAIR, orderType: 'LIMIT' as const, side: 'BUY' as const, quantity: '0.05', price: '60000' }
const resting = { tradesCount: 0, totalFilled: '0', remainingQuantity: '0.05', status: 'SUBMITTED' as const }
const filled = {
  tradesCount: 1,
  totalFilled: '0.05',
  remainingQuantity: '0',
  averageFillPrice: '60000',
  status: 'FILLED' as const,
  actualSlippageBps: 0,
  executionPriceRange: { bestPrice: '60000', worstPrice: '60000' },
}
const order = {
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
const bids = [{ price: '60000', quantity: '0.03', orderCount: 1 }]
const asks = [{ price: '60010.5', quantity: '1.2', orderCount: 3 }]
const page = { page: 1, pageSize: 20, total: 1, totalPages: 1 }
const trade = {
  id: TRADE,
  tradingPairId: PAIR,
  price: '60000',
  quantity: '0.05',
  quoteQuantity: '3000',
  makerSide: 'SELL' as const,
  executedAt: LATER,
  settlementStatus: 'PENDING' as const,
}
const candle = {
  t: 1_768_467_600_000, T: 1_768_471_199_999, o: '59990', h: '60120.5', l: '59950', c: '60000', v: '1.25', q: '75012.5', n: 42,
}
const DAY_MS = 86_400_000
const screenerItem = {
  tradingPairId: PAIR,
  symbol: 'BTC/USDC',
  baseIconUrl: null,
  quoteIconUrl: null,
  lastPrice: '60000',
  lastPriceTimestamp: '1768469402125',
  quoteVolume1h: '75012.5',
  quoteVolume24h: '1287655',
  quoteVolume7d: '8120034.25',
  priceChangePercent1h: '0.0167',
  priceChangePercent24h: '-1.25',
  priceChangePercent7d: null,
  snapshot7d: [6, 5, 4, 3, 2, 1, 0].map((ago) => ({
    bucketStart: String(Date.parse('2026-01-15T00:00:00.000Z') - ago * DAY_MS),
    quoteVolume: ago === 6 ? null : '1287655',
    priceChangePercent: ago > 4 ? null : '-0.5',
    openInterestNotionalAvg: null,
  })),
  category: 'major',
  totalQuoteVolumeLtd: '8120034.25',
  totalTradeCountLtd: 90_210,
  latestFundingRate: null,
  lastFundingTime: null,
  openInterestBase: null,
  openInterestNotional: null,
  openInterestNotionalAvg1h: null,
  openInterestNotionalAvg24h: null,
  openInterestNotionalAvg7d: null,
}
const accountTrade = {
  ...trade, orderId: SUCCESSOR, side: 'BUY' as const, role: 'taker' as const, fee: '1.5', feeRaw: '1500000', feeToken: 'USDC',
}
const movement = {
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
const minted = { assetId: USDC, symbol: 'USDC', amount: '10000', txHash: null }

const SUB_ACCOUNT = userId(51, 9)
const WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const subAccount = {
  id: SUB_ACCOUNT, address: WALLET, username: 'desk-1', accountType: 'sub' as const, isActive: true, consented: true,
  createdAt: MOMENT,
}
const transfer = { subAccountId: SUB_ACCOUNT, assetId: USDC, amount: '250', direction: 'TO_SUB_ACCOUNT' as const }
const limit = {
  id: spendLimitId(53, 0),
  subAccountId: SUB_ACCOUNT,
  token: usdc.token,
  dailyLimit: '5000',
  usedToday: '120.5',
  createdAt: MOMENT,
  updatedAt: LATER,
  masterAccountId: USER,
  maxAmount: '1000',
  lastResetAt: '2026-01-15T00:00:00.000Z',
  isActive: true,
  assetId: USDC,
  outstanding: '300',
}
const AGENT = agentId(61, 2)
const grant = {
  agentAddress: WALLET,
  name: 'grid bot',
  allowedActions: ['CREATE_ORDER' as const, 'CANCEL_ORDER' as const],
  allowedTradingPairIds: [PAIR],
  allowedOrderTypes: ['LIMIT' as const],
  maxOrderNotional: '5000',
  maxOpenOrders: 50,
  expiresAt: '2099-01-15T09:30:00.000Z',
}
const agent = {
  ...grant,
  id: AGENT,
  isActive: true,
  allowedTimeInForce: ['GTC' as const, 'IOC' as const, 'FOK' as const],
  noMarginAccounts: false,
  openOrders: 3,
  createdAt: MOMENT,
  updatedAt: LATER,
}

export const EXAMPLES: Examples = {
  Challenge: {
    input: { address: ADDRESS, sessionPublicKey: SESSION_KEY },
    output: { nonce: NONCE, message, expiresAt: NONCE_EXPIRES / 1000 },
  },
  Verify: {
    input: {
      address: ADDRESS, signature: `0x${'5e'.repeat(64)}1b`, nonce: NONCE, sessionPublicKey: SESSION_KEY,
      sessionSignature: '7a'.repeat(64),
    },
    output: { expiresAt: EXPIRES, user: { id: USER, address: ADDRESS, username: null }, isNewUser: true, referralApplied: false },
  },
  Refresh: { input: {}, output: { expiresAt: EXPIRES } },
  Revoke: { input: {}, output: { revoked: true } },
  GetProfile: {
    input: {},
    output: {
      id: USER, address: ADDRESS, username: null, accountType: 'master', canWithdraw: true, createdAt: MOMENT, masterAccountId: null,
    },
  },
  ListBalances: { input: { page: 1, pageSize: 20 }, output: { balances: [usdc], ...page } },
  GetBalance: { input: { assetId: USDC }, output: usdc },
  ListMovements: { input: { assetId: USDC, transactionType: 'FEE', pageSize: 20 }, output: { movements: [movement], ...page } },
  ListAccountTrades: { input: { tradingPairId: PAIR, pageToken: '' }, output: { trades: [accountTrade], pageSize: 20, nextPageToken: '' } },
  GetPortfolio: {
    input: { period: '7d' },
    output: {
      period: '7d', assetId: USDC, symbol: 'USDC', realizedPnl: '-1.5', volume: '3000', fees: '1.5',
      points: [{ timestamp: '2026-01-15T09:00:00.000Z', equity: null }, { timestamp: LATER, equity: '69998.5' }],
      sequence: 43, asOf: LATER,
    },
  },
  ListSubAccounts: { input: {}, output: { subAccounts: [{ ...subAccount, balances: [usdc] }] } },
  CreateSubAccount: {
    input: { address: WALLET, username: 'desk-1', nonce: NONCE, signature: `0x${'5e'.repeat(64)}1b` },
    output: { subAccount: { ...subAccount, balances: [] } },
  },
  TransferSubAccountBalance: {
    input: { ...transfer, idempotencyKey: '2f1c7c0e-transfer-1' },
    output: { movementId: movementId(52, 0), ...transfer, token: usdc.token },
  },
  CreateSubAccountLimit: {
    input: { subAccountId: SUB_ACCOUNT, assetId: USDC, maxAmount: '1000', dailyLimit: '5000' }, output: { limit },
  },
  ListSubAccountLimits: { input: { subAccountId: SUB_ACCOUNT }, output: { limits: [limit] } },
  UpdateSubAccountLimit: { input: { subAccountId: SUB_ACCOUNT, assetId: USDC, maxAmount: '1000', isActive: true }, output: { limit } },
  DeleteSubAccountLimit: { input: { subAccountId: SUB_ACCOUNT, assetId: USDC }, output: { deleted: true } },
  CreateOrder: {
    input: { ...item, clientOrderId: 'quote-1', idempotencyKey: '2f1c7c0e-order-1' },
    output: { orderId: ORDER, status: 'SUCCESS', message: 'Order accepted', matchResult: resting, sequence: 42, engineTime: MOMENT },
  },
  GetOrder: { input: { orderId: ORDER }, output: order },
  ListOrders: {
    input: { status: ['SUBMITTED', 'PARTIALLY_FILLED'], pageSize: 20 },
    output: { orders: [order], ...page, totalCapped: false },
  },
  CancelOrder: {
    input: { orderId: ORDER },
    output: { orderId: ORDER, status: 'SUCCESS', message: 'Order cancelled', sequence: 44, engineTime: LATER },
  },
  ReplaceOrder: {
    input: { orderId: ORDER, price: '60010', quantity: '0.05' },
    output: {
      orderId: SUCCESSOR, originalOrderId: ORDER, status: 'SUCCESS', message: 'Order replaced', quantity: '0.05', matchResult: filled,
      sequence: 43, engineTime: LATER,
    },
  },
  BatchCreateOrders: {
    input: { orders: [item, { ...item, price: '60000.001' }] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        { orderId: ORDER, matchResult: resting, sequence: 42, engineTime: MOMENT },
        { error: { code: 'INVALID_TICK', message: 'price must be a positive multiple of 0.01 in range' } },
      ],
    },
  },
  BatchReplaceOrders: {
    input: { orders: [{ orderId: ORDER, price: '60010', quantity: '0.05' }, { orderId: SUCCESSOR, quantity: '0' }] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        {
          originalOrderId: ORDER, newOrderId: SUCCESSOR, quantity: '0.05', matchResult: filled, sequence: 43, engineTime: LATER,
        },
        { originalOrderId: SUCCESSOR, error: { code: 'INVALID_LOT', message: 'quantity must be a positive multiple of 0.0001 in range' } },
      ],
    },
  },
  BatchCancelOrders: {
    input: { orderIds: [ORDER, ORDER] },
    output: {
      totalRequested: 2,
      totalSucceeded: 1,
      totalFailed: 1,
      results: [
        { orderId: ORDER, sequence: 44, engineTime: LATER },
        { orderId: ORDER, error: { code: 'ORDER_NOT_FOUND', message: 'Order not found' } },
      ],
    },
  },
  BatchCancelOrdersByPair: { input: { tradingPairId: PAIR }, output: { totalCancelled: 1, orderIds: [ORDER] } },
  BatchCancelAllOrders: {
    input: {},
    output: {
      totalCancelled: 1, orderIds: [ORDER], totalNotCancelled: 1,
      notCancelled: [{ orderId: SUCCESSOR, tradingPairId: PAIR, reason: 'PAIR_NOT_ACTIVE' }],
    },
  },
  ListTradingPairs: { input: { isActive: true, quoteToken: 'USDC' }, output: { tradingPairs: [pair], ...page } },
  GetTradingPair: { input: { tradingPairId: PAIR }, output: { tradingPair: pair } },
  GetScreener: { input: { marketType: 'SPOT', page: 1, pageSize: 20 }, output: { items: [screenerItem], ...page } },
  GetMarketMetadata: {
    input: { tradingPairId: PAIR },
    output: {
      tradingPairId: PAIR,
      symbol: 'BTC/USDC',
      lastPrice: '60000',
      volume24h: '21.5',
      quoteVolume24h: '1287655',
      high24h: '60410.5',
      low24h: '59020',
      priceChangePercent24h: '-1.25',
    },
  },
  GetCandles: {
    input: { tradingPairId: PAIR, interval: '1h', startTime: '1768467600000', limit: 1 },
    output: { tradingPairId: PAIR, interval: '1h', candles: [candle] },
  },
  GetServerTime: { input: {}, output: { serverTime: MOMENT, unixMs: 1_768_469_400_000 } },
  GetOrderbook: {
    input: { tradingPairId: PAIR, depth: 2 },
    output: {
      tradingPairId: PAIR,
      bids,
      asks,
      bestBid: '60000',
      bestAsk: '60010.5',
      sequence: 43,
      checksum: checksumOf(bids, asks),
      timestamp: LATER,
    },
  },
  ListTrades: { input: { tradingPairId: PAIR, page: 1, pageSize: 20 }, output: { trades: [trade], ...page } },
  GetTrade: { input: { tradeId: TRADE }, output: trade },
  SimulateFees: {
    input: item,
    output: {
      notional: '3000',
      makerFeeBps: '-0.5',
      takerFeeBps: '5',
      applicationTakerFeeBps: '0',
      applicationMakerFeeBps: '0',
      makerFee: '-0.09',
      takerFee: '0.6',
      applicationFee: '0',
      totalFee: '0.51',
      feeToken: 'USDC',
    },
  },
  GetFaucetInfo: {
    input: {},
    output: {
      remainingRequests24h: 4, dailyLimit: 5, nextAvailableAt: MOMENT, recentRequests: [{ requestedAt: MOMENT, minted: [minted] }],
    },
  },
  Mint: {
    input: { assetId: USDC },
    output: { requestedAt: MOMENT, minted: [minted], remainingRequests24h: 4, nextAvailableAt: MOMENT },
  },
  UpsertDelegatedAgent: { input: grant, output: agent },
  ListDelegatedAgents: { input: {}, output: { agents: [agent] } },
  GetDelegatedAgent: { input: { agentId: AGENT }, output: agent },
  RevokeDelegatedAgent: { input: { agentId: AGENT }, output: { revoked: true, ordersCancelled: 3 } },
  CreateDelegatedSession: {
    input: {
      agentAddress: WALLET, ownerAddress: ADDRESS, sessionPublicKey: SESSION_KEY, nonce: NONCE, signature: `0x${'5e'.repeat(64)}1b`,
      sessionSignature: '7a'.repeat(64),
    },
    output: { expiresAt: EXPIRES, agentId: AGENT, userId: USER },
  },
  GetApplicationConfig: {
    input: {},
    output: {
      id: '9a1c0000-0000-4000-8000-000000000001',
      name: 'Ringbook',
      clientId: 'ringbook',
      allowedOrigins: ['*'],
      payoutAddress: null,
      builderFeeBps: 0,
      builderMakerFeeBps: 0,
      isActive: true,
      createdAt: null,
    },
  },
  ListApplicationUsers: {
    input: { accountType: 'master', address: '7099', pageSize: 20 },
    output: {
      users: [{ id: USER, address: ADDRESS, username: null, accountType: 'master', isActive: true, createdAt: MOMENT }], ...page,
    },
  },
  ListApplicationBalances: { input: { userId: USER }, output: { balances: [{ userId: USER, ...usdc }], ...page } },
  ListApplicationOrders: { input: { userId: USER, side: 'BUY', page: 1, pageSize: 20 }, output: { orders: [order], ...page } },
  ListApplicationMovements: {
    input: { transactionType: 'FEE', page: 1, pageSize: 20 }, output: { movements: [{ ...movement, userId: USER }], ...page },
  },
  GetApplicationStats: {
    input: { since: MOMENT },
    output: {
      assetId: USDC, symbol: 'USDC', volume: '3000', makerFee: '-0.15', takerFee: '1.5', totalUsers: 12, activeUsers: 2,
      totalTrades: 1, since: MOMENT, sequence: 43, asOf: LATER,
    },
  },
  Check: { input: {}, output: { status: 'ok', version: '1.0.0', sequence: 43, timestamp: LATER, degraded: [] } },
}
