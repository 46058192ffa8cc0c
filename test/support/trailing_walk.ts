/**
 * A random walk of trailing stops: many positions of both sides of a perpetual, whose stops are armed, fire and are cancelled while marks
 * come one by one or many at once, gap, do not count, and the engine is made anew of its stored columns; each thing that the engine does
 * is held against support/trailing_model.ts. See property/trailing_stop_model.test.ts.
 */
import { COMMAND_LAYOUTS, CommandType, kindOf, PairStatus } from '../../core/layout/command.ts'
import { ConditionalReason, conditionalReasonOf, ConditionType } from '../../core/layout/conditional.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { trailTrigger, watermarkOf } from '../../core/margin/trails.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { CONDITIONAL } from '../../core/state/conditional_rows.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { PERP, POSITION } from '../../core/state/margin_rows.ts'
import { conditionalRow, get, getF64, perpRow, positionAt, scalar } from '../../core/state/rows.ts'
import { BTC, type Given, LiquidationStage } from './liquidation_stage.ts'
import { Differs, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { copyStored } from './recording.ts'
import { type Stop, TrailingModel } from './trailing_model.ts'

/** Positions of each side; commands between two looks at every invariant. */
const [SIDE, CHECK_EVERY] = [40, 41]
/** Marks that may wait are fewer than that. */
const MARKS_MOST = 60
const STALE_MS = 60_000
export const TRAILING_LIMITS = { conditionalOrders: 1024 }

/** A position, and its stop. */
export interface Holder { signed: Decoded; long: boolean; named: Decoded; stop: Stop | null }

export const holdersOf = (stage: LiquidationStage, count: number): Holder[] => {
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

export class Walk {
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
    const stage = new LiquidationStage({ indexBandBps: '10000' }, TRAILING_LIMITS)
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

  private send(type: CommandType, values: Decoded, lane = 0): { events: Decoded[]; code: number; sequence: number } {
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
    if (code !== 0) throw new Differs(`${what} is refused: ${code}`)
  }

  /** So many acts, and all that they lead to. */
  run(acts: number): void {
    for (let act = 0; act < acts; act++) {
      this.act()
      if (act % CHECK_EVERY === 0) this.check()
    }
    this.drain()
  }

  private act(): void {
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
    const values = { pair: BTC, price: this.at, source: 0, force: 1, observedAt: this.time }
    const { code, sequence } = this.send(CommandType.SET_INDEX_PRICE, values)
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
    const { code, sequence, events } = this.send(CommandType.ATTACH_CONDITIONALS, values, 1)
    if (holder.stop !== null) {
      if (code !== 440) throw new Differs(`a second trailing stop is answered ${code}`)
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
    if (is !== should) throw new Differs(`told ${is}, the model has ${should}`)
  }

  private cancel(): void {
    const holder = this.holders.find(({ stop }) => stop !== null && this.below(8) === 0)
    if (holder === undefined) return
    const values = { leg: ConditionType.TRAILING_STOP, createdSequence: holder.stop!.made }
    const { code, events } = this.send(CommandType.CANCEL_CONDITIONAL, { ...holder.signed, ...values }, 1)
    if (this.status === PairStatus.HALTED) {
      if (code !== 306) throw new Differs(`a cancel on a halted pair is answered ${code}`)
      return
    }
    this.done(code, 'a cancel')
    if (Number(events[0]!['createdSequence']) !== holder.stop!.made) throw new Differs('another one is cancelled')
    this.model.remove(holder.stop!)
    holder.stop = null
    this.count('cancelled')
  }

  /** Steps of the sequencer's; whether there was anything to do. */
  private steps(most: number): boolean {
    for (let step = 0; step < most; step++) {
      const { code, events } = this.send(CommandType.TRIGGER_STEP, { pair: BTC })
      if (code !== 0) return false
      if (this.isHalted) throw new Differs('something fires on a pair that takes no orders')
      for (const event of events.filter((each) => each['event'] === 'CONDITIONAL')) this.happened(event)
    }
    return true
  }

  /** The engine fired a stop, or armed it: the model must do just that. */
  private happened(event: Decoded): void {
    const reason = conditionalReasonOf(Number(event['what']))
    const done = this.model.next()
    if (done === null) throw new Differs(`${event['createdSequence']} does something, the model nothing`)
    const expected = done.what === 'FIRED' ? ConditionalReason.TRIGGERED : ConditionalReason.ARMED
    this.told(event, done.stop)
    if (reason !== expected) throw new Differs(`told for ${reason}, the model: ${done.what}`)
    const holder = this.holders.find(({ stop }) => stop === done.stop)!
    if (done.what === 'FIRED') holder.stop = null
    this.count(done.what)
  }

  /** Everything that is to be done; then nothing is left in the model either, and every watermark is its own. */
  private drain(): void {
    for (let steps = 0; this.steps(1); steps++) if (steps > 4000) throw new Differs('there is no end')
    if (this.isHalted) return
    const left = this.model.next()
    if (left !== null) throw new Differs(`${left.stop.made} should be ${left.what} still`)
    const { state } = this.bench
    for (const { made } of this.model.stops) if (rowOf(this.bench, made) < 0) throw new Differs(`${made} is not there any more`)
    for (const stop of this.model.stops) {
      const row = rowOf(this.bench, stop.made)
      const [is, should] = [[watermarkOf(state, row), trailTrigger(state, row)], [stop.best, TrailingModel.tick(stop)]].map(String)
      if (is !== should) throw new Differs(`a reader sees ${is} of ${stop.made}, the model has ${should}`)
    }
    this.count('drained')
  }

  private setStatus(status: number): void {
    const { code, sequence } = this.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status })
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
    const { code, sequence } = this.send(CommandType.SET_PERP, values)
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

  private check(): void {
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
