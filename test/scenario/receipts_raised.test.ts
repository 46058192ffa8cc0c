/**
 * Promise: the operator raises how many receipts there may be, and from the next start on there is room; every receipt of before goes on
 * as it was, wherever its page stands: it is answered with the same words, held against another payload, dropped when its day is over,
 * forgotten when it was. Whoever replays comes to the same state.
 */
import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { copyFile, copyReceipts } from '../../core/backup/copy.ts'
import { CommandType, Flag, Option } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { RAISABLE } from '../../core/layout/limits.ts'
import { REFUSALS, refusalByNumber } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { fileOfPage, readPageFiles, receiptDirectory } from '../../core/lib/page_files.ts'
import { verify } from '../../core/replay/verify.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { loadSnapshot, receiptPagesOf, snapshotPath, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { memoryPages } from '../../core/state/page_store.ts'
import { RECEIPT_PAGE_WORDS } from '../../core/state/receipt_room.ts'
import { RULES } from '../../core/state/rules.ts'
import { answersOf, postCommand, startMatcher, type Matcher } from '../support/journal.ts'
import { DAY, directory, filesIn, hasRepeated, keyOf, said, sourceOf, Stage } from '../support/receipt_stage.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const CONFLICT = REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number
const FULL = REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED.number

// In the journal.

const MARKET = VARIANTS['market']!
const GENESIS = genesisText({ ...MARKET, limits: { ...MARKET.limits, receipts: 40, receiptPages: 2 } })
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

function send(matcher: Matcher, lane: number, type: CommandType, values: Decoded): Decoded {
  postCommand(matcher, lane, type, { session: -1, ...values })
  matcher.turn()
  return answersOf(matcher, lane).at(-1)!
}
const codeOf = ({ code }: Decoded): string => (code === 0 ? 'done' : refusalByNumber(Number(code)).code)
const raise = (matcher: Matcher, value: number): string =>
  codeOf(send(matcher, 0, CommandType.RAISE_LIMIT, { limit: RAISABLE.findIndex(([name]) => name === 'receipts'), value }))

function signIn(matcher: Matcher, name: string): Decoded {
  const wallet = { address: hex(name, 20), publicKey: hex(name, 32), application: 0 }
  const { detail, detail2 } = send(matcher, 1, CommandType.OPEN_SESSION, wallet)
  const signed = { session: detail!, sessionGeneration: detail2! }
  send(matcher, 1, CommandType.MINT, { ...signed, asset: -1 })
  return signed
}
const place = (matcher: Matcher, signed: Decoded, n: number, over: Decoded = {}): Decoded => send(matcher, 1, CommandType.PLACE_ORDER, {
  ...signed, pair: 0, price: 3000 - n, lots: 100, options: Option.KEYED, key: keyOf(n), payload: '00'.repeat(16), ...over,
})

t.test('a full exchange takes keys from the next start on, and everybody who replays comes to the same', async (t) => {
  const dataDir = directory(t)
  const matcher = startMatcher(dataDir, { genesis: GENESIS })
  const { state } = matcher.sequencer
  const users = Array.from({ length: 12 }, (_, index) => signIn(matcher, `user ${index}`))
  const answers = new Map<number, Decoded>()
  /** Everybody places what is taken of them. */
  const fill = (from: number): void => {
    for (let n = from; n < from + 2 * users.length; n++) {
      const answer = place(matcher, users[n % users.length]!, n)
      if (codeOf(answer) === 'done') answers.set(n, answer)
      else t.equal(codeOf(answer), 'ORDER_SUBMISSION_CAPACITY_EXCEEDED')
    }
  }
  const lasting = (): void => {
    checkInvariants(state)
    for (const [n, answer] of answers) {
      const again = place(matcher, users[n % users.length]!, n)
      const { flags, kind, correlation: _correlation, sequence: _sequence, time: _time, ...words } = answer
      t.match(again, { ...words, kind, flags: (Number(flags) | Flag.REPEATED) >>> 0 }, `order ${n} is answered as it was`)
      t.equal(codeOf(place(matcher, users[n % users.length]!, n, { payload: '01'.repeat(16) })), 'IDEMPOTENCY_KEY_CONFLICT')
    }
  }
  fill(0)
  const before = answers.size
  t.ok(before < 2 * users.length, `${before} are taken`)
  t.equal(raise(matcher, 40), 'LIMIT_NOT_RAISED')
  t.equal(raise(matcher, 2 ** 27 + 1), 'LIMIT_TOO_LARGE')
  t.equal(raise(matcher, 400), 'done')
  const refused = Array.from({ length: 24 }, (_, n) => n).find((n) => !answers.has(n))!
  t.equal(codeOf(place(matcher, users[refused % users.length]!, refused)), 'ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'not yet')
  commitOwn(matcher.sequencer, CommandType.LIMITS_IN_FORCE, {})
  t.equal(state.genesis.limits.receipts, 400)
  lasting()
  fill(100)
  t.equal(answers.size, before + 24, 'all are taken')
  t.equal(raise(matcher, 3000), 'done')
  commitOwn(matcher.sequencer, CommandType.LIMITS_IN_FORCE, {})
  fill(200)
  lasting()
  await matcher.database.close()

  const again = startMatcher(dataDir, { genesis: GENESIS })
  t.equal(stateDigest(again.sequencer.state), stateDigest(state))
  await again.database.close()
  t.match(verify(dataDir, () => undefined), { commands: state.clock[CLOCK.SEQUENCE], digest: stateDigest(state) })
  const elsewhere = directory(t)
  writeSnapshot(elsewhere, state, GENESIS, 1, 2)
  t.equal(stateDigest(loadSnapshot(elsewhere, state.clock[CLOCK.SEQUENCE]!).state), stateDigest(state))
})

// The engine alone.

/** Answers by order, of receipts that are kept, the oldest first. */
type Answers = Map<number, string>

/** Places orders with these numbers, each `stepMs` behind the one before; `own`: with a page of their own. */
function fill(stage: Stage, answers: Answers, from: number, to: number, stepMs = 1000, own = false): void {
  for (let n = from; n < to; n++) {
    stage.time += stepMs
    if (own) stage.turnPage()
    const result = stage.order(n)
    if (result[RESULT.at.code] !== 0 || hasRepeated(result)) throw new Error(`order ${n}: ${result[RESULT.at.code]}`)
    answers.set(n, said(result))
  }
}

/** Every receipt of them is answered as it was and held against another payload. How many are not. */
function lost(stage: Stage, answers: Answers): number {
  let wrong = 0
  for (const [n, answer] of answers) {
    const [again, other] = [stage.order(n), stage.order(n, { payload: '01'.repeat(16) })]
    if (!hasRepeated(again) || said(again) !== answer || other[RESULT.at.code] !== CONFLICT) wrong++
  }
  return wrong
}

function raiseTo(t: Test, stage: Stage, receipts: number): void {
  t.same([stage.raise('receipts', receipts), stage.putInForce()], [0, 0], `${receipts} from now on`)
  checkInvariants(stage.state)
}

/** Writes a snapshot and loads it, with a store of its own; it is the same state. */
function reloaded(t: Test, dataDir: string, stage: Stage, source: string): Stage {
  writeSnapshot(dataDir, stage.state, source, 1, 2)
  const { state } = loadSnapshot(dataDir, stage.state.clock[CLOCK.SEQUENCE]!)
  t.equal(stateDigest(state), stateDigest(stage.state), 'a snapshot has it')
  checkInvariants(state)
  return Stage.of(state, stage)
}

const scalar = ({ state }: Stage, name: keyof typeof SCALAR): number => state.scalars[SCALAR[name]]!

for (const pages of [0, 1, 70]) {
  t.test(`numbers that went round, ${pages === 0 ? 'all' : pages} pages in memory`, async (t) => {
    const dataDir = directory(t)
    const source = sourceOf(pages, 100)
    const files = filesIn(dataDir)
    const stage = new Stage(source, files)
    const answers: Answers = new Map()
    // 80 are a day's, so that head and count go round the 112 numbers; each third has a page of its own, round the 65 there are.
    for (let n = 0; n < 520; n++) {
      fill(stage, answers, n, n + 1, DAY / 80, n % 3 === 0)
      answers.delete(n - 79)
    }
    const { numbers } = stage.state.receiptRoom
    t.ok(scalar(stage, 'RECEIPTS_HEAD') + stage.kept() > numbers, 'the numbers go round')
    t.ok(scalar(stage, 'RECEIPT_HEAD_PAGE') > stage.state.receiptRoom.pages, 'and so did the pages')
    t.equal(lost(stage, answers), 0)
    const [used, sealed] = [scalar(stage, 'RECEIPT_PAGES_USED'), scalar(stage, 'RECEIPT_SEALS_USED')]
    t.same([used, sealed], [stage.state.receiptRoom.memoryPages, stage.state.receiptRoom.pages])
    files.sync()
    const twin = reloaded(t, dataDir, stage, source)

    for (const [index, receipts] of [113 * 4, 113 * 4 + 1, 3000].entries()) {
      for (const each of [stage, twin]) raiseTo(t, each, receipts)
      t.equal(stateDigest(twin.state), stateDigest(stage.state), 'whatever its store has')
      const { memoryPages: most, pages: all } = stage.state.receiptRoom
      t.same([scalar(stage, 'RECEIPTS_HEAD'), scalar(stage, 'RECEIPT_PAGES_USED'), scalar(stage, 'RECEIPT_SEALS_USED')],
        [0, Math.min(most, scalar(stage, 'RECEIPT_TAIL_PAGE') + 1), Math.min(all, scalar(stage, 'RECEIPT_TAIL_PAGE'))])
      reloaded(t, dataDir, stage, source)
      t.equal(lost(stage, answers), 0)
      t.equal(lost(twin, answers), 0)
      const first = 1000 * (index + 1)
      for (const each of [stage, twin]) fill(each, answers, first, first + 110)
      checkInvariants(stage.state)
      t.equal(lost(stage, answers), 0, 'with new ones behind them')
      t.equal(lost(twin, answers), 0)
      files.sync()
      t.equal(lost(reloaded(t, dataDir, stage, source), answers), 0)
    }
    t.equal(existsSync(receiptDirectory(dataDir)), pages !== 0, 'files are for those that have no room in memory')
    stage.time += DAY
    for (const [n] of answers) if (hasRepeated(stage.order(n))) t.fail(`order ${n} is repeated after a day`)
    checkInvariants(stage.state)
  })
}

t.test('all pages in memory before, some in files afterwards', async (t) => {
  const dataDir = directory(t)
  const source = sourceOf(66, 100)
  const files = filesIn(dataDir)
  const stage = new Stage(source, files)
  const answers: Answers = new Map()
  fill(stage, answers, 0, 60, 1000, true)
  files.sync()
  t.throws(() => fileOfPageRead(dataDir, 0), 'nothing is in files')
  writeSnapshot(dataDir, stage.state, source, 1, 2)
  const twin = Stage.of(loadSnapshot(dataDir, stage.state.clock[CLOCK.SEQUENCE]!, undefined, memoryPages()).state, stage)

  for (const each of [stage, twin]) raiseTo(t, each, 5000)
  files.sync()
  t.equal(stateDigest(twin.state), stateDigest(stage.state), 'whatever its store has')
  const { receiptRoom } = stage.state
  t.ok(receiptRoom.memoryPages === 66 && receiptRoom.pages > 100)
  const tail = scalar(stage, 'RECEIPT_TAIL_PAGE')
  t.same([scalar(stage, 'RECEIPT_PAGES_USED'), scalar(stage, 'RECEIPT_SEALS_USED')], [tail + 1, tail])
  for (const page of [0, 1, tail - 1]) fileOfPageRead(dataDir, page)
  t.same(pagesOf(stage), { from: 0, to: 0 }, 'a snapshot has them all')

  const copies: Answers = new Map(answers)
  fill(stage, answers, 60, 90, 1000, true)
  fill(twin, copies, 60, 90, 1000, true)
  t.equal(stateDigest(twin.state), stateDigest(stage.state))
  t.equal(scalar(stage, 'RECEIPT_TAIL_PAGE'), tail + 30)
  t.equal(lost(stage, answers), 0, 'the ring went past the first of them')
  t.equal(lost(twin, copies), 0)
  t.same(pagesOf(stage), { from: 0, to: tail + 30 - 66 + 1 }, 'a snapshot leaves to files what memory has no room for')
  t.equal(lost(reloaded(t, dataDir, stage, source), answers), 0)

  function pagesOf({ state }: Stage): { from: number; to: number } {
    files.sync()
    const sequence = state.clock[CLOCK.SEQUENCE]!
    writeSnapshot(dataDir, state, source, 1, 2)
    const copy = directory(t)
    copyFile(snapshotPath(dataDir, sequence), snapshotPath(copy, sequence), () => undefined)
    const pages = receiptPagesOf(copy, sequence)
    copyReceipts(dataDir, copy, pages, () => undefined)
    t.equal(stateDigest(loadSnapshot(copy, sequence).state), stateDigest(state), 'a backup has what it needs')
    return pages
  }
})

/** Throws unless the file has this page. */
function fileOfPageRead(dataDir: string, page: number): void {
  const words = new Int32Array(RECEIPT_PAGE_WORDS)
  readPageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, false).read(page, words, 0)
  if (words.every((word) => word === 0)) throw new Error(`${fileOfPage(receiptDirectory(dataDir), page)} has no page ${page}`)
}

t.test('what was forgotten stays forgotten, and is counted once', async (t) => {
  const dataDir = directory(t)
  const source = sourceOf(4, 8192)
  const stage = new Stage(source, filesIn(dataDir))
  const { numbers } = stage.state.receiptRoom
  const answers: Answers = new Map()
  // Numbers go round in the middle of the 4,900 of the last hours.
  fill(stage, answers, 0, numbers - 4300, 20_000)
  stage.time += DAY - 5000 * 1000
  fill(stage, answers, numbers - 4300, numbers + 600)
  stage.setRules(RULES)
  stage.time += DAY
  // Each drops 1,024 of those that are over and forgets one behind them. Refused: the key is not used.
  const { accounts } = stage.state
  const counted = (): number => accountsOf(stage).reduce((sum, each) => sum + each, 0)
  const forgotten = [numbers - 1, numbers + 5, numbers + 590]
  for (const n of forgotten) {
    t.notOk(hasRepeated(stage.order(n, { lots: 0 })))
    checkInvariants(stage.state)
  }
  const kept = stage.kept()
  t.ok(scalar(stage, 'RECEIPTS_HEAD') + kept > numbers && kept > 1500, `${kept} are left, and the numbers go round`)
  t.equal(counted(), kept - 3)
  t.ok(accounts[ACCOUNT.RECEIPTS]! > 0)

  for (const receipts of [9000, 50_000]) {
    raiseTo(t, stage, receipts)
    t.same([stage.kept(), counted()], [kept, kept - 3])
    const { receiptsForgotten } = stage.state
    t.equal(scalar(stage, 'FORGOTTEN_USED'), receiptsForgotten.findLastIndex((word) => word !== 0) + 1, 'no more is stored than there is')
    filesIn(dataDir).sync()
    const twin = reloaded(t, dataDir, stage, source)
    // One more is forgotten with this, two of the dropped were forgotten already.
    t.notOk(hasRepeated(twin.order(numbers + 595, { lots: 0 })))
    checkInvariants(twin.state)
    t.notOk(hasRepeated(twin.order(forgotten[2]!, { lots: 0 })))
    t.equal(accountsOf(twin).reduce((sum, each) => sum + each, 0), twin.kept() - [...twin.state.receiptsForgotten].reduce(bits, 0))
    checkInvariants(twin.state)
  }
  t.equal(stage.order(forgotten[0]!)[RESULT.at.code], 0)
  stage.order(0, { lots: 0 })
  stage.order(0, { lots: 0 })
  t.equal(stage.kept(), 1, 'all that expired are dropped')
  t.ok(stage.state.receiptsForgotten.every((word) => word === 0))
  checkInvariants(stage.state)
})

const accountsOf = ({ state }: Stage): number[] => [0, 1].map((account) => state.accounts[account * ACCOUNT_WORDS + ACCOUNT.RECEIPTS]!)
const bits = (sum: number, word: number): number => sum + (word >>> 0).toString(2).replaceAll('0', '').length

t.test('before the first order, and after the last was dropped', async (t) => {
  const source = sourceOf(1, 100)
  const dataDir = directory(t)
  const stage = new Stage(source, filesIn(dataDir))
  raiseTo(t, stage, 300)
  t.same((['RECEIPT_PAGES_USED', 'RECEIPT_SEALS_USED', 'FORGOTTEN_USED'] as const).map((name) => scalar(stage, name)), [0, 0, 0])
  const answers: Answers = new Map()
  fill(stage, answers, 0, 250)
  t.equal(stage.order(301, { payload: '02'.repeat(16) })[RESULT.at.code], 0)
  stage.time += DAY
  stage.order(0, { lots: 0 })
  t.equal(stage.kept(), 0)
  raiseTo(t, stage, 800)
  const after: Answers = new Map()
  fill(stage, after, 0, 799)
  reloaded(t, dataDir, stage, source)
  t.equal(stage.order(800)[RESULT.at.code], 0)
  t.equal(stage.order(801)[RESULT.at.code], FULL)
  t.equal(lost(stage, after), 0)
  checkInvariants(stage.state)
})

t.test('another limit raised leaves receipts where they are', async (t) => {
  const dataDir = directory(t)
  const source = sourceOf(1, 100)
  const stage = new Stage(source, filesIn(dataDir))
  const answers: Answers = new Map()
  for (let n = 0; n < 300; n++) {
    fill(stage, answers, n, n + 1, DAY / 80)
    answers.delete(n - 79)
  }
  const head = scalar(stage, 'RECEIPTS_HEAD')
  t.ok(head > 0)
  t.same([stage.raise('accounts', 500), stage.putInForce()], [0, 0])
  t.equal(scalar(stage, 'RECEIPTS_HEAD'), head)
  checkInvariants(stage.state)
  t.equal(lost(stage, answers), 0)
})
