/**
 * Promise: a snapshot of another version is told from a damaged one. The stored columns are written down here once more, with the format
 * that means them: whoever changes one changes the other.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { columnsOf, type Column } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { isGood } from '../../core/replay/verify.ts'
import { loadSnapshot, OtherFormat, readSnapshotInfo, SNAPSHOT_FORMAT, snapshotPath, writeSnapshot } from '../../core/snapshot/file.ts'
import { testGenesis } from '../support/gateway_harness.ts'

const source = testGenesis()
const genesis = parseGenesis(source)

/** Name, type and words of a row; of balances, of one asset. */
const STORED = [
  'scalars i32 1', 'clock f64 1', 'limits f64 2', 'totals i64 4', 'pairs i32 16', 'accounts i32 32', 'balances i64 4', 'faucet f64 32',
  'sessions i32 16', 'orders i32 32', 'labels i32 10', 'pages i32 4', 'levels i32 256', 'receiptPages i32 4096',
  'receiptSeals i32 2', 'receiptsForgotten i32 1', 'sweeps i32 12', 'profiles i32 16', 'sessionLinks i32 2', 'spendLimits i32 20',
  'agents i32 48',
  'orderAgents i32 1', 'applications i32 64', 'origins i32 384', 'assetListings i32 24', 'pairListings i32 32',
  // Of exchanges with perpetuals only (state/growth.ts).
  'perps i32 64', 'marginTotals i64 4', 'marginAccounts i32 32', 'riskBuckets i32 64', 'positions i32 64', 'orderMargins i32 8',
  'rankings i32 1544', 'agentMargins i32 32',
  // Of exchanges in which an order waited only.
  'waiting i32 8', 'conditionals i32 48', 'trailGroups i32 8', 'pendingMarks f64 128', 'twaps i32 64', 'orderParents i32 1',
  // Of exchanges in which an application charged for an order only.
  'addOns i32 6',
  // Of exchanges that had a launch only.
  'launches i32 48',
  // Of exchanges that had a leader only.
  'copying i32 16', 'copyAccounts i32 8', 'leaders i32 32', 'leads i32 12', 'follows i32 64', 'followPairs i32 4',
  // Of exchanges in which somebody was brought, or shares were set, only.
  'referring i32 8', 'referrals i32 10',
  // Of exchanges that had a command of money in and out only.
  'vault i32 32', 'vaultTotals i32 24', 'vaultAccounts i32 8', 'withdrawals i32 40', 'suspense i32 36', 'vaultChains i32 20',
  'depositIds i32 12', 'faucetMints i32 12', 'settlements i32 36',
  // Of exchanges in which a connection that cancels at its end is open, or was at the last start, only.
  'disconnects i32 4',
  // Of exchanges whose insurance fund covered a bankruptcy only.
  'fundOwners i32 4',
  // Of exchanges that have a deposit without a row in suspense only.
  'lostDeposits i32 20',
]

t.test('stored columns stand as their format says', async (t) => {
  const words = ({ name, stride }: Column): number => (name === 'balances' ? stride / genesis.limits.assets : stride)
  const stored = columnsOf(genesis).filter((column) => !column.derived)
  t.equal(SNAPSHOT_FORMAT, 5)
  t.same(stored.map((column) => `${column.name} ${column.type} ${words(column)}`), STORED)
})

t.test('a snapshot of another format is passed over, and no fault', async (t) => {
  const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  writeSnapshot(dataDir, createState(genesis), source, 1, 2)
  t.equal(readSnapshotInfo(dataDir, 0).batchChecksum, 1)
  const file = new Database(snapshotPath(dataDir, 0))
  file.prepare('update snapshot set format = 1').run()
  file.close()
  t.throws(() => loadSnapshot(dataDir, 0), OtherFormat)
  t.throws(() => readSnapshotInfo(dataDir, 0), { message: 'it has format 1, this version reads 5' })
  t.same(['ok', 'passed over: it has format 1', 'DIGEST MISMATCH', 'unreadable: it is incomplete'].map(isGood), [true, true, false, false])
})
