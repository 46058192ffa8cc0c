/**
 * Promise: an index that moves by more than the least maintenance margin within the window lets orders only reduce until three more prices,
 * each a second after the one before, agree with it. The operator's choice: forced prices, modes and a window of 0 ask for no confirmation.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { PerpMode, PerpSetting } from '../../core/layout/margin.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { perpFigures } from '../../core/view/perps.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'
import { PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

/** Maintenance of 2.5 %, steps up to 4.45 %. */
const staged = (jumpWindowSeconds = 60, rules?: number): PerpStage => {
  const stage = new PerpStage({ jumpWindowSeconds, staleSeconds: 600 }, {}, rules)
  stage.price(10_000)
  return stage
}

/** The price after so many ms, and whether it is unconfirmed then. */
function after(stage: PerpStage, ms: number, price: number): boolean {
  stage.time += ms
  const { code } = stage.price(price)
  if (code !== 0) throw new Error(`${price}: ${String(code)}`)
  return perpFigures(stage.state, PERP_PAIR).unconfirmed
}

t.test('exactly the margin is no jump, a tick more is one, up and down', async (t) => {
  for (const [price, jumps] of [[10_250, false], [10_251, true], [9750, false], [9749, true]] as const) {
    t.equal(after(staged(), 1000, price), jumps, `${price}`)
  }
})

t.test('small steps add up within a window, and not beyond it', async (t) => {
  const fast = staged()
  t.same([after(fast, 10_000, 10_200), after(fast, 10_000, 10_251)], [false, true])
  const slow = staged()
  const steps = [after(slow, 59_999, 10_200), after(slow, 1, 10_400), after(slow, 59_999, 10_455), after(slow, 0, 10_456)]
  t.same(steps, [false, false, false, true])
})

t.test('three more prices that agree confirm it, a second apart; one that does not is another jump', async (t) => {
  const stage = staged()
  t.equal(after(stage, 1000, 10_400), true)
  t.same([after(stage, 1000, 10_410), after(stage, 999, 10_410), after(stage, 1, 10_390)], [true, true, true])
  t.equal(after(stage, 1000, 10_400), false, 'the third')
  t.equal(after(stage, 1000, 10_800), true)
  t.same([after(stage, 1000, 10_400), after(stage, 1000, 10_400), after(stage, 1000, 10_400)], [true, true, true], 'it went back')
  t.equal(after(stage, 1000, 10_400), false)
})

t.test('a forced price, a mode and a window of 0 confirm; a window is set from 0 to an hour', async (t) => {
  const set = (stage: PerpStage, values: object): unknown => stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, ...values })['code']
  const forced = staged()
  after(forced, 1000, 10_400)
  forced.price(10_900, { force: 1 })
  t.equal(perpFigures(forced.state, PERP_PAIR).unconfirmed, false)
  const moded = staged()
  after(moded, 1000, 10_400)
  t.equal(set(moded, { setting: PerpSetting.MODE, value: PerpMode.NORMAL }), 0)
  t.equal(perpFigures(moded.state, PERP_PAIR).unconfirmed, false)
  const off = staged()
  after(off, 1000, 10_400)
  for (const value of [-1, 3601]) t.equal(set(off, { setting: PerpSetting.JUMP_WINDOW, value }), REFUSALS.VALIDATION_ERROR.number)
  t.equal(set(off, { setting: PerpSetting.JUMP_WINDOW, value: 0 }), 0)
  t.equal(perpFigures(off.state, PERP_PAIR).unconfirmed, false)
  t.equal(after(off, 1000, 10_800), false)
  t.equal(after(staged(0), 1000, 10_400), false, 'a genesis that says 0')
  t.equal(after(staged(60, 4), 1000, 10_400), false, 'rules of before')
})

t.test('meanwhile what opens is refused, and what closes is taken', async (t) => {
  const stage = new LiquidationStage({ jumpWindowSeconds: 60 })
  stage.deposit('ann', 5000)
  stage.deposit('bob', 5000)
  stage.order('bob', -2, 1000)
  stage.order('ann', 1, 1000)
  stage.time += 1000
  stage.send(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 1030, source: 0, force: 0, observedAt: stage.time })
  t.throws(() => stage.order('ann', 1, 1000), /PAIR_REDUCE_ONLY/)
  stage.order('ann', -1, 1030, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  stage.price(BTC, 1030)
  stage.order('ann', 1, 1000)
})
