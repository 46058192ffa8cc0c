/**
 * Promise: what one thread publishes, the other takes, whole, once and in order, wherever the counters stand; and a full ring says so
 * without touching what waits. The file is also the producer's thread.
 */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Test } from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { attachRing, available, consume, createRing, front, publish, push, reserve, waiting, type Ring } from '../../core/ring/spsc.ts'

/** Words of the ring's header. */
const HEAD = 0
const TAIL = 32
/** Fruitless looks before a thread lets others have its core. */
const LOOKS = 2000

interface Job {
  buffer: SharedArrayBuffer
  records: number
  /** Most commands per publish and most slots per command. */
  group: number
  slots: number
  seed: number
}

/** Lets the other thread run when both share a core. */
const idle = new Int32Array(new SharedArrayBuffer(4))
const giveWay = (looks: number): void => void (looks % LOOKS === 0 && Atomics.wait(idle, 0, 0, 0.05))

/** Slot `index` of the command that begins with record `record`. */
function fill(ring: Ring, at: number, record: number, index: number, slots: number): void {
  const { i32 } = ring.slots
  for (let word = 0; word < RECORD_WORDS; word++) i32[at + word] = record + index
  i32[at + 1] = slots
  i32[at + 2] = index
}

/** Word that is wrong in the record at `at`, or -1. */
function wrongWord(ring: Ring, at: number, record: number): number {
  const { i32 } = ring.slots
  for (let word = 0; word < RECORD_WORDS; word++) if (word !== 1 && word !== 2 && i32[at + word] !== record) return word
  return -1
}

function produce({ buffer, records, group, slots, seed }: Job): void {
  const ring = attachRing(buffer)
  const random = createPrng(seed)
  for (let sent = 0, looks = 1; sent < records; looks++) {
    const commands = 1 + random.below(group)
    let ahead = 0
    for (let command = 0; command < commands && sent + ahead < records; command++) {
      const size = Math.min(1 + random.below(slots), records - sent - ahead)
      if (reserve(ring, ahead + size - 1) < 0) break
      for (let index = 0; index < size; index++) fill(ring, reserve(ring, ahead + index), sent + ahead, index, size)
      ahead += size
    }
    if (ahead > 0) publish(ring, ahead)
    else giveWay(looks)
    sent += ahead
  }
}

interface Taken {
  records: number
  wrong: string[]
}

/** Takes records until there were `records` of them; notes what is not as it must be. */
function take(buffer: SharedArrayBuffer, records: number): Taken {
  const ring = attachRing(buffer)
  const wrong: string[] = []
  let taken = 0
  for (let looks = 1; taken < records && wrong.length === 0; looks++) {
    const waits = available(ring)
    if (waits === 0) giveWay(looks)
    if (waits < 0 || waits > ring.capacity) wrong.push(`${waits} records wait`)
    let left = 0
    for (let index = 0; index < waits && wrong.length === 0; index++, taken++) {
      const at = front(ring, index)
      const word = wrongWord(ring, at, taken)
      if (word >= 0) wrong.push(`record ${taken}, word ${word}`)
      const [size, part] = [ring.slots.i32[at + 1]!, ring.slots.i32[at + 2]!]
      if ((left === 0) !== (part === 0)) wrong.push(`record ${taken} is part ${part} of ${size}`)
      left = size - part - 1
    }
    if (left !== 0) wrong.push(`a command of which ${left} slots are missing became visible`)
    if (waits > 0) consume(ring, waits)
  }
  return { records: taken, wrong }
}

/** A ring whose counters stand at `at`. */
function ringAt(capacity: number, at: number): { producer: Ring; consumer: Ring } {
  const { buffer, header } = createRing(capacity)
  header[HEAD] = at
  header[TAIL] = at
  return { producer: attachRing(buffer), consumer: attachRing(buffer) }
}

const STARTS = [0, 5, 2 ** 31 - 3, -3]

function singleThreaded(t: Test): void {
  for (const start of STARTS) {
    void t.test(`full and empty, counters from ${start}`, async (t) => fullAndEmpty(t, start))
  }
  void t.test('nothing is visible before it is published', async (t) => {
    const { producer, consumer } = ringAt(8, 2 ** 31 - 2)
    for (let ahead = 0; ahead < 5; ahead++) fill(producer, reserve(producer, ahead), ahead, 0, 1)
    t.equal(available(consumer), 0)
    publish(producer, 3)
    t.equal(available(consumer), 3)
    t.same([0, 1, 2].map((index) => wrongWord(consumer, front(consumer, index), index)), [-1, -1, -1])
    publish(producer, 2)
    t.equal(available(consumer), 5)
    consume(consumer, 5)
    t.equal(waiting(producer), 0)
  })
  void t.test('a side that attaches later finds the counters where they stand', async (t) => {
    const { producer } = ringAt(8, 2 ** 31 - 1)
    for (let record = 0; record < 3; record++) push(producer, new Int32Array(RECORD_WORDS).fill(record), 0)
    const late = attachRing(producer.buffer)
    t.equal(available(late), 3)
    t.equal(late.slots.i32[front(late, 2)], 2, 'the record is whole')
    t.ok(reserve(late, 4) >= 0)
    t.equal(reserve(late, 5), -1)
  })
  void t.test('a capacity that is no power of two is refused', async (t) => {
    for (const capacity of [0, 1, 3, 12, 1000, -8]) t.throws(() => createRing(capacity), /power of two/, String(capacity))
  })
}

/** Fills the ring, tries to overfill it, and empties it, three times around. */
function fullAndEmpty(t: Test, start: number): void {
  const CAPACITY = 8
  const { producer, consumer } = ringAt(CAPACITY, start)
  const record = (number: number): Int32Array => new Int32Array(RECORD_WORDS).fill(number)
  let sent = 0
  let taken = 0
  for (let round = 0; round < 3; round++) {
    while (waiting(producer) < CAPACITY) t.ok(push(producer, record(sent++), 0))
    t.notOk(push(producer, record(-1), 0), 'full')
    t.equal(reserve(producer, 0), -1)
    t.equal(available(consumer), CAPACITY)
    for (let index = 0; index < CAPACITY; index++) {
      t.equal(wrongWord(consumer, front(consumer, index), taken + index), -1, 'nothing is overwritten')
    }
    consume(consumer, 3)
    taken += 3
    t.ok(reserve(producer, 2) >= 0, 'room for three')
    t.equal(reserve(producer, 3), -1, 'not for four')
    while (taken < sent - round) {
      t.equal(wrongWord(consumer, front(consumer, 0), taken++), -1)
      consume(consumer, 1)
    }
  }
  t.equal(waiting(consumer), sent - taken)
}

const JOBS: [name: string, capacity: number, start: number, job: Omit<Job, 'buffer' | 'seed'>][] = [
  ['one by one', 1024, 2 ** 31 - 100_000, { records: 1_500_000, group: 1, slots: 1 }],
  ['several at once', 256, -100_000, { records: 1_500_000, group: 32, slots: 1 }],
  ['commands of several slots', 64, 2 ** 31 - 1, { records: 600_000, group: 3, slots: 5 }],
  ['a ring that is nearly always full or empty', 4, 2 ** 31 - 20_001, { records: 40_000, group: 2, slots: 3 }],
]

function twoThreads(t: Test): void {
  const base = Number(process.env['SEED'] ?? 3)
  t.comment(`SEED=${base} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/ring_spsc.test.ts`)
  JOBS.forEach(([name, capacity, start, job], index) => {
    void t.test(`two threads, ${job.records} records, ${name}`, async (t) => {
      const { buffer } = ringAt(capacity, start).producer
      const worker = new Worker(new URL(import.meta.url), { workerData: { buffer, seed: base + index, ...job } satisfies Job })
      await once(worker, 'online')
      const { records, wrong } = take(buffer, job.records)
      if (wrong.length > 0) await worker.terminate()
      else await once(worker, 'exit')
      t.same(wrong, [])
      t.equal(records, job.records)
      t.equal(waiting(attachRing(buffer)), 0, 'nothing more came')
    })
  })
}

if (isMainThread) {
  const { default: t } = await import('tap')
  singleThreaded(t)
  twoThreads(t)
} else produce(workerData as Job)
