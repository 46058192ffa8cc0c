/**
 * What schemas say to people beside what they check: every field what it means, with its unit, and records a name. OpenAPI components,
 * messages of gRPC and types of clients derive from it; the checks ignore it.
 */
import Type, { type Static, type TSchema } from 'typebox'

/** Name of a schema that stands by itself in documents, and one sentence about it. */
export interface RecordName {
  readonly name: string
  readonly about: string
}

/** What {@link field} and {@link record} leave in a schema. */
export interface Annotated {
  readonly description?: string
  readonly record?: RecordName
  /** Keywords of JSON Schema that narrow what the check lets pass where the operation refuses it; documents show them. */
  readonly stricter?: Readonly<Record<string, unknown>>
  /** What documents and messages show of a value that the operation refuses whole, so that its check lets anything pass. */
  readonly form?: TSchema
}

/** A copy of `schema` that says more; hidden properties of TypeBox are kept. */
function annotated<T extends TSchema>(schema: T, more: Annotated): T {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  return Object.assign(copy, more) as T
}

/** The schema of a field with what the field means. */
export const field = <T extends TSchema>(schema: T, description: string, stricter?: Annotated['stricter']): T =>
  annotated(schema, stricter === undefined ? { description } : { description, stricter })

/** A field of this form that is refused by its name, whatever stands in it: the check looks no deeper. */
export const refusedWhole = <T extends TSchema>(form: T, description: string) =>
  annotated(Type.Unsafe<Static<T>>({}), { description, form })

/** The form of a schema: what the value is, rather than what the check lets pass. */
export const formOf = <T extends Annotated>(schema: T): T => (schema.form as T | undefined) ?? schema

/** A schema with a name of its own: a record, an enumeration or a form of text. */
export const record = <T extends TSchema>(name: string, about: string, schema: T, stricter?: Annotated['stricter']): T =>
  annotated(schema, { record: { name, about }, ...(stricter === undefined ? {} : { stricter }) })

/** The parts of a schema that lead to others. */
interface Parts extends Annotated {
  readonly properties?: Readonly<Record<string, Parts>>
  readonly items?: Parts
  readonly anyOf?: readonly Parts[]
}

/** Every schema with a name that is reached from these, by name. */
export function namedSchemas(roots: readonly TSchema[]): ReadonlyMap<string, TSchema> {
  const found = new Map<string, TSchema>()
  const visit = (schema: Parts): void => {
    const { record: named, properties = {}, items, anyOf = [] } = formOf(schema)
    if (named !== undefined) {
      if (found.has(named.name)) return
      found.set(named.name, formOf(schema) as TSchema)
    }
    for (const part of [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])]) visit(part)
  }
  for (const root of roots) visit(root as Parts)
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
