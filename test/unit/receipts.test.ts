/**
 * Promise: an idempotency receipt gives its answer once more for as long as it is kept, whether its page stands in memory or in a file that
 * other processes write too; memory grows with use; a page that is not what it was is found and never answered from.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import { copyFile, copyReceipts } from '../../core/backup/copy.ts'
import { Flag, ORDER_COMMAND } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import {
  fileOfPage, pageFilesBytes, PAGES, readPageFiles, receiptDirectory, removePages, writePageFiles, type PageFiles,
} from '../../core/lib/page_files.ts'
import { loadSnapshot, pruneSnapshots, receiptPagesOf, snapshotPath, writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { memoryPages } from '../../core/state/page_store.ts'
import { findReceipt, readHomes } from '../../core/state/receipt_index.ts'
import { RECEIPT_PAGE_WORDS, receiptRoomOf } from '../../core/state/receipt_room.ts'
import { attachState } from '../../core/state/state.ts'
import { readReceipt } from '../../core/view/receipts.ts'
import { command, DAY, directory, filesIn, hasRepeated, said, sourceOf as stageSource, Stage, TIME } from '../support/receipt_stage.ts'

const RECEIPTS = 2000
const sourceOf = (receiptPages: number, receipts = RECEIPTS, rules = 0): string => stageSource(receiptPages, receipts, rules)

for (const [name, pages] of [['memory', 0], ['one page in memory, the others in files', 1]] as const) {
  t.test(`answers of two rounds of the room come back word by word: ${name}`, async (t) => {
    const dataDir = directory(t)
    const stage = new Stage(sourceOf(pages), pages === 0 ? undefined : filesIn(dataDir))
    const answers = new Map<number, string>()
    let wrong = 0
    for (let n = 0; n < 2 * RECEIPTS + 700; n++) {
      // A day holds 1,440 of them.
      stage.time += 60_000
      const result = stage.order(n)
      if (result[RESULT.at.code] !== 0 || hasRepeated(result)) wrong++
      answers.set(n, said(result))
      const again = n - ((n * 7) % Math.min(n + 1, 1400))
      if (!Number.isInteger(readHomes(stage.state, 0, command.i32, ORDER_COMMAND.at.key))) wrong++
      const repeated = stage.order(again)
      if (!hasRepeated(repeated) || said(repeated) !== answers.get(again)) wrong++
      if (n % 500 === 0) checkInvariants(stage.state)
    }
    t.equal(wrong, 0)
    t.equal(new Set(answers.values()).size, answers.size)
    t.ok(stage.kept() >= 1440 && stage.kept() < 1500, `${stage.kept()} are kept`)
    t.equal(existsSync(receiptDirectory(dataDir)), pages !== 0)
    checkInvariants(stage.state)
  })
}

t.test('events and answers are the same wherever pages are', async (t) => {
  const one = new Stage(sourceOf(1), filesIn(directory(t)))
  const all = new Stage(sourceOf(0))
  for (let n = 0; n < 3000; n++) {
    one.time = all.time = TIME + n * 60_000 + (n > 2000 ? 2 * DAY : 0)
    for (const number of [n, (n * 31) % (n + 1)]) {
      const [a, b] = [one, all].map((stage) => stage.order(number).join())
      if (a !== b) return t.fail(`order ${number} after ${n}`)
    }
  }
  const seals = ({ state }: Stage): Int32Array => state.receiptSeals.slice(0, state.scalars[SCALAR.RECEIPT_SEALS_USED]! * 2)
  t.ok(seals(one).length > 20)
  t.same(seals(one), seals(all), 'and so are the pages')
})

t.test('pages are what they always were: files and snapshots of before are good', async (t) => {
  const stage = new Stage(sourceOf(1, 1500), filesIn(directory(t)))
  let sums = 0
  const words = new Int32Array(RECEIPT_PAGE_WORDS)
  // Numbers go round twice, so that they stand in the pages as they do.
  for (let n = 0; n < 4000; n++) {
    stage.time += 60_000
    if (stage.order(n)[RESULT.at.code] !== 0) return t.fail(`order ${n}`)
  }
  for (let page = stage.state.scalars[SCALAR.RECEIPT_TAIL_PAGE]! - 1; page >= 0; page--) {
    stage.state.receiptStore.read(page, words, 0)
    sums = crc32(new Uint8Array(words.buffer), sums)
  }
  t.equal(sums, 2_457_430_525)
})

t.test('a key is used again as soon as its receipt is dropped', async (t) => {
  const stage = new Stage(sourceOf(1), filesIn(directory(t)))
  for (let n = 0; n < 1000; n++) {
    stage.time += 1000
    stage.order(n)
  }
  stage.time = TIME + DAY
  for (let n = 0; n < 900; n++) {
    stage.time += 1000
    // The command before dropped the receipt; its page is still that of the oldest.
    if (hasRepeated(stage.order(n))) return t.fail(`order ${n} is repeated`)
    if (n % 50 === 0) checkInvariants(stage.state)
  }
  checkInvariants(stage.state)
})

t.test('full is refused, another payload is a conflict, and after a day there is room', async (t) => {
  const stage = new Stage(sourceOf(1), filesIn(directory(t)))
  for (let n = 0; n < RECEIPTS; n++) stage.order(n)
  t.equal(stage.order(RECEIPTS)[RESULT.at.code], REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED.number)
  t.ok(hasRepeated(stage.order(0)), 'the oldest is answered')
  t.equal(stage.order(0, { payload: '01'.repeat(16) })[RESULT.at.code], REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number)
  stage.time += DAY
  t.notOk(hasRepeated(stage.order(1)), 'a key is new after a day')
  checkInvariants(stage.state)
})

t.test('an expired key behind many others is forgotten once, and counted once', async (t) => {
  const stage = new Stage(sourceOf(1, 65_536, 1), filesIn(directory(t)))
  const orders = 4000
  for (let n = 0; n < orders; n++) stage.order(n)
  t.equal(stage.kept(), orders)
  stage.time += DAY
  // Each drops 1,024 before it looks for its own key. Refused: the key is not used, and is forgotten already when it comes again.
  const key = (orders - 1).toString(16).padStart(32, '0')
  let accepted = 0
  const place = (n: number, over: Decoded): boolean => {
    const result = stage.order(n, over)
    if (result[RESULT.at.code] === 0) accepted++
    checkInvariants(stage.state)
    return hasRepeated(result)
  }
  t.notOk(place(3, { key, lots: 0 }))
  t.ok(stage.kept() > 2000)
  t.notOk(place(3, { key, lots: 0 }))
  t.equal(accepted, 0, 'both are refused')
  for (let n = 0; n < 5; n++) t.notOk(place(orders + n, {}))
  t.ok(accepted > 2)
  t.equal(stage.kept(), accepted)
  const { accounts } = stage.state
  t.equal(accounts[ACCOUNT.RECEIPTS]! + accounts[ACCOUNT_WORDS + ACCOUNT.RECEIPTS]!, accepted)
})

/** An engine that has filled pages into files, and a snapshot of it. */
function kept(t: Test): { dataDir: string; stage: Stage; source: string; sequence: number } {
  const dataDir = directory(t)
  const source = sourceOf(2)
  const files = filesIn(dataDir)
  const stage = new Stage(source, files)
  for (let n = 0; n < RECEIPTS; n++) {
    stage.time += 1000
    stage.order(n)
  }
  files.sync()
  writeSnapshot(dataDir, stage.state, source, 1, 2)
  return { dataDir, stage, source, sequence: stage.state.clock[CLOCK.SEQUENCE]! }
}

t.test('a snapshot names pages of files; whoever loads it goes on alike', async (t) => {
  const { dataDir, stage, sequence } = kept(t)
  const { state } = loadSnapshot(dataDir, sequence)
  t.equal(stateDigest(state), stateDigest(stage.state))
  checkInvariants(state)
  const { from, to } = receiptPagesOf(dataDir, sequence)
  t.equal(from, 0)
  t.equal(to, state.scalars[SCALAR.RECEIPT_TAIL_PAGE]! - 1)
  const other = Stage.of(state, stage)
  for (let n = 0; n < 4500; n += 3) {
    other.time = stage.time = stage.time + 60_000
    const [a, b] = [stage, other].map((each) => each.order(n % 3000).join())
    if (a !== b) return t.fail(`order ${n}`)
  }
  t.equal(stateDigest(state), stateDigest(stage.state))
  checkInvariants(state)
})

t.test('a backup takes the files along that its snapshot names', async (t) => {
  const { dataDir, stage, sequence } = kept(t)
  const copy = directory(t)
  copyFile(snapshotPath(dataDir, sequence), snapshotPath(copy, sequence), () => undefined)
  t.throws(() => loadSnapshot(copy, sequence), /page of receipts/)
  copyReceipts(dataDir, copy, receiptPagesOf(copy, sequence), () => undefined)
  t.equal(stateDigest(loadSnapshot(copy, sequence).state), stateDigest(stage.state))
  t.equal(statSync(receiptDirectory(copy)).mode & 0o777, 0o700)
  t.equal(statSync(fileOfPage(receiptDirectory(dataDir), 0)).mode & 0o777, 0o600)
  t.equal(pageFilesBytes(receiptDirectory(copy)), pageFilesBytes(receiptDirectory(dataDir)))
})

t.test('a page that is not what it was', async (t) => {
  const { dataDir, stage, sequence } = kept(t)
  const path = fileOfPage(receiptDirectory(dataDir), 0)
  const whole = readFileSync(path)
  const refused = (): void => void t.throws(() => loadSnapshot(dataDir, sequence), /page of receipts/)
  for (const bit of [0, 8 * 4096 + 3, RECEIPT_PAGE_WORDS * 32 * 3 - 1]) {
    const spoilt = Buffer.from(whole)
    spoilt[bit >>> 3]! ^= 1 << (bit & 7)
    writeFileSync(path, spoilt)
    refused()
  }
  writeFileSync(path, whole)
  truncateSync(path, RECEIPT_PAGE_WORDS * 4 * 2)
  refused()
  t.throws(() => stage.order(1000), /page of receipts/, 'nothing is answered from it')
  rmSync(path)
  refused()
  writeFileSync(path, whole)
  loadSnapshot(dataDir, sequence)
})

t.test('the index finds each at once: places looked at are few, and the newest of a key counts', async (t) => {
  const stage = new Stage(sourceOf(0, 4096))
  for (let n = 0; n < 4096; n++) stage.order(n)
  const { state } = stage
  const { receiptIndexAt, receiptRoom } = state
  const places = receiptRoom.places * 2
  let longest = 0
  for (let block = 0; block <= receiptRoom.blocks; block++) {
    let run = 0
    for (let at = 0; at < 2 * places; at += 2) {
      run = state.i32[receiptIndexAt + block * places + (at % places)] === 0 ? 0 : run + 1
      longest = Math.max(longest, run)
    }
  }
  t.ok(longest < receiptRoom.blockReceipts, `${longest} of ${receiptRoom.blockReceipts} in a row`)
  t.equal(receiptRoom.blocks, 17)
  const none = new Int32Array(4)
  t.equal(findReceipt(state, 0, none, 0), -1)
})

t.test('keys that end alike and one key of many accounts', async (t) => {
  const stage = new Stage(sourceOf(1), filesIn(directory(t)))
  for (let n = 0; n < 300; n++) stage.order(n, { key: `${n.toString(16).padStart(24, '0')}ffffffff` })
  for (let n = 0; n < 300; n++) t.ok(hasRepeated(stage.order(n, { key: `${n.toString(16).padStart(24, '0')}ffffffff` })))
  stage.order(2, { key: 'ab'.repeat(16) })
  t.notOk(hasRepeated(stage.order(3, { key: 'ab'.repeat(16) })), 'another account, another key')
})

t.test('readers of other threads find pair and flags, in memory and in files', async (t) => {
  const { dataDir, stage } = kept(t)
  const other = attachState(stage.state.genesis, stage.state.buffers, createOutbox(1),
    readPageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, false))
  const gate = new Int32Array(new SharedArrayBuffer(64))
  for (const n of [0, 1, 3, 4, 999, RECEIPTS - 1]) {
    const answer = stage.order(n)
    const words = command.i32.slice(ORDER_COMMAND.at.key, ORDER_COMMAND.at.key + 4)
    t.same(readReceipt(other, gate, n % 3 === 0 ? 1 : 0, words), {
      pair: answer[RESULT.at.pair], flags: answer[RESULT.at.flags]! & ~Flag.REPEATED,
    })
    t.equal(readReceipt(other, gate, 5, words), 'unknown')
  }
})

t.test('files go when no snapshot has use for them', async (t) => {
  const { dataDir, stage, source, sequence } = kept(t)
  const second = fileOfPage(receiptDirectory(dataDir), PAGES)
  writeFileSync(second, '')
  pruneSnapshots(dataDir, 2)
  t.same(readdirSync(receiptDirectory(dataDir)).length, 2)
  // As if the oldest receipt were in the second file.
  const scalars = stage.state.scalars.slice()
  stage.state.scalars[SCALAR.RECEIPT_HEAD_PAGE] = stage.state.scalars[SCALAR.RECEIPT_TAIL_PAGE] = PAGES
  stage.state.clock[CLOCK.SEQUENCE]! += 1
  writeSnapshot(dataDir, stage.state, source, 1, 2)
  stage.state.scalars.set(scalars)
  pruneSnapshots(dataDir, 2)
  t.equal(readdirSync(receiptDirectory(dataDir)).length, 2, 'the older snapshot needs the first')
  loadSnapshot(dataDir, sequence)
  pruneSnapshots(dataDir, 1)
  t.same(readdirSync(receiptDirectory(dataDir)), ['00000001.pages'])
})

t.test('files: pages that cannot be written wait, and are written with the next', async (t) => {
  const dataDir = directory(t)
  const path = receiptDirectory(dataDir)
  const failures: string[] = []
  const files = writePageFiles(path, RECEIPT_PAGE_WORDS, { failed: (error) => failures.push(error.message), waitingMost: 4 })
  const pageOf = (value: number): Int32Array => new Int32Array(RECEIPT_PAGE_WORDS).fill(value)
  const read = (from: PageFiles, page: number): number => {
    const words = new Int32Array(RECEIPT_PAGE_WORDS)
    from.read(page, words, 0)
    return words.every((word) => word === words[0]) ? words[0]! : NaN
  }
  // A file stands where the directory should.
  writeFileSync(path, '')
  for (const page of [0, 1, PAGES]) files.write(page, pageOf(page + 5), 0)
  t.equal(failures.length, 1, 'is said once')
  t.same([0, 1, PAGES].map((page) => read(files, page)), [5, 6, PAGES + 5], 'they are read from memory meanwhile')
  t.throws(() => files.sync())
  t.equal(files.retry(), 3, 'they wait')
  rmSync(path)
  for (let look = 0; look < 100 && files.retry() > 0; look++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(files.retry(), 0, 'they are tried again without another page')
  files.write(2, pageOf(7), 0)
  files.sync()
  const other = readPageFiles(path, RECEIPT_PAGE_WORDS, true)
  t.same([0, 1, 2, 3, PAGES].map((page) => read(other, page)), [5, 6, 7, 0, PAGES + 5])
  removePages(path, PAGES)
  t.same(readdirSync(path), ['00000001.pages'])
  t.same([0, PAGES].map((page) => read(other, page)), [5, PAGES + 5], 'who needs a file keeps it open')
  t.same([0, PAGES].map((page) => read(readPageFiles(path, RECEIPT_PAGE_WORDS, false), page)), [0, PAGES + 5])
  files.drop(PAGES)
})

t.test('files: what waits is bounded, and forgotten when nobody needs it', async (t) => {
  const dataDir = directory(t)
  writeFileSync(receiptDirectory(dataDir), '')
  const files = writePageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, { failed: () => undefined, waitingMost: 4 })
  const words = new Int32Array(RECEIPT_PAGE_WORDS)
  for (const page of [0, 1, 2, 3]) files.write(page, words, 0)
  files.drop(2)
  t.equal(files.retry(), 2)
  for (const page of [4, 5]) files.write(page, words, 0)
  t.throws(() => files.write(6, words, 0), { name: 'SystemFault', disk: true, message: /make room/ })
})

t.test('who only reads a directory keeps in memory what is not in its files', async (t) => {
  const path = receiptDirectory(directory(t))
  const files = writePageFiles(path, RECEIPT_PAGE_WORDS, { failed: (error) => t.error(error) })
  const words = new Int32Array(RECEIPT_PAGE_WORDS)
  files.write(0, words.fill(5), 0)
  const store = memoryPages(readPageFiles(path, RECEIPT_PAGE_WORDS, true))
  for (const page of [0, 1]) store.write(page, words.fill(page + 5), 0)
  files.write(0, words.fill(9), 0)
  const seen = [0, 1].map((page) => {
    store.read(page, words, 0)
    return words[7]
  })
  t.same(seen, [9, 6])
  store.write(0, words.fill(5), 0)
  store.read(0, words, 0)
  t.equal(words[7], 5, 'what stands there otherwise is not taken for it')
})

t.test('files: of a page that is written twice the second counts', async (t) => {
  const dataDir = directory(t)
  const path = receiptDirectory(dataDir)
  writeFileSync(path, '')
  const files = writePageFiles(path, 8, { failed: () => undefined })
  const words = new Int32Array(8)
  for (let page = 0; page < 80; page++) files.write(page, words.fill(page), 0)
  rmSync(path)
  files.write(79, words.fill(-1), 0)
  for (let look = 0; look < 100 && files.retry() > 0; look++) await new Promise((resolve) => setTimeout(resolve, 20))
  files.sync()
  for (const page of [0, 78, 79]) {
    readPageFiles(path, 8, false).read(page, words, 0)
    t.equal(words[0], page === 79 ? -1 : page)
  }
})

t.test('files: few are open at once, unless others may remove them', async (t) => {
  const openOf = (path: string): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path)
      } catch {
        return false
      }
    }).length
  for (const [keep, most] of [[false, 8], [true, 20]] as const) {
    const path = receiptDirectory(directory(t))
    const files = writePageFiles(path, 8, { failed: (error) => t.error(error), keep })
    const words = new Int32Array(8)
    for (let file = 0; file < 20; file++) files.write(file * PAGES, words.fill(file + 1), 0)
    t.equal(openOf(path), most)
    if (keep) removePages(path, 21 * PAGES)
    for (let file = 19; file >= 0; file--) {
      files.read(file * PAGES, words, 0)
      t.equal(words[7], file + 1)
    }
    t.equal(openOf(path), most)
    if (!keep) files.sync()
    files.drop(20 * PAGES)
    t.equal(openOf(path), 0)
  }
})

t.test('what it may take', async (t) => {
  const { pages, blocks, places, numbers } = receiptRoomOf({ receipts: 2 ** 27, receiptPages: 2048 })
  t.ok(pages <= 2 ** 21, 'positions name every page')
  t.ok((places * 8 * (blocks + 1)) / 2 ** 27 < 14, 'bytes of index a receipt, all blocks in use')
  t.ok(numbers >= 2 ** 27)
  const stored = [1, 300, 2000, 86_400_000].map((receipts) => receiptRoomOf({ receipts, receiptPages: 0 }).numbers)
  t.same(stored, [16, 310, 2079, 89_100_000], 'numbers are stored: they stay what they were')
  const stage = new Stage(sourceOf(0, 2 ** 20))
  for (let n = 0; n < 1000; n++) stage.order(n)
  t.ok(stage.state.scalars[SCALAR.RECEIPT_PAGES_USED]! * RECEIPT_PAGE_WORDS * 4 < 1000 * 110, 'bytes a receipt')
  t.ok(stage.state.accounts[ACCOUNT.RECEIPTS]! > 0)
})
