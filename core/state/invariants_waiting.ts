/**
 * Invariants of orders that wait (W), over the rows alone: formulas are written out here once more.
 *
 *   - conditional orders and TWAP orders: free and used rows are disjoint and add up; each is in the list of its account once, newest
 *     first, links lead back, and accounts and families count what they have, within the limits
 *   - each conditional order but the start of a TWAP order hangs on one position in use, of its account and pair, of which at most one
 *     trails; what watches one watches the position that is open there, and closes it; what does not is a leg of an order at rest that may
 *     open that position in its direction
 *   - of a pair that cancels each other each one names the other
 *   - a TWAP order waits for its price or for a time, never for both; its slice at rest names it, and no other order does
 *   - margin accounts count the TWAP orders that named them
 *
 * What stands where prices find it is in invariants_triggers.ts. See invariants.ts.
 */
import { ConditionalState, ConditionType, LegFlag } from '../layout/conditional.ts'
import { Flag, Origin, originOf } from '../layout/flags.ts'
import type { F64Field } from '../layout/table.ts'
import { TwapState } from '../layout/twap.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, CLOCK, ORDER, SCALAR } from './columns.ts'
import { CONDITIONAL, CONDITIONALS_PER_POSITION, Standing, TWAP, WAITING } from './conditional_rows.ts'
import { checkTriggers } from './invariants_triggers.ts'
import { MARGIN_ACCOUNT, MarginAccountKind, ORDER_MARGIN, POSITION } from './margin_rows.ts'
import {
  accountRow, conditionalAt, conditionalRow, get, getF64, marginAccountRow, orderMarginRow, orderRow, positionAt, positionRow, scalar,
  twapAt, twapRow, waitingRow,
} from './rows.ts'
import type { State } from './state.ts'

export function checkWaiting(state: State, live: readonly number[]): void {
  const conditionals = checkPool(state, 'conditional order', {
    used: SCALAR.CONDITIONALS_USED, free: SCALAR.CONDITIONALS_FREE, live: SCALAR.CONDITIONALS_LIVE, rowAt: conditionalRow,
    next: CONDITIONAL.ACCOUNT_NEXT, mark: CONDITIONAL.KIND,
  })
  const twaps = checkPool(state, 'TWAP order', {
    used: SCALAR.TWAPS_USED, free: SCALAR.TWAPS_FREE, live: SCALAR.TWAPS_LIVE, rowAt: twapRow, next: TWAP.NEXT, mark: TWAP.STATE,
  })
  checkAccounts(state, conditionals, twaps)
  checkPositions(state, conditionals)
  checkLegs(state, conditionals, live)
  for (const row of conditionals) checkConditional(state, row)
  for (const row of twaps) checkTwap(state, row)
  checkSlices(state, live)
  checkMarginAccounts(state, twaps)
  checkTriggers(state, conditionals)
}

interface Pool {
  used: number
  free: number
  live: number
  rowAt(state: State, number: number): number
  /** Of a free row: the next one; of any: 0 when it is free. */
  next: number
  mark: number
}

/** Rows in use. */
function checkPool(state: State, name: string, { used, free, live, rowAt, next, mark }: Pool): number[] {
  const all = Array.from({ length: scalar(state, used) }, (_, number) => rowAt(state, number))
  const freed = new Set<number>()
  for (let link = scalar(state, free); link !== 0;) {
    const row = rowAt(state, link - 1)
    if (link > all.length || freed.has(row)) broken('W', `a free row of a ${name} is twice in its list, or was never used`)
    if (get(state, row, mark) !== 0) broken('W', `a ${name} is in the free list`)
    freed.add(row)
    link = get(state, row, next)
  }
  const rows = all.filter((row) => !freed.has(row))
  if (rows.some((row) => get(state, row, mark) === 0)) broken('W', `a row of a ${name} is neither free nor in use`)
  if (rows.length !== scalar(state, live)) broken('W', `${rows.length} rows of ${name}s in use, ${scalar(state, live)} counted`)
  return rows
}

interface Links {
  next: number
  prev: number
  rowAt(state: State, number: number): number
}

/** The rows of a list that begins with `first`, + 1; each links back. */
function walk(state: State, first: number, most: number, what: string, links: Links): number[] {
  const rows: number[] = []
  for (let link = first, before = 0; link !== 0;) {
    const row = links.rowAt(state, link - 1)
    if (rows.length > most) broken('W', `${what} is a circle`)
    if (get(state, row, links.prev) !== before) broken('W', `${what} does not link back`)
    rows.push(row)
    before = link
    link = get(state, row, links.next)
  }
  return rows
}

const OF_ACCOUNT: Links = { next: CONDITIONAL.ACCOUNT_NEXT, prev: CONDITIONAL.ACCOUNT_PREV, rowAt: conditionalRow }
const OF_POSITION: Links = { next: CONDITIONAL.POSITION_NEXT, prev: CONDITIONAL.POSITION_PREV, rowAt: conditionalRow }
const TWAPS: Links = { next: TWAP.NEXT, prev: TWAP.PREV, rowAt: twapRow }

/** Lists and counts of accounts, and of families. */
function checkAccounts(state: State, conditionals: readonly number[], twaps: readonly number[]): void {
  const { conditionalOrdersPerAccount, twapOrdersPerAccount } = state.genesis.limits
  const accounts = scalar(state, SCALAR.ACCOUNTS)
  const families = new Map<number, [conditionals: number, twaps: number]>()
  const met = new Set<number>()
  for (let account = 0; account < accounts; account++) {
    const waiting = waitingRow(state, account)
    const first = get(state, waiting, WAITING.FIRST_CONDITIONAL)
    const own = walk(state, first, conditionals.length, `the conditional orders of ${account}`, OF_ACCOUNT)
    const theirs = walk(state, get(state, waiting, WAITING.FIRST_TWAP), twaps.length, `the TWAP orders of ${account}`, TWAPS)
    checkOwn(state, own, account, CONDITIONAL.ACCOUNT, CONDITIONAL.CREATED_SEQUENCE)
    checkOwn(state, theirs, account, TWAP.ACCOUNT, TWAP.CREATED_SEQUENCE)
    if (get(state, waiting, WAITING.CONDITIONALS) !== own.length) broken('W', `account ${account} has ${own.length} conditional orders`)
    if (get(state, waiting, WAITING.TWAPS) !== theirs.length) broken('W', `account ${account} has ${theirs.length} TWAP orders`)
    const many = own.length > conditionalOrdersPerAccount || theirs.length > twapOrdersPerAccount
    if (many) broken('W', `too much waits for account ${account}`)
    for (const row of [...own, ...theirs]) met.add(row)
    const of = get(state, accountRow(state, account), ACCOUNT.FAMILY)
    const family = families.get(of) ?? [0, 0]
    families.set(of, [family[0] + own.length, family[1] + theirs.length])
  }
  if (met.size !== conditionals.length + twaps.length) broken('W', 'an order that waits is in no list of an account, or in two')
  for (let account = 0; account < accounts; account++) {
    const [has, counted] = [families.get(account) ?? [0, 0], waitingRow(state, account)]
    const fits = get(state, counted, WAITING.FAMILY_CONDITIONALS) === has[0] && get(state, counted, WAITING.FAMILY_TWAPS) === has[1]
    if (!fits) broken('S', `the family of ${account} has ${has[0]} conditional orders and ${has[1]} TWAP orders, and counts others`)
  }
}

/** Those of an account, newest first. */
function checkOwn(state: State, rows: readonly number[], account: number, owner: number, created: F64Field): void {
  let before = Infinity
  for (const row of rows) {
    const made = getF64(state, row, created)
    if (get(state, row, owner) !== account) broken('W', `account ${account} has an order of another in its list`)
    if (made < 1 || made > before || made > state.clock[CLOCK.SEQUENCE]!) broken('W', `orders that wait of ${account} are not newest first`)
    before = made
  }
}

/** Lists of positions that are in use. */
function checkPositions(state: State, conditionals: readonly number[]): void {
  let hanging = 0
  for (let number = 0; number < scalar(state, SCALAR.POSITIONS_USED); number++) {
    const position = positionRow(state, number)
    const named = `position ${number}`
    const inUse = get(state, position, POSITION.LOTS) !== 0 || get(state, position, POSITION.ORDERS) !== 0
    const first = get(state, position, POSITION.FIRST_CONDITIONAL)
    if (!inUse && first !== 0) broken('W', `${named} is not in use, and something hangs on it`)
    const rows = inUse ? walk(state, first, conditionals.length, `the list of ${named}`, OF_POSITION) : []
    if (inUse && get(state, position, POSITION.CONDITIONALS) !== rows.length) broken('W', `${named} has ${rows.length} conditional orders`)
    if (rows.length > CONDITIONALS_PER_POSITION) broken('W', `${named} has too many conditional orders`)
    const trailing = rows.filter((row) => get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP)
    const trails = trailing.length === 0 ? 0 : conditionalAt(state, trailing[0]!) + 1
    const other = inUse && (trailing.length > 1 || get(state, position, POSITION.TRAILING) !== trails)
    if (other) broken('W', `${named} has another trailing stop`)
    for (const row of rows) checkHanging(state, row, position, named)
    hanging += rows.length
  }
  const all = conditionals.filter((row) => get(state, row, CONDITIONAL.KIND) !== ConditionType.TWAP_START).length
  if (hanging !== all) broken('W', `${all} conditional orders are of positions, ${hanging} hang on them`)
}

function checkHanging(state: State, row: number, position: number, named: string): void {
  const isOf = get(state, row, CONDITIONAL.OF) === positionAt(state, position) &&
    get(state, row, CONDITIONAL.ACCOUNT) === get(state, position, POSITION.ACCOUNT) &&
    get(state, row, CONDITIONAL.PAIR) === get(state, position, POSITION.PAIR)
  if (!isOf) broken('W', `a conditional order hangs on ${named} and is of another`)
  const opened = getF64(state, row, CONDITIONAL.OPENED)
  if (opened === 0) return
  if (opened !== getF64(state, position, POSITION.OPENED_SEQUENCE)) broken('W', `${named} is closed, and something watches it`)
  const sells = (get(state, row, CONDITIONAL.FLAGS) & LegFlag.SELL) !== 0
  if (sells !== get(state, position, POSITION.LOTS) > 0) broken('W', `what watches ${named} would enlarge it`)
}

/** Legs of orders at rest: all that watches nothing yet. */
function checkLegs(state: State, conditionals: readonly number[], live: readonly number[]): void {
  const waiting = new Set(conditionals.filter((row) =>
    get(state, row, CONDITIONAL.KIND) !== ConditionType.TWAP_START && getF64(state, row, CONDITIONAL.OPENED) === 0))
  for (const slot of live) {
    const order = orderRow(state, slot)
    const flags = get(state, order, ORDER.FLAGS)
    const margin = (flags & Flag.MARGIN) !== 0
    let link = margin ? get(state, orderMarginRow(state, slot), ORDER_MARGIN.LEGS) : 0
    if (((flags & Flag.LEGS) !== 0) !== (link !== 0)) broken('W', `the order in slot ${slot} has no legs, or does not say so`)
    if (link !== 0 && (flags & Flag.REDUCE_ONLY) !== 0) broken('W', `the reduce-only order in slot ${slot} has legs`)
    while (link !== 0) {
      const row = conditionalRow(state, link - 1)
      if (!waiting.delete(row)) broken('W', `a leg of the order in slot ${slot} watches already, or is another's too`)
      const isOf = get(state, row, CONDITIONAL.ENTRY) === slot + 1 && get(state, row, CONDITIONAL.ORDER_SLOT) === slot &&
        getF64(state, row, CONDITIONAL.ORDER_SEQUENCE) === getF64(state, order, ORDER.SEQUENCE) &&
        get(state, row, CONDITIONAL.OF) === get(state, orderMarginRow(state, slot), ORDER_MARGIN.POSITION) - 1
      if (!isOf) broken('W', `a leg of the order in slot ${slot} waits for another`)
      const closes = ((get(state, row, CONDITIONAL.FLAGS) & LegFlag.SELL) !== 0) === ((flags & Flag.SELL) === 0)
      if (!closes) broken('W', `a leg of the order in slot ${slot} would not close what that opens`)
      link = get(state, row, CONDITIONAL.LEG_NEXT)
    }
  }
  if (waiting.size > 0) broken('W', `${waiting.size} conditional orders wait for no order`)
}

function checkConditional(state: State, row: number): void {
  const kind = get(state, row, CONDITIONAL.KIND)
  const named = `conditional order ${conditionalAt(state, row)}`
  const is = get(state, row, CONDITIONAL.STATE)
  const standing = get(state, row, CONDITIONAL.STANDING)
  const waits = get(state, row, CONDITIONAL.ENTRY) !== 0
  if (kind < ConditionType.TAKE_PROFIT || kind > ConditionType.TWAP_START) broken('W', `${named} is of kind ${kind}`)
  if (is < ConditionalState.PENDING || is > ConditionalState.TRIGGERED) broken('W', `${named} is over, and still there`)
  if (waits !== (standing === Standing.NOWHERE)) broken('W', `${named} waits for an order and for a price, or for nothing`)
  const trails = kind === ConditionType.TRAILING_STOP
  if (is === ConditionalState.PENDING && !waits && !trails) broken('W', `${named} watches and is not armed`)
  if (is === ConditionalState.TRIGGERED && (standing !== Standing.DUE || get(state, row, CONDITIONAL.LEFT) < 1)) {
    broken('W', `${named} fired and has nothing to do`)
  }
  const sibling = get(state, row, CONDITIONAL.SIBLING)
  if (sibling === 0) return
  const other = conditionalRow(state, sibling - 1)
  const paired = get(state, other, CONDITIONAL.SIBLING) === conditionalAt(state, row) + 1 && !trails &&
    (get(state, row, CONDITIONAL.FLAGS) & LegFlag.OCO) !== 0 && get(state, other, CONDITIONAL.KIND) !== kind &&
    getF64(state, other, CONDITIONAL.CREATED_SEQUENCE) === getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) &&
    get(state, other, CONDITIONAL.OF) === get(state, row, CONDITIONAL.OF)
  if (!paired) broken('W', `${named} cancels one that does not cancel it`)
}

function checkTwap(state: State, row: number): void {
  const number = twapAt(state, row)
  const named = `TWAP order ${number}`
  const is = get(state, row, TWAP.STATE)
  const start = get(state, row, TWAP.CONDITIONAL)
  if (is !== TwapState.PENDING && is !== TwapState.ACTIVE) broken('W', `${named} is over, and still there`)
  if ((start === 0) === (getF64(state, row, TWAP.NEXT_AT) === 0)) broken('W', `${named} waits for a price and a time, or for nothing`)
  if (start !== 0) {
    const conditional = conditionalRow(state, start - 1)
    const isStart = get(state, conditional, CONDITIONAL.KIND) === ConditionType.TWAP_START &&
      get(state, conditional, CONDITIONAL.OF) === number && is === TwapState.PENDING &&
      get(state, conditional, CONDITIONAL.PAIR) === get(state, row, TWAP.PAIR)
    if (!isStart) broken('W', `${named} waits for the price of another`)
  }
  const [slices, reached, placed] = [get(state, row, TWAP.SLICES), get(state, row, TWAP.REACHED), get(state, row, TWAP.PLACED)]
  if (placed > reached || reached > slices || slices < 1) broken('W', `${named} placed ${placed} of ${reached} of ${slices} slices`)
  const child = get(state, row, TWAP.CHILD)
  const order = child === 0 ? -1 : orderRow(state, child - 1)
  const filled = get(state, row, TWAP.FILLED) + (order < 0 ? 0 : get(state, order, ORDER.LOTS) - get(state, order, ORDER.REMAINING))
  const open = order < 0 ? 0 : get(state, order, ORDER.REMAINING)
  if (get(state, row, TWAP.FILLED) < 0 || filled + open > get(state, row, TWAP.LOTS)) broken('W', `${named} filled ${filled}, ${open} rest`)
  if (child !== 0 && state.orderParents[child - 1] !== number + 1) broken('W', `the slice of ${named} is another's`)
}

/** Slices at rest: each is its parent's only one. */
function checkSlices(state: State, live: readonly number[]): void {
  const slices = new Set<number>()
  for (const slot of live) {
    const parent = state.orderParents[slot]!
    if (originOf(get(state, orderRow(state, slot), ORDER.FLAGS)) !== Origin.TWAP || parent === 0) continue
    if (get(state, twapRow(state, parent - 1), TWAP.CHILD) !== slot + 1) broken('W', `the slice in slot ${slot} is not its parent's`)
    slices.add(parent)
  }
  for (let number = 0; number < scalar(state, SCALAR.TWAPS_USED); number++) {
    const rests = get(state, twapRow(state, number), TWAP.STATE) !== 0 && get(state, twapRow(state, number), TWAP.CHILD) !== 0
    if (rests !== slices.has(number + 1)) broken('W', `TWAP order ${number} has a slice that does not rest`)
  }
}

function checkMarginAccounts(state: State, twaps: readonly number[]): void {
  const counted = new Map<number, number>()
  for (const row of twaps) {
    const of = get(state, row, TWAP.COUNTED)
    if (of !== 0) counted.set(of - 1, (counted.get(of - 1) ?? 0) + 1)
  }
  for (let number = 0; number < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); number++) {
    const row = marginAccountRow(state, number)
    const has = counted.get(number) ?? 0
    if (get(state, row, MARGIN_ACCOUNT.OPEN) === 0 ? has > 0 : get(state, row, MARGIN_ACCOUNT.TWAPS) !== has) {
      broken('W', `margin account ${number} has ${has} TWAP orders`)
    }
    const isSub = get(state, row, MARGIN_ACCOUNT.KIND) === MarginAccountKind.SUB
    if (has > 0 && !isSub) broken('W', `margin account ${number} counts TWAP orders`)
  }
}
