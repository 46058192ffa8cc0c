/** What one gateway thread works with: attached once, handed to every operation. */
import type { Config } from '../core/config.ts'
import { parseGenesis, type Asset, type Genesis, type Pair } from '../core/engine/genesis.ts'
import { Applications } from '../core/view/applications.ts'
import { createOutbox } from '../core/engine/outbox.ts'
import { attachState, type State } from '../core/engine/state.ts'
import { attachBroadcast } from '../core/ring/broadcast.ts'
import { GATEWAY, gatewayCounters, historyCounters, matcherCounters } from '../core/ring/counters.ts'
import type { FromThread, GatewayData } from '../core/threads.ts'
import { closeDesk, createDesk, type Desk } from './auth/desk_client.ts'
import { Openings } from './auth/openings.ts'
import { createSessionCache, type SessionCache } from './auth/session_cache.ts'
import { SessionWatch } from './auth/session_watch.ts'
import { closeHistory, createHistory, type History } from './bridge/history.ts'
import { closeBridge, createBridge, type Bridge } from './bridge/pending.ts'
import { closeTail, createTail, type Tail } from './bridge/tail.ts'
import { familyOf } from './limits/families.ts'
import { createMeter, type Meter } from './limits/windows.ts'

export type Log = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void

export interface Gateway {
  readonly config: Config
  readonly genesis: Genesis
  /** The shared columns, read only. */
  readonly state: State
  /** Word APPLYING. */
  readonly gate: Int32Array
  readonly bridge: Bridge
  readonly tail: Tail
  readonly desk: Desk
  readonly history: History
  readonly sessions: SessionCache
  readonly applications: Applications
  /** Ends what is open when its session ends. */
  readonly watch: SessionWatch
  /** Signatures that opened a session, on any thread. */
  readonly openings: Openings
  /** Rate budgets. */
  readonly meter: Meter
  /** Seals page tokens (operations/page_token.ts). */
  readonly pageTokenKey: Uint8Array
  readonly counters: Float64Array
  /** Counters of the matcher, read only. */
  readonly matcher: Float64Array
  /** By id, lowercase. */
  readonly pairs: ReadonlyMap<string, Pair>
  readonly assets: ReadonlyMap<string, Asset>
  /** Wall clock, Unix ms. */
  readonly now: () => number
  readonly log: Log
}

export function attachGateway(data: GatewayData, tell: (message: FromThread) => void): Gateway {
  const { config, shared, number } = data
  const genesis = parseGenesis(data.genesis)
  // The outbox belongs to the engine; a reader of the columns needs none.
  const state = attachState(genesis, shared.columns, createOutbox(1))
  const gate = new Int32Array(shared.gate)
  const counters = gatewayCounters(shared.counters, number)
  const log: Log = (level, message, fields) => tell({ type: 'log', level, message, ...(fields === undefined ? {} : { fields }) })
  const onError = (error: unknown): void => {
    counters[GATEWAY.unhandled]!++
    log('error', 'unexpected error', { gateway: number, stack: error instanceof Error ? error.stack : String(error) })
  }
  return {
    config, genesis, state, counters, log,
    gate,
    applications: new Applications(state, gate),
    bridge: createBridge(shared.lanes[number]!, shared.matcherWait, number, counters, onError),
    tail: createTail(attachBroadcast(shared.events), counters),
    desk: createDesk(data.desk),
    history: createHistory(data.history, historyCounters(shared.counters), state.clock, onError),
    sessions: createSessionCache(state),
    watch: new SessionWatch(state, () => Date.now()),
    openings: new Openings(data.openings, data.budgets),
    matcher: matcherCounters(shared.counters),
    meter: createMeter(config, data.budgets, () => Date.now(), (account) => familyOf(state, account)),
    pageTokenKey: data.pageTokenKey,
    pairs: new Map(genesis.pairs.map((pair) => [pair.id.toLowerCase(), pair])),
    assets: new Map(genesis.assets.map((asset) => [asset.id.toLowerCase(), asset])),
    now: () => Date.now(),
  }
}

/** Stops timers and closes ports, so that the thread can end. */
export function detachGateway(gateway: Gateway): void {
  closeBridge(gateway.bridge)
  closeTail(gateway.tail)
  gateway.watch.close()
  closeDesk(gateway.desk)
  closeHistory(gateway.history)
}
