/**
 * Promise: who listens to conditional orders and TWAP orders hears what the engine did with them, in order and with whole records: what
 * waits in the snapshot, every event with its reason, watermarks at most once a second and the last one always, quantities when the
 * position changes, fills of slices that rest; nobody else's, and nothing that the snapshot has.
 */
import t from 'tap'
import { CommandType, Flag, Option } from '../../core/layout/command.ts'
import { ConditionType } from '../../core/layout/conditional.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { TwapOption } from '../../core/layout/twap.ts'
import { APPLYING } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Params } from '../../gateway/ws/frames.ts'
import type { ServedDeclaration, Subscriber } from '../../gateway/ws/channels/channel.ts'
import { CONDITIONAL_ORDERS } from '../../gateway/ws/channels/conditional_orders.ts'
import { TWAP_ORDERS } from '../../gateway/ws/channels/twap_orders.ts'
import { frameProblems } from '../support/frame_check.ts'
import { BTC, ETH } from '../support/liquidation_stage.ts'
import type { Frame } from '../support/sockets.ts'
import { legWords, WaitingStage } from '../support/waiting_stage.ts'

const MINUTE = 60_000

/** A channel over an engine on which orders wait; what was said reaches it after every command, and leaves when `turn` is called. */
class Listening {
  readonly stage = new WaitingStage()
  readonly channel
  readonly gate = new Int32Array(new SharedArrayBuffer(64))
  /** Turns end with each command. */
  turns = true
  clock = 0

  constructor(declaration: ServedDeclaration) {
    const { stage } = this
    const { state, bench } = stage
    const pairs = new Map(state.genesis.pairs.map((pair) => [pair.id, pair]))
    const gateway = { genesis: state.genesis, state, gate: this.gate, pairs, now: () => 0, time: () => this.clock }
    this.channel = declaration.create(gateway as unknown as Gateway)
    const run = bench.run.bind(bench)
    Object.assign(bench, {
      run: (...given: Parameters<typeof run>): number => {
        const count = run(...given)
        for (let record = 0; record < count; record++) this.channel.take(bench.said, record * RECORD_WORDS)
        if (this.turns) this.turn()
        return count
      },
    })
  }

  turn(): void {
    this.channel.flush(100)
  }

  listen(who: string, params: Params = {}): { frames: Frame[]; subscriber: Subscriber; told(): string[] } {
    const frames: Frame[] = []
    const push: Subscriber['push'] = (frame) => {
      const told = JSON.parse(String(typeof frame === 'function' ? frame() : frame)) as Frame
      const problems = frameProblems(told)
      if (problems.length > 0) throw new Error(problems.join('; '))
      frames.push(told)
    }
    const subscriber: Subscriber = { account: this.stage.account(who), push }
    this.channel.subscribe(subscriber, this.channel.read(params) as Params)
    let from = 1
    /** What was told since, as text. */
    const told = (): string[] => frames.slice(from, from = frames.length).map(({ reason, data: each }) =>
      [each.conditionType ?? 'TWAP', each.state, reason, each.conditionType === undefined ? each.filledQuantity : each.quantity].join(' '))
    return { frames, subscriber, told }
  }

  /** ann is long of 10 at 1,000, bob short. */
  positions(): void {
    this.stage.give({ ann: { lots: 10, price: 1000, collateral: 8000 }, bob: { lots: -10, price: 1000, collateral: 50_000 } })
    this.stage.deposit('mia', 90_000)
  }
}

t.test('a conditional order from its making to its end', async (t) => {
  const all = new Listening(CONDITIONAL_ORDERS)
  const { stage } = all
  all.positions()
  const early = stage.attach('ann', { profit: { at: 1200, lots: 4 } })
  const ann = all.listen('ann')
  const bob = all.listen('bob')
  t.equal(ann.frames[0]!['type'], 'snapshot')
  t.match(ann.frames[0]!['data'], { conditionalOrders: [{ conditionType: 'TAKE_PROFIT', state: 'ARMED', quantity: '4' }] })
  t.notOk('sequence' in ann.frames[0]! || 'reason' in ann.frames[0]!)
  t.same(bob.frames[0]!['data'], { conditionalOrders: [] })
  stage.attach('ann', { profit: { at: 1100 }, stop: { at: 900, lots: 100 } })
  t.same(ann.told(), ['STOP_LOSS ARMED created 10', 'TAKE_PROFIT ARMED created 10'])
  const [stop, profit] = ann.frames.slice(-2).map(({ data }) => data)
  t.equal(stop.ocoGroupId, profit.ocoGroupId)
  t.match(stop, { positionId: String, marginAccountId: String, riskBucketId: String, side: 'SELL', closePosition: false })

  stage.order('mia', 4, 1000)
  stage.order('ann', -4, 1000)
  t.same(ann.told(), ['STOP_LOSS ARMED resized 6', 'TAKE_PROFIT ARMED resized 6'], 'the first one closes 4 still')
  stage.send(CommandType.CANCEL_CONDITIONAL, {
    ...stage.signed('ann'), leg: ConditionType.TAKE_PROFIT, createdSequence: Number(early.events[0]!['createdSequence']),
  }, 1)
  t.same(ann.told(), ['TAKE_PROFIT CANCELLED user_cancelled 4'])
  t.match(ann.frames.at(-1)!['data'], { terminalReason: 'USER_CANCELLED', riskBucketId: String })
  stage.order('mia', 20, 890)
  stage.move(900)
  t.same(ann.told(), ['TAKE_PROFIT CANCELLED oco ', 'STOP_LOSS TRIGGERED triggered 6'])
  t.match(ann.frames.at(-1)!['data'], { triggeredOrderId: String, positionId: String })
  t.same(bob.told(), [], 'of somebody else nothing is told')
})

t.test('legs of an order, of which the snapshot has some', async (t) => {
  const all = new Listening(CONDITIONAL_ORDERS)
  const { stage } = all
  for (const who of ['ann', 'mia']) stage.deposit(who, 90_000)
  const ann = all.listen('ann')
  const legs = { options: Option.LEGS, ...legWords({ stop: { at: 900 }, profit: { at: 1100 } }) }
  stage.order('ann', 10, 990, legs)
  t.same(ann.told(), ['STOP_LOSS PENDING created ', 'TAKE_PROFIT PENDING created '])
  const { parentOrderId } = ann.frames.at(-1)!['data']
  t.match(parentOrderId, /./)
  stage.order('mia', -4, 990)
  t.same(ann.told(), ['STOP_LOSS ARMED armed 4', 'TAKE_PROFIT ARMED armed 4'])
  t.equal(ann.frames.at(-1)!['data'].parentOrderId, parentOrderId, 'the order is still known')
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('ann'), pair: -1, limit: 10 }, 1)
  t.same(ann.told(), ['STOP_LOSS CANCELLED user_cancelled ', 'TAKE_PROFIT CANCELLED user_cancelled '])
  all.turns = false
  const late = all.listen('ann')
  t.same(late.frames[0]!['data'], { conditionalOrders: [] })
  stage.attach('ann', { trail: { bps: 500 } })
  const after = all.listen('ann')
  all.turn()
  t.same([late.told(), ann.told()], [['TRAILING_STOP ARMED created 4'], ['TRAILING_STOP ARMED created 4']])
  t.match(after.frames[0]!['data'], { conditionalOrders: [{ conditionType: 'TRAILING_STOP', watermarkPrice: '1000' }] })
  t.same(after.told(), [], 'what the snapshot has is not told again')
  all.channel.unsubscribe(late.subscriber, {})
  all.turns = true
  stage.order('mia', 4, 980)
  stage.order('ann', -4, 980)
  t.same([late.told(), after.told()], [[], ['TRAILING_STOP CANCELLED position_closed ']])
  t.match(after.frames.at(-1)!['data'], { terminalReason: 'POSITION_CLOSED' })
})

t.test('watermarks: once a second at most, the last one always, and of no other pair', async (t) => {
  const all = new Listening(CONDITIONAL_ORDERS)
  const { stage } = all
  all.positions()
  stage.attach('ann', { trail: { bps: 1000 } })
  stage.attach('bob', { trail: { bps: 1000 } })
  const [ann, bob] = [all.listen('ann'), all.listen('bob')]
  const marks = (frames: readonly Frame[]): unknown[] => frames.map(({ data, reason }) => [reason, data.watermarkPrice, data.triggerPrice])
  all.clock = 5000
  stage.move(1010)
  t.same(marks(ann.frames.slice(1)), [['ratcheted', '1010', '909']], 'the first one at once')
  for (const price of [1020, 1030, 1025]) stage.move(price)
  all.clock += 999
  all.turn()
  t.equal(ann.frames.length, 2, 'not within a second')
  all.clock += 1
  all.turn()
  all.turn()
  t.same(marks(ann.frames.slice(2)), [['ratcheted', '1030', '927']], 'then the last one')
  t.equal(bob.frames.length, 1, 'of a short nothing was better')
  all.clock += MINUTE
  stage.price(ETH, 1100)
  t.equal(ann.frames.length, 3)
  stage.move(990)
  all.clock += MINUTE
  all.turn()
  t.same(marks(bob.frames.slice(1)), [['ratcheted', '990', '1089']])
  t.equal(ann.frames.length, 3, 'a worse mark moves nothing')

  // Nobody can read while a batch is applied.
  Atomics.store(all.gate, APPLYING, 1)
  stage.move(1040)
  t.equal(ann.frames.length, 3)
  Atomics.store(all.gate, APPLYING, 2)
  all.turn()
  t.same(marks(ann.frames.slice(3)), [['ratcheted', '1040', '936']])
})

const BUY = { flags: Flag.MARGIN, leverage: 200, lots: 100, durationMs: 5 * MINUTE }

t.test('a TWAP order from its making to its end', async (t) => {
  const all = new Listening(TWAP_ORDERS)
  const { stage } = all
  for (const who of ['ann', 'zoe']) stage.deposit(who, 900_000)
  stage.order('zoe', -95, 1000)
  const ann = all.listen('ann')
  const other = all.listen('ann', { tradingPairId: stage.state.genesis.pairs[ETH]!.id })
  t.match(ann.frames, [{ type: 'snapshot', reason: 'snapshot', data: { twapOrders: [] } }])
  t.match(other.frames, [{ data: { tradingPairId: stage.state.genesis.pairs[ETH]!.id, twapOrders: [] } }])
  stage.twap('ann', { ...BUY, labelLength: 3, label: Buffer.from('abc').toString('hex') })
  t.same(ann.told(), ['TWAP ACTIVE created 0'])
  t.match(ann.frames.at(-1)!['data'], {
    clientTwapId: 'abc', quantity: '100', plannedSlices: 10, durationSeconds: 300, leverage: '2', marginAccountId: String,
    createdAt: String,
  })
  stage.settleDown()
  t.same(ann.told(), ['TWAP ACTIVE slice 10'])
  t.match(ann.frames.at(-1)!['data'], { sliceOrderId: String, averageFillPrice: '1000', riskBucketId: String, slicesPlaced: 1 })
  for (let gone = 0; gone < 10; gone++) {
    stage.time += MINUTE / 2
    stage.price(BTC, 1000)
    stage.settleDown()
  }
  const told = ann.told()
  t.same(told.slice(0, 8), Array.from({ length: 8 }, (_, slice) => `TWAP ACTIVE slice ${20 + 10 * slice}`))
  t.equal(told.at(-1), 'TWAP EXPIRED window_over 95')
  t.match(ann.frames.at(-1)!['data'], { shortfall: '5', remainingQuantity: '5', clientTwapId: 'abc' })
  t.same(other.told(), [], 'of another pair nothing is told')
})

t.test('a slice that rests is filled, and a snapshot has what runs', async (t) => {
  const all = new Listening(TWAP_ORDERS)
  const { stage } = all
  for (const who of ['ann', 'zoe']) stage.deposit(who, 900_000)
  stage.twap('ann', { ...BUY, price: 995, options: TwapOption.PASSIVE })
  stage.settleDown()
  const [ann, zoe] = [all.listen('ann'), all.listen('zoe')]
  t.match(ann.frames[0]!['data'], { twapOrders: [{ state: 'ACTIVE', executionStyle: 'PASSIVE', slicesPlaced: 1, limitPrice: '995' }] })
  stage.order('zoe', -4, 995)
  t.same(ann.told(), ['TWAP ACTIVE filled 4'])
  all.turn()
  t.same(ann.told(), [], 'once')
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('ann'), pair: -1, limit: 10 }, 1)
  t.same(ann.told(), ['TWAP CANCELLED user_cancelled 4'])
  t.match(ann.frames.at(-1)!['data'], { limitPrice: '995', shortfall: '96' })
  t.same(zoe.told(), [])
  all.channel.unsubscribe(ann.subscriber, {})
  stage.twap('ann', BUY)
  t.same(ann.told(), [], 'who left hears nothing')
})
