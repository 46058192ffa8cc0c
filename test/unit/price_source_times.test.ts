/**
 * Promise: a source of index prices that answers with what it knew long ago is left out as soon as its price is older than its terms allow,
 * by the time that its own answer says, in whatever unit; one that says no readable time gives no price. How long prices have not moved is
 * known of every source.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isFreshPrice, pollSource, type Polled } from '../../gateway/operator/feed/poll.ts'
import { readSources, SourcesError, timeAt, type Source } from '../../gateway/operator/feed/sources.ts'

const SYMBOL = 'BTC/USD-PERP'
function sourcesOf(terms: object): readonly Source[] {
  const source = { name: 'one', url: 'http://127.0.0.1/', path: 'p', ...terms }
  return readSources(JSON.stringify({ [SYMBOL]: { sources: [source] } }), [SYMBOL])[0]!.sources
}

t.test('times in seconds, ms, µs, ns and RFC 3339 are the same moment', (t) => {
  const moment = Date.parse('2026-11-29T06:00:00.000Z')
  const texts = [
    moment / 1000, moment, moment * 1e3, `${moment / 1000}`, `${moment}000`, `${moment}000000`, '"2026-11-29T06:00:00Z"',
    '"2026-11-29T07:00:00.000+01:00"', `"${moment / 1000}.0"`,
  ]
  for (const text of texts) t.equal(timeAt(`{"d":[{"t":${text}}]}`, ['d', '0', 't']), moment, String(text))
  const none = ['null', '0', '-5', 'true', '""', '"yesterday"', '"2026-11-29"', '"2026-11-29T06:00:00"', '{}', '[]']
  for (const text of none) t.equal(timeAt(`{"t":${text}}`, ['t']), null, text)
  t.equal(timeAt('{"p":1}', ['t']), null)
  t.end()
})

t.test('terms', (t) => {
  t.match(sourcesOf({ timePath: 'data.0.time' }), [{ timePath: ['data', '0', 'time'], staleMs: 30_000 }])
  t.match(sourcesOf({ timePath: 'time', staleSeconds: 5 }), [{ staleMs: 5000 }])
  t.match(sourcesOf({}), [{ timePath: null }])
  t.throws(() => sourcesOf({ staleSeconds: 5 }), new SourcesError(
    `${SYMBOL}: one: staleSeconds is held against the time of the answer: say with timePath where that stands`))
  t.throws(() => sourcesOf({ timePath: 7 }), /timePath must be a text/)
  t.throws(() => sourcesOf({ timePath: 't', staleSeconds: 0 }), /staleSeconds must be a whole number from 1 to 3600/)
  t.end()
})

/** A source whose answer is `answer()`, asked each second. */
async function polling(t: Test, terms: object, answer: () => string): Promise<Polled> {
  const server = createServer((_, response) => void response.end(answer()))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const polled = pollSource(sourcesOf({ url, everySeconds: 1, ...terms })[0]!)
  t.teardown(() => {
    polled.stop()
    server.close()
  })
  return polled
}

async function until(is: () => boolean): Promise<void> {
  while (!is()) await delay(5)
}

t.test('a price is fresh for as long as the time of its answer allows', async (t) => {
  const from = Date.now() - 12_000
  const polled = await polling(t, { timePath: 't', staleSeconds: 20 }, () => `{"p":100,"t":${from}}`)
  await until(() => polled.price > 0)
  t.ok(polled.age >= 12_000, `${polled.age} ms old when it came`)
  // As if it had come 10 s old.
  polled.age = 10_000
  t.equal(isFreshPrice(polled, polled.at + 4_999), true)
  t.equal(isFreshPrice(polled, polled.at + 7_999), true, 'three requests, and the time of an answer')
  polled.age = 15_000
  t.equal(isFreshPrice(polled, polled.at + 4_999), true)
  t.equal(isFreshPrice(polled, polled.at + 5_001), false, 'older than 20 s by what the source says')
})

t.test('a frozen answer is no price, however often it comes', async (t) => {
  const frozen = await polling(t, { timePath: 't', staleSeconds: 20 }, () => `{"p":100,"t":${Date.now() - 60_000}}`)
  await until(() => frozen.price > 0)
  t.equal(isFreshPrice(frozen, frozen.at), false)
  const silent = await polling(t, { timePath: 't' }, () => '{"p":100}')
  await until(() => silent.failures > 0)
  t.equal(silent.price, 0, 'without a readable time there is no price')
})

t.test('a price that is the same again has not moved', async (t) => {
  let price = 100
  let asked = 0
  const polled = await polling(t, {}, () => {
    asked++
    return `{"p":${price}}`
  })
  await until(() => polled.price === 100)
  const { movedAt } = polled
  await until(() => asked >= 2 && polled.at > movedAt)
  t.equal(polled.movedAt, movedAt)
  price = 101
  await until(() => polled.price === 101)
  t.equal(polled.movedAt, polled.at)
})
