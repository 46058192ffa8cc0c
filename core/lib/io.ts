/**
 * The seam to the outside: clock and disk. Everything in core/ that is not pure goes through here, so that a simulator
 * can stand in. The engine folders never import this file.
 */
import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'

export interface Io {
  /** Wall clock, Unix ms, whole. May jump. */
  now(): number
  /** Monotonic seconds, for durations. */
  seconds(): number
  /** What to add to {@link seconds}, in ms, for the clock of {@link monotonicMs}. */
  readonly monotonicOrigin: number
  /** Bytes free to this process on the file system of `path`. */
  freeBytes(path: string): number
  /** Makes a directory entry durable after a rename. */
  syncDirectory(path: string): void
}

/** performance.now() begins anew with each thread; where it began, by the monotonic clock of the machine, ms. */
const [SECONDS, NANOSECONDS] = process.hrtime()
const ORIGIN = SECONDS * 1e3 + NANOSECONDS / 1e6 - performance.now()
/** Ms of the machine's monotonic clock: the same for all threads, never set. */
export const monotonicMs = (): number => ORIGIN + performance.now()

export const realIo: Io = {
  monotonicOrigin: ORIGIN,
  now: () => Date.now(),
  seconds: () => performance.now() / 1000,
  freeBytes: (path) => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  },
  syncDirectory: (path) => {
    const fd = openSync(path, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  },
}
