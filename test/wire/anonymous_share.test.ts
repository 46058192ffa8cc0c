/**
 * Promise: whatever nobody signed waits for its share of a thread's time once that is spent, and is refused by name when it waited too
 * long: documents, unknown routes and methods, preflights, credentials that are none. Probes and signed requests are answered meanwhile.
 *
 * The share is one hundredth here, and beyond it four seconds' is owed before each promise is looked at, whatever the machine.
 * Alone: what a thread may spend on anonymous work is measured against its time.
 */
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { Queries } from '../../core/history/answer/queries.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { MESSAGES_BYTES } from '../../gateway/limits/anonymous.ts'
import { call, startHarness, testGenesis } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { SocketClient, signerOf } from '../support/sockets.ts'
import { until } from '../support/until.ts'

/** Large answers, which are paid for when they come: so more than the share can be taken. */
const trade = {
  pair: 0, sequence: 1, index: 0, price: 1, lots: 1, quote: 1n, makerSells: true, time: 1.7e12,
  makerAccount: 0, takerAccount: 0, makerSequence: 1, makerSlot: 0, takerSlot: 0, makerFee: 0n, takerFee: 0n,
}
// So many that a few of them owe more than is saved up, on a quick machine too.
const ROWS = 4_000
const listing: Queries['trades']['answer'] = { rows: Array.from({ length: ROWS }, () => trade), total: ROWS, more: false }
const harness = await startHarness(
  ['--anonymous-percent', '1', '--grpc-thread', '1'], testGenesis(), ({ id, atLeast }) => ({ id, answer: listing, sequence: atLeast }),
)
const http = gatewayCounters(harness.shared.counters, 1)
/** Of the gRPC thread. */
const other = gatewayCounters(harness.shared.counters, 2)
const grpc = connectGrpc(harness.grpcPort)
const session = await harness.openSession()
const sockets = new Set<Socket>()
let over = false
let paused = false
/** Signed requests all the time: without them everybody has all of the thread. */
const trading = (async () => {
  for (let done = 0; !over; done++) {
    if (!await until(() => !paused || over)) t.fail('never goes on')
    if (over) return
    const { status } = await call(harness, session, 'GET', '/api/v1/accounts/me')
    if (status !== 200) t.fail(`signed request ${done} was answered ${status}`)
    const { code } = await grpc.call('GetProfile', {}, session)
    if (code !== 0) t.fail(`signed call ${done} was answered ${code}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})()
t.teardown(async () => {
  over = true
  clearInterval(looking)
  await trading
  for (const socket of sockets) socket.destroy()
  grpc.close()
  await harness.close()
})

const tradingPairId = harness.genesis.pairs[0]!.id

interface Asked {
  text: string
  closed: boolean
}

const PATIENT = '127.0.0.3'
/** Asks on a connection of its own. */
function ask(line: string, headers: readonly string[] = [], localAddress = PATIENT): Asked {
  const asked: Asked = { text: '', closed: false }
  const socket = connect({ port: harness.port, host: '127.0.0.1', localAddress })
  sockets.add(socket)
  socket.on('error', () => undefined).on('close', () => (asked.closed = true))
  socket.on('data', (chunk: Buffer) => (asked.text += chunk.toString('latin1')))
  socket.write([`${line} HTTP/1.1`, 'Host: x', 'User-Agent: x', ...headers, '', ''].join('\r\n'))
  return asked
}

/** What is saved up at most, ms (limits/anonymous.ts). */
const BURST_MS = 50
const SHARE = 0.01

/** What a thread may still give, ms; looked at all the time, because it is capped. */
const budgets = [http, other].map((counters) => ({ counters, left: BURST_MS, seen: performance.now(), spent: 0 }))
const looking = setInterval(() => budgets.forEach(look), 2)

function look(budget: (typeof budgets)[number]): void {
  const [now, all] = [performance.now(), budget.counters[GATEWAY.anonymous_seconds]! * 1_000]
  budget.left = Math.min(BURST_MS, budget.left + (now - budget.seen) * SHARE) - (all - budget.spent)
  budget.seen = now
  budget.spent = all
}

/** Time whose share is owed, ms: longer than anything waits that is refused by name in the end. */
const OWED_MS = 4_000

/** Reads listings until that is owed. */
async function spend(counters: Float64Array, read: () => Asked): Promise<void> {
  const budget = budgets.find((each) => each.counters === counters)!
  const owes = (): boolean => budget.left < -OWED_MS * SHARE
  for (let rounds = 0; !owes() && rounds < 20; rounds++) {
    const readers = Array.from({ length: 16 }, read)
    await until(() => owes() || readers.every(({ text, closed }) => text !== '' || closed))
  }
}

const listTrades = (): Asked => ask(`GET /api/v1/trades?tradingPairId=${tradingPairId}&pageToken=&pageSize=1000`, [], '127.0.0.2')

/** Looks at requests that must wait, and at their answers. */
async function waits(t: Test, counters: Float64Array, asked: Readonly<Record<string, { one: Asked; answer: RegExp }>>): Promise<void> {
  const names = Object.keys(asked)
  t.ok(await until(() => counters[GATEWAY.anonymous_queued]! >= names.length), 'all of them wait')
  const probes = [ask('GET /health'), ask('HEAD /ready')]
  t.ok(await until(() => probes.every(({ text }) => /^HTTP\/1.1 (200|503) /.test(text))), 'probes are answered')
  t.same(names.filter((name) => asked[name]!.one.text !== ''), [], 'while the others wait')
  // When nobody trades, what waits has all of the thread.
  paused = true
  for (const [name, { one, answer }] of Object.entries(asked)) {
    t.ok(await until(() => one.text !== ''), `${name} is answered`)
    t.ok(/"code":"OVERLOADED"/.test(one.text) || answer.test(one.text), `${name}: ${one.text.slice(0, 12)}`)
  }
  paused = false
}

t.test('what needs no signature waits, and is refused by name in the end', async (t) => {
  await spend(http, listTrades)
  const credentials = [
    `X-Svc-PublicKey: ${'ab'.repeat(32)}`, `X-Svc-Timestamp: ${Date.now()}`, `X-Svc-Signature: ${'ab'.repeat(64)}`,
  ]
  await waits(t, http, {
    'a document': { one: ask('GET /docs/page.js'), answer: /^HTTP\/1.1 200/ },
    'an unknown route': { one: ask('GET /nope'), answer: /^HTTP\/1.1 404/ },
    'a wrong method': { one: ask('DELETE /api/v1/time'), answer: /^HTTP\/1.1 405/ },
    'a wrong method of a probe': { one: ask('POST /ready', ['Content-Length: 0']), answer: /^HTTP\/1.1 405/ },
    'a preflight': { one: ask('OPTIONS /api/v1/orders', ['Origin: https://a.example']), answer: /^HTTP\/1.1 204/ },
    'no credentials': { one: ask('GET /api/v1/accounts/me'), answer: /^HTTP\/1.1 401/ },
    'an unknown key': { one: ask('GET /api/v1/accounts/me', credentials), answer: /^HTTP\/1.1 401/ },
    'a bad head': { one: ask('GET /api/v1/time', ['User-Agent: twice']), answer: /^HTTP\/1.1 403/ },
    'a public read': { one: ask('GET /api/v1/time'), answer: /^HTTP\/1.1 200/ },
  })
})

/** A call, as text once it is answered. */
function callOf(answer: Promise<{ code: number; reason: string | undefined }>): Asked {
  const asked: Asked = { text: '', closed: false }
  void answer.then(({ code, reason }) => (asked.text = `"code":"${reason ?? code}"`))
  return asked
}

t.test('over gRPC the same, and health answers', async (t) => {
  await spend(other, () => callOf(grpc.call('ListTrades', { tradingPairId, pageToken: '', pageSize: 1_000 })))
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const stream = grpc.client.makeBidiStreamRequest(path, (bytes: Buffer) => bytes, (bytes: Buffer) => bytes)
  const described: Asked = { text: '', closed: false }
  stream.on('data', () => (described.text += 'described'))
  stream.on('error', ({ code }: { code: number }) => (described.text += `"code":"${code}"`))
  // list_services: '*'
  stream.write(Buffer.from([58, 1, 42]))
  const health = grpc.send('/grpc.health.v1.Health/Check', Buffer.alloc(0), {})
  const reads = ['ListTradingPairs', 'Check'].map((name) => callOf(grpc.call(name)))
  t.ok(await until(() => other[GATEWAY.anonymous_queued]! >= 3), 'public calls and reflection wait')
  t.equal((await health).code, 0, 'health is answered')
  t.same([described, ...reads].filter(({ text }) => text !== ''), [], 'while the others wait')
  paused = true
  t.ok(await until(() => [described, ...reads].every(({ text }) => text !== '')))
  paused = false
  for (const { text } of [described, ...reads]) t.match(text, /^(described|"code":"(0|14|OVERLOADED)")/)
  stream.cancel()
})

t.test('changes of subscriptions wait, and what the socket sends behind them; other sockets do not', async (t) => {
  const [listener, trader] = [await SocketClient.open(harness.port), await SocketClient.open(harness.port)]
  await spend(http, listTrades)
  const changes = (): number => http[GATEWAY.ws_changes_bytes]!
  listener.send({ type: 'subscribe', id: 1, channel: 'orderbook', params: { tradingPairId } })
  listener.send({ type: 'unsubscribe', id: 2, channel: 'orderbook', params: { tradingPairId } })
  listener.send({ type: 'ping' })
  t.ok(await until(() => changes() > 0), 'they wait')
  t.equal((await trader.authenticate(signerOf(session))).type, 'authenticated', 'a signature does not')
  trader.send({ type: 'ping' })
  t.ok(await trader.next(({ type }) => type === 'pong'), 'nor does what else its socket sends')
  // When nobody trades, what waits has all of the thread, however much is owed.
  paused = true
  await listener.next(({ type }) => type === 'pong')
  paused = false
  const types = listener.frames.map(({ type }) => type as string)
  t.same(types, ['connected', 'subscribed', 'snapshot', 'unsubscribed', 'pong'], 'in their order')
  t.ok(await until(() => changes() === 0))
  t.equal(http[GATEWAY.ws_changes_capacity], MESSAGES_BYTES)
  listener.close()
  trader.close()
})

t.test('a wrong signature and a probe are paid for', async (t) => {
  const spent = http[GATEWAY.anonymous_seconds]!
  t.ok(await until(() => ask('GET /health').text === '' && http[GATEWAY.anonymous_seconds]! > spent), 'a probe')
  // Until everything else has been answered and paid for.
  let [signed, still] = [-1, 0]
  await until(() => {
    still = http[GATEWAY.anonymous_seconds] === signed && http[GATEWAY.anonymous_queued] === 0 ? still + 1 : 0
    signed = http[GATEWAY.anonymous_seconds]!
    return still === 50
  })
  const wrong = { ...session, privateKey: (await harness.openSession()).privateKey }
  t.equal((await call(harness, wrong, 'GET', '/api/v1/accounts/me')).json.code, 'INVALID_SIGNATURE')
  // It is paid for once it is answered.
  t.ok(await until(() => http[GATEWAY.anonymous_seconds]! > signed), 'a wrong signature')
})
