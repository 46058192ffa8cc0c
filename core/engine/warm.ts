/**
 * Fetching rows into the processor's caches before a batch is applied. It changes nothing and may be left out.
 *
 * A command finds its rows one after another: session, order, account, balance, neighbours in queue and list. When the state is
 * larger than the caches each costs a trip to memory of 100 ns and more. The commands of a batch are known beforehand, so their
 * rows can be read at once: the processor overlaps reads that do not depend on each other. Three rounds, each needing what the one
 * before fetched, and one for the places where idempotency keys are looked for. 16 to 64 commands at a time fit the caches; rows fetched
 * for a command that finds another state are merely read.
 */
import { CommandType, Flag, Option, ORDER_COMMAND, slotsOfKind } from '../layout/command.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import { levelOf } from '../book/levels.ts'
import { ACCOUNT, BALANCE, LEVEL, ORDER, REGISTERS_AT, SCALAR, SESSION, TERMS } from '../state/columns.ts'
import {
  accountRow, balanceRow, get, levelRow, orderRow, pairCount, scalar, sessionRow, signOf, termsRow,
} from '../state/rows.ts'
import { readHomes } from '../state/receipt_index.ts'
import type { State } from '../state/state.ts'

/** Words whose commands' rows are fetched before the first of them is applied. */
const AHEAD = 32 * RECORD_WORDS
/** With fewer live orders the state fits the caches, and warming costs more (30 ns a command) than it saves. */
const FEW = 50_000
/** With fewer receipts their index fits. */
const FEW_RECEIPTS = 50_000
/** The last register takes what was read, so that no reading can be left out as useless; nobody looks at it. */
const READ = (REGISTERS_AT + 15) * 2

/** Reads what the next commands of a batch will touch: from word `at` on, where one begins. Up to which word that was; `end`: of all. */
export function warmAhead(state: State, batch: Views, at: number, end: number): number {
  const next = Math.min(end, at + AHEAD)
  warm(state, batch, at, next)
  return next
}

/** Reads what the commands from word `base` up to word `end` will touch; a command begins at `base`. */
export function warm(state: State, command: Views, base: number, end: number): void {
  if (scalar(state, SCALAR.RECEIPTS_COUNT) >= FEW_RECEIPTS) state.i32[READ] = warmKeys(state, command.i32, base, end)
  if (scalar(state, SCALAR.ORDERS_LIVE) < FEW) return
  const named = warmNamed(state, command.i32, base, end)
  const owned = warmOwned(state, command.i32, base, end)
  state.i32[READ] = named ^ owned ^ warmQueued(state, command.i32, base, end)
}

/** Where the idempotency keys of orders are looked for. */
function warmKeys(state: State, words: Int32Array, base: number, end: number): number {
  const sessions = scalar(state, SCALAR.SESSIONS_USED)
  let read = 0
  for (let at = base; at < end; at += slotsOfKind(words[at]!) * RECORD_WORDS) {
    const type = words[at]! & 0xff
    if (type !== CommandType.PLACE_ORDER && type !== CommandType.REPLACE_ORDER) continue
    if ((words[at + ORDER_COMMAND.at.options]! & Option.KEYED) === 0) continue
    const session = words[at + ORDER_COMMAND.at.session]!
    if (session < 0 || session >= sessions) continue
    read ^= readHomes(state, get(state, sessionRow(state, session), SESSION.ACCOUNT), words, at + ORDER_COMMAND.at.key)
  }
  return read
}

/** Round 1: sessions, and the orders that are named as targets. */
function warmNamed(state: State, words: Int32Array, base: number, end: number): number {
  const sessions = scalar(state, SCALAR.SESSIONS_USED)
  const orders = scalar(state, SCALAR.ORDERS_USED)
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const type = words[at]! & 0xff
    const session = words[at + ORDER_COMMAND.at.session]!
    if (session >= 0 && session < sessions) read ^= get(state, sessionRow(state, session), SESSION.ACCOUNT)
    const slot = words[at + ORDER_COMMAND.at.targetSlot]!
    if ((type !== CommandType.CANCEL_ORDER && type !== CommandType.REPLACE_ORDER) || slot < 0 || slot >= orders) continue
    const row = orderRow(state, slot)
    // Both cache lines of the row.
    read ^= get(state, row, ORDER.NEXT) ^ signOf(state, row, ORDER.HOLD)
  }
  return read
}

/** Round 2: the account, its balance in the asset that moves, and the neighbours of a target. */
function warmOwned(state: State, words: Int32Array, base: number, end: number): number {
  const sessions = scalar(state, SCALAR.SESSIONS_USED)
  const orders = scalar(state, SCALAR.ORDERS_USED)
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const type = words[at]! & 0xff
    if (type !== CommandType.PLACE_ORDER && type !== CommandType.CANCEL_ORDER && type !== CommandType.REPLACE_ORDER) continue
    const session = words[at + ORDER_COMMAND.at.session]!
    if (session < 0 || session >= sessions) continue
    const account = get(state, sessionRow(state, session), SESSION.ACCOUNT)
    let pair = words[at + ORDER_COMMAND.at.pair]!
    let flags = words[at + ORDER_COMMAND.at.flags]!
    if (type !== CommandType.PLACE_ORDER) {
      const slot = words[at + ORDER_COMMAND.at.targetSlot]!
      if (slot < 0 || slot >= orders) continue
      const row = orderRow(state, slot)
      pair = get(state, row, ORDER.PAIR)
      flags = get(state, row, ORDER.FLAGS)
      read ^= rowWord(state, get(state, row, ORDER.PREV)) ^ rowWord(state, get(state, row, ORDER.NEXT))
      read ^= rowWord(state, get(state, row, ORDER.ACCOUNT_PREV)) ^ rowWord(state, get(state, row, ORDER.ACCOUNT_NEXT))
    }
    if (pair < 0 || pair >= pairCount(state)) continue
    const asset = get(state, termsRow(state, pair), (flags & Flag.SELL) === 0 ? TERMS.QUOTE : TERMS.BASE)
    read ^= get(state, accountRow(state, account), ACCOUNT.APPLICATION)
    read ^= signOf(state, balanceRow(state, account, asset), BALANCE.AVAILABLE)
  }
  return read
}

/** Round 3: the orders that a new one will follow in its queue and in its account's list. */
function warmQueued(state: State, words: Int32Array, base: number, end: number): number {
  const sessions = scalar(state, SCALAR.SESSIONS_USED)
  let read = 0
  for (let at = base; at < end; at += RECORD_WORDS) {
    const session = words[at + ORDER_COMMAND.at.session]!
    if ((words[at]! & 0xff) !== CommandType.PLACE_ORDER || session < 0 || session >= sessions) continue
    const account = get(state, sessionRow(state, session), SESSION.ACCOUNT)
    read ^= rowWord(state, get(state, accountRow(state, account), ACCOUNT.ORDERS_HEAD))
    const pair = words[at + ORDER_COMMAND.at.pair]!
    const tick = words[at + ORDER_COMMAND.at.price]!
    if (pair < 0 || pair >= pairCount(state) || tick < 1 || tick >= state.priceTicks) continue
    if ((words[at + ORDER_COMMAND.at.flags]! & Flag.MARKET) !== 0) continue
    const level = levelOf(state, pair, tick)
    if (level >= 0) read ^= rowWord(state, get(state, levelRow(state, level), LEVEL.TAIL))
  }
  return read
}

/** The first word of an order row; 0 for no order. */
const rowWord = (state: State, slot: number): number => (slot < 0 ? 0 : get(state, orderRow(state, slot), ORDER.NEXT))
