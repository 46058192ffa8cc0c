/**
 * A port for proxies that hand on the bytes of their clients behind a header of the PROXY protocol (`proxyPort`): REST and WebSocket as on
 * the other port, with TLS when that has it.
 *
 * The library takes such a header before every request, so that the client behind the proxy could write one too, and takes none before
 * TLS. So Node accepts the connections of this port, reads the header, and relays what is behind it to the library over the loopback.
 * Each relayed connection comes from an address of its own there, by which the library's side finds its client
 * ({@link ClientAddresses.relay}).
 *
 * Only trusted proxies may connect, and each connection must begin with a header: within `firstRequestSeconds`, of a client that has its
 * share of the places (limits/port.ts). Behind that the bounds of the other port hold.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { ClientAddresses } from '../limits/client_address.ts'
import { Door, listenOn } from '../limits/door.ts'
import type { ConnectionPort } from '../limits/port.ts'
import { readProxyHeader } from '../limits/proxy_header.ts'

const LOOPBACK = '127.0.0.1'
/** How long the last bytes for a client may take when its connection has ended on the other side, ms. */
const LAST_BYTES_MS = 10_000

export class Relay {
  readonly #server: Server
  readonly #port: ConnectionPort
  readonly #addresses: ClientAddresses
  readonly #to: number

  /** `to`: the port of the loopback on which the library listens for this. */
  constructor(port: ConnectionPort, addresses: ClientAddresses, to: number) {
    this.#port = port
    this.#addresses = addresses
    this.#to = to
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => this.#take(near))
  }

  /** Listens on a port that gateway threads share, and says how it rests; rejects when it cannot be had. */
  async listen(host: string, port: number, failed: () => void): Promise<Door> {
    await this.#open(host, port)
    return new Door(() => this.#open(host, port).then(() => true, () => false), () => this.#server.close(), failed)
  }

  stopListening(): void {
    this.#server.close()
  }

  /** Ends what is open. */
  close(): void {
    this.#port.close()
  }

  #open(host: string, port: number): Promise<number> {
    return listenOn(this.#server, host, port, { reusePort: true })
  }

  #take(near: Socket): void {
    const proxy = near.remoteAddress ?? ''
    if (!this.#addresses.trusts(proxy)) return void near.destroy()
    if (!this.#port.admit(near)) return
    readProxyHeader(near, (beginning) => {
      if (typeof beginning === 'string') return void near.destroy()
      const client = beginning.source ?? proxy
      if (beginning.source !== null && !this.#port.moveTo(near, client)) return
      this.#port.asked(near)
      this.#relay(near, client)
    })
  }

  #relay(near: Socket, client: string): void {
    const localAddress = this.#addresses.relay(client)
    const far = connect({ host: LOOPBACK, port: this.#to, localAddress, noDelay: true, allowHalfOpen: true })
    far.on('error', () => far.destroy())
    far.once('close', () => {
      this.#addresses.relayed(localAddress)
      near.destroySoon()
      setTimeout(() => near.destroy(), LAST_BYTES_MS).unref()
    })
    near.once('close', () => far.destroySoon())
    near.pipe(far)
    far.pipe(near)
  }
}
