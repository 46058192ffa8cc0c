/**
 * Reading shared columns while the matcher writes them: copy, then prove that nothing moved.
 *
 * The matcher makes word APPLYING odd before it applies a batch and even after it; every account and book has a version that grows with
 * each change. A copy is good when the version before and after it is the same and no batch was being applied at either end. Batches may
 * come and go meanwhile, as long as they leave this thing alone.
 *
 * The columns are plain words. Neither processors (ARM) nor the memory model of the language keep two of them in order between threads;
 * only `Atomics` do, and only by one reading what another wrote. So both sides CHANGE the gate, a reader by adding 0:
 *
 *   matcher                                 reader
 *                                            version  --------------+
 *   add 1 to the gate (odd)   <---read by--  add 0 to the gate: even|   a batch that begins later changes nothing that was read
 *   change rows and versions      \          copy                   |   until here
 *   add 1 to the gate (even)  ---read by-->  add 0 to the gate: even|   what a batch changed that ended before is seen whole
 *                                            the same version?  <---+
 *
 * Each change of the gate reads the one before it, so they are all in one order. Suppose a reader finds it even both times. (1) Batches
 * that began after its second change come after its copy: it saw nothing of them. (2) Those that ended before its first change it saw
 * whole, and it read no version of one that had not ended by then. (3) Those between changed the versions of all they touched, and the
 * second version is read after them: when it is the same, they touched nothing that was copied. A load in place of the second `add 0`
 * would break (1): nothing would keep the copy before it. The version read after the first `add 0` would break (2): of a batch under way
 * it would be the new one already, and the same again after it. test/unit/memory_order.test.ts tries every order that the memory model
 * allows, of these very functions. The matcher pays two additions a batch, a reader two a copy.
 *
 * Readers are bounded in copies and in time ({@link Patience}). What could not be copied then is refused, as ENGINE_UNAVAILABLE.
 *
 * Who an account is and which one a wallet has is written once and then changes only when the row of a blank account goes to another
 * wallet; SCALAR.ACCOUNT_TURNS is odd while one does, so that such reading needs no gate.
 */
import { SCALAR } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { APPLYING } from '../ring/counters.ts'

/** How often a reader copies at most, and how long it goes on after its first failure, ms as {@link Waiting} counts them. */
export interface Patience {
  readonly copies: number
  readonly ms: number
}
/** For copies of microseconds: what takes long is a matcher that lost its processor in the middle of a batch. */
export const SHORT: Patience = { copies: 8, ms: 40 }
/** For copies of milliseconds. */
export const LONG: Patience = { copies: 8, ms: 8 }
/** For the same where the matcher can be asked. */
export const BRIEF: Patience = { copies: 3, ms: 3 }

/** Looks at an odd word before the thread sleeps, 1 ms at a time. */
const LOOKS = 4000
/** Between two looks no more than this is counted, ms: a reader that lost its own processor has not waited for anybody. */
const STEP_MS = 2

/** Time that a reader has waited. */
class Waiting {
  spent = 0
  #last = 0
  #looks = 0

  look(): void {
    const now = performance.now()
    if (this.#last > 0) this.spent += Math.min(now - this.#last, STEP_MS)
    this.#last = now
  }

  /** Waits until `words[at]` is even, or `ms` are over; loads alone, so that the writer keeps its word. */
  untilEven(words: Int32Array, at: number, ms: number): void {
    for (let word = Atomics.load(words, at); (word & 1) === 1 && this.spent < ms; word = Atomics.load(words, at)) {
      if (++this.#looks > LOOKS) Atomics.wait(words, at, word, 1)
      this.look()
    }
  }
}

/**
 * Runs `copy` until it saw one consistent state of the thing whose version is `words[at]`. Returns what it returned, or `null`
 * when the matcher kept changing it. `copy` gets the version: one that takes long may stop when it {@link hasMoved}.
 */
export function consistently<T>(
  gate: Int32Array, words: Int32Array, at: number, copy: (version: number) => T, { copies: most, ms }: Patience = SHORT,
): T | null {
  let waiting: Waiting | null = null
  for (let copies = 0; ;) {
    const version = Atomics.load(words, at)
    if ((Atomics.add(gate, APPLYING, 0) & 1) === 0) {
      const value = copy(version)
      if ((Atomics.add(gate, APPLYING, 0) & 1) === 0 && Atomics.load(words, at) === version) return value
      if (++copies >= most) return null
    }
    waiting ??= new Waiting()
    waiting.look()
    waiting.untilEven(gate, APPLYING, ms)
    if (waiting.spent >= ms) return null
  }
}

/** True when the thing whose version is `words[at]` changed since {@link consistently} read it: the copy will be thrown away. */
export const hasMoved = (words: Int32Array, at: number, version: number): boolean => Atomics.load(words, at) !== version

/** How long a row may be in the middle of changing hands before it is given up, ms. */
const TURN_MS = 100

/**
 * Runs `copy`, of who accounts are, until no row changed hands meanwhile; `null` when one is in the middle of it for long. `plain`: it
 * reads words that are no `Atomics` (an index); then the word of the turns is changed as the gate is above.
 */
export const whileOwned = <T>({ scalars }: Pick<State, 'scalars'>, copy: () => T, plain = false): T | null =>
  betweenTurns(scalars, SCALAR.ACCOUNT_TURNS, copy, plain, TURN_MS)

/**
 * Runs `copy` until `words[at]`, which the matcher makes odd before it changes what is copied and even afterwards, was even and the same
 * before and after it; `null` when it is not for `ms`. `plain`: as above.
 */
export function betweenTurns<T>(words: Int32Array, at: number, copy: () => T, plain: boolean, ms: number): T | null {
  let waiting: Waiting | null = null
  for (;;) {
    const turns = Atomics.load(words, at)
    if ((turns & 1) === 0) {
      const value = copy()
      const after = plain ? Atomics.add(words, at, 0) : Atomics.load(words, at)
      if (after === turns) return value
    }
    waiting ??= new Waiting()
    waiting.look()
    waiting.untilEven(words, at, ms)
    if (waiting.spent >= ms) return null
  }
}
