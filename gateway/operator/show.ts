/** The answers of the operator port as text for people. The shapes are those of server.ts's routes. */
import type { GatewayCounter, HistoryCounter, MatcherCounter } from '../../core/ring/counters.ts'
import { bytes, count, duration, facts, table } from './text.ts'

export interface Status {
  readonly timestamp: string
  readonly uptimeSeconds: number
  readonly maintenance: boolean
  readonly sequence: number
  readonly pairs: Readonly<Record<string, string>>
  readonly feeTierChanges: { readonly changed: number; readonly waiting: number }
  readonly matcher: Readonly<Record<MatcherCounter, number>>
  readonly history: Readonly<Record<HistoryCounter, number>>
  readonly gateways: readonly Readonly<Record<GatewayCounter | 'gateway', number>>[]
}

export interface Ready {
  readonly ready: boolean
  readonly matcher: boolean
  readonly gateways: readonly boolean[]
  /** Names of what is not well although orders are matched. */
  readonly degraded: readonly string[]
  /** With AUDIT_FAILED: which invariant, in words. */
  readonly audit?: { readonly sequence: number; readonly broken: string }
}

/** By `disk_level` (core/disk.ts). */
const DISK_SAYS = ['FULL, reads only', 'BELOW THE RESERVE, no new orders', 'enough']

export function showStatus(status: Status): string {
  const { matcher, history, feeTierChanges: tiers } = status
  const overview = facts([
    ['time', status.timestamp],
    ['up', duration(status.uptimeSeconds)],
    ['maintenance', status.maintenance ? 'ON: orders are refused' : 'off'],
    ['sequence', status.sequence],
    ['commands', `${count(matcher.commands)} since the start, ${count(matcher.refusals)} of them refused`],
    ['trading', `${count(matcher.fills)} fills ever, ${count(matcher.live_orders)} orders resting, ${count(matcher.accounts)} accounts`],
    ['journal', `${bytes(matcher.journal_bytes)} written since the start, longest commit ${milliseconds(matcher.commit_seconds_max)}`],
    ['free disk', `${matcher.free_disk_bytes === null ? 'unknown' : bytes(matcher.free_disk_bytes)}: ${DISK_SAYS[matcher.disk_level]}`],
    ['history', history.up === 1 ? `up, ${count(history.lag_commands)} commands behind` : 'DOWN: histories cannot be read'],
    ['fee tiers', `${count(tiers.changed)} changed since the start, ${count(tiers.waiting)} waiting`],
  ])
  const gateways = table(
    ['GATEWAY', 'REQUESTS', '2XX', '4XX', '5XX', 'CONNECTIONS', 'PENDING'],
    status.gateways.map((g) => [g.gateway, g.requests, g.responses_2xx, g.responses_4xx, g.responses_5xx, g.connections, g.pending]),
  )
  return [overview, gateways, table(['PAIR', 'STATUS'], Object.entries(status.pairs))].join('\n\n')
}

const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(1)} ms`

export function showReady({ ready, matcher, gateways, degraded, audit }: Ready): string {
  const why = (what: string): string => (what === 'AUDIT_FAILED' && audit !== undefined ? `, ${audit.broken}` : '')
  const lines = degraded.map((what) => `degraded: ${what}${why(what)}`)
  if (ready) return [`ready: matcher and ${gateways.length} gateways`, ...lines].join('\n')
  const standing = gateways.flatMap((works, i) => (works ? [] : [`gateway ${i + 1}`]))
  return `NOT ready: ${[...(matcher ? [] : ['matcher']), ...standing].join(', ')}`
}
