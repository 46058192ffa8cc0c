/**
 * The state as typed-array views, created empty or attached to shared memory.
 *
 * Hot code uses `i32`, `f64` and `i64`, the whole memory, and the addresses `...At` of columns (columns.ts); everybody else reads
 * the view of a column. Both are the same bytes.
 */
import { type Genesis, type Limits } from './genesis.ts'
import {
  ACCOUNT, APPLICATION, APPLICATION_NAME_WORDS, BALANCE_WORDS, bitmapWords,
  CLIENT_ID_WORDS, columnsOf, duePlaces, HASH_KEY_AT, ORIGIN_WORDS, PAGE_LEVELS, PAIR, SCALAR,
} from './columns.ts'
import type { ColumnAddresses, ColumnViews, State, ViewOf } from './shape.ts'
import { ListedGenesis, writeListings } from './listing.ts'
import { addressesOf, allocateBuffers, columnBytes, type Buffers } from './memory.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { beginPerps, writePerpTerms } from './perp_rows.ts'
import { accountRow, applicationRow, bytesOf, originRow, pairRow, set } from './rows.ts'
import { PairStatus } from '../layout/command.ts'
import { memoryPages, NO_STORE, type PageStore } from './page_store.ts'
import { PAGE_OF_RECEIPTS, receiptRoomOf } from './receipt_room.ts'

export type { State } from './shape.ts'

type View = ViewOf[keyof ViewOf]
interface ArrayOf {
  new (memory: SharedArrayBuffer, at: number, length: number): View
  readonly BYTES_PER_ELEMENT: number
}
const ARRAYS: Readonly<Record<keyof ViewOf | 'F64' | 'I64', ArrayOf>> =
  { i32: Int32Array, f64: Float64Array, i64: BigInt64Array, F64: Float64Array, I64: BigInt64Array }

function viewColumns(genesis: Genesis, memory: SharedArrayBuffer): ColumnViews {
  const { at } = addressesOf(genesis)
  const views: Record<string, View> = {}
  for (const column of columnsOf(genesis)) {
    const { name, type } = column
    const bytes = columnBytes(column)
    const view = (as: keyof typeof ARRAYS): View => new ARRAYS[as](memory, at[name], bytes / ARRAYS[as].BYTES_PER_ELEMENT)
    views[name] = view(type)
    for (const further of column.views) views[`${name}${further}`] = view(further)
  }
  return views as unknown as ColumnViews
}

const addressColumns = (genesis: Genesis): ColumnAddresses =>
  Object.fromEntries(Object.entries(addressesOf(genesis).at).map(([name, bytes]) => [`${name}At`, bytes / 4])) as ColumnAddresses

/** What depends on the memory and the limits, for the state's object. */
function partsOf(genesis: Genesis, buffers: Buffers): [first: FirstParts, later: LaterParts] {
  const { memory } = buffers
  const { limits } = genesis
  const { levels: bitmapLevels, total } = bitmapWords(limits.priceTicks)
  const offsets = new Int32Array(bitmapLevels.length)
  for (let level = 1; level < offsets.length; level++) offsets[level] = offsets[level - 1]! + bitmapLevels[level - 1]!
  return [
    {
      i32: new Int32Array(memory),
      f64: new Float64Array(memory),
      i64: new BigInt64Array(memory),
      balanceStride: BALANCE_WORDS * limits.assets,
      ...addressColumns(genesis),
    },
    {
      ...viewColumns(genesis, memory),
      buffers,
      maxOrders: limits.orders,
      maxOpenOrders: limits.openOrdersPerAccount,
      priceTicks: limits.priceTicks,
      orderLifetimeMs: limits.orderLifetimeMs,
      dueOrderPlaces: duePlaces(limits.orders),
      collateralAsset: genesis.pairs.find(({ perp }) => perp !== null)?.quote ?? -1,
      receiptRoom: receiptRoomOf(limits),
      bitmapOffsets: offsets,
      bitmapTotal: total,
      pagesPerPair: limits.priceTicks / PAGE_LEVELS,
    },
  ]
}
type FirstParts = Pick<State, 'i32' | 'f64' | 'i64' | 'balanceStride'> & ColumnAddresses
type LaterParts = Omit<State, keyof FirstParts | 'outbox' | 'genesis' | 'receiptStore' | 'ahead'>

/** Views over existing memory, as another thread or the loader sees them. */
export function attachState(
  genesis: Genesis, buffers: Buffers, outbox: Outbox = createOutbox(4096), receiptStore: PageStore = NO_STORE,
): State {
  const listed = new ListedGenesis(genesis)
  const [first, later] = partsOf(genesis, buffers)
  // Spreading gives fast properties, which the compiler knows the places of; an object filled name by name has not. As many properties
  // as stand below are in the object itself, the others one step further away: so what every order reads stands first.
  const state: State = { outbox, ...first, ...later, genesis: listed, receiptStore, ahead: null }
  listed.follow(state)
  return state
}

/**
 * Gives a state a larger memory, in place, so that whoever holds the state sees it: nobody may keep a view of a column beyond a command.
 * Nothing is in the memory yet.
 */
export function enlarge(state: State, limits: Partial<Limits>): void {
  Object.assign(state.genesis.limits, limits)
  const [first, later] = partsOf(state.genesis, state.ahead ?? allocateBuffers(state.genesis))
  Object.assign(state, first, later, { ahead: null })
}

/** The key of indexes that nobody attacks: of tests and benches. */
const KNOWN_KEY: readonly number[] = [0, 0]

/**
 * A new, empty state. `hashKey`: two numbers that nobody outside knows, the key of its indexes (indexes.ts; lib/hash_key.ts).
 * `receiptStore`: by default the process' own memory.
 */
export function createState(
  genesis: Genesis, outbox?: Outbox, hashKey: readonly number[] = KNOWN_KEY, receiptStore: PageStore = memoryPages(),
): State {
  const state = attachState(genesis, allocateBuffers(genesis), outbox, receiptStore)
  state.i32.set(hashKey, HASH_KEY_AT)
  writeListings(state, genesis)
  beginPerps(state)
  writePerpTerms(state)
  state.scalars[SCALAR.ORDERS_FREE] = -1
  state.scalars[SCALAR.PAGES_FREE] = -1
  for (let pair = 0; pair < genesis.pairs.length; pair++) {
    set(state, pairRow(state, pair), PAIR.STATUS, PairStatus.ACTIVE)
  }
  writeApplications(state)
  state.scalars[SCALAR.RECEIPT_HEAD_AT] = PAGE_OF_RECEIPTS.RECEIPTS
  state.scalars[SCALAR.RULES] = genesis.rules
  return state
}

const TEXT = new TextEncoder()

/** The rows of the applications that the exchange begins with: active, without keys. */
function writeApplications(state: State): void {
  const { scalars, genesis } = state
  const write = (row: number, field: number, words: number, text: string): void => {
    TEXT.encodeInto(text, bytesOf(state, row, field, words * 4))
  }
  for (const { index, clientId, name, allowedOrigins } of genesis.applications) {
    const row = applicationRow(state, index)
    set(state, row, APPLICATION.VERSION, 1)
    set(state, row, APPLICATION.ACTIVE, 1)
    set(state, row, APPLICATION.ORIGINS, allowedOrigins.length)
    write(row, APPLICATION.CLIENT_ID, CLIENT_ID_WORDS, clientId)
    write(row, APPLICATION.NAME, APPLICATION_NAME_WORDS, name)
    allowedOrigins.forEach((origin, place) => write(originRow(state, index, place), 0, ORIGIN_WORDS, origin))
  }
  scalars[SCALAR.APPLICATIONS] = genesis.applications.length
}

/** The wallet of an account, 20 bytes. */
export const addressOf = (state: State, account: number): Uint8Array =>
  bytesOf(state, accountRow(state, account), ACCOUNT.ADDRESS, 20).slice()
