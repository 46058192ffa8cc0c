/**
 * Written by `npm run generate` out of gateway/operations; test/unit/generated.test.ts holds it against them. What the client needs to
 * call each operation: where, how it is signed, which budget it draws from, and where its input goes: fields in `{}` of the path into it,
 * the others into the JSON body (`body`) or into the query.
 */
export interface CallData {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: 'public' | 'session' | 'server-key'
  readonly rate: 'none' | 'create' | 'reduce' | 'mass-exit' | 'movement' | 'close'
  readonly body: boolean
}

export const OPERATIONS = {
  Challenge: {
    method: 'POST', path: '/api/v1/auth/challenge',
    access: 'public', rate: 'none', body: true,
  },
  Refresh: {
    method: 'POST', path: '/api/v1/auth/refresh',
    access: 'session', rate: 'none', body: true,
  },
  Revoke: {
    method: 'POST', path: '/api/v1/auth/revoke',
    access: 'session', rate: 'none', body: true,
  },
  Verify: {
    method: 'POST', path: '/api/v1/auth/verify',
    access: 'public', rate: 'none', body: true,
  },
  ListBalances: {
    method: 'GET', path: '/api/v1/accounts/balances',
    access: 'session', rate: 'none', body: false,
  },
  GetBalance: {
    method: 'GET', path: '/api/v1/accounts/balances/{assetId}',
    access: 'session', rate: 'none', body: false,
  },
  GetProfile: {
    method: 'GET', path: '/api/v1/accounts/me',
    access: 'session', rate: 'none', body: false,
  },
  ListMovements: {
    method: 'GET', path: '/api/v1/accounts/movements',
    access: 'session', rate: 'none', body: false,
  },
  GetPortfolio: {
    method: 'GET', path: '/api/v1/accounts/portfolio',
    access: 'session', rate: 'none', body: false,
  },
  ListSubAccounts: {
    method: 'GET', path: '/api/v1/accounts/sub-accounts',
    access: 'session', rate: 'none', body: false,
  },
  CreateSubAccount: {
    method: 'POST', path: '/api/v1/accounts/sub-accounts',
    access: 'session', rate: 'none', body: true,
  },
  CreateSubAccountLimit: {
    method: 'POST', path: '/api/v1/accounts/sub-accounts/limits',
    access: 'session', rate: 'none', body: true,
  },
  TransferSubAccountBalance: {
    method: 'POST', path: '/api/v1/accounts/sub-accounts/transfer',
    access: 'session', rate: 'movement', body: true,
  },
  ListSubAccountLimits: {
    method: 'GET', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits',
    access: 'session', rate: 'none', body: false,
  },
  UpdateSubAccountLimit: {
    method: 'PUT', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
    access: 'session', rate: 'none', body: true,
  },
  DeleteSubAccountLimit: {
    method: 'DELETE', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
    access: 'session', rate: 'none', body: false,
  },
  ListAccountTrades: {
    method: 'GET', path: '/api/v1/accounts/trades',
    access: 'session', rate: 'none', body: false,
  },
  ListOrders: {
    method: 'GET', path: '/api/v1/orders',
    access: 'session', rate: 'none', body: false,
  },
  CreateOrder: {
    method: 'POST', path: '/api/v1/orders',
    access: 'session', rate: 'create', body: true,
  },
  BatchCancelOrders: {
    method: 'POST', path: '/api/v1/orders/batch-cancel',
    access: 'session', rate: 'reduce', body: true,
  },
  BatchCancelAllOrders: {
    method: 'POST', path: '/api/v1/orders/batch-cancel-all',
    access: 'session', rate: 'mass-exit', body: true,
  },
  BatchCancelOrdersByPair: {
    method: 'POST', path: '/api/v1/orders/batch-cancel-by-pair',
    access: 'session', rate: 'mass-exit', body: true,
  },
  BatchCreateOrders: {
    method: 'POST', path: '/api/v1/orders/batch-create',
    access: 'session', rate: 'create', body: true,
  },
  BatchReplaceOrders: {
    method: 'POST', path: '/api/v1/orders/batch-replace',
    access: 'session', rate: 'create', body: true,
  },
  GetOrder: {
    method: 'GET', path: '/api/v1/orders/{orderId}',
    access: 'session', rate: 'none', body: false,
  },
  ReplaceOrder: {
    method: 'PUT', path: '/api/v1/orders/{orderId}',
    access: 'session', rate: 'create', body: true,
  },
  CancelOrder: {
    method: 'DELETE', path: '/api/v1/orders/{orderId}',
    access: 'session', rate: 'reduce', body: false,
  },
  ListTradingPairs: {
    method: 'GET', path: '/api/v1/market/pairs',
    access: 'public', rate: 'none', body: false,
  },
  GetTradingPair: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}',
    access: 'public', rate: 'none', body: false,
  },
  GetCandles: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/candles',
    access: 'public', rate: 'none', body: false,
  },
  GetMarketMetadata: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/metadata',
    access: 'public', rate: 'none', body: false,
  },
  GetScreener: {
    method: 'GET', path: '/api/v1/market/screener',
    access: 'public', rate: 'none', body: false,
  },
  GetServerTime: {
    method: 'GET', path: '/api/v1/time',
    access: 'public', rate: 'none', body: false,
  },
  GetOrderbook: {
    method: 'GET', path: '/api/v1/orderbook/{tradingPairId}',
    access: 'public', rate: 'none', body: false,
  },
  ListTrades: {
    method: 'GET', path: '/api/v1/trades',
    access: 'public', rate: 'none', body: false,
  },
  GetTrade: {
    method: 'GET', path: '/api/v1/trades/{tradeId}',
    access: 'public', rate: 'none', body: false,
  },
  SimulateFees: {
    method: 'POST', path: '/api/v1/fees/simulate',
    access: 'session', rate: 'none', body: true,
  },
  GetFaucetInfo: {
    method: 'GET', path: '/api/v1/faucet/info',
    access: 'session', rate: 'none', body: false,
  },
  Mint: {
    method: 'POST', path: '/api/v1/faucet/mint',
    access: 'session', rate: 'none', body: true,
  },
  ListDelegatedAgents: {
    method: 'GET', path: '/api/v1/delegated-agents',
    access: 'session', rate: 'none', body: false,
  },
  UpsertDelegatedAgent: {
    method: 'POST', path: '/api/v1/delegated-agents',
    access: 'session', rate: 'none', body: true,
  },
  CreateDelegatedSession: {
    method: 'POST', path: '/api/v1/delegated-agents/sessions',
    access: 'public', rate: 'none', body: true,
  },
  GetDelegatedAgent: {
    method: 'GET', path: '/api/v1/delegated-agents/{agentId}',
    access: 'session', rate: 'none', body: false,
  },
  RevokeDelegatedAgent: {
    method: 'DELETE', path: '/api/v1/delegated-agents/{agentId}',
    access: 'session', rate: 'none', body: false,
  },
  ListApplicationBalances: {
    method: 'GET', path: '/api/v1/applications/balances',
    access: 'server-key', rate: 'none', body: false,
  },
  GetApplicationConfig: {
    method: 'GET', path: '/api/v1/applications/config',
    access: 'server-key', rate: 'none', body: false,
  },
  ListApplicationMovements: {
    method: 'GET', path: '/api/v1/applications/movements',
    access: 'server-key', rate: 'none', body: false,
  },
  ListApplicationOrders: {
    method: 'GET', path: '/api/v1/applications/orders',
    access: 'server-key', rate: 'none', body: false,
  },
  GetApplicationStats: {
    method: 'GET', path: '/api/v1/applications/stats',
    access: 'server-key', rate: 'none', body: false,
  },
  ListApplicationUsers: {
    method: 'GET', path: '/api/v1/applications/users',
    access: 'server-key', rate: 'none', body: false,
  },
  Check: {
    method: 'GET', path: '/api/v1/health',
    access: 'public', rate: 'none', body: false,
  },
} as const satisfies Record<string, CallData>

export type OperationName = keyof typeof OPERATIONS
