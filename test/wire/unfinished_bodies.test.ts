/**
 * Promise: bodies that do not come to their end hold a bounded room, of which one address has half at most; who is beyond it or too slow is
 * refused by name; others go on, and everything is given back.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, signed, startHarness } from '../support/gateway_harness.ts'
import { until } from '../support/until.ts'

const MB = 4
const harness = await startHarness(['--body-mb', String(MB)])
t.teardown(() => harness.close())
const counters = gatewayCounters(harness.shared.counters, 1)
const session = await harness.openSession()
await call(harness, session, 'POST', '/api/v1/faucet/mint')

const ORDERS = '/api/v1/orders'
const LENGTH = 1024 * 1024
const order = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' }
const held = (): number => counters[GATEWAY.unfinished_body_bytes]!

const headOf = (body: string, length: number): string => [
  `POST ${ORDERS} HTTP/1.1`, 'Host: x', 'User-Agent: test', `Content-Length: ${length}`,
  ...Object.entries(signed(session, 'POST', ORDERS, body)).map(([name, value]) => `${name}: ${value}`), '', '',
].join('\r\n')

interface Sender {
  readonly socket: Socket
  text: string
  closed: boolean
}

async function open(localAddress: string): Promise<Sender> {
  const socket = connect({ port: harness.port, host: '127.0.0.1', localAddress })
  const sender: Sender = { socket, text: '', closed: false }
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => (sender.text += chunk.toString()))
  socket.on('close', () => (sender.closed = true))
  await once(socket, 'connect')
  return sender
}

t.test('one address has half of the room, and others go on', async (t) => {
  const senders = await Promise.all(Array.from({ length: 30 }, () => open('127.0.0.2')))
  let most = 0
  for (const sender of senders) {
    const before = held()
    sender.socket.write(headOf('x', LENGTH) + 'x'.repeat(256 * 1024))
    // What left this process can still lie in the kernel: only the gateway's own number says that it came.
    await until(() => sender.closed || sender.text !== '' || held() !== before)
    most = Math.max(most, held())
  }
  const refused = (): Sender[] => senders.filter(({ closed }) => closed)
  t.ok(await until(() => refused().length >= 20), `${refused().length} are refused`)
  t.ok(most > 0 && most <= (MB / 2) * 1024 * 1024, `${most} bytes are held`)
  t.ok(refused().some(({ text }) => /^HTTP\/1.1 429 .*RATE_LIMIT_EXCEEDED/s.test(text)), 'they are told')
  t.ok(await until(() => counters[GATEWAY.bodies_refused] === refused().length), 'and counted')

  const body = JSON.stringify(order)
  const honest = await open('127.0.0.3')
  honest.socket.write(headOf(body, body.length))
  honest.socket.write(body.slice(0, 20))
  t.ok(await until(() => counters[GATEWAY.requests]! > 0))
  honest.socket.write(body.slice(20))
  t.ok(await until(() => honest.text.startsWith('HTTP/1.1 200')), 'somebody else is served')
  honest.socket.destroy()

  for (const { socket } of senders) socket.destroy()
  t.ok(await until(() => held() === 0), 'all of it is given back')
})

t.test('who sends too slowly is cut, and told', async (t) => {
  const slow = await open('127.0.0.2')
  slow.socket.write(headOf('x', LENGTH) + 'x'.repeat(10))
  const pace = setInterval(() => slow.socket.write('x'.repeat(1_000)), 50)
  t.ok(await until(() => slow.closed), 'at 20 KB a second')
  clearInterval(pace)
  t.match(slow.text, /^HTTP\/1.1 408 .*"code":"REQUEST_TIMEOUT"/s)
  t.equal(counters[GATEWAY.bodies_slow], 1)
  t.equal(held(), 0)
})
