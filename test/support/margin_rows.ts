/** Rows of margin trading as a test wants them, without commands: an engine with prices, buckets and positions put straight into it. */
import { makeBucket, makeParent } from '../../core/margin/buckets.ts'
import { changeLots, findPosition, makePosition } from '../../core/margin/positions.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { MARGIN_ACCOUNT, MarginMode, PERP, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { marginAccountRow, get, getI64, perpRow, set, setF64, setI64 } from '../../core/state/rows.ts'
import { createState, type State } from '../../core/state/state.ts'
import { genesisText, PERPS } from './variants.ts'

export const NOW = 1_700_000_000_000

/** An empty exchange of {@link PERPS} whose marks are `marks`, fresh. */
export function exchange(marks: readonly number[] = [50_000, 30_000], limits: Readonly<Record<string, number>> = {}): State {
  const state = createState(parseGenesis(genesisText({ ...PERPS, limits: { ...PERPS.limits, ...limits } })))
  state.clock[CLOCK.TIME] = NOW
  state.clock[CLOCK.SEQUENCE] = 1
  marks.forEach((mark, pair) => setMark(state, pair, mark))
  return state
}

export function setMark(state: State, pair: number, mark: number): void {
  set(state, perpRow(state, pair), PERP.INDEX, mark)
  set(state, perpRow(state, pair), PERP.MARK, mark)
  setF64(state, perpRow(state, pair), PERP.INDEX_AT, NOW)
}

/** A bucket of account 0 with so much collateral; `key` tells buckets of the same kind apart. */
export function bucketWith(state: State, allocated: bigint, mode: number = MarginMode.ISOLATED, pair = 0, key = 0): number {
  const margin = makeParent(state, 0)
  const bucket = makeBucket(state, margin, mode, pair, key, 0)
  setI64(state, bucket, RISK_BUCKET.ALLOCATED, allocated)
  for (const field of [MARGIN_ACCOUNT.DEPOSITED, MARGIN_ACCOUNT.EARMARKED]) {
    setI64(state, margin, field, getI64(state, margin, field) + allocated)
  }
  return bucket
}

/** Changes the position of the bucket in `pair` by `lots` at `price`, and forgets what was said of it. */
export function trade(state: State, bucket: number, pair: number, lots: number, price: number): number {
  const known = findPosition(state, bucket, pair)
  const row = known < 0 ? makePosition(state, bucket, pair) : known
  set(state, row, POSITION.LEVERAGE, 1000)
  changeLots(state, row, lots, price, 0)
  state.outbox.count = 0
  return row
}

/** The margin account of a bucket. */
export const marginOf = (state: State, bucket: number): number => marginAccountRow(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT))
