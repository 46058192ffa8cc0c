/**
 * Applications and their server keys, for an operator. Each change is a command through lane 0, answered after it is durable and applied;
 * the engine decides (core/programs/applications.ts), here is what a command record cannot say: which texts are names and origins.
 *
 * A server key is made here, answered once over loopback, and forgotten: commands, columns and journal have its hash only. It is never
 * logged; neither is what it replaces.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { APPLICATION } from '../../core/state/columns.ts'
import { applicationRow, get } from '../../core/view/rows.ts'
import type { State } from '../../core/state/state.ts'
import {
  CommandType, KEY_GRACE_MAX_MS, ORIGINS_MAX, SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND, SET_SERVER_KEY_COMMAND,
} from '../../core/layout/command.ts'
import { applicationId } from '../../core/layout/ids.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Applications, ApplicationView } from '../../core/view/applications.ts'
import { hashOfServerKey } from '../auth/server_key.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, type Answer, type Handler } from './http.ts'
import { change } from './policy.ts'

const CLIENT_ID = /^[\x21-\x7e]{1,40}$/
const NAME_BYTES_MAX = 48
/** Of no name: what is not seen, or breaks a line of the text that a wallet signs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
/** As browsers write it: lower case, no path, no default port to leave out on their behalf. */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:[0-9]{1,5})?|https?:\/\/\[[0-9a-f:.]+\](:[0-9]{1,5})?)$/
const ORIGIN_BYTES_MAX = 96
const KEY_BYTES = 32
const NO_HASH = '00'.repeat(32)
const MS = 1000

type Fields = Readonly<Record<string, unknown>>
const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex')
const time = (unixMs: number): string | null => (unixMs === 0 ? null : new Date(unixMs).toISOString())

const isClientId = (value: unknown): value is string => typeof value === 'string' && CLIENT_ID.test(value)
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && Buffer.byteLength(value) <= NAME_BYTES_MAX && !UNSEEN.test(value)
const isOrigin = (value: unknown): value is string => typeof value === 'string' && value.length <= ORIGIN_BYTES_MAX && ORIGIN.test(value)

/** The handlers of the routes about applications. */
export class ApplicationRoutes {
  readonly #state: State
  readonly #applications: Applications
  readonly #admin: Admin
  readonly #post: (message: FromThread) => void

  /** `tell`: messages to the main thread, for the log. */
  constructor(state: State, applications: Applications, admin: Admin, tell: (message: FromThread) => void) {
    this.#state = state
    this.#applications = applications
    this.#admin = admin
    this.#post = tell
  }

  readonly list: Handler = () => json(200, { applications: this.#applications.list().map((view) => this.#describe(view)) })

  readonly add: Handler = async (request) => {
    const read = await readFields(request)
    if ('refusal' in read) return read.refusal
    const { clientId, name, allowedOrigins = [] } = read.fields
    if (!isClientId(clientId)) return refuse('VALIDATION_ERROR', { field: 'clientId' })
    if (!isName(name)) return refuse('VALIDATION_ERROR', { field: 'name' })
    const good = Array.isArray(allowedOrigins) && allowedOrigins.length <= ORIGINS_MAX && allowedOrigins.every(isOrigin)
    if (!good) return refuse('VALIDATION_ERROR', { field: 'allowedOrigins' })
    const answer = await this.#setTerms(-1, clientId, name, true, 'application added')
    if (answer.status !== 200) return answer
    const view = this.#find(clientId)
    if (view === undefined) return refuse('ENGINE_UNAVAILABLE')
    for (const origin of new Set(allowedOrigins as string[])) {
      const set = await this.#setOrigin(view, origin, true)
      if (set.status !== 200) return set
    }
    return answer
  }

  readonly set: Handler = (request) =>
    this.#of(request, (view, { clientId = view.clientId, name = view.name, isActive = view.isActive }) => {
      if (clientId !== view.clientId && !isClientId(clientId)) return refuse('VALIDATION_ERROR', { field: 'clientId' })
      if (name !== view.name && !isName(name)) return refuse('VALIDATION_ERROR', { field: 'name' })
      if (typeof isActive !== 'boolean') return refuse('VALIDATION_ERROR', { field: 'isActive' })
      return this.#setTerms(view.application, clientId as string, name as string, isActive, 'application changed')
    })

  readonly setOrigin: Handler = (request) =>
    this.#of(request, (view, { origin, allowed }) => {
      if (typeof allowed !== 'boolean') return refuse('VALIDATION_ERROR', { field: 'allowed' })
      // One that is there may be forbidden whatever it looks like.
      const known = typeof origin === 'string' && view.allowedOrigins.includes(origin)
      if (!known && !isOrigin(origin)) return refuse('VALIDATION_ERROR', { field: 'origin' })
      return this.#setOrigin(view, origin as string, allowed)
    })

  readonly issueKey: Handler = (request) =>
    this.#of(request, (view, { graceSeconds = 0 }) => {
      const known = typeof graceSeconds === 'number' && Number.isInteger(graceSeconds) && graceSeconds >= 0
      if (!known || graceSeconds * MS > KEY_GRACE_MAX_MS) return refuse('VALIDATION_ERROR', { field: 'graceSeconds' })
      const serverKey = `sk_${randomBytes(KEY_BYTES).toString('base64url')}`
      return this.#setKey(view, hashOfServerKey(serverKey).toString('hex'), graceSeconds * MS, (until, sequence) => {
        const fields = { id: view.id, clientId: view.clientId, oldKeyUntil: time(until), sequence }
        this.#note('server key issued', fields)
        return { ...fields, serverKey }
      })
    })

  readonly revokeKey: Handler = (request) =>
    this.#of(request, (view) =>
      this.#setKey(view, NO_HASH, 0, (_until, sequence) => {
        const fields = { id: view.id, clientId: view.clientId, sequence }
        this.#note('server keys revoked', fields)
        return fields
      }),
    )

  #note(message: string, fields: Record<string, unknown>): void {
    this.#post({ type: 'log', level: 'warn', message, fields })
  }

  /** Named by id or client id. */
  #find(named: string): ApplicationView | undefined {
    return this.#applications.list().find(({ id, clientId }) => clientId === named || id === named.toLowerCase())
  }

  /** Reads the body and finds the application it names. */
  async #of(request: IncomingMessage, handle: (view: ApplicationView, fields: Fields) => Answer | Promise<Answer>): Promise<Answer> {
    const read = await readFields(request)
    if ('refusal' in read) return read.refusal
    const { application } = read.fields
    if (typeof application !== 'string') return refuse('VALIDATION_ERROR', { field: 'application' })
    const view = this.#find(application)
    return view === undefined ? refuse('NOT_FOUND', { field: 'application' }) : handle(view, read.fields)
  }

  #describe(view: ApplicationView): object {
    return {
      id: view.id,
      clientId: view.clientId,
      name: view.name,
      allowedOrigins: view.allowedOrigins,
      isActive: view.isActive,
      createdAt: time(view.createdAt),
      users: get(this.#state, applicationRow(this.#state, view.application), APPLICATION.ACCOUNTS),
      serverKey: view.key === null ? null : { issuedAt: time(view.keyAt), oldKeyUntil: time(view.oldKeyUntil) },
    }
  }

  #setTerms(row: number, clientId: string, name: string, isActive: boolean, message: string): Promise<Answer> {
    const values = { application: row, active: isActive ? 1 : 0, clientId: hex(clientId), name: hex(name) }
    return change(this.#admin, CommandType.SET_APPLICATION, SET_APPLICATION_COMMAND, values, (answer) => {
      const { application, createdSequence, sequence } = answer
      const row = Number(application)
      const id = this.#state.genesis.applications[row]?.id ?? applicationId(Number(createdSequence), row)
      const fields = { id, clientId, name, isActive, sequence }
      this.#note(message, fields)
      return json(200, fields)
    })
  }

  #setOrigin({ application, id }: ApplicationView, origin: string, allowed: boolean): Promise<Answer> {
    const values = { application, allowed: allowed ? 1 : 0, origin: hex(origin) }
    return change(this.#admin, CommandType.SET_ORIGIN, SET_ORIGIN_COMMAND, values, ({ origins, sequence }) => {
      const fields = { id, origin, allowed, origins, sequence }
      this.#note(allowed ? 'origin allowed' : 'origin forbidden', fields)
      return json(200, fields)
    })
  }

  #setKey(
    { application }: ApplicationView, hash: string, graceMs: number, done: (oldKeyUntil: number, sequence: unknown) => object,
  ): Promise<Answer> {
    const values = { application, graceMs, hash }
    return change(this.#admin, CommandType.SET_SERVER_KEY, SET_SERVER_KEY_COMMAND, values, ({ oldKeyUntil, sequence }) =>
      json(200, done(Number(oldKeyUntil), sequence)),
    )
  }
}
