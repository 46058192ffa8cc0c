/**
 * Sessions of an account, for an operator: who may sign for it right now, and the end of one of them.
 *
 * The list is read from the shared columns without stopping anybody: each row is copied while its generation stands, rows that come
 * or go meanwhile may or may not be in it. Nothing indexes sessions by account, so every row is looked at, a slice at a time, so that
 * this thread goes on answering probes. Of a key only the first characters are shown, enough to recognise it.
 *
 * A session's id names its row and the low 32 bits of the sequence that opened it, as commands do. Revoking is the same command as a
 * trader's own revocation, through lane 0: it is sequenced and journaled, and it cannot hit what the row was opened for later. Orders
 * stay, and the wallet may sign in again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ACCOUNT, ACCOUNT_WORDS, SCALAR, SESSION, SESSION_WORDS } from '../../core/engine/columns.ts'
import type { State } from '../../core/engine/state.ts'
import { CommandType, SESSION_COMMAND } from '../../core/layout/command.ts'
import { formatId, IdKind, parseId, userId } from '../../core/layout/ids.ts'
import type { FromThread } from '../../core/threads.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import type { Applications } from '../../core/view/applications.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, type Handler } from './http.ts'
import { change, hasAccount } from './policy.ts'

/** Sessions in one answer, the newest. */
export const LISTED_MAX = 100
/** Rows looked at in one go, about a millisecond. */
const SLICE = 65_536
/** Copies of a row that is being written before it is left out. */
const COPIES = 100
/** Bytes of a public key that are shown: 8 hexadecimal characters. */
const KEY_BYTES_SHOWN = 4

export interface Sessions {
  readonly list: Handler
  readonly revoke: Handler
}

interface Listed {
  readonly session: number
  readonly generation: number
  readonly application: number
  /** Unix ms. */
  readonly createdAt: number
  readonly expiresAt: number
  readonly publicKey: string
}

/** `tell`: messages to the main thread, for the log. `slice`: rows looked at in one go. */
export function createSessions(
  state: State, applications: Applications, admin: Admin, tell: (message: FromThread) => void, slice = SLICE,
): Sessions {
  const idOf = ({ session, generation }: { session: number; generation: number }): string =>
    formatId(IdKind.SESSION, generation >>> 0, session)

  return {
    async list(request) {
      const text = new URL(request.url!, 'http://localhost').searchParams.get('userId')
      const id = text === null ? null : parseId(IdKind.USER, text)
      if (id === null) return refuse('VALIDATION_ERROR', { field: 'userId' })
      if (!hasAccount(state, id.slot, id.sequence)) return refuse('NOT_FOUND', { field: 'userId' })
      const { live, newest } = await liveSessions(state, id.slot, slice)
      const sessions = newest.map((listed) => ({
        id: idOf(listed),
        createdAt: new Date(listed.createdAt).toISOString(),
        expiresAt: new Date(listed.expiresAt).toISOString(),
        application: applications.at(listed.application)?.name ?? '',
        publicKey: listed.publicKey,
      }))
      return json(200, { userId: userId(id.sequence, id.slot), live, sessions })
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
        const created = state.accountsF64[(view.account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
        const fields = { session: idOf(view), userId: userId(created, view.account), sequence }
        tell({ type: 'log', level: 'warn', message: 'session revoked by the operator', fields })
        return json(200, fields)
      })
    },
  }
}

/** How many sessions of `account` are live, and the newest {@link LISTED_MAX} of them, newest first. */
async function liveSessions(state: State, account: number, slice: number): Promise<{ live: number; newest: Listed[] }> {
  const newestFirst = (a: Listed, b: Listed): number => b.createdAt - a.createdAt || b.session - a.session
  let live = 0
  let newest: Listed[] = []
  for (let from = 0; from < state.scalars[SCALAR.SESSIONS_USED]!; from += slice) {
    if (from > 0) await nextTurn()
    const now = Date.now()
    const end = Math.min(from + slice, state.scalars[SCALAR.SESSIONS_USED]!)
    for (let row = from; row < end; row++) {
      const listed = readLive(state, row, account, now)
      if (listed === null) continue
      live++
      newest.push(listed)
      if (newest.length >= 2 * LISTED_MAX) newest = newest.sort(newestFirst).slice(0, LISTED_MAX)
    }
  }
  return { live, newest: newest.sort(newestFirst).slice(0, LISTED_MAX) }
}

/** The session in this row, when it is one of the account's and live at `now`, Unix ms. */
function readLive(state: State, session: number, account: number, now: number): Listed | null {
  const row = session * SESSION_WORDS
  for (let copy = 0; copy < COPIES; copy++) {
    const view = readSessionRow(state, session)
    if (view === null) continue
    if (view.account !== account || view.expiresAt <= now) return null
    const createdAt = state.sessionsF64[(row + SESSION.CREATED_AT) >>> 1]!
    const key = state.sessions.slice(row + SESSION.PUBLIC_KEY, row + SESSION.PUBLIC_KEY + 1)
    const publicKey = Buffer.from(key.buffer, 0, KEY_BYTES_SHOWN).toString('hex')
    if (Atomics.load(state.sessions, row + SESSION.GENERATION) !== view.generation) continue
    return { session, generation: view.generation, application: view.application, createdAt, expiresAt: view.expiresAt, publicKey }
  }
  return null
}
