/** Promise: a chain thread that ends is started again and its new place is told; it is stopped for good only when it is asked to. */
import { join } from 'node:path'
import t from 'tap'
import { startChain, type ChainThread } from '../../core/supervisor/chain_thread.ts'
import type { ChainData, FromThread } from '../../core/threads.ts'
import { until } from '../support/until.ts'

const path = join(import.meta.dirname, '..', 'support', 'ending_thread.ts')
const [STARTS, NEXT] = [0, 1]

interface Watched {
  readonly chain: ChainThread
  readonly words: Int32Array
  readonly heard: FromThread[]
  readonly urls: (string | null)[]
  readonly ends: string[]
}

function watch(next = 0): Watched {
  const control = new SharedArrayBuffer(8)
  const words = new Int32Array(control)
  words[NEXT] = next
  const [heard, urls, ends]: [FromThread[], (string | null)[], string[]] = [[], [], []]
  const chain = startChain(path, { control } as unknown as ChainData, {
    heard: (message) => heard.push(message), moved: (url) => urls.push(url), ended: (reason) => ends.push(reason),
  })
  return { chain, words, heard, urls, ends }
}

for (const [how, next, reason] of [['ends', 1, 'it ended with 0'], ['fails', 2, 'broken']] as const) {
  t.test(`a thread that ${how} is started again`, async (t) => {
    const { chain, words, urls, ends } = watch()
    t.equal(await chain.ready, 1001)
    t.same(urls, ['http://127.0.0.1:1001'])
    words[NEXT] = next
    t.ok(await until(() => urls.length === 2))
    words[NEXT] = 0
    t.ok(await until(() => urls.length === 3))
    t.same(urls, ['http://127.0.0.1:1001', null, 'http://127.0.0.1:1002'])
    t.equal(ends[0], reason)
    await chain.finish()
    t.equal(urls.at(-1), null)
    const ended = ends.length
    t.equal(Atomics.load(words, STARTS), 2)
    await chain.finish()
    t.equal(ends.length, ended, 'an end that was asked for is none')
  })
}

t.test('a port that is taken at the first start is everybody’s business, later it is tried again', async (t) => {
  const first = watch(3)
  t.ok(await until(() => first.heard.length === 1))
  t.match(first.heard, [{ type: 'fatal', message: 'chain port: taken' }])
  await first.chain.finish()

  const later = watch()
  await later.chain.ready
  later.words[NEXT] = 1
  t.ok(await until(() => later.urls.length === 2))
  later.words[NEXT] = 3
  t.ok(await until(() => later.ends.includes('chain port: taken')))
  later.words[NEXT] = 0
  t.ok(await until(() => typeof later.urls.at(-1) === 'string'))
  t.same(later.heard, [])
  await later.chain.finish()
})

t.test('finishing while it is away starts it no more', async (t) => {
  const { chain, words, urls } = watch()
  await chain.ready
  words[NEXT] = 1
  t.ok(await until(() => urls.length === 2))
  await chain.finish()
  words[NEXT] = 0
  t.equal(Atomics.load(words, STARTS), 1)
  t.same(urls, ['http://127.0.0.1:1001', null])
})
