/**
 * Sequenced time as other threads see it: the matcher tells how far it is from the monotonic clock of the machine, which all threads
 * share, so that nobody needs the wall clock to know whether a session or an order has expired.
 */
import { monotonicMs } from '../lib/io.ts'
import { MATCHER } from './counters.ts'

/** A clock of sequenced time, whole Unix ms. `matcher`: its block of counters. */
export const sequencedClock = (matcher: Float64Array) => (): number => Math.floor(monotonicMs() + matcher[MATCHER.clock_offset_ms]!)
