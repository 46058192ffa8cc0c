/** The commands about applications: who they are, from where their pages may call, and the server keys of their backends. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { KEY_GRACE_MAX_MS } from '../../core/layout/command.ts'
import { applicationId } from '../../core/layout/ids.ts'
import { get, said, UsageError, type Command, type Shown } from './command.ts'
import { showApplications, type ApplicationList } from './show.ts'
import { printable } from './text.ts'

const EXAMPLE = applicationId(1042, 1)
const EXAMPLE_KEY = `sk_${'A'.repeat(43)}`
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

interface Changed {
  readonly id: string
  readonly clientId: string
  readonly name: string
  readonly isActive: boolean
  readonly origins: number
  readonly oldKeyUntil: string | null
  readonly serverKey: string
  readonly sequence: number
}

/** Seconds of `90s`, `15m`, `24h` or `7d`; `0` is none. */
export function durationSeconds(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,8})([smhd])$/.exec(text) ?? []
  const seconds = text === '0' ? 0 : count === undefined ? Number.NaN : Number(count) * UNITS[unit!]!
  if (!(seconds * 1000 <= KEY_GRACE_MAX_MS)) throw new UsageError('a duration is 0, or a whole number with s, m, h or d, at most 365d')
  return seconds
}

const APPLICATION_TERMS: readonly Command[] = [
  {
    name: 'applications list',
    parameters: [],
    purpose: 'every application: its client id, origins, users and server key',
    explains: 'Of a server key only its age is known here, and until when the one before it is good.',
    example: [
      'applications list',
      `CLIENT ID  NAME      ACTIVE  USERS  SERVER KEY  ORIGINS  ID\nringbook   Ringbook  yes        12  none        *        ${EXAMPLE}`,
    ],
    run: async (ask) => {
      const list = await get<ApplicationList>(ask, '/applications')
      return said(list, showApplications(list))
    },
  },
  {
    name: 'applications add',
    parameters: [],
    options: [
      { name: 'client-id', value: 'CLIENT_ID' }, { name: 'name', value: 'NAME' }, { name: 'origin', value: 'ORIGIN', optional: true },
    ],
    purpose: 'a new application: wallets that sign in to it are users of their own',
    explains: 'CLIENT_ID is what clients name it by, up to 40 visible ASCII characters; NAME is what the text a wallet signs calls it, up\n'
      + 'to 48 bytes. --origin, as often as needed: pages of that origin may call with its sessions; * is any. An application is never\n'
      + 'removed: applications set --active false ends new sign-ins.',
    example: [
      'applications add --client-id desk --name Desk --origin https://desk.example', `application desk is ${EXAMPLE} (sequence 1042)`,
    ],
    run: async (ask, _parameters, { 'client-id': clientId, name, origin = [] }) => {
      const added = await get<Changed>(ask, '/applications', { clientId, name, allowedOrigins: origin })
      return said(added, `application ${printable(added.clientId)} is ${added.id} (sequence ${added.sequence})`)
    },
  },
  {
    name: 'applications set',
    parameters: ['APPLICATION'],
    options: [
      { name: 'client-id', value: 'CLIENT_ID', optional: true }, { name: 'name', value: 'NAME', optional: true },
      { name: 'active', value: 'true|false', optional: true },
    ],
    purpose: 'another client id, name or state of an application',
    explains: 'APPLICATION is an id or a client id. What is not given stays. In an application that is not active nobody can sign in any\n'
      + 'more; sessions that are open go on, and so do its server keys. Sign-ins under way end when its name changes.',
    example: ['applications set desk --active false', `application desk (Desk) is not active (sequence 1043)`],
    run: async (ask, [application], { 'client-id': clientId, name, active }) => {
      if (clientId === undefined && name === undefined && active === undefined) {
        throw new UsageError('what shall change? There is --client-id, --name and --active')
      }
      if (active !== undefined && active !== 'true' && active !== 'false') throw new UsageError('--active is true or false')
      const isActive = active === undefined ? undefined : active === 'true'
      const changed = await get<Changed>(ask, '/applications/set', { application, clientId, name, isActive })
      const state = changed.isActive ? 'active' : 'not active'
      const text = `application ${printable(changed.clientId)} (${printable(changed.name)}) is ${state} (sequence ${changed.sequence})`
      return said(changed, text)
    },
  },
]

const origin = (verb: 'add' | 'remove', allowed: boolean, purpose: string, explains: string): Command => ({
  name: `origins ${verb}`,
  parameters: ['APPLICATION', 'ORIGIN'],
  purpose,
  explains,
  example: [
    `origins ${verb} desk https://desk.example`,
    `https://desk.example is ${allowed ? 'allowed; origins: 1' : 'not allowed; origins: 0'} (sequence 1044)`,
  ],
  run: async (ask, [application, typed]) => {
    const changed = await get<Changed>(ask, '/applications/origins', { application, origin: typed, allowed })
    const state = `${printable(typed!)} is ${allowed ? 'allowed' : 'not allowed'}`
    return said(changed, `${state}; origins: ${changed.origins} (sequence ${changed.sequence})`)
  },
})

const ORIGINS: readonly Command[] = [
  origin(
    'add', true, 'let pages of an origin call with sessions of an application',
    'ORIGIN is scheme://host[:port] as a browser writes it, or * for any. At most 16 for one application.',
  ),
  origin(
    'remove', false, 'no longer let pages of an origin call',
    'Browsers find out with their next request; they may keep the answer to a preflight for ten minutes.',
  ),
]

const WARNING = 'This key is not shown again: the exchange keeps only its hash. Give it to the backend and to nobody else.'

/** Asks for a key and writes it to a new file that only its owner can read; the file is there before the key is. */
async function issueInto(path: string, issue: () => Promise<Changed>): Promise<Changed> {
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

const KEYS: readonly Command[] = [
  {
    name: 'keys issue',
    parameters: ['APPLICATION'],
    options: [{ name: 'grace', value: 'DURATION', optional: true }, { name: 'out', value: 'FILE', optional: true }],
    purpose: 'a new server key for the backend of an application',
    explains: 'The key is printed once and kept nowhere. It takes the place of the one before, which stays good for --grace (90s, 15m,\n'
      + '24h, 7d; without it, it ends now), so that a backend can change over; one that was still in its grace ends now. With --out\n'
      + 'the key goes to a new file that only you can read.',
    example: ['keys issue desk --grace 24h', EXAMPLE_KEY],
    run: async (ask, [application], { grace = '0', out }): Promise<Shown> => {
      const body = { application, graceSeconds: durationSeconds(grace) }
      const issue = (): Promise<Changed> => get<Changed>(ask, '/keys/issue', body)
      if (out === undefined) {
        const issued = await issue()
        return { json: issued, text: issued.serverKey, warning: WARNING }
      }
      const { serverKey: _, ...rest } = await issueInto(out, issue)
      const text = `the server key of ${printable(rest.clientId)} is in ${printable(out)} (sequence ${rest.sequence})`
      return { json: { ...rest, file: out }, text, warning: WARNING }
    },
  },
  {
    name: 'keys revoke',
    parameters: ['APPLICATION'],
    purpose: 'end the server keys of an application: the current one and the one before',
    explains: 'From now on its backend is answered 401, until it has another key.',
    example: ['keys revoke desk', 'application desk has no server key (sequence 1046)'],
    run: async (ask, [application]) => {
      const changed = await get<Changed>(ask, '/keys/revoke', { application })
      return said(changed, `application ${printable(changed.clientId)} has no server key (sequence ${changed.sequence})`)
    },
  },
]

export const APPLICATION_COMMANDS: readonly Command[] = [...APPLICATION_TERMS, ...ORIGINS, ...KEYS]
