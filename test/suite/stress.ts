/** Processes that keep cores busy beside a suite: a test that fails then, and not otherwise, waits for a time instead of a condition. */
import { spawn } from 'node:child_process'

/** Looks now and then whether its parent, whose id it is given, is still there: it may have been killed. */
const BUSY = 'const parent = Number(process.argv[1]); while (process.ppid === parent) for (let turn = 0; turn < 1e7; turn++);'

export interface Busy {
  readonly pids: readonly number[]
  end(): void
}

export function startBusy(count: number): Busy {
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', BUSY, String(process.pid)], { stdio: 'ignore' }))
  return { pids: busy.map(({ pid }) => pid!), end: () => busy.forEach((child) => child.kill('SIGKILL')) }
}
