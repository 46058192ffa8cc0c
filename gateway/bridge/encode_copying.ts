/** Requests about copy trading as command records (layout/copying.ts), as encode.ts writes the others. */
import { CommandType } from '../../core/layout/command.ts'
import {
  CREATE_FOLLOW_COMMAND, FollowField, FollowState, REGISTER_LEADER_COMMAND, STOP_FOLLOW_COMMAND, UPDATE_FOLLOW_COMMAND,
} from '../../core/layout/copying.ts'
import type { Caller } from '../auth/signed_request.ts'
import type { EngineClient } from './engine_client.ts'
import { begin, finishFor, scratch, scratchBytes } from './scratch.ts'

const R = REGISTER_LEADER_COMMAND.at
const C = CREATE_FOLLOW_COMMAND.at
const U = UPDATE_FOLLOW_COMMAND.at
const S = STOP_FOLLOW_COMMAND.at

export interface FollowTerms {
  readonly handle: string
  /** Atoms. */
  readonly allocation: bigint
  /** Hundredths; 0: as the leader's. */
  readonly maxLeverage: number
  /** MarginMode. */
  readonly mode: number
}

/** What of a follow changes; `undefined`: it stays. */
export interface FollowChange {
  readonly state: number | undefined
  readonly allocation: bigint | undefined
}

/** A follow by its row and the sequence that made it. */
export interface NamedFollow {
  readonly row: number
  readonly createdSequence: number
}

export function encodeRegisterLeader(engine: EngineClient, at: number, correlation: number, caller: Caller, handle: string): void {
  begin(CommandType.REGISTER_LEADER)
  scratch.i32[R.length] = handle.length
  scratchBytes.write(handle, R.handle * 4, 'latin1')
  finishFor(engine, at, CommandType.REGISTER_LEADER, correlation, caller)
}

export function encodeReleaseLeader(engine: EngineClient, at: number, correlation: number, caller: Caller): void {
  begin(CommandType.RELEASE_LEADER)
  finishFor(engine, at, CommandType.RELEASE_LEADER, correlation, caller)
}

export function encodeCreateFollow(engine: EngineClient, at: number, correlation: number, caller: Caller, terms: FollowTerms): void {
  begin(CommandType.CREATE_FOLLOW)
  scratch.i32[C.length] = terms.handle.length
  scratch.i32[C.mode] = terms.mode
  scratchBytes.write(terms.handle, C.handle * 4, 'latin1')
  scratch.i64[C.allocation >>> 1] = terms.allocation
  scratch.i32[C.maxLeverage] = terms.maxLeverage
  finishFor(engine, at, CommandType.CREATE_FOLLOW, correlation, caller)
}

export function encodeUpdateFollow(
  engine: EngineClient, at: number, correlation: number, caller: Caller, { row, createdSequence }: NamedFollow, change: FollowChange,
): void {
  begin(CommandType.UPDATE_FOLLOW)
  const [state, size] = [change.state === undefined ? 0 : FollowField.STATE, change.allocation === undefined ? 0 : FollowField.ALLOCATION]
  scratch.i32[U.follow] = row
  scratch.i32[U.fields] = state | size
  scratch.f64[U.createdSequence >>> 1] = createdSequence
  scratch.i32[U.state] = change.state ?? FollowState.ACTIVE
  scratch.i64[U.allocation >>> 1] = change.allocation ?? 0n
  finishFor(engine, at, CommandType.UPDATE_FOLLOW, correlation, caller)
}

export function encodeStopFollow(
  engine: EngineClient, at: number, correlation: number, caller: Caller, { row, createdSequence }: NamedFollow,
): void {
  begin(CommandType.STOP_FOLLOW)
  scratch.i32[S.follow] = row
  scratch.f64[S.createdSequence >>> 1] = createdSequence
  finishFor(engine, at, CommandType.STOP_FOLLOW, correlation, caller)
}
