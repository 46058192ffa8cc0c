/**
 * The vault thread and the signer thread as the main thread sees them: each is started again whenever it ends. Trading needs neither: while
 * one is away deposits wait on the chain and withdrawals in the journal.
 *
 * The signer's thread has the key and nothing else; the vault's has a port to it, which is renewed when either of them is started again.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { startBundledThread } from '../lib/quick_thread.ts'
import type { FromThread, SignerData, ToSigner, ToVault, VaultData, VaultKeyPlace } from '../threads.ts'
import { Restart } from './restart.ts'

/** Heaps, MiB. */
const HEAP_MB = 512
const SIGNER_HEAP_MB = 128

export interface VaultPaths {
  readonly vault: string
  readonly signer: string
}

/** Ports of one life of the vault thread. */
export interface VaultPorts {
  readonly operator: MessagePort
  readonly gateways: readonly MessagePort[]
  readonly history: MessagePort | null
}

export interface VaultHooks {
  /** Messages of the threads that are for everybody's ears. */
  readonly heard: (name: string, message: FromThread) => void
  /** One ended without being asked to, or cannot work. */
  readonly ended: (name: string, reason: string) => void
  /** The vault thread starts: the other ends of these are for who talks to it. */
  readonly connect: (ports: VaultPorts) => void
}

export interface VaultThread {
  /** Where the embedded chain is; `null`: away. */
  moved(url: string | null): void
  /** Ends both; they are not started again. */
  finish(): Promise<void>
}

export interface VaultParts {
  readonly paths: VaultPaths
  readonly place: VaultKeyPlace
  readonly data: Omit<VaultData, 'operator' | 'signer' | 'history' | 'gateways' | 'url'>
  /** Gateways, and whether there is a history reader. */
  readonly gateways: number
  readonly history: boolean
  readonly url: string | null
}

/** Starts both threads. */
export function startVault(parts: VaultParts, hooks: VaultHooks): VaultThread {
  const running = new RunningVault(parts, hooks)
  return { moved: (url) => running.moved(url), finish: () => running.finish() }
}

class RunningVault {
  readonly #parts: VaultParts
  readonly #hooks: VaultHooks
  readonly #vaultRestart = new Restart(() => this.#startVault())
  readonly #signerRestart = new Restart(() => this.#startSigner())
  #vault: Worker | null = null
  #signer: Worker | null = null
  #url: string | null

  constructor(parts: VaultParts, hooks: VaultHooks) {
    this.#parts = parts
    this.#hooks = hooks
    this.#url = parts.url
    this.#startSigner()
    this.#startVault()
  }

  moved(url: string | null): void {
    this.#url = url
    this.#tellVault({ type: 'chain', url })
  }

  async finish(): Promise<void> {
    this.#vaultRestart.finish()
    this.#signerRestart.finish()
    await ended(this.#vault, () => this.#tellVault({ type: 'stop' }))
    await ended(this.#signer, () => this.#signer?.postMessage({ type: 'stop' } satisfies ToSigner))
  }

  #tellVault(message: ToVault, ports: MessagePort[] = []): void {
    this.#vault?.postMessage(message, ports)
  }

  #startSigner(): void {
    const data: SignerData = { place: this.#parts.place }
    // Of the environment it needs nothing.
    const worker = startBundledThread(this.#parts.paths.signer, {
      workerData: data, name: 'signer', env: {}, resourceLimits: { maxOldGenerationSizeMb: SIGNER_HEAP_MB },
    })
    this.#signer = worker
    this.#watch('signer', worker, this.#signerRestart, () => (this.#signer = null))
    if (this.#vault !== null) {
      const port = this.#signerPort()
      this.#tellVault({ type: 'signer', port }, [port])
    }
  }

  /** One end for the vault thread; the other is the signer's. Without a signer it stays unanswered until the next one comes. */
  #signerPort(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    if (this.#signer === null) port2.close()
    else this.#signer.postMessage({ type: 'port', port: port2 } satisfies ToSigner, [port2])
    return port1
  }

  #startVault(): void {
    const { paths, data, gateways, history } = this.#parts
    const [operator, ...others] = Array.from({ length: 1 + gateways }, () => new MessageChannel())
    const reader = history ? new MessageChannel() : null
    const signer = this.#signerPort()
    const own = others.map(({ port1 }) => port1)
    const workerData: VaultData = {
      ...data, url: this.#url, operator: operator!.port1, signer, gateways: own, ...(reader === null ? {} : { history: reader.port1 }),
    }
    const transferList = [operator!.port1, signer, ...own, ...(reader === null ? [] : [reader.port1])]
    const worker = startBundledThread(paths.vault, {
      workerData, transferList, name: 'vault', resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    this.#vault = worker
    this.#watch('vault', worker, this.#vaultRestart, () => (this.#vault = null))
    this.#hooks.connect({ operator: operator!.port2, gateways: others.map(({ port2 }) => port2), history: reader?.port2 ?? null })
  }

  #watch(name: string, worker: Worker, restart: Restart, gone: () => void): void {
    const { heard, ended: tell } = this.#hooks
    worker.on('message', (message: FromThread) => {
      if (message.type === 'ready') restart.well()
      else if (message.type === 'fatal') {
        // It takes nothing of the exchange with it.
        tell(name, message.message)
        void worker.terminate()
      } else heard(name, message)
    })
    worker.on('error', (error) => tell(name, error.message))
    worker.on('exit', (code) => {
      gone()
      if (restart.finishing) return
      tell(name, `it ended with ${code}`)
      restart.ended()
    })
  }
}

/** Asks a worker to end, and waits until it did. */
function ended(worker: Worker | null, ask: () => void): Promise<void> {
  if (worker === null) return Promise.resolve()
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    ask()
  })
}
