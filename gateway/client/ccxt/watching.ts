/**
 * What the `watch` verbs listen to: a subscription each, made by the first call, with a feed of updates (feed.ts).
 *
 * A session that is over is renewed where that is the adapter's to do, and the subscription goes on. A subscription that ends for another
 * reason gives its error to every reader. The next call of a reader that has read its error subscribes anew, into the same feed.
 */
import type { StreamError, SubscriptionStatus } from '../index.ts'
import { BadRequest, ExchangeError, unified } from './errors.ts'
import { Feed, type FeedOptions } from './feed.ts'
import type { AdapterSession } from './session.ts'

/** Codes of a stream whose session is over, or not known any more. */
const OVER: ReadonlySet<string> = new Set(['SESSION_INVALID', 'AUTH_FAILED'])

/** Handlers that every subscription gets. */
export interface Watch {
  readonly error: (error: StreamError) => void
  readonly status: (status: SubscriptionStatus) => void
}

/** `start` subscribes, and gives back what ends that. */
export interface Watched<Item> {
  readonly key: string
  readonly options?: FeedOptions
  readonly start: (feed: Feed<Item>, watch: Watch) => { close(): void }
}

interface Entry {
  readonly feed: Feed<unknown>
  /** `null`: it ended. */
  subscription: { close(): void } | null
}

export class Watching {
  readonly #session: AdapterSession
  readonly #entries = new Map<string, Entry>()

  constructor(session: AdapterSession) {
    this.#session = session
  }

  /** The next updates of this reader; `params.reader` names it. */
  next<Item>({ key, options, start }: Watched<Item>, { reader }: Readonly<Record<string, unknown>>, limit?: number): Promise<Item[]> {
    if (reader !== undefined && typeof reader !== 'string') throw new BadRequest('params.reader is the name of a reader: text')
    const entry = this.#entries.get(key) ?? { feed: new Feed<unknown>(options), subscription: null }
    this.#entries.set(key, entry)
    const feed = entry.feed as Feed<Item>
    if (entry.subscription === null && !feed.hasUnread(reader)) entry.subscription = start(feed, this.#watch(entry))
    return feed.next(reader, limit)
  }

  #watch(entry: Entry): Watch {
    // A new session that is refused as well helps nobody: until it was good once, there is no other.
    let isRenewed = false
    let hasEnded = false
    const refuse = async (error: StreamError): Promise<void> => {
      const mayRenew = OVER.has(error.code) && !isRenewed
      isRenewed = true
      if (mayRenew && (await this.#session.renew())) return
      if (hasEnded) return
      hasEnded = true
      entry.subscription?.close()
      entry.subscription = null
      entry.feed.fail(unified(error))
    }
    return {
      error: (error) => void refuse(error),
      status: (status) => {
        if (status === 'open') isRenewed = false
      },
    }
  }

  /** Ends all of it; calls that wait fail. */
  close(): void {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { feed, subscription } of entries) {
      subscription?.close()
      feed.end(new ExchangeError('what was watched is closed'))
    }
  }
}
