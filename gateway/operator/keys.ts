/**
 * Server keys of applications, for an operator. A key is made here, answered once over loopback, and forgotten:
 * commands, columns and journal have its hash only. It is never logged; neither is what it replaces.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import Type from 'typebox'
import { CommandType, KEY_GRACE_MAX_MS, SET_SERVER_KEY_COMMAND } from '../../core/layout/command.ts'
import { applicationId } from '../../core/layout/ids.ts'
import type { ApplicationView } from '../../core/view/applications.ts'
import { hashOfServerKey } from '../auth/server_key.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused } from '../refused.ts'
import { findApplication } from './applications.ts'
import { typedFor, UsageError } from './command.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { printable } from './text.ts'

const KEY_BYTES = 32
const NO_HASH = '00'.repeat(32)
const MS = 1000
const EXAMPLE_ID = applicationId(1042, 1)
const EXAMPLE_KEY = `sk_${'A'.repeat(43)}`
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
const WARNING = 'This key is not shown again: the exchange keeps only its hash. Give it to the backend and to nobody else.'
const id = field(Uuid, 'The application.')
const clientId = field(Type.String(), 'What clients name it by.')
const application = field(Type.String(), 'The application, by id or client id.')

/** Seconds of `90s`, `15m`, `24h` or `7d`; `0` is none. */
function durationSeconds(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? []
  const seconds = text === '0' ? 0 : count === undefined ? Number.NaN : Number(count) * UNITS[unit!]!
  if (!(seconds * MS <= KEY_GRACE_MAX_MS)) throw new UsageError('a duration is 0, or a whole number with s, m, h or d, at most 365d')
  return seconds
}

/** Asks for a key and writes it to a new file that only its owner can read; the file is there before the key is. */
async function issueInto<T extends { readonly serverKey: string }>(path: string, issue: () => Promise<T>): Promise<T> {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    throw new UsageError(`--out: no new file can be made there: ${(error as Error).message}`)
  }
  try {
    const issued = await issue()
    writeSync(file, `${issued.serverKey}\n`)
    fsyncSync(file)
    return issued
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

export const IssueKey = operatorRoute({
  method: 'POST', path: '/keys/issue', token: true,
  summary: 'A new server key for the backend of an application',
  description: 'It is answered once and kept nowhere. The one before stays good for `graceSeconds`.',
  body: Type.Object({
    application,
    graceSeconds: Type.Optional(field(
      Type.Integer({ minimum: 0, maximum: KEY_GRACE_MAX_MS / MS }), 'How long the key before stays good; without it, it ends now.',
    )),
  }),
  output: Type.Object({
    id, clientId, oldKeyUntil: field(Nullable(Timestamp), 'Until when the key before is good; null: there is none.'),
    sequence: fields.sequence, serverKey: field(Type.String(), 'The key. It is not shown again.'),
  }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: {
    input: { application: 'desk', graceSeconds: 86_400 },
    output: { id: EXAMPLE_ID, clientId: 'desk', oldKeyUntil: null, sequence: 1045, serverKey: EXAMPLE_KEY },
  },
  commands: [{
    name: 'keys issue', parameters: [{ field: 'application', typed: 'APPLICATION' }],
    options: [{ field: 'graceSeconds', typed: 'DURATION', option: 'grace', value: durationSeconds }],
    local: [{ name: 'out', value: 'FILE', optional: true }],
    purpose: 'a new server key for the backend of an application',
    explains: 'The key is printed once and kept nowhere. It takes the place of the one before, which stays good for --grace (90s, 15m,\n'
      + '24h, 7d; without it, it ends now), so that a backend can change over; one that was still in its grace ends now. With --out\n'
      + 'the key goes to a new file that only you can read.',
    example: ['keys issue desk --grace 24h', EXAMPLE_KEY],
    show: ({ serverKey }) => serverKey,
    run: async (ask, input, options) => {
      const out = typedFor(options, 'out')
      if (out === undefined) {
        const issued = await ask(input)
        return { json: issued, text: issued.serverKey, warning: WARNING }
      }
      const { serverKey: _, ...rest } = await issueInto(out, () => ask(input))
      const text = `the server key of ${printable(rest.clientId)} is in ${printable(out)} (sequence ${rest.sequence})`
      return { json: { ...rest, file: out }, text, warning: WARNING }
    },
  }],
  run: (context, { application, graceSeconds = 0 }) => {
    const view = findApplication(context, application)
    if (view === undefined) return new Refused('NOT_FOUND', undefined, { field: 'application' })
    const serverKey = `sk_${randomBytes(KEY_BYTES).toString('base64url')}`
    return setKey(context, view, hashOfServerKey(serverKey).toString('hex'), graceSeconds * MS, (until, sequence) => {
      const said = { id: view.id, clientId: view.clientId, oldKeyUntil: until === 0 ? null : new Date(until).toISOString(), sequence }
      note(context, 'server key issued', said)
      return { ...said, serverKey }
    })
  },
})

export const RevokeKey = operatorRoute({
  method: 'POST', path: '/keys/revoke', token: true,
  summary: 'End the server keys of an application',
  description: 'The current one and the one before: from now on its backend is answered 401, until it has another key.',
  body: Type.Object({ application }),
  output: Type.Object({ id, clientId, sequence: fields.sequence }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: { input: { application: 'desk' }, output: { id: EXAMPLE_ID, clientId: 'desk', sequence: 1046 } },
  commands: [{
    name: 'keys revoke', parameters: [{ field: 'application', typed: 'APPLICATION' }],
    purpose: 'end the server keys of an application: the current one and the one before',
    explains: 'From now on its backend is answered 401, until it has another key.',
    example: ['keys revoke desk', 'application desk has no server key (sequence 1046)'],
    show: ({ clientId, sequence }) => `application ${printable(clientId)} has no server key (sequence ${sequence})`,
  }],
  run: (context, { application }) => {
    const view = findApplication(context, application)
    if (view === undefined) return new Refused('NOT_FOUND', undefined, { field: 'application' })
    return setKey(context, view, NO_HASH, 0, (_until, sequence) => {
      const said = { id: view.id, clientId: view.clientId, sequence }
      note(context, 'server keys revoked', said)
      return said
    })
  },
})

const setKey = <Out>(
  context: OperatorContext, { application }: ApplicationView, hash: string, graceMs: number,
  done: (oldKeyUntil: number, sequence: number) => Out,
): Promise<Out | Refused> =>
  sendCommand(context, CommandType.SET_SERVER_KEY, SET_SERVER_KEY_COMMAND, { application, graceMs, hash }, (answer) =>
    done(Number(answer.oldKeyUntil), Number(answer.sequence)))
