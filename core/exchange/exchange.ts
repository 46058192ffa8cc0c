/**
 * An exchange, from its parts: nothing runs because this is imported. ../main.ts gives it the process under its supervisor, a test its own.
 *
 * The wiring, top to bottom: shared memory, matcher (recovers), watches, followers of snapshots and history, then what clients and operator
 * meet. One thread dies: {@link Exchange.fail} ends it all with a code of its own and the next start recovers; only the history,
 * the chain and the vault may end, and trading goes on without them.
 *
 * crew.ts has the threads, behind.ts the followers, fronts.ts sign-in, chain, operator, readers and gateways, watches.ts what is looked at.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describeConfig, OPERATOR_TOKEN_VARIABLE, type Config } from '../config.ts'
import { readPageTokenKey, type DirectoryLock } from '../data_dir.ts'
import type { JournalWatch } from '../journal/watch.ts'
import { lastWord, type Logger } from '../lib/log.ts'
import { readOperatorToken, type OperatorToken } from '../operator_token.ts'
import { STOP } from '../ring/counters.ts'
import { wake } from '../ring/wait.ts'
import type { ChainThread } from '../supervisor/chain_thread.ts'
import { EXIT, type FromThread, type Shared, type VaultKeyPlace } from '../threads.ts'
import { startBehind, type Behind } from './behind.ts'
import { Crew, heardFrom } from './crew.ts'
import { READER, startFronts, type Fronts, type Ports } from './fronts.ts'
import { allocate } from './memory.ts'
import { checkCertificates, reloadCertificates } from './certificates.ts'
import { takeVaultKey } from './vault_key.ts'
import { fitted, ownDirectory, watchAll, watchLock } from './watches.ts'

const MATCHER_THREAD = join(import.meta.dirname, '..', 'sequencer', 'thread.ts')
/** How long a start waits for its history to catch up, and its chain to listen, before it says it is ready anyway, ms. */
const HISTORY_MS = 10_000

export interface ExchangeParts {
  readonly config: Config
  readonly log: Logger
  /** Of the data directory; let go of at an orderly stop. */
  readonly lock: DirectoryLock
  /** The operator's token may be among it, and is taken out. */
  readonly environment: NodeJS.ProcessEnv
  /** Resolves with what asks for an orderly stop. */
  readonly stopAsked: Promise<string>
  /** Says ahead with which code it will end, whatever then happens to it. */
  readonly announceExit: (code: number) => void
  /** Ends the process; nothing of the exchange is under way any more, or nothing of it can be trusted. */
  readonly exit: (code: number) => void
}

export interface Exchange {
  /** Settles when it trades; never, when it failed or was stopped before. */
  readonly ready: Promise<Ports>
  /** Orderly stop: gateways finish what is under way, the matcher empties the rings, a last snapshot is written. */
  stop(cause: string): Promise<void>
  /** Reads the certificates again: new connections have the new ones, if they are good. */
  reload(): void
  /** Stops because something broke: sockets are closed without an answer, then the process ends with `code`. */
  fail(code: number, message: string): Promise<void>
}

/** Starts an exchange. Throws, before anything runs, when the directory's secrets or the certificates cannot be read. */
export function startExchange(parts: ExchangeParts): Exchange {
  const exchange = new RunningExchange(parts)
  return {
    ready: exchange.run(),
    stop: (cause) => exchange.stop(cause),
    reload: () => exchange.reload(),
    fail: (code, message) => exchange.fail(code, message),
  }
}

class RunningExchange {
  readonly #parts: ExchangeParts
  readonly #config: Config
  readonly #log: Logger
  readonly #pageTokenKey: Uint8Array
  readonly #operatorToken: OperatorToken
  readonly #vaultKey: VaultKeyPlace | null
  readonly #shared: Omit<Shared, 'columns'>
  readonly #crew: Crew
  #behind: Behind | null = null
  #chain: ChainThread | null = null
  #fronts: Fronts | null = null
  #journal: JournalWatch | null = null
  #stopping = false
  #failing = false

  constructor(parts: ExchangeParts) {
    const { config, log, environment } = parts
    this.#parts = parts
    this.#config = fitted(config, log)
    this.#log = log
    this.#pageTokenKey = readPageTokenKey(config.dataDir)
    this.#operatorToken = readOperatorToken(config.dataDir, config.operatorTokenFile, environment)
    // Threads and processes that are started from here need not have it.
    delete environment[OPERATOR_TOKEN_VARIABLE]
    this.#vaultKey = takeVaultKey(config, environment)
    checkCertificates(config, log)
    this.#shared = allocate(this.#config)
    this.#crew = new Crew({
      heard: (name, message) => this.#heard(name, message),
      threw: (name, error) => this.#broken(name, name === 'matcher' ? EXIT.INVARIANT : EXIT.THREAD, `${name}: ${error.message}`),
      ended: (name) => {
        if (!this.#stopping) this.#broken(name, EXIT.THREAD, `${name} ended`)
      },
    })
  }

  async run(): Promise<Ports> {
    const [config, log, crew] = [this.#config, this.#log, this.#crew]
    const { lock, stopAsked } = this.#parts
    const fail = (code: number, message: string): void => void this.fail(code, message)
    log.info({ pid: process.pid, config: describeConfig(config) }, 'starting')
    ownDirectory(config, log)
    watchLock(lock, fail)
    let recovering = true
    // What is started behind the recovery is stopped in order, once all of it stands.
    void stopAsked.then((cause) => recovering && this.#stopEarly(cause))
    const matcher = crew.start('matcher', MATCHER_THREAD, { config, shared: this.#shared })
    const { genesis, columns, sequence, created } = await heardFrom(matcher, 'recovered')
    recovering = false
    log.info({ sequence, created }, 'recovered')
    const { counters } = this.#shared
    this.#journal = watchAll({ config, log, counters, crew, chain: () => this.#chain, fail })
    const heard = (name: string, message: FromThread): void => this.#heard(name, message)
    this.#behind = startBehind({ config, log, counters, crew, heard, stopping: () => this.#stopping })
    const [shared, pageTokenKey, token] = [{ ...this.#shared, columns }, this.#pageTokenKey, this.#operatorToken]
    const fronts = startFronts({ config, log, crew, genesis, shared, pageTokenKey, token, vaultKey: this.#vaultKey, heard })
    this.#fronts = fronts
    this.#chain = fronts.chain
    const ports = await fronts.ready
    if (!this.#stopping) fronts.openVault()
    void stopAsked.then((cause) => this.stop(cause))
    // Already open for trading; who waits for this line usually reads soon.
    const late = pause(HISTORY_MS, undefined, { ref: false })
    const [chainPort] = await Promise.all([Promise.race([this.#chain?.ready, late]), Promise.race([this.#behind.history.ready, late])])
    if (this.#stopping) return new Promise(() => undefined)
    const { port, grpcPort, operatorPort } = ports
    log.info({ host: config.host, port, grpcPort, operatorPort, chainPort, gateways: config.gateways, sequence }, 'ready')
    return ports
  }

  async stop(cause: string): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.info({ cause }, 'stopping')
    const crew = this.#crew
    const { names } = crew
    // Gateways first: what they have under way may still need the sign-in thread.
    await Promise.all(names.filter((name) => name.startsWith('gateway')).map((name) => crew.end(name)))
    await this.#fronts?.closeVault()
    const others = names.filter((name) => name === 'sign-in' || name === 'operator' || name.startsWith(READER))
    await Promise.all([...others.map((name) => crew.end(name)), this.#chain?.finish()])
    const gate = new Int32Array(this.#shared.gate)
    const stopped = crew.next('matcher', 'stopped')
    Atomics.store(gate, STOP, 1)
    wake(new Int32Array(this.#shared.matcherWait))
    const { sequence } = await stopped
    // Without a last snapshot the next start replays a little more, nothing else.
    const behind = this.#behind
    await Promise.all([behind?.snapshots.finish(), behind?.history.finish(), behind?.scrub.finish()])
    this.#parts.lock.release()
    const gone = this.#journal?.gone() ?? null
    this.#log[gone === null ? 'info' : 'fatal']({ sequence }, gone ?? 'stopped')
    this.#parts.exit(gone === null ? EXIT.OK : EXIT.JOURNAL)
  }

  reload(): void {
    if (!this.#stopping) reloadCertificates(this.#config, this.#log, this.#crew)
  }

  /** A stop during recovery, when there is nothing under way yet. */
  #stopEarly(cause: string): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#log.info({ cause }, 'stopping')
    this.#parts.lock.release()
    this.#log.info('stopped')
    this.#parts.exit(EXIT.OK)
  }

  async fail(code: number, message: string): Promise<void> {
    if (this.#failing) return
    this.#failing = true
    this.#stopping = true
    lastWord(this.#log, code, message)
    // Ending threads may block this one for good, when a native module's clean-up does; the supervisor sees to it that the process ends.
    this.#parts.announceExit(code)
    const gateways = this.#crew.names.filter((name) => name.startsWith('gateway'))
    await Promise.all(gateways.map((name) => this.#crew.end(name, 'abort')))
    this.#parts.exit(code)
  }

  /** The exchange does without its history: gateways refuse what they cannot ask. */
  #broken(name: string, code: number, message: string): void {
    if (name.startsWith(READER)) this.#log.error({ code }, message)
    else void this.fail(code, message)
  }

  #heard(name: string, message: FromThread): void {
    if (message.type === 'damage') this.#behind?.history.suspect(message.message)
    else if (message.type === 'fatal') void this.fail(message.code, `${name}: ${message.message}`)
    else if (message.type === 'log') this.#log[message.level]({ thread: name, ...message.fields }, message.message)
    else if (message.type === 'progress') {
      const { stage, records, rate, secondsLeft } = message
      this.#log.info({ stage, records, perSecond: Math.round(rate), secondsLeft: Math.ceil(secondsLeft) }, 'replaying the journal')
    }
  }
}
