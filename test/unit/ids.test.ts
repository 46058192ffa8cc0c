/** Promise: an id names exactly one thing of one kind, for ever; an altered one names nothing. */
import t from 'tap'
import { formatId, IdKind, orderId, parseId, tradeId, userId } from '../../core/layout/ids.ts'
import { createPrng } from '../../core/lib/prng.ts'

const SEED = Number(process.env['SEED'] ?? 2)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/unit/ids.test.ts`)

const KINDS = Object.values(IdKind)
const MOST_SEQUENCE = 2 ** 48 - 1
const MOST_SLOT = 2 ** 30 - 1
const EDGES: [sequence: number, slot: number][] = [
  [0, 0], [1, 0], [0, 1], [MOST_SEQUENCE, 0], [0, MOST_SLOT], [MOST_SEQUENCE, MOST_SLOT], [0xffff, 0xffff], [0x10000, 0x10000],
  [2 ** 32 - 1, 1], [2 ** 32, 1], [2 ** 31, 2 ** 29],
]
/** Small and large numbers alike. */
const someSequence = (): number => Math.floor(random.unit() * 2 ** (1 + random.below(48)))
const someSlot = (): number => Math.floor(random.unit() * 2 ** (1 + random.below(30)))

const GOLDEN = [
  '00000000-0001-8001-8000-00001f6c06e8', '00000000-0002-8001-8000-000714458975', '00000001-e240-8002-8000-000342cf65e0',
  '00000000-002a-8003-8000-0001d551d5eb', 'ffffffff-ffff-8004-bfff-ffff27ecb60b',
]

t.test('known ids stay what they are', async (t) => {
  t.same([orderId(1, 0), orderId(2, 7), tradeId(123_456, 3), userId(42, 1), formatId(IdKind.SESSION, MOST_SEQUENCE, MOST_SLOT)], GOLDEN)
})

t.test('there and back', async (t) => {
  const wrong: string[] = []
  const check = (kind: number, sequence: number, slot: number): void => {
    const id = formatId(kind, sequence, slot)
    const parsed = parseId(kind, id)
    if (parsed === null || parsed.kind !== kind || parsed.sequence !== sequence || parsed.slot !== slot) wrong.push(id)
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) wrong.push(`${id} is no UUID of version 8`)
  }
  for (const kind of KINDS) for (const [sequence, slot] of EDGES) check(kind, sequence, slot)
  for (let index = 0; index < 20_000; index++) check(KINDS[random.below(KINDS.length)]!, someSequence(), someSlot())
  t.same(wrong, [])
})

t.test('any single character altered: unknown', async (t) => {
  const known: string[] = []
  const ids = [...EDGES, ...Array.from({ length: 40 }, (): [number, number] => [someSequence(), someSlot()])]
  for (const [sequence, slot] of ids) {
    const id = formatId(IdKind.ORDER, sequence, slot)
    for (let at = 0; at < id.length; at++) {
      for (const other of '0123456789abcdef-gG xX.+٣') {
        const altered = id.slice(0, at) + other + id.slice(at + 1)
        if (altered !== id && parseId(IdKind.ORDER, altered) !== null) known.push(altered)
      }
    }
  }
  t.same(known, [])
})

t.test('two characters exchanged, some missing, some more: unknown', async (t) => {
  const known: string[] = []
  for (let index = 0; index < 200; index++) {
    const id = orderId(someSequence(), someSlot())
    for (let at = 0; at + 1 < id.length; at++) {
      const exchanged = id.slice(0, at) + id[at + 1]! + id[at]! + id.slice(at + 2)
      if (exchanged !== id && parseId(IdKind.ORDER, exchanged) !== null) known.push(exchanged)
    }
    for (const text of [id.slice(1), id.slice(0, -1), `${id}0`, ` ${id}`, `{${id}}`, id.replaceAll('-', ''), `${id.slice(0, 35)}\n`]) {
      if (parseId(IdKind.ORDER, text) !== null) known.push(text)
    }
  }
  t.same(known, [])
})

t.test('ids made up by others are unknown', async (t) => {
  const made = [
    '', 'x', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-8001-8000-000000000000',
    '7a1c0000-0000-4000-8000-000000000001', 'c232ab00-9414-11ec-b3c8-9f6bdeced846', '0x000000-0000-8001-8000-000000000000', ' '.repeat(36),
  ]
  for (const text of made) for (const kind of KINDS) t.equal(parseId(kind, text), null, text)
  let guessed = 0
  const hex = (count: number): string => Array.from({ length: count }, () => random.below(16).toString(16)).join('')
  for (let index = 0; index < 50_000; index++) {
    if (parseId(IdKind.ORDER, `0000${hex(4)}-${hex(4)}-8001-8${hex(3)}-${hex(12)}`) !== null) guessed++
  }
  t.equal(guessed, 0, 'none of 50,000 well-formed guesses')
})

t.test('kinds do not mix', async (t) => {
  for (const [sequence, slot] of EDGES) {
    for (const kind of KINDS) {
      const id = formatId(kind, sequence, slot)
      for (const other of KINDS) t.equal(parseId(other, id) !== null, other === kind, `${id} as ${other}`)
    }
  }
  t.same([orderId(9, 1), tradeId(9, 1), userId(9, 1)].map((id) => new Set([id]).size), [1, 1, 1])
  t.equal(new Set([orderId(9, 1), tradeId(9, 1), userId(9, 1)]).size, 3)
})

t.test('upper case is the same id', async (t) => {
  for (const [sequence, slot] of EDGES) {
    const id = orderId(sequence, slot)
    t.same(parseId(IdKind.ORDER, id.toUpperCase()), parseId(IdKind.ORDER, id))
  }
})

t.test('neighbours have different ids', async (t) => {
  const ids = new Set<string>()
  for (let sequence = 0; sequence < 100; sequence++) for (let slot = 0; slot < 100; slot++) ids.add(orderId(sequence, slot))
  t.equal(ids.size, 10_000)
})
