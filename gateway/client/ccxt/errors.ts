/**
 * Errors of the adapter, by the names and in the hierarchy that ccxt documents, so that code written for ccxt finds what it knows.
 *
 * The register of the service says which class a refusal is. What may have been applied is a {@link RequestTimeout}, whatever it failed
 * with: ccxt's users look before they send that again. `cause` is the client's own error, with `code`, `details` and `outcome`.
 */
import { NetworkError as NoAnswer, RingbookError, StreamError } from '../errors.ts'
import { CCXT_CLASS } from './register.ts'

export class BaseError extends Error {}
export class ExchangeError extends BaseError {}
export class AuthenticationError extends ExchangeError {}
export class PermissionDenied extends AuthenticationError {}
export class ArgumentsRequired extends ExchangeError {}
export class BadRequest extends ExchangeError {}
export class BadSymbol extends BadRequest {}
export class InsufficientFunds extends ExchangeError {}
export class InvalidOrder extends ExchangeError {}
export class OrderNotFound extends InvalidOrder {}
export class OrderImmediatelyFillable extends InvalidOrder {}
export class DuplicateOrderId extends InvalidOrder {}
export class NotSupported extends ExchangeError {}
export class NetworkError extends BaseError {}
export class RateLimitExceeded extends NetworkError {}
export class ExchangeNotAvailable extends NetworkError {}
export class OnMaintenance extends ExchangeNotAvailable {}
export class InvalidNonce extends NetworkError {}
export class RequestTimeout extends NetworkError {}
/** Not of ccxt: a reader of a `watch` verb may have missed updates, and reads what is open again. */
export class UpdatesLost extends NetworkError {}

type ErrorClass = new (message: string, options?: ErrorOptions) => BaseError

/** By the name in the register. */
const CLASSES: Readonly<Record<string, ErrorClass>> = {
  ExchangeError, AuthenticationError, PermissionDenied, BadRequest, BadSymbol, InsufficientFunds, InvalidOrder, OrderNotFound,
  OrderImmediatelyFillable, DuplicateOrderId, RateLimitExceeded, ExchangeNotAvailable, OnMaintenance, InvalidNonce,
}
// Names that stay what they are when a bundler renames classes.
const NAMED = { ...CLASSES, BaseError, ArgumentsRequired, NotSupported, NetworkError, RequestTimeout, UpdatesLost }
for (const [name, { prototype }] of Object.entries(NAMED)) Object.defineProperty(prototype, 'name', { value: name })

const SESSION_CODES: ReadonlySet<string> = new Set(['AUTH_REQUIRED', 'AUTH_FAILED', 'SESSION_INVALID'])

/** `error` of the client as ccxt has it; anything else as it is. */
export function unified(error: unknown): unknown {
  if (error instanceof NoAnswer) {
    const Class = error.outcome !== 'not-applied' || error.timedOut ? RequestTimeout : NetworkError
    return new Class(error.message, { cause: error })
  }
  if (error instanceof RingbookError) {
    const Class = error.outcome === 'not-applied' ? classOf(error) : RequestTimeout
    return new Class(`${error.code}: ${error.message}`, { cause: error })
  }
  if (error instanceof StreamError) {
    const Class = SESSION_CODES.has(error.code) ? AuthenticationError : ExchangeError
    return new Class(`${error.code}: ${error.message}`, { cause: error })
  }
  return error
}

function classOf({ code, status }: RingbookError): ErrorClass {
  const name = Object.hasOwn(CCXT_CLASS, code) ? CCXT_CLASS[code]! : ''
  if (CLASSES[name] !== undefined) return CLASSES[name]
  if (status === 401) return AuthenticationError
  if (status === 429) return RateLimitExceeded
  return status >= 500 ? ExchangeNotAvailable : ExchangeError
}
