/** Values that a JSON Schema does not allow, derived from what it says; each is checked against the schema before it is used. */
import type { Checker } from './openapi_check.ts'

type Schema = Readonly<Record<string, unknown>>

/** A list of texts; a full one of objects would be refused as too complex before it is looked at. */
const ofTexts = (schema: Schema): boolean => (schema['items'] as Schema | undefined)?.['type'] === 'string'

/** Wrong values as JSON, for fields of a body. `null` is never wrong: it means absent. */
export function wrongBodies(checker: Checker, schema: Schema): unknown[] {
  const { maxLength, maximum, minimum, maxItems } = schema as Record<string, number | undefined>
  const candidates = [
    {}, [], 17.5, true, 'no such value', '',
    ...(maxLength === undefined || maxLength > 1_000_000 ? [] : ['x'.repeat(maxLength + 1)]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => (ofTexts(schema) ? 'x' : {}))]),
  ]
  return candidates.filter((value) => checker.schema(schema, value, false).length > 0)
}

/** Wrong values as text, for path and query. An empty path segment is another path, so '' is not among them. */
export function wrongValues(checker: Checker, schema: Schema): string[] {
  const { maximum, minimum, maxLength } = schema as Record<string, number | undefined>
  const candidates = [
    'no-such-value', '1.5',
    ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
  ]
  return candidates.filter((text) => checker.schema(schema, asItWouldBeRead(schema, text), false).length > 0)
}

function asItWouldBeRead(schema: Schema, text: string): unknown {
  if (schema['type'] === 'array') return [text]
  return schema['type'] === 'integer' && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
