/**
 * The process of one tree for core_against.ts: it loads the tree's own bench with the tree's own modules, makes the flow with them
 * (layouts may differ between trees), and times the engine in a fresh quick thread of the tree's kind each time it is asked.
 *
 * Of the tree it needs `timeCore` of bench/micro/core.ts and `mixedFlow` of bench/micro/flow.ts, which trees had before this file.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CoreFigures, CoreOptions } from './core.ts'
import type { Flow } from './flow.ts'

const SEED = 1

export type Asked = { readonly do: 'flow'; readonly options: CoreOptions } | { readonly do: 'time' }

/** What was measured in a fresh thread. A tree before bytes were counted gives NaN for them. */
export interface Timed {
  readonly rounds: readonly number[]
  readonly collections: number
  readonly bytes: number
  readonly fills: number
  readonly live: number
}

interface Bench {
  mixedFlow(live: number, accounts: number, timed: number, seed: number): Flow
  timeCore(flow: Flow, options: CoreOptions): Promise<CoreFigures & { readonly collections?: number }>
}

const [directory] = process.argv.slice(2)
const load = async (file: string): Promise<Bench> =>
  (await import(pathToFileURL(join(directory!, 'bench', 'micro', file)).href)) as Bench
const { timeCore } = await load('core.ts')
const { mixedFlow } = await load('flow.ts')

let flow: Flow
let options: CoreOptions

process.on('message', async (asked: Asked) => {
  if (asked.do === 'flow') {
    options = asked.options
    flow = mixedFlow(options.live, options.accounts, options.timed, SEED)
    process.send!({})
    return
  }
  const { rounds, garbage, collections, fills, live } = await timeCore(flow, options)
  const timed: Timed = { rounds, collections: garbage?.collections ?? collections!, bytes: garbage?.bytes ?? NaN, fills, live }
  process.send!(timed)
})
process.on('disconnect', () => process.exit(0))
