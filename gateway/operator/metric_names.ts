/** Names of what the operator reads of threads that serve clients: gateways and the connections of ports. Times in seconds. */
import type { GatewayCounter } from '../../core/ring/counters.ts'
import type { PortCounter } from '../../core/ring/ports.ts'

export type Kind = 'counter' | 'gauge'
export interface Metric {
  readonly name: string
  readonly kind: Kind
  readonly help: string
  /** Fixed labels beside the gateway's number, as they are printed. */
  readonly labels?: string
  /** What a counter is multiplied by, to arrive at the metric's unit. */
  readonly scale?: number
}

export const counter = (name: string, help: string, labels?: string): Metric =>
  ({ name, kind: 'counter', help, ...(labels ? { labels } : {}) })
export const gauge = (name: string, help: string, scale?: number): Metric =>
  ({ name, kind: 'gauge', help, ...(scale ? { scale } : {}) })

const overBudget = (name: string): Metric =>
  counter('exchange_requests_over_budget_total', 'Requests over a rate budget, refused or only counted, by class', `class="${name}"`)
const rateRefused = (name: string): Metric =>
  counter('exchange_rate_refusals_total', 'Requests refused over a rate budget, by class', `class="${name}"`)

const socketsClosed = (code: number): Metric =>
  counter('exchange_websocket_closes_total', 'WebSockets the service closed, by close code', `code="${code}"`)

export const GATEWAY_METRICS: Record<GatewayCounter, Metric> = {
  requests: counter('exchange_requests_total', 'Requests read: HTTP requests, gRPC calls and stream actions'),
  responses_2xx: counter('exchange_responses_total', 'Responses by class of HTTP status', 'class="2xx"'),
  responses_4xx: counter('exchange_responses_total', 'Responses by class of HTTP status', 'class="4xx"'),
  responses_5xx: counter('exchange_responses_total', 'Responses by class of HTTP status', 'class="5xx"'),
  signature_ok: counter('exchange_signatures_total', 'Request signatures checked, by verdict', 'verdict="accepted"'),
  signature_rejected: counter('exchange_signatures_total', 'Request signatures checked, by verdict', 'verdict="rejected"'),
  server_key_ok: counter('exchange_server_keys_total', 'Server keys checked, by verdict', 'verdict="accepted"'),
  server_key_rejected: counter('exchange_server_keys_total', 'Server keys checked, by verdict', 'verdict="rejected"'),
  ring_full: counter('exchange_command_ring_full_total', 'Requests answered 503 because nobody had room in the rings'),
  share_full: counter('exchange_account_share_full_total', 'Requests refused because their account has its share of answers in flight'),
  exits_refused: counter('exchange_exits_refused_total', 'Of all these, cancels and revocations, for which an eighth of the room is kept'),
  credits: gauge('exchange_reply_credits_records', 'Answers that requests in flight may still cause'),
  pending: gauge('exchange_pending_requests', 'Requests waiting for the matcher'),
  pending_high_water: gauge('exchange_pending_high_water_requests', 'Most requests waiting for the matcher so far'),
  aborted: counter('exchange_aborted_requests_total', 'Requests whose client left before the answer'),
  reply_records: counter('exchange_reply_records_total', 'Records read from the reply ring'),
  lapped: counter('exchange_lapped_readers_total', 'Times the event ring overtook its reader'),
  heartbeat_ms: gauge('exchange_gateway_heartbeat_timestamp_seconds', 'When the gateway loop last passed, Unix time', 0.001),
  connections: gauge('exchange_connections', 'Open client connections'),
  body_bytes: counter('exchange_request_body_bytes_total', 'Bytes of request bodies'),
  unhandled: counter('exchange_unhandled_errors_total', 'Requests that ended in an unexpected error'),
  rate_over_create: overBudget('create'),
  rate_over_reduce: overBudget('reduce'),
  rate_over_movement: overBudget('movement'),
  rate_over_close: overBudget('close'),
  rate_refused_create: rateRefused('create'),
  rate_refused_reduce: rateRefused('reduce'),
  rate_refused_movement: rateRefused('movement'),
  rate_refused_close: rateRefused('close'),
  certificate_expires_ms: gauge(
    'exchange_certificate_expiry_timestamp_seconds', 'When the certificate of the port expires, Unix time; 0: the port has none', 0.001,
  ),
  ws_connections: gauge('exchange_websocket_connections', 'Open WebSockets'),
  ws_authenticated: gauge('exchange_websocket_authenticated_connections', 'Open WebSockets with a session'),
  ws_subscriptions: gauge('exchange_websocket_subscriptions', 'Subscriptions of open WebSockets'),
  ws_messages: counter('exchange_websocket_messages_total', 'Messages and pings read from WebSockets'),
  ws_frames: counter('exchange_websocket_frames_total', 'Frames written to WebSockets'),
  ws_bytes: counter('exchange_websocket_frame_bytes_total', 'Bytes of those frames'),
  ws_slow: counter('exchange_websocket_slow_total', 'WebSockets cut because their clients did not read'),
  ws_crowded: counter('exchange_websocket_crowded_total', 'WebSockets cut because too much waited for all or for their client'),
  ws_settled_left_out: counter(
    'exchange_websocket_settled_left_out_total', 'Filled orders whose settlement the orders channel had no room to tell',
  ),
  ws_waiting_bytes: gauge('exchange_websocket_waiting_bytes', 'Bytes that wait for clients of WebSockets to read them'),
  ws_waiting_capacity: gauge('exchange_websocket_waiting_capacity_bytes', 'Bytes that may: wsBuffersMb'),
  ws_closed_1001: socketsClosed(1001),
  ws_closed_1008: socketsClosed(1008),
  ws_closed_1009: socketsClosed(1009),
  ws_closed_1013: socketsClosed(1013),
  ws_cpu_seconds: counter('exchange_websocket_cpu_seconds_total', 'Processor time of telling WebSockets what happened'),
  ws_stall_seconds_max: gauge('exchange_websocket_stall_max_seconds', 'Longest time so far that this kept a gateway from requests'),
  anonymous_seconds: counter('exchange_request_seconds_total', 'Time of gateway threads that requests took, by who asked', 'who="anybody"'),
  signed_seconds: counter('exchange_request_seconds_total', 'Time of gateway threads that requests took, by who asked', 'who="signed"'),
  anonymous_queued: gauge('exchange_anonymous_queued_requests', 'Requests without a signature that wait for their turn'),
  anonymous_refused: counter('exchange_anonymous_refused_total', 'Requests without a signature refused because too many wait'),
  read_seconds: counter('exchange_signed_read_seconds_total', 'Time of signed reads, of gateway threads and of the history for them'),
  reads_queued: gauge('exchange_signed_reads_queued', 'Signed reads that wait for their turn'),
  reads_refused: counter('exchange_signed_reads_refused_total', 'Signed reads refused because those of their family take too much time'),
  ws_changes_bytes: gauge('exchange_websocket_changes_bytes', 'What changes of subscriptions hold that wait for their turn'),
  ws_changes_capacity: gauge('exchange_websocket_changes_capacity_bytes', 'What they may hold'),
  unfinished_body_bytes: gauge('exchange_unfinished_body_bytes', 'Bytes of request bodies that came in part'),
  unfinished_body_capacity: gauge('exchange_unfinished_body_capacity_bytes', 'Bytes they may have: bodyMb'),
  bodies_slow: counter('exchange_bodies_cut_total', 'Requests refused before their body was whole, by reason', 'reason="slow"'),
  bodies_refused: counter('exchange_bodies_cut_total', 'Requests refused before their body was whole, by reason', 'reason="room"'),
  unsent_bytes: gauge('exchange_unsent_answer_bytes', 'Bytes of answers that their clients have not taken'),
  unsent_capacity: gauge('exchange_unsent_answer_capacity_bytes', 'Bytes they may have: answerMb'),
  answers_refused: counter('exchange_answers_refused_total', 'Long answers refused because too many are not taken'),
  answers_no_room: counter('exchange_answers_cut_total', 'Connections closed before their answer was taken, by reason', 'reason="room"'),
  answers_slow: counter('exchange_answers_cut_total', 'Connections closed before their answer was taken, by reason', 'reason="slow"'),
  ws_orders: counter('exchange_websocket_orders_total', 'Messages of order entry read from WebSockets'),
  ws_orders_refused: counter(
    'exchange_websocket_orders_refused_total', 'Of these, refused because their connection, account or client had its share',
  ),
  openings: gauge('exchange_openings', 'Signatures remembered that opened a session on a stream or WebSocket in the present minute'),
  openings_full: counter('exchange_openings_refused_total', 'Such sessions refused: the account has its share, or the table is full'),
  cancels_at_end: counter('exchange_cancels_on_disconnect_total', 'Mass cancels given to the engine because a connection ended'),
  cancels_at_end_waiting: gauge('exchange_cancels_on_disconnect_waiting', 'Of connections that ended, which wait for room in the ring'),
  grpc_held_bytes: gauge('exchange_grpc_held_bytes', 'Bytes held for gRPC requests that are not answered yet'),
  grpc_held_limit: gauge('exchange_grpc_held_limit_bytes', 'Most bytes that may be held for them'),
  grpc_no_room: counter('exchange_grpc_no_room_total', 'gRPC requests refused because too many bytes of requests were held'),
  grpc_unsent_bytes: gauge('exchange_grpc_unsent_bytes', 'Bytes of gRPC answers that their clients have not taken'),
  grpc_unsent_capacity: gauge('exchange_grpc_unsent_capacity_bytes', 'Bytes they may have: grpcAnswerMb'),
  grpc_unsent_cut: counter('exchange_grpc_unsent_cut_total', 'gRPC connections ended because too much was not taken'),
  questions: counter('exchange_questions_total', 'Reads that found no rest in the shared columns and became questions to the matcher'),
  questions_refused: counter('exchange_questions_refused_total', 'Such reads refused: too many wait, or no answer came in time'),
  questions_waiting: gauge('exchange_questions_waiting', 'Different reads that wait for the matcher'),
  questions_capacity: gauge('exchange_questions_capacity', 'How many may'),
}

const refusedConnections = (reason: string): Metric =>
  counter('exchange_connections_refused_total', 'Connections closed because there was no place, by reason', `reason="${reason}"`)
const endedConnections = (reason: string): Metric =>
  counter('exchange_connections_ended_total', 'Connections ended over a bound, by reason', `reason="${reason}"`)

export const PORT_METRICS: Record<PortCounter, Metric> = {
  open: gauge('exchange_port_connections', 'Open connections, by port'),
  most: gauge('exchange_port_connections_limit', 'Most connections there may be, by port'),
  refused_full: refusedConnections('full'),
  refused_share: refusedConnections('share'),
  cut_first: endedConnections('first request'),
  cut_idle: endedConnections('idle'),
  cut_flood: endedConnections('flood'),
  cut_crowded: endedConnections('crowded'),
  refused_backoff: refusedConnections('backoff'),
}
