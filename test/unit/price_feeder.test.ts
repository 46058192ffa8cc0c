/**
 * Promise: index prices come from the sources that are configured, or from the exchange's own spot pair, at most once a second and pair and
 * only when there is something to say; a source that fails, lies, is slow or sends too much does no harm.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { PriceSource } from '../../core/layout/margin.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { NO_ASK, PAIR } from '../../core/state/columns.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { pairRow, set } from '../../core/state/rows.ts'
import type { FromThread } from '../../core/threads.ts'
import { createFeeder, embeddedPrice, type Feeder } from '../../gateway/operator/feed/feeder.ts'
import { BYTES_MAX, isFreshPrice, pollSource, type Polled } from '../../gateway/operator/feed/poll.ts'
import { agreedPrice, medianOf, priceAt, readSources, SourcesError, type PairSources } from '../../gateway/operator/feed/sources.ts'
import { perpFigures } from '../../core/view/perps.ts'
import { PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

const SYMBOL = 'BTC/USD-PERP'

/** A feeder whose commands the engine of a stage applies. */
function fed(t: Test, sources: readonly PairSources[] = []): { stage: PerpStage; feeder: Feeder; sent: Decoded[]; told: FromThread[] } {
  const stage = new PerpStage()
  const sent: Decoded[] = []
  const told: FromThread[] = []
  const admin = {
    send: async (type: number, _: unknown, values: Decoded) => {
      sent.push(values)
      return stage.send(type as CommandType, values)
    },
  }
  const feeder = createFeeder({ state: stage.state, admin, time: () => stage.time, tell: (said) => told.push(said), sources }, false)
  t.teardown(() => feeder.stop())
  return { stage, feeder, sent, told }
}

/** The touch of the spot pair, ticks. */
function spot({ state }: PerpStage, bid: number, ask: number): void {
  set(state, pairRow(state, 0), PAIR.BEST_BID, bid)
  set(state, pairRow(state, 0), PAIR.BEST_ASK, ask === 0 ? NO_ASK : ask)
}

t.test('the embedded price: the middle of the spot pair, within a fifth of the reference, otherwise the reference', async (t) => {
  const { stage } = fed(t)
  const now = (): number => embeddedPrice(stage.state, stage.state.genesis.pairs[PERP_PAIR]!, perpFigures(stage.state, PERP_PAIR))
  for (const [bid, ask, price] of [
    [0, 0, 10_000], [10_500, 0, 10_000], [0, 10_500, 10_000], [10_400, 10_600, 10_500], [10_400, 10_601, 10_501], [1, 3, 8000],
    [50_000, 50_002, 12_000],
  ] as const) {
    spot(stage, bid, ask)
    t.equal(now(), price, `${bid} / ${ask}`)
  }
})

t.test('at most a price a second, and an unchanged one each third of the time after which it is stale', async (t) => {
  const { stage, feeder, sent } = fed(t)
  await feeder.look()
  t.match(sent, [{ pair: PERP_PAIR, price: 10_000, source: PriceSource.EMBEDDED }])
  spot(stage, 10_100, 10_102)
  stage.time += 999
  await feeder.look()
  t.equal(sent.length, 1, 'within a second')
  stage.time += 1
  await feeder.look()
  t.match(sent[1], { price: 10_101 })
  stage.time += 9_999
  await feeder.look()
  t.equal(sent.length, 2, 'as before, and not old')
  stage.time += 1
  await feeder.look()
  t.match(sent[2], { price: 10_101 }, 'ten seconds of thirty')
  t.match(feeder.pairs, [{ symbol: SYMBOL, taken: 3, refused: 0 }])
})

t.test('it moves within the band that the engine takes, a stale one too', async (t) => {
  const { stage, feeder, sent } = fed(t)
  stage.price(12_000, { source: PriceSource.EMBEDDED })
  spot(stage, 8500, 8502)
  for (const price of [10_800, 9720, 8748, 8501]) {
    stage.time += 1000
    await feeder.look()
    t.equal(sent.at(-1)!['price'], price)
  }
  stage.time += 40_000
  spot(stage, 12_000, 12_000)
  for (const price of [9351, 10_286, 11_314, 12_000]) {
    await feeder.look()
    t.equal(sent.at(-1)!['price'], price)
    stage.time += 1000
  }
  t.equal(feeder.pairs[0]!.refused, 0)
})

t.test('a fresh price of an operator or a replay is left alone; a perpetual that settles has none', async (t) => {
  for (const source of [PriceSource.OPERATOR, PriceSource.REPLAY]) {
    const { stage, feeder, sent } = fed(t)
    stage.price(9000, { source })
    stage.time += 30_000
    await feeder.look()
    t.equal(sent.length, 0)
    stage.time += 1
    await feeder.look()
    t.equal(sent.length, 1)
    stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, setting: 0, value: 2, price: 9000 })
    stage.time += 60_000
    await feeder.look()
    t.equal(sent.length, 1)
    t.equal(stage.get(PERP.MARK), 9000)
  }
})

t.test('a price that is not taken is counted and said once', async (t) => {
  const { stage, told } = fed(t)
  for (const answer of ['full', 'late', { code: 429 }] as const) {
    const admin = { send: async () => answer as Decoded | 'full' | 'late' }
    const feeder = createFeeder({ state: stage.state, admin, time: () => stage.time, tell: (said) => told.push(said), sources: [] }, false)
    for (let look = 0; look < 2; look++) await feeder.look()
    t.match(feeder.pairs, [{ taken: 0, refused: 1 }], 'at most one a second')
    stage.time += 1000
    await feeder.look()
    t.match(feeder.pairs, [{ taken: 0, refused: 2 }])
  }
  t.match(told, [{ fields: { reason: 'full' } }, { fields: { reason: 'late' } }, { fields: { reason: 429 } }])
  t.equal(told.length, 3)
})

t.test('the file of sources', async (t) => {
  const one = { name: 'one', url: 'http://127.0.0.1/', path: 'a.0.b' }
  const read = (document: unknown): PairSources[] => readSources(JSON.stringify(document), [SYMBOL])
  t.match(read({ [SYMBOL]: { sources: [one, { ...one, name: 'two', everySeconds: 9, send: { a: 1 } }] } }), [{
    symbol: SYMBOL, least: 2, outlierBps: 200,
    sources: [{ name: 'one', path: ['a', '0', 'b'], everyMs: 2000, send: null }, { name: 'two', everyMs: 9000, send: '{"a":1}' }],
  }])
  const wrong: [unknown, RegExp][] = [
    [[], /no JSON object/], [{ X: { sources: [one] } }, /X: there is no such perpetual/],
    [{ [SYMBOL]: { sources: [] } }, /list of 1 to 16/],
    [{ [SYMBOL]: { sources: [one, one] } }, /named twice/], [{ [SYMBOL]: { sources: [one], least: 2 } }, /least must be/],
    [{ [SYMBOL]: { sources: [{ ...one, url: 'file:///etc/passwd' }] } }, /one: url must be/],
    [{ [SYMBOL]: { sources: [{ ...one, name: 'a b' }] } }, /name must be/], [{ [SYMBOL]: { sources: [one], most: 1 } }, /unknown key most/],
    [{ [SYMBOL]: { sources: [{ ...one, everySeconds: 0 }] } }, /everySeconds must be/],
  ]
  for (const [document, message] of wrong) t.throws(() => read(document), { name: 'SourcesError', message })
  t.throws(() => readSources('{', [SYMBOL]), SourcesError)
})

t.test('the price in an answer, and what sources agree on', async (t) => {
  for (const [text, path, price] of [
    ['{"a":[{"b":"12.5"}]}', ['a', '0', 'b'], 12.5], ['7', [], 7],
    ['{"a":-1}', ['a'], null], ['{"a":0}', ['a'], null], ['{"a":"1e9"}', ['a'], null],
    ['{"a":null}', ['a', 'b'], null], ['{"a":1}', ['toString'], null], ['no json', [], null], ['{"a":true}', ['a'], null],
  ] as const) t.equal(priceAt(text, path), price, text)
  t.equal(medianOf([3, 1, 2]), 2)
  t.equal(medianOf([4, 1]), 2.5)
  const terms = { least: 2, outlierBps: 200 }
  t.equal(agreedPrice([100, 101, 500], terms), 100.5, 'one far off is left out')
  t.equal(agreedPrice([100, 102], terms), 101)
  t.equal(agreedPrice([100, 200], terms), null, 'two that do not agree')
  t.equal(agreedPrice([100], terms), null, 'too few')
})

/** A server that answers as it is told. */
async function serving(t: Test, answer: (response: ServerResponse, path: string) => void): Promise<string> {
  const server: Server = createServer(({ url }, response) => answer(response, url!))
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const sourceOf = (url: string, name = 'one'): PairSources['sources'][number] => ({ name, url, path: ['p'], everyMs: 1000, send: null })

/** Waits for something that a poller does. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await delay(5)
}

t.test('over HTTP: prices, and every way an answer can be none', async (t) => {
  const base = await serving(t, (response, path) => {
    if (path === '/good') response.end('{"p":"123.4"}')
    else if (path === '/long') response.end(`{"p":1,"q":"${'x'.repeat(BYTES_MAX)}"}`)
    else if (path === '/moved') response.writeHead(302, { Location: '/good' }).end()
    else if (path === '/broken') response.destroy()
    else if (path === '/other') response.end('{"q":1}')
    else response.writeHead(500).end('{"p":1}')
  })
  const polled = (path: string): Polled => {
    const made = pollSource(sourceOf(`${base}${path}`))
    t.teardown(() => made.stop())
    return made
  }
  const good = polled('/good')
  await until(() => good.price > 0)
  t.equal(good.price, 123.4)
  good.at = 1000
  t.equal(isFreshPrice(good, 9000), true, 'three requests, and the time of an answer')
  t.equal(isFreshPrice(good, 9001), false)
  for (const path of ['/long', '/moved', '/broken', '/other', '/error']) {
    const bad = polled(path)
    await until(() => bad.failures > 0)
    t.equal(bad.price, 0, path)
    t.equal(isFreshPrice(bad, 0), false, path)
  }
})

t.test('the index is the median of the sources that are fresh and agree', async (t) => {
  let third = '{"p":500}'
  const base = await serving(t, (response, path) => {
    if (path === '/1') response.end('{"p":100.01}')
    else if (path === '/2') response.end('{"p":"100.03"}')
    else response.end(third)
  })
  const sources = ['1', '2', '3'].map((name) => sourceOf(`${base}/${name}`, name))
  const { stage, feeder, sent } = fed(t, [{ symbol: SYMBOL, least: 2, outlierBps: 200, sources }])
  const [one, two, three] = feeder.pairs[0]!.polled as [Polled, Polled, Polled]
  await until(() => three.price > 0 && two.price > 0 && one.price > 0)
  await feeder.look()
  t.match(sent, [{ price: 10_002, source: PriceSource.POLLED }])
  third = 'not a price'
  await until(() => three.failures > 0)
  one.at = -1e9
  three.at = -1e9
  stage.time += 40_000
  await feeder.look()
  t.equal(sent.length, 1, 'one fresh source of three says nothing')
})

/** A text frame of a WebSocket server. */
const frame = (text: string): Buffer => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])

t.test('on a WebSocket: it subscribes, passes over what is no price, and opens anew what was closed', async (t) => {
  const server = createServer()
  const heard: string[] = []
  let opened = 0
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`)
    const price = 10 + opened++
    socket.on('error', () => undefined)
    t.teardown(() => socket.destroy())
    socket.on('data', (data: Buffer) => {
      // Client frames are masked: two bytes, four of the mask, the text.
      heard.push(data.subarray(6).map((byte, at) => byte ^ data[2 + (at % 4)]!).toString())
      socket.write(Buffer.concat([frame('{"subscribed":true}'), frame(`{"p":${price}}`)]))
      if (price === 10) socket.end()
    })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  t.teardown(() => server.close())
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const polled = pollSource({ ...sourceOf(url), send: '{"op":"subscribe"}' })
  t.teardown(() => polled.stop())
  await until(() => polled.price === 11)
  t.match(heard[0], /^\{"op":"subscribe"\}/)
  t.equal(opened, 2)
})
