/**
 * The part of a batch's tree of trades that is not closed yet: hashes as core/settlement defines them, made from FILL events where they
 * stand, without an object on the way.
 */
import { FILL } from '../../layout/event.ts'
import { IdKind, writeId } from '../../layout/ids.ts'
import type { Views } from '../../layout/table.ts'
import { HASH_WORDS, HashedText } from '../../lib/sha256.ts'
import { tradeLeaf, TRADE_LEAF_BYTES } from '../../settlement/leaves.ts'

const { at: F } = FILL
const TWO_32 = 2 ** 32
/** First bytes of what is hashed for a leaf and for a node, and where the sides of a node stand. */
const [LEAF, NODE, LEFT, RIGHT] = [0, 1, 1, 33]
const NODE_BYTES = 65
/** Places in a leaf, behind the byte that says what it is. */
const PLACE = {
  sequence: 17, index: 25, pair: 29, price: 45, lots: 49, quote: 53, taker: 61, maker: 77, takerFee: 93, makerFee: 101, time: 109,
} as const
/** An empty leaf, for its name. */
const NO_ID = '00000000-0000-0000-0000-000000000000'
const BLANK = tradeLeaf({
  sequence: 0, index: 0, pair: NO_ID, price: 0, lots: 0, quote: 0n, taker: NO_ID, maker: NO_ID, takerFee: 0n, makerFee: 0n, time: 0,
})

/** Ids that no event says. */
export interface TradeNames {
  /** Public id of a pair. */
  pairId(pair: number): string
  /** The sequence that made an account: with its row its public id. */
  createdSequenceOf(account: number): number
}

/** Writes the leaf of a trade. */
export class TradeLeafText {
  readonly #text = new HashedText(1 + TRADE_LEAF_BYTES)
  readonly #names: TradeNames
  readonly #pairs = new Map<number, Uint8Array>()

  constructor(names: TradeNames) {
    this.#names = names
    this.#text.bytes.set(BLANK, 1)
    this.#text.bytes[0] = LEAF
  }

  /** Its bytes, good until the next call. */
  get bytes(): Uint8Array {
    return this.#text.bytes.subarray(1, 1 + TRADE_LEAF_BYTES)
  }

  /** The leaf of the FILL at `at`. */
  write({ i32, f64 }: Views, at: number): void {
    const { view, bytes } = this.#text
    const double = (place: number, word: number): void => {
      const value = f64[(at + word) >>> 1]!
      view.setUint32(place, value / TWO_32)
      view.setUint32(place + 4, value >>> 0)
    }
    const long = (place: number, word: number): void => {
      view.setInt32(place, i32[at + word + 1]!)
      view.setInt32(place + 4, i32[at + word]!)
    }
    double(PLACE.sequence, F.sequence)
    double(PLACE.time, F.time)
    view.setInt32(PLACE.index, i32[at + F.index]!)
    view.setInt32(PLACE.price, i32[at + F.price]!)
    view.setInt32(PLACE.lots, i32[at + F.lots]!)
    long(PLACE.quote, F.quote)
    long(PLACE.takerFee, F.takerFee)
    long(PLACE.makerFee, F.makerFee)
    bytes.set(this.#pairBytes(i32[at + F.pair]!), PLACE.pair)
    this.#user(PLACE.taker, i32[at + F.takerAccount]!)
    this.#user(PLACE.maker, i32[at + F.makerAccount]!)
  }

  /** Hash of the leaf that was written last, good until the next call. */
  hash(): Int32Array {
    this.#text.run()
    return this.#text.hash
  }

  #user(place: number, account: number): void {
    writeId(this.#text.view, place, IdKind.USER, this.#names.createdSequenceOf(account), account)
  }

  #pairBytes(pair: number): Uint8Array {
    const known = this.#pairs.get(pair)
    if (known !== undefined) return known
    const bytes = Uint8Array.from(Buffer.from(this.#names.pairId(pair).replaceAll('-', ''), 'hex'))
    this.#pairs.set(pair, bytes)
    return bytes
  }
}

/** Hash of a node, in a place that the next call uses again. */
const node = new HashedText(NODE_BYTES)
node.bytes[0] = NODE

function hashNode(left: Int32Array, right: Int32Array): Int32Array {
  for (let word = 0; word < HASH_WORDS; word++) {
    node.view.setInt32(LEFT + 4 * word, left[word]!)
    node.view.setInt32(RIGHT + 4 * word, right[word]!)
  }
  node.run()
  return node.hash
}

/** Nodes that come one after the other, and the root over them. */
export class NodeStack {
  count = 0
  /** Roots of the full trees that the nodes are so far, by height: those that the bits of `count` say. */
  readonly #peaks: Int32Array[]

  /** Room for fewer than 2^`heights` nodes. */
  constructor(heights: number) {
    this.#peaks = Array.from({ length: heights }, () => new Int32Array(HASH_WORDS))
  }

  add(hash: Int32Array): void {
    let up = hash
    let height = 0
    for (; ((this.count >>> height) & 1) === 1; height++) up = hashNode(this.#peaks[height]!, up)
    this.#peaks[height]!.set(up)
    this.count++
  }

  /** Writes the root as 32 bytes at word `word` of `views`; zero of no nodes. */
  writeRoot(views: Views, word: number): void {
    let root: Int32Array | null = null
    for (const [height, peak] of this.#peaks.entries()) {
      if (((this.count >>> height) & 1) === 1) root = root === null ? peak : hashNode(peak, root)
    }
    const { bytes } = views
    for (let i = 0; i < HASH_WORDS; i++) {
      const value = root === null ? 0 : root[i]!
      for (let byte = 0; byte < 4; byte++) bytes[(word + i) * 4 + byte] = value >>> (24 - 8 * byte)
    }
  }
}

/** Reads 32 bytes at word `word` of `views` into `hash`. */
export function readHash({ bytes }: Views, word: number, hash: Int32Array): void {
  for (let i = 0; i < HASH_WORDS; i++) {
    const at = (word + i) * 4
    hash[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
}
