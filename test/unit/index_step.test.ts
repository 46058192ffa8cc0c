/**
 * Promise: one step of an index never takes more than a position with the most leverage has: the bound is the least initial margin less
 * taker fee and liquidation fee, whatever wider band the genesis says, since the rules 5. The shipped genesis says no wider band.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { perpFigures } from '../../core/view/perps.ts'
import { CommandType } from '../../core/layout/command.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

const OUT = REFUSALS.PRICE_OUT_OF_BAND.number
const ladder = (maxLeverage: string, maintenanceMarginRatio: string): object => ({
  riskTiers: [{ lowerBoundNotional: '0', maxLeverage, maintenanceMarginRatio }],
})

t.test('initial margin of 2 % and costs of 0.55 % bound a step to 1.45 %, also under a band of 10 %', async (t) => {
  for (const indexBandBps of ['1000', '145', '10000']) {
    const stage = new PerpStage({ ...ladder('50', '0.01'), indexBandBps })
    stage.price(10_000)
    t.equal(perpFigures(stage.state, PERP_PAIR).indexBandPpm, 14_500, 'readers are told the bound in force')
    t.equal(stage.price(10_146)['code'], OUT)
    t.equal(stage.price(9854)['code'], OUT)
    t.equal(stage.price(10_145)['code'], 0)
    t.equal(stage.price(11_000)['code'], OUT)
    t.equal(stage.price(11_000, { force: 1 })['code'], 0, 'an operator who looked may force it')
  }
})

t.test('a narrower band of the genesis stays', async (t) => {
  const stage = new PerpStage({ ...ladder('50', '0.01'), indexBandBps: '100' })
  stage.price(10_000)
  t.equal(stage.price(10_101)['code'], OUT)
  t.equal(stage.price(10_100)['code'], 0)
})

t.test('costs that leave nothing: a quarter of the initial margin, so that prices come', async (t) => {
  const stage = new PerpStage({ ...ladder('100', '0.005'), liquidationFeeBps: '90' })
  stage.price(10_000)
  t.equal(stage.price(10_026)['code'], OUT)
  t.equal(stage.price(10_025)['code'], 0)
})

t.test('prices behind an outage agree within the same bound', async (t) => {
  const stage = new PerpStage(ladder('50', '0.01'))
  stage.price(10_000)
  stage.time += 3_600_000
  for (const [price, code] of [[11_000, OUT], [11_170, OUT], [11_170, OUT], [11_170, 0]] as const) {
    t.equal(stage.price(price)['code'], code, `${price}`)
    stage.time += 1000
  }
})

t.test('an exchange of older rules keeps its band until the rules 5 come in force', async (t) => {
  const stage = new PerpStage(ladder('50', '0.01'), {}, 4)
  stage.price(10_000)
  t.equal(stage.price(11_000)['code'], 0)
  t.equal(stage.send(CommandType.SET_RULES, { rules: 5 })['code'], 0)
  t.equal(stage.price(12_000)['code'], OUT)
})

t.test('the shipped genesis says no band beyond the bound', async (t) => {
  const genesis = parseGenesis(readFileSync(new URL('../../data/genesis/genesis.json', import.meta.url), 'utf8'))
  const perps = genesis.pairs.filter(({ perp }) => perp !== null)
  t.equal(perps.length, 3)
  for (const { symbol, perp, takerPpm } of perps) {
    t.ok(perp!.indexBandPpm + takerPpm + perp!.liquidationFeePpm <= perp!.tiers[0]!.initialPpm, symbol)
  }
})
