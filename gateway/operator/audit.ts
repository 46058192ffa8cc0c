/**
 * What the exchange does when its live audit fails (core/snapshot/audit.ts): no more orders, and nothing leaves the vault. Maintenance and
 * the stop of withdrawals are commands of lane 0 like an operator's, so they are sequenced, journaled and stand after a restart; cancels
 * and revocations go on. Only an operator ends them, and the next audit that fails puts them back.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { STOP_WITHDRAWALS_COMMAND, WithdrawalStop } from '../../core/layout/vault.ts'
import { SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import type { AuditMessage, FromThread } from '../../core/threads.ts'
import { withdrawalsStopped } from '../../core/view/vault.ts'
import type { Admin } from './admin.ts'

/** Wait before a command that was not answered is sent again, ms. */
const AGAIN_MS = 50

export class AuditStop {
  readonly #state: State
  readonly #admin: Admin
  readonly #post: (message: FromThread) => void
  #failed: AuditMessage | null = null
  #working = false
  #stopped = false

  constructor(state: State, admin: Admin, tell: (message: FromThread) => void) {
    this.#state = state
    this.#admin = admin
    this.#post = tell
  }

  /** The audit that failed last and was followed by no good one. */
  get failed(): { readonly sequence: number; readonly broken: string } | null {
    const { sequence, broken } = this.#failed ?? {}
    return sequence === undefined || typeof broken !== 'string' ? null : { sequence, broken }
  }

  /** An audit ended. */
  take(message: AuditMessage): void {
    this.#failed = message.broken === null ? null : message
    if (message.broken !== null && !this.#working) void this.#block(message.sequence)
  }

  stop(): void {
    this.#stopped = true
  }

  async #block(audited: number): Promise<void> {
    this.#working = true
    // Money that left does not come back: it goes first.
    await this.#send(
      () => withdrawalsStopped(this.#state) === WithdrawalStop.SOLVENCY, 'withdrawals stopped', audited,
      () => this.#admin.send(CommandType.STOP_WITHDRAWALS, STOP_WITHDRAWALS_COMMAND, { cause: WithdrawalStop.SOLVENCY }),
    )
    await this.#send(
      () => this.#state.scalars[SCALAR.MAINTENANCE] !== 0, 'maintenance on', audited,
      () => this.#admin.send(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: 1 }),
    )
    this.#working = false
  }

  /** Sends a command until it is answered, unless what it does is done. */
  async #send(isDone: () => boolean, what: string, audited: number, send: () => ReturnType<Admin['send']>): Promise<void> {
    while (!this.#stopped && !isDone()) {
      const result = await send()
      if (typeof result === 'string' || result['code'] !== 0) {
        await delay(AGAIN_MS)
        continue
      }
      const fields = { audited, sequence: result['sequence'] }
      this.#post({ type: 'log', level: 'error', message: `${what}: the audit of the state failed`, fields })
      return
    }
  }
}
