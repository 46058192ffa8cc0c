/** Promise: a gRPC client that pings every 10 s is never ended for it, however its pings jitter; one that pings more often is. */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { PING_EVERY_MS, Pings } from '../../gateway/grpc/pings.ts'

const PING_BYTES = 17
/** Pings at these times on a connection that is idle otherwise: how many were taken before one was too many. */
function taken(times: Iterable<number>): number {
  const pings = new Pings()
  let count = 0
  for (const time of times) {
    if (pings.isTooMany(time, count * PING_BYTES)) return count
    count++
  }
  return count
}

t.test('pings every 10 s with jitter, for a day', async (t) => {
  const random = createPrng(12)
  for (const jitter of [0, 7, 500]) {
    const times = Array.from({ length: 8640 }, (_, i) => i * PING_EVERY_MS + random.below(2 * jitter + 1) - jitter)
    t.equal(taken(times), 8640, `${jitter} ms early or late`)
  }
  const early = Array.from({ length: 8640 }, (_, i) => i * (PING_EVERY_MS - 7))
  t.equal(taken(early), 8640, 'a clock that is a little fast')
})

t.test('pings that a stalled network hands on together', async (t) => {
  const times = Array.from({ length: 300 }, (_, i) => Math.ceil(i / 3) * 3 * PING_EVERY_MS)
  t.equal(taken(times), 300)
})

t.test('early pings are forgotten', async (t) => {
  const times = Array.from({ length: 100 }, (_, i) => i * 60_000).flatMap((at) => [at, at + 10, at + 20])
  t.equal(taken(times), 300)
})

t.test('more often is too often', async (t) => {
  t.equal(taken([0, 0, 0, 0, 0]), 3, 'at once')
  t.ok(taken(Array.from({ length: 100 }, (_, i) => i * 5000)) < 10, 'every 5 s')
  t.ok(taken(Array.from({ length: 100 }, (_, i) => i * 1000)) < 5, 'every second')
})

t.test('pings along with data are free', async (t) => {
  const pings = new Pings()
  for (let i = 1; i <= 1000; i++) if (pings.isTooMany(i, i * 1000)) t.fail(`ping ${i}`)
  t.pass('none was too many')
})
