/**
 * Promise: once warm, the engine allocates nothing: no garbage collection in a million commands of placing, trading, cancelling
 * and replacing. A child process runs them, so that the test runner's own garbage does not count.
 *
 * When it fails: run the child by hand with --trace-gc and --trace-deopt (GC_CHILD=1 node --expose-gc ... this file); a BigInt that
 * crosses a call or a double that leaves an inlined function is the usual cause.
 * Alone: it watches the collector at full speed.
 */
import { spawnSync } from 'node:child_process'
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { apply, setTime } from '../../core/engine/apply.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { createState, type State } from '../../core/state/state.ts'
import { CommandType, Flag, kindOf, MINT_COMMAND, OPEN_SESSION_COMMAND, ORDER_COMMAND, Option } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { QUICK } from '../../core/lib/quick_thread.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const COMMANDS = 1_000_000
const WARM = 2
const CLIENTS = 32
const START = 1_700_000_000_000
const C = ORDER_COMMAND.at
/** One order in sixteen of each; the others are plain. */
const STYLES = [Flag.MARKET, Flag.IOC, Flag.FOK, Flag.POST_ONLY]

const freshState = (): State => createState(parseGenesis(genesisText(VARIANTS['deep']!)), createOutbox(4096))

/** Signs every client in and gives it money: the first commands of the stream. */
function writeOpening(commands: Views): number {
  for (let client = 0; client < CLIENTS; client++) {
    const id = (client + 1).toString(16).padStart(40, '0')
    encode(OPEN_SESSION_COMMAND, commands, client * 2 * RECORD_WORDS, {
      kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, address: id, publicKey: id.padEnd(64, '0'),
    })
    encode(MINT_COMMAND, commands, (client * 2 + 1) * RECORD_WORDS, {
      kind: kindOf(CommandType.MINT, 1, 1), session: client, sessionGeneration: client * 2 + 1, asset: -1,
    })
  }
  return CLIENTS * 2
}

/** Fills a buffer with commands whose targets are right, by running them once. */
function writeStream(): Views {
  const commands = viewsOf(new ArrayBuffer(COMMANDS * RECORD_BYTES))
  const opening = writeOpening(commands)
  const state = freshState()
  const random = createPrng(7)
  const live: { slot: number; sequence: number; client: number }[] = []
  for (let index = 0; index < COMMANDS; index++) {
    const base = index * RECORD_WORDS
    if (index >= opening) writeCommand(commands, base, random.u32(), live)
    step(state, commands, index)
    const result = (state.outbox.count - 1) * RECORD_WORDS
    const rests = (state.outbox.u32[result + RESULT.at.flags]! & Flag.RESTING) !== 0
    if (index >= opening && rests && state.outbox.i32[result + RESULT.at.code] === 0) {
      live.push({
        slot: state.outbox.i32[result + RESULT.at.slot]!, sequence: state.outbox.f64[(result + RESULT.at.orderSequence) >>> 1]!,
        client: state.outbox.i32[result + RESULT.at.account]!,
      })
    }
  }
  checkInvariants(state)
  return commands
}

function writeCommand(commands: Views, base: number, dice: number, live: { slot: number; sequence: number; client: number }[]): void {
  const { i32, u32, f64 } = commands
  const target = live.length > 400 || (live.length > 0 && dice % 8 === 0) ? live.splice((dice >>> 8) % live.length, 1)[0]! : null
  const replaces = target !== null && dice % 3 === 0
  const client = target?.client ?? (dice >>> 4) % CLIENTS
  const sell = (dice >>> 10) & 1
  const style = (dice >>> 11) & 15
  let flags = sell === 1 ? Flag.SELL : 0
  if (target === null) flags |= STYLES[style] ?? 0
  if (replaces) flags = 0
  u32[base] = kindOf(target === null ? CommandType.PLACE_ORDER : replaces ? CommandType.REPLACE_ORDER : CommandType.CANCEL_ORDER, 1, 1)
  i32[base + C.session] = client
  i32[base + C.sessionGeneration] = client * 2 + 1
  i32[base + C.flags] = flags
  i32[base + C.options] = replaces ? Option.NEW_PRICE | Option.NEW_LOTS : 0
  i32[base + C.price] = (flags & Flag.MARKET) !== 0 ? 0 : 500_000 + ((dice >>> 15) % 60) - (sell === 1 ? 25 : 35)
  i32[base + C.lots] = 1 + ((dice >>> 21) % 50)
  i32[base + C.targetSlot] = target?.slot ?? 0
  f64[(base + C.targetSequence) >>> 1] = target?.sequence ?? 0
}

function step(state: State, commands: Views, index: number): void {
  state.outbox.count = 0
  if (index % 64 === 0) setTime(state, START + index)
  apply(state, commands, index * RECORD_WORDS)
}

function runAll(state: State, commands: Views): void {
  for (let index = 0; index < COMMANDS; index++) step(state, commands, index)
}

/** The child: warms up, then counts the collections of one run. */
async function child(): Promise<void> {
  const commands = writeStream()
  for (let round = 0; round < WARM; round++) runAll(freshState(), commands)
  const state = freshState()
  const kinds: string[] = []
  const observer = new PerformanceObserver((list) => kinds.push(...list.getEntries().map((entry) => `${entry.duration.toFixed(2)} ms`)))
  observer.observe({ entryTypes: ['gc'] })
  globalThis.gc!()
  await setImmediate()
  await setImmediate()
  kinds.length = 0
  const before = process.memoryUsage().heapUsed
  const started = performance.now()
  runAll(state, commands)
  const ms = performance.now() - started
  const grown = process.memoryUsage().heapUsed - before
  await setImmediate()
  await setImmediate()
  const nsPerCommand = Math.round((ms * 1e6) / COMMANDS)
  console.log(JSON.stringify({ collections: kinds.length, kinds, grown, nsPerCommand, fills: state.clock[CLOCK.FILLS] }))
}

async function parent(): Promise<void> {
  const { default: t } = await import('tap')
  const args = ['--disable-warning=ExperimentalWarning', '--expose-gc', QUICK, import.meta.filename]
  const env = { GC_CHILD: '1' }
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: 500_000, killSignal: 'SIGKILL' })
  const report = JSON.parse(stdout || `{"error":${JSON.stringify(stderr)}}`) as { collections: number; fills: number; grown: number }
  t.comment(stdout)
  t.ok(report.fills > COMMANDS / 10, 'the stream trades')
  t.equal(report.collections, 0, `no garbage collection in ${COMMANDS} commands`, { report })
  t.ok(report.grown < 1_000_000, 'and next to nothing allocated: less than a byte a command', { report })
}

await (process.env['GC_CHILD'] === undefined ? parent() : child())
