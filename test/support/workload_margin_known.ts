/** What workload_margin.ts knows of the exchange that it talks to, and orders about it. */
import { Flag, type CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'

/** Who signs: a wallet, that of a sub-account, or a delegated agent (workload_margin_people.ts). */
export interface Client {
  /** 20 bytes in hex. */
  readonly address: string
  /** Number of the client that it is a sub-account of; -1: of none. */
  readonly master: number
  /** Number of the client that it is an agent of; -1: of none. */
  readonly owner: number
  session: number
  generation: number
  account: number
  minted: number
  /** A sub-account that its master made. */
  made: boolean
  /** Row and sequence of an agent that was granted something; -1: it was not, or no more. */
  agent: number
  agentSequence: number
}
export interface KnownOrder {
  slot: number
  sequence: number
  account: number
  pair: number
  price: number
  remaining: number
  /** Its client order id; '': it has none. */
  label: string
}
export interface KnownBucket {
  row: number
  sequence: number
  account: number
  allocated: bigint
  realized: bigint
  free: bigint
  /** What an order of it was like: its mode and pair; null: there was none yet. */
  like: { cross: boolean; pair: number } | null
}
export interface KnownPosition { row: number; sequence: number; account: number; pair: number; lots: number }
export interface KnownAccount { row: number; sequence: number; account: number }
export type Command = { type: CommandType; values: Decoded }

/** A small reduce-only order of a position that rests far from the price. */
export function farOrder({ pair, row, sequence, lots }: KnownPosition, index: number): Decoded {
  return {
    pair, flags: Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | (lots > 0 ? Flag.SELL : 0),
    price: Math.max(1, Math.round(index * (lots > 0 ? 1.3 : 0.7))), lots: 1, position: row + 1, namedSequence: sequence, options: 0,
    slippageBps: 0, expiresAt: 0, collateral: 0n, leverage: 0, keyLow: 0, keyHigh: 0, marginAccount: 0, bucket: 0,
  }
}

/** What an order has that names a bucket and is like it. */
export const carriedWithin = ({ row, sequence, like }: KnownBucket, leverage: number): Decoded => ({
  marginAccount: 0, bucket: row + 1, namedSequence: sequence, position: 0, keyLow: 0, keyHigh: 0, collateral: 0n, leverage,
  flags: like!.cross ? Flag.CROSS : 0,
})

/** Things of a kind that are remembered. */
export const KNOWN_MOST = 120

export const keep = <Thing>(list: Thing[], thing: Thing): void => {
  list.push(thing)
  if (list.length > KNOWN_MOST) list.shift()
}
