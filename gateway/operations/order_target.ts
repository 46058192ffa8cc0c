/**
 * The order that a replacement names: what is known of it before the engine says whether it still rests.
 *
 * A replacement by order id is written in ticks and lots of the original's pair, so the pair must be known to send it. The original's row
 * tells while the order is in it. Afterwards only a repeated idempotency key can succeed, with the answer it had the first time, and the
 * receipt of that key tells; when it cannot be read now, ORDER_SUBMISSION_UNAVAILABLE (specification, Errors). Anything else is
 * ORDER_NOT_FOUND: the original ended, never was, or is somebody else's.
 *
 * By client order id (`client:...`) it is written in decimals, and the engine finds the order when its turn comes: nothing is looked up
 * here, so that a replacement may follow its create before that was answered.
 */
import { SCALAR, ORDER } from '../../core/state/columns.ts'
import { get, getF64, orderRow } from '../../core/view/rows.ts'
import { type Id } from '../../core/layout/ids.ts'
import { readReceipt } from '../../core/view/receipts.ts'
import type { Caller } from '../auth/signed_request.ts'
import { encodeCancel, encodeNamedCancel, keyWords } from '../bridge/encode.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { namedReplacement, replaceTerms, type ReplaceItem } from './order_terms.ts'
import { orderOf, type NamedOrder } from './lookup.ts'

/** The terms of replacing the order of `account` that `orderId` names by `item`, or why it cannot be. */
export function replacementOf(gateway: Gateway, account: number, orderId: string, item: ReplaceItem): OrderTerms | Refused {
  const target = orderOf(orderId)
  if (target instanceof Refused) return target
  if ('clientOrderId' in target) return namedReplacement(item, target.clientOrderId)
  const found = inRow(gateway, account, target) ?? inReceipt(gateway, account, item)
  if (found === 'unreadable') return new Refused('ORDER_SUBMISSION_UNAVAILABLE')
  const pair = found === 'unknown' ? undefined : gateway.genesis.pairs[found.pair]
  if (found === 'unknown' || pair === undefined) return new Refused('ORDER_NOT_FOUND')
  const terms = replaceTerms(item, pair)
  if (terms instanceof Refused) return terms
  terms.targetSlot = target.slot
  terms.targetSequence = target.sequence
  return terms
}

/** CANCEL_ORDER of what the caller named. */
export function encodeCancelOf({ engine }: Gateway, at: number, correlation: number, caller: Caller, target: NamedOrder): void {
  if ('clientOrderId' in target) encodeNamedCancel(engine, at, correlation, caller, target.clientOrderId)
  else encodeCancel(engine, at, correlation, caller, target.slot, target.sequence)
}

interface Found {
  readonly pair: number
}

/** What the order's row says; the row keeps its words until another order gets it, which changes the sequence. */
function inRow({ state }: Gateway, account: number, target: Id): Found | null {
  if (target.slot >= state.scalars[SCALAR.ORDERS_USED]!) return null
  const row = orderRow(state, target.slot)
  const found = { pair: get(state, row, ORDER.PAIR) }
  const theirs = get(state, row, ORDER.ACCOUNT) === account && getF64(state, row, ORDER.SEQUENCE) === target.sequence
  return theirs ? found : null
}

function inReceipt({ state, gate }: Gateway, account: number, { idempotencyKey = '' }: ReplaceItem): Found | 'unknown' | 'unreadable' {
  return idempotencyKey === '' ? 'unknown' : readReceipt(state, gate, account, keyWords(account, idempotencyKey))
}
