/**
 * How a JSON text is built, looked at before it is parsed: parsing makes an object of every brace and a name of every key, so that 190,000
 * unknown fields in 2 MiB take a second. This walks over the bytes once and counts.
 *
 * Only what a parser would read counts: behind the first error there may be anything, and the parser stops there.
 */
import type { TSchema } from 'typebox'

/** How a text may be built. */
export interface Shape {
  /** Objects and lists inside one another. */
  readonly depth: number
  /** Values: fields of objects and elements of lists. */
  readonly values: number
}

/** Objects and lists inside one another: a batch has three, unknown fields may have more. */
export const DEPTH_MAX = 16
/** Unknown fields that a body and an element of a list may have beside their own, and an object that is a field. */
const UNKNOWN_MAX = 128
const UNKNOWN_INSIDE_MAX = 4

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LIST = 0x5b
const LIST_END = 0x5d
const OBJECT = 0x7b
const OBJECT_END = 0x7d

/** Whether a text, in UTF-8, is built within `shape`. Linear, and without anything being made. */
export function fitsShape(bytes: Uint8Array, { depth, values }: Shape): boolean {
  let open = 0
  let count = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (byte === COMMA) {
      if (++count > values) return false
    } else if (byte === OBJECT || byte === LIST) {
      if (++open > depth || ++count > values) return false
    } else if (byte === OBJECT_END || byte === LIST_END) open--
  }
  return true
}

/** What a body of this schema may be built of. `items`: the elements of its lists, where the schema leaves them open. */
export const shapeOf = (schema: TSchema | undefined, items: Readonly<Record<string, TSchema>>): Shape =>
  ({ depth: DEPTH_MAX, values: schema === undefined ? UNKNOWN_MAX : valuesOf(schema, items) })

interface Node {
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly maxItems?: number
  readonly anyOf?: readonly TSchema[]
}

/** Values that a schema has at most, `unknown` fields of an object included. */
function valuesOf(schema: TSchema, elements: Readonly<Record<string, TSchema>>, unknown = UNKNOWN_MAX): number {
  const { type, properties, items, maxItems, anyOf } = schema as Node
  if (anyOf !== undefined) return Math.max(...anyOf.map((each) => valuesOf(each, elements, unknown)))
  if (type === 'array') {
    if (maxItems === undefined) throw new Error('a list without a bound')
    return 1 + maxItems * valuesOf(items!, elements)
  }
  if (properties === undefined) return 1
  const own = Object.entries(properties).map(([field, property]) => {
    const element = elements[field]
    return element === undefined ? valuesOf(property, {}, UNKNOWN_INSIDE_MAX) : 1 + (property as Node).maxItems! * valuesOf(element, {})
  })
  return own.reduce((sum, count) => sum + count, unknown)
}
