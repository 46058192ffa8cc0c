/**
 * Counters as text: Prometheus exposition format 0.0.4 for `/metrics`. `/status` (status.ts) tells what they mean in
 * the same words.
 *
 * One row per counter of core/ring/counters.ts names the metric, so that a counter without a metric does not compile.
 * Names are `exchange_<noun>_<unit>`; units are seconds, bytes or records; labels are bounded: gateway and lane
 * numbers, response classes, verdicts. A scrape reads shared memory and costs the matcher nothing.
 */
import { PAIR } from '../../core/state/columns.ts'
import { get, pairRow } from '../../core/view/rows.ts'
import type { State } from '../../core/state/state.ts'
import {
  BACKUP, backupCounters, COMMIT_BUCKETS, COMMIT_HISTOGRAM, DISK, FILES, GATEWAY, gatewayCounters, HISTORY, historyCounters, LAG_BUCKETS,
  LAG_HISTOGRAM, LAG_SUM, LATE_SECONDS, MATCHER, matcherCounters, SCRUB, scrubCounters, SIGN_IN, signInCounters, SNAPSHOTS,
  snapshotsCounters, type BackupCounter, type GatewayCounter, type HistoryCounter, type MatcherCounter, type ScrubCounter,
  type SignInCounter, type SnapshotsCounter,
} from '../../core/ring/counters.ts'
import { portBlock, PORT_COUNTER, PORTS, type PortBlock, type PortCounter } from '../../core/ring/ports.ts'
import { attachRing, waiting, type Ring } from '../../core/ring/spsc.ts'
import type { Shared } from '../../core/threads.ts'
import { readPools } from '../../core/view/pools.ts'
import type { FedPair } from './feed/feeder.ts'
import { filesOf, Growth } from './fills.ts'
import { sampleCopies } from './copy_metrics.ts'
import { counter, gauge, GATEWAY_METRICS, PORT_METRICS, type Metric } from './metric_names.ts'
import { sampleLeases } from './lease_metrics.ts'
import { PERP_METRICS, samplePerps } from './perp_metrics.ts'
import type { TierQueue } from './tiers.ts'
import type { VaultDesk } from './vault_desk.ts'
import { sampleVault, VAULT_METRICS } from './vault_metrics.ts'

/** Shown as pools. */
type Pooled = 'journal_used_bytes' | 'journal_limit_bytes' | 'open_descriptors' | 'descriptor_limit'
/**
 * `commit_seconds` is the sum of the commit histogram; `clock_offset_ms` is for the threads. They have no rows of their
 * own.
 */
export const MATCHER_METRICS: Record<Exclude<MatcherCounter, 'commit_seconds' | 'clock_offset_ms' | Pooled>, Metric> = {
  commands: counter('exchange_commands_total', 'Commands applied'),
  refusals: counter('exchange_refusals_total', 'Commands the engine refused'),
  invalid_records: counter('exchange_invalid_records_total', 'Records that a gateway should not have sent, refused before the journal'),
  fills: counter('exchange_fills_total', 'Fills, each between one maker and one taker'),
  batches: counter('exchange_batches_total', 'Journal batches committed'),
  batch_max: gauge('exchange_batch_max_records', 'Largest batch so far'),
  journal_bytes: counter('exchange_journal_bytes_total', 'Bytes written to the journal'),
  commit_seconds_max: gauge('exchange_journal_commit_max_seconds', 'Longest commit so far'),
  apply_seconds: counter('exchange_apply_seconds_total', 'Time spent applying commands'),
  loop_stall_seconds_max: gauge('exchange_loop_stall_max_seconds', 'Longest turn of the matcher loop so far, commits not counted'),
  timers: counter('exchange_timers_total', 'Timers that came due'),
  sequence: gauge('exchange_sequence', 'Sequence of the last command applied'),
  sequenced_ms: gauge('exchange_sequenced_timestamp_seconds', 'Sequenced time of the last command, Unix time', 0.001),
  heartbeat_ms: gauge('exchange_matcher_heartbeat_timestamp_seconds', 'When the matcher loop last passed, Unix time', 0.001),
  events: counter('exchange_events_total', 'Records written to the event ring'),
  live_orders: gauge('exchange_live_orders', 'Orders resting on the books'),
  accounts: gauge('exchange_accounts', 'Accounts ever created'),
  maintenance: gauge('exchange_maintenance', '1 while operations are blocked for maintenance'),
  recovered_records: gauge('exchange_recovered_records', 'Records replayed at the last start'),
  recovery_seconds: gauge('exchange_recovery_seconds', 'Time the last start took to recover'),
  ring_high_water: gauge('exchange_command_ring_high_water_records', 'Most records waiting in one command ring so far'),
  free_disk_bytes: gauge('exchange_free_disk_bytes', 'Free space where the journal lives; NaN: unknown'),
  journal_room_bytes: gauge('exchange_journal_room_bytes', 'Bytes made ready behind what the journal uses'),
  journal_archived: gauge('exchange_journal_archived_sequence', 'Batches that end before this sequence are archived and may be dropped'),
  journal_first: gauge('exchange_journal_first_sequence', 'Sequence with which the journal begins; 0: nothing was written since the start'),
  journal_gone: gauge('exchange_journal_gone', '1: the journal file was removed or replaced, nothing is recorded; save it before a stop'),
  disk_level: gauge('exchange_disk_level', '2: orders are accepted, 1: below the reserve, ways out only, 0: full, reads only'),
  files_level: gauge('exchange_files_level', '0: files can be opened, 1: hardly one, ports but this one rest, 2: none'),
  clock_behind_ms: gauge('exchange_clock_behind_seconds', 'How far sequenced time is behind the wall clock; negative: ahead', 0.001),
  clock_jumps: counter('exchange_clock_jumps_total', 'Jumps of the wall clock since the start'),
  clock_waits: gauge('exchange_clock_waits', '1 while timers rest, because the wall clock is not believed'),
  receipts: gauge('exchange_receipts', 'Idempotency receipts retained'),
  answers: counter('exchange_matcher_answers_total', 'Questions of gateways that the matcher answered'),
  answer_seconds: counter('exchange_matcher_answer_seconds_total', 'Time of the matcher that they took'),
  receipt_pages_waiting: gauge('exchange_receipt_pages_waiting', 'Pages of receipts that could not be written yet and stay in memory'),
  liquidations_started: counter('exchange_liquidations_started_total', 'Risk buckets whose liquidation began'),
  liquidations_reduced: counter('exchange_liquidations_reduced_total', 'Parts of positions that a liquidation closed through the book'),
  liquidations_taken_over: counter('exchange_liquidations_taken_over_total', 'Positions that the insurance fund took over'),
  liquidations_deleveraged: counter('exchange_liquidations_deleveraged_total', 'Parts of positions that were closed against others'),
  liquidations_bad_debt: counter('exchange_liquidations_bad_debt_total', 'Times that a bucket owed what the insurance fund could not pay'),
  liquidations_completed: counter('exchange_liquidations_completed_total', 'Risk buckets whose liquidation ended'),
  conditionals_fired: counter('exchange_conditional_orders_fired_total', 'Conditional orders that fired'),
  conditionals_failed: counter('exchange_conditional_orders_failed_total', 'Conditional orders whose order was refused when they fired'),
  twap_slices: counter('exchange_twap_slices_total', 'Slices of TWAP orders that were placed'),
  twap_slices_skipped: counter('exchange_twap_slices_skipped_total', 'Slices of TWAP orders that were left out'),
}

export const HISTORY_METRICS: Record<HistoryCounter, Metric> = {
  up: gauge('exchange_history_up', '1 while the history follows and can be read'),
  sequence: gauge('exchange_history_sequence', 'Sequence the history has reached'),
  lag_commands: gauge('exchange_history_lag_records', 'Commands the history is behind'),
  events_per_second: gauge('exchange_history_events_per_second', 'Events the history takes in'),
  heartbeat_ms: gauge('exchange_history_heartbeat_timestamp_seconds', 'When the history was last heard of, Unix time', 0.001),
  silence_seconds: gauge('exchange_history_silence_seconds', 'Time since the history follower was last heard of'),
  silent: gauge('exchange_history_silent', '1 when that is longer than a follower that works is ever silent'),
  killed: counter('exchange_history_killed_total', 'History followers killed because they hung'),
  scrub_passes: gauge('exchange_history_scrub_passes', 'How often the follower has read its whole store back since it caught up'),
  scrub_pages: gauge('exchange_history_scrub_pages', 'Pages read back in the pass that is under way'),
  reader_faults: counter('exchange_history_faults_total', 'Times a history reader met a page that was not what was written'),
  lag_seconds: gauge('exchange_history_lag_seconds', 'Time since the journal has had the oldest command that the history lacks'),
  rebuilds: counter('exchange_history_rebuilds_total', 'Times the store was damaged and had to be made anew'),
}

export const SNAPSHOTS_METRICS: Record<SnapshotsCounter, Metric> = {
  up: gauge('exchange_snapshots_up', '1 while the snapshot follower follows'),
  sequence: gauge('exchange_snapshots_sequence', 'Sequence the snapshot follower has replayed'),
  lag_commands: gauge('exchange_snapshots_lag_records', 'Commands it is behind'),
  newest: gauge('exchange_snapshots_newest_sequence', 'Sequence of the newest snapshot written since the start; 0: none yet'),
  silence_seconds: gauge('exchange_snapshots_silence_seconds', 'Time since the snapshot follower was last heard of'),
  silent: gauge('exchange_snapshots_silent', '1 when that is longer than a follower that works is ever silent'),
  killed: counter('exchange_snapshots_killed_total', 'Snapshot followers killed because they hung'),
  audits: counter('exchange_audits_total', 'Times that every invariant of the state was checked'),
  audit_sequence: gauge('exchange_audit_sequence', 'Sequence of the state that was checked last'),
  audit_seconds: gauge('exchange_audit_seconds', 'How long that took, s'),
  audit_failed: gauge('exchange_audit_failed', '1 when an invariant was broken then: no orders are taken'),
}

const SCRUB_METRICS: Record<ScrubCounter, Metric> = {
  position: gauge('exchange_journal_scrub_sequence', 'Sequence up to which the scrub has read the journal back in this pass'),
  bytes: counter('exchange_journal_scrub_bytes_total', 'Bytes of batches that the scrub has read back'),
  passes: counter('exchange_journal_scrub_passes_total', 'How often the scrub has read the whole journal back since the start'),
  pass_ms: gauge('exchange_journal_scrub_pass_timestamp_seconds', 'When its last whole pass ended, Unix time; 0: none yet', 0.001),
  pass_seconds: gauge('exchange_journal_scrub_pass_seconds', 'How long that pass took'),
  damaged: gauge('exchange_journal_damaged_places', 'Places of the journal that could not be read back'),
  silent: gauge('exchange_journal_scrub_silent', '1 when the scrub is silent for longer than one that works ever is'),
}

const verifies = (name: string): Metric =>
  counter('exchange_sign_in_verifies_total', 'Sign-ins asked for, by outcome', `outcome="${name}"`)
const contractChecks = (name: string): Metric =>
  counter('exchange_contract_signatures_total', 'Signatures the chain was asked about, by outcome', `outcome="${name}"`)

export const SIGN_IN_METRICS: Record<SignInCounter, Metric> = {
  challenges: counter('exchange_sign_in_challenges_total', 'Challenges given'),
  verifies_signed: verifies('signed'),
  verifies_rejected: verifies('rejected'),
  verifies_unavailable: verifies('unavailable'),
  verifies_refused: verifies('refused'),
  recoveries: counter('exchange_wallet_recoveries_total', 'Wallet signatures recovered'),
  recovery_seconds: counter('exchange_wallet_recovery_seconds_total', 'Time wallet signatures waited for their recovery and took'),
  contract_signed: contractChecks('signed'),
  contract_rejected: contractChecks('rejected'),
  contract_unavailable: contractChecks('unavailable'),
  contract_checks: gauge('exchange_contract_checks', 'Signatures the chain is being asked about'),
  contract_seconds: counter('exchange_contract_check_seconds_total', 'Time signatures waited for the chain'),
  chain_calls: counter('exchange_chain_calls_total', 'Calls to the chain'),
  chain_failures: counter('exchange_chain_failures_total', 'Calls to the chain that were not answered, or not usably'),
  chain_seconds: counter('exchange_chain_call_seconds_total', 'Time calls to the chain took'),
  flag_failures: counter('exchange_contract_flag_failures_total', 'Sign-ins without an answer because contractLoginFile cannot be used'),
  spent_nonces: gauge('exchange_spent_nonces', 'Used challenges that are remembered until they expire'),
  spent_nonces_capacity: gauge('exchange_spent_nonces_capacity', 'Used challenges that can be remembered'),
}

const BACKUP_METRICS: Record<BackupCounter, Metric> = {
  time_ms: gauge('exchange_last_backup_timestamp_seconds', 'When the last backup was finished, Unix time; 0: there was none', 0.001),
  sequence: gauge('exchange_last_backup_sequence', 'Last command in it'),
}

/** Those of which an exchange has samples only when it has what they are about. */
export const OCCASIONAL_METRICS: readonly Metric[] = [...PERP_METRICS, ...VAULT_METRICS]

/** What a scrape reads. Create once per thread: attaching makes views. */
export interface Gauges {
  readonly state: State
  readonly tiers: TierQueue
  readonly matcher: Float64Array
  readonly history: Float64Array
  readonly snapshots: Float64Array
  readonly backup: Float64Array
  readonly scrub: Float64Array
  readonly signIn: Float64Array
  /** Blocks of the ports of every thread, with the labels that name them. */
  readonly ports: readonly (readonly [labels: string, block: PortBlock])[]
  /** Blocks of gateways 1..N. */
  readonly gateways: readonly Float64Array[]
  readonly lanes: readonly { readonly commands: Ring; readonly replies: Ring }[]
  /** When the operator thread started, Unix ms. */
  readonly startedAt: number
  readonly dataDir: string
  /** Of the journal, and of what is used on its disk. */
  readonly growth: { readonly journal: Growth; readonly disk: Growth }
  /** Perpetuals that index prices are fed to. */
  readonly fed: readonly FedPair[]
  /** What the vault thread said last. */
  readonly vault: Pick<VaultDesk, 'report'>
}

export function gaugesOf(
  shared: Shared, state: State, { tiers, vault }: Pick<Gauges, 'tiers' | 'vault'>, dataDir: string, now: number,
  fed: readonly FedPair[] = [],
): Gauges {
  return {
    dataDir,
    fed,
    vault,
    growth: { journal: new Growth(), disk: new Growth() },
    state,
    tiers,
    history: historyCounters(shared.counters),
    snapshots: snapshotsCounters(shared.counters),
    backup: backupCounters(shared.counters),
    scrub: scrubCounters(shared.counters),
    signIn: signInCounters(shared.counters),
    ports: PORTS.flatMap((port) =>
      shared.lanes.map((_, i) => [`port="${port}",gateway="${i}"`, portBlock(shared.ports, i, port)] as const)),
    matcher: matcherCounters(shared.counters),
    gateways: shared.lanes.slice(1).map((_, i) => gatewayCounters(shared.counters, i + 1)),
    lanes: shared.lanes.map((lane) => ({ commands: attachRing(lane.commands), replies: attachRing(lane.replies) })),
    startedAt: now,
  }
}

/** The text of `/metrics`. */
export function exposition(gauges: Gauges, now: number): string {
  const text = new Exposition()
  for (const [name, metric] of Object.entries(MATCHER_METRICS)) text.sample(metric, gauges.matcher[MATCHER[name as MatcherCounter]]!)
  text.head(COMMIT, 'histogram', 'Time of one journal commit, fsync included')
  histogram(text, COMMIT, COMMIT_BUCKETS, gauges.matcher, COMMIT_HISTOGRAM, gauges.matcher[MATCHER.commit_seconds]!)
  for (const [name, metric] of Object.entries(GATEWAY_METRICS)) {
    gauges.gateways.forEach((block, i) => text.sample(metric, block[GATEWAY[name as GatewayCounter]]!, `gateway="${i + 1}"`))
  }
  text.head(LAG, 'histogram', 'Time from the oldest event of a turn until all WebSockets have been written what came of it')
  gauges.gateways.forEach((block, i) => histogram(text, LAG, LAG_BUCKETS, block, LAG_HISTOGRAM, block[LAG_SUM]!, `gateway="${i + 1}"`))
  for (const [name, metric] of Object.entries(HISTORY_METRICS)) text.sample(metric, gauges.history[HISTORY[name as HistoryCounter]]!)
  for (const [name, metric] of Object.entries(SNAPSHOTS_METRICS)) {
    text.sample(metric, gauges.snapshots[SNAPSHOTS[name as SnapshotsCounter]]!)
  }
  for (const [name, metric] of Object.entries(BACKUP_METRICS)) text.sample(metric, gauges.backup[BACKUP[name as BackupCounter]]!)
  for (const [name, metric] of Object.entries(SCRUB_METRICS)) text.sample(metric, gauges.scrub[SCRUB[name as ScrubCounter]]!)
  for (const [name, metric] of Object.entries(SIGN_IN_METRICS)) text.sample(metric, gauges.signIn[SIGN_IN[name as SignInCounter]]!)
  const ports = gauges.ports.filter(([, block]) => block[PORT_COUNTER.most]! > 0)
  for (const [name, metric] of Object.entries(PORT_METRICS)) {
    for (const [labels, block] of ports) text.sample(metric, block[PORT_COUNTER[name as PortCounter]]!, labels)
  }
  const used = gauge('exchange_pool_used', 'Rows in use of a bounded pool of the state')
  const capacity = gauge('exchange_pool_capacity', 'Rows of that pool')
  const pools = readPools(gauges.state, now)
  const named = (pool: string): string => `pool="${pool.replace(/["\\\n]/g, '_')}"`
  for (const { pool, used: rows } of pools) text.sample(used, rows, named(pool))
  for (const { pool, capacity: rows } of pools) text.sample(capacity, rows, named(pool))
  const shares = gauge('exchange_pool_share', 'Rows of that pool that one user, with all sub-accounts, may have now')
  for (const { pool, share } of pools) if (share !== null) text.sample(shares, share, named(pool))
  const pairs = gauge('exchange_pair_status', 'What a pair lets happen: 0 halted, 1 active, 2 cancel only')
  for (const { index, symbol } of gauges.state.genesis.pairs) {
    text.sample(pairs, get(gauges.state, pairRow(gauges.state, index), PAIR.STATUS), `pair="${symbol.replace(/["\\\n]/g, '_')}"`)
  }
  sampleLeases((metric, value, labels) => text.sample(metric, value, labels), gauges.state, now)
  sampleCopies((metric, value, labels) => text.sample(metric, value, labels), gauges.state)
  samplePerps((metric, value, labels) => text.sample(metric, value, labels), gauges.state, gauges.fed, now)
  sampleVault((metric, value, labels) => text.sample(metric, value, labels), gauges.state, gauges.vault.report, now)
  text.sample(counter('exchange_fee_tier_changes_total', 'Fee tiers set because the history found them earned'), gauges.tiers.changed)
  text.sample(gauge('exchange_fee_tier_changes_waiting', 'Fee tiers that wait to be set'), gauges.tiers.waiting)
  const commandDepth = gauge('exchange_command_ring_records', 'Commands waiting, by lane; lane 0 is the operator')
  const commandSlots = gauge('exchange_command_ring_capacity_records', 'Slots of the command ring')
  const replyDepth = gauge('exchange_reply_ring_records', 'Answers waiting, by lane')
  const replySlots = gauge('exchange_reply_ring_capacity_records', 'Slots of the reply ring')
  const lanes = gauges.lanes.map((lane, i) => [`lane="${i}"`, lane] as const)
  for (const [label, lane] of lanes) text.sample(commandDepth, waiting(lane.commands), label)
  for (const [label, lane] of lanes) text.sample(commandSlots, lane.commands.capacity, label)
  for (const [label, lane] of lanes) text.sample(replyDepth, waiting(lane.replies), label)
  for (const [label, lane] of lanes) text.sample(replySlots, lane.replies.capacity, label)
  fills(text, gauges)
  text.sample(gauge('exchange_matcher_heartbeat_age_seconds', 'Time since the matcher loop last passed'), matcherAge(gauges, now) / 1000)
  const age = gauge('exchange_gateway_heartbeat_age_seconds', 'Time since the gateway loop last passed')
  gauges.gateways.forEach((_, i) => text.sample(age, gatewayAge(gauges, i, now) / 1000, `gateway="${i + 1}"`))
  text.sample(gauge('exchange_uptime_seconds', 'Time since the operator thread started'), (now - gauges.startedAt) / 1000)
  text.sample(gauge('exchange_resident_memory_bytes', 'Resident memory of the process'), process.memoryUsage.rss())
  return text.toString()
}

/** Takes a look at what grows; called at each scrape, and in between. */
export function lookAtGrowth({ growth, matcher }: Gauges): void {
  growth.journal.look(matcher[MATCHER.journal_used_bytes]!, performance.now())
  growth.disk.look(-matcher[MATCHER.free_disk_bytes]!, performance.now())
}

/** Pools outside the state, files, and when they are full. */
function fills(text: Exposition, gauges: Gauges): void {
  const used = gauge('exchange_pool_used', 'What is used of each pool that has a bound')
  const capacity = gauge('exchange_pool_capacity', 'The bound of each pool')
  const { growth, matcher } = gauges
  for (const [pool, uses, bound] of [
    ['journal', MATCHER.journal_used_bytes, MATCHER.journal_limit_bytes],
    ['descriptors', MATCHER.open_descriptors, MATCHER.descriptor_limit],
  ] as const) {
    text.sample(used, matcher[uses]!, `pool="${pool}"`)
    text.sample(capacity, matcher[bound]!, `pool="${pool}"`)
  }
  gauges.gateways.forEach((block, i) => {
    const label = `pool="answers in flight",gateway="${i + 1}"`
    text.sample(used, block[GATEWAY.credits]!, label)
    text.sample(capacity, gauges.lanes[i + 1]!.replies.capacity, label)
  })
  const size = gauge('exchange_file_bytes', 'Size of each file of the data directory')
  const files = filesOf(gauges.dataDir)
  text.sample(size, files.reduce((sum, [, bytes]) => sum + bytes, 0), 'file="total"')
  for (const [file, bytes] of files) text.sample(size, bytes, `file="${file.replace(/["\\\n]/g, '_')}"`)
  lookAtGrowth(gauges)
  const full = gauge('exchange_time_to_full_seconds', 'Time until it is full, growing as in the last five minutes; Infinity: it does not')
  const left = matcher[MATCHER.journal_limit_bytes]! - matcher[MATCHER.journal_used_bytes]!
  text.sample(full, growth.journal.secondsFor(left), 'of="journal"')
  text.sample(full, growth.disk.secondsFor(matcher[MATCHER.free_disk_bytes]!), 'of="disk"')
}

/** Ms since the matcher loop last passed. */
export const matcherAge = (gauges: Gauges, now: number): number => now - gauges.matcher[MATCHER.heartbeat_ms]!
/** Ms since the loop of gateway `index` + 1 last passed. */
export const gatewayAge = (gauges: Gauges, index: number, now: number): number => now - gauges.gateways[index]![GATEWAY.heartbeat_ms]!

/** What is not well although orders are matched: names for `/ready`. */
export function degraded({ history, matcher, snapshots, scrub }: Gauges): string[] {
  const disk = matcher[MATCHER.disk_level]!
  return [
    ...(matcher[MATCHER.clock_waits] === 1 ? ['CLOCK_WAITS'] : []),
    ...(matcher[MATCHER.journal_gone] === 1 ? ['JOURNAL_GONE'] : []),
    ...(disk === DISK.RESERVE ? ['DISK_RESERVE'] : disk === DISK.FULL ? ['DISK_FULL'] : []),
    ...(matcher[MATCHER.files_level] === FILES.ENOUGH ? [] : ['FILES_SCARCE']),
    ...(history[HISTORY.up] === 0 ? ['HISTORY_DOWN'] : []),
    ...(history[HISTORY.silent] === 1 ? ['HISTORY_SILENT'] : []),
    ...(history[HISTORY.lag_seconds]! > LATE_SECONDS ? ['HISTORY_LATE'] : []),
    ...(snapshots[SNAPSHOTS.audit_failed] === 1 ? ['AUDIT_FAILED'] : []),
    ...(snapshots[SNAPSHOTS.up] === 0 ? ['SNAPSHOTS_DOWN'] : []),
    ...(snapshots[SNAPSHOTS.silent] === 1 ? ['SNAPSHOTS_SILENT'] : []),
    ...(scrub[SCRUB.damaged]! > 0 ? ['JOURNAL_DAMAGED'] : []),
    ...(scrub[SCRUB.silent] === 1 ? ['SCRUB_SILENT'] : []),
  ]
}

const COMMIT = 'exchange_journal_commit_seconds'
const LAG = 'exchange_websocket_lag_seconds'

/** Slots of the block from `at` on count per bucket; the format wants them cumulated. The head was written. */
function histogram(
  text: Exposition, name: string, bounds: readonly number[], block: Float64Array, at: number, sum: number, label?: string,
): void {
  const labels = (more: string): string => [label, more].filter((each) => each !== undefined && each !== '').join(',')
  const braced = (all: string): string => (all === '' ? '' : `{${all}}`)
  let count = 0
  bounds.forEach((bound, i) => {
    count += block[at + i]!
    text.line(`${name}_bucket${braced(labels(`le="${bound}"`))}`, count)
  })
  count += block[at + bounds.length]!
  text.line(`${name}_bucket${braced(labels('le="+Inf"'))}`, count)
  text.line(`${name}_sum${braced(labels(''))}`, sum)
  text.line(`${name}_count${braced(labels(''))}`, count)
}

/** Writes each metric's head once and keeps its samples together, as the format demands. */
class Exposition {
  readonly #families = new Map<string, string[]>()
  #last: string[] = []

  head(name: string, kind: string, help: string): void {
    const known = this.#families.get(name)
    this.#last = known ?? [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`]
    if (known === undefined) this.#families.set(name, this.#last)
  }

  line(name: string, value: number): void {
    this.#last.push(`${name} ${value}`)
  }

  sample({ name, kind, help, labels, scale = 1 }: Metric, value: number, more?: string): void {
    this.head(name, kind, help)
    const all = [more, labels].filter((label) => label !== undefined).join(',')
    this.line(all === '' ? name : `${name}{${all}}`, scale === 1 ? value : value * scale)
  }

  toString(): string {
    return `${[...this.#families.values()].flat().join('\n')}\n`
  }
}
