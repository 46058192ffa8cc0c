/**
 * A book of the service kept up to date here: `orderbook` frames applied one by one, and the checksum of every frame verified.
 *
 * Prices are compared as the decimal text they are, never as floating point. While the book is not known to be that of the service
 * ({@link LocalBook.live} is false) it shows what was last verified, which is old; after a wrong checksum it is empty, because then nothing
 * of it is known to be right. A new snapshot is asked for after a gap and after a wrong checksum, without anybody's doing.
 */
import { crc32 } from './checksum.ts'
import type { StreamError } from './errors.ts'
import type { ChannelParams, Frame, Handlers, Subscription, SubscriptionStatus } from './stream_types.ts'

export interface BookLevel {
  readonly price: string
  readonly quantity: string
}

export interface BookHandlers {
  /** After every frame, and when the book is no longer live. */
  readonly changed?: (book: LocalBook) => void
  readonly error?: (error: StreamError) => void
  readonly status?: (status: SubscriptionStatus) => void
}

/** Levels of each side that subscribers see, and that the checksum covers. */
const DEPTH = 1000
const CHECKSUM_LEVELS = 10

/** Order of two prices: negative when `a` is lower. Decimals are as the service writes them: no sign, no exponent, no idle zeros. */
export function comparePrices(a: string, b: string): number {
  const [wholeA, partA = ''] = a.split('.') as [string, string?]
  const [wholeB, partB = ''] = b.split('.') as [string, string?]
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length
  if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1
  return partA === partB ? 0 : partA < partB ? -1 : 1
}

/** One side, best first. */
class Side {
  readonly #sign: 1 | -1
  readonly #levels: BookLevel[] = []
  #copy: readonly BookLevel[] | null = null

  constructor(sign: 1 | -1) {
    this.#sign = sign
  }

  /** A copy of all levels, the same one until something changes. */
  get levels(): readonly BookLevel[] {
    return (this.#copy ??= [...this.#levels])
  }

  get size(): number {
    return this.#levels.length
  }

  best(count: number): readonly BookLevel[] {
    return this.#levels.slice(0, count)
  }

  clear(): void {
    this.#levels.length = 0
    this.#copy = null
  }

  /** Sets a level; quantity "0" removes it. */
  set({ price, quantity }: BookLevel): void {
    const at = this.#placeOf(price)
    const there = this.#levels[at]?.price === price ? 1 : 0
    if (quantity === '0') this.#levels.splice(at, there)
    else this.#levels.splice(at, there, { price, quantity })
    this.#copy = null
  }

  /** Where `price` stands or belongs. */
  #placeOf(price: string): number {
    let low = 0
    let high = this.#levels.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sign * comparePrices(this.#levels[middle]!.price, price) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** CRC-32 of `price:quantity` of the ten best levels of each side, joined by commas, bids first. */
function checksumOf(bids: Side, asks: Side): number {
  const best = [...bids.best(CHECKSUM_LEVELS), ...asks.best(CHECKSUM_LEVELS)]
  return crc32(best.map(({ price, quantity }) => `${price}:${quantity}`).join(','))
}

type Open = (handlers: Handlers<'orderbook'>) => Subscription
type Update = Frame<'orderbook'>

export class LocalBook {
  readonly #bids = new Side(-1)
  readonly #asks = new Side(1)
  readonly #subscription: Subscription
  readonly #changed: (book: LocalBook) => void
  readonly params: ChannelParams<'orderbook'>
  /** Resolves when the book is there; rejects when it was refused or closed before. */
  readonly ready: Promise<void>
  #live = false
  #sequence = 0
  #checksum = 0
  #isNot = (_: unknown): void => undefined

  /** `open` subscribes to the book; what {@link Streams.book} is for. */
  constructor(params: ChannelParams<'orderbook'>, handlers: BookHandlers, open: Open) {
    const { changed = () => undefined, error, status } = handlers
    this.params = params
    this.#changed = changed
    let isReady = (): void => undefined
    this.ready = new Promise((resolve, reject) => {
      isReady = resolve
      this.#isNot = reject
    })
    this.ready.catch(() => undefined)
    const take = (frame: Update): void => {
      this.#take(frame)
      if (this.#live) isReady()
      changed(this)
    }
    this.#subscription = open({
      snapshot: (_, frame) => take(frame),
      update: (_, frame) => take(frame),
      error: (refusal) => {
        this.#isNot(refusal)
        error?.(refusal)
      },
      status: (now) => {
        if (now !== 'open') this.#rest()
        status?.(now)
      },
    })
    this.#subscription.ready.catch(this.#isNot)
  }

  /** Best first. */
  get bids(): readonly BookLevel[] {
    return this.#bids.levels
  }

  get asks(): readonly BookLevel[] {
    return this.#asks.levels
  }

  get bestBid(): BookLevel | undefined {
    return this.#bids.best(1)[0]
  }

  get bestAsk(): BookLevel | undefined {
    return this.#asks.best(1)[0]
  }

  /** Whether this is the book of the service at {@link sequence}, and goes on to be. */
  get live(): boolean {
    return this.#live
  }

  /** Sequence of the last command that is in the book; 0 before the first snapshot. */
  get sequence(): number {
    return this.#sequence
  }

  /** Checksum of the ten best levels of each side, which is that of the service. */
  get checksum(): number {
    return this.#checksum
  }

  close(): void {
    this.#isNot(new Error('the book was closed'))
    this.#subscription.close()
  }

  #take({ type, sequence, data }: Update): void {
    if (type === 'snapshot') this.#clear()
    for (const level of data.bids) this.#bids.set(level)
    for (const level of data.asks) this.#asks.set(level)
    this.#sequence = sequence
    this.#checksum = checksumOf(this.#bids, this.#asks)
    const fits = this.#bids.size <= DEPTH && this.#asks.size <= DEPTH
    this.#live = fits && this.#checksum === data.checksum
    if (this.#live) return
    this.#clear()
    this.#subscription.renew()
  }

  #clear(): void {
    this.#bids.clear()
    this.#asks.clear()
  }

  #rest(): void {
    if (!this.#live) return
    this.#live = false
    this.#changed(this)
  }
}
