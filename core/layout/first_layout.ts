/**
 * The first layout of records, that of batches which name version 1, and how its records become those of today (command.ts).
 *
 * Two layouts were other ones then: orders and transfers had key, payload hash and client order id in the one slot that every command
 * had, and what a command asks for among the flags. Every other record was what it is. Nothing here ever changes.
 */
import {
  COMMAND_LAYOUTS, CommandType, kindOf, CLIENT_ORDER_ID_SHIFT, Option, OPTION_MASK, ORDER_COMMAND, slotsOfKind,
  TRANSFER_COMMAND,
} from './command.ts'
import { defineLayout, RECORD_BYTES, RECORD_WORDS, viewsOf, type Layout, type Views } from './table.ts'

const HEADER = { kind: 'u32', correlation: 'u32', session: 'i32', sessionGeneration: 'u32' } as const

/** What is now flags and options was `flags`; bits 24-31 were the length of the client order id, as they are. */
export const FIRST_ORDER = defineLayout('first_order', {
  ...HEADER, pair: 'i32', flags: 'u32', price: 'i32', lots: 'i32', slippageBps: 'i32', targetSlot: 'i32', expiresAt: 'f64',
  key: 'bytes16', payload: 'bytes16', label: 'bytes40', targetSequence: 'f64',
})
export const FIRST_TRANSFER = defineLayout('first_transfer', {
  ...HEADER, asset: 'i32', flags: 'u32', subAccount: 'i32', toSub: 'i32', reserved: 'i32', reserved2: 'i32', amount: 'i64',
  key: 'bytes16', payload: 'bytes16',
})

const ORDERS: readonly number[] = [
  CommandType.PLACE_ORDER, CommandType.CANCEL_ORDER, CommandType.REPLACE_ORDER, CommandType.EXPIRE_ORDER,
]

/** Layout of a command type in a batch of version `version`; none: no such type. */
export function layoutOf(type: number, version: number): Layout | undefined {
  if (version === 1 && ORDERS.includes(type)) return FIRST_ORDER
  if (version === 1 && type === CommandType.TRANSFER) return FIRST_TRANSFER
  return COMMAND_LAYOUTS[type]
}

/** Words that stand where they stood: header, and the body up to the key. */
const SAME_WORDS = FIRST_ORDER.at.key
const KEY_WORDS = FIRST_ORDER.at.label - FIRST_ORDER.at.key
const LABEL_WORDS = FIRST_ORDER.at.targetSequence - FIRST_ORDER.at.label

/** Writes the record of layout 1 at word `from` as one of today at word `to`, which is zero; returns the slots that has. */
export function modernise(old: Views, from: number, into: Views, to: number): number {
  const kind = old.u32[from]!
  const type = kind & 0xff
  const isOrder = ORDERS.includes(type)
  if (!isOrder && type !== CommandType.TRANSFER) {
    const slots = slotsOfKind(kind)
    copy(old, from, into, to, slots * RECORD_WORDS)
    return slots
  }
  copy(old, from, into, to, SAME_WORDS)
  const flags = old.u32[from + FIRST_ORDER.at.flags]!
  let long = (flags & Option.KEYED) !== 0
  if (isOrder) {
    const { at } = ORDER_COMMAND
    into.u32[to + at.flags] = (flags & ~OPTION_MASK) >>> 0
    into.u32[to + at.options] = flags & OPTION_MASK
    copy(old, from + FIRST_ORDER.at.targetSequence, into, to + at.targetSequence, 2)
    const carries = type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER
    long = carries && (long || flags >>> CLIENT_ORDER_ID_SHIFT !== 0)
    if (long) copy(old, from + FIRST_ORDER.at.label, into, to + at.label, LABEL_WORDS)
  }
  if (!long) return 1
  copy(old, from + FIRST_ORDER.at.key, into, to + TRANSFER_COMMAND.at.key, KEY_WORDS)
  into.u32[to] = kindOf(type, 2, kind >>> 16)
  return 2
}

function copy(from: Views, at: number, into: Views, to: number, words: number): void {
  for (let word = 0; word < words; word++) into.i32[to + word] = from.i32[at + word]!
}

/** The records of a batch of layout 1 as those of today. */
export function modernised(records: Uint8Array): Uint8Array {
  const old = viewsOf(Uint8Array.from(records).buffer)
  const into = viewsOf(new ArrayBuffer(2 * records.length))
  let [from, to] = [0, 0]
  while (from < old.i32.length) {
    const slots = slotsOfKind(old.u32[from]!)
    if (slots === 0) throw new Error('a record without slots')
    to += modernise(old, from, into, to) * RECORD_WORDS
    from += slots * RECORD_WORDS
  }
  return into.bytes.subarray(0, (to / RECORD_WORDS) * RECORD_BYTES)
}
