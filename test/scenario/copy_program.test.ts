/**
 * Promise: while the operator has copy trading switched off nobody begins to lead, to follow or to copy more, what leaders open is not
 * mirrored and follows say why, and what protects followers goes on: what leaders reduce is mirrored, stops and smaller follows work. A
 * fill before the switch in the sequence is before it. Figures: support/copy_stage.ts.
 */
import t from 'tap'
import { Flag, CommandType } from '../../core/layout/command.ts'
import { bucketOfFollow } from '../../core/orders/copy_orders.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { FOLLOW } from '../../core/state/copy_rows.ts'
import { MARGIN_ACCOUNT, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { get, getF64, marginAccountRow } from '../../core/state/rows.ts'
import { CopyStage } from '../support/copy_stage.ts'
import { BTC, DOLLAR } from '../support/liquidation_stage.ts'
import { copyStored } from '../support/recording.ts'

/** Fay follows Lea with half of what Lea has; Mia makes the market. */
function stageOf(): CopyStage {
  const stage = new CopyStage()
  stage.deposit('lea', 10_000)
  stage.deposit('mia', 900_000)
  for (const name of ['fay', 'gil']) stage.deposit(name, 6000)
  stage.order('mia', 400, 999, { leverage: 100 })
  stage.order('mia', -400, 1001, { leverage: 100 })
  stage.register('lea')
  stage.follow('fay', 'lea', 5000)
  return stage
}

t.test('off: nobody registers, follows, becomes ACTIVE or gets more; whatever is less or an end is done', async (t) => {
  const stage = stageOf()
  t.equal(stage.closeOnly('fay'), '')
  stage.switch(false)
  t.equal(stage.register('gil'), 'COPY_TRADING_OFF')
  t.equal(stage.register('lea', 'LEA'), 'COPY_TRADING_OFF')
  t.equal(stage.follow('gil', 'lea', 100), 'COPY_TRADING_OFF')
  t.equal(stage.follow('gil', 'nobody', 100), 'COPY_TRADING_OFF')
  t.equal(stage.closeOnly('fay', false), 'COPY_TRADING_OFF', 'not ACTIVE again')
  t.equal(stage.closeOnly('fay'), '', 'CLOSE_ONLY it is already')
  t.equal(stage.allocate('fay', 5001), 'COPY_TRADING_OFF')
  t.equal(stage.allocate('fay', 4000), '')
  t.equal(stage.deposited('fay'), 2000n * DOLLAR)
  t.equal(stage.stop('fay'), '')
  t.same(stage.mirrored(), ['fay STOPPED STOPPED'])
  t.equal(stage.deposited('fay'), 6000n * DOLLAR)
  t.equal(stage.release('lea'), '')
  stage.switch(true)
  t.equal(stage.register('lea'), '')
  t.equal(stage.follow('gil', 'lea', 100), '')
})

t.test('off: an ACTIVE follow stays ACTIVE and is set to it again, and its owner lowers it', async (t) => {
  const stage = stageOf()
  stage.switch(false)
  t.equal(stage.closeOnly('fay', false), '')
  t.equal(stage.allocate('fay', 5000), '', 'the same')
  t.equal(stage.closeOnly('fay'), '')
  t.equal(stage.closeOnly('fay', false), 'COPY_TRADING_OFF')
})

t.test('off: what a leader opens is left out with a reason, what he reduces is mirrored, and nothing is made up for later', async (t) => {
  const stage = stageOf()
  stage.market('lea', 8)
  stage.mirrored()
  t.equal(stage.copied('fay'), 4)
  stage.switch(false)
  stage.market('lea', 8)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED COPY_TRADING_OFF'])
  const row = stage.followOf('fay')
  t.equal(refusalByNumber(get(stage.state, row, FOLLOW.SKIP_CODE)).code, 'COPY_TRADING_OFF')
  t.equal(getF64(stage.state, row, FOLLOW.SKIPPED_AT), stage.time)
  stage.market('lea', -8)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -2'], 'half of what she has')
  stage.market('lea', -16)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -2', 'fay ACTIVE SKIPPED COPY_TRADING_OFF'], 'closed, and the other side is not opened')
  t.equal(stage.copied('fay'), 0)
  stage.switch(true)
  t.same(stage.mirrored(), [])
  stage.market('lea', -2)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -1'], 'what is new, and no more')
})

t.test('off: a CLOSE_ONLY follow is told nothing of what it would not copy anyway', async (t) => {
  const stage = stageOf()
  stage.closeOnly('fay')
  stage.switch(false)
  stage.market('lea', 8)
  t.same(stage.mirrored(), [])
})

t.test('off: stops go on and closes of copies are taken, in maintenance too', async (t) => {
  const stage = stageOf()
  stage.market('lea', 8)
  stage.mirrored()
  stage.switch(false)
  const row = stage.followOf('fay')
  const bucket = bucketOfFollow(stage.state, row, BTC)
  const margin = get(stage.state, row, FOLLOW.MARGIN_ACCOUNT)
  t.equal(stage.market('fay', -1, {
    flags: Flag.REDUCE_ONLY, leverage: 0, marginAccount: margin + 1,
    namedSequence: getF64(stage.state, marginAccountRow(stage.state, margin), MARGIN_ACCOUNT.CREATED_SEQUENCE),
    keyLow: get(stage.state, bucket, RISK_BUCKET.KEY_LOW), keyHigh: get(stage.state, bucket, RISK_BUCKET.KEY_HIGH),
  }), '')
  stage.send(CommandType.SET_MAINTENANCE, { on: 1 })
  t.equal(stage.stop('fay'), '')
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -3', 'fay STOPPED STOPPED'])
})

t.test('the sequence decides: what is mirrored before the switch is, and what was to be mirrored behind it is not', async (t) => {
  const stage = stageOf()
  stage.follow('gil', 'lea', 5000)
  stage.market('lea', 8)
  t.same(stage.timed().told.filter((told) => told.includes('COPIED')), ['fay ACTIVE COPIED 4'])
  stage.switch(false)
  t.same(stage.mirrored(), ['gil ACTIVE SKIPPED COPY_TRADING_OFF'])
  const copy = copyStored(stage.text, stage.state)
  t.equal(stateDigest(copy.state), stateDigest(stage.state), 'and the switch is stored')
  stage.switch(true)
  t.not(stateDigest(copy.state), stateDigest(stage.state))
})

t.test('the switch is the operator\'s', async (t) => {
  const stage = stageOf()
  t.equal(stage.ask(CommandType.SET_COPY_PROGRAM, 'fay', { on: 0 }), 'OPERATOR_ONLY')
  stage.market('lea', 8)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 4'])
})
