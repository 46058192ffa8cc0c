/**
 * Signatures that opened a session: on a gRPC stream, or on a WebSocket. Freshness is no replay cache (specification, Authentication,
 * rule 3), and for a single request need not be: who repeats it gets the same request. Who repeated an opening would get a session to send
 * anything with, so each such signature opens one, on one thread, on one transport.
 *
 * The memory is shared by all threads (core/ring/replay_guard.ts). Two tables take turns: signatures go into the present one; after
 * {@link REMEMBERED_MS}, when none of the one before can be fresh any more, that one is emptied and becomes the present. What was signed no
 * later than anything forgotten is refused for its age from then on, so the promise does not hang on the clock: set forward and back again,
 * it makes no forgotten signature good, and openings are refused until it has caught up.
 *
 * A start forgets, and refuses what was signed before it. It cannot tell what a client whose clock is ahead signed with a time behind it.
 */
import { hash } from 'node:crypto'
import { BUDGET, BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'
import { lock, unlock } from '../../core/ring/lock.ts'
import { REPLAY_GUARD, replayGuardShare } from '../../core/ring/replay_guard.ts'
import { FRESHNESS_MS } from './signed_request.ts'
import { SIGNATURE_BYTES } from './verifier.ts'

/** A signature is fresh from one window before the server's time to one after. */
const REMEMBERED_MS = 2 * FRESHNESS_MS
const { LOCK, PRESENT, COUNT, PERIOD, KEY, KEY_BYTES, SINCE, FLOOR, NEWEST, HEAD_WORDS, TAG_WORDS, SLOTS } = REPLAY_GUARD

export type Admission = 'taken' | 'used' | 'full'

export class ReplayGuard {
  readonly #words: Int32Array
  readonly #times: Float64Array
  readonly #accounts: Int32Array
  /** The key and the signature behind it, which are hashed together. */
  readonly #keyed: Buffer

  /** `buffer`: of core/ring/replay_guard.ts; `budgets`: rows of core/ring/budgets.ts. */
  constructor(buffer: SharedArrayBuffer, budgets: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#accounts = new Int32Array(budgets)
    this.#times = new Float64Array(buffer, 0, HEAD_WORDS / 2)
    this.#keyed = Buffer.alloc(KEY_BYTES + SIGNATURE_BYTES)
    this.#keyed.set(new Uint8Array(buffer, KEY * 4, KEY_BYTES))
  }

  /** Signatures remembered of the present period. */
  get used(): number {
    return this.#words[COUNT + this.#words[PRESENT]!]!
  }

  /**
   * Takes a signature of `account` that was verified, 128 hex digits, made at `signedAt`, at `now`, Unix ms: `taken` once, then `used`;
   * `full` when too many are remembered, of all or of this account. Exact over all threads.
   */
  take(signature: string, account: number, signedAt: number, now: number): Admission {
    this.#keyed.write(signature, KEY_BYTES, 'hex')
    const digest = hash('sha256', this.#keyed, 'buffer')
    const tag = Int32Array.from({ length: TAG_WORDS }, (_, i) => digest.readInt32LE(4 * i))
    // A free slot is zero.
    tag[0]! |= 1
    const words = this.#words
    lock(words, LOCK)
    try {
      return this.#take(tag, account, signedAt, now)
    } finally {
      unlock(words, LOCK)
    }
  }

  #take(tag: Int32Array, account: number, signedAt: number, now: number): Admission {
    const words = this.#words
    const times = this.#times
    if (now - times[SINCE]! >= REMEMBERED_MS) this.#turn(now)
    if (signedAt < times[FLOOR]!) return 'used'
    const present = words[PRESENT]!
    const at = this.#find(present, tag)
    if (words[at] !== 0 || words[this.#find(1 - present, tag)] !== 0) return 'used'
    if (!this.#count(account, replayGuardShare(words[COUNT + present]!))) return 'full'
    words.set(tag, at)
    words[COUNT + present]!++
    if (signedAt > times[NEWEST + present]!) times[NEWEST + present] = signedAt
    return 'taken'
  }

  /** Counts one more of this account in the period, unless it has `share` already. */
  #count(account: number, share: number): boolean {
    const accounts = this.#accounts
    const at = account * BUDGET_ROW_WORDS + BUDGET.OPENINGS
    const period = this.#words[PERIOD]!
    if (accounts[at] !== period) {
      accounts[at] = period
      accounts[at + 1] = 0
    }
    if (accounts[at + 1]! >= share) return false
    accounts[at + 1]!++
    return true
  }

  /** Begins a period: the table of the last but one goes. */
  #turn(now: number): void {
    const words = this.#words
    const times = this.#times
    const next = 1 - words[PRESENT]!
    if (words[COUNT + next]! > 0) {
      const from = HEAD_WORDS + next * SLOTS * TAG_WORDS
      words.fill(0, from, from + SLOTS * TAG_WORDS)
      times[FLOOR] = Math.max(times[FLOOR]!, times[NEWEST + next]! + 1)
      words[COUNT + next] = 0
      times[NEWEST + next] = 0
    }
    words[PRESENT] = next
    words[PERIOD]!++
    times[SINCE] = now
  }

  /** Word of the slot in which the tag stands, or of the free one in which it would. No table is more than half full. */
  #find(table: number, tag: Int32Array): number {
    const words = this.#words
    const from = HEAD_WORDS + table * SLOTS * TAG_WORDS
    for (let slot = tag[1]! & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const at = from + slot * TAG_WORDS
      if (words[at] === 0) return at
      if (words[at] === tag[0] && words[at + 1] === tag[1] && words[at + 2] === tag[2] && words[at + 3] === tag[3]) return at
    }
  }
}
