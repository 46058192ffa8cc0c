/**
 * The price feeder: index prices of perpetuals as commands of lane 0, from this thread.
 *
 * A perpetual with sources (sources.ts) has what they agree on. Every other one has the embedded price, which the book of the spot pair
 * with the same base and quote makes (embedded.ts).
 *
 * At most one price a second and pair goes into the journal, refused ones too, and none that is as the one before for a third of the time
 * after which that would be stale. A price of an operator, or of a replay, that is fresh is left alone. The index follows what is farther
 * away than one step may be (core/margin/index_step.ts) in such steps, one a second, each of which sources or book say anew; a price that
 * is refused all the same is counted, and said once. Behind an outage the engine takes the third that agrees (core/programs/prices.ts).
 */
import { performance } from 'node:perf_hooks'
import { CommandType } from '../../../core/layout/command.ts'
import { PerpMode, PriceSource, SET_INDEX_PRICE_COMMAND } from '../../../core/layout/margin.ts'
import type { State } from '../../../core/state/state.ts'
import type { FromThread } from '../../../core/threads.ts'
import { perpFigures, type PerpFigures } from '../../../core/view/perps.ts'
import type { Admin } from '../admin.ts'
import { EmbeddedPrice } from './embedded.ts'
import { isFreshPrice, pollSource, type Polled } from './poll.ts'
import { agreedPrice, type IndexMaker, type PairSources } from './sources.ts'

/** Between two looks, and between two prices of a pair, ms. */
const LOOK_MS = 250
const PRICE_MS = 1000

export interface FeederParts {
  readonly state: State
  readonly gate: Int32Array
  readonly admin: Pick<Admin, 'send'>
  /** Sequenced time, Unix ms. */
  readonly time: () => number
  readonly tell: (message: FromThread) => void
  readonly sources: readonly PairSources[]
}

export interface FedPair {
  readonly symbol: string
  readonly pair: number
  readonly of: PairSources | null
  readonly polled: readonly Polled[]
  /** The exchange's own price; used without sources. */
  readonly embedded: EmbeddedPrice
  /** While the operator sets no price. */
  readonly maker: IndexMaker
  /** Prices the engine took, and refused. */
  taken: number
  refused: number
  /** Prices of sources that were farther from the index than a step may be. */
  bounded: number
  /** Sequenced time of the last one that was refused, Unix ms. */
  refusedAt: number
}

export interface Feeder {
  readonly pairs: readonly FedPair[]
  /** One look at all perpetuals; what is worth it is sent. */
  look(): Promise<void>
  stop(): void
}

/** `watch` false: the feeder looks only when `look` is called, and the operator alone makes index prices. */
export function createFeeder(parts: FeederParts, watch = true): Feeder {
  const { state, gate, sources } = parts
  const pairs: FedPair[] = state.genesis.pairs.filter(({ perp }) => perp !== null).map((pair) => {
    const of = sources.find(({ symbol }) => symbol === pair.symbol) ?? null
    const [polled, embedded] = [(of?.sources ?? []).map(pollSource), new EmbeddedPrice(state, gate, pair)]
    const maker = !watch ? 'OPERATOR' : of !== null ? 'SOURCES' : embedded.hasBook ? 'OWN_BOOK' : 'REFERENCE'
    return { symbol: pair.symbol, pair: pair.index, of, polled, embedded, maker, taken: 0, refused: 0, bounded: 0, refusedAt: 0 }
  })
  let looking = false
  let stopped = false
  async function look(): Promise<void> {
    if (looking) return
    looking = true
    for (const fed of pairs) if (!stopped) await feed(parts, fed)
    looking = false
  }
  const timer = watch && pairs.length > 0 ? setInterval(() => void look(), LOOK_MS).unref() : undefined
  return {
    pairs, look,
    stop() {
      stopped = true
      clearInterval(timer)
      for (const { polled } of pairs) for (const each of polled) each.stop()
    },
  }
}

/** Sends the price of a pair if it is worth it. */
async function feed({ state, admin, time, tell }: FeederParts, fed: FedPair): Promise<void> {
  const figures = perpFigures(state, fed.pair)
  if (figures.mode >= PerpMode.SETTLING) return
  if (fed.of === null) fed.embedded.look(figures, time())
  const age = figures.index === 0 ? Infinity : time() - figures.indexAt
  const others = figures.source === PriceSource.OPERATOR || figures.source === PriceSource.REPLAY
  if (age < PRICE_MS || time() - fed.refusedAt < PRICE_MS || (others && age <= figures.staleMs)) return
  const said = priceOf(state, fed, figures, time())
  const price = said === 0 || age > figures.staleMs ? said : withinStep(fed, figures, said)
  if (price === 0 || (price === figures.index && age < figures.staleMs / 3)) return
  const source = fed.of === null ? PriceSource.EMBEDDED : PriceSource.POLLED
  const values = { pair: fed.pair, price, source, observedAt: time() }
  const result = await admin.send(CommandType.SET_INDEX_PRICE, SET_INDEX_PRICE_COMMAND, values)
  if (typeof result !== 'string' && result['code'] === 0) {
    fed.taken++
    return
  }
  fed.refusedAt = time()
  const reason = typeof result === 'string' ? result : Number(result['code'])
  if (fed.refused++ === 0) {
    const fields = { pair: fed.symbol, price, reason }
    tell({ type: 'log', level: 'warn', message: 'an index price was not taken; others are counted only', fields })
  }
}

/** Ticks; 0: there is no price now. */
function priceOf(state: State, { pair: number, of, polled, embedded }: FedPair, figures: PerpFigures, time: number): number {
  const pair = state.genesis.pairs[number]!
  if (of === null) return embedded.price(figures, time)
  const now = performance.now()
  const price = agreedPrice(polled.filter((each) => isFreshPrice(each, now)).map((each) => each.price), of)
  const ticks = price === null ? 0 : Math.round((price * 10 ** pair.priceScale) / pair.tickUnits)
  return ticks < state.priceTicks ? ticks : 0
}

/** `price`, no farther from a fresh index than a step may be. */
function withinStep(fed: FedPair, { index, indexBandPpm }: PerpFigures, price: number): number {
  const step = Math.max(1, Math.floor((index * indexBandPpm) / 1_000_000))
  const bounded = Math.min(index + step, Math.max(index - step, price))
  if (bounded !== price) fed.bounded++
  return bounded
}
