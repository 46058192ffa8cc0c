/** Parts of the AsyncAPI document: channels, operations and messages, put together from what they have in common. */
import type { JsonSchema } from '../rest/schemas.ts'

/** The path of the WebSocket, and so the address of every channel. */
const ADDRESS = '/ws'

export type Parts = Record<string, JsonSchema>

/** What one channel adds to the document. */
export interface Section {
  readonly channels: Parts
  readonly operations: Parts
  readonly messages: Parts
}

export const refer = (...path: readonly string[]): JsonSchema => ({ $ref: `#/${path.join('/')}` })

/** What operations of an account need. */
export const SIGNED: JsonSchema = { security: [refer('components', 'securitySchemes', 'session')] }

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
export function channelObject(summary: string, messages: readonly (readonly [string, string])[], more: JsonSchema = {}): JsonSchema {
  return {
    address: ADDRESS,
    summary,
    servers: [refer('servers', 'exchange')],
    messages: Object.fromEntries(messages.map(([name, component]) => [name, refer('components', 'messages', component)])),
    bindings: BINDINGS,
    ...more,
  }
}

/** `names`: messages of the channel. */
export function operationObject(
  action: 'send' | 'receive', channel: string, summary: string, names: readonly string[], more: JsonSchema = {},
): JsonSchema {
  return { action, channel: refer('channels', channel), summary, messages: messagesOf(channel, names), ...more }
}
const messagesOf = (channel: string, names: readonly string[]): JsonSchema[] =>
  names.map((name) => refer('channels', channel, 'messages', name))
export const replyOf = (channel: string, ...names: readonly string[]): JsonSchema =>
  ({ reply: { channel: refer('channels', channel), messages: messagesOf(channel, names) } })

export interface Example {
  readonly name: string
  readonly summary?: string
  readonly payload: unknown
}

const CORRELATED = { correlationId: { description: 'The id of the request.', location: '$message.payload#/id' } }

/** A message of the components. */
export function messageObject(name: string, summary: string, payload: JsonSchema, examples: readonly Example[]): JsonSchema {
  const { properties } = payload as { properties: JsonSchema }
  return { name, summary, contentType: 'application/json', ...('id' in properties ? CORRELATED : {}), payload, examples }
}

/** The schema with another one in place of some fields. */
export function withFields(schema: JsonSchema, fields: JsonSchema, required: readonly string[] = []): JsonSchema {
  const { properties } = schema as { properties: JsonSchema }
  const all = [...((schema['required'] as readonly string[] | undefined) ?? []), ...required]
  return { ...schema, required: all, properties: { ...properties, ...fields } }
}
