/**
 * The gRPC server: every operation as a unary method, StreamOrders, health and reflection, over grpc-js. The only file that assembles that
 * library.
 *
 * Handlers get and give bytes, because signatures are over the bytes; compressed messages arrive decompressed. Limits: messages of 2 MiB
 * both ways, {@link STREAMS_MAX} calls at once on a connection, connections, idleness and age by configuration and constants here; metadata
 * and what else a connection may do in connections.ts. An answer that its client does not take costs at most what it says, until the
 * call is given up.
 */
import type { Http2Server } from 'node:http2'
import {
  logVerbosity, Server, ServerCredentials, ServerInterceptingCall, setLogVerbosity, type ServerInterceptingCallInterface,
  type ServerMethodDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import { protoPath as healthProto, service as healthService } from 'grpc-health-check'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import { BODY_MAX } from '../http/server.ts'
import { serveUnary } from './call.ts'
import { guard, listen, openPort, STALLED_MS, type Port } from './connections.ts'
import { createFront, type Front } from './front.ts'
import { serveHealth, type Health } from './health.ts'
import { compileMethods, type Method } from './methods.ts'
import { loadSchema, PACKAGE, PROTO_ROOT, protoFiles } from './schema.ts'
import { createStatusWriter } from './status.ts'
import { OrderStream, STREAM_PATH } from './stream.ts'
import { streamTypes, type StreamTypes } from './stream_call.ts'

const MESSAGE_MAX = BODY_MAX
/** Calls at once on one connection. */
const STREAMS_MAX = 100
/** A connection is asked to reconnect after this long, so that clients spread again; its calls then have a minute to end, ms. */
const AGE_MS = 24 * 3600 * 1000
const AGE_GRACE_MS = 60_000
/** The server pings a silent connection to find out whether it is dead, ms. */
const KEEPALIVE_MS = 60_000
const KEEPALIVE_TIMEOUT_MS = 20_000

export interface GrpcServer {
  readonly server: Server
  readonly front: Front
  readonly health: Health
  readonly port: Port
  readonly streams: Set<OrderStream>
}

const asIs = (bytes: Buffer): Buffer => bytes

/** `tls`: PEM texts; `null` serves plain HTTP/2. */
export function createGrpcServer(gateway: Gateway, tls: { readonly cert: Buffer; readonly key: Buffer } | null): GrpcServer {
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
    'grpc.max_connection_idle_ms': gateway.config.grpcIdleSeconds * 1000,
    'grpc.max_connection_age_ms': AGE_MS,
    'grpc.max_connection_age_grace_ms': AGE_GRACE_MS,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
    interceptors: [(method, call) => (method.path === STREAM_PATH ? takeStream(method, call, front, types, streams) : asCall(call))],
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
  guard(http2ServerOf(server), new Set([STREAM_PATH, healthService['Watch']!.path, ...REFLECTION]), STALLED_MS)
  const port = openPort(
    gateway.config.grpcConnections, (socket) => injector.injectConnection(socket),
    (open) => (gateway.counters[GATEWAY.connections] = open),
  )
  return { server, front, health, port, streams }
}

const serviceOf = ({ served }: Method): string => `${PACKAGE}.${served.row.service}`
/** Base class of calls and interceptors: the library types them apart, and takes either. */
const asCall = (call: ServerInterceptingCallInterface): ServerInterceptingCall => call as ServerInterceptingCall

/** A StreamOrders call: messages go to an {@link OrderStream} at the pace it reads, without the object streams of the library. */
function takeStream(
  _method: ServerMethodDefinition<unknown, unknown>, call: ServerInterceptingCallInterface, front: Front, types: StreamTypes,
  streams: Set<OrderStream>,
): ServerInterceptingCall {
  const stream = new OrderStream(front, types, call)
  return new ServerInterceptingCall(call, {
    start: (next) => {
      next({
        onReceiveMetadata: () => {
          streams.add(stream)
          stream.start()
        },
        onReceiveMessage: (bytes: Buffer) => stream.take(bytes),
        onReceiveHalfClose: () => stream.finish(),
        onCancel: () => {
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
  new ReflectionService(definition, { services: [...services, 'grpc.health.v1.Health'] }).addToServer(server)
}

/** The HTTP/2 server the library made for injected connections: its settings and sessions are reachable in no other way. */
function http2ServerOf(server: Server): Http2Server {
  const { http2Servers } = server as unknown as { http2Servers: Map<Http2Server, unknown> }
  const [http2Server] = http2Servers.keys()
  if (http2Servers.size !== 1 || http2Server === undefined) throw new Error('grpc-js keeps its HTTP/2 servers elsewhere')
  return http2Server
}

/** Listens on the configured address and returns the port. */
export const listenGrpc = ({ port }: GrpcServer, host: string, number: number): Promise<number> => listen(port, host, number)

/**
 * Stops in order: nothing new is accepted, health says so, what is under way is answered for at most `graceMs`, then every connection
 * is closed.
 */
export async function closeGrpc({ server, front, health, port, streams }: GrpcServer, graceMs: number): Promise<void> {
  port.listener.close()
  front.stopping = true
  health.stop()
  for (const stream of streams) stream.stop()
  const until = performance.now() + graceMs
  const busy = (): boolean => front.inFlight > 0 || streams.size > 0
  while (busy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  // Answers and statuses just written leave before the connections do.
  if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, FLUSH_MS))
  server.forceShutdown()
  for (const socket of port.sockets) socket.destroy()
}

const FLUSH_MS = 50
