/**
 * One request from head to answer: route, authenticate, read the input, admit, run the operation.
 *
 * Whatever a handler throws is logged, counted and answered as INTERNAL; nothing of it leaves, and the thread goes on.
 */
import { authenticate } from '../auth/authenticate.ts'
import { authenticateServer } from '../auth/server_key.ts'
import type { Gateway } from '../context.ts'
import { budgetHeaders, type Budget } from '../limits/budget.ts'
import { admit } from '../operations/admission.ts'
import { healthOf, isReady } from '../operations/health.ts'
import type { Call, Operation } from '../operations/operation.ts'
import { preflightHeaders } from './cors.ts'
import { serveDocument } from './documents.ts'
import { errorBody, errorHeaders, Refused, statusOf, type HeaderList } from './envelope.ts'
import { readInput } from './input.ts'
import { findRoute, type Match, type Router } from './router.ts'
import type { Exchange } from './server.ts'

/** A call that came by HTTP. */
class HttpCall implements Call {
  account = -1
  application = 0
  session = -1
  generation = 0
  agent = -1
  budget: Budget | null = null
  readonly exchange: Exchange

  constructor(exchange: Exchange) {
    this.exchange = exchange
  }

  ip(): string {
    return this.exchange.ip()
  }

  answer(output: unknown): void {
    this.exchange.send(200, JSON.stringify(output), budgetHeaders(this.budget))
  }

  refuse(refused: Refused): void {
    refuse(this.exchange, refused)
  }
}

function refuse(exchange: Exchange, refused: Refused, headers: HeaderList = []): void {
  exchange.send(statusOf(refused), errorBody(refused), [...errorHeaders(refused), ...headers])
}

/** The function the server hands every complete request to. */
export function createDispatcher(gateway: Gateway, router: Router, onError: (error: unknown) => void): (exchange: Exchange) => void {
  return (exchange) => {
    try {
      dispatch(gateway, router, exchange)
    } catch (error) {
      onError(error)
      refuse(exchange, new Refused('INTERNAL'))
    }
  }
}

function dispatch(gateway: Gateway, router: Router, exchange: Exchange): void {
  const { method, path } = exchange
  const found = findRoute(router, method, path)
  if (found === null) return probe(gateway, exchange)
  if ('route' in found) return serve(gateway, exchange, found)
  if (method === 'OPTIONS') return exchange.send(204, '', preflightHeaders(found.allow))
  refuse(exchange, new Refused('METHOD_NOT_ALLOWED'), [['Allow', found.allow]])
}

const PROBES = ['GET', 'HEAD']

/** `/health` (the thread answers) and `/ready` (the matcher works), for load balancers; anything else is unknown. */
function probe(gateway: Gateway, exchange: Exchange): void {
  if (serveDocument(exchange)) return
  const { path, method } = exchange
  if (path !== '/health' && path !== '/ready') return refuse(exchange, new Refused('ROUTE_NOT_FOUND'))
  if (!PROBES.includes(method)) return refuse(exchange, new Refused('METHOD_NOT_ALLOWED'), [['Allow', PROBES.join(', ')]])
  exchange.send(path === '/health' || isReady(gateway) ? 200 : 503, JSON.stringify(healthOf(gateway)))
}

function serve(gateway: Gateway, exchange: Exchange, { route, params }: Match): void {
  const { row, operation } = route.served
  const call = new HttpCall(exchange)
  if (row.access !== 'public') {
    const { applications, counters, sessions } = gateway
    const code = row.access === 'session' ? authenticate(sessions, exchange, gateway.now(), counters, call)
      : authenticateServer(applications, exchange.serverKey, gateway.now(), counters, call)
    if (code !== null) return call.refuse(new Refused(code))
    exchange.application = call.application
  }
  const input = readInput(operation, exchange, params)
  if (input instanceof Refused) return call.refuse(input)
  const refused = admit(gateway, row, call, input)
  if (refused !== null) return call.refuse(refused)
  ;(operation as Operation<unknown>).run(gateway, call as Call<unknown>, input)
}
