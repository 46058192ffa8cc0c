/**
 * What must always hold of the figures that shares go by (S), over the whole state. See invariants.ts, which runs it, and shares.ts.
 *
 *   - the family of an account is counted on its master's row, or on its own when it is a master
 *   - a family's resting orders and receipts are the sum over its accounts; on a sub-account's row nothing is counted
 *   - so are its rows of agents and of spend limits
 *   - an account's receipts are those that name it
 */
import { broken } from '../lib/assert.ts'
import { ACCOUNT, ACCOUNT_WORDS, NOBODY, PROFILE, PROFILE_WORDS, RECEIPT, RECEIPT_WORDS, SCALAR, SPEND_LIMIT,
  SPEND_LIMIT_WORDS } from './columns.ts'
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

function receiptsByAccount({ receipts, scalars, genesis }: State): Int32Array {
  const sums = new Int32Array(scalars[SCALAR.ACCOUNTS]!)
  for (let i = 0; i < scalars[SCALAR.RECEIPTS_COUNT]!; i++) {
    const receipt = (scalars[SCALAR.RECEIPTS_HEAD]! + i) % genesis.limits.receipts
    const account = receipts[receipt * RECEIPT_WORDS + RECEIPT.ACCOUNT]!
    if (account !== NOBODY) sums[account]! += 1
  }
  return sums
}

function limitsByFamily({ spendLimits, accounts, scalars }: State): Int32Array {
  const sums = new Int32Array(scalars[SCALAR.ACCOUNTS]!)
  for (let row = 0; row < scalars[SCALAR.SPEND_LIMITS_USED]!; row++) {
    const sub = spendLimits[row * SPEND_LIMIT_WORDS + SPEND_LIMIT.SUB]!
    sums[accounts[sub * ACCOUNT_WORDS + ACCOUNT.FAMILY]!]! += 1
  }
  return sums
}
