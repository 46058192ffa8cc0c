/**
 * Rows of accounts. An account is one wallet in one application; it is made by its wallet's first sign-in, as a master, or by a master
 * as its sub-account. The wallet signs in the same way ever after.
 */
import { OPEN_SESSION_COMMAND } from '../layout/command.ts'
import { read, readF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { indexAccount } from '../state/indexes.ts'
import { linkReferral } from '../state/referral_links.ts'
import { accountRow, add, get, getF64, now, sequence, set } from '../state/rows.ts'
import { storeDouble, storeWord, storeWords } from '../state/shared_words.ts'
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
  const fresh = hasFreshRow(state)
  const account = fresh ? state.scalars[SCALAR.ACCOUNTS]!++ : giveUpOldest(state)
  const row = accountRow(state, account)
  // Who an account is: read by other threads at any time (shared_words.ts).
  storeWord(state, row, ACCOUNT.APPLICATION, application)
  set(state, row, ACCOUNT.ORDERS_HEAD, -1)
  set(state, row, ACCOUNT.FAMILY, account)
  storeWords(state, row, ACCOUNT.ADDRESS, 5, words, at)
  storeDouble(state, row, ACCOUNT.CREATED_AT, now(state))
  storeDouble(state, row, ACCOUNT.CREATED_SEQUENCE, sequence(state))
  indexAccount(state, account)
  countAccount(state, application)
  beginBlank(state, account)
  if (!fresh) endTurn(state)
  return account
}

/** What is counted for a family (state/shares.ts). */
const FAMILY_WORDS = [
  ACCOUNT.FAMILY_ORDERS, ACCOUNT.FAMILY_RECEIPTS, ACCOUNT.FAMILY_AGENTS, ACCOUNT.FAMILY_LIMITS, ACCOUNT.FAMILY_BUCKETS,
  ACCOUNT.FAMILY_POSITIONS,
]

/** From now on what `sub` holds of a pool counts as its master's. */
export function joinFamily(state: State, sub: number, master: number): void {
  const [from, to] = [accountRow(state, sub), accountRow(state, master)]
  set(state, from, ACCOUNT.FAMILY, master)
  for (const word of FAMILY_WORDS) {
    add(state, to, word, get(state, from, word))
    set(state, from, word, 0)
  }
}

/** True when `account` is a row in use that the command of this sequence made. */
export function isAccount(state: State, account: number, createdSequence: number): boolean {
  if (account < 0 || account >= state.scalars[SCALAR.ACCOUNTS]!) return false
  return getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) === createdSequence
}

/** Records who brought `account`, which this OPEN_SESSION made, if it says so. Whether it did. */
export function recordReferral(state: State, account: number, command: Views, base: number): boolean {
  const referrer = read(command, base, OPEN_SESSION_COMMAND.at.referrer) - 1
  const made = readF64(command, base, OPEN_SESSION_COMMAND.at.referrerSequence)
  if (referrer === account || !isAccount(state, referrer, made)) return false
  const application = get(state, accountRow(state, account), ACCOUNT.APPLICATION)
  if (get(state, accountRow(state, referrer), ACCOUNT.APPLICATION) !== application) return false
  linkReferral(state, account, referrer)
  return true
}
