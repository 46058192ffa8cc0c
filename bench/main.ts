/**
 * `npm run bench -- NAME`: runs a bench, prints every figure with its settings and its target, and appends one JSON line to
 * bench/results/NAME.ndjson. Figures are of this machine and this minute; ratios are measured within one run.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Result } from './result.ts'

const BENCHES: Record<string, { file: string; what: string }> = {
  core: {
    file: './micro/core.ts',
    what: 'the engine alone: mixed flow, 10 k live orders; garbage, percentiles, ratio to nodejs-order-book',
  },
  'core-large': { file: './micro/core_large.ts', what: 'the engine alone at 1 M live orders and 100 k accounts' },
  ring: { file: './micro/ring.ts', what: '128-byte records between two threads' },
  journal: { file: './micro/journal.ts', what: 'durable commits of 512 records' },
  replay: { file: './system/replay.ts', what: 'a journal of 1 M commands replayed, LMDB to engine' },
  snapshot: { file: './system/snapshot.ts', what: 'what a snapshot costs the matcher: longest stall and commit' },
  history: { file: './system/history.ts', what: 'the history projected from a journal, and how far it is behind a loaded matcher' },
  stats: { file: './system/stats.ts', what: 'candles and screener: cost per trade in the history, answers of one reader' },
  rest: { file: './system/rest.ts', what: 'signed single orders over HTTP by autocannon, durable, client on the same cores' },
  grpc: { file: './system/grpc.ts', what: 'signed single orders over gRPC, unary and on streams, durable, client on the same cores' },
  'ws-orders': {
    file: './system/ws_orders.ts',
    what: 'signed single orders over WebSockets, one by one and in sessions, durable, client on the same cores',
  },
  batch: { file: './system/batch.ts', what: 'signed batches of 20 orders over HTTP by autocannon, durable, client on the same cores' },
  reads: { file: './system/reads.ts', what: 'order book and signed open orders over HTTP by autocannon' },
  verify: { file: './system/verify.ts', what: 'wallet sign-ins, by recovery and by contract, and trading beside a flood of bad ones' },
  fanout: {
    file: './system/fanout.ts',
    what: 'books told to 2,000 WebSockets at 1,000 changes a second: lag, frames, what trading notices of it',
  },
  'slow-sockets': { file: './system/slow_sockets.ts', what: 'trading beside 1,000 WebSockets that do not read' },
  latency: { file: './system/latency.ts', what: 'one signed order at a time over HTTP, durable' },
}

/** Of this tree, and whether it is that commit as it stands. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '../core', '../gateway') === '' ? '' : ' and changes')
  } catch {
    return 'unknown'
  }
}

function print(result: Result): void {
  console.log(`\n${result.name}`)
  for (const [name, value] of Object.entries(result.settings)) console.log(`  ${name}: ${value}`)
  for (const [name, value] of Object.entries(result.figures)) {
    const target = result.targets.find((t) => t.figure === name)
    const shown = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(4)).toString()
    if (target === undefined) {
      console.log(`  ${name.padEnd(36)} ${shown}`)
      continue
    }
    const met = (target.atLeast === undefined || value >= target.atLeast) && (target.atMost === undefined || value <= target.atMost)
    const line = target.atLeast !== undefined ? `>= ${target.atLeast}` : `<= ${target.atMost}`
    console.log(`  ${name.padEnd(36)} ${shown}  ${met ? 'meets' : 'MISSES'} ${line} ${target.unit}`)
  }
}

const OPTIONS = { help: { type: 'boolean' }, against: { type: 'string' }, turns: { type: 'string' }, flow: { type: 'string' } } as const

function help(): void {
  console.log('npm run bench -- NAME ...\n')
  for (const [name, { what }] of Object.entries(BENCHES)) console.log(`  ${name.padEnd(12)} ${what}`)
  console.log('  all          every bench, one after the other')
  console.log('\nnpm run bench -- core --against DIR [--flow small|large] [--turns N]\n')
  console.log('  The engine of this tree and of the checkout DIR (with modules of its own) in turn: core, then core-large.')
}

function fail(reason: string): never {
  console.error(`${reason}\n`)
  help()
  process.exit(2)
}

function parse(): { names: string[]; options: { help?: boolean; against?: string; turns?: string; flow?: string } } {
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: OPTIONS })
    return { names: positionals, options: values }
  } catch (error) {
    return fail((error as Error).message)
  }
}

const results = join(import.meta.dirname, 'results')

function keep(name: string, result: Result): void {
  print(result)
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version }
  const line = { at: new Date().toISOString(), commit: commit(), machine, ...result }
  mkdirSync(results, { recursive: true })
  appendFileSync(join(results, `${name}.ndjson`), `${JSON.stringify(line)}\n`)
}

const { names, options } = parse()
if (names.length === 0 || options.help) {
  help()
} else if (options.against !== undefined) {
  if (names.join() !== 'core') fail('--against goes with core alone')
  if (options.flow !== undefined && options.flow !== 'small' && options.flow !== 'large') fail('--flow is small or large')
  const turns = options.turns === undefined ? undefined : Number(options.turns)
  if (turns !== undefined && !(turns >= 1 && turns <= 100)) fail('--turns is 1 to 100')
  const { run } = await import('./micro/core_against.ts')
  keep('core-against', await run({ against: options.against, turns, flow: options.flow }))
} else {
  const unknown = names.find((name) => !(name in BENCHES) && name !== 'all')
  if (unknown !== undefined) fail(`there is no bench ${unknown}`)
  for (const name of names.includes('all') ? Object.keys(BENCHES) : names) {
    const { run } = (await import(BENCHES[name]!.file)) as { run: () => Promise<Result> }
    keep(name, await run())
  }
}
