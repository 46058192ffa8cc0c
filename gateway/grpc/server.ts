/**
 * The gRPC server: every operation as a unary method, StreamOrders, health and reflection, over grpc-js. The only file that assembles that
 * library.
 *
 * Handlers get and give bytes, because signatures are over the bytes; compressed messages arrive decompressed. Limits: messages of 2 MiB
 * both ways, {@link STREAMS_MAX} calls at once on a connection, and age by configuration and constants here; how many connections there are
 * in limits/port.ts, what a connection may do in connections.ts, what a call may take in calls.ts. What clients do not
 * take of their answers in outgoing.ts.
 */
import type { Http2SecureServer, Http2Server } from 'node:http2'
import {
  logVerbosity, Server, ServerCredentials, ServerInterceptingCall, setLogVerbosity, type ServerInterceptingCallInterface,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import { protoPath as healthProto, service as healthService } from 'grpc-health-check'
import { TLS12_CIPHERS, type Certificate } from '../../core/certificates.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { Backlog } from '../limits/backlog.ts'
import { networkOf } from '../limits/network.ts'
import { ConnectionPort } from '../limits/port.ts'
import { readProxies, Shares } from '../limits/shares.ts'
import type { Gateway } from '../context.ts'
import { SIGNED_BODY_MAX } from '../operations/operation.ts'
import { LIBRARY_MS, serveUnary } from './call.ts'
import { Calls, STALLED_MS } from './calls.ts'
import { Connections, Listener } from './connections.ts'
import { clientOf, createFront, type Front } from './front.ts'
import { serveHealth, type Health } from './health.ts'
import { compileMethods, type Method } from './methods.ts'
import { loadSchema, PACKAGE, PROTO_ROOT, protoFiles } from './schema.ts'
import { createStatusWriter } from './status.ts'
import { OrderStream, STREAM_PATH } from './stream.ts'
import { streamTypes, type StreamTypes } from './stream_call.ts'

const MESSAGE_MAX = SIGNED_BODY_MAX
/** Calls at once on one connection. */
const STREAMS_MAX = 100
const MIB = 1024 * 1024
const UNSENT = { waiting: GATEWAY.grpc_unsent_bytes, capacity: GATEWAY.grpc_unsent_capacity, cut: GATEWAY.grpc_unsent_cut }
/** Bytes that the requests of one connection may hold: four of the longest. */
const CONNECTION_BYTES = 4 * MESSAGE_MAX
/** A connection is asked to reconnect after this long, so that clients spread again; its calls then have a minute to end, ms. */
const AGE_MS = 24 * 3600 * 1000
const AGE_GRACE_MS = 60_000
/** The server pings a silent connection to find out whether it is dead, ms. */
const KEEPALIVE_MS = 60_000
const KEEPALIVE_TIMEOUT_MS = 20_000

export interface GrpcServer {
  readonly server: Server
  readonly http2Server: Http2Server
  readonly front: Front
  readonly health: Health
  readonly port: ConnectionPort
  readonly listener: Listener
  readonly connections: Connections
  readonly calls: Calls
  /** What requests hold. */
  readonly memory: Shares
  readonly streams: Set<OrderStream>
}

/** Of TLS 1.3, and those of TLS 1.2 that REST has. */
const CIPHERS = `TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:${TLS12_CIPHERS}`

const asIs = (bytes: Buffer): Buffer => bytes

/** PEM texts. */
type KeyPair = Pick<Certificate, 'cert' | 'key'>

/** `tls`: `null` serves plain HTTP/2. */
export function createGrpcServer(gateway: Gateway, tls: KeyPair | null): GrpcServer {
  // The library would print metadata that it cannot read, credentials among them.
  setLogVerbosity(logVerbosity.NONE)
  const root = loadSchema()
  const methods = compileMethods(root)
  const front = createFront(gateway, createStatusWriter(root))
  const streams = new Set<OrderStream>()
  const types = streamTypes(root, methods)
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_MAX,
    'grpc.max_send_message_length': MESSAGE_MAX,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    'grpc.max_connection_age_ms': AGE_MS,
    'grpc.max_connection_age_grace_ms': AGE_GRACE_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
    interceptors: [(method, call) => {
      if (method.path === STREAM_PATH) return takeStream(call, calls, front, types, streams)
      return REFLECTION.includes(method.path) ? takeQuestions(call, calls, front) : takeUnary(call, calls)
    }],
  })
  for (const method of methods) server.register(method.path, serveUnary(front, method), asIs, asIs, 'unary')
  // The interceptor keeps the calls of this method; its handler is never reached.
  server.register(STREAM_PATH, () => undefined, asIs, asIs, 'bidi')
  const services = [...new Set(methods.map(serviceOf))].sort()
  const health = serveHealth(server, gateway, services)
  reflect(server, services)
  const credentials = tls === null ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }])
  const injector = server.createConnectionInjector(credentials)
  const http2Server = http2ServerOf(server)
  if (tls !== null) useCertificate(http2Server, tls)
  const { config, counters } = gateway
  const proxies = readProxies(config)
  const port = new ConnectionPort(
    config.grpcConnections, config.firstRequestSeconds * 1000, proxies, gateway.portCounters('grpc'),
    (open) => (counters[GATEWAY.connections] = open),
  )
  const listener = new Listener(port, front.addresses, (socket) => injector.injectConnection(socket))
  front.addressOf = (peer) => listener.addressOf(peer)
  const memory = new Shares(config.grpcRequestMb * MIB, proxies)
  counters[GATEWAY.grpc_held_limit] = memory.most
  const answers = new Backlog(config.grpcAnswerMb * MIB, proxies, counters, UNSENT)
  const held = { requests: memory, most: CONNECTION_BYTES, answers }
  const connections = new Connections(http2Server, port, listener, config.grpcIdleSeconds * 1000, held)
  const calls = new Calls(http2Server, connections, {
    longLived: new Set([STREAM_PATH, healthService['Watch']!.path, ...REFLECTION]), prompt: new Set([STREAM_PATH]),
    requestMs: config.grpcRequestSeconds * 1000, stalledMs: STALLED_MS, messageMax: MESSAGE_MAX,
    onNoRoom: () => counters[GATEWAY.grpc_no_room]!++,
  })
  return { server, http2Server, front, health, port, listener, connections, calls, memory, streams }
}

const serviceOf = ({ served }: Method): string => `${PACKAGE}.${served.row.service}`
/** Base class of calls and interceptors: the library types them apart, and takes either. */
const asCall = (call: ServerInterceptingCallInterface): ServerInterceptingCall => call as ServerInterceptingCall

function takeUnary(call: ServerInterceptingCallInterface, calls: Calls): ServerInterceptingCall {
  calls.readFor(call, false)
  return asCall(call)
}

/** Questions of one stream of the library whose answers are not being written yet; it keeps them as objects that nobody counts. */
const QUESTIONS_MAX = 32

/** A stream of the library, whose messages it is handed one by one, when there is time for them, and answers one by one. */
function takeQuestions(call: ServerInterceptingCallInterface, calls: Calls, front: Front): ServerInterceptingCall {
  const { gateway, statuses } = front
  const reader = calls.readFor(call, true)
  let over = false
  let open = 0
  let client = ''
  const ask = (run: () => void): void => gateway.anonymous.submit({
    client,
    reads: false,
    get over() {
      return over
    },
    keep: () => undefined,
    run: (payer) => {
      payer.charge(LIBRARY_MS)
      run()
    },
    refuse: (refused) => call.sendStatus(statuses.ending(refused)),
  })
  return new ServerInterceptingCall(call, {
    start: (next) => {
      next({
        onReceiveMetadata: (metadata, pass) => {
          client = networkOf(clientOf(front, call.getPeer(), metadata))
          pass(metadata)
        },
        onReceiveMessage: (message, pass) => {
          if (++open > QUESTIONS_MAX) return calls.calm(call)
          ask(() => {
            reader.served()
            pass(message)
          })
        },
        onCancel: () => (over = true),
      })
    },
    sendMessage: (message, next) => {
      open--
      next(message)
    },
  })
}

/** A StreamOrders call: messages go to an {@link OrderStream} at the pace it reads, without the object streams of the library. */
function takeStream(
  call: ServerInterceptingCallInterface, calls: Calls, front: Front, types: StreamTypes, streams: Set<OrderStream>,
): ServerInterceptingCall {
  const reader = calls.readFor(call, true)
  let stream: OrderStream | null = null
  let begun = false
  return new ServerInterceptingCall(call, {
    start: (next) => {
      next({
        onReceiveMetadata: (metadata) => {
          stream = new OrderStream(front, types, call, networkOf(clientOf(front, call.getPeer(), metadata)))
          streams.add(stream)
          stream.start()
        },
        onReceiveMessage: (bytes: Buffer) => {
          if (!begun) calls.begun(call)
          begun = true
          reader.served()
          stream!.take(bytes)
        },
        onReceiveHalfClose: () => stream?.finish(),
        onCancel: () => {
          if (stream === null) return
          streams.delete(stream)
          stream.cancel()
        },
      })
    },
  })
}

/** Methods of both versions of server reflection. */
const REFLECTION = ['v1', 'v1alpha'].map((version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`)

function reflect(server: Server, services: readonly string[]): void {
  const files = [...protoFiles(), 'google/rpc/error_details.proto', healthProto]
  const definition = loadSync(files, { includeDirs: [PROTO_ROOT], keepCase: true })
  // Every message and enum of it has the descriptors of all files, and the library decodes those of each: one is enough.
  const all = Object.entries(definition).find(([, { fileDescriptorProtos }]) => fileDescriptorProtos !== undefined)!
  new ReflectionService(Object.fromEntries([all]), { services: [...services, 'grpc.health.v1.Health'] }).addToServer(server)
}

/** The HTTP/2 server the library made for injected connections: its settings and sessions are reachable in no other way. */
function http2ServerOf(server: Server): Http2Server {
  const { http2Servers } = server as unknown as { http2Servers: Map<Http2Server, unknown> }
  const [http2Server] = http2Servers.keys()
  if (http2Servers.size !== 1 || http2Server === undefined) throw new Error('grpc-js keeps its HTTP/2 servers elsewhere')
  return http2Server
}

/** The pair of connections from now on, and what else TLS is here: 1.2 at least, forward secrecy, authenticated encryption. */
function useCertificate(server: Http2Server, { cert, key }: KeyPair): void {
  ;(server as Http2SecureServer).setSecureContext({ cert, key, ciphers: CIPHERS, honorCipherOrder: true, minVersion: 'TLSv1.2' })
}

/** Takes another pair; open connections go on with the old one. */
export const renewCertificate = ({ http2Server }: GrpcServer, pair: KeyPair): void => useCertificate(http2Server, pair)

/** Listens on the configured address and returns the port. */
export const listenGrpc = ({ listener }: GrpcServer, host: string, number: number): Promise<number> => listener.listen(host, number)

/**
 * Stops in order: nothing new is accepted, health says so, what is under way is answered for at most `graceMs`, then every connection
 * is closed.
 */
export async function closeGrpc(served: GrpcServer, graceMs: number): Promise<void> {
  const { server, front, health, port, listener, connections, calls, streams } = served
  listener.server.close()
  front.stopping = true
  health.stop()
  for (const stream of streams) stream.stop()
  const until = performance.now() + graceMs
  const busy = (): boolean => front.inFlight > 0 || streams.size > 0
  while (busy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  // Answers and statuses just written leave before the connections do.
  if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, FLUSH_MS))
  for (const stream of streams) stream.cancel()
  server.forceShutdown()
  calls.close()
  connections.close()
  port.close()
}

const FLUSH_MS = 50
