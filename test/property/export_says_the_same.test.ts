/**
 * Promise: what export tells people is what the journal has: from its decimals, ids and names the engine's own numbers can be made again,
 * and every format and every row says the same as the lines. Over recorded journals, which have every command there is.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { answerColumns } from '../../core/replay/answer_columns.ts'
import { exportJournal, type ExportCall, type Format } from '../../core/replay/export.ts'
import { KINDS } from '../../core/replay/kinds.ts'
import { openSource, printable } from '../../core/replay/steps.ts'
import { parseCsv } from '../support/csv.ts'
import { exportedLines } from '../support/exported_lines.ts'
import { readParquet } from '../support/parquet.ts'
import { ownDirectory, recordedJournal } from '../support/recorded_journal.ts'
import { ANSWER_INVERSES, COMMAND_INVERSES, differences, EVENT_INVERSES, type Told } from '../support/told_records.ts'

function exported(dataDir: string, out: string, format: Format, more: Partial<ExportCall> = {}): ReturnType<typeof exportJournal> {
  const call = { dataDir, from: 2, to: Number.MAX_SAFE_INTEGER, format, kinds: KINDS, out, about: {}, ...more }
  return exportJournal(call, () => undefined, (text) => t.fail(text))
}

for (const name of ['spot_market', 'identity_family', 'identity_applications', 'layouts_family', 'origins_own', 'rooms_listing']) {
  t.test(`${name}: the engine's numbers come back from what people are told`, async (t) => {
    const dataDir = recordedJournal(t, name)
    const { lines, names } = exportedLines(dataDir)
    const { genesis } = names.state
    let checked = 0
    const wrong: string[] = []
    let index = 0
    for (const step of openSource(dataDir).steps) {
      const raw = printable(step) as Told
      const line = lines[index++] ?? {}
      const compare = (inverses: (typeof EVENT_INVERSES)[string] | undefined, told: Told, record: Told): void => {
        checked += Object.keys(inverses ?? {}).length
        const found = differences(inverses ?? {}, told, record, genesis, raw['layout'] === 1)
        wrong.push(...found.map((text) => `${String(raw['sequence'])} ${String(raw['command'])}: ${text}`))
      }
      for (const same of ['sequence', 'time', 'command']) if (raw[same] !== line[same]) wrong.push(`${String(raw['sequence'])}: ${same}`)
      const [events, told] = [raw['events'] as Told[], line['events'] as Told[]]
      if (events.length !== told.length) wrong.push(`${String(raw['sequence'])}: ${events.length} events, told ${told.length}`)
      compare(COMMAND_INVERSES[raw['command'] as string], line, raw)
      events.forEach((event, at) => {
        if (event['event'] !== told[at]?.['event']) wrong.push(`${String(raw['sequence'])}: ${String(event['event'])}`)
        const isDone = event['event'] === 'RESULT' && event['code'] === 0
        compare(isDone ? ANSWER_INVERSES[raw['command'] as string] : EVENT_INVERSES[event['event'] as string], told[at]!, event)
      })
    }
    t.equal(index, lines.length)
    t.ok(checked > 300, `${checked} fields were held against each other`)
    t.strictSame(wrong.slice(0, 20), [])
  })
}

/** The first that differs: to compare thousands of rows as one value takes minutes when they differ. */
function difference(found: readonly unknown[], expected: readonly unknown[]): string | null {
  const texts = [found, expected].map((rows) => rows.map((row) => JSON.stringify(row))) as [string[], string[]]
  const at = texts[0].findIndex((text, index) => text !== texts[1][index])
  if (at < 0 && found.length === expected.length) return null
  return at < 0 ? `${found.length} rows, not ${expected.length}` : `row ${at}: ${texts[0][at]!} is not ${String(texts[1][at])}`
}

const withoutNulls = (row: Told): Told => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

/** The row that a line makes of a command: what was done as its answer says, what was refused as it was asked for. */
function rowOf(line: Told): Told {
  const { events, ...asked } = line
  const { event: _event, ...answer } = (events as Told[]).at(-1)!
  if (answer['refusal'] !== undefined) return { ...answer, ...asked }
  const answers = answerColumns(CommandType[line['command'] as keyof typeof CommandType], 0).map(({ name }) => name)
  return { ...Object.fromEntries(Object.entries(asked).filter(([name]) => !answers.includes(name))), ...answer }
}

const EVENTS: Readonly<Record<string, string>> = {
  FILL: 'fills', ORDER_ENDED: 'ended_orders', LABEL: 'client_order_ids', CREDIT: 'credits', SELF_TRADE: 'self_trades',
}

t.test('rows of every kind say what the lines say, in NDJSON, CSV and Parquet alike', async (t) => {
  for (const name of ['rooms_listing']) {
    const dataDir = recordedJournal(t, name)
    const root = ownDirectory(t)
    for (const format of ['ndjson', 'csv', 'parquet'] as const) exported(dataDir, join(root, format), format)
    const { lines } = exportedLines(dataDir)
    let rows = 0
    for (const kind of KINDS) {
      const path = (format: string): string => join(root, format, `${kind.name}.${format}`)
      const ndjson = readFileSync(path('ndjson'), 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as Told)
      const csv = parseCsv(readFileSync(path('csv'), 'utf8'), kind.fields).map(withoutNulls)
      t.equal(difference(csv, ndjson), null, `${name}: CSV of ${kind.name}`)
      const parquet = (await readParquet(path('parquet'), kind.fields)).map(withoutNulls)
      t.equal(difference(parquet, ndjson), null, `${name}: Parquet of ${kind.name}`)
      const events = lines.flatMap((line) => (line['events'] as Told[]).flatMap(({ event, ...told }) =>
        (EVENTS[event as string] === kind.name ? [{ sequence: line['sequence'], time: line['time'], ...told }] : [])))
      const commands = new Set(ndjson.map((row) => row['command']))
      const asked = lines.filter((line) => commands.has(line['command']) && line['command'] !== undefined)
      const expected = events.length > 0 ? events : asked.map(rowOf)
      t.equal(difference(ndjson.map(sorted), expected.map(sorted)), null, `${name}: rows of ${kind.name}`)
      rows += ndjson.length
    }
    const all = lines.length + lines.flatMap((line) => line['events'] as Told[]).filter(({ event }) => event !== 'RESULT').length
    t.equal(rows, all, 'every command and every event has its row')
  }
})

t.test('an order that a command entered has a row among the orders, and the command one row and one line', async (t) => {
  const dataDir = recordedJournal(t, 'margin_trading')
  const out = ownDirectory(t)
  exported(dataDir, out, 'ndjson')
  const rowsOf = (kind: string): Told[] =>
    readFileSync(join(out, `${kind}.ndjson`), 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as Told)
  const { lines } = exportedLines(dataDir)
  t.equal(new Set(lines.map(({ sequence }) => sequence)).size, lines.length, 'a line for each command')
  const answers = (line: Told): Told[] => (line['events'] as Told[]).filter(({ event }) => event === 'RESULT')
  const entering = lines.filter((line) => answers(line).length > 1)
  t.ok(entering.length > 0 && entering.every(({ command }) => command === 'LIQUIDATION_STEP'))
  const entered = entering.flatMap((line) => answers(line).slice(0, -1).map(({ event: _event, ...told }) => {
    const { sequence, time } = line
    return withoutNulls({ sequence, time, command: 'ENTER_ORDER', ...told })
  }))
  const found = rowsOf('orders').filter(({ origin }) => origin === 'LIQUIDATION').map(withoutNulls)
  t.equal(difference(found.map(sorted), entered.map(sorted)), null)
  const steps = (all: readonly Told[]): unknown[] =>
    all.filter(({ command }) => command === 'LIQUIDATION_STEP').map(({ sequence }) => sequence)
  t.strictSame(steps(rowsOf('perpetual_settings')), steps(lines))
})

const sorted = (row: Told): [string, unknown][] => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))

const numbers = (lines: readonly Told[]): string => lines.map(({ sequence }) => String(sequence)).join(' ')

t.test('an export of one user or pair is what names them, and nothing else', async (t) => {
  const dataDir = recordedJournal(t, 'identity_family')
  const { lines } = exportedLines(dataDir)
  const fill = lines.flatMap((line) => line['events'] as Told[]).find(({ event }) => event === 'FILL')!
  const user = fill['makerUserId'] as string
  const named = (text: unknown) => (line: Told): boolean => JSON.stringify(line).includes(`"${String(text)}"`)
  const ofUser = exportedLines(dataDir, { user })
  t.equal(numbers(ofUser.lines), numbers(lines.filter(named(user))), 'lines of a user')
  t.ok(ofUser.lines.length > 20 && ofUser.lines.length < lines.length / 2)
  const account = Number(`0x${user.slice(19, 28).replace('-', '')}`) & 0x3fffffff
  const wallet = ofUser.names.wallet(account)
  const ofWallet = exportedLines(dataDir, { user: wallet }).lines
  t.ok(ofUser.lines.every((line) => ofWallet.some((other) => other['sequence'] === line['sequence'])), 'a wallet is all of its accounts')
  const upper = exportedLines(dataDir, { user: wallet.toUpperCase().replace('0X', '0x') }).lines
  t.equal(numbers(upper), numbers(ofWallet), 'in upper case too')
  const pair = fill['pair'] as string
  const ofPair = (line: Told): boolean => JSON.stringify(line).includes(`"pair":"${pair}"`)
  t.equal(numbers(exportedLines(dataDir, { pair }).lines), numbers(lines.filter(ofPair)), 'lines of a pair')

  const out = ownDirectory(t)
  exported(dataDir, join(out, 'pair'), 'csv', { about: { user, pair } })
  const rows = readdirSync(join(out, 'pair')).flatMap((file) => {
    const kind = KINDS.find(({ name }) => file === `${name}.csv`)!
    return parseCsv(readFileSync(join(out, 'pair', file), 'utf8'), kind.fields).map(withoutNulls)
  })
  t.ok(rows.length > 0 && rows.every(named(user)) && rows.every(ofPair), 'rows of both')
})

t.test('a range of sequences is those of the whole', async (t) => {
  const dataDir = recordedJournal(t, 'layouts_family')
  const out = ownDirectory(t)
  exported(dataDir, join(out, 'all'), 'ndjson')
  const { commands } = exported(dataDir, join(out, 'part'), 'ndjson', { from: 500, to: 700 })
  t.equal(commands, 201)
  for (const { name } of KINDS) {
    const read = (part: string): string[] => readFileSync(join(out, part, `${name}.ndjson`), 'utf8').split('\n').slice(0, -1)
    const within = read('all').filter((line) => {
      const { sequence } = JSON.parse(line) as { sequence: number }
      return sequence >= 500 && sequence <= 700
    })
    t.equal(difference(read('part'), within), null, name)
  }
})
