/**
 * What chance meets too seldom: three more clients and the operator go through every kind of liquidation, one step after the other, on a
 * perpetual that nobody else trades. In one run of two with perpetuals; beside everybody else, through crashes and full rings.
 *
 *   a gap of the price, far beyond its band, with an insurance fund that has nothing: orders end, the book takes part of the position,
 *   the rest is closed against others
 *   a gap with a fund that got something: it takes the position over
 *   a settlement at a price that no bucket has the collateral for: bad debt
 *
 * Its clients are those of clients.ts, with their keys, retries and ledgers; a step is over when it was acknowledged, or when what it was
 * for is seen in the columns. After a loss that the operator accepted it goes on with the first step that is lost.
 */
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CollateralMove, PerpMode, PerpSetting, PriceSource } from '../../core/layout/margin.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CLOCK, TOTAL } from '../../core/state/columns.ts'
import { getI64, totalRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { BucketState, readMarginAccounts, readPerp, type BucketView } from '../../core/view/margin.ts'
import type { Script } from './clients.ts'
import { DRILL_PAIR, REFERENCE } from './genesis.ts'
import type { Life } from './machine.ts'
import type { Answered } from './operator.ts'
import { move, order, UNIT, type Asker, type Draft } from './margin_requests.ts'

const quiet = new Int32Array(16)
/** Turns that one step may take. */
const PATIENCE = 200
/** An index price is told again when it is so old, ms: long before it is stale. */
const FRESH_MS = 3000
/** Of the shipped terms, which this perpetual has. */
const MARK_BAND = 0.03
const [LONG, SHORT, BIDDER] = [0, 1, 2]
export const DRILL_CLIENTS = 3

/** What the drill needs of the world. */
export interface DrillParts {
  /** Account of a client of the drill, -1 before it signed in. */
  account(who: number): number
  /** Posts a command of the operator (operator.ts). */
  post(life: Life, type: CommandType, values: Decoded, answered: Answered): boolean
  wallMs(): number
  count(name: string): void
}

interface Step {
  /** Client that asks for something; -1: the operator. */
  readonly who: number
  readonly ask?: (asker: Asker) => Draft
  readonly operate?: (state: State) => readonly [CommandType, Decoded]
  /** Over as soon as this is so, besides by being acknowledged. */
  readonly until?: (drill: Drill, state: State) => boolean
  /** Index price from this step on, ticks. */
  readonly price?: number
}

const trade = (who: number, side: number, lots: number, price: number, leverage: number): Step =>
  ({ who, ask: (asker) => order(asker, DRILL_PAIR, side, price, lots, { leverage }) })
const buys = (who: number, lots: number, price: number, leverage: number): Step => trade(who, 0, lots, price, leverage)
const sells = (who: number, lots: number, price: number, leverage: number): Step => trade(who, Flag.SELL, lots, price, leverage)

const deposits = (who: number): Step =>
  ({ who, ask: (asker) => move(asker, { move: CollateralMove.DEPOSIT, amount: 700n * UNIT }) })
const rests = (who: number, lots: number, price: number): Step =>
  ({ who, ask: (asker) => order(asker, DRILL_PAIR, Flag.SELL | Flag.REDUCE_ONLY, price, lots, {}) })

const bucketOf = (state: State, account: number): BucketView | undefined =>
  readMarginAccounts(state, quiet, account)?.flatMap(({ buckets }) => buckets).find(({ pair }) => pair === DRILL_PAIR)

/** The price goes there at once, whatever its band says, until no lot of the long is left and its liquidation is over. */
const gap = (price: number): Step => ({
  who: -1, price,
  until: (drill, state) => {
    const bucket = bucketOf(state, drill.account(LONG))
    return bucket?.state === BucketState.ACTIVE && bucket.positions.every(({ lots }) => lots === 0)
  },
})
/** Back to where it began; what the book of before taught the basis may be left, within the band of the mark. */
const recovers: Step = {
  who: -1, price: REFERENCE,
  until: (_, state) => Math.abs(readPerp(state, DRILL_PAIR).mark - REFERENCE) <= REFERENCE * MARK_BAND,
}

const STEPS: readonly Step[] = [
  recovers, deposits(LONG), deposits(SHORT), deposits(BIDDER),
  { who: BIDDER, ask: (asker) => move(asker, { move: CollateralMove.WITHDRAW, amount: UNIT }) },
  sells(SHORT, 1200, REFERENCE, 1000), buys(LONG, 1200, REFERENCE, 1000),
  // Its reduce-only order shrinks with the position, and ends in the liquidation.
  rests(LONG, 1200, 501), buys(BIDDER, 100, REFERENCE, 500), sells(LONG, 100, REFERENCE, 1000),
  {
    who: LONG,
    ask: (asker) => {
      const { row, createdSequence } = bucketOf(asker.state, asker.account)!
      return move(asker, { move: CollateralMove.TO_BUCKET, amount: UNIT, bucket: row, createdSequence })
    },
  },
  buys(BIDDER, 300, 458, 500), gap(440),
  {
    who: -1, price: REFERENCE,
    operate: (state) => {
      const fees = getI64(state, totalRow(state, state.collateralAsset), TOTAL.FEES)
      return [CommandType.FUND_INSURANCE, { amount: fees > 0n ? fees : 1n }]
    },
  },
  recovers, sells(SHORT, 40, REFERENCE, 1000), buys(LONG, 40, REFERENCE, 2000), gap(470),
  recovers, sells(SHORT, 1000, REFERENCE, 1000), buys(LONG, 1000, REFERENCE, 1000),
  {
    who: -1, until: (_, state) => readPerp(state, DRILL_PAIR).mode >= PerpMode.SETTLING,
    operate: () =>
      [CommandType.SET_PERP, { pair: DRILL_PAIR, setting: PerpSetting.MODE, value: PerpMode.SETTLING, price: 100, number: 0 }],
  },
  { who: -1, until: (drill, state) => bucketOf(state, drill.account(LONG))?.state === BucketState.BAD_DEBT },
]

export class Drill {
  readonly #parts: DrillParts
  /** Of each step that is over: the sequence by which it was. */
  readonly #overAt: number[] = []
  #gaveUp = false
  #turns = 0
  #price = REFERENCE
  #asked = false

  constructor(parts: DrillParts) {
    this.#parts = parts
  }

  account(who: number): number {
    return this.#parts.account(who)
  }

  /** What a client of the drill asks for. */
  script(who: number): Script {
    return {
      next: (asker) => (this.#now?.who === who ? this.#now.ask!(asker) : null),
      acknowledged: (sequence) => {
        if (this.#now?.who === who) this.#next(sequence)
      },
    }
  }

  /** What came after sequence `end` is lost. */
  lost(end: number): void {
    const kept = this.#overAt.findIndex((sequence) => sequence > end)
    if (kept >= 0) this.#overAt.length = kept
    this.#turns = 0
  }

  /** The process is gone: whatever the operator asked for may never be answered. */
  died(): void {
    this.#asked = false
  }

  /** One turn: looks whether the step is over, and does the operator's part. */
  act(life: Life): void {
    const step = this.#now
    if (step === undefined) return
    const { state } = life.sequencer
    if (step.price !== undefined) this.#price = step.price
    if (step.until?.(this, state) === true) return this.#next(state.clock[CLOCK.SEQUENCE]!)
    if (++this.#turns > PATIENCE) return this.#giveUp()
    if (this.#asked) return
    if (step.operate !== undefined) {
      this.#asked = this.#parts.post(life, ...step.operate(state), (code, sequence) => {
        this.#asked = false
        if (code === 0 && this.#now === step) this.#next(sequence)
      })
    } else this.#tellPrice(life)
  }

  get #now(): Step | undefined {
    return this.#gaveUp ? undefined : STEPS[this.#overAt.length]
  }

  #next(sequence: number): void {
    this.#turns = 0
    this.#overAt.push(sequence)
    if (this.#overAt.length === STEPS.length) this.#parts.count('drills ended')
  }

  #giveUp(): void {
    this.#parts.count(`drills given up at step ${this.#overAt.length}`)
    this.#gaveUp = true
  }

  #tellPrice(life: Life): void {
    const { index, indexAt, mode } = readPerp(life.sequencer.state, DRILL_PAIR)
    if (mode >= PerpMode.SETTLING || (index === this.#price && life.sequencer.clock.now() - indexAt < FRESH_MS)) return
    const observedAt = this.#parts.wallMs() - 5
    const values = { pair: DRILL_PAIR, price: this.#price, source: PriceSource.OPERATOR, force: 1, observedAt }
    this.#asked = this.#parts.post(life, CommandType.SET_INDEX_PRICE, values, () => {
      this.#asked = false
    })
  }
}
