/**
 * Values of the chain's JSON-RPC interface, read strictly: quantities are hex without leading zeros being required, data has whole
 * bytes. What is wrong is an RpcError naming the parameter. Objects are read by {@link fields} and may carry more than is known.
 */
import { RPC, RpcError } from './errors.ts'

export type Hex = `0x${string}`

/** Blocks that the embedded chain keeps at most, the first included; a full chain refuses more. A block is 25 kB of memory. */
export const BLOCKS_MAX = 20_000

/** Most digits of a quantity: 256 bits. */
const QUANTITY_DIGITS = 64
/** Longest data, bytes: longer than any call or transaction needs. */
export const DATA_BYTES_MAX = 1 << 20
const BLOCK_TAGS = ['latest', 'pending', 'safe', 'finalized']

/** A block by number; `latest` for it and everything that means it on a chain of one node. */
export type BlockTag = number | 'latest'
/** A block by its hash, or as above. */
export type BlockReference = BlockTag | { readonly hash: Hex }

const invalid = (name: string, what: string): RpcError => new RpcError(RPC.INVALID_PARAMS, `invalid ${name}: ${what}`)

export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`
export const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
export const toBytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), 'hex'))

export function readQuantity(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]+$/.test(value) || value.length > 2 + QUANTITY_DIGITS) {
    throw invalid(name, 'a hex quantity is expected')
  }
  return BigInt(value)
}

/** Data of any length, or of exactly `bytes`; lowercase. */
export function readData(value: unknown, name: string, bytes?: number): Hex {
  const wrong = typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(value) || value.length > 2 + 2 * DATA_BYTES_MAX
  if (wrong || (bytes !== undefined && value.length !== 2 + 2 * bytes)) {
    throw invalid(name, bytes === undefined ? 'hex data is expected' : `hex data of ${bytes} bytes is expected`)
  }
  return value.toLowerCase() as Hex
}

export const readAddress = (value: unknown, name: string): Hex => readData(value, name, 20)
export const readHash = (value: unknown, name: string): Hex => readData(value, name, 32)

/** The fields of an object parameter. */
export function fields(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(name, 'an object is expected')
  return value as Record<string, unknown>
}

export function readBlockTag(value: unknown, name = 'block'): BlockTag {
  if (value === undefined || value === null || BLOCK_TAGS.includes(value as string)) return 'latest'
  if (value === 'earliest') return 0
  const number = readQuantity(value, name)
  return number > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(number)
}

/** A tag or number, or an object with `blockHash` or `blockNumber` (EIP-1898). */
export function readBlock(value: unknown): BlockReference {
  if (typeof value !== 'object' || value === null) return readBlockTag(value)
  const { blockHash, blockNumber } = fields(value, 'block')
  return blockHash === undefined ? readBlockTag(blockNumber) : { hash: readHash(blockHash, 'blockHash') }
}
