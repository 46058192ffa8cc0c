/** A history store that knows nothing but trades: made one by one at any time, written when wanted, gone on with as after a stop. */
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { createCandles, type CandlesModel } from '../../core/history/project/candles.ts'
import type { HistoryTrade } from '../../core/history/answer/queries.ts'
import { openTables, type Tables } from '../../core/history/store/heads.ts'
import { openWriter, writePosition, type HistoryDatabase } from '../../core/history/store/store.ts'
import { createTrades, type TradesModel } from '../../core/history/project/trades.ts'
import { parseGenesis, type Genesis } from '../../core/state/genesis.ts'
import { EventType, FILL } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { positionAt } from './history.ts'
import { genesisText, VARIANTS } from './variants.ts'

export class MarketStore {
  readonly genesis: Genesis = parseGenesis(genesisText(VARIANTS['market']!))
  readonly database: HistoryDatabase = openWriter(':memory:')
  readonly answers: Answers = createAnswers(this.database, this.genesis)
  /** In the order they were made. */
  readonly trades: HistoryTrade[] = []
  readonly #events = viewsOf(new ArrayBuffer(RECORD_BYTES))
  #tables: Tables
  #candles: CandlesModel
  #records: TradesModel

  constructor() {
    this.#tables = openTables(this.database)
    this.#candles = createCandles(this.#tables, this.genesis.pairs.length)
    this.#records = createTrades(this.#tables)
    this.flush()
  }

  /** A trade of `lots` at `price` ticks, `time` in Unix ms; the trade `index` of the command with this sequence. */
  trade(pair: number, time: number, price: number, lots: number, sequence = this.trades.length + 1, index = 0): void {
    const quote = BigInt(price) * BigInt(lots) * this.genesis.pairs[pair]!.tickLotAtoms
    const trade: HistoryTrade = {
      pair, sequence, time, price, lots, quote, index, makerSells: false, makerAccount: 1, takerAccount: 2, makerSequence: sequence,
      makerSlot: 1, takerSlot: 2, makerFee: 0n, takerFee: 0n,
    }
    this.trades.push(trade)
    encode(FILL, this.#events, 0, { kind: EventType.FILL, pair, sequence, time, price, lots, quote, index })
    this.#candles.filled(this.#events, 0)
    this.#records.filled(this.#events, 0)
  }

  /** Writes what changed, as the end of a transaction does. */
  flush(): void {
    this.database.transaction(() => {
      this.#candles.flush()
      this.#records.flush()
      writePosition(this.database, positionAt(this.trades.length, this.#tables.flush()))
    })()
  }

  /** Forgets what was not written and goes on from the store, as after a stop. */
  restart(): void {
    this.#tables = openTables(this.database)
    this.#candles = createCandles(this.#tables, this.genesis.pairs.length)
    this.#records = createTrades(this.#tables)
  }
}
