/**
 * Strategy keys as commands name them: the first 8 bytes of SHA-256 over the text, which no two keys of one account share. All zero stands
 * for no key.
 */
import { hash } from 'node:crypto'

/** The two words of a strategy key; '': none. */
export function strategyKeyWords(key: string): readonly [low: number, high: number] {
  if (key === '') return [0, 0]
  const bytes = hash('sha256', key, 'buffer')
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}
