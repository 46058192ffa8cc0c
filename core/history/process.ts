/**
 * The history as the main thread sees it: one follower process, started again whenever it ends, and the counters that say how far it is.
 *
 * Trading does not depend on any of this. While no follower is there, or it has not caught up since it had to make its store anew, `up`
 * is 0 and gateways refuse questions.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { HISTORY } from '../ring/counters.ts'
import type { FromFollower, TierChange } from '../threads.ts'

/** Pause before an ended follower is started again, ms: doubled each time, up to the most, until one has caught up. */
const PAUSE_MS = 1_000
const PAUSE_MOST_MS = 30_000

export interface HistoryProcess {
  /** Settles when it has caught up for the first time. */
  readonly ready: Promise<void>
  /** Lets it catch up with the journal, which must not grow any more, and end; it is not started again. */
  finish(): Promise<void>
}

export interface HistoryHooks {
  /** Messages that are none of the counters' business. */
  readonly heard: (message: FromFollower) => void
  /** Accounts whose fee tier is to change. */
  readonly tiers: (changes: readonly TierChange[]) => void
  /** A follower was started. */
  readonly started: (pid: number | undefined) => void
  /** It ended without being asked to. */
  readonly ended: (code: number | null, signal: NodeJS.Signals | null) => void
}

/** Starts the follower. `counters` is the block of ring/counters.ts. */
export function startHistory(config: Config, counters: Float64Array, hooks: HistoryHooks): HistoryProcess {
  let child: ChildProcess | null = null
  let finishing = false
  let pause = PAUSE_MS
  const ready = Promise.withResolvers<void>()

  const hear = (message: FromFollower): void => {
    if (message.type === 'tiers') return hooks.tiers(message.changes)
    if (message.type !== 'history') return hooks.heard(message)
    counters[HISTORY.sequence] = message.sequence
    counters[HISTORY.lag_commands] = message.lag
    counters[HISTORY.events_per_second] = message.eventsPerSecond
    counters[HISTORY.heartbeat_ms] = Date.now()
    counters[HISTORY.up] = 1
    pause = PAUSE_MS
    ready.resolve()
  }
  const start = (): void => {
    const started = fork(join(import.meta.dirname, 'follower.ts'), [config.dataDir, String(config.feeTierSeconds)])
    child = started
    hooks.started(started.pid)
    started.on('message', hear)
    started.on('error', () => undefined)
    started.on('exit', (code, signal) => {
      counters[HISTORY.up] = 0
      child = null
      if (finishing) return
      hooks.ended(code, signal)
      setTimeout(() => void (finishing || start()), pause).unref()
      pause = Math.min(2 * pause, PAUSE_MOST_MS)
    })
  }
  start()
  return {
    ready: ready.promise,
    finish: () => {
      finishing = true
      const last = child
      if (last === null) return Promise.resolve()
      return new Promise((resolve) => {
        last.once('exit', () => resolve())
        last.send({ type: 'finish' }, () => undefined)
      })
    },
  }
}
