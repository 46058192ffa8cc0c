/**
 * Invariants of margin trading, over the rows alone: formulas are written out here once more, so that a fault in margin/ does not hide
 * itself.
 *
 *   I1   collateral asset: available + locked + deposited + realised - cost + fees + funding pool = issued (part of invariants.ts)
 *   I4   per pair the lots of all positions add up to 0; OPEN_LOTS and POSITIONS are those of the rows; what the funding pool has covers
 *        what is owed
 *   I5   earmarked = allocated + pending of the buckets; deposited >= earmarked >= 0, allocated and pending >= 0; a closed bucket is empty
 *   I14  whatever is in use has a version
 *   M    pools, lists and counts of margin accounts, buckets and positions; resting orders of a position are in its list once, its sums are
 *        theirs, what is pending is at most what they hold; reduce-only orders never are more than the position; the liquidation list
 *   G    guards (margin/guards.ts), once they are built: the heaps are heaps of open positions of active buckets, and no bucket fails
 *        before one of its guards is reached
 */
import { Flag } from '../layout/flags.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, ORDER, SCALAR, TERMS } from './columns.ts'
import { checkGuards } from './invariants_guards.ts'
import {
  BUCKET_STATE_NAMES, BucketState, MARGIN_ACCOUNT, MARGIN_TOTAL, MarginAccountKind, MarginMode, ORDER_MARGIN, PERP, PERP_TERMS, POSITION,
  RISK_BUCKET,
} from './margin_rows.ts'
import {
  accountRow, bucketRow, get, getF64, getI64, marginAccountRow, marginTotalRow, orderMarginRow, orderRow, pairCount, perpRow, perpTermsRow,
  positionRow, scalar, termsRow,
} from './rows.ts'
import type { State } from './state.ts'

/** What margin accounts, buckets and positions hold of the collateral asset. */
export function heldByMargin(state: State): bigint {
  let sum = state.collateralAsset < 0 ? 0n : getI64(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.FUNDING_POOL)
  for (const row of openMarginAccounts(state)) sum += getI64(state, row, MARGIN_ACCOUNT.DEPOSITED)
  for (const row of usedBuckets(state)) sum += getI64(state, row, RISK_BUCKET.REALIZED)
  for (const row of usedPositions(state)) sum -= getI64(state, row, POSITION.COST)
  return sum
}

const rowsOf = (count: number, rowAt: (number: number) => number): number[] => Array.from({ length: count }, (_, number) => rowAt(number))
const openMarginAccounts = (state: State): number[] =>
  rowsOf(scalar(state, SCALAR.MARGIN_ACCOUNTS_USED), (number) => marginAccountRow(state, number))
    .filter((row) => get(state, row, MARGIN_ACCOUNT.OPEN) !== 0)
const usedBuckets = (state: State): number[] =>
  rowsOf(scalar(state, SCALAR.BUCKETS_USED), (number) => bucketRow(state, number))
    .filter((row) => get(state, row, RISK_BUCKET.STATE) !== BucketState.FREE)

/** Position rows that are in a bucket's list. */
function usedPositions(state: State): number[] {
  const rows: number[] = []
  for (const bucket of usedBuckets(state)) rows.push(...positionsOf(state, bucket))
  return rows
}

/** Walks a list of rows + 1 from `first` on; more than `most` is a circle. */
function walk(first: number, most: number, rowAt: (number: number) => number, nextOf: (row: number) => number, what: string): number[] {
  const rows: number[] = []
  for (let link = first; link !== 0; link = nextOf(rows.at(-1)!)) {
    if (rows.length > most) broken('M', `${what} is a circle`)
    rows.push(rowAt(link - 1))
  }
  return rows
}

const positionsOf = (state: State, bucket: number): number[] =>
  walk(get(state, bucket, RISK_BUCKET.FIRST_POSITION), pairCount(state), (number) => positionRow(state, number),
    (row) => get(state, row, POSITION.NEXT), 'the list of a bucket')

export function checkMargin(state: State, live: readonly number[]): void {
  if (state.genesis.limits.perps === 0) return
  checkPools(state)
  checkAccounts(state)
  for (const bucket of usedBuckets(state)) checkBucket(state, bucket)
  checkOrders(state, live)
  checkPairs(state)
  checkLiquidations(state)
  checkGuards(state, usedBuckets(state), (bucket) => positionsOf(state, bucket))
}

/** Free and used rows are disjoint, and together all rows ever used. */
function checkPools(state: State): void {
  const pools: [name: string, used: number, free: number, live: number, rowAt: (n: number) => number, next: (row: number) => number,
    inUse: number[]][] = [
    ['margin accounts', SCALAR.MARGIN_ACCOUNTS_USED, SCALAR.MARGIN_ACCOUNTS_FREE, SCALAR.MARGIN_ACCOUNTS_LIVE,
      (n) => marginAccountRow(state, n), (row) => get(state, row, MARGIN_ACCOUNT.NEXT), openMarginAccounts(state)],
    ['risk buckets', SCALAR.BUCKETS_USED, SCALAR.BUCKETS_FREE, SCALAR.BUCKETS_LIVE,
      (n) => bucketRow(state, n), (row) => get(state, row, RISK_BUCKET.NEXT), usedBuckets(state)],
    ['positions', SCALAR.POSITIONS_USED, SCALAR.POSITIONS_FREE, SCALAR.POSITIONS_LIVE,
      (n) => positionRow(state, n), (row) => get(state, row, POSITION.NEXT), usedPositions(state)],
  ]
  for (const [name, used, free, live, rowAt, next, inUse] of pools) {
    const freed = walk(scalar(state, free), scalar(state, used), rowAt, next, `the free list of ${name}`)
    const all = new Set([...freed, ...inUse])
    if (all.size !== freed.length + inUse.length) broken('M', `a row of ${name} is free and in use, or in two lists`)
    if (all.size !== scalar(state, used)) broken('M', `${scalar(state, used)} rows of ${name} were used, ${all.size} are accounted for`)
    if (inUse.length !== scalar(state, live)) broken('M', `${inUse.length} rows of ${name} in use, ${scalar(state, live)} counted`)
  }
}

/** Margin accounts of every account, their buckets, and what families have. */
function checkAccounts(state: State): void {
  const [families, met] = [new Map<number, [buckets: number, positions: number]>(), new Set<number>()]
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const owner = accountRow(state, account)
    const rows = walk(get(state, owner, ACCOUNT.PARENT_MARGIN), scalar(state, SCALAR.MARGIN_ACCOUNTS_USED),
      (number) => marginAccountRow(state, number), (row) => get(state, row, MARGIN_ACCOUNT.NEXT), 'a list of margin accounts')
    if (rows.length !== get(state, owner, ACCOUNT.MARGIN_ACCOUNTS)) broken('M', `account ${account} has ${rows.length} margin accounts`)
    const family = families.get(get(state, owner, ACCOUNT.FAMILY)) ?? [0, 0]
    families.set(get(state, owner, ACCOUNT.FAMILY), family)
    for (const [place, row] of rows.entries()) {
      const kind = place === 0 ? MarginAccountKind.PARENT : MarginAccountKind.SUB
      if (get(state, row, MARGIN_ACCOUNT.KIND) !== kind || get(state, row, MARGIN_ACCOUNT.ACCOUNT) !== account || met.has(row)) {
        broken('M', `a margin account of account ${account} is another's, or in the wrong place`)
      }
      met.add(row)
      const buckets = checkMarginAccount(state, row)
      family[0] += buckets.length
      for (const bucket of buckets) family[1] += positionsOf(state, bucket).length
    }
  }
  if (met.size !== openMarginAccounts(state).length) broken('M', 'an open margin account is in no list')
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const [buckets, positions] = families.get(account) ?? [0, 0]
    const counted = [ACCOUNT.FAMILY_BUCKETS, ACCOUNT.FAMILY_POSITIONS].map((word) => get(state, accountRow(state, account), word))
    if (counted[0] !== buckets || counted[1] !== positions) {
      broken('S', `the family of ${account} has ${buckets} buckets and ${positions} positions, ${counted.join(' and ')} counted`)
    }
  }
}

/** One margin account: its money and its list. The buckets. */
function checkMarginAccount(state: State, row: number): number[] {
  const buckets = walk(get(state, row, MARGIN_ACCOUNT.FIRST_BUCKET), state.genesis.limits.bucketsPerMarginAccount,
    (number) => bucketRow(state, number), (bucket) => get(state, bucket, RISK_BUCKET.NEXT), 'the list of a margin account')
  const named = `a margin account of account ${get(state, row, MARGIN_ACCOUNT.ACCOUNT)}`
  if (buckets.length !== get(state, row, MARGIN_ACCOUNT.BUCKETS)) broken('M', `${named} has ${buckets.length} buckets`)
  if (buckets.length > state.genesis.limits.bucketsPerMarginAccount) broken('M', `${named} has too many buckets`)
  let earmarked = 0n
  const keys = new Set<string>()
  for (const bucket of buckets) {
    earmarked += getI64(state, bucket, RISK_BUCKET.ALLOCATED) + getI64(state, bucket, RISK_BUCKET.PENDING)
    if (marginAccountRow(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT)) !== row) broken('M', `${named} has a bucket of another`)
    keys.add([RISK_BUCKET.MODE, RISK_BUCKET.PAIR, RISK_BUCKET.KEY_LOW, RISK_BUCKET.KEY_HIGH].map((word) => get(state, bucket, word)).join())
  }
  if (keys.size !== buckets.length) broken('M', `${named} has two buckets of one mode, pair and strategy key`)
  const deposited = getI64(state, row, MARGIN_ACCOUNT.DEPOSITED)
  const kept = getI64(state, row, MARGIN_ACCOUNT.EARMARKED)
  if (earmarked !== kept) broken('I5', `${named}: its buckets have ${earmarked}, earmarked are ${kept}`)
  if (earmarked < 0n || deposited < earmarked) broken('I5', `${named}: deposited ${deposited}, earmarked ${earmarked}`)
  if (getF64(state, row, MARGIN_ACCOUNT.VERSION) < 1) broken('I14', `${named} has no version`)
  return buckets
}

/** One bucket with its positions; their orders are looked at by {@link checkOrders}. */
function checkBucket(state: State, bucket: number): void {
  const named = `a bucket of account ${get(state, bucket, RISK_BUCKET.ACCOUNT)}`
  const is = get(state, bucket, RISK_BUCKET.STATE)
  const [allocated, pending] = [getI64(state, bucket, RISK_BUCKET.ALLOCATED), getI64(state, bucket, RISK_BUCKET.PENDING)]
  if (BUCKET_STATE_NAMES[is] === undefined) broken('M', `${named} has state ${is}`)
  if (allocated < 0n || pending < 0n) broken('I5', `${named}: allocated ${allocated}, pending ${pending}`)
  if (getF64(state, bucket, RISK_BUCKET.VERSION) < 1) broken('I14', `${named} has no version`)
  const positions = positionsOf(state, bucket)
  if (positions.length !== get(state, bucket, RISK_BUCKET.POSITIONS)) broken('M', `${named} has ${positions.length} positions`)
  const empty = allocated === 0n && pending === 0n && getI64(state, bucket, RISK_BUCKET.REALIZED) === 0n && positions.length === 0
  if (is === BucketState.CLOSED && !empty) broken('I5', `${named} is closed and not empty`)
  const pairs = new Set(positions.map((row) => get(state, row, POSITION.PAIR)))
  if (pairs.size !== positions.length) broken('M', `${named} has two positions of a pair`)
  const isolated = get(state, bucket, RISK_BUCKET.MODE) === MarginMode.ISOLATED
  const others = isolated && positions.some((row) => get(state, row, POSITION.PAIR) !== get(state, bucket, RISK_BUCKET.PAIR))
  if (others) broken('M', `${named} has the position of another pair`)
  let orders = 0
  for (const row of positions) {
    orders += get(state, row, POSITION.ORDERS)
    checkPosition(state, row, bucket, named)
  }
  if (orders !== get(state, bucket, RISK_BUCKET.ORDERS)) broken('M', `${named} has ${orders} resting orders`)
}

function checkPosition(state: State, row: number, bucket: number, of: string): void {
  const [lots, cost] = [get(state, row, POSITION.LOTS), getI64(state, row, POSITION.COST)]
  const opened = getF64(state, row, POSITION.OPENED_SEQUENCE)
  const pair = get(state, row, POSITION.PAIR)
  const named = `the position of ${of} in pair ${pair}`
  if (bucketRow(state, get(state, row, POSITION.BUCKET)) !== bucket) broken('M', `${named} is of another bucket`)
  if (get(state, row, POSITION.ACCOUNT) !== get(state, bucket, RISK_BUCKET.ACCOUNT)) broken('M', `${named} is of another account`)
  if (get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER) === 0) broken('M', `${named}, which is no perpetual`)
  if (lots === 0 && get(state, row, POSITION.ORDERS) === 0) broken('M', `${named} has neither lots nor orders`)
  if (lots === 0 ? cost !== 0n || opened !== 0 : opened < 1) broken('M', `${named}: ${lots} lots, cost ${cost}, opened by ${opened}`)
  if (lots !== 0 && (cost < 0n) !== (lots < 0)) broken('M', `${named}: ${lots} lots were bought for ${cost}`)
  if (lots !== 0 && getF64(state, row, POSITION.VERSION) < 1) broken('I14', `${named} has no version`)
}

/** Sums over the orders of one position. */
interface Resting { orders: number; reduce: number; reduceLots: number; bids: number; asks: number; bidValue: bigint; askValue: bigint }

function checkOrders(state: State, live: readonly number[]): void {
  const margin = new Set(live.filter((slot) => (get(state, orderRow(state, slot), ORDER.FLAGS) & Flag.MARGIN) !== 0))
  let met = 0
  for (const bucket of usedBuckets(state)) {
    let held = 0n
    for (const row of positionsOf(state, bucket)) {
      const slots = slotsOf(state, row)
      for (const slot of slots) {
        if (!margin.has(slot)) broken('M', `order in slot ${slot} is in the list of a position and does not rest, or is in two`)
        margin.delete(slot)
        held += getI64(state, orderRow(state, slot), ORDER.HOLD)
      }
      met += slots.length
      compareSums(state, row, slots)
    }
    // Fills commit what positions need, whichever order brought it (margin/order_collateral.ts).
    const pending = getI64(state, bucket, RISK_BUCKET.PENDING)
    if (pending > held) broken('I5', `a bucket has ${pending} pending, its orders hold ${held}`)
  }
  if (margin.size > 0) broken('M', `${margin.size} margin orders are in no list, ${met} are`)
}

/** Slots of the resting orders of a position; each links back. */
function slotsOf(state: State, position: number): number[] {
  const slots: number[] = []
  let before = 0
  for (let link = get(state, position, POSITION.ORDERS_HEAD); link !== 0;) {
    const row = orderMarginRow(state, link - 1)
    if (slots.length > scalar(state, SCALAR.ORDERS_LIVE)) broken('M', 'the list of orders of a position is a circle')
    if (get(state, row, ORDER_MARGIN.PREV) !== before) broken('M', `order in slot ${link - 1} does not link back`)
    const of = positionRow(state, get(state, row, ORDER_MARGIN.POSITION) - 1)
    if (of !== position) broken('M', `order in slot ${link - 1} is of another position`)
    slots.push(link - 1)
    before = link
    link = get(state, row, ORDER_MARGIN.NEXT)
  }
  return slots
}

function compareSums(state: State, row: number, slots: readonly number[]): void {
  const sums: Resting = { orders: 0, reduce: 0, reduceLots: 0, bids: 0, asks: 0, bidValue: 0n, askValue: 0n }
  const lots = get(state, row, POSITION.LOTS)
  const pair = get(state, row, POSITION.PAIR)
  const named = `the position of account ${get(state, row, POSITION.ACCOUNT)} in pair ${pair}`
  for (const slot of slots) {
    const order = orderRow(state, slot)
    const flags = get(state, order, ORDER.FLAGS)
    const sells = (flags & Flag.SELL) !== 0
    const remaining = get(state, order, ORDER.REMAINING)
    const value = BigInt(remaining) * BigInt(get(state, order, ORDER.PRICE)) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
    if (get(state, order, ORDER.PAIR) !== pair || get(state, order, ORDER.ACCOUNT) !== get(state, row, POSITION.ACCOUNT)) {
      broken('M', `${named} has an order of another pair or account`)
    }
    sums.orders++
    if ((flags & Flag.REDUCE_ONLY) !== 0) {
      sums.reduce++
      sums.reduceLots += remaining
      if (sells !== lots > 0) broken('M', `${named} has a reduce-only order that would enlarge it`)
    } else if (sells) [sums.asks, sums.askValue] = [sums.asks + remaining, sums.askValue + value]
    else [sums.bids, sums.bidValue] = [sums.bids + remaining, sums.bidValue + value]
  }
  if (sums.reduceLots > Math.abs(lots)) broken('M', `${named} has ${lots} lots, reduce-only orders ${sums.reduceLots}`)
  const kept: Resting = {
    orders: get(state, row, POSITION.ORDERS), reduce: get(state, row, POSITION.REDUCE_ORDERS),
    reduceLots: get(state, row, POSITION.REDUCE_LOTS), bids: getF64(state, row, POSITION.BID_LOTS),
    asks: getF64(state, row, POSITION.ASK_LOTS), bidValue: getI64(state, row, POSITION.BID_VALUE),
    askValue: getI64(state, row, POSITION.ASK_VALUE),
  }
  for (const name of Object.keys(sums) as (keyof Resting)[]) {
    if (sums[name] !== kept[name]) broken('M', `${named}: ${name} is ${kept[name]}, of its orders ${sums[name]}`)
  }
}

/** Longs are shorts; counts of the pair are those of the rows; the pool has what funding owes. */
function checkPairs(state: State): void {
  const [sums, longs, open] = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()]
  // 10^-6 atoms.
  let owed = 0n
  for (const row of usedPositions(state)) {
    const [pair, lots] = [get(state, row, POSITION.PAIR), get(state, row, POSITION.LOTS)]
    if (lots === 0) continue
    sums.set(pair, (sums.get(pair) ?? 0) + lots)
    longs.set(pair, (longs.get(pair) ?? 0) + Math.max(0, lots))
    open.set(pair, (open.get(pair) ?? 0) + 1)
    const moved = BigInt.asIntN(64, getI64(state, perpRow(state, pair), PERP.CUMULATIVE) - getI64(state, row, POSITION.FUNDED_TO))
    owed -= BigInt(lots) * moved
  }
  for (let pair = 0; pair < pairCount(state); pair++) {
    const perp = perpRow(state, pair)
    if ((sums.get(pair) ?? 0) !== 0) broken('I4', `lots of pair ${pair} add up to ${sums.get(pair)}`)
    const [lots, positions] = [getF64(state, perp, PERP.OPEN_LOTS), get(state, perp, PERP.POSITIONS)]
    if (lots !== (longs.get(pair) ?? 0) || positions !== (open.get(pair) ?? 0)) {
      broken('I4', `pair ${pair} counts ${lots} open lots in ${positions} positions, has ${longs.get(pair) ?? 0} in ${open.get(pair) ?? 0}`)
    }
  }
  const pool = getI64(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.FUNDING_POOL)
  if (pool * 1_000_000n < owed) broken('I4', `the funding pool has ${pool}, owed are ${owed} millionths`)
}

/** The list of buckets that liquidation looks at: links, count, every bucket in liquidation or bad debt, and the sum of what those owe. */
function checkLiquidations(state: State): void {
  const rows = walk(scalar(state, SCALAR.LIQUIDATIONS_OLDEST), scalar(state, SCALAR.BUCKETS_USED), (number) => bucketRow(state, number),
    (row) => get(state, row, RISK_BUCKET.LIQUIDATED_NEXT), 'the list of liquidations')
  const counted = scalar(state, SCALAR.LIQUIDATIONS)
  if (rows.length !== counted) broken('M', `${rows.length} liquidations, ${counted} counted`)
  rows.forEach((row, place) => {
    const previous = get(state, row, RISK_BUCKET.LIQUIDATED_PREV)
    if (previous === 0 ? place !== 0 : bucketRow(state, previous - 1) !== rows[place - 1]) broken('M', 'a liquidation does not link back')
  })
  let owed = 0n
  for (const row of usedBuckets(state)) {
    const is = get(state, row, RISK_BUCKET.STATE)
    const equity = getI64(state, row, RISK_BUCKET.ALLOCATED) + getI64(state, row, RISK_BUCKET.REALIZED)
    if (is === BucketState.BAD_DEBT && equity < 0n) owed -= equity
    const needs = is === BucketState.LIQUIDATING || is === BucketState.BAD_DEBT
    if (needs && !rows.includes(row)) broken('M', `a bucket that is ${BUCKET_STATE_NAMES[is]} is not in the list of liquidations`)
    if (is === BucketState.CLOSED && rows.includes(row)) broken('M', 'a closed bucket is in the list of liquidations')
  }
  const told = getI64(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.BAD_DEBT)
  if (told !== owed) broken('M', `bad debts are ${owed} together, ${told} counted`)
}
