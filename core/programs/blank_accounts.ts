/**
 * Blank accounts: rows of wallets that signed in and did nothing else. When no row is left, the one that was used longest ago goes to
 * another wallet, so that sign-ins alone never fill the exchange.
 *
 * An account is blank until the faucet credits it, an order of it is accepted (a MARKET order that finds nothing to buy costs nothing), it
 * becomes a master or a sub-account, it has an agent, or the operator sets its tier. All else needs one of these first: other orders,
 * receipts, transfers, spend limits. Then it is kept for good ({@link keepAccount}).
 *
 * Blank ones stand in a list by the time when their wallet opened or refreshed a session last. No session outlives that time by more than
 * its lifetime, so the first of the list tells by itself when all its sessions are over and their keys are kept no longer; if it cannot
 * go yet, none can for certain. So nothing is searched: a command looks at one account and at {@link RELEASED_MOST} of its sessions.
 *
 * A session whose account went is nobody's (ACCOUNT -1): dead, in no list, its row the next one's that looks for one, its key anybody's.
 *
 * Readers of other threads see whether a row changed hands meanwhile by SCALAR.ACCOUNT_TURNS (view/consistent.ts). Nobody can name the old
 * user by the row: user ids have the sequence that made the account, and whatever a session of it began is a day over.
 *
 * Since the rules 1. When they come into force, accounts that have nothing begin as used then, by their rows. Their sessions that were over
 * by then are in no list and stay as they are when the row goes: dead, and soon of no use to anybody.
 */
import { ACCOUNT, DISCONNECT, PROFILE, SCALAR } from '../state/columns.ts'
import { noteDeadline } from '../state/due.ts'
import { unindexAccount } from '../state/indexes.ts'
import { accountRow, disconnectRow, get, getF64, now, profileRow, scalar, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'
import { uncountAccount } from './applications.ts'
import { appendBlank, isBlank, keepAccount } from '../state/blank_list.ts'
import { unlinkReferral } from '../state/referral_links.ts'
import { KEY_KEPT_MS, releaseSession } from '../state/session_lists.ts'

const { BLANK_SINCE } = ACCOUNT
const { BLANK_OLDEST, ACCOUNT_TURNS } = SCALAR

/** Sessions that one command takes from the account that is to go. One that had more goes with a later command. */
export const RELEASED_MOST = 64

/** A new account begins blank. */
export function beginBlank(state: State, account: number): void {
  if (state.scalars[SCALAR.RULES]! >= 1) appendBlank(state, account)
}

/** The rules are in force from now on: what has nothing is blank. */
export function findBlank(state: State): void {
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) if (hasNothing(state, account)) appendBlank(state, account)
}

/** True when the account is as it was made: everything it has and does grows its version, and a sub-account counts for another family. */
function hasNothing(state: State, account: number): boolean {
  const row = accountRow(state, account)
  return get(state, row, ACCOUNT.VERSION) === 0 && get(state, row, ACCOUNT.FAMILY) === account
}

/** The wallet of an account opened or refreshed a session now. */
export function useAccount(state: State, account: number): void {
  if (!isBlank(state, account)) return
  keepAccount(state, account)
  appendBlank(state, account)
}

/** From when on, Unix ms, a blank account that was used at `usedAt` may go: its last session ended a key's time ago by then. */
export const mayGoAt = (usedAt: number, sessionLifetimeMs: number): number => usedAt + sessionLifetimeMs + KEY_KEPT_MS

/** True when {@link giveUpOldest} has an account to give. Takes sessions from it meanwhile, {@link RELEASED_MOST} at most. */
export function oldestMayGo(state: State): boolean {
  const account = state.scalars[BLANK_OLDEST]! - 1
  if (account < 0) return false
  const usedAt = getF64(state, accountRow(state, account), BLANK_SINCE)
  if (mayGoAt(usedAt, state.genesis.limits.sessionLifetimeMs) > now(state)) return false
  return releaseSessions(state, account)
}

/** True when the account has no sessions any more. */
function releaseSessions(state: State, account: number): boolean {
  const profile = profileRow(state, account)
  for (let released = 0; get(state, profile, PROFILE.FIRST_SESSION) !== 0; released++) {
    if (released === RELEASED_MOST) return false
    releaseSession(state, get(state, profile, PROFILE.FIRST_SESSION) - 1)
  }
  return true
}

/**
 * The row of the account that was used longest ago, which may go, for another wallet: like a row that was never used, but for its
 * version, which only grows. The caller writes it and then says {@link endTurn}.
 */
export function giveUpOldest(state: State): number {
  const { scalars } = state
  const account = scalar(state, BLANK_OLDEST) - 1
  const row = accountRow(state, account)
  Atomics.add(scalars, ACCOUNT_TURNS, 1)
  unindexAccount(state, account)
  uncountAccount(state, get(state, row, ACCOUNT.APPLICATION))
  setF64(state, row, ACCOUNT.DEADLINE, 0)
  const connections = disconnectRow(state, account)
  for (const field of [DISCONNECT.CONNECTIONS, DISCONNECT.GRACE_MS]) set(state, connections, field, 0)
  setF64(state, connections, DISCONNECT.RETURN_BY, 0)
  noteDeadline(state, account)
  keepAccount(state, account)
  unlinkReferral(state, account)
  touchAccount(state, account)
  return account
}

/** The row that was given up is whole again. */
export function endTurn(state: State): void {
  Atomics.add(state.scalars, ACCOUNT_TURNS, 1)
}
