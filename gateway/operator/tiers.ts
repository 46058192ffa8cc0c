/**
 * Fee tiers that the history found earned, on their way to the engine: one command after the other, each answered before the next, so
 * that they never crowd out what an operator types.
 *
 * At most one change waits per account; a later one takes the place of an earlier one. More accounts than {@link WAITING_MAX} are
 * turned away and said so in the log: the history looks at every account again on the next day and at its next start.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CommandType, SET_FEE_TIER_COMMAND } from '../../core/layout/command.ts'
import type { FromThread, TierChange } from '../../core/threads.ts'
import type { Admin } from './admin.ts'

/** Accounts whose changes may wait. */
export const WAITING_MAX = 262_144
/** Wait before a command ring that is full is tried again, ms. */
const FULL_MS = 50

export interface TierQueue {
  take(changes: readonly TierChange[]): void
  /** Changes applied since the start. */
  readonly changed: number
  readonly waiting: number
  stop(): void
}

export function createTierQueue(admin: Admin, tell: (message: FromThread) => void, most = WAITING_MAX): TierQueue {
  const waiting = new Map<number, number>()
  let changed = 0
  let working = false
  let stopped = false

  /** Applies what waits until nothing does; says how it went. */
  async function work(): Promise<void> {
    const counts = { changed: 0, refused: 0, unanswered: 0 }
    for (let next = first(waiting); next !== undefined && !stopped; next = first(waiting)) {
      const [account, tier] = next
      const result = await admin.send(CommandType.SET_FEE_TIER, SET_FEE_TIER_COMMAND, { account, tier })
      if (result === 'full') {
        await delay(FULL_MS)
        continue
      }
      // A newer wish for the same account may have come meanwhile.
      if (waiting.get(account) === tier) waiting.delete(account)
      if (result === 'late') counts.unanswered++
      else if (result['code'] !== 0) counts.refused++
      else counts.changed++
      if (result !== 'late' && result['code'] === 0) changed++
    }
    const level = counts.refused + counts.unanswered > 0 ? 'warn' : 'info'
    tell({ type: 'log', level, message: 'fee tiers set', fields: counts })
    working = false
  }

  return {
    take(changes) {
      let away = 0
      for (const { account, tier } of changes) {
        if (waiting.size < most || waiting.has(account)) waiting.set(account, tier)
        else away++
      }
      const fields = { away, waiting: waiting.size }
      if (away > 0) tell({ type: 'log', level: 'warn', message: 'fee tiers: busy, changes turned away', fields })
      if (working || waiting.size === 0) return
      working = true
      void work()
    },
    get changed() {
      return changed
    },
    get waiting() {
      return waiting.size
    },
    stop() {
      stopped = true
    },
  }
}

const first = (waiting: Map<number, number>): [account: number, tier: number] | undefined => waiting.entries().next().value
