/**
 * The genesis document that the operator configured, for a directory that has no journal yet, or to be held against the
 * journal's.
 */
import { existsSync, readFileSync } from 'node:fs'
import { KNOBS } from '../config.ts'
import { systemFault } from '../lib/system_fault.ts'
import { GenesisError } from '../state/genesis.ts'

/** What a start asks of the genesis that it was given. Both throw GenesisError. */
export interface GenesisSource {
  /** The document of a fresh journal. */
  read(): string
  /** Whether the exchange may go on with the one that its journal began with; hears what is only to be said. */
  check(recorded: string, say: (message: string) => void): void
}

/** The file at `path`. `dataDir` is for the words. */
export const genesisFile = (path: string, dataDir: string): GenesisSource => ({
  read: () => readGenesisFile(path),
  check: (recorded, say) => checkGenesis(path, dataDir, recorded, say),
})

function readGenesisFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new GenesisError(systemFault(error, `--genesis ${path}`).message)
  }
}

/**
 * A directory keeps the genesis it was made with. A file that the operator names must be the same document; the shipped
 * one, which is the default, may have changed since, and that is only said.
 */
function checkGenesis(path: string, dataDir: string, recorded: string, say: (message: string) => void): void {
  const named = path !== KNOBS.genesis.fallback
  if ((!named && !existsSync(path)) || isDocument(path, recorded)) return
  if (named) {
    throw new GenesisError(
      `genesis: ${dataDir} was made with another genesis than ${path}; name the one it was made with, or another directory`,
    )
  }
  say(`the shipped genesis has changed; ${dataDir} keeps the one it was made with`)
}

/** Whether the file at `path` holds the same JSON document as `text`. */
function isDocument(path: string, text: string): boolean {
  let given: unknown
  try {
    given = JSON.parse(readGenesisFile(path))
  } catch (error) {
    throw error instanceof GenesisError ? error : new GenesisError(`genesis: ${path}: ${(error as Error).message}`)
  }
  return JSON.stringify(given) === JSON.stringify(JSON.parse(text))
}
