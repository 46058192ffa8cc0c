/**
 * Promise: the book of the client is that of the service, verified with every frame, or says that it is not live. Prices are exact; after a
 * wrong checksum, a gap or too much it begins anew by itself.
 */
import { crc32 as zlibCrc32 } from 'node:zlib'
import t from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { comparePrices, LocalBook, type BookHandlers, type BookLevel } from '../../gateway/client/book.ts'
import { crc32 } from '../../gateway/client/checksum.ts'
import type { Frame } from '../support/sockets.ts'
import { BASE, PAIR, snapshot, stage, until, update, type ServedSocket, type Stage } from '../support/stream_server.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const TERMS = { tradingPairId: PAIR, magnitude: 1 }

type Levels = [price: string, quantity: string][]
const levels = (of: Levels): BookLevel[] => of.map(([price, quantity]) => ({ price, quantity }))
/** Of the ten best, as given. */
const sumOf = (bids: Levels, asks: Levels): number =>
  zlibCrc32([...bids.slice(0, 10), ...asks.slice(0, 10)].map((level) => level.join(':')).join(','))

const bookSnapshot = (sequence: number, bids: Levels, asks: Levels, checksum = sumOf(bids, asks)): Frame =>
  snapshot('orderbook', { ...TERMS, bids: levels(bids), asks: levels(asks), checksum }, { sequence })
const bookUpdate = (previousSequence: number, sequence: number, bids: Levels, asks: Levels, checksum: number): Frame =>
  update('orderbook', { ...TERMS, previousSequence, bids: levels(bids), asks: levels(asks), checksum }, { sequence })

const bookOf = ({ streams }: Stage, handlers: BookHandlers = {}): LocalBook =>
  new LocalBook(TERMS, handlers, (listening) => streams.subscribe('orderbook', TERMS, listening))

async function confirmBook(socket: ServedSocket, count = 1): Promise<void> {
  socket.confirm((await socket.said('subscribe', count))[count - 1]!, TERMS)
}

t.test('CRC-32 is that of zlib', async (t) => {
  for (const text of ['', '123456789', '60000:0.03,60001:1', 'x'.repeat(5000)]) t.equal(crc32(text), zlibCrc32(text))
})

t.test('prices are ordered exactly, whatever their length', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/client_book.test.ts`)
  const { below } = createPrng(SEED)
  /** Of 10^-12. */
  const textOf = (value: bigint): string => {
    const digits = value.toString().padStart(13, '0')
    return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '')
  }
  const values = Array.from({ length: 300 }, () => BigInt(below(2 ** 31)) ** BigInt(1 + below(4)) + BigInt(below(5)))
  // Doubles cannot tell these two apart.
  values.push(9_007_199_254_740_993_000_000_000_000n, 9_007_199_254_740_992_000_000_000_000n, 1n, 0n)
  for (const a of values) {
    const b = values[below(values.length)]!
    t.equal(Math.sign(comparePrices(textOf(a), textOf(b))), a === b ? 0 : a < b ? -1 : 1, `${textOf(a)} and ${textOf(b)}`)
  }
  t.strictSame(['10', '9', '0.1', '0.09', '0.101', '9.99'].sort(comparePrices), ['0.09', '0.1', '0.101', '9', '9.99', '10'])
})

t.test('frames make the book: best first, levels change, come and go, every checksum fits', async (t) => {
  const set = await stage(t)
  const seen: [live: boolean, sequence: number][] = []
  const book = bookOf(set, { changed: ({ live, sequence }) => seen.push([live, sequence]) })
  t.match(book, { live: false, sequence: 0, bids: [], asks: [], bestBid: undefined, bestAsk: undefined })
  const socket = await set.server.socket()
  await confirmBook(socket)
  socket.send(bookSnapshot(5, [['9', '1'], ['8.5', '2']], [['10', '3'], ['100', '4']]))
  await book.ready
  t.match(book, { live: true, sequence: 5, bestBid: { price: '9', quantity: '1' }, bestAsk: { price: '10', quantity: '3' } })
  const before = book.bids
  t.equal(book.bids, before, 'the same copy while nothing changes')
  const after: [Levels, Levels] = [[['9.25', '7'], ['8.5', '1.5']], [['10', '3'], ['11', '1'], ['100', '4']]]
  socket.send(bookUpdate(5, 8, [['9.25', '7'], ['9', '0'], ['8.5', '1.5'], ['3', '0']], [['11', '1']], sumOf(...after)))
  await until('the update', () => book.sequence === 8)
  t.strictSame(book.bids, levels(after[0]))
  t.strictSame(book.asks, levels(after[1]))
  t.strictSame(before, levels([['9', '1'], ['8.5', '2']]), 'what was given out does not change')
  t.equal(book.checksum, sumOf(...after))
  socket.send(bookUpdate(8, 9, [['9.25', '0'], ['8.5', '0']], [['10', '0'], ['11', '0'], ['100', '0']], 0))
  await until('the update', () => book.sequence === 9)
  t.match(book, { live: true, bids: [], asks: [], bestBid: undefined, checksum: 0 })
  book.close()
  t.equal(book.live, false)
  t.strictSame(seen, [[true, 5], [true, 8], [true, 9], [false, 9]])
})

t.test('a wrong checksum empties the book until there is a new snapshot', async (t) => {
  const set = await stage(t)
  const seen: [live: boolean, bids: number][] = []
  const statuses: string[] = []
  const book = bookOf(set, { changed: ({ live, bids }) => seen.push([live, bids.length]), status: (status) => statuses.push(status) })
  const socket = await set.server.socket()
  await confirmBook(socket)
  socket.send(bookSnapshot(5, [['9', '1']], []))
  await book.ready
  socket.send(bookUpdate(5, 6, [['8', '1']], [], 1))
  socket.send(bookUpdate(6, 7, [['7', '1']], [], 2))
  await until('a wrong checksum', () => seen.length === 2)
  t.strictSame(seen, [[true, 1], [false, 0]])
  set.clock.advance(BASE / 2)
  await confirmBook(socket, 2)
  socket.send(bookSnapshot(7, [['9', '1'], ['8', '1'], ['7', '1']], []))
  await until('a new snapshot', () => book.live)
  t.match(book, { sequence: 7, bids: levels([['9', '1'], ['8', '1'], ['7', '1']]) })
  t.strictSame(statuses, ['open', 'reconnecting', 'open'])
})

t.test('a wrong snapshot is not a book, nor one with more levels than there are', async (t) => {
  const set = await stage(t)
  const book = bookOf(set)
  let isReady = false
  void book.ready.then(() => (isReady = true))
  const socket = await set.server.socket()
  const deep: Levels = Array.from({ length: 1001 }, (_, i) => [String(2000 - i), '1'])
  const wrong = [bookSnapshot(5, [['9', '1']], [], 1), bookSnapshot(6, deep, []), bookSnapshot(7, [], [...deep].reverse())]
  for (const [round, frame] of wrong.entries()) {
    await confirmBook(socket, round + 1)
    socket.send(frame)
    await until('a pause', () => set.clock.waiting.includes((BASE / 2) * 2 ** round))
    t.match(book, { live: false, bids: [], asks: [] })
    set.clock.advance((BASE / 2) * 2 ** round)
  }
  t.equal(isReady, false)
  await confirmBook(socket, 4)
  socket.send(bookSnapshot(8, deep.slice(1), []))
  await book.ready
  t.equal(book.bids.length, 1000)
})

t.test('a gap, or a lost socket: the book is old and says so, until it is there again', async (t) => {
  const set = await stage(t)
  const book = bookOf(set)
  const socket = await set.server.socket()
  await confirmBook(socket)
  socket.send(bookSnapshot(5, [['9', '1']], []))
  await book.ready
  socket.send(bookUpdate(6, 7, [['8', '1']], [], 0))
  await until('a gap', () => !book.live)
  t.match(book, { sequence: 5, bids: levels([['9', '1']]) }, 'what was verified last')
  set.clock.advance(BASE / 2)
  await confirmBook(socket, 2)
  socket.send(bookSnapshot(7, [['9', '1'], ['8', '1']], []))
  await until('the book', () => book.live)
  socket.close(1013)
  await until('the end of the socket', () => !book.live)
  set.clock.advance(BASE / 2)
  const next = await set.server.socket(1)
  await confirmBook(next)
  // After a restart that lost nothing sequences go on; the book does not depend on it.
  next.send(bookSnapshot(3, [], [['9', '1']]))
  await until('the book', () => book.live)
  t.match(book, { sequence: 3, bids: [], asks: levels([['9', '1']]) })
})

t.test('a book that is refused, or closed before it is there, never is', async (t) => {
  const set = await stage(t)
  const codes: string[] = []
  const refused = bookOf(set, { error: ({ code }) => codes.push(code) })
  const socket = await set.server.socket()
  const [asked] = await socket.said('subscribe')
  socket.send({ type: 'error', id: asked!['id'], channel: 'orderbook', code: 'INVALID_SUBSCRIPTION', message: 'no' })
  await t.rejects(refused.ready, { code: 'INVALID_SUBSCRIPTION' })
  t.strictSame(codes, ['INVALID_SUBSCRIPTION'])
  for (const isConfirmed of [false, true]) {
    const statuses: string[] = []
    const closed = bookOf(set, { status: (status) => statuses.push(status) })
    if (isConfirmed) {
      await confirmBook(socket, 3)
      await until('the confirmation', () => statuses.length === 1)
    }
    closed.close()
    await t.rejects(closed.ready, /closed/)
  }
})
