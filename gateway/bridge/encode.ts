/**
 * Requests as command records (layout/command.ts).
 *
 * A record is built in a private scratch and copied into its ring slot in one piece. The payload hash of a keyed command is
 * taken over the record itself while header, key and hash are still zero, so it covers the normalised payload and the type of
 * the command: the same order written differently ("1.50", "1.5") is the same payload.
 */
import { hash } from 'node:crypto'
import {
  CANCEL_ALL_COMMAND, CommandType, Flag, kindOf, LABEL_SHIFT, MINT_COMMAND, OPEN_SESSION_COMMAND, ORDER_COMMAND,
} from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import type { Caller } from '../auth/signed_request.ts'
import type { Bridge } from './pending.ts'

const C = ORDER_COMMAND.at
/** Bytes of a key or payload hash in a record. */
const HASH_BYTES = 16

const scratchBytes = Buffer.from(new ArrayBuffer(RECORD_BYTES))
const scratch = viewsOf(scratchBytes.buffer)

/** Terms of PLACE_ORDER and REPLACE_ORDER as numbers; what a command does not use is 0. */
export interface OrderTerms {
  pair: number
  /** {@link Flag} bits, without the length of the label. */
  flags: number
  /** Ticks. */
  price: number
  lots: number
  slippageBps: number
  /** Unix ms. */
  expiresAt: number
  /** Printable ASCII, at most 40 bytes. */
  label: string
  /** Idempotency key; '' without one. */
  key: string
  targetSlot: number
  targetSequence: number
  /** Index of the asset the order pays with; not part of the record. */
  pays: number
}

function begin(type: number): void {
  scratch.i32.fill(0)
  scratch.u32[0] = type
}

/** Writes the header and copies the record into the ring slot at word `at`. */
function finish(bridge: Bridge, at: number, type: number, correlation: number, session: number, generation: number): void {
  scratch.u32[C.kind] = kindOf(type, 1, bridge.gateway)
  scratch.u32[C.correlation] = correlation
  scratch.i32[C.session] = session
  scratch.i32[C.sessionGeneration] = generation
  bridge.commands.slots.i32.set(scratch.i32, at)
}

const finishFor = (bridge: Bridge, at: number, type: number, correlation: number, caller: Caller): void =>
  finish(bridge, at, type, correlation, caller.session, caller.generation)

/** Keys are an account's own: the same text of two accounts is two keys. */
const hashOfKey = (account: number, key: string): string => hash('sha256', `${account}:${key}`)

/** An idempotency key as it stands in records and receipts, four words. */
export function keyWords(account: number, key: string): Int32Array {
  const bytes = Buffer.from(new ArrayBuffer(HASH_BYTES))
  bytes.write(hashOfKey(account, key), 0, HASH_BYTES, 'hex')
  return new Int32Array(bytes.buffer)
}

/** PLACE_ORDER or REPLACE_ORDER. */
export function encodeOrder(bridge: Bridge, at: number, type: number, correlation: number, caller: Caller, terms: OrderTerms): void {
  begin(type)
  const keyed = terms.key !== ''
  scratch.i32[C.pair] = terms.pair
  scratch.u32[C.flags] = (terms.flags | (keyed ? Flag.KEYED : 0) | (terms.label.length << LABEL_SHIFT)) >>> 0
  scratch.i32[C.price] = terms.price
  scratch.i32[C.lots] = terms.lots
  scratch.i32[C.slippageBps] = terms.slippageBps
  scratch.i32[C.targetSlot] = terms.targetSlot
  scratch.f64[C.expiresAt >>> 1] = terms.expiresAt
  scratch.f64[C.targetSequence >>> 1] = terms.targetSequence
  if (terms.label !== '') scratchBytes.write(terms.label, C.label * 4, 'latin1')
  if (keyed) {
    const payload = hash('sha256', scratchBytes)
    scratchBytes.write(hashOfKey(caller.account, terms.key), C.key * 4, HASH_BYTES, 'hex')
    scratchBytes.write(payload, C.payload * 4, HASH_BYTES, 'hex')
  }
  finishFor(bridge, at, type, correlation, caller)
}

export function encodeCancel(bridge: Bridge, at: number, correlation: number, caller: Caller, slot: number, sequence: number): void {
  begin(CommandType.CANCEL_ORDER)
  scratch.i32[C.targetSlot] = slot
  scratch.f64[C.targetSequence >>> 1] = sequence
  finishFor(bridge, at, CommandType.CANCEL_ORDER, correlation, caller)
}

/** CANCEL_ALL of at most `limit` orders of `pair`, -1 for every pair. */
export function encodeCancelAll(bridge: Bridge, at: number, correlation: number, caller: Caller, pair: number, limit: number): void {
  begin(CommandType.CANCEL_ALL)
  scratch.i32[CANCEL_ALL_COMMAND.at.pair] = pair
  scratch.i32[CANCEL_ALL_COMMAND.at.limit] = limit
  finishFor(bridge, at, CommandType.CANCEL_ALL, correlation, caller)
}

/** MINT of `asset`, -1 for all. */
export function encodeMint(bridge: Bridge, at: number, correlation: number, caller: Caller, asset: number): void {
  begin(CommandType.MINT)
  scratch.i32[MINT_COMMAND.at.asset] = asset
  finishFor(bridge, at, CommandType.MINT, correlation, caller)
}

/** OPEN_SESSION of a wallet (0x and 40 hex digits) for a session public key (64 hex digits). */
export function encodeOpenSession(
  bridge: Bridge, at: number, correlation: number, application: number, address: string, key: string,
): void {
  begin(CommandType.OPEN_SESSION)
  scratch.i32[OPEN_SESSION_COMMAND.at.application] = application
  scratchBytes.write(address.slice(2), OPEN_SESSION_COMMAND.at.address * 4, 20, 'hex')
  scratchBytes.write(key, OPEN_SESSION_COMMAND.at.publicKey * 4, 32, 'hex')
  finish(bridge, at, CommandType.OPEN_SESSION, correlation, -1, 0)
}

/** REFRESH_SESSION or REVOKE_SESSION: all is said in the header. */
export function encodeSession(bridge: Bridge, at: number, type: number, correlation: number, caller: Caller): void {
  begin(type)
  finishFor(bridge, at, type, correlation, caller)
}

if (scratch.i32.length !== RECORD_WORDS) throw new Error('the scratch is one record')
