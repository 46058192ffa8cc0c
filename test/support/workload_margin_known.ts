/** What workload_margin.ts knows of the exchange that it talks to. */
import type { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'

export interface Client { session: number; generation: number; account: number; minted: number }
export interface KnownOrder { slot: number; sequence: number; account: number; pair: number; price: number; remaining: number }
export interface KnownBucket { row: number; sequence: number; account: number; allocated: bigint; realized: bigint; free: bigint }
export interface KnownPosition { row: number; sequence: number; account: number; pair: number; lots: number }
export interface KnownAccount { row: number; sequence: number; account: number }
export type Command = { type: CommandType; values: Decoded }
