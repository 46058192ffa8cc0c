/** Commands as tests write them, in the words that records have for them. */
import { Option, OPTION_MASK, ORDER_COMMAND, TRANSFER_COMMAND } from '../../core/layout/command.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'

/**
 * The values of an order or a transfer whose `flags` are drawn together: what the order is and what the command asks for. Each gets its
 * own word; and what they say there is, a key or a client order id, stands in the second slot, if only as zeros. Others are as they are.
 */
export function inWords(layout: Layout, values: Decoded): Decoded {
  if (layout !== ORDER_COMMAND && layout !== TRANSFER_COMMAND) return values
  const { flags: drawn = 0, ...rest } = values
  const options = Number(rest['options'] ?? 0) | (Number(drawn) & OPTION_MASK)
  const words: Decoded = { ...rest, options }
  if ((options & Option.KEYED) !== 0) words['key'] = String(rest['key'] ?? '') || '00'
  if (layout !== ORDER_COMMAND) return words
  const flags = (Number(drawn) & ~OPTION_MASK) >>> 0
  if (flags >>> 24 !== 0) words['label'] = String(rest['label'] ?? '') || '00'
  return { ...words, flags }
}
