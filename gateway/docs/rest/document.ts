/**
 * The OpenAPI 3.1 description of the REST interface, built from the operation table, the schemas of the operations and the register
 * of refusals; people's words are in the declarations of the operations and in guide/.
 *
 * The version is that of the interface, not of this software (specification, Versioning).
 */
import type { TSchema } from 'typebox'
import { BUDGET_FIELDS, BUDGET_HEADERS, BUDGET_TEXTS } from '../../limits/budget.ts'
import { VERSION } from '../../operations/health.ts'
import { OPERATIONS, schemasOf, type ServedOperation } from '../../operations/index.ts'
import type { Check } from '../../operations/operation.ts'
import { repeatOf } from '../../operations/repeat.ts'
import { SERVICES, type Access, type AgentRule, type Row } from '../../operations/row.ts'
import { ERROR_SCHEMA, errorExamples, errorResponses } from './errors.ts'
import { guideText } from '../guide.ts'
import { codeSamples, exampleCall } from './samples.ts'
import { REQUEST_ID_HEADER, REQUEST_ID_PARAMETER, requestIdParts } from './request_id.ts'
import { definitionOf, fieldSchema, referenceTo, schemaOf, sharedName, sharedSchemas, type JsonSchema } from './schemas.ts'

export const DOCUMENT_PATH = '/api/v1/openapi.json'
const JSON_TYPE = 'application/json'

const REQUIREMENTS: Readonly<Record<Access, readonly JsonSchema[]>> = {
  public: [],
  session: [
    { SessionPublicKey: [], SessionTimestamp: [], SessionSignature: [] },
    { MessageSignatureInput: [], MessageSignature: [], ContentDigest: [] },
  ],
  'server-key': [{ ServerKey: [] }],
}
const header = (name: string, description: string): JsonSchema => ({ type: 'apiKey', in: 'header', name, description })
const SCHEMES: Readonly<Record<string, JsonSchema>> = {
  SessionPublicKey: header('X-Svc-PublicKey', 'Session public key: 64 lowercase hex digits.'),
  SessionTimestamp: header('X-Svc-Timestamp', 'Unix milliseconds, within 30 seconds of the clock of the service.'),
  SessionSignature: header('X-Svc-Signature', 'Signature of the request by the session key: 128 lowercase hex digits. See Sign a request.'),
  MessageSignatureInput: header('Signature-Input', 'RFC 9421: what the label svc signs, when, and the session public key. See RFC 9421.'),
  MessageSignature: header('Signature', 'RFC 9421: signature of the request by the session key, base64 under the label svc.'),
  ContentDigest: header('Content-Digest', 'RFC 9530: SHA-256 of the bytes of the body, of no bytes without one.'),
  ServerKey: header('x-server-key', 'Secret key of an application backend; it begins with sk_.'),
}

/** The whole document, as plain JSON values. */
export function createDocument(): JsonSchema {
  const rows = OPERATIONS.map((served) => served.row)
  const tags = [...new Set(rows.map((row) => row.service))]
  const schemes = new Set(rows.flatMap((row) => REQUIREMENTS[row.access].flatMap((requirement) => Object.keys(requirement))))
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const served of OPERATIONS) (paths[served.row.path] ??= {})[served.row.method.toLowerCase()] = operationObject(served)
  return {
    openapi: '3.1.0',
    info: { title: 'Ringbook', version: VERSION, summary: 'An exchange in one box', description: guideText('guide.md') },
    servers: [{ url: '/', description: 'The exchange that serves this document' }],
    tags: tags.map((name) => ({ name, description: SERVICES[name] })),
    paths,
    components: {
      schemas: {
        Error: ERROR_SCHEMA, ...sharedSchemas(OPERATIONS.flatMap(schemasOf)),
        ...Object.assign({}, ...OPERATIONS.map(ownSchemas)),
      },
      headers: { ...headerObjects(), ...requestIdParts().headers },
      parameters: requestIdParts().parameters,
      examples: errorExamples(OPERATIONS),
      securitySchemes: Object.fromEntries([...schemes].map((name) => [name, SCHEMES[name]])),
    },
  }
}

function headerObjects(): Record<string, JsonSchema> {
  const integer = (description: string): JsonSchema => ({ description, schema: { type: 'integer', minimum: 0 } })
  const budgets = BUDGET_FIELDS.map((field) => [BUDGET_HEADERS[field], integer(BUDGET_TEXTS[field])])
  return { ...Object.fromEntries(budgets), 'Retry-After': integer('Seconds to wait before the next attempt.') }
}

/** Names of the schemas only one operation has. */
const requestName = (name: string): string => `${name}Request`
const responseName = (name: string): string => `${name}Response`

/** The body as its operation reads it: with the elements of lists as they should be. */
function bodySchema({ operation }: ServedOperation, body: Check): JsonSchema {
  const schema = definitionOf(body.schema)
  const properties = { ...(schema['properties'] as Record<string, JsonSchema>) }
  for (const [field, item] of Object.entries(operation.items)) {
    properties[field] = { ...properties[field], items: schemaOf(item) }
  }
  return { ...schema, properties }
}

function ownSchemas(served: ServedOperation): Record<string, JsonSchema> {
  const { name, operation } = served
  const own: Record<string, JsonSchema> = {}
  if (operation.body !== null && sharedName(operation.body.schema) === undefined) {
    own[requestName(name)] = { ...bodySchema(served, operation.body), description: `Body of ${name}.` }
  }
  if (sharedName(operation.output) === undefined) {
    own[responseName(name)] = { ...definitionOf(operation.output), description: `Answer of ${name}.` }
  }
  return own
}

const ACCESS: Readonly<Record<Access, string>> = {
  public: 'Public.', session: 'Signed by a session.', 'server-key': 'For application backends.',
}
const AGENTS: Readonly<Record<AgentRule, string>> = {
  '-': '', yes: ' Delegated agents may call it.', no: ' Not for delegated agents.', grant: ' Delegated agents need a grant.',
}

/** What the row says, in words. */
function rules({ access, agent, maintenance, rate }: Row): string {
  const budget = rate === 'none' ? '' : ` Budget: ${rate}.`
  return `*${ACCESS[access]}${AGENTS[agent]}${maintenance === 'blocked' ? ' Refused in maintenance.' : ''}${budget}*`
}

function operationObject(served: ServedOperation): JsonSchema {
  const { name, row, operation } = served
  const { summary, description, answer, deprecated = false } = operation.text
  const { input, output } = operation.example as { input: JsonSchema; output: unknown }
  const body = operation.body
  const call = exampleCall(row, input, Object.keys(operation.query?.schema.properties ?? {}), body !== null)
  return {
    operationId: name,
    tags: [row.service],
    summary,
    ...(deprecated ? { deprecated } : {}),
    description: `${description}\n\n${rules(row)}`,
    parameters: [...parametersOf(served, input), REQUEST_ID_PARAMETER],
    ...(body === null ? {} : { requestBody: requestBody(served, body, call.body) }),
    responses: {
      200: {
        description: answer,
        headers: { ...REQUEST_ID_HEADER, ...(row.rate === 'none' ? {} : budgetHeaderReferences()) },
        content: { [JSON_TYPE]: { schema: schemaOrName(operation.output, responseName(name)), example: output } },
      },
      ...errorResponses(served),
    },
    security: REQUIREMENTS[row.access],
    'x-repeat': repeatOf(served),
    'x-codeSamples': codeSamples(row, call),
  }
}

const budgetHeaderReferences = (): JsonSchema =>
  Object.fromEntries(BUDGET_FIELDS.map((field) => [BUDGET_HEADERS[field], { $ref: `#/components/headers/${BUDGET_HEADERS[field]}` }]))

/** A reference to a schema that stands in the components under its shared name, or under `name`. */
const schemaOrName = (schema: TSchema, name: string): JsonSchema => referenceTo(sharedName(schema) ?? name)

function requestBody({ name, operation }: ServedOperation, body: Check, example: unknown): JsonSchema {
  return {
    required: operation.bodyRule === 'required',
    content: { [JSON_TYPE]: { schema: schemaOrName(body.schema, requestName(name)), example } },
  }
}

/** Path and query parameters; lists repeat their name. */
function parametersOf({ operation }: ServedOperation, input: JsonSchema): JsonSchema[] {
  const parameters = (place: 'path' | 'query', check: Check | null): JsonSchema[] => {
    const required: readonly string[] = check?.schema.required ?? []
    return Object.entries(check?.schema.properties ?? {}).map(([field, property]) => {
      const { description, ...schema } = fieldSchema(property)
      return {
        name: field,
        in: place,
        required: place === 'path' || required.includes(field),
        description,
        schema,
        ...(field in input ? { example: input[field] } : {}),
      }
    })
  }
  return [...parameters('path', operation.params), ...parameters('query', operation.query)]
}
