/**
 * The gateway's side of the vault thread: where the contracts are, and calldata, which only that thread can get signed. A port comes with
 * each start of the vault thread; while there is none, calldata is not to be had.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Faulted, Faults } from '../../faults.ts'
import type { Calldata, CalldataAsk, FromVault, Unavailable } from './messages.ts'
import type { Places } from './types.ts'

/** Questions one gateway has open at most. */
const OPEN_MAX = 256
const DEADLINE_MS = 20_000
const SWEEP_MS = 1_000

type Done = (answer: Calldata | Unavailable) => void

interface Question {
  readonly done: Done
  readonly deadline: number
  /** Which request asks. */
  readonly request: Faulted | null
}

export class VaultClient {
  readonly #faults: Faults
  readonly #open = new Map<number, Question>()
  readonly #timer: NodeJS.Timeout
  #port: MessagePort | null = null
  #next = 1
  /** Where the contracts are; `null`: there is no vault, or not yet. Known once, it stays while the chain is away. */
  places: Places | null = null
  /** Whether the hub answered when it was asked last. */
  connected = false

  constructor(faults: Faults) {
    this.#faults = faults
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** From now on this port is asked. */
  take(port: MessagePort): void {
    this.#port?.close()
    this.#drop()
    this.#port = port
    port.on('message', (message: FromVault) => this.#hear(message))
    port.on('close', () => {
      if (this.#port !== port) return
      this.#port = null
      this.connected = false
      this.#drop()
    })
  }

  /** The transaction of a withdrawal under way, or why there is none: exactly once, at once or later. */
  calldata(row: number, sequence: number, done: Done): void {
    if (this.#port === null) return done('SIGNER')
    if (this.#open.size >= OPEN_MAX) return done('BUSY')
    const id = this.#next++
    this.#open.set(id, { done, deadline: performance.now() + DEADLINE_MS, request: this.#faults.current })
    this.#port.postMessage({ id, type: 'calldata', row, sequence } satisfies CalldataAsk)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#port?.close()
    this.#port = null
  }

  #hear(message: FromVault): void {
    if ('type' in message) {
      this.places = message.places ?? this.places
      this.connected = message.connected
    } else this.#finish(message.id, 'calldata' in message ? message.calldata : message.unavailable)
  }

  #finish(id: number, answer: Calldata | Unavailable): void {
    const question = this.#open.get(id)
    if (question === undefined) return
    this.#open.delete(id)
    this.#faults.guard(question.request, () => question.done(answer))
  }

  /** Who was asked is gone. */
  #drop(): void {
    for (const id of [...this.#open.keys()]) this.#finish(id, 'SIGNER')
  }

  #sweep(): void {
    const now = performance.now()
    for (const [id, { deadline }] of this.#open) {
      // In order of asking, and every question has the same time.
      if (deadline > now) return
      this.#finish(id, 'SIGNER')
    }
  }
}
