/**
 * Sign-in and sessions. Nonces and wallet signatures are the sign-in thread's (auth/sign_in.ts); a session exists when the engine has
 * applied OPEN_SESSION, so that it is in the journal and known to every gateway thread at once.
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { SESSION_ANSWER } from '../../core/layout/answers.ts'
import { userId } from '../../core/layout/ids.ts'
import { checksumAddress, SIGNATURE_CHARACTERS_MAX, type RefusalReply, type VerifyReply } from '../auth/challenge.ts'
import { askChallenge, askVerify } from '../auth/sign_in_client.ts'
import { encodeOpenSession, encodeSession } from '../bridge/encode.ts'
import { WAY_OUT } from '../bridge/engine_client.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { Refused, refusedField } from '../refused.ts'
import { usernameText } from './accounts.ts'
import { describeForm } from './schema_errors.ts'
import { Nullable, operation, submit, Uuid, pendingRequest } from './operation.ts'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SESSION_KEY = /^[0-9a-f]{64}$/
const WALLET_SIGNATURE = /^(0x)?[0-9a-fA-F]+$/
const SESSION_SIGNATURE = /^[0-9a-f]{128}$/
describeForm(ADDRESS, 'a wallet address: 0x and 40 hex digits')
describeForm(SESSION_KEY, 'an ed25519 public key: 64 lowercase hex digits')
describeForm(WALLET_SIGNATURE, 'a signature in hex; 0x is optional')
describeForm(SESSION_SIGNATURE, 'an ed25519 signature: 128 lowercase hex digits')
export const Address = Type.String({ pattern: ADDRESS.source })
export const SessionKey = Type.String({ pattern: SESSION_KEY.source })
export const WalletSignature = Type.String({ pattern: WALLET_SIGNATURE.source, minLength: 1, maxLength: SIGNATURE_CHARACTERS_MAX })
export const ClientId = Type.Optional(Type.String({ maxLength: 128 }))
/** The session key's signature of the challenge's text. */
export const SessionSignature = Type.Optional(Type.String({ pattern: SESSION_SIGNATURE.source }))
/** Bytes of a body that carries a {@link WalletSignature} of the longest, with the other fields at their longest, escaped. */
export const VERIFY_BODY_MAX = 24 * 1024
export const ChainId = Type.Optional(Type.Union([Type.Integer(), Type.String({ maxLength: 32 })]))

export const refusalOf = (reply: RefusalReply): Refused => new Refused(reply.refusal, REFUSALS[reply.refusal].message, reply.details)

export const Challenge = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/challenge',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  bodyMax: 4 * 1024,
  body: Type.Object({
    address: Address, sessionPublicKey: SessionKey, clientId: ClientId, chainId: ChainId, subAccountOf: Type.Optional(Address),
  }),
  /** `expiresAt` in Unix seconds. */
  output: Type.Object({ nonce: Type.String(), message: Type.String(), expiresAt: Type.Integer() }),
  run: (gateway, call, { address, sessionPublicKey, clientId, chainId, subAccountOf }) => {
    // The text to sign names the chain, so another one is refused before somebody signs it; verify is checked by the sign-in thread.
    if (chainId !== undefined && String(chainId) !== String(gateway.genesis.chainId)) {
      return call.refuse(refusedField('chainId', `chainId must be ${gateway.genesis.chainId}`))
    }
    askChallenge(gateway.signIn, { address, sessionPublicKey, clientId, subAccountOf, ip: call.ip() }, (reply) => {
      if ('refusal' in reply) call.refuse(refusalOf(reply))
      else call.answer({ nonce: reply.nonce, message: reply.message, expiresAt: reply.expiresAt })
    })
  },
})

export const seconds = (unixMs: number): number => Math.floor(unixMs / 1000)

export const Verify = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/verify',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  bodyMax: VERIFY_BODY_MAX,
  body: Type.Object({
    address: Address,
    signature: WalletSignature,
    nonce: Type.String({ minLength: 1, maxLength: 256 }),
    sessionPublicKey: SessionKey,
    sessionSignature: SessionSignature,
    clientId: ClientId,
    chainId: ChainId,
    referralCode: Type.Optional(Type.String({ maxLength: 256 })),
  }),
  output: Type.Object({
    /** Unix seconds. */
    expiresAt: Type.Integer(),
    user: Type.Object({ id: Uuid, address: Type.String(), username: Nullable(Type.String()) }),
    isNewUser: Type.Boolean(),
    referralApplied: Type.Boolean(),
  }),
  run: (gateway, call, { address, signature, nonce, sessionPublicKey, sessionSignature, clientId, chainId }) => {
    const pending = pendingRequest(call, ({ i32, f64 }, base) => {
      const { at } = SESSION_ANSWER
      const account = i32[base + at.account]!
      const id = userId(f64[(base + at.accountSequence) >>> 1]!, account)
      call.answer({
        expiresAt: seconds(f64[(base + at.expiresAt) >>> 1]!),
        user: { id, address: checksumAddress(address), username: usernameText(gateway, account) },
        isNewUser: i32[base + at.isNew]! === 1,
        referralApplied: false,
      })
    })
    const open = (reply: VerifyReply | RefusalReply): void => {
      if ('refusal' in reply) return call.refuse(refusalOf(reply))
      submit(gateway, call, pending, (at, correlation) =>
        encodeOpenSession(gateway.engine, at, correlation, reply.application, address, sessionPublicKey, reply.master),
      )
    }
    askVerify(gateway.signIn, { address, signature, nonce, sessionPublicKey, sessionSignature, clientId, chainId, ip: call.ip() }, open)
  },
})

export const Refresh = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/refresh',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  bodyRule: 'empty',
  /** Unix seconds. */
  output: Type.Object({ expiresAt: Type.Integer() }),
  run: (gateway, call) => {
    const pending = pendingRequest(call, ({ f64 }, base) =>
      call.answer({ expiresAt: seconds(f64[(base + SESSION_ANSWER.at.expiresAt) >>> 1]!) }))
    submit(gateway, call, pending, (at, correlation) => encodeSession(gateway.engine, at, CommandType.REFRESH_SESSION, correlation, call))
  },
})

export const Revoke = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/revoke',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  bodyRule: 'empty',
  output: Type.Object({ revoked: Type.Boolean() }),
  run: (gateway, call) => {
    const pending = pendingRequest(call, () => call.answer({ revoked: true }))
    const encode = (at: number, correlation: number): void =>
      encodeSession(gateway.engine, at, CommandType.REVOKE_SESSION, correlation, call)
    submit(gateway, call, pending, encode, WAY_OUT)
  },
})
