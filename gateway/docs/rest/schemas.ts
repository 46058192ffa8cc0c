/**
 * The schemas of the operations and channels as JSON Schema of an OpenAPI 3.1 document.
 *
 * Schemas with a name (operations/schema.ts) become components, and fields get the descriptions they were declared with. Choices of
 * constants become `enum`, nullable values type arrays. Where the rules behind a schema are stricter than the schema itself, the
 * declaration says so and the document shows the stricter form. Objects stay open on both sides: unknown input is ignored, and answers
 * may gain fields.
 */
import type { TSchema } from 'typebox'
import { namedSchemas, type RecordName } from '../../operations/schema.ts'
import { STREAM_FIELDS } from '../streams/fields.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** The shape of the TypeBox schemas that occur; everything else about them is copied as it is. */
export interface Source {
  readonly type?: string
  readonly anyOf?: readonly Source[]
  readonly const?: string | boolean | number
  readonly enum?: readonly string[]
  readonly items?: Source
  readonly properties?: Readonly<Record<string, Source>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly record?: RecordName
  readonly stricter?: JsonSchema
}

const NULL = 'null'

export const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Name of a schema that has one. */
export const sharedName = (schema: TSchema | Source): string | undefined => (schema as Source).record?.name

/** A part of a schema: a reference when it is shared, otherwise what {@link definitionOf} makes of it. */
export function schemaOf(schema: TSchema | Source, record: string): JsonSchema {
  const name = sharedName(schema)
  return name === undefined ? definitionOf(schema, record) : referenceTo(name)
}

/** The definitions of the named schemas that are reached from these, by name. */
export const sharedSchemas = (roots: readonly TSchema[]): Record<string, JsonSchema> =>
  Object.fromEntries([...namedSchemas(roots)].map(([name, schema]) =>
    [name, { ...definitionOf(schema, name), description: (schema as Source).record!.about }]))

/** The schema itself, without what it is called and means. `record` is the name its fields are described under (streams/fields.ts). */
export function definitionOf(schema: TSchema | Source, record: string): JsonSchema {
  const { description: _, record: name, stricter = {}, ...source } = schema as Source
  // What is stricter of a named schema stands in its definition, of a field beside it.
  const more = name === undefined ? {} : stricter
  if (source.anyOf !== undefined) return choice(source.anyOf, record)
  if (source.const !== undefined) return { type: typeof source.const, enum: [source.const] }
  if (source.enum !== undefined) return { type: 'string', ...source }
  if (source.items !== undefined) return { ...source, items: schemaOf(source.items, record) }
  if (source.properties === undefined) return { ...source, ...more }
  const properties = Object.fromEntries(
    Object.entries(source.properties).map(([field, property]) => [field, fieldSchema(record, field, property)]),
  )
  const { required = [] } = source
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
}

/** Constants as one enumeration, `null` as one more type, anything else as it is. */
function choice(options: readonly Source[], record: string): JsonSchema {
  const values = options.map((option) => option.const).filter((value) => value !== undefined)
  if (values.length === options.length) return { type: 'string', enum: values }
  const other = options.filter((option) => option.type !== NULL)
  if (other.length === 1 && options.length === 2) return nullable(other[0]!, record)
  return { anyOf: options.map((option) => schemaOf(option, record)) }
}

function nullable(source: Source, record: string): JsonSchema {
  if (source.properties !== undefined) return { anyOf: [schemaOf(source, record), { type: NULL }] }
  const plain = definitionOf({ ...source, stricter: {} }, record)
  const values = plain['enum'] as readonly string[] | undefined
  return { ...plain, type: [plain['type'], NULL], ...(values === undefined ? {} : { enum: [...values, null] }) }
}

/** What `field` of the record `record` is, as its schema says, with what it means. */
export function fieldSchema(record: string, field: string, source: TSchema | Source): JsonSchema {
  const { description, stricter = {}, record: name } = source as Source
  const schema = { ...schemaOf(source, record), ...(name === undefined ? stricter : {}) }
  return described(record, field, schema, description)
}

/** A field's schema with its description: what the stream says of it (streams/fields.ts), or what it was declared with. */
export function described(record: string, field: string, schema: JsonSchema, declared?: string): JsonSchema {
  const text = STREAM_FIELDS[`${record}.${field}`] ?? declared ?? STREAM_FIELDS[field]
  return { ...schema, ...(text === undefined ? {} : { description: text }) }
}
