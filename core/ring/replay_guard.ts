/**
 * Memory of the signatures that opened a session on a stream, of all threads in front of the engine (gateway/auth/replay_guard.ts says why
 * and how). Nothing here is state of the engine: it starts empty and is gone with the process.
 *
 *   head: lock; which of the two tables is the present one; how many each has; which period it is and when it began; what is refused for
 *         its age; key
 *   two tables of {@link REPLAY_GUARD}.SLOTS tags of four words; a free slot is zero
 *
 * Tags are keyed with random bytes of this process, so nobody outside can choose where a signature stands, or make two of them meet.
 */
export const REPLAY_GUARD = {
  /** Words of the head. PERIOD: how many there were. */
  LOCK: 0, PRESENT: 1, COUNT: 2, PERIOD: 12, KEY: 16,
  /** Doubles of the head: Unix ms. NEWEST: the latest time of signing in each table. */
  SINCE: 2, FLOOR: 3, NEWEST: 4,
  KEY_BYTES: 32,
  HEAD_WORDS: 32,
  TAG_WORDS: 4,
  /** Of one table; a power of two, and twice what a table takes. */
  SLOTS: 131_072,
} as const

/** Signatures remembered in one period; more open nothing. */
export const OPENINGS_MAX = REPLAY_GUARD.SLOTS / 2
/**
 * Of these, one account's, whichever transports it opens on. The share shrinks as the table fills: the last tenth is for accounts that
 * opened almost nothing, so that no number of busy accounts keeps the others from trading.
 */
export const OPENINGS_PER_ACCOUNT = 256
const SHARES: readonly (readonly [until: number, share: number])[] = [
  [OPENINGS_MAX / 2, OPENINGS_PER_ACCOUNT], [Math.floor(OPENINGS_MAX * 0.9), 32], [OPENINGS_MAX, 4],
]

/** Signatures that one account may have among `count` of all. */
export function replayGuardShare(count: number): number {
  for (const [until, share] of SHARES) if (count < until) return share
  return 0
}

/** Memory for the threads. What was signed before `startedAt`, Unix ms, opens nothing; `key` is 32 random bytes. */
export function createReplayGuard(startedAt: number, key: Uint8Array): SharedArrayBuffer {
  const { HEAD_WORDS, TAG_WORDS, SLOTS, KEY, KEY_BYTES, FLOOR } = REPLAY_GUARD
  const buffer = new SharedArrayBuffer((HEAD_WORDS + 2 * SLOTS * TAG_WORDS) * 4)
  new Uint8Array(buffer, KEY * 4, KEY_BYTES).set(key)
  new Float64Array(buffer, 0, HEAD_WORDS / 2)[FLOOR] = startedAt
  return buffer
}
