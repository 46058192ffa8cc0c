/**
 * The one thing that happens on the embedded chain without a signed transaction: code is put at an address, as other networks have some
 * from their first block on. It stands in the store among the transactions, in a form that none of them has, is a block of its own,
 * without transactions, and is executed again like them. Only the process of the chain does it (thread.ts); no method of JSON-RPC.
 */
import { createAddressFromString } from '@ethereumjs/util'
import type { Machine } from './machine.ts'
import { toBytes, toHex, type Hex } from './values.ts'

/** No transaction begins so: neither a type (below 0x80) nor a list that is short enough. */
const MARK = Buffer.from('ff7265742d636f6465', 'hex')
const ADDRESS_BYTES = 20
/** Most bytes of code at one address (EIP-170). */
const CODE_BYTES_MAX = 24_576

export interface SetCode {
  readonly address: Hex
  readonly code: Hex
}

export function encodeSetCode({ address, code }: SetCode): Uint8Array {
  const bytes = [toBytes(address), toBytes(code)] as const
  if (bytes[0].length !== ADDRESS_BYTES || bytes[1].length === 0 || bytes[1].length > CODE_BYTES_MAX) throw new Error('no code to set')
  return new Uint8Array(Buffer.concat([MARK, ...bytes]))
}

/** `null`: it is a transaction. */
export function decodeSetCode(raw: Uint8Array): SetCode | null {
  if (Buffer.compare(raw.subarray(0, MARK.length), MARK) !== 0) return null
  const at = MARK.length + ADDRESS_BYTES
  return { address: toHex(raw.subarray(MARK.length, at)), code: toHex(raw.subarray(at)) }
}

/** Puts the code there. The account counts as a contract: its nonce is 1, as of one that was created. */
export async function putCode({ state }: Machine, { address, code }: SetCode): Promise<void> {
  const where = createAddressFromString(address)
  await state.putCode(where, toBytes(code))
  await state.modifyAccountFields(where, { nonce: 1n })
}
