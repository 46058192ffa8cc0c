/** A process for crash/receipt_pages_synced.test.ts: writes pages of receipts into two files, then a snapshot. DATA_DIRECTORY GENESIS. */
import { readFileSync } from 'node:fs'
import { PAGES } from '../../core/lib/page_files.ts'
import { receiptFiles, snapshotFiles } from '../../core/snapshot/file.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { RECEIPT_PAGE_WORDS } from '../../core/state/receipt_room.ts'
import { createState } from '../../core/state/state.ts'

const [dataDir, path] = process.argv.slice(2) as [string, string]
const genesis = readFileSync(path, 'utf8')
const failed = (error: Error): void => {
  throw error
}
const pages = receiptFiles(dataDir, { failed })
for (const page of [PAGES - 1, PAGES]) pages.write(page, new Int32Array(RECEIPT_PAGE_WORDS).fill(page), 0)
snapshotFiles(dataDir, pages).write(createState(parseGenesis(genesis)), genesis, 0, 0)
