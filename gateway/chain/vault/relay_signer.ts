/** A signer whose thread may be started again: what is asked goes to the port that came last. */
import type { MessagePort } from 'node:worker_threads'
import { createSigner } from './signer.ts'
import type { Authorisation, Hex, Signer, SignerScope, Unsigned } from './types.ts'

export class RelaySigner implements Signer {
  #signer: Signer
  /** What a new thread has to be told first. */
  #scope: SignerScope | null = null
  #isBound = false

  constructor(port: MessagePort) {
    this.#signer = createSigner(port)
  }

  take(port: MessagePort): void {
    this.#signer.close()
    this.#signer = createSigner(port)
    this.#isBound = false
  }

  address(): Promise<Hex> {
    return this.#signer.address()
  }

  async bind(scope: SignerScope): Promise<void> {
    await this.#signer.bind(scope)
    this.#scope = scope
    this.#isBound = true
  }

  async authorise(authorisation: Authorisation): Promise<Hex> {
    return (await this.#bound()).authorise(authorisation)
  }

  async sign(transaction: Unsigned): Promise<{ readonly raw: Hex; readonly hash: Hex }> {
    return (await this.#bound()).sign(transaction)
  }

  async #bound(): Promise<Signer> {
    if (!this.#isBound && this.#scope !== null) await this.bind(this.#scope)
    return this.#signer
  }

  close(): void {
    this.#signer.close()
  }
}
