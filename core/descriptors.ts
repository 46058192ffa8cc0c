/**
 * Files this process may have open, and what the ports may take of them.
 *
 * A process at its limit cannot accept, and the library of the gateways then looks at its port for ever without resting; nothing else that
 * wants a file gets one either, the journal's room first. So the limit is never reached: connections of all ports together are bounded
 * below it, by what stays when {@link KEPT} and some for each thread are left to the exchange itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { frontThreads, type Config } from './config.ts'

/** Files of the exchange itself: journal, history, snapshots, pipes, sockets of the operator and the chain; and of each thread. */
const KEPT = 256
const KEPT_PER_THREAD = 16
/** Of a limit that small the ports get half. */
const LEAST_SHARE = 0.5

/** The most files this process may have open; `null` where that cannot be told. Node raises its own limit to the hard one. */
export function descriptorLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** Files this process has open; NaN where that cannot be told, also because none is left to find out. */
export function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return Number.NaN
  }
}

export interface Fitted {
  readonly config: Config
  /** Connections that the configuration allows, and that fit. */
  readonly wanted: number
  readonly fit: number
}

/** `config` with bounds of connections that fit `limit` files: each in proportion, when together they are too many. */
export function fitDescriptors(config: Config, limit: number): Fitted {
  const bounds = boundsOf(config)
  const wanted = bounds.reduce((sum, [, , all]) => sum + all, 0)
  const kept = KEPT + KEPT_PER_THREAD * (frontThreads(config) + config.historyReaders)
  const fit = Math.floor(Math.max(limit - kept, limit * LEAST_SHARE))
  if (wanted <= fit) return { config, wanted, fit }
  const lowered = Object.fromEntries(bounds.map(([name, most]) => [name, Math.max(1, Math.floor((most * fit) / wanted))]))
  return { config: { ...config, ...lowered }, wanted, fit }
}

/** Knobs that bound the connections of each gateway thread. */
const OF_GATEWAYS: readonly string[] = ['httpConnections', 'wsConnections']

/** Bounds of connections: knob, its value, and that over all threads. */
function boundsOf(config: Config): [name: string, most: number, all: number][] {
  const { gateways, grpcThread, grpcConnections } = config
  const ofGateways = Object.entries(config).filter(([name]) => OF_GATEWAYS.includes(name)) as [string, number][]
  return [
    ...ofGateways.map(([name, most]): [string, number, number] => [name, most, gateways * most]),
    ['grpcConnections', grpcConnections, grpcThread * grpcConnections],
  ]
}
