/**
 * Sessions of an account, for an operator: who may sign for it right now, and the end of one of them.
 *
 * The list is one consistent copy of the shared columns, of the account's own sessions and those of its delegated agents, by the lists that
 * the engine keeps: at most 1,024 of each, the newest, and what is not among them is not counted either. Of a key only the first
 * characters are shown, enough to recognise it.
 *
 * A session's id names its row and the low 32 bits of the sequence that opened it, as commands do. Revoking is the same command as a
 * trader's own revocation, through lane 0: it is sequenced and journaled, and it cannot hit what the row was opened for later. Orders
 * stay, and the wallet may sign in again.
 */
import { ACCOUNT, SCALAR } from '../../core/state/columns.ts'
import { accountRow, getF64 } from '../../core/view/rows.ts'
import type { State } from '../../core/state/state.ts'
import { CommandType, SESSION_COMMAND } from '../../core/layout/command.ts'
import { agentId, formatId, IdKind, parseId, userId } from '../../core/layout/ids.ts'
import type { FromThread } from '../../core/threads.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { readAgents, readSessions, type AgentView, type ListedSession } from '../../core/view/agents.ts'
import type { Applications } from '../../core/view/applications.ts'
import { checksumAddress } from '../auth/challenge.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, type Handler } from './http.ts'
import { change, hasAccount } from './policy.ts'

/** Sessions in one answer, the newest. */
export const LISTED_MAX = 100
/** Bytes of a public key that are shown: 8 hexadecimal characters. */
const KEY_BYTES_SHOWN = 4

export interface Sessions {
  readonly list: Handler
  readonly revoke: Handler
}

/** `gate`: word APPLYING. `time`: sequenced time. `tell`: messages to the main thread, for the log. */
export function createSessions(
  state: State, gate: Int32Array, applications: Applications, admin: Admin, time: () => number, tell: (message: FromThread) => void,
): Sessions {
  const idOf = ({ session, generation }: { session: number; generation: number }): string =>
    formatId(IdKind.SESSION, generation >>> 0, session)

  return {
    list(request) {
      const text = new URL(request.url!, 'http://localhost').searchParams.get('userId')
      const id = text === null ? null : parseId(IdKind.USER, text)
      if (id === null) return refuse('VALIDATION_ERROR', { field: 'userId' })
      if (!hasAccount(state, id.slot, id.sequence)) return refuse('NOT_FOUND', { field: 'userId' })
      const [listed, agents] = [readSessions(state, gate, id.slot), readAgents(state, gate, id.slot)]
      if (listed === null || agents === null) return refuse('ENGINE_UNAVAILABLE')
      // A blank account may have gone meanwhile.
      if (!hasAccount(state, id.slot, id.sequence)) return refuse('NOT_FOUND', { field: 'userId' })
      const now = time()
      const live = listed.filter(({ expiresAt }) => expiresAt > now).sort(newestFirst)
      const sessions = live.slice(0, LISTED_MAX).map((session) => ({
        id: idOf(session),
        createdAt: new Date(session.createdAt).toISOString(),
        expiresAt: new Date(session.expiresAt).toISOString(),
        application: applications.at(session.application)?.name ?? '',
        publicKey: Buffer.from(session.publicKey).toString('hex', 0, KEY_BYTES_SHOWN),
        agent: agentOf(session, agents),
      }))
      return json(200, { userId: userId(id.sequence, id.slot), live: live.length, sessions })
    },

    async revoke(request) {
      const read = await readFields(request)
      if ('refusal' in read) return read.refusal
      const { session: text } = read.fields
      const id = typeof text === 'string' ? parseId(IdKind.SESSION, text) : null
      if (id === null) return refuse('VALIDATION_ERROR', { field: 'session' })
      const view = id.slot < state.scalars[SCALAR.SESSIONS_USED]! ? readSessionRow(state, id.slot) : null
      if (view === null || view.generation >>> 0 !== id.sequence) return refuse('NOT_FOUND', { field: 'session' })
      const values = { session: id.slot, sessionGeneration: id.sequence }
      return change(admin, CommandType.REVOKE_SESSION, SESSION_COMMAND, values, ({ sequence }) => {
        const created = getF64(state, accountRow(state, view.account), ACCOUNT.CREATED_SEQUENCE)
        const fields = { session: idOf(view), userId: userId(created, view.account), sequence }
        tell({ type: 'log', level: 'warn', message: 'session revoked by the operator', fields })
        return json(200, fields)
      })
    },
  }
}

const newestFirst = (a: ListedSession, b: ListedSession): number => b.createdAt - a.createdAt || b.session - a.session

/** The delegated agent that signs with a session; `null`: the account's own wallet does. */
function agentOf({ agent: row }: ListedSession, agents: readonly AgentView[]): { id: string; address: string } | null {
  const agent = agents.find((each) => each.row === row)
  if (agent === undefined) return null
  return { id: agentId(agent.createdSequence, row), address: checksumAddress(`0x${Buffer.from(agent.address).toString('hex')}`) }
}
