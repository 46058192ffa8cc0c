/**
 * The OpenAPI 3.1 document of the operator's port, made of its declared routes. The port itself serves it (`GET
 * /openapi.json`), on the loopback only; it is no part of the public documents.
 */
import Type, { type TSchema } from 'typebox'
import { REFUSALS, type RefusalCode } from '../../core/layout/refusals.ts'
import { definitionOf, fieldSchema, schemaOf, sharedSchemas, type JsonSchema } from '../docs/rest/schemas.ts'
import { VERSION } from '../operations/health.ts'
import { field, record } from '../operations/schema.ts'
import { TOKEN_HEADER } from './access.ts'
import type { NamedRoute, OperatorRoute } from './route.ts'

const JSON_TYPE = 'application/json'
const TOKEN = 'OperatorToken'

const ErrorEnvelope = record('Error', 'Envelope of every error. Decide by code; message is for people.', Type.Object({
  error: field(Type.String(), 'Class of the error.'),
  message: field(Type.String(), 'What is wrong, in words; do not parse it.'),
  code: field(Type.String(), 'Stable code of the error.'),
  statusCode: field(Type.Integer(), 'The HTTP status again.'),
  details: Type.Optional(field(Type.Object({}), 'More for machines, where there is more.')),
}))

/** The codes a route can be refused with, by number. */
export function refusalsOf({ method, token, query, body, refusals }: OperatorRoute): readonly RefusalCode[] {
  const codes = new Set<RefusalCode>([...refusals, 'MALFORMED_REQUEST', 'INTERNAL'])
  if (token) codes.add('UNAUTHENTICATED')
  if (method === 'POST') codes.add('BODY_TOO_LARGE')
  if (Object.keys((query ?? body)?.properties ?? {}).length > 0) codes.add('VALIDATION_ERROR')
  return [...codes].sort((a, b) => REFUSALS[a].number - REFUSALS[b].number)
}

/** The whole document, as plain JSON values. */
export function createDocument(routes: readonly NamedRoute[]) {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const named of routes) (paths[named.route.path] ??= {})[named.route.method.toLowerCase()] = operationObject(named)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ringbook, the operator\'s port', version: VERSION,
      description: 'On the loopback of the machine only. `npm run operator -- --help` has the same on the command line.',
    },
    paths,
    components: {
      schemas: sharedSchemas([ErrorEnvelope, ...routes.flatMap(({ route }) => schemasOf(route))]),
      securitySchemes: {
        [TOKEN]: { type: 'apiKey', in: 'header', name: TOKEN_HEADER, description: 'The operator\'s token, of the data directory.' },
      },
    },
  }
}

const schemasOf = ({ query, body, output }: OperatorRoute): TSchema[] => [query, body, output].filter((schema) => schema !== null)

function operationObject({ name, route }: NamedRoute): JsonSchema {
  const { summary, description, token, output, type, example, body, otherStatus: other } = route
  const parameters = parametersOf(route)
  return {
    operationId: name,
    summary,
    description,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : {
      requestBody: { required: true, content: { [JSON_TYPE]: { schema: definitionOf(body), example: example.input } } },
    }),
    responses: {
      200: { description: 'The answer.', content: { [type ?? JSON_TYPE]: { schema: schemaOf(output), example: example.output } } },
      ...errorResponses(route),
      ...(other === null ? {} : { [other.status]: { description: other.means, content: { [JSON_TYPE]: { schema: schemaOf(output) } } } }),
    },
    security: token ? [{ [TOKEN]: [] }] : [],
  }
}

function parametersOf({ query, example }: OperatorRoute): JsonSchema[] {
  const { properties = {}, required = [] } = (query ?? {}) as { properties?: Record<string, TSchema>; required?: readonly string[] }
  return Object.entries(properties).map(([parameter, schema]) => {
    const { description, ...plain } = fieldSchema(schema)
    const given = (example.input as Readonly<Record<string, unknown>>)[parameter]
    return {
      name: parameter, in: 'query', required: required.includes(parameter), description, schema: plain,
      ...(given === undefined ? {} : { example: given }),
    }
  })
}

/** One answer per status, with the codes that it can carry. */
function errorResponses(route: OperatorRoute): Record<string, JsonSchema> {
  const byStatus = new Map<number, RefusalCode[]>()
  for (const code of refusalsOf(route)) byStatus.set(REFUSALS[code].http, [...(byStatus.get(REFUSALS[code].http) ?? []), code])
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, {
    description: codes.map((code) => `${code}: ${REFUSALS[code].message}`).join('; '),
    content: { [JSON_TYPE]: { schema: schemaOf(ErrorEnvelope) } },
  }]))
}
