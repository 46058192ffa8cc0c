/**
 * Promise: the AsyncAPI document describes every channel, frame, message, error code and close code of the streams and nothing else, in
 * full: each field in words, examples that are valid, limits with their numbers; its own parser agrees. It is served, and the channels it
 * names can be subscribed to as its examples do.
 */
import { createRequire } from 'node:module'
import t from 'tap'
import { KNOBS } from '../../core/config.ts'
import { createDocument } from '../../gateway/docs/rest/document.ts'
import { PAIR } from '../../gateway/operations/example_values.ts'
import { createStreamsDocument, STREAMS_PATH } from '../../gateway/docs/streams/document.ts'
import { STREAM_LIMITS } from '../../gateway/docs/streams/texts.ts'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'
import type { Declaration } from '../../gateway/ws/channels/channel.ts'
import { MESSAGE_MAX, MESSAGE_SHAPE, parseMessage, readMessage } from '../../gateway/ws/frames.ts'
import { ACTIONS, SESSION_OPEN } from '../../gateway/ws/order_messages.ts'
import { CLOSE, ERROR_CODES, FRAMES, MESSAGES } from '../../gateway/ws/protocol.ts'
import { frameProblems } from '../support/frame_check.ts'
import { request, startHarness } from '../support/gateway_harness.ts'
import { createChecker, type ApiDocument } from '../support/openapi_check.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

t.setTimeout(120_000)

interface Diagnostic {
  readonly code: string
  readonly severity: number
  readonly message: string
  readonly path: readonly string[]
}
/** What is used of the parser, whose types do not resolve here. */
type ParserClass = new () => { parse(text: string): Promise<{ document?: { version(): string }; diagnostics: Diagnostic[] }> }
const { Parser } = createRequire(import.meta.url)('@asyncapi/parser') as { Parser: ParserClass }

interface Message {
  readonly summary: string
  readonly payload: Record<string, unknown>
  readonly examples: readonly { readonly name: string; readonly payload: Frame }[]
}
interface Channel {
  readonly address: string
  readonly summary: string
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>
}
interface Operation {
  readonly action: string
  readonly channel: { readonly $ref: string }
  readonly messages: readonly { readonly $ref: string }[]
  readonly reply?: { readonly messages: readonly { readonly $ref: string }[] }
  readonly security?: readonly { readonly $ref: string }[]
}
interface StreamsDocument {
  readonly asyncapi: string
  readonly info: { readonly version: string; readonly description: string }
  readonly servers: Readonly<Record<string, Record<string, any>>>
  readonly channels: Readonly<Record<string, Channel>>
  readonly operations: Readonly<Record<string, Operation>>
  readonly components: { readonly messages: Readonly<Record<string, Message>>; readonly schemas: Readonly<Record<string, object>> }
}

const document = JSON.parse(JSON.stringify(createStreamsDocument())) as StreamsDocument
const { messages, schemas } = document.components
const checker = createChecker(document as unknown as ApiDocument)
const declarations: readonly Declaration[] = DECLARATIONS

/** What a reference to a message of a channel leads to. */
function resolve({ $ref }: { readonly $ref: string }): Message {
  const [, , channel, , name] = $ref.split('/')
  return messages[document.channels[channel!]!.messages[name!]!.$ref.split('/').at(-1)!]!
}

t.test('the parser of the format finds nothing', async (t) => {
  const { document: parsed, diagnostics } = await new Parser().parse(JSON.stringify(document))
  // A newer version of the format is no fault of a document.
  t.strictSame(diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version'), [])
  t.equal(parsed?.version(), '3.0.0')
  const operations = { lost: { action: 'send', channel: { $ref: '#/channels/none' } } }
  const broken = { asyncapi: '3.0.0', info: { title: 'x', version: '1' }, operations }
  const { diagnostics: found } = await new Parser().parse(JSON.stringify(broken))
  t.ok(found.some(({ severity }) => severity === 0), 'and would find something')
})

t.test('every channel with its frames, parameters and who may listen, and no other', async (t) => {
  const names = declarations.map(({ name }) => name)
  t.equal(new Set(names).size, names.length, 'each name once')
  t.strictSame(Object.keys(document.channels).sort(), ['connection', 'orderEntry', ...names].sort())
  for (const { name, access, about, params, frames } of declarations) {
    const channel = document.channels[name]!
    t.match(channel, { address: '/ws', summary: about }, name)
    const { action, messages: told, security } = document.operations[`${name}.frames`]!
    t.equal(action, 'send')
    t.strictSame(told.map((each) => resolve(each).examples[0]!.payload['type']), Object.keys(frames), `${name} tells its frames`)
    t.equal(security !== undefined, access === 'private', `${name} is ${access}`)
    for (const type of ['subscribe', 'unsubscribe']) {
      const operation = document.operations[`${name}.${type}`]!
      t.equal(operation.action, 'receive')
      t.equal(operation.security !== undefined, access === 'private')
      const { properties } = resolve(operation.messages[0]!).payload as { properties: { params: { properties: object } } }
      t.strictSame(Object.keys(properties.params.properties), Object.keys(params.properties), `${name} ${type} takes its parameters`)
      t.strictSame(operation.reply!.messages.map((each) => resolve(each).examples[0]!.payload['type']), [`${type}d`, 'error'])
    }
    t.match(document.info.description, `| \`${name}\` |`, `${name} is in the table`)
  }
})

t.test('every message and frame of the connection, each in an operation', async (t) => {
  const told = Object.values(document.operations).flatMap(({ messages: own, reply }) => [...own, ...(reply?.messages ?? [])])
  const used = new Set(told.map(resolve))
  for (const [name, message] of Object.entries(messages)) t.ok(used.has(message), `${name} is sent or received`)
  const types = new Set([...used].flatMap(({ examples }) => examples.map(({ payload }) => payload['type'] as string)))
  for (const type of [...Object.keys(MESSAGES), ...Object.keys(FRAMES)]) t.ok(types.has(type), type)
})

t.test('error codes, close codes and limits, each in words and in the table', async (t) => {
  const { exchange } = document.servers
  const { description } = document.info
  t.strictSame(messages['error']!.examples.map(({ name, payload }) => [name, payload['code']]), ERROR_CODES.map((code) => [code, code]))
  t.strictSame(exchange!['x-error-codes'].map(({ code }: Frame) => code), [...ERROR_CODES])
  t.strictSame(exchange!['x-close-codes'].map(({ code }: Frame) => code), Object.values(CLOSE))
  t.strictSame(exchange!['x-limits'], STREAM_LIMITS)
  for (const { name, value } of STREAM_LIMITS) t.match(description, `| \`${name}\` | ${value.toLocaleString('en')} `)
  for (const code of ERROR_CODES) t.match(description, `| \`${code}\` |`)
  for (const code of Object.values(CLOSE)) t.match(description, `| ${code} |`)
  const valueOf = (name: string): number | undefined => STREAM_LIMITS.find((limit) => limit.name === name)?.value
  t.equal(valueOf('subscriptions'), KNOBS.wsSubscriptions.fallback)
  t.equal(valueOf('messageBytes'), MESSAGE_MAX)
  t.notMatch(description, /\{\{/, 'no place is left open')
  t.ok((createDocument()['info'] as { description: string }).description.includes(description), 'the guide has it too')
})

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

t.test('every field is described', async (t) => {
  const missing: string[] = []
  let fields = 0
  const walk = (place: string, schema: Schema): void => {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      fields++
      if (typeof property['description'] !== 'string') missing.push(`${place}.${field}`)
      walk(`${place}.${field}`, property)
    }
    if (schema.items !== undefined) walk(place, schema.items)
    for (const option of schema.anyOf ?? []) walk(place, option)
  }
  for (const [name, { payload, summary }] of Object.entries(messages)) {
    if (summary === '') missing.push(name)
    walk(name, payload)
  }
  for (const [name, schema] of Object.entries(schemas)) walk(name, schema as Schema)
  t.strictSame(missing, [])
  t.ok(fields > 150, `${fields} fields`)
})

/** What clients say. */
const received = Object.values(document.operations).filter(({ action }) => action === 'receive')
const said = new Set(received.flatMap((each) => each.messages.map(resolve)))

t.test('examples are valid, for the document and for what is declared; wrong ones would be found', async (t) => {
  for (const [name, { payload, examples }] of Object.entries(messages)) {
    t.ok(examples.length > 0, `${name} has an example`)
    for (const example of examples) {
      t.strictSame(checker.schema(payload, example.payload, true), [], `${name} ${example.name}`)
      t.not(checker.schema(payload, { ...example.payload, type: 'else' }, true).length, 0, `${name} is of its type`)
      if (said.has(messages[name]!)) continue
      t.strictSame(frameProblems(example.payload), [], `${name} is declared`)
      t.not(frameProblems({ ...example.payload, surprise: 1 }).length, 0, `${name} has no other field`)
      if (example.payload['data'] === undefined) continue
      t.not(frameProblems({ ...example.payload, data: { ...example.payload['data'], surprise: 1 } }).length, 0)
      if (example.payload['channel'] === undefined) continue
      const { timestamp: _, ...less } = example.payload
      t.not(frameProblems(less).length, 0, `${name} has its time`)
    }
  }
  t.strictSame(frameProblems({ channel: 'weather', type: 'snapshot', data: {} }), ['it is declared nowhere'])
})

t.test('the reader of messages takes what the schemas take, and refuses what they refuse', async (t) => {
  const bytes = (message: unknown) => new Uint8Array(Buffer.from(JSON.stringify(message))).buffer
  const read = (message: unknown) => readMessage(parseMessage(bytes(message), false, MESSAGE_SHAPE))
  const fits = (payload: object, message: unknown): boolean => checker.schema(payload as never, message, false).length === 0
  const readable = [...said].filter(({ examples }) => Object.hasOwn(MESSAGES, examples[0]!.payload['type']))
  t.equal(readable.length, 2 + 2 * declarations.length)
  for (const { payload, examples } of readable) {
    for (const { payload: example } of examples) {
      t.match(read(example), example, JSON.stringify(example))
      const wrong: unknown[] = [{ ...example, type: 'else' }, [example], null, 'ping']
      const { type } = example
      if (type === 'subscribe' || type === 'unsubscribe') {
        wrong.push(...[{ id: 1.5 }, { id: 'x'.repeat(65) }, { id: true }, { channel: '' }, { channel: 7 }, { params: [] }, { params: 'x' }]
          .map((change) => ({ ...example, ...change })))
      }
      for (const message of wrong) {
        t.equal(read(message).type, 'malformed', JSON.stringify(message))
        t.notOk(fits(payload, message))
      }
    }
  }
})

t.test('order entry: everything that can be asked, signed and in a session, with bodies and answers of its operation', async (t) => {
  const { operations } = document
  const own = Object.entries(operations).filter(([, { channel }]) => channel.$ref === '#/channels/orderEntry').map(([name]) => name)
  t.strictSame(own.sort(), [SESSION_OPEN, ...ACTIONS.keys()].sort())
  for (const { type, check } of ACTIONS.values()) {
    const { messages: asked, reply, security } = operations[type]!
    t.ok(security !== undefined, `${type} is signed`)
    const [signed, counted] = asked.map((each) => resolve(each).examples[0]!.payload)
    t.match(signed, { type, body: String, publicKey: String, timestamp: String, signature: String })
    t.match(counted, { type, counter: Number })
    t.strictSame(JSON.parse(signed!['body']), counted!['body'], `${type}: the same, as text and as an object`)
    t.equal(check(counted!['body']), null, `${type}: the operation takes it`)
    t.strictSame(reply!.messages.map((each) => each.$ref.split('/').at(-1)), [`${type}.result`, 'order.refused'])
  }
  t.match(document.channels['orderEntry'], { description: /^Off unless the operator/ })
  t.match(document.info.description, /### Enter orders/)
  for (const type of ACTIONS.keys()) t.match(document.info.description, `\`${type}\``, `the guide names ${type}`)
})

t.test('it is served, and its examples subscribe and enter orders', async (t) => {
  const harness = await startHarness(['--ws-order-entry', '1'])
  t.teardown(() => harness.close())
  const { status, text, headers } = await request(harness.port, 'GET', STREAMS_PATH, {})
  t.equal(status, 200)
  t.strictSame(JSON.parse(text), document)
  t.match(headers, { 'content-type': 'application/json', 'cache-control': 'public, no-cache' })
  t.equal((await request(harness.port, 'GET', STREAMS_PATH, { 'If-None-Match': headers['etag']! })).status, 304)
  t.equal((await request(harness.port, 'POST', STREAMS_PATH, {}, '{}')).status, 405)
  const client = await SocketClient.open(harness.port)
  t.teardown(() => client.close())
  const signer = signerOf(await harness.openSession())
  await client.authenticate(signer)
  // Ids of the examples are those of the shipped genesis.
  const { id: pair } = harness.genesis.pairs[0]!
  const here = (example: unknown): Frame => JSON.parse(JSON.stringify(example).replaceAll(PAIR, pair)) as Frame
  for (const { name } of declarations) {
    const params = here(messages[`${name}.subscribe`]!.examples[0]!.payload['params'])
    t.match(await client.subscribe(name, params), { type: 'subscribed', channel: name, params }, name)
    t.match(await client.ask({ type: 'unsubscribe', channel: name, params }), { type: 'unsubscribed', channel: name, params })
  }
  const orders = await OrderSocket.inSession(harness.port, signer)
  t.teardown(() => orders.close())
  for (const type of ACTIONS.keys()) {
    const answer = await orders.counted(type, here(messages[`${type}.counted`]!.examples[0]!.payload['body']))
    const refused = String(answer['error']?.code)
    // Without funds and without orders.
    t.match(refused, /^(undefined|INSUFFICIENT_BALANCE|NOT_FOUND|ORDER_NOT_FOUND)$/, `${type}: ${JSON.stringify(answer)}`)
  }
})
