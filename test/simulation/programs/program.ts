/**
 * What a program of the exchange is to the simulation: what clients ask of it, what the operator does about it, and what of it must be true
 * whoever computes it. All of them stand in all.ts; a run has some of them (swarm.ts).
 */
import type { CommandType } from '../../../core/layout/command.ts'
import { eventTypeOf } from '../../../core/layout/event.ts'
import { RECORD_WORDS, type Decoded, type Views } from '../../../core/layout/table.ts'
import type { Prng } from '../../../core/lib/prng.ts'
import { ACCOUNT, SCALAR } from '../../../core/state/columns.ts'
import { accountRow, getF64 } from '../../../core/state/rows.ts'
import type { State } from '../../../core/state/state.ts'
import type { Asker, Draft } from '../margin_requests.ts'

/** What the operator knows when it is his turn. */
export interface Desk {
  readonly random: Prng
  readonly state: State
  /** Account of a client, -1 before it signed in. */
  account(client: number): number
  /** Somebody may have an authorisation of the withdrawal that this sequence made. */
  authorised(sequence: number): boolean
}

/** A command, as it was journaled, and what came of it. */
export interface Done {
  readonly type: number
  readonly command: Decoded
  /** Records of its events, the RESULT last. */
  readonly events: Views
  /** Counts something that happened. */
  met(what: string): void
}

/**
 * Reads every command and its events, which are those of the naive exchange by then, and keeps books of its own: so it finds what engine
 * and naive exchange have wrong alike. Throws Violation.
 */
export interface ProgramAudit {
  see(done: Done): void
}

export interface Program {
  readonly name: string
  /** Requests of 100 that are of it, in runs that have it: one of these. */
  readonly weights: readonly number[]
  /** Only where there are perpetuals. */
  readonly needsPerps: boolean
  /** Turns of 1000 in which the operator does something about it. */
  readonly operates: number
  /** What a client asks for; `null`: nothing of it now. */
  request(asker: Asker): Draft | null
  operate(desk: Desk): readonly [CommandType, Decoded] | null
  audit(): ProgramAudit
}

/** Places of the records of one type. */
export function* eventsOf({ bytes, u32 }: Views, type: number): Generator<number> {
  for (let base = 0; base * 4 < bytes.length; base += RECORD_WORDS) if (eventTypeOf(u32[base]!) === type) yield base
}

/** The RESULT, which is last. */
export const resultOf = ({ bytes }: Views): number => bytes.length / 4 - RECORD_WORDS

/** How commands of the operator name an account; `null`: it is not there, as after a loss. */
export function named(state: State, account: number): { account: number; createdSequence: number } | null {
  if (account < 0 || account >= state.scalars[SCALAR.ACCOUNTS]!) return null
  return { account, createdSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) }
}

export const pick = <T>(random: Prng, list: readonly T[]): T => list[random.below(list.length)]!
