/**
 * Directories and processes of a bench's own, none of which is left behind: not after an error, and not when the bench is interrupted.
 * Only what ends this process without asking it (SIGKILL) leaves them: directories as data/var-*, processes with their own log.
 */
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../test/support/exchange.ts'

export { removeDirectory } from '../../test/support/exchange.ts'

const directories = new Set<string>()
const processes = new Set<number>()

function leaveNothing(): void {
  for (const pid of processes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended before.
    }
  }
  for (const directory of directories) removeDirectory(directory)
}

process.once('exit', leaveNothing)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))

/** A child that ends with this process at the latest. */
export function ownChild<Child extends { readonly pid?: number | undefined; once(event: 'exit', listener: () => void): unknown }>(
  child: Child,
): Child {
  const pid = child.pid!
  processes.add(pid)
  child.once('exit', () => processes.delete(pid))
  return child
}

/** A new directory, which is gone when this process ends, at the latest. */
export function ownDirectory(): string {
  const directory = temporaryDirectory()
  directories.add(directory)
  return directory
}

/** An exchange that ends with this process at the latest. */
export async function ownExchange(directory: string, flags: readonly string[] = []): Promise<Exchange> {
  const exchange = await startExchange(directory, flags)
  ownChild(exchange.supervisor)
  processes.add(exchange.pid)
  void exchange.ended.then(() => processes.delete(exchange.pid))
  return exchange
}

/** Runs `work` against an exchange that was started with `flags`, which may want the directory. */
export async function withExchange<T>(
  flags: readonly string[] | ((directory: string) => readonly string[]), work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const directory = ownDirectory()
  try {
    const exchange = await ownExchange(directory, typeof flags === 'function' ? flags(directory) : flags)
    try {
      return await work(exchange)
    } finally {
      await exchange.stop()
    }
  } finally {
    removeDirectory(directory)
  }
}
