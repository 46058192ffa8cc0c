/**
 * Merkle proofs over SHA-256 without the hash itself, so that the exchange (merkle.ts) and the client in a browser share one reading:
 *
 *   leaf = sha256(0x00 || bytes)    node = sha256(0x01 || left || right)
 *
 * Levels are built from the leaves up; the last node of an odd level goes up as it is. The root of no leaves is 32 zero bytes. A proof has
 * the sibling of each level from the leaves up, and none where the node went up alone: index and count say where that is, so they are part
 * of what is proved. The vault contract reads proofs in the same way (data/contracts/Vault.sol).
 */
export type Hash = (bytes: Uint8Array) => Uint8Array

export const HASH_BYTES = 32
/** Leaves of a tree: an index is a whole number of 32 bits on the chain. */
export const LEAVES_MAX = 2 ** 32 - 1
const LEAF = 0
const NODE = 1

export function hashOfLeaf(hash: Hash, bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(1 + bytes.length)
  text[0] = LEAF
  text.set(bytes, 1)
  return hash(text)
}

export function hashOfNode(hash: Hash, left: Uint8Array, right: Uint8Array): Uint8Array {
  const text = new Uint8Array(1 + 2 * HASH_BYTES)
  text[0] = NODE
  text.set(left, 1)
  text.set(right, 1 + HASH_BYTES)
  return hash(text)
}

const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_BYTES

/** The root that a proof leads to; null when there is no such leaf, or the proof has not as many hashes as its place needs. */
export function rootOfProof(
  hash: Hash, leaf: Uint8Array, index: number, count: number, proof: readonly Uint8Array[],
): Uint8Array | null {
  if (!Number.isInteger(index) || !Number.isInteger(count) || index < 0 || index >= count || count > LEAVES_MAX) return null
  if (!isHash(leaf) || !proof.every(isHash)) return null
  let [at, width, used, node] = [index, count, 0, leaf]
  while (width > 1) {
    const isAlone = at === width - 1 && at % 2 === 0
    if (!isAlone) {
      const sibling = proof[used++]
      if (sibling === undefined) return null
      node = at % 2 === 0 ? hashOfNode(hash, node, sibling) : hashOfNode(hash, sibling, node)
    }
    at = Math.floor(at / 2)
    width = Math.ceil(width / 2)
  }
  return used === proof.length ? node : null
}

/** Whether leaf bytes stand at `index` of the `count` leaves under a root. */
export function isProved(
  hash: Hash, root: Uint8Array, bytes: Uint8Array, index: number, count: number, proof: readonly Uint8Array[],
): boolean {
  const found = rootOfProof(hash, hashOfLeaf(hash, bytes), index, count, proof)
  return found !== null && isHash(root) && found.every((byte, at) => byte === root[at])
}
