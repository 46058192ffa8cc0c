/**
 * The operator thread: metrics, probes and maintenance on a port of its own, on loopback only.
 *
 *   GET  /metrics      Prometheus text 0.0.4
 *   GET  /health       liveness: this thread answers
 *   GET  /ready        200 when the matcher and every gateway passed their loops within their bound, else 503
 *   GET  /status       every counter as JSON
 *   POST /maintenance  {"on": true | false} -> {maintenance, sequence}
 *
 * There is no authentication: who can open a loopback connection on the machine is an operator. Web pages are kept out: a
 * foreign Host (DNS rebinding), any Origin, and bodies that are not JSON (which a page cannot send unasked) are refused.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { REFUSALS, refusalByNumber, type Refusal, type RefusalCode } from '../../core/engine/refusals.ts'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { EXIT, type FromThread, type OperatorData, type ToThread } from '../../core/threads.ts'
import { createAdmin } from './admin.ts'
import { exposition, gatewayAge, gaugesOf, matcherAge, status } from './metrics.ts'

/** A thread whose heartbeat is older is not ready. */
export const MATCHER_READY_MS = 1_000
export const GATEWAY_READY_MS = 2_000
const BODY_BYTES_MAX = 1_024
const CONNECTIONS_MAX = 64
const REQUEST_TIMEOUT_MS = 5_000
const JSON_TYPE = /^application\/json\s*(;|$)/i
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

interface Answer {
  readonly status: number
  readonly body: string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

const { config, shared } = workerData as OperatorData
const admin = createAdmin(shared.lanes[0]!, shared.matcherWait)
const gauges = gaugesOf(shared, Date.now())
const tell = (message: FromThread): void => parentPort!.postMessage(message)

const json = (code: number, body: unknown): Answer => ({ status: code, body: `${JSON.stringify(body)}\n`, type: 'application/json' })

function refused(refusal: Refusal, details?: Record<string, unknown>): Answer {
  const { error, code, http: statusCode, message } = refusal
  return json(statusCode, { error, message, code, statusCode, ...(details === undefined ? {} : { details }) })
}
const refuse = (code: RefusalCode, details?: Record<string, unknown>): Answer => refused(REFUSALS[code], details)

function metrics(): Answer {
  return { status: 200, body: exposition(gauges, Date.now()), type: 'text/plain; version=0.0.4; charset=utf-8' }
}

function health(): Answer {
  return json(200, { status: 'ok', sequence: gauges.matcher[MATCHER.sequence], timestamp: new Date().toISOString() })
}

function ready(): Answer {
  const now = Date.now()
  const matcher = matcherAge(gauges, now) < MATCHER_READY_MS
  const gateways = gauges.gateways.map((_, i) => gatewayAge(gauges, i, now) < GATEWAY_READY_MS)
  const all = matcher && gateways.every(Boolean)
  return json(all ? 200 : 503, { ready: all, matcher, gateways })
}

/** Whether the body of a maintenance request says `on`, or `null` when it says nothing. */
function readOn(body: string): boolean | null {
  try {
    const on = (JSON.parse(body) as { on?: unknown } | null)?.on
    return typeof on === 'boolean' ? on : null
  } catch {
    return null
  }
}

async function maintenance(request: IncomingMessage): Promise<Answer> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return refuse('MALFORMED_REQUEST', { field: 'Content-Type' })
  const body = await readBody(request)
  if (body === null) return { ...refuse('BODY_TOO_LARGE', { maxBytes: BODY_BYTES_MAX }), headers: { Connection: 'close' } }
  const on = readOn(body)
  if (on === null) return refuse('VALIDATION_ERROR', { field: 'on' })
  const result = await admin.send(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: on ? 1 : 0 })
  if (result === 'full') return refuse('OVERLOADED')
  if (result === 'late') return refuse('SERVICE_UNAVAILABLE')
  if (result['code'] !== 0) return refused(refusalByNumber(result['code'] as number))
  tell({ type: 'log', level: 'warn', message: on ? 'maintenance on' : 'maintenance off', fields: { sequence: result['sequence'] } })
  return json(200, { maintenance: result['detail'] === 1, sequence: result['sequence'] })
}

/** The body as text, or `null` as soon as it is longer than allowed; what comes after that is not read. */
function readBody(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= BODY_BYTES_MAX) chunks.push(chunk)
      else {
        request.pause()
        resolve(null)
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('error', reject)
  })
}

const ROUTES: Readonly<Record<string, readonly [method: string, handle: (request: IncomingMessage) => Answer | Promise<Answer>]>> = {
  '/metrics': ['GET', metrics],
  '/health': ['GET', health],
  '/ready': ['GET', ready],
  '/status': ['GET', () => json(200, status(gauges, Date.now()))],
  '/maintenance': ['POST', maintenance],
}

async function route(request: IncomingMessage): Promise<Answer> {
  if (!LOOPBACK_HOST.test(request.headers.host ?? '')) return refuse('MALFORMED_REQUEST', { field: 'Host' })
  if (request.headers.origin !== undefined) return refuse('MALFORMED_REQUEST', { field: 'Origin' })
  const path = request.url!.split('?', 1)[0]!
  const found = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined
  if (found === undefined) return refuse('ROUTE_NOT_FOUND')
  const [method, handle] = found
  if (request.method !== method && !(method === 'GET' && request.method === 'HEAD')) {
    return { ...refuse('METHOD_NOT_ALLOWED'), headers: { Allow: method === 'GET' ? 'GET, HEAD' : method } }
  }
  return handle(request)
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let said: Answer
  try {
    said = await route(request)
  } catch (error) {
    // A client that left while its body was read; anything else is ours to report.
    if (request.destroyed) return
    tell({ type: 'log', level: 'error', message: 'operator request failed', fields: { error: (error as Error).message } })
    said = refuse('INTERNAL')
  }
  const body = Buffer.from(said.body)
  const headers = { 'Content-Type': said.type, 'Content-Length': body.length, 'Cache-Control': 'no-store', ...said.headers }
  response.writeHead(said.status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}

const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
  void answer(request, response)
})
server.maxConnections = CONNECTIONS_MAX

function stop(): void {
  admin.stop()
  server.close(() => {
    tell({ type: 'stopped' })
    parentPort!.close()
  })
  server.closeAllConnections()
}

server.on('error', (error) => tell({ type: 'fatal', code: EXIT.THREAD, message: `operator port: ${error.message}` }))
server.listen(config.operatorPort, '127.0.0.1', () => tell({ type: 'ready', port: (server.address() as AddressInfo).port }))
parentPort!.on('message', (message: ToThread) => {
  if (message.type === 'stop') stop()
})
