/**
 * What the Python package knows of each operation, read off the OpenAPI document; and its methods, for callers that
 * wait and for those that do not.
 */
import { docstring, identifier, Types, type Schema, type Schemas } from './schema.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required?: boolean
  readonly schema: Schema
}
interface Media {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}
interface PathOperation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media & { readonly description: string }>>
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly 'x-repeat'?: Repeat
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly examples: Readonly<Record<string, { readonly 'x-retry'?: string; readonly 'x-ccxt'?: string }>>
  }
}

export type Access = 'public' | 'session' | 'server-key'
/**
 * Whether sending it twice is as good as once: always, unless an order is named by its client order id, with an
 * idempotency key, or never known.
 */
export type Repeat = 'always' | 'by-id' | 'with-key' | 'never'

interface Argument {
  readonly name: string
  readonly type: string
  readonly required: boolean
}
export interface Operation {
  readonly name: string
  /** Name of its method. */
  readonly method: string
  readonly http: string
  readonly path: string
  readonly access: Access
  readonly repeat: Repeat
  /** Whether fields go into the body, and not into the query. */
  readonly inBody: boolean
  /** How its rows go on: by a token, by the number of a page, or not at all. */
  readonly pages: 'token' | 'number' | 'none'
  readonly summary: string
  /** Codes it may be refused with. */
  readonly codes: readonly string[]
  readonly arguments: readonly Argument[]
  readonly answer: string
}

export const snake = (name: string): string => name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** All operations, in the order of the document, and the types they need in `types`. */
export function operationsOf(document: OpenApi, types: Types): Operation[] {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([http, operation]) => ({ path, http: http.toUpperCase(), operation, body: bodyOf(document, operation) })))
  for (const { operation, body } of found) {
    for (const { schema } of fieldsOf(operation)) types.announce(schema, true)
    types.announce(body, true)
    types.announce(answerOf(operation), false)
  }
  return found.map(({ path, http, operation, body }) => {
    const { operationId: name, summary, responses } = operation
    const argumentsOfPath = fieldsOf(operation).map(({ name: key, in: place, required = false, schema }) =>
      ({ name: identifier(key), type: types.typeOf(schema, `${name}${key}`, true), required: required || place === 'path' }))
    const argumentsOfBody = Object.entries(body.properties ?? {}).map(([key, schema]) => ({
      name: identifier(key), type: types.typeOf(schema, name + key[0]!.toUpperCase() + key.slice(1), true),
      required: body.required?.includes(key) ?? false,
    }))
    const all = [...argumentsOfPath, ...argumentsOfBody]
    return {
      name, method: snake(name), http, path, access: accessOf(operation), repeat: repeatOf(operation), summary,
      inBody: http !== 'GET' && (http !== 'DELETE' || operation.requestBody !== undefined),
      pages: pagesOf(argumentsOfPath.map(({ name: key }) => key)),
      codes: Object.entries(responses).filter(([status]) => status !== '200').flatMap(([, { description }]) => description.split(', ')),
      arguments: [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)],
      answer: types.typeOf(answerOf(operation), `${name}Response`, false),
    }
  })
}

/** Parameters that are fields of the input: those of the path and the query. Headers are the client's own business. */
const fieldsOf = ({ parameters = [] }: PathOperation): Parameter[] =>
  parameters.filter(({ in: place }) => place === 'path' || place === 'query')

const pagesOf = (names: readonly string[]): 'token' | 'number' | 'none' =>
  names.includes('pageToken') ? 'token' : names.includes('page') ? 'number' : 'none'

const answerOf = ({ responses }: PathOperation): Schema => responses['200']!.content['application/json'].schema

function resolve({ components }: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : components.schemas[name]!
}

const bodyOf = (document: OpenApi, { requestBody }: PathOperation): Schema =>
  requestBody === undefined ? {} : resolve(document, requestBody.content['application/json'].schema)

function accessOf({ security = [] }: PathOperation): Access {
  const headers = security.flatMap((each) => Object.keys(each))
  if (headers.length === 0) return 'public'
  return headers.includes('ServerKey') ? 'server-key' : 'session'
}

function repeatOf({ operationId, 'x-repeat': repeat }: PathOperation): Repeat {
  if (repeat === undefined) throw new Error(`the document does not say whether ${operationId} may be repeated`)
  return repeat
}

/** Retry class of every code, and the class of ccxt, as the document has them. */
export function classesOf({ components }: OpenApi): [code: string, retry: string, ccxt: string][] {
  return Object.entries(components.examples).map(([code, { 'x-retry': retry, 'x-ccxt': ccxt }]) => {
    if (retry === undefined || ccxt === undefined) throw new Error(`the document does not say whether ${code} may be repeated`)
    return [code, retry, ccxt]
  })
}

const NEEDS: Readonly<Record<Access, string>> = {
  public: 'Needs no session.', session: 'Signed by the session.', 'server-key': 'For backends, with their server key.',
}
const REPEATS: Readonly<Record<Repeat, string>> = {
  always: 'May be repeated.',
  'by-id': 'May be repeated, unless `client:` names an order: by then it may be another one.',
  'with-key': 'May be repeated with the same idempotency key only.',
  never: 'Without an answer it may have happened: look before it is repeated.',
}

/** One method of a class that has `_call`. */
export function methodOf(operation: Operation, isAsync: boolean): string[] {
  const { name, method, http, path, arguments: given, answer, access, repeat, codes, summary } = operation
  const head = `    ${isAsync ? 'async ' : ''}def ${method}(`
  const parameters = given.map(({ name: key, type, required }) => `        ${key}: ${type}${required ? '' : ' | None = None'},`)
  const call = `        return cast("${answer}", ${isAsync ? 'await ' : ''}self._call("${name}", {`
  const values = given.map(({ name: key }) => `            "${key}": ${key},`)
  return [
    ...(given.length === 0 ? [`${head}self) -> ${answer}:`] : [head, '        self,', '        *,', ...parameters, `    ) -> ${answer}:`]),
    ...docstring(
      '        ', `${summary}. ${http} ${path}`, `${NEEDS[access]} ${REPEATS[repeat]}`, `Refused with ${codes.join(', ')}.`,
    ),
    ...(given.length === 0 ? [`${call}}))`] : [call, ...values, '        }))']),
    '',
  ]
}
