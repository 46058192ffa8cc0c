/**
 * Promise: a data directory of an earlier version is gone on with: its snapshot is the state that replaying its journal gives, every key
 * that it keeps gives its answer once more, and its history is gone on with from where it stands, not made anew.
 *
 * test/recorded/NAME.directory.json.gz has the files of one, as the version that is named wrote them; they are never made again. Whoever
 * changes what is stored records one more: `RECORD=NAME npm test -- test/property/recorded_directories.test.ts`.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { openProjection } from '../../core/history/project/projection.ts'
import { historyPath, openReader, storedPlace } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { CommandType, Flag, CLIENT_ORDER_ID_SHIFT, Option } from '../../core/layout/command.ts'
import { RAISABLE } from '../../core/layout/limits.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { WithdrawalStatus } from '../../core/layout/vault.ts'
import { openJournal } from '../../core/journal/file.ts'
import { realIo } from '../../core/lib/io.ts'
import { catchUp, rebuild } from '../../core/recovery/recover.ts'
import { verify } from '../../core/replay/verify.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { listSnapshots, loadSnapshot, snapshotFiles, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { openWithdrawals, settlementState, vaultTotals } from '../../core/view/vault.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { openAccount, postCommand, startMatcher, takeAnswers, type Matcher, type Signed } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const FOLDER = join(import.meta.dirname, '..', 'recorded')
const SUFFIX = '.directory.json.gz'
const ORDERS = 1800
const [HISTORY_AT, RAISE_AT, SNAPSHOT_AT] = [900, 1200, 1500]
/** Between two orders. */
const APART_MS = 20_000
/** Orders between two times that money moves. */
const MONEY_EVERY = 60

/** Traders with keys, of which so many are kept that their numbers go round; a history, higher limits and a snapshot on the way. */
async function make(dataDir: string): Promise<void> {
  const market = VARIANTS['market']!
  const limits = { ...market.limits, receipts: 600, receiptLifetimeMs: 500 * APART_MS, accounts: 32, orders: 1024 }
  const genesis = genesisText({ ...market, limits })
  const matcher = startMatcher(dataDir, { genesis })
  const { sequencer } = matcher
  const traders = Array.from({ length: 29 }, (_, number) => `trader ${number}`).map((name) => openAccount(matcher, 1, name))
  for (const trader of traders) postCommand(matcher, 1, CommandType.MINT, { ...trader, asset: -1 })
  for (let index = 0; index < ORDERS; index++) {
    matcher.clock += APART_MS
    // Every tenth is one of before: with its key and another payload, or with both.
    const asked = index % 10 === 9 && index > 21 ? index - 21 : index
    const trader = traders[asked % traders.length]!
    const [key, label] = [hash(`key ${asked}`), Buffer.from(`o${asked}`).toString('hex').padEnd(80, '0')]
    const flags = (asked % 2 === 0 ? Flag.SELL : 0) + (2 + String(asked).length - 1) * 2 ** CLIENT_ORDER_ID_SHIFT
    postCommand(matcher, 1, CommandType.PLACE_ORDER, {
      ...trader, pair: asked % 2, price: 3000 + (asked % 7), lots: 10 + (asked % 5), flags, options: Option.KEYED, key, label,
      payload: hash(`payload ${index % 20 === 9 ? index : asked}`),
    })
    if (index % 60 === 59) for (const each of traders) postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...each, pair: -1, limit: 50 })
    if (index % MONEY_EVERY === MONEY_EVERY / 2) moveMoney(matcher, traders, Math.floor(index / MONEY_EVERY))
    matcher.turn(true)
    for (const lane of matcher.gateways) takeAnswers(lane)
    if (index === RAISE_AT) {
      for (const [name, value] of [['assets', 9], ['receipts', 700]] as const) {
        postCommand(matcher, 0, CommandType.RAISE_LIMIT, { session: -1, limit: RAISABLE.findIndex(([limit]) => limit === name), value })
      }
      matcher.turn(true)
      commitOwn(sequencer, CommandType.LIMITS_IN_FORCE, {})
    }
    if (index === SNAPSHOT_AT) writeSnapshot(dataDir, sequencer.state, genesis, sequencer.writer.checksum, sequencer.eventsChecksum)
    if (index !== HISTORY_AT) continue
    const projection = openProjection(dataDir, historyPath(dataDir), { warn: (text) => t.fail(text) })
    while (projection.step(1000));
    await projection.close()
  }
  const { scalars } = sequencer.state
  const { deposited, withdrawn } = vaultTotals(sequencer.state, 0)
  const fills = sequencer.state.clock[CLOCK.FILLS]!
  t.ok(deposited > 0n && withdrawn > 0n && fills > 20, `${deposited} came, ${withdrawn} went, ${fills} trades`)
  t.ok(settlementState(sequencer.state).confirmed > 20, 'which were settled')
  t.ok(scalars[SCALAR.RECEIPTS_HEAD]! > 0 && scalars[SCALAR.RECEIPTS_COUNT]! > 100, 'receipts came and went')
  await matcher.database.close()
}

/** For the `round`-th time: a trade, a deposit, a withdrawal and what becomes of those before, and a batch of settlement. */
function moveMoney(matcher: Matcher, traders: readonly Signed[], round: number): void {
  const { state } = matcher.sequencer
  const operate = (type: CommandType, values: Decoded): void => postCommand(matcher, 0, type, { session: -1, ...values })
  const [chain, block, txHash] = [0, 10 * (round + 1), hash(`transaction ${round}`).repeat(2)]
  const [trader, other] = [traders[round % 29]!, traders[(round + 7) % 29]!]
  operate(CommandType.ADVANCE_CHAIN, { chain, chainId: 31_337, block, blockTime: matcher.clock, blockHash: txHash })
  operate(CommandType.CREDIT_DEPOSIT, {
    chain, block: block + 1, logIndex: round % 3, asset: round % 2, amount: BigInt(1_000_000 + round), remainder: BigInt(round), txHash,
    beneficiary: Buffer.from(round % 5 === 0 ? 'nobody' : `trader ${round % 29}`).toString('hex').padEnd(40, '0'), application: 0,
  })
  postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...other, pair: 1, price: 3000, lots: 15, flags: Flag.SELL | Flag.IOC })
  const destination = hash('to').padEnd(40, '0')
  postCommand(matcher, 1, CommandType.INITIATE_WITHDRAWAL, { ...trader, asset: 0, amount: 500_000n, destination })
  const { PENDING, SIGNED, CONFIRMED, EXPIRED } = WithdrawalStatus
  for (const { row, sequence: withdrawalSequence, status } of openWithdrawals(state)) {
    const deadline = Math.ceil(matcher.clock / 1000) * 1000 + 60_000
    const ends: Decoded = round % 3 === 0 ? { to: EXPIRED, block } : { to: CONFIRMED, block, txHash }
    const next: Decoded = status === PENDING ? { to: SIGNED, deadline } : ends
    operate(CommandType.ADVANCE_WITHDRAWAL, { row, withdrawalSequence, ...next })
  }
  operate(CommandType.OPEN_SETTLEMENT, { batch: round + 1 })
  if (round > 1) operate(CommandType.CONFIRM_SETTLEMENT, { batch: round - 1, block, txHash, tradesRoot: txHash, balancesRoot: txHash })
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** Every file below `directory` by its path. */
const filesOf = (directory: string): [path: string, bytes: string][] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile() && !/lock|-shm|-wal/.test(path))
    .map((path) => [path, readFileSync(join(directory, path)).toString('base64')])

function unpack(name: string): string {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const files = JSON.parse(gunzipSync(readFileSync(join(FOLDER, `${name}${SUFFIX}`))).toString()) as [string, string][]
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true })
    writeFileSync(join(dataDir, path), Buffer.from(bytes, 'base64'))
  }
  return dataDir
}

const recording = process.env['RECORD'] ?? ''
if (recording !== '') {
  t.test(`records ${recording}`, async (t) => {
    const dataDir = temporaryDirectory()
    t.teardown(() => removeDirectory(dataDir))
    const to = join(FOLDER, `${recording}${SUFFIX}`)
    t.notOk(readdirSync(FOLDER).includes(`${recording}${SUFFIX}`), 'recorded directories are not made again')
    await make(dataDir)
    writeFileSync(to, gzipSync(JSON.stringify(filesOf(dataDir)), { level: 9 }))
  })
}

const files = recording !== '' ? [] : readdirSync(FOLDER).filter((file) => file.endsWith(SUFFIX))
const names = files.map((file) => file.slice(0, -SUFFIX.length))
for (const name of names) {
  t.test(`${name}: the snapshot is what its journal says`, async (t) => {
    const dataDir = unpack(name)
    const [sequence] = listSnapshots(dataDir)
    t.ok(sequence !== undefined && sequence > 700, `at ${sequence}`)
    const { state } = loadSnapshot(dataDir, sequence!)
    checkInvariants(state)
    t.ok(state.scalars[SCALAR.RECEIPTS_COUNT]! > 90, 'with receipts')
    const journal = openJournal(dataDir, true)
    const none = { ...snapshotFiles(dataDir), list: () => [] }
    const { replayer } = rebuild(journal, none, sequence!, (text) => t.fail(text))
    catchUp(journal, replayer, sequence!, realIo.seconds, () => undefined)
    t.equal(replayer.state.clock[CLOCK.SEQUENCE], sequence)
    t.equal(stateDigest(replayer.state), stateDigest(state))
    await journal.close()
    t.ok(verify(dataDir, () => undefined).snapshots.length > 0, 'the tools say so too')
  })

  t.test(`${name}: the exchange goes on from the snapshot, and knows every key`, async (t) => {
    const dataDir = unpack(name)
    const matcher = startMatcher(dataDir)
    const { state } = matcher.sequencer
    checkInvariants(state)
    matcher.clock = state.clock[CLOCK.TIME]!
    const orders = state.scalars[SCALAR.RECEIPTS_COUNT]!
    t.ok(orders > 90)
    t.equal(stateDigest(state), verify(dataDir, () => undefined).digest)
    await matcher.database.close()
  })

  t.test(`${name}: its history is gone on with`, async (t) => {
    const dataDir = unpack(name)
    const stored = storedPlace(dataDir)!
    t.ok(stored.sequence > 400)
    const projection = openProjection(dataDir, historyPath(dataDir), { warn: (text) => t.fail(text) })
    t.equal(projection.sequence + 1, stored.sequence, 'from where it stands')
    while (projection.step(1000));
    await projection.close()
    const truth = openProjection(dataDir, join(dataDir, 'truth.sqlite'), { warn: (text) => t.fail(text) })
    while (truth.step(1_000_000));
    const store = openReader(historyPath(dataDir))
    t.same(compareStores(store, truth.database).differences, [])
    store.close()
    await truth.close()
  })
}
