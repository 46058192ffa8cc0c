/**
 * `npm run journal`: looks after the journal of a data directory. Results go to standard output, progress and errors to standard error.
 * Exit code 0: the journal is whole; 3: it is damaged, shorter than it was, or cannot be read; 2: the call was wrong; 7: another process
 * uses the directory.
 *
 * Reading is done by a child process: of a page that cannot be read LMDB says nothing, the process ends by SIGBUS. The parent then says
 * how far it came, and that is a verdict as any other.
 */
import { fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { archive, restore } from '../archive/commands.ts'
import { compactJournal } from '../backup/compact.ts'
import { dataDirOf, saidVersion } from '../lib/about.ts'
import { paceOf } from '../lib/pace.ts'
import { DirectoryLocked, lockDirectory } from '../data_dir.ts'
import { EXIT } from '../threads.ts'
import { dataFile, openJournal } from './file.ts'
import { Scrub } from './scrub.ts'
import { JournalShort, shortfallOf, sourcesOf } from '../recovery/witnesses.ts'
import { endOf } from './end.ts'

const HELP = `The journal: every command the exchange ever took, in order. It is the truth; everything else is made from it.

  npm run journal -- scrub     reads every batch back from the file and holds it against its checksum and the batch before it; then the
                               end against the head record, journal/head, the snapshots and the history. Changes nothing; also while
                               the exchange runs, which does the same by itself, slowly (--scrub-mb-per-second)

  npm run journal -- archive --to DIR [--drop]
                               copies the oldest batches into compressed files in DIR, which only grows: those that neither the snapshots
                               nor the history need any more. Also while the exchange runs. With --drop the exchange then forgets them,
                               about as much with every commit as it writes, so that its file stays as large as it is; what it
                               has not forgotten yet is read back from DIR first. One call at a time on one DIR
  npm run journal -- restore --from DIR
                               puts back what was dropped, for a history that must be made anew or a start without a good snapshot.
                               The exchange must be stopped; so it must for
  npm run journal -- compact   makes the file as small as what is in it

  --data-dir DIR   the data directory (default: RINGBOOK_DATA_DIR of the environment, data/var)
  --rate N         MiB of batches a second that archive and compact take at most (default: 64)
  --journal-gb N   GiB that the journal may have after restore and compact (default: 64)
  --help           this text
  --version        the version of the program

Exit code 0: done, whole. 3: damaged or shorter than it was; each damaged place is named by the sequence at which it begins. 2: wrong call.
7: another process uses the data directory, or the archive.
"npm run replay -- verify --archive DIR" reads archive and journal as one and replays both from the beginning.

What to do about damage: the exchange goes on as long as it runs, because it reads the journal at its start only, and only what is behind
its newest snapshot. Do not remove snapshots. Copy the directory while it is as it is, find out about the disk, and restore the journal
from a backup at the next quiet moment; "npm run replay -- verify" then proves that it is the same one.
`

const SLICE = 4 << 20
const REPORT_MS = 1_000
/** The first argument of the child that reads. */
const READS = '--reads'

/** Reads in a child process; its exit code, or what its death by a signal means. */
async function scrubBeside(dataDir: string): Promise<number> {
  const child = fork(import.meta.filename, [READS, dataDir])
  let position = 0
  child.on('message', (sequence: number) => (position = sequence))
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('exit', (...how) => resolve(how))
  })
  if (signal === null) return code ?? EXIT.JOURNAL
  const fault = `reading ended by ${signal} behind sequence ${position}: a page of the journal file is missing or cannot be read`
  console.log(JSON.stringify({ verdict: 'DAMAGED', sequence: position, damaged: 1, faults: [fault], warnings: [] }, null, 2))
  return EXIT.JOURNAL
}

async function scrubAll(dataDir: string): Promise<number> {
  const database = openJournal(dataDir, true)
  const warnings: string[] = []
  const size = statSync(dataFile(dataDir)).size
  const scrub = new Scrub(database)
  const started = performance.now()
  let reported = started
  while (scrub.slice(SLICE)) {
    process.send!(scrub.position)
    // Between slices LMDB gets to use its free pages again.
    await new Promise(setImmediate)
    if (performance.now() - reported < REPORT_MS) continue
    reported = performance.now()
    const rate = scrub.bytes / ((reported - started) / 1000)
    const left = Math.ceil(Math.max(0, size - scrub.bytes) / rate)
    console.error(`up to sequence ${scrub.position}, ${(rate / 1e6).toFixed(0)} MB/s, at most ${left} s left, ${scrub.damaged} damaged`)
  }
  const faults = [...scrub.faults]
  try {
    const shortfall = shortfallOf(database, sourcesOf(dataDir), (text) => warnings.push(text))
    if (shortfall !== null) faults.push(new JournalShort(shortfall).message)
    else endOf(database)
  } catch (error) {
    faults.push((error as Error).message)
  }
  const damaged = Math.max(scrub.damaged, faults.length)
  const { position: sequence, batches, bytes } = scrub
  console.log(JSON.stringify({ verdict: damaged === 0 ? 'ok' : 'DAMAGED', sequence, batches, bytes, damaged, faults, warnings }, null, 2))
  await database.close()
  return damaged === 0 ? EXIT.OK : EXIT.JOURNAL
}

function show(result: object): number {
  console.log(JSON.stringify(result, null, 2))
  return EXIT.OK
}

function named(directory: string | undefined, option: string): string {
  if (directory === undefined || directory === '') throw new TypeError(`--${option} DIR is missing`)
  return directory
}

function whole(text: string | undefined, option: string, fallback: number): number {
  if (text === undefined) return fallback
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new TypeError(`--${option} takes a whole number from 1 to 999999`)
  return Number(text)
}

async function run(): Promise<number> {
  if (saidVersion()) return EXIT.OK
  if (process.argv[2] === READS && process.send !== undefined) return scrubAll(process.argv[3]!).finally(() => process.disconnect!())
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'data-dir': { type: 'string' }, help: { type: 'boolean' }, to: { type: 'string' }, from: { type: 'string' },
      drop: { type: 'boolean' }, rate: { type: 'string' }, 'journal-gb': { type: 'string' },
    },
  })
  if (values.help === true || positionals.length === 0) {
    console.log(HELP)
    return values.help === true ? EXIT.OK : EXIT.CONFIG
  }
  const dataDir = dataDirOf(values['data-dir'])
  const tool = positionals.join(' ')
  if (tool === 'scrub') return scrubBeside(dataDir)
  const rate = whole(values.rate, 'rate', 64)
  const gibibytes = whole(values['journal-gb'], 'journal-gb', 64)
  if (tool === 'archive') return show(await archive(dataDir, named(values.to, 'to'), values.drop === true, rate))
  if (tool === 'restore') return show(await restore(dataDir, named(values.from, 'from'), gibibytes))
  if (tool !== 'compact') throw new TypeError(`unknown call: ${tool}`)
  const lock = await lockDirectory(dataDir)
  return compactJournal(dataDir, gibibytes, paceOf(rate, (bytes) => console.error(`${bytes} bytes`))).then(show).finally(lock.release)
}

try {
  process.exitCode = await run()
} catch (error) {
  console.error(`journal: ${(error as Error).message}. Try --help`)
  process.exitCode = error instanceof TypeError ? EXIT.CONFIG : error instanceof DirectoryLocked ? EXIT.LOCKED : EXIT.JOURNAL
}
