/**
 * The balances of a batch of settlement in a file, `settlement/balances-<batch>.bin` of the data directory: the state right after the
 * command that opened the batch. The snapshot follower writes it (recovery/snapshotter.ts), the vault thread posts its root, and whoever
 * answers a user reads his leaf and its proof out of it.
 *
 *   head    80 bytes, big endian: name 16, batch u64, last sequence u64, leaves u32, 0 u32, root 32, CRC-32 of all the rest u32, 0 u32
 *   leaves  88 bytes each, in their order (leaves.ts)
 *   groups  32 bytes each: the node over every {@link GROUP} leaves
 *
 * Written in pieces and made durable before it gets its name; the same state gives the same bytes. With the groups a proof needs the leaves
 * of one group and not all of them.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { IdKind, parseId } from '../layout/ids.ts'
import { realIo } from '../lib/io.ts'
import { BALANCE_LEAF_BYTES, balanceLeaf, readBalanceLeaf, type BalanceLeaf } from './leaves.ts'
import { HASH_BYTES, MerkleTree, RootBuilder } from './merkle.ts'

/** Leaves under a node that is kept: a power of two, so that it is a node of the tree. */
export const GROUP = 256
/** Confirmed batches whose balances are kept. */
export const KEPT = 12
const NAME = 'ringbook settle1'
const HEAD_BYTES = 80
const AT = { batch: 16, through: 24, count: 32, root: 40, crc: 72 } as const
/** Bytes that are written or read at once. */
const PIECE = 704 * BALANCE_LEAF_BYTES

export const settlementDirectory = (dataDir: string): string => join(dataDir, 'settlement')
export const balancesPath = (dataDir: string, batch: number): string => join(settlementDirectory(dataDir), `balances-${batch}.bin`)

/** Batches whose balances are in the directory, the oldest first. */
export function listBalances(dataDir: string): number[] {
  try {
    const names = readdirSync(settlementDirectory(dataDir)).map((name) => /^balances-([0-9]{1,16})\.bin$/.exec(name)?.[1])
    return names.filter((name) => name !== undefined).map(Number).sort((a, b) => a - b)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Removes those of confirmed batches, but for the last {@link KEPT} of all, and what an interrupted writer left. */
export function pruneBalances(dataDir: string, batch: number, confirmed: number): void {
  const last = Math.min(confirmed, batch - KEPT)
  for (const old of listBalances(dataDir)) if (old <= last) rmSync(balancesPath(dataDir, old), { force: true })
  for (const name of readdirSync(settlementDirectory(dataDir))) {
    if (name.endsWith('.new')) rmSync(join(settlementDirectory(dataDir), name), { force: true })
  }
}

function makeDirectory(dataDir: string): void {
  if (mkdirSync(settlementDirectory(dataDir), { recursive: true, mode: 0o700 }) === undefined) return
  realIo.syncDirectory(dataDir)
}

/** Bytes that go to the end of a file, a piece at a time. */
class Appender {
  readonly #file: number
  readonly #piece = Buffer.alloc(PIECE)
  #used = 0
  crc = 0

  constructor(file: number) {
    this.#file = file
  }

  add(bytes: Uint8Array): void {
    if (this.#used + bytes.length > PIECE) this.flush()
    this.#piece.set(bytes, this.#used)
    this.#used += bytes.length
  }

  flush(): void {
    const bytes = this.#piece.subarray(0, this.#used)
    this.crc = crc32(bytes, this.crc)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#used = 0
  }
}

export interface BalancesHead {
  readonly batch: number
  /** The sequence after which the balances were these. */
  readonly through: number
  readonly count: number
  readonly root: Uint8Array
}

function headOf({ batch, through, count, root }: BalancesHead, crc: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.write(NAME, 'latin1')
  head.writeBigUInt64BE(BigInt(batch), AT.batch)
  head.writeBigUInt64BE(BigInt(through), AT.through)
  head.writeUInt32BE(count, AT.count)
  head.set(root, AT.root)
  // What stands behind it in the file was counted first.
  head.writeUInt32BE(crc32(head.subarray(0, AT.crc), crc), AT.crc)
  return head
}

/**
 * Writes the balances of a batch; durable under its name when it returns. Throws what the file system throws, and leaves the file that was
 * there before.
 */
export function writeBalances(dataDir: string, batch: number, through: number, leaves: Iterable<BalanceLeaf>): BalancesHead {
  makeDirectory(dataDir)
  const path = balancesPath(dataDir, batch)
  const file = openSync(`${path}.new`, 'w', 0o600)
  let head: BalancesHead
  try {
    const out = new Appender(file)
    out.add(new Uint8Array(HEAD_BYTES))
    out.flush()
    out.crc = 0
    const { count, groups, root } = writeLeaves(out, leaves)
    for (const group of groups) out.add(group)
    out.flush()
    head = { batch, through, count, root }
    writeSync(file, headOf(head, out.crc), 0, HEAD_BYTES, 0)
    fsyncSync(file)
  } catch (error) {
    rmSync(`${path}.new`, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  realIo.syncDirectory(dirname(path))
  return head
}

function writeLeaves(out: Appender, leaves: Iterable<BalanceLeaf>): { count: number; groups: Uint8Array[]; root: Uint8Array } {
  const groups: Uint8Array[] = []
  let group = new RootBuilder()
  let count = 0
  for (const leaf of leaves) {
    const bytes = balanceLeaf(leaf)
    out.add(bytes)
    group.add(bytes)
    if (++count % GROUP !== 0) continue
    groups.push(group.root())
    group = new RootBuilder()
  }
  if (group.count > 0) groups.push(group.root())
  return { count, groups, root: rootOver(groups) }
}

function rootOver(groups: readonly Uint8Array[]): Uint8Array {
  const all = new RootBuilder()
  for (const group of groups) all.addHash(group)
  return all.root()
}

/** A file of balances that is not what was written. */
export class DamagedBalances extends Error {
  override name = 'DamagedBalances'
}

/** A leaf, where it stands, and the siblings that lead from it to the root. */
export interface ProvedBalance {
  readonly leaf: BalanceLeaf
  readonly bytes: Uint8Array
  readonly index: number
  readonly count: number
  readonly proof: readonly Uint8Array[]
}

/** The balances of a batch, checked. Its file stays readable when it is removed meanwhile. */
export class Balances implements BalancesHead {
  readonly batch: number
  readonly through: number
  readonly count: number
  readonly root: Uint8Array
  readonly #file: number
  #groups: MerkleTree | undefined

  /** `file`: a descriptor, which is the object's from now on. Throws {@link DamagedBalances}. */
  constructor(file: number, batch: number) {
    this.#file = file
    const head = readAt(file, 0, HEAD_BYTES)
    this.batch = Number(head.readBigUInt64BE(AT.batch))
    this.through = Number(head.readBigUInt64BE(AT.through))
    this.count = head.readUInt32BE(AT.count)
    this.root = Uint8Array.from(head.subarray(AT.root, AT.root + HASH_BYTES))
    if (head.toString('latin1', 0, NAME.length) !== NAME || this.batch !== batch) throw new DamagedBalances(`it is not of batch ${batch}`)
    const bytes = this.#groupsAt + Math.ceil(this.count / GROUP) * HASH_BYTES
    let crc = 0
    for (let at = HEAD_BYTES; at < bytes; at += PIECE) crc = crc32(readAt(file, at, Math.min(PIECE, bytes - at)), crc)
    if (!headOf(this, crc).equals(head)) throw new DamagedBalances('its checksum does not match')
  }

  get #groupsAt(): number {
    return HEAD_BYTES + this.count * BALANCE_LEAF_BYTES
  }

  bytes(index: number): Uint8Array {
    return Uint8Array.from(readAt(this.#file, HEAD_BYTES + index * BALANCE_LEAF_BYTES, BALANCE_LEAF_BYTES))
  }

  leaf(index: number): BalanceLeaf {
    return readBalanceLeaf(this.bytes(index))!
  }

  /** What the account had of the asset, by their public ids, with its proof; `null`: nothing. */
  find(user: string, asset: string): ProvedBalance | null {
    const owner = parseId(IdKind.USER, user)
    if (owner === null) return null
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (rowOf(this.leaf(middle)) < owner.slot) low = middle + 1
      else high = middle
    }
    // All that it has stands together; ids of assets say nothing of their order.
    for (let index = low; index < this.count; index++) {
      const bytes = this.bytes(index)
      const leaf = readBalanceLeaf(bytes)!
      if (leaf.user !== user.toLowerCase()) break
      if (leaf.asset === asset.toLowerCase()) return { leaf, bytes, index, count: this.count, proof: this.proof(index) }
    }
    return null
  }

  /** Siblings of a leaf, from the leaves up. Reads the leaves of one group. */
  proof(index: number): Uint8Array[] {
    const first = index - (index % GROUP)
    const length = Math.min(GROUP, this.count - first)
    const leaves = readAt(this.#file, HEAD_BYTES + first * BALANCE_LEAF_BYTES, length * BALANCE_LEAF_BYTES)
    const leaf = (at: number): Uint8Array => leaves.subarray(at * BALANCE_LEAF_BYTES, (at + 1) * BALANCE_LEAF_BYTES)
    const group = MerkleTree.of(Array.from({ length }, (_, at) => leaf(at)))
    this.#groups ??= new MerkleTree(Uint8Array.from(readAt(this.#file, this.#groupsAt, Math.ceil(this.count / GROUP) * HASH_BYTES)))
    return [...group.proof(index - first), ...this.#groups.proof(first / GROUP)]
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Row of the account of a leaf, which its id says. */
const rowOf = ({ user }: BalanceLeaf): number => parseId(IdKind.USER, user)!.slot

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const more = readSync(file, bytes, read, length - read, at + read)
    if (more === 0) throw new DamagedBalances('it is too short')
    read += more
  }
  return bytes
}

/** The balances of a batch; `null`: there are none in the directory, or not yet. Throws {@link DamagedBalances}. */
export function openBalances(dataDir: string, batch: number): Balances | null {
  const path = balancesPath(dataDir, batch)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null
  const file = openSync(path, 'r')
  try {
    return new Balances(file, batch)
  } catch (error) {
    closeSync(file)
    throw error instanceof DamagedBalances ? new DamagedBalances(`${path}: ${error.message}`) : error
  }
}
