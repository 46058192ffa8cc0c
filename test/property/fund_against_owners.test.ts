/**
 * Promise: an owner of several accounts gains nothing from the insurance fund beyond the allowance of the day, whatever the path of the
 * index. Alone with the fund, the accounts of one family open positions against each other, in many sizes and with much leverage, while
 * the index goes up and down by steps as large as are taken; whatever the fund has less at any moment the owner has more.
 *
 * `npm test` plays a few owners; `npm run test:deep` more, then other seeds.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { indexStepPpm } from '../../core/margin/index_step.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { get, perpRow } from '../../core/state/rows.ts'
import { BTC, DOLLAR, LiquidationStage } from '../support/liquidation_stage.ts'
import { DEEP, eachRound, seedOf } from '../suite/rounds.ts'

const ALLOWANCE = 300
const FUNDED = 500_000

/** One owner on a random path. What the fund lost at the worst moment, dollars. */
function play(seed: number): { lost: number; bankrupt: number } {
  const random = createPrng(seed)
  const ladder = [{ lowerBoundNotional: '0', maxLeverage: '50', maintenanceMarginRatio: '0.01' }]
  const stage = new LiquidationStage({
    riskTiers: ladder, fundShareBps: '2500', fundOwnerAllowance: `${ALLOWANCE}`, deleverageWindowMinutes: 1440, deleverageHolderBps: '2000',
    maxPositionSize: '5000',
  })
  stage.checks = false
  stage.fund(FUNDED)
  stage.deposit('master', 10)
  const names = ['master']
  for (let index = 0; index < 2 + random.below(9); index++) {
    const name = `sub${index}`
    const address = Buffer.from(name).toString('hex').padEnd(40, '0')
    stage.send(CommandType.CREATE_SUB_ACCOUNT, { ...stage.signed('master'), address, consented: 1 }, 1)
    names.push(name)
  }
  for (const name of names) stage.deposit(name, 100_000)
  const perp = perpRow(stage.state, BTC)
  let least = BigInt(FUNDED) * DOLLAR
  let bankrupt = 0
  for (let step = 0; step < 60; step++) {
    const index = get(stage.state, perp, PERP.INDEX)
    const [long, short] = [names[random.below(names.length)]!, names[random.below(names.length)]!]
    if (long !== short) trade(stage, long, short, 1 + random.below(200), index)
    const most = Math.floor((index * indexStepPpm(stage.state, BTC)) / 1_000_000)
    const moved = random.below(3) === 0 ? random.below(2 * most + 1) - most : (random.below(2) * 2 - 1) * most
    stage.time += 1000
    stage.price(BTC, Math.max(300, Math.min(3000, index + moved)))
    bankrupt += stage.run().told.filter((line) => line.includes('STARTED')).length
    if (stage.equity('fund') < least) least = stage.equity('fund')
  }
  return { lost: Number(BigInt(FUNDED) * DOLLAR - least) / Number(DOLLAR), bankrupt }
}

/** Both sides trade at the index with the most leverage; one that is refused is none. */
function trade(stage: LiquidationStage, long: string, short: string, lots: number, price: number): void {
  for (const [name, signed] of [[short, -lots], [long, lots]] as const) {
    try {
      stage.order(name, signed, price, { leverage: 5000 })
    } catch {
      return
    }
  }
}

t.test('the fund never loses more than the allowance to one owner', async (t) => {
  const seed = seedOf(7)
  let bankrupt = 0
  for (const round of eachRound(t, { short: 12, deep: 400 })) {
    const played = play(seed * 1000 + round)
    bankrupt += played.bankrupt
    if (played.lost > ALLOWANCE) t.fail(`seed ${seed * 1000 + round}: the fund lost ${played.lost}`)
  }
  t.ok(bankrupt > 0, `${bankrupt} liquidations`)
  if (DEEP) t.comment(`${bankrupt} liquidations`)
})
