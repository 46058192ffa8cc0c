/**
 * Signed single orders over WebSockets against the real exchange: verified, journaled with fsync, matched, answered; with a signature for
 * each order, and in sessions that a signature opens. The load generator shares the two cores. V is measured before and after, in the same
 * run, while nothing else runs.
 */
import { removeDirectory, startExchange, temporaryDirectory } from '../../test/support/exchange.ts'
import { median, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { cycle, round, timed, type Mode, type Round } from './grpc.ts'
import { makeTraders, verifiesPerSecond } from './orders.ts'
import { countedFrames, openingFrame, signedFrames, SocketLoad } from './ws_load.ts'

const CONNECTIONS = 4
/** Not answered on each connection. */
const IN_FLIGHT = 128
const SECONDS = 6
const ROUNDS = 3
/** Different signed orders; each is sent many times within its thirty seconds. */
const ORDERS = 1000
/** Orders of one session, made while nothing is measured; a round ends early when they are used up. */
const COUNTED = 200_000

const connections = (port: number): Promise<SocketLoad[]> => Promise.all(Array.from({ length: CONNECTIONS }, () => SocketLoad.open(port)))

const signed: Mode = async (exchange, traders, pair, seed, ms) => {
  const frames = signedFrames(traders, pair, ORDERS, seed)
  const sockets = await connections(exchange.port)
  const seconds = await timed(() => Promise.all(sockets.map((socket) => socket.drive(cycle(frames, ms), IN_FLIGHT))))
  for (const socket of sockets) socket.close()
  return { tallies: sockets.map(({ tally }) => tally), seconds }
}

const session: Mode = async (exchange, traders, pair, seed, ms) => {
  const sockets = await connections(exchange.port)
  const frames = sockets.map((_, i) => countedFrames(pair, COUNTED, seed * 100 + i, 1))
  for (const [i, socket] of sockets.entries()) {
    const opening = [openingFrame(traders[i]!)]
    await socket.drive(() => opening.shift() ?? null, 1)
    if (socket.tally.accepted !== 1) throw new Error('the session is not open')
    socket.tally.accepted = 0
    socket.tally.latencies.length = 0
  }
  const until = performance.now() + ms
  const seconds = await timed(() => Promise.all(sockets.map((socket, i) => {
    let next = 0
    return socket.drive(() => (performance.now() < until ? (frames[i]![next++] ?? null) : null), IN_FLIGHT)
  })))
  for (const socket of sockets) socket.close()
  return { tallies: sockets.map(({ tally }) => tally), seconds }
}

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--genesis', richGenesis(directory), '--ws-order-entry', '1'])
  const results: Record<string, Round[]> = { signed: [], session: [] }
  const modes: [string, Mode][] = [['signed', signed], ['session', session]]
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
    name: 'ws-orders: signed single orders over WebSockets, durable',
    settings: {
      client: 'own, plain sockets, frames made and signed beforehand, same two cores',
      connections: CONNECTIONS,
      'messages in flight per connection': IN_FLIGHT,
      seconds: SECONDS,
      rounds: ROUNDS,
      accounts: 20,
      orders: `${ORDERS} LIMIT GTC orders around one price, signed before each round`,
    },
    figures: {
      'V, verifies/s of one core': verifies,
      'signed, orders/s': of('signed', 'rate'),
      'signed, fraction of V': of('signed', 'rate') / verifies,
      'signed, latency p50, ms': of('signed', 'p50'),
      'signed, latency p99, ms': of('signed', 'p99'),
      'in a session, orders/s': of('session', 'rate'),
      'in a session, fraction of V': of('session', 'rate') / verifies,
      'in a session, latency p50, ms': of('session', 'p50'),
      'in a session, latency p99, ms': of('session', 'p99'),
      'refused': Object.values(results).flat().reduce((sum, each) => sum + each.refused, 0),
    },
    targets: [
      { figure: 'signed, fraction of V', atLeast: 0.65, unit: 'V' },
      { figure: 'in a session, orders/s', atLeast: 60_000, unit: 'orders/s' },
    ],
  }
}
