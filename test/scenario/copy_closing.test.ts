/**
 * Promise: what could not be closed of a copy is tried again by itself, after pauses that grow, until it is closed: of a follow that is
 * being stopped and of a live one whose leader closed it; without another fill of the leader, in bounded work, with a reason on the follow.
 * Never more is closed than the leader closed, and nothing is owed to the other side of him. Figures: support/copy_stage.ts.
 */
import t from 'tap'
import { CommandType, Flag } from '../../core/layout/command.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { bucketOfFollow } from '../../core/orders/copy_orders.ts'
import { PAUSE_ROUNDS, PAUSES_MS } from '../../core/programs/copy_closing.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { FOLLOW } from '../../core/state/copy_rows.ts'
import { MARGIN_ACCOUNT, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { get, getF64, marginAccountRow } from '../../core/state/rows.ts'
import { CopyStage } from '../support/copy_stage.ts'
import { BTC, DOLLAR, ETH } from '../support/liquidation_stage.ts'
import { copyStored } from '../support/recording.ts'

const [SHORTEST] = PAUSES_MS
const LONGEST = PAUSES_MS.at(-1)!
const DAY = 86_400_000

class Stage extends CopyStage {
  /** Mia bids and asks for `lots`, and for nothing else. */
  book(bids: number, asks: number, pair = BTC): void {
    this.ask(CommandType.CANCEL_ALL, 'mia', { pair, limit: 1000 })
    if (bids > 0) this.order('mia', bids, 999, { leverage: 100 }, pair)
    if (asks > 0) this.order('mia', -asks, 1001, { leverage: 100 }, pair)
  }

  /** Time passes, with a price that nobody doubts. */
  pass(ms: number): string[] {
    this.time += ms
    for (const pair of [BTC, ETH]) this.price(pair, 1000)
    return this.mirrored()
  }

  halt(pair: number, on: boolean): void {
    this.send(CommandType.SET_PAIR_STATUS, { pair, status: on ? 0 : 1 })
  }

  skipOf(name: string): string {
    return refusalByNumber(get(this.state, this.followOf(name), FOLLOW.SKIP_CODE)).code
  }

  /** Its owner closes lots of a long copy at market. */
  closes(name: string, lots: number): string {
    const { state } = this
    const row = this.followOf(name)
    const bucket = bucketOfFollow(state, row, BTC)
    const margin = get(state, row, FOLLOW.MARGIN_ACCOUNT)
    return this.market(name, -lots, {
      flags: Flag.REDUCE_ONLY, leverage: 0, marginAccount: margin + 1,
      namedSequence: getF64(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.CREATED_SEQUENCE),
      keyLow: get(state, bucket, RISK_BUCKET.KEY_LOW), keyHigh: get(state, bucket, RISK_BUCKET.KEY_HIGH),
    })
  }
}

/** Fay and Gil copy half of what Lea has, who is long 20 lots; so each of them is long 10. */
function stageOf(...followers: string[]): Stage {
  const stage = new Stage()
  stage.deposit('lea', 10_000)
  stage.deposit('mia', 900_000)
  stage.book(400, 400)
  stage.register('lea')
  for (const name of followers) {
    stage.deposit(name, 5000)
    stage.follow(name, 'lea', 5000)
  }
  stage.market('lea', 20)
  stage.mirrored()
  return stage
}

t.test('a stop whose book was empty ends after liquidity comes, though the leader does nothing', async (t) => {
  const stage = stageOf('fay')
  stage.book(0, 0)
  t.equal(stage.stop('fay'), '')
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -10 COPY_PARTLY_FILLED'])
  t.equal(stage.skipOf('fay'), 'COPY_PARTLY_FILLED', 'its owner can read why')
  t.equal(getF64(stage.state, stage.followOf('fay'), FOLLOW.CLOSE_AT), stage.time + SHORTEST, 'and when it is tried again')
  t.same(stage.pass(SHORTEST - 1), [])
  t.same(stage.pass(1), ['fay STOPPING CLOSED -10 COPY_PARTLY_FILLED'])
  stage.book(4, 4)
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -10 COPY_PARTLY_FILLED'])
  t.equal(stage.copied('fay'), 6)
  stage.book(400, 400)
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -6', 'fay STOPPED STOPPED'])
  t.ok(stage.deposited('fay') > 4900n * DOLLAR)
})

t.test('what a leader closed and the copy could not is closed later, and no lot more', async (t) => {
  const stage = stageOf('fay', 'gil')
  // Lea takes 10 of the bids, Fay the last 2 of her 5, and nothing is left for Gil.
  stage.book(12, 12)
  stage.market('lea', -10)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -5 COPY_PARTLY_FILLED', 'gil ACTIVE COPIED -5 COPY_PARTLY_FILLED'])
  t.same([stage.copied('fay'), stage.copied('gil')], [8, 10])
  stage.book(5, 5)
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED -3', 'gil ACTIVE COPIED -5 COPY_PARTLY_FILLED'])
  t.same([stage.copied('fay'), stage.copied('gil')], [5, 8])
  stage.book(400, 400)
  t.same(stage.pass(SHORTEST), ['gil ACTIVE COPIED -3'])
  t.same([stage.copied('fay'), stage.copied('gil')], [5, 5])
  t.same(stage.pass(LONGEST), [], 'and that is all')
  stage.market('lea', -10)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -5', 'gil ACTIVE COPIED -5'])
})

t.test('a fill of the leader meanwhile finds what is left as well, and it is not closed twice', async (t) => {
  const stage = stageOf('fay')
  stage.book(10, 10)
  stage.market('lea', -10)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -5 COPY_PARTLY_FILLED'])
  stage.book(400, 400)
  stage.market('lea', -2)
  // 8 of 10 of what she should have, 5.
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -6'])
  t.equal(stage.copied('fay'), 4)
  t.same(stage.pass(SHORTEST), [])
  t.equal(stage.copied('fay'), 4)
})

t.test('a pair that takes no orders: CLOSE_ONLY and ACTIVE wait with the reason, on each pair by itself', async (t) => {
  const stage = stageOf('fay', 'gil')
  stage.book(400, 400, ETH)
  stage.market('lea', 20, {}, ETH)
  stage.mirrored()
  stage.closeOnly('gil')
  for (const pair of [BTC, ETH]) stage.market('lea', -20, {}, pair)
  stage.halt(ETH, true)
  t.same(stage.mirrored(), [
    'fay ACTIVE COPIED -10', 'fay ACTIVE SKIPPED PAIR_NOT_ACTIVE', 'gil CLOSE_ONLY COPIED -10', 'gil CLOSE_ONLY SKIPPED PAIR_NOT_ACTIVE',
  ])
  t.equal(stage.skipOf('gil'), 'PAIR_NOT_ACTIVE')
  t.same(stage.pass(SHORTEST), ['fay ACTIVE SKIPPED PAIR_NOT_ACTIVE', 'gil CLOSE_ONLY SKIPPED PAIR_NOT_ACTIVE'])
  stage.halt(ETH, false)
  stage.switch(false)
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED -10', 'gil CLOSE_ONLY COPIED -10'], 'though copy trading is off')
})

t.test('a pair that is halted for a day costs some hundred commands for each stop, and the stop ends soon after it', async (t) => {
  const stage = stageOf('fay')
  stage.halt(BTC, true)
  stage.stop('fay')
  const tries: number[] = []
  let commands = 0
  for (const begun = stage.time; stage.time < begun + DAY;) {
    const { events } = stage.settleDown()
    commands += events.filter((event) => event['event'] === 'RESULT of COPY_STEP').length
    if (events.some((event) => event['event'] === 'FOLLOW')) tries.push(stage.time)
    stage.time = Math.max(stage.time + 1, getF64(stage.state, stage.followOf('fay'), FOLLOW.CLOSE_AT))
  }
  const pauses = tries.slice(1).map((time, index) => time - tries[index]!)
  const each = (ms: number): number[] => new Array<number>(PAUSE_ROUNDS).fill(ms)
  t.same(pauses.slice(0, 3 * PAUSE_ROUNDS), [SHORTEST, PAUSES_MS[1], PAUSES_MS[2]].flatMap(each), 'they grow')
  t.ok(pauses.slice(3 * PAUSE_ROUNDS).every((ms) => ms === LONGEST))
  t.equal(commands, 3 * tries.length, 'an attempt, the end of the round, and one that finds nothing')
  t.ok(tries.length < 290, `${tries.length} attempts`)
  stage.halt(BTC, false)
  t.same(stage.pass(LONGEST), ['fay STOPPING CLOSED -10', 'fay STOPPED STOPPED'])
})

t.test('a round that closed something begins with the shortest pause again', async (t) => {
  const stage = stageOf('fay')
  stage.book(0, 0)
  stage.stop('fay')
  stage.mirrored()
  for (let round = 1; round < PAUSE_ROUNDS; round++) t.equal(stage.pass(SHORTEST).length, 1)
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -10 COPY_PARTLY_FILLED'])
  t.same(stage.pass(SHORTEST), [], 'it has the next pause by now')
  stage.book(1, 1)
  t.same(stage.pass(PAUSES_MS[1] - SHORTEST), ['fay STOPPING CLOSED -10 COPY_PARTLY_FILLED'])
  t.equal(stage.copied('fay'), 9)
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -9 COPY_PARTLY_FILLED'])
})

t.test('whoever waits to close is stopped at once, and starts with the shortest pause', async (t) => {
  const stage = stageOf('fay')
  stage.market('lea', -20)
  stage.halt(BTC, true)
  stage.mirrored()
  for (let round = 0; round < 2 * PAUSE_ROUNDS; round++) stage.pass(PAUSES_MS[1])
  stage.stop('fay')
  t.same(stage.mirrored(), ['fay STOPPING SKIPPED PAIR_NOT_ACTIVE'])
  stage.halt(BTC, false)
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -10', 'fay STOPPED STOPPED'])
})

t.test('who waits longest is first, whatever the pause', async (t) => {
  const stage = stageOf('fay', 'gil')
  stage.halt(BTC, true)
  stage.stop('fay')
  stage.mirrored()
  for (let round = 0; round < PAUSE_ROUNDS; round++) stage.pass(SHORTEST)
  // Fay is due in 20 seconds, Gil a moment behind that.
  stage.time += PAUSES_MS[1] + 1
  stage.stop('gil')
  stage.halt(BTC, false)
  t.same(stage.mirrored(), ['fay STOPPING CLOSED -10', 'fay STOPPED STOPPED', 'gil STOPPING CLOSED -10', 'gil STOPPED STOPPED'])
})

t.test('an owner who closed the rest himself owes nothing to the other side of the leader', async (t) => {
  const stage = stageOf('fay')
  stage.market('lea', -20)
  stage.halt(BTC, true)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED PAIR_NOT_ACTIVE'])
  stage.halt(BTC, false)
  t.equal(stage.closes('fay', 10), '')
  stage.market('lea', 4)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 2'], 'long, as the leader')
  t.same(stage.pass(SHORTEST), [])
  t.equal(stage.copied('fay'), 2)
})

t.test('a restart goes on with what waits', async (t) => {
  const stage = stageOf('fay', 'gil')
  stage.book(0, 20)
  stage.stop('gil')
  stage.market('lea', 4)
  stage.mirrored()
  stage.halt(BTC, true)
  stage.mirrored()
  const copy = copyStored(stage.text, stage.state)
  t.equal(stateDigest(copy.state), stateDigest(stage.state))
  const row = stage.followOf('gil')
  t.equal(get(copy.state, row, FOLLOW.ROUNDS), get(stage.state, row, FOLLOW.ROUNDS))
  t.ok(getF64(copy.state, row, FOLLOW.CLOSE_AT) > stage.time)
})
