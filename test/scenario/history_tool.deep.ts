/**
 * Promise: `npm run history` tells where the history is, proves it, finds what is wrong with it and makes it anew, and does not touch the
 * store of a running exchange.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockDirectory } from '../../core/data_dir.ts'
import { historyPath, openWriter } from '../../core/history/store/store.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'

const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const made = makeJournal(directory, { seed: 5, batches: 300, commands: 16 })
await made.database.close()
const end = made.after.at(-1)!.last

interface Said {
  code: number | null
  json: Record<string, unknown>
  text: string
  errors: string
}

function history(...flags: string[]): Said {
  const main = join(import.meta.dirname, '..', '..', 'core', 'history', 'main.ts')
  const run = ['--disable-warning=ExperimentalWarning', main, ...flags]
  const { status, stdout, stderr } = spawnSync(process.execPath, run, { encoding: 'utf8' })
  const json = stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {}
  return { code: status, json, text: stdout, errors: stderr }
}
const tool = (name: string): Said => history(name, '--data-dir', directory)

t.test('help and wrong calls', async (t) => {
  const help = history('--help')
  t.equal(help.code, 0, 'help is no failure')
  for (const word of ['status', 'verify', 'rebuild', '--data-dir']) t.match(help.text, word, `help names ${word}`)
  t.equal(history().code, 2, 'nothing asked')
  t.match(history('repair'), { code: 2, errors: /unknown call: repair. Try --help/ })
  t.match(history('status', '--data', 'x'), { code: 2, errors: /--data/ })
  t.match(history('toString'), { code: 2, errors: /unknown call/ })
})

t.test('no history yet', async (t) => {
  t.match(tool('status'), { code: 2, errors: /there is no history/ })
  t.match(tool('verify'), { code: 2, errors: /there is no history/ })
  t.notOk(existsSync(historyPath(directory)), 'looking makes none')
})

t.test('rebuild, status, verify', async (t) => {
  t.match(tool('rebuild'), { code: 0, json: { sequence: end } })
  t.match(tool('status'), { code: 0, json: { sequence: end, journal: end, behind: 0 } })
  const verified = tool('verify')
  t.match(verified, { code: 0, json: { sequence: end, verdict: 'ok', differences: [] } })
  const rows = verified.json['rows'] as Record<string, number>
  t.ok(rows['order_page']! > 0 && rows['posting_page']! > 0 && rows['account_hour_page']! > 0, 'it compared something')
  t.strictSame(readdirSync(directory).filter((name) => /rebuilding|verifying|copy/.test(name)), [], 'nothing is left lying')
})

t.test('what is wrong is found and mended', async (t) => {
  const spoil: [table: string, sql: string, what: string][] = [
    ['order_page', 'update order_page set records = zeroblob(length(records)) where id = (select max(id) from order_page)', 'other'],
    ['trade_page', 'delete from trade_page where id = (select max(id) from trade_page)', 'missing'],
    ['price_hour_page', "insert into price_hour_page values (1, x'05')", 'more'],
    ['account_hour_page', 'delete from account_hour_page where id = (select min(id) from account_hour_page)', 'missing'],
  ]
  for (const [table, sql, what] of spoil) {
    const database = openWriter(historyPath(directory))
    database.exec(sql)
    database.close()
    t.match(tool('verify'), { code: 1, json: { verdict: 'DIFFERENT', differences: [{ table, what }] } }, `${table}: ${what}`)
    t.equal(tool('rebuild').code, 0, 'rebuilt')
    t.match(tool('verify'), { code: 0, json: { verdict: 'ok' } }, 'mended')
  }
})

t.test('while an exchange runs', async (t) => {
  const lock = await lockDirectory(directory)
  t.match(tool('rebuild'), { code: 2, errors: /exchange runs/ })
  t.match(tool('verify'), { code: 0, json: { verdict: 'ok' } })
  t.equal(tool('status').code, 0, 'status reads only')
  lock.release()
})
