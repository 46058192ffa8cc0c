/** Applications in the naive exchange: texts, lists of origins and keys, as plain values. See naive.ts. */
import type { Genesis } from '../../core/state/genesis.ts'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'

const YEAR_MS = 365 * 24 * 3600 * 1000
const ORIGINS = 16

export interface NaiveApplication {
  clientId: string
  name: string
  active: boolean
  origins: string[]
  /** Hashes in hex, '' for none. */
  key: string
  oldKey: string
  oldKeyUntil: number
  keyAt: number
  createdSequence: number
}

export const applicationsOf = (genesis: Genesis): NaiveApplication[] =>
  genesis.applications.map(({ clientId, name, allowedOrigins }) => ({
    clientId, name, active: true, origins: [...allowedOrigins], key: '', oldKey: '', oldKeyUntil: 0, keyAt: 0, createdSequence: 0,
  }))

/** Why nobody signs in to the application now; 0: they may. */
export function closed(exchange: NaiveExchange, application: number): number {
  const found = exchange.applications[application]
  if (found === undefined) return CODE.NOT_FOUND
  return found.active ? 0 : CODE.APPLICATION_INACTIVE
}

/** SET_APPLICATION, SET_ORIGIN and SET_SERVER_KEY; false: it is another command. */
export function setApplications(exchange: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const set = { [CommandType.SET_APPLICATION]: setTerms, [CommandType.SET_ORIGIN]: setOrigin, [CommandType.SET_SERVER_KEY]: setKey }
  const run = set[typeOfKind(kind) as keyof typeof set]
  if (run === undefined) return false
  if (kind >>> 16 !== 0) exchange.refuse(command, CODE.OPERATOR_ONLY, -1)
  else {
    const code = run(exchange, command)
    if (code !== 0) exchange.refuse(command, code, -1)
  }
  return true
}

/** The text in a zero-padded field as bytes in hex, or `null` unless it is one: bytes that are allowed, then zeros to the end. */
function textOf(field: string, allowed: (byte: number) => boolean): string | null {
  const bytes = Buffer.from(field, 'hex')
  const length = bytes.findIndex((byte) => byte === 0)
  const text = length < 0 ? bytes : bytes.subarray(0, length)
  if (text.length === 0 || bytes.subarray(text.length).some((byte) => byte !== 0)) return null
  return text.every(allowed) ? text.toString('utf8') : null
}

function setTerms(exchange: NaiveExchange, command: Decoded): number {
  const { applications, genesis } = exchange
  const row = Number(command['application'])
  if (row !== -1 && applications[row] === undefined) return CODE.NOT_FOUND
  const clientId = textOf(String(command['clientId']), (byte) => byte >= 0x20 && byte < 0x7f)
  const name = textOf(String(command['name']), (byte) => byte >= 0x20 && byte !== 0x7f)
  if (clientId === null || name === null) return CODE.VALIDATION_ERROR
  if (applications.some((each, index) => index !== row && each.clientId === clientId)) return CODE.CLIENT_ID_IN_USE
  if (row === -1 && applications.length >= genesis.limits.applications) return CODE.TOO_MANY_APPLICATIONS
  const active = command['active'] !== 0
  if (row === -1) {
    const createdSequence = exchange.sequence
    applications.push({ clientId, name, active, origins: [], key: '', oldKey: '', oldKeyUntil: 0, keyAt: 0, createdSequence })
  } else Object.assign(applications[row]!, { clientId, name, active })
  const at = row === -1 ? applications.length - 1 : row
  const originalSequence = applications[at]!.createdSequence
  exchange.result(command, { account: -1, detail: at, detail2: row === -1 ? 1 : 0, originalSequence })
  return 0
}

function setOrigin(exchange: NaiveExchange, command: Decoded): number {
  const row = Number(command['application'])
  const application = exchange.applications[row]
  if (application === undefined) return CODE.NOT_FOUND
  const origin = textOf(String(command['origin']), (byte) => byte > 0x20 && byte < 0x7f)
  if (origin === null) return CODE.VALIDATION_ERROR
  const there = application.origins.includes(origin)
  if (command['allowed'] === 0) {
    if (!there) return CODE.NOT_FOUND
    application.origins = application.origins.filter((each) => each !== origin)
  } else if (!there) {
    if (application.origins.length === ORIGINS) return CODE.TOO_MANY_APPLICATIONS
    application.origins.push(origin)
  }
  exchange.result(command, { account: -1, detail: row, detail2: application.origins.length })
  return 0
}

function setKey(exchange: NaiveExchange, command: Decoded): number {
  const row = Number(command['application'])
  const application = exchange.applications[row]
  const graceMs = Number(command['graceMs'])
  if (application === undefined) return CODE.NOT_FOUND
  if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > YEAR_MS) return CODE.VALIDATION_ERROR
  const hash = String(command['hash'])
  const key = /^0*$/.test(hash) ? '' : hash
  const keeps = key !== '' && application.key !== '' && graceMs > 0
  application.oldKey = keeps ? application.key : ''
  application.oldKeyUntil = keeps ? exchange.now + graceMs : 0
  application.key = key
  application.keyAt = key === '' ? 0 : exchange.now
  exchange.result(command, { account: -1, detail: row, expiresAt: application.oldKeyUntil })
  return 0
}
