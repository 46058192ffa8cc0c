/**
 * Counters in shared memory: a hot thread pays one store, another thread reads and formats them (operator/metrics.ts).
 *
 * One block of doubles per thread, written by that thread only. Aligned 64-bit stores are not torn on the 64-bit machines that
 * Node 22 runs on; a reader may see counters of one block at slightly different times.
 */
export const MATCHER_COUNTERS = [
  'commands',
  'refusals',
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
  'receipts',
] as const
export const GATEWAY_COUNTERS = [
  'requests',
  'responses_2xx',
  'responses_4xx',
  'responses_5xx',
  'signature_ok',
  'signature_rejected',
  'ring_full',
  'pending',
  'pending_high_water',
  'aborted',
  'reply_records',
  'lapped',
  'heartbeat_ms',
  'connections',
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
  'ws_closed_1001',
  'ws_closed_1008',
  'ws_closed_1009',
  'ws_closed_1013',
  'ws_cpu_seconds',
  'ws_stall_seconds_max',
  'ws_orders',
] as const
/**
 * What main knows of the history: `up` 1 while it can be read, the sequence it has reached, how many commands it is behind, events it
 * takes in a second, and when it was heard of last (Unix ms).
 */
export const HISTORY_COUNTERS = ['up', 'sequence', 'lag_commands', 'events_per_second', 'heartbeat_ms'] as const
/**
 * The sign-in desk: verifies by outcome, challenges given, signatures recovered, questions to the chain with their failures and time, and
 * how many signatures it asks about now.
 */
export const DESK_COUNTERS = [
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
export type DeskCounter = (typeof DESK_COUNTERS)[number]
export type HistoryCounter = (typeof HISTORY_COUNTERS)[number]

/** Index of each counter in its block. */
export const MATCHER = Object.fromEntries(MATCHER_COUNTERS.map((name, i) => [name, i])) as Record<MatcherCounter, number>
export const GATEWAY = Object.fromEntries(GATEWAY_COUNTERS.map((name, i) => [name, i])) as Record<GatewayCounter, number>
export const HISTORY = Object.fromEntries(HISTORY_COUNTERS.map((name, i) => [name, i])) as Record<HistoryCounter, number>
export const DESK = Object.fromEntries(DESK_COUNTERS.map((name, i) => [name, i])) as Record<DeskCounter, number>
export const COMMIT_HISTOGRAM = MATCHER_COUNTERS.length
export const LAG_HISTOGRAM = GATEWAY_COUNTERS.length
export const LAG_SUM = LAG_HISTOGRAM + LAG_BUCKETS.length + 1

const BLOCK = 64
if (LAG_SUM >= BLOCK) throw new Error('a block of counters is too small for those of a gateway')

/** Room for the matcher, this many threads in front of it (core/config.ts, frontThreads) and the sign-in desk. */
export const countersBytes = (gateways: number): number => (2 + gateways) * BLOCK * 8
export const matcherCounters = (buffer: SharedArrayBuffer): Float64Array => new Float64Array(buffer, 0, BLOCK)
/** The last cache line of the matcher's block, which the matcher does not reach; main writes it. */
export const historyCounters = (buffer: SharedArrayBuffer): Float64Array => new Float64Array(buffer, (BLOCK - 8) * 8, 8)
/** The last block. */
export const deskCounters = (buffer: SharedArrayBuffer): Float64Array => new Float64Array(buffer, buffer.byteLength - BLOCK * 8, BLOCK)
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
