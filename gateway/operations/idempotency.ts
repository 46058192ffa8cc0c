/**
 * Idempotency keys: the name that a client gives a request so that it may repeat it (specification, Errors, rules 4 and 7). Keys of
 * orders, transfers and rewards are one space per account; the engine keeps the receipts.
 */
import Type from 'typebox'
import { WAY_IN, type PendingRequest } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { submit, type Call, type Preparation } from './operation.ts'
import { field } from './schema.ts'

/** Longest key, in UTF-16 units. */
const KEY_MAX = 128
const BOUNDS = { minLength: 1, maxLength: KEY_MAX }
const MEANING = 'Repeating a request with the same key and content within 24 hours gives the first answer again and executes nothing.'

/** The field of a request that moves something: a key of a bad length is refused by the schema. */
export const idempotencyKey = Type.Optional(field(Type.String(BOUNDS), MEANING))
/** The field of an order: its schema lets any text pass, because a bad key of a batch is the error of its own element ({@link keyOf}). */
export const idempotencyKeyOfOrder = Type.Optional(field(Type.String(), MEANING, BOUNDS))
/** What descriptions of operations with a key say. */
export const REPEATED = 'With an `idempotencyKey` it may be repeated: it then answers what it answered first.'

/** A key as commands carry it, '' when none was given; or the refusal of one that is none. */
export function keyOf(text: string | undefined): string | Refused {
  if (text === undefined) return ''
  return text.length >= 1 && text.length <= KEY_MAX && text.isWellFormed()
    ? text
    : refusedField('idempotencyKey', `idempotencyKey must be 1 to ${KEY_MAX} characters`)
}

/**
 * Submits a command with `key`, '' for none. With one, what finds no room or gets no answer is ORDER_SUBMISSION_UNAVAILABLE: an earlier
 * request with this key may have been applied, and repeating it finds out.
 */
export function submitKeyed(
  gateway: Gateway, call: Call<never>, key: string, pending: PendingRequest, encode: (at: number, correlation: number) => void,
  first: Preparation | null = null,
): void {
  const keyed = key !== ''
  pending.onDeadline = () => call.refuse(new Refused(keyed ? 'ORDER_SUBMISSION_UNAVAILABLE' : 'SERVICE_UNAVAILABLE'))
  submit(gateway, call, pending, encode, WAY_IN, keyed, first)
}
