/**
 * Reading shared columns while the matcher writes them: copy, then prove that nothing moved.
 *
 * The matcher makes word APPLYING odd before it applies a batch and even after it; every account and book has a version that
 * grows with each change. A copy is good when the version was the same before and after it and no batch was being applied at
 * either end. Readers retry a bounded number of times; commands take about 0.1 us, so a retry is rare and short.
 *
 * Who an account is and which one a wallet has is written once and then changes only when the row of a blank account goes to another
 * wallet; SCALAR.ACCOUNT_TURNS is odd while one does, so that such reading needs no gate.
 */
import { SCALAR } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { APPLYING } from '../ring/counters.ts'

/** Looks while a batch is being applied (tens of ms, far beyond any batch) and copies that may turn out torn. */
const LOOKS = 1_000_000
const COPIES = 1000

/**
 * Runs `copy` until it saw one consistent state of the thing whose version is `words[at]`. Returns what it returned, or `null`
 * when the matcher kept changing it (the caller answers 503). `most`: how often it may copy; fewer for a copy that takes long.
 */
export function consistently<T>(gate: Int32Array, words: Int32Array, at: number, copy: () => T, most: number = COPIES): T | null {
  for (let look = 0, copies = 0; look < LOOKS && copies < most; look++) {
    if ((Atomics.load(gate, APPLYING) & 1) === 1) continue
    copies++
    const version = Atomics.load(words, at)
    const value = copy()
    if ((Atomics.load(gate, APPLYING) & 1) === 0 && Atomics.load(words, at) === version) return value
  }
  return null
}

/** Runs `copy`, of who accounts are, until no row changed hands meanwhile; `null` when one is in the middle of it for long. */
export function whileOwned<T>({ scalars }: Pick<State, 'scalars'>, copy: () => T): T | null {
  for (let look = 0; look < LOOKS; look++) {
    const turns = Atomics.load(scalars, SCALAR.ACCOUNT_TURNS)
    if ((turns & 1) === 1) continue
    const value = copy()
    if (Atomics.load(scalars, SCALAR.ACCOUNT_TURNS) === turns) return value
  }
  return null
}
