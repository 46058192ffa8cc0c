/**
 * Promise: legs of an entry order wait for it to fill and watch the position from then on; an order that ends without a position takes them
 * with it. A trailing stop comes about when the order filled in full on arrival or rests (specification, Endpoints, Orders).
 */
import t from 'tap'
import { CommandType, Flag, Option } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { BTC } from '../support/liquidation_stage.ts'
import { legWords, type Legs, type Turned, WaitingStage } from '../support/waiting_stage.ts'

function stageOf(): WaitingStage {
  const stage = new WaitingStage()
  for (const name of ['ann', 'mia', 'zoe']) stage.deposit(name, 90_000)
  return stage
}
/** An order with legs; positive lots buy. */
function enter(stage: WaitingStage, name: string, lots: number, price: number, legs: Legs, over: Decoded = {}): Turned {
  const flags = Flag.MARGIN | (lots < 0 ? Flag.SELL : 0) | Number(over['flags'] ?? 0)
  const order = { ...stage.signed(name), pair: BTC, price, lots: Math.abs(lots), leverage: 200, ...over, flags, options: Option.LEGS }
  const events = stage.events(CommandType.PLACE_ORDER, { ...order, ...legWords(legs) }, 1)
  return { commands: 1, events, told: stage.toldOf(events) }
}
const codeOf = (turned: Turned): string => WaitingStage.codeOf(turned.events)
const ALL: Legs = { profit: { at: 1100 }, stop: { at: 900 }, trail: { bps: 500 } }
const sorted = (told: readonly string[]): string[] => [...told].sort()

t.test('filled in full on arrival: all legs are armed at once', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -10, 1000)
  const { told, events } = enter(stage, 'ann', 10, 1000, ALL)
  t.same(sorted(told), ['ann STOP_LOSS ARMED CREATED', 'ann TAKE_PROFIT ARMED CREATED', 'ann TRAILING_STOP ARMED CREATED'])
  t.ok(events.findIndex(({ event }) => event === 'CONDITIONAL') > events.findIndex(({ event }) => event === 'FILL'))
  t.match(events.at(-1)!['event'], /^RESULT of PLACE_ORDER/)
  stage.order('mia', 20, 890)
  t.same(stage.move(950), ['ann STOP_LOSS CANCELLED POSITION_CLOSED', 'ann TAKE_PROFIT CANCELLED POSITION_CLOSED',
    'ann TRIGGER FILLED 10/10', 'ann TRAILING_STOP TRIGGERED TRIGGERED'])
})

t.test('a resting order: its legs wait, arm with the first fill, and serve what fills later too', async (t) => {
  const stage = stageOf()
  const { told, events } = enter(stage, 'ann', 10, 990, ALL)
  t.same(sorted(told), ['ann STOP_LOSS PENDING CREATED', 'ann TAKE_PROFIT PENDING CREATED', 'ann TRAILING_STOP PENDING CREATED'])
  const placed = events.at(-1)!
  const leg = events.find(({ event }) => event === 'CONDITIONAL')!
  t.same([leg['orderSequence'], leg['orderSlot'], leg['openedSequence']], [placed['orderSequence'], placed['slot'], 0], 'their entry order')
  t.same(stage.move(1200), [], 'pending, nothing fires')
  stage.move(1000)
  const filled = stage.toldOf(stage.orderEvents('zoe', -4, 990))
  t.same(sorted(filled), ['ann STOP_LOSS ARMED ARMED', 'ann TAKE_PROFIT ARMED ARMED', 'ann TRAILING_STOP ARMED ARMED'])
  t.same(stage.toldOf(stage.orderEvents('zoe', -6, 990)), [], 'armed once')
  stage.order('mia', 20, 945)
  t.same(stage.move(950).filter((each) => each.includes('TRIGGER')), ['ann TRIGGER FILLED 10/10', 'ann TRAILING_STOP TRIGGERED TRIGGERED'])
})

t.test('cancelled, expired or replaced before it filled', async (t) => {
  const stage = stageOf()
  const { events } = enter(stage, 'ann', 10, 990, ALL)
  const { slot, orderSequence } = events.at(-1)!
  const target = { targetSlot: Number(slot), targetSequence: Number(orderSequence) }
  const ended = stage.toldOf(stage.events(CommandType.CANCEL_ORDER, { ...stage.signed('ann'), ...target }, 1))
  t.same(sorted(ended), ['STOP_LOSS', 'TAKE_PROFIT', 'TRAILING_STOP'].map((kind) => `ann ${kind} CANCELLED ENTRY_ENDED`))
  for (const [price, lots] of [[985, 10], [990, 6]] as const) {
    const placed = enter(stage, 'ann', 10, 990, { stop: { at: 900 } }).events.at(-1)!
    const over = { targetSlot: Number(placed['slot']), targetSequence: Number(placed['orderSequence']), price, lots }
    const options = Option.NEW_PRICE | Option.NEW_LOTS
    const said = stage.events(CommandType.REPLACE_ORDER, { ...stage.signed('ann'), ...over, options }, 1)
    t.same([WaitingStage.codeOf(said), stage.toldOf(said)], ['', ['ann STOP_LOSS PENDING ENTRY_REPLACED']], 'the successor has them')
    t.same(stage.toldOf(stage.orderEvents('zoe', -lots, price)), ['ann STOP_LOSS ARMED ARMED'])
    stage.order('mia', 20, 700)
    stage.send(CommandType.CANCEL_ALL, { ...stage.signed('mia'), pair: -1, limit: 100 }, 1)
    stage.order('zoe', lots, 1000, { flags: Flag.REDUCE_ONLY, leverage: 0 })
    t.same(stage.toldOf(stage.orderEvents('ann', -lots, 1000)), ['ann STOP_LOSS CANCELLED POSITION_CLOSED'])
  }
})

t.test('a successor that trades at once arms what it was handed', async (t) => {
  const stage = stageOf()
  const placed = enter(stage, 'ann', 10, 990, { stop: { at: 900 } }).events.at(-1)!
  stage.order('zoe', -10, 1000)
  const target = { targetSlot: Number(placed['slot']), targetSequence: Number(placed['orderSequence']) }
  const over = { ...target, price: 1000, options: Option.NEW_PRICE }
  const said = stage.events(CommandType.REPLACE_ORDER, { ...stage.signed('ann'), ...over }, 1)
  t.same(stage.toldOf(said), ['ann STOP_LOSS PENDING ENTRY_REPLACED', 'ann STOP_LOSS ARMED ARMED'])
  t.equal(stage.lots('ann'), 10)
})

t.test('a MARKET or IOC order that is cut short has its take-profit and stop-loss, and no trailing stop', async (t) => {
  const stage = stageOf()
  stage.order('zoe', -4, 1000)
  const { told } = enter(stage, 'ann', 10, 0, ALL, { flags: Flag.MARKET })
  t.same(sorted(told), ['ann STOP_LOSS ARMED CREATED', 'ann TAKE_PROFIT ARMED CREATED'])
  const none = enter(stage, 'ann', 10, 980, ALL, { flags: Flag.IOC })
  t.same([codeOf(none), none.told], ['', []], 'nothing filled and nothing rests: there are none')
})

t.test('an entry that only reduces what stands on the other side', async (t) => {
  const stage = stageOf()
  stage.order('zoe', 10, 1000)
  stage.order('ann', -10, 1000)
  stage.order('zoe', -15, 1000)
  const partly = enter(stage, 'ann', 4, 1000, { stop: { at: 900 } })
  t.same([codeOf(partly), partly.told], ['', []], 'it filled, and the position is still short')
  const turned = enter(stage, 'ann', 10, 1000, { stop: { at: 900 } })
  t.same(turned.told, ['ann STOP_LOSS ARMED CREATED'])
  t.equal(stage.lots('ann'), 4)
})

t.test('what is refused', async (t) => {
  const stage = stageOf()
  const refused: [Legs, Decoded, number, string][] = [
    [{}, {}, 990, 'VALIDATION_ERROR'], [{ stop: { at: 990 } }, {}, 990, 'INVALID_TRIGGER_PRICE'],
    [{ profit: { at: 990 } }, {}, 990, 'INVALID_TRIGGER_PRICE'],
    [{ stop: { at: 1001 } }, { flags: Flag.MARKET }, 0, 'INVALID_TRIGGER_PRICE'], [{ trail: { bps: 5 } }, {}, 990, 'VALIDATION_ERROR'],
  ]
  for (const [legs, over, price, code] of refused) t.equal(codeOf(enter(stage, 'ann', 5, price, legs, over)), code, JSON.stringify(legs))
  enter(stage, 'ann', 5, 990, { trail: { bps: 100 } })
  t.equal(codeOf(enter(stage, 'ann', 5, 980, { trail: { bps: 100 } })), 'TRAILING_STOP_EXISTS', 'also one that still waits')
  stage.order('zoe', -5, 990)
  const reduces = enter(stage, 'ann', -2, 1200, { stop: { at: 1300 } }, { flags: Flag.REDUCE_ONLY, leverage: 0 })
  t.equal(codeOf(reduces), 'VALIDATION_ERROR')
  t.equal(stage.lots('ann'), 5)
})
