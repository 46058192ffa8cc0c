/**
 * The seam to the outside: clock, randomness, and what is asked of a file system; the journal's and the snapshots' storage have their own
 * (journal/store.ts, snapshot/store.ts). What the matcher and its followers do goes through these three, so that a simulator can stand in
 * (test/simulation/). The engine folders never import this file.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, statfsSync } from 'node:fs'

export interface Io {
  /** Wall clock, Unix ms, whole. May jump. */
  now(): number
  /** Monotonic seconds, for durations. */
  seconds(): number
  /** What to add to {@link seconds}, in ms, for the clock of {@link monotonicMs}. */
  readonly monotonicOrigin: number
  /** Bytes that nobody can foresee. */
  random(bytes: number): Buffer
  /** Bytes free to this process on the file system of `path`. */
  freeBytes(path: string): number
  /** Makes a directory entry durable after a rename. */
  syncDirectory(path: string): void
}

/** Pairs of readings that are looked at. */
const PAIRS = 20

/**
 * performance.now() begins anew with each thread; where it began, by the monotonic clock of the machine, ms. A thread that starts on a
 * busy machine may be interrupted between reading the one and the other, which would set it back against all others: the nearest pair
 * counts.
 */
function origin(): number {
  let [began, nearest] = [0, Infinity]
  for (let pair = 0; pair < PAIRS; pair++) {
    const before = performance.now()
    const [seconds, nanoseconds] = process.hrtime()
    const took = performance.now() - before
    if (took < nearest) [began, nearest] = [seconds * 1e3 + nanoseconds / 1e6 - before - took / 2, took]
  }
  return began
}
const ORIGIN = origin()
/** Ms of the machine's monotonic clock: the same for all threads, never set. */
export const monotonicMs = (): number => ORIGIN + performance.now()

export const realIo: Io = {
  monotonicOrigin: ORIGIN,
  now: () => Date.now(),
  random: (bytes) => randomBytes(bytes),
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
