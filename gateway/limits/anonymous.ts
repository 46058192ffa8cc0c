/**
 * Time that a thread gives to requests of nobody: public reads, sign-ins, documents, refusals of heads, changes of subscriptions. Signed
 * requests come first; while they come all this has `anonymousPercent` of the thread's time (time_share.ts). Clients are networks.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Faults } from '../faults.ts'
import type { Proxies } from './shares.ts'
import { TimeShare, type Terms } from './time_share.ts'

export { QUEUE_MAX, type Job, type Payer } from './time_share.ts'

export const READS_MAX = 4
/** What messages of WebSockets may hold while they wait, bytes. */
export const MESSAGES_BYTES = 64 * 1024 * 1024

const TERMS: Omit<Terms, 'percent'> = {
  debtMs: 1_000, partOfOne: null, reads: READS_MAX, readsOfOne: READS_MAX, bytes: MESSAGES_BYTES, late: 'full', paysReaders: false,
  at: {
    seconds: GATEWAY.anonymous_seconds, queued: GATEWAY.anonymous_queued, refused: GATEWAY.anonymous_refused,
    bytes: GATEWAY.ws_changes_bytes,
  },
  texts: { full: 'Too many requests without a signature', share: 'Too many requests without a signature from this address' },
}

export class AnonymousWork extends TimeShare {
  readonly #counters: Float64Array

  /** `percent` of the thread's time; clients in `proxies` stand for many. */
  constructor(percent: number, counters: Float64Array, faults: Faults, proxies: Proxies = new Set()) {
    super({ ...TERMS, percent }, counters, faults, proxies)
    counters[GATEWAY.ws_changes_capacity] = MESSAGES_BYTES
    this.#counters = counters
  }

  /** A signed request took this long. */
  signed(from: number, until: number): void {
    this.precede(until)
    this.#counters[GATEWAY.signed_seconds]! += (until - from) / 1000
  }
}
