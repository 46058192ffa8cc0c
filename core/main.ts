/**
 * The wiring of the exchange, top to bottom: configuration, directory, shared memory, matcher (recovers), followers of snapshots and
 * history, sign-in desk, chain, operator, history readers, gateways, gRPC. One thread dies: the process stops with its own exit code and
 * the next start recovers; only the history and the chain may end, and trading goes on without them.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { startChain, type ChainThread } from './chain_thread.ts'
import {
  ConfigError, configHelp, describeConfig, embedsChain, frontThreads, OPERATOR_TOKEN_VARIABLE, readConfig, type Config,
} from './config.ts'
import { DirectoryLocked, lockDirectory, type DirectoryLock } from './data_dir.ts'
import { parseGenesis } from './engine/genesis.ts'
import { startHistory, type HistoryProcess } from './history/process.ts'
import { keepRoom } from './journal/room.ts'
import { realIo } from './lib/io.ts'
import { startQuickThread } from './lib/quick_thread.ts'
import { createLogger, type Logger } from './lib/log.ts'
import { readOperatorToken, type OperatorToken } from './operator_token.ts'
import { readPageTokenKey } from './page_token_key.ts'
import { createBroadcast } from './ring/broadcast.ts'
import { budgetsBytes } from './ring/budgets.ts'
import { countersBytes, historyCounters, MATCHER, matcherCounters, STOP } from './ring/counters.ts'
import { createOpenings } from './ring/openings.ts'
import { createRing } from './ring/spsc.ts'
import { wake, WAIT_WORDS } from './ring/wait.ts'
import {
  EXIT, type DeskData, type FromFollower, type FromThread, type Lane, type Shared, type ToDesk, type ToOperator, type ToThread,
} from './threads.ts'

/** What names of history reader threads begin with. */
const READER = 'history reader'
const GATEWAY = join(import.meta.dirname, '..', 'gateway')
/** How long an orderly stop may take before the process is ended anyway, ms; and how long a failing one may. */
const STOP_MS = 60_000
const FAIL_MS = 2_000
/** How long a start waits for its history to catch up, and its chain to listen, before it says it is ready anyway, ms. */
const HISTORY_MS = 10_000

function allocate(config: Config): Omit<Shared, 'columns'> {
  const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
  const lane = (): Lane => ({
    commands: createRing(config.commandRing).buffer,
    replies: createRing(config.replyRing).buffer,
    wait: cell(),
  })
  return {
    gate: cell(),
    events: createBroadcast(config.eventRing).buffer,
    counters: new SharedArrayBuffer(countersBytes(frontThreads(config))),
    matcherWait: cell(),
    lanes: Array.from({ length: frontThreads(config) + 1 }, lane),
  }
}

class Exchange {
  readonly #config: Config
  readonly #log: Logger
  readonly #lock: DirectoryLock
  readonly #pageTokenKey: Uint8Array
  readonly #operatorToken: OperatorToken
  readonly #shared: Omit<Shared, 'columns'>
  readonly #workers = new Map<string, Worker>()
  #follower: ChildProcess | null = null
  #history: HistoryProcess | null = null
  #chain: ChainThread | null = null
  #stopping = false

  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
    this.#lock = lockDirectory(config.dataDir)
    this.#pageTokenKey = readPageTokenKey(config.dataDir)
    this.#operatorToken = readOperatorToken(config.dataDir, config.operatorTokenFile, process.env)
    // Threads and processes that are started from here need not have it.
    delete process.env[OPERATOR_TOKEN_VARIABLE]
    this.#shared = allocate(config)
  }

  async run(): Promise<void> {
    const config = this.#config
    this.#log.info({ config: describeConfig(config) }, 'starting')
    const matcher = this.#start('matcher', join(import.meta.dirname, 'sequencer', 'thread.ts'), { config, shared: this.#shared })
    const { genesis, columns, sequence } = await this.#message(matcher, 'recovered')
    this.#log.info({ sequence }, 'recovered')
    const shared: Shared = { ...this.#shared, columns }
    keepRoom(config.dataDir, (error) => this.#log.warn({ error: error.message }, 'no room is made ahead of the journal any more'))
    this.#startFollower()
    this.#history = this.#startHistory()
    // Side by side: loading a thread's modules takes longer than anything it does before it is ready.
    const history = this.#startReaders(genesis)
    const desks = this.#startDesk(genesis, shared)
    if (embedsChain(config)) this.#chain = this.#startChain(genesis)
    const token = this.#operatorToken
    const operator = this.#ready('operator', join(GATEWAY, 'operator', 'server.ts'), { config, genesis, shared, token })
    const { port, grpcPort } = await this.#startFronts(genesis, shared, desks.ports, history.ports)
    await Promise.all([desks.ready, operator, ...history.ready])
    const { port: operatorPort } = await operator
    this.#watchDisk()
    process.on('SIGINT', () => void this.stop('SIGINT'))
    process.on('SIGTERM', () => void this.stop('SIGTERM'))
    // Already open for trading; who waits for this line usually reads soon.
    const late = pause(HISTORY_MS, undefined, { ref: false })
    const [chainPort] = await Promise.all([Promise.race([this.#chain?.ready, late]), Promise.race([this.#history.ready, late])])
    this.#log.info({ host: config.host, port, grpcPort, operatorPort, chainPort, gateways: config.gateways, sequence }, 'ready')
  }

  /** Orderly stop: gateways finish what is under way, the matcher empties the rings, a last snapshot is written. */
  async stop(cause: string): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.info({ cause }, 'stopping')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_MS).unref()
    const names = [...this.#workers.keys()]
    // Gateways first: what they have under way may still need the desk.
    await Promise.all(names.filter((name) => name.startsWith('gateway')).map((name) => this.#end(name)))
    const others = names.filter((name) => name === 'desk' || name === 'operator' || name.startsWith(READER))
    await Promise.all([...others.map((name) => this.#end(name)), this.#chain?.finish()])
    const gate = new Int32Array(this.#shared.gate)
    const stopped = this.#message(this.#workers.get('matcher')!, 'stopped')
    Atomics.store(gate, STOP, 1)
    wake(new Int32Array(this.#shared.matcherWait))
    const { sequence } = await stopped
    await Promise.all([this.#finishFollower(), this.#history?.finish()])
    this.#lock.release()
    this.#log.info({ sequence }, 'stopped')
    process.exit(EXIT.OK)
  }

  /** Stops because something broke: sockets are closed without an answer, then the process ends with `code`. */
  async fail(code: number, message: string): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.fatal({ code }, message)
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), FAIL_MS).unref()
    // Ending threads may block this one for good, when a native module's clean-up does; the follower sees to it that the process ends.
    this.#follower?.send({ type: 'guard', afterMs: 2 * FAIL_MS }, () => undefined)
    await Promise.all([...this.#workers.keys()].filter((name) => name.startsWith('gateway')).map((name) => this.#end(name, 'abort')))
    process.exit(code)
  }

  #start(name: string, path: string, workerData: object, transferList: MessagePort[] = []): Worker {
    // The engine's thread gets its modules stripped; the others are bound by signatures and sockets.
    const worker = name === 'matcher' ? startQuickThread(path, { workerData, name }) : new Worker(path, { workerData, transferList, name })
    this.#workers.set(name, worker)
    worker.on('message', (message: FromThread) => this.#heard(name, message))
    worker.on('error', (error) => this.#broken(name, name === 'matcher' ? EXIT.INVARIANT : EXIT.THREAD, `${name}: ${error.message}`))
    worker.on('exit', () => {
      this.#workers.delete(name)
      if (!this.#stopping) this.#broken(name, EXIT.THREAD, `${name} ended`)
    })
    return worker
  }

  /** The exchange does without its history: gateways refuse what they cannot ask. */
  #broken(name: string, code: number, message: string): void {
    if (name.startsWith(READER)) this.#log.error({ code }, message)
    else void this.fail(code, message)
  }

  #heard(name: string, message: FromThread): void {
    if (message.type === 'fatal') void this.fail(message.code, `${name}: ${message.message}`)
    else if (message.type === 'log') this.#log[message.level]({ thread: name, ...message.fields }, message.message)
    else if (message.type === 'progress') {
      const { stage, records, rate, secondsLeft } = message
      this.#log.info({ stage, records, perSecond: Math.round(rate), secondsLeft: Math.ceil(secondsLeft) }, 'replaying the journal')
    }
  }

  /** The first message of this type; a failing thread stops the process instead. */
  #message<T extends FromThread['type']>(worker: Worker, type: T): Promise<Extract<FromThread, { type: T }>> {
    return new Promise((resolve) => {
      const listen = (message: FromThread): void => {
        if (message.type !== type) return
        worker.off('message', listen)
        resolve(message as Extract<FromThread, { type: T }>)
      }
      worker.on('message', listen)
    })
  }

  #end(name: string, type: ToThread['type'] = 'stop'): Promise<void> {
    const worker = this.#workers.get(name)
    if (worker === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      worker.once('exit', () => resolve())
      worker.postMessage({ type } satisfies ToThread)
    })
  }

  #startFollower(): void {
    const { dataDir, snapshotEvery, snapshotsKept } = this.#config
    const child = fork(join(import.meta.dirname, 'snapshot', 'follower.ts'), [dataDir, String(snapshotEvery), String(snapshotsKept)])
    this.#follower = child
    child.on('message', (message: FromThread) => {
      if (message.type === 'snapshot') this.#log.info({ sequence: message.sequence }, 'snapshot written')
      else this.#heard('snapshot follower', message)
    })
    child.on('exit', (code, signal) => {
      this.#follower = null
      if (this.#stopping) return
      this.#log.error({ code, signal }, 'the snapshot follower ended; trading goes on, it is started again')
      setTimeout(() => void (this.#stopping || this.#startFollower()), 5_000).unref()
    })
  }

  /** The last snapshot of an orderly stop. Without a follower the next start replays a little more, nothing else. */
  #finishFollower(): Promise<void> {
    const child = this.#follower
    if (child === null) return Promise.resolve()
    return new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.send({ type: 'finish' })
    })
  }

  #startHistory(): HistoryProcess {
    return startHistory(this.#config, historyCounters(this.#shared.counters), {
      heard: (message: FromFollower) => this.#heard('history follower', message as FromThread),
      tiers: (changes) => {
        this.#log.info({ accounts: changes.length }, 'fee tiers change')
        this.#workers.get('operator')?.postMessage({ type: 'tiers', changes } satisfies ToOperator)
      },
      started: (pid) => this.#log.info({ pid }, 'history follower started'),
      ended: (code, signal) => this.#log.error({ code, signal }, 'the history follower ended; trading goes on, it is started again'),
    })
  }

  /** Starts a thread and waits for it to say that it is ready. */
  #ready(name: string, path: string, data: object, transferList: MessagePort[] = []): Promise<Extract<FromThread, { type: 'ready' }>> {
    return this.#message(this.#start(name, path, data, transferList), 'ready')
  }

  /** Starts the sign-in desk; for each gateway a port to it. */
  #startDesk(genesis: string, shared: Shared): { ports: MessagePort[]; ready: Promise<unknown> } {
    const channels = Array.from({ length: frontThreads(this.#config) }, () => new MessageChannel())
    const own = channels.map((channel) => channel.port1)
    const { columns, gate, counters } = shared
    const data: DeskData = { config: this.#config, genesis, columns, gate, counters, ports: own }
    const ready = this.#ready('desk', join(GATEWAY, 'auth', 'desk.ts'), data, own)
    return { ports: channels.map((channel) => channel.port2), ready }
  }

  /** Starts the embedded chain; the desk hears where it is. */
  #startChain(genesis: string): ChainThread {
    return startChain(join(GATEWAY, 'chain', 'thread.ts'), { config: this.#config, genesis }, {
      heard: (message) => this.#heard('chain', message),
      moved: (url) => this.#workers.get('desk')?.postMessage({ type: 'chain', url } satisfies ToDesk),
      ended: (reason) => this.#log.error({ reason }, 'the chain thread ended; trading goes on, it is started again'),
    })
  }

  /**
   * Starts the gateways and the gRPC thread. The first gateway finds the port that the others share. What they ask of threads that
   * are not ready yet waits in its port.
   */
  async #startFronts(
    genesis: string, shared: Shared, desks: readonly MessagePort[], history: readonly MessagePort[][],
  ): Promise<{ port: number; grpcPort: number | undefined }> {
    const config = this.#config
    const budgets = new SharedArrayBuffer(budgetsBytes(parseGenesis(genesis).limits.accounts))
    const openings = createOpenings(Date.now(), randomBytes(32))
    const start = (index: number, name: string, path: string, port: number): Promise<Extract<FromThread, { type: 'ready' }>> => {
      const [desk, readers] = [desks[index]!, history[index]!]
      const data = {
        config: { ...config, port }, genesis, shared, number: index + 1, desk, budgets, openings, pageTokenKey: this.#pageTokenKey,
        history: readers,
      }
      return this.#ready(name, path, data, [desk, ...readers])
    }
    const grpc = config.grpcThread === 1
      ? start(config.gateways, 'gateway for gRPC', join(GATEWAY, 'grpc', 'thread.ts'), config.port) : undefined
    const gateway = join(GATEWAY, 'thread.ts')
    const { port = config.port } = await start(0, 'gateway 1', gateway, config.port)
    const others = Array.from({ length: config.gateways - 1 }, (_, i) => start(i + 1, `gateway ${i + 2}`, gateway, port))
    await Promise.all(others)
    return { port, grpcPort: (await grpc)?.port }
  }

  /** Starts the history readers; for each gateway one port to each of them. */
  #startReaders(genesis: string): { ports: MessagePort[][]; ready: Promise<unknown>[] } {
    const config = this.#config
    const ready: Promise<unknown>[] = []
    const ports: MessagePort[][] = Array.from({ length: frontThreads(config) }, () => [])
    for (let reader = 1; reader <= config.historyReaders; reader++) {
      const channels = ports.map(() => new MessageChannel())
      channels.forEach((channel, gateway) => ports[gateway]!.push(channel.port2))
      const own = channels.map((channel) => channel.port1)
      const path = join(import.meta.dirname, 'history', 'reader.ts')
      ready.push(this.#ready(`${READER} ${reader}`, path, { config, genesis, ports: own }, own))
    }
    return { ports, ready }
  }

  #watchDisk(): void {
    const counters = matcherCounters(this.#shared.counters)
    const look = (): void => {
      counters[MATCHER.free_disk_bytes] = realIo.freeBytes(this.#config.dataDir)
    }
    look()
    setInterval(look, 1_000).unref()
  }
}

async function main(): Promise<void> {
  let config: Config | null
  try {
    config = readConfig(process.argv.slice(2), process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(`ringbook: ${error.message}`)
    process.exit(EXIT.CONFIG)
  }
  if (config === null) {
    console.log(configHelp())
    return
  }
  // Read by uWebSockets.js when it is loaded: room for RFC 9421 headers, browser headers and a page token.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'
  const log = createLogger(config.logLevel)
  try {
    await new Exchange(config, log).run()
  } catch (error) {
    log.fatal({ code: error instanceof DirectoryLocked ? EXIT.LOCKED : EXIT.CONFIG }, (error as Error).message)
    process.exit(error instanceof DirectoryLocked ? EXIT.LOCKED : EXIT.CONFIG)
  }
}

await main()
