/**
 * Time that a thread gives to signed reads. Orders and everything else that is signed come first; while they come, all reads have
 * `readPercent` of the thread's time (time_share.ts) and a family half of that at most; families have it in rotation, by time taken. A
 * family that reads much waits, two seconds at most before it is refused; the others do not wait for it. What the readers of the history
 * take for a read counts too. Backends with a server key count as one client for each application.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Faults } from '../faults.ts'
import { TimeShare, type Terms } from './time_share.ts'

/** Reads under way at once, of all families and of one. */
export const READS_MAX = 32
export const READS_OF_ONE = 4

const TERMS: Omit<Terms, 'percent'> = {
  debtMs: 100, partOfOne: 0.5, reads: READS_MAX, readsOfOne: READS_OF_ONE, bytes: 0, late: 'share', paysReaders: true,
  at: { seconds: GATEWAY.read_seconds, queued: GATEWAY.reads_queued, refused: GATEWAY.reads_refused },
  texts: { full: 'Too many signed reads', share: 'Reads of this account and its family take more than their share of time' },
}

export class SignedReads extends TimeShare {
  /** `percent` of the thread's time. */
  constructor(percent: number, counters: Float64Array, faults: Faults) {
    super({ ...TERMS, percent }, counters, faults)
  }
}
