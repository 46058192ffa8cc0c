/**
 * Promise: who follows balances by the rules, and ignores every row whose version is not higher than his last one (specification, Events,
 * rule 5), hears of all funding, liquidation and auto-deleveraging of his positions, and of each once. Trades of perpetuals and settlement
 * are not told as balances.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import type { Gateway } from '../../gateway/context.ts'
import { BALANCES } from '../../gateway/ws/channels/balances.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'
import { HOUR_0 } from '../support/perp_stage.ts'
import type { Frame } from '../support/sockets.ts'

const HOUR = 3_600_000

/** Reasons of the frames that each of them keeps, one text a frame. */
type Kept = Record<string, string[]>

/** Everybody in `names` listens to what the engine of the stage does from now on; each command is a turn of the gateway. */
function follow(stage: LiquidationStage, names: readonly string[]): { kept: Kept; frames: Frame[] } {
  const { bench, state } = stage
  const gate = new Int32Array(new SharedArrayBuffer(64))
  const channel = BALANCES.create({ genesis: state.genesis, state, gate, now: () => 0, time: () => 0 } as unknown as Gateway)
  const kept: Kept = {}
  const frames: Frame[] = []
  for (const name of names) {
    let last = -1
    kept[name] = []
    const take = (frame: Frame): void => {
      if (frame['type'] === 'snapshot') last = frame['data'].balances[0].version
      else {
        frames.push(frame)
        if (frame['data'].version <= last) return
        last = frame['data'].version
        kept[name]!.push(frame['data'].reasons.join(' '))
      }
    }
    channel.subscribe({
      account: stage.account(name), push: (frame) => take(JSON.parse(String(typeof frame === 'function' ? frame() : frame)) as Frame),
    }, {})
  }
  const { run } = bench
  bench.run = (...command) => {
    const count = run(...command)
    for (let record = 0; record < count; record++) channel.take(bench.said, record * RECORD_WORDS)
    channel.flush(Infinity)
    return count
  }
  return { kept, frames }
}

/** Ann is long of 10 against bob's short; from 923 on she lacks maintenance margin. */
function pairOfThem(): LiquidationStage {
  const stage = new LiquidationStage({ staleSeconds: 3600 })
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1000 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  for (const name of ['ann', 'bob', 'mia']) stage.deposit(name, 50_000)
  return stage
}

t.test('funding is told when a position settles it', async (t) => {
  const stage = pairOfThem()
  // Bids that bear the impact notional above the index: longs pay.
  stage.deposit('sam', 50_000)
  stage.order('sam', 20, 1009)
  stage.order('sam', -20, 1011)
  const { kept, frames } = follow(stage, ['ann', 'bob', 'mia'])
  stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.FORCED_MARK, value: 1010, number: HOUR_0 + 20 * HOUR })
  for (let hour = 1; hour <= 3; hour++) {
    for (const time of [HOUR_0 + hour * HOUR - 30_000, HOUR_0 + hour * HOUR]) {
      stage.time = time
      stage.price(BTC, 1000)
      stage.send(CommandType.FUNDING_STEP, { pair: BTC })
    }
    t.equal(kept['ann']!.length, hour - 1, 'the end of an interval touches no position')
    stage.order('mia', -1, 1010)
    stage.order('ann', 1, 1010)
  }
  stage.order('bob', -1, 1010)
  stage.order('mia', 1, 1010)
  t.same(kept, { ann: ['funding', 'funding', 'funding'], bob: ['funding'], mia: ['funding', 'funding'] })
  t.equal(frames.length, 6, 'every frame is kept')
  t.match(frames[0], { channel: 'balances', type: 'balance_update', reason: 'funding', data: { symbol: 'USD', tokenSymbol: 'USD' } })
})

t.test('liquidation through the book and by the fund, and auto-deleveraging', async (t) => {
  const booked = pairOfThem()
  const book = follow(booked, ['ann', 'bob', 'mia'])
  booked.order('mia', 10, 923)
  booked.price(BTC, 923)
  booked.run()
  t.equal(booked.lots('ann'), 0)
  t.same(book.kept, { ann: ['liquidation'], bob: [], mia: [] }, 'who only traded with her is told of no balance')

  const taken = pairOfThem()
  taken.fund(10_000)
  const fund = follow(taken, ['ann', 'bob'])
  taken.price(BTC, 923)
  t.ok(taken.run().told.includes('ann TAKEN_OVER 10 at 900'))
  t.same(fund.kept, { ann: ['liquidation'], bob: [] })

  const alone = pairOfThem()
  const others = follow(alone, ['ann', 'bob'])
  alone.price(BTC, 923)
  t.ok(alone.run().told.includes('ann DELEVERAGED 10 at 900'))
  t.same(others.kept, { ann: ['adl'], bob: ['adl'] })
  for (const { kept, frames } of [book, fund, others]) t.equal(frames.length, Object.values(kept).flat().length, 'every frame is kept')
})

t.test('one command after the other: every step is newer than the one before', async (t) => {
  const stage = new LiquidationStage({ staleSeconds: 3600 })
  stage.give({
    ann: { lots: 30, price: 1000, collateral: 3000 }, one: { lots: -10, price: 1000, collateral: 9000 },
    two: { lots: -20, price: 1000, collateral: 9000 },
  })
  stage.deposit('mia', 20_000)
  const { kept, frames } = follow(stage, ['ann', 'one', 'two', 'mia'])
  stage.order('mia', 10, 915)
  stage.price(BTC, 910)
  stage.run()
  t.equal(stage.lots('ann'), 0)
  t.ok(kept['ann']!.includes('liquidation') && kept['ann']!.includes('adl'), kept['ann']!.join(', '))
  t.equal(frames.length, Object.values(kept).flat().length, 'every frame is kept')
})

t.test('a settlement is no balance', async (t) => {
  const stage = pairOfThem()
  const { frames } = follow(stage, ['ann', 'bob'])
  stage.settle(BTC, 990)
  while (stage.events(CommandType.SETTLEMENT_STEP, { pair: BTC }).at(-1)!['code'] === 0);
  t.equal(stage.lots('ann'), 0)
  t.same(frames, [])
})
