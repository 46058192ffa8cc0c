/**
 * `chain.sqlite` in the data directory: every transaction of the embedded chain as it was sent, with number, time and hash of its block.
 * That is all there is to the chain: executing them again gives the same blocks. A file that cannot be read, is of another chain or
 * has a gap is {@link ChainDamaged}; nothing is ever repaired.
 *
 * Beside each block stands what came of it ({@link Kept}), with a checksum over both, so that a start need not execute it. It is a
 * copy: what is missing, cannot be read or has another checksum is executed again, with all blocks behind it.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
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

/** What came of executing a block. */
export interface Kept {
  /** The block as it is answered (devnet.ts). */
  readonly mined: unknown
  /** Nodes that it added to the state. */
  readonly nodes: readonly (readonly [key: string, value: string])[]
  /** Time that it took, ms. */
  readonly ms: number
}

export interface ChainStore {
  /** In order of numbers, from 1 on, without gaps. Throws {@link ChainDamaged}. */
  blocks(): Generator<StoredBlock>
  /** Durable against the end of the process when it returns. Throws when the file cannot be written. */
  append(block: StoredBlock): void
  /** Removes all blocks behind this number. */
  cut(number: number): void
  /** Keeps what came of a block that is stored; returns its bytes. */
  keep(block: StoredBlock, kept: Kept): number
  /** What was kept of this block, with its bytes; `null` when there is nothing to be relied on. */
  kept(block: StoredBlock): { readonly kept: Kept; readonly bytes: number } | null
  close(): void
}

/** Path of the file in this data directory. */
export const chainPath = (dataDir: string): string => join(dataDir, 'chain.sqlite')

/** Opens or makes the file of this chain. `rules` names the rules by which transactions are executed. Throws {@link ChainDamaged}. */
export function openChainStore(path: string, chainId: number, rules: string): ChainStore {
  const database = damagedUnless(() => open(path, chainId, rules))
  const keep = damagedUnless(() => database.prepare('INSERT OR REPLACE INTO states (number, checksum, content) VALUES (?, ?, ?)'))
  const find = damagedUnless(() => database.prepare('SELECT checksum, content FROM states WHERE number = ?'))
  const insert = database.prepare('INSERT INTO blocks (number, timestamp, hash, raw) VALUES (?, ?, ?, ?)')
  return {
    *blocks() {
      // One by one, because between two of them something is written.
      const from = 'SELECT number, timestamp, hash, raw FROM blocks WHERE number >= ? ORDER BY number LIMIT 1'
      const next = damagedUnless(() => database.prepare(from))
      for (let expected = 1; ; expected++) {
        const block = damagedUnless(() => next.get(expected)) as StoredBlock | undefined
        if (block === undefined) return
        if (block.number !== expected) throw new ChainDamaged(`block ${expected} is missing`)
        yield block
      }
    },
    append: ({ number, timestamp, hash, raw }) => void insert.run(number, timestamp, hash, raw),
    cut: (number) => {
      database.transaction(() => {
        for (const table of ['states', 'blocks']) database.prepare(`DELETE FROM ${table} WHERE number > ?`).run(number)
      })()
    },
    keep: (block, kept) => {
      const content = serialize(kept)
      keep.run(block.number, checksum(block, content), content)
      return content.length
    },
    kept: (block) => {
      const row = find.get(block.number) as { checksum: Uint8Array; content: Buffer } | undefined
      if (row === undefined || !checksum(block, row.content).equals(row.checksum)) return null
      try {
        return { kept: deserialize(row.content) as Kept, bytes: row.content.length }
      } catch {
        return null
      }
    },
    close: () => void database.close(),
  }
}

function checksum({ number, timestamp, hash, raw }: StoredBlock, content: Uint8Array): Buffer {
  const block = createHash('sha256').update(`${number} ${timestamp} ${raw.length} `).update(hash).update(raw)
  return block.update(content).digest()
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
      CREATE TABLE IF NOT EXISTS states (number INTEGER PRIMARY KEY, checksum BLOB NOT NULL, content BLOB NOT NULL) STRICT;
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
