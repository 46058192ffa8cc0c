/**
 * What the protocols of request signatures have in common: what is signed, who signed, how old it may be, and the check of a signed
 * text. legacy.ts and rfc9421.ts are the protocols; authenticate.ts chooses between them.
 */
import type { SessionView } from '../../core/view/accounts.ts'
import { verifySignature } from './verifier.ts'

/** How far the time of a signature may be from this machine's clock, either way, ms. */
export const FRESHNESS_MS = 30_000

/** Bits of the credentials that came once each. */
export const CREDENTIAL = { PUBLIC_KEY: 1, TIMESTAMP: 2, SIGNATURE: 4 } as const
export const ALL_CREDENTIALS = CREDENTIAL.PUBLIC_KEY | CREDENTIAL.TIMESTAMP | CREDENTIAL.SIGNATURE

/** The credentials of a request, of whatever transport. */
export interface SignedHead {
  /** As sent, '' when absent; `credentials` has the bits of {@link CREDENTIAL}. */
  readonly publicKey: string
  readonly timestamp: string
  readonly signature: string
  readonly credentials: number
  /** `null`: legacy credentials or none. */
  readonly messageSignature: MessageSignature | null
}

/** What is signed, with the credentials that came with it. */
export interface SignedRequest extends SignedHead {
  readonly method: string
  /** Exactly as sent. */
  readonly target: string
  /** The raw bytes, or a text without lone surrogates, which stands for its UTF-8. */
  readonly body: Uint8Array | string
}

/** The headers of RFC 9421 and RFC 9530 as sent, '' when absent. */
export interface MessageSignature {
  /** Signature-Input. */
  readonly input: string
  /** Signature. */
  readonly signature: string
  /** Content-Digest. */
  readonly contentDigest: string
}

/** Who signed. */
export interface Caller {
  account: number
  application: number
  session: number
  generation: number
  /** Row of the delegated agent that signed; -1: the account's own wallet. */
  agent: number
}

/** Makes `caller` the owner of this session. */
export function setCaller(caller: Caller, view: SessionView): void {
  caller.account = view.account
  caller.application = view.application
  caller.session = view.session
  caller.generation = view.generation
  caller.agent = view.agent
}

/** Scratch of this thread. The longest text is bounded by the size of a request head. */
const message = Buffer.alloc(64 * 1024)

/** Whether `signature` is one of `text` by `publicKey`. What is signed is visible ASCII, so latin1 writes it as sent. */
export function verifyText(signature: Uint8Array, text: string, publicKey: Uint8Array): boolean {
  return verifySignature(signature, message.subarray(0, message.write(text, 'latin1')), publicKey)
}
