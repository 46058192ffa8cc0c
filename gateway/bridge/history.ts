/**
 * The gateway's side of the history readers: numbered questions over message ports, each with a deadline, their number bounded.
 *
 * A question names the newest command this gateway can have answered, and the reader waits for the history to reach it: who reads
 * after an answer finds what it did. There is no fallback: without a history, or without an answer in time, the question is
 * refused as HISTORY_UNAVAILABLE, and trading goes on.
 */
import type { MessagePort } from 'node:worker_threads'
import { CLOCK } from '../../core/state/columns.ts'
import type { HistoryReply, HistoryRequest, Queries, QueryName } from '../../core/history/answer/queries.ts'
import { HISTORY, LATE_SECONDS } from '../../core/ring/counters.ts'
import { Refused } from '../refused.ts'
import type { Faulted, Faults } from '../faults.ts'
import type { Payer } from '../limits/anonymous.ts'

/** Questions one gateway has open at most; more are refused. */
export const OPEN_MAX = 1024
const DEADLINE_MS = 5_000
const SWEEP_MS = 250
/** Taking an answer out of its message, before this file sees it, takes about as long as making something of it. */
const UNPACKING = 2
/** A history not heard of for this long has stopped, even if its process is there. */
const SILENCE_SECONDS = 10

type Answer = Queries[QueryName]['answer']

/** @see askHistory */
type Done<Name extends QueryName> = (
  answer: Queries[Name]['answer'] | Refused, sequence: number, behind: number | null,
) => void

interface Question {
  readonly port: MessagePort
  readonly done: Done<QueryName>
  /** Who pays for the time that the answer takes; `null`: nobody. */
  readonly payer: Payer | null
  /** Which request asks; `null`: none. */
  readonly request: Faulted | null
  /** performance.now() of giving up. */
  readonly deadline: number
}

export interface History {
  /** One per reader; those that closed are gone. */
  readonly ports: MessagePort[]
  /** What main says of the history (core/ring/counters.ts, HISTORY), read only. */
  readonly counters: Float64Array
  /** Column `clock` of the engine. */
  readonly clock: Float64Array
  readonly open: Map<number, Question>
  readonly faults: Faults
  readonly timer: NodeJS.Timeout
  readonly deadlineMs: number
  next: number
  /** Who pays for what is asked now. */
  payer: Payer | null
}

export function createHistory(
  ports: readonly MessagePort[], counters: Float64Array, clock: Float64Array, faults: Faults,
  deadlineMs = DEADLINE_MS,
): History {
  const history: History = {
    ports: [...ports], counters, clock, faults, deadlineMs, open: new Map(), next: 1, payer: null,
    timer: setInterval(() => sweep(history), SWEEP_MS),
  }
  for (const port of ports) {
    port.on('message', (reply: HistoryReply) => take(history, reply))
    port.on('close', () => drop(history, port))
  }
  return history
}

export function closeHistory(history: History): void {
  clearInterval(history.timer)
  for (const port of history.ports) port.close()
}

const unavailable = (): Refused => new Refused('HISTORY_UNAVAILABLE')

const isUp = ({ counters }: History): boolean =>
  counters[HISTORY.up] === 1 && counters[HISTORY.silence_seconds]! <= SILENCE_SECONDS

/** Whether it answers, and from what is hardly older than now. */
export const isCurrent = (history: History): boolean =>
  isUp(history) && history.ports.length > 0 && history.counters[HISTORY.lag_seconds]! <= LATE_SECONDS

/**
 * Asks one question; `done` gets the answer, or the refusal, exactly once: at once or later. `sequence` is what the
 * history had reached when it was answered (core/history/answer/queries.ts, HistoryReply), `behind` when that was, Unix
 * ms, if it was less than its asker can know of, else `null`; 0 and `null` beside a refusal.
 */
export function askHistory<Name extends QueryName>(
  history: History, name: Name, ask: Queries[Name]['ask'], done: Done<Name>,
): void {
  const { ports, open } = history
  if (ports.length === 0 || open.size >= OPEN_MAX || !isUp(history)) return done(unavailable(), 0, null)
  const id = history.next++
  const port = ports[id % ports.length]!
  const deadline = performance.now() + history.deadlineMs
  open.set(id, { port, done: done as Done<QueryName>, payer: history.payer, request: history.faults.current, deadline })
  // The column is written before any answer of its batch leaves; the matcher's counter of the same name only after it.
  port.postMessage({ id, name, ask, atLeast: history.clock[CLOCK.SEQUENCE]! } satisfies HistoryRequest<Name>)
}

function take(history: History, reply: HistoryReply): void {
  if ('answer' in reply) finish(history, reply.id, reply.answer, reply.sequence, reply.behind ?? null, reply.tookMs)
  else finish(history, reply.id, unavailable())
}

function finish(
  history: History, id: number, answer: Answer | Refused, sequence = 0, behind: number | null = null, tookMs = 0,
): void {
  const question = history.open.get(id)
  if (question === undefined) return
  history.open.delete(id)
  const from = performance.now()
  // Without a request the question itself is refused.
  const request = question.request ?? { refuse: (refused: Refused) => question.done(refused, 0, null) }
  history.faults.guard(request, () => question.done(answer, sequence, behind))
  question.payer?.charge(UNPACKING * (performance.now() - from), tookMs)
}

function sweep(history: History): void {
  const now = performance.now()
  for (const [id, { deadline }] of history.open) {
    // The map is in order of asking and every question has the same time.
    if (deadline > now) return
    finish(history, id, unavailable())
  }
}

/** A reader that ended answers nothing any more. */
function drop(history: History, port: MessagePort): void {
  const at = history.ports.indexOf(port)
  if (at >= 0) history.ports.splice(at, 1)
  for (const [id, question] of history.open) if (question.port === port) finish(history, id, unavailable())
}
