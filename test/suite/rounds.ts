/**
 * How long a test file goes on: what a file that is in both suites asks. `npm test` wants `short` rounds, `npm run
 * test:deep` `deep` rounds, and with `--minutes` as many of them as the file's share of the time allows, though
 * never fewer than `short`.
 *
 * `ROUNDS=` and `SEED=` before the command say otherwise for one file.
 */
import type { Test } from 'tap'

/** Whether this is a run of the deep suite. */
export const DEEP = process.env['SUITE'] === 'deep'

export interface Counts {
  readonly short: number
  readonly deep: number
}

/** An empty variable is none. */
const given = (name: string): string | undefined => process.env[name] || undefined

/** Seed of what a file draws: `SEED`, else that of the deep run, else `otherwise`, which is another each time when it is not given. */
export function seedOf(otherwise = Date.now() % 1_000_000): number {
  return Number(given('SEED') ?? given('SUITE_SEED') ?? otherwise)
}

/** How many rounds, when their number must be known before the first. */
export function rounds({ short, deep }: Counts): number {
  return Number(given('ROUNDS') ?? (DEEP ? deep : short))
}

/** Numbers of the rounds from 0 on. A run that was given seconds ends after them; the comment that says so is printed by the suite. */
export function* eachRound(t: Pick<Test, 'comment'>, counts: Counts): Generator<number, void> {
  const most = rounds(counts)
  const seconds = given('ROUNDS') === undefined ? Number(given('SUITE_SECONDS') ?? Infinity) : Infinity
  const ends = performance.now() + seconds * 1000
  let round = 0
  for (; round < most; round++) {
    if (round >= counts.short && performance.now() >= ends) break
    yield round
  }
  if (DEEP) t.comment(round === most ? `all ${most} rounds` : `${round} rounds, ${most - round} of ${most} left out for want of time`)
}
