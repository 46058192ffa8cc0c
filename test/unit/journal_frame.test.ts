/** Promise: a sealed batch is read back exactly or not at all; keys sort as the sequences they stand for. */
import t from 'tap'
import { HEADER_BYTES, keyOf, MAGIC, open, seal, sequenceOf, type Batch, type BatchHeader } from '../../core/journal/frame.ts'
import { genesisSlots, GENESIS_MAX_BYTES, readGenesis } from '../../core/journal/genesis_batch.ts'
import { LAYOUT } from '../../core/layout/command.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'

const SEED = Number(process.env['SEED'] ?? 6)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/journal_frame.test.ts`)

interface Sealed {
  value: Buffer
  header: BatchHeader
  checksum: number
  records: Buffer
}

/** A sealed value with random records. */
function sealed(slots: number, header: Partial<BatchHeader> = {}): Sealed {
  const records = Buffer.from(Array.from({ length: slots * RECORD_BYTES }, () => random.below(256)))
  const value = Buffer.concat([Buffer.alloc(HEADER_BYTES, 0xff), records])
  const whole = { sequence: 17, time: 1_700_000_000_123, commands: slots, slots, previous: random.u32(), events: random.u32(), ...header }
  return { value, header: whole, checksum: seal(value, whole), records }
}

t.test('what is sealed opens', async (t) => {
  const headers: Partial<BatchHeader>[] = [
    {}, { sequence: 1 }, { sequence: Number.MAX_SAFE_INTEGER }, { time: 0 }, { previous: 0, events: 0 },
    { previous: 0xffffffff, events: 0xffffffff },
  ]
  for (const slots of [0, 1, 3, 64]) {
    for (const over of headers) {
      const { value, header, checksum, records } = sealed(slots, over)
      const batch = open(value)
      t.match(batch, { ...header, checksum, layout: LAYOUT })
      t.ok((batch as Batch).records.equals(records), 'records')
    }
  }
})

t.test('the bytes are those of the format', async (t) => {
  const value = Buffer.alloc(HEADER_BYTES + RECORD_BYTES)
  value.fill(0x11, HEADER_BYTES)
  seal(value, { sequence: 5, time: 1_700_000_000_000, commands: 1, slots: 1, previous: 0x01020304, events: 0x0a0b0c0d })
  t.equal(value.toString('latin1', 0, 4), 'RBJ1')
  t.equal(value.readUInt32LE(0), MAGIC)
  t.same([value.readUInt32LE(4), value.readUInt32LE(8), value.readUInt32LE(12)], [LAYOUT, 192, 1])
  t.same([value.readDoubleLE(16), value.readDoubleLE(24)], [5, 1_700_000_000_000])
  t.same([value.readUInt32LE(32), value.readUInt32LE(36), value.readUInt32LE(40)], [1, 0x01020304, 0x0a0b0c0d])
  t.ok(value.subarray(44, 60).every((byte) => byte === 0))
  t.equal(value.readUInt32LE(60), 0x77610216, 'CRC-32 of everything but itself, as another language computes it')
})

t.test('the checksum depends on every field', async (t) => {
  const { value, header, checksum } = sealed(1)
  const [previous, events] = [(header.previous ^ 1) >>> 0, (header.events ^ 1) >>> 0]
  for (const change of [{ sequence: 18 }, { time: 1 }, { commands: 2 }, { slots: 2 }, { previous }, { events }]) {
    t.not(seal(Buffer.from(value), { ...header, ...change }), checksum, JSON.stringify(change))
  }
  t.equal(seal(Buffer.from(value), header), checksum, 'and on nothing else')
})

t.test('every flipped bit is refused', async (t) => {
  for (const slots of [0, 1, 5]) {
    const { value } = sealed(slots)
    const accepted: string[] = []
    for (let at = 0; at < value.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        value[at]! ^= 1 << bit
        if (typeof open(value) !== 'string') accepted.push(`byte ${at}, bit ${bit}`)
        value[at]! ^= 1 << bit
      }
    }
    t.same(accepted, [], `${slots} slots`)
    t.not(typeof open(value), 'string', 'and whole again')
  }
})

t.test('every byte replaced by anything else is refused', async (t) => {
  const { value } = sealed(2)
  const accepted: number[] = []
  for (let at = 0; at < value.length; at++) {
    const original = value[at]!
    for (const other of [0, 0xff, original ^ 0xff, (original + 1) & 0xff, random.below(256)]) {
      value[at] = other
      if (other !== original && typeof open(value) !== 'string') accepted.push(at)
    }
    value[at] = original
  }
  t.same(accepted, [])
})

t.test('every truncation and every longer value is refused', async (t) => {
  const { value } = sealed(3)
  const shorter = Array.from(value, (_, length) => value.subarray(0, length))
  const longer = [1, 64, RECORD_BYTES].map((more) => Buffer.concat([value, Buffer.alloc(more)]))
  const accepted = [...shorter, ...longer].filter((each) => typeof open(each) !== 'string')
  t.same(accepted.map(({ length }) => length), [])
})

t.test('exchanged records are refused', async (t) => {
  const { value, records } = sealed(4)
  records.copy(value, HEADER_BYTES, RECORD_BYTES, 2 * RECORD_BYTES)
  records.copy(value, HEADER_BYTES + RECORD_BYTES, 0, RECORD_BYTES)
  t.equal(open(value), 'checksum mismatch')
})

t.test('the reason says what is wrong', async (t) => {
  const { value } = sealed(1)
  const changed = (at: number, number: number): Buffer => {
    const copy = Buffer.from(value)
    copy.writeUInt32LE(number, at)
    return copy
  }
  t.equal(open(Buffer.alloc(0)), 'only 0 bytes')
  t.equal(open(changed(0, 1)), 'not a journal batch')
  t.equal(open(changed(4, LAYOUT + 1)), `format ${LAYOUT + 1}, this version reads 1 to ${LAYOUT}`)
  t.equal(open(changed(4, 0)), `format 0, this version reads 1 to ${LAYOUT}`)
  t.equal(open(changed(8, 5)), `${value.length} bytes, header says 5`)
  t.equal(open(changed(60, 5)), 'checksum mismatch')
  const short = sealed(2, { slots: 1 })
  t.equal(open(short.value), 'slots and length disagree')
})

t.test('keys sort as sequences and lead back to them', async (t) => {
  const edges = [0, 1, 255, 256, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER]
  const sequences = [...edges, ...Array.from({ length: 2000 }, () => Math.floor(random.unit() * 2 ** (1 + random.below(53))))]
  for (const sequence of edges) {
    t.equal(keyOf(sequence).length, 8)
    t.equal(sequenceOf(keyOf(sequence)), sequence)
    t.equal(sequenceOf(Buffer.concat([Buffer.alloc(3), keyOf(sequence)]).subarray(3)), sequence, 'wherever the key lies')
  }
  const byKey = sequences.map(keyOf).sort(Buffer.compare).map(sequenceOf)
  t.same(byKey, sequences.sort((a, b) => a - b))
})

t.test('a first batch that is no genesis is refused', async (t) => {
  t.same([genesisSlots(0), genesisSlots(1), genesisSlots(128), genesisSlots(129), genesisSlots(GENESIS_MAX_BYTES)], [1, 2, 2, 3, 1025])
  const batch = (over: Partial<BatchHeader>, type: number, length: number): Batch => {
    const records = Buffer.alloc(2 * RECORD_BYTES)
    records.writeUInt32LE(type, 0)
    records.writeInt32LE(length, 16)
    records.write('{"a":1}', RECORD_BYTES)
    return { layout: LAYOUT, sequence: 1, time: 0, commands: 1, slots: 2, previous: 0, events: 0, checksum: 0, next: 2, records, ...over }
  }
  t.equal(readGenesis(batch({}, 1, 7)), '{"a":1}')
  const wrong = [batch({ sequence: 2 }, 1, 7), batch({ commands: 2 }, 1, 7), batch({}, 2, 7)]
  for (const length of [0, 129, -5]) wrong.push(batch({}, 1, length))
  for (const each of wrong) t.throws(() => readGenesis(each), /does not begin with a genesis/)
})
