/** What the Python package knows of each channel and of the messages of order entry, read off the AsyncAPI document. */
import { snake } from './operations.ts'
import { docstring, identifier, Types, type Schema, type Schemas } from './schema.ts'

interface Message {
  readonly summary: string
  readonly payload: Schema
}
export interface AsyncApi {
  readonly servers: { readonly exchange: { readonly 'x-limits': readonly { readonly name: string; readonly value: number }[] } }
  readonly channels: Readonly<Record<string, {
    readonly summary: string
    readonly 'x-access'?: string
    readonly messages: Readonly<Record<string, unknown>>
  }>>
  readonly components: { readonly schemas: Schemas; readonly messages: Readonly<Record<string, Message>> }
}

export interface Channel {
  readonly name: string
  readonly method: string
  readonly about: string
  readonly isPrivate: boolean
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly required: boolean }[]
  /** Name of the type of all its frames. */
  readonly frame: string
  readonly frames: readonly string[]
}

/** Messages of order entry and what they do. */
const ACTIONS: Readonly<Record<string, string>> = {
  'order.create': 'CreateOrder', 'order.cancel': 'CancelOrder', 'order.replace': 'ReplaceOrder', 'order.batch': 'BatchCreateOrders',
  'order.batch_replace': 'BatchReplaceOrders', 'order.batch_cancel': 'BatchCancelOrders', 'order.cancel_all': 'BatchCancelAllOrders',
  'order.cancel_by_pair': 'BatchCancelOrdersByPair',
}
/** Types of messages that are no frames of a channel. */
const ANSWERS: ReadonlySet<string> = new Set(['subscribe', 'unsubscribe', 'subscribed', 'unsubscribed', 'error'])

/** The message of each operation that can be entered over a socket. */
export function actionsOf({ components }: AsyncApi): [operation: string, message: string][] {
  const names = Object.keys(components.messages).filter((name) => name.endsWith('.counted'))
  return names.map((name) => {
    const message = name.replace(/\.counted$/, '')
    const operation = ACTIONS[message]
    if (operation === undefined) throw new Error(`${message}: which operation is it?`)
    return [operation, message]
  })
}

/** What a connection may do, by name. */
export const limitsOf = ({ servers }: AsyncApi): [name: string, value: number][] =>
  servers.exchange['x-limits'].map(({ name, value }) => [name, value])

const camel = (name: string): string => name.split('_').map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')

/** All channels; their frames become types. */
export function channelsOf(document: AsyncApi, types: Types): Channel[] {
  const { channels, components } = document
  const found = Object.entries(channels).filter(([, { 'x-access': access }]) => access !== undefined)
  const payload = (name: string, type: string): Schema => {
    const { payload: schema, summary: description } = components.messages[`${name}.${type}`]!
    return { ...schema, description }
  }
  const typesOf = (name: string): string[] => Object.keys(channels[name]!.messages).filter((type) => !ANSWERS.has(type))
  for (const [name] of found) for (const type of typesOf(name)) types.announce(payload(name, type), false)
  return found.map(([name, { summary: about, 'x-access': access }]) => {
    const { properties = {}, required = [] } = payload(name, 'subscribe').properties!['params']!
    return {
      name, method: snake(name), about, isPrivate: access === 'private',
      parameters: Object.entries(properties).map(([key, schema]) =>
        ({ name: identifier(key), type: types.typeOf(schema, camel(name) + camel(key), true), required: required.includes(key) })),
      frame: `${camel(name)}Frame`,
      frames: typesOf(name).map((type) =>
        types.typeOf(payload(name, type), camel(type === 'snapshot' ? `${name}_snapshot` : type), false)),
    }
  })
}

/** A method that listens to a channel, of a class that has `_listen`. */
export function listenMethodOf({ name, method, about, isPrivate, parameters, frame }: Channel, stream: string): string[] {
  const given = parameters.map(({ name: key, type, required }) => `${key}: ${type}${required ? '' : ' | None = None'}`)
  const values = parameters.map(({ name: key }) => `            "${key}": ${key},`)
  const call = `        return cast("${stream}[${frame}]", self._listen("${name}", {`
  return [
    `    def ${method}(self${given.length === 0 ? '' : `, *, ${given.join(', ')}`}) -> ${stream}[${frame}]:`,
    ...docstring('        ', `${about}${isPrivate ? ' Needs a session.' : ''}`),
    ...(given.length === 0 ? [`${call}}))`] : [call, ...values, '        }))']),
    '',
  ]
}
