/** The engine alone when its state is far larger than the caches: 1 M live orders of 100 k accounts. */
import { amount, type Result } from '../result.ts'
import { figuresOf, timeCore, type CoreOptions } from './core.ts'
import { mixedFlow } from './flow.ts'

const SEED = 1

const OPTIONS: CoreOptions = { live: 1_000_000, accounts: 100_000, timed: amount(1_000_000, 100_000), rounds: amount(7, 1) }

export async function run(options = OPTIONS): Promise<Result> {
  const core = await timeCore(mixedFlow(options.live, options.accounts, options.timed, SEED), options)
  return {
    name: 'core-large',
    settings: { ...options, seed: SEED, flow: '64 % new, 36 % cancel' },
    figures: figuresOf(core),
    targets: [
      { figure: 'commandsPerSecond', atLeast: 3_000_000, unit: 'commands/s' },
      { figure: 'collectionsPerMillion', atMost: 0, unit: 'collections' },
      { figure: 'bytesPerCommand', atMost: 0.01, unit: 'bytes' },
    ],
  }
}
