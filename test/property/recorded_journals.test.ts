/**
 * Promise: a journal that an earlier version wrote replays to the events it had then, byte for byte, and to a state that holds together.
 *
 * test/recorded/ has journals as LMDB files, written by the version they are named after, and what replaying them gave that version. They
 * are never made again: whoever changes what they replay to has changed what users can check. When commands are added, a journal that has
 * them is added too: `RECORD=NAME:VARIANT npm test -- test/property/recorded_journals.test.ts` writes one of this version
 * (VARIANT: a name of support/variants.ts, `applications`, `operator`, `margin`, `waiting`, `copies`, `money` or `own`).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { RULES } from '../../core/state/rules.ts'
import {
  ACCEPT_CLOCK_COMMAND, ACCEPT_LOSS_COMMAND, CANCEL_ACCOUNT_ORDERS_COMMAND, COMMAND_SLOTS, CommandType, commandName,
  ENTER_ORDER_COMMAND, gatewayOfKind, kindOf, Option, SET_RULES_COMMAND, typeOfKind,
} from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { journalPath } from '../../core/journal/file.ts'
import { writeLoss } from '../../core/recovery/loss.ts'
import { catchUp, rebuild } from '../../core/recovery/recover.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { realIo } from '../../core/lib/io.ts'
import { Flag } from '../../core/layout/flags.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { read as eventsRead } from '../../core/ring/broadcast.ts'
import { recordChecks, recordRefusal } from '../../core/sequencer/check.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { openSource, printable } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { applicationCommand, applicationsGenesis } from '../support/applications_duel.ts'
import {
  answersOf, makeJournal, openAccount, post, postCommand, START_TIME, startMatcher, takeAnswers, type Matcher,
} from '../support/journal.ts'
import { createBench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { Workload } from '../support/workload.ts'
import { MarginWorkload } from '../support/workload_margin.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'

t.setTimeout(180_000)

interface Recorded {
  readonly commands: number
  /** Chained checksum of the bytes of all events. */
  readonly eventsChecksum: number
  /** How often each command is in it. */
  readonly counts: Readonly<Record<string, number>>
}

const FOLDER = join(import.meta.dirname, '..', 'recorded')
const LIST = join(FOLDER, 'journals.json')
const fileOf = (name: string): string => join(FOLDER, `${name}.mdb.gz`)
const recorded = JSON.parse(readFileSync(LIST, 'utf8')) as Record<string, Recorded>

/** A data directory of its own, gone when the test is over. */
function directory(t: Test): string {
  const path = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function read(dataDir: string): Recorded {
  const { commands, eventsChecksum } = verify(dataDir, () => undefined)
  const counts: Record<string, number> = {}
  for (const { command } of openSource(dataDir).steps) {
    const name = commandName(typeOfKind(command.readUInt32LE(0)))
    counts[name] = (counts[name] ?? 0) + 1
  }
  return { commands, eventsChecksum, counts: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** Writes what operators do to applications, and sign-ins to them. */
function makeApplicationsJournal(dataDir: string): void {
  const matcher = startMatcher(dataDir, { genesis: applicationsGenesis() })
  const random = createPrng(7)
  for (let index = 0; index < 600; index++) {
    const { type, values } = applicationCommand(random)
    matcher.clock += random.below(60_000)
    postCommand(matcher, type === CommandType.OPEN_SESSION ? 1 : 0, type, { session: -1, ...values })
    matcher.turn()
    for (const lane of matcher.gateways) takeAnswers(lane)
  }
}

/**
 * Writes what operators do beside traders: an exchange of before the rules 1 that gets them, cancels of anybody's orders, clocks accepted,
 * and the end of the journal lost. One command a batch, so that each keeps its lane.
 */
function makeOperatorJournal(dataDir: string): void {
  const genesis = genesisText(VARIANTS['olderFamily']!)
  let matcher = startMatcher(dataDir, { genesis })
  const bench = createBench(genesis)
  Object.assign(bench.state.clock, { [CLOCK.SEQUENCE]: 1, [CLOCK.TIME]: START_TIME })
  const workload = new Workload(7, parseGenesis(genesis), { families: true })
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const both = (): Decoded => {
    post(matcher, command)
    if (matcher.turn() !== 1) throw new Error('the sequencer took other commands than were posted')
    for (const lane of matcher.gateways) takeAnswers(lane)
    const count = bench.run(command, 0, matcher.sequencer.state.clock[CLOCK.TIME]!)
    workload.learn(bench.said, count)
    return decode(RESULT, bench.said, (count - 1) * RECORD_WORDS)
  }
  let from: Decoded = {}
  for (let index = 0; index < 1600; index++) {
    workload.next(command, 0)
    matcher.clock = workload.time
    both()
    if (index % 30 === 0) {
      encode(ACCEPT_CLOCK_COMMAND, command, 0, { kind: kindOf(CommandType.ACCEPT_CLOCK, 1, 0), session: -1, wall: workload.time })
      both()
    }
    if (index % 40 === 0) {
      const [account, kind] = [(index / 40) % bench.state.scalars[SCALAR.ACCOUNTS]!, kindOf(CommandType.CANCEL_ACCOUNT_ORDERS, 1, 0)]
      const createdSequence = bench.state.accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
      const values = { kind, session: -1, account, createdSequence, pair: -1, limit: 1 + (index % 3), ...from }
      encode(CANCEL_ACCOUNT_ORDERS_COMMAND, command, 0, values)
      const { detail2, slot, orderSequence } = both()
      from = detail2 === 1 ? { fromSlot: slot!, fromSequence: orderSequence! } : {}
    }
    if (index === 400) {
      encode(SET_RULES_COMMAND, command, 0, { kind: kindOf(CommandType.SET_RULES, 1, 0), session: -1, rules: RULES })
      both()
    }
    if (index !== 1000) continue
    const resume = loseTheEnd(matcher)
    encode(ACCEPT_LOSS_COMMAND, command, 0, { kind: kindOf(CommandType.ACCEPT_LOSS, 1, 0), session: -1, resume })
    bench.run(command, 0, bench.state.clock[CLOCK.TIME]!)
    matcher = startMatcher(dataDir, { genesis })
  }
  if (stateDigest(matcher.sequencer.state) !== stateDigest(bench.state)) throw new Error('the engine beside it came to another state')
  void matcher.database.close()
}

/** Writes what operators list and raise, or launches, beside traders. What the sequencer does not let into the journal is left out. */
function makeListingJournal(dataDir: string, variant: 'listing' | 'launches'): void {
  const matcher = startMatcher(dataDir, { genesis: genesisText(VARIANTS[variant]!) })
  const workload = new Workload(7, matcher.sequencer.state.genesis, { families: true, [variant]: true })
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  for (let index = 0; index < 2400; index++) {
    workload.next(command, 0)
    matcher.clock = workload.time
    post(matcher, command)
    matcher.turn()
    if (index % 300 === 299) commitOwn(matcher.sequencer, CommandType.LIMITS_IN_FORCE, {})
    for (const lane of matcher.gateways) {
      const answers = takeAnswers(lane)
      workload.learn(answers, answers.i32.length / RECORD_WORDS)
    }
  }
}

/** Writes mass cancels that nobody goes on with. */
function makeMassCancelsJournal(dataDir: string): void {
  const matcher = startMatcher(dataDir, { genesis: genesisText(VARIANTS['market']!) })
  const traders = ['ann', 'bob', 'cat'].map((name) => openAccount(matcher, 1, name))
  for (let round = 0; round < 60; round++) {
    const trader = traders[round % traders.length]!
    for (let order = 0; order < 12; order++) {
      postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...trader, pair: order % 2, flags: Flag.SELL, price: 3000 + order, lots: 100 })
    }
    if (round % 2 === 0) postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...trader, pair: (round % 3) - 1, limit: 1 + (round % 4) })
    matcher.clock += 1777
    matcher.turn(true)
    for (const lane of matcher.gateways) takeAnswers(lane)
  }
}

/** Writes what traders do, and orders that nobody asked for beside theirs. */
function makeOwnOrdersJournal(dataDir: string): void {
  const genesis = genesisText(VARIANTS['fees']!)
  const matcher = startMatcher(dataDir, { genesis })
  const { sequencer } = matcher
  const checks = recordChecks(sequencer.state)
  const workload = new Workload(7, parseGenesis(genesis), { ownOrders: true })
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  for (let index = 0; index < 2000; index++) {
    workload.next(command, 0)
    matcher.clock = workload.time
    const { kind: _kind, ...values } = decode(ENTER_ORDER_COMMAND, command, 0)
    if (typeOfKind(command.u32[0]!) === CommandType.ENTER_ORDER) commitOwn(sequencer, CommandType.ENTER_ORDER, values)
    else if (recordRefusal(checks, command, 0, gatewayOfKind(command.u32[0]!)) === 0) {
      post(matcher, command)
      matcher.turn()
    }
    for (const lane of matcher.gateways) takeAnswers(lane)
    for (let count = eventsRead(matcher.events); count !== 0; count = eventsRead(matcher.events)) {
      workload.learn(viewsOf(matcher.events.copy.buffer as ArrayBuffer), count)
    }
  }
}

/** Writes margin trading, with orders that wait where `variant` has them; what time and prices do to it the sequencer writes itself. */
function makeMarginJournal(dataDir: string, variant: string): void {
  const genesis = genesisText(VARIANTS[variant]!)
  const matcher = startMatcher(dataDir, { genesis })
  const checks = recordChecks(matcher.sequencer.state)
  const workload = new MarginWorkload(11, parseGenesis(genesis), VARIANTS[variant])
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  for (let index = 0; index < 4500; index++) {
    workload.next(command, 0)
    matcher.clock = workload.time
    if (recordRefusal(checks, command, 0, gatewayOfKind(command.u32[0]!)) === 0) post(matcher, command)
    matcher.turn(true)
    for (const lane of matcher.gateways) takeAnswers(lane)
    for (let count = eventsRead(matcher.events); count !== 0; count = eventsRead(matcher.events)) {
      workload.learn(viewsOf(matcher.events.copy.buffer as ArrayBuffer), count)
    }
  }
}

/** Ends the matcher and accepts that what came behind is lost; the sequence of the command that says so. */
function loseTheEnd({ dataDir, database }: Matcher): number {
  const { replayer } = rebuild(database, snapshotFiles(dataDir), Infinity, () => undefined)
  catchUp(database, replayer, Infinity, realIo.seconds, () => undefined)
  return writeLoss(database, createWriter(database, 64, replayer.place), replayer, replayer.state.clock[CLOCK.SEQUENCE]!)
}

const [name, variant] = (process.env['RECORD'] ?? '').split(':')
if (name !== undefined && name !== '' && variant !== undefined) {
  t.test(`records ${name}`, async (t) => {
    const dataDir = directory(t)
    t.notOk(Object.hasOwn(recorded, name), 'recorded journals are not made again')
    if (variant === 'applications') makeApplicationsJournal(dataDir)
    else if (variant === 'operator') makeOperatorJournal(dataDir)
    else if (variant === 'massCancels') makeMassCancelsJournal(dataDir)
    else if (variant === 'own') makeOwnOrdersJournal(dataDir)
    else if (variant === 'margin') makeMarginJournal(dataDir, 'perps')
    else if (variant === 'waiting') makeMarginJournal(dataDir, 'perpsWaiting')
    else if (variant === 'listing' || variant === 'launches') makeListingJournal(dataDir, variant)
    else if (variant === 'builder') makeMarginJournal(dataDir, 'perpsBuilder')
    else if (variant === 'copies') makeMarginJournal(dataDir, 'perpsCopied')
    else if (variant === 'referrals') makeMarginJournal(dataDir, 'perpsReferred')
    else if (variant === 'money') makeMarginJournal(dataDir, 'perpsVault')
    else makeJournal(dataDir, { seed: 7, batches: 600, variant, families: VARIANTS[variant]!.families ?? false })
    writeFileSync(fileOf(name), gzipSync(readFileSync(join(journalPath(dataDir), 'data.mdb')), { level: 9 }))
    writeFileSync(LIST, `${JSON.stringify({ ...recorded, [name]: read(dataDir) }, null, 2)}\n`)
  })
} else {
  for (const [name, expected] of Object.entries(recorded)) {
    t.test(`${name} replays to what it was`, async (t) => {
      const dataDir = directory(t)
      mkdirSync(journalPath(dataDir), { recursive: true })
      writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(fileOf(name))))
      t.same(read(dataDir), expected)
    })
  }

  t.test('a journal of the first layout goes on in today\'s, and both are read back', async (t) => {
    const dataDir = directory(t)
    mkdirSync(journalPath(dataDir), { recursive: true })
    writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(fileOf('spot_market'))))
    const matcher = startMatcher(dataDir)
    matcher.clock = matcher.sequencer.state.clock[CLOCK.TIME]!
    const ann = openAccount(matcher, 1, 'ann of today')
    const [key, label] = ['ab'.repeat(16), Buffer.from('mine').toString('hex').padEnd(80, '0')]
    const values = { ...ann, pair: 0, price: 3000, lots: 100, flags: 4 * 2 ** 24, options: Option.KEYED, key, label }
    postCommand(matcher, 1, CommandType.PLACE_ORDER, values)
    t.equal(matcher.turn(), 1)
    t.match(answersOf(matcher, 1), [{ code: 0 }])
    const digest = stateDigest(matcher.sequencer.state)
    await matcher.database.close()

    const steps = [...openSource(dataDir).steps].map(printable)
    const commands = recorded['spot_market']!.commands
    t.match(verify(dataDir, () => undefined), { commands: commands + 3, digest })
    t.same([1, 2].map((layout) => steps.filter((step) => step['layout'] === layout).length), [commands - 1, 3], 'each as it was written')
    const keyed = steps.filter((step) => step['layout'] === 1 && (Number(step['flags']) & Option.KEYED) !== 0)
    t.ok(keyed.length > 100 && keyed.every((step) => step['options'] === undefined && step['key'] !== undefined), 'then')
    t.match(steps.at(-1), { layout: 2, command: 'PLACE_ORDER', flags: 4 * 2 ** 24, options: Option.KEYED, key, label }, 'and now')
    t.equal(steps.at(-2)!['key'], undefined)
  })

  t.test('every command is in one of them', async (t) => {
    const seen = new Set(Object.values(recorded).flatMap(({ counts }) => Object.keys(counts)))
    // The genesis is what steps begin with.
    const types = Object.values(CommandType).filter((type) => type !== CommandType.GENESIS)
    const missing = types.map((type) => commandName(type)).filter((name) => !seen.has(name))
    t.same(missing, [])
  })
}
