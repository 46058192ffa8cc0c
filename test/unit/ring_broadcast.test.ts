/**
 * Promise: every reader of the event ring sees whole records in order; one that falls a ring behind is told so, counts what it missed and
 * goes on, and never gets a record that the writer was changing. The file is also the writer's thread.
 */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Test } from 'tap'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { attachBroadcast, broadcast, createBroadcast, createReader, read, writtenTo, type Reader } from '../../core/ring/broadcast.ts'

interface Job {
  buffer: SharedArrayBuffer
  records: number
  /** Most records written at once. */
  group: number
  seed: number
}

/** `count` records from number `first` on; every word of a record is its number. */
function numbered(first: number, count: number, into = new Int32Array(count * RECORD_WORDS)): Int32Array {
  for (let record = 0; record < count; record++) into.fill(first + record, record * RECORD_WORDS, (record + 1) * RECORD_WORDS)
  return into
}

function write({ buffer, records, group, seed }: Job): void {
  const ring = attachBroadcast(buffer)
  const random = createPrng(seed)
  const source = new Int32Array(group * RECORD_WORDS)
  for (let written = 0; written < records; ) {
    const count = Math.min(records - written, 1 + random.below(group))
    broadcast(ring, numbered(written, count, source), count)
    written += count
  }
}

/** Numbers of the records of the last read; a torn one is NaN. */
function numbersOf(reader: Reader, count: number): number[] {
  return Array.from({ length: count }, (_, record) => {
    const words = reader.copy.subarray(record * RECORD_WORDS, (record + 1) * RECORD_WORDS)
    return words.every((word) => word === words[0]) ? words[0]! : NaN
  })
}

/** Reads until nothing is new. */
function drain(reader: Reader): number[] {
  const numbers: number[] = []
  for (let count = read(reader); count > 0; count = read(reader)) numbers.push(...numbersOf(reader, count))
  return numbers
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

function singleThreaded(t: Test): void {
  void t.test('several readers, each at its own place', async (t) => {
    const ring = createBroadcast(16)
    const [early, slow] = [createReader(ring), createReader(ring, 3)]
    broadcast(ring, numbered(0, 10), 10)
    const late = createReader(ring)
    const placed = createReader(ring, 256, 4)
    t.same(drain(early), range(0, 10))
    t.equal(read(slow), 3, 'no more than its buffer holds')
    broadcast(ring, numbered(10, 6), 6)
    t.same([drain(early), drain(slow), drain(late), drain(placed)], [range(10, 16), range(3, 16), range(10, 16), range(4, 16)])
    t.same([early, slow, late, placed].map(({ lost }) => lost), [0, 0, 0, 0])
    t.equal(read(early), 0)
  })
  void t.test('a reader exactly a ring behind still has everything, one record more and it is lapped', async (t) => {
    const ring = createBroadcast(8)
    const [within, beyond] = [createReader(ring), createReader(ring)]
    broadcast(ring, numbered(0, 8), 8)
    t.same(drain(within), range(0, 8))
    broadcast(ring, numbered(8, 1), 1)
    t.equal(read(beyond), -1)
    t.equal(beyond.lost, 9)
    t.equal(read(beyond), 0, 'it stands at the newest')
    broadcast(ring, numbered(9, 3), 3)
    t.same(drain(beyond), range(9, 12), 'and goes on from there')
    t.same(drain(within), range(8, 12))
    t.equal(within.lost, 0)
  })
  void t.test('more records than the ring holds, written at once', async (t) => {
    const ring = createBroadcast(8)
    const reader = createReader(ring)
    broadcast(ring, numbered(0, 29), 29)
    t.equal(writtenTo(ring), 29)
    t.equal(read(reader), -1)
    t.equal(reader.lost, 29)
    const last = createReader(ring, 256, 21)
    t.same(drain(last), range(21, 29), 'the newest are there')
  })
  void t.test('a record that is being overwritten is not returned', async (t) => {
    const ring = createBroadcast(8)
    broadcast(ring, numbered(0, 8), 8)
    const reader = createReader(ring, 256, 0)
    // What a reader sees that copies while the writer has claimed the next slot, but not yet completed it.
    ring.header[16] = 9n
    t.equal(read(reader), -1)
    t.equal(reader.position, 8)
    t.same(drain(createReader(ring, 256, 1)), range(1, 8), 'those behind it are whole')
  })
  void t.test('a capacity that is no power of two is refused', async (t) => {
    for (const capacity of [0, 1, 3, 100]) t.throws(() => createBroadcast(capacity), /power of two/, String(capacity))
  })
}

interface Seen {
  records: number
  laps: number
  wrong: string[]
}

/** Reads beside the writer; `dawdle` sums so many words after each read, so that it falls behind. */
function follow(reader: Reader, records: number, dawdle: () => number): Seen {
  const seen: Seen = { records: 0, laps: 0, wrong: [] }
  for (let rest = 0; reader.position < records && seen.wrong.length === 0; ) {
    const expected = reader.position
    const count = read(reader)
    if (count < 0) seen.laps++
    for (let record = 0; record < count; record++) {
      for (let word = 0; word < RECORD_WORDS; word++) {
        const value = reader.copy[record * RECORD_WORDS + word]!
        if (value !== expected + record) seen.wrong.push(`record ${expected + record}, word ${word}: ${value}`)
      }
    }
    seen.records += Math.max(0, count)
    for (let words = dawdle(); words > 0; words--) rest = (rest + reader.copy[words % reader.copy.length]!) | 0
  }
  return seen
}

function twoThreads(t: Test): void {
  const seed = Number(process.env['SEED'] ?? 5)
  t.comment(`SEED=${seed} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/ring_broadcast.test.ts`)
  const runs: [name: string, capacity: number, group: number, records: number, slow: number][] = [
    ['a small ring', 16, 12, 1_500_000, 0],
    ['a small ring and a reader that dawdles', 64, 20, 1_500_000, 3000],
    ['a ring of the usual kind', 4096, 200, 3_000_000, 500],
  ]
  for (const [name, capacity, group, records, slow] of runs) {
    void t.test(`a writer flat out, ${name}`, async (t) => {
      const random = createPrng(seed)
      const ring = createBroadcast(capacity)
      const reader = createReader(ring, 256, 0)
      const job: Job = { buffer: ring.buffer, records, group, seed }
      const worker = new Worker(new URL(import.meta.url), { workerData: job })
      await once(worker, 'online')
      const { records: received, laps, wrong } = follow(reader, records, () => (slow === 0 ? 0 : random.below(slow)))
      await once(worker, 'exit')
      t.same(wrong, [], 'no record torn, none out of order')
      t.equal(received + reader.lost, records, `received ${received}, lapped ${laps} times, lost ${reader.lost}`)
      t.equal(laps === 0, reader.lost === 0)
    })
  }
}

if (isMainThread) {
  const { default: t } = await import('tap')
  singleThreaded(t)
  twoThreads(t)
} else write(workerData as Job)
