/**
 * A history reader: a thread with a read-only connection that answers the questions of queries.ts on its message ports, one port per
 * gateway thread.
 *
 * Questions take turns: each works a slice of pages, inside one read transaction, and goes to the back. A question that asks for a
 * sequence the store has not reached waits for it up to {@link WAIT_MS} and is then answered with what there is. What takes longer
 * than {@link DEADLINE_MS}, more than {@link QUESTIONS} at once, or a store that cannot be read: `failed`. The store may be missing or
 * be replaced by a rebuilt one at any time; it is opened again when its file is another. Every page is checked as it is read: what is not
 * what was written fails the question and is told to the exchange, and the store is opened again.
 */
import { statSync } from 'node:fs'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { parseGenesis } from '../../state/genesis.ts'
import { createOutbox } from '../../state/outbox.ts'
import { attachState } from '../../state/state.ts'
import type { FromThread, HistoryReaderData, ToReader } from '../../threads.ts'
import { createAnswers, type Answers } from './answers.ts'
import { openBalancesOf } from './balance_answers.ts'
import { identitiesOf } from '../project/identities.ts'
import type { HistoryReply, HistoryRequest, QueryName } from './queries.ts'
import { historyPath, isDamaged, openReader, type HistoryDatabase } from '../store/store.ts'

const WAIT_MS = 100
const DEADLINE_MS = 2_000
const QUESTIONS = 4096
/** How often a reader looks whether the store has come far enough, and whether its file is still the same, ms. */
const LOOK_MS = 3
const FILE_MS = 250
const TELL_MS = 1_000

const { config, genesis: text, columns, ports } = workerData as HistoryReaderData
const state = attachState(parseGenesis(text), columns, createOutbox(1))
/** With the assets and pairs of now. */
const { genesis } = state
const outside = { names: identitiesOf(state), balances: openBalancesOf(config.dataDir) }
const path = historyPath(config.dataDir)

interface Question {
  readonly port: MessagePort
  readonly request: HistoryRequest
  /** performance.now() of its arrival. */
  readonly at: number
  /** Its work, once it has begun, and what the store had reached then. */
  work: Generator<undefined, unknown> | null
  sequence: number
  /** Of the newest command that it had reached, Unix ms. */
  time: number
  /** Time worked for it, ms. */
  tookMs: number
}

interface Store {
  readonly database: HistoryDatabase
  readonly answers: Answers
  readonly inode: number
}

/** Ports that are open. */
const serving = new Set<MessagePort>()
let store: Store | null = null
let lookedAt = -Infinity
let waiting: Question[] = []
let working: Question[] = []
let scheduled = false
let stopping = false
/** In this turn; and when the exchange was told last. */
let damaged = false
let toldAt = -Infinity

function openStore(): Store {
  const database = openReader(path)
  return { database, answers: createAnswers(database, genesis, outside), inode: statSync(path).ino }
}

function closeStore(): void {
  store?.database.close()
  store = null
  // What had begun belongs to the file that is gone; it begins anew.
  for (const question of working) question.work = null
}

/** The store, opened if need be; throws when it cannot be. */
function theStore(): Store {
  const now = performance.now()
  if (now - lookedAt > FILE_MS) {
    lookedAt = now
    if (store !== null && statSync(path, { throwIfNoEntry: false })?.ino !== store.inode) closeStore()
  }
  store ??= openStore()
  return store
}

type Outcome = { answer: unknown; sequence: number; behind?: number; tookMs: number } | { failed: string }

function reply({ port, request }: Question, outcome: Outcome): void {
  port.postMessage({ id: request.id, ...outcome } as HistoryReply)
}

function take(port: MessagePort, request: HistoryRequest): void {
  const question: Question = { port, request, at: performance.now(), work: null, sequence: 0, time: 0, tookMs: 0 }
  if (waiting.length + working.length >= QUESTIONS) return reply(question, { failed: 'too many questions' })
  waiting.push(question)
  schedule(0)
}

function schedule(ms: number): void {
  if (scheduled) return
  scheduled = true
  if (ms === 0) setImmediate(turn)
  else setTimeout(turn, ms)
}

/** One slice of every question that may work. */
function turn(): void {
  scheduled = false
  try {
    const { database, answers } = theStore()
    database.exec('begin')
    try {
      answers.forget()
      const position = answers.sequence
      admit(position)
      working = working.filter((question) => !slice(question, answers, position))
    } finally {
      // SQLite may have ended it itself.
      if (database.inTransaction) database.exec('commit')
    }
    if (damaged) closeStore()
  } catch (error) {
    // Before the follower's first transaction there is no table to ask, which is no damage.
    const isEarly = store === null && (error as { code?: string }).code === 'SQLITE_ERROR'
    if (!isEarly && isDamaged(error, path)) tellDamage(error as Error)
    failAll((error as Error).message)
  }
  damaged = false
  if (working.length > 0) schedule(0)
  else if (waiting.length > 0) schedule(LOOK_MS)
  else if (stopping) end()
}

/** Not more often than once a second: one is enough. */
function tellDamage({ message }: Error): void {
  damaged = true
  const now = performance.now()
  if (now - toldAt < TELL_MS) return
  toldAt = now
  parentPort!.postMessage({ type: 'damage', message } satisfies FromThread)
}

/** Lets those work whose sequence has come or whose waiting is over. */
function admit(sequence: number): void {
  const now = performance.now()
  const ready = (question: Question): boolean => question.request.atLeast <= sequence || now - question.at > WAIT_MS
  working = working.concat(waiting.filter(ready))
  waiting = waiting.filter((question) => !ready(question))
}

/** True when the question is done. */
function slice(question: Question, answers: Answers, position: number): boolean {
  const { name, ask } = question.request
  const from = performance.now()
  try {
    if (question.work === null) {
      question.work = (answers[name as QueryName] as (ask: unknown) => Generator<undefined, unknown>)(ask)
      question.sequence = position
      question.time = answers.time
    }
    const { done, value } = question.work.next()
    question.tookMs += performance.now() - from
    const { sequence, time, tookMs } = question
    const behind = sequence < question.request.atLeast ? { behind: time } : {}
    if (done === true) reply(question, { answer: value, sequence, tookMs, ...behind })
    else if (performance.now() - question.at > DEADLINE_MS) reply(question, { failed: 'it took too long' })
    else return false
  } catch (error) {
    // A damaged store may have spoiled what SQLite keeps of it: everybody begins anew, on another connection.
    if (isDamaged(error, path)) tellDamage(error as Error)
    reply(question, { failed: (error as Error).message })
  }
  return true
}

function failAll(failed: string): void {
  for (const question of [...waiting, ...working]) reply(question, { failed })
  waiting = []
  working = []
  closeStore()
}

/** Ends what keeps the thread alive. */
function end(): void {
  closeStore()
  for (const port of serving) port.close()
  parentPort!.close()
}

function serve(port: MessagePort): void {
  serving.add(port)
  port.on('message', (request: HistoryRequest) => take(port, request))
  port.on('close', () => serving.delete(port))
}
for (const port of ports) serve(port)
parentPort!.on('message', (message: ToReader) => {
  if (message.type === 'port') return serve(message.port)
  stopping = true
  schedule(0)
})
parentPort!.postMessage({ type: 'ready' } satisfies FromThread)
