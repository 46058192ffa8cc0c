/**
 * What the operator sets of a perpetual, besides its PairStatus: its mode, the cap of its open interest, a mark that is forced for a
 * while, what the insurance fund covers, and the window in which a jump of the index is measured. Commands of lane 0.
 *
 *   NORMAL <-> REDUCE_ONLY -> SETTLING -> SETTLED -> NORMAL or REDUCE_ONLY
 *
 * SETTLING names a price, which is the mark from then on, and cannot be taken back: positions are closed at it one after the other
 * (liquidation/settle_pair.ts). Funding ends with it. SETTLED comes of itself with the last position. From there a perpetual may begin
 * again, as one that never had a price.
 *
 * None of it widens a product: a cap is compared with lots as a double, a price is below the highest of the genesis, and the largest
 * position is that of the genesis whatever the cap (state/perp_terms.ts).
 */
import { PERP_ANSWER } from '../layout/answers.ts'
import { PERP_MODE_NAMES, PerpMode, PerpSetting, SET_PERP_COMMAND } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitMark, emitResult } from '../events/emit.ts'
import { rateSoFar } from '../margin/funding_rate.ts'
import { confirmIndex, jumpWindow } from '../margin/index_jump.ts'
import { isPerpetual, setMark } from '../margin/mark_price.ts'
import { forgetMarks, isBehind, noteMark } from '../margin/pending_marks.ts'
import { SCALAR } from '../state/columns.ts'
import { PERP } from '../state/margin_rows.ts'
import { get, getF64, now, perpRow, scalar, set, setF64, setI64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { fundAllowance } from '../margin/fund_limits.ts'
import { endFunding } from './funding.ts'
import { laneRefusal } from './policy.ts'

const P = SET_PERP_COMMAND.at
const { VALIDATION_ERROR, WRONG_PERP_MODE, PRICE_STALE, NOT_FOUND, TRIGGERS_BEHIND } = REFUSALS

/**
 * Sets one thing of a perpetual. MARK, PERP_ANSWER. NOT_FOUND: no such perpetual; VALIDATION_ERROR: no such setting, mode or price, a cap
 * that is no whole number of lots, or a forced mark whose time is over; WRONG_PERP_MODE: this mode does not lead to that one, or a
 * perpetual that settles shall have another mark; PRICE_STALE: a mark is forced where there never was an index price; TRIGGERS_BEHIND: as
 * of an index price.
 */
export function setPerp(state: State, command: Views, base: number): void {
  const pair = command.i32[base + P.pair]!
  let code = laneRefusal(command, base)
  if (code === 0 && !isPerpetual(state, pair)) code = NOT_FOUND.number
  const setting = command.i32[base + P.setting]!
  if (code === 0) code = settingRefusal(state, command, base, pair, setting)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const before = settingOf(state, pair, setting)
  if (setting === PerpSetting.MODE) setMode(state, pair, command.i32[base + P.value]!, command.i32[base + P.price]!)
  else if (setting === PerpSetting.OPEN_CAP) setF64(state, perpRow(state, pair), PERP.OPEN_CAP, command.f64[(base + P.number) >>> 1]!)
  else if (setting === PerpSetting.FUND_COVER) {
    set(state, perpRow(state, pair), PERP.FUND_SHARE, command.i32[base + P.value]! + 1)
    setF64(state, perpRow(state, pair), PERP.FUND_ALLOWANCE, command.f64[(base + P.number) >>> 1]! + 1)
  } else if (setting === PerpSetting.JUMP_WINDOW) {
    set(state, perpRow(state, pair), PERP.JUMP_SECONDS, command.i32[base + P.value]! + 1)
    if (command.i32[base + P.value] === 0) confirmIndex(state, pair)
  } else forceMark(state, pair, command.i32[base + P.value]!, command.f64[(base + P.number) >>> 1]!)
  emitMark(state, pair, rateSoFar(state, pair))
  const at = emitResult(state, command, base, 0, -1, setting, 0)
  state.outbox.i32[at + PERP_ANSWER.at.pair] = pair
  state.outbox.f64[(at + PERP_ANSWER.at.before) >>> 1] = before
}

function settingOf(state: State, pair: number, setting: number): number {
  const perp = perpRow(state, pair)
  if (setting === PerpSetting.MODE) return get(state, perp, PERP.MODE)
  if (setting === PerpSetting.FUND_COVER) return fundAllowance(state, pair)
  if (setting === PerpSetting.JUMP_WINDOW) return jumpWindow(state, pair)
  return setting === PerpSetting.OPEN_CAP ? getF64(state, perp, PERP.OPEN_CAP) : get(state, perp, PERP.FORCED_MARK)
}

function settingRefusal(state: State, command: Views, base: number, pair: number, setting: number): number {
  const value = command.i32[base + P.value]!
  const number = command.f64[(base + P.number) >>> 1]!
  if (setting === PerpSetting.MODE) return modeRefusal(state, pair, value, command.i32[base + P.price]!)
  if (setting === PerpSetting.OPEN_CAP) return Number.isSafeInteger(number) && number >= 0 ? 0 : VALIDATION_ERROR.number
  if (setting === PerpSetting.FUND_COVER && scalar(state, SCALAR.RULES) >= 5) {
    return value >= 0 && value <= 1_000_000 && Number.isSafeInteger(number + 1) && number >= 0 ? 0 : VALIDATION_ERROR.number
  }
  if (setting === PerpSetting.JUMP_WINDOW && scalar(state, SCALAR.RULES) >= 5) {
    return value >= 0 && value <= 3600 ? 0 : VALIDATION_ERROR.number
  }
  if (setting !== PerpSetting.FORCED_MARK) return VALIDATION_ERROR.number
  if (value !== 0 && !(isPrice(state, value) && number > now(state))) return VALIDATION_ERROR.number
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.MODE) >= PerpMode.SETTLING) return WRONG_PERP_MODE.number
  if (isBehind(state, pair)) return TRIGGERS_BEHIND.number
  return get(state, perp, PERP.INDEX) === 0 ? PRICE_STALE.number : 0
}

const isPrice = (state: State, ticks: number): boolean => ticks >= 1 && ticks < state.priceTicks

function modeRefusal(state: State, pair: number, mode: number, price: number): number {
  const before = get(state, perpRow(state, pair), PERP.MODE)
  if (PERP_MODE_NAMES[mode] === undefined || mode === PerpMode.SETTLED) return VALIDATION_ERROR.number
  if (mode === PerpMode.SETTLING && !isPrice(state, price)) return VALIDATION_ERROR.number
  const settles = before === PerpMode.SETTLING || (before === PerpMode.SETTLED && mode === PerpMode.SETTLING)
  return settles ? WRONG_PERP_MODE.number : 0
}

function setMode(state: State, pair: number, mode: number, price: number): void {
  const perp = perpRow(state, pair)
  const before = get(state, perp, PERP.MODE)
  set(state, perp, PERP.MODE, mode)
  confirmIndex(state, pair)
  if (mode === PerpMode.SETTLING) {
    set(state, perp, PERP.SETTLEMENT, price)
    set(state, perp, PERP.CURSOR, 0)
    set(state, perp, PERP.FORCED_MARK, 0)
    setF64(state, perp, PERP.FORCED_UNTIL, 0)
    endFunding(state, pair)
    setMark(state, pair)
  } else if (before === PerpMode.SETTLED) beginAgain(state, perp)
}

/** What was known of prices is forgotten; the next index price is the first. */
function beginAgain(state: State, perp: number): void {
  for (const field of [PERP.INDEX, PERP.MARK, PERP.SETTLEMENT, PERP.SUSPECT, PERP.SUSPECTS]) set(state, perp, field, 0)
  for (const field of [PERP.INDEX_AT, PERP.OBSERVED_AT, PERP.BASIS_AT, PERP.SUSPECT_AT]) setF64(state, perp, field, 0)
  setI64(state, perp, PERP.BASIS, 0n)
  forgetMarks(state, perp)
}

function forceMark(state: State, pair: number, mark: number, until: number): void {
  const perp = perpRow(state, pair)
  set(state, perp, PERP.FORCED_MARK, mark)
  setF64(state, perp, PERP.FORCED_UNTIL, mark === 0 ? 0 : until)
  setMark(state, pair)
  noteMark(state, pair)
}
