/**
 * Promise: the balances of a batch of settlement are those right behind the command that opened it, wherever it stands in a batch of the
 * journal; they are durable before any later snapshot, the same bytes each time, provable, and made again when they are missing.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openJournal } from '../../core/journal/file.ts'
import { CommandType } from '../../core/layout/command.ts'
import { readBatches } from '../../core/journal/reader.ts'
import { realIo } from '../../core/lib/io.ts'
import { fromGenesis } from '../../core/recovery/recover.ts'
import { createSnapshotter, type Snapshotter } from '../../core/recovery/snapshotter.ts'
import { balancesOf, marginByAccount } from '../../core/settlement/balances.ts'
import {
  Balances, balancesPath, DamagedBalances, listBalances, openBalances, settlementDirectory, writeBalances,
} from '../../core/settlement/balances_file.ts'
import { balanceLeaf, type BalanceLeaf } from '../../core/settlement/leaves.ts'
import { MerkleTree, verifyProof } from '../../core/settlement/merkle.ts'
import { settlementFiles, type SettlementStore } from '../../core/settlement/store.ts'
import { listSnapshots, snapshotFiles } from '../../core/snapshot/file.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { heldByMargin } from '../../core/state/invariants_margin.ts'
import { MARGIN_TOTAL } from '../../core/state/margin_rows.ts'
import { getI64, marginTotalRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { VAULT } from '../../core/state/vault_rows.ts'
import { owedOf } from '../../core/view/vault_sums.ts'
import { assetId, userId } from '../../core/layout/ids.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, startMatcher, type Matcher } from '../support/journal.ts'
import { MarginDuel } from '../support/margin_duel.ts'

t.setTimeout(120_000)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function directory(t: Test): string {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  return dataDir
}

/** What the balances are to be: of the matcher's state, kept when it opened the batch. */
interface Kept {
  readonly sequence: number
  readonly root: string
  readonly leaves: readonly BalanceLeaf[]
}
const rootOf = (leaves: readonly BalanceLeaf[]): string => hex(MerkleTree.of(leaves.map(balanceLeaf)).root)

/** Opens a batch alone in its batch of the journal; the balances then. */
function openBatch(matcher: Matcher, batch: number): Kept {
  postCommand(matcher, 0, CommandType.OPEN_SETTLEMENT, { session: -1, batch })
  matcher.turn()
  const [answer] = answersOf(matcher, 0)
  t.match(answer, { code: 0 }, `batch ${batch} is opened`)
  const { state } = matcher.sequencer
  const leaves = [...balancesOf(state, batch)]
  return { sequence: state.clock[CLOCK.SEQUENCE]!, leaves, root: rootOf(leaves) }
}

function confirm(matcher: Matcher, batch: number): void {
  postCommand(matcher, 0, CommandType.CONFIRM_SETTLEMENT, { session: -1, batch, block: 7, txHash: '11'.repeat(32) })
  matcher.turn()
  t.match(answersOf(matcher, 0)[0], { code: 0 }, `batch ${batch} is confirmed`)
}

interface Following extends Snapshotter {
  readonly warned: readonly string[]
  readonly refresh: () => void
  readonly close: () => Promise<void>
}
function follower(dataDir: string, settlement?: SettlementStore, every = 1_000_000): Following {
  const journal = openJournal(dataDir, true)
  const warned: string[] = []
  let clock = 0
  const snapshotter = createSnapshotter({
    journal, snapshots: snapshotFiles(dataDir), io: { ...realIo, seconds: () => clock++ }, every, keep: 3,
    settlement: settlement ?? settlementFiles(dataDir, (text) => warned.push(text)),
    warn: (text) => warned.push(text), beat: () => undefined, written: () => undefined, audited: () => undefined,
  })
  return { ...snapshotter, warned, refresh: () => journal.refresh(), close: () => journal.close() }
}
const toEnd = (followed: Following): void => {
  followed.refresh()
  for (let turns = 0; followed.follow(1000) && turns < 1000; turns++);
}

t.test('a batch within a batch of the journal', async (t) => {
  const dataDir = directory(t)
  const matcher = startMatcher(dataDir, { maxSlots: 256 })
  const [ann, bob] = [openAccount(matcher, 1, 'ann'), openAccount(matcher, 1, 'bob')]
  const before = openBatch(matcher, 1)
  // In one batch of the journal: something, the next batch, a refused one, something else.
  postCommand(matcher, 0, CommandType.MINT, { ...ann, asset: 0 })
  postCommand(matcher, 0, CommandType.OPEN_SETTLEMENT, { session: -1, batch: 9 })
  postCommand(matcher, 0, CommandType.OPEN_SETTLEMENT, { session: -1, batch: 2 })
  postCommand(matcher, 0, CommandType.OPEN_SETTLEMENT, { session: -1, batch: 2 })
  postCommand(matcher, 0, CommandType.MINT, { ...bob, asset: 1 })
  t.equal(matcher.turn(), 5, 'all in one')
  t.same(answersOf(matcher, 0).map(({ code }) => code === 0), [true, false, true, false, true])
  const openedAt = matcher.sequencer.state.vaultF64[VAULT.THROUGH >>> 1]!
  const last = matcher.sequencer.state.clock[CLOCK.SEQUENCE]!
  const followed = follower(dataDir)
  toEnd(followed)
  t.same(listBalances(dataDir), [1, 2])
  const [one, two] = [openBalances(dataDir, 1)!, openBalances(dataDir, 2)!]
  t.same([one.through, hex(one.root), one.count], [before.sequence, before.root, before.leaves.length])
  t.same(Array.from({ length: one.count }, (_, at) => one.leaf(at)), before.leaves)
  t.equal(two.through, openedAt, 'that of the accepted command, not of the refused ones')
  t.equal(openedAt, last - 2, 'commands follow in the same batch of the journal')
  // Another engine, which stops after that command, says what it was there.
  const { replayer } = fromGenesis(openJournal(dataDir, true))
  let there: BalanceLeaf[] = []
  for (const batch of readBatches(matcher.database, replayer.place)) {
    for (const _ of replayer.inSteps(batch, CommandType.OPEN_SETTLEMENT)) {
      if (replayer.state.clock[CLOCK.SEQUENCE] === openedAt) there = [...balancesOf(replayer.state, 2)]
    }
  }
  t.same(Array.from({ length: two.count }, (_, at) => two.leaf(at)), there)
  t.notSame(there, [...balancesOf(matcher.sequencer.state, 2)], 'what follows changes balances')
  one.close()
  two.close()
  t.equal(statSync(settlementDirectory(dataDir)).mode & 0o777, 0o700)
  t.equal(statSync(balancesPath(dataDir, 1)).mode & 0o777, 0o600)
  t.same(readdirSync(settlementDirectory(dataDir)).sort(), ['balances-1.bin', 'balances-2.bin'], 'nothing is left beside')
  await followed.close()
  await matcher.database.close()
})

t.test('a snapshot waits for the balances, and a start misses none', async (t) => {
  const dataDir = directory(t)
  const matcher = startMatcher(dataDir)
  openAccount(matcher, 1, 'ann')
  const kept = openBatch(matcher, 1)
  openAccount(matcher, 1, 'bob')

  // The disk takes none: the follower stands, and says it once.
  writeFileSync(settlementDirectory(dataDir), 'in the way')
  const failing = follower(dataDir, undefined, 1)
  for (let turn = 0; turn < 5; turn++) toEnd(failing)
  failing.finish()
  t.equal(failing.state.clock[CLOCK.SEQUENCE], kept.sequence, 'it stands right there')
  const snapshots = listSnapshots(dataDir)
  t.ok(snapshots.every((sequence) => sequence < kept.sequence), 'no later snapshot is written, not at the end either')
  t.equal(failing.warned.filter((text) => /cannot be written, snapshots wait/.test(text)).length, 1)
  rmSync(settlementDirectory(dataDir))
  toEnd(failing)
  t.equal(failing.state.clock[CLOCK.SEQUENCE], matcher.sequencer.state.clock[CLOCK.SEQUENCE], 'with room it goes on')
  failing.finish()
  await failing.close()
  const bytes = readFileSync(balancesPath(dataDir, 1))
  t.equal(hex(openBalances(dataDir, 1)!.root), kept.root)
  const [newest] = listSnapshots(dataDir)
  t.ok(newest! > kept.sequence)

  // From a snapshot behind the batch: what is there stays; what is missing or damaged is made again from before it.
  const behind = follower(dataDir)
  t.same(behind.warned, [])
  t.ok(behind.state.clock[CLOCK.SEQUENCE]! >= kept.sequence)
  await behind.close()
  for (const spoil of [() => rmSync(balancesPath(dataDir, 1)), () => writeFileSync(balancesPath(dataDir, 1), bytes.subarray(0, -1))]) {
    spoil()
    const again = follower(dataDir)
    t.ok(again.warned.some((text) => /balances of batch 1 of settlement are missing/.test(text)))
    toEnd(again)
    t.ok(readFileSync(balancesPath(dataDir, 1)).equals(bytes), 'the same bytes')
    await again.close()
  }
  // From a snapshot before the batch they are written once more, and are the same.
  for (const sequence of listSnapshots(dataDir)) {
    if (sequence >= kept.sequence) rmSync(join(dataDir, 'snapshots', `${String(sequence).padStart(16, '0')}.sqlite`))
  }
  const early = follower(dataDir)
  t.ok(early.state.clock[CLOCK.SEQUENCE]! < kept.sequence)
  toEnd(early)
  t.ok(readFileSync(balancesPath(dataDir, 1)).equals(bytes))
  await early.close()
  await matcher.database.close()
})

t.test('what is kept: the last 12, and all that are not confirmed', async (t) => {
  const dataDir = directory(t)
  const matcher = startMatcher(dataDir)
  openAccount(matcher, 1, 'ann')
  const followed = follower(dataDir)
  for (let batch = 1; batch <= 20; batch++) {
    openBatch(matcher, batch)
    if (batch <= 16) confirm(matcher, batch)
    toEnd(followed)
  }
  const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at)
  t.same(listBalances(dataDir), range(9, 20))
  await followed.close()
  // A replay of everything makes none of the removed ones again.
  const again = follower(dataDir)
  toEnd(again)
  t.same(listBalances(dataDir), range(9, 20))
  await again.close()
  await matcher.database.close()
})

/** Balances of so many users, without an engine. */
function* many(count: number): Generator<BalanceLeaf> {
  for (let account = 0; account < count; account++) {
    for (const asset of account % 3 === 0 ? [0, 2] : [1]) {
      yield {
        batch: 3, user: userId(1000 + account, account), asset: assetId(1, asset), available: BigInt(account) + 1n, locked: 5n, margin: -7n,
        rewards: 0n,
      }
    }
  }
}

t.test('proofs out of the file are those of the whole tree', async (t) => {
  const dataDir = directory(t)
  for (const users of [0, 1, 192, 193, 600]) {
    const head = writeBalances(dataDir, 3, 900, many(users))
    const leaves = [...many(users)]
    const tree = MerkleTree.of(leaves.map(balanceLeaf))
    const balances = openBalances(dataDir, 3)!
    t.same([balances.count, balances.through, hex(balances.root)], [leaves.length, 900, hex(tree.root)], `${users} users`)
    t.equal(hex(head.root), hex(tree.root))
    const wrong = leaves.filter((leaf, index) => {
      const found = balances.find(leaf.user, leaf.asset)
      return found === null || found.index !== index || !verifyProof(balances.root, found.bytes, index, balances.count, found.proof)
        || found.proof.map(hex).join() !== tree.proof(index).map(hex).join()
    })
    t.same(wrong, [])
    t.equal(balances.find(userId(1000, 0), assetId(1, 1)), null, 'nothing of that asset')
    t.equal(balances.find(userId(1001, 0), assetId(1, 0)), null, 'another user of that row')
    t.equal(balances.find(userId(9000, 90_000), assetId(1, 0)), null)
    t.equal(balances.find('no id', assetId(1, 0)), null)
    balances.close()
  }
})

t.test('a bit that changed is seen, wherever it is', async (t) => {
  const dataDir = directory(t)
  writeBalances(dataDir, 3, 900, many(200))
  const path = balancesPath(dataDir, 3)
  const good = readFileSync(path)
  const missed: number[] = []
  // The last four bytes of the head are not used.
  for (let at = 0; at < good.length; at += at < 100 ? 1 : 97) {
    const bent = Buffer.from(good)
    bent[at]! ^= 4
    writeFileSync(path, bent)
    try {
      openBalances(dataDir, 3)?.close()
      missed.push(at)
    } catch (error) {
      if (!(error instanceof DamagedBalances)) throw error
    }
  }
  t.same(missed, [])
  writeFileSync(path, good)
  t.throws(() => new Balances(-1, 3))
  t.equal(openBalances(dataDir, 4), null, 'no such batch')
  mkdirSync(join(dataDir, 'other'))
  t.same(listBalances(join(dataDir, 'other')), [])
})

/** What is wrong with the leaves of a state; `label` says when it was. */
function wrongLeaves(state: State, label: string): string[] {
  const wrong: string[] = []
  const pool = getI64(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.FUNDING_POOL)
  const sums = new Map<string, bigint>()
  for (const { asset, available, locked, margin, rewards } of balancesOf(state, 1)) {
    sums.set(asset, (sums.get(asset) ?? 0n) + available + locked + margin + rewards)
  }
  for (const { id, index, symbol } of state.genesis.assets) {
    const { issued, fees, suspense } = owedOf(state, index)
    const sum = (sums.get(id) ?? 0n) + fees + suspense + (index === state.collateralAsset ? pool : 0n)
    if (sum !== issued) wrong.push(`${label}: ${symbol} are ${sum}, issued ${issued}`)
  }
  const inMargin = [...marginByAccount(state).values()].reduce((sum, atoms) => sum + atoms, pool)
  if (inMargin !== heldByMargin(state)) wrong.push(`${label}: accounts have ${inMargin} in margin, the invariant ${heldByMargin(state)}`)
  if (owedOf(state, state.collateralAsset).margin !== inMargin) wrong.push(`${label}: another margin is said to be owed`)
  return wrong
}

t.test('leaves and what is nobody\'s are what was issued, with positions open', async (t) => {
  const [wrong, looks] = [[] as string[], { positions: 0, negative: 0 }]
  const spoil = (state: State, index: number): void => {
    if (index % 250 !== 0) return
    wrong.push(...wrongLeaves(state, `command ${index}`))
    looks.positions += state.scalars[SCALAR.POSITIONS_LIVE]!
    looks.negative += [...marginByAccount(state).values()].filter((atoms) => atoms < 0n).length
  }
  new MarginDuel({ variant: 'perpsVault', seed: 47, commands: 3000, checkEvery: 997, spoil }).run()
  t.same(wrong, [])
  t.ok(looks.positions > 0 && looks.negative > 0, `${looks.positions} positions, ${looks.negative} times margin was below 0`)
})
