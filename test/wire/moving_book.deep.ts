/**
 * Promise: a deep book that moves as fast as the matcher can is answered, over REST, gRPC and WebSocket alike, whole and as it was at the
 * sequence that the answer names, with the checksum of that moment; and trading is not kept waiting by those who ask for it.
 */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { GATEWAY, gatewayCounters, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { readBalances, readOrder, readSession, readSessionRow } from '../../core/view/accounts.ts'
import { readSessions } from '../../core/view/agents.ts'
import { listOpenOrders, readOpenOrders } from '../../core/view/open_orders.ts'
import { readDepth, type Depth, type DepthLevel } from '../../core/view/book.ts'
import { priceText, quantityText } from '../../gateway/operations/amounts.ts'
import { checksumOf } from '../../gateway/operations/orderbook.ts'
import { startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { MovingBook } from '../support/moving_book.ts'
import { SocketClient, type Frame } from '../support/sockets.ts'

const LEVELS = 30_000
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`seed ${SEED}`)
/** depth, magnitude */
const ASKED = [[1000, 1_000_000], [1000, 1], [10, 1], [1000, 10], [50, 1000]] as const
const limits = { orders: 262_144, openOrdersPerAccount: 16_384, priceTicks: 4_194_304 }
const harness = await startHarness(['--grpc-thread', '1', '--event-ring', '1048576'], testGenesis(limits))
const pair = harness.genesis.pairs[0]!
const quiet = new Int32Array(16)

const level = ({ price, lots, orders }: DepthLevel): object =>
  ({ price: priceText(pair, price), quantity: quantityText(pair, lots), orderCount: orders })
const priced = ({ price, lots }: DepthLevel): { price: string; quantity: string } =>
  ({ price: priceText(pair, price), quantity: quantityText(pair, lots) })
const checksum = ({ bids, asks }: Depth): number => checksumOf(bids.map(priced), asks.map(priced))

interface Answer {
  readonly how: string
  readonly depth: number
  readonly magnitude: number
  readonly sequence: number
  readonly book: Record<string, any>
}
const answers: Answer[] = []
const failed: unknown[] = []
/** Questions that were not answered in time: a matcher that has no processor for a while on a busy machine is not waited for. */
let late = 0

async function rest(n: number): Promise<void> {
  const [depth, magnitude] = ASKED[n % ASKED.length]!
  const path = `/api/v1/orderbook/${pair.id}?depth=${depth}&magnitude=${magnitude}`
  const reply = await fetch(`http://127.0.0.1:${harness.port}${path}`, { headers: { 'User-Agent': 'test' } })
  const book = await reply.json() as Answer['book']
  if (reply.status === 503 && book['code'] === 'ENGINE_UNAVAILABLE') late++
  else if (reply.status !== 200) failed.push(book)
  else answers.push({ how: 'REST', depth, magnitude, sequence: book['sequence'], book })
}

const grpc = connectGrpc(harness.grpcPort)
async function call(n: number): Promise<void> {
  const [depth, magnitude] = ASKED[n % ASKED.length]!
  const { code, message, response } = await grpc.call('GetOrderbook', { tradingPairId: pair.id, depth, magnitude })
  if (code === status.UNAVAILABLE) late++
  else if (code !== status.OK) failed.push(message)
  else answers.push({ how: 'gRPC', depth, magnitude, sequence: response.sequence, book: response })
}

/** What a listener has after each frame. */
class Listener {
  readonly magnitude: number
  readonly told: Answer[] = []
  #sides: [Map<string, string>, Map<string, string>] = [new Map(), new Map()]
  #sequence = -1

  constructor(magnitude: number) {
    this.magnitude = magnitude
  }

  hear(frame: Frame): void {
    const { data, type, sequence } = frame
    if (type === 'snapshot') this.#sides = [new Map(), new Map()]
    else if (data.previousSequence !== this.#sequence) failed.push(`${data.previousSequence} is not ${this.#sequence}`)
    for (const [index, side] of [data.bids, data.asks].entries()) {
      for (const { price, quantity } of side) {
        if (quantity === '0') this.#sides[index]!.delete(price)
        else this.#sides[index]!.set(price, quantity)
      }
    }
    this.#sequence = sequence
    const sorted = this.#sides.map((side, index) =>
      [...side].map(([price, quantity]) => ({ price, quantity }))
        .sort((a, b) => (Number(b.price) - Number(a.price)) * (index === 0 ? 1 : -1)))
    const book = { bids: sorted[0]!, asks: sorted[1]!, checksum: data.checksum }
    this.told.push({ how: `WebSocket ${type}`, depth: 1000, magnitude: this.magnitude, sequence, book })
  }
}

/** Reads of what nobody asks the matcher for, of an account that every batch changes: how many there were, and that got nothing. */
async function readOthers({ row }: Session): Promise<Record<string, [reads: number, none: number]>> {
  const { state } = harness
  const gate = new Int32Array(harness.shared.gate)
  const { account } = readSessionRow(state, row)!
  const page = { account, limit: 100, skip: 0, after: null, countMost: 10_000 }
  const reads: Record<string, () => unknown> = {
    session: () => (readSession(state, gate, new Int32Array(8).fill(7), 0) === 'unreadable' ? null : true),
    sessions: () => readSessions(state, gate, account),
    balances: () => readBalances(state, gate, account),
    order: () => readOrder(state, gate, account, 1, 1),
    'open orders': () => listOpenOrders(state, gate, page),
    'all open orders': () => readOpenOrders(state, gate, account),
  }
  const tries: Record<string, [reads: number, none: number]> = {}
  for (let round = 0; round < 500; round++) {
    for (const [name, read] of Object.entries(reads)) {
      const each = (tries[name] ??= [0, 0])
      each[0]++
      if (read() === null) each[1]++
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return tries
}

/** Which of these books are not what they were at their sequence. */
function wrongOf(moving: MovingBook, all: readonly Answer[]): string[] {
  const wrong: string[] = []
  for (const { how, depth, magnitude, sequence, book } of all) {
    const expected = readDepth(moving.stateAt(sequence), quiet, pair.index, depth, magnitude)!
    const what = how.startsWith('WebSocket') ? priced : level
    const is = JSON.stringify([book['bids'], book['asks'], book['checksum']])
    const same = is === JSON.stringify([expected.bids.map(what), expected.asks.map(what), checksum(expected)])
    if (!same || expected.sequence !== sequence) wrong.push(`${how}, ${depth} of ${magnitude}, at ${sequence}`)
  }
  return wrong
}

t.teardown(async () => {
  grpc.close()
  await harness.close()
})

t.test('a book of which every command moves some level', async (t) => {
  const traders = await Promise.all(Array.from({ length: 6 }, () => harness.openSession()))
  const moving = new MovingBook(harness, traders, LEVELS, SEED)
  await moving.built()
  moving.go()
  const [began, before] = [performance.now(), moving.done]
  const socket = await SocketClient.open(harness.port)
  const listeners = [1, 1_000_000].map((magnitude) => new Listener(magnitude))
  const counters = [1, 2].map((gateway) => gatewayCounters(harness.shared.counters, gateway))
  for (const { magnitude } of listeners) await socket.subscribe('orderbook', { tradingPairId: pair.id, magnitude })
  const asked = (): number[] => counters.map((block) => block[GATEWAY.questions]!)
  for (let n = 0; n < 40 && (n < 8 || asked().some((count) => count < 3)); n++) {
    await Promise.all([rest(n), call(n), rest(n + 1)])
  }
  const frames = (): Frame[] => socket.of('orderbook')
  const snapshots = (): Frame[] => frames().filter(({ type }) => type === 'snapshot')
  for (let look = 0; look < 2000 && snapshots().length < 2; look++) await new Promise((resolve) => setTimeout(resolve, 5))
  const tries = await readOthers(traders[0]!)
  const [seconds, moved] = [(performance.now() - began) / 1000, moving.done - before]
  const last = await moving.rest()
  await moving.end()
  socket.close()
  t.same(failed, [], 'nothing was refused')
  t.equal(snapshots().length, 2)
  for (const frame of frames()) listeners.find(({ magnitude }) => magnitude === frame['data'].magnitude)!.hear(frame)
  t.same(failed, [], 'no gap')
  // Of the many frames of the streams the first ones, and some of the others.
  const told = listeners.flatMap((listener) => listener.told.filter((_, n, all) => n < 4 || n % Math.ceil(all.length / 20) === 0))
  const all = [...answers, ...told].sort((a, b) => a.sequence - b.sequence)
  t.same(wrongOf(moving, all).slice(0, 5), [], `${all.length} books between ${all[0]!.sequence} and ${last}`)
  // A matcher that loses its processor in the middle of a batch is not waited for, so on a busy machine a read may get nothing.
  for (const [name, [reads, none]] of Object.entries(tries)) t.ok(none <= reads / 50, `${name}: ${none} of ${reads} got nothing`)
  const { answers: given, answer_seconds: spent } = MATCHER
  const matcher = matcherCounters(harness.shared.counters)
  t.ok(asked().every((count) => count >= 3), `${asked()} questions, ${matcher[given]} answers`)
  t.comment(`${Math.round(moved / seconds)} commands/s; ${matcher[spent]!.toFixed(3)} s of ${seconds.toFixed(1)} for answers`)
  t.ok(late <= answers.length / 4, `${late} questions without an answer, ${answers.length} answers`)
  t.ok(counters.reduce((sum, block) => sum + block[GATEWAY.questions_refused]!, 0) <= late)
})
