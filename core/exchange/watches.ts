/** What an exchange looks at while it runs: its directory and lock, open files, disk and journal, backups and archive. */
import type { Config } from '../config.ts'
import { watchArchive } from '../archive/watch.ts'
import { watchBackups } from '../backup/last.ts'
import { mendModes, type DirectoryLock } from '../data_dir.ts'
import { descriptorLimit, FILES_SAID, fitDescriptors, openDescriptors, watchFiles } from '../descriptors.ts'
import { watchDisk } from '../disk.ts'
import { keepHead, keepRoom } from '../journal/room.ts'
import { watchJournal, type JournalWatch } from '../journal/watch.ts'
import { realIo } from '../lib/io.ts'
import type { Logger } from '../lib/log.ts'
import { backupCounters, FILES, historyCounters, MATCHER, matcherCounters } from '../ring/counters.ts'
import { EXIT, type Shared } from '../threads.ts'
import type { ChainThread } from '../supervisor/chain_thread.ts'
import type { Crew } from './crew.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** How often the open files are counted, ms. */
const DESCRIPTORS_MS = 5_000
/** How often the lock of the directory is looked at, ms. */
const LOCK_LOOK_MS = 1_000

export interface WatchParts {
  readonly config: Config
  readonly log: Logger
  readonly counters: Shared['counters']
  readonly crew: Crew
  readonly chain: () => ChainThread | null
  readonly fail: (code: number, message: string) => void
}

/** The configuration with bounds of connections that fit the files this process may open; lower ones are said. */
export function fitted(config: Config, log: Logger): Config {
  const limit = descriptorLimit()
  if (limit === null) return config
  const { config: fits, wanted, fit, kept } = fitDescriptors(config, limit)
  if (wanted > fit) {
    const { wsConnections, grpcConnections } = fits
    const message = 'the process may not open as many files as its connections need; they are bounded lower: raise LimitNOFILE or ulimit -n'
    log.warn({ limit, kept, wanted, fit, wsConnections, grpcConnections }, message)
  }
  return fits
}

/** Files that an earlier version, or a copy, left readable for others. */
export function ownDirectory({ dataDir, enforceRateLimits }: Config, log: Logger): void {
  const { mended, failure } = mendModes(dataDir)
  if (mended > 0) log.warn({ mended }, 'files of the data directory were open to others; now they are its owner\'s alone')
  if (failure !== null) log.error({ error: failure }, 'files of the data directory stay open to others')
  if (enforceRateLimits === 0) {
    const hint = 'data/ops/config.json enforces them'
    log.warn({ knob: 'enforceRateLimits', hint }, 'rate limits are counted and not enforced: one client can fill the disk')
  }
}

/** Off the hot path, and often enough: until it is noticed that the lock is gone, its socket keeps others away. */
export function watchLock(lock: DirectoryLock, fail: WatchParts['fail']): void {
  setInterval(() => {
    const lost = lock.lost()
    const advice = 'see to it that it is the right one and that nothing else runs on it, then start again'
    if (lost !== null) fail(EXIT.LOCKED, `${lost}; ${advice}`)
  }, LOCK_LOOK_MS).unref()
}

/** Begins to watch everything that matters once the journal is read; the watch of the journal. */
export function watchAll(parts: WatchParts): JournalWatch {
  const { config, log, counters } = parts
  const { dataDir, diskReserveMb, journalGb } = config
  const journal = watchJournal(dataDir, (cut) => parts.fail(EXIT.JOURNAL, cut))
  watchDisk({
    free: () => realIo.freeBytes(dataDir),
    reserve: diskReserveMb * MIB,
    limit: journalGb * GIB,
    ...journal,
    counters: matcherCounters(counters),
    log: (level, message, fields) => log[level](fields, message),
  })
  watchBackups(dataDir, backupCounters(counters))
  watchArchive(dataDir, matcherCounters(counters), historyCounters(counters))
  watchDescriptors(parts)
  keepRoom(dataDir, journalGb * GIB, (failure) => {
    if (failure === null) log.info('room is made ahead of the journal again')
    else log.warn({ error: failure.message }, 'no room can be made ahead of the journal; it is tried again every second')
  })
  keepHead(dataDir, (failure) => {
    if (failure === null) log.info('journal/head is made durable again')
    else log.error({ error: failure.message }, 'journal/head cannot be made durable; it is tried again every second')
  })
  return journal
}

function watchDescriptors({ log, counters: shared, crew, chain }: WatchParts): void {
  const counters = matcherCounters(shared)
  const look = (): void => {
    // What is not to be told because no file is left to look with stays as it was.
    const none = counters[MATCHER.files_level] === FILES.NONE
    counters[MATCHER.descriptor_limit] = descriptorLimit() ?? (none ? counters[MATCHER.descriptor_limit]! : Number.NaN)
    counters[MATCHER.open_descriptors] = none ? counters[MATCHER.descriptor_limit]! : openDescriptors()
  }
  look()
  setInterval(look, DESCRIPTORS_MS).unref()
  watchFiles((level) => {
    counters[MATCHER.files_level] = level
    look()
    log[FILES_SAID[level][0]]({ limit: counters[MATCHER.descriptor_limit] }, FILES_SAID[level][1])
    for (const name of crew.names) {
      if (!name.startsWith('gateway') && name !== 'operator') continue
      crew.tell(name, { type: 'listen', open: level < (name === 'operator' ? FILES.NONE : FILES.SCARCE) })
    }
    chain()?.listen(level < FILES.SCARCE)
  })
}
