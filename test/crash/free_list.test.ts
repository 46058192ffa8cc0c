/**
 * Promise: a start does not write by a list of free pages that names a page in use, whichever kind of page that is, and takes every list
 * that LMDB itself wrote, also large ones, in the middle of trading.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dataFile, JournalError } from '../../core/journal/file.ts'
import { checkFreeList } from '../../core/journal/free_list.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal, openAccount, startMatcher } from '../support/journal.ts'
import { pageKinds } from '../support/journal_torture.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/crash/free_list.test.ts`)
t.setTimeout(120_000)
const PAGE = 4096
const random = createPrng(SEED)
const made = temporaryDirectory()
const { database } = makeJournal(made, { seed: SEED, batches: 260, commands: 48 })
await database.close()
t.teardown(() => removeDirectory(made))
const file = readFileSync(dataFile(made))
const kinds = pageKinds(file)

/** Offset of the first page number in the list of free pages, which is a single page in a journal like this. */
function firstListed(): number {
  const page = kinds.indexOf('free list')
  const node = page * PAGE + 24 + file.readUInt16LE(page * PAGE + 24)
  return node + 8 + file.readUInt16LE(node + 6) + 8
}

/** A copy of the journal whose list names this page. */
function listing(t: Test, page: number): string {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  cpSync(join(made, 'journal'), join(directory, 'journal'), { recursive: true })
  const bytes = Buffer.from(file)
  bytes.writeBigInt64LE(BigInt(page), firstListed())
  writeFileSync(dataFile(directory), bytes)
  return directory
}

t.test('as LMDB wrote it', async () => checkFreeList(made))

for (const kind of ['branch', 'leaf', 'overflow head', 'overflow body', 'free list'] as const) {
  t.test(`a listed page that is in use: ${kind}`, async (t) => {
    const pages = kinds.flatMap((each, page) => (each === kind ? [page] : []))
    for (let count = 0; count < Math.min(6, pages.length); count++) {
      const page = pages[random.below(pages.length)]!
      const words = new RegExp(`names page ${page}, which is in use; restore it from a backup`)
      t.throws(() => checkFreeList(listing(t, page)), words, `${page}`)
    }
  })
}

t.test('a listed page that is none', async (t) => {
  for (const page of [1, kinds.length, 2 ** 40]) t.throws(() => checkFreeList(listing(t, page)), JournalError, `${page}`)
  t.throws(() => startMatcher(listing(t, kinds.indexOf('leaf'))), /list of free pages names page/, 'nobody writes by it')
})

/** Transactions that left a list behind, by the newest meta page. */
const listsOf = (bytes: Buffer): number =>
  Number(bytes.readBigUInt64LE((bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(PAGE + 152) ? 0 : PAGE) + 80))

t.test('lists that grow, because somebody reads for long', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const matcher = startMatcher(directory)
  let most = 0
  for (let round = 0; round < 160; round++) {
    // A read transaction that stays open keeps pages from being used again; each goes after a while, and a flood of them becomes free.
    if (round % 80 === 0) matcher.database.useReadTransaction()
    openAccount(matcher, 1, `u${round}`)
    checkFreeList(directory)
    most = Math.max(most, listsOf(readFileSync(dataFile(directory))))
    if (round % 80 === 79) matcher.database.resetReadTxn()
  }
  t.ok(most > 40, `${most} lists at once`)
  await matcher.database.close()
})
