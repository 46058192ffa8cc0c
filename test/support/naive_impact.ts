/** Impact prices in the naive exchange: what so much can be sold or bought for at once, order by order. */
import type { Decimal } from 'decimal.js'
import { Exact, exact } from './naive_margin.ts'
import { otherSide, type Ex } from './naive_terms.ts'

/** Average price of selling (`sell`) or buying so much, millionths of a tick; null: the best 1,000 prices do not bear it. */
export function impactPrice(ex: Ex, pair: number, notional: Decimal, sell: boolean): Decimal | null {
  let [value, lots] = [exact(0), exact(0)]
  const prices = new Set<number>()
  for (const order of otherSide(ex, pair, sell)) {
    if (prices.add(order.price).size > 1000) return null
    const wanted = notional.minus(value).div(order.price).ceil()
    const met = Exact.min(wanted, order.remaining)
    value = value.plus(met.times(order.price))
    lots = lots.plus(met)
    if (!value.lt(notional)) {
      const price = value.times(1e6).div(lots)
      return sell ? price.floor() : price.ceil()
    }
  }
  return null
}

/** The last trade of a spot pair, between the impact prices of a hundred least orders in whole ticks; 0: none. */
export function spotPrice(ex: Ex, pair: number): number {
  const last = ex.waiting.last.get(pair) ?? 0
  if (last === 0 || ex.inForce < 5) return last
  const { minNotionalAtoms, tickLotAtoms } = ex.genesis.pairs[pair]!
  const notional = Exact.min(2 ** 46, Exact.max(1, exact(minNotionalAtoms).times(100).div(exact(tickLotAtoms)).ceil()))
  const [bid, ask] = [impactPrice(ex, pair, notional, true), impactPrice(ex, pair, notional, false)]
  if (bid === null || ask === null) return 0
  return Exact.min(ask.div(1e6).ceil(), Exact.max(bid.div(1e6).floor(), last)).toNumber()
}
