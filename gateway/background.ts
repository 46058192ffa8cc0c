/**
 * Threads whose work may wait for trading: wallet recoveries, the vault and the embedded chain, which strangers can keep busy. On Linux a
 * priority belongs to a thread; they get one below that of the matcher and the gateways, so that on a busy machine they compute in what
 * those leave (about a tenth of a core when there is nothing left), and all they can on a quiet one. Elsewhere it would be the whole
 * process's, so nothing is changed.
 *
 * That is not all that can be done: the scheduler lets a thread that computes finish its slice of some ms before one that wakes up,
 * whatever their priorities. One that works when a core is idle (SCHED_IDLE) makes way at once, but has a three-hundredth of a core when
 * there is nothing left. So that is for what could as well be on another machine, and only when it is asked for (`chainIdle`).
 */
import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

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

/** The calling thread computes when nobody else wants to, for good; where there is no `chrt` (util-linux), as {@link workInBackground}. */
export function workWhenIdle(): void {
  workInBackground()
  if (process.platform !== 'linux') return
  // Node sets priorities and nothing else of how a thread is scheduled; another program must know the thread by its number.
  const thread = basename(readlinkSync('/proc/thread-self'))
  spawnSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' })
}
