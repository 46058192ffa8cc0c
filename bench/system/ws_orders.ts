/**
 * Signed single orders over WebSockets against the real exchange: verified, journaled with fsync, matched, answered; with a signature for
 * each order, and in sessions that a signature opens. The load generator shares the two cores. V is measured before and after, in the same
 * run, while nothing else runs.
 */
import { removeDirectory, startExchange, temporaryDirectory } from '../../test/support/exchange.ts'
import { median, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { cycle, round, timed, type Mode, type Round } from './grpc.ts'
import { endOrders, makeTraders, verifiesPerSecond } from './orders.ts'
import { countedFrames, openingFrame, signedFrames, SocketLoad } from './ws_load.ts'

const CONNECTIONS = 8
/** Not answered on each connection. */
const IN_FLIGHT = 128
const SECONDS = 5
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

/** Rounds of these modes against an exchange of their own with so many gateway threads. */
async function measure(gateways: number, modes: readonly Mode[]): Promise<Round[][]> {
  const directory = temporaryDirectory()
  const options = ['--genesis', richGenesis(directory), '--ws-order-entry', '1', '--gateways', String(gateways)]
  const exchange = await startExchange(directory, options)
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 20)
    let seed = 1
    const results: Round[][] = []
    for (const mode of modes) {
      await round(mode, exchange, traders, pair, seed++, 2000)
      const rounds: Round[] = []
      for (let i = 0; i < ROUNDS; i++) {
        await endOrders(traders)
        rounds.push(await round(mode, exchange, traders, pair, seed++, SECONDS * 1000))
      }
      results.push(rounds)
    }
    return results
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
}

export async function run(): Promise<Result> {
  const before = verifiesPerSecond(2)
  const [alone, alongside] = [await measure(1, [signed, session]), await measure(2, [signed])]
  const results: Record<string, Round[]> = { signed: alongside[0]!, one: alone[0]!, session: alone[1]! }
  const verifies = (before + verifiesPerSecond(2)) / 2
  const of = (name: string, figure: keyof Round): number => median(results[name]!.map((each) => each[figure]))
  return {
    name: 'ws-orders: signed single orders over WebSockets, durable',
    settings: {
      client: 'own, plain sockets, frames made and signed beforehand, same two cores',
      connections: CONNECTIONS,
      'gateway threads': 'signed: 2, one a core, which the operating system gives the connections to; in a session: 1',
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
      'signed, one gateway thread, orders/s': of('one', 'rate'),
      'signed, one gateway thread, fraction of V': of('one', 'rate') / verifies,
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
