/** The key of the indexes of one process (state/indexes.ts): two random words, drawn anew at every start. */
import { realIo, type Io } from './io.ts'

export function drawHashKey({ random }: Pick<Io, 'random'> = realIo): [number, number] {
  const bytes = random(8)
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}
