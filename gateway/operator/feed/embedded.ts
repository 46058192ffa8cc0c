/**
 * The embedded price: what the exchange's own spot book says a perpetual is worth. One user alone must not make it, because it moves the
 * margin of others. So it is an impact price, time-weighted and bounded.
 *
 * - **Depth.** The middle of the average prices at which the impact notional can be sold and bought at once. The notional is the term
 *   `impactNotional` of the perpetual, and at least {@link OPEN_SHARE} of its open interest. A side of the book that cannot bear it makes
 *   the price unavailable: then no price is sent, the index becomes stale, and only orders that reduce are taken.
 * - **Time.** The mean over {@link WINDOW_MS}, weighted by how long each price stood; unavailable while fewer than half of the window have
 *   a price.
 * - **Drift.** At most the index band a step, and at most half of the least initial margin in {@link DRIFT_MS}: a position with the most
 *   leverage has two minutes.
 * - **Reference.** Before the first trade of the spot pair the price is the reference of the genesis, or a deep book within {@link
 *   REFERENCE_BAND} of it. Afterwards the reference counts for nothing. A perpetual without a spot pair keeps its reference.
 *
 * Prices are in ticks of the perpetual, times in sequenced ms. A look costs at most {@link LEVELS} levels of each side.
 */
import type { Pair } from '../../../core/state/genesis.ts'
import type { State } from '../../../core/state/state.ts'
import { readDepth, type Depth, type DepthLevel } from '../../../core/view/book.ts'
import { lastPriceOf, type PerpFigures } from '../../../core/view/perps.ts'

/** Share of the open interest that the impact notional has at least. */
export const OPEN_SHARE = 0.01
/** Of prices that count, ms. */
export const WINDOW_MS = 30_000
/** In which the price may drift by half of the least initial margin, ms. */
export const DRIFT_MS = 60_000
/** How far a price may be from the reference before the first trade, of the reference. */
export const REFERENCE_BAND = 0.2
const LEVELS = 1000
/** A price stands this long at most when looks are late, ms. */
const HELD_MS = 1000

/** The price that stood from `at` on; 0: the book could not bear the notional. */
interface Sample {
  readonly at: number
  readonly price: number
}

export class EmbeddedPrice {
  readonly #state: State
  readonly #gate: Int32Array
  readonly #pair: Pair
  readonly #spot: Pair | undefined
  /** Oldest first, at most {@link WINDOW_MS} old. */
  #samples: Sample[] = []
  /** Index prices of the last {@link DRIFT_MS}, oldest first. */
  #indexes: Sample[] = []

  constructor(state: State, gate: Int32Array, pair: Pair) {
    this.#state = state
    this.#gate = gate
    this.#pair = pair
    this.#spot = state.genesis.pairs.find(({ perp, base, quote }) => perp === null && base === pair.base && quote === pair.quote)
  }

  /** There is a spot pair whose book makes it; otherwise it is the reference. */
  get hasBook(): boolean {
    return this.#spot !== undefined
  }

  /** Looks at the book and the index; several times a second. */
  look(figures: PerpFigures, time: number): void {
    if (figures.index > 0) this.#indexes = within([...this.#indexes, { at: time, price: figures.index }], time - DRIFT_MS)
    const spot = this.#spot
    const depth = spot === undefined ? null : readDepth(this.#state, this.#gate, spot.index, LEVELS, 1, LEVELS)
    if (spot === undefined || depth === null) return
    const middle = impactMiddle(depth, this.#notional(figures) / Number(spot.tickLotAtoms))
    const price = middle * (spot.tickUnits / this.#pair.tickUnits) * 10 ** (this.#pair.priceScale - spot.priceScale)
    this.#samples = within([...this.#samples, { at: time, price }], time - WINDOW_MS)
  }

  /** Atoms of the quote asset that each side must bear. */
  #notional({ openLots, index }: PerpFigures): number {
    const open = openLots * index * Number(this.#pair.tickLotAtoms)
    return Math.max(Number(this.#pair.perp!.impactAtoms), open * OPEN_SHARE)
  }

  /** The price to send now, ticks; 0: there is none. */
  price(figures: PerpFigures, time: number): number {
    const wanted = this.#wanted(figures, time)
    if (wanted === 0) return 0
    const bounded = Math.max(1, Math.min(this.#state.priceTicks - 1, Math.round(wanted)))
    const { index, indexBandPpm } = figures
    if (index === 0) return bounded
    const step = Math.floor((index * indexBandPpm) / 1_000_000)
    const before = this.#indexes[0]?.price ?? index
    const drift = Math.floor((before * this.#pair.perp!.tiers[0]!.initialPpm) / 2_000_000)
    const [low, high] = [Math.max(index - step, Math.min(index, before - drift)), Math.min(index + step, Math.max(index, before + drift))]
    return Math.max(low, Math.min(high, bounded))
  }

  #wanted({ reference }: PerpFigures, time: number): number {
    if (this.#spot === undefined) return reference
    const mean = meanOf(this.#samples, time)
    if (lastPriceOf(this.#state, this.#spot.index) !== 0) return mean
    return mean === 0 ? reference : Math.max(reference * (1 - REFERENCE_BAND), Math.min(reference * (1 + REFERENCE_BAND), mean))
  }
}

const within = (samples: Sample[], since: number): Sample[] => {
  const first = samples.findIndex(({ at }) => at >= since)
  return first > 0 ? samples.slice(first) : samples
}

/** The mean of the prices that stood, by how long; 0: the last is none, or too few stood. */
function meanOf(samples: readonly Sample[], time: number): number {
  if (samples.length === 0 || samples.at(-1)!.price === 0) return 0
  let [sum, stood] = [0, 0]
  for (const [number, { at, price }] of samples.entries()) {
    const ms = Math.min(HELD_MS, (samples[number + 1]?.at ?? time) - at)
    if (price === 0) continue
    sum += price * ms
    stood += ms
  }
  return stood * 2 < WINDOW_MS ? 0 : sum / stood
}

/**
 * The middle of the average prices at which so much (ticks × lots) can be sold into the bids and bought from the asks; 0: a side cannot
 * bear it.
 */
export function impactMiddle({ bids, asks }: Pick<Depth, 'bids' | 'asks'>, notional: number): number {
  const [sold, bought] = [impactOf(bids, notional), impactOf(asks, notional)]
  return sold === 0 || bought === 0 ? 0 : (sold + bought) / 2
}

function impactOf(levels: readonly DepthLevel[], notional: number): number {
  let [value, lots] = [0, 0]
  for (const level of levels) {
    const part = Math.min(level.lots, (notional - value) / level.price)
    lots += part
    value += part * level.price
    if (part < level.lots) break
  }
  // A last level that just bears it may lack a rounding.
  return lots === 0 || value < notional * (1 - 1e-9) ? 0 : value / lots
}
