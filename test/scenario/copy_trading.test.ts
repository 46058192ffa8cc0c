/**
 * Promise: what a leader does on a perpetual is copied to who follows it, in the proportion of allocation to the leader's equity, rounded
 * down to lots, in a bucket of the follow, and never with more than its allocation; copies are never copied. Figures: copy_stage.ts.
 */
import t from 'tap'
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { firstWords } from '../../core/lib/sha256.ts'
import { FOLLOW, LEADER } from '../../core/state/copy_rows.ts'
import { MARGIN_ACCOUNT, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bytesOf, get, getF64, getI64, leaderRow, marginAccountRow } from '../../core/state/rows.ts'
import { bucketOfFollow } from '../../core/orders/copy_orders.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { BTC, DOLLAR, ETH } from '../support/liquidation_stage.ts'
import { CopyStage } from '../support/copy_stage.ts'

/** Lea has 10,000 dollars and the handle "Lea"; Mia bids and asks at 999 and 1001 for more than anybody wants. */
function stageOf(limits: Record<string, number> = {}): CopyStage {
  const stage = new CopyStage({}, limits)
  stage.deposit('lea', 10_000)
  stage.deposit('mia', 900_000)
  for (const pair of [BTC, ETH]) {
    stage.order('mia', 400, 999, { leverage: 100 }, pair)
    stage.order('mia', -400, 1001, { leverage: 100 }, pair)
  }
  stage.register('lea', 'Lea')
  return stage
}

t.test('a fill is copied in proportion, rounded down, and what is left over comes with the next one', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  t.equal(stage.follow('fay', 'lea', 1500), '')
  stage.market('lea', 9)
  // The equity of Lea after her fill: 10,000 less 9 x 1 of spread and 0.05 % of 9,009; 9 x 1500 / 9,986 = 1.35.
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 1'])
  t.equal(stage.copied('fay'), 1)
  stage.market('lea', 5)
  // 1.35 + 0.75 = 2.10.
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 1'])
  stage.market('lea', -14)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -2'], 'who closes all leaves no copy behind')
  t.equal(stage.copied('fay'), 0)
  stage.market('lea', 2)
  t.same(stage.mirrored(), [], 'nothing was left over, and 0.3 is no lot')
})

t.test('a part that the leader closes is closed, and the other side comes with two orders', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.follow('fay', 'lea', 5000)
  stage.market('lea', 20)
  stage.mirrored()
  t.equal(stage.copied('fay'), 10)
  stage.market('lea', -10)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -5'])
  stage.market('lea', -30)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -5', 'fay ACTIVE COPIED -10'])
  t.equal(stage.copied('fay'), -10)
})

t.test('what was there before, and what is done and undone before its turn, is not copied', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.market('lea', 10)
  stage.follow('fay', 'lea', 5000)
  t.same(stage.mirrored(), [])
  stage.market('lea', 10)
  stage.market('lea', -10)
  t.same(stage.mirrored(), [], 'net nothing')
  stage.market('lea', -10)
  t.same(stage.mirrored(), [], 'she has no copy to close')
})

t.test('never more than the allocation: who lacks margin is left out, and can read why', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.deposit('gil', 5000)
  stage.follow('fay', 'lea', 1000, { maxLeverage: 100 })
  stage.follow('gil', 'lea', 1000)
  // At 5 times Gil needs 200 for a lot, Fay, at 1 times at most, 1000 and a fee.
  stage.market('lea', 20)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED INSUFFICIENT_MARGIN', 'gil ACTIVE COPIED 2'])
  const row = stage.followOf('fay')
  t.equal(refusalByNumber(get(stage.state, row, FOLLOW.SKIP_CODE)).code, 'INSUFFICIENT_MARGIN')
  t.equal(getF64(stage.state, row, FOLLOW.SKIPPED_AT), stage.time)
  const margin = marginAccountRow(stage.state, get(stage.state, stage.followOf('gil'), FOLLOW.MARGIN_ACCOUNT))
  t.ok(getI64(stage.state, margin, MARGIN_ACCOUNT.EARMARKED) <= 1000n * DOLLAR)
  stage.market('lea', -20)
  t.same(stage.mirrored(), ['gil ACTIVE COPIED -2'])
})

t.test('CLOSE_ONLY copies what reduces, and nothing that opens', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.follow('fay', 'lea', 5000)
  stage.market('lea', 8)
  stage.mirrored()
  t.equal(stage.copied('fay'), 4)
  t.equal(stage.closeOnly('fay'), '')
  stage.market('lea', 8)
  t.same(stage.mirrored(), [])
  stage.market('lea', -8)
  t.same(stage.mirrored(), ['fay CLOSE_ONLY COPIED -2'], 'half of what the leader has')
  t.equal(stage.closeOnly('fay', false), '')
  stage.market('lea', 4)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 2'])
})

t.test('copies stand in a bucket of the follow, with its strategy key, and their money is nobody else\'s', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.follow('fay', 'lea', 5000)
  stage.market('lea', 8)
  stage.mirrored()
  const { state } = stage
  const row = stage.followOf('fay')
  const bucket = bucketOfFollow(state, row, BTC)
  const key = Buffer.from(bytesOf(state, bucket, RISK_BUCKET.STRATEGY_KEY, 48)).toString('latin1').replace(/\0+$/, '')
  t.match(key, /^copy:[0-9a-f]{8}-[0-9a-f]{4}-8012-/)
  t.same(firstWords(Buffer.from(key)), [get(state, bucket, RISK_BUCKET.KEY_LOW), get(state, bucket, RISK_BUCKET.KEY_HIGH)])
  t.equal(stage.lots('fay'), 0, 'her own bucket has nothing')
  const margin = get(state, row, FOLLOW.MARGIN_ACCOUNT)
  const createdSequence = getF64(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.CREATED_SEQUENCE)
  const move = (kind: number): string => stage.ask(CommandType.MOVE_COLLATERAL, 'fay', {
    move: kind, marginAccount: margin, createdSequence, amount: DOLLAR, bucket: -1,
  })
  t.equal(move(CollateralMove.FROM_SUB), 'COPY_MARGIN_ACCOUNT')
  t.equal(move(CollateralMove.TO_SUB), 'COPY_MARGIN_ACCOUNT')
  t.equal(move(CollateralMove.WITHDRAW), 'COPY_MARGIN_ACCOUNT')
  t.equal(stage.ask(CommandType.CLOSE_MARGIN_ACCOUNT, 'fay', { marginAccount: margin, createdSequence }), 'COPY_MARGIN_ACCOUNT')
  const named = {
    marginAccount: margin + 1, namedSequence: createdSequence, keyLow: get(state, bucket, RISK_BUCKET.KEY_LOW),
    keyHigh: get(state, bucket, RISK_BUCKET.KEY_HIGH),
  }
  t.equal(stage.market('fay', 1, named), 'COPY_MARGIN_ACCOUNT')
  t.equal(stage.market('fay', -1, { ...named, flags: Flag.REDUCE_ONLY, leverage: 0 }), '', 'she may close at market')
  t.equal(stage.copied('fay'), 3)
})

t.test('no loops: who leads does not follow, who follows does not lead, and a family does not follow itself', async (t) => {
  const stage = stageOf()
  for (const name of ['fay', 'gil']) stage.deposit(name, 5000)
  t.equal(stage.follow('lea', 'lea', 100), 'CANNOT_FOLLOW')
  t.equal(stage.follow('fay', 'lea', 100), '')
  t.equal(stage.register('fay'), 'CANNOT_LEAD')
  t.equal(stage.register('gil'), '')
  t.equal(stage.follow('gil', 'lea', 100), 'CANNOT_FOLLOW')
  t.equal(stage.follow('lea', 'gil', 100), 'CANNOT_FOLLOW')
  t.equal(stage.release('lea'), '')
  t.equal(stage.follow('lea', 'gil', 100), 'CANNOT_FOLLOW', 'she is followed still')
  stage.stop('fay')
  stage.mirrored()
  t.equal(stage.follow('lea', 'gil', 100), '', 'not any more')
  t.equal(stage.register('lea'), 'CANNOT_LEAD')
})

t.test('handles: unique whatever the case; a released one names no one, and is nobody else\'s for a while', async (t) => {
  const stage = stageOf({ handlePauseMs: 60_000 })
  for (const name of ['fay', 'gil']) stage.deposit(name, 5000)
  t.equal(stage.register('gil', 'LEA'), 'HANDLE_TAKEN')
  t.equal(stage.register('lea', 'other'), 'ALREADY_LEADER')
  t.equal(stage.register('lea', 'LEA'), '', 'her own, written differently')
  for (const bad of ['ab', 'has space', 'x'.repeat(25), 'ümlaut', '']) t.equal(stage.register('gil', bad), 'VALIDATION_ERROR', bad)
  stage.follow('fay', 'lea', 1000)
  t.equal(stage.release('lea'), '')
  t.equal(stage.release('lea'), 'NOT_FOUND')
  t.equal(stage.follow('gil', 'lea', 100), 'NOT_FOUND')
  stage.market('lea', 30)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 3'], 'who follows is copied to on')
  t.equal(stage.register('gil', 'lea'), 'HANDLE_TAKEN')
  t.equal(stage.register('lea', 'other'), 'HANDLE_CHANGE_TOO_SOON')
  t.equal(stage.register('lea', 'lea'), '', 'the same at any time')
  stage.release('lea')
  stage.time += 59_999
  t.equal(stage.register('gil', 'lea'), 'HANDLE_TAKEN')
  stage.time += 1
  t.equal(stage.register('gil', 'lea'), '')
  stage.price(BTC, 1000)
  stage.market('lea', -30)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -3'], 'without a name too')
  t.equal(stage.register('lea', 'lea'), 'HANDLE_TAKEN')
  t.equal(stage.register('lea', 'other'), '')
})

t.test('a stop closes the copies, frees the allocation and is over; what cannot be closed is tried again', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.follow('fay', 'lea', 5000)
  for (const pair of [BTC, ETH]) stage.market('lea', 6, {}, pair)
  stage.mirrored()
  t.equal(stage.deposited('fay'), 0n)
  stage.send(CommandType.SET_PAIR_STATUS, { pair: ETH, status: 0 })
  t.equal(stage.stop('fay'), '')
  t.equal(stage.stop('fay'), '', 'twice is once')
  t.equal(stage.closeOnly('fay'), 'FOLLOW_STOPPING')
  t.equal(stage.follow('fay', 'lea', 100), 'ALREADY_FOLLOWING')
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -3', 'fay STOPPING SKIPPED PAIR_NOT_ACTIVE'])
  stage.market('lea', 6)
  t.same(stage.mirrored(), [], 'nothing is copied any more')
  stage.send(CommandType.SET_PAIR_STATUS, { pair: ETH, status: 1 })
  stage.send(CommandType.SET_MAINTENANCE, { on: 1 })
  stage.time += 4999
  t.same(stage.mirrored(), [])
  stage.time += 1
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -3', 'fay STOPPED STOPPED'], 'in maintenance too')
  t.ok(stage.deposited('fay') > 4900n * DOLLAR)
  t.equal(get(stage.state, leaderRow(stage.state, 0), LEADER.FOLLOWS), 0)
})

t.test('a liquidation of the leader is followed', async (t) => {
  const stage = stageOf()
  stage.deposit('fay', 5000)
  stage.follow('fay', 'lea', 5000)
  stage.market('lea', 40, { leverage: 1000 })
  stage.mirrored()
  const before = stage.copied('fay')
  t.ok(before >= 20)
  stage.price(BTC, 910)
  const told = stage.mirrored()
  t.ok(stage.lots('lea') < 40)
  t.match(told[0], /^fay ACTIVE COPIED -/)
  t.ok(stage.copied('fay') < before)
})

t.test('bounds: least allocation, follows of an account, followers of a leader, what is free', async (t) => {
  const stage = stageOf({ followsPerAccount: 1, followersPerLeader: 2 })
  for (const name of ['fay', 'gil', 'hal', 'ole']) stage.deposit(name, 1000)
  stage.register('ole')
  t.equal(stage.follow('fay', 'lea', 9), 'ALLOCATION_TOO_SMALL')
  t.equal(stage.follow('fay', 'lea', 1001), 'INSUFFICIENT_COLLATERAL')
  t.equal(stage.follow('fay', 'lea', 400), '')
  t.equal(stage.follow('fay', 'lea', 100), 'ALREADY_FOLLOWING')
  t.equal(stage.follow('fay', 'ole', 100), 'TOO_MANY_FOLLOWS')
  t.equal(stage.follow('gil', 'lea', 100), '')
  t.equal(stage.follow('hal', 'lea', 100), 'LEADER_FULL')
  t.equal(stage.follow('hal', 'nobody', 100), 'NOT_FOUND')
  t.equal(stage.allocate('fay', 1001), 'INSUFFICIENT_COLLATERAL')
  t.equal(stage.allocate('fay', 1000), '')
  t.equal(stage.deposited('fay'), 0n)
  t.equal(stage.allocate('fay', 10), '')
  t.equal(stage.deposited('fay'), 990n * DOLLAR)
  t.equal(getI64(stage.state, leaderRow(stage.state, 0), LEADER.ALLOCATED), 110n * DOLLAR)
})
