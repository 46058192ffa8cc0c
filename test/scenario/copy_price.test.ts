/**
 * Promise: a leader cannot send followers to quotes of a second account. Copies open within 50 bps of the leader's fill and of the mark, or
 * wait 20 s for a price and are left out with a reason; they close within 50 bps of the mark, and after attempts that closed nothing within
 * 100, 200 and 400. A leader has 100 dollars at least, an allocation counts up to ten times his equity, and a follower sees what each
 * copy cost more than the leader's fill. The attack is played with the rules of before, too. Figures: support/copy_stage.ts.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { accountEquity } from '../../core/margin/account_equity.ts'
import { OPEN_WAIT_MS, PAUSES_MS } from '../../core/programs/copy_closing.ts'
import { R } from '../../core/state/balances.ts'
import { FOLLOW, LEADER } from '../../core/state/copy_rows.ts'
import { get, getF64, getI64, leaderRow } from '../../core/state/rows.ts'
import { CopyStage } from '../support/copy_stage.ts'
import { BTC, DOLLAR, ETH } from '../support/liquidation_stage.ts'

const [SHORTEST] = PAUSES_MS

class Stage extends CopyStage {
  /** Nothing of `name` rests on the first pair; then its bids and asks, [lots, price]. */
  quote(name: string, bids: [number, number][], asks: [number, number][]): void {
    this.ask(CommandType.CANCEL_ALL, name, { pair: BTC, limit: 1000 })
    for (const [lots, price] of bids) this.order(name, lots, price, { leverage: 100 })
    for (const [lots, price] of asks) this.order(name, -lots, price, { leverage: 100 })
  }

  /** Time passes, with the same index. */
  pass(ms: number, price = 1000): string[] {
    this.time += ms
    for (const pair of [BTC, ETH]) this.price(pair, price)
    return this.mirrored()
  }

  worth(name: string): bigint {
    accountEquity(this.state, this.account(name))
    return this.state.registers[R.AMOUNT]!
  }

  /** [lots, reference, slippage in hundredths of a basis point] of the last copy. */
  last(name: string): number[] {
    const row = this.followOf(name)
    return [FOLLOW.COPY_LOTS, FOLLOW.REFERENCE, FOLLOW.SLIPPAGE].map((word) => get(this.state, row, word))
  }
}

/** Fay follows Lea, who has `dollars`, with 5,000; Eve quotes. One lot is a dollar at 1000, of which the mark is. */
function attacked(dollars: number, rules?: number): Stage {
  const stage = new Stage({ maxPositionSize: '1000' }, {}, { lotSize: '0.001', minOrderSize: '0.001' }, rules)
  for (const [name, amount] of [['lea', dollars], ['eve', 500_000], ['fay', 5000]] as const) stage.deposit(name, amount)
  stage.register('lea')
  stage.follow('fay', 'lea', 5000)
  return stage
}

/** The leader buys and sells at the mark what Eve has there for it; copies find Eve's quotes 10 % off. */
function round(stage: Stage, lots: number): void {
  stage.quote('eve', [], [[lots, 1000], [100_000, 1100]])
  stage.market('lea', lots)
  stage.mirrored()
  stage.quote('eve', [[lots, 1000], [100_000, 900]], [])
  stage.market('lea', -lots)
  stage.mirrored()
}

/** What Fay has after each of four rounds, dollars and cents to the atom. */
function rounds(stage: Stage, lots: number): bigint[] {
  return [1, 2, 3, 4].map(() => {
    round(stage, lots)
    return stage.worth('fay')
  })
}

t.test('before the rules 5 four rounds took 4,027.638 of 5,000 dollars, and cost the leader 40 cents', async (t) => {
  const stage = attacked(100, 4)
  // Lea has 99.95 after her first fee, so a copy of 100 lots has 5,002: 1,000.40 of spread, and 0.05 % of 5,502.20 and of 4,501.80.
  t.same(rounds(stage, 100), [3_994_598_000n, 2_988_191_000n, 1_980_779_000n, 972_362_000n])
  t.equal(stage.worth('lea'), 99_600_000n)
})

t.test('now it takes nothing: a leader with less than 100 dollars after his fee is not copied', async (t) => {
  const stage = attacked(100)
  stage.quote('eve', [], [[100, 1000], [100_000, 1100]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED LEADER_EQUITY'])
  stage.quote('eve', [[100, 1000]], [])
  stage.market('lea', -100)
  t.same(rounds(stage, 100), [5000n * DOLLAR, 5000n * DOLLAR, 5000n * DOLLAR, 5000n * DOLLAR])
})

t.test('nor does a leader with 1,000 dollars: copies wait, and none is made when he closes', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100, 1000], [100_000, 1100]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), [], 'they wait')
  stage.quote('eve', [[100, 1000], [100_000, 900]], [])
  stage.market('lea', -100)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED COPY_PRICE'])
  t.same(rounds(stage, 100), [5000n * DOLLAR, 5000n * DOLLAR, 5000n * DOLLAR, 5000n * DOLLAR])
  t.equal(get(stage.state, stage.followOf('fay'), FOLLOW.COPIED), 0)
})

t.test('at the bounds of the band a round takes one per cent of what is copied, and no more', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100, 1000], [100_000, 1005]])
  stage.market('lea', 100)
  // 100 × 5,000 / 999.95 = 500.025.
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 500'])
  t.same(stage.last('fay'), [500, 1000, 5000], '50 basis points worse than Lea')
  stage.quote('eve', [[100, 1000], [100_000, 995]], [])
  stage.market('lea', -100)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -500'])
  t.same(stage.last('fay'), [-500, 1000, 5000])
  // 500 × 0.010 of spread, 0.05 % of 502.50 and of 497.50.
  t.equal(stage.worth('fay'), 5000n * DOLLAR - 5_500_000n)
  t.equal(getI64(stage.state, stage.followOf('fay'), FOLLOW.SLIPPAGE_COST), 5_000_000n)
})

t.test('a fill of the leader far from the mark moves no copy there', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100_000, 1050]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), [])
  stage.quote('eve', [], [[100_000, 1006]])
  t.same(stage.pass(SHORTEST), [], 'the limit is 1,005')
  stage.quote('eve', [], [[100_000, 998]])
  const before = stage.mirrored()
  t.same([...before, ...stage.pass(SHORTEST)], ['fay ACTIVE COPIED 502'], 'of an equity of 994.9475')
  t.equal(stage.last('fay')[2], -49_523, '52 of 1,050 better than Lea')
})

t.test('a fill of the leader far on the good side moves no copy to the mark', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100, 990], [100_000, 1000]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), [], 'the limit is 994')
  stage.quote('eve', [], [[100_000, 994]])
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED 499'])
  t.same(stage.last('fay'), [499, 990, 4040])
  stage.quote('eve', [[100, 1000], [100_000, 996]], [])
  stage.market('lea', -100)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED -499'])
  t.equal(stage.copied('fay'), 0)
})

t.test('what the band has too little of waits for the rest, and is left out after 20 seconds', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100, 1000], [300, 1005], [100_000, 1006]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 500 COPY_PARTLY_FILLED'])
  t.equal(stage.copied('fay'), 300)
  const row = stage.followOf('fay')
  t.equal(getF64(stage.state, row, FOLLOW.OPEN_UNTIL), stage.time + OPEN_WAIT_MS)
  t.equal(getF64(stage.state, row, FOLLOW.CLOSE_AT), stage.time + SHORTEST, 'its owner reads when it is tried again')
  t.same(stage.pass(SHORTEST - 1), [])
  stage.quote('eve', [], [[100, 1003], [100_000, 1006]])
  t.same(stage.pass(1), ['fay ACTIVE COPIED 200 COPY_PARTLY_FILLED'])
  t.same([stage.copied('fay'), ...stage.last('fay')], [400, 100, 1000, 3000])
  t.same(stage.pass(SHORTEST), [])
  t.same(stage.pass(SHORTEST), [])
  t.same(stage.pass(SHORTEST), ['fay ACTIVE SKIPPED COPY_PRICE'])
  t.equal(getF64(stage.state, row, FOLLOW.OPEN_UNTIL), 0)
  stage.quote('eve', [], [[100_000, 1000]])
  t.same(stage.pass(OPEN_WAIT_MS), [], 'what was left out is not made up for')
  stage.market('lea', 10)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 50'])
})

t.test('an empty book is waited for too', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100, 1000]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), [])
  stage.quote('eve', [], [[600, 1000]])
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED 500'])
  t.same(stage.pass(OPEN_WAIT_MS), [])
})

t.test('a wait ends with the follow: CLOSE_ONLY, the switch, a stop', async (t) => {
  const waiting = (): Stage => {
    const stage = attacked(1000)
    stage.quote('eve', [], [[100, 1000]])
    stage.market('lea', 100)
    stage.mirrored()
    return stage
  }
  const only = waiting()
  only.closeOnly('fay')
  t.same(only.mirrored(), [])
  t.same(only.pass(SHORTEST), ['fay CLOSE_ONLY SKIPPED COPY_PRICE'])
  const off = waiting()
  off.switch(false)
  t.same(off.pass(SHORTEST), ['fay ACTIVE SKIPPED COPY_TRADING_OFF'])
  const stopped = waiting()
  stopped.stop('fay')
  t.same(stopped.mirrored(), ['fay STOPPED STOPPED'])
  for (const stage of [only, off, stopped]) t.same(stage.pass(OPEN_WAIT_MS), [], 'nothing is left of it')
})

t.test('a leader who reduces ends the wait of what he opened', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [[1000, 1000]], [[100, 1001], [300, 1002]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 500 COPY_PARTLY_FILLED'])
  stage.market('lea', -50)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED COPY_PRICE', 'fay ACTIVE COPIED -150'])
  t.equal(stage.copied('fay'), 150)
  stage.quote('eve', [], [[100_000, 1000]])
  t.same(stage.pass(OPEN_WAIT_MS), [])
})

t.test('of an allocation ten times the equity of the leader counts', async (t) => {
  const stage = attacked(200)
  stage.quote('eve', [], [[100_000, 1000]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), ['fay ACTIVE COPIED 1000'], 'not 25 times')
})

/** Fay has 500 lots, and Eve bids for `lots` at the price alone. */
function long(bid: number): Stage {
  const stage = attacked(1000)
  stage.quote('eve', [], [[100_000, 1000]])
  stage.market('lea', 100)
  stage.mirrored()
  stage.quote('eve', [[100, 1000], [100_000, bid]], [])
  return stage
}

t.test('a close waits for a price too, and takes a worse one after four attempts each, down to 4 % and never further', async (t) => {
  const cases: [bid: number, pauses: number[]][] = [
    [995, []], [994, [0, 0, 0, 0]], [990, [0, 0, 0, 0]], [980, [0, 0, 0, 0, 1, 1, 1, 1]],
    [960, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]],
  ]
  for (const [bid, pauses] of cases) {
    const stage = long(bid)
    stage.market('lea', -100)
    const told = [...stage.mirrored(), ...pauses.flatMap((pause) => stage.pass(PAUSES_MS[pause]!))]
    t.same(told, [...pauses.map(() => 'fay ACTIVE SKIPPED COPY_PRICE'), 'fay ACTIVE COPIED -500'], `a bid of ${bid}`)
    t.same(stage.last('fay'), [-500, 1000, (1000 - bid) * 1000])
  }
  const stage = long(959)
  stage.market('lea', -100)
  stage.mirrored()
  for (const pause of [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]) {
    t.same(stage.pass(PAUSES_MS[pause]!), ['fay ACTIVE SKIPPED COPY_PRICE'])
  }
  stage.quote('eve', [[100_000, 999]], [])
  t.same(stage.pass(PAUSES_MS[3]), ['fay ACTIVE COPIED -500'])
})

t.test('a stop closes within the same limits, and its slippage is from the mark', async (t) => {
  const stage = long(994)
  stage.quote('eve', [[100_000, 994]], [])
  t.equal(stage.stop('fay'), '')
  t.same(stage.mirrored(), ['fay STOPPING SKIPPED COPY_PRICE'])
  stage.quote('eve', [[200, 996], [100_000, 994]], [])
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -500 COPY_PARTLY_FILLED'])
  t.same(stage.last('fay'), [-200, 1000, 4000])
  stage.quote('eve', [[100_000, 996]], [])
  t.same(stage.pass(SHORTEST), ['fay STOPPING CLOSED -300', 'fay STOPPED STOPPED'])
})

t.test('shorts have the same limits on their side', async (t) => {
  const stage = attacked(1000)
  stage.quote('eve', [[100, 1000], [100_000, 994]], [])
  stage.market('lea', -100)
  t.same(stage.mirrored(), [])
  stage.quote('eve', [[100_000, 995]], [])
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED -500'])
  stage.quote('eve', [], [[100, 1000], [100_000, 1006]])
  stage.market('lea', 100)
  t.same(stage.mirrored(), ['fay ACTIVE SKIPPED COPY_PRICE'])
  stage.quote('eve', [], [[100_000, 1005]])
  t.same(stage.pass(SHORTEST), ['fay ACTIVE COPIED 500'])
  t.equal(stage.worth('fay'), 5000n * DOLLAR - 5_500_000n)
})

t.test('copy trading stays inside one application', async (t) => {
  const stage = new Stage()
  for (const name of ['lea', 'fay', 'lee@two', 'fin@two']) stage.deposit(name, 1000)
  t.equal(stage.register('lea', 'Star'), '')
  t.equal(stage.follow('fin@two', 'Star', 100), 'NOT_FOUND', 'a handle means nothing elsewhere')
  t.equal(stage.register('lee@two', 'star'), '', 'and may be taken there')
  t.equal(stage.register('fin@two', 'STAR'), 'HANDLE_TAKEN')
  t.equal(stage.follow('fin@two', 'Star', 100), '')
  t.equal(stage.follow('fay', 'Star', 100), '')
  const leaderOf = (name: string): number => leaderRow(stage.state, get(stage.state, stage.followOf(name), FOLLOW.LEADER))
  const followed = ['fay', 'fin@two'].map((name) => get(stage.state, leaderOf(name), LEADER.ACCOUNT))
  t.same(followed, [stage.account('lea'), stage.account('lee@two')], 'each the one of his own')
  t.equal(stage.release('lea'), '')
  t.equal(stage.follow('fin@two', 'Star', 100), 'ALREADY_FOLLOWING', 'who is not released')
  const older = new Stage({}, {}, {}, 4)
  for (const name of ['lea', 'fin@two']) older.deposit(name, 1000)
  older.register('lea', 'Star')
  t.equal(older.register('fin@two', 'star'), 'HANDLE_TAKEN', 'before the rules 5 over all applications')
  t.equal(older.follow('fin@two', 'Star', 100), '')
})
