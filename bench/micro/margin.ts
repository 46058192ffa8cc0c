/** The engine alone with a perpetual: every other command is on it, orders of isolated buckets; the others are the flow of core.ts. */
import { amount, type Result } from '../result.ts'
import { figuresOf, timeCore, type CoreOptions } from './core.ts'
import { mixedFlow } from './flow.ts'

const SEED = 1

const OPTIONS: CoreOptions = { live: 10_000, accounts: 1000, timed: amount(1_000_000, 100_000), rounds: amount(7, 1) }

export async function run(options = OPTIONS): Promise<Result> {
  const core = await timeCore(mixedFlow(options.live, options.accounts, options.timed, SEED, true), options)
  return {
    name: 'margin',
    settings: { ...options, seed: SEED, flow: '64 % new, 36 % cancel; half on a spot pair, half on a perpetual' },
    figures: figuresOf(core),
    targets: [
      { figure: 'commandsPerSecond', atLeast: 2_000_000, unit: 'commands/s' },
      { figure: 'collectionsPerMillion', atMost: 0, unit: 'collections' },
      { figure: 'bytesPerCommand', atMost: 0.01, unit: 'bytes' },
    ],
  }
}
