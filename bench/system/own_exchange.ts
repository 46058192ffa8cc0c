/**
 * Directories and processes of a bench's own, none of which is left behind: not after an error, and not when the bench is interrupted.
 * Only what ends this process without asking it (SIGKILL) leaves them: directories as data/var-*, processes with their own log.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { removeDirectory, startAsConfigured as startExchange, temporaryDirectory, type Exchange } from '../../test/support/exchange.ts'

export { removeDirectory, startAsConfigured as startExchange } from '../../test/support/exchange.ts'

const directories = new Set<string>()

/** Every process that this one started, directly or not, by the parents in /proc. */
function descendants(): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      // Behind the name in brackets, which may hold anything: state and parent.
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ') as [string, string]
      if (state !== 'Z') parents.set(Number(name), Number(parent))
    } catch {
      // It ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (parents.has(pid) && isOurs(parents.get(pid)!))
  return [...parents.keys()].filter((pid) => pid !== process.pid && isOurs(pid)).sort((a, b) => a - b)
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }
}

function leaveNothing(): void {
  const pids = descendants()
  killAll(pids)
  if (pids.length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ENDING_MS)
  // Those that were started in the same moment.
  killAll(descendants())
  for (const directory of directories) removeDirectory(directory)
}

/** For the system to end processes, whose files are removed then. */
const ENDING_MS = 200

process.once('exit', leaveNothing)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))

/** A new directory, which is gone when this process ends, at the latest. */
export function ownDirectory(): string {
  const directory = temporaryDirectory()
  directories.add(directory)
  return directory
}

/** Runs `work` against an exchange that was started with `flags`, which may want the directory. */
export async function withExchange<T>(
  flags: readonly string[] | ((directory: string) => readonly string[]), work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const directory = ownDirectory()
  try {
    const exchange = await startExchange(directory, typeof flags === 'function' ? flags(directory) : flags)
    try {
      return await work(exchange)
    } finally {
      await exchange.stop()
    }
  } finally {
    removeDirectory(directory)
  }
}
