/** SHA-256 digest of a state, hex. The engine says which bytes count; the hash function lives outside of it. */
import { createHash } from 'node:crypto'
import { digestState } from '../state/digest.ts'
import type { State } from '../state/state.ts'

export function stateDigest(state: State): string {
  const hash = createHash('sha256')
  digestState(state, (bytes) => hash.update(bytes))
  return hash.digest('hex')
}
