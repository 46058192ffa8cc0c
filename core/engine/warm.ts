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
import { balanceRow, pairCount } from '../state/rows.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, LEVEL, LEVEL_WORDS, ORDER, ORDER_WORDS, PAGE_LEVELS, REGISTERS_AT, SCALAR,
  SCALARS_AT, SESSION, SESSION_WORDS, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import type { State } from '../state/state.ts'

/** With fewer live orders the state fits the caches, and warming costs more (30 ns a command) than it saves. */
const FEW = 50_000
/** The last register takes what was read, so that no reading can be left out as useless; nobody looks at it. */
const READ = (REGISTERS_AT + 15) * 2

/** Reads the rows that the one-slot commands in the `slots` slots from word `base` on will touch. */
export function warm(state: State, command: Views, base: number, slots: number): void {
  if (state.i32[SCALARS_AT + SCALAR.ORDERS_LIVE]! < FEW) return
  const end = base + slots * RECORD_WORDS
  const named = warmNamed(state, command.i32, base, end)
  const owned = warmOwned(state, command.i32, base, end)
  state.i32[READ] = named ^ owned ^ warmQueued(state, command.i32, base, end)
}

/** Round 1: sessions, and the orders that are named as targets. */
function warmNamed(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt } = state
  const sessions = i32[SCALARS_AT + SCALAR.SESSIONS_USED]!
  const orders = i32[SCALARS_AT + SCALAR.ORDERS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const type = words[at]! & 0xff
    const session = words[at + ORDER_COMMAND.at.session]!
    if (session >= 0 && session < sessions) read ^= i32[(sessionsAt + session * SESSION_WORDS) & ADDRESS_BITS]!
    const slot = words[at + ORDER_COMMAND.at.targetSlot]!
    if ((type !== CommandType.CANCEL_ORDER && type !== CommandType.REPLACE_ORDER) || slot < 0 || slot >= orders) continue
    const row = (ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
    read ^= i32[row]! ^ i32[row + ORDER.SEQUENCE]!
  }
  return read
}

/** Round 2: the account, its balance in the asset that moves, and the neighbours of a target. */
function warmOwned(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt, termsAt } = state
  const sessions = i32[SCALARS_AT + SCALAR.SESSIONS_USED]!
  const orders = i32[SCALARS_AT + SCALAR.ORDERS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const type = words[at]! & 0xff
    if (type !== CommandType.PLACE_ORDER && type !== CommandType.CANCEL_ORDER && type !== CommandType.REPLACE_ORDER) continue
    const session = words[at + ORDER_COMMAND.at.session]!
    if (session < 0 || session >= sessions) continue
    const account = i32[(sessionsAt + session * SESSION_WORDS + SESSION.ACCOUNT) & ADDRESS_BITS]!
    let pair = words[at + ORDER_COMMAND.at.pair]!
    let flags = words[at + ORDER_COMMAND.at.flags]!
    if (type !== CommandType.PLACE_ORDER) {
      const slot = words[at + ORDER_COMMAND.at.targetSlot]!
      if (slot < 0 || slot >= orders) continue
      const row = (ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS
      pair = i32[row + ORDER.PAIR]!
      flags = i32[row + ORDER.FLAGS]!
      read ^= rowWord(i32, ordersAt, i32[row + ORDER.PREV]!) ^ rowWord(i32, ordersAt, i32[row + ORDER.NEXT]!)
      read ^= rowWord(i32, ordersAt, i32[row + ORDER.ACCOUNT_PREV]!) ^ rowWord(i32, ordersAt, i32[row + ORDER.ACCOUNT_NEXT]!)
    }
    if (pair < 0 || pair >= pairCount(state)) continue
    const asset = i32[termsAt + pair * TERMS_WORDS + ((flags & Flag.SELL) === 0 ? TERMS.QUOTE : TERMS.BASE)]!
    read ^= i32[(state.accountsAt + account * ACCOUNT_WORDS) & ADDRESS_BITS]!
    read ^= i32[balanceRow(state, account, asset)]!
  }
  return read
}

/** Round 3: the orders that a new one will follow in its queue and in its account's list. */
function warmQueued(state: State, words: Int32Array, base: number, end: number): number {
  const { i32, ordersAt, sessionsAt, termsAt } = state
  const sessions = i32[SCALARS_AT + SCALAR.SESSIONS_USED]!
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const session = words[at + ORDER_COMMAND.at.session]!
    if ((words[at]! & 0xff) !== CommandType.PLACE_ORDER || session < 0 || session >= sessions) continue
    const account = i32[(sessionsAt + session * SESSION_WORDS + SESSION.ACCOUNT) & ADDRESS_BITS]!
    read ^= rowWord(i32, ordersAt, i32[(state.accountsAt + account * ACCOUNT_WORDS + ACCOUNT.ORDERS_HEAD) & ADDRESS_BITS]!)
    const pair = words[at + ORDER_COMMAND.at.pair]!
    const tick = words[at + ORDER_COMMAND.at.price]!
    if (pair < 0 || pair >= pairCount(state) || tick < 1 || tick >= state.priceTicks) continue
    if ((words[at + ORDER_COMMAND.at.flags]! & Flag.MARKET) !== 0) continue
    const page = i32[(i32[termsAt + pair * TERMS_WORDS + TERMS.DIRECTORY]! + (tick >>> 5)) & ADDRESS_BITS]! - 1
    if (page < 0) continue
    read ^= rowWord(i32, ordersAt, i32[(state.levelsAt + (page * PAGE_LEVELS + (tick & 31)) * LEVEL_WORDS + LEVEL.TAIL) & ADDRESS_BITS]!)
  }
  return read
}

/** The first word of an order row; 0 for no order. */
const rowWord = (i32: Int32Array, ordersAt: number, slot: number): number =>
  slot < 0 ? 0 : i32[(ordersAt + slot * ORDER_WORDS) & ADDRESS_BITS]!
