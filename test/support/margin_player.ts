/** Puts worked examples of margin trading (margin_examples.ts) to an engine, one command a step, and says what is not as expected. */
import { createHash } from 'node:crypto'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, Flag, kindOf } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, FUNDING_RATE, POSITION_CHANGED, RESULT, STATUS_NAMES } from '../../core/layout/event.ts'
import { CollateralMove, PerpMode, PerpSetting } from '../../core/layout/margin.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { ACCOUNT, ORDER, SCALAR } from '../../core/state/columns.ts'
import {
  BUCKET_STATE_NAMES, BucketState, MARGIN_ACCOUNT, MARGIN_TOTAL, MarginMode, PERP, POSITION, RISK_BUCKET,
} from '../../core/state/margin_rows.ts'
import {
  accountRow, bucketRow, get, getF64, getI64, marginAccountRow, marginTotalRow, orderRow, perpRow, positionRow, scalar, termsRow,
} from '../../core/state/rows.ts'
import { TERMS } from '../../core/state/columns.ts'
import { examplesGenesis, PAIRS, type Example, type Order, type See, type Step, type Then, type Where } from './margin_examples.ts'
import { createBench, type Bench } from './naive_compare.ts'

const NOBODY = { marginAccount: -1, bucket: -1, createdSequence: 0, options: 0 }
/** A full hour. */
const START = 1_699_999_200_000
const STEPS_MOST = 200

type Total = Extract<Step, { do: 'total' }>
interface Trader { account: number; session: number; generation: number }

/** The first 8 bytes of SHA-256 over a strategy key. */
function hashed(key: string | undefined): [low: number, high: number] {
  if (key === undefined) return [0, 0]
  const bytes = createHash('sha256').update(key).digest()
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}

export class MarginPlayer {
  private readonly bench: Bench = createBench(examplesGenesis())
  private readonly command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  private readonly traders = new Map<string, Trader>()
  private readonly orders = new Map<string, Decoded>()
  /** Sequences at which positions of an account and pair were opened. */
  private readonly opened = new Map<string, Set<number>>()
  private time = START + 1000
  private correlation = 0
  private readonly faults: string[] = []
  private at = ''

  /** What is not as the example says; empty: everything is. */
  play(example: Example): string[] {
    this.post(CommandType.MINT, 'M', { asset: 0 })
    this.move('M', CollateralMove.DEPOSIT, 100_000_000_000, {})
    example.steps.forEach((step, index) => {
      this.at = `step ${index + 1}, ${step.do}`
      this.step(step)
      checkInvariants(this.bench.state)
    })
    return this.faults
  }

  private same(what: string, is: unknown, should: unknown): void {
    if (should === undefined || String(is) === String(should)) return
    this.faults.push(`${this.at}: ${what} is ${String(is)}, not ${String(should)}`)
  }

  /** Applies one command, of a trader or (null) of the operator or sequencer, and returns its RESULT. */
  private post(type: CommandType, who: string | null, values: Decoded): Decoded {
    const signed = who === null ? { session: -1 } : this.signature(who)
    const lane = who === null ? 0 : 1
    this.command.u32.fill(0)
    encode(COMMAND_LAYOUTS[type]!, this.command, 0, {
      ...signed, ...values, kind: kindOf(type, 1, lane), correlation: ++this.correlation,
    })
    const records = this.bench.run(this.command, 0, this.time)
    let result: Decoded = {}
    for (let record = 0; record < records; record++) {
      const base = record * RECORD_WORDS
      const event = eventTypeOf(this.bench.said.u32[base]!)
      if (event === EventType.RESULT) result = { ...result, ...decode(RESULT, this.bench.said, base) }
      if (event === EventType.LIQUIDATION) result = { ...result, started: 1 }
      if (event === EventType.FUNDING_RATE) result = { ...result, rate: decode(FUNDING_RATE, this.bench.said, base)['rate']! }
      if (event !== EventType.POSITION) continue
      const { account, pair, openedSequence } = decode(POSITION_CHANGED, this.bench.said, base)
      const name = `${String(account)} ${String(pair)}`
      this.opened.set(name, (this.opened.get(name) ?? new Set()).add(Number(openedSequence)))
    }
    return result
  }

  private signature(who: string): Decoded {
    const known = this.traders.get(who)
    if (known !== undefined) return { session: known.session, sessionGeneration: known.generation }
    const hex = Buffer.from(who).toString('hex')
    const values = { session: -1, application: 0, address: hex.padEnd(40, '0'), publicKey: hex.padEnd(64, '0'), master: 0 }
    const result = this.post(CommandType.OPEN_SESSION, null, values)
    const trader = { account: Number(result['account']), session: Number(result['detail']), generation: Number(result['detail2']) }
    this.traders.set(who, trader)
    return this.signature(who)
  }

  private account(who: string): number {
    if (who === 'FUND') return scalar(this.bench.state, SCALAR.FUND) - 1
    this.signature(who)
    return this.traders.get(who)!.account
  }

  private step(step: Step): void {
    if (step.do === 'deposit') this.deposit(step.who, step.amount, step.then)
    else if (step.do === 'withdraw') this.expect(this.move(step.who, CollateralMove.WITHDRAW, step.amount, {}), step.then)
    else if (step.do === 'to_bucket') this.moveOf(step.who, CollateralMove.TO_BUCKET, step, step.amount, step.then)
    else if (step.do === 'from_bucket') this.moveOf(step.who, CollateralMove.FROM_BUCKET, step, step.amount, step.then)
    else if (step.do === 'open_bucket') this.openBucket(step.who, step)
    else if (step.do === 'price') this.price(step.pair, step.at, step.mark)
    else if (step.do === 'pass') this.time += 1000 * step.seconds
    else if (step.do === 'settle') this.settle(step.pair, step.at)
    else if (step.do === 'funding') this.funding(step.pair, step.rate)
    else if (step.do === 'insure') this.expect(this.post(CommandType.FUND_INSURANCE, null, { amount: BigInt(step.amount) }))
    else if (step.do === 'liquidate') this.liquidate()
    else if (step.do === 'health') this.health(step.who, step, step.unhealthy)
    else if (step.do === 'cancel') this.cancel(step.who, step.order, step.then)
    else if (step.do === 'order') this.order(step)
    else if (step.do === 'see') this.see(step)
    else if (step.do === 'total') this.total(step)
  }

  private expect(result: Decoded, then: Then = {}): void {
    const code = Number(result['code'])
    this.same('the answer', code === 0 ? 'accepted' : refusalByNumber(code).code, then.code ?? 'accepted')
    this.same('the status', STATUS_NAMES[Number(result['outcome']) & 0xff], then.status)
    this.same('the hold', result['hold'], then.hold)
    this.same('what remains', result['remaining'], then.remaining)
    this.same('required', result['hold'], then.required)
    this.same('available', result['filledQuote'], then.available)
  }

  private move(who: string, move: number, amount: number, named: Decoded): Decoded {
    return this.post(CommandType.MOVE_COLLATERAL, who, { ...NOBODY, ...named, move, amount: BigInt(amount) })
  }

  private deposit(who: string, amount: number, then?: Then): void {
    this.post(CommandType.MINT, who, { asset: 0 })
    this.expect(this.move(who, CollateralMove.DEPOSIT, amount, {}), then)
  }

  private moveOf(who: string, move: number, where: Where, amount: number, then?: Then): void {
    const bucket = this.bucketOf(who, where)
    if (bucket === null) return void this.faults.push(`${this.at}: there is no such bucket`)
    const createdSequence = getF64(this.bench.state, bucketRow(this.bench.state, bucket), RISK_BUCKET.CREATED_SEQUENCE)
    this.expect(this.move(who, move, amount, { bucket, createdSequence }), then)
  }

  private openBucket(who: string, where: Where): void {
    const [keyLow, keyHigh] = hashed(where.key)
    const strategyKey = Buffer.from(where.key ?? '').toString('hex').padEnd(96, '0')
    const pair = where.cross === true ? -1 : PAIRS.indexOf(where.pair!)
    const values = { marginAccount: -1, createdSequence: 0, pair, keyLow, keyHigh, strategyKey }
    this.expect(this.post(CommandType.OPEN_RISK_BUCKET, who, values))
  }

  private price(name: string, price: number, mark = price): void {
    const pair = PAIRS.indexOf(name)
    this.expect(this.post(CommandType.SET_INDEX_PRICE, null, { pair, price, source: 0, force: 1, observedAt: this.time }))
    this.same('the mark', get(this.bench.state, perpRow(this.bench.state, pair), PERP.MARK), mark)
  }

  /** Lets time pass until an interval ends. */
  private funding(name: string, rate: number): void {
    const { state } = this.bench
    const pair = PAIRS.indexOf(name)
    const perp = perpRow(state, pair)
    for (let step = 0; step < STEPS_MOST; step++) {
      this.time = Math.max(this.time, Math.min(getF64(state, perp, PERP.NEXT_SAMPLE_AT), getF64(state, perp, PERP.NEXT_FUNDING_AT)))
      const result = this.post(CommandType.FUNDING_STEP, null, { pair })
      if (result['rate'] !== undefined) return this.same('the rate', result['rate'], rate)
    }
    this.faults.push(`${this.at}: no interval ended`)
  }

  /** The operator delists the pair at a price, and all positions of it are closed. */
  private settle(name: string, price: number): void {
    const pair = PAIRS.indexOf(name)
    this.expect(this.post(CommandType.SET_PERP, null, { pair, setting: PerpSetting.MODE, value: PerpMode.SETTLING, price, number: 0 }))
    const mode = (): number => get(this.bench.state, perpRow(this.bench.state, pair), PERP.MODE)
    for (let step = 0; step < STEPS_MOST && mode() === PerpMode.SETTLING; step++) this.post(CommandType.SETTLEMENT_STEP, null, { pair })
    this.same('settled', mode() === PerpMode.SETTLED, true)
  }

  private stepOf(bucket: number): Decoded {
    const createdSequence = getF64(this.bench.state, bucketRow(this.bench.state, bucket), RISK_BUCKET.CREATED_SEQUENCE)
    return this.post(CommandType.LIQUIDATION_STEP, null, { bucket, createdSequence })
  }

  /** Goes on with every bucket but the fund's, as long as one is in liquidation. */
  private liquidate(): void {
    const { state } = this.bench
    const fund = this.account('FUND')
    for (let round = 0; round < 24; round++) {
      for (let bucket = 0; bucket < scalar(state, SCALAR.BUCKETS_USED); bucket++) {
        const row = bucketRow(state, bucket)
        const status = get(state, row, RISK_BUCKET.STATE)
        const lives = status === BucketState.ACTIVE || status === BucketState.LIQUIDATING
        if (lives && get(state, row, RISK_BUCKET.ACCOUNT) !== fund) this.stepOf(bucket)
      }
    }
  }

  private health(who: string, where: Where, unhealthy: boolean): void {
    const bucket = this.bucketOf(who, where)
    if (bucket === null) return void this.faults.push(`${this.at}: there is no such bucket`)
    this.same('unhealthy', this.stepOf(bucket)['started'] === 1, unhealthy)
  }

  private cancel(who: string, name: string, then?: Then): void {
    const { slot, orderSequence } = this.orders.get(name)!
    this.expect(this.post(CommandType.CANCEL_ORDER, who, { targetSlot: slot!, targetSequence: orderSequence! }), then)
  }

  private order(order: Order): void {
    const { state } = this.bench
    const [keyLow, keyHigh] = hashed(order.key)
    const flags = Flag.MARGIN | (order.side === 'SELL' ? Flag.SELL : 0) | (order.reduceOnly === true ? Flag.REDUCE_ONLY : 0) |
      (order.cross === true ? Flag.CROSS : 0)
    const named = order.inBucketOf === undefined ? null : this.bucketOf(order.who, { pair: order.inBucketOf })
    const namedSequence = named === null ? 0 : getF64(state, bucketRow(state, named), RISK_BUCKET.CREATED_SEQUENCE)
    const result = this.post(CommandType.PLACE_ORDER, order.who, {
      pair: PAIRS.indexOf(order.pair), flags, price: order.price, lots: order.lots, keyLow, keyHigh,
      leverage: Math.round(100 * (order.leverage ?? 0)), collateral: BigInt(order.collateral ?? 0),
      bucket: named === null ? 0 : named + 1, namedSequence,
    })
    if (order.as !== undefined) this.orders.set(order.as, result)
    this.expect(result, order.then)
  }

  private parent(who: string): number {
    const { state } = this.bench
    const parent = get(state, accountRow(state, this.account(who)), ACCOUNT.PARENT_MARGIN)
    return parent === 0 ? -1 : marginAccountRow(state, parent - 1)
  }

  /** Number of a bucket, closed ones too. */
  private bucketOf(who: string, where: Where): number | null {
    const { state } = this.bench
    const [low, high] = hashed(where.key)
    const parent = this.parent(who)
    let next = parent < 0 ? 0 : get(state, parent, MARGIN_ACCOUNT.FIRST_BUCKET)
    while (next !== 0) {
      const row = bucketRow(state, next - 1)
      const cross = get(state, row, RISK_BUCKET.MODE) === MarginMode.CROSS
      const fits = where.cross === true ? cross : !cross && get(state, row, RISK_BUCKET.PAIR) === PAIRS.indexOf(where.pair!)
      if (fits && get(state, row, RISK_BUCKET.KEY_LOW) === low && get(state, row, RISK_BUCKET.KEY_HIGH) === high) return next - 1
      next = get(state, row, RISK_BUCKET.NEXT)
    }
    return null
  }

  private see(step: See): void {
    const { state } = this.bench
    const parent = this.parent(step.who)
    const deposited = parent < 0 ? 0n : getI64(state, parent, MARGIN_ACCOUNT.DEPOSITED)
    this.same('deposited', deposited, step.deposited)
    this.same('free', parent < 0 ? 0n : deposited - getI64(state, parent, MARGIN_ACCOUNT.EARMARKED), step.free)
    if (step.bucket !== undefined) this.seeBucket(step.who, step.bucket)
    if (step.position !== undefined) this.seePosition(step.who, step.position)
    if (step.order === undefined) return
    const { slot, orderSequence } = this.orders.get(step.order.as)!
    const row = orderRow(state, Number(slot))
    const rests = getF64(state, row, ORDER.SEQUENCE) === orderSequence
    this.same('the order is gone', !rests, step.order.none ?? false)
    if (rests) this.same('left of the order', get(state, row, ORDER.REMAINING), step.order.remaining)
  }

  private seeBucket(who: string, { none, allocated, pending, realized, state: status, ...where }: NonNullable<See['bucket']>): void {
    const { state } = this.bench
    const bucket = this.bucketOf(who, where)
    this.same('there is no bucket', bucket === null, none ?? false)
    if (bucket === null) return
    const row = bucketRow(state, bucket)
    this.same('allocated', getI64(state, row, RISK_BUCKET.ALLOCATED), allocated)
    this.same('pending', getI64(state, row, RISK_BUCKET.PENDING), pending)
    this.same('realized', getI64(state, row, RISK_BUCKET.REALIZED), realized)
    this.same('the state', BUCKET_STATE_NAMES[get(state, row, RISK_BUCKET.STATE)], status)
  }

  private seePosition(who: string, { none, lots, cost, realized, funding, opened, ...where }: NonNullable<See['position']>): void {
    const { state } = this.bench
    const pair = PAIRS.indexOf(where.pair!)
    const bucket = this.bucketOf(who, where)
    let next = bucket === null ? 0 : get(state, bucketRow(state, bucket), RISK_BUCKET.FIRST_POSITION)
    while (next !== 0 && get(state, positionRow(state, next - 1), POSITION.PAIR) !== pair) {
      next = get(state, positionRow(state, next - 1), POSITION.NEXT)
    }
    const row = positionRow(state, next - 1)
    const open = next !== 0 && get(state, row, POSITION.LOTS) !== 0
    this.same('there is no position', !open, none ?? false)
    if (!open) return
    this.same('lots', get(state, row, POSITION.LOTS), lots)
    this.same('cost', getI64(state, row, POSITION.COST), cost)
    this.same('realized of the position', getI64(state, row, POSITION.REALIZED), realized)
    this.same('funding', getI64(state, row, POSITION.FUNDING), funding)
    this.same('positions so far', this.opened.get(`${this.account(who)} ${pair}`)?.size ?? 0, opened)
  }

  private total(step: Total): void {
    const { state } = this.bench
    const row = marginTotalRow(state, state.collateralAsset)
    this.same('the funding pool', getI64(state, row, MARGIN_TOTAL.FUNDING_POOL), step.fundingPool)
    this.same('bad debt', getI64(state, row, MARGIN_TOTAL.BAD_DEBT), step.badDebt)
    if (step.fundEquity !== undefined) this.same('equity of the fund', this.fundEquity(), step.fundEquity)
  }

  /** What the fund deposited, and what its buckets made and would make. */
  private fundEquity(): bigint {
    const { state } = this.bench
    const parent = this.parent('FUND')
    let equity = getI64(state, parent, MARGIN_ACCOUNT.DEPOSITED)
    for (let bucket = get(state, parent, MARGIN_ACCOUNT.FIRST_BUCKET); bucket !== 0;) {
      const row = bucketRow(state, bucket - 1)
      equity += getI64(state, row, RISK_BUCKET.REALIZED)
      for (let position = get(state, row, RISK_BUCKET.FIRST_POSITION); position !== 0;) {
        const at = positionRow(state, position - 1)
        const pair = get(state, at, POSITION.PAIR)
        const mark = BigInt(get(state, perpRow(state, pair), PERP.MARK)) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
        equity += BigInt(get(state, at, POSITION.LOTS)) * mark - getI64(state, at, POSITION.COST)
        position = get(state, at, POSITION.NEXT)
      }
      bucket = get(state, row, RISK_BUCKET.NEXT)
    }
    return equity
  }
}
