/** Tests of what is counted by UTC day do not begin just before its end. */
const DAY_MS = 86_400_000
/** More than such a test takes on a busy machine. */
const MARGIN_MS = 120_000
const LOOK_MS = 1000

/** Resolves when at least {@link MARGIN_MS} are left of the UTC day: at once but for the last two minutes of it. */
export async function farFromMidnight(): Promise<void> {
  for (let looks = 0; looks <= MARGIN_MS / LOOK_MS && DAY_MS - (Date.now() % DAY_MS) < MARGIN_MS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
