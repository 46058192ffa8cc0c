/** What a `watch` verb waits for: whatever came since the last call, or the next of it. Keeps so many items at most, the newest. */
const KEPT = 1000

export class Feed<Item> {
  #items: Item[] = []
  #error: unknown = null
  #waiting: { resolve: (items: Item[]) => void; reject: (error: unknown) => void }[] = []

  /** All callers that wait get the same. */
  next(): Promise<Item[]> {
    if (this.#error !== null) return Promise.reject(this.#take())
    if (this.#items.length > 0) return Promise.resolve(this.#items.splice(0))
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  push(items: readonly Item[]): void {
    if (items.length === 0) return
    const waiting = this.#waiting.splice(0)
    if (waiting.length > 0) for (const { resolve } of waiting) resolve([...items])
    else this.#items = [...this.#items, ...items].slice(-KEPT)
  }

  /** The next call fails, or those that wait do; after it the feed goes on. */
  fail(error: unknown): void {
    const waiting = this.#waiting.splice(0)
    if (waiting.length === 0) this.#error = error
    for (const { reject } of waiting) reject(error)
  }

  #take(): unknown {
    const error = this.#error
    this.#error = null
    return error
  }
}
