/**
 * What else knows how far the journal went: the head file, every snapshot, the history. Each names a sequence and the checksum of the
 * batch that ended there, and each was written after that batch was durable. So a journal that ends before one of them, or has another
 * batch there, is not the one that was served: it is an older copy, it lost its end, or it belongs to another exchange.
 *
 * Such a journal is refused with what is missing and who says so. The operator may accept the loss by naming the sequence at which the
 * journal ends (`--accept-loss`); the start then writes ACCEPT_LOSS (loss.ts).
 */
import { relative } from 'node:path'
import { historyPath, storedPlace } from '../history/store/store.ts'
import { listSnapshots, snapshotPath, snapshotPlace } from '../snapshot/file.ts'
import { endOf } from '../journal/end.ts'
import { JournalError, PLAIN_COPY, type JournalDatabase } from '../journal/file.ts'
import { headPath, readHeadFile } from '../journal/head_file.ts'
import { continues, type Place } from '../journal/reader.ts'

export interface Witness {
  /** Its file, relative to the data directory. */
  readonly name: string
  readonly path: string
  /** The last sequence it knows of. */
  readonly sequence: number
  readonly checksum: number
}

/** A journal that ends before what its witnesses know, or differs from it. */
export interface Shortfall {
  /** Last sequence of the journal. */
  readonly end: number
  /** Last sequence that anybody knows of. */
  readonly known: number
  readonly witnesses: readonly Witness[]
}

/** The journal is older than what continues it, or another one. */
export class JournalShort extends JournalError {
  override name = 'JournalShort'
  readonly shortfall: Shortfall
  constructor(shortfall: Shortfall) {
    super(described(shortfall))
    this.shortfall = shortfall
  }
}

function described({ end, known, witnesses }: Shortfall): string {
  const names = witnesses.map(({ name, sequence }) => `${name} (${sequence})`).join(', ')
  const said = known > end
    ? `the journal is older than ${names}: it ends at sequence ${end}, so ${end + 1} to ${known} are missing`
    : `the journal, which ends at sequence ${end}, has other commands than ${names}`
  const accept = end === 0 ? '' : `, or start once with --accept-loss ${end} to go on without them`
  return `${said}. Put back the journal directory that belongs to this exchange${accept}; ${PLAIN_COPY}`
}

/** Who knows more of the journal than it has, or something else; `null`: nobody. `warn` hears of witnesses that cannot be read. */
export function shortfallOf(database: JournalDatabase, dataDir: string, warn: (text: string) => void): Shortfall | null {
  const all = witnessesOf(dataDir, database.headless, warn)
  // The journal afterwards, as it is now: of one that is being written the witnesses must not seem to know more.
  database.resetReadTxn()
  const end = endOf(database)
  const witnesses = all.filter(({ sequence, checksum }) => {
    const place: Place = { sequence: sequence + 1, checksum }
    // A damaged batch is no other one: whoever reads it says so.
    return sequence >= end.next || continues(database, place) === 'no'
  })
  if (witnesses.length === 0) return null
  const known = Math.max(end.next - 1, ...witnesses.map(({ sequence }) => sequence))
  return { end: end.next - 1, known, witnesses }
}

function witnessesOf(dataDir: string, headless: boolean, warn: (text: string) => void): Witness[] {
  const witnesses: Witness[] = []
  const ask = (path: string, place: () => Place | null): void => {
    const name = relative(dataDir, path)
    try {
      const found = place()
      if (found !== null) witnesses.push({ name, path, sequence: found.sequence - 1, checksum: found.checksum })
    } catch (error) {
      warn(`${name} does not say how far the journal went: ${(error as Error).message}`)
    }
  }
  ask(headPath(dataDir), () => {
    const { head, damage } = readHeadFile(dataDir)
    if (damage.length > 0) warn(`journal/head is damaged (${damage.join('; ')}); it is written anew`)
    else if (head === null && !headless) warn('journal/head is missing; it is written anew')
    return head === null || head.next === 1 ? null : { sequence: head.next, checksum: head.checksum }
  })
  for (const sequence of listSnapshots(dataDir)) ask(snapshotPath(dataDir, sequence), () => snapshotPlace(dataDir, sequence))
  ask(historyPath(dataDir), () => storedPlace(dataDir))
  return witnesses
}
