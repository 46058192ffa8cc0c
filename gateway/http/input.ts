/** From the parts of a request to the flat input of an operation, checked; or the refusal that names the field at fault. */
import type { TObject } from 'typebox'
import type { Check, Operation } from '../operations/operation.ts'
import { parseBody, type JsonObject } from '../operations/body.ts'
import { Refused, refusedField } from '../refused.ts'
import type { RequestContext } from './server.ts'

type AnyOperation = Operation<never>

/** `params` are the path parameters by name. A path parameter wins over a body field of the same name. */
export function readInput(operation: AnyOperation, context: RequestContext, params: Record<string, string>): JsonObject | Refused {
  const body = parseBody(context.body, operation.bodyRule, operation.shape)
  if (body instanceof Refused) return body
  const query = operation.query === null ? null : parseQuery(operation.query.schema, context.query ?? '')
  if (query instanceof Refused) return query
  const refused = check(operation.params, params) ?? check(operation.query, query) ?? check(operation.body, body)
  if (refused !== null) return refused
  return operation.params === null && query === null ? body : { ...body, ...query, ...params }
}

const check = (schema: Check | null, value: unknown): Refused | null => (schema === null ? null : schema.check(value))

interface Property {
  readonly type?: string
}

/** The declared fields of a query string, as the types of the schema. Unknown keys are ignored; only arrays may repeat. */
function parseQuery(schema: TObject, text: string): JsonObject | Refused {
  const query: JsonObject = {}
  if (text === '') return query
  const given = new URLSearchParams(text)
  for (const [field, property] of Object.entries(schema.properties)) {
    const values = given.getAll(field)
    if (values.length === 0) continue
    const { type } = property as Property
    if (type === 'array') {
      query[field] = values
      continue
    }
    if (values.length > 1) return refusedField(field, `${field} is given more than once`)
    query[field] = convert(type, values[0]!)
  }
  return query
}

/** Text of another form than the type's stays text, and the schema refuses it. */
function convert(type: string | undefined, text: string): unknown {
  if (type === 'integer' && /^-?[0-9]{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
