/** A connection of a port without a socket below it: it has an address, and says when it is destroyed. */
import { EventEmitter } from 'node:events'

export class Connection extends EventEmitter {
  readonly remoteAddress: string

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy(): void {
    this.emit('close')
  }
}
