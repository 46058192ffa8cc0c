/** A declared route as the server has it: reads and checks the input, runs the route, and writes what it answers. */
import type { IncomingMessage } from 'node:http'
import type { TObject } from 'typebox'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { dropNulls, type JsonObject } from '../operations/body.ts'
import { Refused } from '../refused.ts'
import { json, readFields, refused, type Answer, type Handler } from './http.ts'
import type { OperatorContext, OperatorRoute } from './route.ts'

/** A refusal as the port answers it. */
export const answerOf = ({ code, message, details }: Refused): Answer => refused({ ...REFUSALS[code], message }, details)

export const handlerOf = (route: OperatorRoute, context: OperatorContext): Handler => async (request) => {
  const read = route.body === null ? { fields: queryOf(request, route.query) } : await readFields(request)
  if ('refusal' in read) return read.refusal
  const input: JsonObject = { ...read.fields }
  dropNulls(input)
  const wrong = route.check(input)
  if (wrong !== null) return answerOf(wrong)
  const answered = await route.run(context, input as never)
  if (answered instanceof Refused) return answerOf(answered)
  const status = route.status(answered as never)
  return route.type === null ? json(status, answered) : { status, body: String(answered), type: route.type }
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
