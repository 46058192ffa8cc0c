/**
 * What the .proto files promise to clients, as plain data: names, numbers, types and labels of everything. The accepted promise is
 * `proto/baseline.json`; {@link breaking} says what a newer one takes back.
 */
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'
import { LOCK, type Lock } from '../../gateway/generate/protos.ts'
import { loadSchema } from '../../gateway/grpc/schema.ts'

export interface Promise {
  /** By full name, then by name of the field: number, label, type, oneof. */
  readonly messages: Record<string, Record<string, string>>
  /** By full name, then number by value. */
  readonly enums: Record<string, Record<string, string>>
  /** By full name, then by method. */
  readonly services: Record<string, Record<string, string>>
}

/** Without the files that declare them, which only the generator needs. */
export function readBaseline(): Promise {
  const { messages, enums, services } = JSON.parse(readFileSync(LOCK, 'utf8')) as Lock
  return { messages, enums, services }
}

const PACKAGES = ['svc.v1', 'google.rpc']

function labelOf(field: protobuf.Field): string {
  if (field.repeated) return 'repeated '
  if (field instanceof protobuf.MapField) return 'map '
  return field.options?.['proto3_optional'] === true ? 'optional ' : ''
}

/** `3: optional string`, and the oneof a field belongs to. */
function fieldText(field: protobuf.Field): string {
  const type = field.resolvedType?.fullName.slice(1) ?? field.type
  const key = field instanceof protobuf.MapField ? `${field.keyType}, ` : ''
  const optional = field.options?.['proto3_optional'] === true
  const oneof = field.partOf === null || optional ? '' : ` in ${field.partOf.name}`
  return `${field.id}: ${labelOf(field)}${key}${type}${oneof}`
}

const methodText = ({ requestStream, requestType, responseStream, responseType }: protobuf.Method): string =>
  `${requestStream === true ? 'stream ' : ''}${requestType} -> ${responseStream === true ? 'stream ' : ''}${responseType}`

/** The promise of a schema whose fields have the names of the files. */
export function promiseOf(root: protobuf.Root = loadSchema(true)): Promise {
  const promise: Promise = { messages: {}, enums: {}, services: {} }
  for (const name of PACKAGES) visit(root.lookup(name) as protobuf.Namespace, promise)
  return promise
}

function visit(namespace: protobuf.Namespace, promise: Promise): void {
  for (const entry of namespace.nestedArray) {
    const name = entry.fullName.slice(1)
    if (entry instanceof protobuf.Type) {
      promise.messages[name] = Object.fromEntries(entry.fieldsArray.map((field) => [field.name, fieldText(field)]))
      visit(entry, promise)
    } else if (entry instanceof protobuf.Enum) {
      promise.enums[name] = Object.fromEntries(Object.entries(entry.values).map(([value, number]) => [value, String(number)]))
    } else if (entry instanceof protobuf.Service) {
      promise.services[name] = Object.fromEntries(entry.methodsArray.map((method) => [method.name, methodText(method)]))
    }
  }
}

/** Everything `after` takes back of `before`; additions are none. */
export function breaking(before: Promise, after: Promise): string[] {
  const kinds = ['messages', 'enums', 'services'] as const
  return kinds.flatMap((kind) =>
    Object.entries(before[kind]).flatMap(([name, members]) => {
      const now = after[kind][name]
      if (now === undefined) return [`${name} is gone`]
      return Object.entries(members).flatMap(([member, text]) => {
        if (now[member] === text) return []
        return [now[member] === undefined ? `${name}.${member} is gone` : `${name}.${member} was "${text}" and is "${now[member]}"`]
      })
    }),
  )
}
