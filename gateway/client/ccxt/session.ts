/**
 * The session of the adapter: it signs in when there is none, and again when the service says that it is over, which it
 * is after a day.
 *
 * A session that was given (`new Ringbook({ client })` with one that is signed in) is its owner's: it may be that of a
 * delegated agent, and a sign-in of its wallet would trade for another account. Its end is told, and who owns it signs
 * in.
 */
import type { Client } from '../index.ts'
import { RingbookError } from '../errors.ts'

/** Codes of a request that was signed by a session which is over; the service forgets those that are over for long. */
const OVER: ReadonlySet<string> = new Set(['SESSION_INVALID', 'UNAUTHENTICATED'])

export class AdapterSession {
  readonly #client: Client
  /** Whether the sessions of the client are this adapter's. */
  #isOwn: boolean
  #signingIn: Promise<void> | null = null
  /** Sign-ins so far. */
  #number = 0

  constructor(client: Client, isOwn: boolean) {
    this.#client = client
    this.#isOwn = isOwn
  }

  /** Runs one call of the account, and once more when its session was over before anything was done. */
  async run<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#client.signer === null) await this.#signIn()
    const used = this.#number
    try {
      return await act()
    } catch (error) {
      const isOver = error instanceof RingbookError && OVER.has(error.code) && error.outcome === 'not-applied'
      if (!isOver || !(await this.#renew(used))) throw error
      return act()
    }
  }

  /** The session is over: whether there is a new one. */
  renew(): Promise<boolean> {
    return this.#renew(this.#number)
  }

  /** Whether there is another session than the one that was `used`. */
  async #renew(used: number): Promise<boolean> {
    if (!this.#isOwn) return false
    if (used !== this.#number) return true
    try {
      await this.#signIn()
      return true
    } catch {
      // Without a wallet, or without an answer. What is told is that the session is over; the next call tries again.
      return false
    }
  }

  #signIn(): Promise<void> {
    const sign = async (): Promise<void> => {
      await this.#client.signIn()
      this.#number++
      this.#isOwn = true
    }
    return (this.#signingIn ??= sign().finally(() => (this.#signingIn = null)))
  }
}
