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
  /** Bytes free to this process on the file system of `path`. */
  freeBytes(path: string): number
  /** Makes a directory entry durable after a rename. */
  syncDirectory(path: string): void
}

export const realIo: Io = {
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
