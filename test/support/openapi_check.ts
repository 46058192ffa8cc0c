/**
 * Holds requests and answers against the OpenAPI document, stricter than the document itself: an answer with a field the document does
 * not name is wrong too.
 *
 * `checkingFetch` goes where a client takes a fetch, so that any end-to-end test can be watched.
 */
import { Compile } from 'typebox/schema'

interface Json {
  readonly [keyword: string]: unknown
}
export interface DocumentOperation {
  readonly operationId: string
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Json; description?: string; example?: unknown }[]
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Json; example?: unknown }> }
  readonly responses: Readonly<Record<string, DocumentResponse>>
  readonly security: readonly Json[]
}
interface DocumentResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, Json>>
  readonly content: Record<string, { schema: Json; example?: unknown; examples?: Readonly<Record<string, Json>> }>
}
export interface ApiDocument {
  readonly openapi: string
  readonly info: { readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly examples: Readonly<Record<string, Json>> }
}

export interface Checker {
  /** What is wrong with `value` as this schema, in words. `closed`: fields the schema does not name are wrong. */
  schema(schema: Json, value: unknown, closed: boolean): string[]
  /** What is wrong with an answer to `method` and `target`. */
  answer(method: string, target: string, status: number, headers: Headers, text: string): string[]
  /** `operationId status` or `operationId CODE` of every answer so far. */
  readonly seen: ReadonlySet<string>
}

const JSON_TYPE = 'application/json'

/** The same schema with every object closed that names its fields and says nothing about others. */
export function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const closed = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, close(value)]))
  return schemaOfFields(schema as Json) ? { ...closed, additionalProperties: false } : closed
}
const schemaOfFields = (schema: Json): boolean =>
  schema['type'] === 'object' && typeof schema['properties'] === 'object' && schema['additionalProperties'] === undefined

export function createChecker(document: ApiDocument): Checker {
  const { components } = document
  const roots = { open: { components }, closed: { components: close(components) } }
  const compiled = new Map<string, ReturnType<typeof Compile>>()
  const seen = new Set<string>()
  const schema = (part: Json, value: unknown, closed: boolean): string[] => {
    const key = `${closed} ${JSON.stringify(part)}`
    const root = closed ? roots.closed : roots.open
    const validator = compiled.get(key) ?? Compile({ ...(closed ? (close(part) as Json) : part), ...root })
    compiled.set(key, validator)
    const [good, errors] = validator.Errors(value)
    if (good) return []
    return errors.length === 0 ? ['it does not match its schema'] : errors.map((each) => `${each.instancePath}: ${each.message}`)
  }
  const answer = (method: string, target: string, status: number, headers: Headers, text: string): string[] => {
    const operation = findOperation(document, method, target)
    if (operation === null) return [`${method} ${target} is not in the document`]
    const response = operation.responses[String(status)]
    if (response === undefined) return [`${operation.operationId} does not announce ${status}: ${text}`]
    if (headers.get('content-type') !== JSON_TYPE) return [`Content-Type is ${headers.get('content-type')}`]
    const body = JSON.parse(text) as Json
    const content = response.content[JSON_TYPE]!
    const problems = schema(content.schema, body, true)
    const codes = content.examples
    if (codes !== undefined && !Object.hasOwn(codes, String(body['code']))) problems.push(`${body['code']} is not announced`)
    if (status !== 200 && body['statusCode'] !== status) problems.push(`statusCode is ${body['statusCode']}`)
    problems.push(...headerProblems(response, status, headers))
    seen.add(`${operation.operationId} ${status === 200 ? 200 : String(body['code'])}`)
    return problems.map((problem) => `${operation.operationId} ${status}: ${problem} in ${text}`)
  }
  return { schema, answer, seen }
}

const LIMITED = /^(x-ratelimit-.*|retry-after)$/i

/** Budget headers are numbers and come only where they are announced; a 429 says how long to wait. */
function headerProblems(response: DocumentResponse, status: number, headers: Headers): string[] {
  const announced = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase())
  const sent: [string, string][] = []
  headers.forEach((value, name) => {
    if (LIMITED.test(name)) sent.push([name, value])
  })
  const problems = sent.flatMap(([name, value]) => [
    ...(announced.includes(name) ? [] : [`the header ${name} is not announced`]),
    ...(/^\d+$/.test(value) ? [] : [`the header ${name} is ${value}`]),
  ])
  for (const name of announced) {
    if (!LIMITED.test(name) && !headers.has(name)) problems.push(`the header ${name} is announced and did not come`)
  }
  if (!announced.includes('x-request-id')) problems.push('X-Request-Id is not announced')
  return status === 429 && !headers.has('retry-after') ? [...problems, 'a 429 without Retry-After'] : problems
}

/** Parameters that are fields of the input: those of the path and the query. */
export const fieldsOf = ({ parameters = [] }: DocumentOperation): NonNullable<DocumentOperation['parameters']> =>
  parameters.filter(({ in: place }) => place === 'path' || place === 'query')

/** The operation of a request; literal segments win over parameters. */
export function findOperation(document: ApiDocument, method: string, target: string): DocumentOperation | null {
  const segments = target.split('?')[0]!.split('/')
  const fits = Object.keys(document.paths).filter((path) => {
    const parts = path.split('/')
    return parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i])
  })
  const found = fits.sort((a, b) => a.split('{').length - b.split('{').length).map((path) => document.paths[path]![method.toLowerCase()])
  return found.find((operation) => operation !== undefined) ?? null
}

/** A fetch that holds every answer against the document; `report` gets what is wrong with it. */
export function checkingFetch(checker: Checker, report: (problem: string) => void): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    const text = await answer.clone().text()
    const { pathname, search } = new URL(String(input))
    checker.answer(init?.method ?? 'GET', pathname + search, answer.status, answer.headers, text).forEach(report)
    return answer
  }
}
