/**
 * What must always hold of blank accounts (B), over the whole state. See invariants.ts, which runs it, and programs/blank_accounts.ts.
 *
 *   - the list links both ways, has no row twice and runs from the one that was used longest ago; a row outside it has nothing of it
 *   - a blank account never had anything: no balance that ever changed, no request to the faucet, no orders, receipts, agents, limits,
 *     master, sub-accounts, name or tier
 *   - no session of a blank account lasts longer than a lifetime from when it was used last
 *   - a session whose account is no more ended long ago, was no agent's and is in no list
 */
import { broken } from '../lib/assert.ts'
import { KEY_KEPT_MS } from './session_lists.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, CLOCK, FAUCET_WORDS, NOBODY, PROFILE, PROFILE_WORDS, SCALAR, SESSION, SESSION_LINK_WORDS,
  SESSION_WORDS,
} from './columns.ts'
import type { State } from './state.ts'

const { BLANK_OLDER, BLANK_NEWER, BLANK_SINCE } = ACCOUNT

/** Throws InvariantBroken at the first that does not hold. */
export function checkBlank(state: State): void {
  const blank = walkList(state)
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
    if (blank.has(account)) checkNothing(state, account)
    else if (linksOf(state, account).some((word) => word !== 0)) broken('B', `account ${account} is not blank and has links`)
  }
  for (let session = 0; session < state.scalars[SCALAR.SESSIONS_USED]!; session++) checkSession(state, session, blank)
  if ((state.scalars[SCALAR.ACCOUNT_TURNS]! & 1) !== 0) broken('B', 'the row of an account is half given up')
}

const usedAt = (state: State, account: number): number => state.accountsF64[(account * ACCOUNT_WORDS + BLANK_SINCE) >>> 1]!

const linksOf = (state: State, account: number): number[] =>
  [state.accounts[account * ACCOUNT_WORDS + BLANK_OLDER]!, state.accounts[account * ACCOUNT_WORDS + BLANK_NEWER]!, usedAt(state, account)]

function walkList(state: State): Set<number> {
  const { accounts, scalars, clock } = state
  const met = new Set<number>()
  let [older, time] = [0, 0]
  for (let next = scalars[SCALAR.BLANK_OLDEST]!; next !== 0; next = accounts[(next - 1) * ACCOUNT_WORDS + BLANK_NEWER]!) {
    const account = next - 1
    if (account >= scalars[SCALAR.ACCOUNTS]! || met.has(account)) broken('B', `account ${account} is twice in the list or was never used`)
    met.add(account)
    const used = usedAt(state, account)
    if (accounts[account * ACCOUNT_WORDS + BLANK_OLDER] !== older) broken('B', `blank account ${account} does not link back`)
    if (used < time || used > clock[CLOCK.TIME]!) broken('B', `blank account ${account} was used at ${used}, the one before at ${time}`)
    older = next
    time = used
  }
  if (scalars[SCALAR.BLANK_NEWEST] !== older) broken('B', `the newest blank account is not ${older - 1}`)
  if (met.size > 0 && scalars[SCALAR.RULES]! < 1) broken('B', 'there are blank accounts before the rules 1')
  return met
}

/** A blank account never had anything. */
function checkNothing(state: State, account: number): void {
  const named = (what: string): void => broken('B', `blank account ${account} ${what}`)
  const row = account * ACCOUNT_WORDS
  const balances = account * state.balanceStride
  const words = state.balances.subarray(balances / 2, (balances + state.balanceStride) / 2)
  if (!words.every((word) => word === 0n)) named('has a balance')
  if (!state.faucet.subarray(account * FAUCET_WORDS, (account + 1) * FAUCET_WORDS).every((word) => word === 0)) named('asked the faucet')
  // Each turn of its row makes it one larger; so does everything that happens to an account.
  if (state.accounts[row + ACCOUNT.VERSION]! > state.scalars[SCALAR.ACCOUNT_TURNS]! / 2) named('has a version of something')
  if (state.accounts[row + ACCOUNT.FAMILY] !== account) named('is of a family')
  for (const word of ['OPEN_ORDERS', 'FAMILY_ORDERS', 'FAMILY_RECEIPTS', 'FAMILY_AGENTS', 'FAMILY_LIMITS', 'RECEIPTS', 'TIER'] as const) {
    if (state.accounts[row + ACCOUNT[word]] !== 0) named(`has ${word}`)
  }
  for (let word = 0; word < PROFILE_WORDS; word++) {
    if (word !== PROFILE.FIRST_SESSION && state.profiles[account * PROFILE_WORDS + word] !== 0) named(`has word ${word} of a profile`)
  }
}

function checkSession(state: State, session: number, blank: ReadonlySet<number>): void {
  const { sessions, sessionsF64, sessionLinks, clock, genesis } = state
  const row = session * SESSION_WORDS
  const account = sessions[row + SESSION.ACCOUNT]!
  const end = Math.abs(sessionsF64[(row + SESSION.EXPIRES_AT) >>> 1]!)
  if (blank.has(account) && end > usedAt(state, account) + genesis.limits.sessionLifetimeMs) {
    broken('B', `session ${session} of blank account ${account} lasts until ${end}`)
  }
  if (account !== NOBODY) return
  if (end + KEY_KEPT_MS > clock[CLOCK.TIME]!) broken('B', `session ${session} is nobody's and keeps its key`)
  const links = sessionLinks.subarray(session * SESSION_LINK_WORDS, (session + 1) * SESSION_LINK_WORDS)
  if (sessions[row + SESSION.AGENT] !== 0 || links.some((word) => word !== 0)) broken('B', `session ${session} is nobody's and in a list`)
}
