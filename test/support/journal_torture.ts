/**
 * Torture of the journal's file: single bits of data.mdb flipped with the truth known, in child processes, because LMDB may end a process
 * by a signal. Of each flip the outcome is one of
 *
 *   equal     every batch is read as it was written, and still is after more batches were committed on top
 *   refused   a named error: nothing was served
 *   signal    LMDB ended the process: nothing was served (the supervisor makes a log line and exit code 3 of it)
 *   SHORT, DIFFERENT, UNNAMED, HUNG   what must never be
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { dataFile, journalPath, lmdbFault, openJournal } from '../../core/journal/file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { JournalShort, shortfallOf, sourcesOf } from '../../core/recovery/witnesses.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { verify } from '../../core/replay/verify.ts'
import { removeDirectory, temporaryDirectory } from './exchange.ts'
import { makeJournal, openAccount, startMatcher, type Matcher } from './journal.ts'

const PAGE = 4096
export const PAGE_KINDS = ['meta', 'branch', 'leaf', 'overflow head', 'overflow body', 'free list', 'unused'] as const
export type PageKind = (typeof PAGE_KINDS)[number]

/** A damage: from here on the bytes of the file are these instead; none: the file ends here. */
export interface Damage {
  readonly kind: string
  readonly at: number
  readonly hex: string
}

export interface Outcome extends Damage {
  readonly outcome: string
  readonly words: string
}

/** A journal with every kind of page, its last sequence, and the digest of all its batches. */
export interface Subject {
  readonly directory: string
  readonly last: number
  readonly truth: string
}

export async function makeSubject(seed: number): Promise<Subject> {
  const directory = temporaryDirectory()
  const { database, after } = makeJournal(directory, { seed, batches: 260, commands: 48 })
  const last = after.at(-1)!.last
  const truth = digestOf([...readBatches(database, START)].map(({ records }) => Buffer.from(records)))
  await database.close()
  return { directory, last, truth }
}

function digestOf(records: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const each of records) hash.update(each)
  return hash.digest('hex')
}

/** The kind of each page of the file, by walking it as LMDB does from the newest meta page. */
export function pageKinds(file: Buffer): PageKind[] {
  const kinds = new Array<PageKind>(Math.floor(file.length / PAGE)).fill('unused')
  kinds[0] = kinds[1] = 'meta'
  const meta = file.readBigUInt64LE(152) > file.readBigUInt64LE(PAGE + 152) ? 0 : PAGE
  walk(file, kinds, Number(file.readBigInt64LE(meta + 88)), 'free list')
  walk(file, kinds, Number(file.readBigInt64LE(meta + 136)), null)
  return kinds
}

function walk(file: Buffer, kinds: PageKind[], page: number, kind: PageKind | null): void {
  if (page < 0) return
  const base = page * PAGE
  const branch = (file.readUInt16LE(base + 18) & 1) !== 0
  kinds[page] = kind ?? (branch ? 'branch' : 'leaf')
  const nodes = file.readUInt16LE(base + 20) / 2
  for (let index = 0; index < nodes; index++) {
    const node = base + 24 + file.readUInt16LE(base + 24 + index * 2)
    if (branch) walk(file, kinds, file.readUInt32LE(node) + file.readUInt16LE(node + 4) * 2 ** 32, kind)
    else if ((file.readUInt16LE(node + 4) & 1) !== 0) {
      const first = Number(file.readBigUInt64LE(node + 8 + file.readUInt16LE(node + 6)))
      const pages = file.readUInt32LE(first * PAGE + 20)
      for (let more = 0; more < pages; more++) kinds[first + more] = kind ?? (more === 0 ? 'overflow head' : 'overflow body')
    }
  }
}

/** Where in its page a flip lies: among the structure of a page, which meta pages have in their first bytes and others at both ends. */
function placeIn(kind: PageKind, random: Prng): number {
  if (kind === 'meta') return random.below(176)
  const choice = random.below(3)
  return choice === 0 ? random.below(64) : choice === 1 ? PAGE - 1 - random.below(256) : random.below(PAGE)
}

/** This many single-bit flips, the same for every kind of page. */
export function chooseFlips(file: Buffer, count: number, seed: number): Damage[] {
  const random = createPrng(seed)
  const kinds = pageKinds(file)
  const pages = PAGE_KINDS.map((kind) => kinds.flatMap((each, page) => (each === kind ? [page] : []))).filter((each) => each.length > 0)
  return Array.from({ length: count }, (_, index) => {
    const among = pages[index % pages.length]!
    const page = among[random.below(among.length)]!
    const at = page * PAGE + placeIn(kinds[page]!, random)
    const byte = file[at]! ^ (1 << random.below(8))
    return { kind: kinds[page]!, at, hex: Buffer.from([byte]).toString('hex') }
  })
}

/** Truncations, zeroed pages, and older copies: the file as the transaction before left it. */
export function chooseLarge(file: Buffer, each: number, seed: number): Damage[] {
  const random = createPrng(seed + 1)
  const zeros = '00'.repeat(PAGE)
  const damages: Damage[] = []
  const kinds = pageKinds(file)
  const used = kinds.findLastIndex((kind) => kind !== 'unused')
  for (let index = 0; index < each; index++) {
    damages.push({ kind: 'truncated', at: random.below(used * PAGE), hex: '' })
    const page = random.below(used)
    damages.push({ kind: `zeroed ${kinds[page]!}`, at: page * PAGE, hex: zeros })
  }
  const newest = file.readBigUInt64LE(152) > file.readBigUInt64LE(PAGE + 152) ? 0 : PAGE
  damages.push({ kind: 'older meta page', at: newest, hex: file.subarray(PAGE - newest, 2 * PAGE - newest).toString('hex') })
  return damages
}

/** Works on each damage in child processes; the outcomes in the order of the damages. */
export async function torture(subject: Subject, damages: readonly Damage[], done: (outcome: Outcome) => void): Promise<void> {
  for (let next = 0; next < damages.length; ) next += await runChild(subject, damages.slice(next, next + 25), done)
}

/** How long one damage may take before it counts as hung, ms. */
const HUNG_MS = 60_000

/** Runs damages in one child until it ends; how many have an outcome. */
async function runChild(subject: Subject, damages: readonly Damage[], done: (outcome: Outcome) => void): Promise<number> {
  const scratch = temporaryDirectory()
  writeFileSync(join(scratch, 'damages.json'), JSON.stringify(damages))
  // Through NODE_OPTIONS tap would load code of its own into the child.
  const { NODE_OPTIONS: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', import.meta.filename], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...environment, TORTURE: JSON.stringify({ subject, scratch }) },
  })
  let finished = 0
  let stderr = ''
  let timer = setTimeout(() => child.kill('SIGKILL'), HUNG_MS)
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-500)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return
    clearTimeout(timer)
    timer = setTimeout(() => child.kill('SIGKILL'), HUNG_MS)
    done({ ...damages[finished++]!, ...(JSON.parse(line) as { outcome: string; words: string }) })
  })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => child.on('close', (...how) => resolve(how)))
  clearTimeout(timer)
  removeDirectory(scratch)
  if (finished === damages.length) return finished
  const words = stderr.trim().split('\n').at(-1) ?? ''
  const outcome = signal === 'SIGKILL' ? 'HUNG' : signal === null ? `UNNAMED` : 'signal'
  done({ ...damages[finished]!, outcome, words: `${signal ?? `exit ${code}`} ${words}` })
  return finished + 1
}

/** The sequencer's word for whatever goes wrong in a commit. */
class CommitFailed extends Error {
  override name = 'CommitFailed'
}

/** Sixteen batches, as the sequencer commits them. */
function commitOn(matcher: Matcher): void {
  try {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) openAccount(matcher, 1, name)
  } catch (error) {
    throw new CommitFailed((error as Error).message)
  }
}

const NAMED = ['CommitFailed', 'JournalError', 'JournalFault', 'JournalShort', 'SecondWriter', 'Divergence', 'SystemFault']

/** In the child: what comes of one damage. */
async function suffer({ directory, last, truth }: Subject, scratch: string, { at, hex }: Damage, index: number): Promise<object> {
  const whole = readFileSync(dataFile(directory))
  const file = hex === '' ? whole.subarray(0, at) : whole
  Buffer.from(hex, 'hex').copy(file, at)
  const place = (name: string): string => {
    const to = join(scratch, `${index}${name}`)
    mkdirSync(journalPath(to), { recursive: true })
    cpSync(join(journalPath(directory), 'head'), join(journalPath(to), 'head'))
    writeFileSync(dataFile(to), file)
    return to
  }
  const compare = (where: string, commands: number): string | null => {
    const result = verify(where, () => undefined)
    if (result.commands < commands) return `SHORT: ${result.commands} of ${commands}`
    const database = openJournal(where, true, 1)
    const batches = [...readBatches(database, START)].filter(({ sequence }) => sequence <= last)
    return digestOf(batches.map(({ records }) => Buffer.from(records))) === truth ? null : 'DIFFERENT'
  }
  try {
    const read = compare(place('read'), last)
    if (read !== null) return { outcome: read, words: '' }
    // A start: what a start checks, then commits on top; then all of it is read once more.
    const started = place('start')
    const matcher = startMatcher(started)
    const shortfall = shortfallOf(matcher.database, sourcesOf(started), () => undefined)
    if (shortfall !== null) throw new JournalShort(shortfall)
    commitOn(matcher)
    await matcher.database.close()
    const again = join(scratch, `${index}again`)
    cpSync(started, again, { recursive: true })
    const written = compare(again, last + 16)
    return { outcome: written === null ? 'equal' : `${written} after commits`, words: '' }
  } catch (error) {
    // As the matcher's thread takes it.
    const { name, message } = lmdbFault(error) as Error
    return { outcome: NAMED.includes(name) ? 'refused' : 'UNNAMED', words: `${name}: ${message}` }
  } finally {
    for (const name of ['read', 'start', 'again']) rmSync(join(scratch, `${index}${name}`), { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) {
  const { subject, scratch } = JSON.parse(process.env['TORTURE']!) as { subject: Subject; scratch: string }
  const damages = JSON.parse(readFileSync(join(scratch, 'damages.json'), 'utf8')) as Damage[]
  for (const [index, damage] of damages.entries()) {
    process.stdout.write(`${JSON.stringify(await suffer(subject, scratch, damage, index))}\n`)
  }
  process.exit(0)
}
