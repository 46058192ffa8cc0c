/** What one gateway thread works with: attached once, handed to every operation. */
import type { Config } from '../core/config.ts'
import { parseGenesis, type Asset, type Genesis, type Pair } from '../core/state/genesis.ts'
import { Applications } from '../core/view/applications.ts'
import { createOutbox } from '../core/state/outbox.ts'
import { readPageFiles, receiptDirectory } from '../core/lib/page_files.ts'
import { RECEIPT_PAGE_WORDS } from '../core/state/receipt_room.ts'
import { attachState, type State } from '../core/state/state.ts'
import { mayKnowFormerPayloads } from '../core/view/receipts.ts'
import { attachBroadcast } from '../core/ring/broadcast.ts'
import { sequencedClock } from '../core/ring/clock.ts'
import { GATEWAY, gatewayCounters, historyCounters, matcherCounters } from '../core/ring/counters.ts'
import { portBlock, type PortBlock, type PortName } from '../core/ring/ports.ts'
import type { FromThread, GatewayData } from '../core/threads.ts'
import { closeSignInClient, createSignInClient, type SignInClient } from './auth/sign_in_client.ts'
import { ReplayGuard } from './auth/replay_guard.ts'
import { createSessionCache, type SessionCache } from './auth/session_cache.ts'
import { SessionWatch } from './auth/session_watch.ts'
import { createArrivalFills, type ArrivalFills } from './bridge/arrival_fills.ts'
import { Asker } from './bridge/asker.ts'
import { Books } from './bridge/books.ts'
import { Previews } from './bridge/previews.ts'
import { CancelsAtEnd } from './bridge/cancel_at_end.ts'
import { closeHistory, createHistory, type History } from './bridge/history.ts'
import { closeEngineClient, createEngineClient, type EngineClient } from './bridge/engine_client.ts'
import { VaultClient } from './chain/vault/gateway_client.ts'
import { closeClosedOrderCache, createClosedOrderCache, type ClosedOrderCache } from './bridge/closed_orders.ts'
import { Faults } from './faults.ts'
import { RequestIds } from './request_id.ts'
import { AnonymousWork } from './limits/anonymous.ts'
import { SignedReads } from './limits/reads.ts'
import { familyOf } from './limits/families.ts'
import { readProxies } from './limits/shares.ts'
import { createRateLimiter, type RateLimiter } from './limits/rate_limiter.ts'

export type Log = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void

/** What is listed, by its names in lowercase (operations/lookup.ts). */
export interface Lookup<T> {
  get(name: string): T | undefined
}

class ByName<T> implements Lookup<T> {
  readonly #listed: () => readonly T[]
  readonly #names: (item: T) => readonly string[]
  readonly #known = new Map<string, T>()
  #seen = 0

  constructor(listed: () => readonly T[], names: (item: T) => readonly string[]) {
    this.#listed = listed
    this.#names = names
  }

  get(name: string): T | undefined {
    const listed = this.#listed()
    for (; this.#seen < listed.length; this.#seen++) this.#add(listed[this.#seen]!)
    return this.#known.get(name)
  }

  /** Of two that differ in case only, the one that was listed first keeps the name. */
  #add(item: T): void {
    for (const name of this.#names(item)) {
      const key = name.toLowerCase()
      if (!this.#known.has(key)) this.#known.set(key, item)
    }
  }
}

export interface Gateway {
  readonly config: Config
  /** With the assets and pairs that are listed now (core/state/listing.ts). */
  readonly genesis: Genesis
  /** The shared columns, read only. */
  readonly state: State
  /** Word APPLYING. */
  readonly gate: Int32Array
  /** How what throws ends, and for which request. */
  readonly faults: Faults
  readonly requestIds: RequestIds
  readonly engine: EngineClient
  /** What the matcher is asked when it cannot be copied. */
  readonly asker: Asker
  /** Order books. */
  readonly books: Books
  /** What orders of perpetuals would come to. */
  readonly previews: Previews
  readonly closedOrders: ClosedOrderCache
  /** What orders traded on arrival, fill by fill. */
  readonly arrivalFills: ArrivalFills
  readonly signIn: SignInClient
  readonly history: History
  /** Where the vault is, and calldata of withdrawals. */
  readonly vault: VaultClient
  readonly sessions: SessionCache
  readonly applications: Applications
  /** Ends what is open when its session ends. */
  readonly watch: SessionWatch
  /** Signatures that opened a session, on any thread. */
  readonly replayGuard: ReplayGuard
  /** Mass cancels of connections that ended. */
  readonly cancelsAtEnd: CancelsAtEnd
  /** Requests without a signature. */
  readonly anonymous: AnonymousWork
  /** Signed reads. */
  readonly reads: SignedReads
  /** Rate budgets. */
  readonly rateLimiter: RateLimiter
  /** Seals page tokens (operations/page_token.ts). */
  readonly pageTokenKey: Uint8Array
  readonly counters: Float64Array
  /** Counters of the connections of this thread's ports. */
  readonly portCounters: (port: PortName) => PortBlock
  /** Counters of the matcher, read only. */
  readonly matcher: Float64Array
  /** By id and symbol, lowercase. */
  readonly pairs: Lookup<Pair>
  readonly assets: Lookup<Asset>
  /** Wall clock, Unix ms: how fresh a signature is, windows of budgets, times of frames. It may jump. */
  readonly now: () => number
  /** Sequenced time, Unix ms: what the times in the state's rows are compared with. It never jumps. */
  readonly time: () => number
  readonly log: Log
}

export function attachGateway(data: GatewayData, post: (message: FromThread) => void): Gateway {
  const { config, shared, number } = data
  // The outbox belongs to the engine; a reader of the columns needs none.
  const receipts = readPageFiles(receiptDirectory(config.dataDir), RECEIPT_PAGE_WORDS, false)
  const state = attachState(parseGenesis(data.genesis), shared.columns, createOutbox(1), receipts)
  const { genesis } = state
  const pairs = new ByName(() => genesis.pairs, ({ id, symbol }) => [id, symbol])
  const assets = new ByName(() => genesis.assets, ({ id }) => [id])
  const gate = new Int32Array(shared.gate)
  const counters = gatewayCounters(shared.counters, number)
  const matcher = matcherCounters(shared.counters)
  const time = sequencedClock(matcher)
  const log: Log = (level, message, fields) => post({ type: 'log', level, message, ...(fields === undefined ? {} : { fields }) })
  const faults = new Faults((_error, { incident, request, stack }) => {
    counters[GATEWAY.unhandled]!++
    log('error', 'unexpected error', { gateway: number, incident, ...(request === '' ? {} : { request }), stack })
  })
  const lane = shared.lanes[number]!
  const events = attachBroadcast(shared.events)
  const proxies = readProxies(config)
  const engine = createEngineClient({
    lane, matcherWait: shared.matcherWait, gateway: number, accounts: genesis.limits.accounts, counters, matcher, faults,
    formerKeys: () => mayKnowFormerPayloads(state, time()), polls: config.polls,
  })
  const asker = new Asker(lane.questions, shared.matcherWait, faults, config.polls)
  return {
    asker, faults, requestIds: new RequestIds(number, Date.now()),
    books: new Books({ state, gate, events, asker, counters, proxies, faults }),
    previews: new Previews(asker, counters, proxies, faults),
    config, genesis, state, counters, matcher, log,
    gate,
    portCounters: (port) => portBlock(shared.ports, number, port),
    applications: new Applications(state, gate),
    engine, cancelsAtEnd: new CancelsAtEnd(engine, config.deadlineMs, (message, fields) => log('warn', message, fields)),
    closedOrders: createClosedOrderCache(events, counters),
    arrivalFills: createArrivalFills(events),
    signIn: createSignInClient(data.signIn, faults),
    vault: new VaultClient(faults),
    history: createHistory(data.history, historyCounters(shared.counters), state.clock, faults),
    sessions: createSessionCache(state, gate, time),
    watch: new SessionWatch(state, time, faults),
    replayGuard: new ReplayGuard(data.replayGuard, data.budgets),
    anonymous: new AnonymousWork(config.anonymousPercent, counters, faults, proxies),
    reads: new SignedReads(config.readPercent, counters, faults),
    rateLimiter: createRateLimiter(config, data.budgets, () => Date.now(), (account) => familyOf(state, account)),
    pageTokenKey: data.pageTokenKey,
    pairs,
    assets,
    now: () => Date.now(),
    time,
  }
}

/** Stops timers and closes ports, so that the thread can end. */
export function detachGateway(gateway: Gateway): void {
  gateway.cancelsAtEnd.close()
  closeEngineClient(gateway.engine)
  gateway.asker.close()
  closeClosedOrderCache(gateway.closedOrders)
  gateway.watch.close()
  gateway.anonymous.close()
  gateway.reads.close()
  closeSignInClient(gateway.signIn)
  closeHistory(gateway.history)
  gateway.vault.close()
}
