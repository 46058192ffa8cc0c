/**
 * Losses that no exchange can mend by itself, and the operator who decides about them by what the exchange says, word for word.
 *
 *   an older journal    the disk gives an older content of the journal's file, as one that lied about its syncs does; the head file and
 *                       what follows the journal know more. The start is refused and names `--accept-loss`.
 *   a damaged tail      a bit of the last batch is another one. The start is refused and names `--cut-tail`.
 *
 * Nothing else may be refused, and nothing else may be named: the world knows where the journal ends by then. What comes behind that place
 * is lost for everybody (auditor.ts, clients.ts), and only that.
 */
import { headRecord } from '../../core/journal/head.ts'
import { readHeadFile } from '../../core/journal/head_file.ts'
import { keyOf } from '../../core/journal/frame.ts'
import { endSequence, lastSequence, JournalFault } from '../../core/journal/reader.ts'
import type { Prng } from '../../core/lib/prng.ts'
import { JournalShort } from '../../core/recovery/witnesses.ts'
import type { SimulatedDisk } from './disk.ts'
import { DATA, HEAD, SimulatedJournal } from './journal.ts'
import { Violation } from './violation.ts'

/** Bytes at the end of a batch among which one goes wrong. */
const SPOILT = 64

/** What the operator adds to the next start, and behind which sequence everything is lost then. */
export interface Decision {
  readonly end: number
  readonly acceptLoss: number
  readonly cutTail: number
}

/** What it adds to the command line. */
export type Words = Pick<Decision, 'acceptLoss' | 'cutTail'>
export const NO_WORDS: Words = { acceptLoss: 0, cutTail: 0 }
/** Decisions that one start may need. */
export const DECISIONS = 3

interface Planted {
  /** Where the journal ends without what is lost, and where it ended before. */
  readonly end: number
  readonly known: number
  /** Sequence of the damaged last batch; 0: it is an older journal. */
  readonly tail: number
}

export class Losses {
  readonly #disk: SimulatedDisk
  readonly #random: Prng
  #older: { content: Buffer; end: number } | null = null
  #planted: Planted | null = null
  /** Something was accepted in this run: what knows of it may come back from an unsynced directory. */
  #accepted = false
  #deciding = false

  constructor(disk: SimulatedDisk, random: Prng) {
    this.#disk = disk
    this.#random = random
  }

  /** A loss is being decided about: what knows of it is passed over with a warning. */
  get open(): boolean {
    return this.#planted !== null || this.#deciding
  }

  /** Remembers the journal as it is. All of it is synced. */
  remember(): void {
    const journal = new SimulatedJournal(this.#disk)
    const head = headRecord(journal)
    if (head === null || typeof head === 'string' || endSequence(journal) < 2) return
    this.#older = { content: this.#disk.open(DATA).copy(), end: endSequence(journal) }
  }

  /** The head file reaches the disk by itself, before the power fails. */
  keepHead(): void {
    this.#disk.find(HEAD)?.sync()
    this.#disk.syncNames()
  }

  /** Something is lost, if there is something to lose; what. `newest`: sequence of the newest snapshot. */
  strike(newest: number): string | null {
    if (this.#planted !== null) return null
    const journal = new SimulatedJournal(this.#disk)
    const head = headRecord(journal)
    if (head === null || typeof head === 'string') return null
    const known = endSequence(journal)
    const older = this.#older
    // A head file that lost what it had in a power failure before, and was not written since, knows no more than the older journal.
    const said = readHeadFile(journal.headFile).head
    const tail = lastSequence(journal)
    // Nobody reads a batch that a snapshot has.
    const spoils = tail > 1 && newest < tail
    const loses = older !== null && said !== null && said.next > older.end + 1
    // A snapshot of what is lost is met too seldom by chance: it must never be gone on from, also when sequences have passed it.
    if (loses && (!spoils || newest > older.end || this.#random.below(2) === 0)) {
      this.#older = null
      this.#disk.open(DATA).become(older.content)
      this.#planted = { end: older.end, known, tail: 0 }
      return 'older journals'
    }
    if (!spoils) return null
    const value = Buffer.from(journal.get(keyOf(tail))!)
    value[value.length - 1 - this.#random.below(SPOILT)]! ^= 1 << this.#random.below(8)
    journal.transactionSync(() => journal.putSync(keyOf(tail), value))
    this.#older = null
    this.#planted = { end: tail - 1, known, tail }
    return 'damaged tails'
  }

  /** What the operator does about a start that was refused; `null`: there was nothing to refuse. `seen`: last sequence that is not lost. */
  decide(error: unknown, seen: number): Decision | null {
    const { message } = error as Error
    if (error instanceof JournalShort) return this.#accept(message, seen)
    if (!(error instanceof JournalFault) || this.#planted === null) return null
    const cutTail = Number(/--cut-tail (\d+)/.exec(message)?.[1])
    if (cutTail !== this.#planted.tail) throw new Violation(`batch ${this.#planted.tail} is damaged, the exchange says: ${message}`)
    this.#deciding = true
    return { end: this.#planted.end, acceptLoss: 0, cutTail }
  }

  #accept(message: string, seen: number): Decision | null {
    const end = Number(/--accept-loss (\d+)/.exec(message)?.[1])
    const missing = /so (\d+) to (\d+) are missing/.exec(message)
    if (this.#planted === null && !this.#accepted) return null
    if (this.#planted === null || missing === null) {
      // What knew of the loss came back, or another start finds it again: nothing more is lost by it.
      const least = this.#planted === null ? seen : this.#planted.end
      if (end < least) throw new Violation(`nothing is lost behind ${least}, the exchange says: ${message}`)
    } else if (end !== this.#planted.end || Number(missing[1]) !== end + 1 || Number(missing[2]) > this.#planted.known) {
      const { end: from, known } = this.#planted
      throw new Violation(`lost is what came behind ${from}, up to ${known}; the exchange says: ${message}`)
    }
    this.#deciding = true
    return { end, acceptLoss: end, cutTail: 0 }
  }

  /** The exchange started; whether it did by an operator's word. */
  started(): boolean {
    const decided = this.#deciding
    if (this.#planted !== null && !decided) {
      throw new Violation(`the journal lost its end behind ${this.#planted.end}, and nobody was asked`)
    }
    this.#accepted ||= decided
    this.#planted = null
    this.#deciding = false
    return decided
  }
}
