/**
 * Sign-in and sessions. Nonces and wallet signatures are the sign-in thread's (auth/sign_in.ts); a session exists when the engine has
 * applied OPEN_SESSION, so that it is in the journal and known to every gateway thread at once.
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { SESSION_ANSWER } from '../../core/layout/answers.ts'
import { userId } from '../../core/layout/ids.ts'
import { challengeText, checksumAddress, SIGNATURE_CHARACTERS_MAX, type RefusalReply, type VerifyReply } from '../auth/challenge.ts'
import { NONCE_LIFETIME_MS } from '../auth/nonces.ts'
import { askChallenge, askVerify } from '../auth/sign_in_client.ts'
import { encodeOpenSession, encodeSession } from '../bridge/encode.ts'
import { WAY_OUT } from '../bridge/engine_client.ts'
import { Refused, refusedField } from '../refused.ts'
import { usernameText } from './accounts.ts'
import { findReferrer } from './referral_code.ts'
import { describeForm } from './schema_errors.ts'
import { operation, submit, pendingRequest } from './operation.ts'
import * as sample from './example_values.ts'
import { COMMAND, WALLET } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SESSION_KEY = /^[0-9a-f]{64}$/
const WALLET_SIGNATURE = /^(0x)?([0-9a-fA-F]{2})+$/
const SESSION_SIGNATURE = /^[0-9a-f]{128}$/
describeForm(ADDRESS, 'a wallet address: 0x and 40 hex digits')
describeForm(SESSION_KEY, 'an ed25519 public key: 64 lowercase hex digits')
describeForm(WALLET_SIGNATURE, 'a signature in hex, two digits a byte; 0x is optional')
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

export const refusalOf = ({ refusal, message, details }: RefusalReply): Refused => new Refused(refusal, message, details)

const EXAMPLE_ISSUED = Date.parse(sample.MOMENT)
const EXAMPLE_NONCE_EXPIRES = EXAMPLE_ISSUED + NONCE_LIFETIME_MS
const exampleMessage = challengeText(
  {
    purpose: 'sign-in', nonce: sample.NONCE, address: sample.ADDRESS, sessionPublicKey: sample.SESSION_KEY,
    application: 0, master: null, issuedAt: EXAMPLE_ISSUED,
    expiresAt: EXAMPLE_NONCE_EXPIRES,
  },
  { application: 'Ringbook', host: '127.0.0.1:8080', chainId: 1328 },
)

export const Challenge = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/challenge',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Ask for a text to sign',
  description: 'Begins a sign-in: the answer holds a text that names the session public key. The wallet signs it, and Verify opens the '
    + 'session. Limited per client. With `subAccountOf` the text asks the '
    + 'wallet to become a sub-account instead, and CreateSubAccount takes its signature.',
  answer: 'The nonce and the text to sign.',
  refusals: WALLET,
  bodyMax: 4 * 1024,
  body: Type.Object({
    address: field(Address, 'Wallet address. Answers carry the EIP-55 form.'),
    sessionPublicKey: field(SessionKey, 'Session public key: 32 ed25519 bytes as lowercase hex.'),
    clientId: field(
      ClientId,
      'Application the session belongs to; absent: the default one. The same wallet is another user in another application.',
    ),
    chainId: field(ChainId, 'Chain id, if the client wants it checked; a number or its text.'),
    subAccountOf: Type.Optional(
      field(Address, "Wallet of the master whose sub-account the address is to become; the session public key is then the master's."),
    ),
  }),
  /** `expiresAt` in Unix seconds. */
  output: Type.Object(
    {
      nonce: field(Type.String(), 'Single use, valid for 5 minutes, bound to address, session key and application.'),
      message: field(Type.String(), 'Text the wallet signs, byte for byte (EIP-191 personal_sign).'),
      expiresAt: fields.expiresAt,
    },
  ),
  example: {
    input: { address: sample.ADDRESS, sessionPublicKey: sample.SESSION_KEY },
    output: { nonce: sample.NONCE, message: exampleMessage, expiresAt: EXAMPLE_NONCE_EXPIRES / 1000 },
  },
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
  summary: 'Open a session',
  description: 'Checks the signature of the wallet over the text of the challenge and registers the session public key. From then on '
    + 'requests are signed with the session key; there are no tokens. Send `sessionSignature`, the session key over the same text, as '
    + 'proof that you have it. A nonce opens one session; a rejected signature is 401, 503 is no verdict, and both leave it usable. '
    + '`details.reason` says why.',
  answer: 'The session is open.',
  refusals: [...WALLET, 'NONCE_INVALID', 'INVALID_SIGNATURE', 'SESSION_KEY_IN_USE', ...COMMAND],
  bodyMax: VERIFY_BODY_MAX,
  body: Type.Object({
    address: field(Address, 'Wallet address. Answers carry the EIP-55 form.'),
    signature: field(WalletSignature, 'EIP-191 signature of the challenge message by the wallet: 65 bytes as hex, 0x optional.'),
    nonce: field(
      Type.String({ minLength: 1, maxLength: 256 }),
      'Single use, valid for 5 minutes, bound to address, session key and application.',
    ),
    sessionPublicKey: field(SessionKey, 'Session public key: 32 ed25519 bytes as lowercase hex.'),
    sessionSignature: field(
      SessionSignature,
      "The session key's ed25519 signature of the challenge message, 128 lowercase hex digits: proof that you have the key.",
    ),
    clientId: field(
      ClientId,
      'Application the session belongs to; absent: the default one. The same wallet is another user in another application.',
    ),
    chainId: field(ChainId, 'Chain id, if the client wants it checked; a number or its text.'),
    referralCode: Type.Optional(field(
      Type.String({ maxLength: 256 }),
      'Trader code of whoever brought the user. It counts at the first sign-in to the application only; an unknown one is ignored.',
    )),
  }),
  output: Type.Object({
    /** Unix seconds. */
    expiresAt: fields.expiresAt,
    user: field(Type.Object({ id: fields.id, address: fields.address, username: fields.username }), 'Who signed in.'),
    isNewUser: field(Type.Boolean(), 'True when this sign-in created the user.'),
    referralApplied: field(Type.Boolean(), 'True when this sign-in recorded who brought the user.'),
  }),
  example: {
    input: {
      address: sample.ADDRESS, signature: `0x${'5e'.repeat(64)}1b`, nonce: sample.NONCE, sessionPublicKey: sample.SESSION_KEY,
      sessionSignature: '7a'.repeat(64),
    },
    output: {
      expiresAt: sample.EXPIRES, user: { id: sample.USER, address: sample.ADDRESS, username: null }, isNewUser: true,
      referralApplied: false,
    },
  },
  run: (gateway, call, { address, signature, nonce, sessionPublicKey, sessionSignature, clientId, chainId, referralCode }) => {
    const pending = pendingRequest(call, ({ i32, f64 }, base) => {
      const { at } = SESSION_ANSWER
      const account = i32[base + at.account]!
      const id = userId(f64[(base + at.accountSequence) >>> 1]!, account)
      call.answer({
        expiresAt: seconds(f64[(base + at.expiresAt) >>> 1]!),
        user: { id, address: checksumAddress(address), username: usernameText(gateway, account) },
        isNewUser: i32[base + at.isNew]! === 1,
        referralApplied: i32[base + at.referred]! === 1,
      })
    })
    const open = (reply: VerifyReply | RefusalReply): void => {
      if ('refusal' in reply) return call.refuse(refusalOf(reply))
      const { application, master } = reply
      const referrer = referralCode === undefined ? null : findReferrer(gateway, application, referralCode)
      submit(gateway, call, pending, (at, correlation) =>
        encodeOpenSession(gateway.engine, at, correlation, application, address, sessionPublicKey, master, referrer),
      )
    }
    askVerify(gateway.signIn, { address, signature, nonce, sessionPublicKey, sessionSignature, clientId, chainId, ip: call.ip() }, open)
  },
})

export const Refresh = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/refresh',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Extend the session',
  description: 'Sets the end of the signing session to now plus its lifetime. Takes no body. An expired or revoked session cannot be '
    + 'refreshed: sign in again, and do not loop.',
  answer: 'The new end of the session.',
  refusals: COMMAND,
  bodyRule: 'empty',
  /** Unix seconds. */
  output: Type.Object({ expiresAt: fields.expiresAt }),
  example: { input: {}, output: { expiresAt: sample.EXPIRES } },
  run: (gateway, call) => {
    const pending = pendingRequest(call, ({ f64 }, base) =>
      call.answer({ expiresAt: seconds(f64[(base + SESSION_ANSWER.at.expiresAt) >>> 1]!) }))
    submit(gateway, call, pending, (at, correlation) => encodeSession(gateway.engine, at, CommandType.REFRESH_SESSION, correlation, call))
  },
})

export const Revoke = operation({
  service: 'AuthService', method: 'POST', path: '/api/v1/auth/revoke',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'End the session',
  description: 'Closes the session of the signing key at once, on every connection. Takes no body. Open orders stay.',
  answer: 'The session is closed.',
  refusals: COMMAND,
  bodyRule: 'empty',
  output: Type.Object({ revoked: field(Type.Boolean(), 'The session of the signing key is closed.') }),
  example: { input: {}, output: { revoked: true } },
  run: (gateway, call) => {
    const pending = pendingRequest(call, () => call.answer({ revoked: true }))
    const encode = (at: number, correlation: number): void =>
      encodeSession(gateway.engine, at, CommandType.REVOKE_SESSION, correlation, call)
    submit(gateway, call, pending, encode, WAY_OUT)
  },
})
