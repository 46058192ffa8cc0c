/**
 * Promise: who has the answer to an order finds exactly its fills in the event ring, or nothing: never those of another command, never half
 * of them, never words that the writer was changing. Random commands against a plain list, far beyond the ring; and beside a writer on a
 * thread of its own, which this file is too.
 */
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import t from 'tap'
import { CONDITIONAL_ORDER, ConditionalReason, ConditionalState, ConditionType } from '../../core/layout/conditional.ts'
import { EVENT_LAYOUTS, EventType, FILL, ORDER_ENDED, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { attachBroadcast, broadcast, createBroadcast, writtenTo, type Broadcast } from '../../core/ring/broadcast.ts'
import { createArrivalFills, FILLS_MAX, readArrivalFills, readMadeLegs, type ArrivalFill } from '../../gateway/bridge/arrival_fills.ts'

/** Events that one command may have here, the end among them. */
const EVENTS_MAX = 64

/** What stands in fill `index` of a command: every number depends on both. */
const fillOf = (sequence: number, index: number): ArrivalFill =>
  ({ index, price: sequence % 1000 + index + 1, lots: sequence * 31 + index * 7 + 1, fee: BigInt(sequence) * 1000n - BigInt(index) })
const fillsOf = (sequence: number, trades: number): ArrivalFill[] =>
  Array.from({ length: Math.min(trades, FILLS_MAX) }, (_, index) => fillOf(sequence, index))

/** Writes commands as the matcher does: the events of one in one piece, its RESULT last. */
class Writer {
  readonly ring: Broadcast
  readonly #records = viewsOf(new ArrayBuffer(EVENTS_MAX * RECORD_BYTES))
  #count = 0

  constructor(ring: Broadcast) {
    this.ring = ring
  }

  #event(layout: Layout, values: Decoded): void {
    encode(layout, this.#records, this.#count++ * (RECORD_BYTES / 4), values)
  }

  /** A command with so many fills; `ended`: orders that ended before fill number so and so. Position of its first fill. */
  command(sequence: number, trades: number, ended: readonly number[] = []): number {
    let first = -1
    this.#count = 0
    for (let index = 0; index <= trades; index++) {
      if (ended.includes(index)) this.#event(ORDER_ENDED, { kind: EventType.ORDER_ENDED, sequence, slot: index })
      if (index === trades) break
      if (index === 0) first = writtenTo(this.ring) + this.#count
      const { price, lots, fee } = fillOf(sequence, index)
      this.#event(FILL, { kind: EventType.FILL, sequence, index, price, lots, takerFee: fee, makerFee: -fee })
    }
    this.#event(RESULT, { kind: EventType.RESULT, sequence, trades })
    broadcast(this.ring, this.#records.i32, this.#count)
    return first
  }

  random(sequence: number, random: Prng): { trades: number; first: number } {
    const trades = Math.max(0, random.below(32) - 8)
    return { trades, first: this.command(sequence, trades, [random.below(32), random.below(32)]) }
  }
}

if (isMainThread) {
  const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

  t.test('every event says of which command it is in the same word', async (t) => {
    for (const { name, at } of Object.values(EVENT_LAYOUTS) as { name: string; at: Record<string, number> }[]) {
      // The order that a LABEL names is made by its own command, and so is the TWAP order of a TWAP_OPENED.
      t.equal(at['sequence'] ?? at['orderSequence'] ?? at['createdSequence'], FILL.at.sequence, name)
    }
  })

  t.test('what is in the ring is found whole, what is not, not at all', async (t) => {
    t.comment(`SEED=${SEED} npm test -- test/unit/arrival_fills.test.ts`)
    const random = createPrng(SEED)
    for (const capacity of [64, 256, 1024]) {
      const writer = new Writer(createBroadcast(capacity))
      const fills = createArrivalFills(writer.ring)
      const commands: { sequence: number; trades: number; first: number }[] = []
      const wrong: string[] = []
      let there = 0
      for (let sequence = 1; commands.length < 600;) {
        commands.push({ sequence, ...writer.random(sequence, random) })
        // An accepted loss leaves numbers out.
        sequence += random.below(20) === 0 ? 1_000 : 1
        const oldest = writtenTo(writer.ring) - capacity
        for (const { sequence, trades, first } of commands.slice(-80)) {
          if (trades === 0) continue
          const found = readArrivalFills(fills, sequence, trades)
          const expected = first >= oldest ? fillsOf(sequence, trades) : null
          if (expected !== null) there++
          if (String(JSON.stringify(found, plain)) !== JSON.stringify(expected, plain)) wrong.push(`${sequence}: ${trades} fills`)
        }
      }
      t.same(wrong, [], `a ring of ${capacity}`)
      t.ok(there > 500, 'many were there')
      const newest = commands.at(-1)!
      t.equal(readArrivalFills(fills, newest.sequence + 1, 1), null, 'a command to come')
      t.equal(readArrivalFills(fills, 0, 1), null)
    }
  })

  t.test('never a part of them', async (t) => {
    const writer = new Writer(createBroadcast(64))
    const fills = createArrivalFills(writer.ring)
    t.equal(readArrivalFills(fills, 1, 1), null, 'an empty ring')
    writer.command(5, 3)
    t.same(readArrivalFills(fills, 5, 3), fillsOf(5, 3))
    t.equal(readArrivalFills(fills, 5, 4), null, 'one is missing')
    t.equal(readArrivalFills(fills, 4, 1), null)
    t.equal(readArrivalFills(fills, 6, 1), null)
    writer.command(6, 25)
    t.equal(readArrivalFills(fills, 6, 25)!.length, FILLS_MAX, 'the first of many')
    // The writer has claimed fill 0 of command 5, and not changed it yet.
    writer.ring.header[16] = 65n
    t.equal(readArrivalFills(fills, 5, 3), null, 'what may be changing does not count')
    t.same(readArrivalFills(fills, 6, 25), fillsOf(6, 25), 'what is behind it does')
  })

  t.test('a command that ends thousands of orders before it trades is not looked through', async (t) => {
    const ring = createBroadcast(8192)
    const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
    const say = (layout: Layout, values: Decoded): void => {
      encode(layout, record, 0, { sequence: 7, ...values })
      broadcast(ring, record.i32, 1)
    }
    for (let slot = 0; slot < 5000; slot++) say(ORDER_ENDED, { kind: EventType.ORDER_ENDED, slot })
    say(FILL, { kind: EventType.FILL })
    t.equal(readArrivalFills(createArrivalFills(ring), 7, 1), null)
  })

  t.test('the legs that were made with an order, and only when all that it told is there', async (t) => {
    const capacity = 64
    const ring = createBroadcast(capacity)
    const fills = createArrivalFills(ring)
    const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
    const say = (layout: Layout, values: Decoded): void => {
      encode(layout, record, 0, values)
      broadcast(ring, record.i32, 1)
    }
    const told = (sequence: number, type: ConditionType, reason: number = ConditionalReason.CREATED, createdSequence = sequence): void =>
      say(CONDITIONAL_ORDER, {
        kind: EventType.CONDITIONAL, sequence, createdSequence, what: type | (ConditionalState.ARMED << 8) | (reason << 16),
      })
    const ended = (sequence: number): void => say(RESULT, { kind: EventType.RESULT, sequence })
    const bits = (...types: ConditionType[]): number => types.reduce((all, type) => all | (1 << type), 0)
    const { TAKE_PROFIT, STOP_LOSS, TRAILING_STOP } = ConditionType

    t.equal(readMadeLegs(fills, 5), null, 'an empty ring')
    told(5, STOP_LOSS, ConditionalReason.ARMED, 3)
    told(5, TAKE_PROFIT)
    told(5, STOP_LOSS)
    told(5, STOP_LOSS, ConditionalReason.POSITION_CLOSED, 4)
    ended(5)
    t.equal(readMadeLegs(fills, 5), bits(TAKE_PROFIT, STOP_LOSS), 'what happened to others does not count')
    ended(6)
    told(9, TRAILING_STOP)
    told(9, TRAILING_STOP, ConditionalReason.ARMED)
    ended(9)
    t.same([5, 6, 7, 9, 10].map((sequence) => readMadeLegs(fills, sequence)), [
      bits(TAKE_PROFIT, STOP_LOSS), 0, null, bits(TRAILING_STOP), null,
    ], 'none were made, and no such command')
    for (let sequence = 10; writtenTo(ring) < capacity; sequence++) ended(sequence)
    t.equal(readMadeLegs(fills, 5), bits(TAKE_PROFIT, STOP_LOSS), 'the first records there ever were')
    ended(100)
    t.equal(readMadeLegs(fills, 5), null, 'the first of them is gone')
    t.equal(readMadeLegs(fills, 9), bits(TRAILING_STOP))
    for (let index = 0; index < capacity; index++) told(200, TAKE_PROFIT)
    t.equal(readMadeLegs(fills, 200), null, 'its beginning may be gone')
  })

  t.test('beside a writer that never waits', async (t) => {
    const capacity = 256
    const { buffer } = createBroadcast(capacity)
    const newest = new SharedArrayBuffer(8)
    const [shared, fills] = [new Float64Array(newest), createArrivalFills(attachBroadcast(buffer))]
    const worker = new Worker(new URL(import.meta.url), { workerData: { buffer, newest } })
    const random = createPrng(SEED)
    const wrong: string[] = []
    let [whole, gone] = [0, 0]
    const ended = once(worker, 'exit')
    let over = false
    void ended.then(() => (over = true))
    while (!over) {
      for (let look = 0; look < 1000; look++) {
        const sequence = Math.max(1, shared[0]! - random.below(12))
        const trades = 1 + sequence % 24
        const found = readArrivalFills(fills, sequence, trades)
        if (found === null) gone++
        else if (JSON.stringify(found, plain) === JSON.stringify(fillsOf(sequence, trades), plain)) whole++
        else wrong.push(`${sequence}: ${JSON.stringify(found, plain)}`)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.same(wrong.slice(0, 3), [])
    t.ok(whole > 0, `${whole} whole, ${gone} gone`)
  })
} else {
  const { buffer, newest } = workerData as { buffer: SharedArrayBuffer; newest: SharedArrayBuffer }
  const writer = new Writer(attachBroadcast(buffer))
  const shared = new Float64Array(newest)
  for (let sequence = 1; sequence <= 20_000; sequence++) {
    writer.command(sequence, 1 + sequence % 24)
    shared[0] = sequence
  }
}

/** BigInts as text. */
function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
