/**
 * Sign-in by wallet, the pure part: the texts a wallet signs, the limits, and what gateways and the sign-in thread say to each other.
 * Clock and randomness are passed in; the sign-in thread (sign_in.ts) owns the only instance of each.
 *
 *   challenge: client's budget -> application -> key check -> sealed nonce (nonces.ts); nothing is stored
 *   verify:    client's budget -> application -> nonce opened -> wallet's budget, if it is used up -> session key's signature -> nonce
 *              taken -> signature's form -> flags -> pool -> chain, when the key did not sign and a contract may have -> nonce spent when
 *              the wallet signed, else given back
 *   consent:   the same, for a wallet that becomes somebody's sub-account
 *
 * A wallet's budget is drawn on only by requests whose signature it made: naming somebody's wallet costs that wallet nothing.
 *
 * A nonce is the identity of a sign-in; the signature is not (ECDSA signatures are malleable). (Specification, Verify rules, Sessions.)
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import type { Nonce } from './nonces.ts'

/** Longest signature a verify may carry, decoded bytes and hex characters with prefix (specification, Limits). */
export const SIGNATURE_BYTES_MAX = 8192
export const SIGNATURE_CHARACTERS_MAX = 2 + 2 * SIGNATURE_BYTES_MAX

/** What a gateway asks the sign-in thread. `id` is the gateway's own number; the reply repeats it. */
export interface ChallengeRequest {
  readonly id: number
  readonly kind: 'challenge'
  /** 0x and 40 hex digits, any case. */
  readonly address: string
  /** 64 lowercase hex digits. */
  readonly sessionPublicKey: string
  /** Absent: the first application of the genesis. */
  readonly clientId?: string | undefined
  /** Wallet of the master whose sub-account `address` is to become; the session public key is then the master's. Absent: a sign-in. */
  readonly subAccountOf?: string | undefined
  /** Address of the client's socket, IPv4 or IPv6 text. */
  readonly ip: string
}
export interface VerifyRequest {
  readonly id: number
  readonly kind: 'verify'
  readonly address: string
  /** Hex, 0x optional. */
  readonly signature: string
  readonly nonce: string
  readonly sessionPublicKey: string
  readonly clientId?: string | undefined
  /** When given it must be the chain of the exchange. */
  readonly chainId?: string | number | undefined
  /** The session key's own signature of the challenge's text, 128 lowercase hex digits: proof that whoever registers it has it. */
  readonly sessionSignature?: string | undefined
  /** For a session on somebody else's account: this wallet gets none. */
  readonly delegated?: boolean
  readonly ip: string
}
/** Whether a wallet agreed to be a master's sub-account. Which master asks, and by which session, its signed request says. */
export interface ConsentRequest {
  readonly id: number
  readonly kind: 'consent'
  /** Wallet of the sub-account. */
  readonly address: string
  readonly signature: string
  readonly nonce: string
  /** Of the master's session. */
  readonly sessionPublicKey: string
  /** Wallet of the master, and the application its account is in. */
  readonly master: string
  readonly application: number
  readonly ip: string
}
export type SignInRequest = ChallengeRequest | VerifyRequest | ConsentRequest

/** `expiresAt` in Unix seconds. */
export interface ChallengeReply {
  readonly id: number
  readonly nonce: string
  readonly message: string
  readonly expiresAt: number
}
/**
 * The wallet signed: the session may be opened in the application with this index. `master`: row of the account that the text named as the
 * master of the wallet's; -1: it named none.
 */
export interface VerifyReply {
  readonly id: number
  readonly application: number
  readonly master: number
}
/** The wallet agreed. */
export interface ConsentReply {
  readonly id: number
  readonly consented: true
}
export interface RefusalReply {
  readonly id: number
  readonly refusal: RefusalCode
  /** Absent: the register's. */
  readonly message?: string
  readonly details?: Readonly<Record<string, string | number>>
}
export type SignInReply = ChallengeReply | VerifyReply | ConsentReply | RefusalReply

/** What the text says besides the nonce's own binding. */
export interface Place {
  /** Application's display name. */
  readonly application: string
  readonly host: string
  readonly chainId: number
}

/** The text the wallet signs. Same input, same text: the sign-in thread rebuilds it at verify instead of keeping it. */
export function challengeText(entry: Nonce, place: Place): string {
  const { address, sessionPublicKey, nonce, issuedAt, expiresAt } = entry
  const master = entry.master === null ? null : checksumAddress(entry.master)
  const consents = entry.purpose === 'consent'
  return [
    consents ? 'Ringbook asks you to become a sub-account of another wallet.' : 'Ringbook asks you to sign in.',
    '',
    `Application: ${place.application}`,
    `Host: ${place.host}`,
    `Address: ${checksumAddress(address)}`,
    ...(master === null ? [] : [`Sub-account of: ${master}`]),
    `${consents ? 'Session public key of the master' : 'Session public key'}: ${sessionPublicKey}`,
    `Nonce: ${nonce}`,
    `Issued at: ${new Date(issuedAt).toISOString()}`,
    `Expires at: ${new Date(expiresAt).toISOString()}`,
    `Chain id: ${place.chainId}`,
    '',
    ...(master === null ? [] : masterText(master, consents)),
    ...(consents ? [] : ['Whoever holds the session key can act for this wallet here until the session ends.']),
    'Signing moves no funds and costs no gas.',
  ].join('\n')
}

const masterText = (master: string, consents: boolean): string[] => [
  `With your signature${consents ? '' : ' you agree that'} this wallet's account here is a sub-account of ${master}, for good.`,
  'That wallet, the master, controls its balances: it can take everything the account holds, at any time.',
]

/** EIP-55 form of `address` (0x and 40 hex digits, any case). */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak_256(new TextEncoder().encode(digits))
  let out = '0x'
  for (let i = 0; i < digits.length; i++) {
    const nibble = (hash[i >> 1]! >> (i % 2 === 0 ? 4 : 0)) & 15
    out += nibble >= 8 ? digits[i]!.toUpperCase() : digits[i]!
  }
  return out
}

/** Keys one window of a limit remembers; more keys in one window are refused like a limit reached. */
const WINDOW_KEYS_MAX = 65_536

/**
 * Counts per key in windows of the clock, a second if nothing else is said. The windows are fixed, so that two windows' budgets may fall
 * into one window's time across a border; the long-run rate is exact.
 */
export interface Limit {
  /** Of a key in a window. */
  readonly most: number
  /** Draws one from the key's budget; false when the window's budget is used up. */
  acquire(key: string): boolean
  /** Whether the key's budget is used up. */
  isUsedUp(key: string): boolean
  /** Whole seconds until the next window begins, at least 1. */
  retryAfter(): number
}

export function createLimit(most: number, now: () => number, { windowMs = 1000, keysMax = WINDOW_KEYS_MAX } = {}): Limit {
  const counts = new Map<string, number>()
  let window = -1
  const turn = (): void => {
    const current = Math.floor(now() / windowMs)
    if (current === window) return
    window = current
    counts.clear()
  }
  const isUsedUp = (key: string): boolean => {
    turn()
    const used = counts.get(key)
    return used === undefined ? counts.size >= keysMax : used >= most
  }
  return {
    most, isUsedUp,
    acquire(key) {
      if (isUsedUp(key)) return false
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return true
    },
    retryAfter: () => Math.ceil((windowMs - (now() % windowMs)) / 1000),
  }
}

/** Half the order of secp256k1: an `s` above it is the mirror of another signature (EIP-2). */
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'

/** The bytes of the signature in `text` as lowercase hex digits, or `null`: no whole bytes of hex, none at all, or too many. */
export function signatureDigits(text: string): string | null {
  if (text.length > SIGNATURE_CHARACTERS_MAX) return null
  const digits = (text.startsWith('0x') ? text.slice(2) : text).toLowerCase()
  const whole = digits.length > 0 && digits.length % 2 === 0 && digits.length <= 2 * SIGNATURE_BYTES_MAX
  return whole && /^[0-9a-f]+$/.test(digits) ? digits : null
}

/**
 * The 65-byte signature in `text` as 0x-hex with v 27 or 28, or `null` when no wallet could have made it: not hex, another
 * length, v outside 0, 1, 27, 28, or s in the upper half. High s is refused although recovery would accept it: wallets never
 * make one since EIP-2, and one signature then has one form.
 */
export function walletSignature(text: string): `0x${string}` | null {
  const digits = signatureDigits(text)
  if (digits?.length !== 130) return null
  const v = parseInt(digits.slice(128), 16)
  if (v !== 0 && v !== 1 && v !== 27 && v !== 28) return null
  // Equal lengths: comparing the texts compares the numbers.
  if (digits.slice(64, 128) > HALF_ORDER) return null
  return `0x${digits.slice(0, 128)}${v % 27 === 0 ? '1b' : '1c'}`
}
