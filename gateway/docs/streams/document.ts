/**
 * The AsyncAPI 3.0 description of the streams, built from what the channels declare, the schemas of the protocol, and its error codes,
 * close codes and limits. A channel's words and examples are its own; those of the connection are in texts.ts, examples.ts and the guide.
 *
 * On a WebSocket everything goes over one path, so all channels have the same address, and `channel` in a message or frame says which of
 * them it belongs to. `send` is what the service says, `receive` what it is told.
 */
import { VERSION } from '../../operations/health.ts'
import { channelFrame, type ServedDeclaration } from '../../ws/channels/channel.ts'
import { OPERATIONS, schemasOf } from '../../operations/index.ts'
import { DECLARATIONS } from '../../ws/channels/index.ts'
import { CLOSE, ERROR_CODES, FRAMES, MESSAGES, type ErrorCode } from '../../ws/protocol.ts'
import { ERROR_SCHEMA } from '../rest/errors.ts'
import { guideText } from '../guide.ts'
import { BASE } from '../rest/samples.ts'
import { definitionOf, like, sharedSchemas, type JsonSchema } from '../rest/schemas.ts'
import { EXAMPLE_SEQUENCE, EXAMPLE_TIME, FRAME_EXAMPLES, MESSAGE_EXAMPLES } from './examples.ts'
import { ORDER_ENTRY_SECURITY, orderSection } from './orders.ts'
import {
  channelObject, messageObject, operationObject, replyOf, SIGNED, withFields, type Example, type Parts, type Section,
} from './parts.ts'
import { FRAME_TEXTS, MESSAGE_TEXTS, STREAM_CLOSES, STREAM_ERRORS, STREAM_LIMITS } from './texts.ts'

export const STREAMS_PATH = '/api/v1/asyncapi.json'
/** The channel of what belongs to no other. */
const CONNECTION = 'connection'

/** The whole document, as plain JSON values. */
export function createStreamsDocument(declarations: readonly ServedDeclaration[] = DECLARATIONS): JsonSchema {
  const sections: readonly Section[] = [connectionSection(), ...declarations.map(channelSection), orderSection()]
  const all = (part: keyof Section): Parts => Object.assign({}, ...sections.map((section) => section[part]))
  const messages = all('messages')
  return {
    asyncapi: '3.0.0',
    info: { title: 'Ringbook streams', version: VERSION, description: guideText('streams.md') },
    defaultContentType: 'application/json',
    servers: { exchange: serverObject() },
    channels: all('channels'),
    operations: all('operations'),
    components: {
      messages, schemas: usedSchemas(messages, declarations),
      securitySchemes: { session: SESSION, signedMessage: ORDER_ENTRY_SECURITY },
    },
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

function connectionSection(): Section {
  const messages = connectionMessages()
  const about = 'The connection itself: its first frame, authentication, signs of life, errors.'
  const own = Object.keys(messages).filter((name) => name === 'error' || !ANSWERS.includes(name))
  return {
    channels: { [CONNECTION]: channelObject(about, own.map((name) => [name, name])) },
    operations: {
      connect: operationObject('send', CONNECTION, FRAME_TEXTS.connected, ['connected']),
      authenticate: operationObject('receive', CONNECTION, MESSAGE_TEXTS.auth, ['auth'], replyOf(CONNECTION, 'authenticated', 'error')),
      ping: operationObject('receive', CONNECTION, MESSAGE_TEXTS.ping, ['ping'], replyOf(CONNECTION, 'pong')),
      refuse: operationObject('send', CONNECTION, FRAME_TEXTS.error, ['error']),
    },
    messages,
  }
}

const ACCESS: Readonly<Record<ServedDeclaration['access'], string>> = {
  public: 'Public.', private: 'For authenticated connections: it tells of the account of the session.',
}
/** Answers of all channels. */
const ANSWERS = ['subscribed', 'unsubscribed', 'error']

function channelSection(declaration: ServedDeclaration): Section {
  const { name, access, about, frames } = declaration
  const own = ['subscribe', 'unsubscribe', ...Object.keys(frames)].map((type) => [type, `${name}.${type}`] as const)
  const shared = ANSWERS.map((type) => [type, type] as const)
  const security = access === 'private' ? SIGNED : {}
  const ask = (type: 'subscribe' | 'unsubscribe'): JsonSchema =>
    operationObject('receive', name, MESSAGE_TEXTS[type], [type], { ...security, ...replyOf(name, `${type}d`, 'error') })
  return {
    channels: { [name]: channelObject(about, [...own, ...shared], { title: name, description: ACCESS[access], 'x-access': access }) },
    operations: {
      [`${name}.subscribe`]: ask('subscribe'),
      [`${name}.unsubscribe`]: ask('unsubscribe'),
      [`${name}.frames`]: operationObject('send', name, about, Object.keys(frames), security),
    },
    messages: channelMessages(declaration),
  }
}

function connectionMessages(): Parts {
  const parts: Parts = {}
  for (const [type, example] of Object.entries(MESSAGE_EXAMPLES)) {
    const name = type as keyof typeof MESSAGES
    parts[type] = messageObject(type, MESSAGE_TEXTS[name], definitionOf(MESSAGES[name]), [{ name: type, payload: example }])
  }
  for (const [type, example] of Object.entries(FRAME_EXAMPLES)) {
    const name = type as keyof typeof FRAMES
    parts[type] = messageObject(type, FRAME_TEXTS[name], definitionOf(FRAMES[name]), [{ name: type, payload: example }])
  }
  parts['error'] = messageObject('error', FRAME_TEXTS.error, definitionOf(FRAMES.error), ERROR_CODES.map(errorExample))
  return parts
}

const errorExample = (code: ErrorCode): Example => {
  const { about } = STREAM_ERRORS[code]
  return { name: code, summary: about, payload: { type: 'error', code, message: about } }
}

function channelMessages(declaration: ServedDeclaration): Parts {
  const { name, params, frames, example } = declaration
  const parts: Parts = {}
  for (const type of ['subscribe', 'unsubscribe'] as const) {
    const { properties } = MESSAGES[type]
    const payload = withFields(definitionOf(MESSAGES[type]), {
      channel: like(properties.channel, { type: 'string', enum: [name] }),
      params: like(properties.params, definitionOf(params)),
    }, (params.required ?? []).length > 0 ? ['params'] : [])
    const sent = { type, id: 1, channel: name, params: example.params }
    parts[`${name}.${type}`] = messageObject(type, MESSAGE_TEXTS[type], payload, [{ name: type, payload: sent }])
  }
  for (const [type, { about, sequenced, reasons }] of Object.entries(frames)) {
    const payload = definitionOf(channelFrame(declaration, type))
    const told = {
      channel: name, type, ...(reasons === undefined ? {} : { reason: reasons[0] }), ...(sequenced ? { sequence: EXAMPLE_SEQUENCE } : {}),
      timestamp: EXAMPLE_TIME, data: example.frames[type],
    }
    parts[`${name}.${type}`] = messageObject(type, about, payload, [{ name: type, payload: told }])
  }
  return parts
}

/** The shared schemas that are referred to, by way of others too. */
function usedSchemas(messages: Parts, declarations: readonly ServedDeclaration[]): Parts {
  const declared = declarations.flatMap(({ params, frames }) => [params, ...Object.values(frames).map(({ data }) => data)])
  const roots = [...OPERATIONS.flatMap(schemasOf), ...declared]
  const all: Parts = { ...sharedSchemas(roots), Error: ERROR_SCHEMA }
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
