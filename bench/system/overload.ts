/**
 * Three times what the exchange can do, whatever it answers: signed single orders over WebSockets to one gateway thread, sent at fixed
 * times (open_loop.ts), each of which costs the thread a signature. The peak, found in the same run, is what it does when every connection
 * waits for answers. Under overload each order must be done or refused with 503, none left without an answer, and what is done must be
 * 0.9 of the peak: refusing must be cheap. Meanwhile an account that sends no orders cancels its own at fixed times.
 *
 * The bound of a cancel: a connection has 256 messages in flight and the thread looks at connections in turn, so a cancel waits for what is
 * in flight on all of them, and once more when it comes right behind its turn: 2 x 16 x 256 orders, at the 15 k/s of one core 0.55 s.
 *
 * Clients are elsewhere as a rule, and one that sends three times as much takes processor time of its own. Here it runs on the cores of
 * the exchange, so its thread has a lower priority, for the peak too; what it then offers is measured, and must be near three times the
 * peak.
 */
import { getPriority, setPriority } from 'node:os'
import type { Exchange } from '../../test/support/exchange.ts'
import { signedOrder } from '../../test/support/order_client.ts'
import type { Trader } from '../../test/support/traders.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import { richGenesis } from './batch.ts'
import { offer, until } from './open_loop.ts'
import { endOrders, makeTraders } from './orders.ts'
import { withExchange } from './own_exchange.ts'
import { cycle, drive } from './rounds.ts'
import { FIRST_ID, frame, idOf, signedFrames, SocketLoad, statusOf, withId } from './ws_load.ts'

const CONNECTIONS = 16
const TIMES = 3
const SECONDS = amount(8, 2)
const ROUNDS = amount(3, 1)
/** Saturated, for the peak. */
const IN_FLIGHT = 128
/** Different signed orders; each is sent many times within its thirty seconds. */
const ORDERS = 1000
const CANCELS_PER_SECOND = 50
/** Ids have six digits. */
const MOST = 899_000
const ANSWERED_WITHIN_MS = 30_000
/** Of the thread that offers: it has what the exchange leaves. */
const YIELDING = 10
const DONE = 200
const REFUSED = 503

/** Orders that rest far below the market, for cancels; their ids. */
async function restOrders({ client }: Trader, tradingPairId: string, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.2' } as const
    const { results } = await client.BatchCreateOrders({ orders: Array.from({ length: Math.min(100, count - ids.length) }, () => order) })
    for (const { orderId } of results) ids.push(orderId!)
  }
  return ids
}

/** What came back, by status, each answer to the message it names. */
class Answers {
  /** When each was due; NaN: answered. By id. */
  readonly #due: Float64Array
  readonly byStatus = new Map<number, number>()
  readonly latencies: number[] = []
  /** Done before the last message was due. */
  inTime = 0
  #sent = 0
  #answered = 0
  ended = false

  constructor(most: number) {
    this.#due = new Float64Array(most)
  }

  sent(index: number, due: number): void {
    this.#due[index] = due
    this.#sent++
  }

  take(bytes: Buffer, start: number): void {
    const index = idOf(bytes, start) - FIRST_ID
    const status = statusOf(bytes, start)
    const due = this.#due[index]!
    if (Number.isNaN(due)) throw new Error(`message ${index} was answered twice`)
    this.#due[index] = NaN
    this.#answered++
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    if (status !== DONE) return
    this.latencies.push(performance.now() - due)
    if (!this.ended) this.inTime++
  }

  get unanswered(): number {
    return this.#sent - this.#answered
  }

  of(status: number): number {
    return this.byStatus.get(status) ?? 0
  }

  get others(): number {
    return this.#answered - this.of(DONE) - this.of(REFUSED)
  }
}

const openSockets = (port: number): Promise<SocketLoad[]> => Promise.all(Array.from({ length: CONNECTIONS }, () => SocketLoad.open(port)))

/** Orders a second when every connection waits. */
async function peak({ port }: Exchange, traders: readonly Trader[], pair: string, seed: number): Promise<number> {
  const frames = signedFrames(traders, pair, ORDERS, seed)
  const sockets = await openSockets(port)
  const { seconds, tallies } = await drive(sockets, sockets.map(() => cycle(frames)), { ms: SECONDS * 1000 }, IN_FLIGHT)
  for (const socket of sockets) socket.close()
  await endOrders(traders)
  return tallies.reduce((sum, { accepted }) => sum + accepted, 0) / seconds
}

interface Round {
  readonly offered: number
  readonly goodput: number
  readonly orders: Answers
  readonly cancels: Answers
  readonly late: number
}

interface Setting {
  readonly exchange: Exchange
  readonly traders: readonly Trader[]
  readonly canceller: Trader
  readonly pair: string
}

async function overload({ exchange, traders, canceller, pair }: Setting, perSecond: number, seed: number): Promise<Round> {
  const frames = signedFrames(traders, pair, ORDERS, seed)
  const toCancel = await restOrders(canceller, pair, CANCELS_PER_SECOND * SECONDS)
  const cancelFrames = toCancel.map((orderId, i) =>
    frame(signedOrder(canceller.signer, 'order.cancel', JSON.stringify({ orderId }), FIRST_ID + i)))
  const [orders, cancels] = [new Answers(MOST), new Answers(toCancel.length)]
  const sockets = await openSockets(exchange.port)
  const own = await SocketLoad.open(exchange.port)
  for (const socket of sockets) socket.onAnswer = (bytes, start) => orders.take(bytes, start)
  own.onAnswer = (bytes, start) => cancels.take(bytes, start)
  const ms = Math.min(SECONDS * 1000, (1000 * MOST) / perSecond)
  const started = performance.now()
  const [late] = await Promise.all([
    offer({ perSecond, ms }, (due, index) => {
      orders.sent(index, due)
      sockets[index % CONNECTIONS]!.send(withId(frames[index % ORDERS]!, FIRST_ID + index), due)
    }, () => sockets.forEach((socket) => socket.flush())),
    offer({ perSecond: CANCELS_PER_SECOND, ms }, (due, index) => {
      cancels.sent(index, due)
      own.send(cancelFrames[index]!, due)
    }, () => own.flush()),
  ])
  orders.ended = true
  const seconds = (performance.now() - started) / 1000
  await until(() => orders.unanswered + cancels.unanswered === 0, ANSWERED_WITHIN_MS)
  for (const socket of [...sockets, own]) socket.close()
  await endOrders([...traders, canceller])
  return { offered: late.length / seconds, goodput: orders.inTime / seconds, orders, cancels, late: quantile(late, 0.99) }
}

function figuresOf(peaks: readonly number[], rounds: readonly Round[]): Record<string, number> {
  const of = (value: (one: Round) => number): number => median(rounds.map(value))
  const sum = (value: (one: Round) => number): number => rounds.reduce((total, each) => total + value(each), 0)
  const latency = (answers: (one: Round) => Answers, q: number): number =>
    of((one) => quantile(Float64Array.from(answers(one).latencies).sort(), q))
  return {
    'peak, orders/s': median(peaks),
    'offered, orders/s': of(({ offered }) => offered),
    'offered by peak': median(rounds.map(({ offered }, i) => offered / ((peaks[i]! + peaks[i + 1]!) / 2))),
    'done, orders/s': of(({ goodput }) => goodput),
    'done by peak': median(rounds.map(({ goodput }, i) => goodput / ((peaks[i]! + peaks[i + 1]!) / 2))),
    'refused with 503, of all': sum(({ orders }) => orders.of(REFUSED)) / sum(({ orders }) => orders.of(REFUSED) + orders.of(DONE)),
    'answers but done and 503': sum(({ orders, cancels }) => orders.others + cancels.others),
    'without an answer': sum(({ orders, cancels }) => orders.unanswered + cancels.unanswered),
    'orders done, p50, ms': latency(({ orders }) => orders, 0.5),
    'orders done, p99, ms': latency(({ orders }) => orders, 0.99),
    'cancels, p50, ms': latency(({ cancels }) => cancels, 0.5),
    'cancels, p99, ms': latency(({ cancels }) => cancels, 0.99),
    'cancels refused with 503': sum(({ cancels }) => cancels.of(REFUSED)),
    'generator late, p99, ms': of(({ late }) => late),
  }
}

/** Not everybody may raise a priority again; benches behind this one in the process are the worse for it. */
function takeBack(priority: number): void {
  try {
    setPriority(priority)
  } catch {
    process.stderr.write('the priority cannot be raised again: run other benches by themselves\n')
  }
}

export async function run(): Promise<Result> {
  const flags = ['--ws-order-entry', '1', '--gateways', '1']
  const peaks: number[] = []
  const rounds: Round[] = []
  await withExchange((directory) => ['--genesis', richGenesis(directory), ...flags], async (exchange) => {
    const { traders: all, pair } = await makeTraders(exchange.baseUrl, 21)
    const [canceller, ...traders] = all as [Trader, ...Trader[]]
    const priority = getPriority()
    setPriority(YIELDING)
    let seed = 1
    await peak(exchange, traders, pair, seed++)
    peaks.push(await peak(exchange, traders, pair, seed++))
    for (let i = 0; i < ROUNDS; i++) {
      rounds.push(await overload({ exchange, traders, canceller, pair }, TIMES * median(peaks), seed++))
      peaks.push(await peak(exchange, traders, pair, seed++))
    }
    takeBack(priority)
  })
  return {
    name: 'overload: three times the peak, signed orders over WebSockets, durable',
    settings: {
      client: `own, plain sockets, frames signed beforehand, same two cores, nice ${YIELDING}`,
      connections: `${CONNECTIONS} with orders, one with ${CANCELS_PER_SECOND} cancels/s; one gateway thread`,
      peak: `${IN_FLIGHT} in flight per connection, before and after each round; the ratio is to the mean of both`,
      offered: `${TIMES} times the median peak, at fixed times`,
      rounds: `${ROUNDS} of ${SECONDS} s`,
    },
    figures: figuresOf(peaks, rounds),
    targets: [
      { figure: 'done by peak', atLeast: 0.9, unit: 'of the peak' },
      { figure: 'offered by peak', atLeast: 2.7, unit: 'of the peak' },
      { figure: 'answers but done and 503', atMost: 0, unit: 'answers' },
      { figure: 'without an answer', atMost: 0, unit: 'messages' },
      { figure: 'cancels, p99, ms', atMost: 550, unit: 'ms' },
    ],
  }
}
