/**
 * Promise: what waits for all connections of a thread is bounded. Whoever has most of it goes first: of the client that has its share,
 * or of everybody; nobody else is cut, and everything is given back.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import { Backlog, type Backlogged } from '../../gateway/limits/backlog.ts'

const MOST = 1000
const AT = { waiting: GATEWAY.ws_waiting_bytes, capacity: GATEWAY.ws_waiting_capacity, cut: GATEWAY.ws_crowded }

function stage(proxies: string[] = []) {
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const backlog = new Backlog(MOST, new Set(proxies), counters, AT)
  const cut: string[] = []
  const open = (client: string, name = client): Backlogged => {
    return { client, held: 0, over: false, cut: () => void cut.push(name) }
  }
  return { backlog, cut, open, held: () => counters[GATEWAY.ws_waiting_bytes]!, crowded: () => counters[GATEWAY.ws_crowded]! }
}

t.test('a client over its share loses its largest', (t) => {
  const { backlog, cut, open, held, crowded } = stage()
  const [small, large, other] = [open('a', 'small'), open('a', 'large'), open('b')]
  backlog.note(other, 10)
  backlog.note(small, 100)
  backlog.note(large, 350)
  t.equal(held(), 460)
  backlog.note(small, 150)
  t.same(cut, ['large'], 'though it was another that grew')
  t.equal(held(), 160)
  backlog.note(small, 900)
  t.same(cut, ['large', 'small'])
  t.equal(held(), 10)
  t.equal(crowded(), 2)
  backlog.note(other, 4)
  backlog.note(other, 0)
  t.equal(held(), 0)
  t.end()
})

t.test('of a full whole the largest of everybody goes', (t) => {
  const { backlog, cut, open, held } = stage(['proxy'])
  const [proxied, largest, next] = [open('proxy'), open('a'), open('b')]
  backlog.note(largest, 400)
  backlog.note(proxied, 300)
  backlog.note(next, 150)
  t.equal(held(), 850)
  backlog.note(proxied, 500)
  t.same(cut, ['proxy'], 'proxies leave the last tenth, and have their own largest cut')
  t.equal(held(), 550)
  const [more, last] = [open('c'), open('d')]
  backlog.note(more, 150)
  backlog.note(last, 150)
  t.equal(held(), 850)
  backlog.note(open('proxy', 'huge'), 1200)
  t.same(cut, ['proxy', 'huge'], 'what is larger than the whole is itself the largest')
  backlog.note(open('proxy', 'again'), 151)
  t.same(cut, ['proxy', 'huge', 'a'], 'else whoever has most')
  t.equal(held(), 601)
  t.end()
})

t.test('the sum is that of all sockets, and never more than there is', (t) => {
  const { backlog, open, held } = stage()
  const random = createPrng(7)
  const sockets = Array.from({ length: 40 }, (_, at) => open(`c${at % 7}`))
  for (let i = 0; i < 20_000; i++) {
    const socket = sockets[random.below(sockets.length)]!
    if (random.below(10) === 0) backlog.end(socket)
    else backlog.note(socket, random.below(200))
    const sum = sockets.reduce((all, each) => all + each.held, 0)
    if (sum !== held() || sum > MOST) return t.fail(`${sum} of ${held()} after ${i}`)
  }
  for (const socket of sockets) backlog.end(socket)
  t.equal(held(), 0)
  t.end()
})
