/**
 * What one run is made of, drawn from its seed: with perpetuals or without, and then how much of each thing. Runs that are all of one
 * mixture meet all of one kind of trouble; a run that does much of one thing and nothing of another gets further in (swarm testing).
 *
 * Drawn apart from everything else, so that another kind of weight does not change what a run without it does.
 */
import { createPrng } from '../../core/lib/prng.ts'
import { PROGRAMS } from './programs/all.ts'

export interface Swarm {
  readonly perps: boolean
  /** Requests of 100 that are of margin trading; 0 without perpetuals. */
  readonly margin: number
  /**
   * Turns of 1000: an index price comes; the insurance fund gets what the house earned; the operator changes something else; time passes
   * by up to `gapMs`.
   */
  readonly prices: number
  readonly funds: number
  readonly settings: number
  readonly gaps: number
  readonly gapMs: number
  /** Prices of 100 that jump, and by how many parts of 100 at most; prices of 100 behind which none comes for a while. */
  readonly jumps: number
  readonly jumpParts: number
  readonly freezes: number
  /** Weights of what a client of margin trading does. */
  readonly opens: number
  readonly closes: number
  readonly moves: number
  readonly accounts: number
  /** Orders of 100 in a cross bucket; highest leverage that is asked for, hundredths. */
  readonly cross: number
  readonly leverage: number
  /** Every kind of liquidation is gone through, one after the other (drill.ts). */
  readonly drill: boolean
  /** Requests of 100 that are of orders that wait. */
  readonly waiting: number
  /** By name of a program: requests of 100 that are of it; 0: the run is without it. */
  readonly programs: Readonly<Record<string, number>>
}

const NONE: Swarm = {
  perps: false, margin: 0, prices: 0, funds: 0, settings: 0, gaps: 0, gapMs: 0, jumps: 0, jumpParts: 0, freezes: 0, opens: 0, closes: 0,
  moves: 0, accounts: 0, cross: 0, leverage: 0, drill: false,
  waiting: 0, programs: {},
}

/** The mixture of this seed: one run of two has perpetuals. */
export function swarmOf(seed: number): Swarm {
  const swarm = mixtureOf(seed)
  return { ...swarm, programs: programsOf(seed, swarm.perps) }
}

/** Each program is in one run of two that may have it; drawn by itself. */
function programsOf(seed: number, perps: boolean): Swarm['programs'] {
  const random = createPrng(seed ^ 0x33d1)
  return Object.fromEntries(PROGRAMS.map(({ name, weights, needsPerps }) => {
    const drawn = random.below(2 * weights.length)
    return [name, needsPerps && !perps ? 0 : weights[drawn] ?? 0]
  }))
}

function mixtureOf(seed: number): Swarm {
  const random = createPrng(seed ^ 0x7e4f)
  const one = (...of: number[]): number => of[random.below(of.length)]!
  if (random.below(2) === 0) return { ...NONE, waiting: one(0, 10) }
  return {
    perps: true, margin: one(40, 80, 95), prices: one(150, 300, 600), funds: one(0, 10, 20), settings: one(0, 3, 15), gaps: one(5, 15, 40),
    gapMs: one(5000, 25_000, 70_000), jumps: one(5, 20, 50), jumpParts: one(6, 12, 30), freezes: one(0, 2, 6), opens: one(50, 80),
    closes: one(0, 10, 25), moves: one(2, 10, 30), accounts: one(0, 3, 10), cross: one(0, 40, 100), leverage: one(500, 2000, 2000),
    drill: random.below(2) === 0, waiting: one(0, 15, 40),
    programs: {},
  }
}
