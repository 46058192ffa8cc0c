/**
 * The schemas of the operations as JSON Schema of an OpenAPI 3.1 document.
 *
 * What several operations share becomes a component. TypeBox copies a schema when it makes it optional, so parts are recognised by
 * their text, not by identity. Choices of constants become `enum`, nullable values type arrays, and fields get their descriptions
 * from fields.ts. Where the rules behind a schema are stricter than the schema itself, fields.ts says so and the document
 * shows the stricter form. Objects stay open on both sides: unknown input is ignored, and answers may gain fields.
 */
import type { TSchema } from 'typebox'
import { fieldOf } from './fields.ts'
import { RECORDS, RECORD_TEXTS } from './records.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** The shape of the TypeBox schemas that occur; everything else about them is copied as it is. */
interface Source {
  readonly type?: string
  readonly anyOf?: readonly Source[]
  readonly const?: string | boolean | number
  readonly enum?: readonly string[]
  readonly items?: Source
  readonly properties?: Readonly<Record<string, Source>>
  readonly required?: readonly string[]
}

const NULL = 'null'
const textOf = (schema: Source): string => JSON.stringify(schema)

/** Names of the shared schemas by their text. */
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(RECORDS).map(([name, schema]) => [textOf(schema as Source), name]))

export const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Name of a shared schema. */
export const sharedName = (schema: TSchema | Source): string | undefined => NAMES.get(textOf(schema as Source))

/** A part of a schema: a reference when it is shared, otherwise what {@link definitionOf} makes of it. */
export function schemaOf(schema: TSchema | Source, record: string): JsonSchema {
  const name = sharedName(schema)
  return name === undefined ? definitionOf(schema, record) : referenceTo(name)
}

/** Every shared schema, by name. */
export function sharedSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(RECORDS).map(([name, schema]) => [
      name, { ...definitionOf(schema, name), ...RECORD_TEXTS[name as keyof typeof RECORD_TEXTS] },
    ]),
  )
}

/** The schema itself. `record` is the name its fields are described under. */
export function definitionOf(schema: TSchema | Source, record: string): JsonSchema {
  const source = schema as Source
  if (source.anyOf !== undefined) return choice(source.anyOf, record)
  if (source.const !== undefined) return { type: typeof source.const, enum: [source.const] }
  if (source.enum !== undefined) return { type: 'string', ...source }
  if (source.items !== undefined) return { ...source, items: schemaOf(source.items, record) }
  if (source.properties === undefined) return { ...source }
  const properties = Object.fromEntries(
    Object.entries(source.properties).map(([field, property]) => [field, described(record, field, schemaOf(property, record))]),
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
  const plain = definitionOf(source, record)
  const values = plain['enum'] as readonly string[] | undefined
  return { ...plain, type: [plain['type'], NULL], ...(values === undefined ? {} : { enum: [...values, null] }) }
}

/** A field's schema with its description, and with the stricter form where there is one. */
export function described(record: string, field: string, schema: JsonSchema): JsonSchema {
  const { text, stricter } = fieldOf(record, field)
  return { ...schema, ...stricter, ...(text === undefined ? {} : { description: text }) }
}
