/**
 * The bounded pools of the state: how much of each is in use, what a family may hold of it now, and who holds most.
 *
 * Read from the shared columns without stopping the matcher: figures are of about now. Whoever holds most is found by walking all
 * accounts, a slice at a time, so that other work of the thread goes on.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LAUNCHES_MAX } from '../layout/launches.ts'
import { ACCOUNT, SCALAR, SESSION } from '../state/columns.ts'
import { WAITING } from '../state/conditional_rows.ts'
import { COPY_ACCOUNT, COPYING } from '../state/copy_rows.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { shareOf } from '../state/shares.ts'
import {
  accountRow, assetCount, copyAccountRow, copyingRow, get, getF64, pairCount, sessionRow, vaultAccountRow, vaultRow, waitingRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { everIssued } from '../state/vault_pools.ts'
import { LOST_PER_SUSPENSE, VAULT, VAULT_ACCOUNT } from '../state/vault_rows.ts'
import { mayGoAt } from '../programs/blank_accounts.ts'
import { KEY_KEPT_MS } from '../state/session_lists.ts'

export interface PoolView {
  readonly pool: string
  readonly used: number
  readonly capacity: number
  /** Rows one family may hold now (state/shares.ts); `null`: the pool has another bound (gateway/README.md, What is bounded). */
  readonly share: number | null
}

/** Sessions that live or keep their keys at `now`, Unix ms. They end without a command, so nobody counts them: some ms for all rows. */
function keptSessions(state: State, now: number): number {
  const { scalars } = state
  let kept = 0
  for (let session = 0; session < scalars[SCALAR.SESSIONS_USED]!; session++) {
    const until = Math.abs(getF64(state, sessionRow(state, session), SESSION.EXPIRES_AT))
    if (until + KEY_KEPT_MS > now) kept++
  }
  return kept
}

/** Rows of accounts that cannot go to another wallet at `now`, Unix ms (programs/blank_accounts.ts): as above, some ms for all. */
function keptAccounts(state: State, now: number): number {
  const { scalars, genesis: { limits } } = state
  let kept = scalars[SCALAR.ACCOUNTS]!
  for (let account = scalars[SCALAR.ACCOUNTS]! - 1; account >= 0; account--) {
    const usedAt = getF64(state, accountRow(state, account), ACCOUNT.BLANK_SINCE)
    if (usedAt !== 0 && mayGoAt(usedAt, limits.sessionLifetimeMs) <= now) kept--
  }
  return kept
}

/** Pools of the state at `now`, Unix ms, in the order they are shown. */
export function readPools(state: State, now: number): PoolView[] {
  const { scalars, genesis } = state
  const { limits } = genesis
  const shared = (pool: string, used: number, capacity: number): PoolView =>
    ({ pool, used, capacity, share: shareOf(capacity, capacity - used) })
  const bounded = (pool: string, used: number, capacity: number): PoolView => ({ pool, used, capacity, share: null })
  // In atoms, rounded to what a number can say: a figure, no sum. All that was ever issued takes of the room.
  const minted = genesis.assets.filter(({ faucetAtoms }) => faucetAtoms > 0n).map(({ index, symbol }) =>
    bounded(`faucet ${symbol}`, Number(everIssued(state, index)), Number(MAX_ISSUED)))
  return [
    bounded('accounts', keptAccounts(state, now), limits.accounts),
    shared('orders', scalars[SCALAR.ORDERS_LIVE]!, limits.orders),
    shared('receipts', scalars[SCALAR.RECEIPTS_COUNT]!, limits.receipts),
    bounded('sessions', keptSessions(state, now), limits.sessions),
    shared('agents', scalars[SCALAR.AGENTS_USED]!, limits.agents),
    shared('spend_limits', scalars[SCALAR.SPEND_LIMITS_USED]!, limits.spendLimits),
    bounded('applications', scalars[SCALAR.APPLICATIONS]!, limits.applications),
    bounded('assets', assetCount(state), limits.assets),
    bounded('pairs', pairCount(state), limits.pairs),
    bounded('price_level_pages', scalars[SCALAR.PAGES_LIVE]!, limits.orders),
    shared('conditional_orders', scalars[SCALAR.CONDITIONALS_LIVE]!, limits.conditionalOrders),
    shared('twap_orders', scalars[SCALAR.TWAPS_LIVE]!, limits.twapOrders),
    bounded('launches', scalars[SCALAR.LAUNCHES]!, LAUNCHES_MAX),
    ...(limits.perps === 0 ? [] : [
      shared('margin_accounts', scalars[SCALAR.MARGIN_ACCOUNTS_LIVE]!, limits.marginAccounts),
      shared('risk_buckets', scalars[SCALAR.BUCKETS_LIVE]!, limits.riskBuckets),
      shared('positions', scalars[SCALAR.POSITIONS_LIVE]!, limits.positions),
      shared('leaders', get(state, copyingRow(state), COPYING.LEADERS), limits.leaders),
      shared('follows', get(state, copyingRow(state), COPYING.FOLLOWS), limits.follows),
    ]),
    shared('withdrawals', get(state, vaultRow(state), VAULT.WITHDRAWALS_LIVE), limits.withdrawals),
    bounded('suspense', get(state, vaultRow(state), VAULT.SUSPENSE_LIVE), limits.suspense),
    bounded('deposits_without_row', get(state, vaultRow(state), VAULT.LOST), limits.suspense * LOST_PER_SUSPENSE),
    ...minted,
  ]
}

/**
 * Pools whose holders can be listed: the words of an account's row, or of what waits for it, that count its own rows and its family's. What
 * is not counted for each account has -1: then only families are named.
 */
export const HOLDINGS = {
  orders: { rowOf: accountRow, own: ACCOUNT.OPEN_ORDERS, family: ACCOUNT.FAMILY_ORDERS },
  receipts: { rowOf: accountRow, own: ACCOUNT.RECEIPTS, family: ACCOUNT.FAMILY_RECEIPTS },
  margin_accounts: { rowOf: accountRow, own: ACCOUNT.MARGIN_ACCOUNTS, family: -1 },
  risk_buckets: { rowOf: accountRow, own: -1, family: ACCOUNT.FAMILY_BUCKETS },
  positions: { rowOf: accountRow, own: -1, family: ACCOUNT.FAMILY_POSITIONS },
  conditional_orders: { rowOf: waitingRow, own: WAITING.CONDITIONALS, family: WAITING.FAMILY_CONDITIONALS },
  twap_orders: { rowOf: waitingRow, own: WAITING.TWAPS, family: WAITING.FAMILY_TWAPS },
  withdrawals: { rowOf: vaultAccountRow, own: VAULT_ACCOUNT.LIVE, family: VAULT_ACCOUNT.FAMILY_LIVE },
  leaders: { rowOf: copyAccountRow, own: -1, family: COPY_ACCOUNT.FAMILY_LEADERS },
  follows: { rowOf: copyAccountRow, own: COPY_ACCOUNT.FOLLOWS, family: COPY_ACCOUNT.FAMILY_FOLLOWS },
} as const
export type Holding = keyof typeof HOLDINGS

export interface Holder {
  /** Row; of a family, its master's. */
  readonly account: number
  readonly createdSequence: number
  readonly held: number
}

/** Longest time one slice takes, ms, and rows between two looks at the clock. */
const SLICE_MS = 2
const LOOK_ROWS = 1024

/** The `most` accounts and families that hold most of a pool, the largest first; those that hold nothing are not named. */
export async function largestHolders(state: State, holding: Holding, most: number): Promise<{ accounts: Holder[]; families: Holder[] }> {
  const { scalars, genesis: { limits } } = state
  const { rowOf, own, family } = HOLDINGS[holding]
  // Accounts have no rows of copy trading where there are no perpetuals.
  const accounts = rowOf === copyAccountRow && limits.perps === 0 ? 0 : scalars[SCALAR.ACCOUNTS]!
  const tops = { accounts: new Top(most), families: new Top(most) }
  let until = performance.now() + SLICE_MS
  for (let account = 0; account < accounts; account++) {
    if (account % LOOK_ROWS === LOOK_ROWS - 1 && performance.now() >= until) {
      await nextTurn()
      until = performance.now() + SLICE_MS
    }
    const row = rowOf(state, account)
    if (own !== -1) tops.accounts.take(account, get(state, row, own))
    if (family !== -1) tops.families.take(account, get(state, row, family))
  }
  const named = ({ rows }: Top): Holder[] => rows.map(({ account, held }) => ({
    account, held, createdSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE),
  }))
  return { accounts: named(tops.accounts), families: named(tops.families) }
}

/** The largest of many, in a list that is as long as it is asked for. */
class Top {
  readonly rows: { account: number; held: number }[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  take(account: number, held: number): void {
    const { rows } = this
    if (held === 0 || (rows.length === this.#most && held <= rows.at(-1)!.held)) return
    if (rows.length === this.#most) rows.pop()
    let place = rows.length
    while (place > 0 && rows[place - 1]!.held < held) place--
    rows.splice(place, 0, { account, held })
  }
}
