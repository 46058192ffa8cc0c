/**
 * Cancel on disconnect: a connection that was opened with it has everything of its account cancelled when it ends,
 * however it ends.
 *
 * One record is given to the engine, behind everything that the connection was served before: it begins the mass
 * cancel, whose parts the sequencer makes (core/orders/dead_man.ts). So nothing is left half done by a gateway that
 * stops. When the ring has no room for the account, or the disk is full, the record waits here and is tried again until
 * it is given; an orderly stop waits for it ({@link settle}). One waits for each holder of sessions (an account, or one
 * of its agents) at most: two would cancel the same, so the record counts the connections.
 *
 * When the whole exchange is killed no gateway is left to ask. The engine knows which accounts had such a connection open
 * (core/orders/cancel_on_disconnect.ts), and the next start cancels what these connections cover.
 */
import { CANCEL_ALL_MAX } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { DISK, GATEWAY, MATCHER } from '../../core/ring/counters.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Caller } from '../auth/signed_request.ts'
import { encodeAtEnd } from './encode.ts'
import { allowance, CREDIT, register, send, slotAt, WAY_OUT, type EngineClient, type PendingRequest } from './engine_client.ts'

/** Ms between two looks for room. */
const RETRY_MS = 5
/** Of those that wait, looked at in one go. */
const LOOKS_MAX = 256
/** The longest wait of an orderly stop, ms. */
const SETTLE_MS = 2000
/** What is said when the engine refuses one: the account is another's by now, or the agent was revoked or lacks a pair. */
const REFUSED = 'orders of a connection that ended stay, because whoever opened it may not cancel them any more'
/** What a stop says when some are left. */
const CANCELS_LEFT = 'orders of connections that were to be cancelled at their end stay: the engine took no more commands'

type Warn = (message: string, fields: Record<string, unknown>) => void

/** Who opened the connection, and the sequence that made the account. */
export interface Ending extends Caller {
  readonly accountSequence: number
}

/** Connections of one holder that end alike and wait for room. */
interface Waiting {
  readonly ending: Ending
  /** False: they stay open, and cancel at their end no more. */
  readonly cancels: boolean
  connections: number
}

export class CancelsAtEnd {
  readonly #engine: EngineClient
  readonly #deadlineMs: number
  readonly #warn: Warn
  /** By holder and what becomes of the connections. */
  readonly #waiting = new Map<string, Waiting>()
  #timer: NodeJS.Timeout | null = null

  constructor(engine: EngineClient, deadlineMs: number, warn: Warn) {
    this.#engine = engine
    this.#deadlineMs = deadlineMs
    this.#warn = warn
  }

  /** The connection that this caller opened has ended; with `cancels` false it stays open and cancels at its end no more. */
  post(ending: Ending, cancels = true): void {
    const holder = `${ending.account} ${ending.accountSequence} ${ending.agent} ${cancels}`
    const connections = (this.#waiting.get(holder)?.connections ?? 0) + 1
    this.#waiting.set(holder, { ending, cancels, connections })
    this.#giveSome()
  }

  /** Waits until all are given, {@link SETTLE_MS} and `graceMs` at the longest; how many are left. */
  async settle(graceMs: number): Promise<number> {
    const until = performance.now() + Math.min(graceMs, SETTLE_MS)
    while (this.#waiting.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    return this.#waiting.size
  }

  #giveSome(): void {
    const { counters } = this.#engine
    let looks = Math.min(this.#waiting.size, LOOKS_MAX)
    for (const [holder, waiting] of this.#waiting) {
      if (looks-- === 0) break
      // Who waits on goes behind the others.
      this.#waiting.delete(holder)
      if (this.#hasRoom(waiting.ending.account)) this.#give(waiting)
      if (waiting.connections > 0) this.#waiting.set(holder, waiting)
    }
    counters[GATEWAY.cancels_at_end_waiting] = this.#waiting.size
    if (this.#timer !== null || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#giveSome()
    }, RETRY_MS)
  }

  #hasRoom(account: number): boolean {
    const engine = this.#engine
    return engine.matcher[MATCHER.disk_level] !== DISK.FULL && allowance(engine, account, WAY_OUT) >= CREDIT
  }

  /** Gives one record, of {@link CANCEL_ALL_MAX} connections at most; the others wait on. */
  #give(waiting: Waiting): void {
    const { ending, cancels } = waiting
    const engine = this.#engine
    const connections = Math.min(waiting.connections, CANCEL_ALL_MAX)
    waiting.connections -= connections
    const correlation = register(engine, this.#answers, ending.account, CREDIT, WAY_OUT, this.#deadlineMs)
    encodeAtEnd(engine, slotAt(engine), correlation, ending, ending.accountSequence, connections, cancels)
    send(engine)
    if (cancels) engine.counters[GATEWAY.cancels_at_end]!++
  }

  /** Nobody waits for the answer, so one that refuses is said to the operator. */
  readonly #answers: PendingRequest = {
    onResult: ({ i32 }, base) => {
      const number = i32[base + RESULT.at.code]!
      if (number === 0) return
      this.#warn(REFUSED, { account: i32[base + RESULT.at.account]!, refusal: refusalByNumber(number).code })
    },
    onDeadline: () => undefined,
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** At the stop of a thread whose connections have ended: waits for their mass cancels, and says when some are left. */
export async function settleCancels(cancels: CancelsAtEnd, graceMs: number, post: (message: FromThread) => void): Promise<void> {
  const accounts = await cancels.settle(graceMs)
  if (accounts > 0) post({ type: 'log', level: 'error', message: CANCELS_LEFT, fields: { accounts } })
}
