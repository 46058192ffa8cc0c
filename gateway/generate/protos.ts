/**
 * The .proto files, from the schemas of the operations and `proto/baseline.json`, the lock: what it says of numbers, types and labels
 * stands for good. What is new gets the next number; the number of what is gone is reserved. Comments are what fields were declared with.
 *
 * By hand stand only the messages of StreamOrders, which are no operation's (stream_orders.proto.part).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inputShape } from '../grpc/methods.ts'
import { bare, enumPrefix, enumSuffix, literalsOf, type Shape } from '../grpc/mapping.ts'
import { PACKAGE, PROTO_ROOT } from '../grpc/schema.ts'
import { OPERATIONS, type ServedOperation } from '../operations/index.ts'
import { SERVICES, type Service } from '../operations/row.ts'
import { formOf, type Annotated } from '../operations/schema.ts'

/** Numbers, types and labels of everything that was ever published, and the file of each message and enumeration. */
export interface Lock {
  readonly messages: Record<string, Record<string, string>>
  readonly enums: Record<string, Record<string, string>>
  readonly services: Record<string, Record<string, string>>
  readonly files: Record<string, string>
}
type Schema = Shape & Annotated
interface Field {
  readonly name: string
  readonly number: number
  readonly label: string
  readonly type: string
  readonly json: string
  readonly schema: Schema
}
interface Message {
  readonly about: string
  readonly fields: readonly Field[]
}

export const LOCK = join(PROTO_ROOT, 'baseline.json')
const STREAM = readFileSync(join(import.meta.dirname, 'stream_orders.proto.part'), 'utf8')
const STREAM_METHOD = `  // The fast way for market makers: many actions in flight on one stream, answered as they are done.
  rpc StreamOrders(stream StreamOrdersRequest) returns (stream StreamOrdersResponse);
`
/** Fields whose JSON name cannot be a name of protobuf. */
const RENAMED: Readonly<Record<string, string>> = { T: 'close_time' }
const TIMESTAMP = 'google.protobuf.Timestamp'
const COLUMNS = 120

const full = (name: string): string => `${PACKAGE}.${name}`
const snake = (text: string): string => RENAMED[text] ?? text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
export const serviceFile = (service: string): string => `svc/v1/${enumPrefix(service).slice(0, -1).toLowerCase()}.proto`

/** Reads the schemas of the operations; afterwards {@link texts} has the files and {@link lock} says everything they promise. */
export class Protos {
  readonly lock: Lock
  readonly #messages = new Map<string, Message>()
  readonly #enums = new Map<string, string>()
  readonly #operations: readonly ServedOperation[]

  constructor(lock: Lock, operations: readonly ServedOperation[] = OPERATIONS) {
    this.lock = structuredClone(lock)
    this.#operations = operations
    for (const { name, row, operation } of operations) {
      const file = serviceFile(row.service)
      this.#message(`${name}Request`, inputShape(operation) as Schema, file, `Asked of ${name}.`)
      this.#message(`${name}Response`, operation.output as Schema, file, operation.text.answer)
      const methods = (this.lock.services[full(row.service)] ??= {})
      methods[name] ??= `${name}Request -> ${name}Response`
    }
  }

  #message(name: string, schema: Schema, file: string, about: string): void {
    if (this.#messages.has(name)) return
    const locked = (this.lock.messages[full(name)] ??= {})
    this.lock.files[full(name)] ??= file
    const fields: Field[] = []
    this.#messages.set(name, { about, fields })
    for (const [json, given] of Object.entries(schema.properties ?? {}) as [string, Schema][]) {
      const part = formOf(given)
      const field = snake(json)
      const declared = typeOf(name, json, part, schema.required?.includes(json) ?? false)
      locked[field] ??= `${nextNumber(locked)}: ${declared}`
      const [, number, label = '', type] = /^(\d+): (?:(optional|repeated) )?(.+)$/.exec(locked[field])!
      if (kindOf(declared) !== kindOf(locked[field])) {
        throw new Error(`${name}.${field} is "${locked[field]}" for good, and declared as "${declared}"`)
      }
      fields.push({ name: field, number: Number(number), label, type: type!, json, schema: given })
      this.#referred(type!, itemOf(part), file)
    }
  }

  /** What a field refers to is described too. */
  #referred(type: string, schema: Schema, file: string): void {
    if (!type.startsWith(`${PACKAGE}.`)) return
    const name = type.slice(PACKAGE.length + 1)
    if (schema.properties !== undefined) return this.#message(name, schema, file, schema.record?.about ?? '')
    this.#enums.set(name, this.#enums.get(name) ?? schema.record?.about ?? '')
    this.lock.files[type] ??= file
    const values = (this.lock.enums[type] ??= { [`${enumPrefix(name)}UNSPECIFIED`]: '0' })
    for (const text of literalsOf(schema).map(enumSuffix)) values[`${enumPrefix(name)}${text}`] ??= String(nextNumber(values))
  }

  /** The files by path below the folder of the repository. */
  texts(): Map<string, string> {
    const files = [...new Set(Object.entries(this.lock.files).filter(([name]) => this.#isKnown(name)).map(([, file]) => file))].sort()
    return new Map(files.map((file) => [`proto/${file}`, this.#file(file)]))
  }

  #isKnown(name: string): boolean {
    const short = name.slice(PACKAGE.length + 1)
    return this.#messages.has(short) || this.#enums.has(short)
  }

  #file(file: string): string {
    const service = (Object.keys(SERVICES) as Service[]).find((each) => serviceFile(each) === file)
    const here = (name: string): boolean => this.lock.files[full(name)] === file
    const enums = [...this.#enums].filter(([name]) => here(name)).map(([name, about]) => this.#enumText(name, about))
    const messages = [...this.#messages].filter(([name]) => here(name)).map(([name, message]) => this.#messageText(name, message))
    const parts = [...(service === undefined ? [] : [serviceText(service, this.#operations)]), ...enums, ...messages]
    const streams = service === 'OrdersService' ? [STREAM] : []
    return `${['syntax = "proto3";', `package ${PACKAGE};`, this.#imports(file), ...parts].filter((part) => part !== '').join('\n\n')}\n${
      streams.map((part) => `\n${part}`).join('')}`
  }

  #imports(file: string): string {
    const used = new Set(file === serviceFile('OrdersService') ? ['google/rpc/status.proto'] : [])
    for (const [name, { fields }] of this.#messages) {
      if (this.lock.files[full(name)] !== file) continue
      for (const { type } of fields) {
        if (type === TIMESTAMP) used.add('google/protobuf/timestamp.proto')
        const other = this.lock.files[type]
        if (other !== undefined && other !== file) used.add(other)
      }
    }
    return [...used].sort().map((target) => `import "${target}";`).join('\n')
  }

  #messageText(name: string, { about, fields }: Message): string {
    const locked = this.lock.messages[full(name)]!
    const gone = Object.entries(locked).filter(([field]) => !fields.some((each) => each.name === field))
    const reserved = gone.flatMap(([field, text]) => [`  reserved ${parseInt(text, 10)};\n`, `  reserved "${field}";\n`])
    const lines = [...fields].sort((a, b) => a.number - b.number).map(fieldText)
    if (lines.length + reserved.length === 0) return `${comment(about, '')}message ${name} {}`
    return `${comment(about, '')}message ${name} {\n${reserved.join('')}${lines.join('')}}`
  }

  #enumText(name: string, about: string): string {
    const values = Object.entries(this.lock.enums[full(name)]!).map(([value, number]) => `  ${value} = ${number};\n`)
    return `${comment(about, '')}enum ${name} {\n${values.join('')}}`
  }
}

/** The number after the highest that was ever taken. */
const nextNumber = (taken: Readonly<Record<string, string>>): number =>
  Math.max(0, ...Object.values(taken).map((text) => parseInt(text, 10))) + 1

/** Label and type of a field that is new. */
function typeOf(message: string, json: string, schema: Schema, required: boolean): string {
  const known = bare(schema) as Schema
  const named = itemOf(schema).record?.name ?? `${message.replace(/(Request|Response)$/, '')}${pascal(json)}`
  const type = scalarOf(itemOf(schema)) ?? full(named)
  if (known.items !== undefined) return `repeated ${type}`
  const nullable = schema.anyOf?.some((each) => each.type === 'null') ?? false
  return required && !nullable ? type : `optional ${type}`
}

/** What may stand for each other in JSON: texts with enumerations and times, whole numbers of any width. */
function kindOf(text: string): string {
  const [, repeated = '', type] = /^(?:\d+: )?(?:optional |(repeated ))?(.+)$/.exec(text)!
  const kind = /^u?int(32|64)$/.test(type!) ? 'whole number' : type === 'bool' || type === 'double' ? type : 'other'
  return repeated + kind
}

/** A field's schema, of a list that of its elements; without null. */
function itemOf(schema: Schema): Schema {
  const known = bare(schema) as Schema
  return (known.items === undefined ? known : bare(known.items)) as Schema
}

/** The type of protobuf of what is no message and no enumeration. */
function scalarOf(schema: Schema): string | null {
  const options = (schema.anyOf?.filter((each) => each.type !== 'null') ?? []) as Schema[]
  if ([schema, ...options].some(({ record }) => record?.name === 'Timestamp')) return TIMESTAMP
  if (schema.properties !== undefined || literalsOf(schema).length > 0) return null
  const type = schema.type ?? options[0]?.type
  return type === 'integer' ? 'int64' : type === 'number' ? 'double' : type === 'boolean' ? 'bool' : 'string'
}

function fieldText({ name, number, label, type, json, schema }: Field): string {
  const options = [
    ...(schema.stricter?.['deprecated'] === true ? ['deprecated = true'] : []),
    ...(RENAMED[json] === undefined ? [] : [`json_name = "${json}"`]),
  ]
  const short = type.startsWith(`${PACKAGE}.`) ? type.slice(PACKAGE.length + 1) : type
  const given = options.length === 0 ? '' : ` [${options.join(', ')}]`
  return `${comment(schema.description ?? '', '  ')}  ${label === '' ? '' : `${label} `}${short} ${name} = ${number}${given};\n`
}

function serviceText(service: Service, operations: readonly ServedOperation[]): string {
  const methods = operations.filter(({ row }) => row.service === service).map(({ name, row, operation }) => {
    const blocked = row.maintenance === 'blocked' ? ' Blocked during maintenance.' : ''
    return `${comment(`${operation.text.summary}.${blocked}`, '  ')}  rpc ${name}(${name}Request) returns (${name}Response);\n`
  })
  return `${comment(SERVICES[service], '')}service ${service} {\n${methods.join('')}${service === 'OrdersService' ? STREAM_METHOD : ''}}`
}

/** Text as comment lines that fit. */
function comment(text: string, indent: string): string {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < COLUMNS - indent.length - 3) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => `${indent}// ${line}\n`).join('')
}

/** The files and the lock with what is new in it. */
export function protoTexts(): ReadonlyMap<string, string> {
  const protos = new Protos(JSON.parse(readFileSync(LOCK, 'utf8')) as Lock)
  return new Map([...protos.texts(), ['proto/baseline.json', `${JSON.stringify(protos.lock, null, 2)}\n`]])
}
