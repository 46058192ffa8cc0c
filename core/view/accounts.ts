/** Accounts, sessions, balances and resting orders from the shared columns. */
import { Flag, CLIENT_ORDER_ID_SHIFT } from '../layout/command.ts'
import { ACCOUNT, BALANCE, CLIENT_ORDER_ID_WORDS, ORDER, SCALAR, SESSION } from '../state/columns.ts'
import { findSession } from '../state/indexes.ts'
import { areWords, loadDouble, loadWord, loadWords } from '../state/shared_words.ts'
import {
  accountRow, balanceRow, bytesOf, faucetOf, get, getF64, getI64, clientOrderIdRow, orderRow, sessionRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { APPLYING } from '../ring/counters.ts'
import { consistently, whileOwned } from './consistent.ts'
import { copyOrderMargin, type NamedRow, type OrderMarginView } from './order_margin.ts'
import { parentOf } from './twaps.ts'

/** Words of a session's public key. */
const KEY_WORDS = 8

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
  const row = sessionRow(state, session)
  if (!areWords(state, row, SESSION.PUBLIC_KEY, KEY_WORDS, words, at)) return null
  return loadWord(state, row, SESSION.GENERATION) === view.generation ? view : null
}

/** The session in row `session`, or `null` while it is being written or was never used. Each field is one of shared_words.ts. */
export function readSessionRow(state: State, session: number): SessionView | null {
  const row = sessionRow(state, session)
  const generation = loadWord(state, row, SESSION.GENERATION)
  const expiresAt = loadDouble(state, row, SESSION.EXPIRES_AT)
  const view = {
    session,
    generation,
    account: loadWord(state, row, SESSION.ACCOUNT),
    application: loadWord(state, row, SESSION.APPLICATION),
    expiresAt: Math.max(0, Math.floor(expiresAt / 1000) * 1000),
    agent: loadWord(state, row, SESSION.AGENT) - 1,
  }
  return generation !== 0 && loadWord(state, row, SESSION.GENERATION) === generation ? view : null
}

/** The public key of the session in row `session`, 64 hex digits; of another session when the row is being written. */
export function readSessionKey(state: State, session: number): string {
  return Buffer.from(bytesOf(state, sessionRow(state, session), SESSION.PUBLIC_KEY, KEY_WORDS * 4)).toString('hex')
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
  const row = accountRow(state, account)
  return {
    account,
    application: loadWord(state, row, ACCOUNT.APPLICATION),
    address: new Uint8Array(loadWords(state, row, ACCOUNT.ADDRESS, 5).buffer),
    createdAt: loadDouble(state, row, ACCOUNT.CREATED_AT),
    createdSequence: loadDouble(state, row, ACCOUNT.CREATED_SEQUENCE),
    openOrders: get(state, row, ACCOUNT.OPEN_ORDERS),
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
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () =>
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
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () =>
    faucetOf(state, account).slice(),
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
  clientOrderId: string
  /** Of an order of a perpetual; absent of others. */
  margin?: OrderMarginView
  /** Of a slice: the TWAP order; absent of others. */
  parent?: NamedRow
}

function clientOrderIdOf(state: State, slot: number, length: number): string {
  return String.fromCharCode(...bytesOf(state, clientOrderIdRow(state, slot), 0, length))
}

/** The order in `slot` as it is now: consistent only inside {@link consistently}. */
export function copyOrder(state: State, slot: number): OrderView {
  const row = orderRow(state, slot)
  const flags = get(state, row, ORDER.FLAGS)
  const length = flags >>> CLIENT_ORDER_ID_SHIFT
  const clientOrderId = length === 0 ? '' : clientOrderIdOf(state, slot, Math.min(length, CLIENT_ORDER_ID_WORDS * 4))
  const order: OrderView = {
    sequence: getF64(state, row, ORDER.SEQUENCE),
    slot,
    account: get(state, row, ORDER.ACCOUNT),
    pair: get(state, row, ORDER.PAIR),
    flags,
    price: get(state, row, ORDER.PRICE),
    lots: get(state, row, ORDER.LOTS),
    remaining: get(state, row, ORDER.REMAINING),
    filledQuote: getI64(state, row, ORDER.FILLED_QUOTE),
    fee: getI64(state, row, ORDER.FEE),
    createdAt: getF64(state, row, ORDER.CREATED_AT),
    updatedAt: getF64(state, row, ORDER.UPDATED_AT),
    expiresAt: getF64(state, row, ORDER.EXPIRES_AT),
    clientOrderId,
  }
  if ((flags & Flag.MARGIN) !== 0) order.margin = copyOrderMargin(state, slot)
  const parent = parentOf(state, slot, flags)
  if (parent !== undefined) order.parent = parent
  return order
}

/** The resting order (slot, sequence) of `account`: `undefined` when it does not rest or is not theirs, `null` when unreadable. */
export function readOrder(state: State, gate: Int32Array, account: number, slot: number, sequence: number): OrderView | undefined | null {
  if (slot < 0 || slot >= state.scalars[SCALAR.ORDERS_USED]!) return undefined
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => {
    const order = copyOrder(state, slot)
    const theirs = order.sequence === sequence && order.account === account && (order.flags & Flag.RESTING) !== 0
    return theirs ? order : undefined
  })
}
