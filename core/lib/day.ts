/** Days of UTC, in which daily limits count. */
export const DAY_MS = 86_400_000

/** Days since 1970 at a time, Unix ms. */
export const dayOf = (time: number): number => Math.floor(time / DAY_MS)
