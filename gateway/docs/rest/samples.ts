/** How to call each operation, in the languages of the guide; the functions they use are defined there. */
import type { Row } from '../../operations/row.ts'
import type { JsonSchema } from './schemas.ts'

export const BASE = 'http://127.0.0.1:8080'

/** An example call: the target with path and query filled in, and the body, if there is one. */
export interface ExampleCall {
  readonly target: string
  readonly body: JsonSchema | undefined
}

/** Splits the flat input of an example into target and body. */
export function exampleCall(row: Row, input: JsonSchema, queryFields: readonly string[], hasBody: boolean): ExampleCall {
  const left = { ...input }
  const take = (field: string): unknown => {
    const value = left[field]
    delete left[field]
    return value
  }
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(take(name))))
  const query = new URLSearchParams()
  for (const field of queryFields) for (const value of [take(field)].flat()) if (value !== undefined) query.append(field, String(value))
  const target = query.size === 0 ? path : `${path}?${query.toString()}`
  return { target, body: hasBody ? left : undefined }
}

export function codeSamples(row: Row, { target, body }: ExampleCall): JsonSchema[] {
  return [
    { lang: 'Shell', label: 'curl', source: shell(row, target, body) },
    ...(row.access === 'server-key' ? forServers(target) : forSessions(row, target, body)),
  ]
}

const forSessions = (row: Row, target: string, body: JsonSchema | undefined): JsonSchema[] => [
  { lang: 'TypeScript', label: 'TypeScript', source: `const answer = await session.request(${args(row, target, body, typescript)})` },
  { lang: 'Python', label: 'Python', source: `answer = session.request(${args(row, target, body, python)})` },
]

/** Backends sign nothing: any HTTP client will do. */
const forServers = (target: string): JsonSchema[] => [
  {
    lang: 'TypeScript',
    label: 'TypeScript',
    source: `const answer = await (await fetch('${BASE}${target}', { headers: { 'x-server-key': serverKey } })).json()`,
  },
  {
    lang: 'Python',
    label: 'Python',
    source: `request = urllib.request.Request("${BASE}${target}", headers={"x-server-key": server_key})\n`
      + 'answer = json.load(urllib.request.urlopen(request))',
  },
]

const SIGNATURE = ['X-Svc-PublicKey: $KEY', 'X-Svc-Timestamp: $TIME', 'X-Svc-Signature: $SIGNATURE']

function shell(row: Row, target: string, body: JsonSchema | undefined): string {
  const lines = [`curl -s${row.method === 'GET' ? '' : ` -X ${row.method}`} '${BASE}${target}'`]
  if (row.access === 'session') lines.push(...SIGNATURE.map((header) => `-H "${header}"`))
  if (row.access === 'server-key') lines.push('-H "x-server-key: $SERVER_KEY"')
  if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`)
  return lines.join(' \\\n  ')
}

function args(row: Row, target: string, body: JsonSchema | undefined, literal: (value: unknown) => string): string {
  return [literal(row.method), literal(target), ...(body === undefined ? [] : [literal(body)])].join(', ')
}

function typescript(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(typescript).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${name}: ${typescript(field)}`)
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
  }
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value).map(([name, field]) => `"${name}": ${python(field)}`).join(', ')}}`
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}
