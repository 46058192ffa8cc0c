/** The key of the indexes of one process (state/indexes.ts): two random words, drawn anew at every start. */
import { randomBytes } from 'node:crypto'

export function drawHashKey(): [number, number] {
  const bytes = randomBytes(8)
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}
