/**
 * The schemas of the operations and channels as JSON Schema of an OpenAPI 3.1 document.
 *
 * Schemas with a name (operations/schema.ts) become components, and fields get the descriptions they were declared with. Choices of
 * constants become `enum`, nullable values type arrays. Where the rules behind a schema are stricter than the schema itself, the
 * declaration says so and the document shows the stricter form. Objects stay open on both sides: unknown input is ignored, and answers
 * may gain fields.
 */
import type { TSchema } from 'typebox'
import { formOf, namedSchemas, type RecordName } from '../../operations/schema.ts'

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
  readonly form?: TSchema
}

const NULL = 'null'

export const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Name of a schema that has one. */
export const sharedName = (schema: TSchema | Source): string | undefined => (schema as Source).record?.name

/** A part of a schema: a reference when it is shared, otherwise what {@link definitionOf} makes of it. */
export function schemaOf(schema: TSchema | Source): JsonSchema {
  const name = sharedName(schema)
  return name === undefined ? definitionOf(schema) : referenceTo(name)
}

/** The definitions of the named schemas that are reached from these, by name. */
export const sharedSchemas = (roots: readonly TSchema[]): Record<string, JsonSchema> =>
  Object.fromEntries([...namedSchemas(roots)].map(([name, schema]) =>
    [name, { ...definitionOf(schema), description: (schema as Source).record!.about }]))

/** The schema itself, without what it is called and means. */
export function definitionOf(schema: TSchema | Source): JsonSchema {
  const { description: _, record: name, stricter = {}, ...source } = schema as Source
  // What is stricter of a named schema stands in its definition, of a field beside it.
  const more = name === undefined ? {} : stricter
  if (source.anyOf !== undefined) return choice(source.anyOf)
  if (source.const !== undefined) return { type: typeof source.const, enum: [source.const] }
  if (source.enum !== undefined) return { type: 'string', ...source }
  if (source.items !== undefined) return { ...source, items: schemaOf(source.items) }
  if (source.properties === undefined) return { ...source, ...more }
  const properties = Object.fromEntries(
    Object.entries(source.properties).map(([field, property]) => [field, fieldSchema(property)]),
  )
  const required = (more['required'] as readonly string[] | undefined) ?? source.required ?? []
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
}

/** Constants as one enumeration, `null` as one more type, anything else as it is. */
function choice(options: readonly Source[]): JsonSchema {
  const values = options.map((option) => option.const).filter((value) => value !== undefined)
  if (values.length === options.length) return { type: 'string', enum: values }
  const other = options.filter((option) => option.type !== NULL)
  if (other.length === 1 && options.length === 2) return nullable(other[0]!)
  return { anyOf: options.map((option) => schemaOf(option)) }
}

function nullable(source: Source): JsonSchema {
  if (source.properties !== undefined) return { anyOf: [schemaOf(source), { type: NULL }] }
  const plain = definitionOf({ ...source, stricter: {} })
  const values = plain['enum'] as readonly string[] | undefined
  return { ...plain, type: [plain['type'], NULL], ...(values === undefined ? {} : { enum: [...values, null] }) }
}

/** What a field is, as its schema says, with what it means. */
export function fieldSchema(source: TSchema | Source): JsonSchema {
  const { stricter = {}, record: name } = source as Source
  return like(source, { ...schemaOf(formOf(source as Source)), ...(name === undefined ? stricter : {}) })
}

/** Another schema for a field, which means the same. */
export function like(source: TSchema | Source, schema: JsonSchema): JsonSchema {
  const { description } = source as Source
  return { ...schema, ...(description === undefined ? {} : { description }) }
}
