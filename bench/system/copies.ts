/**
 * 10,000 followers of one leader, and what everybody else notices while his fills are mirrored.
 *
 * The sequencer's own turns over a real, durable journal, in a quick thread (copies_thread.ts): orders of others at fixed times, the
 * leader's fill, and what the sequencer does about it by itself (core/sequencer/copy_timers.ts). Before each fill the same orders are
 * timed without one; the figure is the ratio of the two p99, the middle one of all fills, so that a disk or a machine that is slower for a
 * while is so for both. The first fill of the process is told by itself.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { amount, median } from '../result.ts'
import type { CopiesWork, MirroredFill } from './copies_thread.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

export const COPIES = { followers: amount(10_000, 200), perSecond: 20_000, calmMs: amount(500, 50), rounds: amount(5, 1) }

export async function copies(): Promise<MirroredFill[]> {
  const directory = ownDirectory()
  try {
    const work: CopiesWork = { ...COPIES, directory }
    const worker = startQuickThread(join(import.meta.dirname, 'copies_thread.ts'), { workerData: work })
    return (await once(worker, 'message'))[0] as MirroredFill[]
  } finally {
    removeDirectory(directory)
  }
}

export function copiesFigures([first, ...fills]: readonly MirroredFill[]): Record<string, number> {
  const ratios = fills.map(({ calm, meanwhile }) => meanwhile.p99 / calm.p99)
  const middle = (of: (fill: MirroredFill) => number): number => median(fills.map(of))
  return {
    'copies: until all have a fill, ms, most': Math.max(...fills.map(({ ms }) => ms)),
    'copies: until all have a fill, ms': middle(({ ms }) => ms),
    'copies: p99 of others, meanwhile by before': median(ratios),
    'copies: p99 of others, least ratio': Math.min(...ratios),
    'copies: p99 of others, largest ratio': Math.max(...ratios),
    'copies: orders of others meanwhile, p50, ms': middle(({ meanwhile }) => meanwhile.p50),
    'copies: orders of others meanwhile, p99, ms': middle(({ meanwhile }) => meanwhile.p99),
    'copies: orders of others before, p50, ms': middle(({ calm }) => calm.p50),
    'copies: orders of others before, p99, ms': middle(({ calm }) => calm.p99),
    'copies: longest turn meanwhile, ms': middle(({ meanwhile }) => meanwhile.longest),
    'copies: longest turn before, ms': middle(({ calm }) => calm.longest),
    'copies: commands that mirrored a fill': middle(({ steps }) => steps),
    'copies: first fill of the process, ms': first!.ms,
    'copies: first fill, p99 of others meanwhile, ms': first!.meanwhile.p99,
  }
}
