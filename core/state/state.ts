/**
 * The state as typed-array views, created empty or attached to shared memory.
 *
 * Hot code uses `i32`, `f64` and `i64`, the whole memory, and the addresses `...At` of columns (columns.ts); everybody else reads
 * the view of a column. Both are the same bytes.
 */
import { type Genesis } from './genesis.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, addressesOf, APPLICATION, APPLICATION_NAME_WORDS, APPLICATION_WORDS, BALANCE_WORDS, bitmapWords,
  CLIENT_ID_WORDS, columnBytes, columnsOf, HASH_KEY_AT, NO_ASK, ORIGIN_WORDS, PAGE_LEVELS, PAIR, PAIR_WORDS, SCALAR, TERMS,
  TERMS_WORDS, type Buffers, type ColumnName,
} from './columns.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { ORIGINS_MAX, PairStatus } from '../layout/command.ts'

export interface State {
  readonly genesis: Genesis
  readonly buffers: Buffers
  readonly outbox: Outbox
  /** The memory of all columns. */
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array
  /** Addresses of columns in 32-bit words ... */
  readonly accountsAt: number
  readonly sessionsAt: number
  readonly ordersAt: number
  readonly levelsAt: number
  readonly pagesAt: number
  readonly pairsAt: number
  readonly termsAt: number
  readonly profilesAt: number
  readonly agentsAt: number
  readonly applicationsAt: number
  readonly receiptsAt: number
  readonly sessionLinksAt: number
  readonly spendLimitsAt: number
  readonly bitmapsAt: number
  /** ... and in 64-bit words. */
  readonly balancesAt: number
  readonly totalsAt: number
  /** 64-bit words of one account's balance rows. */
  readonly balanceStride: number
  readonly pairCount: number
  /** Limits of the genesis. */
  readonly maxOrders: number
  readonly maxOpenOrders: number
  readonly priceTicks: number
  readonly orderLifetimeMs: number
  readonly scalars: Int32Array
  readonly clock: Float64Array
  readonly totals: BigInt64Array
  readonly pairs: Int32Array
  readonly pairsF64: Float64Array
  readonly accounts: Int32Array
  readonly accountsF64: Float64Array
  readonly balances: BigInt64Array
  readonly faucet: Float64Array
  readonly sessions: Int32Array
  readonly sessionsF64: Float64Array
  readonly orders: Int32Array
  readonly ordersF64: Float64Array
  readonly ordersI64: BigInt64Array
  readonly details: Int32Array
  readonly detailsF64: Float64Array
  readonly detailsI64: BigInt64Array
  readonly labels: Int32Array
  readonly pages: Int32Array
  readonly levels: Int32Array
  readonly levelsF64: Float64Array
  readonly receipts: Int32Array
  readonly receiptsF64: Float64Array
  readonly profiles: Int32Array
  readonly sessionLinks: Int32Array
  readonly spendLimits: Int32Array
  readonly spendLimitsF64: Float64Array
  readonly spendLimitsI64: BigInt64Array
  readonly agents: Int32Array
  readonly agentsF64: Float64Array
  readonly agentsI64: BigInt64Array
  readonly orderAgents: Int32Array
  readonly applications: Int32Array
  readonly applicationsF64: Float64Array
  readonly origins: Int32Array
  readonly directory: Int32Array
  readonly bitmaps: Int32Array
  readonly labelIndex: Int32Array
  readonly accountIndex: Int32Array
  readonly sessionIndex: Int32Array
  readonly receiptIndex: Int32Array
  /** Word offsets of the summary levels inside one side's bitmap. */
  readonly bitmapOffsets: Int32Array
  readonly bitmapTotal: number
  /** Pages of ticks per pair. */
  readonly pagesPerPair: number
  readonly assetCount: number
  /** Genesis values by pair, for readers; matching reads TERMS rows. */
  readonly pairBase: Int32Array
  readonly pairQuote: Int32Array
  readonly maxLots: Int32Array
  readonly lotAtoms: BigInt64Array
  readonly tickLotAtoms: BigInt64Array
  /** BigInt scratch (state/balances.ts), because a BigInt that crosses a call is allocated. */
  readonly registers: BigInt64Array
}

/** Allocates the memory of a genesis. It is committed by the operating system as rows are used. */
export function allocateBuffers(genesis: Genesis): Buffers {
  return { memory: new SharedArrayBuffer(addressesOf(genesis).bytes) }
}

/** Makers of the view of one column. */
function columnViews(genesis: Genesis, memory: SharedArrayBuffer) {
  const { at } = addressesOf(genesis)
  const bytes = Object.fromEntries(columnsOf(genesis).map((column) => [column.name, columnBytes(column)])) as Record<ColumnName, number>
  return {
    i32: (name: ColumnName): Int32Array => new Int32Array(memory, at[name], bytes[name] / 4),
    f64: (name: ColumnName): Float64Array => new Float64Array(memory, at[name], bytes[name] / 8),
    i64: (name: ColumnName): BigInt64Array => new BigInt64Array(memory, at[name], bytes[name] / 8),
  }
}

/** The views by name that readers and rare commands use. */
function namedColumns(genesis: Genesis, memory: SharedArrayBuffer) {
  const { i32, f64, i64 } = columnViews(genesis, memory)
  return {
    scalars: i32('scalars'),
    clock: f64('clock'),
    totals: i64('totals'),
    pairs: i32('pairs'),
    pairsF64: f64('pairs'),
    accounts: i32('accounts'),
    accountsF64: f64('accounts'),
    balances: i64('balances'),
    faucet: f64('faucet'),
    sessions: i32('sessions'),
    sessionsF64: f64('sessions'),
    orders: i32('orders'),
    ordersF64: f64('orders'),
    ordersI64: i64('orders'),
    details: i32('orders'),
    detailsF64: f64('orders'),
    detailsI64: i64('orders'),
    labels: i32('labels'),
    pages: i32('pages'),
    levels: i32('levels'),
    levelsF64: f64('levels'),
    receipts: i32('receipts'),
    receiptsF64: f64('receipts'),
    profiles: i32('profiles'),
    sessionLinks: i32('sessionLinks'),
    spendLimits: i32('spendLimits'),
    spendLimitsF64: f64('spendLimits'),
    spendLimitsI64: i64('spendLimits'),
    agents: i32('agents'),
    agentsF64: f64('agents'),
    agentsI64: i64('agents'),
    orderAgents: i32('orderAgents'),
    applications: i32('applications'),
    applicationsF64: f64('applications'),
    origins: i32('origins'),
    directory: i32('directory'),
    bitmaps: i32('bitmaps'),
    labelIndex: i32('labelIndex'),
    accountIndex: i32('accountIndex'),
    sessionIndex: i32('sessionIndex'),
    receiptIndex: i32('receiptIndex'),
    registers: i64('registers'),
  }
}

/** Views over existing memory, as another thread or the loader sees them. */
export function attachState(genesis: Genesis, buffers: Buffers, outbox: Outbox = createOutbox(4096)): State {
  const { memory } = buffers
  const { at } = addressesOf(genesis)
  const { levels: bitmapLevels, total } = bitmapWords(genesis.limits.priceTicks)
  const offsets = new Int32Array(bitmapLevels.length)
  for (let level = 1; level < offsets.length; level++) offsets[level] = offsets[level - 1]! + bitmapLevels[level - 1]!
  const { limits } = genesis
  return {
    genesis, buffers, outbox,
    i32: new Int32Array(memory),
    f64: new Float64Array(memory),
    i64: new BigInt64Array(memory),
    accountsAt: at.accounts / 4,
    sessionsAt: at.sessions / 4,
    ordersAt: at.orders / 4,
    levelsAt: at.levels / 4,
    pagesAt: at.pages / 4,
    pairsAt: at.pairs / 4,
    termsAt: at.terms / 4,
    profilesAt: at.profiles / 4,
    agentsAt: at.agents / 4,
    applicationsAt: at.applications / 4,
    receiptsAt: at.receipts / 4,
    sessionLinksAt: at.sessionLinks / 4,
    spendLimitsAt: at.spendLimits / 4,
    bitmapsAt: at.bitmaps / 4,
    balancesAt: at.balances / 4,
    totalsAt: at.totals / 4,
    balanceStride: genesis.assets.length * BALANCE_WORDS,
    pairCount: genesis.pairs.length,
    maxOrders: limits.orders,
    maxOpenOrders: limits.openOrdersPerAccount,
    priceTicks: limits.priceTicks,
    orderLifetimeMs: limits.orderLifetimeMs,
    ...namedColumns(genesis, memory),
    bitmapOffsets: offsets,
    bitmapTotal: total,
    pagesPerPair: genesis.limits.priceTicks / PAGE_LEVELS,
    assetCount: genesis.assets.length,
    pairBase: Int32Array.from(genesis.pairs, (p) => p.base),
    pairQuote: Int32Array.from(genesis.pairs, (p) => p.quote),
    maxLots: Int32Array.from(genesis.pairs, (p) => p.maxLots),
    lotAtoms: BigInt64Array.from(genesis.pairs, (p) => p.lotAtoms),
    tickLotAtoms: BigInt64Array.from(genesis.pairs, (p) => p.tickLotAtoms),
  }
}

/** The key of indexes that nobody attacks: of tests and benches. */
const KNOWN_KEY: readonly number[] = [0, 0]

/** A new, empty state. `hashKey`: two numbers that nobody outside knows, the key of its indexes (indexes.ts; lib/hash_key.ts). */
export function createState(genesis: Genesis, outbox?: Outbox, hashKey: readonly number[] = KNOWN_KEY): State {
  const state = attachState(genesis, allocateBuffers(genesis), outbox)
  state.i32.set(hashKey, HASH_KEY_AT)
  writeTerms(state)
  state.scalars[SCALAR.ORDERS_FREE] = -1
  state.scalars[SCALAR.PAGES_FREE] = -1
  for (let pair = 0; pair < genesis.pairs.length; pair++) {
    state.pairs[pair * PAIR_WORDS + PAIR.BEST_ASK] = NO_ASK
    state.pairs[pair * PAIR_WORDS + PAIR.STATUS] = PairStatus.ACTIVE
  }
  writeApplications(state)
  state.scalars[SCALAR.RULES] = genesis.rules
  return state
}

const TEXT = new TextEncoder()

/** The rows of the applications that the exchange begins with: active, without keys. */
function writeApplications(state: State): void {
  const { applications, origins, scalars, genesis } = state
  const write = (words: Int32Array, at: number, count: number, text: string): void => {
    TEXT.encodeInto(text, new Uint8Array(words.buffer, words.byteOffset + at * 4, count * 4))
  }
  for (const { index, clientId, name, allowedOrigins } of genesis.applications) {
    const row = index * APPLICATION_WORDS
    applications[row + APPLICATION.VERSION] = 1
    applications[row + APPLICATION.ACTIVE] = 1
    applications[row + APPLICATION.ORIGINS] = allowedOrigins.length
    write(applications, row + APPLICATION.CLIENT_ID, CLIENT_ID_WORDS, clientId)
    write(applications, row + APPLICATION.NAME, APPLICATION_NAME_WORDS, name)
    allowedOrigins.forEach((origin, place) => write(origins, (index * ORIGINS_MAX + place) * ORIGIN_WORDS, ORIGIN_WORDS, origin))
  }
  scalars[SCALAR.APPLICATIONS] = genesis.applications.length
}

/** Repeats what matching needs of the genesis as numbers. */
export function writeTerms(state: State): void {
  const { i32, f64, i64 } = state
  for (const pair of state.genesis.pairs) {
    const row = state.termsAt + pair.index * TERMS_WORDS
    i64[(row + TERMS.LOT_ATOMS) >>> 1] = pair.lotAtoms
    i64[(row + TERMS.TICK_LOT_ATOMS) >>> 1] = pair.tickLotAtoms
    f64[(row + TERMS.TICK_LOT_ATOMS_F64) >>> 1] = Number(pair.tickLotAtoms)
    f64[(row + TERMS.MIN_NOTIONAL) >>> 1] = Number(pair.minNotionalAtoms)
    i32[row + TERMS.BASE] = pair.base
    i32[row + TERMS.QUOTE] = pair.quote
    i32[row + TERMS.MAKER_PPM] = pair.makerPpm
    i32[row + TERMS.TAKER_PPM] = pair.takerPpm
    i32[row + TERMS.MIN_LOTS] = pair.minLots
    i32[row + TERMS.MAX_LOTS] = pair.maxLots
    i32[row + TERMS.DIRECTORY] = state.directory.byteOffset / 4 + pair.index * state.pagesPerPair
  }
}

/** The wallet of an account, 20 bytes. */
export const addressOf = (state: State, account: number): Uint8Array =>
  new Uint8Array(state.buffers.memory, state.accounts.byteOffset + (account * ACCOUNT_WORDS + ACCOUNT.ADDRESS) * 4, 20).slice()
