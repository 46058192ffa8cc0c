/**
 * Counters in shared memory: a hot thread pays one store, another thread reads and formats them (operator/metrics.ts).
 *
 * One block of doubles per thread, written by that thread only. Aligned 64-bit stores are not torn on the 64-bit machines that
 * Node 22 runs on; a reader may see counters of one block at slightly different times.
 */
export const MATCHER_COUNTERS = [
  'commands',
  'refusals',
  'invalid_records',
  'fills',
  'batches',
  'batch_max',
  'journal_bytes',
  'commit_seconds',
  'commit_seconds_max',
  'apply_seconds',
  'loop_stall_seconds_max',
  'timers',
  'sequence',
  'sequenced_ms',
  'heartbeat_ms',
  'events',
  'live_orders',
  'accounts',
  'maintenance',
  'recovered_records',
  'recovery_seconds',
  'ring_high_water',
  'free_disk_bytes',
  'journal_room_bytes',
  'journal_used_bytes',
  'journal_limit_bytes',
  'journal_archived',
  'journal_first',
  'open_descriptors',
  'descriptor_limit',
  'files_level',
  'disk_level',
  'journal_gone',
  'clock_offset_ms',
  'clock_behind_ms',
  'clock_jumps',
  'clock_waits',
  'receipts',
  'answers',
  'answer_seconds',
  'receipt_pages_waiting',
  'liquidations_started',
  'liquidations_reduced',
  'liquidations_taken_over',
  'liquidations_deleveraged',
  'liquidations_bad_debt',
  'liquidations_completed',
  'conditionals_fired',
  'conditionals_failed',
  'twap_slices',
  'twap_slices_skipped',
] as const
/** Values of `disk_level` (core/disk.ts). The lowest is what stands there before anybody looked. */
export const DISK = { FULL: 0, RESERVE: 1, OPEN: 2 } as const

/** Values of `files_level` (core/descriptors.ts): how many files can be opened. */
export const FILES = { ENOUGH: 0, SCARCE: 1, NONE: 2 } as const

export const GATEWAY_COUNTERS = [
  'requests',
  'responses_2xx',
  'responses_4xx',
  'responses_5xx',
  'signature_ok',
  'signature_rejected',
  'ring_full',
  'share_full',
  'exits_refused',
  'credits',
  'pending',
  'pending_high_water',
  'aborted',
  'reply_records',
  'lapped',
  'heartbeat_ms',
  'connections',
  'certificate_expires_ms',
  'body_bytes',
  'unhandled',
  'rate_over_create',
  'rate_over_reduce',
  'rate_over_movement',
  'rate_over_close',
  'rate_refused_create',
  'rate_refused_reduce',
  'rate_refused_movement',
  'rate_refused_close',
  'server_key_ok',
  'server_key_rejected',
  'ws_connections',
  'ws_authenticated',
  'ws_subscriptions',
  'ws_messages',
  'ws_frames',
  'ws_bytes',
  'ws_slow',
  'ws_crowded',
  'ws_waiting_bytes',
  'ws_waiting_capacity',
  'ws_closed_1001',
  'ws_closed_1008',
  'ws_closed_1009',
  'ws_closed_1013',
  'ws_cpu_seconds',
  'ws_stall_seconds_max',
  'ws_orders',
  'ws_orders_refused',
  'unfinished_body_bytes',
  'unfinished_body_capacity',
  'bodies_slow',
  'bodies_refused',
  'unsent_bytes',
  'unsent_capacity',
  'answers_refused',
  'answers_no_room',
  'answers_slow',
  'anonymous_seconds',
  'signed_seconds',
  'anonymous_queued',
  'anonymous_refused',
  'read_seconds',
  'reads_queued',
  'reads_refused',
  'ws_changes_bytes',
  'ws_changes_capacity',
  'openings',
  'openings_full',
  'cancels_at_end',
  'cancels_at_end_waiting',
  'grpc_held_bytes',
  'grpc_held_limit',
  'grpc_no_room',
  'grpc_unsent_bytes',
  'grpc_unsent_capacity',
  'grpc_unsent_cut',
  'questions',
  'questions_refused',
  'questions_waiting',
  'questions_capacity',
  'ws_settled_left_out',
] as const
/**
 * What main knows of the history: `up` 1 while it can be read, the sequence it told last, how many commands the journal is ahead of that,
 * events it takes in a second, and when it was heard of last (Unix ms). `silence_seconds`: how long its follower has said nothing, by the
 * monotonic clock; `silent` 1: longer than one that works ever does. `killed`: followers ended because they were silent too long.
 * `scrub_passes`, `scrub_pages`: how often its store was read back whole, and how far this time. `reader_faults`: questions that met a page
 * that was not what was written; `rebuilds`: stores made anew because of such a page. `lag_seconds`: how long the
 * oldest command that it lacks has been in the journal (history/lag.ts).
 */
export const HISTORY_COUNTERS = [
  'up', 'sequence', 'lag_commands', 'events_per_second', 'heartbeat_ms', 'silence_seconds', 'silent', 'killed', 'scrub_passes',
  'scrub_pages', 'reader_faults', 'rebuilds', 'lag_seconds',
] as const
/** A history with more `lag_seconds` is late: the service is said to be degraded. */
export const LATE_SECONDS = 5
/**
 * The same of the follower that writes the snapshots. `newest`: sequence of the newest snapshot it wrote since the start, else 0. Of its
 * audits: how many, the sequence, duration and outcome of the last (`audit_failed` 1: an invariant is broken).
 */
export const SNAPSHOTS_COUNTERS = [
  'up', 'sequence', 'lag_commands', 'newest', 'silence_seconds', 'silent', 'killed', 'audits', 'audit_sequence', 'audit_seconds',
  'audit_failed',
] as const
/**
 * The scrub of the journal (journal/scrub.ts). `position`: sequence up to which it has read this time. `bytes`: read since the start.
 * `passes`: how often it has read all since the start, `pass_ms` when it ended last (Unix ms), `pass_seconds` how long that took.
 * `damaged`: places that could not be read back in the last whole pass or in this one; a process that ended by a signal counts as one.
 */
export const SCRUB_COUNTERS = ['position', 'bytes', 'passes', 'pass_ms', 'pass_seconds', 'damaged', 'silent'] as const
/**
 * The sign-in thread: verifies by outcome, challenges given, signatures recovered, questions to the chain with their failures and time,
 * how many signatures it asks about now, and how many nonces are remembered as spent, of how many.
 */
export const SIGN_IN_COUNTERS = [
  'challenges',
  'verifies_signed',
  'verifies_rejected',
  'verifies_unavailable',
  'verifies_refused',
  'recoveries',
  'recovery_seconds',
  'contract_signed',
  'contract_rejected',
  'contract_unavailable',
  'contract_checks',
  'contract_seconds',
  'chain_calls',
  'chain_failures',
  'chain_seconds',
  'flag_failures',
  'spent_nonces',
  'spent_nonces_capacity',
] as const
/** Upper bounds in seconds of the commit histogram; the last bucket is everything. */
export const COMMIT_BUCKETS = [0.0001, 0.0002, 0.0004, 0.0008, 0.0016, 0.0032, 0.0064, 0.0128, 0.0256, 0.1, 1] as const

/**
 * Upper bounds in seconds of the histogram of the fan-out's lag; the last bucket is everything. Then comes the sum. Each turn of a thread
 * that sent something counts once, with the time from its oldest event to the last byte of the turn.
 */
export const LAG_BUCKETS = [0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.25, 1] as const

export type MatcherCounter = (typeof MATCHER_COUNTERS)[number]
export type GatewayCounter = (typeof GATEWAY_COUNTERS)[number]
export type SignInCounter = (typeof SIGN_IN_COUNTERS)[number]
/** The last backup that was finished: when, Unix ms, and up to which sequence; 0: none. */
export const BACKUP_COUNTERS = ['time_ms', 'sequence'] as const
export type BackupCounter = (typeof BACKUP_COUNTERS)[number]
export type HistoryCounter = (typeof HISTORY_COUNTERS)[number]
export type SnapshotsCounter = (typeof SNAPSHOTS_COUNTERS)[number]
export type ScrubCounter = (typeof SCRUB_COUNTERS)[number]

/** Index of each counter in its block. */
export const MATCHER = Object.fromEntries(MATCHER_COUNTERS.map((name, i) => [name, i])) as Record<MatcherCounter, number>
export const GATEWAY = Object.fromEntries(GATEWAY_COUNTERS.map((name, i) => [name, i])) as Record<GatewayCounter, number>
export const HISTORY = Object.fromEntries(HISTORY_COUNTERS.map((name, i) => [name, i])) as Record<HistoryCounter, number>
export const SNAPSHOTS = Object.fromEntries(SNAPSHOTS_COUNTERS.map((name, i) => [name, i])) as Record<SnapshotsCounter, number>
export const BACKUP = Object.fromEntries(BACKUP_COUNTERS.map((name, i) => [name, i])) as Record<BackupCounter, number>
export const SCRUB = Object.fromEntries(SCRUB_COUNTERS.map((name, i) => [name, i])) as Record<ScrubCounter, number>
export const SIGN_IN = Object.fromEntries(SIGN_IN_COUNTERS.map((name, i) => [name, i])) as Record<SignInCounter, number>
export const COMMIT_HISTOGRAM = MATCHER_COUNTERS.length
export const LAG_HISTOGRAM = GATEWAY_COUNTERS.length
export const LAG_SUM = LAG_HISTOGRAM + LAG_BUCKETS.length + 1

const BLOCK = 128
if (LAG_SUM >= BLOCK) throw new Error('a block of counters is too small for those of a gateway')

/** Room for the matcher, this many threads in front of it (core/config.ts, frontThreads), the sign-in thread and the main thread. */
export const countersBytes = (gateways: number): number => (3 + gateways) * BLOCK * 8
export const matcherCounters = (buffer: SharedArrayBuffer): Float64Array => new Float64Array(buffer, 0, BLOCK)
/** The last block but one. */
export const signInCounters = (buffer: SharedArrayBuffer): Float64Array =>
  new Float64Array(buffer, buffer.byteLength - 2 * BLOCK * 8, BLOCK)
/** The last block is main's: the first half of the history, then of the snapshots, of backups and of the scrub. */
export const historyCounters = (buffer: SharedArrayBuffer): Float64Array =>
  new Float64Array(buffer, buffer.byteLength - BLOCK * 8, BLOCK / 2)
export const snapshotsCounters = (buffer: SharedArrayBuffer): Float64Array =>
  new Float64Array(buffer, buffer.byteLength - (BLOCK / 2) * 8, BLOCK / 4)
export const backupCounters = (buffer: SharedArrayBuffer): Float64Array =>
  new Float64Array(buffer, buffer.byteLength - (BLOCK / 4) * 8, BLOCK / 8)
export const scrubCounters = (buffer: SharedArrayBuffer): Float64Array =>
  new Float64Array(buffer, buffer.byteLength - (BLOCK / 8) * 8, BLOCK / 8)
/** `gateway` counts from 1, as in command headers. */
export const gatewayCounters = (buffer: SharedArrayBuffer, gateway: number): Float64Array =>
  new Float64Array(buffer, gateway * BLOCK * 8, BLOCK)

/** Counts an answer in the block of a gateway. Classes are those of HTTP for every transport, so that one graph shows all. */
export function countResponse(counters: Float64Array, status: number): void {
  if (status >= 500) counters[GATEWAY.responses_5xx]!++
  else if (status >= 400) counters[GATEWAY.responses_4xx]!++
  else if (status >= 200) counters[GATEWAY.responses_2xx]!++
}

/**
 * The one word that tells readers of the shared columns whether the matcher is applying a batch: odd while it is. A reader
 * copies while it is even and checks the version of what it copied (view/consistent.ts).
 */
export const APPLYING = 0
/** Word that tells the matcher, which cannot receive messages while it waits, to finish: drain the rings, close the journal. */
export const STOP = 1
