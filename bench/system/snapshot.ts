/**
 * What a snapshot costs the matcher: the longest stall of its loop and the longest commit, with the follower writing snapshots and
 * without, over a state of a few hundred thousand resting orders.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { statSync } from 'node:fs'
import { forkQuick } from '../../core/lib/quick_thread.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { listSnapshots, snapshotPath } from '../../core/snapshot/file.ts'
import { amount, type Result } from '../result.ts'
import { createFlood, flood, type Flood } from './flood.ts'
import { openAccounts, startMatcher, type Matcher } from './matcher.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

const LIVE = amount(300_000, 50_000)
const SLICE = 500
/** Commands per second offered while measuring: the rate of a busy gateway, not a flood. */
const RATE = 20_000
const SECONDS = amount(8, 1)

/** Offers RATE commands a second for a while; longest loop stall and commit meanwhile, ms. */
async function measure(
  matcher: Matcher,
  orders: Flood,
  until: () => boolean,
): Promise<{ stall: number; commit: number; seconds: number }> {
  const { counters } = matcher
  counters[MATCHER.loop_stall_seconds_max] = 0
  counters[MATCHER.commit_seconds_max] = 0
  const started = performance.now()
  for (let sent = 0; performance.now() - started < SECONDS * 1000 || !until(); sent += SLICE) {
    flood(orders, SLICE, 45, 10)
    const due = started + (sent / RATE) * 1000
    // Also when it is late: what the follower says is heard between two slices.
    await pause(Math.max(0, due - performance.now()))
    if (performance.now() - started > 60_000) break
  }
  const seconds = (performance.now() - started) / 1000
  return { stall: counters[MATCHER.loop_stall_seconds_max]! * 1000, commit: counters[MATCHER.commit_seconds_max]! * 1000, seconds }
}

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  try {
    const matcher = await startMatcher(directory)
    const orders = createFlood(matcher, openAccounts(matcher, 1000), 1)
    flood(orders, LIVE, 0, 0)
    flood(orders, 300_000, 45, 10)
    const without = await measure(matcher, orders, () => true)
    const program = join(import.meta.dirname, '..', '..', 'core', 'snapshot', 'follower.ts')
    const follower = forkQuick(program, [directory, '50000', '2'])
    let snapshots = 0
    follower.on('message', (message: { type: string }) => (snapshots += message.type === 'snapshot' ? 1 : 0))
    while (snapshots === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const before = snapshots
    const withSnapshots = await measure(matcher, orders, () => snapshots - before >= 2)
    const bytes = statSync(snapshotPath(directory, listSnapshots(directory)[0]!)).size
    const written = snapshots - before
    follower.disconnect()
    await once(follower, 'exit')
    await matcher.stop()
    return {
      name: 'snapshot: what it costs the matcher',
      settings: {
        liveOrders: LIVE,
        snapshotMiB: Math.round(bytes / 2 ** 20),
        offeredPerSecond: RATE,
        seconds: SECONDS,
        snapshotsMeanwhile: written,
      },
      figures: {
        'longest loop stall, no snapshot, ms': without.stall,
        'longest loop stall, snapshots, ms': withSnapshots.stall,
        'longest commit, no snapshot, ms': without.commit,
        'longest commit, snapshots, ms': withSnapshots.commit,
      },
      targets: [{ figure: 'longest loop stall, snapshots, ms', atMost: 5, unit: 'ms' }],
    }
  } finally {
    removeDirectory(directory)
  }
}
