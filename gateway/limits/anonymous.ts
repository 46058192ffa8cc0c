/**
 * Time that a thread gives to requests of nobody: public reads, sign-ins, documents, refusals of heads. Signed requests come first.
 *
 *   inline    nobody waits, and this turn of the event loop has given less than {@link TURN_MS}: done at once
 *   queued    otherwise; done between turns, TURN_MS of each, clients in rotation
 *   refused   a client has its share of the queue (RATE_LIMIT_EXCEEDED), the queue is full, or {@link WAIT_MS} have passed (OVERLOADED)
 *
 * While signed requests come, all this has `anonymousPercent` of the thread's time and no more, on average; while none came for
 * {@link QUIET_MS} it has what it wants, in turns all the same. The time of a request is measured, and what its answer from the history
 * takes later is charged too ({@link Payer}). Rotation is by time: who took more than its turn waits until the others had theirs. Of reads
 * that wait for the history {@link READS_MAX} are under way, so that their answers do not come all at once.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Faulted, Faults } from '../faults.ts'
import { Refused } from '../refused.ts'
import { Shares, type NoRoom, type Proxies } from './shares.ts'

/** Time of one turn, ms: a signed request waits for it at most, and for the request that was begun. */
const TURN_MS = 2
/** The same while no signed requests come. */
const QUIET_TURN_MS = 10
/** What may be saved up while nothing is asked, ms. */
const BURST_MS = 50
const QUIET_MS = 1_000
const WAIT_MS = 2_000
/** Between two looks for those that have waited too long, ms. */
const SWEEP_MS = 50
/** What a client gets in its turn of the rotation, ms. */
const QUANTUM_MS = 1
export const QUEUE_MAX = 1_024
export const READS_MAX = 4
/** What messages of WebSockets may hold while they wait, bytes. */
export const MESSAGES_BYTES = 64 * 1024 * 1024

/** Who pays for time that is spent later. */
export interface Payer {
  charge(ms: number): void
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

export class AnonymousWork {
  readonly #share: number
  readonly #counters: Float64Array
  readonly #faults: Faults
  readonly #places: Shares
  readonly #bytes: Shares
  /** Clients that have something waiting, in rotation. */
  readonly #queues = new Map<string, ClientQueue>()
  readonly #reads = new Set<Job>()
  /** Time that may be given while signed requests come, ms. */
  #budget = BURST_MS
  #refilled = performance.now()
  #signedAt = -Infinity
  /** Given in this turn, ms. */
  #turn = 0
  #turnEnds = false
  #pumping = false
  #swept = 0
  #timer: NodeJS.Timeout | null = null

  /** `percent` of the thread's time; clients in `proxies` stand for many. */
  constructor(percent: number, counters: Float64Array, faults: Faults, proxies: Proxies = new Set()) {
    this.#faults = faults
    this.#places = new Shares(QUEUE_MAX, proxies)
    this.#bytes = new Shares(MESSAGES_BYTES, proxies)
    counters[GATEWAY.ws_changes_capacity] = MESSAGES_BYTES
    this.#share = percent / 100
    this.#counters = counters
  }

  /** A signed request took this long. */
  signed(from: number, until: number): void {
    this.#signedAt = until
    this.#counters[GATEWAY.signed_seconds]! += (until - from) / 1000
  }

  /**
   * This was done at once for somebody who signed nothing, because refusing it takes as long: probes, signatures that are wrong. It is
   * counted, and its client has less of the rotation. It takes nothing of what others have: a flood of it would be their refusals.
   */
  charge(client: string, ms: number): void {
    this.#endTurn()
    this.#give(ms, this.#queues.get(client) ?? null)
  }

  submit(job: Job): void {
    const now = performance.now()
    if (this.#queues.size === 0 && this.#allowed(now) && (!job.reads || this.#roomForRead())) {
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
    this.#counters[GATEWAY.anonymous_refused]!++
    const again = { retryAfter: 1 }
    if (why === 'full') job.refuse(new Refused('OVERLOADED', 'Too many requests without a signature', again))
    else job.refuse(new Refused('RATE_LIMIT_EXCEEDED', 'Too many requests without a signature from this address', again))
  }

  /** Whether anything may be given now, in this turn. */
  #allowed(now: number): boolean {
    this.#budget = Math.min(BURST_MS, this.#budget + (now - this.#refilled) * this.#share)
    this.#refilled = now
    if (now - this.#signedAt > QUIET_MS) return this.#turn < QUIET_TURN_MS
    return this.#budget > 0 && this.#turn < TURN_MS
  }

  #roomForRead(): boolean {
    if (this.#reads.size < READS_MAX) return true
    for (const job of this.#reads) if (job.over) this.#reads.delete(job)
    return this.#reads.size < READS_MAX
  }

  #run(job: Job, queue: ClientQueue | null, from: number): void {
    this.#endTurn()
    const name = queueOf(job)
    this.#faults.guard(job, () => job.run({ charge: (ms) => this.#charge(ms, this.#queues.get(name) ?? null) }))
    if (job.reads && !job.over) this.#reads.add(job)
    this.#charge(performance.now() - from, queue)
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

  #charge(ms: number, queue: ClientQueue | null): void {
    // Time beyond what is saved up is not owed for ever: an answer of a second is paid for in four.
    this.#budget = Math.max(-1_000, this.#budget - ms)
    this.#give(ms, queue)
  }

  #give(ms: number, queue: ClientQueue | null): void {
    this.#turn += ms
    if (queue !== null) queue.left -= ms
    this.#counters[GATEWAY.anonymous_seconds]! += ms / 1000
  }

  #schedule(): void {
    if (this.#pumping) return
    this.#pumping = true
    setImmediate(() => this.#pump())
  }

  /** One turn's share of what waits; then what is signed has its own. */
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
    if (this.#turn >= TURN_MS && (this.#budget > 0 || now - this.#signedAt > QUIET_MS)) return this.#schedule()
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
    this.#counters[GATEWAY.anonymous_queued] = this.#places.total
    this.#counters[GATEWAY.ws_changes_bytes] = this.#bytes.total
  }

  /** Nobody waits for longer than it may, also while there is no time for anybody. */
  #sweep(now: number): void {
    this.#swept = now
    for (const [name, queue] of this.#queues) {
      this.#expire(queue, now)
      if (queue.waiting.length === 0) this.#queues.delete(name)
    }
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
      const ready = !waiting.job.reads || this.#roomForRead()
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
      if (!job.over) this.#refuse(job, 'full')
    }
  }
}
