/**
 * Promise: the programs of the guide, as they stand there, open a stream, authenticate it, keep a book that is the one of REST, say when a
 * frame does not continue it, and enter orders; in TypeScript and in Python. So does the Python client.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { webcrypto } from 'node:crypto'
import t from 'tap'
import { OrderSession } from '../../gateway/docs/guide/fast_path.ts'
import { Book, enter, openStreams } from '../../gateway/docs/guide/streams.ts'
import { lacksPython } from '../suite/packages.ts'
import { call, request, startHarness, type Session } from '../support/gateway_harness.ts'
import { findPython } from '../support/python.ts'
import type { Frame } from '../support/sockets.ts'

const harness = await startHarness(['--ws-order-entry', '1'])
t.teardown(() => harness.close())
const url = `http://127.0.0.1:${harness.port}`
const { id: tradingPairId } = harness.genesis.pairs[0]!
/** The last bid, of a price no other order has. */
const LAST = '91'

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  const minted = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  if (minted.status !== 200) throw new Error(minted.text)
  return session
}
const seedOf = ({ privateKey }: Session): Buffer => privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)

async function keysOf({ publicKey, privateKey }: Session): Promise<{ keys: CryptoKeyPair; publicKey: string }> {
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  return { publicKey, keys: { privateKey: await webcrypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign']) } as CryptoKeyPair }
}

/** Bids and asks that rest, trade and are cancelled; at the end a bid at {@link LAST}. */
async function trade(session: Session, other: Session): Promise<void> {
  const order = async (who: Session, side: string, price: string): Promise<string> => {
    const terms = { tradingPairId, orderType: 'LIMIT', side, quantity: '0.02', price }
    const { status, json, text } = await call(harness, who, 'POST', '/api/v1/orders', terms)
    if (status !== 200) throw new Error(text)
    return json.orderId
  }
  for (let i = 0; i < 12; i++) {
    const ended = await order(session, 'BUY', String(80 + i % 5))
    await order(session, 'SELL', String(110 + i))
    await order(other, 'BUY', String(110 + i))
    await order(session, 'SELL', String(150 + i))
    if (i % 3 === 0) await call(harness, session, 'DELETE', `/api/v1/orders/${ended}`)
  }
  await order(session, 'BUY', LAST)
}

type Levels = [string, string][]
async function bookOverRest(): Promise<{ bids: Levels; asks: Levels; sequence: number }> {
  const { json } = await request(harness.port, 'GET', `/api/v1/orderbook/${tradingPairId}?depth=5`)
  const pairs = (levels: { price: string; quantity: string }[]): Levels => levels.map(({ price, quantity }) => [price, quantity])
  return { bids: pairs(json.bids), asks: pairs(json.asks), sequence: json.sequence }
}

t.test('TypeScript', async (t) => {
  const [session, other] = [await trader(), await trader()]
  const book = new Book()
  const frames: Frame[] = []
  const takes: boolean[] = []
  const keys = await keysOf(session)
  let [found, began] = [(): void => undefined, (): void => undefined]
  let answered = (_: Frame): void => undefined
  const answer = new Promise<Frame>((resolve) => {
    answered = resolve
  })
  const last = new Promise<void>((resolve) => {
    found = resolve
  })
  const first = new Promise<void>((resolve) => {
    began = resolve
  })
  const socket = await openStreams(url, (frame: Frame) => {
    frames.push(frame)
    if (frame['channel'] === 'orderbook' && frame['data'] !== undefined) {
      takes.push(book.take(frame))
      began()
    }
    if (book.bids.has(LAST)) found()
    if (frame['type'] === 'result') answered(frame)
  }, keys)
  for (const [channel, params] of [['orders', {}], ['orderbook', { tradingPairId }]] as const) {
    socket.send(JSON.stringify({ type: 'subscribe', channel, params }))
  }
  // What is traded before it comes in one snapshot.
  await first
  await trade(session, other)
  await last
  t.ok(takes.length > 1 && takes.every((take) => take), 'every frame continues the book')
  const { bids, asks } = await bookOverRest()
  t.strictSame({ bids: book.best('bids', 5), asks: book.best('asks', 5) }, { bids, asks })
  t.ok(frames.some(({ channel, type }) => channel === 'orders' && type === 'snapshot'), 'the connection is authenticated')
  const update = frames.findLast(({ type }) => type === 'orderbook_update')!
  const gap = { ...update, data: { ...update['data'], previousSequence: book.sequence - 1 } }
  t.notOk(book.take(gap), 'a gap')
  const wrong = { ...update, data: { ...update['data'], previousSequence: book.sequence, checksum: update['data'].checksum ^ 1 } }
  t.notOk(book.take(wrong), 'another checksum')
  await enter(socket, keys, 'order.create', 7, { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.02', price: '60' })
  t.match(await answer, { id: 7, status: 200, data: { status: 'SUCCESS' } }, 'an order is entered')
  socket.close()
  const stranger = await keysOf(other)
  await t.rejects(openStreams(url, () => undefined, { ...stranger, publicKey: session.publicKey }), { type: 'error', code: 'AUTH_FAILED' })
  await t.resolves(openStreams(url, () => undefined).then((public_) => public_.close()), 'without a session')
})

t.test('TypeScript, the fast path', async (t) => {
  const [session, other] = [await trader(), await trader()]
  const orders = await OrderSession.open(url, await keysOf(session))
  const terms = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.02', price: '61' }
  await call(harness, other, 'POST', '/api/v1/orders', { ...terms, side: 'SELL', price: '120' })
  // Sent one after the other, and none waited for.
  const answers = await Promise.all([
    orders.send('order.create', { ...terms, clientOrderId: 'quote-1' }),
    orders.send('order.replace', { orderId: 'client:quote-1', price: '120', returnFills: true }),
    orders.send('order.create', { ...terms, price: '0.001' }).catch(({ code }: Frame) => code),
    orders.send('order.cancel_all'),
  ])
  t.match(answers[0].matchResult, { status: 'SUBMITTED' })
  t.match(answers[1].matchResult, { status: 'FILLED', totalFilledQuote: '2.4', fills: [{ price: '120', quantity: '0.02' }] })
  t.equal(answers[2], 'INVALID_TICK')
  t.equal(answers[3].totalCancelled, 0)
  orders.close()
})

const python = findPython('websockets, nacl')
const skip = 'reason' in python ? lacksPython('websockets, nacl', python.reason) : false
if (skip !== false) t.comment(skip)

t.test('Python', { skip }, async (t) => {
  const [session, other] = [await trader(), await trader()]
  const guide = join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'guide')
  const program = [join(import.meta.dirname, 'guide_streams.py'), guide, url, seedOf(session).toString('hex'), tradingPairId, '92']
  const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn((python as { python: string }).python, program, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const ended = once(child, 'exit')
  const told: Frame[] = []
  let traded: Promise<unknown> | null = null
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as Frame)
    traded ??= trade(session, other).then(async () => {
      const terms = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.02', price: '92' }
      await call(harness, session, 'POST', '/api/v1/orders', terms)
    }).catch((error: unknown) => {
      child.kill()
      throw error
    })
  }
  await traded
  t.strictSame(await ended, [0, null])
  const { bids, asks } = await bookOverRest()
  t.match(told.at(-1), { bids, asks, gap: false, entered: { type: 'result', id: 'mine', status: 200 } })
  t.ok(told.at(-1)!['told'].includes('orders snapshot'), 'the connection is authenticated')
  t.match(told.find(({ refused }) => refused !== undefined), { refused: /^AUTH_FAILED: / })
})

t.test('the Python client', { skip }, async (t) => {
  const [session, other] = [await trader(), await trader()]
  const program = [join(import.meta.dirname, 'client_streams.py'), url, seedOf(session).toString('hex'), tradingPairId, '93']
  const source = join(import.meta.dirname, '..', '..', 'gateway', 'client', 'python', 'src')
  const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: source }
  const child = spawn((python as { python: string }).python, program, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const ended = once(child, 'exit')
  const told: Frame[] = []
  let traded: Promise<unknown> | null = null
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as Frame)
    traded ??= trade(session, other).then(() => {
      const terms = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.02', price: '93' }
      return call(harness, session, 'POST', '/api/v1/orders', terms)
    }).catch((error: unknown) => {
      child.kill()
      throw error
    })
  }
  await traded
  t.strictSame(await ended, [0, null])
  const { bids, asks } = await bookOverRest()
  t.match(told.at(-1), { bids, asks, live: true, entered: 'SUCCESS', own: true, refused: 'AUTH_FAILED', tick: 'INVALID_TICK' })
})
