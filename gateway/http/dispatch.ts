/**
 * One request from head to answer: route, authenticate, admit, read the input, run the operation.
 *
 * Whatever a handler throws is logged, counted and answered as INTERNAL; nothing of it leaves, and the thread goes on.
 */
import { MATCHER } from '../../core/ring/counters.ts'
import { authenticate } from '../auth/legacy.ts'
import type { Gateway } from '../context.ts'
import { healthOf, inMaintenance, isReady } from '../operations/health.ts'
import type { Call, Operation } from '../operations/operation.ts'
import type { Row } from '../operations/table.ts'
import { preflightHeaders } from './cors.ts'
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
  readonly gateway: Gateway
  readonly exchange: Exchange

  constructor(gateway: Gateway, exchange: Exchange) {
    this.gateway = gateway
    this.exchange = exchange
  }

  ip(): string {
    return this.exchange.ip()
  }

  answer(output: unknown): void {
    this.exchange.send(200, JSON.stringify(output))
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
  const { path, method } = exchange
  if (path !== '/health' && path !== '/ready') return refuse(exchange, new Refused('ROUTE_NOT_FOUND'))
  if (!PROBES.includes(method)) return refuse(exchange, new Refused('METHOD_NOT_ALLOWED'), [['Allow', PROBES.join(', ')]])
  exchange.send(path === '/health' || isReady(gateway) ? 200 : 503, JSON.stringify(healthOf(gateway)))
}

function serve(gateway: Gateway, exchange: Exchange, { route, params }: Match): void {
  const { row, operation } = route.served
  const call = new HttpCall(gateway, exchange)
  if (row.access === 'session') {
    const code = authenticate(gateway.sessions, exchange, gateway.now(), gateway.counters, call)
    if (code !== null) return call.refuse(new Refused(code))
  }
  const closed = admit(gateway, row)
  if (closed !== null) return call.refuse(closed)
  const input = readInput(operation, exchange, params)
  if (input instanceof Refused) call.refuse(input)
  else (operation as Operation<unknown>).run(gateway, call as Call<unknown>, input)
}

/** Early refusals that the engine would give too, or that only this thread can see coming. */
function admit(gateway: Gateway, row: Row): Refused | null {
  if (row.maintenance === 'blocked' && inMaintenance(gateway)) return new Refused('OPERATIONS_BLOCKED')
  const free = gateway.matcher[MATCHER.free_disk_bytes]!
  if (row.rate === 'create' && free > 0 && free < gateway.config.diskReserveMb * 1024 * 1024) return new Refused('DISK_RESERVE')
  return null
}
