/**
 * `npm run bench -- NAME ...`: runs benches, each in a process of its own, prints every figure with its settings and its line, and
 * appends one JSON line to results/NAME.ndjson. Figures are of this machine and this minute; ratios are measured within one run.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { QUICK, type Result } from './result.ts'
import { FAST_PATH_FILE, fastPath, fastPathText } from './fast_path.ts'
import { fill, readLines } from './table.ts'
import { held, shown } from './verdict.ts'

interface Bench {
  readonly file: string
  /** What a run takes on two quiet cores. */
  readonly seconds: number
  readonly what: string
}

const LOCAL = 'client on the same cores'
/** In the order of `all`: those that want the quietest machine first. */
const BENCHES: Readonly<Record<string, Bench>> = {
  core: {
    file: './micro/core.ts', seconds: 55,
    what: 'the engine alone: mixed flow, 10 k live orders; garbage, percentiles, ratio to nodejs-order-book',
  },
  margin: { file: './micro/margin.ts', seconds: 40, what: 'the engine alone, half of the flow on a perpetual' },
  liquidation: { file: './micro/liquidation.ts', seconds: 30, what: 'a price at which 10,000 of 100,000 positions fail: orders meanwhile' },
  triggers: { file: './micro/triggers.ts', seconds: 30, what: 'a price that crosses 10,000 of 100,000 conditional orders' },
  programs: {
    file: './micro/programs.ts', seconds: 120,
    what: 'builder fees on every fill by without; 10,000 followers mirrored, and orders of others meanwhile',
  },
  simulate: { file: './system/simulate.ts', seconds: 20, what: 'previews of orders on a perpetual, asked of the matcher one by one' },
  'core-large': { file: './micro/core_large.ts', seconds: 20, what: 'the engine alone at 1 M live orders and 100 k accounts' },
  ring: { file: './micro/ring.ts', seconds: 10, what: '128-byte records between two threads' },
  journal: { file: './micro/journal.ts', seconds: 30, what: 'durable commits, with the room they need made meanwhile' },
  replay: { file: './system/replay.ts', seconds: 15, what: 'a journal of 1 M commands replayed, LMDB to engine' },
  snapshot: { file: './system/snapshot.ts', seconds: 35, what: 'what a snapshot costs the matcher: longest stall and commit' },
  history: { file: './system/history.ts', seconds: 30, what: 'the history projected from a journal; its lag behind a loaded matcher' },
  stats: { file: './system/stats.ts', seconds: 30, what: 'candles and screener: cost per trade, answers of one reader' },
  latency: { file: './system/latency.ts', seconds: 35, what: `signed orders over HTTP at fixed times, durable, ${LOCAL}` },
  rest: { file: './system/rest.ts', seconds: 40, what: `signed single orders over HTTP by autocannon, durable, ${LOCAL}` },
  batch: { file: './system/batch.ts', seconds: 30, what: `signed batches of 20 orders over HTTP by autocannon, durable, ${LOCAL}` },
  grpc: { file: './system/grpc.ts', seconds: 140, what: `signed single orders over gRPC, unary and on streams, durable, ${LOCAL}` },
  'ws-orders': {
    file: './system/ws_orders.ts', seconds: 130,
    what: `signed single orders over WebSockets, one by one and in sessions, durable, ${LOCAL}`,
  },
  keyed: { file: './system/keyed.ts', seconds: 45, what: 'orders with idempotency keys beside orders without, in turn' },
  overload: { file: './system/overload.ts', seconds: 60, what: 'three times what the exchange can do: answers, goodput, cancels' },
  receipts: { file: './system/receipts.ts', seconds: 900, what: 'a day of 1,000 keyed orders a second: memory, disk, time' },
  reads: { file: './system/reads.ts', seconds: 60, what: 'order book and signed open orders over HTTP by autocannon' },
  verify: { file: './system/verify.ts', seconds: 130, what: 'wallet sign-ins, and trading beside a flood of bad ones' },
  fanout: {
    file: './system/fanout.ts', seconds: 75,
    what: 'books and trades told to 2,000 WebSockets at 1,000 changes a second: lag, frames, what trading notices of it',
  },
  chain: {
    file: './system/chain.ts', seconds: 240,
    what: 'deposits, withdrawals and a batch of settlement on the embedded chain, and what orders notice of them',
  },
  'slow-sockets': { file: './system/slow_sockets.ts', seconds: 75, what: 'trading beside 1,000 WebSockets that do not read' },
}

const OPTIONS = {
  help: { type: 'boolean' }, quick: { type: 'boolean' }, against: { type: 'string' }, turns: { type: 'string' }, flow: { type: 'string' },
} as const

const minutes = (seconds: number): string => `${(seconds / 60).toFixed(1)} min`

function help(): void {
  const all = Object.values(BENCHES).reduce((sum, { seconds }) => sum + seconds, 0)
  const rows = Object.entries(BENCHES).map(([name, { what, seconds }]) => `  ${name.padEnd(13)}${`${seconds} s`.padStart(6)}  ${what}`)
  console.log(`npm run bench -- NAME ...         runs these and appends a line for each to bench/results/NAME.ndjson

${rows.join('\n')}
  all         ${minutes(all).padStart(7)}  every bench in this order; one that fails does not stop the others

npm run bench -- core --against DIR [--flow small|large] [--turns N]      2.5 min
               the engine of this tree and that of the checkout DIR, with modules of its own, in turn in one run

npm run bench -- table            fills the table of bench/README.md, and that of the guide, from the newest lines
npm run bench -- NAME ... --quick does a bench run at all? Short, its figures are none, no line is kept

Nothing else should run meanwhile: most benches use both cores. A figure within 5 % of its line is at the line, not met.
Benches leave nothing behind; after a kill -9 look for data/var-*.`)
}

function fail(reason: string): never {
  console.error(`${reason}\nnpm run bench -- --help says what there is`)
  process.exit(2)
}

/** Of this tree, and whether its code is that commit as it stands. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', '../core', '../gateway', '*.ts') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and changes' : '')
  } catch {
    return 'unknown'
  }
}

function print(result: Result): void {
  console.log(`\n${result.name}`)
  for (const [name, value] of Object.entries(result.settings)) console.log(`  ${name}: ${value}`)
  for (const [name, value] of Object.entries(result.figures)) {
    const target = result.targets.find(({ figure }) => figure === name)
    console.log(`  ${name.padEnd(44)} ${shown(value)}${target === undefined ? '' : `  ${held(value, target)}, ${target.unit}`}`)
  }
}

/** Exit code of a bench that was interrupted (system/own_exchange.ts). */
const INTERRUPTED = 130
const results = join(import.meta.dirname, 'results')

function keep(name: string, result: Result): void {
  print(result)
  if (QUICK) return console.log('  (quick: these are no figures, and no line is kept)')
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version }
  const line = { at: new Date().toISOString(), commit: commit(), machine, ...result }
  mkdirSync(results, { recursive: true })
  appendFileSync(join(results, `${name}.ndjson`), `${JSON.stringify(line)}\n`)
}

/** Runs benches one after the other, each in a fresh process: code and memory of one must not be those of the next. */
async function runEach(names: readonly string[]): Promise<void> {
  const failed: string[] = []
  let child: ChildProcess | null = null
  // The bench clears up and ends; so does this process then.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child?.kill(signal))
  for (const [i, name] of names.entries()) {
    console.log(`\n${i + 1} of ${names.length}: ${name}, about ${BENCHES[name]!.seconds} s`)
    const words = ['--disable-warning=ExperimentalWarning', import.meta.filename, name, ...(QUICK ? ['--quick'] : [])]
    child = spawn(process.execPath, words, { stdio: 'inherit' })
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
    if (signal !== null || status === INTERRUPTED) process.exit(1)
    if (status !== 0) failed.push(name)
  }
  if (failed.length === 0) return
  console.error(`\nfailed: ${failed.join(', ')}`)
  process.exit(1)
}

async function compare(against: string, flow: string | undefined, turns: string | undefined): Promise<void> {
  if (flow !== undefined && flow !== 'small' && flow !== 'large') fail('--flow is small or large')
  if (turns !== undefined && !(Number(turns) >= 1 && Number(turns) <= 100)) fail('--turns is 1 to 100')
  const { run } = await import('./micro/core_against.ts')
  keep('core-against', await run({ against, flow, turns: turns === undefined ? undefined : Number(turns) }))
}

const { positionals: names, values: options } = ((): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> => {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS })
  } catch (error) {
    return fail((error as Error).message)
  }
})()
const unknown = names.find((name) => !(name in BENCHES) && name !== 'all' && name !== 'table')
if (unknown !== undefined) fail(`there is no bench ${unknown}`)
if (names.length === 0 || options.help === true) help()
else if (options.against !== undefined) {
  if (names.join() !== 'core') fail('--against goes with core alone')
  await compare(options.against, options.flow, options.turns)
} else if (names.includes('table')) {
  if (names.length > 1) fail('table goes alone')
  const path = join(import.meta.dirname, 'README.md')
  writeFileSync(path, fill(readFileSync(path, 'utf8'), readLines(results)))
  writeFileSync(FAST_PATH_FILE, fastPathText(fastPath(readLines(results))))
} else if (names.includes('all') || names.length > 1) await runEach(names.includes('all') ? Object.keys(BENCHES) : names)
else {
  const [name] = names as [string]
  const { run } = (await import(BENCHES[name]!.file)) as { run: () => Promise<Result> }
  keep(name, await run())
}
