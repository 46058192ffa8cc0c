import { Client, credentials, Metadata, type ChannelCredentials, type ClientDuplexStream } from '@grpc/grpc-js'
import { loadSync, type MessageTypeDefinition, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'

const toHex = (bytes: ArrayBuffer): string => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

interface Keys {
  readonly keys: CryptoKeyPair
  readonly publicKey: string
}

/** Signs the serialised bytes of a request, or of an action on a stream: POST, the path of the method, the time, their SHA-256. */
async function signed({ keys, publicKey }: Keys, path: string, bytes: Uint8Array<ArrayBuffer>) {
  const timestamp = String(Date.now())
  const lines = ['POST', path, timestamp, toHex(await crypto.subtle.digest('SHA-256', bytes))].join('\n')
  const signature = toHex(await crypto.subtle.sign('Ed25519', keys.privateKey, new TextEncoder().encode(lines)))
  return { publicKey, timestamp, signature }
}

const STREAM = '/svc.v1.OrdersService/StreamOrders'
const asIs = (bytes: Buffer): Buffer => bytes

export class Grpc {
  readonly session: Keys
  readonly api: PackageDefinition
  readonly client: Client

  /** `protos`: the folder of the .proto files. `session`: the one of Sign a request. */
  constructor(address: string, protos: string, session: Keys, channel: ChannelCredentials = credentials.createInsecure()) {
    this.session = session
    this.api = loadSync(['svc/v1/accounts_service.proto', 'svc/v1/orders_service.proto'], { includeDirs: [protos], enums: String })
    this.client = new Client(address, channel)
  }

  /** One signed call, for example `call('OrdersService', 'GetOrder', { orderId })`. Rejects with the error of gRPC. */
  async call(service: string, name: string, input: object): Promise<any> {
    const { path, requestSerialize, responseDeserialize } = (this.api[`svc.v1.${service}`] as ServiceDefinition)[name]!
    const bytes = Buffer.from(requestSerialize(input))
    const { publicKey, timestamp, signature } = await signed(this.session, path, bytes)
    const metadata = new Metadata()
    metadata.set('x-svc-publickey', publicKey)
    metadata.set('x-svc-timestamp', timestamp)
    metadata.set('x-svc-signature', signature)
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, answer: any): void => (error === null ? resolve(answer) : reject(error))
      this.client.makeUnaryRequest(path, asIs, responseDeserialize, bytes, metadata, done)
    })
  }

  streamOrders(): OrderStream {
    return new OrderStream(this)
  }
}

interface Waiter {
  resolve(answer: any): void
  reject(error: Error): void
}

/** Orders on one stream, many in flight. Answers come in the order actions were done in, and carry their `requestId`. */
export class OrderStream {
  readonly #grpc: Grpc
  readonly #stream: ClientDuplexStream<object, any>
  readonly #waiting = new Map<string, Waiter>()
  #next = 1
  #ended: Error | null = null

  constructor(grpc: Grpc) {
    this.#grpc = grpc
    const { requestSerialize, responseDeserialize } = (grpc.api['svc.v1.OrdersService'] as ServiceDefinition)['StreamOrders']!
    this.#stream = grpc.client.makeBidiStreamRequest(STREAM, requestSerialize, responseDeserialize)
    this.#stream.on('data', ({ answers }) => {
      for (const answer of answers) {
        this.#waiting.get(answer.requestId)?.resolve(answer)
        this.#waiting.delete(answer.requestId)
      }
    })
    const end = (error: Error): void => {
      this.#ended ??= error
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    this.#stream.on('error', end)
    this.#stream.on('end', () => end(new Error('The stream has ended')))
  }

  /** Sends one signed action, for example `{ createOrder: {...} }`; a refusal is an answer with `error`. */
  async send(action: object): Promise<any> {
    const requestId = String(this.#next++)
    const { serialize } = this.#grpc.api['svc.v1.StreamOrdersAction'] as MessageTypeDefinition<object, object>
    const bytes = Buffer.from(serialize({ requestId, ...action }))
    const proof = await signed(this.#grpc.session, STREAM, bytes)
    if (this.#ended !== null) throw this.#ended
    return new Promise((resolve, reject) => {
      this.#waiting.set(requestId, { resolve, reject })
      this.#stream.write({ action: bytes, ...proof })
    })
  }

  /** No more actions; what was sent is still answered. */
  close(): void {
    this.#ended ??= new Error('The stream was closed')
    this.#stream.end()
  }
}
