import { openStreams, signed, type Keys } from './streams.ts'

interface Waiting {
  readonly resolve: (data: any) => void
  readonly reject: (error: unknown) => void
}

/** Order entry in a session: one signature opens it. Send as many as you like before the first is answered. */
export class OrderSession {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, Waiting>()
  #id = 0
  #counter = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    // What was sent and not answered may have been done: look, or repeat it with its idempotencyKey.
    socket.onclose = ({ code, reason }) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`closed: ${code} ${reason}`))
    }
  }

  static async open(base: string, keys: Keys): Promise<OrderSession> {
    const session: OrderSession = new OrderSession(await openStreams(base, (frame) => session.#take(frame)))
    const body = JSON.stringify({ counter: 0 })
    await session.#ask({ type: 'session.open', body, ...(await signed(keys, 'WS', 'session.open', body)) })
    return session
  }

  /** What REST would answer, or its error envelope thrown. */
  send(type: string, body: object = {}): Promise<any> {
    return this.#ask({ type, counter: ++this.#counter, body })
  }

  close(): void {
    this.#socket.close()
  }

  #ask(message: object): Promise<any> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ id, ...message }))
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #take({ type, id, status, data, error }: any): void {
    const waiting = this.#waiting.get(id)
    if (type !== 'result' || waiting === undefined) return
    this.#waiting.delete(id)
    if (status === 200) waiting.resolve(data)
    else waiting.reject(error)
  }
}
