/**
 * The scrub as the main thread sees it: one process, started again whenever it ends or hangs (../follower.ts), and the counters that say
 * how far it is and what it found. Trading does not depend on it, whatever it finds.
 */
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { startFollower, type Follower, type FollowerHooks } from '../supervisor/follower.ts'
import { SCRUB } from '../ring/counters.ts'
import type { FromScrub, FromThread } from '../threads.ts'

/** A start has better things to do at first, ms. */
const START_MS = 5_000
/** How LMDB ends a process that reads a page which cannot be read or makes no sense. */
const OF_DAMAGE: readonly (NodeJS.Signals | null)[] = ['SIGBUS', 'SIGSEGV', 'SIGABRT']

export interface ScrubProcess {
  finish(): Promise<void>
}

export interface ScrubHooks extends Pick<FollowerHooks, 'started' | 'ended' | 'killed'> {
  /** Messages that are none of the counters' business. */
  readonly heard: (message: FromThread) => void
  /** LMDB ended it by this signal: a page of the journal cannot be read, somewhere behind this sequence. */
  readonly damaged: (signal: NodeJS.Signals, position: number) => void
}

/** Starts the scrub a little later. `counters` is the block of ring/counters.ts. */
export function startScrub(
  config: Pick<Config, 'dataDir' | 'scrubMbPerSecond' | 'followerSilenceSeconds'>, counters: Float64Array, hooks: ScrubHooks,
  startMs = START_MS,
): ScrubProcess {
  const { dataDir, scrubMbPerSecond, followerSilenceSeconds } = config
  let follower: Follower | null = null
  /** Found by the last whole pass, and what processes before this one read. */
  let lastPass = 0
  let before = 0
  const heard = (message: FromScrub): void => {
    if (message.type === 'scrub') {
      counters[SCRUB.position] = message.sequence
      counters[SCRUB.bytes] = before + message.bytes
      counters[SCRUB.damaged] = Math.max(lastPass, message.damaged)
    } else if (message.type === 'scrubbed') {
      counters[SCRUB.passes]!++
      counters[SCRUB.pass_ms] = Date.now()
      counters[SCRUB.pass_seconds] = message.seconds
      lastPass = message.damaged
      counters[SCRUB.damaged] = lastPass
      follower?.well()
    } else hooks.heard(message)
  }
  const begin = (): void => {
    const path = join(import.meta.dirname, 'scrub_follower.ts')
    follower = startFollower(path, [dataDir, String(scrubMbPerSecond)], followerSilenceSeconds, {
      ...hooks,
      heard: (message) => heard(message as FromScrub),
      ended: (code, signal) => {
        before = counters[SCRUB.bytes]!
        if (signal === null || !OF_DAMAGE.includes(signal)) return hooks.ended(code, signal)
        lastPass = Math.max(1, lastPass)
        counters[SCRUB.damaged] = lastPass
        hooks.damaged(signal, counters[SCRUB.position]!)
      },
      silence: (_ms, silent) => {
        counters[SCRUB.silent] = silent ? 1 : 0
      },
    })
  }
  const later = scrubMbPerSecond === 0 ? undefined : setTimeout(begin, startMs).unref()
  return {
    finish: () => {
      clearTimeout(later)
      return follower?.finish() ?? Promise.resolve()
    },
  }
}
