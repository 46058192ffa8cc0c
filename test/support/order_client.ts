/** Order entry on a WebSocket, as a client does it: messages signed one by one, and sessions with a counter. */
import { createHash } from 'node:crypto'
import { SocketClient, type Frame, type SocketSigner } from './sockets.ts'

/** The four lines of order entry, signed. `body` is the text that travels. */
export function signedOrder(
  signer: SocketSigner, type: string, body: string | undefined, id: string | number = 'x', timestamp = String(Date.now()),
): Frame {
  const digest = createHash('sha256').update(body ?? '').digest('hex')
  const signature = Buffer.from(signer.sign(Buffer.from(`WS\n${type}\n${timestamp}\n${digest}`))).toString('hex')
  return { type, id, ...(body === undefined ? {} : { body }), publicKey: signer.publicKey, timestamp, signature }
}

let asked = 0
const newId = (): string => `order-${++asked}`

/** A client that enters orders. */
export class OrderSocket {
  readonly client: SocketClient
  readonly signer: SocketSigner
  counter = 0

  private constructor(client: SocketClient, signer: SocketSigner) {
    this.client = client
    this.signer = signer
  }

  static async open(port: number, signer: SocketSigner): Promise<OrderSocket> {
    return new OrderSocket(await SocketClient.open(port), signer)
  }

  /** As {@link open}, with an open session. */
  static async inSession(port: number, signer: SocketSigner, counter = 0): Promise<OrderSocket> {
    const socket = await OrderSocket.open(port, signer)
    const opened = await socket.openSession(counter)
    if (opened['status'] !== 200) throw new Error(JSON.stringify(opened))
    return socket
  }

  /** Opens a session on the connection. Signatures are deterministic, and each opens one session: the counter or the time must differ. */
  openSession(counter = 0, signer = this.signer): Promise<Frame> {
    this.counter = counter
    return this.send(signedOrder(signer, 'session.open', JSON.stringify({ counter }), newId(), nextTimestamp()))
  }

  /** Sends a signed message and waits for its answer. */
  signed(type: string, body: unknown, signer = this.signer): Promise<Frame> {
    return this.send(signedOrder(signer, type, body === undefined ? undefined : JSON.stringify(body), newId()))
  }

  /** Sends a message of the session and waits for its answer. */
  counted(type: string, body: unknown): Promise<Frame> {
    return this.send({ type, id: newId(), counter: ++this.counter, body })
  }

  /** Sends a message that has an id and waits for its answer. */
  send(message: Frame): Promise<Frame> {
    const from = this.client.frames.length
    this.client.send(message)
    return this.client.next((frame) => frame['id'] === message['id'], from)
  }

  close(): void {
    this.client.close()
  }
}

let last = 0
/** A time that no other signature of this process has. */
function nextTimestamp(): string {
  last = Math.max(last + 1, Date.now())
  return String(last)
}
