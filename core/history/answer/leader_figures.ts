/**
 * Figures of leaders: return and largest drawdown of the margin equity of an account over 30 days, net of deposits and withdrawals.
 *
 * Points are full hours of UTC, at most {@link POINTS} of them in equal steps, the last of them the newest full hour that the history has
 * reached. At each point E is the collateral of all margin accounts of the account with what its positions are worth at the marks of then
 * (margin_value.ts; funding counts when it is paid), and F what flowed in from its balances less what flowed out, since the first record.
 *
 *   flow = F1 - F0        gain = E1 - E0 - flow        used = E0 + max(flow, 0)
 *   index1 = index0 × (used + gain) / used, at least 0; index0 where nothing was used
 *   return = last index / first index - 1      drawdown = the largest (highest index before - index) / highest index before
 *
 * So a deposit is no profit and makes no loss smaller, and who took everything out goes on where he was. An hour without a mark is left
 * out. Of less than a day there are no figures.
 */
import { HOUR_MS } from '../project/accounts.ts'
import { MARGIN_FLOW } from '../store/copy_layout.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import type { LeaderFigures } from './copy_queries.ts'
import type { MarginValueReader } from './margin_value.ts'

const { at: M } = MARGIN_FLOW
/** Steps of the window, at most. */
export const POINTS = 120
/** Hours. */
const WINDOW = 720
const LEAST = 24
const WHOLE = 10n ** 12n
/** Hundredths of a per cent. */
const PARTS = 10_000n
/** Points made before others get a turn. */
const SLICE = 16
/** Accounts whose figures of this hour are kept. */
const KEPT = 4096

export interface LeaderFiguresReader {
  /** At `now`, Unix ms. */
  figures(account: number, now: number): Generator<undefined, LeaderFigures | null>
  readonly readers: readonly PageReader[]
}

/** One point after the other, as the formula has it. */
class Index {
  private value = WHOLE
  private highest = WHOLE
  private fallen = 0n
  private before: { equity: bigint; net: bigint } | null = null

  add(equity: bigint, net: bigint): void {
    const { before } = this
    this.before = { equity, net }
    if (before === null) return
    const flow = net - before.net
    const used = before.equity + (flow > 0n ? flow : 0n)
    if (used <= 0n) return
    const now = used + equity - before.equity - flow
    this.value = now <= 0n ? 0n : (this.value * now) / used
    if (this.value > this.highest) this.highest = this.value
    const fallen = ((this.highest - this.value) * PARTS) / this.highest
    if (fallen > this.fallen) this.fallen = fallen
  }

  figures(): LeaderFigures {
    return { returned: Number(((this.value - WHOLE) * PARTS) / WHOLE), drawdown: Number(this.fallen) }
  }
}

export function createLeaderFigures(store: CheckedStore, margin: MarginValueReader): LeaderFiguresReader {
  const flows = createPageReader(store, 'margin_flow_page')
  const { f64, i64 } = flows.views
  const kept = new Map<number, LeaderFigures | null>()
  let keptOf = -1
  /** What flowed into `account` before `hour`. */
  const netBefore = (account: number, hour: number): bigint => {
    const number = flows.search(account, flows.count(account), (at) => f64[(at + M.hour) >>> 1]! < hour) - 1
    return number < 0 ? 0n : i64[(flows.locate(account, number) + M.net) >>> 1]!
  }

  function* work(account: number, end: number): Generator<undefined, LeaderFigures | null> {
    if (flows.count(account) === 0) return null
    const known = f64[(flows.locate(account, 0) + M.hour) >>> 1]! + 1
    const begin = Math.max(end - WINDOW, known)
    if (end - begin < LEAST) return null
    const step = Math.ceil((end - begin) / POINTS)
    const index = new Index()
    let points = 0
    for (let hour = end - Math.floor((end - begin) / step) * step; hour <= end; hour += step) {
      const equity = margin.before(account, hour)
      if (equity !== null) index.add(equity, netBefore(account, hour))
      if (++points % SLICE === 0) yield
    }
    return index.figures()
  }

  return {
    readers: [flows],
    *figures(account, now) {
      const end = Math.floor(now / HOUR_MS)
      if (end !== keptOf || kept.size >= KEPT) kept.clear()
      keptOf = end
      const known = kept.get(account)
      if (known !== undefined) return known
      const figures = yield* work(account, end)
      if (keptOf === end) kept.set(account, figures)
      return figures
    },
  }
}
