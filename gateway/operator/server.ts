/**
 * The operator thread: metrics, probes and what an operator can change, on a port of its own, on loopback only.
 *
 * Routes are declared in the files of their areas (route.ts, routes.ts), and `GET /openapi.json` describes them. Still listed here by hand:
 *   GET  /metrics      Prometheus text 0.0.4
 *   GET  /health       liveness: this thread answers
 *   GET  /ready        200 when the matcher and every gateway passed their loops within their bound, else 503; `degraded` names what is
 *                      not well although orders are matched
 *   GET  /status       every counter as JSON
 * What changes something, and what shows users or applications, needs the operator's token in x-operator-token (access.ts).
 *
 * `npm run operator` (main.ts) puts it on the command line.
 *
 * Web pages are kept out: a foreign Host (DNS rebinding), any Origin, and bodies that are not JSON (which a page cannot send unasked)
 * are refused.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { settingOf } from '../../core/config.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { attachState } from '../../core/state/state.ts'
import { sequencedClock } from '../../core/ring/clock.ts'
import { MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { OPERATOR_CONNECTIONS, portBlock } from '../../core/ring/ports.ts'
import { EXIT, type FromThread, type OperatorData, type ToOperator } from '../../core/threads.ts'
import { Applications } from '../../core/view/applications.ts'
import { doorOf, listenOn, PORT_TAKEN, type Door } from '../limits/door.ts'
import { admitTo, timeLimits } from '../limits/http_port.ts'
import { ConnectionPort } from '../limits/port.ts'
import { readProxies } from '../limits/shares.ts'
import { isToken, TOKEN_HEADER } from './access.ts'
import { createAdmin } from './admin.ts'
import { AuditStop } from './audit.ts'
import { createDocument } from './document.ts'
import { json, refuse, refused, respond, type Answer, type Route } from './http.ts'
import { degraded, exposition, gatewayAge, gaugesOf, lookAtGrowth, matcherAge, status } from './metrics.ts'
import type { OperatorContext } from './route.ts'
import { DECLARED, needsToken } from './routes.ts'
import { handlerOf } from './serve.ts'
import { createTierQueue } from './tiers.ts'

/** A thread whose heartbeat is older is not ready. */
export const MATCHER_READY_MS = 1_000
export const GATEWAY_READY_MS = 2_000
/** How often growth is looked at without a scrape, ms. */
const GROWTH_MS = 10_000
const REQUEST_TIMEOUT_MS = 5_000
/** Where the OpenAPI document of the declared routes is. */
const DOCUMENT_PATH = '/openapi.json'
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

const { config, shared, genesis, token } = workerData as OperatorData
const post = (message: FromThread): void => parentPort!.postMessage(message)
const state = attachState(parseGenesis(genesis), shared.columns)
const admin = createAdmin(shared.lanes[0]!, shared.matcherWait)
const gate = new Int32Array(shared.gate)
const applications = new Applications(state, gate)
const time = sequencedClock(matcherCounters(shared.counters))
const tiers = createTierQueue(admin, post)
const context: OperatorContext = {
  state, gate, applications, admin, time, matcher: matcherCounters(shared.counters), tell: post,
}
const audits = new AuditStop(state, admin, post)
const gauges = gaugesOf(shared, state, tiers, config.dataDir, Date.now())
setInterval(() => lookAtGrowth(gauges), GROWTH_MS).unref()

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
  const audit = audits.failed === null ? {} : { audit: audits.failed }
  return json(all ? 200 : 503, { ready: all, matcher, gateways, degraded: degraded(gauges), ...audit })
}

const ROUTES: Readonly<Record<string, Route>> = withDeclared({
  '/metrics': { GET: metrics },
  '/health': { GET: health },
  '/ready': { GET: ready },
  '/status': { GET: () => json(200, status(gauges, Date.now())) },
})

/** These and the routes that are declared (routes.ts), with the document of those. */
function withDeclared(routes: Record<string, Route>): Record<string, Route> {
  routes[DOCUMENT_PATH] = { GET: () => json(200, createDocument(DECLARED)) }
  for (const { route } of DECLARED) routes[route.path] = { ...routes[route.path], [route.method]: handlerOf(route, context) }
  return routes
}

function withoutToken(): Answer {
  const message = `The operator's token is needed in the header ${TOKEN_HEADER}; it is in ${token.said}`
  return { ...refused({ ...REFUSALS.UNAUTHENTICATED, message }), headers: { Connection: 'close' } }
}

async function route(request: IncomingMessage): Promise<Answer> {
  if (!LOOPBACK_HOST.test(request.headers.host ?? '')) return refuse('MALFORMED_REQUEST', { field: 'Host' })
  if (request.headers.origin !== undefined) return refuse('MALFORMED_REQUEST', { field: 'Origin' })
  const path = request.url!.split('?', 1)[0]!
  const found = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined
  if (found === undefined) return refuse('ROUTE_NOT_FOUND')
  const { method } = request
  const handle = method === 'GET' || method === 'HEAD' ? found.GET : method === 'POST' ? found.POST : undefined
  if (handle !== undefined) {
    const known = !needsToken(method!, path) || isToken(request.headers[TOKEN_HEADER], token.token)
    return known ? handle(request) : withoutToken()
  }
  const allowed = [...(found.GET === undefined ? [] : ['GET', 'HEAD']), ...(found.POST === undefined ? [] : ['POST'])]
  return { ...refuse('METHOD_NOT_ALLOWED'), headers: { Allow: allowed.join(', ') } }
}

const failed = (error: unknown): void =>
  post({ type: 'log', level: 'error', message: 'operator request failed', fields: { error: (error as Error).message } })

const server = createServer(timeLimits(REQUEST_TIMEOUT_MS), (request, response) => void respond(request, response, route, failed))
const port = new ConnectionPort(
  OPERATOR_CONNECTIONS, config.firstRequestSeconds * 1000, readProxies(config), portBlock(shared.ports, 0, 'operator'),
)
admitTo(server, port)

function stop(): void {
  door?.end()
  tiers.stop()
  audits.stop()
  admin.stop()
  server.close(() => {
    post({ type: 'stopped' })
    parentPort!.close()
  })
  server.closeAllConnections()
  port.close()
}

let door: Door | null = null
listenOn(server, '127.0.0.1', config.operatorPort).then(
  (number) => {
    door = doorOf(server, '127.0.0.1', number, () => post({ type: 'log', level: 'error', message: PORT_TAKEN, fields: { port: number } }))
    post({ type: 'ready', port: number })
  },
  ({ message }: Error) =>
    post({ type: 'fatal', code: EXIT.CONFIG, message: `operator port: ${message} (${settingOf('operatorPort')})` }),
)
parentPort!.on('message', (message: ToOperator) => {
  if (message.type === 'stop') stop()
  else if (message.type === 'listen') door?.want(message.open)
  else if (message.type === 'tiers') tiers.take(message.changes)
  else if (message.type === 'audit') audits.take(message)
})
