/**
 * What throws where nothing should: how every such fault ends, whatever transport the request came by and wherever it was thrown (a
 * handler, a callback of the engine, the history or the sign-in thread, a timer).
 *
 * The request is refused with 500 INTERNAL. `details.incident` names the fault; the log line with the stack has the same id, and the id of
 * the request. The thread goes on: a gateway holds no truth, and what the engine was asked goes on there.
 *
 * {@link Faults.current} is the request that the thread works for now. Who asks something that is answered later keeps it with the
 * question, and works for it again while the answer is taken in. So no handler has to catch anything, and none can forget to.
 *
 * Bodies, keys and signatures are not logged: long runs of hex digits and server keys are blotted out of the stack, which is cut.
 */
import { randomBytes } from 'node:crypto'
import { Refused } from './refused.ts'

/** A request, as far as a fault concerns it. */
export interface Faulted {
  /** X-Request-Id of it (request_id.ts); absent: it has none. */
  readonly requestId?: string
  /** Answers it, unless it has been answered. */
  refuse(refused: Refused): void
}

/** What is logged of a fault. `request`: '' without one. */
export interface Incident {
  readonly incident: string
  readonly request: string
  readonly stack: string
}

/** Longest stack in the log, characters. */
const STACK_MAX = 4096
/** Bytes of randomness in the name of an incident. */
const INCIDENT_BYTES = 5
const SECRETS = /[0-9a-fA-F]{40,}|sk_[\w-]{8,}/g

export class Faults {
  /** The request that the thread works for now; `null`: none. */
  current: Faulted | null = null
  readonly #report: (error: unknown, incident: Incident) => void

  constructor(report: (error: unknown, incident: Incident) => void) {
    this.#report = report
  }

  /** Runs `act` for `request`; what it throws ends that request. */
  guard(request: Faulted | null, act: () => void): void {
    const before = this.current
    this.current = request
    try {
      act()
    } catch (error) {
      this.end(error, request)
    } finally {
      this.current = before
    }
  }

  /** Reports a fault and refuses the request that it is of. */
  end(error: unknown, request: Faulted | null = this.current): void {
    const incident = randomBytes(INCIDENT_BYTES).toString('hex')
    this.#report(error, { incident, request: request?.requestId ?? '', stack: stackOf(error) })
    if (request === null) return
    try {
      request.refuse(new Refused('INTERNAL', undefined, { incident }))
    } catch (second) {
      this.#report(second, { incident, request: request.requestId ?? '', stack: stackOf(second) })
    }
  }
}

function stackOf(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return text.slice(0, STACK_MAX).replace(SECRETS, '[...]')
}
