/**
 * What is written to the calls of one connection and not yet taken by its client, in bytes: a client that leaves its window shut, or
 * reads nothing, makes the service hold its answers. All connections together hold `grpcAnswerMb` at most, of which a client has its
 * share (limits/backlog.ts); the connection for which most is held is ended when there is no room. How long a call may take nothing is
 * in calls.ts.
 *
 * Headers and statuses are not counted: a connection has as many of them as calls.
 */
import type { ServerHttp2Stream } from 'node:http2'
import type { Backlog, Backlogged } from '../limits/backlog.ts'

type Written = (error?: Error | null) => void

export class Outgoing implements Backlogged {
  readonly client: string
  readonly cut: () => void
  held = 0
  over = false
  readonly #backlog: Backlog
  #bytes = 0

  /** `cut` ends the connection. */
  constructor(client: string, backlog: Backlog, cut: () => void) {
    this.client = client
    this.cut = cut
    this.#backlog = backlog
  }

  /** Counts what is written to a call of this connection from now on; `onTaken`: its client took some of it. */
  watch(stream: ServerHttp2Stream, onTaken: () => void): void {
    const write = stream.write.bind(stream) as (data: Buffer, written: Written) => boolean
    let mine = 0
    const add = (bytes: number): void => {
      mine += bytes
      this.#bytes += bytes
      this.#backlog.note(this, this.#bytes)
    }
    // The one way in which the library writes messages.
    stream.write = ((data: Buffer, written?: Written): boolean => {
      add(data.length)
      if (this.over) return false
      return write(data, (error) => {
        if (mine > 0) add(-data.length)
        onTaken()
        written?.(error)
      })
    }) as ServerHttp2Stream['write']
    // Whatever the library does not say of writes that were under way.
    stream.once('close', () => add(-mine))
  }

  /** The connection is gone. */
  end(): void {
    this.#backlog.end(this)
  }
}
