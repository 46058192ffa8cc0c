/**
 * The vault's key, read in the signer thread. It is 64 hex digits, in a file for its owner alone. Nothing that is thrown here
 * says any of it.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { writeDurably } from '../../../core/lib/durable_file.ts'
import type { VaultKeyPlace } from '../../../core/threads.ts'
import type { Hex } from '../values.ts'

const FOR_OTHERS = 0o077

export class KeyError extends Error {
  override name = 'KeyError'
}

/** The private key. Throws {@link KeyError}. */
export function readVaultKey(place: Exclude<VaultKeyPlace, { kind: 'remote' }>): Hex {
  if (place.kind === 'given') return checked(place.key, 'the environment')
  const found = readPrivate(place.path)
  if (found !== null) return checked(found, place.path)
  if (!place.make) throw new KeyError(`there is no key file ${place.path}`)
  const key = newKey()
  writeDurably(dirname(place.path), basename(place.path), `${key.slice(2)}\n`)
  return key
}

/** The content of a file that nobody else may read; `null`: there is none. */
function readPrivate(path: string): string | null {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new KeyError(`the key file ${path} cannot be read: ${code}`)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > 1_000) throw new KeyError(`${path} is no key file`)
    if ((stat.mode & FOR_OTHERS) !== 0) throw new KeyError(`others may read or change the key file ${path}; chmod 600 it`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function checked(text: string, where: string): Hex {
  const digits = text.trim().replace(/^0x/, '').toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(digits) || !isKey(digits)) throw new KeyError(`the vault's key in ${where} must be 64 hex digits of secp256k1`)
  return `0x${digits}`
}

const isKey = (digits: string): boolean => secp256k1.utils.isValidSecretKey(new Uint8Array(Buffer.from(digits, 'hex')))

function newKey(): Hex {
  for (;;) {
    const digits = randomBytes(32).toString('hex')
    if (isKey(digits)) return `0x${digits}`
  }
}
