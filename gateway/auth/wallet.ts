/**
 * The pool that recovers wallet signatures: bounded in threads, in waiting tasks and per client network, because a recovery is
 * the most expensive thing an anonymous client can ask for. At a bound the answer is "no verdict", at once.
 */
import { join } from 'node:path'
import { Piscina } from 'piscina'
import { createInFlight } from './in_flight.ts'
import type { WalletTask } from './wallet_worker.ts'

/** `signed` and `rejected` are verdicts. `busy`: a bound was reached. `failed`: the thread died or the pool was destroyed. */
export type Verdict = 'signed' | 'rejected' | 'busy' | 'failed'

export interface WalletPool {
  /** `network`: who asks (limits/network.ts). */
  verify(task: WalletTask, network: string): Promise<Verdict>
  /** Ends the threads; tasks under way answer `failed`. */
  destroy(): Promise<void>
}

/** A signature over "warm" by nobody in particular: makes every thread load and compile its code before the first sign-in. */
const WARM: WalletTask = { address: '0x', message: 'warm', signature: `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` }

/** A pool of `threads` with at most `queue` waiting tasks; resolves when the threads are warm. */
export async function createWalletPool(threads: number, queue: number): Promise<WalletPool> {
  const pool = new Piscina<WalletTask, boolean>({
    filename: join(import.meta.dirname, 'wallet_worker.ts'),
    minThreads: threads,
    maxThreads: threads,
    maxQueue: Math.max(queue, threads),
    idleTimeout: Infinity,
  })
  await Promise.all(Array.from({ length: threads }, () => pool.run(WARM)))
  const inFlight = createInFlight(threads + queue)
  return {
    async verify(task, network) {
      if (!inFlight.enter(network)) return 'busy'
      try {
        return (await pool.run(task)) ? 'signed' : 'rejected'
      } catch {
        return 'failed'
      } finally {
        inFlight.leave(network)
      }
    },
    destroy: () => pool.destroy(),
  }
}
