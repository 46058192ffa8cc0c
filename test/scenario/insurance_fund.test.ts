/**
 * Promise: the insurance fund begins with the first index price there is room for, as an account without a wallet, and the operator funds
 * it from the house's fee income and from nothing else; every atom of it backs its bucket.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { fundBucket } from '../../core/margin/fund.ts'
import { ACCOUNT, SCALAR, TOTAL } from '../../core/state/columns.ts'
import { MARGIN_ACCOUNT, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { accountRow, bytesOf, getI64, get, marginAccountRow, scalar, setI64, totalRow } from '../../core/state/rows.ts'
import { PerpStage } from '../support/perp_stage.ts'

const fund = (stage: PerpStage, amount: bigint, lane = 0): Record<string, unknown> =>
  stage.send(CommandType.FUND_INSURANCE, { amount }, lane)

t.test('it begins once, with the first price, and nobody has its address', async (t) => {
  const stage = new PerpStage()
  const { state } = stage
  t.equal(fundBucket(state), -1)
  t.match(fund(stage, 1n), { code: REFUSALS.NOT_FOUND.number })
  stage.price(10_000)
  const bucket = fundBucket(state)
  t.ok(bucket >= 0)
  t.equal(scalar(state, SCALAR.FUND), 1)
  t.same([...bytesOf(state, accountRow(state, 0), ACCOUNT.ADDRESS, 20)], Array.from({ length: 20 }, () => 0))
  t.equal(scalar(state, SCALAR.BLANK_OLDEST), 0, 'it is kept')
  stage.price(10_001)
  t.equal(fundBucket(state), bucket)
  t.same([SCALAR.ACCOUNTS, SCALAR.MARGIN_ACCOUNTS_LIVE, SCALAR.BUCKETS_LIVE].map((name) => scalar(state, name)), [1, 1, 1])
})

t.test('without room for an account the price is set all the same, and the fund begins later', async (t) => {
  const stage = new PerpStage()
  const { state } = stage
  const wallet = (index: number): string => index.toString(16).padStart(40, '0')
  const { accounts, sessionLifetimeMs } = state.genesis.limits
  for (let index = 1; index <= accounts; index++) {
    stage.send(CommandType.OPEN_SESSION, { address: wallet(index), publicKey: wallet(index).padEnd(64, '0') }, 1)
  }
  t.equal(scalar(state, SCALAR.ACCOUNTS), accounts)
  t.match(stage.price(10_000), { code: 0 })
  t.equal(fundBucket(state), -1)
  stage.time += 3 * sessionLifetimeMs
  t.match(stage.price(10_000), { code: 0 })
  t.ok(fundBucket(state) >= 0, 'the row of a blank account')
})

t.test('fee income to the fund, to the last atom', async (t) => {
  const stage = new PerpStage()
  const { state } = stage
  stage.price(10_000)
  const fees = totalRow(state, state.collateralAsset)
  setI64(state, fees, TOTAL.FEES, 100n)
  t.match(fund(stage, 101n), { code: REFUSALS.INSUFFICIENT_BALANCE.number })
  for (const amount of [0n, -1n]) t.match(fund(stage, amount), { code: REFUSALS.VALIDATION_ERROR.number })
  t.match(fund(stage, 1n, 1), { code: REFUSALS.OPERATOR_ONLY.number })
  const events = stage.events(CommandType.FUND_INSURANCE, { amount: 99n })
  t.match(events, [
    { event: 'COLLATERAL', amount: 99n, deposited: 99n, earmarked: 99n, allocated: 99n, account: 0 },
    { event: 'RESULT of FUND_INSURANCE', code: 0, hold: 99n },
  ])
  t.match(fund(stage, 1n), { code: 0, hold: 100n })
  t.match(fund(stage, 1n), { code: REFUSALS.INSUFFICIENT_BALANCE.number })
  const bucket = fundBucket(state)
  const margin = marginAccountRow(state, get(state, bucket, RISK_BUCKET.MARGIN_ACCOUNT))
  t.same(
    [getI64(state, fees, TOTAL.FEES), getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED), getI64(state, margin, MARGIN_ACCOUNT.EARMARKED),
      getI64(state, bucket, RISK_BUCKET.ALLOCATED)],
    [0n, 100n, 100n, 100n],
  )
})
