/**
 * The sockets an account has authenticated. What a connection may send is bounded by a budget of messages (limits/token_bucket.ts):
 * ordinary messages and ping frames draw one and their bytes; continuations, pongs and closes draw nothing. Who has used it up is closed.
 *
 * Authenticated connections are counted in memory that all gateway threads share, so the bound is exact for the whole process.
 */
import { BUDGET, BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'

/** Authenticated connections per account, over all gateway threads. */
export class AccountSockets {
  readonly #rows: Int32Array
  readonly #most: number

  /** `budgets`: rows of core/ring/budgets.ts. */
  constructor(budgets: SharedArrayBuffer, most: number) {
    this.#rows = new Int32Array(budgets)
    this.#most = most
  }

  /** Counts one more of `account`, unless it has as many as it may. */
  take(account: number): boolean {
    const at = account * BUDGET_ROW_WORDS + BUDGET.SOCKETS
    if (Atomics.add(this.#rows, at, 1) < this.#most) return true
    Atomics.sub(this.#rows, at, 1)
    return false
  }

  give(account: number): void {
    Atomics.sub(this.#rows, account * BUDGET_ROW_WORDS + BUDGET.SOCKETS, 1)
  }
}
