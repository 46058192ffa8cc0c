/**
 * Promise: an exchange whose state breaks an invariant takes no more orders. Its follower checks them all when it has caught up and before
 * each snapshot; what failed is named in the log, at the operator's port and in a metric, maintenance is in the journal, and no snapshot
 * is made of such a state. The snapshot that is spoiled here has a correct checksum: nothing else could tell.
 */
import t from 'tap'
import { BALANCE, LEVEL, ORDER, ORDER_WORDS, SCALAR } from '../../core/state/columns.ts'
import { openJournal } from '../../core/journal/file.ts'
import { catchUp, rebuild } from '../../core/recovery/recover.ts'
import { Audit } from '../../core/snapshot/audit.ts'
import { listSnapshots, loadSnapshot, readSnapshotInfo, snapshotFiles, writeSnapshot } from '../../core/snapshot/file.ts'
import { CommandType } from '../../core/layout/command.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { VAULT } from '../../core/state/vault_rows.ts'
import type { AuditMessage, FromThread } from '../../core/threads.ts'
import { withdrawalsStopped } from '../../core/view/vault.ts'
import type { Admin } from '../../gateway/operator/admin.ts'
import { AuditStop } from '../../gateway/operator/audit.ts'
import { logged, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { until } from '../support/until.ts'

const BATCHES = 80
const dataDir = temporaryDirectory()
t.teardown(() => removeDirectory(dataDir))
const made = makeJournal(dataDir, { seed: 5, batches: BATCHES, snapshots: [BATCHES] })
const newest = listSnapshots(dataDir)[0]!

t.test('an audit', async (t) => {
  let now = 0
  const audit = new Audit(() => now)
  const { state } = loadSnapshot(dataDir, newest)
  let said = 0
  /** Each audit takes ten seconds. */
  const run = () => audit.run(state, () => (now += said++ === 0 ? 10 : 0))
  t.same(run(), { sequence: newest, seconds: 10, broken: null })
  t.ok(said > 10, 'it says meanwhile that it works')
  const spoil = (array: Int32Array | BigInt64Array, at: number, by: number): void => {
    if (array instanceof Int32Array) array[at] = array[at]! + by
    else array[at] = array[at]! + BigInt(by)
  }
  now += 39
  spoil(state.balances, BALANCE.AVAILABLE, 1)
  t.equal(run(), null, 'not again before four times that have passed')
  t.equal(audit.broken, null)
  now += 1
  said = 0
  t.match(run(), { broken: /^I1: asset 0: accounts, fees and suspense hold / })
  t.match(audit.broken, /^I1/)
  now += 40
  spoil(state.balances, BALANCE.AVAILABLE, -1)
  t.match(run(), { broken: null }, 'and whole again')
  for (const [what, column, at] of [
    ['a hold', state.orders, liveRow(state.orders) + ORDER.HOLD], ['a level', state.levels, LEVEL.LOTS],
    ['a link that leads nowhere', state.scalars, SCALAR.ORDERS_FREE],
  ] as const) {
    now += 1000
    spoil(column, at, 1_000_000)
    t.type(run()!.broken, 'string', what)
    spoil(column, at, -1_000_000)
  }
})

/** Address of an order that rests. */
function liveRow(orders: Int32Array): number {
  for (let row = 0; row < orders.length; row += ORDER_WORDS) if (orders[row + ORDER.HOLD] !== 0) return row
  throw new Error('no order rests')
}

t.test('the exchange goes into maintenance and says why', async (t) => {
  const info = readSnapshotInfo(dataDir, newest)
  const { state } = loadSnapshot(dataDir, newest)
  state.balances[BALANCE.AVAILABLE] = state.balances[BALANCE.AVAILABLE]! + 1n
  writeSnapshot(dataDir, state, info.genesis, info.batchChecksum, info.eventsChecksum)
  await made.database.close()
  const exchange = await startExchange(dataDir, ['--snapshot-every', '1'])
  const get = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${exchange.operatorPort}${path}`)).text()
  const status = async (): Promise<{ maintenance: boolean }> => JSON.parse(await get('/status')) as { maintenance: boolean }
  t.ok(await until(async () => (await status()).maintenance), 'in maintenance')
  const ready = JSON.parse(await get('/ready')) as { degraded: string[]; audit: { sequence: number; broken: string } }
  t.ok(ready.degraded.includes('AUDIT_FAILED'))
  t.match(ready.audit, { broken: /^I1: asset 0/ })
  t.ok(ready.audit.sequence >= newest)
  const metrics = await get('/metrics')
  t.match(metrics, /^exchange_audit_failed 1$/m)
  t.match(metrics, /^exchange_audit_seconds [0-9.e-]+$/m)
  const why = 'an invariant of the state is broken: no more orders are taken'
  t.match(await logged(exchange, why), { broken: /^I1/, level: 'error' })
  await logged(exchange, 'maintenance on: the audit of the state failed')
  t.equal(await exchange.stop(), 0)
  t.equal(listSnapshots(dataDir)[0], newest, 'no snapshot was made of it')
  const database = openJournal(dataDir, true)
  const { replayer } = rebuild(database, snapshotFiles(dataDir), Infinity, () => undefined)
  t.ok(catchUp(database, replayer, Infinity, () => 0, () => undefined) > 0)
  t.equal(replayer.state.scalars[SCALAR.MAINTENANCE], 1, 'and maintenance is in the journal')
  t.equal(withdrawalsStopped(replayer.state), WithdrawalStop.SOLVENCY, 'and so is the stop of withdrawals')
  await database.close()
})

t.test('withdrawals are stopped and maintenance is asked for until it is on', async (t) => {
  const [scalars, i32] = [new Int32Array(64), new Int32Array(64)]
  const sent: [type: number, on: unknown][] = []
  const answers: (Decoded | 'full' | 'late')[] = ['full', { code: 0, sequence: 8 }, 'full', 'late', { code: 3 }, { code: 0, sequence: 9 }]
  const said: FromThread[] = []
  const admin = {
    send: async (type: number, _: unknown, { on, cause }: Decoded) => {
      sent.push([type, on ?? cause])
      const answer = answers.shift()!
      if (typeof answer !== 'object' || answer['code'] !== 0) return answer
      if (type === CommandType.STOP_WITHDRAWALS) i32[VAULT.STOPPED] = Number(cause)
      else scalars[SCALAR.MAINTENANCE] = 1
      return answer
    },
  } as unknown as Admin
  const state = { scalars, i32, vaultAt: 0 } as ConstructorParameters<typeof AuditStop>[0]
  const stop = new AuditStop(state, admin, (message) => said.push(message))
  const bad: AuditMessage = { type: 'audit', sequence: 7, seconds: 1, broken: 'I2: something' }
  stop.take({ ...bad, broken: null })
  t.same([sent, stop.failed], [[], null], 'a good one asks for nothing')
  stop.take(bad)
  stop.take(bad)
  t.ok(await until(() => said.length > 1))
  const stopped = [CommandType.STOP_WITHDRAWALS, WithdrawalStop.SOLVENCY]
  t.same(sent, [stopped, stopped, ...Array.from({ length: 4 }, () => [CommandType.SET_MAINTENANCE, 1])], 'in turn, withdrawals first')
  t.match(said[0], { message: 'withdrawals stopped: the audit of the state failed' })
  t.same(stop.failed, { sequence: 7, broken: 'I2: something' })
  stop.take(bad)
  t.equal(sent.length, 6, 'it is on already')
  scalars[SCALAR.MAINTENANCE] = 0
  answers.push({ code: 0, sequence: 12 })
  stop.take(bad)
  t.ok(await until(() => scalars[SCALAR.MAINTENANCE] === 1), 'an operator who ended it sees it again after the next audit')
  i32[VAULT.STOPPED] = WithdrawalStop.OPERATOR
  answers.push({ code: 0, sequence: 13 })
  stop.take(bad)
  t.ok(await until(() => i32[VAULT.STOPPED] === WithdrawalStop.SOLVENCY), 'a stop of the operator is not enough')
  stop.take({ ...bad, broken: null })
  t.equal(stop.failed, null)
})
