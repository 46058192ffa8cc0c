/**
 * Private channels of what does not exist in this version: whoever subscribes is told that there is none of it, and nothing follows,
 * because nothing happens to it. The file of the channel is where its snapshot and its events will be read.
 */
import type { Gateway } from '../../context.ts'
import { dataFrame } from '../frames.ts'
import type { Channel, Declaration } from './channel.ts'
import { readerOf } from './parameters.ts'

/** A channel whose snapshot is always `data`, beside its parameters. */
export function createNotYetServed(gateway: Gateway, declaration: Declaration, data: object): Channel {
  const [reason] = declaration.frames['snapshot']!.reasons ?? []
  return {
    declaration,
    read: readerOf(gateway, declaration),
    subscribe: (subscriber, terms) => {
      subscriber.push(dataFrame(declaration.name, 'snapshot', gateway.now(), { ...terms, ...data }, undefined, reason))
      return true
    },
    unsubscribe: () => undefined,
    take: () => undefined,
    flush: () => undefined,
  }
}
