/**
 * The threads of an exchange by name: starting them, waiting for what they say, ending them. What a message or an end means is for the
 * exchange (exchange.ts).
 */
import { Worker, type MessagePort } from 'node:worker_threads'
import { startBundledThread, startQuickThread } from '../lib/quick_thread.ts'
import type { FromThread, ToGateway, ToOperator, ToReader, ToSignIn, ToThread } from '../threads.ts'

export interface CrewHooks {
  readonly heard: (name: string, message: FromThread) => void
  /** A thread threw; `error`: what. */
  readonly threw: (name: string, error: Error) => void
  /** A thread is gone, however it ended. */
  readonly ended: (name: string) => void
}

type Ready = Extract<FromThread, { type: 'ready' }>

export class Crew {
  readonly #hooks: CrewHooks
  readonly #workers = new Map<string, Worker>()

  constructor(hooks: CrewHooks) {
    this.#hooks = hooks
  }

  get names(): string[] {
    return [...this.#workers.keys()]
  }

  start(name: string, path: string, workerData: object, transferList: MessagePort[] = []): Worker {
    // The engine's thread is hot code; the others are bound by signatures and sockets.
    const start = name === 'matcher' ? startQuickThread : startBundledThread
    const worker = start(path, { workerData, transferList, name })
    this.#workers.set(name, worker)
    worker.on('message', (message: FromThread) => this.#hooks.heard(name, message))
    worker.on('error', (error) => this.#hooks.threw(name, error))
    worker.on('exit', () => {
      this.#workers.delete(name)
      this.#hooks.ended(name)
    })
    return worker
  }

  /** Starts a thread and waits for it to say that it is ready. */
  ready(name: string, path: string, data: object, transferList: MessagePort[] = []): Promise<Ready> {
    return heardFrom(this.start(name, path, data, transferList), 'ready')
  }

  /** The first message of this type that thread `name`, which runs, says from now on. */
  next<T extends FromThread['type']>(name: string, type: T): Promise<Extract<FromThread, { type: T }>> {
    return heardFrom(this.#workers.get(name)!, type)
  }

  /** The thread of this name, while it runs. */
  worker(name: string): Worker | undefined {
    return this.#workers.get(name)
  }

  /** Says something to a thread, when it runs. */
  tell(name: string, message: ToThread | ToGateway | ToOperator | ToReader | ToSignIn, transferList: MessagePort[] = []): void {
    this.#workers.get(name)?.postMessage(message, transferList)
  }

  /** Asks a thread to end, and waits until it did. */
  end(name: string, type: 'stop' | 'abort' = 'stop'): Promise<void> {
    const worker = this.#workers.get(name)
    if (worker === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      worker.once('exit', () => resolve())
      worker.postMessage({ type } satisfies ToThread)
    })
  }
}

/** The first message of this type; a thread that fails stops the exchange instead. */
export function heardFrom<T extends FromThread['type']>(worker: Worker, type: T): Promise<Extract<FromThread, { type: T }>> {
  return new Promise((resolve) => {
    const listen = (message: FromThread): void => {
      if (message.type !== type) return
      worker.off('message', listen)
      resolve(message as Extract<FromThread, { type: T }>)
    }
    worker.on('message', listen)
  })
}
