/**
 * Promise: answers that clients do not take hold a bounded room, of which one address has half at most. A read that would be held beyond it
 * is refused by name, others go on; who takes nothing is closed, and who reads late has every byte.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { fetchFrom } from '../support/fetch_from.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { until } from '../support/until.ts'

const MB = 1024 * 1024
const harness = await startHarness(['--answer-mb', '4'])
t.teardown(() => harness.close())
const counters = gatewayCounters(harness.shared.counters, 1)
const held = (): number => counters[GATEWAY.unsent_bytes]!
const LONG = '/api/v1/openapi.json'
const document = await (await fetch(`http://127.0.0.1:${harness.port}${LONG}`)).text()
/** More than the kernels hold of a connection. */
const ANSWERS_MAX = Math.ceil((64 * MB) / document.length)
/** Bytes of short requests whose answers, which are longer, are as much. */
const QUESTIONS_MAX = 64 * MB

const get = (path: string, method = 'GET'): string => `${method} ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n`

async function ask(address: string, path: string): Promise<{ status: number; body: string }> {
  const { fetch, close } = fetchFrom(address, 1)
  const answer = await fetch(`http://127.0.0.1:${harness.port}${path}`, { headers: { 'User-Agent': 'test' } })
  const body = await answer.text()
  close()
  return { status: answer.status, body }
}

interface Client {
  readonly socket: Socket
  closed: boolean
  asked: number
}

/** A connection that does not read until it is resumed. */
async function open(localAddress: string): Promise<Client> {
  const socket = connect({ port: harness.port, host: '127.0.0.1', localAddress })
  const client: Client = { socket, closed: false, asked: 0 }
  socket.on('error', () => undefined).on('close', () => (client.closed = true))
  socket.pause()
  await once(socket, 'connect')
  return client
}

/** Asks for the long answer, one after the other, until one of them is held or refused. */
async function fill(client: Client): Promise<void> {
  const before = held()
  const refused = counters[GATEWAY.answers_refused]!
  while (client.asked < ANSWERS_MAX && held() === before && counters[GATEWAY.answers_refused] === refused) {
    const requests = counters[GATEWAY.requests]!
    client.socket.write(get(LONG))
    client.asked++
    // It leaves in the turn behind that of the request.
    if (!await until(() => counters[GATEWAY.requests]! > requests)) return
    await fetch(`http://127.0.0.1:${harness.port}/health`)
  }
}

t.test('one address has half of the room, others are served, and who takes nothing is closed', async (t) => {
  const fits = Math.floor((2 * MB) / document.length)
  t.ok(fits >= 2, `${fits} answers of ${document.length} bytes have room`)
  const clients: Client[] = []
  let most = 0
  for (let i = 0; i < fits + 2; i++) {
    const client = await open('127.0.0.2')
    clients.push(client)
    await fill(client)
    most = Math.max(most, held())
  }
  t.ok(most > MB && most <= 2 * MB, `${most} bytes are held`)
  t.equal(counters[GATEWAY.answers_refused], 2)
  const refused = await ask('127.0.0.2', LONG)
  t.match(refused, { status: 429 })
  t.match(refused.body, /"code":"RATE_LIMIT_EXCEEDED"/)
  t.match(await ask('127.0.0.2', '/health'), { status: 200 }, 'short answers are not refused')
  const other = await ask('127.0.0.3', LONG)
  t.equal(other.status, 200, 'somebody else is served')
  t.equal(other.body, document)

  const [asking] = clients
  asking!.socket.write(get('/health'))
  t.ok(await until(() => held() < most), 'another request while an answer is held gives it up')
  t.ok(await until(() => held() === 0), 'nobody holds it for long')
  t.equal(counters[GATEWAY.answers_slow], fits - 1)
  for (const { socket } of clients) socket.destroy()
})

t.test('who reads late has every byte, and goes on', async (t) => {
  const client = await open('127.0.0.2')
  await fill(client)
  t.ok(held() > 0, `held after ${client.asked} answers`)
  const chunks: Buffer[] = []
  let length = 0
  client.socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
  })
  client.socket.resume()
  t.ok(await until(() => held() === 0 && length >= client.asked * document.length))
  client.socket.write(get('/health'))
  t.ok(await until(() => Buffer.concat(chunks.slice(-2)).toString().includes('}HTTP/1.1 200')), 'the connection goes on')
  const answers = Buffer.concat(chunks).toString().split('HTTP/1.1 200 OK\r\n').slice(1)
  t.equal(answers.length, client.asked + 1)
  t.ok(answers.slice(0, -1).every((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4) === document))
  t.notOk(client.closed)
  client.socket.destroy()
})

t.test('short answers are held no more than one at a time', async (t) => {
  const client = await open('127.0.0.2')
  const questions = get('/health').repeat(20)
  // The gateway is another thread, and may be slow: what counts is what it was asked, not how often this one looked.
  for (let asked = 0; asked < QUESTIONS_MAX && !client.closed; asked += questions.length) {
    client.socket.write(questions)
    await new Promise((resolve) => setImmediate(resolve))
    if (!await until(() => client.closed || client.socket.writableLength < MB)) break
  }
  t.ok(client.closed, 'whoever goes on asking is closed')
  t.ok(await until(() => held() === 0))
})

for (const method of ['OPTIONS', 'HEAD']) {
  const one = get(method === 'HEAD' ? '/health' : '/api/v1/orders', method)

  t.test(`${method}: answers without a body leave their connection open, but for one of 32`, async (t) => {
    const client = await open('127.0.0.2')
    let text = ''
    client.socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    client.socket.resume()
    const answers = (): number => text.split('HTTP/1.1 20').length - 1
    let asked = 0
    while (!client.closed && asked < 100) {
      client.socket.write(one)
      asked++
      if (!await until(() => client.closed || answers() === asked)) break
      // The end of the connection may come behind the answer that says so.
      if (text.includes('Connection: close')) await until(() => client.closed)
    }
    t.ok(client.closed && asked > 1 && asked <= 32, `closed with answer ${asked}`)
    t.equal(answers(), asked, 'which is there too')
    t.match(text, /\r\nConnection: close\r\n(.*\r\n)?\r\n$/s)
  })
}
