/**
 * What programs cost. First the engine alone with programs that take part in every fill (programs_stage.ts), against the same flow with
 * them switched off, on a spot pair and with half of the flow on a perpetual; then copies (system/copies.ts).
 *
 * Both have a quick thread of their own, so that neither runs code that was compiled for the other. A round of the one and a round of the
 * other are taken in turn, the first of them changing; after some rounds come fresh threads, so that two ways of being compiled are not
 * taken for two programs. The figure is the middle one of the threads' ratios, by the processor's time of a round.
 */
import { amount, median, type Result } from '../result.ts'
import { COPIES, copies, copiesFigures } from '../system/copies.ts'
import { ask, start, WARM_ROUNDS, type CoreOptions } from './core.ts'
import type { CoreEnd, CoreRound } from './core_thread.ts'
import { mixedFlow, type Flow } from './flow.ts'
import { sharesOf, stagePrograms } from './programs_stage.ts'

const SEED = 1
const OPTIONS: CoreOptions = { live: 10_000, accounts: 1000, timed: amount(1_000_000, 100_000), rounds: amount(4, 1) }
const THREADS = { core: amount(7, 1), margin: amount(3, 1) }
/** Commands of the flow whose shares are counted. */
const COUNTED = amount(200_000, 20_000)
const WAYS = ['off', 'on'] as const

interface Pair {
  /** ns a command. */
  readonly off: number
  readonly on: number
  readonly end: CoreEnd
}

/** Rounds of a fresh thread without and of one with programs. */
async function timePair(flow: Flow, first: number): Promise<Pair> {
  const workers = WAYS.map((programs) => start('core_thread.ts', flow, OPTIONS, programs))
  const rounds: CoreRound[][] = [[], []]
  for (let round = first; round < first + WARM_ROUNDS + OPTIONS.rounds; round++) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) rounds[which]!.push(await ask<CoreRound>(workers[which]!, 'round'))
  }
  const [off, on] = rounds.map((all) => median(all.slice(WARM_ROUNDS).map(({ processorNs }) => processorNs))) as [number, number]
  const [a, b] = rounds.map((all) => all.at(-1)!) as [CoreRound, CoreRound]
  if (a.fills !== b.fills || a.live !== b.live) throw new Error('with programs the flow fills other orders')
  const [, end] = await Promise.all(workers.map((worker) => ask<CoreEnd>(worker, 'finish')))
  return { off, on, end: end! }
}

async function timePrograms(name: 'core' | 'margin'): Promise<Record<string, number>> {
  const { live, accounts, timed } = OPTIONS
  const flow = mixedFlow(live, accounts, timed, SEED, name === 'margin', (state) => stagePrograms(state, accounts, true))
  const { applicationFees, rewards } = sharesOf(flow, live, COUNTED)
  const pairs: Pair[] = []
  for (let thread = 0; thread < THREADS[name]; thread++) pairs.push(await timePair(flow, thread))
  const ratios = pairs.map(({ off, on }) => off / on)
  return {
    [`${name}: commands/s with programs by without`]: median(ratios),
    [`${name}: least ratio of two threads`]: Math.min(...ratios),
    [`${name}: largest ratio of two threads`]: Math.max(...ratios),
    [`${name}: ns a command, with`]: median(pairs.map(({ on }) => on)),
    [`${name}: ns a command, without`]: median(pairs.map(({ off }) => off)),
    [`${name}: application fees a fill`]: applicationFees,
    [`${name}: rewards of three levels a fill`]: rewards,
    [`${name}: bytes a command, with`]: Math.max(...pairs.map(({ end }) => end.garbage.bytes)),
    [`${name}: collections per million, with`]: Math.max(...pairs.map(({ end }) => end.garbage.collections)),
  }
}

export async function run(): Promise<Result> {
  const core = await timePrograms('core')
  const margin = await timePrograms('margin')
  const mirrored = copiesFigures(await copies())
  return {
    name: 'programs',
    settings: {
      ...OPTIONS, warmRounds: WARM_ROUNDS, threads: THREADS.core, threadsOfMargin: THREADS.margin, seed: SEED,
      programs: 'builder fees of both sides and three levels of referrers on every fill', ...COPIES, fills: COPIES.rounds * 4,
    },
    figures: { ...core, ...margin, ...mirrored },
    targets: [
      { figure: 'core: commands/s with programs by without', atLeast: 0.7, unit: 'of the plain rate' },
      { figure: 'core: application fees a fill', atLeast: 2, unit: 'fees' },
      { figure: 'core: bytes a command, with', atMost: 0.01, unit: 'bytes' },
      { figure: 'core: collections per million, with', atMost: 0, unit: 'collections' },
      { figure: 'copies: until all have a fill, ms, most', atMost: 1000, unit: 'ms' },
      { figure: 'copies: p99 of others, meanwhile by before', atMost: 1.5, unit: 'times' },
    ],
  }
}
