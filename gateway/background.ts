/**
 * Threads whose work may wait for trading: wallet recoveries and the embedded chain, which strangers can keep busy. On Linux a priority
 * belongs to a thread; they get one below that of the matcher and the gateways, so that on a busy machine they compute in what those leave
 * (about a tenth of a core when there is nothing left), and all they can on a quiet one. Elsewhere it would be the whole process's, so
 * nothing is changed.
 */
import { constants, getPriority, setPriority } from 'node:os'

/** Lowers the priority of the calling thread, for good. */
export function workInBackground(): void {
  if (process.platform !== 'linux') return
  try {
    const low = constants.priority.PRIORITY_BELOW_NORMAL
    if (getPriority(0) < low) setPriority(0, low)
  } catch {
    // Forbidden here: the work is done at the priority of everything else.
  }
}
