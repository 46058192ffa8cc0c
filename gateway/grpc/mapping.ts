/**
 * Between protobuf messages and the JSON forms that operations take and give.
 *
 * The converters derive from the message's fields and, for the letter case of enumerations and for lists that must not be absent, from the
 * operation's schema. Nothing is written per operation. A message is only decoded into JSON here; whether it is acceptable is said by the
 * schemas, the same as for HTTP, so a value without a JSON form (an unknown enumeration value, a time out of range) becomes text that
 * they refuse.
 *
 *   string, bool, double     as they are
 *   int32, uint32, int64     number; text beyond 2^53
 *   enum                     its value without the prefix; UNSPECIFIED is absent
 *   Timestamp                RFC 3339 text in UTC
 *   message, repeated        object, array
 *   absent, null             no field
 *
 * Fields without presence (not `optional`) that hold their default are absent on input, so that the refusal names what is missing;
 * lists the schema requires are empty instead.
 */
import protobuf from 'protobufjs'
import type { TSchema } from 'typebox'
import type { JsonObject } from '../operations/body.ts'

/** A decoded message, and what is encoded: fields by JSON name. */
export type Message = Record<string, unknown>
type Convert = (value: unknown) => unknown
/** The parts of a JSON schema that matter here. */
export interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly const?: unknown
  readonly type?: string
}

const TIMESTAMP = '.google.protobuf.Timestamp'
/** Seconds of the years 0001 to 9999. */
const SECONDS_MIN = -62_135_596_800
const SECONDS_MAX = 253_402_300_799
const NANOS = 1_000_000_000
const NANOS_PER_MS = 1_000_000
const OUT_OF_RANGE = 'a time out of range'

export const shapeOf = (schema: TSchema): Shape => schema as unknown as Shape

/** The object or array in a schema that may also be null. */
export const bare = (shape: Shape | undefined): Shape | undefined =>
  shape?.anyOf?.find((each) => each.properties !== undefined || each.items !== undefined) ?? shape

/** The texts a schema lists, if it lists any. */
export function literalsOf(shape: Shape | undefined): string[] {
  if (shape === undefined) return []
  if (typeof shape.const === 'string') return [shape.const]
  return (shape.anyOf ?? []).flatMap(literalsOf)
}

/** Name of an enumeration's value without the prefix: ORDER_TYPE_LIMIT of OrderType is LIMIT. */
export const enumPrefix = (name: string): string => `${name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()}_`
/** How a literal of a schema is spelled in an enumeration. */
export const enumSuffix = (literal: string): string => literal.toUpperCase().replace(/[^A-Z0-9]/g, '_')

/** JSON text by value, UNSPECIFIED left out. */
function enumTexts(type: protobuf.Enum, shape: Shape | undefined): Map<number, string> {
  const prefix = enumPrefix(type.name)
  const spelled = new Map(literalsOf(shape).map((literal) => [enumSuffix(literal), literal]))
  return new Map(
    Object.entries(type.values).filter(([, value]) => value !== 0).map(([name, value]) => {
      const suffix = name.slice(prefix.length)
      return [value, spelled.get(suffix) ?? suffix]
    }),
  )
}

/** The field has presence: absent and default are told apart. */
const hasPresence = (field: protobuf.Field): boolean => field.partOf !== null || field.resolvedType instanceof protobuf.Type

// From messages to JSON.

/** Reads decoded messages of `type` as the JSON form `shape` describes. */
export function compileReader(type: protobuf.Type, shape?: Shape): (message: Message) => JsonObject {
  const fields = new Map(type.fieldsArray.map((field) => [field.name, readerOf(field, shape?.properties?.[field.name])]))
  const emptyLists = type.fieldsArray.filter((field) => field.repeated && shape?.required?.includes(field.name)).map(({ name }) => name)
  return (message) => {
    const json: JsonObject = {}
    // A decoded message has own properties for what came over the wire only.
    for (const name of Object.keys(message)) {
      const value = fields.get(name)?.(message[name])
      if (value !== undefined) json[name] = value
    }
    for (const name of emptyLists) json[name] ??= []
    return json
  }
}

function readerOf(field: protobuf.Field, shape: Shape | undefined): Convert {
  const known = bare(shape)
  if (!field.repeated) return scalarReader(field, known)
  const convert = scalarReader(field, bare(known?.items))
  return (value) => {
    const list = value as unknown[]
    return list.length === 0 ? undefined : list.map(convert)
  }
}

function scalarReader(field: protobuf.Field, shape: Shape | undefined): Convert {
  const { resolvedType } = field
  if (resolvedType instanceof protobuf.Enum) {
    const texts = enumTexts(resolvedType, shape)
    return (value) => (value === 0 ? undefined : (texts.get(value as number) ?? String(value)))
  }
  if (resolvedType !== null) return resolvedType.fullName === TIMESTAMP ? readTimestamp : (compileReader(resolvedType, shape) as Convert)
  if (field.long) return readLong
  if (field.type === 'string' && !hasPresence(field) && !field.repeated) return (value) => (value === '' ? undefined : value)
  return (value) => value
}

/** A whole number, as text when a double cannot hold it. */
export function readLong(value: unknown): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function readTimestamp(value: unknown): string {
  const { seconds = 0, nanos = 0 } = value as { seconds?: unknown; nanos?: number }
  const whole = Number(seconds)
  if (!(whole >= SECONDS_MIN && whole <= SECONDS_MAX && nanos >= 0 && nanos < NANOS)) return OUT_OF_RANGE
  if (nanos % NANOS_PER_MS === 0) return new Date(whole * 1000 + nanos / NANOS_PER_MS).toISOString()
  return `${new Date(whole * 1000).toISOString().slice(0, -5)}.${String(nanos).padStart(9, '0')}Z`
}

// From JSON to messages.

/** Turns the JSON form into what `type.encode` takes. Throws when the JSON holds an enumeration text that `type` does not know. */
export function compileWriter(type: protobuf.Type, shape?: Shape): (json: object) => Message {
  const fields = type.fieldsArray.map((field) => [field.name, writerOf(field, bare(shape?.properties?.[field.name]))] as const)
  return (json) => {
    const message: Message = {}
    for (const [name, convert] of fields) {
      const value = (json as JsonObject)[name]
      if (value !== undefined && value !== null) message[name] = convert === null ? value : convert(value)
    }
    return message
  }
}

/** `null`: as it is. */
function writerOf(field: protobuf.Field, shape: Shape | undefined): Convert | null {
  const convert = scalarWriter(field, field.repeated ? bare(shape?.items) : shape)
  return field.repeated && convert !== null ? (value) => (value as unknown[]).map(convert) : convert
}

function scalarWriter(field: protobuf.Field, shape: Shape | undefined): Convert | null {
  const { resolvedType } = field
  if (resolvedType instanceof protobuf.Enum) {
    const values = new Map([...enumTexts(resolvedType, shape)].map(([value, text]) => [text, value]))
    return (text) => {
      const value = values.get(text as string)
      if (value === undefined) throw new Error(`${field.fullName}: no value for ${String(text)}`)
      return value
    }
  }
  if (resolvedType === null) return null
  return resolvedType.fullName === TIMESTAMP ? writeTimestamp : (compileWriter(resolvedType, shape) as Convert)
}

function writeTimestamp(value: unknown): Message {
  const unixMs = Date.parse(value as string)
  const seconds = Math.floor(unixMs / 1000)
  return { seconds, nanos: (unixMs - seconds * 1000) * NANOS_PER_MS }
}
