/** Sends what waits in connections, a slice at a time. */
import type { Connection } from './connection.ts'

/** Connections between two looks at the clock. */
const GROUP = 16

/** Sends what waits in `dirty` until all is sent or it is `until` by performance.now(); false: some are left. */
export function flushUntil(dirty: Set<Connection>, until: number): boolean {
  let count = 0
  for (const connection of dirty) {
    dirty.delete(connection)
    const more = connection.flush()
    if ((more || ++count % GROUP === 0) && performance.now() >= until) return dirty.size === 0
  }
  return true
}
