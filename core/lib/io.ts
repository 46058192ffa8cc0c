/**
 * The seam to the outside: clock, randomness, disk. Everything in core/ that is not pure goes through here, so that a simulator
 * can stand in. The engine folders never import this file.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'

export interface Io {
  /** Wall clock, Unix ms, whole. May jump. */
  now(): number
  /** Monotonic seconds, for durations. */
  seconds(): number
  randomBytes(count: number): Uint8Array
  /** Bytes free to this process on the file system of `path`. */
  freeBytes(path: string): number
  /** Makes a directory entry durable after a rename. */
  syncDirectory(path: string): void
}

export const realIo: Io = {
  now: () => Date.now(),
  seconds: () => performance.now() / 1000,
  randomBytes: (count) => randomBytes(count),
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
