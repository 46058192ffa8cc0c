/**
 * Request bodies: JSON objects, nothing else.
 *
 * The server bounds the size and json_shape.ts what it is built of, before it is parsed; nothing walks a parsed value deeper than its
 * schema does. `JSON.parse` makes `__proto__` an ordinary own property; inputs are combined by spreading, which keeps it one.
 */
import { isUtf8 } from 'node:buffer'
import { Refused, refusedField } from '../refused.ts'
import { fitsShape, type Shape } from './json_shape.ts'

export type JsonObject = Record<string, unknown>

/** What an operation wants: a JSON object; an object or nothing; nothing at all; whatever is sent is ignored. */
export type BodyRule = 'required' | 'optional' | 'empty' | 'ignored'

export function parseBody(body: Uint8Array, rule: BodyRule, shape: Shape): JsonObject | Refused {
  if (rule === 'ignored') return {}
  if (body.length === 0) return noBody(rule)
  if (rule === 'empty') return new Refused('VALIDATION_ERROR', 'This operation takes no body', { field: 'body' })
  if (!fitsShape(body, shape)) return tooComplex(shape)
  if (!isUtf8(body)) return new Refused('MALFORMED_REQUEST', 'The body is not valid UTF-8')
  return parseText(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'))
}

const tooComplex = ({ depth, values }: Shape): Refused => new Refused(
  'BODY_TOO_COMPLEX', `The body has more than ${values} values, or more than ${depth} inside one another`, { maxValues: values, depth },
)

/** What a body of nothing is. */
export const noBody = (rule: BodyRule): JsonObject | Refused =>
  rule === 'required' ? new Refused('MALFORMED_REQUEST', 'A JSON object is expected as the body') : {}

/** Bytes of a text in the scratch at most: a text of this length is of a message, which is bounded. */
const TEXT_MAX = 128 * 1024
/** Longest a character gets in UTF-8. */
const scratch = Buffer.alloc(3 * TEXT_MAX)

/** The JSON object of a text of {@link TEXT_MAX} characters at most. */
export function parseBoundedText(text: string, shape: Shape): JsonObject | Refused {
  if (text.length > TEXT_MAX || !fitsShape(scratch.subarray(0, scratch.write(text, 'utf8')), shape)) return tooComplex(shape)
  return parseText(text)
}

/** The JSON object of a text. */
function parseText(text: string): JsonObject | Refused {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new Refused('MALFORMED_REQUEST', 'The body is not valid JSON')
  }
  return objectOf(value)
}

/** A parsed value as the body it has to be. */
export function objectOf(value: unknown): JsonObject | Refused {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refusedField('body', 'The body must be a JSON object')
  dropNulls(value as JsonObject)
  return value as JsonObject
}

/** On input `null` and absent are the same, in an object and in those that are its fields. */
export function dropNulls(object: JsonObject): void {
  for (const key in object) {
    const value = object[key]
    if (value === null) delete object[key]
    else if (typeof value === 'object' && !Array.isArray(value)) dropOwnNulls(value as JsonObject)
  }
}

function dropOwnNulls(object: JsonObject): void {
  for (const key in object) if (object[key] === null) delete object[key]
}
