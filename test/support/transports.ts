/**
 * Every operation by name with the same JSON over REST and over gRPC, so that what one transport answers can be held against the other.
 * Written apart from the server's mapping and from its client.
 */
import { generateKeyPairSync } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { REFUSALS, type RefusalCode } from '../../core/layout/refusals.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { request, signed, type Session } from './gateway_harness.ts'
import { encodeMessage, pathOf, typeOf, type GrpcClient } from './grpc.ts'

export type Json = Record<string, any>
/** An answer, or the code and text of a refusal; its status was held against the register. */
export type Outcome = Json | { refused: string; message: string; details: Json }
/** Calls an operation; signed with the session where the operation wants it. */
export type Transport = (name: OperationName, input: Json, session: Session | null) => Promise<Outcome>

export interface RestRequest {
  readonly method: string
  readonly target: string
  /** JSON, '' without one. */
  readonly body: string
}

/** An input as path, query and body. */
export function restRequest({ method, path }: Row, input: Json): RestRequest {
  const rest = { ...input }
  let target = path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest[field])
    delete rest[field]
    return value
  })
  const empty = Object.keys(rest).length === 0
  if (method === 'GET' && !empty) {
    const pairs = Object.entries(rest).flatMap(([key, value]) => [value].flat().map((each) => [key, String(each)]))
    target += `?${new URLSearchParams(pairs).toString()}`
  }
  return { method, target, body: method === 'GET' || empty ? '' : JSON.stringify(rest) }
}

const SERVER_KEY = 'x-server-key'

/** REST by hand. `sign` makes the headers of the protocol; `serverKey` is for the operations of backends. */
export function restTransport(port: number, sign = signed, serverKey = ''): Transport {
  return async (name, input, session) => {
    const { method, target, body } = restRequest(TABLE[name], input)
    const { access } = TABLE[name] as Row
    const headers = access === 'session' ? sign(session!, method, target, body) : access === 'server-key' ? { [SERVER_KEY]: serverKey } : {}
    const reply = await request(port, method, target, headers, body)
    if (reply.status === 200) return reply.json
    const { code, message, details = {} } = reply.json as { code: RefusalCode; message: string; details?: Json }
    if (reply.status !== REFUSALS[code].http) throw new Error(`${name}: ${code} over HTTP is ${reply.status}`)
    return { refused: code, message, details }
  }
}

export function grpcTransport(client: GrpcClient, serverKey = ''): Transport {
  return async (name, input, session) => {
    const message = messageOf(typeOf(`${name}Request`), input)
    const reply = (TABLE[name] as Row).access !== 'server-key' ? await client.call(name, message, session)
      : await client.send(pathOf(name), encodeMessage(`${name}Request`, message), { [SERVER_KEY]: serverKey }, `${name}Response`)
    if (reply.code === status.OK) return jsonOf(typeOf(`${name}Response`), reply.response)
    const code = reply.reason as RefusalCode
    if (REFUSALS[code] === undefined) throw new Error(`${name} over gRPC: ${status[reply.code]} ${reply.message}`)
    if (status[reply.code] !== REFUSALS[code].grpc || reply.domain !== 'svc') {
      throw new Error(`${name}: ${code} over gRPC is ${status[reply.code]} of ${reply.domain}`)
    }
    return { refused: code, message: reply.message, details: reply.details }
  }
}

const prefixOf = (type: protobuf.Enum): string => `${type.name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}_`
/** Enumerations whose JSON is in lower case. */
const LOWER = new Set(['AccountType', 'TradeRole', 'HealthStatus', 'PortfolioPeriod', 'CandleInterval'])
/** Enumerations whose JSON is words put together: MARGIN_CALL is MarginCall. */
const JOINED = new Set(['MarginAccountState'])
const joined = (name: string): string => name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Lists that JSON leaves out when they are empty: protobuf knows no absent ones. */
const ABSENT_WHEN_EMPTY = new Set(['.svc.v1.MatchResult.fills'])

/** A protobuf message as the JSON it stands for: the enum's prefix off, times as text, absent fields absent. */
function jsonOf(type: protobuf.Type, message: Json): Json {
  const json: Json = {}
  for (const field of type.fieldsArray) {
    field.resolve()
    const given = message[field.name]
    const optional = field.options?.['proto3_optional'] === true
    const list = field.repeated
    if (ABSENT_WHEN_EMPTY.has(field.fullName) && (given ?? []).length === 0) continue
    const absent = given === undefined || given === null || (Array.isArray(given) && !list)
    if (absent && (optional || field.resolvedType instanceof protobuf.Type)) continue
    const one = (value: any): unknown => {
      if (field.resolvedType instanceof protobuf.Enum) {
        const name = String(value).slice(prefixOf(field.resolvedType).length)
        return LOWER.has(field.resolvedType.name) ? name.toLowerCase() : JOINED.has(field.resolvedType.name) ? joined(name) : name
      }
      if (!(field.resolvedType instanceof protobuf.Type)) return value
      if (field.resolvedType.name !== 'Timestamp') return jsonOf(field.resolvedType, value)
      return new Date(Number(value.seconds ?? 0) * 1000 + Math.round((value.nanos ?? 0) / 1e6)).toISOString()
    }
    json[field.name] = list ? (given ?? []).map(one) : absent ? field.typeDefault : one(given)
  }
  return json
}

/** JSON as the plain object that protobufjs makes a message of. */
export function messageOf(type: protobuf.Type, json: Json): Json {
  const message: Json = {}
  for (const [key, value] of Object.entries(json)) {
    const field = type.fields[key]
    if (field === undefined) throw new Error(`${type.name} has no field ${key}`)
    field.resolve()
    const one = (each: any): unknown => {
      if (field.resolvedType instanceof protobuf.Enum) {
        return prefixOf(field.resolvedType) + String(each).toUpperCase()
      }
      if (!(field.resolvedType instanceof protobuf.Type)) return each
      if (field.resolvedType.name !== 'Timestamp') return messageOf(field.resolvedType, each)
      const ms = Date.parse(each)
      return { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 }
    }
    message[key] = field.repeated ? value.map(one) : one(value)
  }
  return message
}

/** A wallet and the session key it may authorise; row and generation are only the service's to know. */
export interface Wallet {
  readonly wallet: PrivateKeyAccount
  readonly session: Session
}

export function newWallet(wallet: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey())): Wallet {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  return { wallet, session: { publicKey: key, privateKey, address: wallet.address, row: -1, generation: -1 } }
}

/** Opens a session for the wallet by challenge and verify, in this application or the default one. */
export async function signIn(transport: Transport, { wallet, session }: Wallet, clientId?: string): Promise<Json> {
  const key = { address: wallet.address, sessionPublicKey: session.publicKey, ...(clientId === undefined ? {} : { clientId }) }
  const challenge: Json = await transport('Challenge', key, null)
  const signature = await wallet.signMessage({ message: challenge['message'] })
  const verified: Json = await transport('Verify', { ...key, nonce: challenge['nonce'], signature }, null)
  if (verified['refused'] !== undefined) throw new Error(`not signed in: ${JSON.stringify(verified)}`)
  return verified
}
