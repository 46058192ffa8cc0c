/**
 * Signed single orders over WebSockets against the real exchange: verified, journaled with fsync, matched, answered; with a signature for
 * each order, and in sessions that a signature opens. The load generator shares the two cores. V is measured before and after, in the same
 * run, while nothing else runs.
 */
import { availableParallelism } from 'node:os'
import { defaultsFor } from '../../core/config.ts'
import { amount, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { makeTraders, verifiesPerSecond } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { cycle, drive, figuresOf, measure, once, type Measured, type Mode } from './rounds.ts'
import { countedFrames, openingFrame, signedFrames, SocketLoad } from './ws_load.ts'

const CONNECTIONS = 8
/** Not answered on each connection. */
const IN_FLIGHT = 128
const SECONDS = amount(5, 1)
const ROUNDS = amount(3, 1)
/** Different signed orders; each is sent many times within its thirty seconds. */
const ORDERS = 1000
/** Orders of one session, made while nothing is measured; a round ends early when they are used up. */
const COUNTED = amount(200_000, 50_000)

const connections = (port: number): Promise<SocketLoad[]> => Promise.all(Array.from({ length: CONNECTIONS }, () => SocketLoad.open(port)))

const signed: Mode = async (exchange, traders, pair, seed, pace) => {
  const frames = signedFrames(traders, pair, ORDERS, seed)
  const sockets = await connections(exchange.port)
  const driven = await drive(sockets, sockets.map(() => cycle(frames)), pace, IN_FLIGHT)
  for (const socket of sockets) socket.close()
  return driven
}

const session: Mode = async (exchange, traders, pair, seed, pace) => {
  const sockets = await connections(exchange.port)
  const frames = sockets.map((_, i) => countedFrames(pair, COUNTED, seed * 100 + i, 1))
  for (const [i, socket] of sockets.entries()) {
    await socket.drive(once([openingFrame(traders[i]!)]), 1)
    if (socket.tally.accepted !== 1) throw new Error('the session is not open')
    socket.tally.accepted = 0
    socket.tally.latencies.length = 0
  }
  const driven = await drive(sockets, frames.map((each) => once(each)), pace, IN_FLIGHT)
  for (const socket of sockets) socket.close()
  return driven
}

/** Modes against an exchange of their own, which is started with these flags besides. */
function withFlags(flags: readonly string[], modes: readonly Mode[]): Promise<Measured[]> {
  const all = (directory: string): string[] => ['--genesis', richGenesis(directory), '--ws-order-entry', '1', ...flags]
  return withExchange(all, async (exchange) => {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    const results: Measured[] = []
    for (const [i, mode] of modes.entries()) {
      results.push(await measure(mode, exchange, traders, pair, ROUNDS, SECONDS * 1000, 100 * (i + 1)))
    }
    return results
  })
}

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const [byDefault, inSession] = await withFlags([], [signed, session])
  const [one] = await withFlags(['--gateways', '1'], [signed])
  const verifies = (before + verifiesPerSecond(2)) / 2
  return {
    name: 'ws-orders: signed single orders over WebSockets, durable',
    settings: {
      client: 'own, plain sockets, frames made and signed beforehand, same two cores',
      connections: CONNECTIONS,
      'gateway threads': `default, ${defaultsFor(availableParallelism()).gateways}; the operating system gives them the connections`,
      saturated: `${IN_FLIGHT} messages in flight per connection (closed loop)`,
      'at half the rate': 'sent at fixed times, latency from when each was due',
      seconds: SECONDS,
      rounds: `${ROUNDS} saturated, ${ROUNDS} at half the rate`,
      accounts: 20,
      orders: `${ORDERS} LIMIT GTC orders around one price, signed before each round`,
    },
    figures: {
      'V, verifies/s of one core': verifies,
      ...figuresOf('signed', byDefault!, verifies),
      ...figuresOf('signed, one gateway thread', one!, verifies),
      ...figuresOf('in a session', inSession!, verifies),
    },
    targets: [
      { figure: 'signed, fraction of V', atLeast: 0.85, unit: 'V' },
      { figure: 'in a session, orders/s', atLeast: 60_000, unit: 'orders/s' },
    ],
  }
}
