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
import { PLAIN_COPY } from '../journal/file.ts'
import { readHeadFile } from '../journal/head_file.ts'
import { JournalError } from '../journal/pages.ts'
import { continues, type Place } from '../journal/reader.ts'
import { SystemFault } from '../lib/system_fault.ts'
import type { JournalStore } from '../journal/store.ts'

/** Somebody who knows a place of the journal: `null`, when it knows none yet; throws when it cannot be read. */
export interface WitnessSource {
  /** Its file, relative to the data directory. */
  readonly name: string
  readonly path: string
  place(): Place | null
}

/** The head file among witnesses; it belongs to the journal. */
export const HEAD_NAME = 'journal/head'

/** Snapshots and history of a data directory. */
export function sourcesOf(dataDir: string): WitnessSource[] {
  const source = (path: string, place: () => Place | null): WitnessSource => ({ name: relative(dataDir, path), path, place })
  const snapshots = listSnapshots(dataDir)
    .map((sequence) => source(snapshotPath(dataDir, sequence), () => snapshotPlace(dataDir, sequence)))
  return [...snapshots, source(historyPath(dataDir), () => storedPlace(dataDir))]
}

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
export function shortfallOf(
  database: JournalStore, sources: readonly WitnessSource[], warn: (text: string) => void,
): Shortfall | null {
  const all = witnessesOf(database, sources, warn)
  // The journal afterwards, as it is now: of one that is being written the witnesses must not seem to know more.
  database.refresh()
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

function witnessesOf({ headFile, headless }: JournalStore, sources: readonly WitnessSource[], warn: (text: string) => void): Witness[] {
  const witnesses: Witness[] = []
  const ask = ({ name, path, place }: WitnessSource): void => {
    try {
      const found = place()
      if (found !== null) witnesses.push({ name, path, sequence: found.sequence - 1, checksum: found.checksum })
    } catch (error) {
      // It is written anew by this start: what it knows must be known before.
      if (name === HEAD_NAME && error instanceof SystemFault) throw error
      warn(`${name} does not say how far the journal went: ${(error as Error).message}`)
    }
  }
  const headPlace = (): Place | null => {
    const { head, damage } = readHeadFile(headFile)
    if (damage.length > 0) warn(`journal/head is damaged (${damage.join('; ')}); it is written anew`)
    else if (head === null && !headless) warn('journal/head is missing; it is written anew')
    return head === null || head.next === 1 ? null : { sequence: head.next, checksum: head.checksum }
  }
  for (const source of [{ name: HEAD_NAME, path: '', place: headPlace }, ...sources]) ask(source)
  return witnesses
}
