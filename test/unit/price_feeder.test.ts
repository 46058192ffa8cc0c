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
import { Flag } from '../../core/layout/flags.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import type { FromThread } from '../../core/threads.ts'
import { EmbeddedPrice, impactMiddle } from '../../gateway/operator/feed/embedded.ts'
import { createFeeder, type Feeder } from '../../gateway/operator/feed/feeder.ts'
import { BYTES_MAX, isFreshPrice, pollSource, type Polled } from '../../gateway/operator/feed/poll.ts'
import {
  agreedPrice, medianOf, priceAt, readSources, SourcesError, type IndexMaker, type PairSources,
} from '../../gateway/operator/feed/sources.ts'
import { samplePerps } from '../../gateway/operator/perp_metrics.ts'
import { perpFigures } from '../../core/view/perps.ts'
import { PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

const SYMBOL = 'BTC/USD-PERP'
const GATE = new Int32Array(new SharedArrayBuffer(64))

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
  const tell = (said: FromThread): number => told.push(said)
  const feeder = createFeeder({ state: stage.state, gate: GATE, admin, time: () => stage.time, tell, sources }, false)
  t.teardown(() => feeder.stop())
  return { stage, feeder, sent, told }
}

/** Places an order on the spot pair, whose lots are of 0.001. */
type Place = (name: string, side: 'BUY' | 'SELL', price: number, lots: number) => void

/** Accounts by name, each with 1,000,000 USD and 1,000 BTC. */
function placing(stage: PerpStage): Place {
  const known = new Map<string, Decoded>()
  const open = (name: string): Decoded => {
    const hex = (bytes: number): string => Buffer.from(name).toString('hex').padEnd(bytes * 2, '0')
    const { detail, detail2 } = stage.send(CommandType.OPEN_SESSION, { address: hex(20), publicKey: hex(32) }, 1)
    const signed = { session: Number(detail), sessionGeneration: Number(detail2) }
    stage.send(CommandType.MINT, { ...signed, asset: -1 }, 1)
    known.set(name, signed)
    return signed
  }
  return (name, side, price, lots) => {
    const flags = side === 'SELL' ? Flag.SELL : 0
    const { code } = stage.send(CommandType.PLACE_ORDER, { ...(known.get(name) ?? open(name)), pair: 0, flags, price, lots }, 1)
    if (code !== 0) throw new Error(`order of ${name}: ${String(code)}`)
  }
}

/** Looks four times a second for so long; the last price that was sent. */
async function looks({ stage, feeder, sent }: ReturnType<typeof fed>, ms: number): Promise<unknown> {
  for (let passed = 0; passed < ms; passed += 250) {
    stage.time += 250
    await feeder.look()
  }
  return sent.at(-1)?.['price']
}

t.test('before the first trade: the reference, or a deep book within a fifth of it', async (t) => {
  const side = fed(t)
  const place = placing(side.stage)
  t.equal(await looks(side, 1000), 10_000, 'no book')
  place('ann', 'BUY', 10_400, 100)
  place('ann', 'SELL', 10_600, 100)
  t.equal(await looks(side, 60_000), 10_000, 'a thin book')
  place('ann', 'BUY', 10_400, 50_000)
  place('ann', 'SELL', 10_600, 50_000)
  t.equal(await looks(side, 10_000), 10_000, 'a deep book that stood for a moment')
  t.equal(await looks(side, 240_000), 10_500, 'and one that stands')
})

t.test('two dollars of one user move nothing, whatever they cost; a thin book makes the index stale', async (t) => {
  const side = fed(t)
  const { stage, sent } = side
  const place = placing(stage)
  place('ann', 'BUY', 9_990, 100_000)
  place('ann', 'SELL', 10_010, 100_000)
  t.equal(await looks(side, 40_000), 10_000)
  place('eve', 'BUY', 10_010, 1)
  place('eve', 'BUY', 10_008, 20)
  t.equal(await looks(side, 40_000), 10_000, 'a better bid of two dollars within an honest book')
  place('ann', 'BUY', 9_000, 1)
  place('bob', 'BUY', 10_010, 60_000)
  const before = await looks(side, 20_000)
  t.equal(before, 10_000, 'asks of less than the notional are left: no price, not another one')
  const count = sent.length
  place('eve', 'SELL', 12_002, 20)
  place('eve', 'BUY', 11_998, 10)
  await looks(side, 60_000)
  t.equal(sent.length, count, 'nothing is sent')
  const { indexAt, staleMs } = perpFigures(stage.state, PERP_PAIR)
  t.ok(stage.time - indexAt > staleMs, 'and the index is stale')
  place('ann', 'SELL', 12_010, 100_000)
  await looks(side, 14_000)
  t.equal(sent.length, count, 'a deep side for less than half of the window')
  await looks(side, 20_000)
  t.ok(sent.length > count)
})

t.test('the notional grows with open interest', async (t) => {
  const { stage } = fed(t)
  const embedded = new EmbeddedPrice(stage.state, GATE, stage.state.genesis.pairs[PERP_PAIR]!)
  const place = placing(stage)
  place('ann', 'BUY', 9_990, 60_000)
  place('ann', 'SELL', 10_010, 60_000)
  place('bob', 'BUY', 10_010, 1)
  stage.price(10_000)
  const wanted = (openLots: number): number => {
    for (let look = 0; look < 120; look++) embedded.look({ ...perpFigures(stage.state, PERP_PAIR), openLots }, stage.time += 250)
    return embedded.price(perpFigures(stage.state, PERP_PAIR), stage.time)
  }
  t.equal(wanted(0), 10_000)
  t.equal(wanted(5_900_000), 10_000, 'a hundredth of it is in the book')
  t.equal(wanted(6_100_000), 0)
})

t.test('the impact price is the average over what is met; a side that cannot bear it has none', async (t) => {
  const level = (price: number, lots: number) => ({ price, lots, orders: 1 })
  const bids = [level(100, 10), level(90, 10)]
  t.equal(impactMiddle({ bids, asks: [level(110, 10)] }, 1000), 105)
  t.equal(impactMiddle({ bids, asks: [level(110, 10)] }, 1100), (1100 / (10 + 100 / 90) + 110) / 2)
  t.equal(impactMiddle({ bids, asks: [level(110, 10)] }, 1101), 0, 'asks')
  t.equal(impactMiddle({ bids, asks: [level(110, 1000)] }, 1900), (1900 / 20 + 110) / 2)
  t.equal(impactMiddle({ bids, asks: [level(110, 1000)] }, 1901), 0, 'bids')
  t.equal(impactMiddle({ bids: [], asks: [] }, 1), 0)
})

t.test('at most a price a second, and an unchanged one each third of the time after which it is stale', async (t) => {
  const { stage, feeder, sent } = fed(t)
  await feeder.look()
  t.match(sent, [{ pair: PERP_PAIR, price: 10_000, source: PriceSource.EMBEDDED }])
  stage.time += 999
  await feeder.look()
  t.equal(sent.length, 1, 'within a second')
  stage.time += 9_000
  await feeder.look()
  t.equal(sent.length, 1, 'as before, and not old')
  stage.time += 1
  await feeder.look()
  t.match(sent[1], { price: 10_000 }, 'ten seconds of thirty')
  t.match(feeder.pairs, [{ symbol: SYMBOL, taken: 2, refused: 0 }])
})

t.test('it drifts within the band a step, and half of the least initial margin a minute', async (t) => {
  const side = fed(t)
  const { stage, sent } = side
  const place = placing(stage)
  place('ann', 'BUY', 10_990, 100_000)
  place('ann', 'SELL', 11_010, 100_000)
  stage.price(10_000, { source: PriceSource.EMBEDDED })
  await looks(side, 90_000)
  const prices = sent.map(({ price }) => Number(price))
  t.ok(prices.every((price) => price <= 10_000 * 1.025 ** 2), `${prices.at(-1)}`)
  await looks(side, 240_000)
  t.equal(sent.at(-1)!['price'], 11_000)
  const steps = sent.slice(1).map(({ price }, number) => Math.abs(Number(price) - Number(sent[number]!['price'])))
  t.ok(Math.max(...steps) <= 1000)
  t.equal(side.feeder.pairs[0]!.refused, 0)
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
    const tell = (said: FromThread): number => told.push(said)
    const feeder = createFeeder({ state: stage.state, gate: GATE, admin, time: () => stage.time, tell, sources: [] }, false)
    for (let look = 0; look < 2; look++) await feeder.look()
    t.match(feeder.pairs, [{ taken: 0, refused: 1 }], 'at most one a second')
    stage.time += 1000
    await feeder.look()
    t.match(feeder.pairs, [{ taken: 0, refused: 2 }])
  }
  t.match(told, [{ fields: { reason: 'full' } }, { fields: { reason: 'late' } }, { fields: { reason: 429 } }])
  t.equal(told.length, 3)
})

t.test('what makes an index is said, and is a metric', async (t) => {
  const stage = new PerpStage()
  const [spot] = stage.state.genesis.pairs
  const parts = {
    state: stage.state, gate: GATE, admin: { send: async () => 'full' as const }, time: () => stage.time, tell: () => undefined,
  }
  const makerOf = (sources: readonly PairSources[], watch: boolean): IndexMaker => {
    const feeder = createFeeder({ ...parts, sources }, watch)
    feeder.stop()
    const samples: string[] = []
    samplePerps(({ name }, value, labels) => samples.push(`${name}{${labels}} ${value}`), stage.state, feeder.pairs, stage.time)
    const { maker } = feeder.pairs[0]!
    t.ok(samples.includes(`exchange_perp_index_maker{pair="${SYMBOL}",maker="${maker}"} 1`), samples.join())
    return maker
  }
  t.equal(makerOf([], true), 'OWN_BOOK')
  t.equal(makerOf([{ symbol: SYMBOL, least: 1, outlierBps: 200, sources: [] }], true), 'SOURCES')
  t.equal(makerOf([], false), 'OPERATOR')
  Object.assign(spot!, { base: -1 })
  t.equal(makerOf([], true), 'REFERENCE', 'no spot pair')
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

const sourceOf = (url: string, name = 'one'): PairSources['sources'][number] => ({
  name, url, path: ['p'], everyMs: 1000, timePath: null, staleMs: 30_000, send: null,
})

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

t.test('what sources say at once is followed in steps that the engine takes, one a second, and back', async (t) => {
  let said = 100
  const base = await serving(t, (response) => void response.end(`{"p":${said}}`))
  const { stage, feeder, sent } = fed(t, [{ symbol: SYMBOL, least: 1, outlierBps: 200, sources: [sourceOf(base)] }])
  const [one] = feeder.pairs[0]!.polled as [Polled]
  const walk = async (to: number, seconds: number): Promise<unknown[]> => {
    said = to
    await until(() => one.price === to)
    const from = sent.length
    for (let second = 0; second < seconds; second++) {
      stage.time += 1000
      one.at = performance.now()
      await feeder.look()
    }
    return sent.slice(from).map(({ price }) => price)
  }
  t.same(await walk(100, 1), [10_000])
  const ppm = perpFigures(stage.state, PERP_PAIR).indexBandPpm
  const step = (price: number): number => Math.floor((price * ppm) / 1_000_000)
  const first = 10_000 + step(10_000)
  const far = (first + step(first) + 10) / 100
  t.same(await walk(far, 3), [first, first + step(first), Math.round(far * 100)])
  t.same(await walk(100, 1), [Math.round(far * 100) - step(Math.round(far * 100))])
  t.match(feeder.pairs, [{ refused: 0, bounded: 3 }])
  // Behind an outage there is nothing to step from: the third that agrees is taken.
  stage.time += 60_000
  t.same(await walk(200, 3), [20_000, 20_000, 20_000])
  t.equal(perpFigures(stage.state, PERP_PAIR).index, 20_000)
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
