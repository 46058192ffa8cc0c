/**
 * Signed single orders over gRPC against the real exchange: verified, journaled with fsync, matched, answered; as unary calls, on streams
 * with a signature for each order, and on streams with a signed session. The load generator shares the two cores. V is measured before
 * and after, in the same run, while nothing else runs.
 */
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../test/support/exchange.ts'
import type { Trader } from '../../test/support/traders.ts'
import { median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { countedActions, driveUnary, openConnection, signActions, signedAction, signUnary, StreamLoad, type Tally } from './grpc_load.ts'
import { endOrders, makeTraders, verifiesPerSecond } from './orders.ts'

const CONNECTIONS = 4
const UNARY_IN_FLIGHT = 16
/** Not answered on each stream. */
const STREAM_IN_FLIGHT = 128
const SECONDS = 6
const ROUNDS = 3
/** Different signed orders; each is sent many times within its thirty seconds. */
const ORDERS = 1000
/** Orders of one session, made while nothing is measured; a round ends early when they are used up. */
const COUNTED = 80_000

export interface Round {
  rate: number
  p50: number
  p99: number
  refused: number
}

export interface Driven {
  readonly tallies: readonly Tally[]
  readonly seconds: number
}

export type Mode = (exchange: Exchange, traders: readonly Trader[], pair: string, seed: number, ms: number) => Promise<Driven>

/** Seconds that `drive` took. */
export async function timed(drive: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await drive()
  return (performance.now() - started) / 1000
}

const unary: Mode = async (exchange, traders, pair, seed, ms) => {
  const sessions = Array.from({ length: CONNECTIONS }, () => openConnection(exchange.grpcPort))
  const requests = signUnary(traders, pair, ORDERS, seed)
  const tallies: Tally[] = []
  const seconds = await timed(async () => tallies.push(await driveUnary(sessions, requests, UNARY_IN_FLIGHT, ms)))
  for (const session of sessions) session.close()
  return { tallies, seconds }
}

/** Frames that come round again until the time is over. */
export function cycle(frames: readonly Buffer[], ms: number): () => Buffer | null {
  const until = performance.now() + ms
  let next = 0
  return () => (performance.now() < until ? frames[next++ % frames.length]! : null)
}

const signedStream: Mode = async (exchange, traders, pair, seed, ms) => {
  const frames = signActions(traders, pair, ORDERS, seed)
  const sessions = Array.from({ length: CONNECTIONS }, () => openConnection(exchange.grpcPort))
  const streams = sessions.map((session) => new StreamLoad(session))
  const seconds = await timed(() => Promise.all(streams.map((stream) => stream.drive(cycle(frames, ms), STREAM_IN_FLIGHT))))
  await Promise.all(streams.map((stream) => stream.close()))
  for (const session of sessions) session.close()
  return { tallies: streams.map(({ tally }) => tally), seconds }
}

const sessionStream: Mode = async (exchange, traders, pair, seed, ms) => {
  const sessions = Array.from({ length: CONNECTIONS }, () => openConnection(exchange.grpcPort))
  const streams = sessions.map((session) => new StreamLoad(session))
  const frames = streams.map((_, i) => countedActions(pair, COUNTED, seed * 100 + i, 2))
  for (const [i, stream] of streams.entries()) {
    const opening = [signedAction(traders[i]!, { requestId: 'open', counter: 1, openSession: {} })]
    await stream.drive(() => opening.shift() ?? null, 1)
    stream.tally.accepted = 0
    stream.tally.latencies.length = 0
  }
  const until = performance.now() + ms
  const seconds = await timed(() => Promise.all(streams.map((stream, i) => {
    let next = 0
    return stream.drive(() => (performance.now() < until ? (frames[i]![next++] ?? null) : null), STREAM_IN_FLIGHT)
  })))
  await Promise.all(streams.map((stream) => stream.close()))
  for (const session of sessions) session.close()
  return { tallies: streams.map(({ tally }) => tally), seconds }
}

/** One round of a mode, `ms` long. */
export async function round(
  mode: Mode, exchange: Exchange, traders: readonly Trader[], pair: string, seed: number, ms: number,
): Promise<Round> {
  const { tallies, seconds } = await mode(exchange, traders, pair, seed, ms)
  await endOrders(traders)
  const latencies = Float64Array.from(tallies.flatMap((tally) => tally.latencies)).sort()
  const accepted = tallies.reduce((sum, tally) => sum + tally.accepted, 0)
  return {
    rate: accepted / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99),
    refused: tallies.reduce((sum, tally) => sum + tally.refused, 0),
  }
}

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--genesis', richGenesis(directory)])
  const results: Record<string, Round[]> = { unary: [], stream: [], session: [] }
  const modes: [string, Mode][] = [['unary', unary], ['stream', signedStream], ['session', sessionStream]]
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    let seed = 1
    for (const [name, mode] of modes) {
      await round(mode, exchange, traders, pair, seed++, 2000)
      for (let i = 0; i < ROUNDS; i++) results[name]!.push(await round(mode, exchange, traders, pair, seed++, SECONDS * 1000))
    }
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
  const verifies = (before + verifiesPerSecond(2)) / 2
  const of = (name: string, figure: keyof Round): number => median(results[name]!.map((each) => each[figure]))
  return {
    name: 'grpc: signed single orders, durable',
    settings: {
      client: 'own, plain HTTP/2, requests framed and signed beforehand, same two cores',
      connections: CONNECTIONS,
      'calls in flight per connection': UNARY_IN_FLIGHT,
      'actions in flight per stream': STREAM_IN_FLIGHT,
      seconds: SECONDS,
      rounds: ROUNDS,
      accounts: 20,
      orders: `${ORDERS} LIMIT GTC orders around one price, signed before each round`,
    },
    figures: {
      'V, verifies/s of one core': verifies,
      'unary, orders/s': of('unary', 'rate'),
      'unary, fraction of V': of('unary', 'rate') / verifies,
      'unary, latency p50, ms': of('unary', 'p50'),
      'unary, latency p99, ms': of('unary', 'p99'),
      'stream, orders/s': of('stream', 'rate'),
      'stream, fraction of V': of('stream', 'rate') / verifies,
      'stream, latency p50, ms': of('stream', 'p50'),
      'stream, latency p99, ms': of('stream', 'p99'),
      'stream in a session, orders/s': of('session', 'rate'),
      'stream in a session, fraction of V': of('session', 'rate') / verifies,
      'stream in a session, latency p50, ms': of('session', 'p50'),
      'stream in a session, latency p99, ms': of('session', 'p99'),
      'refused': Object.values(results).flat().reduce((sum, each) => sum + each.refused, 0),
    },
    targets: [{ figure: 'stream, fraction of V', atLeast: 0.55, unit: 'V' }],
  }
}
