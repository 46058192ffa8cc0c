/**
 * Promise: a book that cannot be copied is answered all the same, by a matcher that sleeps too, and alike over REST, gRPC and WebSocket;
 * so is a fee simulation. `wire/moving_book.deep.ts` does it with a book that moves at full speed; here the gate only says that it does.
 */
import { crc32 } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { APPLYING, GATEWAY, gatewayCounters, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { SocketClient } from '../support/sockets.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const grpc = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  grpc.close()
  await harness.close()
})
const pair = harness.genesis.pairs[0]!
const gate = new Int32Array(harness.shared.gate)
const counters = [1, 2].map((gateway) => gatewayCounters(harness.shared.counters, gateway))
const matcher = matcherCounters(harness.shared.counters)
const session = await harness.openSession()

async function place(who: Session, side: string, price: string): Promise<void> {
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side, quantity: '0.1', price }
  const { status, text } = await call(harness, who, 'POST', '/api/v1/orders', order)
  if (status >= 300) throw new Error(text)
}

interface Book {
  readonly bids: readonly object[]
  readonly asks: readonly object[]
  readonly sequence: number
  readonly checksum: number
}
const bookOf = ({ bids, asks, sequence, checksum }: Book): Book => ({ bids, asks, sequence, checksum })
const get = async (query: string): Promise<Book> =>
  bookOf((await call(harness, session, 'GET', `/api/v1/orderbook/${pair.id}?${query}`)).json as Book)

const QUERIES = [[1000, 1_000_000], [1, 1], [50, 10], [1000, 1]] as const
const queryOf = ([depth, magnitude]: (typeof QUERIES)[number]): string => `depth=${depth}&magnitude=${magnitude}`
const simulate = (): Promise<unknown> => {
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.15', price: '3100' }
  return call(harness, session, 'POST', '/api/v1/fees/simulate', order).then(({ status, json }) => [status, json])
}

t.test('while the gate is never open', async (t) => {
  const funded = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  t.equal(funded.status, 200, funded.text.slice(0, 200))
  for (const price of ['1000', '1000.5', '1001', '1200']) await place(session, 'BUY', price)
  for (const price of ['3000', '3001', '3100', '3300']) await place(session, 'SELL', price)
  const other = await harness.openSession()
  const quiet = await Promise.all(QUERIES.map((each) => get(queryOf(each))))
  for (const { bids, asks, checksum } of quiet) {
    const best = [...bids.slice(0, 10), ...asks.slice(0, 10)] as { price: string; quantity: string }[]
    t.equal(checksum, crc32(best.map((level) => `${level.price}:${level.quantity}`).join(',')), 'it covers what is answered')
  }
  const fees = await simulate()
  t.same(counters.map((block) => block[GATEWAY.questions]), [0, 0], 'nobody asks while it rests')
  // As if a batch were being applied: nothing can be copied.
  Atomics.add(gate, APPLYING, 1)
  t.same(await Promise.all(QUERIES.map((each) => get(queryOf(each)))), quiet)
  for (const [n, [depth, magnitude]] of QUERIES.entries()) {
    const { code, response } = await grpc.call('GetOrderbook', { tradingPairId: pair.id, depth, magnitude })
    t.equal(code, status.OK)
    t.same(bookOf(response), quiet[n])
  }
  t.same(await simulate(), fees)
  const socket = await SocketClient.open(harness.port)
  await socket.subscribe('orderbook', { tradingPairId: pair.id })
  const { data, sequence } = await socket.next(({ type }) => type === 'snapshot')
  const pricedOf = (levels: readonly object[]): object[] => levels.map((level) => ({ ...level, orderCount: undefined }))
  t.match({ ...data, sequence }, { ...quiet[3]!, bids: pricedOf(quiet[3]!.bids), asks: pricedOf(quiet[3]!.asks) })
  const [rest, calls] = counters.map((block) => block[GATEWAY.questions]!)
  t.ok(rest! >= 6 && calls === 4, `${rest} and ${calls} questions`)
  t.ok(matcher[MATCHER.answers]! >= 6 && matcher[MATCHER.answer_seconds]! > 0)
  t.same(counters.map((block) => block[GATEWAY.questions_refused]), [0, 0])
  Atomics.add(gate, APPLYING, 1)
  await place(other, 'BUY', '1').catch(() => undefined)
  await place(session, 'BUY', '999')
  await socket.next(({ type, data }) => type === 'orderbook_update' && data.bids.some(({ price }: { price: string }) => price === '999'))
  socket.close()
})
