/**
 * Promise: where one atom or one tick decides, it decides as the formulas say, and what users are shown agrees with the engine. Random
 * walks do not meet these cases; each of them is reckoned by hand.
 */
import t from 'tap'
import { Flag } from '../../core/layout/command.ts'
import { RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { PREVIEW_QUESTION as Q } from '../../core/ring/questions.ts'
import { createPreviewScratch, writePreview } from '../../core/sequencer/preview_answer.ts'
import { PERP, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getF64, getI64, perpRow, setI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { readBucket } from '../../core/view/margin.ts'
import { liquidationPrice, type Ladder } from '../../core/view/margin_figures.ts'
import { afterOrder, type Previewed } from '../../core/view/preview_figures.ts'
import { readPreview } from '../../gateway/bridge/previews.ts'
import { BTC, DOLLAR, ETH, LiquidationStage } from '../support/liquidation_stage.ts'
import { MarginScene } from '../support/margin_scene.ts'

/** What a preview of a LIMIT order of `account` on the first perpetual says, at ten times leverage. */
function previewed({ state, time }: MarginScene, account: number, lots: number, price: number): Previewed {
  const words = new Int32Array(64)
  const payload = viewsOf(new ArrayBuffer(64 * RECORD_BYTES))
  const cell = { words, wait: words, question: words, figures: new Float64Array(8), ...payload }
  const question = new Int32Array(32)
  Object.assign(question, { [Q.ACCOUNT]: account, [Q.FLAGS]: Flag.MARGIN, [Q.PRICE]: price, [Q.LOTS]: lots, [Q.LEVERAGE]: 1000 })
  const gate = new Int32Array(new SharedArrayBuffer(64))
  t.ok(writePreview(state, gate, createPreviewScratch(), question, cell as never, time) >= 0, 'it is a question')
  return readPreview(cell as never)
}

/**
 * A dollar is an atom here. Ann sells 10 at 100 and the mark goes to 101: her loss is 10, the maintenance margin 10.10, rounded up 11,
 * and her maker fee 1 bps of 1,000, 0.1 atoms, rounded up 1. So she needs 22.
 */
function asker(collateral: number): MarginScene {
  const scene = new MarginScene({ fees: ['1', '1'], scale: 0 })
  for (const line of ['ann 100', 'bob 10000']) scene.give(line)
  t.equal(scene.step(`ann sells 10 at 100 x50 collateral=${collateral}`), 'SUBMITTED')
  t.equal(scene.step('mark 101'), 'done')
  return scene
}

t.test('a fill that lacks the one atom to which its fee is rounded up is not made, nor previewed', async (t) => {
  const short = asker(21)
  t.match(previewed(short, short.accountOf('bob'), 10, 100), { filled: 0, trades: 0 })
  t.equal(short.step('bob buys 10 at 100 x10 ioc'), 'CANCELLED IOC_REMAINDER')
  t.same(short.ended.slice(0, 1), ['ann sells 10 at 100 INSUFFICIENT_MARGIN'])
  const exact = asker(22)
  t.match(previewed(exact, exact.accountOf('bob'), 10, 100), { filled: 10, trades: 1 })
  t.equal(exact.step('bob buys 10 at 100 x10 ioc'), 'FILLED')
  t.equal(exact.money('ann'), 'ann free 78: allocated 22, pending 0, realized -1')
})

t.test('the fee of a preview is the one that is charged, to the atom to which it is rounded up', async (t) => {
  // 1 bps of 1,000 is 0.1 atoms; of 1,000 and 10,100 together 1.11.
  for (const [lots, price, fee] of [[10, 100, 1n], [110, 101, 2n]] as const) {
    const scene = new MarginScene({ fees: ['0', '1'], scale: 0 })
    for (const line of ['ann 100000', 'bob 100000']) scene.give(line)
    t.equal(scene.step('ann sells 10 at 100 x10'), 'SUBMITTED')
    t.equal(scene.step('ann sells 100 at 101 x10'), 'SUBMITTED')
    const account = scene.accountOf('bob')
    const said = previewed(scene, account, lots, price)
    const order = { pair: 0, flags: Flag.MARGIN, price, leverage: 1000, makerPpm: 0, takerPpm: 100, adds: { maker: 0, taker: 0 } }
    t.equal(afterOrder(ladderOf(scene.state), scene.state.priceTicks, said, order).fee, fee)
    t.equal(scene.step(`bob buys ${lots} at ${price} x10`), 'FILLED')
    t.equal(scene.said.at(-1)!['fee'], fee)
  }
})

const ladderOf = ({ genesis }: State) => (pair: number): Ladder => {
  const { perp, tickLotAtoms } = genesis.pairs[pair]!
  return { tiers: perp!.tiers, tickLotAtoms }
}

/** The liquidation price that is shown of somebody's isolated bucket on BTC. */
function shown(stage: LiquidationStage, who: string): number | null {
  const { state } = stage
  const bucket = stage.bucket(who)
  const gate = new Int32Array(new SharedArrayBuffer(64))
  const read = readBucket(state, gate, stage.account(who), bucketAt(state, bucket), getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE))
  return liquidationPrice(ladderOf(state), read!.bucket, read!.bucket.positions[0]!, state.genesis.limits.priceTicks)
}

t.test('where equity is the maintenance margin exactly, the price that is shown is the tick at which liquidation begins', async (t) => {
  const stage = new LiquidationStage()
  stage.fund(10_000)
  // At 920: equity 1,030 - 800 = 230, maintenance 2.5 % of 9,200 = 230.
  stage.give({ ann: { lots: 10, price: 1000, collateral: 1030 }, bob: { lots: -10, price: 1000, collateral: 5000 } })
  t.equal(shown(stage, 'ann'), 919)
  stage.price(BTC, 920)
  t.same([stage.equity('ann'), stage.run().commands], [230n * DOLLAR, 0])
  t.equal(shown(stage, 'ann'), 919)
  stage.price(BTC, 919)
  t.equal(stage.run().told[0], 'ann STARTED')
  // At 1,060: equity 880 - 600 = 280, maintenance 5 % of 10,600 - 250 = 280.
  const other = new LiquidationStage()
  other.fund(10_000)
  other.give({ ann: { lots: 10, price: 1000, collateral: 5000 }, bob: { lots: -10, price: 1000, collateral: 880 } })
  t.equal(shown(other, 'bob'), 1061)
  other.price(BTC, 1060)
  t.same([other.equity('bob'), other.run().commands], [280n * DOLLAR, 0])
  other.price(BTC, 1061)
  t.equal(other.run().told[0], 'bob STARTED')
})

t.test('what a position at a stale price owes in funding alone does not have others closed', async (t) => {
  const stage = new LiquidationStage()
  stage.give({
    'ann 1': { pair: BTC, lots: 10, price: 1000, collateral: 1800, cross: true },
    'ann 2': { pair: ETH, lots: 5, price: 1000, collateral: 0, cross: true },
    'bob 1': { pair: BTC, lots: -10, price: 1000, collateral: 9000 }, 'bob 2': { pair: ETH, lots: -5, price: 1000, collateral: 9000 },
  })
  // A lot of ETH owes 120, 600 in all.
  const perp = perpRow(stage.state, ETH)
  setI64(stage.state, perp, PERP.CUMULATIVE, getI64(stage.state, perp, PERP.CUMULATIVE) + 120n * DOLLAR * 1_000_000n)
  stage.time += 31_000
  // BTC lost 1,000 of the 1,800 and needs 225: with the funding of ETH it would have 200.
  stage.price(BTC, 900)
  t.equal(stage.equity('ann', BTC, true), 200n * DOLLAR)
  t.same(stage.run().told, [], 'without ETH it has 800 for the 225 that it needs')
  t.equal(stage.stateOf('ann', BTC, true), 'ACTIVE')
  // With ETH it has 200 for the 350 that both need.
  stage.price(ETH, 1000)
  t.equal(stage.run().told[0], 'ann STARTED', 'once its price is fresh it counts')
})
