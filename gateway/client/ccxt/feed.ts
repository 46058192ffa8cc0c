/**
 * Updates of one subscription, for every reader of a `watch` verb.
 *
 * - A named reader (`params.reader`) has its own cursor: it gets each update once, whatever other readers do.
 * - Calls without a name cannot be told apart, so they share a cursor. Calls that wait at once get the same updates, and an update is kept
 *   until as many calls wait as waited at once before, for {@link TOGETHER_MS} at most.
 * - A reader that may have missed an update gets {@link UpdatesLost}: when {@link KEPT} updates wait for it, and when more calls without a
 *   name wait at once than an earlier update was given to.
 *
 * Bounds: a cursor keeps KEPT updates and those of one more frame; a cursor that is behind keeps nothing until its error is read.
 */
import { REAL_CLOCK, type Clock } from '../clock.ts'
import { UpdatesLost } from './errors.ts'

/** Updates that wait for one reader. */
export const KEPT = 10_000
/** Longest time in ms for which calls without a name wait for each other. */
export const TOGETHER_MS = 1000

export interface FeedOptions {
  /** A state: an update replaces the one before it, and a new reader begins with the newest. */
  readonly isState?: boolean
  /** Calls without a name do not wait for each other: a reader that misses a state gets the next one. */
  readonly isUrgent?: boolean
  readonly clock?: Clock
}

interface Call<Item> {
  readonly limit: number
  readonly resolve: (items: Item[]) => void
  readonly reject: (error: unknown) => void
}

type Entry<Item> = { readonly item: Item } | { readonly error: unknown }

/** Name of the cursor of calls without a name. */
const UNNAMED = ''

export class Feed<Item> {
  readonly #cursors = new Map<string, Cursor<Item>>()
  readonly #options: FeedOptions
  #state: Item[] = []

  constructor(options: FeedOptions = {}) {
    this.#options = options
  }

  /** Updates that this reader has not seen, the oldest `limit` of them; waits for the next when there is none. */
  next(reader = UNNAMED, limit = Infinity): Promise<Item[]> {
    let cursor = this.#cursors.get(reader)
    if (cursor === undefined) {
      cursor = new Cursor(this.#options, reader === UNNAMED && this.#options.isUrgent !== true)
      cursor.push(this.#state)
      this.#cursors.set(reader, cursor)
    }
    return cursor.next(limit)
  }

  push(items: readonly Item[]): void {
    if (items.length === 0) return
    if (this.#options.isState === true) this.#state = items.slice(-1)
    for (const cursor of this.#cursors.values()) cursor.push(items)
  }

  /** Every reader gets the error after the updates before it, and then goes on. */
  fail(error: unknown): void {
    for (const cursor of this.#cursors.values()) cursor.fail(error)
  }

  /** Calls that wait fail now. */
  end(error: unknown): void {
    for (const cursor of this.#cursors.values()) cursor.end(error)
  }

  /** Whether something waits for this reader. */
  hasUnread(reader = UNNAMED): boolean {
    return this.#cursors.get(reader)?.hasUnread ?? false
  }
}

class Cursor<Item> {
  readonly #isState: boolean
  readonly #clock: Clock
  /** Calls of several readers may use this cursor. */
  readonly #isShared: boolean
  #entries: Entry<Item>[] = []
  #calls: Call<Item>[] = []
  /** Updates were dropped: nothing is kept until the error is read. */
  #isBehind = false
  /** Most calls that waited at once; whether an update was given since that was found. */
  #readers = 1
  #hasGiven = false
  #stopTimer: (() => void) | null = null

  constructor({ isState = false, clock = REAL_CLOCK }: FeedOptions, isShared: boolean) {
    this.#isState = isState
    this.#clock = clock
    this.#isShared = isShared
  }

  get hasUnread(): boolean {
    return this.#entries.length > 0
  }

  next(limit: number): Promise<Item[]> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ limit: limit >= 1 ? Math.floor(limit) : 1, resolve, reject })
      if (this.#isShared && this.#calls.length > this.#readers) this.#findReader()
      this.#settle()
    })
  }

  push(items: readonly Item[]): void {
    if (this.#isBehind || items.length === 0) return
    if (this.#isState) {
      this.#entries = [...this.#entries.filter((entry) => 'error' in entry), { item: items.at(-1)! }]
    } else if (this.#entries.length < KEPT) {
      for (const item of items) this.#entries.push({ item })
    } else {
      this.#isBehind = true
      this.#entries = [{ error: new UpdatesLost(`${KEPT} updates waited and were dropped: read what is open again`) }]
    }
    this.#settle()
  }

  fail(error: unknown): void {
    if (this.#isBehind) return
    this.#entries.push({ error })
    this.#settle()
  }

  end(error: unknown): void {
    this.#stopWaiting()
    for (const { reject } of this.#calls.splice(0)) reject(error)
  }

  /** One more reader than was known. An update that was given before may not have reached all of them. */
  #findReader(): void {
    this.#readers = this.#calls.length
    if (!this.#hasGiven) return
    this.#hasGiven = false
    const said = `${this.#readers} calls without params.reader wait at once and may have missed updates`
    this.end(new UpdatesLost(`${said}: read what is open again, and name each reader`))
  }

  #settle(): void {
    if (this.#entries.length === 0 || this.#calls.length === 0) return
    if (!this.#isShared || this.#calls.length >= this.#readers) this.#give()
    else this.#stopTimer ??= this.#clock.after(TOGETHER_MS, () => this.#giveUpWaiting())
  }

  /** The readers that do not wait are slow or gone. */
  #giveUpWaiting(): void {
    this.#stopTimer = null
    if (this.#entries.length === 0 || this.#calls.length === 0) return
    this.#readers = this.#calls.length
    this.#give()
  }

  #stopWaiting(): void {
    this.#stopTimer?.()
    this.#stopTimer = null
  }

  #give(): void {
    this.#stopWaiting()
    this.#hasGiven = true
    const calls = this.#calls.splice(0)
    const first = this.#entries[0]!
    if ('error' in first) {
      this.#entries.shift()
      this.#isBehind = false
      for (const { reject } of calls) reject(first.error)
      return
    }
    const end = this.#entries.findIndex((entry) => 'error' in entry)
    const bound = Math.min(end === -1 ? Infinity : end, ...calls.map(({ limit }) => limit), this.#entries.length)
    const items = this.#entries.splice(0, bound).map((entry) => (entry as { readonly item: Item }).item)
    for (const { resolve } of calls) resolve([...items])
  }
}
