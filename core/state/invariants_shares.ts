/**
 * What must always hold of the figures that shares go by (S), over the whole state. See invariants.ts, which runs it, and shares.ts.
 *
 *   - the family of an account is counted on its master's row, or on its own when it is a master
 *   - a family's resting orders and receipts are the sum over its accounts; on a sub-account's row nothing is counted
 *   - so are its rows of agents and of spend limits
 *   - an account's receipts are those that name it
 */
import { broken } from '../lib/assert.ts'
import { ACCOUNT, ACCOUNT_WORDS, PROFILE, PROFILE_WORDS, SCALAR, SPEND_LIMIT, SPEND_LIMIT_WORDS } from './columns.ts'
import { eachReceiptInMemory, isForgotten, RECEIPT } from './receipt_pages.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. */
export function checkShares(state: State): void {
  const { accounts, profiles, scalars } = state
  const count = scalars[SCALAR.ACCOUNTS]!
  const receipts = receiptsByAccount(state)
  const sums = { orders: new Int32Array(count), receipts: new Int32Array(count), agents: new Int32Array(count) }
  const limits = limitsByFamily(state)
  for (let account = 0; account < count; account++) {
    const row = account * ACCOUNT_WORDS
    const master = profiles[account * PROFILE_WORDS + PROFILE.MASTER]! - 1
    const family = master < 0 ? account : master
    const countsFor = accounts[row + ACCOUNT.FAMILY]
    if (countsFor !== family) broken('S', `account ${account} counts for ${countsFor}, not ${family}`)
    const counted = accounts[row + ACCOUNT.RECEIPTS]
    if (counted !== receipts[account]) broken('S', `account ${account} counts ${counted} receipts, has ${receipts[account]}`)
    sums.orders[family]! += accounts[row + ACCOUNT.OPEN_ORDERS]!
    sums.receipts[family]! += receipts[account]!
    sums.agents[family]! += profiles[account * PROFILE_WORDS + PROFILE.AGENTS]!
  }
  for (let account = 0; account < count; account++) {
    const row = account * ACCOUNT_WORDS
    const [orders, kept] = [accounts[row + ACCOUNT.FAMILY_ORDERS], accounts[row + ACCOUNT.FAMILY_RECEIPTS]]
    if (orders !== sums.orders[account]) broken('S', `the family of ${account} counts ${orders} orders, has ${sums.orders[account]}`)
    if (kept !== sums.receipts[account]) broken('S', `the family of ${account} counts ${kept} receipts, has ${sums.receipts[account]}`)
    const [agents, limited] = [accounts[row + ACCOUNT.FAMILY_AGENTS], accounts[row + ACCOUNT.FAMILY_LIMITS]]
    if (agents !== sums.agents[account]) broken('S', `the family of ${account} counts ${agents} agents, has ${sums.agents[account]}`)
    if (limited !== limits[account]) broken('S', `the family of ${account} counts ${limited} spend limits, has ${limits[account]}`)
  }
}

/** Receipts that name each account; of receipts in the store, what the accounts count themselves. */
function receiptsByAccount(state: State): Int32Array {
  const { accounts, scalars, i32 } = state
  const sums = new Int32Array(scalars[SCALAR.ACCOUNTS]!)
  const all = eachReceiptInMemory(state, (number, _position, _page, at) => {
    if (!isForgotten(state, number)) sums[i32[at + RECEIPT.ACCOUNT]!]! += 1
  })
  return all ? sums : sums.map((_, account) => accounts[account * ACCOUNT_WORDS + ACCOUNT.RECEIPTS]!)
}

function limitsByFamily({ spendLimits, accounts, scalars }: State): Int32Array {
  const sums = new Int32Array(scalars[SCALAR.ACCOUNTS]!)
  for (let row = 0; row < scalars[SCALAR.SPEND_LIMITS_USED]!; row++) {
    const sub = spendLimits[row * SPEND_LIMIT_WORDS + SPEND_LIMIT.SUB]!
    sums[accounts[sub * ACCOUNT_WORDS + ACCOUNT.FAMILY]!]! += 1
  }
  return sums
}
