/** A perpetual whose prices a test makes: commands by name, book and last trade put straight into rows. */
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, kindOf } from '../../core/layout/command.ts'
import {
  encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type F64Field, type I64Field, type WordField,
} from '../../core/layout/table.ts'
import { appendToLevel, removeFromLevel } from '../../core/book/levels.ts'
import { Flag } from '../../core/layout/flags.ts'
import { ORDER, PAIR } from '../../core/state/columns.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, getF64, getI64, orderRow, pairRow, perpRow, set, setI64 } from '../../core/state/rows.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { decodeEvent } from './naive_events.ts'
import { genesisText, pairSpec, perpPair, type PairSpec, type PerpSpec } from './variants.ts'

/** The first full hour of 2026, Unix ms. */
export const HOUR_0 = 1_767_225_600_000
export const PERP_PAIR = 1
/** Of an order that bears any notional. */
const LOTS = 2 ** 30

export class PerpStage {
  readonly bench: Bench
  time = HOUR_0 + 5000

  constructor(perp: Partial<PerpSpec> = {}, pair: Partial<PairSpec> = {}, rules?: number) {
    this.bench = createBench(genesisText({
      ...(rules === undefined ? {} : { rules }),
      limits: { priceTicks: 65_536 }, dailyLimit: 5, assets: [['USD', 6, '1000000'], ['BTC', 8, '1000']],
      pairs: [pairSpec('BTC/USD'), perpPair('BTC/USD-PERP', perp, pair)],
    }))
  }

  get state(): Bench['state'] {
    return this.bench.state
  }

  /** Every event of one command, decoded. */
  events(type: CommandType, values: Decoded, lane = 0): Decoded[] {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const count = this.bench.run(command, 0, this.time)
    return Array.from({ length: count }, (_, record) => decodeEvent(this.bench.said, record * RECORD_WORDS))
  }

  /** The answer. */
  send(type: CommandType, values: Decoded, lane = 0): Decoded {
    return this.events(type, values, lane).at(-1)!
  }

  price(price: number, values: Decoded = {}): Decoded {
    return this.send(CommandType.SET_INDEX_PRICE, { pair: PERP_PAIR, price, source: 0, observedAt: this.time, ...values })
  }

  /** Best bid and ask, ticks, of one order each; 0: none. */
  book(bid: number, ask: number, lots = LOTS): void {
    for (const [slot, price] of [bid, ask].entries()) {
      const row = orderRow(this.state, slot)
      if (get(this.state, row, ORDER.PRICE) !== 0) removeFromLevel(this.state, row)
      set(this.state, row, ORDER.PAIR, PERP_PAIR)
      set(this.state, row, ORDER.SLOT, slot)
      set(this.state, row, ORDER.FLAGS, slot === 0 ? 0 : Flag.SELL)
      set(this.state, row, ORDER.REMAINING, lots)
      set(this.state, row, ORDER.PRICE, price)
      if (price !== 0) appendToLevel(this.state, row)
    }
  }

  /** The smoothed basis, ticks. */
  basis(ticks: number): void {
    setI64(this.state, perpRow(this.state, PERP_PAIR), PERP.BASIS, BigInt(ticks) * 1_000_000n)
  }

  last(price: number): void {
    set(this.state, pairRow(this.state, PERP_PAIR), PAIR.LAST_PRICE, price)
  }

  get<F extends number>(field: WordField<F>): number {
    return get(this.state, perpRow(this.state, PERP_PAIR), field)
  }

  moment(field: F64Field): number {
    return getF64(this.state, perpRow(this.state, PERP_PAIR), field)
  }

  atoms(field: I64Field): bigint {
    return getI64(this.state, perpRow(this.state, PERP_PAIR), field)
  }

  get mark(): number {
    return this.get(PERP.MARK)
  }
}
