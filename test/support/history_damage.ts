/**
 * Damaging a history and asking it everything: a real store, part of it still in its log, with every answer known before at every position
 * that a reader may find it at; then one damage a round, of the file or of the log, and each answer is held against the truth.
 */
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { openProjection } from '../../core/history/project/projection.ts'
import type { Queries, QueryName } from '../../core/history/answer/queries.ts'
import { createScrub } from '../../core/history/scrub.ts'
import { checkpoint, isDamaged, openReader } from '../../core/history/store/store.ts'
import { Status } from '../../core/layout/event.ts'
import type { Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import { ask } from './history.ts'
import { makeJournal, START_TIME } from './journal.ts'

const PAGE = 4096
const FILES = ['store.sqlite', 'store.sqlite-wal'] as const
/** Pages read back at once. */
const SLICE = 256

export interface Stage {
  readonly directory: string
  readonly genesis: Genesis
  /** What the undamaged files hold while there is a log, and when it was written back: then it is empty. */
  readonly files: readonly (readonly [store: Buffer, log: Buffer])[]
  /** The store file as it was some transactions earlier. */
  readonly older: Buffer
  readonly questions: readonly [QueryName, unknown][]
  /** By the sequence the store had reached: every answer, in order, as text. */
  readonly truths: ReadonlyMap<number, readonly string[]>
  /** Of the whole journal. */
  readonly end: number
}

const text = (value: unknown): string => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : (each as unknown)))
const questionsOf = (accounts: number, pairs: number, last: number): [QueryName, unknown][] => {
  const walk = { limit: 200, skip: 0, after: null, countMost: 10_000 }
  const now = START_TIME + 86_400_000 * 40
  const all: [QueryName, unknown][] = [['screener', { limit: 20, skip: 0, now }], ['trades', walk]]
  for (let account = 0; account <= accounts; account++) {
    all.push(['orders', { ...walk, account }], ['orders', { ...walk, limit: 5, skip: 90, account }], ['trades', { ...walk, account }])
    all.push(['orders', { ...walk, account, statuses: [Status.SUBMITTED] }])
    all.push(['movements', { ...walk, account }], ['portfolio', { account, period: 'all', now }])
  }
  for (let pair = 0; pair < pairs; pair++) {
    all.push(['trades', { ...walk, pair }], ['market', { pair, now }])
    all.push(['candles', { pair, interval: '1m', limit: 500 }], ['candles', { pair, interval: '1d', limit: 500 }])
  }
  for (let application = 0; application < 2; application++) {
    all.push(['applicationOrders', { ...walk, application }], ['applicationMovements', { ...walk, application }])
    all.push(['applicationStats', { application, since: 0 }])
  }
  for (let sequence = 2; sequence <= last; sequence += Math.ceil(last / 40)) {
    for (let account = 0; account < accounts; account += 3) all.push(['order', { account, sequence }])
    all.push(['trade', { sequence, index: 0 }])
  }
  return all
}

const answer = (answers: Answers, [name, question]: readonly [QueryName, unknown]): string =>
  text(ask(answers, name, question as Queries[QueryName]['ask']))

/** Makes a journal in `directory`, projects it and asks everything at every position that stands in the log. */
export async function stage(directory: string, seed: number): Promise<Stage> {
  const made = makeJournal(directory, { seed, batches: 320, commands: 16, families: true })
  await made.database.close()
  const path = join(directory, FILES[0])
  const projection = openProjection(directory, path, { warn: () => undefined })
  const end = projection.end()
  projection.step(Math.floor(end / 3))
  checkpoint(projection.database, true)
  const older = readFileSync(path)
  projection.step(Math.floor(end / 3))
  checkpoint(projection.database, true)
  const { limits, pairs } = projection.genesis
  const questions = questionsOf(Math.min(12, limits.accounts), pairs.length, end)
  const truths = new Map<number, string[]>()
  const learn = (): void => {
    const reader = openReader(path)
    const answers = createAnswers(reader, projection.genesis)
    truths.set(answers.sequence, questions.map((question) => answer(answers, question)))
    reader.close()
  }
  learn()
  for (let more = true; more; ) {
    more = projection.step(Math.floor(end / 9))
    learn()
  }
  // As they stand while the writer lives: closing it would write the log back.
  const read = (name: string): Buffer => readFileSync(join(directory, name))
  const logged = [read(FILES[0]), read(FILES[1])] as const
  const { genesis } = projection
  await projection.close()
  const files = [logged, [read(FILES[0]), Buffer.alloc(0)] as const]
  for (const name of FILES) rmSync(join(directory, name), { force: true })
  return { directory, genesis, files, older, questions, truths, end }
}

/** A damage of the files in a directory; says what it did. */
function damage({ older }: Stage, files: Stage['files'][number], at: string, random: Prng): string {
  const inLog = files[1].length > 0 && random.below(2) === 0
  const path = join(at, FILES[inLog ? 1 : 0])
  const whole = files[inLog ? 1 : 0]
  const bytes = Buffer.from(whole)
  const page = random.below(Math.floor(bytes.length / PAGE))
  const kind = random.below(10)
  const where = `${inLog ? 'log' : 'file'} page ${page} of ${Math.floor(bytes.length / PAGE)}`
  const write = (what: string): string => {
    writeFileSync(path, bytes)
    return `${what}, ${where}`
  }
  if (kind < 6) {
    const bit = random.below(PAGE * 8)
    bytes[page * PAGE + (bit >>> 3)]! ^= 1 << (bit & 7)
    return write(`bit ${bit}`)
  }
  const other = random.below(Math.floor(bytes.length / PAGE))
  if (kind === 6) {
    bytes.fill(random.below(2) * 0xff, page * PAGE, (page + 1) * PAGE)
    return write('a page of one byte')
  }
  if (kind === 7) {
    whole.copy(bytes, page * PAGE, other * PAGE, (other + 1) * PAGE)
    return write(`the content of page ${other}`)
  }
  if (kind === 8 && !inLog && (page + 1) * PAGE <= older.length) {
    older.copy(bytes, page * PAGE, page * PAGE, (page + 1) * PAGE)
    return write('an older version of the page')
  }
  write('')
  truncateSync(path, page * PAGE + random.below(PAGE))
  return `cut, ${where}`
}

export interface Outcome {
  /** Answers that were right, questions that were not answered, and answers that were wrong. */
  right: number
  failed: number
  wrong: string[]
}

/** Puts the files into a fresh directory, damages them, and gives it. */
export function damaged(stage: Stage, round: number, random: Prng): { at: string; what: string } {
  const at = join(stage.directory, `round${round}`)
  mkdirSync(at)
  const files = stage.files[random.below(stage.files.length)]!
  FILES.forEach((name, i) => writeFileSync(join(at, name), files[i]!))
  return { at, what: damage(stage, files, at, random) }
}

/** Asks everything of a store as a reader would. */
export function askAll(stage: Stage, at: string): Outcome {
  const outcome: Outcome = { right: 0, failed: 0, wrong: [] }
  let database: ReturnType<typeof openReader>
  try {
    database = openReader(join(at, FILES[0]))
  } catch {
    return { ...outcome, failed: stage.questions.length }
  }
  let answers: Answers | null = null
  for (const [i, question] of stage.questions.entries()) {
    try {
      answers ??= createAnswers(database, stage.genesis)
      const said = answer(answers, question)
      const truth = stage.truths.get(answers.sequence)
      if (truth?.[i] === said) outcome.right++
      else outcome.wrong.push(`${text(question)} at ${answers.sequence}: ${said.slice(0, 200)} not ${truth?.[i]?.slice(0, 200)}`)
    } catch {
      outcome.failed++
    }
  }
  database.close()
  return outcome
}

/** Lets a follower go on with a damaged store, as the exchange would, and reads it back; what every question is answered then. */
export async function mend(stage: Stage, at: string): Promise<{ outcome: Outcome; anew: number }> {
  const path = join(at, FILES[0])
  let anew = 0
  // A store may be found damaged while it is gone on with, or when it is read back, and is then made anew: not a second time.
  for (let tries = 0; tries < 3; tries++) {
    const projection = openProjection(stage.directory, path, { warn: () => void anew++ })
    try {
      while (projection.step(1000));
      const scrub = createScrub(path, stage.genesis)
      try {
        while (scrub.passes === 0) scrub.step(SLICE)
      } finally {
        scrub.close()
      }
      await projection.close()
      return { outcome: askAll(stage, at), anew }
    } catch (error) {
      if (!isDamaged(error, path)) throw error
      await projection.close()
      for (const name of FILES) rmSync(join(at, name), { force: true })
      anew++
    }
  }
  throw new Error('a store that was made anew is damaged again')
}

export const forgetRound = (at: string): void => rmSync(at, { recursive: true, force: true })
