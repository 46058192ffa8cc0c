/**
 * Fetching rows into the processor's caches before a batch is applied. It changes nothing and may be left out.
 *
 * A command finds its rows one after another: session, order, account, balance, neighbours in queue and list. When the state is
 * larger than the caches each costs a trip to memory of 100 ns and more. The commands of a batch are known beforehand, so their
 * rows can be read at once: the processor overlaps reads that do not depend on each other. Three rounds, each needing what the one
 * before fetched. 16 to 64 commands at a time fit the caches; rows fetched for a command that finds another state are merely read.
 */
import { CommandType, Flag, ORDER_COMMAND } from '../layout/command.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE_WORDS, LEVEL, LEVEL_WORDS, ORDER, ORDER_WORDS, PAGE_LEVELS, REGISTERS_AT, SCALAR,
  SCALARS_AT, SESSION,
  SESSION_WORDS, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import type { State } from '../state/state.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { session: SESSION_FIELD, targetSlot: TARGET_SLOT, pair: PAIR_FIELD, price: PRICE_FIELD, flags: FLAGS_FIELD } = ORDER_COMMAND.at
const { PLACE_ORDER, CANCEL_ORDER, REPLACE_ORDER } = CommandType
const { SELL, MARKET } = Flag
const [RECORD, ORDER_ROW, SESSION_ROW, ACCOUNT_ROW] = [RECORD_WORDS, ORDER_WORDS, SESSION_WORDS, ACCOUNT_WORDS]
const [BALANCE_ROW, TERMS_ROW, LEVEL_ROW, LEVELS_PER_PAGE] = [BALANCE_WORDS, TERMS_WORDS, LEVEL_WORDS, PAGE_LEVELS]
const { NEXT, PREV, ACCOUNT_NEXT, ACCOUNT_PREV, PAIR, FLAGS, SEQUENCE } = ORDER
const { DIRECTORY, BASE, QUOTE } = TERMS
const { ORDERS_HEAD } = ACCOUNT
const { TAIL } = LEVEL
const OF_ACCOUNT = SESSION.ACCOUNT
const SESSIONS_USED = SCALARS_AT + SCALAR.SESSIONS_USED
const ORDERS_USED = SCALARS_AT + SCALAR.ORDERS_USED
const ORDERS_LIVE = SCALARS_AT + SCALAR.ORDERS_LIVE
/** With fewer live orders the state fits the caches, and warming costs more (30 ns a command) than it saves. */
const FEW = 50_000
/** The last register takes what was read, so that no reading can be left out as useless; nobody looks at it. */
const READ = (REGISTERS_AT + 15) * 2

/** Reads the rows that the one-slot commands in the `slots` slots from word `base` on will touch. */
export function warm(state: State, command: Views, base: number, slots: number): void {
  if (state.i32[ORDERS_LIVE]! < FEW) return
  const end = base + slots * RECORD
  const named = warmNamed(state, command.i32, base, end)
  const owned = warmOwned(state, command.i32, base, end)
  state.i32[READ] = named ^ owned ^ warmQueued(state, command.i32, base, end)
}

/** Round 1: sessions, and the orders that are named as targets. */
function warmNamed(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt } = state
  const sessions = i32[SESSIONS_USED]!
  const orders = i32[ORDERS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD) {
    const type = words[at]! & 0xff
    const session = words[at + SESSION_FIELD]!
    if (session >= 0 && session < sessions) read ^= i32[(sessionsAt + session * SESSION_ROW) & ADDRESS]!
    const slot = words[at + TARGET_SLOT]!
    if ((type !== CANCEL_ORDER && type !== REPLACE_ORDER) || slot < 0 || slot >= orders) continue
    const row = (ordersAt + slot * ORDER_ROW) & ADDRESS
    read ^= i32[row]! ^ i32[row + SEQUENCE]!
  }
  return read
}

/** Round 2: the account, its balance in the asset that moves, and the neighbours of a target. */
function warmOwned(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt, termsAt } = state
  const sessions = i32[SESSIONS_USED]!
  const orders = i32[ORDERS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD) {
    const type = words[at]! & 0xff
    if (type !== PLACE_ORDER && type !== CANCEL_ORDER && type !== REPLACE_ORDER) continue
    const session = words[at + SESSION_FIELD]!
    if (session < 0 || session >= sessions) continue
    const account = i32[(sessionsAt + session * SESSION_ROW + OF_ACCOUNT) & ADDRESS]!
    let pair = words[at + PAIR_FIELD]!
    let flags = words[at + FLAGS_FIELD]!
    if (type !== PLACE_ORDER) {
      const slot = words[at + TARGET_SLOT]!
      if (slot < 0 || slot >= orders) continue
      const row = (ordersAt + slot * ORDER_ROW) & ADDRESS
      pair = i32[row + PAIR]!
      flags = i32[row + FLAGS]!
      read ^= rowWord(i32, ordersAt, i32[row + PREV]!) ^ rowWord(i32, ordersAt, i32[row + NEXT]!)
      read ^= rowWord(i32, ordersAt, i32[row + ACCOUNT_PREV]!) ^ rowWord(i32, ordersAt, i32[row + ACCOUNT_NEXT]!)
    }
    if (pair < 0 || pair >= state.pairCount) continue
    const asset = i32[termsAt + pair * TERMS_ROW + ((flags & SELL) === 0 ? QUOTE : BASE)]!
    read ^= i32[(state.accountsAt + account * ACCOUNT_ROW) & ADDRESS]!
    read ^= i32[((state.balancesAt + Math.imul(account, state.balanceStride) + asset * BALANCE_ROW) * 2) & ADDRESS]!
  }
  return read
}

/** Round 3: the orders that a new one will follow in its queue and in its account's list. */
function warmQueued(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt, termsAt } = state
  const sessions = i32[SESSIONS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD) {
    const session = words[at + SESSION_FIELD]!
    if ((words[at]! & 0xff) !== PLACE_ORDER || session < 0 || session >= sessions) continue
    const account = i32[(sessionsAt + session * SESSION_ROW + OF_ACCOUNT) & ADDRESS]!
    read ^= rowWord(i32, ordersAt, i32[(state.accountsAt + account * ACCOUNT_ROW + ORDERS_HEAD) & ADDRESS]!)
    const pair = words[at + PAIR_FIELD]!
    const tick = words[at + PRICE_FIELD]!
    if (pair < 0 || pair >= state.pairCount || tick < 1 || tick >= state.priceTicks || (words[at + FLAGS_FIELD]! & MARKET) !== 0) continue
    const page = i32[(i32[termsAt + pair * TERMS_ROW + DIRECTORY]! + (tick >>> 5)) & ADDRESS]! - 1
    if (page < 0) continue
    read ^= rowWord(i32, ordersAt, i32[(state.levelsAt + (page * LEVELS_PER_PAGE + (tick & 31)) * LEVEL_ROW + TAIL) & ADDRESS]!)
  }
  return read
}

/** The first word of an order row; 0 for no order. */
const rowWord = (i32: Int32Array, ordersAt: number, slot: number): number => (slot < 0 ? 0 : i32[(ordersAt + slot * ORDER_ROW) & ADDRESS]!)
