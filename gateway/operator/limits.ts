/** Limits, for an operator: what they are, what they are from the next start on, and raising one (core/programs/limits.ts). */
import { CommandType } from '../../core/layout/command.ts'
import { RAISABLE, RAISE_LIMIT_COMMAND } from '../../core/layout/limits.ts'
import { LIMIT, LIMIT_WORDS } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, type Handler } from './http.ts'
import { change } from './policy.ts'

/** `tell`: messages to the main thread, for the log. */
export function createLimits(state: State, admin: Admin, tell: (message: FromThread) => void): { list: Handler; raise: Handler } {
  const rows = (): { limit: string; now: number; next: number; most: number }[] => RAISABLE.map(([limit, most], index) => {
    const now = state.genesis.limits[limit]
    return { limit, now, next: Math.max(now, state.limits[index * LIMIT_WORDS + LIMIT.NEXT]!), most }
  })
  return {
    list: () => json(200, { limits: rows() }),
    async raise(request) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { limit, value } = read.fields
      const index = RAISABLE.findIndex(([name]) => name === limit)
      if (index < 0) return refuse('VALIDATION_ERROR', { field: 'limit', limits: RAISABLE.map(([name]) => name) })
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value >= 2 ** 48) {
        return refuse('VALIDATION_ERROR', { field: 'value' })
      }
      return change(admin, CommandType.RAISE_LIMIT, RAISE_LIMIT_COMMAND, { limit: index, value }, ({ before, sequence }) => {
        const [name] = RAISABLE[index]!
        const fields = { limit: name, now: state.genesis.limits[name], next: value, before, sequence }
        tell({ type: 'log', level: 'warn', message: 'raise limit', fields })
        return json(200, fields)
      })
    },
  }
}
