/**
 * Promise: the OpenAPI document describes every operation of the table and nothing else, in full: each field and parameter in words,
 * each error code with an example, examples that are valid; and a linter agrees.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { createDocument } from '../../gateway/docs/rest/document.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { createChecker, fieldsOf, findOperation, type ApiDocument } from '../support/openapi_check.ts'

const root = join(import.meta.dirname, '..', '..')
const document = JSON.parse(JSON.stringify(createDocument())) as ApiDocument
const names = Object.keys(TABLE) as OperationName[]
const JSON_TYPE = 'application/json'

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

t.test('every row of the table is an operation, and nothing else is', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.equal(document.info.version, '1.0.0')
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => `${operation.operationId} ${method.toUpperCase()} ${path}`),
  )
  t.strictSame(described.sort(), names.map((name) => `${name} ${TABLE[name].method} ${TABLE[name].path}`).sort())
  for (const name of names) {
    const { security } = findOperation(document, TABLE[name].method, TABLE[name].path)!
    const legacy = ['SessionPublicKey', 'SessionTimestamp', 'SessionSignature']
    const session = [legacy, ['MessageSignatureInput', 'MessageSignature', 'ContentDigest']]
    const wanted = { public: [], session, 'server-key': [['ServerKey']] }[TABLE[name].access]
    t.strictSame(security.map((each) => Object.keys(each)), wanted, `who may call ${name}`)
  }
})

t.test('every field and parameter is described', async (t) => {
  const missing: string[] = []
  const walk = (place: string, schema: Schema): void => {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if (typeof property['description'] !== 'string') missing.push(`${place}.${field}`)
      walk(`${place}.${field}`, property)
    }
    if (schema.items !== undefined) walk(place, schema.items)
    for (const option of schema.anyOf ?? []) walk(place, option)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (typeof schema['description'] !== 'string') missing.push(name)
    walk(name, schema as Schema)
  }
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      const { operationId } = operation
      for (const { name, description } of fieldsOf(operation)) if (description === undefined) missing.push(`${operationId}.${name}`)
    }
  }
  t.strictSame(missing, [])
})

t.test('examples are valid', async (t) => {
  const checker = createChecker(document)
  for (const name of names) {
    const operation = findOperation(document, TABLE[name].method, TABLE[name].path)!
    const { requestBody, responses } = operation
    const answer = responses['200']!.content[JSON_TYPE]!
    t.strictSame(checker.schema(answer.schema, answer.example, true), [], `answer of ${name}`)
    const body = requestBody?.content[JSON_TYPE]
    if (body !== undefined) t.strictSame(checker.schema(body.schema, body.example, true), [], `body of ${name}`)
    for (const { name: field, schema, example, required } of fieldsOf(operation)) {
      t.ok(example !== undefined || !required, `${name}.${field} has an example or may be left out`)
      if (example !== undefined) t.strictSame(checker.schema(schema, example, true), [], `${name}.${field}`)
    }
  }
})

t.test('every request may name itself, and every answer has the name', async (t) => {
  const reference = { $ref: '#/components/headers/X-Request-Id' }
  for (const name of names) {
    const { parameters, responses } = findOperation(document, TABLE[name].method, TABLE[name].path)!
    t.ok(parameters!.some((each) => '$ref' in each && each.$ref === '#/components/parameters/RequestId'), name)
    for (const [status, { headers }] of Object.entries(responses)) t.strictSame(headers?.['X-Request-Id'], reference, `${name} ${status}`)
  }
})

t.test('a wrong example would be found', async (t) => {
  const checker = createChecker(document)
  const { content } = findOperation(document, 'GET', '/api/v1/accounts/balances/x')!.responses['200']!
  const { schema, example } = content[JSON_TYPE]!
  const good = example as Record<string, unknown>
  for (const wrong of [{ decimals: '6' }, { availableBalance: '1e3' }, { assetId: 'no' }, { extra: 1 }, { version: undefined }]) {
    t.not(checker.schema(schema, JSON.parse(JSON.stringify({ ...good, ...wrong })), true).length, 0, JSON.stringify(wrong))
  }
})

t.test('error examples are the register', async (t) => {
  const checker = createChecker(document)
  for (const [code, example] of Object.entries(document.components.examples)) {
    const value = example['value'] as Record<string, unknown>
    const { error, http, message } = REFUSALS[code as keyof typeof REFUSALS]
    t.match(value, { error, code, message, statusCode: http }, code)
    t.strictSame(checker.schema({ $ref: '#/components/schemas/Error' }, value, true), [], `${code} is an envelope`)
    t.match(document.info.description, `| \`${code}\` | ${http} |`, `${code} is in the table of the guide`)
  }
  t.ok(Object.keys(document.components.examples).length > 30)
})

t.test('the linter finds nothing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'openapi-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  const lint = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js')
  const config = join(root, 'gateway', 'docs', 'rest', 'redocly.yaml')
  const { status, stdout, stderr } = spawnSync(process.execPath, [lint, 'lint', file, '--config', config, '--format', 'json'], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
  })
  const { totals, problems } = JSON.parse(stdout) as { totals: Record<string, number>; problems: object[] }
  t.strictSame(problems, [], stderr)
  t.match(totals, { errors: 0, warnings: 0, ignored: 0 })
  t.equal(status, 0)
})

t.test('the guide holds its programs as they are in their files', async (t) => {
  for (const name of ['client.ts', 'client.py', 'rfc9421.ts', 'rfc9421.py']) {
    const program = readFileSync(join(root, 'gateway', 'docs', 'guide', name), 'utf8').trimEnd()
    t.ok(document.info.description.includes(program), name)
  }
  t.notMatch(document.info.description, /\{\{/, 'no place is left open')
})
