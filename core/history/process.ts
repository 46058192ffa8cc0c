/**
 * The history as the main thread sees it: one follower process, started again whenever it ends or hangs (../follower.ts), and the counters
 * that say how far it is.
 *
 * Trading does not depend on any of this. While no follower is there, or it has not caught up since it had to make its store anew, `up`
 * is 0 and gateways refuse questions. How far it is behind is worked out here, against the journal: one that hangs cannot say.
 */
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { startFollower, type FollowerHooks } from '../supervisor/follower.ts'
import { HISTORY, MATCHER } from '../ring/counters.ts'
import { Lag } from './lag.ts'
import type { FromFollower, TierChange } from '../threads.ts'

export interface HistoryProcess {
  /** Settles when it has caught up for the first time. */
  readonly ready: Promise<void>
  /** A reader could not answer because of this damage: the follower reads the whole store back, and makes it anew if it is so. */
  suspect(message: string): void
  /** Lets it catch up with the journal, which must not grow any more, and end; it is not started again. */
  finish(): Promise<void>
}

export interface HistoryHooks extends Pick<FollowerHooks, 'started' | 'ended' | 'killed'> {
  /** The store, or what a reader saw of it, is not what was written. */
  readonly damaged: (by: 'reader' | 'follower', message: string) => void
  /** Messages that are none of the counters' business. */
  readonly heard: (message: FromFollower) => void
  /** Accounts whose fee tier is to change. */
  readonly tiers: (changes: readonly TierChange[]) => void
}

/** Starts the follower. `counters` and `matcher` are the blocks of ring/counters.ts. */
export function startHistory(config: Config, counters: Float64Array, matcher: Float64Array, hooks: HistoryHooks): HistoryProcess {
  const ready = Promise.withResolvers<void>()
  const lag = new Lag()
  const measure = (): void => {
    const [end, reached] = [matcher[MATCHER.sequence]!, counters[HISTORY.sequence]!]
    counters[HISTORY.lag_commands] = Math.max(0, end - reached)
    counters[HISTORY.lag_seconds] = lag.look(end, reached, performance.now()) / 1000
  }
  const { dataDir, feeTierSeconds, historyScrubPages, followerSilenceSeconds } = config
  const follower = startFollower(
    join(import.meta.dirname, 'follower.ts'), [dataDir, String(feeTierSeconds), String(historyScrubPages)], followerSilenceSeconds,
    {
      ...hooks,
      heard: (message) => {
        if (message.type === 'tiers') return hooks.tiers(message.changes)
        if (message.type === 'damage') {
          counters[HISTORY.rebuilds]!++
          counters[HISTORY.up] = 0
          return hooks.damaged('follower', message.message)
        }
        if (message.type !== 'history') return hooks.heard(message)
        counters[HISTORY.sequence] = message.sequence
        counters[HISTORY.events_per_second] = message.eventsPerSecond
        counters[HISTORY.heartbeat_ms] = Date.now()
        counters[HISTORY.scrub_passes] = message.scrubPasses
        counters[HISTORY.scrub_pages] = message.scrubPages
        measure()
        if (!message.caughtUp) return
        counters[HISTORY.up] = 1
        follower.well()
        ready.resolve()
      },
      ended: (code, signal) => {
        counters[HISTORY.up] = 0
        hooks.ended(code, signal)
      },
      killed: (seconds) => {
        counters[HISTORY.killed]!++
        hooks.killed(seconds)
      },
      silence: (ms, silent) => {
        counters[HISTORY.silence_seconds] = ms / 1000
        counters[HISTORY.silent] = silent ? 1 : 0
        measure()
      },
    },
  )
  return {
    ready: ready.promise,
    suspect: (message) => {
      counters[HISTORY.reader_faults]!++
      hooks.damaged('reader', message)
      follower.send({ type: 'suspect' })
    },
    finish: () => follower.finish(),
  }
}
