/** Delegated agents: what they may be granted, and the commands that grant it. */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** What a delegated agent may do: bits of `actions`. */
export const AgentAction = { CREATE_ORDER: 1, CANCEL_ORDER: 2, REPLACE_ORDER: 4, CLOSE_POSITION: 8 } as const
/** Order types: bits of `orderTypes`; 0 is all. */
export const AgentOrderType = { LIMIT: 1, MARKET: 2 } as const
/** Times in force of LIMIT orders: bits of `timesInForce`; 0 is all. */
export const AgentTimeInForce = { GTC: 1, IOC: 2, FOK: 4 } as const
/** What an agent lacks: RESULT.detail of AGENT_NOT_ALLOWED. OPERATION: what only the owner may do, whatever is granted. */
export const AgentGrant = {
  ACTION: 1, PAIR: 2, ORDER_TYPE: 3, TIME_IN_FORCE: 4, NOTIONAL: 5, OPEN_ORDERS: 6, LEVERAGE: 7, MARGIN_ACCOUNT: 8, OPERATION: 9,
} as const
/** Trading pairs a grant can name; the genesis has at most that many. */
export const AGENT_PAIRS_MAX = 256
/** Byte 3 of UPSERT_AGENT.grants; 0: every margin account. LISTED: those of the second slot. */
export const AgentMargin = { NONE: 1, LISTED: 2 } as const
/** Margin accounts that a grant can name. */
export const AGENT_MARGIN_ACCOUNTS_MAX = 10
/** Orders of one agent that rest at once, at most and by default: a revocation ends them in one command. */
export const AGENT_OPEN_ORDERS_MAX = 1000

/** Signed by the owner: grants a wallet what this says, instead of what it was granted before. */
export const UPSERT_AGENT_COMMAND = defineLayout('upsert_agent', {
  ...HEADER,
  /** Wallet of the agent, 20 bytes. */
  address: 'bytes20',
  /** Bytes: {@link AgentAction}, {@link AgentOrderType}, {@link AgentTimeInForce}, {@link AgentMargin}. */
  grants: 'u32',
  /** Unix ms; 0: never. */
  expiresAt: 'f64',
  /** Most value of an order in its quote asset, in 10^-9; 0: no bound. */
  maxNotional: 'i64',
  /** Hundredths; 0: no bound. */
  maxLeverage: 'i32',
  /** 1..{@link AGENT_OPEN_ORDERS_MAX}; 0: the most. */
  maxOpenOrders: 'i32',
  /** Bit p % 8 of byte p / 8: trading pair p. */
  pairs: 'bytes32',
  /** UTF-8, zero padded; all zero: none. */
  name: 'bytes32',
}, {
  /**
   * AgentMargin.LISTED: {@link AGENT_MARGIN_ACCOUNTS_MAX} sequences, f64 each, that made the margin accounts it may use; of the parent,
   * which has its id before it is made, the sequence that made the owner's account. 0: no more are named.
   */
  marginSequences: 'bytes80',
  /** Their rows, i32 each; the parent's is -1 - row of the owner's account. */
  marginRows: 'bytes40',
})

/** Signed by the owner: ends an agent's grant, sessions and resting orders. */
export const REVOKE_AGENT_COMMAND = defineLayout('revoke_agent', {
  ...HEADER,
  /** Row of the agent ... */
  agent: 'i32',
  reserved: 'i32',
  /** ... and the sequence that made it, which is its identity. */
  createdSequence: 'f64',
})

/** A session of an agent for its owner's account. */
export const OPEN_DELEGATED_SESSION_COMMAND = defineLayout('open_delegated_session', {
  ...HEADER,
  application: 'i32',
  reserved: 'i32',
  /** Wallets, 20 bytes each. */
  owner: 'bytes20',
  agent: 'bytes20',
  publicKey: 'bytes32',
})
