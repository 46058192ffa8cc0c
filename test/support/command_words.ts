/** Commands as tests write them, in the words that records have for them. */
import { COMMAND_LAYOUTS, CommandType, Option, OPTION_MASK, ORDER_COMMAND, TRANSFER_COMMAND } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'

/**
 * The values of an order command or a transfer whose `flags` are drawn together: what the order is and what the command asks
 * for. Each gets its own word; and what they say there is, a key, a client order id or legs, stands in the second or third slot,
 * if only as zeros. Others are as they are.
 */
export function inWords(type: number, values: Decoded): Decoded {
  const layout = COMMAND_LAYOUTS[type]
  if (layout !== ORDER_COMMAND && layout !== TRANSFER_COMMAND) return values
  const { flags: drawn = 0, ...rest } = values
  const options = Number(rest['options'] ?? 0) | (Number(drawn) & OPTION_MASK)
  const words: Decoded = { ...rest, options }
  if ((options & Option.KEYED) !== 0) words['key'] = String(rest['key'] ?? '') || '00'
  if (layout !== ORDER_COMMAND) return words
  if (type === CommandType.PLACE_ORDER && (options & Option.LEGS) !== 0) words['trailBps'] = rest['trailBps'] ?? 0
  const flags = (Number(drawn) & ~OPTION_MASK) >>> 0
  if (flags >>> 24 !== 0) words['label'] = String(rest['label'] ?? '') || '00'
  return { ...words, flags }
}

/** The payload hash of before the rules 4 that a keyed command carries: by the time, for the reason of {@link tellsAt}. */
export const formerAt = (time: number, payloads: readonly string[]): Decoded =>
  (time % 12 === 0 ? { former: payloads[(time / 12) % payloads.length]! } : {})

/** Whether a command asks for SELF_TRADE: by the time and not by chance, so that a stream is as it was before there was such an option. */
export const tellsAt = (time: number): number => (time % 3 === 0 ? 0 : Option.TELL_SELF_TRADE)
