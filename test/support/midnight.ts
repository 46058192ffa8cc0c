/** Tests of what happens at full days or minutes of UTC do not begin just before one. */
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** More than such a test takes on a busy machine. */
const DAY_MARGIN_MS = 120_000
const MINUTE_MARGIN_MS = 25_000
const LOOK_MS = 1000

/** Resolves when at least `margin` is left of the period of UTC. */
async function farFromEnd(period: number, margin: number): Promise<void> {
  for (let looks = 0; looks <= margin / LOOK_MS && period - (Date.now() % period) < margin; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Resolves at once but in the last two minutes of a UTC day. */
export const farFromMidnight = (): Promise<void> => farFromEnd(DAY_MS, DAY_MARGIN_MS)

/** Resolves at once but in the last 25 seconds of a minute: samples of funding are commands, and take sequences. */
export const farFromFullMinute = (): Promise<void> => farFromEnd(MINUTE_MS, MINUTE_MARGIN_MS)
