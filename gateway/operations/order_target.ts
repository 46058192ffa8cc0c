/**
 * The order that a replacement names: what is known of it before the engine says whether it still rests.
 *
 * A replacement is written in ticks and lots of the original's pair, so the pair must be known to send it. The original's row tells
 * while the order is in it. Afterwards only a repeated idempotency key can succeed, with the answer it had the first time, and the
 * receipt of that key tells; when it cannot be read now, ORDER_SUBMISSION_UNAVAILABLE (specification, Errors). Anything else is
 * ORDER_NOT_FOUND: the original ended, never was, or is somebody else's.
 */
import { SCALAR, ORDER } from '../../core/state/columns.ts'
import { get, getF64, orderRow } from '../../core/view/rows.ts'
import { IdKind, parseId, type Id } from '../../core/layout/ids.ts'
import { Flag } from '../../core/layout/command.ts'
import { readReceipt } from '../../core/view/receipts.ts'
import { keyWords, type OrderTerms } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { replaceTerms, type ReplaceItem } from './order_terms.ts'

/** The terms of replacing the order of `account` that `orderId` names by `item`, or why it cannot be. */
export function replacementOf(gateway: Gateway, account: number, orderId: string, item: ReplaceItem): OrderTerms | Refused {
  const target = parseId(IdKind.ORDER, orderId)
  if (target === null) return new Refused('ORDER_NOT_FOUND')
  const found = inRow(gateway, account, target) ?? inReceipt(gateway, account, item)
  if (found === 'unreadable') return new Refused('ORDER_SUBMISSION_UNAVAILABLE')
  const pair = found === 'unknown' ? undefined : gateway.genesis.pairs[found.pair]
  if (found === 'unknown' || pair === undefined) return new Refused('ORDER_NOT_FOUND')
  const terms = replaceTerms(item, pair)
  if (terms instanceof Refused) return terms
  terms.targetSlot = target.slot
  terms.targetSequence = target.sequence
  terms.pays = (found.flags & Flag.SELL) !== 0 ? pair.base : pair.quote
  return terms
}

interface Found {
  readonly pair: number
  /** Flag bits. */
  readonly flags: number
}

/** What the order's row says; the row keeps its words until another order gets it, which changes the sequence. */
function inRow({ state }: Gateway, account: number, target: Id): Found | null {
  if (target.slot >= state.scalars[SCALAR.ORDERS_USED]!) return null
  const row = orderRow(state, target.slot)
  const found = { pair: get(state, row, ORDER.PAIR), flags: get(state, row, ORDER.FLAGS) }
  const theirs = get(state, row, ORDER.ACCOUNT) === account && getF64(state, row, ORDER.SEQUENCE) === target.sequence
  return theirs ? found : null
}

function inReceipt({ state, gate }: Gateway, account: number, { idempotencyKey = '' }: ReplaceItem): Found | 'unknown' | 'unreadable' {
  return idempotencyKey === '' ? 'unknown' : readReceipt(state, gate, account, keyWords(account, idempotencyKey))
}
