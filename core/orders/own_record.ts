/**
 * The record of an order that another command enters on its way: a step of liquidation, a trigger, a slice of a TWAP order. It is written
 * like an ENTER_ORDER that nobody sent (own_orders.ts). What such orders have in common is written here, each adds what it has besides.
 */
import { COMMAND_SLOTS, CommandType, Flag, kindOf, ORDER_COMMAND, originFlags } from '../layout/command.ts'
import { clearFrom, write, writeF64 } from '../layout/record.ts'
import { RECORD_BYTES, viewsOf } from '../layout/table.ts'
import { bucketOf } from '../margin/positions.ts'
import { MarginMode, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, getF64, positionAt } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const C = ORDER_COMMAND.at
/** Written anew for each: no such order enters another one. */
export const ownRecord = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))

/** Writes an order without anything else. `price` in ticks, 0 of a MARKET order. */
export function writeOwnOrder(pair: number, flags: number, price: number, lots: number): void {
  clearFrom(ownRecord, 0, 0)
  write(ownRecord, 0, C.kind, kindOf(CommandType.ENTER_ORDER, 1, 0))
  write(ownRecord, 0, C.session, -1)
  write(ownRecord, 0, C.pair, pair)
  write(ownRecord, 0, C.flags, flags)
  write(ownRecord, 0, C.price, price)
  write(ownRecord, 0, C.lots, lots)
}

/** Flag bits of an order of this origin and side that closes the position at address `position`, in part or in full, in its bucket. */
export function closingFlags(state: State, position: number, sell: number, origin: number): number {
  const cross = get(state, bucketOf(state, position), RISK_BUCKET.MODE) === MarginMode.CROSS ? Flag.CROSS : 0
  return sell | cross | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | originFlags(origin)
}

/** The order closes that position. */
export function namePosition(state: State, position: number): void {
  write(ownRecord, 0, C.position, positionAt(state, position) + 1)
  writeF64(ownRecord, 0, C.namedSequence, getF64(state, position, POSITION.OPENED_SEQUENCE))
}
