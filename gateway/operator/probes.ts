/**
 * Probes and metrics: whether the process lives, whether orders are matched, and every counter for Prometheus. They
 * need no token, change nothing, and are answered from shared memory while the matcher stands.
 */
import Type, { type Static } from 'typebox'
import { MATCHER } from '../../core/ring/counters.ts'
import { Timestamp } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { degraded, exposition, gatewayAge, matcherAge } from './metrics.ts'
import { operatorRoute } from './route.ts'

/** A thread whose heartbeat is older is not ready. */
const MATCHER_READY_MS = 1_000
const GATEWAY_READY_MS = 2_000
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

const METRICS_EXAMPLE = `\
# HELP exchange_pair_status What a pair lets happen: 0 halted, 1 active, 2 cancel only
# TYPE exchange_pair_status gauge
exchange_pair_status{pair="BTC/USDC"} 1
`

export const ShowMetrics = operatorRoute({
  method: 'GET', path: '/metrics', token: false, type: PROMETHEUS_TEXT,
  summary: 'All metrics',
  description: 'In the text format 0.0.4 of Prometheus. Alert rules and a dashboard are in data/ops.',
  output: Type.String(),
  refusals: [],
  example: { input: {}, output: METRICS_EXAMPLE },
  commands: [{
    name: 'metrics',
    purpose: 'all metrics, in the text format of Prometheus',
    explains: 'What a Prometheus scrapes from /metrics. With --json: one object, sample by series.',
    example: ['metrics | grep pair_status', 'exchange_pair_status{pair="BTC/USDC"} 1'],
    show: (text) => text.trimEnd(),
    json: samples,
  }],
  run: ({ gauges }) => exposition(gauges, Date.now()),
})

/** Samples of the text format by series; the port writes no timestamps. */
function samples(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

export const ShowHealth = operatorRoute({
  method: 'GET', path: '/health', token: false,
  summary: 'Whether the process is alive',
  description: 'The operator thread answers. Whether orders are matched is what `/ready` tells.',
  output: Type.Object({
    status: field(Type.Literal('ok'), 'It is alive.'),
    sequence: field(Type.Integer(), 'Number of the last command that was applied.'),
    timestamp: field(Timestamp, 'When this was answered.'),
  }),
  refusals: [],
  example: { input: {}, output: { status: 'ok', sequence: 1042, timestamp: '2026-01-02T03:04:05.678Z' } },
  commands: [{
    name: 'health',
    purpose: 'whether the process is alive',
    explains: 'The operator thread answers; that orders are matched is what ready tells.',
    example: ['health', 'alive, sequence 1042'],
    show: ({ sequence }) => `alive, sequence ${sequence}`,
  }],
  run: ({ gauges: { matcher } }) =>
    ({ status: 'ok' as const, sequence: matcher[MATCHER.sequence]!, timestamp: new Date().toISOString() }),
})

const Ready = Type.Object({
  ready: field(Type.Boolean(), 'Whether the matcher and every gateway work.'),
  matcher: field(Type.Boolean(), `Whether the matcher passed its loop within ${MATCHER_READY_MS} ms.`),
  gateways: field(Type.Array(Type.Boolean()), `Of each gateway, from 1: whether it passed its loop within ${GATEWAY_READY_MS} ms.`),
  degraded: field(Type.Array(Type.String()), 'Names of what is not well although orders are matched; `ready --help` explains each.'),
  audit: Type.Optional(field(Type.Object({
    sequence: field(Type.Integer(), 'Last command in the state that was checked.'),
    broken: field(Type.String(), 'The invariant that is broken, in words.'),
  }), 'The check of the state that failed, with AUDIT_FAILED.')),
})

export const ShowReady = operatorRoute({
  method: 'GET', path: '/ready', token: false,
  summary: 'Whether the matcher and every gateway work',
  description: '200 when they do, 503 with the same body when not. `degraded` names what is not well although orders are matched.',
  output: Ready,
  otherStatus: { status: 503, means: 'Not ready: the body says which thread stands.', when: ({ ready }) => !ready },
  refusals: [],
  example: { input: {}, output: { ready: true, matcher: true, gateways: [true, true, true], degraded: [] } },
  commands: [{
    name: 'ready',
    purpose: 'whether the matcher and every gateway work; exit code 1 when not',
    explains: 'Ready: the matcher passed its loop within the last second and every gateway within the last two. What is not well\n'
      + 'although orders are matched is named as degraded: HISTORY_SILENT, its follower hangs; HISTORY_DOWN, there is none, or\n'
      + 'the store is being made anew; HISTORY_LATE, it lacks commands of more than five seconds ago;\n'
      + 'CLOCK_WAITS, timers rest (clock accept); DISK_RESERVE and DISK_FULL;\n'
      + 'FILES_SCARCE, hardly a file can be opened, so ports rest;\n'
      + 'JOURNAL_DAMAGED, it does not read back as written; JOURNAL_GONE, its file was removed: the log says how to save it before a\n'
      + 'stop; SNAPSHOTS_SILENT and SNAPSHOTS_DOWN, the same of the follower that writes the snapshots; SCRUB_SILENT, of the one that\n'
      + 'reads the journal back; AUDIT_FAILED, an invariant of the state is broken, which is why no orders are taken.',
    example: ['ready', 'ready: matcher and 3 gateways'],
    show: showReady,
    good: ({ ready }) => ready,
  }],
  run: ({ gauges, audits }) => {
    const now = Date.now()
    const matcher = matcherAge(gauges, now) < MATCHER_READY_MS
    const gateways = gauges.gateways.map((_, i) => gatewayAge(gauges, i, now) < GATEWAY_READY_MS)
    const audit = audits.failed === null ? {} : { audit: audits.failed }
    return { ready: matcher && gateways.every(Boolean), matcher, gateways, degraded: degraded(gauges), ...audit }
  },
})

function showReady({ ready, matcher, gateways, degraded, audit }: Static<typeof Ready>): string {
  const why = (what: string): string => (what === 'AUDIT_FAILED' && audit !== undefined ? `, ${audit.broken}` : '')
  const lines = degraded.map((what) => `degraded: ${what}${why(what)}`)
  if (ready) return [`ready: matcher and ${gateways.length} gateways`, ...lines].join('\n')
  const standing = gateways.flatMap((works, i) => (works ? [] : [`gateway ${i + 1}`]))
  return `NOT ready: ${[...(matcher ? [] : ['matcher']), ...standing].join(', ')}`
}
