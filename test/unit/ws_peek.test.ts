/**
 * Promise: what is read of an order message before it is refused is its type and its id, as a parser would read them where each is there
 * once, or nothing: random messages, whole and damaged, each held against JSON.parse.
 */
import t from 'tap'
import { OrderPeek } from '../../gateway/ws/peek.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { seedOf } from '../suite/rounds.ts'

const SEED = seedOf()
const TYPES = ['order.create', 'order.cancel', 'x', 'a b']
const reader = new OrderPeek(TYPES)

/** The id as JSON; `null`: it has to be parsed. */
function peek(text: string): string | null {
  const bytes = Buffer.from(text)
  return reader.read(bytes) ? bytes.toString('latin1', reader.idFrom, reader.idTo) : null
}

t.test('messages as clients write them', async (t) => {
  t.equal(peek('{"type":"order.create","id":"a-1","body":"{}"}'), '"a-1"')
  t.equal(peek('{"id":17,"counter":3,"type":"order.cancel","body":{}}'), '17')
  t.equal(peek(' { "type" : "x" ,\n"id" : -5 }'), '-5')
})

t.test('only the types that are asked for', async (t) => {
  for (const type of ['order.creat', 'order.creates', 'Order.create', 'ping', '']) t.equal(peek(`{"type":"${type}","id":1}`), null, type)
})

t.test('what is not plainly an id is not read', async (t) => {
  const ids = [
    '1.5', '1e3', '-0', '00', '1234567890123456', '""', '"a\\u0041"', '"\\""', 'null', 'true', '{}', `"${'x'.repeat(65)}"`, '"ä"', '1 2',
  ]
  for (const id of ids) t.equal(peek(`{"type":"order.create","id":${id},"body":"{}"}`), null, id)
  const texts = ['', '{', '[]', '{"type":"x"', '{"type":7,"id":1}', '{"a":1,"b":2,"c":3,"d":4,"type":"x","id":1}', '{"type":"x","id":12']
  for (const text of texts) t.equal(peek(text), null, text)
})

t.test('random messages', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/ws_peek.test.ts`)
  const random = createPrng(SEED)
  const among = <T>(all: readonly T[]): T => all[random.below(all.length)]!
  const known = TYPES.map((type) => JSON.stringify(type))
  const values = [...known, '1', '-12', '0', '"id"', '""', '1.5', 'null', '{"id":2}', '[1]', '"\\n"', 'true']
  const value = (): string => among(values)
  const space = (): string => among(['', '', '', ' ', '\n\t'])
  let read = 0
  for (let round = 0; round < 20_000; round++) {
    const names = ['"type"', '"id"', '"body"', '"counter"', '"x"'].sort(() => random.below(3) - 1)
    const fields = names.slice(random.below(3)).map((name) => `${space()}${name}${space()}:${space()}${value()}${space()}`)
    let text = `${space()}{${fields.join(',')}}`
    const isDamaged = random.below(4) === 0
    if (isDamaged) text = text.slice(0, random.below(text.length)) + among(['', '"', ',', '}', '7']) + text.slice(random.below(text.length))
    const peeked = peek(text)
    if (peeked === null) continue
    let parsed: Record<string, unknown>
    try {
      parsed = JSON.parse(text) as Record<string, unknown>
    } catch {
      // What is behind the id is not looked at.
      if (!isDamaged) t.fail(`${text} is no JSON`)
      continue
    }
    read++
    const twice = isDamaged && (text.match(/"(type|id)"\s*:/g) ?? []).length > 2
    const same = TYPES.includes(parsed['type'] as string) && parsed['id'] === JSON.parse(peeked)
    if (!same && !twice) t.fail(`${text}: ${peeked}`)
  }
  t.ok(read > 500, `${read} were read`)
})
