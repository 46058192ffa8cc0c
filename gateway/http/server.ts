/**
 * HTTP over uWebSockets.js: with ws/server.ts, which serves WebSockets on the same port, the only file that knows that library.
 *
 * It collects method, raw target, the headers that matter, remote address and body of each request, hands an {@link Exchange}
 * up, and writes the answer. One exchange is answered exactly once; after an abort the answer is dropped.
 *
 * Limits: a body of at most {@link BODY_MAX} bytes; the head by UWS_HTTP_MAX_HEADERS_SIZE. uWebSockets.js parses no further
 * request of a connection while one is unanswered: pipelined requests close the connection unless each is answered at once.
 * A refusal that must end the connection is answered in a later turn for exactly that reason: `end(body, true)` inside the
 * callback would leave bytes that follow in the same segment to be served as another request.
 */
import {
  App, us_listen_socket_close, us_socket_local_port, type HttpRequest, type HttpResponse, type TemplatedApp, type us_listen_socket,
  type us_socket,
} from 'uWebSockets.js'
import type { RefusalCode } from '../../core/engine/refusals.ts'
import { countResponse, GATEWAY } from '../../core/ring/counters.ts'
import type { MessageSignature } from '../auth/signed_request.ts'
import { createHead, isSuspect, judge, messageSignatureOf, resetHead, visit, type Head } from './edge.ts'
import { errorBody, Refused, statusOf, type HeaderList } from './envelope.ts'

/** Largest request body in bytes (specification, Limits). */
export const BODY_MAX = 2 * 1024 * 1024
/** A longer body than this is not even read to its end: its connection is closed. */
const DISCARD_MAX = 4 * BODY_MAX
const NO_BODY = Buffer.alloc(0)
const NO_HEADERS: HeaderList = []

const STATUS: Readonly<Record<number, string>> = {
  200: '200 OK', 204: '204 No Content', 304: '304 Not Modified', 400: '400 Bad Request', 401: '401 Unauthorized', 403: '403 Forbidden',
  404: '404 Not Found', 405: '405 Method Not Allowed', 409: '409 Conflict', 413: '413 Payload Too Large', 429: '429 Too Many Requests',
  500: '500 Internal Server Error', 503: '503 Service Unavailable',
}

/** One request and the way to answer it. */
export class Exchange {
  readonly method: string
  /** Path without query. */
  readonly path: string
  /** After the question mark; `undefined` without one. */
  readonly query: string | undefined
  /** Path and query exactly as sent. */
  readonly target: string
  /** Credential headers as sent, '' when absent; `credentials` has edge.ts's bits. */
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
  /** Application of the session or the server key that was accepted; -1 before, and on public routes. */
  application = -1
  body: Uint8Array = NO_BODY
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
  }

  /** Client address, IPv4 or IPv6 text. Only before the exchange ended. */
  ip(): string {
    return Buffer.from(this.response.getRemoteAddressAsText()).toString('latin1')
  }

  /** Answers with a text, JSON unless `type` says otherwise; '' sends no body. */
  send(status: number, text: string | Uint8Array, headers: HeaderList = NO_HEADERS, close = false, type = 'application/json'): void {
    if (this.ended) return
    if (takeTurn(this.server, text.length)) this.write(status, text, headers, close, type)
    else setImmediate(() => this.write(status, text, headers, close, type))
  }

  private write(status: number, text: string | Uint8Array, headers: HeaderList, close: boolean, type: string): void {
    if (this.ended) return
    this.end(status)
    const { response } = this
    response.cork(() => {
      response.writeStatus(STATUS[status] ?? String(status))
      for (const [name, value] of this.server.commonHeaders(this)) response.writeHeader(name, value)
      for (const [name, value] of headers) response.writeHeader(name, value)
      if (text !== '') response.writeHeader('Content-Type', type)
      if (text !== '' && this.method !== 'HEAD') response.end(text, close)
      else if (close) response.endWithoutBody(0, true)
      else if (text === '') response.endWithoutBody()
      // With a length argument the library waits for a body that a HEAD answer does not have.
      else response.writeHeader('Content-Length', String(Buffer.byteLength(text))).endWithoutBody()
    })
  }

  /** Answers in a later turn and closes the connection. */
  sendAndClose(refused: Refused): void {
    setImmediate(() => this.send(statusOf(refused), errorBody(refused), NO_HEADERS, true))
  }

  abort(): void {
    if (this.ended) return
    this.end(0)
    this.server.counters[GATEWAY.aborted]!++
  }

  private end(status: number): void {
    this.ended = true
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

/** Whether an answer of this length may leave now. */
function takeTurn(server: Server, length: number): boolean {
  if (server.turnBytes === 0) setImmediate(server.endTurn)
  server.turnBytes += length + 1
  return server.turnBytes <= TURN_BYTES
}

export interface Server {
  readonly app: TemplatedApp
  /** Block of this gateway (ring/counters.ts). */
  readonly counters: Float64Array
  readonly head: Head
  readonly deliver: (exchange: Exchange) => void
  readonly commonHeaders: (exchange: Exchange) => HeaderList
  inFlight: number
  /** Bytes answered in this turn of the event loop. */
  turnBytes: number
  readonly endTurn: () => void
  /** Takes a header of the request that is being read. */
  readonly take: (name: string, value: string) => void
  listening: us_listen_socket | null
}

/** A server that hands every complete request to `deliver`; `commonHeaders` go on every answer. */
export function createServer(
  counters: Float64Array, deliver: (exchange: Exchange) => void, commonHeaders: (exchange: Exchange) => HeaderList,
): Server {
  const app = App()
  const endTurn = (): void => {
    server.turnBytes = 0
  }
  const head = createHead()
  const take = (name: string, value: string): void => visit(head, name, value)
  const server: Server = { app, counters, head, deliver, commonHeaders, inFlight: 0, turnBytes: 0, endTurn, take, listening: null }
  app.any('/*', (response, request) => accept(server, response, request))
  return server
}

/** Reads the head of a request and counts it. */
function readHead(server: Server, response: HttpResponse, request: HttpRequest): Exchange {
  const { head, counters } = server
  resetHead(head)
  request.forEach(server.take)
  // The types of the package say '' for "no query"; the library says undefined and keeps '' for a bare question mark.
  const query = request.getQuery() as string | undefined
  server.inFlight++
  counters[GATEWAY.requests]!++
  return new Exchange(server, response, request.getCaseSensitiveMethod(), request.getUrl(), query, head)
}

function accept(server: Server, response: HttpResponse, request: HttpRequest): void {
  const { head } = server
  const exchange = readHead(server, response, request)
  const code = judge(head, exchange.target)
  if (code === null && head.transferEncodings === 0 && (head.contentLengths === 0 || head.contentLength === '0')) server.deliver(exchange)
  else if (code !== null) refuseHead(exchange, code, isSuspect(head))
  else receive(exchange, head.contentLength)
  if (!exchange.ended) response.onAborted(() => exchange.abort())
}

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
  const hasBody = head.transferEncodings > 0 || (head.contentLengths > 0 && head.contentLength !== '0')
  const code = judge(head, request.getUrl()) ?? (isUpgrade && !hasBody ? null : 'MALFORMED_REQUEST')
  if (code === null) return true
  refuseUpgrade(server, response, request, new Refused(code))
  return false
}

/** Answers a request for a WebSocket with a refusal and closes its connection. */
export function refuseUpgrade(server: Server, response: HttpResponse, request: HttpRequest, refused: Refused): void {
  const exchange = readHead(server, response, request)
  response.onAborted(() => exchange.abort())
  exchange.sendAndClose(refused)
}

function refuseHead(exchange: Exchange, code: RefusalCode, suspect: boolean): void {
  const refused = new Refused(code)
  if (suspect) exchange.sendAndClose(refused)
  else exchange.send(statusOf(refused), errorBody(refused))
}

/** Collects the body. A body in one piece is handed on without a copy: it is valid only inside the callback. */
function receive(exchange: Exchange, contentLength: string): void {
  const { server, response } = exchange
  if (Number(contentLength) > DISCARD_MAX) return exchange.sendAndClose(new Refused('BODY_TOO_LARGE'))
  let pieces: Buffer[] | null = null
  let size = 0
  response.onData((chunk, last) => {
    if (exchange.ended) return
    size += chunk.byteLength
    if (size > BODY_MAX) {
      pieces = null
      // The rest is read and dropped, so that a client that only listens when it has sent everything gets its answer.
      if (last) refuseHead(exchange, 'BODY_TOO_LARGE', false)
      else if (size > DISCARD_MAX) exchange.sendAndClose(new Refused('BODY_TOO_LARGE'))
      return
    }
    if (!last) {
      pieces ??= []
      pieces.push(Buffer.from(chunk.slice(0)))
      return
    }
    server.counters[GATEWAY.body_bytes]! += size
    const piece = Buffer.from(chunk)
    exchange.body = pieces === null ? piece : Buffer.concat([...pieces, piece])
    server.deliver(exchange)
    exchange.body = NO_BODY
  })
}

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
    const probe = open(server.app, host, port, EXCLUSIVE)
    if (probe === null) throw new Error(`cannot listen on ${host}:${port}`)
    number = us_socket_local_port(probe as us_socket)
    us_listen_socket_close(probe)
  }
  server.listening = open(server.app, host, number, 0)
  if (server.listening === null) throw new Error(`cannot listen on ${host}:${number}`)
  return number
}

/** Stops listening, lets requests under way end for at most `graceMs`, then `farewell`, then closes every connection. */
export async function closeServer(server: Server, graceMs: number, farewell: () => Promise<void>): Promise<void> {
  if (server.listening !== null) us_listen_socket_close(server.listening)
  server.listening = null
  const until = performance.now() + graceMs
  while (server.inFlight > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  await farewell()
  server.app.close()
}
