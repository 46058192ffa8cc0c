/**
 * Metrics of copy trading as a whole: its switch, what is not mirrored yet, stops that are not over. Leaders and follows are pools
 * (core/view/pools.ts).
 */
import { readCopyProgram } from '../../core/view/copying.ts'
import type { State } from '../../core/state/state.ts'
import { gauge, type Metric } from './metric_names.ts'

const OFF = gauge('exchange_copy_trading_off', '1 while copy trading is switched off')
const STOPPING = gauge('exchange_follows_stopping', 'Follows that are being stopped')
const WAITING = gauge('exchange_copies_waiting', 'Perpetuals of leaders on which something is not mirrored to everybody yet')

export function sampleCopies(sample: (metric: Metric, value: number, labels: string) => void, state: State): void {
  const { on, stopping, waiting } = readCopyProgram(state)
  sample(OFF, on ? 0 : 1, '')
  sample(STOPPING, stopping, '')
  sample(WAITING, waiting, '')
}
