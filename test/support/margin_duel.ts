/**
 * The duel of naive_compare.ts for margin trading: a stream of workload_margin.ts through the engine and through the naive exchange, event
 * bytes compared after every command; rows, invariants and what time is to write next compared every so often.
 */
import { TERMS, TOTAL } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { MARGIN_ACCOUNT, MARGIN_TOTAL, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import {
  bucketRow, get, getF64, getI64, marginAccountRow, marginTotalRow, perpRow, positionRow, termsRow, totalRow,
} from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { commandName, COMMAND_SLOTS, CommandType, kindOf, typeOfKind } from '../../core/layout/command.ts'
import { CONDITIONAL_ORDER, conditionalReasonOf } from '../../core/layout/conditional.ts'
import { FOLLOW_CHANGED, followReasonOf } from '../../core/layout/copying.ts'
import { EventType, RESULT } from '../../core/layout/event.ts'
import { SET_INDEX_PRICE_COMMAND } from '../../core/layout/margin.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { TWAP_ORDER, twapReasonOf } from '../../core/layout/twap.ts'
import { STEPS_MAX } from '../../core/sequencer/liquidation_timers.ts'
import { createTimers, SLICES_MAX, writeDue } from '../../core/sequencer/timers.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CODE, NaiveExchange } from './naive.ts'
import { compareBalances, compareEvents, createBench, Differs, type DuelReport } from './naive_compare.ts'
import { compareCopies } from './naive_copies_compare.ts'
import { dueClosing } from './naive_copy_step.ts'
import { dueConditionals } from './naive_conditional.ts'
import { decodeCommand, encodeEvents, printEvents, printRecord } from './naive_events.ts'
import {
  bucketsOf, earmarkedOf, equityOf, isStale, maintenanceNeeded, perpOf, positionsOf, exposureOf, type Bucket,
} from './naive_margin.ts'
import { reduceOnlyOf } from './naive_margin_fills.ts'
import { isFrozen } from './naive_margin_liquidation.ts'
import { fundingDue, openLots } from './naive_margin_prices.ts'
import { dueOrders } from './naive_orders.ts'
import { isTriggered } from './naive_triggers.ts'
import { dueTwaps } from './naive_twap.ts'
import { compareVault } from './naive_vault_compare.ts'
import { compareWaiting } from './naive_waiting_compare.ts'
import { copyStored } from './recording.ts'
import { genesisText, VARIANTS } from './variants.ts'
import { MarginWorkload } from './workload_margin.ts'

export interface MarginDuelOptions {
  seed: number
  commands: number
  /** Compares rows and checks invariants every so many commands. */
  checkEvery: number
  outboxRecords?: number
  variant?: string
  /** Prices jump, and liquidation goes on among commands and must end, every so many commands ({@link MarginDuel.storm}). */
  stormEvery?: number
  /** Every so many commands an engine is made of the stored columns, and goes on in the place of the one that there was. */
  reloadEvery?: number
  /** Called before every command: the canary's chance to spoil the state. */
  spoil?: (state: State, index: number) => void
}

/** Commands between two turns of the sequencer's timers, and most that one writes. */
const [TURN_EVERY, TURN_MOST] = [7, 48]
/** Of an exchange in which orders wait: every so many commands nobody looks at what is due for so many, while prices come and come. */
const [LULL_EVERY, LULL_COMMANDS] = [1100, 150]
/** Of a storm: commands of clients, between two of them a turn of so few commands; and turns in which it must end then. */
const [STORM_COMMANDS, STORM_EVERY, STORM_TURN, STORM_TURNS] = [160, 5, 2, 300]
/** Refusals because something is full, by number: which of them came while a bucket was being liquidated is counted. */
const FULL = new Map<number, string>([CODE.TOO_MANY_OPEN_ORDERS, CODE.OVERLOADED, CODE.TOO_MANY_MARGIN_ACCOUNTS, CODE.TOO_MANY_RISK_BUCKETS,
  CODE.TOO_MANY_POSITIONS].map((number) => [number, refusalByNumber(number).code]))

export class MarginDuel {
  readonly options: MarginDuelOptions
  readonly report: DuelReport = { events: 0, seen: new Map() }
  private bench
  private readonly text: string
  private readonly naive: NaiveExchange
  private readonly workload: MarginWorkload
  private readonly timers = createTimers()
  private readonly command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  private readonly batch = viewsOf(new ArrayBuffer(TURN_MOST * RECORD_BYTES))

  constructor(options: MarginDuelOptions) {
    this.options = options
    const spec = VARIANTS[options.variant ?? 'perps']!
    this.text = genesisText(spec)
    this.bench = createBench(this.text, options.outboxRecords)
    this.naive = new NaiveExchange(this.bench.state.genesis)
    this.workload = new MarginWorkload(options.seed, this.bench.state.genesis, spec)
  }

  /** Runs it; throws at the first difference or broken invariant. */
  run(): DuelReport {
    const { commands, checkEvery, spoil } = this.options
    for (let index = 0; index < commands; index++) {
      spoil?.(this.bench.state, index)
      if (index % (this.options.reloadEvery ?? Infinity) === 0 && index > 0) this.inContext(index, null, () => this.reload())
      this.workload.next(this.command, 0)
      this.apply(this.command, 0, index)
      if (index % checkEvery === 0 || index === commands - 1) this.inContext(index, null, () => this.check())
      if (index % TURN_EVERY === 0 && !this.lulls(index)) this.turn(index)
      if ((index + 1) % (this.options.stormEvery ?? Infinity) === 0) this.storm(index)
    }
    return this.report
  }

  /** Nobody looks at what is due now. */
  private lulls(index: number): boolean {
    const { waiting } = this.workload
    if (waiting === null) return false
    waiting.bursts = index % LULL_EVERY >= LULL_EVERY - LULL_COMMANDS
    return waiting.bursts
  }

  /** An engine that is loaded from what a snapshot keeps goes on. */
  private reload(): void {
    const { state } = this.bench
    const copy = copyStored(this.text, state)
    if (stateDigest(copy.state) !== stateDigest(state)) throw new Differs('the digest is another after a load')
    checkInvariants(copy.state)
    this.bench = copy
  }

  /**
   * All prices jump, for or against the longs. Liquidation goes on a little with each turn, while clients go on with what they do; then
   * nothing comes any more but turns, and it must end: nothing is written, and no bucket is in liquidation that is not frozen.
   */
  private storm(index: number): void {
    const { workload, naive, report } = this
    const storms = report.seen.get('storms') ?? 0
    this.jump(index, storms % 2 === 0 ? [7, 10] : [13, 10])
    for (let place = 0; place < STORM_COMMANDS; place++) {
      workload.next(this.command, 0)
      this.apply(this.command, 0, index)
      if (place % STORM_EVERY === 0) this.turn(index, STORM_TURN)
    }
    this.jump(index, [1, 1])
    let turns = 0
    while (this.turn(index) > 0) {
      if (++turns > STORM_TURNS) this.inContext(index, null, () => { throw new Differs('liquidation has no end') })
    }
    naive.now = workload.time
    const left = naive.margins.buckets.filter((bucket) => bucket.status === 'LIQUIDATING' && !isFrozen(naive, bucket))
    this.inContext(index, null, () => {
      if (left.length > 0) throw new Differs(`in liquidation for ever: ${left.map(({ row }) => row).join()}`)
      this.check()
    })
    report.seen.set('storms', storms + 1)
  }

  /** The operator sets every index to a part of what it was. */
  private jump(index: number, [part, of]: [part: number, of: number]): void {
    const { naive, bench: { state } } = this
    naive.genesis.pairs.forEach(({ perp }, pair) => {
      if (perp === null) return
      const price = Math.min(state.priceTicks - 1, Math.max(2, Math.round(((perpOf(naive, pair).index || perp.reference) * part) / of)))
      encode(SET_INDEX_PRICE_COMMAND, this.command, 0, {
        kind: kindOf(CommandType.SET_INDEX_PRICE, 1, 0), session: -1, pair, price, source: 0, force: 1, observedAt: this.workload.time,
      })
      this.apply(this.command, 0, index)
    })
  }

  private inContext(index: number, command: Decoded | null, work: () => void): void {
    try {
      work()
    } catch (error) {
      const { seed, variant } = this.options
      const of = variant === undefined ? '' : ` VARIANT=${variant}`
      const what = command === null ? '' : `\n${commandName(typeOfKind(Number(command['kind'])))} ${printRecord(command)}`
      throw new Error(`seed ${seed}, command ${index} at ${this.workload.time}: ${(error as Error).message}${what}\nagain: SEED=${seed} ` +
        `COMMANDS=${index + 1}${of} node_modules/.bin/node --disable-warning=ExperimentalWarning test/property/margin_equals_naive.test.ts`,
      { cause: error })
    }
  }

  /** One command through both. */
  private apply(views: Views, base: number, index: number): void {
    const decoded = decodeCommand(views, base)
    const { bench, naive, workload } = this
    this.inContext(index, decoded, () => {
      const records = bench.run(views, base, workload.time)
      const expected = encodeEvents(naive.apply(decoded, workload.time))
      try {
        compareEvents(bench.said, records, expected)
      } catch (error) {
        throw new Differs(`${(error as Error).message}\nengine:\n${printEvents(bench.said, records)}\nnaive:\n` +
          printEvents(expected, expected.bytes.length / RECORD_BYTES))
      }
      this.count(records)
      workload.learn(bench.said, records)
    })
  }

  private count(records: number): void {
    const { report, bench: { said } } = this
    report.events += records
    for (let record = 0; record < records; record++) {
      const base = record * RECORD_WORDS
      const type = said.u32[base]! & 0xff
      const result = `RESULT ${commandName((said.u32[base]! >>> 8) & 0xff)} ${said.i32[base + 6]}`
      const name = type === 1 ? result : this.nameOf(type, base)
      report.seen.set(name, (report.seen.get(name) ?? 0) + 1)
      const lacking = type === 1 && said.i32[base + RESULT.at.code] === CODE.AGENT_NOT_ALLOWED ? said.i32[base + RESULT.at.detail]! : 0
      if (lacking !== 0) report.seen.set(`lacks ${lacking}`, (report.seen.get(`lacks ${lacking}`) ?? 0) + 1)
      const full = type === 1 ? FULL.get(said.i32[base + 6]!) : undefined
      if (full !== undefined && this.isLiquidating()) report.seen.set(`full ${full}`, (report.seen.get(`full ${full}`) ?? 0) + 1)
    }
  }

  /** An event by its number; of what waits by its reason too, of a follow also by its refusal. */
  private nameOf(type: number, base: number): string {
    const { i32 } = this.bench.said
    const known = this.report.seen
    known.set(`event ${type}`, (known.get(`event ${type}`) ?? 0) + 1)
    const [conditional, twap] = [type === EventType.CONDITIONAL, type === EventType.TWAP]
    const code = conditional ? i32[base + CONDITIONAL_ORDER.at.code]! : twap ? i32[base + TWAP_ORDER.at.code]! : 0
    if (code !== 0) known.set(`RESULT waiting ${code}`, (known.get(`RESULT waiting ${code}`) ?? 0) + 1)
    if (type === EventType.FOLLOW) {
      return ['follow', followReasonOf(i32[base + FOLLOW_CHANGED.at.what]!), i32[base + FOLLOW_CHANGED.at.code]! || ''].join(' ').trim()
    }
    if (conditional) return `conditional ${conditionalReasonOf(i32[base + CONDITIONAL_ORDER.at.what]!)}`
    return twap ? `TWAP ${twapReasonOf(i32[base + TWAP_ORDER.at.what]!)}` : `events ${type}`
  }

  /** A bucket is in liquidation, or waits for its turn. */
  private isLiquidating(): boolean {
    const { naive } = this
    return naive.margins.buckets.some(({ status }) => status === 'LIQUIDATING') || unhealthyOf(naive).length > 0
  }

  /** A turn of the sequencer's timers: what it writes must be due, and what is due it must write. How many commands it wrote. */
  private turn(index: number, most = TURN_MOST): number {
    const { bench: { state }, workload, batch } = this
    const due = this.dueNow()
    const used = writeDue(this.timers, state, workload.time, batch, 0, most)
    const written = Array.from({ length: used }, (_, place) => decodeCommand(batch, place * RECORD_WORDS))
    this.inContext(index, null, () => this.compareDue(due, written, most))
    for (let place = 0; place < used; place++) this.apply(batch, place * RECORD_WORDS, index)
    return used
  }

  /** What must be written: samples and intervals that are over, orders whose time is over, buckets without enough margin. */
  private dueNow(): { funding: number[]; orders: number; unhealthy: Bucket[]; expiring: number; twaps: number; triggered: number[] } {
    const { naive, workload: { time } } = this
    naive.now = time
    return {
      funding: fundingDue(naive, time), orders: dueOrders(naive, time).length, unhealthy: unhealthyOf(naive),
      expiring: dueConditionals(naive, time).length, twaps: dueTwaps(naive, time).length,
      triggered: naive.genesis.pairs.map((_, pair) => pair).filter((pair) => isTriggered(naive, pair)),
    }
  }

  private compareDue(due: ReturnType<MarginDuel['dueNow']>, written: Decoded[], most: number): void {
    const full = written.length === most
    const of = (type: number): Decoded[] => written.filter(({ kind }) => typeOfKind(Number(kind)) === type)
    const funding = of(CommandType.FUNDING_STEP).map(({ pair }) => pair)
    const fits = !full && due.funding.length <= most / 2
    if (fits && String(funding) !== String(due.funding)) throw new Differs(`funding of ${String(due.funding)} is due`)
    if (!full && of(CommandType.EXPIRE_ORDER).length !== due.orders) throw new Differs(`${due.orders} orders are due`)
    if (!full) this.compareWaitingDue(due, of)
    if (!full) this.compareCopiesDue(of)
    const looked = of(CommandType.LIQUIDATION_STEP).map(({ bucket }) => bucket)
    const missed = due.unhealthy.filter(({ row }) => !looked.includes(row))
    // Half of a turn is for margin trading, so many steps of it for liquidation, and half of what settlement leaves of these for guards.
    const left = Math.max(0, Math.min(STEPS_MAX, Math.floor(most / 2) - funding.length) - of(CommandType.SETTLEMENT_STEP).length)
    const cut = looked.length >= Math.ceil(left / 2)
    if (!cut && missed.length > 0) {
      throw new Differs(`nobody looks at ${missed.map((bucket) => `${bucket.row}: ${equityOf(this.naive, bucket)}`).join()}`)
    }
  }

  /** Each pair on which something is to be done gets a step at least; whatever time is over is named, but for slices beyond a turn's. */
  private compareWaitingDue(due: ReturnType<MarginDuel['dueNow']>, of: (type: number) => Decoded[]): void {
    const stepped = [...new Set(of(CommandType.TRIGGER_STEP).map(({ pair }) => Number(pair)))].sort((a, b) => a - b)
    const fits = String(stepped) === String(due.triggered)
    if (!fits) throw new Differs(`prices lead to something on ${String(due.triggered)}, not on ${String(stepped)}`)
    if (due.twaps >= SLICES_MAX) return
    const [expiring, twaps] = [of(CommandType.EXPIRE_CONDITIONAL).length, of(CommandType.TWAP_STEP).length]
    if (expiring !== due.expiring) throw new Differs(`${due.expiring} conditional orders are due, not ${expiring}`)
    if (twaps !== due.twaps) throw new Differs(`${due.twaps} TWAP orders are due, not ${twaps}`)
  }

  /** What leaders did goes on, and so do stops. */
  private compareCopiesDue(of: (type: number) => Decoded[]): void {
    const { naive } = this
    const steps = of(CommandType.COPY_STEP)
    const [fills, stops] = [0, 1].map((work) => steps.filter((step) => step['work'] === work).length)
    if ((fills !== 0) !== (naive.copies.leads.length > 0)) throw new Differs(`${naive.copies.leads.length} leads wait, ${fills} steps`)
    if ((stops !== 0) !== (dueClosing(naive) !== undefined)) throw new Differs(`${stops} steps that close`)
  }

  private check(): void {
    const { bench: { state }, naive } = this
    checkInvariants(state)
    compareBalances(state, naive)
    compareMargins(state, naive)
    compareWaiting(state, naive)
    compareCopies(state, naive)
    compareVault(state, naive)
  }
}

/** Buckets that must be looked at: fresh prices, pairs that trade, and less equity than maintenance margin. */
export function unhealthyOf(naive: NaiveExchange): Bucket[] {
  return naive.margins.buckets.filter((bucket) => {
    const positions = positionsOf(naive, bucket).filter(({ lots }) => lots !== 0)
    const frozen = positions.some(({ pair }) => isStale(naive, pair) || naive.statuses[pair] !== 'ACTIVE' || perpOf(naive, pair).mode >= 2)
    return positions.length > 0 && !frozen && equityOf(naive, bucket) < maintenanceNeeded(naive, bucket)
  })
}

const same = (what: string, engine: unknown, expected: unknown): void => {
  if (String(engine) !== String(expected)) throw new Differs(`${what}: engine ${String(engine)}, naive ${String(expected)}`)
}

/** Every row of margin trading. */
export function compareMargins(state: State, naive: NaiveExchange): void {
  const { margins } = naive
  for (const margin of margins.accounts) {
    const row = marginAccountRow(state, margin.row)
    same(`deposited of margin account ${margin.row}`, getI64(state, row, MARGIN_ACCOUNT.DEPOSITED), margin.deposited)
    same(`earmarked of margin account ${margin.row}`, getI64(state, row, MARGIN_ACCOUNT.EARMARKED), earmarkedOf(naive, margin))
    same(`buckets of margin account ${margin.row}`, get(state, row, MARGIN_ACCOUNT.BUCKETS), bucketsOf(naive, margin).length)
  }
  for (const bucket of margins.buckets) {
    const row = bucketRow(state, bucket.row)
    same(`allocated of bucket ${bucket.row}`, getI64(state, row, RISK_BUCKET.ALLOCATED), bucket.allocated)
    same(`pending of bucket ${bucket.row}`, getI64(state, row, RISK_BUCKET.PENDING), bucket.pending)
    same(`realized of bucket ${bucket.row}`, getI64(state, row, RISK_BUCKET.REALIZED), bucket.realized)
    const statuses = ['FREE', 'ACTIVE', 'LIQUIDATING', 'BAD_DEBT', 'CLOSED']
    same(`state of bucket ${bucket.row}`, statuses[get(state, row, RISK_BUCKET.STATE)], bucket.status)
  }
  comparePositions(state, naive)
  naive.genesis.pairs.forEach((_, pair) => {
    if (get(state, termsRow(state, pair), TERMS.PERP) === 0) return
    const row = perpRow(state, pair)
    same(`open lots of ${pair}`, getF64(state, row, PERP.OPEN_LOTS), openLots(naive, pair))
    same(`basis of ${pair}`, getI64(state, row, PERP.BASIS), perpOf(naive, pair).basis)
    same(`premiums of ${pair}`, getI64(state, row, PERP.PREMIUM_SUM), perpOf(naive, pair).premiumSum)
  })
  const totals = marginTotalRow(state, state.collateralAsset)
  same('funding pool', getI64(state, totals, MARGIN_TOTAL.FUNDING_POOL), margins.fundingPool)
  same('bad debt', getI64(state, totals, MARGIN_TOTAL.BAD_DEBT), margins.badDebt)
  same('fees', getI64(state, totalRow(state, state.collateralAsset), TOTAL.FEES), naive.fees[state.collateralAsset])
}

function comparePositions(state: State, naive: NaiveExchange): void {
  for (const position of naive.margins.positions) {
    const row = positionRow(state, position.row)
    const { bids, asks } = exposureOf(naive, position)
    same(`lots of position ${position.row}`, get(state, row, POSITION.LOTS), position.lots)
    same(`cost of position ${position.row}`, getI64(state, row, POSITION.COST), position.cost)
    same(`leverage of position ${position.row}`, get(state, row, POSITION.LEVERAGE), position.leverage)
    same(`fees of position ${position.row}`, getI64(state, row, POSITION.FEES), position.fees)
    same(`bids of position ${position.row}`, getF64(state, row, POSITION.BID_LOTS), bids.lots)
    same(`asks of position ${position.row}`, getF64(state, row, POSITION.ASK_LOTS), asks.lots)
    same(`value of bids of position ${position.row}`, getI64(state, row, POSITION.BID_VALUE), bids.value)
    same(`value of asks of position ${position.row}`, getI64(state, row, POSITION.ASK_VALUE), asks.value)
    same(`reduce-only orders of position ${position.row}`, get(state, row, POSITION.REDUCE_ORDERS), reduceOnlyOf(naive, position).length)
  }
}
