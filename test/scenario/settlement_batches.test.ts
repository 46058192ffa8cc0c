/**
 * Promise: batches of settlement follow each other without a gap and have every fill once; they are confirmed in order; and what the faucet
 * issued is minted on the hub once, whoever asks when. Every step is checked for every invariant.
 */
import t, { type Test } from 'tap'
import { faucetTxHash, settlementState, vaultTotals } from '../../core/view/vault.ts'
import { settlementRow, bytesOf } from '../../core/state/rows.ts'
import { SETTLEMENT_ROW } from '../../core/state/vault_rows.ts'
import { Scene } from '../support/scenario.ts'
import { vaultHash } from '../support/scenario_vault.ts'

const [BTC, USD] = [0, 1]

function stage(t: Test): [Scene, (...steps: readonly (readonly [string, string])[]) => void] {
  const scene = new Scene({ limits: { withdrawals: 4096 } })
  scene.give('ann 100 BTC')
  scene.give('bob 1000 USD')
  return [scene, (...steps) => { for (const [step, outcome] of steps) t.equal(scene.step(step), outcome, step) }]
}
const trade = [['ann sells 1 at 10', 'SUBMITTED'], ['bob buys 1 at 10', 'FILLED']] as const

void t.test('a batch has the fills since the one before, up to the command that opens it', async (t) => {
  const [scene, does] = stage(t)
  // Commands 1 and 2 signed ann and bob in.
  does(...trade, ...trade, ['batch 1 opens', 'batch 1 through 7, 2 fills'], ['batch 2 opens', 'batch 2 through 8, 0 fills'], ...trade)
  does(['batch 3 opens', 'batch 3 through 11, 1 fills'])
  t.same(settlementState(scene.bench.state), {
    batch: 3, through: 11, waiting: 0, confirmed: 0, confirmedThrough: 0, open: [
      { batch: 1, from: 1, through: 7, fills: 2, openedAt: 1_700_000_000_000, status: 1 },
      { batch: 2, from: 8, through: 8, fills: 0, openedAt: 1_700_000_000_000, status: 1 },
      { batch: 3, from: 9, through: 11, fills: 1, openedAt: 1_700_000_000_000, status: 1 },
    ],
  })
  scene.reload()
  does(['batch 1 confirms', 'batch 1 through 7, 2 fills'], ...trade)
  t.match(settlementState(scene.bench.state), { waiting: 1, confirmed: 1, confirmedThrough: 7, open: [{ batch: 2 }, { batch: 3 }] })
  const row = settlementRow(scene.bench.state, 1)
  const bytes = (field: number): string => Buffer.from(bytesOf(scene.bench.state, row, field, 32)).toString('hex')
  t.same([SETTLEMENT_ROW.TRADES_ROOT, SETTLEMENT_ROW.BALANCES_ROOT].map(bytes), ['11'.repeat(32), '22'.repeat(32)])
  t.same(scene.vault.told, [
    'batch 1 from 1 through 7, 2 fills: open', 'batch 2 from 8 through 8, 0 fills: open', 'batch 3 from 9 through 11, 1 fills: open',
    'batch 1 from 1 through 7, 2 fills: confirmed by its transaction in block 7',
  ])
})

void t.test('only the next one is opened, only the oldest open one is confirmed', async (t) => {
  const [, does] = stage(t)
  does(
    ['batch 1 confirms', 'refused SETTLEMENT_ORDER'], ['batch 2 opens', 'refused SETTLEMENT_ORDER'],
    ['batch 0 opens', 'refused SETTLEMENT_ORDER'], ['batch 1 opens', 'batch 1 through 6, 0 fills'],
    ['batch 1 opens', 'refused SETTLEMENT_ORDER'],
    ['batch 2 opens', 'batch 2 through 8, 0 fills'], ['batch 2 confirms', 'refused SETTLEMENT_ORDER'],
    ['batch 0 confirms', 'refused SETTLEMENT_ORDER'], ['batch 1 confirms', 'batch 1 through 6, 0 fills'],
    ['batch 1 confirms', 'refused SETTLEMENT_ORDER'], ['batch 2 confirms', 'batch 2 through 8, 0 fills'],
    ['batch 3 confirms', 'refused SETTLEMENT_ORDER'],
  )
})

void t.test('eight may be open; the ring goes round', async (t) => {
  const [scene, does] = stage(t)
  for (let batch = 1; batch <= 8; batch++) does([`batch ${batch} opens`, `batch ${batch} through ${batch + 2}, 0 fills`])
  does(['batch 9 opens', 'refused SETTLEMENT_ORDER'], ['batch 1 confirms', 'batch 1 through 3, 0 fills'])
  does(['batch 9 opens', 'batch 9 through 13, 0 fills'], ['batch 10 opens', 'refused SETTLEMENT_ORDER'])
  for (let batch = 2; batch < 40; batch++) {
    scene.step(`batch ${batch} confirms`)
    does(...trade, [`batch ${batch + 8} opens`, `batch ${batch + 8} through ${14 + 4 * (batch - 1)}, 1 fills`])
  }
  t.match(settlementState(scene.bench.state), { batch: 47, confirmed: 39, waiting: 0 })
  const open = settlementState(scene.bench.state).open.map(({ batch, fills }) => [batch, fills])
  t.same(open, [40, 41, 42, 43, 44, 45, 46, 47].map((batch) => [batch, 1]))
})

void t.test('mints of the faucet: no more than it issued, each request knows its transaction', async (t) => {
  const [scene, does] = stage(t)
  const left = (): bigint => vaultTotals(scene.bench.state, USD).faucetOutstanding
  const before = left()
  does(['bob asks the faucet', 'done'], ['chain 0 at 1', 'done'], ['deposit 500 USD of bob at 2.0', 'credited'])
  t.equal(left() - before, 1_000_000n, 'what came from a chain is on it')
  const asked = scene.time
  does(['w: bob withdraws 400 USD', 'PENDING'], ['vault w signed', 'SIGNED'], ['vault w confirmed', 'CONFIRMED'])
  t.equal(left() - before, 1_000_000n, 'nor does a withdrawal change it')
  does(
    ['minted 1001.000001 USD', 'refused VALIDATION_ERROR'], ['minted 0 USD', 'refused VALIDATION_ERROR'],
    ['minted -1 USD', 'refused VALIDATION_ERROR'], ['minted 1 USD through=-1', 'refused VALIDATION_ERROR'],
    ['minted 1 USD through=1.5', 'refused VALIDATION_ERROR'],
  )
  t.equal(faucetTxHash(scene.bench.state, USD, asked), null)
  does([`minted 1000 USD tx=a through=${asked - 1}`, 'done'], [`minted 1 BTC tx=b through=${asked + 9}`, 'done'])
  t.equal(faucetTxHash(scene.bench.state, USD, asked), null, 'those before it, and those of another asset')
  does([`minted 0.5 USD tx=c through=${asked}`, 'done'], [`minted 0.5 USD tx=d through=${asked + 5}`, 'done'])
  t.equal(left(), 0n)
  does(['minted 0.000001 USD', 'refused VALIDATION_ERROR'])
  const tx = (name: string): string => `0x${vaultHash(name)}`
  const told = [asked - 1, asked, asked + 1, asked + 6].map((time) => faucetTxHash(scene.bench.state, USD, time))
  t.same(told, [tx('a'), tx('c'), tx('d'), null])
  t.equal(faucetTxHash(scene.bench.state, BTC, asked), tx('b'))
})

void t.test('of a mint that the ring of 256 forgot nobody is told another one', async (t) => {
  const [scene] = stage(t)
  const start = scene.time
  for (let number = 0; number < 256; number++) scene.step(`minted 0.000001 USD tx=${number} through=${start + number}`)
  const first = (time: number): string | null => faucetTxHash(scene.bench.state, USD, time)
  t.same([first(start), first(start + 255)], [`0x${vaultHash('0')}`, `0x${vaultHash('255')}`])
  scene.step(`minted 0.000001 USD tx=256 through=${start + 256}`)
  t.same([first(start), first(start + 1), first(start + 2)], [null, null, `0x${vaultHash('2')}`])
})
