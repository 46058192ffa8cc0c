/**
 * What the `watch` verbs listen to: a subscription each, made by the first call, with a feed of what came.
 *
 * A session that is over is renewed where that is the adapter's to do, and the subscription goes on. One that ends for
 * another reason is forgotten when its feed has told why, so that the next call subscribes anew instead of waiting for
 * nothing.
 */
import type { StreamError, SubscriptionStatus } from '../index.ts'
import { ExchangeError, unified } from './errors.ts'
import { Feed } from './feed.ts'
import type { AdapterSession } from './session.ts'

/** Codes of a stream whose session is over, or not known any more. */
const OVER: ReadonlySet<string> = new Set(['SESSION_INVALID', 'AUTH_FAILED'])

/** Handlers that every subscription gets. */
export interface Watch {
  readonly error: (error: StreamError) => void
  readonly status: (status: SubscriptionStatus) => void
}

interface Watched {
  readonly feed: Feed<unknown>
  readonly end: () => void
}

export class Watching {
  readonly #session: AdapterSession
  readonly #watched = new Map<string, Watched>()

  constructor(session: AdapterSession) {
    this.#session = session
  }

  /** The feed of this name. `start` subscribes, and gives back what ends that. */
  feed<Item>(key: string, start: (feed: Feed<Item>, watch: Watch) => { close(): void }): Feed<Item> {
    const known = this.#watched.get(key)
    if (known !== undefined) return known.feed as Feed<Item>
    const feed = new Feed<Item>()
    const subscription = start(feed, this.#watch(key, feed as Feed<unknown>))
    this.#watched.set(key, { feed: feed as Feed<unknown>, end: () => subscription.close() })
    return feed
  }

  #watch(key: string, feed: Feed<unknown>): Watch {
    // A new session that is refused as well helps nobody: until it was good once, there is no other.
    let isRenewed = false
    const refuse = async (error: StreamError): Promise<void> => {
      const mayRenew = OVER.has(error.code) && !isRenewed
      isRenewed = true
      if (mayRenew && (await this.#session.renew())) return
      if (this.#watched.get(key)?.feed === feed) this.#forget(key)
      feed.fail(unified(error))
    }
    return {
      error: (error) => void refuse(error),
      status: (status) => {
        if (status === 'open') isRenewed = false
      },
    }
  }

  #forget(key: string): void {
    const { end } = this.#watched.get(key)!
    this.#watched.delete(key)
    end()
  }

  /** Ends all of it; calls that wait fail. */
  close(): void {
    for (const [key, { feed }] of [...this.#watched]) {
      this.#forget(key)
      feed.fail(new ExchangeError('what was watched is closed'))
    }
  }
}
