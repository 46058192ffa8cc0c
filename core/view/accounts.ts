/** Accounts, sessions, balances and resting orders from the shared columns. */
import { Flag, LABEL_SHIFT } from '../layout/command.ts'
import { balanceRow, getI64 } from '../state/rows.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, BALANCE, FAUCET_WORDS, LABEL_WORDS, ORDER, ORDER_WORDS, SCALAR,
  SESSION, SESSION_WORDS,
} from '../state/columns.ts'
import { findSession } from '../state/indexes.ts'
import { loadDouble } from '../state/shared_words.ts'
import type { State } from '../state/state.ts'
import { APPLYING } from '../ring/counters.ts'
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

/** What {@link readSession} says of a key: nobody ever registered it, or that cannot be told. */
export type NoSession = 'unknown' | 'unreadable'

/**
 * The session with the public key at `words[at..at+8]`, whatever its state. Safe while the matcher writes.
 *
 * A row that has the key is the answer at once. That there is none takes more: an entry of the index that is just being moved stands in
 * neither of its places for a reader who passes by (state/indexes.ts), so the index is searched again between batches.
 */
export function readSession(state: State, gate: Int32Array, words: Int32Array, at: number): SessionView | NoSession {
  const view = readSessionOf(state, words, at)
  if (view !== null) return view
  return consistently(gate, gate, APPLYING, () => readSessionOf(state, words, at) ?? 'unknown') ?? 'unreadable'
}

/** The session in the row that the index names, when it has that key. */
function readSessionOf(state: State, words: Int32Array, at: number): SessionView | null {
  const session = findSession(state, words, at)
  if (session < 0) return null
  const view = readSessionRow(state, session)
  if (view === null) return null
  const key = session * SESSION_WORDS + SESSION.PUBLIC_KEY
  for (let word = 0; word < 8; word++) if (Atomics.load(state.sessions, key + word) !== words[at + word]) return null
  return Atomics.load(state.sessions, session * SESSION_WORDS + SESSION.GENERATION) === view.generation ? view : null
}

/** The session in row `session`, or `null` while it is being written or was never used. Each field is one of shared_words.ts. */
export function readSessionRow(state: State, session: number): SessionView | null {
  const { sessions } = state
  const row = session * SESSION_WORDS
  const generation = Atomics.load(sessions, row + SESSION.GENERATION)
  const expiresAt = loadDouble(state.i64, (state.sessionsAt + row + SESSION.EXPIRES_AT) >>> 1)
  const view = {
    session,
    generation,
    account: Atomics.load(sessions, row + SESSION.ACCOUNT),
    application: Atomics.load(sessions, row + SESSION.APPLICATION),
    expiresAt: Math.max(0, Math.floor(expiresAt / 1000) * 1000),
    agent: Atomics.load(sessions, row + SESSION.AGENT) - 1,
  }
  return generation !== 0 && Atomics.load(sessions, row + SESSION.GENERATION) === generation ? view : null
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
  const address = new Int32Array(5)
  for (let word = 0; word < 5; word++) address[word] = Atomics.load(state.accounts, row + ACCOUNT.ADDRESS + word)
  const time = (field: number): number => loadDouble(state.i64, (state.accountsAt + row + field) >>> 1)
  return {
    account,
    application: Atomics.load(state.accounts, row + ACCOUNT.APPLICATION),
    address: new Uint8Array(address.buffer),
    createdAt: time(ACCOUNT.CREATED_AT),
    createdSequence: time(ACCOUNT.CREATED_SEQUENCE),
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
      const row = balanceRow(state, account, index)
      return {
        asset: index,
        available: getI64(state, row, BALANCE.AVAILABLE),
        locked: getI64(state, row, BALANCE.LOCKED),
        version: getI64(state, row, BALANCE.VERSION),
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
  const detail = slot * ORDER_WORDS
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
    filledQuote: state.ordersI64[(detail + ORDER.FILLED_QUOTE) >>> 1]!,
    fee: state.ordersI64[(detail + ORDER.FEE) >>> 1]!,
    createdAt: state.ordersF64[(detail + ORDER.CREATED_AT) >>> 1]!,
    updatedAt: state.ordersF64[(detail + ORDER.UPDATED_AT) >>> 1]!,
    expiresAt: state.ordersF64[(detail + ORDER.EXPIRES_AT) >>> 1]!,
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
