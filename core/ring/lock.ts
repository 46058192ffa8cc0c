/**
 * A lock word in shared memory, for threads in front of the engine. What it guards takes microseconds at most, so whoever finds it taken
 * looks again; when the holder seems to have lost its processor he sleeps, 1 ms at a time, and nobody wakes him: that is the rare case.
 * A thread that dies takes the process with it, so a lock is never left behind.
 */
const FREE = 0
const HELD = 1
const LOOKS = 1000
const SLEEPS = 10_000

/** Takes the lock in word `at`. Throws when it stays taken for ten seconds. */
export function lock(words: Int32Array, at: number): void {
  for (let tries = 0; Atomics.compareExchange(words, at, FREE, HELD) !== FREE; tries++) {
    if (tries > LOOKS + SLEEPS) throw new Error('a lock of the shared memory stays taken')
    if (tries > LOOKS) Atomics.wait(words, at, HELD, 1)
  }
}

/** Gives the lock in word `at` back. */
export const unlock = (words: Int32Array, at: number): void => void Atomics.store(words, at, FREE)
