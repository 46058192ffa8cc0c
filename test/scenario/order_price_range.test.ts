/**
 * Promise: every tick of a pair can be traded, from the first to the last, however far apart, and nothing beyond. The best price is
 * found across any distance.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { play, Scene } from '../support/scenario.ts'

const given = ['ann 100 BTC, 100000 USD', 'cat 100 BTC, 1000000 USD']

play(t, 'the first and the last tick', {
  given,
  limits: { priceTicks: 1024 },
  when: [
    ['ann buys 1 at 0.01', 'SUBMITTED'],
    ['ann sells 1 at 10.23', 'SUBMITTED'],
    ['ann sells 1 at 10.24', 'refused INVALID_TICK'],
    ['ann buys 1 at 0', 'refused INVALID_TICK'],
    ['cat buys 1 at 10.23', 'FILLED'],
    ['cat sells 1 at 0.01', 'FILLED'],
  ],
  trades: ['cat buys 1 at 10.23 from ann', 'cat sells 1 at 0.01 to ann'],
  book: [],
})

play(t, 'the widest pair: 2^26 ticks', {
  given,
  limits: { priceTicks: 2 ** 26 },
  when: [
    ['ann buys 0.001 at 0.01', 'SUBMITTED'],
    ['ann sells 0.001 at 671088.63', 'SUBMITTED'],
    ['ann sells 0.001 at 671088.64', 'refused INVALID_TICK'],
    ['cat buys 0.001 at 671088.63', 'FILLED'],
    ['cat sells 0.001 at market', 'FILLED'],
  ],
  trades: ['cat buys 0.001 at 671088.63 from ann', 'cat sells 0.001 at 0.01 to ann'],
})

play(t, 'orders far apart are found in order', {
  given,
  limits: { priceTicks: 2 ** 26 },
  when: [
    ['ann sells 0.001 at 600000', 'SUBMITTED'],
    ['ann sells 0.001 at 0.32', 'SUBMITTED'],
    ['ann sells 0.001 at 0.31', 'SUBMITTED'],
    ['ann sells 0.001 at 10000.01', 'SUBMITTED'],
    ['cat buys 0.004 at 671088.63', 'FILLED'],
  ],
  trades: [0.31, 0.32, 10000.01, 600000].map((price) => `cat buys 0.001 at ${price} from ann`),
})

t.test('every one of 1,023 ticks, in random order, on both sides', async (t) => {
  const scene = new Scene({ limits: { orders: 16_384, priceTicks: 1024, openOrdersPerAccount: 2000 } })
  for (const line of given) scene.give(line)
  const random = createPrng(9)
  const ticks = Array.from({ length: 1023 }, (_, index) => index + 1).sort(() => random.unit() - 0.5)
  for (const side of ['sells', 'buys'] as const) {
    const refused = ticks.filter((tick) => scene.step(`ann ${side} 0.001 at ${tick / 100}`) !== 'SUBMITTED')
    t.same(refused, [], `ann ${side} at every tick`)
    t.equal(scene.book().length, 1023)
    scene.trades.length = 0
    t.equal(scene.step(`cat ${side === 'sells' ? 'buys' : 'sells'} 1.023 at ${side === 'sells' ? 10.23 : 0.01}`), 'FILLED')
    const prices = scene.trades.map((trade) => Number(trade.split(' ')[4]))
    const best = [...ticks].sort((a, b) => (side === 'sells' ? a - b : b - a)).map((tick) => tick / 100)
    t.same(prices, best, 'met from the best to the worst')
  }
})
