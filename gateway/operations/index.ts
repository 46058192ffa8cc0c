/** All operations: the rows of the table joined with schemas and handlers. Router, client and documents derive from this. */
import type { Static } from 'typebox'
import { GetBalance, GetProfile, ListBalances } from './accounts.ts'
import {
  CreateDelegatedSession, GetDelegatedAgent, ListDelegatedAgents, RevokeDelegatedAgent, UpsertDelegatedAgent,
} from './agents.ts'
import { GetApplicationConfig, ListApplicationBalances, ListApplicationUsers } from './applications.ts'
import { GetApplicationStats, ListApplicationMovements, ListApplicationOrders } from './application_history.ts'
import { Challenge, Refresh, Revoke, Verify } from './auth.ts'
import { BatchCancelOrders, BatchCreateOrders, BatchReplaceOrders } from './batches.ts'
import { GetFaucetInfo, Mint } from './faucet.ts'
import { SimulateFees } from './fees.ts'
import { Check } from './health.ts'
import { GetServerTime, GetTradingPair, ListTradingPairs } from './market.ts'
import { GetCandles, GetMarketMetadata, GetScreener } from './market_data.ts'
import { BatchCancelAllOrders, BatchCancelOrdersByPair } from './mass_cancel.ts'
import { ListMovements } from './movements.ts'
import type { Elements, Operation } from './operation.ts'
import { GetOrder, ListOrders } from './order_reads.ts'
import { GetOrderbook } from './orderbook.ts'
import { CancelOrder, CreateOrder, ReplaceOrder } from './orders.ts'
import { GetPortfolio } from './portfolio.ts'
import { CreateSubAccountLimit, DeleteSubAccountLimit, ListSubAccountLimits, UpdateSubAccountLimit } from './spend_limits.ts'
import { CreateSubAccount, ListSubAccounts, TransferSubAccountBalance } from './sub_accounts.ts'
import { TABLE, type OperationName, type Row } from './table.ts'
import { GetTrade, ListAccountTrades, ListTrades } from './trades.ts'

export const HANDLERS = {
  Challenge, Verify, Refresh, Revoke,
  GetProfile, ListBalances, GetBalance, ListMovements, ListAccountTrades, GetPortfolio,
  ListSubAccounts, CreateSubAccount, TransferSubAccountBalance,
  CreateSubAccountLimit, ListSubAccountLimits, UpdateSubAccountLimit, DeleteSubAccountLimit,
  CreateOrder, GetOrder, ListOrders, CancelOrder, ReplaceOrder,
  BatchCreateOrders, BatchReplaceOrders, BatchCancelOrders, BatchCancelAllOrders, BatchCancelOrdersByPair,
  ListTradingPairs, GetTradingPair, GetScreener, GetMarketMetadata, GetCandles, GetServerTime, GetOrderbook, ListTrades, GetTrade,
  SimulateFees,
  GetFaucetInfo, Mint,
  UpsertDelegatedAgent, ListDelegatedAgents, GetDelegatedAgent, RevokeDelegatedAgent, CreateDelegatedSession,
  GetApplicationConfig, ListApplicationUsers, ListApplicationBalances,
  ListApplicationOrders, ListApplicationMovements, GetApplicationStats,
  Check,
} as const satisfies Record<OperationName, Operation<never, never>>

/** Input (path, query and body fields in one object) and output of every operation, for the typed client. */
export type OperationTypes = {
  readonly [Name in OperationName]: (typeof HANDLERS)[Name] extends Operation<infer In, infer Out, infer Items>
    ? { readonly input: WithElements<In, Items>; readonly output: Out }
    : never
}

/** The lists of an input with the elements that the operation declares for them. */
type WithElements<In, Items extends Elements> = keyof Items extends never
  ? In
  : Omit<In, keyof Items> & { readonly [Field in keyof Items]: readonly Static<Items[Field]>[] }

/** One operation as the router serves it. */
export interface ServedOperation {
  readonly name: OperationName
  readonly row: Row
  readonly operation: Operation<never>
}

export const OPERATIONS: readonly ServedOperation[] = (Object.keys(TABLE) as OperationName[]).map((name) => ({
  name,
  row: TABLE[name],
  operation: HANDLERS[name] as unknown as Operation<never>,
}))
