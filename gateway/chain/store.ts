/**
 * `chain.sqlite` in the data directory: every transaction of the embedded chain as it was sent, with number, time and hash of its block.
 * That is all there is to the chain: executing them again gives the same blocks. A file that cannot be read, is of another chain or
 * has a gap is {@link ChainDamaged}; nothing is ever repaired.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Raised with every change of what a stored transaction does. */
const FORMAT = 1

export class ChainDamaged extends Error {
  override name = 'ChainDamaged'
}

export interface StoredBlock {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly hash: Uint8Array
  readonly raw: Uint8Array
}

export interface ChainStore {
  /** In order of numbers, from 1 on, without gaps. Throws {@link ChainDamaged}. */
  blocks(): Generator<StoredBlock>
  /** Durable against the end of the process when it returns. Throws when the file cannot be written. */
  append(block: StoredBlock): void
  close(): void
}

/** Path of the file in this data directory. */
export const chainPath = (dataDir: string): string => join(dataDir, 'chain.sqlite')

/** Opens or makes the file of this chain. `rules` names the rules by which transactions are executed. Throws {@link ChainDamaged}. */
export function openChainStore(path: string, chainId: number, rules: string): ChainStore {
  const database = damagedUnless(() => open(path, chainId, rules))
  const insert = database.prepare('INSERT INTO blocks (number, timestamp, hash, raw) VALUES (?, ?, ?, ?)')
  return {
    *blocks() {
      const rows = damagedUnless(() => database.prepare('SELECT number, timestamp, hash, raw FROM blocks ORDER BY number').iterate())
      try {
        for (let expected = 1; ; expected++) {
          const { done, value } = damagedUnless(() => rows.next())
          if (done === true) return
          const block = value as StoredBlock
          if (block.number !== expected) throw new ChainDamaged(`block ${expected} is missing`)
          yield block
        }
      } finally {
        // Who stops in the middle leaves a question open, and then the file cannot be closed.
        rows.return?.()
      }
    },
    append: ({ number, timestamp, hash, raw }) => void insert.run(number, timestamp, hash, raw),
    close: () => void database.close(),
  }
}

function open(path: string, chainId: number, rules: string): Database.Database {
  const database = new Database(path)
  try {
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    database.exec(`
      CREATE TABLE IF NOT EXISTS chain (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER, chain_id INTEGER, rules TEXT) STRICT;
      CREATE TABLE IF NOT EXISTS blocks (
        number INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, hash BLOB NOT NULL, raw BLOB NOT NULL
      ) STRICT;
    `)
    database.prepare('INSERT OR IGNORE INTO chain (one, format, chain_id, rules) VALUES (1, ?, ?, ?)').run(FORMAT, chainId, rules)
    const found = database.prepare('SELECT format, chain_id AS chainId, rules FROM chain').get() as Record<string, unknown>
    if (found['format'] !== FORMAT || found['chainId'] !== chainId || found['rules'] !== rules) {
      throw new ChainDamaged(`it is of chain ${found['chainId']}, format ${found['format']}, rules ${found['rules']}`)
    }
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function damagedUnless<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof ChainDamaged ? error : new ChainDamaged((error as Error).message)
  }
}
