/**
 * 100,000 conditional orders wait, stop-losses and trailing stops of 50,000 long positions, and a price crosses 10,000 of them: what that
 * takes, and what everybody else notices of it.
 *
 * Turns as the sequencer makes them, in a quick thread: first its own commands of triggers (sequencer/trigger_timers.ts), then 64 spot
 * orders of users, half of them resting, half taking. An order's latency counts from the start of its turn, so what fires before it is in
 * it. The same turns without anything to fire are timed before, in the same run, as are prices that fire nothing. Bids for all that must be
 * sold rest below the price. The order in which they fired is a checksum: two runs, each in a thread of its own, must agree.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, type Result } from '../result.ts'
import type { TriggersEnd, TriggersWork } from './triggers_thread.ts'

const OPTIONS = { longs: amount(50_000, 1_000), ordersPerTurn: 64, calmTurns: amount(2_000, 50) }

async function jump(): Promise<TriggersEnd> {
  const work: TriggersWork = OPTIONS
  const worker = startQuickThread(join(import.meta.dirname, 'triggers_thread.ts'), { workerData: work })
  return (await once(worker, 'message'))[0] as TriggersEnd
}

export async function run(): Promise<Result> {
  const end = await jump()
  const again = await jump()
  if (end.order !== again.order) throw new Error(`two runs fired in other orders: ${end.order} and ${again.order}`)
  return {
    name: 'triggers',
    settings: { ...OPTIONS, armed: OPTIONS.longs * 2, crossed: OPTIONS.longs / 5 },
    figures: {
      'price that fires nothing, us': end.idleUs,
      'price that crosses them, us': end.priceUs,
      fired: end.fired,
      'commands of triggers': end.steps,
      'most commands of triggers in a turn': end.mostSteps,
      'turns until all fired': end.turns,
      'until all fired, ms': end.ms,
      'longest turn, ms': end.longestMs,
      'orders meanwhile, p50, us': end.storm.p50,
      'orders meanwhile, p99, us': end.storm.p99,
      'orders before, p99, us': end.calm.p99,
    },
    targets: [],
  }
}
