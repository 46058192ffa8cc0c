/** A gRPC client built from the .proto files alone: it signs, calls any method and takes errors apart. */
import { createHash, sign } from 'node:crypto'
import type { ClientHttp2Stream } from 'node:http2'
import { Client, credentials, Metadata, status, type CallOptions, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { loadSchema } from '../../gateway/grpc/schema.ts'
import type { Session } from './gateway_harness.ts'

export const schema = loadSchema()
export const typeOf = (name: string): protobuf.Type => schema.lookupType(`svc.v1.${name}`)

/** The service that has method `name`, as `svc.v1.<service>`. */
function serviceOf(name: string): string {
  for (const entry of (schema.lookup('svc.v1') as protobuf.Namespace).nestedArray) {
    if (entry instanceof protobuf.Service && entry.methods[name] !== undefined) return entry.fullName.slice(1)
  }
  throw new Error(`no service has the method ${name}`)
}
export const pathOf = (name: string): string => `/${serviceOf(name)}/${name}`

export const encodeMessage = (name: string, value: object): Buffer => {
  const type = typeOf(name)
  return Buffer.from(type.encode(type.fromObject(value)).finish())
}
/** Enumerations by name, whole numbers as numbers; fields that were not sent are absent. */
export const decodeMessage = (name: string, bytes: Uint8Array): any => {
  const type = typeOf(name)
  return type.toObject(type.decode(bytes), { enums: String, longs: Number, arrays: true })
}

/** The three credentials for these bytes of this method. */
export function credentialsFor(
  session: Session, path: string, bytes: Uint8Array, timestamp = String(Date.now()),
): Record<string, string> {
  const digest = createHash('sha256').update(bytes).digest('hex')
  const signature = sign(null, Buffer.from(`POST\n${path}\n${timestamp}\n${digest}`), session.privateKey).toString('hex')
  return { 'x-svc-publickey': session.publicKey, 'x-svc-timestamp': timestamp, 'x-svc-signature': signature }
}

export interface GrpcReply {
  readonly code: status
  readonly message: string
  /** The decoded response; `null` after an error. */
  readonly response: any
  /** Metadata before and after the message, first values. */
  readonly metadata: Record<string, string>
  /** google.rpc.Status details. */
  readonly reason: string | undefined
  readonly domain: string | undefined
  readonly details: Record<string, string>
  readonly retrySeconds: number | undefined
}

const texts = (metadata: Metadata): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.getMap()).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

interface Any {
  readonly type_url: string
  readonly value: Uint8Array
}

/** What google.rpc.Status says in its details. */
export function detailsOf(bytes: Uint8Array): Pick<GrpcReply, 'reason' | 'domain' | 'details' | 'retrySeconds'> {
  const found = { reason: undefined, domain: undefined, details: {}, retrySeconds: undefined }
  const { details } = schema.lookupType('google.rpc.Status').decode(bytes) as unknown as { details: Any[] }
  for (const { type_url: url, value } of details) {
    const type = schema.lookupType(url.slice(url.indexOf('/') + 1))
    const part = type.toObject(type.decode(value), { longs: Number })
    if (type.name === 'ErrorInfo') Object.assign(found, { reason: part['reason'], domain: part['domain'], details: part['metadata'] ?? {} })
    else if (type.name === 'RetryInfo') Object.assign(found, { retrySeconds: part['retryDelay'].seconds })
  }
  return found
}

export interface GrpcClient {
  readonly client: Client
  /** Calls method `name` with a request message, signed when there is a session. */
  call(name: string, request?: object, session?: Session | null, options?: CallOptions): Promise<GrpcReply>
  /** Exactly these bytes and metadata. */
  send(
    path: string, bytes: Buffer, metadata: Metadata | Record<string, string>, response?: string, options?: CallOptions,
  ): Promise<GrpcReply>
  close(): void
}

const metadataOf = (entries: Metadata | Record<string, string>): Metadata =>
  entries instanceof Metadata ? entries : Metadata.fromHttp2Headers(entries)

export function connectGrpc(
  port: number, options: ChannelOptions = {}, secure: ChannelCredentials = credentials.createInsecure(), host = '127.0.0.1',
): GrpcClient {
  // A pool of its own: otherwise the library shares connections between clients.
  const client = new Client(`${host}:${port}`, secure, { 'grpc.use_local_subchannel_pool': 1, ...options })
  const send: GrpcClient['send'] = (path, bytes, entries, response, callOptions = {}) =>
    new Promise((resolve) => {
      let initial = {}
      const asIs = (each: Buffer): Buffer => each
      const call = client.makeUnaryRequest<Buffer, Buffer>(path, asIs, asIs, bytes, metadataOf(entries), callOptions, (error, answer) => {
        const trailers = error?.metadata ?? new Metadata()
        const details = trailers.get('grpc-status-details-bin')[0] as Buffer | undefined
        resolve({
          code: error?.code ?? status.OK,
          message: error?.details ?? '',
          response: error !== null || response === undefined ? null : decodeMessage(response, answer!),
          metadata: { ...initial, ...texts(trailers) },
          ...(details === undefined ? { reason: undefined, domain: undefined, details: {}, retrySeconds: undefined } : detailsOf(details)),
        })
      })
      call.on('metadata', (metadata) => (initial = texts(metadata)))
    })
  return {
    client, send,
    call: (name, request = {}, session = null, callOptions = {}) => {
      const bytes = encodeMessage(`${name}Request`, request)
      const path = pathOf(name)
      return send(path, bytes, session === null ? {} : credentialsFor(session, path, bytes), `${name}Response`, callOptions)
    },
    close: () => client.close(),
  }
}

/** How a call on a raw stream ends, whose data is not looked at: its grpc-status, or `reset` and the code. */
export function statusOf(stream: ClientHttp2Stream): Promise<string> {
  stream.resume()
  return new Promise((resolve) => {
    const note = (received: Record<string, unknown>): void => {
      if (received['grpc-status'] !== undefined) resolve(String(received['grpc-status']))
    }
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', () => undefined)
    stream.on('close', () => resolve(`reset ${stream.rstCode}`))
  })
}
