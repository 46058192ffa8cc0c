/**
 * Rows of accounts. An account is one wallet in one application; it is made by its wallet's first sign-in, as a master, or by a master
 * as its sub-account. The wallet signs in the same way ever after.
 */
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SCALAR } from '../state/columns.ts'
import { indexAccount } from '../state/indexes.ts'
import { storeDouble } from '../state/shared_words.ts'
import type { State } from '../state/state.ts'
import { countAccount } from './applications.ts'
import { beginBlank, endTurn, giveUpOldest, oldestMayGo } from './blank_accounts.ts'

const hasFreshRow = ({ scalars, genesis }: State): boolean => scalars[SCALAR.ACCOUNTS]! < genesis.limits.accounts

/** Room for one more account: a row that was never used, or that of a blank account whose time is over. False: there is none. */
export const makeRoom = (state: State): boolean => hasFreshRow(state) || oldestMayGo(state)

/**
 * Makes the account of (application, the 20-byte address at `words[at]`) and returns its row. The caller checked that there is none
 * and that {@link makeRoom} is true; nothing may refuse after it. The account begins blank.
 */
export function createAccount(state: State, application: number, words: Int32Array, at: number): number {
  const { accounts, accountsAt, clock, i64 } = state
  const fresh = hasFreshRow(state)
  const account = fresh ? state.scalars[SCALAR.ACCOUNTS]!++ : giveUpOldest(state)
  const row = account * ACCOUNT_WORDS
  // Who an account is: read by other threads at any time (shared_words.ts).
  Atomics.store(accounts, row + ACCOUNT.APPLICATION, application)
  accounts[row + ACCOUNT.ORDERS_HEAD] = -1
  accounts[row + ACCOUNT.FAMILY] = account
  for (let word = 0; word < 5; word++) Atomics.store(accounts, row + ACCOUNT.ADDRESS + word, words[at + word]!)
  storeDouble(i64, (accountsAt + row + ACCOUNT.CREATED_AT) >>> 1, clock[CLOCK.TIME]!)
  storeDouble(i64, (accountsAt + row + ACCOUNT.CREATED_SEQUENCE) >>> 1, clock[CLOCK.SEQUENCE]!)
  indexAccount(state, account)
  countAccount(state, application)
  beginBlank(state, account)
  if (!fresh) endTurn(state)
  return account
}

/** From now on what `sub` holds of a pool counts as its master's. */
export function joinFamily(state: State, sub: number, master: number): void {
  const { accounts } = state
  const [from, to] = [sub * ACCOUNT_WORDS, master * ACCOUNT_WORDS]
  accounts[from + ACCOUNT.FAMILY] = master
  for (const word of [ACCOUNT.FAMILY_ORDERS, ACCOUNT.FAMILY_RECEIPTS, ACCOUNT.FAMILY_AGENTS, ACCOUNT.FAMILY_LIMITS]) {
    accounts[to + word] = accounts[to + word]! + accounts[from + word]!
    accounts[from + word] = 0
  }
}
