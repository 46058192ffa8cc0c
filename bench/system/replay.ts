/** A journal of a million commands, written by the real matcher, replayed from its genesis: LMDB, checksums, engine, event checksums. */
import { once } from 'node:events'
import { join } from 'node:path'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, median, type Result } from '../result.ts'
import { createFlood, flood } from './flood.ts'
import { openAccounts, startMatcher } from './matcher.ts'
import type { Replayed, ReplayWork } from './replay_thread.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

const COMMANDS = amount(1_000_000, 100_000)
const ROUNDS = amount(5, 1)

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  let replayed: Replayed
  try {
    const matcher = await startMatcher(directory)
    const sessions = openAccounts(matcher, 1000)
    const orders = createFlood(matcher, sessions, 1)
    flood(orders, 15_000, 0, 0)
    flood(orders, COMMANDS, 36, 27)
    await matcher.stop()
    const work: ReplayWork = { directory, rounds: ROUNDS }
    const [answer] = await once(startQuickThread(join(import.meta.dirname, 'replay_thread.ts'), { workerData: work }), 'message')
    replayed = answer as Replayed
  } finally {
    removeDirectory(directory)
  }
  const { rates, records, live } = replayed
  return {
    name: 'replay: journal to engine',
    settings: {
      commands: records,
      flow: '36 % cancels, 27 % crossing, the others rest',
      accounts: 1000,
      liveAtTheEnd: live,
      rounds: ROUNDS,
    },
    figures: {
      'commands/s (median)': median(rates),
      'commands/s, first round (cold code)': rates[0]!,
      'commands/s (best)': Math.max(...rates),
    },
    targets: [{ figure: 'commands/s (median)', atLeast: 1_000_000, unit: 'commands/s' }],
  }
}
