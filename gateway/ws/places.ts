/**
 * Places for WebSockets of one gateway thread: `wsConnections`, of which a client has its share (limits/shares.ts). A socket that neither
 * has a session nor listens to anything nor enters orders loses its place after `wsUnusedSeconds`, however often it pings.
 */
import type { Config } from '../../core/config.ts'
import { PORT_COUNTER, type PortBlock } from '../../core/ring/ports.ts'
import { readProxies, Shares } from '../limits/shares.ts'
import type { Connection } from './connection.ts'

export class Places {
  readonly #shares: Shares
  readonly #counters: PortBlock
  readonly #unusedMs: number

  constructor({ wsConnections, wsUnusedSeconds, ...proxies }: Config, counters: PortBlock) {
    this.#shares = new Shares(wsConnections, readProxies(proxies))
    this.#counters = counters
    this.#unusedMs = wsUnusedSeconds * 1000
    counters[PORT_COUNTER.most] = wsConnections
  }

  take(client: string): boolean {
    const none = this.#shares.take(client)
    if (none !== null) this.#counters[none === 'full' ? PORT_COUNTER.refused_full : PORT_COUNTER.refused_share]!++
    this.#counters[PORT_COUNTER.open] = this.#shares.total
    return none === null
  }

  give(client: string): void {
    this.#shares.give(client)
    this.#counters[PORT_COUNTER.open] = this.#shares.total
  }

  /** Ends connections that nobody has used for too long. */
  endUnused(connections: ReadonlySet<Connection>): void {
    const now = performance.now()
    for (const connection of [...connections]) {
      if (now - connection.usedAt(now) <= this.#unusedMs) continue
      this.#counters[PORT_COUNTER.cut_first]!++
      connection.fail('AUTH_REQUIRED', 'Authenticate or subscribe: nothing was done here for too long')
    }
  }
}
