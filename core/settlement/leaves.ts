/**
 * What a batch of settlement says of a trade and of a balance, as bytes that are hashed into its Merkle trees (proof.ts). Big endian, fixed
 * widths, a name of 16 bytes first, so that no trade can pass for a balance. Read by the exchange, by the client in a browser, and by
 * whoever holds his own records against the chain.
 *
 *   trade    name 16, sequence u64, index u32, pair 16, price u32 (ticks), lots u32, quote u64 (atoms), taker 16, maker 16,
 *            taker's fee i64, maker's fee i64 (atoms of the quote asset, negative: a rebate), time u64 (Unix ms)
 *   balance  name 16, batch u64, user 16, asset 16, available u64, locked u64, margin i64, rewards u64 (atoms)
 *
 * Users, pairs and assets are their public ids as 16 bytes. Trades of a tree are in the order of (sequence, index), balances in that of
 * (row of the account, row of the asset); an account that has nothing of an asset has no leaf.
 */
export interface TradeLeaf {
  readonly sequence: number
  /** Number of the fill within its command. */
  readonly index: number
  readonly pair: string
  readonly price: number
  readonly lots: number
  readonly quote: bigint
  readonly taker: string
  readonly maker: string
  readonly takerFee: bigint
  readonly makerFee: bigint
  readonly time: number
}

export interface BalanceLeaf {
  readonly batch: number
  readonly user: string
  readonly asset: string
  readonly available: bigint
  readonly locked: bigint
  /** Collateral of all its margin accounts and buckets; negative: a loss that its settlement has not covered yet. */
  readonly margin: bigint
  readonly rewards: bigint
}

export const TRADE_LEAF_BYTES = 116
export const BALANCE_LEAF_BYTES = 88
const TRADE = 'ringbook trade 1'
const BALANCE = 'ringbook balance'
const NAME_BYTES = 16
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Writes fields one after the other; a value that its field does not hold throws RangeError. */
class Writer {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(length: number, name: string) {
    this.bytes = new Uint8Array(length)
    this.#view = new DataView(this.bytes.buffer)
    for (; this.#at < NAME_BYTES; this.#at++) this.bytes[this.#at] = name.charCodeAt(this.#at)
  }

  u32(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) throw new RangeError(`${value} is not a whole number of 32 bits`)
    this.#view.setUint32(this.#at, value)
    this.#at += 4
    return this
  }

  u64(value: bigint): this {
    if (value !== BigInt.asUintN(64, value)) throw new RangeError(`${value} is not a whole number of 64 bits`)
    this.#view.setBigUint64(this.#at, value)
    this.#at += 8
    return this
  }

  i64(value: bigint): this {
    if (value !== BigInt.asIntN(64, value)) throw new RangeError(`${value} is not a whole number of 64 bits with its sign`)
    this.#view.setBigInt64(this.#at, value)
    this.#at += 8
    return this
  }

  id(value: string): this {
    if (!UUID.test(value)) throw new RangeError(`${value} is no id`)
    const digits = value.replaceAll('-', '')
    for (let at = 0; at < 32; at += 2) this.bytes[this.#at++] = Number.parseInt(digits.slice(at, at + 2), 16)
    return this
  }
}

/** Reads them; null from `leafReader` when length or name are of something else. */
class Reader {
  readonly #view: DataView
  #at = NAME_BYTES

  constructor(view: DataView) {
    this.#view = view
  }

  u32(): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4)
  }

  u64(): bigint {
    this.#at += 8
    return this.#view.getBigUint64(this.#at - 8)
  }

  i64(): bigint {
    this.#at += 8
    return this.#view.getBigInt64(this.#at - 8)
  }

  id(): string {
    let digits = ''
    for (let at = 0; at < 16; at++) digits += this.#view.getUint8(this.#at++).toString(16).padStart(2, '0')
    return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-')
  }
}

function leafReader(bytes: Uint8Array, length: number, name: string): Reader | null {
  if (bytes.length !== length || String.fromCharCode(...bytes.subarray(0, NAME_BYTES)) !== name) return null
  return new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.length))
}

export function tradeLeaf(trade: TradeLeaf): Uint8Array {
  return new Writer(TRADE_LEAF_BYTES, TRADE)
    .u64(BigInt(trade.sequence)).u32(trade.index).id(trade.pair).u32(trade.price).u32(trade.lots).u64(trade.quote)
    .id(trade.taker).id(trade.maker).i64(trade.takerFee).i64(trade.makerFee).u64(BigInt(trade.time)).bytes
}

export function balanceLeaf(balance: BalanceLeaf): Uint8Array {
  return new Writer(BALANCE_LEAF_BYTES, BALANCE)
    .u64(BigInt(balance.batch)).id(balance.user).id(balance.asset)
    .u64(balance.available).u64(balance.locked).i64(balance.margin).u64(balance.rewards).bytes
}

/** What trade bytes say; null when they are none. */
export function readTradeLeaf(bytes: Uint8Array): TradeLeaf | null {
  const reader = leafReader(bytes, TRADE_LEAF_BYTES, TRADE)
  if (reader === null) return null
  return {
    sequence: Number(reader.u64()), index: reader.u32(), pair: reader.id(), price: reader.u32(), lots: reader.u32(),
    quote: reader.u64(), taker: reader.id(), maker: reader.id(), takerFee: reader.i64(), makerFee: reader.i64(),
    time: Number(reader.u64()),
  }
}

/** What balance bytes say; null when they are none. */
export function readBalanceLeaf(bytes: Uint8Array): BalanceLeaf | null {
  const reader = leafReader(bytes, BALANCE_LEAF_BYTES, BALANCE)
  if (reader === null) return null
  return {
    batch: Number(reader.u64()), user: reader.id(), asset: reader.id(),
    available: reader.u64(), locked: reader.u64(), margin: reader.i64(), rewards: reader.u64(),
  }
}
