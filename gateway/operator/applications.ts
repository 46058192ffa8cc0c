/**
 * Applications, for an operator (their server keys: keys.ts). Each change is a command through lane 0, answered after
 * it is durable and applied; the engine decides (core/programs/applications.ts), here is what a command record cannot
 * say: which texts are names and origins.
 */
import Type, { type Static } from 'typebox'
import { APPLICATION } from '../../core/state/columns.ts'
import { applicationRow, get } from '../../core/view/rows.ts'
import type { State } from '../../core/state/state.ts'
import {
  CommandType, ORIGINS_MAX, SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND,
} from '../../core/layout/command.ts'
import { applicationId } from '../../core/layout/ids.ts'
import type { ApplicationView } from '../../core/view/applications.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { momentOf, printable, table } from './text.ts'

const CLIENT_ID = /^[\x21-\x7e]{1,40}$/
const NAME_BYTES_MAX = 48
/** Of no name: what is not seen, or breaks a line of the text that a wallet signs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
/** As browsers write it: lower case, no path, no default port to leave out on their behalf. */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:[0-9]{1,5})?|https?:\/\/\[[0-9a-f:.]+\](:[0-9]{1,5})?)$/
const ORIGIN_BYTES_MAX = 96

const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex')

const isClientId = (value: unknown): value is string => typeof value === 'string' && CLIENT_ID.test(value)
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && Buffer.byteLength(value) <= NAME_BYTES_MAX && !UNSEEN.test(value)
const isOrigin = (value: unknown): value is string => typeof value === 'string' && value.length <= ORIGIN_BYTES_MAX && ORIGIN.test(value)

const EXAMPLE_ID = applicationId(1042, 1)
const id = field(Uuid, 'The application.')
const clientId = field(Type.String(), 'What clients name it by, up to 40 visible ASCII characters.')
const name = field(Type.String(), `What the text that a wallet signs calls it, up to ${NAME_BYTES_MAX} bytes.`)
const isActive = field(Type.Boolean(), 'Whether wallets can sign in to it.')
const application = field(Type.String(), 'The application, by id or client id.')
const origins = field(Type.Array(Type.String(), { maxItems: ORIGINS_MAX }), 'Pages of which origins may call; `*` is any.')
const oldKeyUntil = field(Nullable(Timestamp), 'Until when the key before is good; null: there is none.')
const { sequence } = fields
const APPLICATION_WORD = { field: 'application', typed: 'APPLICATION' } as const
export const notFound = (): Refused => new Refused('NOT_FOUND', undefined, { field: 'application' })
const badClientId = (): Refused => refusedField('clientId', 'clientId must be 1 to 40 visible ASCII characters')
const badName = (): Refused => refusedField('name', `name must be 1 to ${NAME_BYTES_MAX} bytes of text that is seen`)
const badOrigin = (field: string): Refused =>
  refusedField(field, `${field} must be scheme://host[:port] as a browser writes it, or *, of ${ORIGIN_BYTES_MAX} characters at most`)

const List = Type.Object({
  applications: field(Type.Array(Type.Object({
    id, clientId, name, allowedOrigins: origins, isActive,
    createdAt: field(Nullable(Timestamp), 'When it was made; null: with the exchange.'),
    users: field(Type.Integer(), 'Its users.'),
    serverKey: field(Nullable(Type.Object({
      issuedAt: field(Nullable(Timestamp), 'When it was issued.'), oldKeyUntil,
    })), 'Its server key, of which nothing else is known; null: it has none.'),
  })), 'The applications.'),
})

export const ListApplications = operatorRoute({
  method: 'GET', path: '/applications', token: true,
  summary: 'Every application: its client id, origins, users and server key',
  description: 'Of a server key only its age is known.',
  output: List,
  refusals: [],
  example: {
    input: {}, output: {
      applications: [{
        id: EXAMPLE_ID, clientId: 'ringbook', name: 'Ringbook', allowedOrigins: ['*'], isActive: true, createdAt: null, users: 12,
        serverKey: null,
      }],
    },
  },
  commands: [{
    name: 'applications list',
    purpose: 'every application: its client id, origins, users and server key',
    explains: 'Of a server key only its age is known here, and until when the one before it is good.',
    example: [
      'applications list',
      `CLIENT ID  NAME      ACTIVE  USERS  SERVER KEY  ORIGINS  ID\nringbook   Ringbook  yes        12  none        *        ${EXAMPLE_ID}`,
    ],
    show: showApplications,
  }],
  run: ({ state, applications }) => ({ applications: applications.list().map((view) => describe(state, view)) }),
})

const Terms = Type.Object({ id, clientId, name, isActive, sequence })

export const AddApplication = operatorRoute({
  method: 'POST', path: '/applications', token: true,
  summary: 'A new application',
  description: 'Wallets that sign in to it are users of their own. An application is never removed.',
  body: Type.Object({ clientId, name, allowedOrigins: Type.Optional(origins) }),
  output: Terms,
  refusals: [...SENDS, 'ENGINE_UNAVAILABLE', 'TOO_MANY_APPLICATIONS', 'CLIENT_ID_IN_USE'],
  example: {
    input: { clientId: 'desk', name: 'Desk', allowedOrigins: ['https://desk.example'] },
    output: { id: EXAMPLE_ID, clientId: 'desk', name: 'Desk', isActive: true, sequence: 1042 },
  },
  commands: [{
    name: 'applications add',
    options: [
      { field: 'clientId', typed: 'CLIENT_ID', option: 'client-id' }, { field: 'name', typed: 'NAME', option: 'name' },
      { field: 'allowedOrigins', typed: 'ORIGIN', option: 'origin' },
    ],
    purpose: 'a new application: wallets that sign in to it are users of their own',
    explains: 'CLIENT_ID is what clients name it by, up to 40 visible ASCII characters; NAME is what the text a wallet signs calls it, up\n'
      + 'to 48 bytes. --origin, as often as needed: pages of that origin may call with its sessions; * is any. An application is never\n'
      + 'removed: applications set --active false ends new sign-ins.',
    example: [
      'applications add --client-id desk --name Desk --origin https://desk.example',
      `application desk is ${EXAMPLE_ID} (sequence 1042)`,
    ],
    show: (added) => `application ${printable(added.clientId)} is ${added.id} (sequence ${added.sequence})`,
  }],
  run: async (context, { clientId, name, allowedOrigins = [] }) => {
    if (!isClientId(clientId)) return badClientId()
    if (!isName(name)) return badName()
    if (!allowedOrigins.every(isOrigin)) return badOrigin('allowedOrigins')
    const answer = await setTerms(context, -1, { clientId, name, isActive: true }, 'application added')
    if (answer instanceof Refused) return answer
    const view = findApplication(context, clientId)
    if (view === undefined) return new Refused('ENGINE_UNAVAILABLE')
    for (const origin of new Set(allowedOrigins)) {
      const set = await setOrigin(context, view, origin, true)
      if (set instanceof Refused) return set
    }
    return answer
  },
})

export const SetApplication = operatorRoute({
  method: 'POST', path: '/applications/set', token: true,
  summary: 'Another client id, name or state of an application',
  description: 'What is not given stays. In an application that is not active nobody can sign in any more.',
  body: Type.Object({ application, clientId: Type.Optional(clientId), name: Type.Optional(name), isActive: Type.Optional(isActive) }),
  output: Terms,
  refusals: [...SENDS, 'NOT_FOUND', 'CLIENT_ID_IN_USE'],
  example: {
    input: { application: 'desk', isActive: false },
    output: { id: EXAMPLE_ID, clientId: 'desk', name: 'Desk', isActive: false, sequence: 1043 },
  },
  commands: [{
    name: 'applications set', parameters: [APPLICATION_WORD],
    options: [
      { field: 'clientId', typed: 'CLIENT_ID', option: 'client-id' }, { field: 'name', typed: 'NAME', option: 'name' },
      { field: 'isActive', typed: 'true|false', option: 'active' },
    ],
    purpose: 'another client id, name or state of an application',
    explains: 'APPLICATION is an id or a client id. What is not given stays. In an application that is not active nobody can sign in any\n'
      + 'more; sessions that are open go on, and so do its server keys. Sign-ins under way end when its name changes.',
    example: ['applications set desk --active false', 'application desk (Desk) is not active (sequence 1043)'],
    wants: ({ clientId, name, isActive }) => {
      const given = [clientId, name, isActive].some((value) => value !== undefined)
      return given ? null : 'what shall change? There is --client-id, --name and --active'
    },
    show: (changed) => `application ${printable(changed.clientId)} (${printable(changed.name)}) is `
      + `${changed.isActive ? 'active' : 'not active'} (sequence ${changed.sequence})`,
  }],
  run: (context, { application, ...given }) => {
    const view = findApplication(context, application)
    if (view === undefined) return notFound()
    const { clientId = view.clientId, name = view.name, isActive = view.isActive } = given
    if (clientId !== view.clientId && !isClientId(clientId)) return badClientId()
    if (name !== view.name && !isName(name)) return badName()
    return setTerms(context, view.application, { clientId, name, isActive }, 'application changed')
  },
})

const originCommand = (allowed: boolean) => ({
  parameters: [APPLICATION_WORD, { field: 'origin', typed: 'ORIGIN' }], fixed: { allowed },
  show: (changed: { origins: number; sequence: number }, { origin }: { origin: string }) =>
    `${printable(origin)} is ${allowed ? 'allowed' : 'not allowed'}; origins: ${changed.origins} (sequence ${changed.sequence})`,
} as const)

export const SetOrigin = operatorRoute({
  method: 'POST', path: '/applications/origins', token: true,
  summary: 'Whether pages of an origin may call with sessions of an application',
  description: `At most ${ORIGINS_MAX} for one application.`,
  body: Type.Object({
    application, origin: field(Type.String(), '`scheme://host[:port]` as a browser writes it, or `*` for any.'),
    allowed: field(Type.Boolean(), 'Whether they may.'),
  }),
  output: Type.Object({
    id, origin: field(Type.String(), 'The origin.'), allowed: field(Type.Boolean(), 'Whether its pages may call now.'),
    origins: field(Type.Integer(), 'How many origins the application has now.'), sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'TOO_MANY_APPLICATIONS'],
  example: {
    input: { application: 'desk', origin: 'https://desk.example', allowed: true },
    output: { id: EXAMPLE_ID, origin: 'https://desk.example', allowed: true, origins: 1, sequence: 1044 },
  },
  commands: [
    {
      name: 'origins add', ...originCommand(true),
      purpose: 'let pages of an origin call with sessions of an application',
      explains: 'ORIGIN is scheme://host[:port] as a browser writes it, or * for any. At most 16 for one application.',
      example: ['origins add desk https://desk.example', 'https://desk.example is allowed; origins: 1 (sequence 1044)'],
    },
    {
      name: 'origins remove', ...originCommand(false),
      purpose: 'no longer let pages of an origin call',
      explains: 'Browsers find out with their next request; they may keep the answer to a preflight for ten minutes.',
      example: ['origins remove desk https://desk.example', 'https://desk.example is not allowed; origins: 1 (sequence 1044)'],
    },
  ],
  run: (context, { application, origin, allowed }) => {
    const view = findApplication(context, application)
    if (view === undefined) return notFound()
    // One that is there may be forbidden whatever it looks like.
    if (!view.allowedOrigins.includes(origin) && !isOrigin(origin)) return badOrigin('origin')
    return setOrigin(context, view, origin, allowed)
  },
})

function showApplications({ applications }: Static<typeof List>): string {
  return table(
    ['CLIENT ID', 'NAME', 'ACTIVE', 'USERS', 'SERVER KEY', 'ORIGINS', 'ID'],
    applications.map(({ id, clientId, name, allowedOrigins, isActive, users, serverKey }) => {
      const origins = allowedOrigins.length === 0 ? 'none' : allowedOrigins.join(' ')
      return [clientId, name, isActive ? 'yes' : 'no', users, serverKey === null ? 'none' : serverKey.issuedAt ?? '', origins, id]
    }),
  )
}

/** Named by id or client id. */
export const findApplication = ({ applications }: OperatorContext, named: string): ApplicationView | undefined =>
  applications.list().find(({ id, clientId }) => clientId === named || id === named.toLowerCase())

const describe = (state: State, view: ApplicationView) => ({
  id: view.id,
  clientId: view.clientId,
  name: view.name,
  allowedOrigins: [...view.allowedOrigins],
  isActive: view.isActive,
  createdAt: momentOf(view.createdAt),
  users: get(state, applicationRow(state, view.application), APPLICATION.ACCOUNTS),
  serverKey: view.key === null ? null : { issuedAt: momentOf(view.keyAt), oldKeyUntil: momentOf(view.oldKeyUntil) },
})

interface ApplicationTerms {
  readonly clientId: string
  readonly name: string
  readonly isActive: boolean
}

function setTerms(context: OperatorContext, application: number, { clientId, name, isActive }: ApplicationTerms, message: string) {
  const values = { application, active: isActive ? 1 : 0, clientId: hex(clientId), name: hex(name) }
  return sendCommand(context, CommandType.SET_APPLICATION, SET_APPLICATION_COMMAND, values, (answer) => {
    const row = Number(answer.application)
    const id = context.state.genesis.applications[row]?.id ?? applicationId(Number(answer.createdSequence), row)
    const said = { id, clientId, name, isActive, sequence: Number(answer.sequence) }
    note(context, message, said)
    return said
  })
}

function setOrigin(context: OperatorContext, { application, id }: ApplicationView, origin: string, allowed: boolean) {
  const values = { application, allowed: allowed ? 1 : 0, origin: hex(origin) }
  return sendCommand(context, CommandType.SET_ORIGIN, SET_ORIGIN_COMMAND, values, (answer) => {
    const said = { id, origin, allowed, origins: Number(answer.origins), sequence: Number(answer.sequence) }
    note(context, allowed ? 'origin allowed' : 'origin forbidden', said)
    return said
  })
}
