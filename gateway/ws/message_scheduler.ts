/**
 * When a socket's messages are served: changes of subscriptions have their share of the thread's time (limits/anonymous.ts), because
 * each may copy a book or ask the history, whoever sends it. Signed orders and signatures go before them.
 *
 * The messages of a socket are served in their order: while a change waits, what comes behind it does too. Who is signed in has a queue of
 * its own in the rotation, the others one for each client. Changes wait for as long as it takes; what they hold is bounded, for all and
 * for each, and who has its share is closed with MESSAGE_RATE_LIMIT, without room for anybody with 1013.
 */
import type { Gateway } from '../context.ts'
import { CLOSE, type CloseCode, type ErrorCode } from './protocol.ts'
import type { Malformed, Message } from './frames.ts'

/** What a message holds besides its bytes, about: its objects, its place in the queue. */
const OVERHEAD = 512

/** The connection whose messages these are. */
interface Scheduled {
  readonly account: number
  readonly closed: boolean
  fail(code: ErrorCode, message: string): void
  close(code: CloseCode, reason: string): void
}

export class MessageScheduler {
  readonly #gateway: Gateway
  /** Where the socket comes from (limits/network.ts). */
  readonly client: string
  #waiting = 0
  /** Whose share they have, and in which queue of the rotation they wait. */
  #share = ''
  #queue = ''

  constructor(gateway: Gateway, client: string) {
    this.#gateway = gateway
    this.client = client
  }

  /** Serves the message of `connection`, of this many bytes, when it is its turn. */
  take(connection: Scheduled, message: Message | Malformed, bytes: number, serve: () => void): void {
    const { anonymous, history } = this.#gateway
    if (this.#waiting === 0 && message.type !== 'subscribe' && message.type !== 'unsubscribe') return serve()
    const { account } = connection
    // What waits keeps its queue, whoever signs in meanwhile.
    if (this.#waiting === 0) {
      this.#share = account < 0 ? this.client : `account ${account}`
      this.#queue = account < 0 ? `sockets of ${this.client}` : this.#share
    }
    this.#waiting++
    anonymous.submit({
      client: this.#share, queue: this.#queue, reads: false, bytes: bytes + OVERHEAD,
      get over() {
        return connection.closed
      },
      keep: () => undefined,
      run: (payer) => {
        this.#waiting--
        history.payer = payer
        serve()
        history.payer = null
      },
      refuse: ({ code }) => {
        if (code === 'RATE_LIMIT_EXCEEDED') connection.fail('MESSAGE_RATE_LIMIT', 'Too many changes of subscriptions wait')
        else connection.close(CLOSE.RESYNC, 'overloaded')
      },
    })
  }
}
