/** Commands of margin trading, counted in an exchange whose margin accounts, buckets and families are full. */
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { CollateralMove, PerpSetting } from '../../core/layout/margin.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { LEVELS } from '../../core/margin/impact_price.ts'
import { TOTAL } from '../../core/state/columns.ts'
import { getI64, setI64, totalRow } from '../../core/state/rows.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { CountedStage } from './counted_stage.ts'
import { genesisText, PERPS } from './variants.ts'

/** As many buckets as a margin account and accounts as a family may have; margin sub-accounts of an account. */
export const [BUCKETS, FAMILY] = [256, 300]
const MARGIN_SUBS = 300

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** Most steps of each type. */
export function countMargin(): Map<number, number> {
  const stage = new CountedStage(genesisText({
    ...PERPS, assets: [['USDC', 6, '1000000'], ...PERPS.assets.slice(1)],
    limits: {
      ...PERPS.limits, orders: 65_536, accounts: 1024, sessions: 2048, subAccountsPerMaster: FAMILY, marginAccounts: 65_536,
      riskBuckets: 65_536, positions: 4096, marginSubAccounts: MARGIN_SUBS, bucketsPerMarginAccount: BUCKETS, openOrdersPerAccount: 4096,
    },
    // More than the levels of both sides below can bear.
    pairs: PERPS.pairs.map((pair) => (pair.perp === undefined ? pair : { ...pair, perp: { ...pair.perp, impactNotional: '1000000' } })),
  }))
  const said = stage.make(CommandType.OPEN_SESSION, { address: hex('ann', 20), publicKey: hex('key of ann', 32) })
  const ann: Decoded = { session: said['detail']!, sessionGeneration: said['detail2']! }
  stage.make(CommandType.MINT, { ...ann, asset: 0 })
  const move = (values: Decoded): Decoded => ({ ...ann, marginAccount: -1, bucket: -1, createdSequence: 0, amount: 1000n, ...values })
  const price = (pair: number): Decoded => ({ pair, price: 40_000, source: 0, force: 1, observedAt: stage.time })
  for (const pair of [0, 1]) stage.count(CommandType.SET_INDEX_PRICE, price(pair))
  for (let sub = 0; sub < FAMILY; sub++) {
    stage.make(CommandType.CREATE_SUB_ACCOUNT, { ...ann, address: hex(`sub ${sub}`, 20), consented: 1 })
  }
  const subs = Array.from({ length: MARGIN_SUBS - 1 }, () => stage.make(CommandType.OPEN_MARGIN_ACCOUNT, ann))
  stage.count(CommandType.OPEN_MARGIN_ACCOUNT, ann)
  // The first one is the last of the list.
  const { detail: marginAccount, originalSequence: createdSequence } = subs[0]!
  const margin = { marginAccount: marginAccount!, createdSequence: createdSequence! }
  stage.count(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.DEPOSIT, amount: 10_000_000n }))
  stage.count(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.TO_SUB, ...margin, amount: 9_000_000n }))
  const open = (key: number): Decoded => ({ ...ann, ...margin, pair: 0, keyLow: key, keyHigh: 1, strategyKey: hex(`key ${key}`, 48) })
  const bucketOf = ({ detail, originalSequence }: Decoded): Decoded => ({ bucket: detail!, createdSequence: originalSequence! })
  for (let key = 0; key < BUCKETS; key++) {
    const bucket = bucketOf(stage.make(CommandType.OPEN_RISK_BUCKET, open(key)))
    stage.make(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.TO_BUCKET, ...bucket }))
    // The first one is closed again: its row is the only one for another bucket, and the last of the list.
    if (key === 0) stage.count(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.FROM_BUCKET, ...bucket }))
  }
  const last = bucketOf(stage.count(CommandType.OPEN_RISK_BUCKET, open(BUCKETS)))
  stage.count(CommandType.OPEN_RISK_BUCKET, open(1))
  stage.count(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.TO_BUCKET, ...last }))
  stage.count(CommandType.MOVE_COLLATERAL, move({ move: CollateralMove.WITHDRAW, ...margin }))
  checkInvariants(stage.state)
  stage.count(CommandType.CLOSE_MARGIN_ACCOUNT, { ...ann, ...margin })
  prices(stage, ann)
  checkInvariants(stage.state)
  return stage.most
}

/** Commands about the perpetual itself, whose book has more levels than a look at it may take. */
function prices(stage: CountedStage, ann: Decoded): void {
  stage.make(CommandType.MOVE_COLLATERAL, {
    ...ann, marginAccount: -1, bucket: -1, createdSequence: 0, amount: 100_000_000_000n, move: CollateralMove.DEPOSIT,
  })
  // Each on a page of ticks of its own, a bid and an ask.
  for (let level = 1; level <= LEVELS + 10; level++) {
    for (const [flags, price] of [[Flag.MARGIN, 40_000 - 35 * level], [Flag.MARGIN | Flag.SELL, 40_000 + 35 * level]] as const) {
      stage.make(CommandType.PLACE_ORDER, { ...ann, pair: 0, flags, price, lots: 1, leverage: 500 })
    }
  }
  stage.count(CommandType.SET_INDEX_PRICE, { pair: 0, price: 40_000, source: 0, force: 1, observedAt: stage.time })
  stage.count(CommandType.SET_PERP, { pair: 0, setting: PerpSetting.FORCED_MARK, value: 0, number: 0 })
  stage.count(CommandType.SET_PERP, { pair: 0, setting: PerpSetting.OPEN_CAP, number: 1000 })
  stage.time += 60_000
  stage.make(CommandType.SET_INDEX_PRICE, { pair: 0, price: 40_000, source: 0, force: 1, observedAt: stage.time }, 0)
  stage.count(CommandType.FUNDING_STEP, { pair: 0 })
  // Fees that the house has by then.
  const total = totalRow(stage.state, 0)
  for (const field of [TOTAL.FEES, TOTAL.ISSUED]) setI64(stage.state, total, field, getI64(stage.state, total, field) + 1000n)
  stage.count(CommandType.FUND_INSURANCE, { amount: 1000n })
}
