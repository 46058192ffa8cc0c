/**
 * How much may still be written: looked at ten times a second, told to all threads as one number, said in the log once at each crossing.
 *
 *   OPEN      the file system has its reserve (`diskReserveMb`) free
 *   RESERVE   it has less, or it cannot be told: what makes the state larger is refused, ways out and sign-ins are recorded
 *   FULL      what is left for the journal, its room ahead and the free space together, is nearly nothing: nothing is recorded, reads go on
 *
 * The journal's own limit (`journalGb`) is one more disk in this: near it, and at it, the levels are the same. LMDB itself knows
 * no limit, it enlarges its map when that is full. A journal whose file lost its name is FULL too, as long as it has none.
 *
 * Pages of receipts that cannot be written (lib/page_files.ts), here or on a disk of their own, stay in memory: one is below the reserve,
 * {@link PAGES_MOST} are full.
 *
 * The journal's room (journal/room.ts) is what cancels are recorded in when the file system has nothing left: its blocks are the
 * journal's already, whoever else fills the disk. In FULL the matcher's own timers rest too, so that no commit has to fail. Before the
 * first look the level is FULL; what is unknown is never taken for enough. A level is left upwards only with something to spare, so that
 * it does not change to and fro.
 */
import { DISK, MATCHER } from './ring/counters.ts'
import { DISK_FLOOR } from './journal/room.ts'

export interface DiskParts {
  /** Bytes free to this process; throws when that cannot be told. */
  readonly free: () => number
  /** Bytes of the journal's file behind what it uses; throws likewise. */
  readonly room: () => number
  /** Bytes that should stay free. */
  readonly reserve: number
  /** The most bytes the journal may use. */
  readonly limit: number
  /** Bytes it uses; throws when that cannot be told. */
  readonly used: () => number
  /** Why what is recorded would be lost, whatever room there is (journal/watch.ts); `null`: it would not. */
  readonly gone: () => string | null
  /** The matcher's block of counters, of which those of disk and journal are written here. */
  readonly counters: Float64Array
  readonly log: (level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) => void
}

/** Pages of receipts that may wait to be written: 16 MiB. */
const PAGES_MOST = 1024
/** How often it is looked at, ms. At full load the journal takes a quarter of its floor in this time. */
const LOOK_MS = 100

const SAID: Readonly<Record<number, ['info' | 'warn' | 'error', string]>> = {
  [DISK.OPEN]: ['info', 'the disk has its reserve free: new orders are accepted'],
  [DISK.RESERVE]: ['warn', 'free disk is below its reserve, or unknown: new orders are refused, cancels and reads go on; make room'],
  [DISK.FULL]: ['error', 'the disk is full: nothing is recorded any more, only reads go on; make room'],
}

const GONE = 'nothing is recorded any more, only reads go on'
const BACK = 'the journal file has its name again'
/** What else may be at its end. */
const PAGES_WAIT = 'pages of receipts cannot be written: make room on their disk (directory receipts)'
const AT_LIMIT = 'the journal is near its limit: raise --journal-gb at the next start, or archive (npm run journal -- --help)'

/** A function that looks once. */
export function diskWatch({ free, room, reserve, limit, used, gone, counters, log }: DiskParts): () => void {
  // Of a small journal a small part, but always enough to be noticed before it is full.
  const limitReserve = Math.max(2 * DISK_FLOOR, Math.min(reserve, limit / 8))
  let level: number = DISK.OPEN
  let isGone = false
  /** Whether it is gone; said once in each direction. */
  const lookForFile = (): boolean => {
    const words = gone()
    if ((words !== null) !== isGone) {
      isGone = words !== null
      if (words === null) log('warn', BACK, {})
      else log('error', `${GONE}: ${words}`, {})
      counters[MATCHER.journal_gone] = isGone ? 1 : 0
    }
    return isGone
  }
  return () => {
    const [freeBytes, freeError] = attempt(free)
    const [roomBytes, roomError] = attempt(room)
    const [usedBytes, usedError] = attempt(used)
    const ofJournal = levelOf(level, limit - usedBytes, 0, limitReserve)
    const waiting = counters[MATCHER.receipt_pages_waiting]!
    const ofPages = waiting === 0 ? DISK.OPEN : waiting < PAGES_MOST ? DISK.RESERVE : DISK.FULL
    const next = lookForFile() ? DISK.FULL : Math.min(levelOf(level, freeBytes, roomBytes, reserve), ofJournal, ofPages)
    counters[MATCHER.free_disk_bytes] = freeBytes
    counters[MATCHER.journal_room_bytes] = roomBytes
    counters[MATCHER.journal_used_bytes] = usedBytes
    counters[MATCHER.journal_limit_bytes] = limit
    counters[MATCHER.disk_level] = next
    if (next === level) return
    level = next
    if (isGone) return
    const error = freeError ?? roomError ?? usedError
    const [severity, words] = SAID[next]!
    const because = next === DISK.OPEN ? '' : ofPages === next ? `; ${PAGES_WAIT}` : ofJournal === next ? `; ${AT_LIMIT}` : ''
    log(severity, `${words}${because}`, {
      freeBytes: known(freeBytes), roomBytes: known(roomBytes), reserve, usedBytes: known(usedBytes), limit,
      ...(error === null ? {} : { error }),
    })
  }
}

/** Looks now, and for as long as the process lives. */
export function watchDisk(parts: DiskParts): void {
  const look = diskWatch(parts)
  look()
  setInterval(look, LOOK_MS).unref()
}

/** The level after `before`; NaN is unknown. */
function levelOf(before: number, free: number, room: number, reserve: number): number {
  const left = (known(free) ?? 0) + (known(room) ?? 0)
  if (left < (before === DISK.FULL ? 2 * DISK_FLOOR : DISK_FLOOR)) return DISK.FULL
  return free >= (before === DISK.OPEN ? reserve : reserve + reserve / 8) ? DISK.OPEN : DISK.RESERVE
}

const known = (bytes: number): number | null => (Number.isNaN(bytes) ? null : bytes)

function attempt(ask: () => number): [bytes: number, error: string | null] {
  try {
    return [ask(), null]
  } catch (error) {
    return [Number.NaN, (error as Error).message]
  }
}
