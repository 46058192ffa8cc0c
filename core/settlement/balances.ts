/**
 * What everybody has, of a state as it stands, as leaves of a batch of settlement (leaves.ts).
 *
 * The margin of an account is what the conservation of the collateral counts (state/invariants_margin.ts): what is deposited in its margin
 * accounts and what its buckets realised, less the cost of its open positions, which is what opening them paid. So the leaves of an asset,
 * with the fees of the house, the funding pool and the suspense, are what was issued; with a position open it may be below 0.
 */
import { userId } from '../layout/ids.ts'
import { ACCOUNT, BALANCE, SCALAR } from '../state/columns.ts'
import { BucketState, MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  accountRow, balanceRow, bucketRow, get, getF64, getI64, isZero, marginAccountRow, positionRow, scalar,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import type { BalanceLeaf } from './leaves.ts'

/** Rows between two calls of `between`. */
const BETWEEN_ROWS = 4096

/** Atoms that margin accounts, buckets and positions hold, by account; who holds none is not in it. */
export function marginByAccount(state: State, between: () => void = () => undefined): Map<number, bigint> {
  const held = new Map<number, bigint>()
  const add = (account: number, atoms: bigint): void => {
    if (atoms !== 0n) held.set(account, (held.get(account) ?? 0n) + atoms)
  }
  for (let margin = 0; margin < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); margin++) {
    const row = marginAccountRow(state, margin)
    if (margin % BETWEEN_ROWS === 0) between()
    if (get(state, row, MARGIN_ACCOUNT.OPEN) === 0) continue
    add(get(state, row, MARGIN_ACCOUNT.ACCOUNT), getI64(state, row, MARGIN_ACCOUNT.DEPOSITED))
  }
  for (let bucket = 0; bucket < scalar(state, SCALAR.BUCKETS_USED); bucket++) {
    const row = bucketRow(state, bucket)
    if (get(state, row, RISK_BUCKET.STATE) === BucketState.FREE) continue
    const account = get(state, row, RISK_BUCKET.ACCOUNT)
    add(account, getI64(state, row, RISK_BUCKET.REALIZED))
    for (let link = get(state, row, RISK_BUCKET.FIRST_POSITION); link !== 0; ) {
      const position = positionRow(state, link - 1)
      add(account, -getI64(state, position, POSITION.COST))
      link = get(state, position, POSITION.NEXT)
    }
    if (bucket % BETWEEN_ROWS === 0) between()
  }
  return held
}

/** Leaves in their order, one for each account and asset of which it has anything. `between` is called many times a second. */
export function* balancesOf(state: State, batch: number, between: () => void = () => undefined): Generator<BalanceLeaf> {
  const margins = marginByAccount(state, between)
  // Those of the genesis document have the ids that it gives them.
  const assets = state.genesis.assets.map(({ id }) => id)
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    if (account % BETWEEN_ROWS === 0) between()
    let user = ''
    for (let asset = 0; asset < assets.length; asset++) {
      const row = balanceRow(state, account, asset)
      const margin = asset === state.collateralAsset ? (margins.get(account) ?? 0n) : 0n
      const isEmpty = isZero(state, row, BALANCE.AVAILABLE) && isZero(state, row, BALANCE.LOCKED) && isZero(state, row, BALANCE.REWARDS)
      if (isEmpty && margin === 0n) continue
      if (user === '') user = userId(getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE), account)
      yield {
        batch, user, asset: assets[asset]!, available: getI64(state, row, BALANCE.AVAILABLE), locked: getI64(state, row, BALANCE.LOCKED),
        margin, rewards: getI64(state, row, BALANCE.REWARDS),
      }
    }
  }
}
