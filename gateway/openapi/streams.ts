/**
 * The AsyncAPI 3.0 description of the streams, built from what the channels declare, the schemas of the protocol, and its error codes,
 * close codes and limits. People's words are in streams_texts.ts, fields.ts, streams_examples.ts and guide/streams.md.
 *
 * On a WebSocket everything goes over one path, so all channels have the same address, and `channel` in a message or frame says which of
 * them it belongs to. `send` is what the service says, `receive` what it is told.
 */
import { VERSION } from '../operations/health.ts'
import type { Declaration } from '../ws/channels/channel.ts'
import { DECLARATIONS } from '../ws/channels/index.ts'
import { channelFrame, CLOSE, ERROR_CODES, FRAMES, MESSAGES, type ErrorCode } from '../ws/protocol.ts'
import { guideText } from './guide.ts'
import { BASE } from './samples.ts'
import { definitionOf, described, schemaOf, sharedSchemas, type JsonSchema } from './schemas.ts'
import { CHANNEL_EXAMPLES, EXAMPLE_SEQUENCE, EXAMPLE_TIME, FRAME_EXAMPLES, MESSAGE_EXAMPLES } from './streams_examples.ts'
import { FRAME_TEXTS, MESSAGE_TEXTS, STREAM_CLOSES, STREAM_ERRORS, STREAM_LIMITS } from './streams_texts.ts'

export const STREAMS_PATH = '/api/v1/asyncapi.json'
const ADDRESS = '/ws'
/** The channel of what belongs to no other. */
const CONNECTION = 'connection'
/** Records of fields.ts for what every message and every frame has. */
const MESSAGE = 'Message'
const FRAME = 'Frame'

const refer = (...path: readonly string[]): JsonSchema => ({ $ref: `#/${path.join('/')}` })
type Parts = Record<string, JsonSchema>

/** The whole document, as plain JSON values. */
export function createStreamsDocument(): JsonSchema {
  const messages: Parts = {
    ...connectionMessages(), ...Object.assign({}, ...DECLARATIONS.map(channelMessages)),
  }
  return {
    asyncapi: '3.0.0',
    info: { title: 'Ringbook streams', version: VERSION, description: guideText('streams.md') },
    defaultContentType: 'application/json',
    servers: { exchange: serverObject() },
    channels: {
      [CONNECTION]: channelObject('The connection itself: its first frame, authentication, signs of life, errors.', [
        ...Object.keys(MESSAGE_EXAMPLES), 'connected', 'authenticated', 'pong', 'error',
      ].map((name) => [name, name])),
      ...Object.fromEntries(DECLARATIONS.map((declaration) => [declaration.name, subscribedChannel(declaration)])),
    },
    operations: { ...connectionOperations(), ...Object.assign({}, ...DECLARATIONS.map(channelOperations)) },
    components: { messages, schemas: usedSchemas(messages), securitySchemes: { session: SESSION } },
  }
}

const SESSION: JsonSchema = {
  type: 'asymmetricEncryption',
  description: 'The session key (ed25519) signs once per connection: four lines, `GET`, `/ws`, the timestamp and the SHA-256 of nothing, '
    + 'as for a request. The message `auth` carries key, timestamp and signature; there are no headers and no tokens.',
}

function serverObject(): JsonSchema {
  return {
    host: new URL(BASE).host,
    protocol: 'ws',
    description: 'The exchange that serves this document; `wss` behind a proxy with a certificate.',
    'x-limits': STREAM_LIMITS,
    'x-error-codes': Object.entries(STREAM_ERRORS).map(([code, advice]) => ({ code, ...advice })),
    'x-close-codes': Object.entries(STREAM_CLOSES).map(([name, advice]) => ({ code: CLOSE[name as keyof typeof CLOSE], ...advice })),
  }
}

const BINDINGS: JsonSchema = {
  ws: {
    method: 'GET',
    headers: {
      type: 'object',
      required: ['User-Agent'],
      properties: { 'User-Agent': { type: 'string', minLength: 1, description: 'Any, as for every request.' } },
    },
    bindingVersion: '0.1.0',
  },
}

/** `messages`: name in the channel, name in the components. */
function channelObject(summary: string, messages: readonly (readonly [string, string])[], more: JsonSchema = {}): JsonSchema {
  return {
    address: ADDRESS,
    summary,
    servers: [refer('servers', 'exchange')],
    messages: Object.fromEntries(messages.map(([name, component]) => [name, refer('components', 'messages', component)])),
    bindings: BINDINGS,
    ...more,
  }
}

const ACCESS: Readonly<Record<Declaration['access'], string>> = {
  public: 'Public.', private: 'For authenticated connections: it tells of the account of the session.',
}

function subscribedChannel({ name, access, about, frames }: Declaration): JsonSchema {
  const own = ['subscribe', 'unsubscribe', ...Object.keys(frames)].map((type) => [type, `${name}.${type}`] as const)
  const shared = ['subscribed', 'unsubscribed', 'error'].map((type) => [type, type] as const)
  return channelObject(about, [...own, ...shared], { title: name, description: ACCESS[access], 'x-access': access })
}

// Operations.

function operationObject(
  action: 'send' | 'receive', channel: string, summary: string, names: readonly string[], more: JsonSchema = {},
): JsonSchema {
  return { action, channel: refer('channels', channel), summary, messages: messagesOf(channel, names), ...more }
}
const messagesOf = (channel: string, names: readonly string[]): JsonSchema[] =>
  names.map((name) => refer('channels', channel, 'messages', name))
const replyOf = (channel: string, ...names: readonly string[]): JsonSchema =>
  ({ reply: { channel: refer('channels', channel), messages: messagesOf(channel, names) } })

const connectionOperations = (): Parts => ({
  connect: operationObject('send', CONNECTION, FRAME_TEXTS.connected, ['connected']),
  authenticate: operationObject('receive', CONNECTION, MESSAGE_TEXTS.auth, ['auth'], replyOf(CONNECTION, 'authenticated', 'error')),
  ping: operationObject('receive', CONNECTION, MESSAGE_TEXTS.ping, ['ping'], replyOf(CONNECTION, 'pong')),
  refuse: operationObject('send', CONNECTION, FRAME_TEXTS.error, ['error']),
})

function channelOperations({ name, access, about, frames }: Declaration): Parts {
  const security = access === 'private' ? { security: [refer('components', 'securitySchemes', 'session')] } : {}
  return {
    [`${name}.subscribe`]: operationObject('receive', name, MESSAGE_TEXTS.subscribe, ['subscribe'], {
      ...security, ...replyOf(name, 'subscribed', 'error'),
    }),
    [`${name}.unsubscribe`]: operationObject('receive', name, MESSAGE_TEXTS.unsubscribe, ['unsubscribe'], {
      ...security, ...replyOf(name, 'unsubscribed', 'error'),
    }),
    [`${name}.frames`]: operationObject('send', name, about, Object.keys(frames), security),
  }
}

// Messages.

interface Example {
  readonly name: string
  readonly summary?: string
  readonly payload: unknown
}

const CORRELATED = { correlationId: { description: 'The id of the request.', location: '$message.payload#/id' } }

function messageObject(name: string, summary: string, payload: JsonSchema, examples: readonly Example[]): JsonSchema {
  const { properties } = payload as { properties: JsonSchema }
  return { name, summary, contentType: 'application/json', ...('id' in properties ? CORRELATED : {}), payload, examples }
}

function connectionMessages(): Parts {
  const parts: Parts = {}
  for (const [type, example] of Object.entries(MESSAGE_EXAMPLES)) {
    const name = type as keyof typeof MESSAGES
    parts[type] = messageObject(type, MESSAGE_TEXTS[name], definitionOf(MESSAGES[name], MESSAGE), [{ name: type, payload: example }])
  }
  for (const [type, example] of Object.entries(FRAME_EXAMPLES)) {
    const name = type as keyof typeof FRAMES
    parts[type] = messageObject(type, FRAME_TEXTS[name], definitionOf(FRAMES[name], FRAME), [{ name: type, payload: example }])
  }
  parts['error'] = messageObject('error', FRAME_TEXTS.error, definitionOf(FRAMES.error, FRAME), ERROR_CODES.map(errorExample))
  return parts
}

const errorExample = (code: ErrorCode): Example => {
  const { about } = STREAM_ERRORS[code]
  return { name: code, summary: about, payload: { type: 'error', code, message: about } }
}

/** The schema with another one in place of some fields. */
function withFields(schema: JsonSchema, fields: JsonSchema, required: readonly string[] = []): JsonSchema {
  const { properties } = schema as { properties: JsonSchema }
  const all = [...((schema['required'] as readonly string[] | undefined) ?? []), ...required]
  return { ...schema, required: all, properties: { ...properties, ...fields } }
}

function channelMessages(declaration: Declaration): Parts {
  const { name, params, frames } = declaration
  const example = CHANNEL_EXAMPLES[name as keyof typeof CHANNEL_EXAMPLES] as { params: unknown; frames: JsonSchema }
  const parts: Parts = {}
  for (const type of ['subscribe', 'unsubscribe'] as const) {
    const payload = withFields(definitionOf(MESSAGES[type], MESSAGE), {
      channel: described(MESSAGE, 'channel', { type: 'string', enum: [name] }),
      params: described(MESSAGE, 'params', definitionOf(params, name)),
    }, (params.required ?? []).length > 0 ? ['params'] : [])
    const sent = { type, id: 1, channel: name, params: example.params }
    parts[`${name}.${type}`] = messageObject(type, MESSAGE_TEXTS[type], payload, [{ name: type, payload: sent }])
  }
  for (const [type, { about, data, sequenced, reasons }] of Object.entries(frames)) {
    const envelope = definitionOf(channelFrame(declaration, type), FRAME)
    const payload = withFields(envelope, { data: described(FRAME, 'data', schemaOf(data, name)) })
    const told = {
      channel: name, type, ...(reasons === undefined ? {} : { reason: reasons[0] }), ...(sequenced ? { sequence: EXAMPLE_SEQUENCE } : {}),
      timestamp: EXAMPLE_TIME, data: example.frames[type],
    }
    parts[`${name}.${type}`] = messageObject(type, about, payload, [{ name: type, payload: told }])
  }
  return parts
}

/** The shared schemas that are referred to, by way of others too. */
function usedSchemas(messages: Parts): Parts {
  const all = sharedSchemas()
  const used: Parts = {}
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used[name!] !== undefined) continue
      used[name!] = all[name!]!
      visit(used[name!])
    }
  }
  visit(messages)
  return used
}
