/**
 * HTTP over uWebSockets.js: with ws/server.ts, which serves WebSockets on the same port, the only file that knows that library.
 *
 * It collects method, raw target, the headers that matter, remote address and body of each request, hands an {@link RequestContext}
 * up, and writes the answer. One exchange is answered exactly once; after an abort the answer is dropped.
 *
 * The head is shown first: what it is refused for is answered before a body is read, and only what is taken has its body collected,
 * {@link Taker.bodyMax} bytes at most. The library skips the body of what was answered, {@link DISCARD_MAX} bytes at most.
 * The head is bounded by UWS_HTTP_MAX_HEADERS_SIZE.
 *
 * uWebSockets.js parses no further request of a connection while one is unanswered: pipelined requests close the connection unless
 * each is answered at once. A refusal that must end the connection is answered in a later turn for exactly that reason
 * ({@link RequestContext.sendLast}).
 */
import {
  us_listen_socket_close, us_socket_local_port, type HttpRequest, type HttpResponse, type TemplatedApp, type us_listen_socket,
  type us_socket,
} from 'uWebSockets.js'
import { countResponse, GATEWAY } from '../../core/ring/counters.ts'
import type { MessageSignature } from '../auth/signed_request.ts'
import type { Apps } from './apps.ts'
import { ClientAddresses } from '../limits/client_address.ts'
import type { HttpConnections } from './connections.ts'
import { createHead, isSuspect, validateHead, lengthOf, messageSignatureOf, resetHead, takeHeader, type Head } from './header_validation.ts'
import { Unfinished, type Body, type BodyLimits } from './unfinished.ts'
import { SHORT, Unsent, type AnswerLimits } from './unsent.ts'
import { errorBody, errorHeaders, statusOf, type HeaderList } from './envelope.ts'
import { Refused } from '../refused.ts'
import type { RequestIds } from '../request_id.ts'

/**
 * The body of a request that was refused from its head is read and dropped, so that a client which only listens when it has sent everything
 * gets its answer. A longer one than this is not: its connection is closed.
 */
const DISCARD_MAX = 8 * 1024 * 1024
export const NO_BODY = Buffer.alloc(0)
const NO_HEADERS: HeaderList = []

const STATUS: Readonly<Record<number, string>> = {
  200: '200 OK', 204: '204 No Content', 302: '302 Found', 304: '304 Not Modified', 400: '400 Bad Request',
  401: '401 Unauthorized', 403: '403 Forbidden',
  404: '404 Not Found', 405: '405 Method Not Allowed', 408: '408 Request Timeout', 409: '409 Conflict', 411: '411 Length Required',
  413: '413 Payload Too Large', 429: '429 Too Many Requests',
  500: '500 Internal Server Error', 503: '503 Service Unavailable',
}

/** One request and the way to answer it. */
export class RequestContext {
  readonly method: string
  /** Path without query. */
  readonly path: string
  /** After the question mark; `undefined` without one. */
  readonly query: string | undefined
  /** Path and query exactly as sent. */
  readonly target: string
  /** Credential headers as sent, '' when absent; `credentials` has header_validation.ts's bits. */
  readonly publicKey: string
  readonly timestamp: string
  readonly signature: string
  readonly credentials: number
  /** `null` unless a header of RFC 9421 came. */
  readonly messageSignature: MessageSignature | null
  /** x-server-key as sent, '' when absent. */
  readonly serverKey: string
  readonly origin: string
  /** Entity tag the client has, '' without one. */
  readonly ifNoneMatch: string
  readonly #forwardedFor: string
  readonly requestId: string
  /** Application of the session or the server key that was accepted; -1 before, and on public routes. */
  application = -1
  body: Uint8Array = NO_BODY
  /** Bytes of the body, as its head says. */
  readonly length: number
  /** What came of a body that is not whole. */
  unfinished: Body | null = null
  ended = false
  readonly server: Server
  readonly response: HttpResponse

  constructor(server: Server, response: HttpResponse, method: string, path: string, query: string | undefined, head: Head) {
    this.server = server
    this.response = response
    this.method = method
    this.path = path
    this.query = query
    this.target = query === undefined ? path : `${path}?${query}`
    this.publicKey = head.publicKey
    this.timestamp = head.timestamp
    this.signature = head.signature
    this.credentials = head.credentials
    this.messageSignature = messageSignatureOf(head)
    this.serverKey = head.serverKey
    this.origin = head.origin
    this.ifNoneMatch = head.ifNoneMatch
    this.#forwardedFor = head.forwardedFor
    this.requestId = server.requestIds.of(head.requestId)
    this.length = lengthOf(head)
  }

  /** Client address, IPv4 or IPv6 text. Only before the exchange ended. */
  ip(): string {
    return this.server.addresses.clientOf(peerOf(this.server, this.response), this.#forwardedFor)
  }

  /** Answers with a text, JSON unless `type` says otherwise; '' sends no body. */
  send(status: number, text: string | Uint8Array, headers: HeaderList = NO_HEADERS, type = 'application/json'): void {
    if (this.ended) return
    if (takeTurn(this.server, text.length)) this.write(status, text, headers, type)
    else setImmediate(() => this.write(status, text, headers, type))
  }

  /** Answers with a refusal. */
  refuse(refused: Refused, headers: HeaderList = NO_HEADERS): void {
    this.send(statusOf(refused), errorBody(refused), [...errorHeaders(refused), ...headers])
  }

  private write(status: number, text: string | Uint8Array, headers: HeaderList, type: string): void {
    if (this.ended) return
    const { response, server } = this
    if (text === '' || this.method === 'HEAD') return this.writeBare(status, text, headers, type)
    const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length
    const short = length <= SHORT
    if (!short && this.method === 'GET') {
      const refused = server.unsent.refusal(this.ip(), length)
      if (refused !== null) return this.write(statusOf(refused), errorBody(refused), errorHeaders(refused), 'application/json')
    }
    const pressed = server.pressed()
    if (pressed && short) return this.writeLast(status, text, headers, type)
    this.end(status)
    let ended = false
    response.cork(() => {
      this.writeHead(status, headers)
      response.writeHeader('Content-Type', type)
      if (pressed) response.writeHeader('Connection', 'close')
      ended = response.tryEnd(text, length)[1]
    })
    if (!ended) server.unsent.hold(response, this.ip(), text)
  }

  /**
   * Answers without a body: HEAD, OPTIONS, 304. Whether their clients take them cannot be seen, so each {@link BARE_MOST}th of the thread
   * closes its connection: one that is never read has so many of them on average, 10 KB.
   */
  private writeBare(status: number, text: string | Uint8Array, headers: HeaderList, type: string): void {
    const { response, server } = this
    server.bare = (server.bare + 1) % BARE_MOST
    if (server.bare === 0 || server.pressed()) return this.writeLast(status, text, headers, type)
    this.end(status)
    response.cork(() => {
      this.writeHead(status, headers)
      // With a length argument the library waits for a body that a HEAD answer does not have.
      if (text !== '') response.writeHeader('Content-Type', type).writeHeader('Content-Length', String(Buffer.byteLength(text)))
      response.endWithoutBody()
    })
  }

  private writeHead(status: number, headers: HeaderList): void {
    const { response } = this
    response.writeStatus(STATUS[status] ?? String(status))
    response.writeHeader('X-Request-Id', this.requestId)
    for (const [name, value] of this.server.commonHeaders(this)) response.writeHeader(name, value)
    for (const [name, value] of headers) response.writeHeader(name, value)
  }

  /** Refuses in a later turn and closes the connection, so that nothing behind this request is ever read as another. */
  sendLast(refused: Refused): void {
    this.writeLast(statusOf(refused), errorBody(refused), errorHeaders(refused), 'application/json')
  }

  /**
   * Answers in a later turn and closes the connection. Until then the library reads no further request, because this one is unanswered. Its
   * own way to end a connection leaves one open whose client does not take the answer, and serves what comes there meanwhile. Closing needs
   * an answer that is not ended, so the body leaves behind the last header.
   */
  private writeLast(status: number, text: string | Uint8Array, headers: HeaderList, type: string): void {
    setImmediate(() => {
      if (this.ended) return
      const { response } = this
      this.end(status)
      response.cork(() => {
        this.writeHead(status, headers)
        if (text === '') return void response.writeHeader('Connection', 'close\r\n')
        response.writeHeader('Connection', 'close').writeHeader('Content-Type', type)
        const length = `${Buffer.byteLength(text)}\r\n`
        response.writeHeader('Content-Length', this.method === 'HEAD' ? length : `${length}\r\n${textOf(text)}`)
      })
      response.close()
    })
  }

  abort(): void {
    if (this.ended) return
    this.end(0)
    this.server.counters[GATEWAY.aborted]!++
  }

  private end(status: number): void {
    this.ended = true
    this.unfinished?.end()
    const { server } = this
    server.inFlight--
    countResponse(server.counters, status)
  }
}

/**
 * Bytes of answers in one turn of the event loop; further answers leave in the next. Pipelined requests that are answered at once
 * are each answered before the next is read, so a packet of short requests for long answers would be held in memory many times over;
 * a request that is answered later ends the pipelining.
 */
const TURN_BYTES = 256 * 1024
/** Of so many answers without a body one closes its connection. */
const BARE_MOST = 32

/** Whether an answer of this length may leave now. */
function takeTurn(server: Server, length: number): boolean {
  if (server.turnBytes === 0) setImmediate(server.endTurn)
  server.turnBytes += length + 1
  return server.turnBytes <= TURN_BYTES
}

const textOf = (text: string | Uint8Array): string => (typeof text === 'string' ? text : Buffer.from(text).toString())

/** Who takes the request of an exchange, which it has been shown the head of. */
export interface Taker {
  /** False: whatever is sent as a body is skipped. */
  readonly wantsBody: boolean
  /** Largest body of this request, bytes. */
  readonly bodyMax: number
  /** The request is whole; its body is valid during the call. `late`: other requests may have come since its head was shown. */
  take(late: boolean): void
}

/** Looks at the head of a request, or answers what it is `refused` for. `null`: it has been answered, or will be. */
export type Open = (exchange: RequestContext, refused: Refused | null) => Taker | null

/** Address of the other end of the connection. */
export const peerOf = ({ addresses }: Server, response: HttpResponse): string =>
  addresses.peerOf(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'))

export interface Server {
  readonly apps: Apps
  readonly addresses: ClientAddresses
  readonly requestIds: RequestIds
  /** Block of this gateway (ring/counters.ts). */
  readonly counters: Float64Array
  readonly head: Head
  readonly open: Open
  readonly commonHeaders: (exchange: RequestContext) => HeaderList
  /** Whether answers are to close their connections (http/connections.ts). */
  readonly pressed: () => boolean
  readonly unfinished: Unfinished
  readonly unsent: Unsent
  inFlight: number
  /** Answers without a body since one closed its connection. */
  bare: number
  /** Bytes answered in this turn of the event loop. */
  turnBytes: number
  readonly endTurn: () => void
  /** Takes a header of the request that is being read. */
  readonly take: (name: string, value: string) => void
  listening: us_listen_socket | null
}

/** A server that shows every request to `open`; `commonHeaders` go on every answer. It counts its connections in `connections`. */
export function createServer(
  counters: Float64Array, limits: BodyLimits & AnswerLimits, open: Open, commonHeaders: (exchange: RequestContext) => HeaderList,
  connections: HttpConnections, apps: Apps, requestIds: RequestIds,
): Server {
  const pressed = (): boolean => connections.pressed
  const endTurn = (): void => {
    server.turnBytes = 0
  }
  const head = createHead()
  const unfinished = new Unfinished(limits, counters)
  const unsent = new Unsent(limits, counters)
  const take = (name: string, value: string): void => takeHeader(head, name, value)
  const server: Server = {
    apps, requestIds, addresses: new ClientAddresses(limits.trustedProxies), counters, head, open, commonHeaders, pressed,
    unfinished, unsent, inFlight: 0, bare: 0, turnBytes: 0, endTurn, take,
    listening: null,
  }
  apps.serve((app) => {
    connections.watch(app, (response) => peerOf(server, response))
    app.any('/*', (response, request) => accept(server, response, request))
  })
  return server
}

/** Reads the head of a request and counts it. */
function readHead(server: Server, response: HttpResponse, request: HttpRequest): RequestContext {
  const { head, counters } = server
  resetHead(head)
  request.forEach(server.take)
  // The types of the package say '' for "no query"; the library says undefined and keeps '' for a bare question mark.
  const query = request.getQuery() as string | undefined
  server.inFlight++
  counters[GATEWAY.requests]!++
  return new RequestContext(server, response, request.getCaseSensitiveMethod(), request.getUrl(), query, head)
}

function accept(server: Server, response: HttpResponse, request: HttpRequest): void {
  const exchange = readHead(server, response, request)
  const { method, target, length } = exchange
  const named = namesAddress(response)
  const refused = named ? PROXY_HEADER : validateHead(server.head, method, target)
  if (refused !== null && (named || isSuspect(server.head, method))) exchange.sendLast(refused)
  else if (refused !== null) server.open(exchange, refused)
  else if (length > DISCARD_MAX) exchange.sendLast(tooLarge(DISCARD_MAX))
  else {
    const taker = server.open(exchange, null)
    if (taker !== null) receive(exchange, taker)
  }
  if (!exchange.ended) response.onAborted(() => exchange.abort())
}

/**
 * Whether a header of the PROXY protocol came before this request. The library takes one from anybody, before every request of a
 * connection, so that the client behind a proxy could write one too. Nobody is believed it: the connection is closed.
 */
const namesAddress = (response: HttpResponse): boolean => response.getProxiedRemoteAddress().byteLength > 0

const PROXY_HEADER = new Refused('MALFORMED_REQUEST', 'A PROXY header is not taken on this port')
const NO_UPGRADE = new Refused('MALFORMED_REQUEST', 'This is no request for a WebSocket of version 13 (RFC 6455, 4.2.1)')

/** The one version of the protocol there is (RFC 6455, 4.4). */
const SOCKET_VERSION = '13'
/** 16 bytes in base64 (RFC 6455, 4.1), of which the library looks at the length only. */
const SOCKET_KEY = /^[A-Za-z0-9+/]{22}==$/

/** Whether a request for a WebSocket may become one, as far as its head says; otherwise it has been answered. */
export function screenUpgrade(server: Server, response: HttpResponse, request: HttpRequest): boolean {
  const { head } = server
  resetHead(head)
  const connection: string[] = []
  const keys: string[] = []
  request.forEach((name, value) => {
    server.take(name, value)
    if (name === 'connection') connection.push(...value.toLowerCase().split(','))
    else if (name === 'sec-websocket-key') keys.push(value)
  })
  const isUpgrade = request.getHeader('upgrade').toLowerCase() === 'websocket' && connection.some((token) => token.trim() === 'upgrade') &&
    request.getHeader('sec-websocket-version') === SOCKET_VERSION && keys.length === 1 && SOCKET_KEY.test(keys[0]!)
  const refused = validateHead(head, request.getCaseSensitiveMethod(), request.getUrl()) ??
    (isUpgrade && lengthOf(head) === 0 && !namesAddress(response) ? null : NO_UPGRADE)
  if (refused === null) return true
  refuseUpgrade(server, response, request, refused)
  return false
}

/** Answers a request for a WebSocket with a refusal and closes its connection. */
export function refuseUpgrade(server: Server, response: HttpResponse, request: HttpRequest, refused: Refused): void {
  const exchange = readHead(server, response, request)
  response.onAborted(() => exchange.abort())
  exchange.sendLast(refused)
}

/** Collects the body. A body in one piece is handed on without a copy: it is valid only inside the callback. */
function receive(context: RequestContext, taker: Taker): void {
  const { server, response, length } = context
  if (length === 0 || !taker.wantsBody) return taker.take(false)
  if (length > taker.bodyMax) return context.refuse(tooLarge(taker.bodyMax))
  response.onData((chunk, last) => {
    if (context.ended || context.unfinished?.over === true) return
    if (!last) {
      context.unfinished ??= server.unfinished.begin(context.ip(), (refused) => context.sendLast(refused))
      return context.unfinished.add(chunk)
    }
    server.counters[GATEWAY.body_bytes]! += length
    const { unfinished } = context
    context.body = unfinished === null ? Buffer.from(chunk) : unfinished.whole(Buffer.from(chunk))
    unfinished?.end()
    taker.take(unfinished !== null)
    context.body = NO_BODY
  })
}

const tooLarge = (maxBytes: number): Refused => new Refused('BODY_TOO_LARGE', `The request body exceeds ${maxBytes} bytes`, { maxBytes })

/** uWebSockets.js's LIBUS_LISTEN_EXCLUSIVE_PORT; its own types do not export the value. */
const EXCLUSIVE = 1
type Listen = (host: string, port: number, options: number, ready: (socket: us_listen_socket | false) => void) => void

/** Opens a listening socket; returns it, or `null` when the port is taken. The library calls back before it returns. */
function open(app: TemplatedApp, host: string, port: number, options: number): us_listen_socket | null {
  let opened: us_listen_socket | null = null
  const listen = app.listen.bind(app) as unknown as Listen
  listen(host, port, options, (socket) => {
    opened = socket === false ? null : socket
  })
  return opened
}

/**
 * Listens and returns the port. Gateway threads share one port. The `first` thread takes it exclusively for a moment, which
 * finds out whether another process has it (sharing would silently split the clients between two exchanges) and turns port 0
 * into a number that the others can join.
 */
export function listen(server: Server, host: string, port: number, first: boolean): number {
  let number = port
  if (first) {
    const probe = open(server.apps.front, host, port, EXCLUSIVE)
    if (probe === null) throw new Error(`cannot listen on ${host}:${port}`)
    number = us_socket_local_port(probe as us_socket)
    us_listen_socket_close(probe)
  }
  server.listening = open(server.apps.front, host, number, 0)
  if (server.listening === null) throw new Error(`cannot listen on ${host}:${number}`)
  return number
}

/** Listens on a free port of the loopback, for connections that are relayed to it (relay.ts); returns the port. */
export function listenWithin(server: Server): number {
  const listening = open(server.apps.front, '127.0.0.1', 0, EXCLUSIVE)
  if (listening === null) throw new Error('cannot listen on the loopback')
  return us_socket_local_port(listening as us_socket)
}

/** Stops listening; connections stay. */
export function closeDoor(server: Server): void {
  if (server.listening !== null) us_listen_socket_close(server.listening)
  server.listening = null
}

/** Listens again on a port that was closed; false: it cannot be had. */
export function listenAgain(server: Server, host: string, port: number): boolean {
  server.listening = open(server.apps.front, host, port, 0)
  return server.listening !== null
}

/** How long connections that were accepted last may take to be handed on, ms. */
const LAST_MS = 10

/** Stops listening, lets requests under way end for at most `graceMs`, then `farewell`, then closes every connection. */
export async function closeServer(server: Server, graceMs: number, farewell: () => Promise<void>): Promise<void> {
  closeDoor(server)
  const until = performance.now() + graceMs
  while (server.inFlight > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  await farewell()
  server.unfinished.close()
  server.unsent.close()
  server.apps.close()
  // With TLS what was accepted last comes to the application that serves it one turn later, and may not outlive the thread.
  await new Promise((resolve) => setTimeout(resolve, LAST_MS))
  server.apps.close()
}
