/**
 * A price that makes a tenth of 100,000 open positions fail, in a quick thread, and what everybody else notices of it.
 *
 * Turns as the sequencer makes them: first its own commands of liquidation (sequencer/liquidation_timers.ts), then 64 spot orders of
 * users, half of them resting, half taking. An order's latency counts from the start of its turn, so what is liquidated before it is in
 * it. The same turns without a liquidation are timed before, in the same run. Two markets:
 *
 *   book   the price falls by 0.7 %, and bids for all that must be sold rest below it
 *   gap    the price falls by 3 % in one step, nobody bids, the fund is empty: profitable positions of the other side are closed
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, type Result } from '../result.ts'
import type { StormEnd, StormWork } from './liquidation_thread.ts'

const OPTIONS = { positions: amount(100_000, 2_000), ordersPerTurn: 64, calmTurns: amount(2_000, 50) }

async function storm(market: StormWork['market']): Promise<StormEnd> {
  const work: StormWork = { ...OPTIONS, market }
  const worker = startQuickThread(join(import.meta.dirname, 'liquidation_thread.ts'), { workerData: work })
  return (await once(worker, 'message'))[0] as StormEnd
}

function figures(market: string, end: StormEnd): Record<string, number> {
  return {
    [`${market}: price command, us`]: end.priceUs,
    [`${market}: positions liquidated`]: end.ended,
    [`${market}: commands of liquidation`]: end.steps,
    [`${market}: most commands of liquidation in a turn`]: end.mostSteps,
    [`${market}: turns until all are`]: end.turns,
    [`${market}: until all are, ms`]: end.ms,
    [`${market}: longest turn, ms`]: end.longestMs,
    [`${market}: orders meanwhile, p50, us`]: end.storm.p50,
    [`${market}: orders meanwhile, p99, us`]: end.storm.p99,
    [`${market}: orders before, p99, us`]: end.calm.p99,
  }
}

export async function run(): Promise<Result> {
  const book = await storm('book')
  const gap = await storm('gap')
  return {
    name: 'liquidation',
    settings: { ...OPTIONS, failing: OPTIONS.positions / 10, leverage: 'a tenth 100, the others 5' },
    figures: { ...figures('book', book), ...figures('gap', gap) },
    targets: [],
  }
}
