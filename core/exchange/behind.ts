/** What runs behind an exchange, in processes of its own: followers of snapshots and history, and the scrub of the journal. */
import type { Config } from '../config.ts'
import { startHistory, type HistoryProcess } from '../history/process.ts'
import { startScrub, type ScrubProcess } from '../journal/scrub_process.ts'
import type { Logger } from '../lib/log.ts'
import { historyCounters, matcherCounters, scrubCounters, snapshotsCounters } from '../ring/counters.ts'
import { startSnapshots, toldOf, type SnapshotProcess } from '../snapshot/process.ts'
import type { FromFollower, FromThread, Shared } from '../threads.ts'
import type { Crew } from './crew.ts'

/** What is done about damage of the history, by who found it. */
const DAMAGED = {
  reader: 'a question to the history met damage and was not answered; the whole store is read back',
  follower: 'the history is not what was written; it is made anew from the journal',
} as const

export interface Behind {
  readonly snapshots: SnapshotProcess
  readonly history: HistoryProcess
  readonly scrub: ScrubProcess
}

export interface BehindParts {
  readonly config: Config
  readonly log: Logger
  readonly counters: Shared['counters']
  readonly crew: Crew
  readonly heard: (name: string, message: FromThread) => void
  readonly stopping: () => boolean
}

export function startBehind(parts: BehindParts): Behind {
  const { config, log, counters, crew, heard } = parts
  const snapshots = startSnapshots(config, snapshotsCounters(counters), matcherCounters(counters), {
    ...hooks(parts, 'snapshot follower'), audited: toldOf(log, () => crew.worker('operator')),
    heard: (message) => heard('snapshot follower', message),
    snapshot: (sequence) => log.info({ sequence }, 'snapshot written'),
  })
  const history = startHistory(config, historyCounters(counters), matcherCounters(counters), {
    ...hooks(parts, 'history follower'),
    damaged: (by, message) => log.error({ by, damage: message }, DAMAGED[by]),
    heard: (message: FromFollower) => heard('history follower', message as FromThread),
    tiers: (changes) => {
      log.info({ accounts: changes.length }, 'fee tiers change')
      crew.tell('operator', { type: 'tiers', changes })
    },
  })
  const scrub = startScrub(config, scrubCounters(counters), {
    ...hooks(parts, 'scrub of the journal'),
    heard: (message) => heard('scrub of the journal', message),
    damaged: (signal, position) => {
      log.error({ signal, position }, 'the journal is damaged: LMDB ended its scrub behind this sequence; trading goes on')
    },
  })
  return { snapshots, history, scrub }
}

/** What a follower process does to the log; trading goes on without it. */
function hooks({ log, stopping }: BehindParts, name: string) {
  return {
    started: (pid: number | undefined) => log.info({ pid }, `${name} started`),
    ended: (code: number | null, signal: NodeJS.Signals | null) => {
      if (!stopping()) log.error({ code, signal }, `the ${name} ended; trading goes on, it is started again`)
    },
    killed: (seconds: number) => log.error({ seconds: Math.round(seconds) }, `the ${name} says nothing; it is killed`),
  }
}
