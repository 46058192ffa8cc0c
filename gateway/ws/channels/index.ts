/** The channels: what they declare, known without an exchange, and how a thread makes them. */
import type { Gateway } from '../../context.ts'
import type { Channel, Declaration } from './channel.ts'
import * as list from './list.ts'

type Declared = (typeof list)[keyof typeof list]

/** In the order of documents: the public ones first, by name. */
export const DECLARATIONS: readonly Declared[] = Object.values(list).sort(inOrder)

function inOrder(a: Declaration, b: Declaration): number {
  if (a.access !== b.access) return a.access === 'public' ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** The channels of a thread by name. */
export const createChannels = (gateway: Gateway): ReadonlyMap<string, Channel> =>
  new Map(DECLARATIONS.map(({ name, create }) => [name, create(gateway)]))
