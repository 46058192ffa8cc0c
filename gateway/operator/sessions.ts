/**
 * Sessions of an account, for an operator: who may sign for it right now, and the end of one of them.
 *
 * The list is one consistent copy of the shared columns, of the account's own sessions and those of its delegated
 * agents, by the lists that the engine keeps: at most 1,024 of each, the newest, and what is not among them is not
 * counted either. Of a key only the first characters are shown, enough to recognise it.
 *
 * A session's id names its row and the low 32 bits of the sequence that opened it, as commands do. Revoking is the same
 * command as a trader's own revocation, through lane 0: it is sequenced and journaled, and it cannot hit what the row
 * was opened for later. Orders stay, and the wallet may sign in again.
 */
import Type, { type Static } from 'typebox'
import { ACCOUNT, SCALAR } from '../../core/state/columns.ts'
import { accountRow, getF64 } from '../../core/view/rows.ts'
import { CommandType, SESSION_COMMAND } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { agentId, formatId, IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { readAgents, readSessions, type AgentView, type ListedSession } from '../../core/view/agents.ts'
import { checksumAddress } from '../auth/challenge.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { hasAccount } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { count, table } from './text.ts'

/** Sessions in one answer, the newest. */
export const LISTED_MAX = 100
/** Bytes of a public key that are shown: 8 hexadecimal characters. */
const KEY_BYTES_SHOWN = 4

const idOf = ({ session, generation }: { session: number; generation: number }): string =>
  formatId(IdKind.SESSION, generation >>> 0, session)

const [USER, SESSION] = [userId(1040, 7), formatId(IdKind.SESSION, 1041, 9)]
const user = field(Uuid, 'The user.')
const Session = Type.Object({
  id: field(Uuid, 'The session.'), createdAt: fields.createdAt, expiresAt: field(Timestamp, 'When it ends by itself.'),
  application: field(Type.String(), 'Name of the application that was signed in to.'),
  publicKey: field(Type.String(), 'The first 8 characters of its key, to recognise it.'),
  agent: field(
    Nullable(Type.Object({ id: field(Uuid, 'The delegated agent.'), address: fields.address })), 'The delegated agent that signs with it.',
  ),
})
const List = Type.Object({
  userId: user,
  live: field(Type.Integer(), 'All live sessions.'),
  sessions: field(Type.Array(Session), `The newest ${LISTED_MAX} of them.`),
})

export const ListSessions = operatorRoute({
  method: 'GET', path: '/sessions', token: true,
  summary: 'The live sessions of a user, newest first',
  description: 'Of the user\'s own and those of delegated agents.',
  query: Type.Object({ userId: user }),
  output: List,
  refusals: ['NOT_FOUND', 'ENGINE_UNAVAILABLE'],
  example: {
    input: { userId: USER },
    output: {
      userId: USER, live: 1, sessions: [{
        id: SESSION, createdAt: '2026-01-02T03:04:05.678Z', expiresAt: '2026-01-03T03:04:05.678Z', application: 'Ringbook',
        publicKey: '3f9a01c7', agent: null,
      }],
    },
  },
  commands: [{
    name: 'sessions list', options: [{ field: 'userId', typed: 'USER_ID', option: 'user' }],
    purpose: 'the live sessions of a user, newest first',
    explains: 'At most the newest 100 are listed. A session is a key that may sign for the user until it expires or is revoked; of the\n'
      + 'key the first 8 characters are shown, to recognise it. Sessions of delegated agents name the wallet that signs.',
    example: [
      `sessions list --user ${USER}`,
      'CREATED                   EXPIRES                   APPLICATION  KEY       SESSION\n'
        + `2026-01-02T03:04:05.678Z  2026-01-03T03:04:05.678Z  Ringbook     3f9a01c7  ${SESSION}`,
    ],
    show: showSessions,
  }],
  run: ({ state, gate, applications, time }, { userId: text }) => {
    const id = parseId(IdKind.USER, text)
    if (id === null) return refusedField('userId', 'userId must be the id of a user')
    const missing = refusedField('userId', REFUSALS.NOT_FOUND.message, 'NOT_FOUND')
    if (!hasAccount(state, id.slot, id.sequence)) return missing
    const [listed, agents] = [readSessions(state, gate, id.slot), readAgents(state, gate, id.slot)]
    if (listed === null || agents === null) return new Refused('ENGINE_UNAVAILABLE')
    // A blank account may have gone meanwhile.
    if (!hasAccount(state, id.slot, id.sequence)) return missing
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
    return { userId: userId(id.sequence, id.slot), live: live.length, sessions }
  },
})

export const RevokeSession = operatorRoute({
  method: 'POST', path: '/sessions/revoke', token: true,
  summary: 'End a session: nothing its key signs is accepted any more',
  description: 'Orders of the user stay, other sessions too, and the wallet may sign in again.',
  body: Type.Object({ session: field(Uuid, 'The session.') }),
  output: Type.Object({ session: field(Uuid, 'The session.'), userId: user, sequence: fields.sequence }),
  refusals: [...SENDS, 'NOT_FOUND', 'SESSION_INVALID'],
  example: { input: { session: SESSION }, output: { session: SESSION, userId: USER, sequence: 1042 } },
  commands: [{
    name: 'sessions revoke', parameters: [{ field: 'session', typed: 'SESSION' }],
    purpose: 'end a session: nothing its key signs is accepted any more',
    explains: 'SESSION is the id that sessions list shows. Orders of the user stay, other sessions too, and the wallet may sign in again.',
    example: [`sessions revoke ${SESSION}`, `session ${SESSION} of user ${USER} is revoked (sequence 1042)`],
    show: ({ session, userId: user, sequence }) => `session ${session} of user ${user} is revoked (sequence ${sequence})`,
  }],
  run: (context, { session: text }) => {
    const { state } = context
    const id = parseId(IdKind.SESSION, text)
    if (id === null) return refusedField('session', 'session must be the id of a session')
    const view = id.slot < state.scalars[SCALAR.SESSIONS_USED]! ? readSessionRow(state, id.slot) : null
    if (view === null || view.generation >>> 0 !== id.sequence) {
      return refusedField('session', REFUSALS.NOT_FOUND.message, 'NOT_FOUND')
    }
    const values = { session: id.slot, sessionGeneration: id.sequence }
    return sendCommand(context, CommandType.REVOKE_SESSION, SESSION_COMMAND, values, ({ sequence }) => {
      const created = getF64(state, accountRow(state, view.account), ACCOUNT.CREATED_SEQUENCE)
      const said = { session: idOf(view), userId: userId(created, view.account), sequence: Number(sequence) }
      note(context, 'session revoked by the operator', said)
      return said
    })
  },
})

function showSessions({ userId, live, sessions }: Static<typeof List>): string {
  if (live === 0) return `user ${userId} has no live session`
  const delegated = sessions.some(({ agent }) => agent !== null)
  const rows = sessions.map(({ createdAt, expiresAt, application, publicKey, id, agent }) => [
    createdAt, expiresAt, application, publicKey, id, ...(delegated ? [agent?.address ?? '-'] : []),
  ])
  const listed = table(['CREATED', 'EXPIRES', 'APPLICATION', 'KEY', 'SESSION', ...(delegated ? ['AGENT'] : [])], rows)
  return live > sessions.length ? `${listed}\n\nthe newest ${sessions.length} of ${count(live)} live sessions` : listed
}

const newestFirst = (a: ListedSession, b: ListedSession): number => b.createdAt - a.createdAt || b.session - a.session

/** The delegated agent that signs with a session; `null`: the account's own wallet does. */
function agentOf({ agent: row }: ListedSession, agents: readonly AgentView[]): { id: string; address: string } | null {
  const agent = agents.find((each) => each.row === row)
  if (agent === undefined) return null
  return { id: agentId(agent.createdSequence, row), address: checksumAddress(`0x${Buffer.from(agent.address).toString('hex')}`) }
}
