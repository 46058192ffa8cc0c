/**
 * Promise: a trailing stop follows the best mark since it was armed, never the other way, and closes the position when the mark comes back
 * by its distance: of a long at watermark x (1 - trailBps / 10000), of a short mirrored. Figures: test/support/liquidation_stage.ts. The
 * model of it over random paths is property/trailing_stop_model.test.ts.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { BTC } from '../support/liquidation_stage.ts'
import { WaitingStage } from '../support/waiting_stage.ts'

function stageOf(): WaitingStage {
  const stage = new WaitingStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 8000 }, bob: { lots: -10, price: 1000, collateral: 50_000 } })
  stage.deposit('mia', 90_000)
  return stage
}
const figures = (event: Decoded | undefined): unknown[] => [event!['watermark'], event!['trigger']]

t.test('a long: up with every better mark, fires at its distance below the best, to the tick', async (t) => {
  const stage = stageOf()
  const { events, told } = stage.attach('ann', { trail: { bps: 500 } })
  t.same([told, figures(events[0])], [['ann TRAILING_STOP ARMED CREATED'], [1000, 950]])
  stage.order('mia', 20, 940)
  for (const price of [1020, 1010, 1031, 1000]) t.same(stage.move(price), [], String(price))
  // floor(1031 x 0.95) = floor(979.45).
  t.same(stage.move(980), [])
  stage.price(BTC, 979)
  const fired = stage.settleDown()
  t.same(fired.told, ['ann TRIGGER FILLED 10/10', 'ann TRAILING_STOP TRIGGERED TRIGGERED'])
  t.same(figures(fired.events.find(({ event }) => event === 'CONDITIONAL')), [1031, 979])
  t.equal(stage.lots('ann'), 0)
})

t.test('a short: mirrored, rounded up', async (t) => {
  const stage = stageOf()
  const { events } = stage.attach('bob', { trail: { bps: 333 } })
  t.same(figures(events[0]), [1000, 1034], 'ceil(1000 x 1.0333)')
  stage.deposit('zoe', 90_000)
  stage.order('zoe', -20, 1045)
  for (const price of [990, 1010, 991]) t.same(stage.move(price), [])
  // ceil(990 x 1.0333) = ceil(1022.967).
  t.same(stage.move(1022), [])
  t.same(stage.move(1023), ['bob TRIGGER FILLED 10/10', 'bob TRAILING_STOP TRIGGERED TRIGGERED'])
})

t.test('with an activation price it waits for it, and begins there', async (t) => {
  const stage = stageOf()
  const { told, events } = stage.attach('ann', { trail: { bps: 200, from: 1050 } })
  t.same([told, figures(events[0]), events[0]!['activation']], [['ann TRAILING_STOP PENDING CREATED'], [0, 0], 1050])
  stage.order('mia', 20, 900)
  t.same([stage.move(950), stage.move(1049)], [[], []], 'not armed, it fires at nothing')
  stage.price(BTC, 1060)
  const armed = stage.settleDown()
  t.same(armed.told, ['ann TRAILING_STOP ARMED ARMED'])
  t.same(figures(armed.events.find(({ event }) => event === 'CONDITIONAL')), [1060, 1038], 'the mark that armed it')
  t.same(stage.move(1039), [])
  t.same(stage.move(1038), ['ann TRIGGER FILLED 10/10', 'ann TRAILING_STOP TRIGGERED TRIGGERED'])
  const there = stageOf()
  t.same(there.attach('ann', { trail: { bps: 200, from: 990 } }).told, ['ann TRAILING_STOP ARMED CREATED'], 'it is there already')
  t.same(there.attach('bob', { trail: { bps: 200, from: 990 } }).told, ['bob TRAILING_STOP PENDING CREATED'], 'of a short it is not')
})

t.test('it stands beside a take-profit and a stop-loss and is no part of their pair', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { profit: { at: 1100, lots: 4 }, stop: { at: 900 }, trail: { bps: 1000 } })
  stage.deposit('zoe', 90_000)
  stage.order('mia', 20, 1099)
  t.same(stage.move(1100), ['ann STOP_LOSS CANCELLED OCO', 'ann TRIGGER FILLED 4/4', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'])
  stage.order('mia', 20, 985)
  t.same(stage.move(990), ['ann TRIGGER FILLED 6/6', 'ann TRAILING_STOP TRIGGERED TRIGGERED'], '1100 x 0.9')
})

t.test('many of them: what was armed later has its own best mark, and the first to be met fires first', async (t) => {
  const stage = new WaitingStage()
  const names = ['ada', 'ben', 'cy', 'dee', 'ed', 'flo']
  for (const [i, name] of names.entries()) {
    stage.give({ [name]: { lots: 2, price: 1000, collateral: 2000 }, [`${name}x`]: { lots: -2, price: 1000, collateral: 9000 } })
    if (i < 3) stage.attach(name, { trail: { bps: 100 * (3 - i) } })
  }
  stage.deposit('mia', 90_000)
  stage.order('mia', 40, 900)
  stage.move(1030)
  // ada, ben, cy: 999, 1009, 1019. From here on dee 1 %, ed 2 % of 1030 as well.
  stage.attach('dee', { trail: { bps: 100 } })
  stage.move(1025)
  stage.attach('ed', { trail: { bps: 200 } })
  stage.move(1020)
  stage.attach('flo', { trail: { bps: 100 } })
  const fired = (told: string[]): string[] =>
    told.filter((each) => each.includes('TRAILING_STOP TRIGGERED')).map((each) => each.split(' ')[0]!)
  // cy and dee at 1019 (floor of 1019.7), the older one first; flo at 1009, ben at 1009, ed at floor(1004.5), ada at 999.
  t.same(fired(stage.move(1019)), ['cy', 'dee'])
  t.same(fired(stage.move(1010)), [])
  t.same(fired(stage.move(1000)), ['ben', 'flo', 'ed'])
  t.same(fired(stage.move(900)), ['ada'])
})

t.test('a freeze moves nothing: the watermark goes on from where it stood', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { trail: { bps: 500 } })
  stage.move(1040)
  stage.order('mia', 20, 970)
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 2 })
  t.same([stage.move(1100), stage.move(1000)], [[], []], 'while the pair takes no orders marks do not count')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 1 })
  t.same(stage.settleDown().told, [])
  t.same(stage.move(989), [], '1040 x 0.95 = 988')
  t.same(stage.move(988), ['ann TRIGGER FILLED 10/10', 'ann TRAILING_STOP TRIGGERED TRIGGERED'])
})
