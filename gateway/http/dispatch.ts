/**
 * One request from head to answer, in two steps:
 *
 *   open   route, method, who it is by the head                              nothing of a body has been read
 *   take   signature, input, admission, the operation                        the body is whole
 *
 * What the head alone is refused for is answered in the first step, so that strangers cannot make the service hold their bodies. That, and
 * everything else that nobody signed, waits for its share of the thread's time (limits/anonymous.ts): refusals, documents, preflights.
 * What comes behind `take` is the same for every transport (operations/serve.ts), and so is what happens to what throws (faults.ts).
 */
import { identify, verify } from '../auth/authenticate.ts'
import { authenticateServer } from '../auth/server_key.ts'
import type { FoundSession } from '../auth/session_cache.ts'
import type { Gateway } from '../context.ts'
import type { Job, Payer } from '../limits/anonymous.ts'
import { budgetHeaders, type Budget } from '../limits/budget.ts'
import { networkOf } from '../limits/network.ts'
import { healthOf, isReady } from '../operations/health.ts'
import type { JsonObject } from '../operations/operation.ts'
import { serve, servePublic, type ServedCall } from '../operations/serve.ts'
import { preflightHeaders } from './cors.ts'
import { serveDocument } from './documents.ts'
import { Refused } from '../refused.ts'
import { readInput } from './input.ts'
import { findRoute, type Match, type Router } from './router.ts'
import { NO_BODY, type RequestContext, type Open, type Taker } from './server.ts'

/** What is answered from the head alone. */
class HeadAnswer implements Job {
  readonly client: string
  readonly reads = false
  readonly #context: RequestContext
  readonly #answer: (payer: Payer) => void

  constructor(context: RequestContext, answer: (payer: Payer) => void) {
    this.client = networkOf(context.ip())
    this.#context = context
    this.#answer = answer
  }

  get requestId(): string {
    return this.#context.requestId
  }

  get over(): boolean {
    return this.#context.ended
  }

  keep(): void {
    // Nothing of the request is needed but what the exchange has copied.
  }

  run(payer: Payer): void {
    this.#answer(payer)
  }

  refuse(refused: Refused): void {
    this.#context.refuse(refused)
  }
}

/** A call that came by HTTP. */
class HttpCall implements ServedCall, Taker {
  account = -1
  application = 0
  session = -1
  generation = 0
  agent = -1
  budget: Budget | null = null
  readonly #gateway: Gateway
  readonly #exchange: RequestContext
  readonly #match: Match
  /** Whose request it is by its head; `null`: of nobody, or of a server key. */
  #found: FoundSession | null = null
  #client: string | null = null
  /** Other requests may have come since its head was shown. */
  #late = false
  /** The body of a request that waits. */
  #kept: Buffer | null = null

  constructor(gateway: Gateway, context: RequestContext, match: Match) {
    this.#gateway = gateway
    this.#exchange = context
    this.#match = match
  }

  /** What is signed is signed with its body. */
  get wantsBody(): boolean {
    const { row, operation } = this.#match.route.served
    return row.access === 'session' || operation.bodyRule !== 'ignored'
  }

  get bodyMax(): number {
    return this.#match.route.served.operation.bodyMax
  }

  get requestId(): string {
    return this.#exchange.requestId
  }

  ip(): string {
    return this.#exchange.ip()
  }

  answer(output: unknown): void {
    this.#exchange.send(200, JSON.stringify(output), budgetHeaders(this.budget))
  }

  refuse(refused: Refused): void {
    this.#exchange.refuse(refused)
  }

  /** Who this is by the head, or which refusal it is. */
  identify(): Refused | null {
    const { applications, counters, sessions, now, time } = this.#gateway
    switch (this.#match.route.served.row.access) {
      case 'public':
        return null
      case 'server-key':
        return authenticateServer(applications, this.#exchange.serverKey, time(), counters, this)
      case 'session': {
        const found = identify(sessions, this.#exchange, now(), counters)
        if (found instanceof Refused) return found
        this.#found = found
        return null
      }
    }
  }

  take(late: boolean): void {
    this.#late = late
    serve(this.#gateway, this.#match.route.served, this)
  }

  /** Read while the exchange is open, and good after it. */
  get client(): string {
    return (this.#client ??= networkOf(this.ip()))
  }

  get reads(): boolean {
    return this.#match.route.served.row.method === 'GET'
  }

  get over(): boolean {
    return this.#exchange.ended
  }

  keep(): void {
    const exchange = this.#exchange
    if (exchange.body.length > 0) this.#kept = Buffer.from(exchange.body)
  }

  run(payer: Payer): void {
    this.resume(payer, () => servePublic(this.#gateway, this.#match.route.served, this, payer))
  }

  resume(_payer: Payer, act: () => void): void {
    const exchange = this.#exchange
    if (this.#kept !== null) exchange.body = this.#kept
    act()
    exchange.body = NO_BODY
    this.#kept = null
  }

  authenticate(): Refused | null {
    const { counters } = this.#gateway
    const exchange = this.#exchange
    // While a body was awaited the session may have ended.
    const refused = (this.#late ? this.identify() : null) ?? (this.#found === null ? null : verify(exchange, this.#found, counters, this))
    if (refused === null && this.#match.route.served.row.access !== 'public') exchange.application = this.application
    return refused
  }

  readInput(): JsonObject | Refused {
    const { route, params } = this.#match
    return readInput(route.served.operation, this.#exchange, params)
  }
}

/** The function the server shows every request to. */
export function createDispatcher(gateway: Gateway, router: Router): Open {
  return (context, refused) => {
    let taker: Taker | null = null
    gateway.faults.guard(context, () => {
      if (refused === null) taker = open(gateway, router, context)
      else later(gateway, context, () => context.refuse(refused))
    })
    return taker
  }
}

function open(gateway: Gateway, router: Router, context: RequestContext): Taker | null {
  const { method, path } = context
  const found = findRoute(router, method, path)
  if (found !== null && 'route' in found) {
    const call = new HttpCall(gateway, context, found)
    const refused = call.identify()
    if (refused === null) return call
    later(gateway, context, () => call.refuse(refused))
  } else if (found === null) openOther(gateway, context)
  else if (method === 'OPTIONS') later(gateway, context, () => context.send(204, '', preflightHeaders(found.allow)))
  else later(gateway, context, () => context.refuse(new Refused('METHOD_NOT_ALLOWED'), [['Allow', found.allow]]))
  return null
}

/** Answers when there is time for it. */
function later(gateway: Gateway, context: RequestContext, answer: (payer: Payer) => void): void {
  gateway.anonymous.submit(new HeadAnswer(context, answer))
}

const PROBES = ['GET', 'HEAD']

/** What no operation serves: probes, documents, and what is unknown. */
function openOther(gateway: Gateway, context: RequestContext): void {
  const { path, method } = context
  if (path !== '/health' && path !== '/ready') {
    return later(gateway, context, (payer) => {
      if (!serveDocument(context, payer)) context.refuse(new Refused('ROUTE_NOT_FOUND'))
    })
  }
  if (PROBES.includes(method)) return probe(gateway, context)
  later(gateway, context, () => context.refuse(new Refused('METHOD_NOT_ALLOWED'), [['Allow', PROBES.join(', ')]]))
}

/**
 * `/health` (the thread answers) and `/ready` (the matcher works), for load balancers. They never wait and are never refused, whoever
 * floods with them or beside them: one takes 6 us, as refusing one would. They count as their client's time.
 */
function probe(gateway: Gateway, context: RequestContext): void {
  const from = performance.now()
  const client = networkOf(context.ip())
  context.send(context.path === '/health' || isReady(gateway) ? 200 : 503, JSON.stringify(healthOf(gateway)))
  gateway.anonymous.charge(client, performance.now() - from)
}
