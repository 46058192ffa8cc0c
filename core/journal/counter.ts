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
 * The writer noticed, because its head was not there, and the exchange stopped; one open in some hundred did that on a machine with more to
 * do than it can. So whoever opened it puts the number right at once. That leaves a moment: so before each transaction the writer looks at
 * the number, and puts it back when it is below what it committed last; and a transaction that failed on an older tree is tried
 * again. All that only by what the meta pages say: when they have a commit that is not the writer's, a second writer is a second writer.
 *
 * The file stays open for as long as the process lives: closing any descriptor of it takes away the locks that LMDB has on it (POSIX,
 * fcntl), by which other processes know that it is in use.
 */
import { fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { SecondWriter } from './head_file.ts'
import { JournalError, LMDB_MAGIC, lockFile } from './pages.ts'

/** Bytes of the lock file: what it is, and the number. */
const AT = { MAGIC: 0, NUMBER: 8 } as const
const WORD = 2 ** 32
/** A number that goes back again and again is no follower that opens. */
const TRIES = 8

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

/** On top of an older tree the writer misses its head (an odd number back), or LMDB finds pages of later transactions (an even one). */
const mayBeForIt = (error: unknown): boolean => error instanceof SecondWriter || (error as Error).message.startsWith('MDB_BAD_TXN')

/**
 * `transact`, in spite of others who open the journal. `latest`: the number of the last transaction by the meta pages. Nothing that `write`
 * does before its first put may matter when it is done twice.
 */
export function keepCounting(
  counter: Counter, latest: () => number, transact: (write: () => void) => void,
): (write: () => void) => void {
  let last = latest()
  return (write) => {
    for (let tries = 1; ; tries++) {
      if (counter.read() < last && latest() === last) counter.write(last)
      try {
        transact(write)
        break
      } catch (error) {
        // The number may be right again by now: others put it right, too.
        if (tries === TRIES || !mayBeForIt(error) || latest() !== last) throw error
      }
    }
    last = latest()
  }
}

/** Puts the number right after this process opened the journal: until the next commit readers would see what was before. */
export function putRight(counter: Counter, latest: () => number): void {
  // Once more after each: the writer may have committed meanwhile, and this one was the older number then.
  for (let tries = 0, last = latest(); tries < TRIES && counter.read() < last; tries++, last = latest()) counter.write(last)
}
