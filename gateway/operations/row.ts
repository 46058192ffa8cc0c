/** What the declaration of an operation says about who may call it, when, and what it costs: its row of the operation list. */

/** Who may call. */
export type Access = 'public' | 'session' | 'server-key'
/** Whether a session of a delegated agent may call it; `grant`: if its grant allows. */
export type AgentRule = '-' | 'yes' | 'no' | 'grant'
/** `blocked` operations answer 503 OPERATIONS_BLOCKED in a maintenance window. */
export type Maintenance = 'open' | 'blocked'
/** The budget it draws from. */
export type RateClass = 'none' | 'create' | 'reduce' | 'mass-exit' | 'movement' | 'close'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The services with what they are for, in the order in which documents show them. */
export const SERVICES = {
  AuthService: 'Sign in with a wallet, keep and end sessions.',
  AccountsService: 'The caller: profile, balances, movements, own trades, portfolio, sub-accounts and their limits.',
  OrdersService: 'Place, read, replace and cancel orders, one by one and many at once.',
  MarketService: 'Markets, what they traded, and the clock. Public.',
  OrderbookService: 'Order book depth. Public.',
  TradesService: 'Trades of everybody. Public.',
  FeesService: 'What an order would cost.',
  MarginAccountsService: 'Margin accounts and risk buckets: collateral, what it backs, and what an order would need.',
  PositionsService: 'Positions on perpetuals: read, close, add and take margin.',
  CopyTradingService: 'Leaders whose trading on perpetuals others copy, and follows.',
  WithdrawalsService: 'Take funds out, to an address of the settlement chain.',
  FaucetService: 'Test funds.',
  DelegatedAgentsService: 'Wallets that trade for the caller, inside what they are granted.',
  BuilderCodesService: 'What applications add to the fees of their users.',
  ReferralsService: 'Whom a user brought, and rewards of their fees.',
  ApplicationsService: 'For backends of applications: the server key says which application; nothing of another is seen.',
  HealthService: 'Whether the service works. Public.',
  ManagedMarketsService: 'Leases of makers whose market is managed.',
  WhitelistService: 'Closed; kept for clients that call it. Public.',
} as const satisfies Record<string, string>
export type Service = keyof typeof SERVICES

export interface Row {
  readonly service: Service
  readonly method: Method
  /** Path with `{name}` parameters. */
  readonly path: string
  readonly access: Access
  readonly agent: AgentRule
  readonly maintenance: Maintenance
  readonly rate: RateClass
  /** List of the input whose elements count one by one; a request counts as one item without it, whatever it carries. */
  readonly counts?: string
}

/** Whether it changes nothing and waits for its family's share of the time: reads and simulations that somebody signed. */
export const isSignedRead = ({ access, method, service, path }: Row): boolean =>
  access !== 'public' && (method === 'GET' || service === 'FeesService' || path.endsWith('/simulate-order-risk'))
