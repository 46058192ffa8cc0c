/**
 * Promise: what the positions of many users pay and get of funding adds up to nothing but dust, which stays in the funding pool: at most an
 * atom of each payment. A position pays for the intervals that end while it is there, to the millisecond, and for no other.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { MARGIN_TOTAL } from '../../core/state/margin_rows.ts'
import { getI64, marginTotalRow } from '../../core/state/rows.ts'
import { BTC, LiquidationStage, type Given } from '../support/liquidation_stage.ts'
import { HOUR_0 } from '../support/perp_stage.ts'

const HOUR = 3_600_000
/** A tick and lot is an atom, so that every payment has a remainder. */
const SMALL = { tickSize: '0.01', lotSize: '0.0001', minOrderSize: '0.0001', maxOrderSize: '100' }
const pool = (stage: LiquidationStage): bigint => getI64(stage.state, marginTotalRow(stage.state, 0), MARGIN_TOTAL.FUNDING_POOL)
const payments = (events: readonly Decoded[]): bigint[] =>
  events.filter(({ event }) => event === 'FUNDING_PAYMENT').map(({ amount }) => BigInt(amount as bigint))

/** The mark stands `ticks` above an index of 1,000 for good, and a maker's book as far beyond it. */
function premium(ticks: number): LiquidationStage {
  const stage = new LiquidationStage({ referencePrice: '10', maxPositionSize: '100', staleSeconds: 3600, impactNotional: '0.1' }, {}, SMALL)
  stage.price(BTC, 1000)
  stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.FORCED_MARK, value: 1000 + ticks, number: HOUR_0 + 20 * HOUR })
  stage.deposit('mak', 50)
  stage.order('mak', 1000, 1000 + ticks - (ticks < 0 ? 2 : 0))
  stage.order('mak', -1000, 1000 + ticks + (ticks < 0 ? 0 : 2))
  return stage
}

/** FUNDING_STEP at a moment, with a fresh price. */
function stepAt(stage: LiquidationStage, time: number): Decoded[] {
  stage.time = time
  stage.price(BTC, 1000)
  return stage.events(CommandType.FUNDING_STEP, { pair: BTC })
}

for (const ticks of [7, -3]) {
  t.test(`60 users, a premium of ${ticks} ticks, four intervals`, async (t) => {
    const stage = premium(ticks)
    const random = createPrng(60 + ticks)
    const given: Record<string, Given> = {}
    let rest = 0
    for (let user = 0; user < 59; user++) {
      const lots = (1 + random.below(999)) * (random.below(2) === 0 ? 1 : -1)
      given[`user${user}`] = { lots, price: 1000, collateral: 50, cross: random.below(3) === 0 }
      rest -= lots
    }
    stage.give({ ...given, user59: { lots: rest, price: 1000, collateral: 500 } })

    for (let hour = 1; hour <= 4; hour++) {
      stepAt(stage, HOUR_0 + hour * HOUR - 30_000)
      const rate = stepAt(stage, HOUR_0 + hour * HOUR).find(({ event }) => event === 'FUNDING_RATE')
      t.equal(Math.sign(Number(rate?.['rate'])), Math.sign(ticks))
      t.ok(pool(stage) >= 0n)
    }
    stage.settle(BTC, 1000)
    const paid = payments(stage.run().events)
    t.equal(paid.length, 60, 'each settles once, for all intervals')
    t.ok(paid.some((amount) => amount > 0n) && paid.some((amount) => amount < 0n))
    const dust = -paid.reduce((sum, amount) => sum + amount, 0n)
    t.equal(dust, pool(stage), 'what the pool has is what was rounded')
    t.ok(dust > 0n && dust < 60n, `${dust} atoms of 60 payments`)
  })
}

t.test('at the boundary: who is there pays, who comes or goes in the same millisecond does not pay twice', async (t) => {
  const stage = premium(7)
  stage.give({ ann: { lots: 500, price: 1000, collateral: 50 }, bob: { lots: -500, price: 1000, collateral: 50 } })
  stage.deposit('cat', 50)
  stage.deposit('dan', 50)
  stepAt(stage, HOUR_0 + 60_000)
  t.equal(stepAt(stage, HOUR_0 + HOUR - 1).find(({ event }) => event === 'FUNDING_RATE'), undefined, 'a millisecond before')
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('mak'), pair: -1, limit: 10 }, 1)
  // dan has sold to cat, before the interval ends: both are there.
  stage.order('dan', -100, 1000)
  stage.order('cat', 100, 1000)
  const ended = stepAt(stage, HOUR_0 + HOUR).find(({ event }) => event === 'FUNDING_RATE')
  const each = BigInt(ended!['cumulative'] as bigint)
  t.ok(each > 0n)
  // eve buys from fay in that very millisecond, behind it.
  for (const name of ['eve', 'fay']) stage.deposit(name, 50)
  stage.order('fay', -100, 1000)
  stage.order('eve', 100, 1000)
  stage.settle(BTC, 1000)
  const { events } = stage.run()
  const of = (name: string): bigint[] => payments(events.filter(({ account }) => account === stage.account(name)))
  const share = (lots: bigint): bigint => {
    const exact = -lots * each
    return exact >= 0n ? exact / 1_000_000n : -((-exact + 999_999n) / 1_000_000n)
  }
  t.same([of('ann'), of('bob')], [[share(500n)], [share(-500n)]])
  t.same([of('cat'), of('dan')], [[share(100n)], [share(-100n)]])
  t.same([of('eve'), of('fay')], [[], []])
  t.equal(pool(stage), -[500n, -500n, 100n, -100n].reduce((sum, lots) => sum + share(lots), 0n))
})
