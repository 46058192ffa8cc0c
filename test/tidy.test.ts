/**
 * The tree checks itself: layering, banned calls, sizes, leftovers, files nobody reaches.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..')
const files = globSync(['core/**/*.ts', 'gateway/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'], { cwd: root }).sort()
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

/** Folders whose code must be a function of the commands alone. */
const PURE = [
  'layout', 'state', 'events', 'ledger', 'margin', 'book', 'programs', 'orders', 'liquidation', 'engine',
].map((folder) => `core/${folder}/`)
/** What the gateway may know of the core: records, rings, registers and read-only views; not how the state changes. */
const GATEWAY_MAY_IMPORT = [
  'core/layout/',
  'core/ring/',
  'core/lib/',
  'core/view/',
  'core/settlement/',
  'core/config.ts',
  'core/certificates.ts',
  'core/threads.ts',
  'core/history/answer/queries.ts',
  'core/history/answer/vault_queries.ts',
  'core/programs/faucet.ts',
].concat(['columns', 'state', 'outbox', 'genesis', 'receipt_room', 'sweeper', 'vault_rows'].map((name) => `core/state/${name}.ts`))
/**
 * The rooms of the core from the ground up: a file imports from its own room and those before it. Entry points are above all of them, and
 * nobody imports one.
 */
const ROOMS = [
  'core/lib', 'core/layout', 'core/state', 'core/events', 'core/ledger', 'core/margin', 'core/book', 'core/programs', 'core/orders',
  'core/liquidation', 'core/engine',
  'core/ring', 'core/view', 'core/config.ts', 'core/data_dir.ts', 'core/operator_token.ts', 'core/threads.ts', 'core/supervisor',
  'core/settlement', 'core/journal', 'core/snapshot', 'core/history/store', 'core/archive', 'core/recovery', 'core/history/project',
  'core/history/answer', 'core/history',
  'core/sequencer', 'core/replay', 'core/backup', 'core', 'core/exchange',
]
/**
 * The rooms of the gateway, in the same way. What all of them use stands first; then who may send how much, the embedded chain, who it is,
 * the way to the engine, what a thread works with, what is asked for, streams of signed messages; then the transports and documents.
 */
const GATEWAY_ROOMS = [
  ...['refused', 'faults', 'request_id', 'bounded_map', 'one_by_one', 'background'].map((name) => `gateway/${name}.ts`),
  'gateway/limits', 'gateway/chain', 'gateway/auth', 'gateway/bridge', 'gateway/context.ts', 'gateway/operations', 'gateway/stream',
  'gateway/http', 'gateway/ws', 'gateway/docs', 'gateway/http/documents.ts', 'gateway/http/dispatch.ts', 'gateway/grpc',
  'gateway/operator', 'gateway/client', 'gateway/generate', 'gateway',
]
/** Files that a thread or process begins with. */
const ENTRIES = ['main', 'follower', 'thread', 'reader', 'scrub_follower'].map((name) => `${name}.ts`)
const LINE = 140
const FUNCTION_LINES = 70
const FILE_LINES = 450

function imports(file: string): string[] {
  const source = sources.get(file)!
  return [...source.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1]!)
}

/** A file that a thread or process begins with; `journal/reader.ts` and `supervisor/follower.ts` are modules of that name. */
const isEntry = (file: string): boolean =>
  ENTRIES.includes(basename(file)) && !['core/journal/reader.ts', 'core/supervisor/follower.ts'].includes(file)

const resolved = (file: string, target: string): string => relative(root, join(root, dirname(file), target))

/** Columns of a README outside of tables and of what is shown as it is. */
const PROSE = 120

t.test('lines of READMEs fit a screen', async (t) => {
  const found = globSync('**/README.md', { cwd: root, exclude: (path) => path.split('/').includes('node_modules') })
  t.ok(found.length >= 5, 'they were found')
  const long = found.flatMap((file) => {
    let shown = false
    return readFileSync(join(root, file), 'utf8').split('\n').flatMap((line, index) => {
      if (line.startsWith('```')) shown = !shown
      return shown || line.startsWith('|') || line.length <= PROSE ? [] : [`${file}: line ${index + 1} has ${line.length} columns`]
    })
  })
  t.strictSame(long, [])
})

/** Runs `check` over every file; what it returns is what is wrong there. */
function everyFile(name: string, check: (file: string, source: string) => string[]): void {
  t.test(name, async (t) => {
    t.ok(files.length > 50, 'the tree was found')
    t.strictSame(
      [...sources].flatMap(([file, source]) => check(file, source).map((problem) => `${file}: ${problem}`)),
      [],
    )
  })
}

everyFile('the engine imports no Node built-in, no package, and reads no clock, randomness, environment or locale', (file, source) => {
  const banned =
    /Date\.now|new Date\(\)|Math\.random|process\.|performance\.now|crypto\.|toLocale|Intl\.|localeCompare|setTimeout|\bfor \(const \w+ in /
  if (!PURE.some((folder) => file.startsWith(folder))) return []
  const call = banned.exec(source)?.[0]
  return [...imports(file).filter((target) => !target.startsWith('.')), ...(call === undefined ? [] : [call])]
})

everyFile('core imports nothing of the gateway, the gateway only records, rings, registers and views of the core', (file) => {
  const targets = imports(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => resolved(file, target))
  if (file.startsWith('core/')) return targets.filter((target) => !target.startsWith('core/'))
  if (!file.startsWith('gateway/')) return []
  return targets.filter((target) => target.startsWith('core/') && !GATEWAY_MAY_IMPORT.some((prefix) => target.startsWith(prefix)))
})

/**
 * Who works out where a row is: the accessors, the tables of fields, the pages of receipts, which are no rows; and the invariants,
 * which look at the memory themselves, so that a fault of an accessor does not hide itself.
 */
const ADDRESSES_ROWS = ['rows.ts', 'columns.ts', 'memory.ts', 'receipt_', 'invariants'].map((name) => `core/state/${name}`)
/** Columns whose rows have a width: `ORDER` of ORDER_WORDS ... Limits are numbers of one kind, without a row function. */
const widths = ['columns', 'listing_rows'].flatMap((name) => {
  const found = sources.get(`core/state/${name}.ts`)!.matchAll(/^export const (\w+)_WORDS = /gm)
  return [...found].map(([, column]) => column!).filter((column) => column !== 'LIMIT')
})

everyFile('rows are read and written by name, not by arithmetic on their place', (file, source) => {
  if (!/^(core|gateway)\//.test(file) || ADDRESSES_ROWS.some((prefix) => file.startsWith(prefix))) return []
  const byHand = new RegExp(`\\* (${widths.join('|')})_WORDS\\b|& ADDRESS_BITS|\\b(SCALARS|CLOCK)_AT \\+`)
  const found = byHand.exec(source)?.[0]
  return found === undefined ? [] : [`"${found}" belongs into core/state/rows.ts`]
})

/** Place of a file in a list of rooms: of the longest name that it is or lies in. */
function roomOf(file: string, rooms: readonly string[] = ROOMS): number {
  const within = rooms.filter((room) => file === room || file.startsWith(`${room}/`))
  return rooms.indexOf(within.sort((a, b) => b.length - a.length)[0]!)
}

everyFile('the rooms of the gateway import from those before them', (file) => {
  if (!file.startsWith('gateway/')) return []
  const targets = imports(file).filter((target) => target.startsWith('.')).map((target) => resolved(file, target))
  return targets.filter((target) => target.startsWith('gateway/') && roomOf(target, GATEWAY_ROOMS) > roomOf(file, GATEWAY_ROOMS))
})

everyFile('the rooms of the core import from those below them', (file) => {
  if (!file.startsWith('core/') || isEntry(file)) return []
  const targets = imports(file).filter((target) => target.startsWith('.')).map((target) => resolved(file, target))
  return targets.filter((target) => roomOf(target) > roomOf(file) || isEntry(target))
})

everyFile('no file of the core or the gateway imports itself by way of others', (file) => {
  if (!/^(core|gateway)\//.test(file)) return []
  const seen = new Set<string>()
  const visit = (at: string): boolean =>
    imports(at).filter((target) => target.startsWith('.')).map((target) => resolved(at, target)).some((target) => {
      if (target === file) return true
      if (seen.has(target) || !sources.has(target)) return false
      seen.add(target)
      return visit(target)
    })
  return visit(file) ? ['is part of a circle'] : []
})

everyFile('lines, functions and files fit a screen', (_file, source) => {
  const lines = source.split('\n')
  return [
    ...(lines.length > FILE_LINES ? [`${lines.length} lines`] : []),
    ...lines.flatMap((line, i) => (line.length > LINE ? [`line ${i + 1} has ${line.length} columns`] : [])),
    ...functionsOf(lines).flatMap(({ name, length }) => (length > FUNCTION_LINES ? [`${name} has ${length} lines`] : [])),
  ]
})

const MARKER = new RegExp(
  ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'not implem' + 'ented', '\\.on' + 'ly\\(', 'debug' + 'ger;', '@ts-ig' + 'nore'].join('|'),
)
everyFile('nothing is left over', (_file, source) => MARKER.exec(source)?.slice(0, 1) ?? [])

everyFile('every test asserts something, and every relative import exists', (file, source) => {
  const missing = imports(file).filter((target) => target.startsWith('.') && !existsSync(join(root, resolved(file, target))))
  const asserts = /\bt\.(ok|notOk|equal|not|same|strictSame|match|throws|rejects|resolves)\b|\bplay\(t,/.test(source)
  return [...missing, ...(/\.(test|deep)\.ts$/.test(file) && !asserts ? ['asserts nothing'] : [])]
})

everyFile('every test is in a suite: *.test.ts or *.deep.ts', (file, source) => {
  if (!file.startsWith('test/') || !/^import t\b.* from 'tap'$/m.test(source)) return []
  return /\.(test|deep)\.ts$/.test(file) && file.split('/').length <= 4 ? [] : ['no suite runs it']
})

const reached = reach()
everyFile('every file is reached from an npm script or a test', (file) => (reached.has(file) ? [] : ['unreachable']))

/** Files that scripts and tests import, or name as the file of a thread, process or bench. */
function reach(): Set<string> {
  const seen = new Set<string>()
  const scripts = readFileSync(join(root, 'package.json'), 'utf8')
  const visit = (file: string): void => {
    if (seen.has(file) || !sources.has(file)) return
    seen.add(file)
    for (const target of imports(file)) if (target.startsWith('.')) visit(resolved(file, target))
    for (const [, name] of sources.get(file)!.matchAll(/'((?:[\w-]+\/)*[\w-]+\.ts)'/g)) {
      for (const known of files) if (known.endsWith(`/${name}`)) visit(known)
    }
  }
  for (const file of files)
    if (scripts.includes(file) || /\.(test|deep)\.ts$/.test(file) || file.startsWith('bench/micro') || file.startsWith('bench/system'))
      visit(file)
  return seen
}

/** Top-level and nested functions by their opening line and the line that closes at the same indentation. */
function functionsOf(lines: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = []
  lines.forEach((line, start) => {
    const head = /^(\s*)(?:export )?(?:async )?function\*? (\w+)|^(\s*)(?:export )?const (\w+) = (?:async )?\([^)]*\)[^=]*=> \{$/.exec(
      line,
    )
    if (head === null) return
    const indent = head[1] ?? head[3] ?? ''
    const end = lines.findIndex((other, i) => i > start && other.startsWith(`${indent}}`))
    if (end > 0) found.push({ name: (head[2] ?? head[4])!, length: end - start + 1 })
  })
  return found
}
