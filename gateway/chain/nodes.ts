/**
 * The nodes of all states of the embedded chain, and the codes of its contracts, by their hashes.
 *
 * The library writes some of them while a transaction or a call is still under way. Those that came since {@link Nodes.take} or
 * {@link Nodes.undo} are known: what a block added is kept beside it (store.ts), so that a start need not execute it again, and
 * what came of work that is not kept is forgotten.
 */
export class Nodes extends Map<string, string> {
  #fresh: string[] = []

  override set(key: string, value: string): this {
    if (!this.has(key)) this.#fresh.push(key)
    return super.set(key, value)
  }

  /** Those that are new. */
  take(): [key: string, value: string][] {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh.flatMap((key): [string, string][] => {
      const value = this.get(key)
      return value === undefined ? [] : [[key, value]]
    })
  }

  /** Forgets all of them. */
  forget(): void {
    this.clear()
    this.#fresh = []
  }

  /** Forgets those that are new. */
  undo(): void {
    for (const key of this.#fresh) this.delete(key)
    this.#fresh = []
  }
}
