/**
 * Read model of settlement: batches, and the trees of their trades by chunks (store/vault_layout.ts).
 *
 * Every FILL is a leaf of the batch that is opened next. A chunk is closed when it is full, and the last one of a batch when the batch is
 * opened. What is open is not stored: it is made of the trades behind the last chunk again, when a projector goes on. In a store of a
 * format without settlement that is every trade there is.
 */
import { EventType, FILL, SETTLEMENT } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { SettlementStatus } from '../../layout/vault.ts'
import { HASH_WORDS } from '../../lib/sha256.ts'
import type { Position } from '../../view/listing.ts'
import { HistoryDamaged } from '../store/checks.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import { CHUNK_LEAVES, CHUNK_RECORD, SETTLEMENT_RECORD } from '../store/vault_layout.ts'
import { NodeStack, readHash, TradeLeafText, type TradeNames } from './trade_tree.ts'
import { behind, TradeWalk } from './trade_walk.ts'

const { at: F } = FILL
const { at: E } = SETTLEMENT
const { at: R } = SETTLEMENT_RECORD
const { at: C } = CHUNK_RECORD
/** Owner of all of these records. */
const ALL = 0
/** Pages in memory: only the last ones are changed. Chunks: 420 kB of the batch at hand. */
const PAGES = 64
const CHUNK_PAGES = 256
const TRADE_PAGES = 1024
/** Heights of a chunk, and of the chunks of a tree with 2^32 leaves. */
const CHUNK_HEIGHTS = 11
const BATCH_HEIGHTS = 23
/** Leaves of an older store between two reports. */
const REPORT_LEAVES = 2 ** 16

export interface SettlementsModel {
  /** Batches that are opened. */
  readonly opened: number
  filled(events: Views, base: number): void
  take(type: number, events: Views, base: number): void
  flush(): void
}

class Settlements implements SettlementsModel {
  opened = 0
  readonly #pages: PageTable
  readonly #chunks: PageTable
  readonly #leaf: TradeLeafText
  readonly #hash = new Int32Array(HASH_WORDS)
  /** The chunk that is open, and its last trade. */
  #open = new NodeStack(CHUNK_HEIGHTS)
  readonly #last: Position = { sequence: 0, index: 0 }
  /** Number of the first chunk of the batch that is opened next, and fills in its closed ones. */
  #firstChunk = 0
  #closed = 0

  constructor(tables: Tables, names: TradeNames) {
    this.#pages = tables.pages('settlement_page', PAGES)
    this.#chunks = tables.pages('settlement_chunk_page', CHUNK_PAGES)
    this.#leaf = new TradeLeafText(names)
  }

  /** Makes what is open again, of the trades of `pairs` pairs. */
  resume(tables: Tables, pairs: number, report: (leaves: number) => void): void {
    const trades = tables.pages('trade_page', TRADE_PAGES)
    const walk = new TradeWalk(
      Array.from({ length: pairs }, (_, pair) => ({
        views: trades.views, count: () => trades.count(pair), locate: (number: number) => trades.locate(pair, number),
      })),
      this.#findOpen(),
    )
    while (walk.begin());
    let leaves = 0
    for (let trade = walk.next(); trade !== null; trade = walk.next()) {
      this.filled(trade.views, trade.at)
      if (++leaves % REPORT_LEAVES === 0) report(leaves)
    }
  }

  /** Finds what is closed; behind which trade the open chunk begins. */
  #findOpen(): Position {
    const batches = this.#pages.count(ALL)
    this.opened = batches
    let through = 0
    if (batches > 0) {
      const { i32, f64 } = this.#pages.views
      const at = this.#pages.locate(ALL, batches - 1)
      through = f64[(at + R.through) >>> 1]!
      this.#firstChunk = f64[(at + R.firstChunk) >>> 1]! + i32[at + R.chunks]!
    }
    const chunks = this.#chunks.count(ALL)
    this.#closed = (chunks - this.#firstChunk) * CHUNK_LEAVES
    if (chunks === this.#firstChunk) return behind(through)
    const at = this.#chunks.locate(ALL, chunks - 1)
    return { sequence: this.#chunks.views.f64[(at + C.sequence) >>> 1]!, index: this.#chunks.views.i32[at + C.index]! }
  }

  filled(events: Views, base: number): void {
    this.#leaf.write(events, base)
    this.#open.add(this.#leaf.hash())
    this.#last.sequence = events.f64[(base + F.sequence) >>> 1]!
    this.#last.index = events.i32[base + F.index]!
    if (this.#open.count === CHUNK_LEAVES) this.#close()
  }

  #close(): void {
    const at = this.#chunks.append(ALL)
    const { views } = this.#chunks
    views.f64[(at + C.sequence) >>> 1] = this.#last.sequence
    views.i32[at + C.index] = this.#last.index
    views.i32[at + C.trades] = this.#open.count
    this.#open.writeRoot(views, at + C.root)
    this.#closed += this.#open.count
    this.#open = new NodeStack(CHUNK_HEIGHTS)
  }

  take(type: number, events: Views, base: number): void {
    if (type !== EventType.SETTLEMENT) return
    if (events.i32[base + E.status] === SettlementStatus.OPENED) this.#openBatch(events, base)
    else this.#confirm(events, base)
  }

  #openBatch(events: Views, base: number): void {
    if (this.#open.count > 0) this.#close()
    const fills = events.f64[(base + E.fills) >>> 1]!
    if (fills !== this.#closed) throw new HistoryDamaged(`it has ${this.#closed} of the ${fills} fills of a batch of settlement`)
    const chunks = this.#chunks.count(ALL) - this.#firstChunk
    const root = this.#rootOver(chunks)
    const at = this.#pages.append(ALL)
    const { i32, f64 } = this.#pages.views
    f64[(at + R.from) >>> 1] = events.f64[(base + E.from) >>> 1]!
    f64[(at + R.through) >>> 1] = events.f64[(base + E.through) >>> 1]!
    f64[(at + R.fills) >>> 1] = fills
    f64[(at + R.openedAt) >>> 1] = events.f64[(base + E.time) >>> 1]!
    f64[(at + R.firstChunk) >>> 1] = this.#firstChunk
    i32[at + R.chunks] = chunks
    i32[at + R.status] = SettlementStatus.OPENED
    root.writeRoot(this.#pages.views, at + R.tradesRoot)
    this.#firstChunk += chunks
    this.#closed = 0
    this.opened++
  }

  /** The chunks of the batch, `count` of them. */
  #rootOver(count: number): NodeStack {
    const nodes = new NodeStack(BATCH_HEIGHTS)
    for (let chunk = 0; chunk < count; chunk++) {
      readHash(this.#chunks.views, this.#chunks.locate(ALL, this.#firstChunk + chunk) + C.root, this.#hash)
      nodes.add(this.#hash)
    }
    return nodes
  }

  #confirm(events: Views, base: number): void {
    const at = this.#pages.change(ALL, events.f64[(base + E.batch) >>> 1]! - 1)
    const { i32, f64 } = this.#pages.views
    i32[at + R.status] = SettlementStatus.CONFIRMED
    f64[(at + R.confirmedAt) >>> 1] = events.f64[(base + E.time) >>> 1]!
    f64[(at + R.block) >>> 1] = events.f64[(base + E.block) >>> 1]!
    for (let word = 0; word < HASH_WORDS; word++) i32[at + R.txHash + word] = events.i32[base + E.txHash + word]!
  }

  flush(): void {
    this.#pages.flush()
    this.#chunks.flush()
  }
}

/** `report` hears how many trades an older store was gone through. */
export function createSettlements(
  tables: Tables, names: TradeNames, pairs: number, report: (leaves: number) => void,
): SettlementsModel {
  const settlements = new Settlements(tables, names)
  settlements.resume(tables, pairs, report)
  return settlements
}
