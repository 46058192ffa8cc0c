/**
 * Referrals and rewards from the shared columns (state/referral_rows.ts): who brought an account, whom it brought, and what it earned and
 * has not transferred yet.
 *
 * Sign-ins of others change what is counted and listed of an account, and its version says nothing of them: such a copy is one between two
 * batches. A referrer's row may go to another wallet: who that is now is read while no row changes hands.
 */
import { REFERRAL_LEVELS } from '../layout/referrals.ts'
import { APPLYING } from '../ring/counters.ts'
import { ACCOUNT, BALANCE, SCALAR, TOTAL } from '../state/columns.ts'
import { referralShare, referrerOf } from '../state/referral_links.ts'
import { REFERRAL } from '../state/referral_rows.ts'
import { accountRow, balanceRow, get, getI64, referralRow, totalRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { readAccount, type AccountView } from './accounts.ts'
import { consistently, hasMoved, LONG, whileOwned } from './consistent.ts'

/** Most direct referees of one answer. */
export const REFEREES_MOST = 500
/** Rows between two looks at whether the copy is for nothing. */
const LOOK_EVERY = 64

/** Who brought `account`, `undefined`: nobody, or one that is no more; `null`: unreadable. */
export const readReferrer = (state: State, account: number): AccountView | undefined | null =>
  whileOwned<AccountView | undefined>(state, () => {
    const referrer = referrerOf(state, account)
    return referrer < 0 ? undefined : readAccount(state, referrer)
  }, true)

export interface RefereesView {
  /** Whom the account brought, newest first, at most {@link REFEREES_MOST}. */
  readonly referees: AccountView[]
  /** False: there are more, or the exchange changed so fast that not all were found. */
  readonly complete: boolean
  /** Accounts of levels 1 to 3. */
  readonly counts: number[]
}

/**
 * Whom an account brought. Always an answer: when no copy of one moment could be made, those of whom it is certain.
 */
export function readReferees(state: State, gate: Int32Array, account: number): RefereesView {
  const whole = consistently(gate, gate, APPLYING, (read) => copyReferees(state, account, () => hasMoved(gate, APPLYING, read)), LONG)
  return whole ?? { ...copyReferees(state, account, () => false), complete: false }
}

/** Links may lead anywhere while the matcher writes: each row is asked who brought it, and steps are counted. */
function copyReferees(state: State, account: number, isInVain: () => boolean): RefereesView {
  const own = referralRow(state, account)
  const counts = Array.from({ length: REFERRAL_LEVELS }, (_, level) => get(state, own, REFERRAL.FIRST + level))
  const accounts = state.scalars[SCALAR.ACCOUNTS]!
  const referees: AccountView[] = []
  let complete = true
  let next = get(state, own, REFERRAL.NEWEST)
  for (let steps = 0; next > 0 && next <= accounts && steps < REFEREES_MOST; steps++) {
    if (steps % LOOK_EVERY === 0 && isInVain()) break
    const view = readReferee(state, account, next - 1)
    if (view === null) {
      complete = false
      break
    }
    referees.push(view)
    next = get(state, referralRow(state, next - 1), REFERRAL.OLDER)
  }
  return { referees, complete: complete && next === 0, counts }
}

/** Who is in row `referee`, if `account` brought it. */
const readReferee = (state: State, account: number, referee: number): AccountView | null =>
  whileOwned(state, () => (referrerOf(state, referee) === account ? readAccount(state, referee) : null), true)

/** What levels 1 to 3 earn of the net fee income of a fill now, ppm; `null`: unreadable. */
export const readReferralShares = (state: State, gate: Int32Array): number[] | null =>
  consistently(gate, gate, APPLYING, () => Array.from({ length: REFERRAL_LEVELS }, (_, level) => referralShare(state, level)))

/** What an account earned and has not transferred, atoms of each asset; `null`: unreadable. */
export const readRewards = (state: State, gate: Int32Array, account: number): bigint[] | null =>
  consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () =>
    state.genesis.assets.map(({ index }) => getI64(state, balanceRow(state, account, index), BALANCE.REWARDS)))

/** Rewards of all referrers that they have not transferred, atoms of each asset; `null`: unreadable. */
export const owedRewards = (state: State, gate: Int32Array): bigint[] | null =>
  consistently(gate, gate, APPLYING, () => state.genesis.assets.map(({ index }) => getI64(state, totalRow(state, index), TOTAL.REWARDS)))
