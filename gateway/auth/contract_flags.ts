/**
 * Which wallets may sign in by contract signature: the private beta's flags, from `contractLoginFile`.
 *
 *   {"contractLogin": "all"}   {"contractLogin": "none"}   {"contractLogin": ["0x...", ...]}
 *
 * Without a file everybody may. The file is looked at once a second at most and read again when it changed. One that cannot be read, or
 * says anything else, says nothing: the answer is `null` for every address, and no sign-in is decided by it (specification, Verify
 * rules, rule 4).
 */
import { readFileSync, statSync } from 'node:fs'

/** Addresses a file may list; and its longest size, bytes. */
export const ADDRESSES_MAX = 100_000
const FILE_BYTES_MAX = 8 << 20
const LOOK_MS = 1_000

type Flags = 'all' | 'none' | ReadonlySet<string>

export interface ContractFlags {
  /** Whether this address (lowercase) may; `null` when that cannot be known. */
  eligible(address: string): boolean | null
  /** Looks at the file now: why it cannot be used, or `null`. Tells nobody else. */
  fault(): string | null
}

/** Flags of the file at `path`; '' is none. `now` is in ms and never goes back. `failed` hears when the file stops being readable. */
export function createContractFlags(path: string, now: () => number, failed: (reason: string) => void): ContractFlags {
  let flags: Flags | null = path === '' ? 'all' : null
  let version = ''
  let next = -Infinity
  let reported = ''

  function look(say: (reason: string) => void = failed): void {
    next = now() + LOOK_MS
    try {
      const { mtimeNs, ctimeNs, size, ino } = statSync(path, { bigint: true })
      const found = `${mtimeNs} ${ctimeNs} ${size} ${ino}`
      if (found === version) return
      version = found
      if (size > BigInt(FILE_BYTES_MAX)) throw new Error('it is too long')
      flags = null
      flags = parse(readFileSync(path, 'utf8'))
      reported = ''
    } catch (error) {
      // A file that is there and wrong keeps its version, and is not read again before it changes.
      if ((error as NodeJS.ErrnoException).code !== undefined) version = ''
      flags = null
      const { message } = error as Error
      if (message !== reported) say(message)
      reported = message
    }
  }

  return {
    fault() {
      if (path !== '') look(() => undefined)
      return flags === null ? reported : null
    },
    eligible(address) {
      if (path !== '' && now() >= next) look()
      if (flags === null) return null
      return flags === 'all' || (flags !== 'none' && flags.has(address))
    },
  }
}

function parse(text: string): Flags {
  const json = JSON.parse(text) as Record<string, unknown> | null
  if (typeof json !== 'object' || json === null || Object.keys(json).join() !== 'contractLogin') {
    throw new Error('it must be an object with contractLogin alone')
  }
  const { contractLogin } = json
  if (contractLogin === 'all' || contractLogin === 'none') return contractLogin
  const listed = Array.isArray(contractLogin) && contractLogin.length <= ADDRESSES_MAX
  if (!listed || !contractLogin.every((one) => typeof one === 'string' && /^0x[0-9a-fA-F]{40}$/.test(one))) {
    throw new Error(`contractLogin must be "all", "none" or a list of at most ${ADDRESSES_MAX} addresses`)
  }
  return new Set((contractLogin as string[]).map((address) => address.toLowerCase()))
}
