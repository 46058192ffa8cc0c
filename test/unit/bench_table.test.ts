/** Figures of bench/README.md stand in the line of results that their row names, and their verdicts are those of that line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FAST_PATH_FILE, fastPath, fastPathText, type FastPathRow } from '../../bench/fast_path.ts'
import { fill, problems, readLines, UNMEASURED, type Line } from '../../bench/table.ts'
import { verdict } from '../../bench/verdict.ts'

const bench = join(import.meta.dirname, '..', '..', 'bench')

t.test('every figure of bench/README.md is that of its run', async (t) => {
  const text = readFileSync(join(bench, 'README.md'), 'utf8')
  t.ok(text.split('\n').filter((row) => row.startsWith('| `')).length > 20, 'the table was found')
  t.strictSame(problems(text, readLines(join(bench, 'results'))), [])
})

t.test('every figure of the guide\'s fast path is that of its run', async (t) => {
  const text = readFileSync(FAST_PATH_FILE, 'utf8')
  const rows = JSON.parse(text) as FastPathRow[]
  const runs = Object.fromEntries(rows.map(({ way, at }) => [way, at]))
  t.equal(rows.length, 7)
  t.equal(text, fastPathText(fastPath(readLines(join(bench, 'results')), runs)))
})

const line = (at: string, figures: Record<string, number>): Line =>
  ({ at, name: 'ring', settings: {}, figures, targets: [{ figure: 'records/s', atLeast: 1000, unit: 'records/s' }] })
const RUNS = [
  line('2026-01-01T00:00:00.000Z', { 'records/s': 2000, 'p50, ms': 1.234 }), line('2026-01-02T00:00:00.000Z', { 'records/s': 990 }),
]
const lines = (name: string): readonly Line[] => (name === 'ring' ? RUNS : [])
const HEAD = ['| bench | figure | measured | line | run |', '|---|---|---|---|---|']
const table = (...rows: string[]): string => [...HEAD, ...rows].join('\n')

t.test('rows are filled from the newest run that has the figure', async (t) => {
  const empty = table(...['records/s', 'p50, ms', 'p99, ms'].map((figure) => `| \`ring\` | \`${figure}\` words | ? | ? | ? |`))
  const filled = fill(empty, lines)
  t.equal(filled, table(
    '| `ring` | `records/s` words | 990 | >= 1,000: at the line | 2026-01-02T00:00:00.000Z |',
    '| `ring` | `p50, ms` words | 1.23 |  | 2026-01-01T00:00:00.000Z |',
    `| \`ring\` | \`p99, ms\` words | ${UNMEASURED} |  |  |`,
  ))
  t.strictSame(problems(filled, lines), [])
})

t.test('a figure without a line is found, and one that says another thing than its line', async (t) => {
  const wrong = [
    '| `ring` | `records/s` | 990 | >= 1,000: at the line | 2026-01-03T00:00:00.000Z |',
    '| `ring` | `records/s` | 990 | >= 1,000: at the line |  |',
    '| `ring` | `p50, ms` | 1.23 |  | 2026-01-02T00:00:00.000Z |',
    '| `rings` | `records/s` | 2,000 | >= 1,000: met | 2026-01-01T00:00:00.000Z |',
    '| `ring` | `records/s` | 1,990 | >= 1,000: met | 2026-01-01T00:00:00.000Z |',
    '| `ring` | `records/s` | 990 | >= 1,000: met | 2026-01-02T00:00:00.000Z |',
    '| `ring` | `records/s` | 2,000 | >= 500: met | 2026-01-01T00:00:00.000Z |',
    '| `ring` | `records/s` | 2,000 |  | 2026-01-01T00:00:00.000Z |',
    `| \`ring\` | \`p99, ms\` | ${UNMEASURED} | <= 5: met |  |`,
    '| `ring` | records/s | 2,000 | >= 1,000: met | 2026-01-01T00:00:00.000Z |',
  ]
  for (const row of wrong) t.equal(problems(table(row), lines).length, 1, row)
})

t.test('within 5 % of its line a figure is at the line', async (t) => {
  const least = { figure: 'x', atLeast: 100, unit: '' }
  const most = { figure: 'x', atMost: 100, unit: '' }
  const values = [106, 104, 100, 96, 94]
  const near = ['at the line', 'at the line', 'at the line']
  t.strictSame(values.map((value) => verdict(value, least)), ['met', ...near, 'missed'])
  t.strictSame(values.map((value) => verdict(value, most)), ['missed', ...near, 'met'])
  t.strictSame([0, 1].map((value) => verdict(value, { figure: 'x', atMost: 0, unit: '' })), ['met', 'missed'])
})
