/** Declared routes as the server has them: each reads and checks its input, runs, and writes what it answers. */
import type { IncomingMessage } from 'node:http'
import type { TObject } from 'typebox'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { dropNulls, type JsonObject } from '../operations/body.ts'
import { Refused } from '../refused.ts'
import { json, readFields, refused, type Answer, type Handler } from './http.ts'
import type { NamedRoute, OperatorContext, OperatorRoute } from './route.ts'

/** A refusal as the port answers it. */
export const answerOf = ({ code, message, details }: Refused): Answer => refused({ ...REFUSALS[code], message }, details)

export const handlerOf = (route: OperatorRoute, context: OperatorContext): Handler => async (request) => {
  // What changes something takes JSON even when it takes no fields: a web page cannot send that unasked.
  const read = route.method === 'GET' ? { fields: queryOf(request, route.query) } : await readFields(request)
  if ('refusal' in read) return read.refusal
  const input: JsonObject = { ...read.fields }
  dropNulls(input)
  const wrong = route.check(input)
  if (wrong !== null) return answerOf(wrong)
  const answered = await route.run(context, input as never)
  if (answered instanceof Refused) return answerOf(answered)
  const { otherStatus: other } = route
  const status = other?.when(answered as never) === true ? other.status : 200
  return route.type === null ? json(status, answered) : { status, body: String(answered), type: route.type }
}

/** What serves a method of a path. */
export interface Served {
  readonly handle: Handler
  /** Whether the operator's token is needed. */
  readonly token: boolean
}
/** By method; HEAD is served by GET's. */
export type ServedPath = Partial<Record<OperatorRoute['method'], Served>>

/** These routes by path. */
export function servedBy(routes: readonly NamedRoute[], context: OperatorContext): ReadonlyMap<string, ServedPath> {
  const paths = new Map<string, ServedPath>()
  for (const { route } of routes) {
    paths.set(route.path, { ...paths.get(route.path), [route.method]: { handle: handlerOf(route, context), token: route.token } })
  }
  return paths
}

/** The fields of the query, once each; whole numbers where the schema has them. */
function queryOf(request: IncomingMessage, schema: TObject | null): JsonObject {
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, { readonly type?: string }>>
  const given = new URL(request.url!, 'http://localhost').searchParams
  return Object.fromEntries(Object.entries(properties).flatMap(([name, { type }]) => {
    const text = given.get(name)
    if (text === null) return []
    return [[name, type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text]]
  }))
}
