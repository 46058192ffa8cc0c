/** One run of the simulation, and what is said of one that fails. */
import { Violation } from './violation.ts'
import { World, type Report } from './world.ts'

/** Turns of one run: some 25 crashes. */
export const TURNS = 600

/** A run that failed: what is wrong, and the shortest run found that fails. */
export interface Failure {
  readonly seed: number
  readonly turns: number
  readonly message: string
}

/** Runs one seed; throws {@link Violation}. `history`: with the follower of the history, or without it, whatever the seed says. */
export const simulate = (seed: number, turns: number, history?: boolean): Report => new World(seed, history).run(turns)

/**
 * What is wrong with a run, and after how many turns that was found; `null`: nothing is. What is thrown and is no violation is as
 * wrong, and told with its stack.
 */
function fault(seed: number, turns: number): { message: string; at: number } | null {
  const world = new World(seed)
  try {
    world.run(turns)
    return null
  } catch (error) {
    return { message: error instanceof Violation ? error.message : String((error as Error).stack), at: world.turns }
  }
}

/**
 * Runs one seed; of a failure, the shortest run of that seed that a few tries find. A run of fewer turns ends earlier
 * with a power failure and a look at everything, so it often shows the same fault sooner.
 */
export function trial(seed: number, turns: number, tries = 7): Failure | null {
  const found = fault(seed, turns)
  if (found === null) return null
  let failure = { seed, turns: Math.min(turns, found.at), message: found.message }
  let passes = 0
  for (let tried = 0; tried < tries && failure.turns - passes > 1; tried++) {
    const middle = (passes + failure.turns) >>> 1
    const shorter = fault(seed, middle)
    if (shorter === null) passes = middle
    else failure = { seed, turns: middle, message: shorter.message }
  }
  return failure
}

/** The line that runs it again. */
export const again = ({ seed, turns }: Pick<Failure, 'seed' | 'turns'>): string => `npm run simulate -- --seed ${seed} --turns ${turns}`
