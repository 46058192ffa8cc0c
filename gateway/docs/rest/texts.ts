/**
 * What people read about each operation, and the refusals only the operation itself can give (errors.ts derives the others).
 *
 * A new row of the operation table without its texts is a type error here.
 */
import type { RefusalCode } from '../../../core/layout/refusals.ts'
import type { OperationName, TABLE } from '../../operations/index.ts'

export interface OperationText {
  readonly summary: string
  /** Markdown. */
  readonly description: string
  /** What a 200 carries. */
  readonly answer: string
  readonly refusals: readonly RefusalCode[]
}

/** Refusals of an order's terms, in any form they come. */
const TERMS: readonly RefusalCode[] = [
  'NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', 'BELOW_MIN_NOTIONAL', 'BELOW_MIN_ORDER_SIZE', 'ABOVE_MAX_ORDER_SIZE', 'PAIR_NOT_ACTIVE',
  'INSUFFICIENT_BALANCE', 'POST_ONLY_WOULD_CROSS', 'SELF_TRADE_NOT_ALLOWED', 'CLIENT_ORDER_ID_CONFLICT', 'TOO_MANY_OPEN_ORDERS',
  'INVALID_EXPIRATION', 'SUB_ACCOUNT_LIMIT_EXCEEDED', 'NOT_SUB_ACCOUNT',
]
const KEYED: readonly RefusalCode[] = [
  'IDEMPOTENCY_KEY_CONFLICT', 'ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'ORDER_SUBMISSION_UNAVAILABLE',
]
/** What every command to the engine can meet; a batch answers an expired deadline item by item. */
const COMMAND: readonly RefusalCode[] = ['OVERLOADED', 'TOO_MANY_IN_FLIGHT', 'DISK_FULL', 'SERVICE_UNAVAILABLE', 'INVALID_COMMAND']
const BATCH: readonly RefusalCode[] = ['OVERLOADED', 'TOO_MANY_IN_FLIGHT', 'DISK_FULL', 'INVALID_COMMAND']
/** The shared columns could not be read in one piece. */
const READ: readonly RefusalCode[] = ['ENGINE_UNAVAILABLE']
const HISTORY: readonly RefusalCode[] = ['HISTORY_UNAVAILABLE']
const WALLET: readonly RefusalCode[] = ['NOT_FOUND', 'VERIFICATION_UNAVAILABLE', 'RATE_LIMIT_EXCEEDED']

/** A listing that looks at every account of the application. */
const WALK: readonly RefusalCode[] = ['OVERLOADED', ...READ]

const EXACT = 'Totals are exact up to 10,000 pages of the page size and end there. Each row is of one moment, the listing is not.'
const USERS = 'A `userId` of another application matches nothing. Totals are exact up to 10,000 pages of the page size and end there.'
/** What rolling windows and missing figures of markets mean. */
const WINDOWS = 'A window is whole minutes of UTC, the last of them the present one: it never has a trade older than its name says, and '
  + 'loses one up to a minute early.'
const UNKNOWN = 'What is not known is null, never zero: everything of a pair that never traded, and the change in percent while the pair '
  + 'had no price before the window.'
const PAGES = 'Page by number with `page`, or walk with `pageToken`; see Lists.'

export const TEXTS: Readonly<Record<OperationName, OperationText>> = {
  Challenge: {
    summary: 'Ask for a text to sign',
    description: 'Begins a sign-in: the answer holds a text that names the session public key. The wallet signs it, and Verify opens the '
      + 'session. Limited per client. With `subAccountOf` the text asks the '
      + 'wallet to become a sub-account instead, and CreateSubAccount takes its signature.',
    answer: 'The nonce and the text to sign.',
    refusals: WALLET,
  },
  Verify: {
    summary: 'Open a session',
    description: 'Checks the signature of the wallet over the text of the challenge and registers the session public key. From then on '
      + 'requests are signed with the session key; there are no tokens. Send `sessionSignature`, the session key over the same text, as '
      + 'proof that you have it. A nonce opens one session; a rejected signature is 401, 503 is no verdict, and both leave it usable.',
    answer: 'The session is open.',
    refusals: [...WALLET, 'NONCE_INVALID', 'INVALID_SIGNATURE', 'SESSION_KEY_IN_USE', ...COMMAND],
  },
  Refresh: {
    summary: 'Extend the session',
    description: 'Sets the end of the signing session to now plus its lifetime. Takes no body. An expired or revoked session cannot be '
      + 'refreshed: sign in again, and do not loop.',
    answer: 'The new end of the session.',
    refusals: COMMAND,
  },
  Revoke: {
    summary: 'End the session',
    description: 'Closes the session of the signing key at once, on every connection. Takes no body. Open orders stay.',
    answer: 'The session is closed.',
    refusals: COMMAND,
  },
  GetProfile: {
    summary: 'Who am I',
    description: 'The user behind the session. Balances and orders have reads of their own.',
    answer: 'The user.',
    refusals: READ,
  },
  ListBalances: {
    summary: 'Balances',
    description: 'Balances of every asset, zero ones included, all of one moment.',
    answer: 'A page of balances.',
    refusals: READ,
  },
  GetBalance: {
    summary: 'Balance of one asset',
    description: 'A known asset that was never held has zero balances; an unknown one is 404.',
    answer: 'The balance.',
    refusals: ['NOT_FOUND', ...READ],
  },
  ListMovements: {
    summary: 'Movements of balances',
    description: 'Every change of a balance of the caller with the balance after it, newest first: credits, trades, fees, and what orders '
      + `lock and free. ${PAGES}`,
    answer: 'A page of movements.',
    refusals: HISTORY,
  },
  ListAccountTrades: {
    summary: 'Own trades',
    description: `Trades of the caller with his side, role and fee, newest first. ${PAGES}`,
    answer: 'A page of trades.',
    refusals: HISTORY,
  },
  GetPortfolio: {
    summary: 'Portfolio of a period',
    description: 'Equity over time, realised profit, volume and fees of the caller, in one asset. When the history cannot be read this is '
      + '503, never something else; when it is behind, `asOf` says what the answer is complete to.',
    answer: 'The portfolio.',
    refusals: HISTORY,
  },
  ListSubAccounts: {
    summary: 'Sub-accounts',
    description: 'Every sub-account of the caller, oldest first, with its balances. Only a master has any. One that has not agreed to its '
      + 'master yet is without balances.',
    answer: 'The sub-accounts.',
    refusals: ['MASTER_ONLY', ...READ],
  },
  CreateSubAccount: {
    summary: 'Make a sub-account',
    description: 'Makes a wallet a sub-account of the caller, in the application of the session. The wallet agrees: it signs the text of a '
      + 'Challenge for its address with `subAccountOf` your wallet and the public key of this session, which says that you control its '
      + 'balances. It must have no account in the application. It signs in for itself and has balances and orders of its own; who its '
      + 'master is never changes. Without its signature the answer is 401, and nothing is told about the wallet.',
    answer: 'The sub-account.',
    refusals: [
      'MASTER_ONLY', 'INVALID_SIGNATURE', 'NONCE_INVALID', 'RATE_LIMIT_EXCEEDED', 'VERIFICATION_UNAVAILABLE', 'ADDRESS_IN_USE',
      'TOO_MANY_SUB_ACCOUNTS', ...COMMAND,
    ],
  },
  TransferSubAccountBalance: {
    summary: 'Move a balance to or from a sub-account',
    description: 'Moves what is available, in one step. With an `idempotencyKey` it may be repeated: it then answers what it answered '
      + 'first.',
    answer: 'It was moved.',
    refusals: ['MASTER_ONLY', 'NOT_FOUND', 'CONSENT_REQUIRED', 'INSUFFICIENT_BALANCE', ...KEYED, ...COMMAND],
  },
  CreateSubAccountLimit: {
    summary: 'Let a sub-account spend your balance',
    description: 'Orders of the sub-account with `useMasterBalance` spend and earn on the balance of its master. They may hold `maxAmount` '
      + 'of the asset at any time, and spend `dailyLimit` in a UTC day together with what they hold. Without a limit of the asset they '
      + 'spend nothing.',
    answer: 'The limit.',
    refusals: ['MASTER_ONLY', 'NOT_FOUND', 'LIMIT_EXISTS', ...COMMAND, ...READ],
  },
  ListSubAccountLimits: {
    summary: 'Limits of a sub-account',
    description: 'What the sub-account may spend of the balance of its master, by asset, with what it has spent today.',
    answer: 'The limits.',
    refusals: ['MASTER_ONLY', 'NOT_FOUND', ...READ],
  },
  UpdateSubAccountLimit: {
    summary: 'Change a limit',
    description: 'What is left out stays as it is. A limit below what is held already ends no order; it refuses new ones. A daily limit is '
      + 'taken away by deleting the limit and making another.',
    answer: 'The limit.',
    refusals: ['MASTER_ONLY', 'NOT_FOUND', ...COMMAND, ...READ],
  },
  DeleteSubAccountLimit: {
    summary: 'Delete a limit',
    description: 'From then on the sub-account places no order on the balance of its master in this asset. Resting ones stay.',
    answer: 'It is deleted.',
    refusals: ['MASTER_ONLY', 'NOT_FOUND', ...COMMAND],
  },
  CreateOrder: {
    summary: 'Place an order',
    description: 'Places one LIMIT or MARKET order. The answer comes after the order is on disk and matched: `matchResult` says what it '
      + 'met. A refusal is an error and leaves no order behind.\n\nSend an `idempotencyKey` if you may have to repeat the request: see '
      + 'Idempotency. A MARKET order trades inside a protective band of 1,000 basis points, or less if `slippageToleranceBps` says so, and '
      + 'what is left is cancelled.',
    answer: 'The order was accepted.',
    refusals: [...TERMS, ...KEYED, ...COMMAND],
  },
  GetOrder: {
    summary: 'One order',
    description: "Reads one order of the caller. Somebody else's order and a missing one are the same 404.",
    answer: 'The order.',
    refusals: ['ORDER_NOT_FOUND', ...READ, ...HISTORY],
  },
  ListOrders: {
    summary: 'Orders',
    description: `Orders of the caller, newest first. Totals end at 10,000, and totalCapped says so. ${PAGES}`,
    answer: 'A page of orders.',
    refusals: [...READ, ...HISTORY],
  },
  CancelOrder: {
    summary: 'Cancel an order',
    description: 'Cancels a resting order and frees what it held. An order that has ended, or was never there, is ORDER_NOT_FOUND: '
      + 'repeating a cancel is safe. Stays available in maintenance.',
    answer: 'The order is cancelled.',
    refusals: ['ORDER_NOT_FOUND', 'PAIR_NOT_ACTIVE', ...COMMAND],
  },
  ReplaceOrder: {
    summary: 'Replace an order',
    description: 'Ends an order and places its successor in one step; if the successor is refused, the original stays as it was. What is '
      + 'left out stays as it was. Without `quantity` the successor is for what the original had still open, not for its first quantity; '
      + 'with it, for that quantity, whatever was filled before. `quantity` of the answer says how much it is for. A lower '
      + 'quantity at the same price keeps its place in the queue, anything else goes to the back. The successor has a new id, so a second '
      + 'attempt after success is ORDER_NOT_FOUND.',
    answer: 'The order was replaced.',
    refusals: ['ORDER_NOT_FOUND', ...TERMS, ...KEYED, ...COMMAND],
  },
  BatchCreateOrders: {
    summary: 'Place up to 100 orders',
    description: 'Orders are processed one after the other. Each has its own result: a refused one carries `error` and does not touch the '
      + 'others, and the answer is still 200. The batch is admitted or refused as a whole: by budget, and when the service is at capacity.',
    answer: 'One result per order.',
    refusals: BATCH,
  },
  BatchReplaceOrders: {
    summary: 'Replace up to 100 orders',
    description: 'Replacements are processed one after the other, each as Replace does it and each with its own result. The batch is '
      + 'admitted or refused as a whole.',
    answer: 'One result per replacement.',
    refusals: BATCH,
  },
  BatchCancelOrders: {
    summary: 'Cancel up to 100 orders',
    description: 'Cancels are processed one after the other, each with its own result: an order that has ended, or is named a second time, '
      + 'is ORDER_NOT_FOUND. Stays available in maintenance.',
    answer: 'One result per order.',
    refusals: BATCH,
  },
  BatchCancelOrdersByPair: {
    summary: 'Cancel all orders of a pair',
    description: 'Cancels every open order of the caller in one trading pair. Never refused by a budget, and available in maintenance. '
      + 'On a halted pair nothing is cancelled: `notCancelled` names the orders that stay, with the reason.',
    answer: 'The orders that were cancelled.',
    refusals: ['NOT_FOUND', ...COMMAND],
  },
  BatchCancelAllOrders: {
    summary: 'Cancel all orders',
    description: 'Cancels every open order of the caller. Never refused by a budget, and available in maintenance. Orders on a halted '
      + 'pair stay; so do, for a delegated agent, those of pairs that it is not granted. `notCancelled` names them, with the reason.',
    answer: 'The orders that were cancelled.',
    refusals: COMMAND,
  },
  ListTradingPairs: {
    summary: 'Trading pairs',
    description: 'Markets with their fees, ticks, lots and limits.',
    answer: 'A page of trading pairs.',
    refusals: [],
  },
  GetTradingPair: {
    summary: 'One trading pair',
    description: 'A market with its fees, ticks, lots and limits.',
    answer: 'The trading pair.',
    refusals: ['NOT_FOUND'],
  },
  GetScreener: {
    summary: 'What the markets do',
    description: 'Every pair with its last price, what was traded in 1 hour, 24 hours, 7 days and ever, and how the price moved: most '
      + `\`quoteVolume24h\` first, pairs that never traded last. Volumes compare as numbers, whatever they are quoted in. ${WINDOWS} `
      + UNKNOWN,
    answer: 'A page of pairs.',
    refusals: HISTORY,
  },
  GetMarketMetadata: {
    summary: 'What one market does',
    description: `Last price of a pair, and its last 24 hours. ${WINDOWS} ${UNKNOWN} What only perpetuals have is absent.`,
    answer: 'The pair at this moment.',
    refusals: ['NOT_FOUND', ...HISTORY],
  },
  GetCandles: {
    summary: 'Candles',
    description: 'Price and volume of a pair by minute, hour, day or week, oldest first. Candles begin at whole multiples of the interval '
      + 'in UTC, weeks on Mondays. The first one is that of the first trade, the last one that of the last trade and may still change; '
      + 'those without trades between them are flat at the close before. With `startTime` the answer has the first `limit` candles that '
      + 'begin at it or later, without it the last ones that begin at `endTime` or earlier; so go on from `T` + 1, or back from `t` - 1.',
    answer: 'The candles.',
    refusals: ['NOT_FOUND', ...HISTORY],
  },
  GetServerTime: {
    summary: 'Time of the service',
    description: 'To measure how far your clock is off: signatures are good for 30 seconds either way.',
    answer: 'The time.',
    refusals: [],
  },
  GetOrderbook: {
    summary: 'Order book',
    description: 'The book by price, both sides of one moment. `sequence` tells books apart, `checksum` proves a copy.',
    answer: 'The book.',
    refusals: ['NOT_FOUND', ...READ],
  },
  ListTrades: {
    summary: 'Trades of everybody',
    description: `Trades, newest first, without who made them. ${PAGES}`,
    answer: 'A page of trades.',
    refusals: HISTORY,
  },
  GetTrade: {
    summary: 'One trade',
    description: 'A trade as everybody sees it.',
    answer: 'The trade.',
    refusals: ['NOT_FOUND', ...HISTORY],
  },
  SimulateFees: {
    summary: 'What an order would cost',
    description: 'The fees of an order if it came now: what would fill at once at the taker rate, what would rest at the maker rate, both '
      + "the caller's own. Nothing is placed and no funds are needed; the book may be another when the order comes.",
    answer: 'The fees.',
    refusals: ['NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', ...READ],
  },
  GetFaucetInfo: {
    summary: 'Faucet allowance',
    description: 'How many requests for test funds are left in the last 24 hours, and the newest five. Per wallet and application.',
    answer: 'The allowance.',
    refusals: READ,
  },
  Mint: {
    summary: 'Take test funds',
    description: 'Credits test funds of one asset, or of every asset the faucet has and may still mint; `minted` says which. Nothing left '
      + 'today is 429 with the time to wait; nothing left for ever is 503.',
    answer: 'What was credited.',
    refusals: ['NOT_FOUND', 'FAUCET_ASSET', 'FAUCET_LIMIT', ...COMMAND],
  },
  UpsertDelegatedAgent: {
    summary: 'Let a wallet trade for you',
    description: 'Grants a wallet what the request says, instead of what it was granted before. What is left out is not bounded. The '
      + 'grant is checked for every order of the agent when its turn comes, so a narrower one holds from the next order on; resting orders '
      + 'stay. A revoked agent becomes active again under the same id.',
    answer: 'The agent.',
    refusals: ['NOT_FOUND', 'TOO_MANY_AGENTS', ...COMMAND, ...READ],
  },
  ListDelegatedAgents: {
    summary: 'Delegated agents',
    description: 'The agents of the caller, newest first. Revoked ones are listed until their place is needed.',
    answer: 'The agents.',
    refusals: READ,
  },
  GetDelegatedAgent: {
    summary: 'One delegated agent',
    description: "Reads one agent of the caller. Somebody else's agent and a missing one are the same 404.",
    answer: 'The agent.',
    refusals: ['NOT_FOUND', ...READ],
  },
  RevokeDelegatedAgent: {
    summary: 'Revoke a delegated agent',
    description: 'Ends the grant, every session of the agent and every resting order it placed, in one step. What of it comes later is '
      + 'refused.',
    answer: 'The agent is revoked.',
    refusals: ['NOT_FOUND', ...COMMAND],
  },
  CreateDelegatedSession: {
    summary: 'Open a session as an agent',
    description: 'The wallet of the agent asks a challenge for its own address and signs it; the session then acts for the owner, inside '
      + 'the grant, and ends with it at the latest. It reads what the owner reads and may not move funds or change who may trade.',
    answer: 'The session is open.',
    refusals: [...WALLET, 'NONCE_INVALID', 'INVALID_SIGNATURE', 'SESSION_KEY_IN_USE', 'AGENT_NOT_ALLOWED', ...COMMAND],
  },
  GetApplicationConfig: {
    summary: 'The application itself',
    description: 'What the operator set for the application of the server key. There are no builder fees in this version: they are 0, and '
      + 'there is no payout address.',
    answer: 'The application.',
    refusals: READ,
  },
  ListApplicationUsers: {
    summary: 'Users of the application',
    description: `Users in the order they were made. ${EXACT}`,
    answer: 'A page of users.',
    refusals: WALK,
  },
  ListApplicationBalances: {
    summary: 'Balances of the users of the application',
    description: `Balances that are not zero, by user. A user that is unknown here has none. ${EXACT}`,
    answer: 'A page of balances.',
    refusals: WALK,
  },
  ListApplicationOrders: {
    summary: 'Orders of all users',
    description: `Orders of the users of the application, of any age, newest first. ${USERS}`,
    answer: 'A page of orders.',
    refusals: HISTORY,
  },
  ListApplicationMovements: {
    summary: 'Movements of all users',
    description: `Every change of a balance of a user of the application, newest first. ${USERS}`,
    answer: 'A page of movements.',
    refusals: HISTORY,
  },
  GetApplicationStats: {
    summary: 'What the users traded',
    description: 'Volume, fees and numbers of users and trades, exact, of all time or from a moment on. Amounts are in one asset, at the '
      + 'prices of the moment of each trade.',
    answer: 'The statistics.',
    refusals: HISTORY,
  },
  Check: {
    summary: 'Health',
    description: 'ok, maintenance (orders and transfers are refused, cancels and reads work) or degraded (`degraded` '
      + 'names what is not well: the matching engine does not answer, or the history cannot be read or is late, while '
      + 'trading goes on). Probes without the prefix: `/health`, always 200 with the same body, and `/ready`, 503 while '
      + 'the engine does not answer.',
    answer: 'The state of the service.',
    refusals: [],
  },
} satisfies Record<keyof typeof TABLE, OperationText>
