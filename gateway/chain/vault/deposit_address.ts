/**
 * Personal deposit addresses: where the factory's forwarder of a beneficiary and an application is, or would be (CREATE2). Whatever
 * token of the list is paid to it can be swept into the vault by anybody, for that beneficiary alone. Pure, and quick enough to know a
 * hundred thousand of them.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toBytes, toHex, type Hex } from '../values.ts'
import { artifact } from './artifact_file.ts'

/** 16 zero bytes: the default application. */
export const DEFAULT_APPLICATION: Hex = `0x${'00'.repeat(16)}`

/** The 16 bytes of an application's id (a UUID). */
export const applicationBytes = (uuid: string): Hex => `0x${uuid.replaceAll('-', '').toLowerCase()}`

/** Address by beneficiary (20 bytes) and application (16 bytes). */
export type DepositAddresses = (beneficiary: Hex, application: Hex) => Hex

let initCodeHash: Uint8Array | undefined

/** Those of this factory. */
export function depositAddresses(factory: Hex): DepositAddresses {
  initCodeHash ??= keccak_256(toBytes(artifact('DepositForwarder').bytecode))
  // abi.encode(address, bytes16): an address stands at the end of its word, bytes at the beginning.
  const salted = new Uint8Array(64)
  // 0xff, factory, salt, hash of the init code (EIP-1014).
  const placed = new Uint8Array(85)
  placed[0] = 0xff
  placed.set(toBytes(factory), 1)
  placed.set(initCodeHash, 53)
  return (beneficiary, application) => {
    const [who, what] = [toBytes(beneficiary), toBytes(application)]
    if (who.length !== 20 || what.length !== 16) throw new Error('no beneficiary or application')
    salted.set(who, 12)
    salted.set(what, 32)
    placed.set(keccak_256(salted), 21)
    return toHex(keccak_256(placed).subarray(12))
  }
}
