/**
 * The history: how fast a journal is projected on one core, engine included, and how far the follower is behind a matcher that takes
 * a steady load on the same two cores.
 */
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FromFollower } from '../../core/threads.ts'
import { historyPath } from '../../core/history/store/store.ts'
import { forkQuick, startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, median, type Result } from '../result.ts'
import { createFlood, flood, type Flood } from './flood.ts'
import type { HistoryWork, Round } from './history_thread.ts'
import { openAccounts, startMatcher } from './matcher.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

const ACCOUNTS = 1000
const LIVE = 15_000
const COMMANDS = amount(500_000, 100_000)
const ROUNDS = amount(3, 1)
/** Commands per transaction, as the follower takes them when it is behind. */
const SLICE = 65_536
const RATE = 20_000
const SECONDS = amount(8, 1)
/** Cancels and crossing orders in 100 commands. */
const FLOW = [36, 27] as const
/** Orders of an hour at 5,000 a second. */
const HOUR = 18_000_000
/** Tables whose bytes are told: those that grow with orders. */
const HEAVY = [
  'order_page', 'posting_page', 'trade_page', 'order_reference_page', 'posting_reference_page', 'application_trade_page',
]

/** Projects the whole journal, round by round. */
async function project(directory: string): Promise<Round[]> {
  const work: HistoryWork = { directory, rounds: ROUNDS, slice: SLICE }
  const [rounds] = await once(startQuickThread(join(import.meta.dirname, 'history_thread.ts'), { workerData: work }), 'message')
  return rounds as Round[]
}

/** Offers RATE commands a second for a while; what the follower said about its lag meanwhile, in commands, and what was offered. */
async function follow(directory: string, orders: Flood): Promise<{ lags: number[]; perSecond: number }> {
  const lags: number[] = []
  let loaded = false
  const child = forkQuick(join(import.meta.dirname, '..', '..', 'core', 'history', 'follower.ts'), [directory, '60', '250'])
  const caughtUp = Promise.withResolvers<void>()
  child.on('message', (message: FromFollower) => {
    if (message.type !== 'history' || !message.caughtUp) return
    caughtUp.resolve()
    if (loaded) lags.push(message.lag)
  })
  await caughtUp.promise
  loaded = true
  const started = performance.now()
  for (let sent = 0; sent < RATE * SECONDS; sent += RATE / 100) {
    flood(orders, RATE / 100, ...FLOW)
    const due = started + (sent / RATE) * 1000
    // Also when it is late: what the follower says is heard between two slices.
    await pause(Math.max(0, due - performance.now()))
  }
  loaded = false
  const perSecond = (RATE * SECONDS) / ((performance.now() - started) / 1000)
  const ended = once(child, 'exit')
  child.send({ type: 'finish' })
  await ended
  if (lags.length === 0) throw new Error('the follower said nothing under load')
  return { lags, perSecond }
}

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  try {
    const matcher = await startMatcher(directory)
    const orders = createFlood(matcher, openAccounts(matcher, ACCOUNTS), 1)
    flood(orders, LIVE, 0, 0)
    flood(orders, COMMANDS, ...FLOW)
    const rounds = await project(directory)
    const { lags, perSecond } = await follow(directory, orders)
    await matcher.stop()
    const of = (name: Exclude<keyof Round, 'tables'>): number => median(rounds.map((round) => round[name]))
    const placed = LIVE + COMMANDS * (1 - FLOW[0] / 100)
    const tables = HEAVY.map((name) => [`${name}, bytes per order`, rounds[0]!.tables[name]! / placed] as const)
    return {
      name: 'history: journal to SQLite, engine included',
      settings: {
        commands: COMMANDS + LIVE,
        flow: `${FLOW[0]} % cancels, ${FLOW[1]} % crossing, the others rest`,
        accounts: ACCOUNTS,
        rounds: ROUNDS,
        commandsPerTransaction: SLICE,
        offeredPerSecond: RATE,
        seconds: SECONDS,
      },
      figures: {
        'events/s (median)': of('events'),
        'events/s of processor time': of('cpu'),
        'commands/s (median)': of('commands'),
        transactions: of('transactions'),
        'database, MiB': of('bytes') / 2 ** 20,
        'bytes per order': of('bytes') / placed,
        'GB an hour at 5,000 orders/s': ((of('bytes') / placed) * HOUR) / 1e9,
        ...Object.fromEntries(tables),
        'load, commands/s': perSecond,
        'lag under load, commands (median)': median(lags),
        'lag under load, commands (most)': Math.max(...lags),
        'history after the load, MiB': statSync(historyPath(directory)).size / 2 ** 20,
      },
      targets: [{ figure: 'events/s (median)', atLeast: 150_000, unit: 'events/s' }],
    }
  } finally {
    removeDirectory(directory)
  }
}
