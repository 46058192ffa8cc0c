/**
 * What the exchange is doing, for people: every counter by name, and what matters of it as text. What a counter means
 * is told in the words of its metric (metrics.ts).
 */
import { resolve } from 'node:path'
import Type, { type Static, type TNumber, type TObject } from 'typebox'
import { versionOf } from '../../core/lib/about.ts'
import {
  GATEWAY_COUNTERS, HISTORY_COUNTERS, MATCHER, MATCHER_COUNTERS, SIGN_IN_COUNTERS, SNAPSHOTS_COUNTERS, type MatcherCounter,
} from '../../core/ring/counters.ts'
import { waiting } from '../../core/ring/spsc.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { Nullable, Timestamp } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { INDEX_MAKERS } from './feed/sources.ts'
import { GATEWAY_METRICS, type Metric } from './metric_names.ts'
import { HISTORY_METRICS, MATCHER_METRICS, SIGN_IN_METRICS, SNAPSHOTS_METRICS, type Gauges } from './metrics.ts'
import { pairStatus } from './policy.ts'
import { operatorRoute } from './route.ts'
import { bytes, count, duration, facts, table } from './text.ts'

const VERSION = versionOf()

/** Counters of the matcher that are no metrics of their own. */
const OTHER: Record<Exclude<MatcherCounter, keyof typeof MATCHER_METRICS>, string> = {
  commit_seconds: 'Time that all commits of the journal took',
  clock_offset_ms: 'What the other threads add to the monotonic clock to have sequenced time',
  journal_used_bytes: 'What the journal uses',
  journal_limit_bytes: 'What the journal may use at most',
  open_descriptors: 'Open files of the process',
  descriptor_limit: 'How many it may open',
}
const meaning = ({ help, labels }: Metric): string => `${help}${labels === undefined ? '' : ` (${labels})`}.`

/** A block of counters, each with its meaning. */
const counters = <Name extends string>(
  names: readonly Name[], metrics: Partial<Record<Name, Metric>>, other: Partial<Record<Name, string>> = {},
) =>
  Type.Object(Object.fromEntries(names.map((name) => {
    const metric = metrics[name]
    return [name, field(Type.Number(), metric === undefined ? `${other[name]!}.` : meaning(metric))]
  }))) as unknown as TObject<Record<Name, TNumber>>

const Matcher = counters(MATCHER_COUNTERS, MATCHER_METRICS, OTHER).properties
const Status = Type.Object({
  timestamp: field(Timestamp, 'When this was answered.'),
  version: field(Type.String(), 'Of the program.'),
  pid: field(Type.Integer(), 'Process of the exchange; its supervisor is another one.'),
  dataDirectory: field(Type.String(), 'Where its data is.'),
  uptimeSeconds: field(Type.Integer(), 'Seconds since the operator thread started.'),
  maintenance: field(Type.Boolean(), 'Whether operations are blocked.'),
  sequence: field(Type.Integer(), 'Number of the last command that was applied.'),
  pairs: field(Type.Record(Type.String(), Type.String()), 'What each trading pair lets happen, by its symbol.'),
  indexMakers: field(
    Type.Record(Type.String(), Type.Enum(INDEX_MAKERS)),
    'What makes the index price of each perpetual while the operator sets none, by its symbol.',
  ),
  feeTierChanges: field(Type.Object({
    changed: field(Type.Integer(), 'Set since the start.'), waiting: field(Type.Integer(), 'On their way.'),
  }), 'Fee tiers that the history found earned.'),
  matcher: field(Type.Object({
    ...Matcher, free_disk_bytes: field(Nullable(Type.Number()), 'Free space where the journal lives; null: unknown.'),
  }), 'Counters of the matcher.'),
  history: field(counters(HISTORY_COUNTERS, HISTORY_METRICS), 'Counters of the history.'),
  snapshots: field(counters(SNAPSHOTS_COUNTERS, SNAPSHOTS_METRICS), 'Counters of the follower that writes snapshots.'),
  signIn: field(counters(SIGN_IN_COUNTERS, SIGN_IN_METRICS), 'Counters of the sign-in thread.'),
  gateways: field(Type.Array(Type.Object({
    gateway: field(Type.Integer(), 'Its number, from 1.'), ...counters(GATEWAY_COUNTERS, GATEWAY_METRICS).properties,
  })), 'Counters of each gateway.'),
  rings: field(Type.Array(Type.Object({
    lane: field(Type.Integer(), 'Its number: 0 is the operator\'s, others those of gateways.'),
    commands: field(Type.Integer(), 'Commands that wait.'), commandSlots: field(Type.Integer(), 'How many can.'),
    replies: field(Type.Integer(), 'Answers that wait.'), replySlots: field(Type.Integer(), 'How many can.'),
  })), 'The rings between this process\'s threads.'),
})
type Status = Static<typeof Status>

const block = <Name extends string>(names: readonly Name[], values: Readonly<Record<number, number>>) =>
  Object.fromEntries(names.map((name, i) => [name, values[i] ?? 0])) as Record<Name, number>

/** Now, as the counters have it. */
function statusOf(gauges: Gauges, now: number): Status {
  const { state: { genesis, scalars } } = gauges
  return {
    timestamp: new Date(now).toISOString(),
    version: VERSION,
    pid: process.pid,
    dataDirectory: resolve(gauges.dataDir),
    uptimeSeconds: Math.round((now - gauges.startedAt) / 1000),
    maintenance: scalars[SCALAR.MAINTENANCE] !== 0,
    sequence: gauges.matcher[MATCHER.sequence]!,
    pairs: Object.fromEntries(genesis.pairs.map((pair) => [pair.symbol, pairStatus(gauges.state, pair)])),
    indexMakers: Object.fromEntries(gauges.fed.map(({ symbol, maker }) => [symbol, maker])),
    feeTierChanges: { changed: gauges.tiers.changed, waiting: gauges.tiers.waiting },
    matcher: block(MATCHER_COUNTERS, gauges.matcher),
    history: block(HISTORY_COUNTERS, gauges.history),
    snapshots: block(SNAPSHOTS_COUNTERS, gauges.snapshots),
    signIn: block(SIGN_IN_COUNTERS, gauges.signIn),
    gateways: gauges.gateways.map((values, i) => ({ gateway: i + 1, ...block(GATEWAY_COUNTERS, values) })),
    rings: gauges.lanes.map(({ commands, replies }, lane) => ({
      lane, commands: waiting(commands), commandSlots: commands.capacity, replies: waiting(replies), replySlots: replies.capacity,
    })),
  }
}

const EXAMPLE: Status = {
  timestamp: '2026-01-02T03:04:05.678Z', version: '1.0.0', pid: 4711, dataDirectory: '/var/lib/ringbook',
  uptimeSeconds: 93_784, maintenance: false, sequence: 1042,
  pairs: { 'BTC/USDC': 'ACTIVE' }, indexMakers: { 'BTC/USDC-PERP': 'SOURCES' }, feeTierChanges: { changed: 0, waiting: 0 },
  matcher: block(MATCHER_COUNTERS, []), history: block(HISTORY_COUNTERS, []), snapshots: block(SNAPSHOTS_COUNTERS, []),
  signIn: block(SIGN_IN_COUNTERS, []), gateways: [{ gateway: 1, ...block(GATEWAY_COUNTERS, []) }],
  rings: [{ lane: 0, commands: 0, commandSlots: 65_536, replies: 0, replySlots: 65_536 }],
}

export const ShowStatus = operatorRoute({
  method: 'GET', path: '/status', token: false,
  summary: 'What the exchange is doing',
  description: 'Every counter by name. Counters of requests and journal begin anew with each start; fills and accounts are those of the '
    + 'whole journal.',
  output: Status,
  refusals: [],
  example: { input: {}, output: EXAMPLE },
  commands: [
    {
      name: 'status',
      purpose: 'what the exchange is doing: counters, history, gateways, pairs',
      explains: 'Counters of requests and journal begin anew with each start; fills and accounts are those of the whole journal. The last\n'
        + 'gateway is the one for gRPC, unless that is switched off. With --json: every counter there is.',
      example: ['status', 'maintenance  off\nsequence     1,042'],
      show: showStatus,
    },
    {
      name: 'maintenance show',
      purpose: 'whether operations are blocked',
      explains: 'Says on or off. It changes nothing.',
      example: ['maintenance show', 'maintenance is off'],
      show: ({ maintenance }) => `maintenance is ${maintenance ? 'on' : 'off'}`,
      json: ({ maintenance }) => ({ maintenance }),
    },
  ],
  run: ({ gauges }) => statusOf(gauges, Date.now()),
})

/** By `disk_level` (core/disk.ts). */
const DISK_SAYS = ['FULL, reads only', 'BELOW THE RESERVE, no new orders', 'enough']

function showStatus(status: Status): string {
  const { matcher, history, feeTierChanges: tiers } = status
  const overview = facts([
    ['time', status.timestamp],
    ['version', status.version],
    ['process', `${status.pid}, data in ${status.dataDirectory}`],
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
  const pairs = Object.entries(status.pairs).map(([symbol, now]) => [symbol, now, status.indexMakers[symbol] ?? '-'])
  return [overview, gateways, table(['PAIR', 'STATUS', 'INDEX BY'], pairs)].join('\n\n')
}

const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(1)} ms`
