/**
 * Promise: a tiny trade starts no TWAP order of a spot pair: what it waits for is the last trade within the prices at which a hundred least
 * orders can be sold and bought, and a thin book has no such price.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { TwapOption, TwapState } from '../../core/layout/twap.ts'
import { spotPrice } from '../../core/margin/impact_price.ts'
import { SpotStage } from '../support/spot_stage.ts'

const NOT_FOUND = REFUSALS.NOT_FOUND.number
/** A TWAP order of ann that waits for 900 from above. */
function waiting(stage: SpotStage, over: Decoded = {}): Decoded {
  const terms = { pair: 0, flags: 0, lots: 10, durationMs: 300_000, trigger: 900, ...over }
  return stage.send(CommandType.CREATE_TWAP, { ...stage.signed('ann'), ...terms }, 1)
}
const step = (stage: SpotStage): unknown => stage.send(CommandType.TRIGGER_STEP, { pair: 0 })['code']
/** A trade of mal with himself. */
function washed(stage: SpotStage, price: number, lots = 1): void {
  stage.order('mal', -lots, price)
  stage.order('lam', lots, price)
}

t.test('a trade of a dollar in an empty book starts nobody\'s order', async (t) => {
  // One lot at 900 is 0.90 USD; the least order is 0.50 USD, so each side must bear 50 USD.
  const stage = new SpotStage()
  washed(stage, 900)
  t.match(waiting(stage), { code: 0, outcome: TwapState.PENDING })
  t.equal(spotPrice(stage.state, 0), 0)
  t.equal(step(stage), NOT_FOUND)
  stage.order('mal', 1, 899)
  stage.order('mal', -1, 901)
  t.equal(step(stage), NOT_FOUND, 'two tiny quotes round it')
  stage.order('bob', 60, 880)
  t.equal(step(stage), NOT_FOUND, 'one side')
  stage.order('bob', -60, 905)
  t.equal(spotPrice(stage.state, 0), 900)
  t.equal(step(stage), 0, 'a book that bears it')
  t.equal(step(stage), NOT_FOUND, 'once')
})

t.test('before the rules 5 it did', async (t) => {
  const stage = new SpotStage(4)
  washed(stage, 900)
  t.match(waiting(stage), { code: 0, outcome: TwapState.ACTIVE })
})

t.test('the last trade counts within the impact prices, to a tick', async (t) => {
  const table: [what: string, last: number, quotes: [lots: number, price: number][], price: number][] = [
    ['within', 900, [[100, 890], [-100, 910]], 900],
    ['below: the bids', 900, [[100, 950], [-100, 960]], 950],
    ['above: the asks', 900, [[100, 840], [-100, 850]], 850],
    // 50 × 950 are 47.50 USD, of 940 it takes three lots: 50,320 / 53 = 949.43.
    ['an average of bids is cut', 900, [[50, 950], [100, 940], [-100, 960]], 949],
    // 50 × 850 are 42.50 USD, of 860 it takes nine lots: 50,240 / 59 = 851.53.
    ['one of asks is rounded up', 900, [[100, 800], [-50, 850], [-100, 860]], 852],
    ['a lot less than 50 USD', 900, [[55, 890], [-55, 910]], 0],
  ]
  for (const [what, last, quotes, price] of table) {
    const stage = new SpotStage()
    washed(stage, last)
    for (const [lots, at] of quotes) stage.order('bob', lots, at)
    t.equal(spotPrice(stage.state, 0), price, what)
  }
})

t.test('an order that is reached when it is made begins at once, by the same price', async (t) => {
  const stage = new SpotStage()
  washed(stage, 900)
  stage.order('bob', 100, 895)
  stage.order('bob', -100, 905)
  t.match(waiting(stage), { code: 0, outcome: TwapState.ACTIVE })
  t.match(waiting(stage, { trigger: 901, options: TwapOption.ABOVE }), { code: 0, outcome: TwapState.PENDING })
})
