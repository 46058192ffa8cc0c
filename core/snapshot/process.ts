/**
 * The snapshots as the main thread sees them: one follower process, started again whenever it ends or hangs (../follower.ts), and the
 * counters that say how far it is. Without it the next start replays more, nothing else.
 */
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Config } from '../config.ts'
import { startFollower, type FollowerHooks } from '../supervisor/follower.ts'
import { MATCHER, SNAPSHOTS } from '../ring/counters.ts'
import type { Logger } from '../lib/log.ts'
import type { AuditMessage, FromThread, ToOperator } from '../threads.ts'

export interface SnapshotProcess {
  /** One more snapshot, of the whole journal, and its end. */
  finish(): Promise<void>
}

export interface SnapshotHooks extends Pick<FollowerHooks, 'started' | 'ended' | 'killed'> {
  /** Messages that are none of the counters' business. */
  readonly heard: (message: FromThread) => void
  /** An audit ended. */
  readonly audited: (audit: AuditMessage) => void
  /** A snapshot was written. */
  readonly snapshot: (sequence: number) => void
}

/** Starts the follower. `counters` and `matcher` are the blocks of ring/counters.ts. */
export function startSnapshots(config: Config, counters: Float64Array, matcher: Float64Array, hooks: SnapshotHooks): SnapshotProcess {
  const { dataDir, snapshotEvery, snapshotsKept, followerSilenceSeconds } = config
  const measure = (): void => {
    counters[SNAPSHOTS.lag_commands] = Math.max(0, matcher[MATCHER.sequence]! - counters[SNAPSHOTS.sequence]!)
  }
  const follower = startFollower(
    join(import.meta.dirname, 'follower.ts'), [dataDir, String(snapshotEvery), String(snapshotsKept)], followerSilenceSeconds,
    {
      ...hooks,
      heard: (message) => {
        if (message.type === 'snapshot') {
          counters[SNAPSHOTS.newest] = message.sequence
          hooks.snapshot(message.sequence)
        } else if (message.type === 'beat') {
          counters[SNAPSHOTS.sequence] = message.sequence
          counters[SNAPSHOTS.up] = 1
          measure()
          follower.well()
        } else if (message.type === 'audit') {
          counters[SNAPSHOTS.audits]!++
          counters[SNAPSHOTS.audit_sequence] = message.sequence
          counters[SNAPSHOTS.audit_seconds] = message.seconds
          counters[SNAPSHOTS.audit_failed] = message.broken === null ? 0 : 1
          hooks.audited(message)
        } else hooks.heard(message as FromThread)
      },
      ended: (code, signal) => {
        counters[SNAPSHOTS.up] = 0
        hooks.ended(code, signal)
      },
      killed: (seconds) => {
        counters[SNAPSHOTS.killed]!++
        hooks.killed(seconds)
      },
      silence: (ms, silent) => {
        counters[SNAPSHOTS.silence_seconds] = ms / 1000
        counters[SNAPSHOTS.silent] = silent ? 1 : 0
        measure()
      },
    },
  )
  return { finish: () => follower.finish() }
}

/** How long the operator thread is waited for that has not been started yet, ms at a time. */
const OPERATOR_MS = 50

/** What an audit does: the log says it, and the operator thread stops the orders when an invariant is broken. */
export function toldOf(log: Logger, operator: () => Worker | undefined): (audit: AuditMessage) => void {
  const tell = (audit: AuditMessage): void => {
    const worker = operator()
    if (worker === undefined) setTimeout(() => tell(audit), OPERATOR_MS)
    else worker.postMessage(audit satisfies ToOperator)
  }
  return (audit) => {
    const { sequence, seconds, broken } = audit
    if (broken === null) log.info({ sequence, seconds }, 'every invariant holds')
    else log.error({ sequence, seconds, broken }, 'an invariant of the state is broken: no more orders are taken')
    tell(audit)
  }
}
