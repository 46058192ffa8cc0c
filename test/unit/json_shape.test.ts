/**
 * Promise: a text is found within a shape exactly when it has at most that many values and that many objects and lists inside one another,
 * whatever its strings hold; the largest valid body of every operation is within its own.
 */
import t from 'tap'
import { fitsShape } from '../../gateway/operations/json_shape.ts'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { ACTIONS, ORDER_MESSAGE_SHAPE } from '../../gateway/ws/order_messages.ts'
import { createPrng } from '../../core/lib/prng.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`SEED=${seed} npm test -- test/unit/json_shape.test.ts`)
const prng = createPrng(seed)
const below = (n: number): number => prng.below(n)

/** A random value with its own count of depth and values. */
function random(depth: number): { value: unknown; depth: number; values: number } {
  const kind = depth === 0 ? 0 : below(4)
  if (kind < 2) return { value: [1, 'a"b,[{\\', '\\', '\\"', '{}', 'é,', null, true, '][', '\\\\"'][below(10)], depth: 0, values: 0 }
  const parts = Array.from({ length: below(5) }, () => random(depth - 1))
  const value = kind === 2 ? parts.map((part) => part.value)
    : Object.fromEntries(parts.map((part, i) => [`${['k', '"', '\\', ',', '{'][below(5)]}${i}`, part.value]))
  // An empty one counts like one with a value in it.
  const values = Math.max(1, parts.length) + parts.reduce((sum, part) => sum + part.values, 0)
  return { value, depth: 1 + Math.max(0, ...parts.map((part) => part.depth)), values }
}

const bytesOf = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

t.test('random texts', async (t) => {
  let wrong = 0
  for (let i = 0; i < 3_000; i++) {
    const { value, depth, values } = random(6)
    const bytes = Buffer.from(JSON.stringify(value, null, below(3)))
    if (!fitsShape(bytes, { depth, values })) wrong++
    if (depth > 0 && (fitsShape(bytes, { depth: depth - 1, values }) || fitsShape(bytes, { depth, values: values - 1 }))) wrong++
  }
  t.equal(wrong, 0)
})

t.test('texts that are no JSON end', async (t) => {
  const texts = ['"', '"\\', '{"a', ']'.repeat(1000), '\\"', '']
  for (const text of texts) t.ok(fitsShape(bytesOf(text), { depth: 1, values: 9 }), text.slice(0, 9))
  t.notOk(fitsShape(bytesOf('['.repeat(2_000_000)), { depth: 16, values: 4_000_000 }))
})

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly maxItems?: number
  readonly anyOf?: readonly Node[]
}

/** A value with every field and as many elements as there may be. */
function largest({ properties, items, maxItems, anyOf }: Node, elements: Readonly<Record<string, unknown>>): unknown {
  if (anyOf !== undefined) return largest(anyOf.find((each) => each.properties !== undefined || each.items !== undefined) ?? {}, {})
  if (items !== undefined) return Array.from({ length: maxItems! }, () => largest(items, {}))
  if (properties === undefined) return 'x'
  return Object.fromEntries(Object.entries(properties).map(([field, property]) => {
    const element = elements[field] as Node | undefined
    return [field, largest(element === undefined ? property : { items: element, maxItems: property.maxItems! }, {})]
  }))
}

t.test('the largest valid body of every operation', async (t) => {
  for (const { name, operation } of OPERATIONS) {
    if (operation.body === null) continue
    const body = largest(operation.body.schema as unknown as Node, operation.items) as Record<string, unknown>
    t.ok(fitsShape(bytesOf({ ...body, unknown: { of: ['a', 'later', 'version'] } }), operation.shape), name)
    t.ok(operation.shape.values < 20_000, `${name}: ${operation.shape.values} values`)
    const keys = Object.fromEntries(Array.from({ length: operation.shape.values + 1 }, (_, i) => [`k${i}`, 0]))
    t.notOk(fitsShape(bytesOf(keys), operation.shape), `${name}: too many fields`)
  }
})

t.test('the largest message of an open session', async (t) => {
  for (const [type, { operation }] of ACTIONS) {
    const body = largest((operation.body ?? operation.params)!.schema as unknown as Node, operation.items)
    t.ok(fitsShape(bytesOf({ type, id: 'x', counter: 1, body }), ORDER_MESSAGE_SHAPE), type)
  }
})
