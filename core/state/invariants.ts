/**
 * What must always hold between two commands, checked over the whole state: O(rows in use), for tests in checking mode,
 * replay verification and after a snapshot was loaded. Every failure is an InvariantBroken that begins with the number of the
 * invariant:
 *
 *   I1   conservation: available + locked + rewards of all accounts + fees of the house + suspense = issued, per asset, exactly; of the
 *        collateral of perpetuals with what margin accounts, buckets, positions and the funding pool hold (invariants_margin.ts)
 *   I2   no negative balance; locked = sum of the holds of open spot orders and of withdrawals; a hold is what its order may still cost, of
 *        an order of a perpetual collateral, 0 or more (M)
 *   I3   the fee of an order is its sum, rounded up
 *   I6   the book: never crossed; queues, levels, pages, bitmaps and best prices agree; each live order in exactly one queue
 *   I8   only orders that may rest do: LIMIT, neither IOC nor FOK, terms in range
 *   I10  filled + remaining = original; figures of an order agree
 *   I11  receipts: in order of time, each found by its key, none twice
 *   I12  a client order id is unique among the resting orders of its owner, and found by the index
 *   F    families: invariants_families.ts
 *   S    shares: invariants_shares.ts
 *   T    terms: a pair's status is one of three; an account has the discounts of its tier, a resting order a maker rate of some tier
 *   A    delegated agents: each in its owner's list once, newest first; resting orders of each as counted; sessions of a revoked one
 *        are dead, of another never outlast its grant; every live session is in its holder's list once, newest first
 *   B    blank accounts: invariants_blank.ts
 *   D    due queue: invariants_due.ts
 *   L    listings: invariants_listing.ts
 *   N    launches: invariants_launches.ts
 *   M    margin trading, with I4, I5, I14 and G: invariants_margin.ts
 *   W    orders that wait: invariants_waiting.ts, invariants_triggers.ts
 *   C    copy trading: invariants_copies.ts
 *   R    referrals: invariants_referrals.ts
 *   V    money in and out, and settlement: invariants_vault.ts
 *   P    pools: live, free and never used rows are disjoint and add up; indexes hold exactly their rows
 *
 * Reads only; allocates freely, since it never runs on the hot path.
 */
import { assetCount, balanceRow, get, getI64, pairListingRow, termsRow, totalRow } from './rows.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, BALANCE, CLOCK, CLIENT_ORDER_ID_WORDS, LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS,
  NOBODY, PAGE, PAGE_LEVELS, PAGE_WORDS, PAIR, PAIR_WORDS, PROFILE, PROFILE_WORDS, SCALAR, SESSION, SESSION_WORDS,
  TERMS, TOTAL, bitmapWords,
} from './columns.ts'
import { PAIR_LISTING } from './listing_rows.ts'
import { findAccount, findClientOrderId, findSession } from './indexes.ts'
import { Flag, CLIENT_ORDER_ID_BYTES, CLIENT_ORDER_ID_SHIFT, PAIR_STATUS_NAMES } from '../layout/command.ts'
import { broken } from '../lib/assert.ts'
import { addedToBid, checkAddOns } from './invariants_add_ons.ts'
import { checkAgents } from './invariants_agents.ts'
import { checkApplications } from './invariants_applications.ts'
import { checkBlank } from './invariants_blank.ts'
import { checkDue, checkSweeps } from './invariants_due.ts'
import { checkLaunches } from './invariants_launches.ts'
import { checkListings } from './invariants_listing.ts'
import { checkMargin, heldByMargin } from './invariants_margin.ts'
import { checkFamilies } from './invariants_families.ts'
import { checkShares } from './invariants_shares.ts'
import { checkCopies } from './invariants_copies.ts'
import { checkReceipts } from './invariants_receipts.ts'
import { checkedRewards, checkOwed, checkReferrals } from './invariants_referrals.ts'
import { addLocked, checkVault, heldInSuspense } from './invariants_vault.ts'
import { checkWaiting } from './invariants_waiting.ts'
import type { State } from './state.ts'

const PPM = 1_000_000n

/**
 * Throws {@link InvariantBroken} at the first invariant that does not hold. `between` is called every few thousand rows, so that whoever
 * checks a large state can say meanwhile that it works.
 */
export function checkInvariants(state: State, between: () => void = () => undefined): void {
  const live = checkPool(state)
  between()
  live.forEach((slot, index) => {
    checkOrder(state, slot)
    if (index % BETWEEN_ROWS === 0) between()
  })
  const checks: ((state: State, live: readonly number[]) => void)[] = [
    checkBalances, checkConservation, checkQueues, checkPages, checkPairs, checkAccounts, checkClientOrderIds, checkSessions, checkReceipts,
    checkTerms, checkAgents, checkFamilies, checkApplications, checkShares, checkBlank, checkDue, checkSweeps,
    checkListings, checkMargin, checkWaiting, checkAddOns, checkLaunches, checkCopies, checkReferrals, checkVault,
  ]
  for (const check of checks) {
    check(state, live)
    between()
  }
}

const BETWEEN_ROWS = 4096

function checkPairs(state: State): void {
  for (let pair = 0; pair < state.genesis.pairs.length; pair++) checkPair(state, pair)
}

const order = (state: State, slot: number, word: number): number => state.orders[slot * ORDER_WORDS + word]!
const sequenceOf = (state: State, slot: number): number => state.ordersF64[(slot * ORDER_WORDS + ORDER.SEQUENCE) >>> 1]!
const holdOf = (state: State, slot: number): bigint => state.ordersI64[(slot * ORDER_WORDS + ORDER.HOLD) >>> 1]!
const detailI64 = (state: State, slot: number, word: number): bigint => state.ordersI64[(slot * ORDER_WORDS + word) >>> 1]!
const detailF64 = (state: State, slot: number, word: number): number => state.ordersF64[(slot * ORDER_WORDS + word) >>> 1]!

/** Live slots; free and live rows are disjoint and together all rows ever used. */
function checkPool(state: State): number[] {
  const { scalars, genesis } = state
  const used = scalars[SCALAR.ORDERS_USED]!
  if (used > genesis.limits.orders) broken('P', `${used} order rows used of ${genesis.limits.orders}`)
  const free = new Set<number>()
  for (let slot = scalars[SCALAR.ORDERS_FREE]!; slot >= 0; slot = order(state, slot, ORDER.NEXT)) {
    if (slot >= used || free.has(slot)) broken('P', `slot ${slot} is twice in the free list or beyond the rows used`)
    if (sequenceOf(state, slot) !== 0) broken('P', `free slot ${slot} has a sequence`)
    free.add(slot)
  }
  const live: number[] = []
  for (let slot = 0; slot < used; slot++) if (!free.has(slot)) live.push(slot)
  if (live.length !== scalars[SCALAR.ORDERS_LIVE]) broken('P', `${live.length} live rows, ${scalars[SCALAR.ORDERS_LIVE]} counted`)
  return live
}

/** One live row: it may rest, its terms are in range, its figures agree, its hold is what it may still cost. */
function checkOrder(state: State, slot: number): void {
  const { genesis, clock } = state
  const pair = order(state, slot, ORDER.PAIR)
  const flags = order(state, slot, ORDER.FLAGS)
  const price = order(state, slot, ORDER.PRICE)
  const lots = order(state, slot, ORDER.LOTS)
  const remaining = order(state, slot, ORDER.REMAINING)
  const account = order(state, slot, ORDER.ACCOUNT)
  const sequence = sequenceOf(state, slot)
  const named = (what: string): string => `order ${sequence} in slot ${slot} ${what}`
  if (sequence < 1 || sequence > clock[CLOCK.SEQUENCE]!) broken('P', named('has no sequence of the past'))
  if (pair < 0 || pair >= genesis.pairs.length) broken('I8', named(`has pair ${pair}`))
  if (account < 0 || account >= state.scalars[SCALAR.ACCOUNTS]!) broken('I8', named(`has account ${account}`))
  if ((flags & Flag.RESTING) === 0) broken('I8', named('is live but not resting'))
  if ((flags & (Flag.MARKET | Flag.IOC | Flag.FOK)) !== 0) broken('I8', named('must not rest'))
  if (flags >>> CLIENT_ORDER_ID_SHIFT > CLIENT_ORDER_ID_BYTES) broken('I12', named('has a label that is too long'))
  if (price < 1 || price >= genesis.limits.priceTicks) broken('I8', named(`has price ${price}`))
  const mostLots = get(state, pairListingRow(state, pair), PAIR_LISTING.MOST_LOTS)
  if (remaining < 1 || remaining > lots || lots > mostLots) broken('I10', named(`has ${remaining} of ${lots} lots left`))
  if (detailF64(state, slot, ORDER.CREATED_AT) > clock[CLOCK.TIME]!) broken('I10', named('was made in the future'))
  const filled = detailI64(state, slot, ORDER.FILLED_QUOTE)
  if (filled < 0n || (filled === 0n) !== (lots === remaining)) broken('I10', named(`filled for ${filled}, ${remaining} of ${lots} left`))
  const sum = detailI64(state, slot, ORDER.FEE_NUMERATOR)
  const fee = detailI64(state, slot, ORDER.FEE)
  if (fee !== ceiling(sum)) broken('I3', named(`was charged ${fee} for a sum of ${sum}`))
  const rate = order(state, slot, ORDER.MAKER_PPM)
  if (!isMakerRate(state, pair, rate)) broken('T', named(`has a maker rate of ${rate} ppm`))
  const perp = get(state, termsRow(state, pair), TERMS.PERP) !== 0
  if (perp !== ((flags & Flag.MARGIN) !== 0)) broken('I8', named(`is of the wrong trading mode for pair ${pair}`))
  if (perp) {
    if (holdOf(state, slot) < 0n) broken('I2', named(`holds ${holdOf(state, slot)}`))
    return
  }
  if ((flags & (Flag.REDUCE_ONLY | Flag.CROSS | Flag.CLOSE)) !== 0) broken('I8', named('has flags of an order of a perpetual'))
  const sell = (flags & Flag.SELL) !== 0
  const lotAtoms = getI64(state, termsRow(state, pair), TERMS.LOT_ATOMS)
  const expected = sell ? BigInt(remaining) * lotAtoms : bidHold(state, slot, pair, price, remaining, sum, fee)
  if (holdOf(state, slot) !== expected) broken('I2', named(`holds ${holdOf(state, slot)} instead of ${expected}`))
}

/**
 * Whether an order that rests may have this maker rate: that of the pair less the discount of a tier, or within what it was before its
 * terms were changed under resting orders.
 */
function isMakerRate(state: State, pair: number, ppm: number): boolean {
  const row = pairListingRow(state, pair)
  const [least, most] = [get(state, row, PAIR_LISTING.LEAST_MAKER_PPM), get(state, row, PAIR_LISTING.MOST_MAKER_PPM)]
  const { tiers } = state.genesis.feeTiers
  return tiers.some(({ makerDiscountPpm: less }) => (least === most ? ppm === most - less : ppm >= least - less && ppm <= most - less))
}

/** What the operator set: every status and tier exists, and rates are those of the genesis. */
function checkTerms(state: State): void {
  const { genesis, accounts, pairs } = state
  const { tiers } = genesis.feeTiers
  for (const { index } of genesis.pairs) {
    const status = pairs[index * PAIR_WORDS + PAIR.STATUS]!
    if (PAIR_STATUS_NAMES[status] === undefined) broken('T', `pair ${index} has status ${status}`)
  }
  for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
    const row = account * ACCOUNT_WORDS
    const tier = tiers[accounts[row + ACCOUNT.TIER]!]
    if (tier === undefined) broken('T', `account ${account} is in tier ${accounts[row + ACCOUNT.TIER]}`)
    const [maker, taker] = [accounts[row + ACCOUNT.MAKER_DISCOUNT], accounts[row + ACCOUNT.TAKER_DISCOUNT]]
    if (maker !== tier.makerDiscountPpm || taker !== tier.takerDiscountPpm) {
      broken('T', `account ${account} has discounts ${maker} and ${taker}, not those of its tier`)
    }
  }
}

/** Ceiling of sum / 10^6. */
const ceiling = (sum: bigint): bigint => sum / PPM + (sum % PPM > 0n ? 1n : 0n)

function bidHold(state: State, slot: number, pair: number, price: number, remaining: number, sum: bigint, fee: bigint): bigint {
  const value = BigInt(price) * BigInt(remaining) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  const ppm = order(state, slot, ORDER.MAKER_PPM)
  const added = addedToBid(state, slot, value)
  return ppm > 0 ? value + ceiling(sum + value * BigInt(ppm)) - fee + added : value + added
}

/** The account whose balance an order holds: its owner's, or its owner's master's. */
function payerOf(state: State, slot: number): number {
  const owner = order(state, slot, ORDER.ACCOUNT)
  const funded = (order(state, slot, ORDER.FLAGS) & Flag.MASTER_FUNDED) !== 0
  return funded ? state.profiles[owner * PROFILE_WORDS + PROFILE.MASTER]! - 1 : owner
}

function checkBalances(state: State, live: readonly number[]): void {
  const assets = assetCount(state)
  const held = new Map<number, bigint>()
  for (const slot of live) {
    if ((order(state, slot, ORDER.FLAGS) & Flag.MARGIN) !== 0) continue
    const pair = order(state, slot, ORDER.PAIR)
    const sell = (order(state, slot, ORDER.FLAGS) & Flag.SELL) !== 0
    const row = payerOf(state, slot) * assets + get(state, termsRow(state, pair), sell ? TERMS.BASE : TERMS.QUOTE)
    held.set(row, (held.get(row) ?? 0n) + holdOf(state, slot))
  }
  addLocked(state, held)
  for (let row = 0; row < state.scalars[SCALAR.ACCOUNTS]! * assets; row++) {
    const [account, asset] = [Math.floor(row / assets), row % assets]
    const available = getI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE)
    const locked = getI64(state, balanceRow(state, account, asset), BALANCE.LOCKED)
    const named = `account ${account}, asset ${asset}`
    if (available < 0n || locked < 0n) broken('I2', `${named}: available ${available}, locked ${locked}`)
    if (locked !== (held.get(row) ?? 0n)) broken('I2', `${named}: locked ${locked}, held are ${held.get(row) ?? 0n}`)
  }
}

function checkConservation(state: State): void {
  for (let asset = 0; asset < assetCount(state); asset++) {
    let sum = getI64(state, totalRow(state, asset), TOTAL.FEES) + heldInSuspense(state, asset)
    let owed = 0n
    if (asset === state.collateralAsset) sum += heldByMargin(state)
    for (let account = 0; account < state.scalars[SCALAR.ACCOUNTS]!; account++) {
      const row = balanceRow(state, account, asset)
      sum += getI64(state, row, BALANCE.AVAILABLE) + getI64(state, row, BALANCE.LOCKED)
      owed += checkedRewards(state, account, asset)
    }
    checkOwed(state, asset, owed)
    sum += owed
    const issued = getI64(state, totalRow(state, asset), TOTAL.ISSUED)
    if (sum !== issued) broken('I1', `asset ${asset}: accounts, fees and suspense hold ${sum}, issued ${issued}`)
  }
}

/** Walks every queue: links, owner level, side, order count and lots; each live order is met exactly once. */
function checkQueues(state: State, live: readonly number[]): void {
  const met = new Set<number>()
  for (let page = 0; page < state.scalars[SCALAR.PAGES_USED]!; page++) {
    const bids = state.pages[page * PAGE_WORDS + PAGE.BIDS]!
    const asks = state.pages[page * PAGE_WORDS + PAGE.ASKS]!
    if ((bids & asks) !== 0) broken('I6', `page ${page} has a level with both bids and asks`)
    for (let bit = 0; bit < PAGE_LEVELS; bit++) {
      const level = page * PAGE_LEVELS + bit
      if ((((bids | asks) >>> bit) & 1) === 0) checkEmptyLevel(state, level)
      else checkQueue(state, page, level, ((asks >>> bit) & 1) === 1 ? Flag.SELL : 0, met)
    }
  }
  for (const slot of live) if (!met.has(slot)) broken('I6', `order in slot ${slot} is in no queue`)
  if (met.size !== live.length) broken('I6', `${met.size} orders in queues, ${live.length} live`)
}

function checkEmptyLevel(state: State, level: number): void {
  for (let word = 0; word < LEVEL_WORDS; word++) {
    if (state.levels[level * LEVEL_WORDS + word] !== 0) broken('I6', `empty level ${level} is not clean`)
  }
}

function checkQueue(state: State, page: number, level: number, side: number, met: Set<number>): void {
  const at = level * LEVEL_WORDS
  const pair = state.pages[page * PAGE_WORDS + PAGE.PAIR]!
  const tick = state.pages[page * PAGE_WORDS + PAGE.TICKS]! * PAGE_LEVELS + (level % PAGE_LEVELS)
  let [count, lots, prev] = [0, 0, -1]
  for (let slot = state.levels[at + LEVEL.HEAD]!; slot >= 0; slot = order(state, slot, ORDER.NEXT)) {
    const named = `order in slot ${slot} at tick ${tick} of pair ${pair}`
    if (met.has(slot)) broken('I6', `${named} is twice in queues`)
    met.add(slot)
    if (sequenceOf(state, slot) === 0) broken('I6', `${named} is a free row`)
    if (order(state, slot, ORDER.LEVEL) !== level || order(state, slot, ORDER.PAIR) !== pair || order(state, slot, ORDER.PRICE) !== tick) {
      broken('I6', `${named} belongs to another level`)
    }
    if ((order(state, slot, ORDER.FLAGS) & Flag.SELL) !== side) broken('I6', `${named} is on the wrong side`)
    if (order(state, slot, ORDER.PREV) !== prev) broken('I6', `${named} does not link back`)
    count++
    lots += order(state, slot, ORDER.REMAINING)
    prev = slot
  }
  const counted = state.levels[at + LEVEL.COUNT]
  if (count === 0 || counted !== count) broken('I6', `level ${level} counts ${counted} orders, has ${count}`)
  if (state.levels[at + LEVEL.TAIL] !== prev) broken('I6', `level ${level} ends at ${state.levels[at + LEVEL.TAIL]} instead of ${prev}`)
  const total = state.levelsF64[(at + LEVEL.LOTS) >>> 1]
  if (total !== lots) broken('I6', `level ${level} counts ${total} lots, has ${lots}`)
}

/** Pages in use are in the directory, free ones in the free list; pages in use <= live orders. */
function checkPages(state: State, { length: live }: readonly number[]): void {
  const { scalars, pages } = state
  const used = scalars[SCALAR.PAGES_USED]!
  const free = new Set<number>()
  for (let page = scalars[SCALAR.PAGES_FREE]!; page >= 0; page = pages[page * PAGE_WORDS + PAGE.TICKS]!) {
    if (page >= used || free.has(page)) broken('I6', `page ${page} is twice in the free list or beyond the pages used`)
    free.add(page)
  }
  let taken = 0
  for (let page = 0; page < used; page++) {
    const row = page * PAGE_WORDS
    const occupied = (pages[row + PAGE.BIDS]! | pages[row + PAGE.ASKS]!) !== 0
    if (occupied === free.has(page)) broken('I6', `page ${page} is ${occupied ? 'occupied and free' : 'neither occupied nor free'}`)
    if (!occupied) continue
    taken++
    const entry = pages[row + PAGE.PAIR]! * state.pagesPerPair + pages[row + PAGE.TICKS]!
    if (state.directory[entry] !== page + 1) broken('I6', `the directory has ${state.directory[entry]! - 1} for page ${page}`)
  }
  if (taken > live) broken('I6', `${taken} pages in use for ${live} orders`)
  if (taken !== scalars[SCALAR.PAGES_LIVE]) broken('I6', `${taken} pages in use, ${scalars[SCALAR.PAGES_LIVE]} counted`)
  let entries = 0
  for (let entry = 0; entry < state.directory.length; entry++) if (state.directory[entry] !== 0) entries++
  if (entries !== taken) broken('I6', `the directory has ${entries} pages, ${taken} are in use`)
}

/** Best prices, order counts and bitmaps of a pair, from its pages. */
function checkPair(state: State, pair: number): void {
  const row = pair * PAIR_WORDS
  let [bestBid, bestAsk, bidOrders, askOrders] = [0, NO_ASK, 0, 0]
  for (let ticks = 0; ticks < state.pagesPerPair; ticks++) {
    const page = state.directory[pair * state.pagesPerPair + ticks]! - 1
    const bids = page < 0 ? 0 : state.pages[page * PAGE_WORDS + PAGE.BIDS]!
    const asks = page < 0 ? 0 : state.pages[page * PAGE_WORDS + PAGE.ASKS]!
    checkBit(state, pair * 2, ticks, bids !== 0)
    checkBit(state, pair * 2 + 1, ticks, asks !== 0)
    for (let bit = 0; (bids | asks) !== 0 && bit < PAGE_LEVELS; bit++) {
      const tick = ticks * PAGE_LEVELS + bit
      const count = state.levels[(page * PAGE_LEVELS + bit) * LEVEL_WORDS + LEVEL.COUNT]!
      if (((bids >>> bit) & 1) === 1) [bestBid, bidOrders] = [tick, bidOrders + count]
      if (((asks >>> bit) & 1) === 1) [bestAsk, askOrders] = [Math.min(bestAsk, tick), askOrders + count]
    }
  }
  const stored = [PAIR.BEST_BID, PAIR.BEST_ASK, PAIR.BID_ORDERS, PAIR.ASK_ORDERS].map((word) => state.pairs[row + word]!)
  const expected = [bestBid, bestAsk, bidOrders, askOrders]
  if (stored.join() !== expected.join()) broken('I6', `pair ${pair}: best, counts ${stored.join(' ')}, in the book ${expected.join(' ')}`)
  if (bestBid >= bestAsk) broken('I6', `pair ${pair} is crossed: ${bestBid} bid, ${bestAsk} asked`)
  checkSummaries(state, pair * 2)
  checkSummaries(state, pair * 2 + 1)
}

function checkBit(state: State, side: number, ticks: number, expected: boolean): void {
  const bit = (state.bitmaps[side * state.bitmapTotal + (ticks >>> 5)]! >>> (ticks & 31)) & 1
  if ((bit === 1) !== expected) broken('I6', `bit of page ${ticks}, side ${side} is ${bit}`)
}

/** A summary bit is set exactly when the word below it is not zero. */
function checkSummaries(state: State, side: number): void {
  const { levels } = bitmapWords(state.genesis.limits.priceTicks)
  const base = side * state.bitmapTotal
  for (let level = 1; level < levels.length; level++) {
    for (let word = 0; word < levels[level - 1]!; word++) {
      const below = state.bitmaps[base + state.bitmapOffsets[level - 1]! + word]! !== 0
      const bit = (state.bitmaps[base + state.bitmapOffsets[level]! + (word >>> 5)]! >>> (word & 31)) & 1
      if ((bit === 1) !== below) broken('I6', `summary ${level} of side ${side}, bit ${word} is ${bit}`)
    }
  }
}

/** Every account is found by its address; its list has all its open orders, newest first. */
function checkAccounts(state: State, live: readonly number[]): void {
  const { accounts, scalars } = state
  const count = scalars[SCALAR.ACCOUNTS]!
  const met = new Set<number>()
  for (let account = 0; account < count; account++) {
    const row = account * ACCOUNT_WORDS
    const found = findAccount(state, accounts[row + ACCOUNT.APPLICATION]!, accounts, row + ACCOUNT.ADDRESS)
    if (found !== account) broken('P', `the address of account ${account} leads to ${found}`)
    let [orders, prev, newer] = [0, -1, Infinity]
    for (let slot = accounts[row + ACCOUNT.ORDERS_HEAD]!; slot >= 0; slot = order(state, slot, ORDER.ACCOUNT_NEXT)) {
      if (met.has(slot)) broken('P', `slot ${slot} is twice in lists of accounts`)
      met.add(slot)
      if (order(state, slot, ORDER.ACCOUNT) !== account) broken('P', `slot ${slot} is in the list of account ${account}`)
      if (order(state, slot, ORDER.ACCOUNT_PREV) !== prev) broken('P', `slot ${slot} does not link back in its account's list`)
      if (sequenceOf(state, slot) >= newer) broken('P', `the list of account ${account} is not newest first`)
      newer = sequenceOf(state, slot)
      prev = slot
      orders++
    }
    const counted = accounts[row + ACCOUNT.OPEN_ORDERS]
    if (orders !== counted) broken('P', `account ${account} has ${orders} open orders, counts ${counted}`)
    if (orders > state.genesis.limits.openOrdersPerAccount) broken('P', `account ${account} has ${orders} open orders`)
  }
  if (met.size !== live.length) broken('P', `${met.size} orders in lists of accounts, ${live.length} live`)
  checkIndex(state.accountIndex, 'account', count, (row) => row < count)
}

/** An index holds `size` entries, each a different row that belongs there. */
function checkIndex(table: Int32Array, name: string, size: number, belongs: (row: number) => boolean): void {
  const rows = new Set<number>()
  let entries = 0
  for (let at = 0; at < table.length; at++) {
    if (table[at] === 0) continue
    entries++
    rows.add(table[at]! - 1)
    if (!belongs(table[at]! - 1)) broken('P', `the ${name} index holds row ${table[at]! - 1}`)
  }
  if (entries !== size || rows.size !== size) broken('P', `the ${name} index has ${entries} entries of ${rows.size} rows for ${size}`)
}

function checkClientOrderIds(state: State, live: readonly number[]): void {
  const labelled = new Set(live.filter((slot) => order(state, slot, ORDER.FLAGS) >>> CLIENT_ORDER_ID_SHIFT !== 0))
  for (const slot of labelled) {
    const length = order(state, slot, ORDER.FLAGS) >>> CLIENT_ORDER_ID_SHIFT
    const found = findClientOrderId(state, order(state, slot, ORDER.ACCOUNT), state.labels, slot * CLIENT_ORDER_ID_WORDS, length)
    if (found !== slot) broken('I12', `the label of slot ${slot} leads to ${found}`)
  }
  checkIndex(state.clientOrderIdIndex, 'label', labelled.size, (slot) => labelled.has(slot))
}

function checkSessions(state: State): void {
  const { sessions, scalars } = state
  const used = scalars[SCALAR.SESSIONS_USED]!
  for (let session = 0; session < used; session++) {
    const row = session * SESSION_WORDS
    if (sessions[row + SESSION.GENERATION] === 0) broken('P', `session ${session} is in use but was never written`)
    const account = sessions[row + SESSION.ACCOUNT]!
    if (account < NOBODY || account >= scalars[SCALAR.ACCOUNTS]!) broken('P', `session ${session} has account ${account}`)
    // The account of a session that is over may be another's by now.
    const lives = state.sessionsF64[(row + SESSION.EXPIRES_AT) >>> 1]! > state.clock[CLOCK.TIME]!
    const same = account >= 0 && sessions[row + SESSION.APPLICATION] === state.accounts[account * ACCOUNT_WORDS + ACCOUNT.APPLICATION]
    if (lives && !same) broken('P', `session ${session} is of another application than its account`)
    if (findSession(state, sessions, row + SESSION.PUBLIC_KEY) !== session) broken('P', `the key of session ${session} leads elsewhere`)
  }
  checkIndex(state.sessionIndex, 'session', used, (row) => row < used)
}
