/**
 * What the exchange does when its live audit fails (core/snapshot/audit.ts): no more orders. Maintenance is a command of lane 0 like an
 * operator's, so it is sequenced, journaled and stands after a restart; cancels and revocations go on. Only an operator ends it, and the
 * next audit that fails puts it back.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import type { AuditMessage, FromThread } from '../../core/threads.ts'
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
    while (!this.#stopped && this.#state.scalars[SCALAR.MAINTENANCE] === 0) {
      const result = await this.#admin.send(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: 1 })
      if (typeof result === 'string' || result['code'] !== 0) {
        await delay(AGAIN_MS)
        continue
      }
      const fields = { audited, sequence: result['sequence'] }
      this.#post({ type: 'log', level: 'error', message: 'maintenance on: the audit of the state failed', fields })
      break
    }
    this.#working = false
  }
}
