/**
 * Limits are raised by the operator, by a command of lane 0 that changes nothing yet: columns are as long as the limits say, so a higher
 * one is in force from the next start on. That start is a command too, LIMITS_IN_FORCE, which the sequencer journals before anything
 * else: what stands before it was decided under the old limits, in every replay, and there the state grows (state/growth.ts). Nothing is
 * lowered.
 */
import { RAISABLE, RAISE_LIMIT_COMMAND } from '../layout/limits.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { LIMIT, LIMIT_WORDS, SCALAR } from '../state/columns.ts'
import { growState, raisedLimits } from '../state/growth.ts'
import type { Limits } from '../state/genesis.ts'
import { scalar } from '../state/rows.ts'
import { RULES } from '../state/rules.ts'
import type { State } from '../state/state.ts'
import { laneRefusal } from './policy.ts'

const L = RAISE_LIMIT_COMMAND.at

/** Bytes that limits may count for together: what the addresses of the engine reach (state/memory.ts). */
const COUNTED_MOST = 2 ** 33

/**
 * What limits count for, bytes: a tenth and more above what their columns take. Whether a limit is raised is decided by these numbers and
 * not by the columns, so that a journal replays to the same when columns grow. They change with the rules only (state/rules.ts).
 */
export function countedBytes(limits: Limits, rules = RULES): number {
  const { orders, accounts, sessions, assets, pairs, priceTicks, receipts, receiptPages, spendLimits, agents, applications } = limits
  const ofAccounts = accounts * ((rules >= 5 ? 704 : 640) + 40 * assets)
  const ofPairs = pairs * (4096 + (priceTicks / 32) * 5)
  // Without a bound of pages all of them are in memory.
  const ofReceipts = receipts * 16 + (receiptPages === 0 ? receipts * 176 : receiptPages * 18_432)
  const ofGrants = spendLimits * 96 + agents * 224
  const others = sessions * 112 + applications * 2048 + assets * 1024
  return 2 ** 20 + orders * 1408 + ofAccounts + ofPairs + ofReceipts + ofGrants + others + marginBytes(limits, rules)
}

/** Of margin trading: nothing without perpetuals. A position may have a guard on both sides of each of them. */
function marginBytes({ accounts, perps, marginAccounts, riskBuckets, positions, orders, agents }: Limits, rules: number): number {
  if (perps === 0) return 0
  // What the insurance fund covered for each owner.
  const ofOwners = rules >= 5 ? accounts * 32 : 0
  return ofOwners + perps * 4096 + marginAccounts * 144 + riskBuckets * 288 + positions * (304 + perps * 9) + orders * 36 + agents * 144
}

/**
 * RESULT: place of the limit in detail, what the next start had so far in detail2. VALIDATION_ERROR: no such limit, no whole number;
 * LIMIT_NOT_RAISED: not above what is in force and what the next start has; LIMIT_TOO_LARGE: above the most, or more than there is memory
 * for ({@link countedBytes}).
 */
export function raiseLimit(state: State, command: Views, base: number): void {
  const limit = command.i32[base + L.limit]!
  const value = command.f64[(base + L.value) >>> 1]!
  const before = nextOf(state, limit)
  const code = laneRefusal(command, base) || refusalOf(state, limit, value, before)
  if (code === 0) state.limits[limit * LIMIT_WORDS + LIMIT.NEXT] = value
  emitResult(state, command, base, code, -1, code === 0 ? limit : 0, code === 0 ? before : 0)
}

/** The value that the next start has; 0: no such limit. */
function nextOf({ genesis, limits }: State, limit: number): number {
  const named = RAISABLE[limit]
  return named === undefined ? 0 : Math.max(genesis.limits[named[0]], limits[limit * LIMIT_WORDS + LIMIT.NEXT]!)
}

function refusalOf(state: State, limit: number, value: number, before: number): number {
  const named = RAISABLE[limit]
  if (named === undefined || !Number.isInteger(value)) return REFUSALS.VALIDATION_ERROR.number
  const [name, most] = named
  if (value <= before) return REFUSALS.LIMIT_NOT_RAISED.number
  const limits = { ...state.genesis.limits, ...raisedLimits(state.limits, LIMIT.NEXT), [name]: value }
  return value > most || countedBytes(limits, scalar(state, SCALAR.RULES)) > COUNTED_MOST ? REFUSALS.LIMIT_TOO_LARGE.number : 0
}

/** True: something was raised that is not in force. */
export const awaitsStart = ({ limits }: State): boolean =>
  RAISABLE.some((_, limit) => limits[limit * LIMIT_WORDS + LIMIT.NEXT]! > limits[limit * LIMIT_WORDS + LIMIT.IN_FORCE]!)

/** RESULT: how many limits are others now in detail. LIMIT_NOT_RAISED: none. */
export function limitsInForce(state: State, command: Views, base: number): void {
  let code = laneRefusal(command, base)
  if (code === 0 && !awaitsStart(state)) code = REFUSALS.LIMIT_NOT_RAISED.number
  let changed = 0
  if (code === 0) {
    for (let at = 0; at < RAISABLE.length * LIMIT_WORDS; at += LIMIT_WORDS) {
      if (state.limits[at + LIMIT.NEXT]! > state.limits[at + LIMIT.IN_FORCE]!) changed++
      state.limits[at + LIMIT.IN_FORCE] = state.limits[at + LIMIT.NEXT]!
    }
    growState(state)
  }
  emitResult(state, command, base, code, -1, changed, 0)
}
