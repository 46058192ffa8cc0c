/** For tests that wait for what comes by itself. */
import { setTimeout as pause } from 'node:timers/promises'

/** Longer than a busy machine keeps anything waiting, ms. */
const LONGEST_MS = 60_000

/** Looks again every `betweenMs` until it holds, for a minute at most: whether it does. */
export async function until(holds: () => boolean | Promise<boolean>, betweenMs = 5): Promise<boolean> {
  for (const end = performance.now() + LONGEST_MS; performance.now() < end; await pause(betweenMs)) if (await holds()) return true
  return holds()
}
