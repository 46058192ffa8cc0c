/**
 * Files this process may have open: what its ports may take of them, and what is done when they run out all the same.
 *
 * A process at its limit cannot accept, and both libraries that serve ports then look at them for ever without resting;
 * nothing else that wants a file gets one either. So the limit is kept out of reach: connections of the gateways and of gRPC
 * are bounded, together, by what is left when everything else has its own ({@link keptFiles}).
 *
 * Something else may take the files, or their limit be lowered meanwhile. So ten times a second it is tried how many can be
 * opened. Fewer than {@link SPARE}, and the ports stop listening until there are {@link BACK} again, so that the last files are
 * for what works already; without a single one the operator's port stops too. Open connections go on, and the journal has what
 * it needs open anyway.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { embedsChain, frontThreads, type Config } from './config.ts'
import { FILES } from './ring/counters.ts'
import { CHAIN_CONNECTIONS, OPERATOR_CONNECTIONS } from './ring/ports.ts'

/** Of a limit that is smaller than what the exchange keeps for itself the ports get a quarter. */
const LEAST_SHARE = 0.25

/** Files of the process as a whole, with some to spare: outputs, supervisor, followers, locks, journal, what is read for a moment. */
const PROCESS_FILES = 112
/** Of a thread: five of its event loop, and its listening socket. */
const THREAD_FILES = 8
/** Of a database of SQLite: file, log, index, and one for a moment. */
const SQLITE_FILES = 4
/** Main thread, matcher, sign-in thread and operator. */
const THREADS = 4

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

/** The most files that all but connections of gateways and gRPC have open. Backups and followers are processes of their own. */
export function keptFiles(config: Config): number {
  const { historyReaders, walletThreads, contractChecks } = config
  const chain = embedsChain(config) ? 1 : 0
  const threads = THREADS + frontThreads(config) + walletThreads + historyReaders + chain
  return PROCESS_FILES + threads * THREAD_FILES + (historyReaders + chain) * SQLITE_FILES + OPERATOR_CONNECTIONS +
    chain * CHAIN_CONNECTIONS + contractChecks
}

export interface Fitted {
  readonly config: Config
  /** Connections that the configuration allows, and that fit. */
  readonly wanted: number
  readonly fit: number
  /** Files of everything else. */
  readonly kept: number
}

/** `config` with bounds of connections that fit `limit` files: each in proportion, when together they are too many. */
export function fitDescriptors(config: Config, limit: number): Fitted {
  const bounds = boundsOf(config)
  const wanted = bounds.reduce((sum, [, , all]) => sum + all, 0)
  const kept = keptFiles(config)
  const fit = Math.floor(Math.max(limit - kept, limit * LEAST_SHARE))
  if (wanted <= fit) return { config, wanted, fit, kept }
  const lowered = Object.fromEntries(bounds.map(([name, most]) => [name, Math.max(1, Math.floor((most * fit) / wanted))]))
  return { config: { ...config, ...lowered }, wanted, fit, kept }
}

/** Knobs that bound the connections of each gateway thread. */
const OF_GATEWAYS: readonly string[] = ['httpConnections', 'wsConnections']

/** Bounds of connections: knob, its value, and that over all threads. */
function boundsOf(config: Config): [name: string, most: number, all: number][] {
  const { gateways, grpcThread, grpcConnections, proxyPort } = config
  // A relayed connection has two more ends in this process (gateway/http/relay.ts).
  const ends = proxyPort === 0 ? 1 : 3
  const ofGateways = Object.entries(config).filter(([name]) => OF_GATEWAYS.includes(name)) as [string, number][]
  return [
    ...ofGateways.map(([name, most]): [string, number, number] =>
      [name, most, gateways * most * (name === 'httpConnections' ? ends : 1)]),
    ['grpcConnections', grpcConnections, grpcThread * grpcConnections],
  ]
}

/** With fewer that can be opened ports stop listening; with so many they listen again. */
export const SPARE = 8
export const BACK = 32
/** How often it is tried, ms, and how long ports rest at least, so that they do not open and close with every connection. */
const LOOK_MS = 100
const REST_MS = 2_000

type Level = (typeof FILES)[keyof typeof FILES]

export interface FileParts {
  /** How many files can be opened now, counted up to `most`. */
  readonly openable: (most: number) => number
  /** Milliseconds that only grow. */
  readonly now: () => number
  /** Told each new level. */
  readonly changed: (level: Level) => void
}

/** A function that looks once. */
export function fileWatch({ openable, now, changed }: FileParts): () => void {
  let level: Level = FILES.ENOUGH
  let since = 0
  return () => {
    const free = openable(level === FILES.ENOUGH ? SPARE : BACK)
    const worst = free === 0 ? FILES.NONE : free < SPARE ? FILES.SCARCE : FILES.ENOUGH
    const best = free < SPARE ? FILES.NONE : free < BACK ? FILES.SCARCE : FILES.ENOUGH
    const next = worst > level ? worst : best < level && now() - since >= REST_MS ? best : level
    if (next === level) return
    level = next
    since = now()
    changed(level)
  }
}

/** Looks for as long as the process lives. */
export function watchFiles(changed: FileParts['changed']): void {
  setInterval(fileWatch({ openable, now: () => performance.now(), changed }), LOOK_MS).unref()
}

/** Opens files up to `most` and closes them again; what fails for another reason than their number counts as opened. */
export function openable(most: number): number {
  const opened: number[] = []
  try {
    while (opened.length < most) opened.push(openSync('/dev/null', 'r'))
    return most
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE' ? opened.length : most
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

const GO_ON = 'open connections go on; raise LimitNOFILE'
/** What is said of each level. */
export const FILES_SAID: Readonly<Record<Level, readonly ['info' | 'warn' | 'error', string]>> = {
  [FILES.ENOUGH]: ['info', 'there are files to open again: all ports listen'],
  [FILES.SCARCE]: ['warn', `hardly a file can be opened any more: only the operator port listens, ${GO_ON}`],
  [FILES.NONE]: ['error', `no file can be opened any more: no port listens, ${GO_ON}`],
}
