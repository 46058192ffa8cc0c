/** Metrics of managed markets: how many launches under way have a maker that may quote. */
import { leaseCounts } from '../../core/view/launches.ts'
import type { State } from '../../core/state/state.ts'
import { gauge, type Metric } from './metric_names.ts'

const LEASES = gauge('exchange_maker_leases', 'Launches under way by phase and lease of their maker; over: its orders are refused')

/** `now`: Unix ms. */
export function sampleLeases(sample: (metric: Metric, value: number, labels: string) => void, state: State, now: number): void {
  for (const { phase, lease, count } of leaseCounts(state, now)) sample(LEASES, count, `phase="${phase}",lease="${lease}"`)
}
