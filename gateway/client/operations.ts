/**
 * Written by `npm run generate` out of gateway/operations; test/unit/generated.test.ts holds it against them. What the client needs to
 * call each operation: where, how it is signed, whether it may be sent twice, and where its input goes: fields in `{}` of the path
 * into it, the others into the JSON body (`body`) or into the query.
 */
export interface CallData {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: 'public' | 'session' | 'server-key'
  readonly body: boolean
  /** by-id: unless an order is named by its client order id; with-key: with an idempotency key. */
  readonly repeat: 'always' | 'by-id' | 'with-key' | 'never'
}

export const OPERATIONS = {
  Challenge: { method: 'POST', path: '/api/v1/auth/challenge', access: 'public', body: true, repeat: 'always' },
  Refresh: { method: 'POST', path: '/api/v1/auth/refresh', access: 'session', body: true, repeat: 'always' },
  Revoke: { method: 'POST', path: '/api/v1/auth/revoke', access: 'session', body: true, repeat: 'never' },
  Verify: { method: 'POST', path: '/api/v1/auth/verify', access: 'public', body: true, repeat: 'never' },
  ListBalances: { method: 'GET', path: '/api/v1/accounts/balances', access: 'session', body: false, repeat: 'always' },
  GetBalance: { method: 'GET', path: '/api/v1/accounts/balances/{assetId}', access: 'session', body: false, repeat: 'always' },
  GetProfile: { method: 'GET', path: '/api/v1/accounts/me', access: 'session', body: false, repeat: 'always' },
  ListMovements: { method: 'GET', path: '/api/v1/accounts/movements', access: 'session', body: false, repeat: 'always' },
  GetPortfolio: { method: 'GET', path: '/api/v1/accounts/portfolio', access: 'session', body: false, repeat: 'always' },
  ListSubAccounts: { method: 'GET', path: '/api/v1/accounts/sub-accounts', access: 'session', body: false, repeat: 'always' },
  CreateSubAccount: { method: 'POST', path: '/api/v1/accounts/sub-accounts', access: 'session', body: true, repeat: 'never' },
  CreateSubAccountLimit: { method: 'POST', path: '/api/v1/accounts/sub-accounts/limits', access: 'session', body: true, repeat: 'never' },
  TransferSubAccountBalance: {
    method: 'POST', path: '/api/v1/accounts/sub-accounts/transfer',
    access: 'session', body: true, repeat: 'with-key',
  },
  ListSubAccountLimits: {
    method: 'GET', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits',
    access: 'session', body: false, repeat: 'always',
  },
  UpdateSubAccountLimit: {
    method: 'PUT', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
    access: 'session', body: true, repeat: 'never',
  },
  DeleteSubAccountLimit: {
    method: 'DELETE', path: '/api/v1/accounts/sub-accounts/{subAccountId}/limits/{assetId}',
    access: 'session', body: false, repeat: 'never',
  },
  ListAccountTrades: { method: 'GET', path: '/api/v1/accounts/trades', access: 'session', body: false, repeat: 'always' },
  ListOrders: { method: 'GET', path: '/api/v1/orders', access: 'session', body: false, repeat: 'always' },
  CreateOrder: { method: 'POST', path: '/api/v1/orders', access: 'session', body: true, repeat: 'with-key' },
  BatchCancelOrders: { method: 'POST', path: '/api/v1/orders/batch-cancel', access: 'session', body: true, repeat: 'by-id' },
  BatchCancelAllOrders: { method: 'POST', path: '/api/v1/orders/batch-cancel-all', access: 'session', body: true, repeat: 'always' },
  BatchCancelOrdersByPair: { method: 'POST', path: '/api/v1/orders/batch-cancel-by-pair', access: 'session', body: true, repeat: 'always' },
  BatchCreateOrders: { method: 'POST', path: '/api/v1/orders/batch-create', access: 'session', body: true, repeat: 'with-key' },
  BatchReplaceOrders: { method: 'POST', path: '/api/v1/orders/batch-replace', access: 'session', body: true, repeat: 'with-key' },
  ListConditionalOrders: { method: 'GET', path: '/api/v1/orders/conditional', access: 'session', body: false, repeat: 'always' },
  GetConditionalOrder: {
    method: 'GET', path: '/api/v1/orders/conditional/{conditionalOrderId}',
    access: 'session', body: false, repeat: 'always',
  },
  CancelConditionalOrder: {
    method: 'DELETE', path: '/api/v1/orders/conditional/{conditionalOrderId}',
    access: 'session', body: false, repeat: 'always',
  },
  ListTwapOrders: { method: 'GET', path: '/api/v1/orders/twap', access: 'session', body: false, repeat: 'always' },
  CreateTwapOrder: { method: 'POST', path: '/api/v1/orders/twap', access: 'session', body: true, repeat: 'never' },
  GetTwapOrder: { method: 'GET', path: '/api/v1/orders/twap/{twapOrderId}', access: 'session', body: false, repeat: 'always' },
  CancelTwapOrder: { method: 'DELETE', path: '/api/v1/orders/twap/{twapOrderId}', access: 'session', body: false, repeat: 'always' },
  ListTwapSlices: { method: 'GET', path: '/api/v1/orders/twap/{twapOrderId}/slices', access: 'session', body: false, repeat: 'always' },
  GetOrder: { method: 'GET', path: '/api/v1/orders/{orderId}', access: 'session', body: false, repeat: 'always' },
  ReplaceOrder: { method: 'PUT', path: '/api/v1/orders/{orderId}', access: 'session', body: true, repeat: 'with-key' },
  CancelOrder: { method: 'DELETE', path: '/api/v1/orders/{orderId}', access: 'session', body: false, repeat: 'by-id' },
  ListTradingPairs: { method: 'GET', path: '/api/v1/market/pairs', access: 'public', body: false, repeat: 'always' },
  GetTradingPair: { method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}', access: 'public', body: false, repeat: 'always' },
  GetCandles: { method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/candles', access: 'public', body: false, repeat: 'always' },
  GetMarketMetadata: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/metadata',
    access: 'public', body: false, repeat: 'always',
  },
  GetPerpConfig: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/perp/config',
    access: 'public', body: false, repeat: 'always',
  },
  ListFundingRates: {
    method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/perp/funding-rates',
    access: 'public', body: false, repeat: 'always',
  },
  GetScreener: { method: 'GET', path: '/api/v1/market/screener', access: 'public', body: false, repeat: 'always' },
  ListSweeperChains: { method: 'GET', path: '/api/v1/sweeper/chains', access: 'public', body: false, repeat: 'always' },
  GetServerTime: { method: 'GET', path: '/api/v1/time', access: 'public', body: false, repeat: 'always' },
  GetOrderbook: { method: 'GET', path: '/api/v1/orderbook/{tradingPairId}', access: 'public', body: false, repeat: 'always' },
  ListTrades: { method: 'GET', path: '/api/v1/trades', access: 'public', body: false, repeat: 'always' },
  GetTrade: { method: 'GET', path: '/api/v1/trades/{tradeId}', access: 'public', body: false, repeat: 'always' },
  SimulateFees: { method: 'POST', path: '/api/v1/fees/simulate', access: 'session', body: true, repeat: 'always' },
  ListMarginAccounts: { method: 'GET', path: '/api/v1/margin/accounts', access: 'session', body: false, repeat: 'always' },
  GetMarginAccount: { method: 'GET', path: '/api/v1/margin/accounts/{marginAccountId}', access: 'session', body: false, repeat: 'always' },
  DepositCollateral: {
    method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/collateral/transfer-in',
    access: 'session', body: true, repeat: 'with-key',
  },
  WithdrawCollateral: {
    method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/collateral/transfer-out',
    access: 'session', body: true, repeat: 'with-key',
  },
  SimulateOrderRisk: {
    method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/simulate-order-risk',
    access: 'session', body: true, repeat: 'always',
  },
  GetAvailableCollateral: { method: 'GET', path: '/api/v1/margin/available-collateral', access: 'session', body: false, repeat: 'always' },
  SimulateParentOrderRisk: {
    method: 'POST', path: '/api/v1/margin/parent/simulate-order-risk',
    access: 'session', body: true, repeat: 'always',
  },
  ListRiskBuckets: { method: 'GET', path: '/api/v1/margin/risk-buckets', access: 'session', body: false, repeat: 'always' },
  GetRiskBucket: { method: 'GET', path: '/api/v1/margin/risk-buckets/{riskBucketId}', access: 'session', body: false, repeat: 'always' },
  TransferCollateralToRiskBucket: {
    method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-in',
    access: 'session', body: true, repeat: 'with-key',
  },
  TransferCollateralFromRiskBucket: {
    method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-out',
    access: 'session', body: true, repeat: 'with-key',
  },
  SimulateRiskBucketOrderRisk: {
    method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/simulate-order-risk',
    access: 'session', body: true, repeat: 'always',
  },
  CreateMarginSubAccount: { method: 'POST', path: '/api/v1/margin/sub-accounts', access: 'session', body: true, repeat: 'never' },
  CloseMarginSubAccount: {
    method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/close',
    access: 'session', body: true, repeat: 'never',
  },
  TransferCollateralToSubAccount: {
    method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-in',
    access: 'session', body: true, repeat: 'with-key',
  },
  TransferCollateralFromSubAccount: {
    method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-out',
    access: 'session', body: true, repeat: 'with-key',
  },
  ListPositions: { method: 'GET', path: '/api/v1/positions', access: 'session', body: false, repeat: 'always' },
  GetPosition: { method: 'GET', path: '/api/v1/positions/{positionId}', access: 'session', body: false, repeat: 'always' },
  ClosePosition: { method: 'POST', path: '/api/v1/positions/{positionId}/close', access: 'session', body: true, repeat: 'never' },
  ListFundingPayments: { method: 'GET', path: '/api/v1/positions/{positionId}/funding', access: 'session', body: false, repeat: 'always' },
  AddPositionMargin: {
    method: 'POST', path: '/api/v1/positions/{positionId}/margin/add',
    access: 'session', body: true, repeat: 'with-key',
  },
  ReducePositionMargin: {
    method: 'POST', path: '/api/v1/positions/{positionId}/margin/reduce',
    access: 'session', body: true, repeat: 'with-key',
  },
  GetPositionRisk: { method: 'GET', path: '/api/v1/positions/{positionId}/risk', access: 'session', body: false, repeat: 'always' },
  AttachTpSl: { method: 'POST', path: '/api/v1/positions/{positionId}/tp-sl', access: 'session', body: true, repeat: 'never' },
  ListFollows: { method: 'GET', path: '/api/v1/copy-trading/follows', access: 'session', body: false, repeat: 'always' },
  CreateFollow: { method: 'POST', path: '/api/v1/copy-trading/follows', access: 'session', body: true, repeat: 'never' },
  CloseAllFollowPositions: {
    method: 'POST', path: '/api/v1/copy-trading/follows/close-positions',
    access: 'session', body: true, repeat: 'never',
  },
  UpdateFollow: { method: 'PATCH', path: '/api/v1/copy-trading/follows/{followId}', access: 'session', body: true, repeat: 'never' },
  CloseFollowPositions: {
    method: 'POST', path: '/api/v1/copy-trading/follows/{followId}/close-positions',
    access: 'session', body: true, repeat: 'never',
  },
  StopFollow: { method: 'POST', path: '/api/v1/copy-trading/follows/{followId}/stop', access: 'session', body: true, repeat: 'never' },
  ListLeaders: { method: 'GET', path: '/api/v1/copy-trading/leaders', access: 'public', body: false, repeat: 'always' },
  RegisterLeader: { method: 'PUT', path: '/api/v1/copy-trading/leaders/me', access: 'session', body: true, repeat: 'never' },
  ReleaseLeader: { method: 'DELETE', path: '/api/v1/copy-trading/leaders/me', access: 'session', body: false, repeat: 'never' },
  ListMyFollowers: { method: 'GET', path: '/api/v1/copy-trading/leaders/me/followers', access: 'session', body: false, repeat: 'always' },
  ListLeaderPositions: {
    method: 'GET', path: '/api/v1/copy-trading/leaders/{leader}/positions',
    access: 'session', body: false, repeat: 'always',
  },
  InitiateWithdrawal: { method: 'POST', path: '/api/v1/withdrawals', access: 'session', body: true, repeat: 'with-key' },
  ListPendingWithdrawals: { method: 'GET', path: '/api/v1/withdrawals/pending', access: 'session', body: false, repeat: 'always' },
  GetWithdrawal: { method: 'GET', path: '/api/v1/withdrawals/{withdrawalId}', access: 'session', body: false, repeat: 'always' },
  GetWithdrawalCalldata: {
    method: 'GET', path: '/api/v1/withdrawals/{withdrawalId}/calldata',
    access: 'session', body: false, repeat: 'always',
  },
  GetFaucetInfo: { method: 'GET', path: '/api/v1/faucet/info', access: 'session', body: false, repeat: 'always' },
  Mint: { method: 'POST', path: '/api/v1/faucet/mint', access: 'session', body: true, repeat: 'never' },
  ListDelegatedAgents: { method: 'GET', path: '/api/v1/delegated-agents', access: 'session', body: false, repeat: 'always' },
  UpsertDelegatedAgent: { method: 'POST', path: '/api/v1/delegated-agents', access: 'session', body: true, repeat: 'never' },
  CreateDelegatedSession: { method: 'POST', path: '/api/v1/delegated-agents/sessions', access: 'public', body: true, repeat: 'never' },
  GetDelegatedAgent: { method: 'GET', path: '/api/v1/delegated-agents/{agentId}', access: 'session', body: false, repeat: 'always' },
  RevokeDelegatedAgent: { method: 'DELETE', path: '/api/v1/delegated-agents/{agentId}', access: 'session', body: false, repeat: 'never' },
  SetBuilderFee: { method: 'PUT', path: '/api/v1/buildercodes/builder-fee', access: 'session', body: true, repeat: 'never' },
  GetBuildercodesConfig: { method: 'GET', path: '/api/v1/buildercodes/config', access: 'public', body: false, repeat: 'always' },
  GetReferralPosition: { method: 'GET', path: '/api/v1/refprog/referrals/me', access: 'session', body: false, repeat: 'always' },
  GetReferralDownline: { method: 'GET', path: '/api/v1/refprog/referrals/me/downline', access: 'session', body: false, repeat: 'always' },
  GetRewardsBalance: { method: 'GET', path: '/api/v1/refprog/rewards/balance', access: 'session', body: false, repeat: 'always' },
  TransferRewards: { method: 'POST', path: '/api/v1/refprog/rewards/transfer', access: 'session', body: true, repeat: 'with-key' },
  ListApplicationBalances: { method: 'GET', path: '/api/v1/applications/balances', access: 'server-key', body: false, repeat: 'always' },
  GetApplicationConfig: { method: 'GET', path: '/api/v1/applications/config', access: 'server-key', body: false, repeat: 'always' },
  ListApplicationMovements: { method: 'GET', path: '/api/v1/applications/movements', access: 'server-key', body: false, repeat: 'always' },
  ListApplicationOrders: { method: 'GET', path: '/api/v1/applications/orders', access: 'server-key', body: false, repeat: 'always' },
  GetApplicationStats: { method: 'GET', path: '/api/v1/applications/stats', access: 'server-key', body: false, repeat: 'always' },
  ListApplicationUsers: { method: 'GET', path: '/api/v1/applications/users', access: 'server-key', body: false, repeat: 'always' },
  Check: { method: 'GET', path: '/api/v1/health', access: 'public', body: false, repeat: 'always' },
  ClaimLease: { method: 'POST', path: '/api/v1/managed-markets/{launchId}/lease', access: 'session', body: true, repeat: 'never' },
  SubmitApplication: { method: 'POST', path: '/api/v1/whitelist', access: 'public', body: true, repeat: 'never' },
} as const satisfies Record<string, CallData>

export type OperationName = keyof typeof OPERATIONS
