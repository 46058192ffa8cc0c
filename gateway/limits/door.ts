/**
 * The listening socket of a port: closed while hardly a file is left to accept with (core/descriptors.ts), and opened again on
 * the same port.
 *
 * A connection that cannot be accepted stays where it is, and both libraries are woken for it again at once, for ever; so
 * nobody may be let in that far. Connections that are open go on, those that come meanwhile are refused by the system. While
 * no thread listens the port's number is free for others: who takes it keeps it, and it is tried again every second.
 */
import type { ListenOptions, Server } from 'node:net'

const AGAIN_MS = 1_000

export class Door {
  readonly #open: () => Promise<boolean> | boolean
  readonly #close: () => void
  readonly #failed: () => void
  #wanted = true
  #isOpen = true
  #trying = false
  #said = false
  #again: NodeJS.Timeout | undefined

  /** Of a port that listens. `open` says whether it listens again; `failed` is told the first of failures in a row. */
  constructor(open: () => Promise<boolean> | boolean, close: () => void, failed: () => void) {
    this.#open = open
    this.#close = close
    this.#failed = failed
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether the port is to listen. */
  want(open: boolean): void {
    this.#wanted = open
    void this.#turn()
  }

  /** The port stops: it does not listen again. */
  end(): void {
    this.#wanted = false
    clearTimeout(this.#again)
  }

  async #turn(): Promise<void> {
    if (this.#trying || this.#wanted === this.#isOpen) return
    clearTimeout(this.#again)
    if (this.#isOpen) {
      this.#isOpen = false
      this.#close()
      return
    }
    this.#trying = true
    this.#isOpen = await this.#open()
    this.#trying = false
    if (!this.#isOpen && !this.#said) this.#failed()
    this.#said = !this.#isOpen
    if (this.#isOpen === this.#wanted) return
    this.#again = setTimeout(() => void this.#turn(), this.#isOpen ? 0 : AGAIN_MS)
    this.#again.unref()
  }
}

/** Lets a server of Node listen; returns the port, rejects when it cannot be had. It may be tried again as often as needed. */
export function listenOn(server: Server, host: string, port: number, options: ListenOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      server.off('listening', listening)
      reject(error)
    }
    const listening = (): void => {
      server.off('error', failed)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    }
    server.once('error', failed).once('listening', listening)
    server.listen({ host, port, ...options })
  })
}

/** The door of a server of Node that listens. */
export const doorOf = (server: Server, host: string, port: number, failed: () => void): Door =>
  new Door(() => listenOn(server, host, port).then(() => true, () => false), () => server.close(), failed)

/** What is said when a port is not had again. */
export const PORT_TAKEN = 'the port cannot be had again, though there are files to open; it is tried every second'
