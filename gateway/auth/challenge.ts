/**
 * Sign-in by wallet, the pure part: the text a wallet signs, the store of nonces, the limits, and what gateways and the desk
 * say to each other. Clock and randomness are passed in; the desk (desk.ts) owns the only instance of each.
 *
 *   challenge: limits -> application -> key check -> nonce stored         full -> VERIFICATION_UNAVAILABLE
 *   verify:    limits -> application -> nonce taken -> signature's form -> flags -> pool -> chain, when the key did not sign and a
 *              contract may have -> nonce consumed, or given back when there was no verdict
 *
 * A nonce is the identity of a sign-in; the signature is not (ECDSA signatures are malleable). It is bound to (address,
 * session public key, application), lives {@link NONCE_LIFETIME_MS} and ends with the first verdict on a signature. A taken
 * nonce stays in the store, so that the bound holds and a second taker is refused. (Specification, Verify rules,
 * Sessions.)
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { RefusalCode } from '../../core/engine/refusals.ts'

/** A challenge is good for 5 minutes. */
export const NONCE_LIFETIME_MS = 300_000
/** Longest signature a verify may carry, decoded bytes and hex characters with prefix (specification, Limits). */
export const SIGNATURE_BYTES_MAX = 8192
export const SIGNATURE_CHARACTERS_MAX = 2 + 2 * SIGNATURE_BYTES_MAX
/** Signatures of one wallet address being recovered at once, and being asked about; one wallet cannot fill the queue of all. */
export const IN_FLIGHT_PER_ADDRESS = 2

/** What a gateway asks the desk. `id` is the gateway's own number; the reply repeats it. */
export interface ChallengeRequest {
  readonly id: number
  readonly kind: 'challenge'
  /** 0x and 40 hex digits, any case. */
  readonly address: string
  /** 64 lowercase hex digits. */
  readonly sessionPublicKey: string
  /** Absent: the first application of the genesis. */
  readonly clientId?: string | undefined
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
  readonly ip: string
}
export type DeskRequest = ChallengeRequest | VerifyRequest

/** `expiresAt` in Unix seconds. */
export interface ChallengeReply {
  readonly id: number
  readonly nonce: string
  readonly message: string
  readonly expiresAt: number
}
/** The wallet signed: the session may be opened in the application with this index. */
export interface VerifyReply {
  readonly id: number
  readonly application: number
}
export interface RefusalReply {
  readonly id: number
  readonly refusal: RefusalCode
  readonly details?: Readonly<Record<string, string | number>>
}
export type DeskReply = ChallengeReply | VerifyReply | RefusalReply

/** What the text says besides the nonce's own binding. */
export interface Place {
  /** Application's display name. */
  readonly application: string
  readonly host: string
  readonly chainId: number
}

export interface Nonce {
  readonly nonce: string
  /** Lowercase. */
  readonly address: string
  readonly sessionPublicKey: string
  /** Index of the application. */
  readonly application: number
  /** Unix ms. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The text the wallet signs. Same input, same text: the desk rebuilds it at verify instead of keeping it. */
export function challengeText(entry: Nonce, place: Place): string {
  return [
    'Ringbook asks you to sign in.',
    '',
    `Application: ${place.application}`,
    `Host: ${place.host}`,
    `Address: ${checksumAddress(entry.address)}`,
    `Session public key: ${entry.sessionPublicKey}`,
    `Nonce: ${entry.nonce}`,
    `Issued at: ${new Date(entry.issuedAt).toISOString()}`,
    `Expires at: ${new Date(entry.expiresAt).toISOString()}`,
    `Chain id: ${place.chainId}`,
    '',
    'Whoever holds the session key can act for this wallet here until the session ends.',
    'Signing moves no funds and costs no gas.',
  ].join('\n')
}

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

export interface NonceStore {
  /** A new nonce, or `null` when the store is full of unexpired ones. */
  issue(address: string, sessionPublicKey: string, application: number): Nonce | null
  /** Takes the nonce if it is live, untaken and bound to exactly this; otherwise `null`, and nothing changes. */
  take(nonce: string, address: string, sessionPublicKey: string, application: number): Nonce | null
  /** Ends a taken nonce: there was a verdict. */
  consume(nonce: string): void
  /** Frees a taken nonce for another verify: there was no verdict. */
  giveBack(nonce: string): void
  /** Nonces kept, taken ones included. */
  readonly size: number
}

/** A store of at most `limit` nonces. `random` gives 32 bytes as hex, `now` Unix ms. */
export function createNonceStore(limit: number, now: () => number, random: () => string): NonceStore {
  /** In order of issue, which is the order of expiry: the oldest is the first key. */
  const nonces = new Map<string, { readonly entry: Nonce; taken: boolean }>()

  function dropExpired(time: number): void {
    for (const [nonce, { entry }] of nonces) {
      if (entry.expiresAt > time) return
      nonces.delete(nonce)
    }
  }

  return {
    issue(address, sessionPublicKey, application) {
      const issuedAt = now()
      dropExpired(issuedAt)
      if (nonces.size >= limit) return null
      const expiresAt = issuedAt + NONCE_LIFETIME_MS
      const entry: Nonce = { nonce: random(), address: address.toLowerCase(), sessionPublicKey, application, issuedAt, expiresAt }
      nonces.set(entry.nonce, { entry, taken: false })
      return entry
    },
    take(nonce, address, sessionPublicKey, application) {
      const found = nonces.get(nonce)
      if (found === undefined || found.taken || found.entry.expiresAt <= now()) return null
      const { entry } = found
      const bound =
        entry.address === address.toLowerCase() && entry.sessionPublicKey === sessionPublicKey && entry.application === application
      if (!bound) return null
      found.taken = true
      return entry
    },
    consume(nonce) {
      nonces.delete(nonce)
    },
    giveBack(nonce) {
      const found = nonces.get(nonce)
      if (found !== undefined) found.taken = false
    },
    get size() {
      return nonces.size
    },
  }
}

/** Keys one window of a limit remembers; more keys in one second are refused like a limit reached. */
const WINDOW_KEYS_MAX = 65_536

/**
 * Counts per key in windows of one second. The windows are fixed, so that two seconds' budgets may fall into one second across
 * a border; the long-run rate is exact.
 */
export interface Limit {
  /** Draws one from the key's budget; false when the second's budget is used up. */
  draw(key: string): boolean
}

export function createLimit(perSecond: number, now: () => number, keysMax = WINDOW_KEYS_MAX): Limit {
  const counts = new Map<string, number>()
  let second = -1
  return {
    draw(key) {
      const current = Math.floor(now() / 1000)
      if (current !== second) {
        second = current
        counts.clear()
      }
      const used = counts.get(key)
      if (used === undefined && counts.size >= keysMax) return false
      if ((used ?? 0) >= perSecond) return false
      counts.set(key, (used ?? 0) + 1)
      return true
    },
  }
}

/**
 * What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, since one host has all of that. An IPv4
 * address mapped into IPv6 is the IPv4 address.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip
  const address = ip.split('%')[0]!
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  const groups = [...head, ...zeros, ...tail].map((group) => parseInt(group, 16))
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  }
  return groups.slice(0, 4).map((group) => group.toString(16)).join(':')
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
