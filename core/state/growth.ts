/**
 * Growing: a state with higher limits has larger columns, so it moves to another memory. What is stored is copied as it is, but for the
 * balances, whose rows are as long as there may be assets, and for receipts, whose places depend on how many there may be
 * (receipt_growth.ts); what is derived is made anew from it. It happens between two commands, in the same state object, and is a function
 * of the state alone: every replay grows at the same command.
 */
import { RAISABLE } from '../layout/limits.ts'
import { CLOCK, columnsOf, LIMIT, LIMIT_WORDS, SCALAR, type Column, type ColumnName } from './columns.ts'
import type { Limits } from './genesis.ts'
import { PERP, PERP_WORDS } from './margin_rows.ts'
import { VAULT } from './vault_rows.ts'
import { allocateBuffers, columnBytes, columnOf } from './memory.ts'
import { moveReceipts, RECEIPT_COLUMNS } from './receipt_growth.ts'
import { rebuildDerived } from './rebuild.ts'
import { enlarge, type State } from './state.ts'

export interface StoredColumn {
  readonly name: string
  /** The used rows, a view on the live column. */
  readonly bytes: Uint8Array
}

const usedBytes = (state: State, column: Column): number =>
  column.used < 0 || column.rows === 0 ? columnBytes(column) : (columnBytes(column) / column.rows) * state.scalars[column.used]!

/** Columns of margin trading. An exchange without perpetuals never writes them. */
const OF_MARGIN: readonly ColumnName[] =
  ['perps', 'marginTotals', 'marginAccounts', 'riskBuckets', 'positions', 'orderMargins', 'rankings', 'agentMargins']
/** Columns of orders that wait. An exchange in which none ever did has not written them. */
const OF_WAITING: readonly ColumnName[] = ['waiting', 'conditionals', 'trailGroups', 'pendingMarks', 'twaps', 'orderParents']
/** Columns of what applications charge. An exchange in which no order had that has not written them. */
const OF_ADD_ONS: readonly ColumnName[] = ['addOns']
/** Columns of launches. An exchange that never had one has not written them. */
const OF_LAUNCHES: readonly ColumnName[] = ['launches']
/** Columns of copy trading. An exchange without leaders has not written them. */
const OF_COPYING: readonly ColumnName[] = ['copying', 'copyAccounts', 'leaders', 'leads', 'follows', 'followPairs']
/** Columns of the referral program. An exchange in which nobody was brought has not written them. */
const OF_REFERRALS: readonly ColumnName[] = ['referring', 'referrals']
/** Columns of money in and out. An exchange that never had a command of those has not written them. */
const OF_VAULT: readonly ColumnName[] = [
  'vault', 'vaultTotals', 'vaultAccounts', 'withdrawals', 'suspense', 'vaultChains', 'depositIds', 'faucetMints', 'settlements',
]
/** Column of deposits that found no row in suspense. An exchange that has none has only zeros in it. */
const OF_LOST: readonly ColumnName[] = ['lostDeposits']
/** Column of connections that cancel at their end. An exchange that never had one has not written it. */
const OF_DISCONNECTS: readonly ColumnName[] = ['disconnects']
/** Column of what the insurance fund covered for owners. An exchange whose fund covered nothing has not written it. */
const OF_FUND: readonly ColumnName[] = ['fundOwners']
/** Scalars that an exchange with none of these writes. */
const SCALAR_BYTES_BEFORE = SCALAR.MARGIN_ACCOUNTS_USED * 4

/**
 * The stored columns in their fixed order. Valid while nothing is applied. Without perpetuals there is nothing of margin trading among
 * them, before the first order that waits nothing of those, and so with what applications charge, launches, copy trading, referrals and
 * money in and out: snapshots of exchanges from before any of these stay what they are.
 */
export function storedColumns(state: State): StoredColumn[] {
  const trades = state.genesis.limits.perps > 0
  const waited = (state.scalars[SCALAR.CONDITIONALS_USED]! | state.scalars[SCALAR.TWAPS_USED]!) !== 0
  const absent = new Set<ColumnName>([
    ...(trades ? [] : OF_MARGIN), ...(waited ? [] : OF_WAITING), ...(state.scalars[SCALAR.ADD_ONS_USED] !== 0 ? [] : OF_ADD_ONS),
    ...(state.scalars[SCALAR.LAUNCHES] !== 0 ? [] : OF_LAUNCHES), ...(state.scalars[SCALAR.LEADERS_USED] !== 0 ? [] : OF_COPYING),
    ...(state.scalars[SCALAR.REFERRING] !== 0 ? [] : OF_REFERRALS), ...(usesVault(state) ? [] : OF_VAULT),
    ...(usesDisconnects(state) ? [] : OF_DISCONNECTS), ...(usesFund(state) ? [] : OF_FUND),
    ...(state.vault[VAULT.LOST] !== 0 ? [] : OF_LOST),
  ])
  const later = state.scalars.subarray(SCALAR.MARGIN_ACCOUNTS_USED).some((scalar) => scalar !== 0)
  return columnsOf(state.genesis).filter(({ name, derived }) => !derived && !absent.has(name)).map((column) => {
    const bytes = columnOf(state.genesis, state.buffers, column.name)
    const used = column.name === 'scalars' && !trades && !later ? SCALAR_BYTES_BEFORE : usedBytes(state, column)
    return { name: column.name, bytes: bytes.subarray(0, used) }
  })
}

/** Every command of money in and out is counted in column `vault`, refused ones too. */
const usesVault = (state: State): boolean => state.vault.some((word) => word !== 0)

const usesDisconnects = (state: State): boolean => state.clock[CLOCK.CONNECTIONS] !== 0

/** What is covered counts on a perpetual too. */
function usesFund(state: State): boolean {
  for (const { index } of state.genesis.pairs) if (state.perps[index * PERP_WORDS + PERP.FUND_DAY] !== 0) return true
  return false
}

/** What was raised, of the words of column `limits`. */
export function raisedLimits(words: Float64Array, word: number): Partial<Limits> {
  const raised: Partial<Limits> = {}
  for (const [index, [name]] of RAISABLE.entries()) {
    const value = words[index * LIMIT_WORDS + word]!
    if (value > 0) raised[name] = value
  }
  return raised
}

/** Gets the memory that limits need which were raised. Throws RangeError when the machine has not got it. */
export function prepareGrowth(state: State): void {
  const { genesis, limits } = state
  state.ahead = allocateBuffers({ limits: { ...genesis.limits, ...raisedLimits(limits, LIMIT.NEXT) } })
}

/** Puts the limits in force that column `limits` says are; the state keeps everything. */
export function growState(state: State): void {
  const stored = storedColumns(state)
  const { registers, balances, balanceStride, limits, receiptRoom, receiptPages, receiptSeals, receiptsForgotten } = state
  const { receipts } = state.genesis.limits
  enlarge(state, raisedLimits(limits, LIMIT.IN_FORCE))
  // With the key of the indexes.
  state.registers.set(registers)
  const [wider, roomier] = [state.balanceStride !== balanceStride, state.genesis.limits.receipts !== receipts]
  const moved = new Set<string>([...(wider ? ['balances'] : []), ...(roomier ? RECEIPT_COLUMNS : [])])
  for (const { name, bytes } of stored) {
    if (!moved.has(name)) columnOf(state.genesis, state.buffers, name as Column['name']).set(bytes)
  }
  if (wider) moveBalances(state, balances, balanceStride)
  if (roomier) moveReceipts(state, { receiptRoom, receiptPages, receiptSeals, receiptsForgotten })
  rebuildDerived(state)
}

/** Strides in 32-bit words; balances are 64-bit ones. */
function moveBalances(state: State, from: BigInt64Array, stride: number): void {
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
    const at = (account * stride) / 2
    state.balances.set(from.subarray(at, at + stride / 2), (account * state.balanceStride) / 2)
  }
}
