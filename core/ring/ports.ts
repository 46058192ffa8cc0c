/**
 * Counters of connections by port, in shared memory like those of counters.ts: a block for each thread that listens, written by it alone.
 * Gateway threads write http, websocket and proxy, the gRPC thread grpc, the threads of the operator's port and the chain one each.
 */
export const PORTS = ['http', 'websocket', 'grpc', 'operator', 'chain', 'proxy'] as const
/**
 * `open` now, `most` there may be; connections refused because all places were taken or because the client had its share; connections
 * ended because no first request came, none came for too long, too much else came, or a newer one of the same client wanted the place.
 * `refused_backoff`: refused because one of the client's was ended as a flood shortly before.
 */
export const PORT_COUNTERS = [
  'open', 'most', 'refused_full', 'refused_share', 'cut_first', 'cut_idle', 'cut_flood', 'cut_crowded',
  'refused_backoff',
] as const

/** Connections at most of the operator's port, and of the chain's; the other ports have knobs. */
export const OPERATOR_CONNECTIONS = 64
export const CHAIN_CONNECTIONS = 256

export type PortName = (typeof PORTS)[number]
export type PortCounter = (typeof PORT_COUNTERS)[number]
export type PortBlock = Float64Array

/** Index of each counter in its block. */
export const PORT_COUNTER = Object.fromEntries(PORT_COUNTERS.map((name, i) => [name, i])) as Record<PortCounter, number>

const WORDS = PORT_COUNTERS.length
const THREAD_BYTES = PORTS.length * WORDS * 8

/** Room for this many front threads (core/config.ts, frontThreads), the operator's and the chain's. */
export const portsBytes = (fronts: number): number => (fronts + 1) * THREAD_BYTES

/** The counters of a port. `thread`: 1..N of a front thread; 0 of those that are no such thread. */
export const portBlock = (buffer: SharedArrayBuffer, thread: number, port: PortName): PortBlock =>
  new Float64Array(buffer, thread * THREAD_BYTES + PORTS.indexOf(port) * WORDS * 8, WORDS)
