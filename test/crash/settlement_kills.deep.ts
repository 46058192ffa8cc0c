/**
 * Promise: whenever the snapshot follower is killed, no snapshot is ever behind a batch of settlement whose balances are not there, whole
 * and durable; and the next one writes the same balances.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { balancesOf } from '../../core/settlement/balances.ts'
import { balancesPath, openBalances, settlementDirectory } from '../../core/settlement/balances_file.ts'
import { balanceLeaf } from '../../core/settlement/leaves.ts'
import { MerkleTree } from '../../core/settlement/merkle.ts'
import { listSnapshots } from '../../core/snapshot/file.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, startMatcher } from '../support/journal.ts'
import { parseTrace, reasonToSkip, traceTo } from '../support/strace.ts'

t.setTimeout(600_000)

const SCRIPT = join(import.meta.dirname, '..', 'support', 'settled_follower.ts')
const FOLLOW = [process.execPath, '--disable-warning=ExperimentalWarning', SCRIPT]

/** Calls on the files of settlement and their directory, and which of them: of the first batch, of its name, of the second. */
const CALLS: readonly [call: string, when: number][] = [['pwrite64', 1], ['fsync', 1], ['rename', 1], ['fsync', 2], ['rename', 2]]

interface Opened {
  readonly batch: number
  readonly sequence: number
  readonly root: string
}

/** A journal in which two batches are opened, and what their balances are. */
async function makeJournal(dataDir: string): Promise<Opened[]> {
  const matcher = startMatcher(dataDir)
  const opened: Opened[] = []
  for (const batch of [1, 2]) {
    openAccount(matcher, 1, `user ${batch}`)
    postCommand(matcher, 0, CommandType.OPEN_SETTLEMENT, { session: -1, batch })
    matcher.turn()
    if (answersOf(matcher, 0)[0]!['code'] !== 0) throw new Error('the batch was not opened')
    const { state } = matcher.sequencer
    const { root } = MerkleTree.of(Array.from(balancesOf(state, batch), balanceLeaf))
    opened.push({ batch, sequence: state.clock[CLOCK.SEQUENCE]!, root: Buffer.from(root).toString('hex') })
  }
  openAccount(matcher, 1, 'user 3')
  await matcher.database.close()
  return opened
}

/** What is wrong in the directory: snapshots behind a batch that has not its balances. */
function wrongIn(dataDir: string, opened: readonly Opened[], all: boolean): string[] {
  const newest = listSnapshots(dataDir)[0] ?? 0
  return opened.filter(({ sequence }) => all || newest >= sequence).flatMap(({ batch, root, sequence }) => {
    const balances = openBalances(dataDir, batch)
    balances?.close()
    if (balances === null) return [`snapshot ${newest} is behind batch ${batch}, which has no balances`]
    const isRight = Buffer.from(balances.root).toString('hex') === root && balances.through === sequence
    return isRight ? [] : [`batch ${batch} has other balances`]
  })
}

t.test('killed at every call that writes', { skip: reasonToSkip() }, async (t) => {
  const made = temporaryDirectory()
  t.teardown(() => removeDirectory(made))
  const opened = await makeJournal(made)
  let written = ''
  for (const [call, when] of CALLS) {
    const dataDir = `${made}-killed`
    cpSync(made, dataDir, { recursive: true })
    try {
      const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-P', settlementDirectory(dataDir)]
      const paths = [1, 2].flatMap((batch) => ['-P', balancesPath(dataDir, batch), '-P', `${balancesPath(dataDir, batch)}.new`])
      const [command, ...words] = [...strace, ...paths, '-e', `inject=${call}:signal=SIGKILL:when=${when}`, ...FOLLOW, dataDir]
      t.equal(spawnSync(command!, words).signal, 'SIGKILL', `${call} ${when}: it is killed`)
      t.same(wrongIn(dataDir, opened, false), [])
      const again = spawnSync(FOLLOW[0]!, [...FOLLOW.slice(1), dataDir], { encoding: 'utf8' })
      t.equal(again.status, 0, again.stderr)
      t.same(wrongIn(dataDir, opened, true), [], 'and once more')
      const bytes = readFileSync(balancesPath(dataDir, 1), 'hex')
      if (written !== '') t.ok(bytes === written, 'the same bytes as ever')
      written = bytes
    } finally {
      removeDirectory(dataDir)
    }
  }
})

t.test('synced before the next snapshot is begun', { skip: reasonToSkip() }, async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const opened = await makeJournal(dataDir)
  const trace = join(dataDir, 'trace')
  const [command, ...words] = [...traceTo(trace), ...FOLLOW, dataDir]
  const { status, stderr } = spawnSync(command!, words, { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.same(wrongIn(dataDir, opened, true), [])
  const calls = parseTrace(readFileSync(trace, 'utf8'))
  const directory = settlementDirectory(dataDir)
  for (const { batch, sequence } of opened) {
    const file = `${balancesPath(dataDir, batch)}.new`
    const writes = calls.filter(({ name, on }) => name.includes('write') && on.includes(file))
    const lastWrite = Math.max(...writes.map(({ returned }) => returned))
    const synced = (what: string, since: number): number => {
      const syncs = calls.filter(({ name, on, result }) => name === 'fsync' && on.endsWith(`<${what}>`) && result === 0)
      return syncs.find(({ began }) => began > since)?.returned ?? Infinity
    }
    const fileSynced = synced(file, lastWrite)
    const nameSynced = synced(directory, fileSynced)
    const begun = calls.find(({ on }) => {
      const number = /\/([0-9]{16})\.sqlite\.unfinished/.exec(on)?.[1]
      return number !== undefined && Number(number) >= sequence
    })?.began ?? 0
    t.ok(Number.isFinite(lastWrite) && nameSynced < begun, `batch ${batch}: written, synced, named, and then the snapshot`)
  }
})
