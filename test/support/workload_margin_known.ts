/** What workload_margin.ts knows of the exchange that it talks to. */
import type { CommandType } from '../../core/layout/command.ts'
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
