/**
 * Promise: every reader of a `watch` verb sees the final status of every order, or gets an UpdatesLost that makes it look; nothing is
 * dropped in silence. With 2 readers and 500 orders, readers with a name and without.
 */
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import type { Client } from '../../gateway/client/index.ts'
import { Feed, KEPT, TOGETHER_MS } from '../../gateway/client/ccxt/feed.ts'
import { BadRequest, ExchangeError, NetworkError, Ringbook, UpdatesLost, type UnifiedOrder } from '../../gateway/client/ccxt/index.ts'
import type { Clock } from '../../gateway/client/clock.ts'
import { StreamError } from '../../gateway/client/errors.ts'

t.setTimeout(30_000)
const AT = '2026-01-01T00:00:00.000Z'
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
interface Handlers {
  update(row: unknown): void
  error(error: StreamError): void
}

/** An adapter whose subscriptions are the test's. */
function venueOf(): { venue: Ringbook; subscribed: Handlers[]; end(orderId: string): void } {
  const subscribed: Handlers[] = []
  const client = {
    signer: {},
    ListTradingPairs: () => Promise.resolve({ tradingPairs: [], totalPages: 1 }),
    subscribe: (_channel: string, _params: unknown, handlers: Handlers) => {
      subscribed.push(handlers)
      return { close: () => {} }
    },
    closeStreams: () => {}, orders: { close: () => {} },
  }
  const row = {
    orderType: 'LIMIT', side: 'BUY', symbol: 'ETH/USDC', price: '1', quantity: '1', filledQuantity: '1', remainingQuantity: '0',
    createdAt: AT, updatedAt: AT, status: 'FILLED',
  }
  return {
    venue: new Ringbook({ client: client as unknown as Client }), subscribed,
    end: (orderId) => subscribed.at(-1)!.update({ ...row, orderId }),
  }
}

/** Time that the test moves. */
function clockOf(): Clock & { advance(): void; readonly timers: number } {
  const due: (() => void)[] = []
  return {
    now: () => 0, random: () => 0,
    after: (ms, act) => {
      t.equal(ms, TOGETHER_MS)
      due.push(act)
      return () => void due.splice(due.indexOf(act), 1)
    },
    advance: () => due.splice(0).forEach((act) => act()),
    get timers() {
      return due.length
    },
  }
}

for (const names of [['first', 'second'], [undefined, undefined], ['first', undefined]]) {
  t.test(`2 readers, ${names.map((name) => name ?? 'without a name').join(' and ')}, see 500 orders end`, async (t) => {
    const { venue, subscribed, end } = venueOf()
    const random = createPrng(31)
    const read = async (reader: string | undefined): Promise<string[]> => {
      const seen: string[] = []
      while (seen.length < 500) {
        const orders: UnifiedOrder[] = await venue.watchOrders(undefined, undefined, random.below(3) === 0 ? 2 : undefined, { reader })
        seen.push(...orders.map(({ id }) => id))
        // A reader has other things to do, for as long as several orders take.
        for (let turns = random.below(12); turns > 0; turns--) await turn()
      }
      return seen
    }
    const readers = names.map(read)
    while (subscribed.length === 0) await turn()
    // Both read by now.
    for (let turns = 0; turns < 20; turns++) await turn()
    const wanted = Array.from({ length: 500 }, (_, i) => `o${i}`)
    for (const id of wanted) {
      end(id)
      for (let turns = random.below(4); turns > 0; turns--) await turn()
    }
    for (const [index, seen] of (await Promise.all(readers)).entries()) t.same(seen, wanted, `reader ${index}`)
    t.equal(subscribed.length, 1, 'of one subscription')
  })
}

t.test('a reader that waits for too many updates gets an error, and then what comes', async (t) => {
  const feed = new Feed<number>()
  const [slow, quick] = [feed.next('slow'), feed.next('quick')]
  feed.push([0])
  t.same([await slow, await quick], [[0], [0]])
  for (let i = 1; i <= KEPT; i++) feed.push([i])
  t.equal((await feed.next('quick')).length, KEPT)
  feed.push([KEPT + 1])
  await t.rejects(feed.next('slow'), UpdatesLost)
  feed.push([KEPT + 2])
  t.same(await feed.next('slow'), [KEPT + 2])
  t.same(await feed.next('quick'), [KEPT + 1, KEPT + 2], 'which the other reader does not notice')
  t.ok(new UpdatesLost('m') instanceof NetworkError, 'programs for ccxt take it for a lost connection')
  t.equal(new UpdatesLost('m').name, 'UpdatesLost')
})

t.test('a limit leaves the rest for the next call', async (t) => {
  const feed = new Feed<number>()
  const first = feed.next('a', 2)
  feed.push([1, 2, 3, 4])
  t.same([await first, await feed.next('a', 0), await feed.next('a')], [[1, 2], [3], [4]])
})

t.test('calls without a name wait for each other, for a while', async (t) => {
  const clock = clockOf()
  const feed = new Feed<number>({ clock })
  const both = [feed.next(), feed.next()]
  feed.push([1])
  t.same(await Promise.all(both), [[1], [1]])
  const one = feed.next()
  feed.push([2])
  t.equal(clock.timers, 1, 'the other reader is not there')
  const other = feed.next()
  t.same([await one, await other], [[2], [2]])
  t.equal(clock.timers, 0)
  const left = feed.next()
  feed.push([3])
  clock.advance()
  t.same(await left, [3], 'a reader that is gone does not stop the other')
  const again = feed.next()
  feed.push([4])
  t.same(await again, [4], 'nor again')
  const late = [feed.next(), feed.next()]
  for (const each of late) await t.rejects(each, UpdatesLost, 'it comes back, and which of them it is nobody knows')
  const after = [feed.next(), feed.next()]
  feed.push([5])
  t.same(await Promise.all(after), [[5], [5]])
})

t.test('a second reader without a name that begins late is told', async (t) => {
  const feed = new Feed<number>()
  const first = feed.next()
  feed.push([1])
  await first
  for (const each of [feed.next(), feed.next()]) await t.rejects(each, UpdatesLost)
})

t.test('a state is the newest one, and a new reader has it', async (t) => {
  const feed = new Feed<number>({ isState: true, isUrgent: true })
  const first = feed.next('a')
  feed.push([1, 2])
  t.same([await first, await feed.next('b')], [[2], [2]])
  feed.push([3])
  feed.push([4])
  t.same([await feed.next('a'), await feed.next('b')], [[4], [4]])
})

t.test('the end of a subscription is told to every reader, and the next call subscribes anew', async (t) => {
  const { venue, subscribed, end } = venueOf()
  const read = (reader: string): Promise<UnifiedOrder[]> => venue.watchOrders(undefined, undefined, undefined, { reader })
  const first = [read('a'), read('b')]
  while (subscribed.length === 0) await turn()
  for (let turns = 0; turns < 20; turns++) await turn()
  end('o1')
  await Promise.all(first)
  end('o2')
  subscribed[0]!.error(new StreamError('SUBSCRIPTION_LIMIT', 'Too many'))
  t.same((await read('a')).map(({ id }) => id), ['o2'])
  await t.rejects(read('a'), ExchangeError)
  const next = read('a')
  while (subscribed.length === 1) await turn()
  await turn()
  end('o3')
  t.same((await next).map(({ id }) => id), ['o3'])
  t.same((await read('b')).map(({ id }) => id), ['o2'])
  await t.rejects(read('b'), ExchangeError, 'the other reader too')
  t.same((await read('b')).map(({ id }) => id), ['o3'])
  await t.rejects(venue.watchOrders(undefined, undefined, undefined, { reader: 7 }), BadRequest)
  const closed = read('a')
  await turn()
  await venue.close()
  await t.rejects(closed, ExchangeError)
})
