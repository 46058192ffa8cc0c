/**
 * The one way of a request, whatever transport it came by: who it is by, its input, admission, the operation; whose time that was; and what
 * happens to what throws (faults.ts). A transport decodes what came, encodes what goes, and is no part of this.
 *
 *   serve        a request of its own (REST, unary gRPC): public ones when there is time for them, signed ones at once
 *   serveSigned  a message of a stream (stream/signed_stream.ts), whose sender the stream finds out
 *   runOperation what both come to: input, admission, the operation
 */
import { hinted } from '../auth/signature_debug.ts'
import type { Gateway } from '../context.ts'
import type { Job, Payer } from '../limits/anonymous.ts'
import { Refused } from '../refused.ts'
import { admit } from './admission.ts'
import type { Call, JsonObject, Operation } from './operation.ts'
import type { Row } from './row.ts'

/** An operation, ready to be served. */
export interface Served {
  readonly row: Row
  readonly operation: Operation<never>
}

/** A call whose sender is known. */
export interface ReadableCall extends Call {
  /** The checked input, or what is wrong with it. */
  readInput(): JsonObject | Refused
}

/** A request of its own. */
export interface ServedCall extends ReadableCall, Job {
  readonly requestId: string
  /** Who it is by; or which refusal that is, whose time its client pays. */
  authenticate(): Refused | null
}

/** Serves a request of its own: at once what is signed, and what is not when there is time for it. */
export function serve(gateway: Gateway, served: Served, call: ServedCall): void {
  if (served.row.access === 'public') return gateway.anonymous.submit(call)
  serveSigned(gateway, call, () => attempt(gateway, served, call))
}

/** Serves a request that nobody signed, now that there is time for it. */
export function servePublic(gateway: Gateway, served: Served, call: ServedCall, payer: Payer): void {
  const { history, faults } = gateway
  history.payer = payer
  faults.guard(call, () => void attempt(gateway, served, call))
  history.payer = null
}

/**
 * Runs `act` for a signed request. It returns `null` when the credentials were good: then its time is that of signed requests; else the
 * client whose time it is (limits/network.ts).
 */
export function serveSigned(gateway: Gateway, call: Call, act: () => string | null): void {
  const { anonymous, faults } = gateway
  const from = performance.now()
  let stranger: string | null = null
  faults.guard(call, () => {
    stranger = act()
  })
  const until = performance.now()
  if (stranger === null) anonymous.signed(from, until)
  else anonymous.charge(stranger, until - from)
}

/**
 * The client, when the credentials were no good. Only then is it read: the library takes 3 us to say an address, and knows none
 * later.
 */
function attempt(gateway: Gateway, served: Served, call: ServedCall): string | null {
  const refused = call.authenticate()
  if (refused === null) {
    runOperation(gateway, served, call)
    return null
  }
  const { client } = call
  call.refuse(hinted(gateway.genesis, refused))
  return client
}

/** Reads the input, admits the call, and runs the operation. */
export function runOperation(gateway: Gateway, { row, operation }: Served, call: ReadableCall): void {
  const input = call.readInput()
  if (input instanceof Refused) return call.refuse(input)
  const refused = admit(gateway, row, call, input)
  if (refused !== null) return call.refuse(refused)
  ;(operation as Operation<unknown>).run(gateway, call as Call<unknown>, input)
}
