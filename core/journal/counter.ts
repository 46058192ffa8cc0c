/**
 * LMDB's count of transactions, kept from going back.
 *
 * The number of the last transaction stands in a meta page of the file, which counts, and in the lock file that all processes map, where
 * the writer looks for it. Whoever opens the journal, for reading too, reads the meta pages, maps the file, and then stores the number it
 * read in the lock file (`mdb_env_open2` of the LMDB in lmdb 3.5.6). What was committed meanwhile is forgotten there:
 *
 *     follower opens:  reads 7 ........................ stores 7
 *     matcher:                    commits 8, stores 8              begins 8 again, on top of 7
 *
 * Seven again is what the writer would stand on, or worse: of the two meta pages the number's last bit picks one, so two back picks the
 * right tree under too low a number, and LMDB then takes pages of that tree for its own, says nothing of puts that fail, or ends the
 * process (SIGSEGV) in the attempt. One open in some hundred moved the number on a machine with more to do than it can.
 *
 * So whoever opened it puts the number right at once. That leaves a moment: so a transaction looks at its own number, which it read once
 * when it began, before it does anything else. One that is not the next is ended untouched, the number put back, and it begins again. All
 * that only by what the meta pages say: when they have a commit that is not the writer's, a second writer is a second writer, and finds
 * that out by the head (writer.ts).
 *
 * The file stays open for as long as the process lives: closing any descriptor of it takes away the locks that LMDB has on it (POSIX,
 * fcntl), by which other processes know that it is in use.
 */
import { fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { JournalError, LMDB_MAGIC, lockFile } from './pages.ts'

/** Bytes of the lock file: what it is, and the number. */
const AT = { MAGIC: 0, NUMBER: 8 } as const
const WORD = 2 ** 32
/** A number that goes back in each of so many moments in a row is no follower that opens. */
const TRIES = 100

/** The number in the lock file of a journal. */
export interface Counter {
  read(): number
  write(number: number): void
}

/** Descriptors of lock files by device and inode; never closed. */
const open = new Map<string, number>()

/** Of a journal that this process has open. */
export function openCounter(dataDir: string): Counter {
  const path = lockFile(dataDir)
  const nameOf = ({ dev, ino }: { dev: number; ino: number }): string => `${dev} ${ino}`
  let fd = open.get(nameOf(statSync(path)))
  if (fd === undefined) {
    fd = openSync(path, 'r+')
    open.set(nameOf(fstatSync(fd)), fd)
  }
  const bytes = Buffer.alloc(8)
  const file = fd
  const look = (at: number): void => {
    if (readSync(file, bytes, 0, 8, at) !== 8) throw new JournalError(`${path} is shorter than its header`)
  }
  look(AT.MAGIC)
  if (bytes.readUInt32LE(0) !== LMDB_MAGIC) throw new JournalError(`${path} is no lock file of LMDB`)
  return {
    read: () => {
      look(AT.NUMBER)
      return bytes.readUInt32LE(0) + bytes.readUInt32LE(4) * WORD
    },
    write: (number) => {
      bytes.writeUInt32LE(number % WORD, 0)
      bytes.writeUInt32LE(Math.floor(number / WORD), 4)
      writeSync(file, bytes, 0, 8, AT.NUMBER)
    },
  }
}

/** This transaction began behind a number that had gone back; nothing was done in it. */
class Rewound extends Error {}

/** What a database tells of its transactions. */
export interface Transactions {
  /** Number of the last one by the meta pages. */
  latest(): number
  /** Number of the one that is going on. */
  current(): number
  /** As JournalStore's transactionSync. */
  transact(write: () => void): void
}

/** A `transact` that others who open the journal cannot disturb: `write` is done once, in the transaction after the latest. */
export function keepCounting(counter: Counter, { latest, current, transact }: Transactions): (write: () => void) => void {
  let last = latest()
  let write: () => void
  const asNext = (): void => {
    if (current() !== last + 1) throw new Rewound()
    write()
  }
  const begin = (): boolean => {
    try {
      transact(asNext)
      return true
    } catch (error) {
      if (error instanceof Rewound) return false
      throw error
    }
  }
  return (given) => {
    write = given
    for (let tries = 0; tries < TRIES; tries++) {
      if (begin()) {
        last = latest()
        return
      }
      putRight(counter, latest)
      last = latest()
    }
    throw new JournalError('LMDB\'s count of transactions goes back again and again: other processes open the journal all the time')
  }
}

/** Puts the number right; also after this process opened the journal: until the next commit readers would see what was before. */
export function putRight(counter: Counter, latest: () => number): void {
  // Once more after each: the writer may have committed meanwhile, and this one was the older number then.
  for (let tries = 0, last = latest(); tries < TRIES && counter.read() < last; tries++, last = latest()) counter.write(last)
}
