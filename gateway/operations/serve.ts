/**
 * The one way of a request, whatever transport it came by: who it is by, its input, admission, the operation; whose time that was; and what
 * happens to what throws (faults.ts). A transport decodes what came, encodes what goes, and is no part of this.
 *
 *   serve        a request of its own (REST, unary gRPC): public ones and signed reads when there is time for them, other signed ones at
 *                once
 *   serveSigned  a message of a stream (stream/signed_stream.ts), whose sender the stream finds out
 *   runOperation what both come to: input, admission, the operation
 */
import { SESSION_OVER } from '../auth/mistakes.ts'
import { hinted } from '../auth/signature_debug.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import type { Gateway } from '../context.ts'
import { familyOf } from '../limits/families.ts'
import type { Job, Payer } from '../limits/anonymous.ts'
import { Refused } from '../refused.ts'
import { admit } from './admission.ts'
import type { Call, JsonObject, Operation } from './operation.ts'
import { isSignedRead, type Row } from './row.ts'

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
  /** Does `act` with what was kept of the call, and charges what its transport takes. */
  resume(payer: Payer, act: () => void): void
}

/** Serves a request of its own: signed reads and what is not signed when there is time for it, anything else at once. */
export function serve(gateway: Gateway, served: Served, call: ServedCall): void {
  if (served.row.access === 'public') return gateway.anonymous.submit(call)
  if (isSignedRead(served.row)) return serveRead(gateway, served, call)
  serveSigned(gateway, call, () => attempt(gateway, served, call))
}

/** Checks who reads, at once; the read itself waits for the share of its family (limits/reads.ts), which pays for both. */
function serveRead(gateway: Gateway, served: Served, call: ServedCall): void {
  const from = performance.now()
  const known = timeSigned(gateway, call, () => refuseStranger(gateway, call))
  // What throws was refused.
  if (known && !call.over) gateway.reads.submit(new SignedRead(gateway, served, call, performance.now() - from))
}

/** A read whose signature was good. */
class SignedRead implements Job {
  readonly client: string
  readonly reads: boolean
  readonly #gateway: Gateway
  readonly #served: Served
  readonly #call: ServedCall
  /** Time that its signature took. */
  readonly #spentMs: number
  #waited = false

  constructor(gateway: Gateway, served: Served, call: ServedCall, spentMs: number) {
    this.#gateway = gateway
    this.#served = served
    this.#call = call
    this.#spentMs = spentMs
    this.reads = call.reads
    this.client = call.account < 0 ? `application ${call.application}` : `family ${familyOf(gateway.state, call.account)}`
  }

  get requestId(): string {
    return this.#call.requestId
  }

  get over(): boolean {
    return this.#call.over
  }

  keep(): void {
    this.#waited = true
    this.#call.keep()
  }

  run(payer: Payer): void {
    const { history, anonymous, faults } = this.#gateway
    const call = this.#call
    const from = performance.now()
    payer.charge(this.#spentMs)
    history.payer = payer
    faults.guard(call, () => call.resume(payer, () => {
      // While it waited its session may have ended.
      if (this.#waited && !this.#isLive()) call.refuse(SESSION_OVER)
      else runOperation(this.#gateway, this.#served, call)
    }))
    history.payer = null
    anonymous.signed(from, performance.now())
  }

  refuse(refused: Refused): void {
    this.#gateway.reads.charge(this.client, this.#spentMs)
    this.#call.refuse(refused)
  }

  #isLive(): boolean {
    const { session, generation } = this.#call
    if (session < 0) return true
    const { sessions, now } = this.#gateway
    const view = readSessionRow(sessions.state, session)
    return view !== null && view.generation === generation && view.expiresAt > sessions.time(now())
  }
}

/** Serves a request that nobody signed, now that there is time for it. */
export function servePublic(gateway: Gateway, served: Served, call: ServedCall, payer: Payer): void {
  const { history, faults } = gateway
  history.payer = payer
  faults.guard(call, () => void attempt(gateway, served, call))
  history.payer = null
}

/**
 * Runs `act` for a signed request that goes first. It returns `null` when the credentials were good: then its time is that of signed
 * requests; else the client whose time it is (limits/network.ts).
 */
export function serveSigned(gateway: Gateway, call: Call, act: () => string | null): void {
  if (timeSigned(gateway, call, act)) gateway.reads.precede(performance.now())
}

/** Runs `act` as {@link serveSigned} and says whether the credentials were good. */
function timeSigned({ anonymous, faults }: Gateway, call: Call, act: () => string | null): boolean {
  const from = performance.now()
  let stranger: string | null = null
  faults.guard(call, () => {
    stranger = act()
  })
  const until = performance.now()
  if (stranger === null) anonymous.signed(from, until)
  else anonymous.charge(stranger, until - from)
  return stranger === null
}

function attempt(gateway: Gateway, served: Served, call: ServedCall): string | null {
  const stranger = refuseStranger(gateway, call)
  if (stranger === null) runOperation(gateway, served, call)
  return stranger
}

/**
 * Refuses credentials that are no good, and says whose time that was; `null`: they are good. Only then is the client read: the library
 * takes 3 us to say an address, and knows none later.
 */
function refuseStranger(gateway: Gateway, call: ServedCall): string | null {
  const refused = call.authenticate()
  if (refused === null) return null
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
