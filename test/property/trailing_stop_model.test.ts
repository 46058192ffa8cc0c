/**
 * Promise: a trailing stop fires at the mark at which it must, in the order in which it must, whatever the marks did before: on random paths
 * with gaps, many marks before anything is looked at, halts, indexes that go stale and forced marks meanwhile, cancels, and restarts in
 * between, in which the engine is made of the columns that a snapshot keeps. Many stops of both sides, of the same distance and of others,
 * armed at different marks, at once or at an activation price, against an array of {armed mark, best mark} (support/trailing_model.ts): which
 * of them each step fires or arms, and the watermark and trigger that it tells; and the watermarks of all others, as readers see them.
 *
 * A mark that fires nothing touches no row of a stop: every word that is read is looked at.
 *
 * One run again: ROUNDS=1 SEED=7 npm test -- test/property/trailing_stop_model.test.ts
 */
import t from 'tap'
import { COMMAND_LAYOUTS, CommandType, kindOf, PairStatus } from '../../core/layout/command.ts'
import { ConditionalReason, conditionalReasonOf, ConditionType } from '../../core/layout/conditional.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { trailTrigger, watermarkOf } from '../../core/margin/trails.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { CONDITIONAL, CONDITIONAL_WORDS } from '../../core/state/conditional_rows.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { PERP, POSITION } from '../../core/state/margin_rows.ts'
import { conditionalRow, get, getF64, perpRow, positionAt, scalar } from '../../core/state/rows.ts'
import { CountedStage } from '../support/counted_stage.ts'
import { BTC, type Given, LiquidationStage } from '../support/liquidation_stage.ts'
import type { Bench } from '../support/naive_compare.ts'
import { decodeEvent } from '../support/naive_events.ts'
import { copyStored } from '../support/recording.ts'
import { type Stop, TrailingModel } from '../support/trailing_model.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

/** Positions of each side; what is done in a round; commands between two looks at every invariant. */
const [SIDE, ACTS, CHECK_EVERY] = [40, 700, 41]
/** Marks that may wait are fewer than that. */
const MARKS_MOST = 60
const STALE_MS = 60_000
const LIMITS = { conditionalOrders: 1024 }

/** A position, and its stop. */
interface Holder { signed: Decoded; long: boolean; named: Decoded; stop: Stop | null }

const holdersOf = (stage: LiquidationStage, count: number): Holder[] => {
  const given = (lots: number): Given => ({ lots, price: 1000, collateral: 900_000, leverage: 100 })
  const names = Array.from({ length: count }, (_, index) => [`long${index}`, `short${index}`]).flat()
  stage.checks = false
  stage.give(Object.fromEntries(names.map((name) => [name, given(name.startsWith('long') ? 3 : -3)])))
  return names.map((name) => {
    const position = findPosition(stage.state, stage.bucket(name), BTC)
    const openedSequence = getF64(stage.state, position, POSITION.OPENED_SEQUENCE)
    const named = { position: positionAt(stage.state, position), openedSequence }
    return { signed: stage.signed(name), long: name.startsWith('long'), named, stop: null }
  })
}

class Walk {
  readonly model = new TrailingModel()
  readonly holders: Holder[]
  readonly counts = new Map<string, number>()
  private readonly random: Prng
  private bench: Bench
  private time: number
  private at = 1000
  private indexAt: number
  private status: number = PairStatus.ACTIVE

  constructor(seed: number) {
    this.random = createPrng(seed)
    const stage = new LiquidationStage({ indexBandBps: '10000' }, LIMITS)
    this.holders = holdersOf(stage, SIDE)
    this.bench = stage.bench
    this.time = stage.time
    this.indexAt = stage.time
  }

  private below = (n: number): number => this.random.below(n)
  private pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!
  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  private run(type: CommandType, values: Decoded, lane = 0): { events: Decoded[]; code: number; sequence: number } {
    const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    const events = Array.from({ length: count }, (_, record) => decodeEvent(this.bench.said, record * RECORD_WORDS))
    return { events, code: Number(events.at(-1)!['code']), sequence: this.bench.state.clock[CLOCK.SEQUENCE]! }
  }

  private get mark(): number {
    return get(this.bench.state, perpRow(this.bench.state, BTC), PERP.MARK)
  }

  /** Marks count, and what they fire may enter orders. */
  private get isCounting(): boolean {
    return !this.isHalted && this.time - this.indexAt <= STALE_MS
  }

  private get isHalted(): boolean {
    return this.status !== PairStatus.ACTIVE
  }

  private done(code: number, what: string): void {
    if (code !== 0) throw new Error(`${what} is refused: ${code}`)
  }

  act(): void {
    this.time += this.pick([0, 0, 5, 700])
    const dice = this.below(100)
    if (this.isHalted && this.below(12) === 0) return this.setStatus(PairStatus.ACTIVE)
    if (get(this.bench.state, perpRow(this.bench.state, BTC), PERP.MARKS) >= MARKS_MOST) return this.drain()
    if (dice < 38) this.price()
    else if (dice < 60) this.attach()
    else if (dice < 82) this.steps(1 + this.below(4))
    else if (dice < 88) this.cancel()
    else if (dice < 91) this.drain()
    else if (dice < 93) this.setStatus(this.pick([PairStatus.HALTED, PairStatus.CANCEL_ONLY, PairStatus.ACTIVE]))
    else if (dice < 96) this.freeze()
    else if (dice < 98) this.force()
    else this.restart()
  }

  /** The next index price: mostly near, sometimes a gap. */
  private price(): void {
    const parts = this.pick([3, 10, 10, 30, 30, 120, 500, 2500])
    const moved = this.at * (1 + (this.below(2 * parts + 1) - parts) / 10_000) + (9000 - this.at) / 400
    this.at = Math.max(40, Math.min(60_000, Math.round(moved)))
    const { code, sequence } = this.run(CommandType.SET_INDEX_PRICE, { pair: BTC, price: this.at, source: 0, force: 1, observedAt: this.time })
    this.done(code, 'a price')
    this.indexAt = this.time
    this.marked(sequence)
  }

  private marked(sequence: number): void {
    if (this.isCounting) this.model.mark(sequence, this.mark)
    else this.count('marks that do not count')
  }

  private attach(): void {
    const holder = this.pick(this.holders)
    const bps = this.pick([10, 25, 25, 100, 100, 101, 500, 2000])
    const near = this.mark * (1 + (this.below(201) - 100) / 10_000)
    const activation = this.below(4) === 0 ? Math.max(1, Math.round(near)) : 0
    const values = { ...holder.signed, ...holder.named, trailBps: bps, trailActivation: activation }
    const { code, sequence, events } = this.run(CommandType.ATTACH_CONDITIONALS, values, 1)
    if (holder.stop !== null) {
      if (code !== 440) throw new Error(`a second trailing stop is answered ${code}`)
      return
    }
    this.done(code, 'a stop')
    holder.stop = this.model.add(sequence, holder.long, bps, activation, this.isCounting ? this.mark : 0)
    this.told(events[0]!, holder.stop)
    this.count(holder.stop.best === 0 ? 'pending' : 'armed at once')
  }

  /** What is told of a stop. */
  private told({ createdSequence, watermark, trigger, trailBps, activation }: Decoded, stop: Stop): void {
    const [is, should] = [[createdSequence, watermark, trigger, trailBps, activation],
      [stop.made, stop.best, TrailingModel.tick(stop), stop.bps, stop.activation]].map(String)
    if (is !== should) throw new Error(`told ${is}, the model has ${should}`)
  }

  private cancel(): void {
    const holder = this.holders.find(({ stop }) => stop !== null && this.below(8) === 0)
    if (holder === undefined) return
    const values = { leg: ConditionType.TRAILING_STOP, createdSequence: holder.stop!.made }
    const { code, events } = this.run(CommandType.CANCEL_CONDITIONAL, { ...holder.signed, ...values }, 1)
    if (this.status === PairStatus.HALTED) {
      if (code !== 306) throw new Error(`a cancel on a halted pair is answered ${code}`)
      return
    }
    this.done(code, 'a cancel')
    if (Number(events[0]!['createdSequence']) !== holder.stop!.made) throw new Error('another one is cancelled')
    this.model.remove(holder.stop!)
    holder.stop = null
    this.count('cancelled')
  }

  /** Steps of the sequencer's; whether there was anything to do. */
  private steps(most: number): boolean {
    for (let step = 0; step < most; step++) {
      const { code, events } = this.run(CommandType.TRIGGER_STEP, { pair: BTC })
      if (code !== 0) return false
      if (this.isHalted) throw new Error('something fires on a pair that takes no orders')
      for (const event of events.filter((each) => each['event'] === 'CONDITIONAL')) this.happened(event)
    }
    return true
  }

  /** The engine fired a stop, or armed it: the model must do just that. */
  private happened(event: Decoded): void {
    const reason = conditionalReasonOf(Number(event['what']))
    const done = this.model.next()
    if (done === null) throw new Error(`${event['createdSequence']} does something, the model nothing`)
    const expected = done.what === 'FIRED' ? ConditionalReason.TRIGGERED : ConditionalReason.ARMED
    this.told(event, done.stop)
    if (reason !== expected) throw new Error(`told for ${reason}, the model: ${done.what}`)
    const holder = this.holders.find(({ stop }) => stop === done.stop)!
    if (done.what === 'FIRED') holder.stop = null
    this.count(done.what)
  }

  /** Everything that is to be done; then nothing is left in the model either, and every watermark is its own. */
  drain(): void {
    for (let steps = 0; this.steps(1); steps++) if (steps > 4000) throw new Error('there is no end')
    if (this.isHalted) return
    const left = this.model.next()
    if (left !== null) throw new Error(`${left.stop.made} should be ${left.what} still`)
    const { state } = this.bench
    for (const { made } of this.model.stops) if (rowOf(this.bench, made) < 0) throw new Error(`${made} is not there any more`)
    for (const stop of this.model.stops) {
      const row = rowOf(this.bench, stop.made)
      const [is, should] = [[watermarkOf(state, row), trailTrigger(state, row)], [stop.best, TrailingModel.tick(stop)]].map(String)
      if (is !== should) throw new Error(`a reader sees ${is} of ${stop.made}, the model has ${should}`)
    }
    this.count('drained')
  }

  private setStatus(status: number): void {
    const { code, sequence } = this.run(CommandType.SET_PAIR_STATUS, { pair: BTC, status })
    this.done(code, 'a status')
    const before = this.status
    this.status = status
    // The mark of then is looked at again.
    if (before !== status && status === PairStatus.ACTIVE) this.marked(sequence)
    if (before !== status) this.count('halts')
  }

  /** No price comes for so long that the index is stale. */
  private freeze(): void {
    this.time += STALE_MS + 1
    this.count('freezes')
  }

  /** The operator forces a mark, or lets it go. */
  private force(): void {
    const value = this.below(2) === 0 ? 0 : Math.max(2, Math.round(this.at * (1 + (this.below(401) - 200) / 10_000)))
    const values = { pair: BTC, setting: PerpSetting.FORCED_MARK, value, price: 0, number: this.time + this.below(20_000) + 1 }
    const { code, sequence } = this.run(CommandType.SET_PERP, values)
    this.done(code, 'a forced mark')
    this.marked(sequence)
    this.count('forced')
  }

  /** The engine is another one, made of what a snapshot keeps. */
  private restart(): void {
    this.bench = copyStored(null, this.bench.state)
    this.check()
    this.count('restarts')
  }

  check(): void {
    checkInvariants(this.bench.state)
  }
}

/** Address of the row of the stop that this command made, or -1. */
function rowOf({ state }: Bench, made: number): number {
  for (let number = 0; number < scalar(state, SCALAR.CONDITIONALS_USED); number++) {
    const row = conditionalRow(state, number)
    if (get(state, row, CONDITIONAL.KIND) !== 0 && getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) === made) return row
  }
  return -1
}

const seed = seedOf(1)
t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/property/trailing_stop_model.test.ts`)

t.test('random paths, against the model', async (t) => {
  const met = new Map<string, number>()
  for (const round of eachRound(t, { short: 8, deep: 400 })) {
    const walk = new Walk(seed * 1000 + round)
    let act = 0
    try {
      for (; act < ACTS; act++) {
        walk.act()
        if (act % CHECK_EVERY === 0) walk.check()
      }
      walk.drain()
    } catch (error) {
      t.fail(`round ${round}, act ${act}: ${(error as Error).message}`, { stack: (error as Error).stack })
      return
    }
    for (const [what, times] of walk.counts) met.set(what, (met.get(what) ?? 0) + times)
  }
  t.pass([...met].map(([what, times]) => `${what}: ${times}`).join(', '))
  const must = [
    'FIRED', 'ARMED', 'pending', 'armed at once', 'cancelled', 'drained', 'halts', 'freezes', 'forced', 'restarts', 'marks that do not count',
  ]
  t.strictSame(must.filter((what) => !met.has(what)), [], 'all of it is met')
})

t.test('a mark that fires nothing touches no row of a stop', async (t) => {
  const rows = { accounts: 1024, sessions: 1024, positions: 1024, riskBuckets: 1024, marginAccounts: 1024 }
  const stage = new LiquidationStage({ indexBandBps: '10000' }, { ...LIMITS, ...rows })
  const holders = holdersOf(stage, 150)
  stage.price(BTC, 10_000)
  // Armed at marks that fall, then rise, so that the sides have stacks of some hundred groups.
  holders.forEach(({ signed, named }, index) => {
    if (index % 3 === 0) stage.price(BTC, 10_000 - index)
    stage.send(CommandType.ATTACH_CONDITIONALS, { ...signed, ...named, trailBps: 1000 + index }, 1)
  })
  const touched = new Set<number>()
  const { state } = stage
  const end = state.conditionalsAt + scalar(state, SCALAR.CONDITIONALS_USED) * CONDITIONAL_WORDS
  const counted = new CountedStage(stage.bench, (view, word) => {
    const words = view === 'f64' || view === 'i64' ? 2 * word : view === 'i32' ? word : -1
    const address = view.startsWith('conditionals') ? state.conditionalsAt : words
    if (address >= state.conditionalsAt && address < end) touched.add(address)
  })
  counted.time = stage.time
  for (const price of [9700, 9701, 9690, 9705, 9720, 9712, 9650]) {
    touched.clear()
    counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price, source: 0, force: 1, observedAt: counted.time })
    while (get(state, perpRow(state, BTC), PERP.MARKS) > 0) counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
    t.equal(touched.size, 0, `${price}: ${counted.steps} words are read, none of them of a stop`)
  }
  touched.clear()
  counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 8000, source: 0, force: 1, observedAt: counted.time })
  counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
  t.ok(touched.size > 0, 'and one that fires does')
})
