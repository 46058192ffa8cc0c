/**
 * Promise: what another thread reads of withdrawals, suspense, chains and batches stood so at one moment, however fast they change: an
 * authorisation is signed from such a copy. A reader waits for a command that is being applied, and no row that it names leads it astray.
 */
import t from 'tap'
import { Worker } from 'node:worker_threads'
import { SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { set, setF64, setI64, setScalar, vaultAccountRow, vaultRow, withdrawalRow, wordOf } from '../../core/state/rows.ts'
import { createState, type State } from '../../core/state/state.ts'
import { VAULT, VAULT_ACCOUNT, WITHDRAWAL_ROW } from '../../core/state/vault_rows.ts'
import {
  canWithdraw, chainCursors, openWithdrawals, settlementState, suspenseRows, unchanged, vaultTotals, withdrawalAt, withdrawalsOf,
} from '../../core/view/vault.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const stateOf = (): State => createState(parseGenesis(genesisText({ ...VARIANTS['market']!, limits: { accounts: 16, withdrawals: 4 } })))
const turnsOf = (state: State): number => wordOf(vaultRow(state), VAULT.TURNS)

/** Row 0 is a withdrawal of account 0, whose numbers are all `n`. */
function write(state: State, n: number): void {
  const row = withdrawalRow(state, 0)
  setScalar(state, SCALAR.WITHDRAWALS_USED, 1)
  set(state, vaultRow(state), VAULT.WITHDRAWALS_LIVE, 1)
  set(state, vaultAccountRow(state, 0), VAULT_ACCOUNT.NEWEST, 1)
  setI64(state, row, WITHDRAWAL_ROW.AMOUNT, BigInt(n))
  for (const field of ['SEQUENCE', 'DEADLINE', 'BLOCK', 'CREATED_AT'] as const) setF64(state, row, WITHDRAWAL_ROW[field], n)
  set(state, row, WITHDRAWAL_ROW.STATUS, n)
}

const WRITER = `
  const { workerData: { memory, turns, words, longs, doubles, one } } = require('node:worker_threads')
  const [i32, f64, i64] = [new Int32Array(memory), new Float64Array(memory), new BigInt64Array(memory)]
  const go = new Int32Array(one)
  for (let n = 2; Atomics.load(go, 0) === 0; n = n === 1e6 ? 2 : n + 1) {
    Atomics.add(i32, turns, 1)
    for (const at of words) i32[at] = n
    for (const at of longs) i64[at] = BigInt(n)
    for (const at of doubles) f64[at] = n
    Atomics.add(i32, turns, 1)
    Atomics.add(go, 1, 1)
  }
`

t.test('every copy is of one moment, while another thread writes', async (t) => {
  const state = stateOf()
  write(state, 1)
  const row = withdrawalRow(state, 0)
  const at = (field: number): number => wordOf(row, field)
  const one = new SharedArrayBuffer(8)
  const worker = new Worker(WRITER, {
    eval: true, workerData: {
      memory: state.buffers.memory, turns: turnsOf(state), one, words: [at(WITHDRAWAL_ROW.STATUS)], longs: [at(WITHDRAWAL_ROW.AMOUNT) / 2],
      doubles: (['SEQUENCE', 'DEADLINE', 'BLOCK', 'CREATED_AT'] as const).map((field) => at(WITHDRAWAL_ROW[field]) / 2),
    },
  })
  const go = new Int32Array(one)
  while (Atomics.load(go, 1) === 0) Atomics.wait(go, 1, 0, 10)
  let torn = 0
  for (let looks = 0; looks < 30_000; looks++) {
    const [view] = looks % 2 === 0 ? withdrawalsOf(state, 0) : openWithdrawals(state)
    const { sequence, amount, deadline, block, createdAt, status } = view!
    if (new Set([sequence, Number(amount), deadline, block, createdAt, status]).size !== 1) torn++
  }
  const written = Atomics.load(go, 1)
  Atomics.store(go, 0, 1)
  await new Promise((resolve) => void worker.once('exit', resolve))
  t.equal(torn, 0)
  t.ok(written > 100, `${written} changes meanwhile`)
})

t.test('a reader waits for a command that is being applied', async (t) => {
  const state = stateOf()
  const turns = turnsOf(state)
  Atomics.add(state.i32, turns, 1)
  write(state, 5)
  const one = new SharedArrayBuffer(4)
  const ends = `
    const { workerData: { memory, turns, one, place } } = require('node:worker_threads')
    Atomics.wait(new Int32Array(one), 0, 0, 30)
    new Float64Array(memory)[place] = 6
    Atomics.add(new Int32Array(memory), turns, 1)
  `
  const place = wordOf(withdrawalRow(state, 0), WITHDRAWAL_ROW.SEQUENCE) / 2
  const worker = new Worker(ends, { eval: true, workerData: { memory: state.buffers.memory, turns, one, place } })
  t.match(withdrawalsOf(state, 0), [{ sequence: 6 }], 'what the command left')
  await new Promise((resolve) => void worker.once('exit', resolve))
  let runs = 0
  t.equal(unchanged(state, () => ++runs), 1)
  t.throws(() => unchanged(state, () => { throw new Error('of the copy') }), { message: 'of the copy' })
})

t.test('one that is half applied for seconds is of a matcher that lives no more', async (t) => {
  const state = stateOf()
  Atomics.add(state.i32, turnsOf(state), 1)
  t.throws(() => openWithdrawals(state), { message: 'the rows of the vault were being changed for 5000 ms' })
})

t.test('an exchange that knows nothing of it yet', async (t) => {
  const state = stateOf()
  t.same([withdrawalsOf(state, 0), openWithdrawals(state), suspenseRows(state), chainCursors(state)], [[], [], [], []])
  t.same(settlementState(state), { batch: 0, through: 0, waiting: 0, confirmed: 0, confirmedThrough: 0, open: [] })
  t.match(vaultTotals(state, 0), { deposited: 0n, minimum: 1n, userDaily: 0n, faucetOutstanding: 0n })
  t.equal(canWithdraw(state, 0), true)
})

t.test('links that lead in a circle, or nowhere, end', async (t) => {
  const state = stateOf()
  write(state, 5)
  const row = withdrawalRow(state, 0)
  set(state, row, WITHDRAWAL_ROW.NEXT, 1)
  t.equal(withdrawalsOf(state, 0).length, state.genesis.limits.withdrawalsPerAccount)
  set(state, row, WITHDRAWAL_ROW.NEXT, 4)
  t.equal(withdrawalsOf(state, 0).length, 1)
  t.equal(withdrawalAt(state, 0, 5)?.row, 0)
  for (const [at, made] of [[0, 4], [3, 0], [-5, 0], [2 ** 30, 5]] as const) t.equal(withdrawalAt(state, at, made), null)
})
