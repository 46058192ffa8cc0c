/**
 * Promise: however many positions a price fails, a command and a turn of the sequencer do so much work and no more, other commands are
 * applied between, and positions that do not fail are not touched. A deep book is gone on with in the next turn; auto-deleveraging ends
 * within a stated number of commands, also when its ranking is old before it is at its end.
 */
import t, { type Test } from 'tap'
import { COMMAND_LAYOUTS, CommandType, typeOfKind } from '../../core/layout/command.ts'
import { LIQUIDATION_STEP_COMMAND } from '../../core/layout/margin.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { ASKED_MAX } from '../../core/liquidation/deleverage.ts'
import { ROWS_PER_LOOK } from '../../core/liquidation/liquidate.ts'
import { WALK_MAX } from '../../core/liquidation/ranking.ts'
import { REDUCE_ORDERS_MAX } from '../../core/margin/order_lists.ts'
import { LOOKS_OF_TURN, STEPS_MAX } from '../../core/sequencer/liquidation_timers.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { GUARD_DRIFT, GuardPhase, RANKED_MAX, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, get, getF64, guardDriftRow, scalar } from '../../core/state/rows.ts'
import { CountedStage } from '../support/counted_stage.ts'
import { DEEP } from '../suite/rounds.ts'
import { MARGIN_FILL } from '../support/counted_liquidation.ts'
import { BTC, ETH, LiquidationStage, type Given } from '../support/liquidation_stage.ts'

const LIMITS = {
  accounts: 65_536, sessions: 65_536, marginAccounts: 65_536, riskBuckets: 65_536, positions: 65_536, orders: 65_536,
  openOrdersPerAccount: 32_768,
}
/** Words of the state that a command without much to do reads, and a row that is ranked. */
const [FEW, ROW] = [1000, 60]
const TURN_SLOTS = 256
/** Orders that one step may meet or end beyond its part: reduce-only ones of two positions, and one counterparty with his. */
const BEYOND = 2 * REDUCE_ORDERS_MAX + 1

/** What one turn did. */
interface Turn { commands: number; steps: number; met: number; behind: boolean }

/** A sequencer's turns, with every command counted. */
class Turns {
  readonly stage: LiquidationStage
  readonly counted: CountedStage
  private readonly timers = createTimers()
  private readonly batch = viewsOf(new ArrayBuffer(TURN_SLOTS * RECORD_BYTES))
  /** Most words that one command read. */
  most = 0

  constructor(stage: LiquidationStage) {
    this.stage = stage
    this.counted = new CountedStage(stage.bench)
  }

  /** One turn, without other commands. */
  turn(): Turn {
    const { stage: { state }, counted, batch } = this
    counted.time = this.stage.time
    const slots = writeDue(this.timers, state, this.stage.time, batch, 0, TURN_SLOTS)
    const done: Turn = { commands: slots, steps: 0, met: 0, behind: this.timers.behind }
    for (let slot = 0; slot < slots; slot++) {
      const type = typeOfKind(batch.u32[slot * RECORD_WORDS]!) as CommandType
      const { kind: _, ...values } = decode(COMMAND_LAYOUTS[type]!, batch, slot * RECORD_WORDS)
      const before = [state.clock[CLOCK.FILLS]!, scalar(state, SCALAR.ORDERS_LIVE)] as const
      counted.count(type, values)
      done.steps += counted.steps
      this.most = Math.max(this.most, counted.steps)
      done.met += Math.max(state.clock[CLOCK.FILLS]! - before[0], before[1] - scalar(state, SCALAR.ORDERS_LIVE))
    }
    return done
  }

  /** Parts of the work of a turn that its steps were given. */
  looks(slots: number): number[] {
    return Array.from({ length: slots }, (_, slot) => Number(decode(LIQUIDATION_STEP_COMMAND, this.batch, slot * RECORD_WORDS)['looks']))
  }
}

const bigStage = (): LiquidationStage => {
  const stage = new LiquidationStage({ maxPositionSize: '100000' }, LIMITS)
  stage.checks = false
  return stage
}

const named = (count: number, name: string, given: (index: number) => Given): Record<string, Given> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, given(index)]))

/** A price that fails `failing` of `longs` positions; as many are short. The book takes some of what fails, and nobody the rest. */
function storm(t: Test, longs: number, failing: number): { steps: number; turns: number } {
  const stage = bigStage()
  const { state } = stage
  stage.give({
    ...named(longs, 'long', (index) => ({ lots: 1, price: 1000, collateral: index % (longs / failing) === 0 ? 100 : 900 })),
    ...named(longs, 'short', (index) => ({ lots: -1, price: 1000, collateral: 900, leverage: 100 + (index % 900) })),
  })
  stage.deposit('mia', 900_000)
  for (let order = 0; order < failing / 4; order++) stage.order('mia', 1, 920)
  stage.deposit('usr', 500_000)
  const turns = new Turns(stage)
  t.equal(turns.turn().commands, 0, 'nobody fails before')
  turns.counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 920, source: 0, force: 1, observedAt: stage.time })
  t.ok(turns.counted.steps < FEW, `the price reads ${turns.counted.steps} words, of ${2 * longs} positions`)
  let [all, count] = [0, 0]
  for (;;) {
    const { commands, steps, met, behind } = turns.turn()
    if (commands === 0) break
    all += steps
    count++
    if (commands > STEPS_MAX) t.fail(`${commands} commands in a turn`)
    const looks = turns.looks(commands).reduce((sum, each) => sum + each, 0)
    if (looks > LOOKS_OF_TURN) t.fail(`a turn was given ${looks}`)
    if (met > LOOKS_OF_TURN + STEPS_MAX * BEYOND) t.fail(`${met} orders in a turn`)
    const most = LOOKS_OF_TURN * MARGIN_FILL + LOOKS_OF_TURN * ROWS_PER_LOOK * ROW
    if (steps > most) t.fail(`${steps} words in a turn`)
    t.ok(behind || commands === 0, 'it goes on at once')
    // Somebody else's command has its turn in each of them.
    stage.order('usr', 1, 100 + (count % 100), {}, ETH)
  }
  t.equal(scalar(state, SCALAR.LIQUIDATIONS), 0, 'all of them came to an end')
  const left = Array.from({ length: longs }, (_, index) => index).filter((index) => stage.lots(`long${index}`) !== 0).length
  t.equal(left, longs - failing, 'and nobody else lost anything')
  checkInvariants(state)
  return { steps: all, turns: count }
}

t.test('a price that fails a tenth of all positions', async (t) => {
  const failing = DEEP ? 4000 : 1000
  const { steps, turns } = storm(t, 5 * failing, failing)
  // Half of a turn is for guards; a step of each bucket, and of some a second one. All rows are ranked for each RANKED_MAX of them.
  t.ok(turns <= (2 * failing) / (STEPS_MAX / 2) + 20, `${turns} turns`)
  const ranked = Math.ceil(failing / RANKED_MAX) * 10 * failing * ROW
  t.ok(steps < failing * 10 * FEW + ranked, `${Math.round(steps / failing)} words for each that failed`)
})

t.test('a book of more orders than a turn may meet is gone on with', async (t) => {
  const stage = bigStage()
  const LOTS = LOOKS_OF_TURN + 1000
  stage.give({ ann: { lots: LOTS, price: 1000, collateral: LOTS * 110 }, bob: { lots: -LOTS, price: 1000, collateral: 900_000 } })
  stage.deposit('mia', 900_000)
  stage.deposit('zoe', 900_000)
  stage.price(BTC, 900)
  for (let order = 0; order < LOTS; order++) stage.order(order % 2 === 0 ? 'mia' : 'zoe', 1, 900, { leverage: 500 })
  const turns = new Turns(stage)
  const told: number[] = []
  for (let turn = turns.turn(); turn.commands > 0; turn = turns.turn()) told.push(turn.met)
  t.ok(told.length > 1, `in ${told.length} turns`)
  t.ok(told.every((met) => met <= LOOKS_OF_TURN), `${told.join()} orders`)
  t.equal(stage.lots('bob'), -LOTS, 'nobody was deleveraged for it')
  t.equal(scalar(stage.state, SCALAR.LIQUIDATIONS), 0)
  checkInvariants(stage.state)
})

t.test('auto-deleveraging of one against many ends, with a ranking that is always old', async (t) => {
  const OTHERS = WALK_MAX + 100
  const stage = bigStage()
  stage.give({
    ann: { lots: OTHERS, price: 1000, collateral: 500_000 },
    ...named(OTHERS, 'short', (index) => ({ lots: -1, price: 1000, collateral: 900, leverage: 100 + index })),
  })
  stage.price(BTC, 900)
  const bucket = stage.bucket('ann')
  const createdSequence = getF64(stage.state, bucket, RISK_BUCKET.CREATED_SEQUENCE)
  const walk = Math.ceil(scalar(stage.state, SCALAR.POSITIONS_USED) / WALK_MAX)
  const bound = walk * Math.ceil(OTHERS / ASKED_MAX) + 1
  let commands = 0
  while (stage.lots('ann') !== 0 && commands <= bound) {
    // So long that no ranking is good when the next command comes; the index stays fresh.
    stage.time += 1000
    if (commands % 10 === 0) stage.price(BTC, 900)
    stage.send(CommandType.LIQUIDATION_STEP, { bucket: bucketAt(stage.state, bucket), createdSequence })
    commands++
  }
  t.equal(stage.lots('ann'), 0)
  t.ok(commands <= bound && commands >= OTHERS / ASKED_MAX, `${commands} commands of ${bound}`)
  checkInvariants(stage.state)
})

t.test('a start builds guards in turns, and finds who failed meanwhile', async (t) => {
  const stage = bigStage()
  const { state } = stage
  const MANY = 3000
  stage.give({
    ...named(MANY, 'long', () => ({ lots: 1, price: 1000, collateral: 900 })), ann: { lots: 1, price: 1000, collateral: 60 },
    whale: { lots: -MANY - 1, price: 1000, collateral: 900_000 },
  })
  for (const column of [state.guards, state.guardKeys, state.guardDrifts]) column.fill(0)
  stage.price(BTC, 950)
  const turns = new Turns(stage)
  const isBuilt = (): boolean => get(state, guardDriftRow(state, 0), GUARD_DRIFT.PHASE) === GuardPhase.BUILT
  let count = 0
  for (; count < 100 && !(isBuilt() && scalar(state, SCALAR.LIQUIDATIONS) === 0 && stage.lots('ann') === 0); count++) {
    const { behind } = turns.turn()
    if (!isBuilt()) t.ok(behind, 'the next turn goes on at once')
  }
  t.ok(isBuilt())
  t.ok(count < 20, `${count} turns`)
  t.equal(stage.lots('ann'), 0, 'who failed was found')
})
