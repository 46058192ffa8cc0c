/**
 * The exchange process, started by its supervisor (supervisor/main.ts).
 *
 * The wiring of the exchange, top to bottom: configuration, directory, shared memory, matcher (recovers), followers of snapshots and
 * history, sign-in desk, chain, operator, history readers, gateways, gRPC. One thread dies: the process stops with its own exit code and
 * the next start recovers; only the history and the chain may end, and trading goes on without them.
 */
import { announceExit, exit, stopAsked, supervised } from './supervisor/supervised.ts'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { startChain, type ChainThread } from './supervisor/chain_thread.ts'
import { describeConfig, embedsChain, frontThreads, OPERATOR_TOKEN_VARIABLE, readConfig, type Config } from './config.ts'
import { lockDirectory, mendModes, readPageTokenKey, type DirectoryLock } from './data_dir.ts'
import { descriptorLimit, FILES_SAID, fitDescriptors, openDescriptors, watchFiles } from './descriptors.ts'
import { watchDisk } from './disk.ts'
import { parseGenesis } from './state/genesis.ts'
import { startHistory, type HistoryProcess } from './history/process.ts'
import { keepHead, keepRoom } from './journal/room.ts'
import { startScrub, type ScrubProcess } from './journal/scrub_process.ts'
import { watchJournal, type JournalWatch } from './journal/watch.ts'
import { realIo } from './lib/io.ts'
import { systemFault } from './lib/system_fault.ts'
import { startQuickThread } from './lib/quick_thread.ts'
import { createLogger, type Logger } from './lib/log.ts'
import { readOperatorToken, type OperatorToken } from './operator_token.ts'
import { createBroadcast } from './ring/broadcast.ts'
import { budgetsBytes } from './ring/budgets.ts'
import {
  backupCounters, countersBytes, FILES, historyCounters, MATCHER, matcherCounters, scrubCounters, snapshotsCounters, STOP,
} from './ring/counters.ts'
import { portsBytes } from './ring/ports.ts'
import { watchArchive } from './archive/watch.ts'
import { watchBackups } from './backup/last.ts'
import { refuseBackup } from './backup/manifest.ts'
import { createOpenings } from './ring/openings.ts'
import { createQuestions } from './ring/questions.ts'
import { commandSlots, createRing } from './ring/spsc.ts'
import { wake, WAIT_WORDS } from './ring/wait.ts'
import { startSnapshots, toldOf, type SnapshotProcess } from './snapshot/process.ts'
import { startCode } from './start_code.ts'
import {
  EXIT, type DeskData, type FromFollower, type FromThread, type Lane, type Shared, type ToDesk, type ToOperator, type ToThread,
} from './threads.ts'

/** What names of history reader threads begin with. */
const READER = 'history reader'
const MIB = 2 ** 20
/** How often the open files are counted, ms. */
const DESCRIPTORS_MS = 5_000
const GIB = 2 ** 30
const GATEWAY = join(import.meta.dirname, '..', 'gateway')
/** How long a start waits for its history to catch up, and its chain to listen, before it says it is ready anyway, ms. */
const HISTORY_MS = 10_000
/** How often the lock of the directory is looked at, ms. */
const LOCK_LOOK_MS = 1_000
/** What is done about damage of the history, by who found it. */
const DAMAGED = {
  reader: 'a question to the history met damage and was not answered; the whole store is read back',
  follower: 'the history is not what was written; it is made anew from the journal',
} as const

function allocate(config: Config): Omit<Shared, 'columns'> {
  const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
  const lane = (): Lane => ({
    commands: createRing(commandSlots(config)).buffer,
    replies: createRing(config.replyRing).buffer, wait: cell(), questions: createQuestions(),
  })
  return {
    gate: cell(),
    events: createBroadcast(config.eventRing).buffer,
    counters: new SharedArrayBuffer(countersBytes(frontThreads(config))),
    ports: new SharedArrayBuffer(portsBytes(frontThreads(config))),
    matcherWait: cell(),
    lanes: Array.from({ length: frontThreads(config) + 1 }, lane),
  }
}

/** The configuration with bounds of connections that fit the files this process may open; lower ones are said. */
function fitted(config: Config, log: Logger): Config {
  const limit = descriptorLimit()
  if (limit === null) return config
  const { config: fits, wanted, fit, kept } = fitDescriptors(config, limit)
  if (wanted > fit) {
    const { wsConnections, grpcConnections } = fits
    const message = 'the process may not open as many files as its connections need; they are bounded lower: raise LimitNOFILE or ulimit -n'
    log.warn({ limit, kept, wanted, fit, wsConnections, grpcConnections }, message)
  }
  return fits
}

class Exchange {
  readonly #config: Config
  readonly #log: Logger
  readonly #lock: DirectoryLock
  readonly #pageTokenKey: Uint8Array
  readonly #operatorToken: OperatorToken
  readonly #shared: Omit<Shared, 'columns'>
  readonly #workers = new Map<string, Worker>()
  #snapshots: SnapshotProcess | null = null
  #history: HistoryProcess | null = null
  #scrub: ScrubProcess | null = null
  #chain: ChainThread | null = null
  #journal: JournalWatch | null = null
  #stopping = false
  #failing = false

  constructor(config: Config, log: Logger, lock: DirectoryLock) {
    this.#config = fitted(config, log)
    this.#log = log
    this.#lock = lock
    this.#pageTokenKey = readPageTokenKey(config.dataDir)
    this.#operatorToken = readOperatorToken(config.dataDir, config.operatorTokenFile, process.env)
    // Threads and processes that are started from here need not have it.
    delete process.env[OPERATOR_TOKEN_VARIABLE]
    this.#shared = allocate(config)
  }

  async run(): Promise<void> {
    const config = this.#config
    this.#log.info({ pid: process.pid, config: describeConfig(config) }, 'starting')
    this.#ownDirectory()
    this.#watchDirectory()
    let recovering = true
    // What is started behind the recovery is stopped in order, once all of it stands.
    void stopAsked.then((cause) => recovering && this.#stopEarly(cause))
    const matcher = this.#start('matcher', join(import.meta.dirname, 'sequencer', 'thread.ts'), { config, shared: this.#shared })
    const { genesis, columns, sequence } = await this.#message(matcher, 'recovered')
    recovering = false
    this.#log.info({ sequence }, 'recovered')
    const shared: Shared = { ...this.#shared, columns }
    this.#watchDisk()
    watchBackups(config.dataDir, backupCounters(this.#shared.counters))
    watchArchive(config.dataDir, matcherCounters(this.#shared.counters), historyCounters(this.#shared.counters))
    this.#watchDescriptors()
    keepRoom(config.dataDir, config.journalGb * GIB, (failure) => {
      if (failure === null) this.#log.info('room is made ahead of the journal again')
      else this.#log.warn({ error: failure.message }, 'no room can be made ahead of the journal; it is tried again every second')
    })
    keepHead(config.dataDir, (failure) => {
      if (failure === null) this.#log.info('journal/head is made durable again')
      else this.#log.error({ error: failure.message }, 'journal/head cannot be made durable; it is tried again every second')
    })
    this.#snapshots = this.#startSnapshots()
    this.#history = this.#startHistory()
    this.#scrub = this.#startScrub()
    // Side by side: loading a thread's modules takes longer than anything it does before it is ready.
    const history = this.#startReaders(genesis)
    const desks = this.#startDesk(genesis, shared)
    if (embedsChain(config)) this.#chain = this.#startChain(genesis)
    const token = this.#operatorToken
    const operator = this.#ready('operator', join(GATEWAY, 'operator', 'server.ts'), { config, genesis, shared, token })
    const { port, grpcPort } = await this.#startFronts(genesis, shared, desks.ports, history.ports)
    await Promise.all([desks.ready, operator, ...history.ready])
    const { port: operatorPort } = await operator
    void stopAsked.then((cause) => this.stop(cause))
    // Already open for trading; who waits for this line usually reads soon.
    const late = pause(HISTORY_MS, undefined, { ref: false })
    const [chainPort] = await Promise.all([Promise.race([this.#chain?.ready, late]), Promise.race([this.#history.ready, late])])
    if (this.#stopping) return
    this.#log.info({ host: config.host, port, grpcPort, operatorPort, chainPort, gateways: config.gateways, sequence }, 'ready')
  }

  /** Orderly stop: gateways finish what is under way, the matcher empties the rings, a last snapshot is written. */
  async stop(cause: string): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.info({ cause }, 'stopping')
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
    // Without a last snapshot the next start replays a little more, nothing else.
    await Promise.all([this.#snapshots?.finish(), this.#history?.finish(), this.#scrub?.finish()])
    this.#lock.release()
    const gone = this.#journal?.gone() ?? null
    this.#log[gone === null ? 'info' : 'fatal']({ sequence }, gone ?? 'stopped')
    exit(gone === null ? EXIT.OK : EXIT.JOURNAL)
  }

  /** A stop during recovery, when there is nothing under way yet. */
  #stopEarly(cause: string): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.info({ cause }, 'stopping')
    this.#lock.release()
    this.#log.info('stopped')
    exit(EXIT.OK)
  }

  /** Stops because something broke: sockets are closed without an answer, then the process ends with `code`. */
  async fail(code: number, message: string): Promise<void> {
    if (this.#failing) return
    this.#failing = true
    this.#stopping = true
    this.#log.fatal({ code }, message)
    // Ending threads may block this one for good, when a native module's clean-up does; the supervisor sees to it that the process ends.
    announceExit(code)
    await Promise.all([...this.#workers.keys()].filter((name) => name.startsWith('gateway')).map((name) => this.#end(name, 'abort')))
    process.exit(code)
  }

  #start(name: string, path: string, workerData: object, transferList: MessagePort[] = []): Worker {
    // The engine's thread is a bundle; the others are bound by signatures and sockets.
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
    if (message.type === 'damage') this.#history?.suspect(message.message)
    else if (message.type === 'fatal') void this.fail(message.code, `${name}: ${message.message}`)
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

  #end(name: string, type: 'stop' | 'abort' = 'stop'): Promise<void> {
    const worker = this.#workers.get(name)
    if (worker === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      worker.once('exit', () => resolve())
      worker.postMessage({ type } satisfies ToThread)
    })
  }

  /** What a follower process does to the log; trading goes on without it. */
  #followerHooks(name: string) {
    return {
      started: (pid: number | undefined) => this.#log.info({ pid }, `${name} started`),
      ended: (code: number | null, signal: NodeJS.Signals | null) => {
        if (!this.#stopping) this.#log.error({ code, signal }, `the ${name} ended; trading goes on, it is started again`)
      },
      killed: (seconds: number) => this.#log.error({ seconds: Math.round(seconds) }, `the ${name} says nothing; it is killed`),
    }
  }

  #startSnapshots(): SnapshotProcess {
    const { counters } = this.#shared
    return startSnapshots(this.#config, snapshotsCounters(counters), matcherCounters(counters), {
      ...this.#followerHooks('snapshot follower'), audited: toldOf(this.#log, () => this.#workers.get('operator')),
      heard: (message) => this.#heard('snapshot follower', message),
      snapshot: (sequence) => this.#log.info({ sequence }, 'snapshot written'),
    })
  }

  #startScrub(): ScrubProcess {
    return startScrub(this.#config, scrubCounters(this.#shared.counters), {
      ...this.#followerHooks('scrub of the journal'),
      heard: (message) => this.#heard('scrub of the journal', message),
      damaged: (signal, position) => {
        this.#log.error({ signal, position }, 'the journal is damaged: LMDB ended its scrub behind this sequence; trading goes on')
      },
    })
  }

  #startHistory(): HistoryProcess {
    const { counters } = this.#shared
    return startHistory(this.#config, historyCounters(counters), matcherCounters(counters), {
      ...this.#followerHooks('history follower'),
      damaged: (by, message) => this.#log.error({ by, damage: message }, DAMAGED[by]),
      heard: (message: FromFollower) => this.#heard('history follower', message as FromThread),
      tiers: (changes) => {
        this.#log.info({ accounts: changes.length }, 'fee tiers change')
        this.#workers.get('operator')?.postMessage({ type: 'tiers', changes } satisfies ToOperator)
      },
    })
  }

  /** Starts a thread and waits for it to say that it is ready. */
  #ready(name: string, path: string, data: object, transferList: MessagePort[] = []): Promise<Extract<FromThread, { type: 'ready' }>> {
    return this.#message(this.#start(name, path, data, transferList), 'ready')
  }

  /** Files that an earlier version, or a copy, left readable for others. */
  #ownDirectory(): void {
    const { mended, failure } = mendModes(this.#config.dataDir)
    if (mended > 0) this.#log.warn({ mended }, 'files of the data directory were open to others; now they are its owner\'s alone')
    if (failure !== null) this.#log.error({ error: failure }, 'files of the data directory stay open to others')
    if (this.#config.enforceRateLimits === 0) {
      const hint = 'data/ops/config.json enforces them'
      this.#log.warn({ knob: 'enforceRateLimits', hint }, 'rate limits are counted and not enforced: one client can fill the disk')
    }
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
    return startChain(join(GATEWAY, 'chain', 'thread.ts'), { config: this.#config, genesis, ports: this.#shared.ports }, {
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
      const path = join(import.meta.dirname, 'history', 'answer', 'reader.ts')
      ready.push(this.#ready(`${READER} ${reader}`, path, { config, genesis, ports: own }, own))
    }
    return { ports, ready }
  }

  /** Off the hot path, and often enough: until it is noticed that the lock is gone, its socket keeps others away. */
  #watchDirectory(): void {
    setInterval(() => {
      const lost = this.#lock.lost()
      const advice = 'see to it that it is the right one and that nothing else runs on it, then start again'
      if (lost !== null) void this.fail(EXIT.LOCKED, `${lost}; ${advice}`)
    }, LOCK_LOOK_MS).unref()
  }

  #watchDescriptors(): void {
    const counters = matcherCounters(this.#shared.counters)
    const look = (): void => {
      // What is not to be told because no file is left to look with stays as it was.
      const none = counters[MATCHER.files_level] === FILES.NONE
      counters[MATCHER.descriptor_limit] = descriptorLimit() ?? (none ? counters[MATCHER.descriptor_limit]! : Number.NaN)
      counters[MATCHER.open_descriptors] = none ? counters[MATCHER.descriptor_limit]! : openDescriptors()
    }
    look()
    setInterval(look, DESCRIPTORS_MS).unref()
    watchFiles((level) => {
      counters[MATCHER.files_level] = level
      look()
      this.#log[FILES_SAID[level][0]]({ limit: counters[MATCHER.descriptor_limit] }, FILES_SAID[level][1])
      for (const [name, worker] of this.#workers) {
        if (!name.startsWith('gateway') && name !== 'operator') continue
        worker.postMessage({ type: 'listen', open: level < (name === 'operator' ? FILES.NONE : FILES.SCARCE) } satisfies ToThread)
      }
      this.#chain?.listen(level < FILES.SCARCE)
    })
  }

  #watchDisk(): void {
    const { dataDir, diskReserveMb, journalGb } = this.#config
    this.#journal = watchJournal(dataDir, (cut) => void this.fail(EXIT.JOURNAL, cut))
    watchDisk({
      free: () => realIo.freeBytes(dataDir),
      reserve: diskReserveMb * MIB,
      limit: journalGb * GIB,
      ...this.#journal,
      counters: matcherCounters(this.#shared.counters),
      log: (level, message, fields) => this.#log[level](fields, message),
    })
  }
}

async function main(): Promise<void> {
  // Read by uWebSockets.js when it is loaded: room for RFC 9421 headers, browser headers and a page token.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'
  // The supervisor has read the same before: it is good, and help was not asked for.
  const config = readConfig(process.argv.slice(2), process.env)!
  const log = createLogger(config.logLevel)
  if (!supervised) {
    log.fatal({ code: EXIT.CONFIG }, 'this is the exchange process alone; start core/supervisor/main.ts, as npm start does')
    exit(EXIT.CONFIG)
  }
  try {
    refuseBackup(config.dataDir)
    const exchange = new Exchange(config, log, await lockDirectory(config.dataDir))
    process.on('uncaughtException', (error) => void exchange.fail(EXIT.THREAD, `main thread: ${error.stack ?? error.message}`))
    await exchange.run()
  } catch (thrown) {
    const error = systemFault(thrown, (thrown as NodeJS.ErrnoException).path ?? config.dataDir)
    const code = startCode(error)
    // What nobody foresaw is a fault of the program, and only its stack says where.
    log.fatal({ code }, code === EXIT.THREAD ? `main thread: ${error.stack ?? error.message}` : error.message)
    exit(code)
  }
}

await main()
