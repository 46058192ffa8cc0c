/**
 * Signed single orders over gRPC against the real exchange: verified, journaled with fsync, matched, answered; as unary calls, on streams
 * with a signature for each order, and on streams with a signed session. The load generator shares the two cores. V is measured before
 * and after, in the same run, while nothing else runs.
 */
import type { ClientHttp2Session } from 'node:http2'
import { amount, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { countedActions, openConnection, signActions, signedAction, signUnary, StreamLoad, UnaryLoad } from './grpc_load.ts'
import { makeTraders, verifiesPerSecond } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { cycle, drive, figuresOf, measure, once, type Driven, type Measured, type Mode } from './rounds.ts'

const CONNECTIONS = 4
const UNARY_IN_FLIGHT = 16
/** Not answered on each stream. */
const STREAM_IN_FLIGHT = 128
const SECONDS = amount(6, 1)
const ROUNDS = amount(3, 1)
/** Different signed orders; each is sent many times within its thirty seconds. */
const ORDERS = 1000
/** Orders of one session, made while nothing is measured; a round ends early when they are used up. */
const COUNTED = 80_000


async function withSessions(port: number, work: (sessions: readonly ClientHttp2Session[]) => Promise<Driven>): Promise<Driven> {
  const sessions = Array.from({ length: CONNECTIONS }, () => openConnection(port))
  try {
    return await work(sessions)
  } finally {
    for (const session of sessions) session.close()
  }
}

const unary: Mode = (exchange, traders, pair, seed, pace) => withSessions(exchange.grpcPort, (sessions) => {
  const requests = signUnary(traders, pair, ORDERS, seed)
  const next = cycle(requests)
  return drive(sessions.map((session) => new UnaryLoad(session)), sessions.map(() => next), pace, UNARY_IN_FLIGHT)
})

const signedStream: Mode = (exchange, traders, pair, seed, pace) => withSessions(exchange.grpcPort, async (sessions) => {
  const frames = signActions(traders, pair, ORDERS, seed)
  const streams = sessions.map((session) => new StreamLoad(session))
  const driven = await drive(streams, streams.map(() => cycle(frames)), pace, STREAM_IN_FLIGHT)
  await Promise.all(streams.map((stream) => stream.close()))
  return driven
})

const sessionStream: Mode = (exchange, traders, pair, seed, pace) => withSessions(exchange.grpcPort, async (sessions) => {
  const streams = sessions.map((session) => new StreamLoad(session))
  const frames = streams.map((_, i) => countedActions(pair, COUNTED, seed * 100 + i, 2))
  for (const [i, stream] of streams.entries()) {
    await stream.drive(once([signedAction(traders[i]!, { requestId: 'open', counter: 1, openSession: {} })]), 1)
    stream.tally.accepted = 0
    stream.tally.latencies.length = 0
  }
  const driven = await drive(streams, frames.map((each) => once(each)), pace, STREAM_IN_FLIGHT)
  await Promise.all(streams.map((stream) => stream.close()))
  return driven
})

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const modes: [string, Mode][] = [['unary', unary], ['stream', signedStream], ['stream in a session', sessionStream]]
  const measured: [string, Measured][] = []
  await withExchange((directory) => ['--genesis', richGenesis(directory)], async (exchange) => {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    for (const [i, [name, mode]] of modes.entries()) {
      measured.push([name, await measure(mode, exchange, traders, pair, ROUNDS, SECONDS * 1000, 100 * (i + 1))])
    }
  })
  const verifies = (before + verifiesPerSecond(2)) / 2
  return {
    name: 'grpc: signed single orders, durable',
    settings: {
      client: 'own, plain HTTP/2, requests framed and signed beforehand, same two cores',
      connections: CONNECTIONS,
      saturated: `${UNARY_IN_FLIGHT} calls in flight per connection, ${STREAM_IN_FLIGHT} actions per stream (closed loop)`,
      'at half the rate': 'sent at fixed times, latency from when each was due',
      seconds: SECONDS,
      rounds: `${ROUNDS} saturated, ${ROUNDS} at half the rate`,
      accounts: 20,
      orders: `${ORDERS} LIMIT GTC orders around one price, signed before each round`,
    },
    figures: {
      'V, verifies/s of one core': verifies,
      ...Object.assign({}, ...measured.map(([name, rounds]) => figuresOf(name, rounds, verifies))) as Record<string, number>,
    },
    targets: [{ figure: 'stream, fraction of V', atLeast: 0.55, unit: 'V' }],
  }
}
