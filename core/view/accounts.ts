/** Accounts, sessions, balances and resting orders from the shared columns. */
import { Flag, LABEL_SHIFT } from '../layout/command.ts'
import {
  ACCOUNT,
  ACCOUNT_WORDS,
  BALANCE,
  BALANCE_WORDS,
  DETAIL,
  DETAIL_WORDS,
  FAUCET_WORDS,
  LABEL_WORDS,
  ORDER,
  ORDER_WORDS,
  SCALAR,
  SESSION,
  SESSION_WORDS,
} from '../state/columns.ts'
import { findSession } from '../state/indexes.ts'
import { addressOf, type State } from '../state/state.ts'
import { consistently, whileOwned } from './consistent.ts'

export interface SessionView {
  session: number
  /** Names this opening of the row in commands. */
  generation: number
  /** -1: the account is no more; the session ended long before. */
  account: number
  application: number
  /**
   * Unix ms, a whole second, as users are told; 0 when revoked. The engine's own limit is up to a second later: what was signed in time is
   * done.
   */
  expiresAt: number
  /** Row of the delegated agent that signs with it; -1: the account's own wallet. */
  agent: number
}

/** The session with the public key at `words[at..at+8]`, whatever its state, or `null`. Safe while the matcher writes. */
export function readSession(state: State, words: Int32Array, at: number): SessionView | null {
  for (let attempt = 0; attempt < 100; attempt++) {
    const session = findSession(state, words, at)
    if (session < 0) return null
    const view = readSessionRow(state, session)
    if (view !== null && findSession(state, words, at) === session) return view
  }
  return null
}

/** The session in row `session`, or `null` while it is being written or was never used. */
export function readSessionRow(state: State, session: number): SessionView | null {
  const row = session * SESSION_WORDS
  const generation = Atomics.load(state.sessions, row + SESSION.GENERATION)
  const view = {
    session,
    generation,
    account: state.sessions[row + SESSION.ACCOUNT]!,
    application: state.sessions[row + SESSION.APPLICATION]!,
    expiresAt: Math.max(0, Math.floor(state.sessionsF64[(row + SESSION.EXPIRES_AT) >>> 1]! / 1000) * 1000),
    agent: state.sessions[row + SESSION.AGENT]! - 1,
  }
  return generation !== 0 && Atomics.load(state.sessions, row + SESSION.GENERATION) === generation ? view : null
}

/** The public key of the session in row `session`, 64 hex digits; of another session when the row is being written. */
export function readSessionKey({ sessions }: State, session: number): string {
  const at = session * SESSION_WORDS + SESSION.PUBLIC_KEY
  return Buffer.from(sessions.slice(at, at + 8).buffer).toString('hex')
}

export interface AccountView {
  account: number
  application: number
  /** 20 bytes. */
  address: Uint8Array
  /** Unix ms. */
  createdAt: number
  createdSequence: number
  openOrders: number
}

/**
 * Who the account in this row is now; a blank one may have become another wallet's since the row was named. While that cannot be told
 * it is nobody: of application -1, and made by no sequence.
 */
export const readAccount = (state: State, account: number): AccountView =>
  whileOwned(state, () => copyAccount(state, account)) ??
  { account, application: -1, address: new Uint8Array(20), createdAt: 0, createdSequence: NaN, openOrders: 0 }

function copyAccount(state: State, account: number): AccountView {
  const row = account * ACCOUNT_WORDS
  return {
    account,
    application: state.accounts[row + ACCOUNT.APPLICATION]!,
    address: addressOf(state, account),
    createdAt: state.accountsF64[(row + ACCOUNT.CREATED_AT) >>> 1]!,
    createdSequence: state.accountsF64[(row + ACCOUNT.CREATED_SEQUENCE) >>> 1]!,
    openOrders: state.accounts[row + ACCOUNT.OPEN_ORDERS]!,
  }
}

export interface BalanceView {
  asset: number
  /** Atoms. */
  available: bigint
  locked: bigint
  version: bigint
}

/** All balance rows of an account in one consistent copy, in asset order. */
export function readBalances(state: State, gate: Int32Array, account: number): BalanceView[] | null {
  return consistently(gate, state.accounts, account * ACCOUNT_WORDS + ACCOUNT.VERSION, () =>
    state.genesis.assets.map(({ index }) => {
      const row = (account * state.assetCount + index) * BALANCE_WORDS
      return {
        asset: index,
        available: state.balances[row + BALANCE.AVAILABLE]!,
        locked: state.balances[row + BALANCE.LOCKED]!,
        version: state.balances[row + BALANCE.VERSION]!,
      }
    }),
  )
}

/** The faucet row of an account, for recentRequests and nextAvailableAt of programs/faucet.ts. */
export function readFaucet(state: State, gate: Int32Array, account: number): Float64Array | null {
  return consistently(gate, state.accounts, account * ACCOUNT_WORDS + ACCOUNT.VERSION, () =>
    state.faucet.slice(account * FAUCET_WORDS, (account + 1) * FAUCET_WORDS),
  )
}

/** A resting order, as numbers. */
export interface OrderView {
  sequence: number
  slot: number
  account: number
  pair: number
  /** Flag bits. */
  flags: number
  price: number
  lots: number
  remaining: number
  /** Quote atoms. */
  filledQuote: bigint
  fee: bigint
  /** Unix ms. */
  createdAt: number
  updatedAt: number
  expiresAt: number
  /** Client order id, '' when none. */
  label: string
}

function labelOf(state: State, slot: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(state.labels.buffer, state.labels.byteOffset + slot * LABEL_WORDS * 4, length))
}

/** The order in `slot` as it is now: consistent only inside {@link consistently}. */
export function copyOrder(state: State, slot: number): OrderView {
  const row = slot * ORDER_WORDS
  const detail = slot * DETAIL_WORDS
  const flags = state.orders[row + ORDER.FLAGS]!
  const length = flags >>> LABEL_SHIFT
  const label = length === 0 ? '' : labelOf(state, slot, Math.min(length, LABEL_WORDS * 4))
  return {
    sequence: state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!,
    slot,
    account: state.orders[row + ORDER.ACCOUNT]!,
    pair: state.orders[row + ORDER.PAIR]!,
    flags,
    price: state.orders[row + ORDER.PRICE]!,
    lots: state.orders[row + ORDER.LOTS]!,
    remaining: state.orders[row + ORDER.REMAINING]!,
    filledQuote: state.detailsI64[(detail + DETAIL.FILLED_QUOTE) >>> 1]!,
    fee: state.detailsI64[(detail + DETAIL.FEE) >>> 1]!,
    createdAt: state.detailsF64[(detail + DETAIL.CREATED_AT) >>> 1]!,
    updatedAt: state.detailsF64[(detail + DETAIL.UPDATED_AT) >>> 1]!,
    expiresAt: state.detailsF64[(detail + DETAIL.EXPIRES_AT) >>> 1]!,
    label,
  }
}

/** The resting order (slot, sequence) of `account`: `undefined` when it does not rest or is not theirs, `null` when unreadable. */
export function readOrder(state: State, gate: Int32Array, account: number, slot: number, sequence: number): OrderView | undefined | null {
  if (slot < 0 || slot >= state.scalars[SCALAR.ORDERS_USED]!) return undefined
  return consistently(gate, state.accounts, account * ACCOUNT_WORDS + ACCOUNT.VERSION, () => {
    const order = copyOrder(state, slot)
    const theirs = order.sequence === sequence && order.account === account && (order.flags & Flag.RESTING) !== 0
    return theirs ? order : undefined
  })
}
