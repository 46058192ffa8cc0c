/**
 * Trees of trades of batches, for proofs: the lower part is made of the trades of one chunk, which are read back, the upper part of the
 * roots of all chunks of the batch (store/vault_layout.ts). Neither ever changes, so the last few are kept: 4 ms to make one of each.
 */
import { FILL } from '../../layout/event.ts'
import { HASH_BYTES, leafHash, MerkleTree } from '../../settlement/merkle.ts'
import type { Position } from '../../view/listing.ts'
import type { TradeLeafText } from '../project/trade_tree.ts'
import { behind, isBefore, TradeWalk } from '../project/trade_walk.ts'
import { HistoryDamaged } from '../store/checks.ts'
import type { PageReader } from '../store/page_reader.ts'
import { CHUNK_LEAVES, CHUNK_RECORD } from '../store/vault_layout.ts'
import { SLICE } from './walk.ts'

const { at: C } = CHUNK_RECORD
const { at: F } = FILL
/** Owner of all chunks. */
const ALL = 0
/** Chunks kept, of 80 kB, and batches, of 64 bytes a chunk. */
const CHUNKS_KEPT = 32
const BATCHES_KEPT = 4

/** A batch: its numbers, and those of its first chunk and of its chunks. */
export interface BatchChunks {
  readonly batch: number
  readonly from: number
  readonly fills: number
  readonly first: number
  readonly chunks: number
}

/** A chunk with all its trades. */
interface ChunkTree {
  readonly tree: MerkleTree
  readonly sequences: Float64Array
  readonly indexes: Int32Array
}

/** Keeps one more, of `most`. */
function keep<T>(kept: Map<number, T>, most: number, key: number, value: T): T {
  const [oldest] = kept.keys()
  if (kept.size >= most && oldest !== undefined) kept.delete(oldest)
  kept.set(key, value)
  return value
}

export class BatchTrees {
  readonly #chunks: PageReader
  readonly #trades: readonly PageReader[]
  readonly #leaf: TradeLeafText
  readonly #lower = new Map<number, ChunkTree>()
  readonly #upper = new Map<number, MerkleTree>()

  /** `trades` by pair. */
  constructor(chunks: PageReader, trades: readonly PageReader[], leaf: TradeLeafText) {
    this.#chunks = chunks
    this.#trades = trades
    this.#leaf = leaf
  }

  /** Place and siblings of a trade of the batch. Throws {@link HistoryDamaged} when it is none of it. */
  *prove(batch: BatchChunks, trade: Position): Generator<undefined, { place: number; proof: Uint8Array[] }> {
    const chunk = this.#find(batch, trade)
    const lower = this.#lower.get(chunk) ?? keep(this.#lower, CHUNKS_KEPT, chunk, yield* this.#make(batch, chunk))
    const { tree, sequences, indexes } = lower
    const place = sequences.findIndex((sequence, number) => sequence === trade.sequence && indexes[number] === trade.index)
    if (place < 0) throw new HistoryDamaged(`trade ${trade.sequence}/${trade.index} is not in its batch of settlement`)
    const upper = this.#upper.get(batch.batch) ?? keep(this.#upper, BATCHES_KEPT, batch.batch, this.#over(batch))
    const number = chunk - batch.first
    return { place: number * CHUNK_LEAVES + place, proof: [...tree.proof(place), ...upper.proof(number)] }
  }

  /** The last trade of a chunk. */
  #lastOf(chunk: number): Position {
    const at = this.#chunks.locate(ALL, chunk)
    return { sequence: this.#chunks.views.f64[(at + C.sequence) >>> 1]!, index: this.#chunks.views.i32[at + C.index]! }
  }

  /** Number of the chunk that has the trade. */
  #find({ first, chunks }: BatchChunks, trade: Position): number {
    let [low, high] = [first, first + chunks - 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (isBefore(this.#lastOf(middle), trade)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Reads the trades of a chunk, in slices. */
  *#make({ first, from, fills }: BatchChunks, chunk: number): Generator<undefined, ChunkTree> {
    const count = Math.min(CHUNK_LEAVES, fills - (chunk - first) * CHUNK_LEAVES)
    const pairs = this.#trades.map((reader, pair) => ({
      views: reader.views, count: () => reader.count(pair), locate: (number: number) => reader.locate(pair, number),
    }))
    const walk = new TradeWalk(pairs, chunk === first ? behind(from - 1) : this.#lastOf(chunk - 1))
    const loads = (): number => this.#trades.reduce((sum, reader) => sum + reader.loads, 0)
    const [hashes, sequences, indexes] = [new Uint8Array(count * HASH_BYTES), new Float64Array(count), new Int32Array(count)]
    let pause = loads() + SLICE
    for (let more = true; more;) {
      more = walk.begin()
      if (loads() < pause) continue
      yield
      pause = loads() + SLICE
    }
    for (let place = 0; place < count; place++) {
      const next = walk.next()
      if (next === null) throw new HistoryDamaged('a batch of settlement has fewer trades than it had')
      this.#leaf.write(next.views, next.at)
      sequences[place] = next.views.f64[(next.at + F.sequence) >>> 1]!
      indexes[place] = next.views.i32[next.at + F.index]!
      hashes.set(leafHash(this.#leaf.bytes), place * HASH_BYTES)
      if (loads() < pause) continue
      yield
      pause = loads() + SLICE
    }
    return { tree: new MerkleTree(hashes), sequences, indexes }
  }

  /** The tree over the roots of all chunks of a batch. */
  #over({ first, chunks }: BatchChunks): MerkleTree {
    const roots = new Uint8Array(chunks * HASH_BYTES)
    for (let chunk = 0; chunk < chunks; chunk++) {
      const at = (this.#chunks.locate(ALL, first + chunk) + C.root) * 4
      roots.set(this.#chunks.views.bytes.subarray(at, at + HASH_BYTES), chunk * HASH_BYTES)
    }
    return new MerkleTree(roots)
  }
}
