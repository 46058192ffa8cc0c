/**
 * Promise: a take-profit or stop-loss closes what it says of a position when the mark reaches its trigger, once, and only then; the one of
 * a pair that does not fire ends; a position that is closed takes its conditional orders with it. Figures: support/liquidation_stage.ts.
 */
import t from 'tap'
import { CommandType, Flag, originOf, Origin } from '../../core/layout/command.ts'
import { ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { PerpMode, PerpSetting } from '../../core/layout/margin.ts'
import { BTC } from '../support/liquidation_stage.ts'
import { WaitingStage, type Legs } from '../support/waiting_stage.ts'

/** Ann is long 10 at 1000, Bob short; Mia bids and asks for what comes. */
function stageOf(collateral = 5000): WaitingStage {
  const stage = new WaitingStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral }, bob: { lots: -10, price: 1000, collateral: 50_000 } })
  stage.deposit('mia', 90_000)
  return stage
}
const codeOf = (stage: WaitingStage, legs: Legs, name = 'ann'): string => WaitingStage.codeOf(stage.attach(name, legs).events)

t.test('a stop-loss closes the whole position at the market, once, and its take-profit ends', async (t) => {
  const stage = stageOf()
  const attached = stage.attach('ann', { profit: { at: 1100 }, stop: { at: 950 } })
  t.same(attached.told, ['ann TAKE_PROFIT ARMED CREATED', 'ann STOP_LOSS ARMED CREATED'].reverse())
  t.equal(attached.events.at(-1)!['detail'], (1 << ConditionType.TAKE_PROFIT) | (1 << ConditionType.STOP_LOSS))
  stage.order('mia', 20, 940)
  t.same(stage.move(951), [], 'not yet')
  const told = stage.move(950)
  t.same(told, ['ann TAKE_PROFIT CANCELLED OCO', 'ann TRIGGER FILLED 10/10', 'ann STOP_LOSS TRIGGERED TRIGGERED'])
  t.equal(stage.lots('ann'), 0)
  t.same(stage.move(900), [], 'nothing is left to fire')
})

t.test('a take-profit of a short, a stop of a long: each in its own direction', async (t) => {
  const stage = stageOf()
  stage.attach('bob', { profit: { at: 900, lots: 4 }, stop: { at: 1050 } })
  stage.deposit('zoe', 90_000)
  stage.order('zoe', -20, 905)
  t.same(stage.move(901), [])
  t.same(stage.move(900), ['bob STOP_LOSS CANCELLED OCO', 'bob TRIGGER FILLED 4/4', 'bob TAKE_PROFIT TRIGGERED TRIGGERED'])
  t.equal(stage.lots('bob'), -6)
})

t.test('the triggered order is reduce-only, of origin TRIGGER, within 1,200 bps of the touch or its own tolerance', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { stop: { at: 960 } })
  for (const price of [955, 900, 841, 840]) stage.order('mia', 2, price)
  stage.price(BTC, 960)
  const { events, told } = stage.settleDown()
  // 1,200 bps below 955 is 840.4: the bid at 840 is beyond the band.
  t.same(told, ['ann TRIGGER CANCELLED SLIPPAGE_LIMIT 6/10', 'ann STOP_LOSS TRIGGERED TRIGGERED'])
  const fills = events.filter(({ event }) => event === 'FILL')
  t.same(fills.map(({ price }) => price), [955, 900, 841])
  t.ok(fills.every(({ takerFlags }) => originOf(Number(takerFlags)) === Origin.TRIGGER && (Number(takerFlags) & Flag.REDUCE_ONLY) !== 0))
  t.equal(stage.lots('ann'), 4)
  const narrow = stageOf()
  narrow.attach('ann', { stop: { at: 960, bps: 100 } })
  for (const price of [955, 900]) narrow.order('mia', 2, price)
  t.same(narrow.move(960), ['ann TRIGGER CANCELLED SLIPPAGE_LIMIT 2/10', 'ann STOP_LOSS TRIGGERED TRIGGERED'])
})

t.test('a limit leg rests at its limit; IOC and FOK legs do as their names say', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { profit: { at: 1050, limit: 1060, lots: 5 } })
  t.same(stage.move(1050), ['ann TRIGGER SUBMITTED 0/5', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'])
  stage.order('mia', 5, 1060)
  t.equal(stage.lots('ann'), 5)
  stage.attach('ann', { profit: { at: 1100, limit: 1080, flags: LegFlag.FOK } })
  stage.order('mia', 3, 1080)
  t.same(stage.move(1100), ['ann TRIGGER CANCELLED INSUFFICIENT_DEPTH 0/5', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'])
  stage.attach('ann', { profit: { at: 1200, limit: 1080, flags: LegFlag.IOC } })
  t.same(stage.move(1200), ['ann TRIGGER CANCELLED IOC_REMAINDER 3/5', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'])
})

t.test('a part closes at most what is there, and what is closed otherwise takes all with it', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { stop: { at: 900, lots: 8 } })
  stage.attach('ann', { profit: { at: 1300 } })
  stage.order('mia', 6, 990)
  stage.order('ann', -6, 990, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  t.equal(stage.lots('ann'), 4)
  stage.order('mia', 4, 890)
  t.same(stage.move(900), ['ann TRIGGER FILLED 4/4', 'ann TAKE_PROFIT CANCELLED POSITION_CLOSED', 'ann STOP_LOSS TRIGGERED TRIGGERED']
    .sort((a, b) => Number(b.includes('CLOSED')) - Number(a.includes('CLOSED'))))
  const other = stageOf()
  other.deposit('ann', 50_000)
  other.attach('ann', { stop: { at: 900 }, profit: { at: 1200 }, trail: { bps: 500 } })
  other.order('mia', 15, 1000)
  const closed = other.toldOf(other.orderEvents('ann', -15, 1000))
  t.same(closed.sort(), ['STOP_LOSS', 'TAKE_PROFIT', 'TRAILING_STOP'].map((kind) => `ann ${kind} CANCELLED POSITION_CLOSED`), 'turned')
  t.equal(other.lots('ann'), -5)
  t.same(other.move(800), [], 'nothing fires on the position that came after it')
})

t.test('nothing fires by a stale price, on a pair that takes no orders, or by a mark from before', async (t) => {
  const stage = stageOf()
  stage.price(BTC, 940)
  stage.price(BTC, 1000)
  stage.attach('ann', { stop: { at: 950 } })
  stage.order('mia', 20, 945)
  t.same(stage.settleDown().told, [], 'what was before it was attached is none of its business')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 2 })
  t.same(stage.move(940), [], 'halted')
  t.same(stage.move(1000), [])
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 1 })
  t.same(stage.settleDown().told, [], 'a mark that went by while it took no orders fires nothing')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 2 })
  stage.price(BTC, 949)
  stage.time += 3_600_000
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 1 })
  t.same(stage.settleDown().told.filter((each) => each.includes('STOP')), [], 'nor one that is stale by then')
  t.same(stage.move(949), ['ann TRIGGER FILLED 10/10', 'ann STOP_LOSS TRIGGERED TRIGGERED'])
})

t.test('a forced mark fires too, and in maintenance positions are closed', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { stop: { at: 985 } })
  stage.order('mia', 20, 980)
  stage.send(CommandType.SET_MAINTENANCE, { on: 1 })
  stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.FORCED_MARK, value: 985, number: stage.time + 60_000 })
  t.same(stage.settleDown().told, ['ann TRIGGER FILLED 10/10', 'ann STOP_LOSS TRIGGERED TRIGGERED'])
})

t.test('settlement of the pair ends what waits', async (t) => {
  const stage = stageOf()
  stage.attach('ann', { stop: { at: 900 }, trail: { bps: 300 } })
  stage.settle(BTC, 890)
  const { told } = stage.settleDown()
  t.same(told, ['ann TRAILING_STOP CANCELLED POSITION_CLOSED', 'ann STOP_LOSS CANCELLED POSITION_CLOSED'])
  t.equal(stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.MODE, value: PerpMode.NORMAL })['code'], 0)
  stage.price(BTC, 1000)
  t.same(stage.settleDown().told, [])
})

t.test('a position larger than one order may be is closed by several, one with each command', async (t) => {
  const stage = new WaitingStage({}, {}, { maxOrderSize: '4' })
  stage.give({ ann: { lots: 10, price: 1000, collateral: 5000 }, bob: { lots: -10, price: 1000, collateral: 50_000 } })
  stage.deposit('mia', 90_000)
  for (let order = 0; order < 5; order++) stage.order('mia', 4, 945)
  stage.attach('ann', { stop: { at: 950 }, profit: { at: 1200 } })
  t.same(stage.move(950), [
    'ann TAKE_PROFIT CANCELLED OCO', 'ann TRIGGER FILLED 4/4', 'ann STOP_LOSS TRIGGERED TRIGGERED',
    'ann TRIGGER FILLED 4/4', 'ann STOP_LOSS TRIGGERED CONTINUED', 'ann TRIGGER FILLED 2/2', 'ann STOP_LOSS TRIGGERED CONTINUED',
  ])
  t.equal(stage.lots('ann'), 0)
})

t.test('what is refused when it fires is FAILED and says why', async (t) => {
  const stage = stageOf()
  for (let order = 0; order < 32; order++) {
    if (order < 10) stage.order('ann', -1, 1500 + order, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  }
  stage.attach('ann', { profit: { at: 1050, limit: 1400 } })
  const told = stage.move(1050)
  t.same(told, ['ann TRIGGER CANCELLED REDUCE_ONLY 0/10', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'], 'no lots are left to rest')
  stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.MODE, value: PerpMode.REDUCE_ONLY })
  stage.attach('ann', { profit: { at: 1100 } })
  stage.order('ann', -1, 1099, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  t.same(stage.move(1100), ['ann TRIGGER CANCELLED INSUFFICIENT_DEPTH 0/10', 'ann TAKE_PROFIT TRIGGERED TRIGGERED'])
})

t.test('what is refused at once', async (t) => {
  const stage = stageOf()
  const refused: [Legs, string][] = [
    [{}, 'VALIDATION_ERROR'], [{ stop: { at: 1000 } }, 'INVALID_TRIGGER_PRICE'], [{ profit: { at: 1000 } }, 'INVALID_TRIGGER_PRICE'],
    [{ stop: { at: 1100 } }, 'INVALID_TRIGGER_PRICE'], [{ profit: { at: 900 } }, 'INVALID_TRIGGER_PRICE'],
    [{ stop: { at: 70_000 } }, 'VALIDATION_ERROR'], [{ profit: { at: 1100, limit: 70_000 } }, 'VALIDATION_ERROR'],
    [{ profit: { at: 1100, flags: LegFlag.IOC } }, 'VALIDATION_ERROR'], [{ profit: { at: 1100, limit: 1100, bps: 5 } }, 'VALIDATION_ERROR'],
    [{ profit: { at: 1100, limit: 1100, flags: LegFlag.IOC | LegFlag.FOK } }, 'VALIDATION_ERROR'],
    [{ profit: { at: 1100, flags: LegFlag.ABOVE } }, 'VALIDATION_ERROR'], [{ stop: { at: 900, until: 5 } }, 'INVALID_EXPIRATION'],
    [{ trail: { bps: 9 } }, 'VALIDATION_ERROR'], [{ trail: { bps: 2001 } }, 'VALIDATION_ERROR'],
    [{ trail: { bps: 100, from: 70_000 } }, 'VALIDATION_ERROR'],
  ]
  for (const [legs, code] of refused) t.equal(codeOf(stage, legs), code, JSON.stringify(legs))
  t.equal(codeOf(stage, { trail: { bps: 100 } }), '')
  t.equal(codeOf(stage, { trail: { bps: 100 } }), 'TRAILING_STOP_EXISTS', 'one for each position')
  for (let made = 0; made < 15; made++) t.equal(codeOf(stage, { stop: { at: 900 } }), '')
  t.equal(codeOf(stage, { stop: { at: 900 } }), 'TOO_MANY_CONDITIONAL_ORDERS', '16 for each position')
  const bare = new WaitingStage()
  bare.account('eve')
  const nobodys = { ...bare.signed('eve'), position: 0, openedSequence: 1, stopTrigger: 900 }
  t.equal(WaitingStage.codeOf(bare.events(CommandType.ATTACH_CONDITIONALS, nobodys, 1)), 'POSITION_NOT_FOUND')
})

t.test('expiry and cancels', async (t) => {
  const stage = stageOf()
  const { events } = stage.attach('ann', { stop: { at: 900, until: stage.time + 1000 }, profit: { at: 1100 } })
  const createdSequence = Number(events[0]!['createdSequence'])
  stage.time += 999
  t.same(stage.settleDown().told, [])
  stage.time += 1
  t.same(stage.settleDown().told, ['ann STOP_LOSS EXPIRED EXPIRED'], 'the other one of the pair stays')
  const cancel = (name: string, leg: number, sequence = createdSequence): string => WaitingStage.codeOf(
    stage.events(CommandType.CANCEL_CONDITIONAL, { ...stage.signed(name), leg, createdSequence: sequence }, 1))
  t.equal(cancel('bob', ConditionType.TAKE_PROFIT), 'ORDER_NOT_FOUND', 'not his')
  t.equal(cancel('ann', ConditionType.STOP_LOSS), 'ORDER_NOT_FOUND', 'it is gone')
  t.equal(cancel('ann', ConditionType.TAKE_PROFIT), '')
  t.equal(cancel('ann', ConditionType.TAKE_PROFIT), 'ORDER_NOT_FOUND')
  t.same(stage.move(1200), [])
})

t.test('one whose price comes in the millisecond in which its time is over expires; one millisecond before it fires', async (t) => {
  const [expires, fires] = [['ann STOP_LOSS EXPIRED EXPIRED'], ['ann TRIGGER FILLED 10/10', 'ann STOP_LOSS TRIGGERED TRIGGERED']]
  for (const [left, told] of [[0, expires], [1, fires]] as const) {
    const stage = stageOf()
    stage.order('mia', 40, 890)
    stage.attach('ann', { stop: { at: 900, until: stage.time + 1000 } })
    stage.time += 1000 - left
    // The price comes first, so the order has fired by the time that its expiry is looked at.
    stage.price(BTC, 890)
    t.same(stage.settleDown().told, told)
  }
})

t.test('a jump fires what it crosses in the order of the triggers, also when the price is back before they had their turn', async (t) => {
  const stage = stageOf()
  stage.give({
    cem: { lots: 5, price: 1000, collateral: 5000 }, dan: { lots: 5, price: 1000, collateral: 5000 },
    eli: { lots: -10, price: 1000, collateral: 50_000 },
  })
  stage.attach('ann', { stop: { at: 940 } })
  stage.attach('cem', { stop: { at: 960 } })
  stage.attach('dan', { stop: { at: 950 } })
  stage.order('mia', 40, 930)
  stage.price(BTC, 930)
  stage.time += 1
  stage.price(BTC, 1000)
  stage.time += 1
  // Armed between: the first of the two marks is none of its business.
  stage.give({ eva: { lots: 5, price: 1000, collateral: 5000 }, fay: { lots: -5, price: 1000, collateral: 50_000 } })
  stage.attach('eva', { stop: { at: 990 } })
  t.same(stage.settleDown().told, [
    'cem TRIGGER FILLED 5/5', 'cem STOP_LOSS TRIGGERED TRIGGERED', 'dan TRIGGER FILLED 5/5', 'dan STOP_LOSS TRIGGERED TRIGGERED',
    'ann TRIGGER FILLED 10/10', 'ann STOP_LOSS TRIGGERED TRIGGERED',
  ])
  t.same(stage.move(985), ['eva TRIGGER FILLED 5/5', 'eva STOP_LOSS TRIGGERED TRIGGERED'])
})
