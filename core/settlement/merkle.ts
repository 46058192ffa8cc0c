/**
 * Merkle trees of a batch of settlement (proof.ts says how they are made): the root of a stream of leaves in memory of 32 hashes, and
 * a tree that has every hash, for proofs. Node's SHA-256 in one call: about 1 us a node.
 */
import { hash as nodeHash } from 'node:crypto'
import { HASH_BYTES, hashOfLeaf, hashOfNode, isProved, LEAVES_MAX } from './proof.ts'

export { HASH_BYTES, LEAVES_MAX }

/** What no leaf at all has for a root. */
export const EMPTY_ROOT: Uint8Array = new Uint8Array(HASH_BYTES)

const sha256 = (bytes: Uint8Array): Uint8Array => nodeHash('sha256', bytes, 'buffer')

export const leafHash = (bytes: Uint8Array): Uint8Array => hashOfLeaf(sha256, bytes)
export const parentHash = (left: Uint8Array, right: Uint8Array): Uint8Array => hashOfNode(sha256, left, right)

/** Whether leaf bytes stand at `index` of the `count` leaves under a root. */
export const verifyProof = (
  root: Uint8Array, bytes: Uint8Array, index: number, count: number, proof: readonly Uint8Array[],
): boolean => isProved(sha256, root, bytes, index, count, proof)

/** The root of leaves that come one after the other. May be asked at any time and gone on with. */
export class RootBuilder {
  /** Roots of the full trees that the leaves so far are, one a bit of their count, by height. */
  readonly #peaks: (Uint8Array | undefined)[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(bytes: Uint8Array): void {
    this.addHash(leafHash(bytes))
  }

  /** A leaf of which only the hash is known. Throws RangeError when the tree is full. */
  addHash(leaf: Uint8Array): void {
    if (this.#count === LEAVES_MAX) throw new RangeError('a tree has at most 2^32 - 1 leaves')
    let node = leaf
    let height = 0
    for (; this.#peaks[height] !== undefined; height++) {
      node = parentHash(this.#peaks[height]!, node)
      this.#peaks[height] = undefined
    }
    this.#peaks[height] = node
    this.#count++
  }

  root(): Uint8Array {
    let root: Uint8Array | undefined
    for (const peak of this.#peaks) {
      if (peak !== undefined) root = root === undefined ? peak : parentHash(peak, root)
    }
    return root ?? EMPTY_ROOT
  }
}

/** All hashes of a tree: 64 bytes a leaf. */
export class MerkleTree {
  /** Hashes of each level, the leaves first. */
  readonly #levels: Uint8Array[]
  readonly count: number

  /** `leaves`: their hashes, one after the other. It is kept, not copied. Throws RangeError when it has half a hash. */
  constructor(leaves: Uint8Array) {
    if (leaves.length % HASH_BYTES !== 0) throw new RangeError('the hashes of leaves have 32 bytes each')
    this.count = leaves.length / HASH_BYTES
    this.#levels = [leaves]
    for (let below = leaves; below.length > HASH_BYTES; ) {
      below = levelAbove(below)
      this.#levels.push(below)
    }
  }

  static of(leaves: Iterable<Uint8Array>): MerkleTree {
    const hashes = Array.from(leaves, leafHash)
    const bytes = new Uint8Array(hashes.length * HASH_BYTES)
    hashes.forEach((hash, at) => bytes.set(hash, at * HASH_BYTES))
    return new MerkleTree(bytes)
  }

  get root(): Uint8Array {
    return this.count === 0 ? EMPTY_ROOT : this.#levels.at(-1)!.slice()
  }

  /** Siblings of a leaf from the leaves up. Throws RangeError when there is no such leaf. */
  proof(index: number): Uint8Array[] {
    if (!Number.isInteger(index) || index < 0 || index >= this.count) throw new RangeError('there is no such leaf')
    const proof: Uint8Array[] = []
    let at = index
    for (const level of this.#levels) {
      const sibling = (at % 2 === 0 ? at + 1 : at - 1) * HASH_BYTES
      if (sibling < level.length) proof.push(level.slice(sibling, sibling + HASH_BYTES))
      at = Math.floor(at / 2)
    }
    return proof
  }
}

function levelAbove(below: Uint8Array): Uint8Array {
  const nodes = below.length / HASH_BYTES
  const above = new Uint8Array(Math.ceil(nodes / 2) * HASH_BYTES)
  for (let at = 0; at < nodes; at += 2) {
    const left = below.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)
    const right = below.subarray((at + 1) * HASH_BYTES, (at + 2) * HASH_BYTES)
    above.set(right.length === 0 ? left : parentHash(left, right), (at / 2) * HASH_BYTES)
  }
  return above
}
