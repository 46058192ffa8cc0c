/**
 * Promise: what was exported yesterday is exported the same tomorrow: names of files and columns, ids, decimals, times and their order.
 *
 * test/recorded/rooms_listing.export/ has a part of that journal as lines and as CSV. A change that adds a column writes it anew:
 * `RECORD=1 npm test -- test/property/recorded_export.test.ts`, and the difference says what scripts of users will see.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { exportJournal } from '../../core/replay/export.ts'
import { KINDS } from '../../core/replay/kinds.ts'
import { exportedLines } from '../support/exported_lines.ts'
import { ownDirectory, RECORDED, recordedJournal } from '../support/recorded_journal.ts'

const SAMPLE = join(RECORDED, 'rooms_listing.export')
const [FROM, TO] = [950, 1012]
const LINES = 'commands.ndjson'

t.test('a part of a recorded journal is exported as it is checked in', async (t) => {
  const dataDir = recordedJournal(t, 'rooms_listing')
  const out = join(ownDirectory(t), 'out')
  exportJournal(
    { dataDir, from: FROM, to: TO, format: 'csv', kinds: KINDS, out, about: {} }, () => undefined, (text) => t.fail(text),
  )
  const lines = exportedLines(dataDir).lines.filter(({ sequence }) => Number(sequence) >= FROM && Number(sequence) <= TO)
  writeFileSync(join(out, LINES), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const files = readdirSync(out)
  if ((process.env['RECORD'] ?? '') !== '') {
    rmSync(SAMPLE, { recursive: true, force: true })
    mkdirSync(SAMPLE)
    for (const file of files) writeFileSync(join(SAMPLE, file), readFileSync(join(out, file)))
  }
  t.strictSame(readdirSync(SAMPLE).sort(), files.sort())
  for (const file of files) t.equal(readFileSync(join(out, file), 'utf8'), readFileSync(join(SAMPLE, file), 'utf8'), file)
})
