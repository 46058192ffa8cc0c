/**
 * Open interest in the mean, from the minutes of a perpetual (project/marks.ts): each has number and sum of the samples before it, so a
 * span of any length costs two binary searches.
 */
import type { Genesis } from '../../state/genesis.ts'
import { wideAt } from '../project/accounts.ts'
import { MINUTE_MS, sampleAt } from '../project/marks.ts'
import { MARK_MINUTE } from '../store/margin_layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { WINDOWS, type OpenInterest } from './queries.ts'

const { at: M } = MARK_MINUTE
const DAY_MINUTES = 1440
const DAYS = 7
/** Least share of the minutes that must have a sample. */
const COVERED_PERCENT = 95

/** Samples of a pair before some minute. */
interface Samples {
  readonly count: number
  readonly sum: bigint
}

/** Those of `pair` at `now`, Unix ms; a time before the last minute that is known counts as that. */
export function openInterestOf(reader: PageReader, genesis: Genesis, pair: number, now: number): OpenInterest {
  const { f64, i64 } = reader.views
  const records = reader.count(pair)
  const timeAt = (at: number): number => f64[(at + M.time) >>> 1]!
  const samplesAt = (at: number): Samples => ({ count: f64[(at + M.samples) >>> 1]!, sum: wideAt(i64, (at + M.sum) >>> 1) })
  const last = records === 0 ? 0 : timeAt(reader.locate(pair, records - 1))
  const minute = Math.max(last, now - (now % MINUTE_MS))

  /** Of all minutes that began before `time`, which is at most {@link minute}. */
  const before = (time: number): Samples => {
    const number = reader.search(pair, records, (at) => timeAt(at) < time)
    if (number < records) return samplesAt(reader.locate(pair, number))
    if (records === 0) return { count: 0, sum: 0n }
    const at = reader.locate(pair, records - 1)
    const { count, sum } = samplesAt(at)
    return { count: count + 1, sum: sum + sampleAt(reader.views, at, genesis.pairs[pair]!.tickLotAtoms) }
  }
  /** Mean over `minutes` from `from` on, of those that are over. */
  const mean = (from: number, minutes: number): bigint | null => {
    const [first, end] = [before(from), before(Math.min(minute, from + minutes * MINUTE_MS))]
    const count = end.count - first.count
    return count * 100 < minutes * COVERED_PERCENT ? null : (end.sum - first.sum) / BigInt(count)
  }
  const window = (minutes: number): bigint | null => mean(minute - minutes * MINUTE_MS, minutes)
  const today = minute - (minute % (DAY_MINUTES * MINUTE_MS))
  const days = Array.from({ length: DAYS }, (_, index) => mean(today - (DAYS - 1 - index) * DAY_MINUTES * MINUTE_MS, DAY_MINUTES))
  return { '1h': window(WINDOWS['1h']), '24h': window(WINDOWS['24h']), '7d': window(WINDOWS['7d']), days }
}
