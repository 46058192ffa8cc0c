/**
 * Promise: nobody farms rounding. Two accounts of one farmer trade the smallest sizes with each other, where a fee is a fraction of an atom
 * and a payment of funding too: opening, enlarging, reducing, turning, closing, and collateral atom by atom to and fro. All that they have
 * changes by what the house earned of them and by what stays in the funding pool, to the atom; a taker pays at least his rate, a maker gets
 * at most his rebate, and together they gain nothing.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { CollateralMove, PerpSetting } from '../../core/layout/margin.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { BALANCE, TOTAL } from '../../core/state/columns.ts'
import { MARGIN_ACCOUNT, MARGIN_TOTAL, PERP, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { parentOf } from '../../core/margin/buckets.ts'
import { balanceRow, bucketAt, get, getF64, getI64, marginTotalRow, perpRow, totalRow } from '../../core/state/rows.ts'
import { BTC, LiquidationStage } from '../support/liquidation_stage.ts'
import { DEEP } from '../suite/rounds.ts'

/** Trades of each setting. */
const TRADES = DEEP ? 10_000 : 2_500
/** A tick and lot is an atom: a lot at 1,000 ticks has a fee of half an atom at 5 bps. */
const SMALL = { tickSize: '0.01', lotSize: '0.0001', minOrderSize: '0.0001', maxOrderSize: '100' }
const SETTINGS = [['1', '5'], ['0', '0'], ['-3', '3'], ['-2', '5'], ['0.01', '0.01']] as const
const FARMER = ['ann', 'bob']

/** All that an account has of the collateral, its positions closed. */
function wealthOf(stage: LiquidationStage, name: string): bigint {
  const { state } = stage
  const wallet = balanceRow(state, stage.account(name), 0)
  const margin = parentOf(state, stage.account(name))
  const bucket = stage.bucket(name)
  const owned = getI64(state, wallet, BALANCE.AVAILABLE) + getI64(state, wallet, BALANCE.LOCKED)
  return owned + getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED) + (bucket < 0 ? 0n : getI64(state, bucket, RISK_BUCKET.REALIZED))
}

interface Fees { maker: bigint; taker: bigint; value: bigint; fills: number }

/** Both orders of a trade of `lots`, signed for the taker. */
function trade(stage: LiquidationStage, [taker, maker]: readonly string[], lots: number, price: number, fees: Fees): void {
  stage.order(maker!, -lots, price)
  const events = stage.orderEvents(taker!, lots, price)
  for (const fill of events.filter(({ event }) => event === 'FILL')) {
    fees.maker += BigInt(fill['makerFee'] as bigint)
    fees.taker += BigInt(fill['takerFee'] as bigint)
    fees.value += BigInt(fill['quote'] as bigint)
    fees.fills++
  }
}

/** An atom into the bucket of the account, or out of it; whether that is accepted is not the question. */
function moveAtom(stage: LiquidationStage, name: string, into: boolean): void {
  const bucket = stage.bucket(name)
  if (bucket < 0) return
  stage.events(CommandType.MOVE_COLLATERAL, {
    ...stage.signed(name), marginAccount: -1, bucket: bucketAt(stage.state, bucket), options: 0, amount: 1n,
    createdSequence: getF64(stage.state, bucket, RISK_BUCKET.CREATED_SEQUENCE),
    move: into ? CollateralMove.TO_BUCKET : CollateralMove.FROM_BUCKET,
  }, 1)
}

/** A minute later, with a premium of either sign that a maker's book has meanwhile; an interval of funding is over. */
function fund(stage: LiquidationStage, ticks: number): void {
  stage.time += 60_000
  stage.price(BTC, 1000)
  stage.send(CommandType.SET_PERP, { pair: BTC, setting: PerpSetting.FORCED_MARK, value: 1000 + ticks, number: stage.time + 3_600_000 })
  stage.order('mak', 200, 1000 + ticks - (ticks < 0 ? 2 : 0))
  stage.order('mak', -200, 1000 + ticks + (ticks < 0 ? 0 : 2))
  stage.send(CommandType.FUNDING_STEP, { pair: BTC })
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('mak'), pair: -1, limit: 10 }, 1)
}

for (const [makerFeeBps, takerFeeBps] of SETTINGS) {
  t.test(`maker ${makerFeeBps} bps, taker ${takerFeeBps} bps, ${TRADES} trades`, async (t) => {
    const perp = { referencePrice: '10', maxPositionSize: '100', fundingIntervalSeconds: 60, staleSeconds: 3600, impactNotional: '0.1' }
    const stage = new LiquidationStage(perp, {}, { ...SMALL, makerFeeBps, takerFeeBps })
    const random = createPrng(TRADES)
    for (const name of [...FARMER, 'mak']) stage.deposit(name, 100)
    const house = (): bigint => getI64(stage.state, totalRow(stage.state, 0), TOTAL.FEES)
    const pool = (): bigint => getI64(stage.state, marginTotalRow(stage.state, 0), MARGIN_TOTAL.FUNDING_POOL)
    const wealth = (): bigint => FARMER.reduce((sum, name) => sum + wealthOf(stage, name), 0n)
    const before = { wealth: wealth(), house: house(), pool: pool() }
    const fees: Fees = { maker: 0n, taker: 0n, value: 0n, fills: 0 }
    stage.checks = false
    let [turns, funded] = [0, 0]
    for (let round = 0; round < TRADES; round++) {
      const roles = random.below(2) === 0 ? FARMER : [...FARMER].reverse()
      const held = stage.lots(roles[0]!)
      // About nothing, so that positions turn often.
      const side = Math.abs(held) > 2 ? -Math.sign(held) : random.below(2) === 0 ? 1 : -1
      const lots = (1 + random.below(3)) * side
      if (held !== 0 && Math.sign(held + lots) === -Math.sign(held)) turns++
      trade(stage, roles, lots, 999 + random.below(3), fees)
      if (round % 5 === 0) moveAtom(stage, FARMER[random.below(2)]!, random.below(2) === 0)
      if (round % 20 === 0) {
        fund(stage, random.below(41) - 20)
        funded++
      }
      if (round % 500 === 0) {
        stage.checks = true
        stage.check()
        stage.checks = false
      }
    }
    const left = stage.lots('ann')
    if (left !== 0) trade(stage, FARMER, -left, 1000, fees)
    stage.checks = true
    stage.check()
    t.same(FARMER.map((name) => stage.lots(name)), [0, 0])
    t.equal(get(stage.state, perpRow(stage.state, BTC), PERP.POSITIONS), 0)
    const gained = wealth() - before.wealth
    const [earned, dust] = [house() - before.house, pool() - before.pool]
    t.equal(gained, -earned - dust, `${fees.fills} fills: gained ${gained}, fees ${earned}, dust ${dust}`)
    t.equal(earned, fees.maker + fees.taker)
    t.ok(dust >= 0n && earned >= 0n && gained <= 0n, 'nothing is gained')
    const ppm = (bps: string): bigint => BigInt(Math.round(Number(bps) * 100))
    t.ok(fees.taker * 1_000_000n >= fees.value * ppm(takerFeeBps), 'a taker pays his rate at least')
    t.ok(fees.maker * 1_000_000n >= fees.value * ppm(makerFeeBps), 'a maker gets his rebate at most')
    t.ok(fees.fills >= TRADES && turns > TRADES / 20 && funded === TRADES / 20, `${turns} turns, ${funded} intervals`)
    t.ok(dust > 0n, 'funding left something')
  })
}
