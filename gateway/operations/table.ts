/**
 * Every operation of the service that this version serves: one row, as in the specification's operation list.
 *
 * Pure data without imports, so that the browser client shares it. Router, authentication, maintenance gate, rate classes and
 * client derive from these rows; schemas and handlers stand in the file of their area.
 *
 * access: who may call. agent: may a delegated-agent session call it (`grant`: if its grant allows). maintenance: `blocked`
 * operations answer 503 OPERATIONS_BLOCKED in a maintenance window. rate: the budget it draws from.
 */
export type Access = 'public' | 'session' | 'server-key'
export type AgentRule = '-' | 'yes' | 'no' | 'grant'
export type Maintenance = 'open' | 'blocked'
export type RateClass = 'none' | 'create' | 'reduce' | 'mass-exit' | 'movement' | 'close'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Row {
  readonly service: string
  readonly method: Method
  /** Path with `{name}` parameters. */
  readonly path: string
  readonly access: Access
  readonly agent: AgentRule
  readonly maintenance: Maintenance
  readonly rate: RateClass
}

const row = (
  service: string, method: Method, path: string, access: Access, agent: AgentRule, maintenance: Maintenance, rate: RateClass,
): Row =>
  ({ service, method, path, access, agent, maintenance, rate })

const SUB_ACCOUNTS = '/api/v1/accounts/sub-accounts'
const LIMITS = `${SUB_ACCOUNTS}/{subAccountId}/limits`
const AGENTS = '/api/v1/delegated-agents'

export const TABLE = {
  Challenge: row('AuthService', 'POST', '/api/v1/auth/challenge', 'public', '-', 'open', 'none'),
  Verify: row('AuthService', 'POST', '/api/v1/auth/verify', 'public', '-', 'open', 'none'),
  Refresh: row('AuthService', 'POST', '/api/v1/auth/refresh', 'session', 'yes', 'open', 'none'),
  Revoke: row('AuthService', 'POST', '/api/v1/auth/revoke', 'session', 'yes', 'open', 'none'),
  GetProfile: row('AccountsService', 'GET', '/api/v1/accounts/me', 'session', 'yes', 'open', 'none'),
  ListBalances: row('AccountsService', 'GET', '/api/v1/accounts/balances', 'session', 'yes', 'open', 'none'),
  GetBalance: row('AccountsService', 'GET', '/api/v1/accounts/balances/{assetId}', 'session', 'yes', 'open', 'none'),
  ListMovements: row('AccountsService', 'GET', '/api/v1/accounts/movements', 'session', 'yes', 'open', 'none'),
  ListAccountTrades: row('AccountsService', 'GET', '/api/v1/accounts/trades', 'session', 'yes', 'open', 'none'),
  GetPortfolio: row('AccountsService', 'GET', '/api/v1/accounts/portfolio', 'session', 'yes', 'open', 'none'),
  ListSubAccounts: row('AccountsService', 'GET', SUB_ACCOUNTS, 'session', 'no', 'open', 'none'),
  CreateSubAccount: row('AccountsService', 'POST', SUB_ACCOUNTS, 'session', 'no', 'open', 'none'),
  TransferSubAccountBalance: row('AccountsService', 'POST', `${SUB_ACCOUNTS}/transfer`, 'session', 'no', 'blocked', 'movement'),
  CreateSubAccountLimit: row('AccountsService', 'POST', `${SUB_ACCOUNTS}/limits`, 'session', 'no', 'open', 'none'),
  ListSubAccountLimits: row('AccountsService', 'GET', LIMITS, 'session', 'no', 'open', 'none'),
  UpdateSubAccountLimit: row('AccountsService', 'PUT', `${LIMITS}/{assetId}`, 'session', 'no', 'open', 'none'),
  DeleteSubAccountLimit: row('AccountsService', 'DELETE', `${LIMITS}/{assetId}`, 'session', 'no', 'open', 'none'),
  CreateOrder: row('OrdersService', 'POST', '/api/v1/orders', 'session', 'grant', 'blocked', 'create'),
  GetOrder: row('OrdersService', 'GET', '/api/v1/orders/{orderId}', 'session', 'yes', 'open', 'none'),
  ListOrders: row('OrdersService', 'GET', '/api/v1/orders', 'session', 'yes', 'open', 'none'),
  CancelOrder: row('OrdersService', 'DELETE', '/api/v1/orders/{orderId}', 'session', 'grant', 'open', 'reduce'),
  ReplaceOrder: row('OrdersService', 'PUT', '/api/v1/orders/{orderId}', 'session', 'grant', 'blocked', 'create'),
  BatchCreateOrders: row('OrdersService', 'POST', '/api/v1/orders/batch-create', 'session', 'grant', 'blocked', 'create'),
  BatchReplaceOrders: row('OrdersService', 'POST', '/api/v1/orders/batch-replace', 'session', 'grant', 'blocked', 'create'),
  BatchCancelOrders: row('OrdersService', 'POST', '/api/v1/orders/batch-cancel', 'session', 'grant', 'open', 'reduce'),
  BatchCancelAllOrders: row('OrdersService', 'POST', '/api/v1/orders/batch-cancel-all', 'session', 'grant', 'open', 'mass-exit'),
  BatchCancelOrdersByPair: row('OrdersService', 'POST', '/api/v1/orders/batch-cancel-by-pair', 'session', 'grant', 'open', 'mass-exit'),
  ListTradingPairs: row('MarketService', 'GET', '/api/v1/market/pairs', 'public', '-', 'open', 'none'),
  GetTradingPair: row('MarketService', 'GET', '/api/v1/market/pairs/{tradingPairId}', 'public', '-', 'open', 'none'),
  GetScreener: row('MarketService', 'GET', '/api/v1/market/screener', 'public', '-', 'open', 'none'),
  GetMarketMetadata: row('MarketService', 'GET', '/api/v1/market/pairs/{tradingPairId}/metadata', 'public', '-', 'open', 'none'),
  GetCandles: row('MarketService', 'GET', '/api/v1/market/pairs/{tradingPairId}/candles', 'public', '-', 'open', 'none'),
  GetServerTime: row('MarketService', 'GET', '/api/v1/time', 'public', '-', 'open', 'none'),
  GetOrderbook: row('OrderbookService', 'GET', '/api/v1/orderbook/{tradingPairId}', 'public', '-', 'open', 'none'),
  ListTrades: row('TradesService', 'GET', '/api/v1/trades', 'public', '-', 'open', 'none'),
  GetTrade: row('TradesService', 'GET', '/api/v1/trades/{tradeId}', 'public', '-', 'open', 'none'),
  SimulateFees: row('FeesService', 'POST', '/api/v1/fees/simulate', 'session', 'yes', 'open', 'none'),
  GetFaucetInfo: row('FaucetService', 'GET', '/api/v1/faucet/info', 'session', 'yes', 'open', 'none'),
  Mint: row('FaucetService', 'POST', '/api/v1/faucet/mint', 'session', 'no', 'blocked', 'none'),
  UpsertDelegatedAgent: row('DelegatedAgentsService', 'POST', AGENTS, 'session', 'no', 'blocked', 'none'),
  ListDelegatedAgents: row('DelegatedAgentsService', 'GET', AGENTS, 'session', 'no', 'open', 'none'),
  GetDelegatedAgent: row('DelegatedAgentsService', 'GET', `${AGENTS}/{agentId}`, 'session', 'no', 'open', 'none'),
  RevokeDelegatedAgent: row('DelegatedAgentsService', 'DELETE', `${AGENTS}/{agentId}`, 'session', 'no', 'blocked', 'none'),
  CreateDelegatedSession: row('DelegatedAgentsService', 'POST', `${AGENTS}/sessions`, 'public', '-', 'open', 'none'),
  GetApplicationConfig: row('ApplicationsService', 'GET', '/api/v1/applications/config', 'server-key', '-', 'open', 'none'),
  ListApplicationUsers: row('ApplicationsService', 'GET', '/api/v1/applications/users', 'server-key', '-', 'open', 'none'),
  ListApplicationBalances: row('ApplicationsService', 'GET', '/api/v1/applications/balances', 'server-key', '-', 'open', 'none'),
  ListApplicationOrders: row('ApplicationsService', 'GET', '/api/v1/applications/orders', 'server-key', '-', 'open', 'none'),
  ListApplicationMovements: row('ApplicationsService', 'GET', '/api/v1/applications/movements', 'server-key', '-', 'open', 'none'),
  GetApplicationStats: row('ApplicationsService', 'GET', '/api/v1/applications/stats', 'server-key', '-', 'open', 'none'),
  Check: row('HealthService', 'GET', '/api/v1/health', 'public', '-', 'open', 'none'),
} as const satisfies Record<string, Row>

export type OperationName = keyof typeof TABLE
