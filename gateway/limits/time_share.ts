/**
 * Time that a thread gives to requests of a kind that may wait: those without a signature (anonymous.ts), signed reads (reads.ts). Other
 * requests, of which {@link TimeShare.precede} is told, come first.
 *
 *   inline    nothing waits, and this turn of the event loop has given less than {@link TURN_MS}: done at once
 *   queued    otherwise; done between turns, TURN_MS of each, clients in rotation
 *   refused   a client has its share of the queue (RATE_LIMIT_EXCEEDED), the queue is full, or {@link WAIT_MS} have passed (OVERLOADED)
 *
 * While requests come that go first, the kind has `percent` of the thread's time and no more, on average; while none came for
 * {@link QUIET_MS} it has what it wants, in turns all the same. The time of a request is measured, and what its answer from the history
 * takes later is charged too ({@link Payer}). Rotation is by time: a client that took more than its turn waits until the others had theirs.
 * Where one client has only part of the kind's time (`partOfOne`), it waits by itself when it took that: nobody waits for what it owes.
 * Of reads that wait for the history `reads` are under way, and `readsOfOne` of a client, so that their answers do not come all at once.
 */
import type { Faulted, Faults } from '../faults.ts'
import { Refused } from '../refused.ts'
import { Shares, type NoRoom, type Proxies } from './shares.ts'

/** Time of one turn, ms: a signed request waits for it at most, and for the request that was begun. */
const TURN_MS = 2
/** The same while no signed requests come. */
const QUIET_TURN_MS = 10
/** What may be saved up while nothing is asked, ms. */
const BURST_MS = 50
/** With more clients' budgets those that are whole again are looked for also while nothing waits. */
const BUDGETS_MANY = 1_024
/** What one client owes of its part at most, ms. */
const OWED_MAX_MS = 2_000
const QUIET_MS = 1_000
const WAIT_MS = 2_000
/** Between two looks for those that have waited too long, ms. */
const SWEEP_MS = 50
/** What a client gets in its turn of the rotation, ms. */
const QUANTUM_MS = 1
export const QUEUE_MAX = 1_024

/** Who pays for time that is spent later. */
export interface Payer {
  /** `ms` of this thread; `elsewhereMs` that a reader of the history took for it. */
  charge(ms: number, elsewhereMs?: number): void
}

export interface Job extends Faulted {
  /** Who asks (network.ts). */
  readonly client: string
  /** Which queue of the rotation it waits in; its client's own if absent. */
  readonly queue?: string
  /** Of a message of a WebSocket: what it holds while it waits, which is for as long as it takes. */
  readonly bytes?: number
  /** Whether it may wait for the history. */
  readonly reads: boolean
  /** Answered, or its client left. */
  readonly over: boolean
  /** It will be run later: what is valid now only is copied. */
  keep(): void
  run(payer: Payer): void
}

interface Waiting {
  readonly job: Job
  readonly since: number
}

/** Requests of one client. */
class ClientQueue {
  readonly waiting: Waiting[] = []
  /** Time it may still take in this round; negative: it took more. */
  left = 0
}

const queueOf = ({ queue, client }: Job): string => queue ?? client

/** What distinguishes one kind from another. */
export interface Terms {
  readonly percent: number
  /** Time beyond what is saved up that is owed at most, ms: a longer answer is paid for in part. */
  readonly debtMs: number
  /** Part of the kind's time that one client has; `null`: as much as the others leave. */
  readonly partOfOne: number | null
  /** Reads under way at most: of all clients, and of one. */
  readonly reads: number
  readonly readsOfOne: number
  /** What messages of WebSockets may hold while they wait, bytes. */
  readonly bytes: number
  /** Whether time of the readers of the history is paid for too. */
  readonly paysReaders: boolean
  /** Where seconds given, requests that wait and requests refused are counted; of messages the bytes. */
  readonly at: { readonly seconds: number; readonly queued: number; readonly refused: number; readonly bytes?: number }
  /** Texts of the refusals. */
  readonly texts: Readonly<Record<NoRoom, string>>
  /** What a request that waited too long is refused as while its client has taken its turn of the rotation. */
  readonly late: NoRoom
}

/** Time that one client may take while requests come that go first. */
interface ClientBudget {
  left: number
  /** performance.now() up to which it has been refilled. */
  at: number
}

export class TimeShare {
  readonly #terms: Terms
  /** Of clients that took some of theirs lately. */
  readonly #budgets = new Map<string, ClientBudget>()
  readonly #share: number
  readonly #counters: Float64Array
  readonly #faults: Faults
  readonly #places: Shares
  readonly #bytes: Shares
  /** Clients that have something waiting, in rotation. */
  readonly #queues = new Map<string, ClientQueue>()
  /** Reads under way, with the queue of each. */
  readonly #reads = new Map<Job, string>()
  /** Time that may be given while requests come that go first, ms. */
  #budget = BURST_MS
  #refilled = performance.now()
  #precededAt = -Infinity
  /** Given in this turn, ms. */
  #turn = 0
  #turnEnds = false
  #pumping = false
  #swept = 0
  #timer: NodeJS.Timeout | null = null

  /** Clients in `proxies` stand for many. */
  constructor(terms: Terms, counters: Float64Array, faults: Faults, proxies: Proxies = new Set()) {
    this.#terms = terms
    this.#faults = faults
    this.#places = new Shares(QUEUE_MAX, proxies)
    this.#bytes = new Shares(terms.bytes, proxies)
    this.#share = terms.percent / 100
    this.#counters = counters
  }

  /** A request that goes first ended at this time, by performance.now(). */
  precede(until: number): void {
    this.#precededAt = until
  }

  /**
   * This was done at once, because refusing it takes as long: probes, signatures. It is counted, and its client has less of the
   * rotation. It takes nothing of what others have: a flood of it would be their refusals.
   */
  charge(client: string, ms: number): void {
    this.#endTurn()
    this.#takeOf(client, ms)
    this.#give(ms, this.#queues.get(client) ?? null)
  }

  submit(job: Job): void {
    const now = performance.now()
    if (this.#queues.size === 0 && this.#allowed(now) && this.#isReady(job, now)) {
      this.#run(job, null, now)
      return
    }
    const none = job.bytes === undefined ? this.#places.take(job.client) : this.#bytes.take(job.client, job.bytes)
    if (none !== null) return this.#refuse(job, none)
    job.keep()
    this.#count()
    const name = queueOf(job)
    const queue = this.#queues.get(name) ?? new ClientQueue()
    this.#queues.set(name, queue)
    queue.waiting.push({ job, since: now })
    this.#schedule()
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #refuse(job: Job, why: NoRoom): void {
    this.#counters[this.#terms.at.refused]!++
    const owed = -(this.#budgets.get(queueOf(job))?.left ?? 0)
    const retryAfter = Math.max(1, Math.ceil(owed / this.#rateOfOne / 1_000))
    job.refuse(new Refused(why === 'full' ? 'OVERLOADED' : 'RATE_LIMIT_EXCEEDED', this.#terms.texts[why], { retryAfter }))
  }

  /** Share of the thread's time that one client has. */
  get #rateOfOne(): number {
    return this.#share * (this.#terms.partOfOne ?? 1)
  }

  #isQuiet(now: number): boolean {
    return now - this.#precededAt > QUIET_MS
  }

  /** Whether anything may be given now, in this turn. */
  #allowed(now: number): boolean {
    this.#budget = Math.min(BURST_MS, this.#budget + (now - this.#refilled) * this.#share)
    this.#refilled = now
    if (this.#isQuiet(now)) return this.#turn < QUIET_TURN_MS
    return this.#budget > 0 && this.#turn < TURN_MS
  }

  #roomForRead(): boolean {
    if (this.#reads.size < this.#terms.reads) return true
    for (const job of this.#reads.keys()) if (job.over) this.#reads.delete(job)
    return this.#reads.size < this.#terms.reads
  }

  /** Whether its client may take time, and reads under way leave room for it. */
  #isReady(job: Job, now: number): boolean {
    return (this.#isQuiet(now) || this.#leftOf(queueOf(job), now) > 0) && this.#mayRead(job)
  }

  /** What a client may take of its part; all of it is forgotten. */
  #leftOf(name: string, now: number): number {
    const budget = this.#budgets.get(name)
    if (budget === undefined) return BURST_MS
    budget.left += (now - budget.at) * this.#rateOfOne
    budget.at = now
    if (budget.left >= BURST_MS) this.#budgets.delete(name)
    return budget.left
  }

  #takeOf(name: string, ms: number): void {
    if (this.#terms.partOfOne === null) return
    const now = performance.now()
    const left = this.#leftOf(name, now)
    this.#budgets.set(name, { left: Math.max(-OWED_MAX_MS, Math.min(left, BURST_MS) - ms), at: now })
    if (this.#budgets.size > BUDGETS_MANY && now - this.#swept > SWEEP_MS) this.#sweep(now)
  }

  /** Whether reads under way leave room for `job`, of all clients' and of its own. */
  #mayRead(job: Job): boolean {
    if (!job.reads) return true
    if (!this.#roomForRead()) return false
    const { reads, readsOfOne } = this.#terms
    if (readsOfOne >= reads) return true
    const name = queueOf(job)
    let own = 0
    for (const [under, queue] of this.#reads) {
      if (queue !== name) continue
      if (under.over) this.#reads.delete(under)
      else own++
    }
    return own < readsOfOne
  }

  #run(job: Job, queue: ClientQueue | null, from: number): void {
    this.#endTurn()
    const name = queueOf(job)
    const { paysReaders } = this.#terms
    const charge = (ms: number, elsewhereMs = 0): void =>
      this.#charge(paysReaders ? ms + elsewhereMs : ms, this.#queues.get(name) ?? null, name)
    this.#faults.guard(job, () => job.run({ charge }))
    if (job.reads && !job.over) this.#reads.set(job, name)
    this.#charge(performance.now() - from, queue, name)
  }

  /** What this turn gave is forgotten when it ends. */
  #endTurn(): void {
    if (this.#turnEnds) return
    this.#turnEnds = true
    setImmediate(() => {
      this.#turn = 0
      this.#turnEnds = false
    })
  }

  #charge(ms: number, queue: ClientQueue | null, name: string): void {
    // Time beyond what is saved up is not owed for ever.
    this.#budget = Math.max(-this.#terms.debtMs, this.#budget - ms)
    this.#takeOf(name, ms)
    this.#give(ms, queue)
  }

  #give(ms: number, queue: ClientQueue | null): void {
    this.#turn += ms
    if (queue !== null) queue.left -= ms
    this.#counters[this.#terms.at.seconds]! += ms / 1000
  }

  #schedule(): void {
    if (this.#pumping) return
    this.#pumping = true
    setImmediate(() => this.#pump())
  }

  /** One turn's share of what waits; then what goes first has its own. */
  #pump(): void {
    this.#pumping = false
    this.#turn = 0
    let now = performance.now()
    while (this.#queues.size > 0 && this.#allowed(now)) {
      if (!this.#next(now)) break
      now = performance.now()
    }
    if (now - this.#swept > SWEEP_MS) this.#sweep(now)
    this.#count()
    if (this.#queues.size === 0) return
    if (this.#turn >= TURN_MS && (this.#budget > 0 || this.#isQuiet(now))) return this.#schedule()
    // Out of time, or of places for reads: another look before long.
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#schedule()
    }, 2)
  }

  /** The first of a queue waits no longer. */
  #leave({ waiting }: ClientQueue): Job {
    const { job } = waiting.shift()!
    if (job.bytes === undefined) this.#places.give(job.client)
    else this.#bytes.give(job.client, job.bytes)
    return job
  }

  #count(): void {
    const { queued, bytes } = this.#terms.at
    this.#counters[queued] = this.#places.total
    if (bytes !== undefined) this.#counters[bytes] = this.#bytes.total
  }

  /** Nobody waits for longer than it may, also while there is no time for anybody. */
  #sweep(now: number): void {
    this.#swept = now
    for (const [name, queue] of this.#queues) {
      this.#expire(queue, now)
      if (queue.waiting.length === 0) this.#queues.delete(name)
    }
    for (const name of this.#budgets.keys()) this.#leftOf(name, now)
  }

  /** Runs one request of the client whose turn it is; false: none may be run now. */
  #next(now: number): boolean {
    for (let looked = 2 * this.#queues.size + 1; looked > 0; looked--) {
      const first = this.#queues.entries().next()
      if (first.done === true) return false
      const [name, queue] = first.value
      this.#expire(queue, now)
      const waiting = queue.waiting[0]
      if (waiting === undefined) {
        this.#queues.delete(name)
        continue
      }
      const ready = this.#isReady(waiting.job, now)
      if (queue.left > 0 && ready) {
        this.#leave(queue)
        this.#run(waiting.job, queue, now)
        return true
      }
      // To the end of the rotation, with another quantum once it comes round.
      if (queue.left <= 0) queue.left += QUANTUM_MS
      this.#queues.delete(name)
      this.#queues.set(name, queue)
    }
    // Everybody is in debt, which the next looks work off; or waits for the history.
    return this.#roomForRead() && [...this.#queues.values()].some(({ left }) => left <= 0)
  }

  /** Drops what nobody waits for any more, and refuses what has waited too long. */
  #expire(queue: ClientQueue, now: number): void {
    const { waiting } = queue
    while (waiting.length > 0 && (waiting[0]!.job.over || (waiting[0]!.job.bytes === undefined && now - waiting[0]!.since > WAIT_MS))) {
      const job = this.#leave(queue)
      if (job.over) continue
      const isOwn = waiting.length > 0 || queue.left < 0 || this.#leftOf(queueOf(job), now) <= 0
      this.#refuse(job, isOwn ? this.#terms.late : 'full')
    }
  }
}
