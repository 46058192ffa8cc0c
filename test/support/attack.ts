/**
 * An attack on a whole exchange, and what an honest trader beside it sees.
 *
 * The trader runs in a thread of its own and asks from an address of its own (honest_trader.ts): first alone, then while `attack`
 * runs. What it saw is printed with the ratios of the two runs. Machines are shared, so no ratio is asserted; what must hold is that
 * it was answered:
 *
 *   const { attacked } = await besideAttack(t, exchange, { name: 'deep arrays', attack: async (ended) => { ... } })
 *   t.same(attacked.refused, {}, 'nobody who trades is refused')
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import type { Exchange } from './exchange.ts'
import type { HonestData, Seen } from './honest_trader.ts'

export type { Seen } from './honest_trader.ts'

export interface AttackOptions {
  /** Named in what is printed. */
  readonly name: string
  /** Attacks until `ended` is aborted; must then return soon. What it throws fails the test. */
  readonly attack: (ended: AbortSignal) => Promise<unknown>
  /** How long each of the two runs is, ms. Default 1,500. */
  readonly ms?: number
  /** Requests a second of the honest trader. Default 100. */
  readonly rate?: number
  /** Address of the honest trader. Default 127.0.0.9. */
  readonly address?: string
  /** Its orders and cancels go over gRPC, on one connection from 127.0.0.1. */
  readonly overGrpc?: boolean
}

export interface BesideAttack {
  readonly quiet: Seen
  readonly attacked: Seen
}

/** The honest trader alone, then beside `attack`; prints what it saw. */
export async function besideAttack(
  t: Test, { baseUrl, grpcPort }: Pick<Exchange, 'baseUrl' | 'grpcPort'>, options: AttackOptions,
): Promise<BesideAttack> {
  const { name, attack, ms = 1_500, rate = 100, address = '127.0.0.9', overGrpc = false } = options
  const workerData: HonestData = { baseUrl, address, rate, grpcPort: overGrpc ? grpcPort : 0 }
  const worker = new Worker(join(import.meta.dirname, 'honest_trader.ts'), { workerData })
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  try {
    await next<'ready'>()
    const run = (): Promise<Seen> => {
      const seen = next<Seen>()
      worker.postMessage(ms)
      return seen
    }
    const quiet = await run()
    const ended = new AbortController()
    const attacking = attack(ended.signal)
    const attacked = await Promise.race([run(), attacking.then(() => new Promise<never>(() => undefined))]).finally(() => ended.abort())
    await attacking
    t.comment(`${name}: ${line(quiet, attacked)}`)
    return { quiet, attacked }
  } finally {
    await worker.terminate()
  }
}

function line(quiet: Seen, attacked: Seen): string {
  const ratio = (a: number, b: number): string => (b === 0 ? 'none' : (a / b).toFixed(2))
  const figures = ({ perSecond, p50, p99 }: Seen): string =>
    `${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  const ratios = `orders/s ${ratio(attacked.perSecond, quiet.perSecond)}, p99 ${ratio(attacked.p99, quiet.p99)}`
  const refused = JSON.stringify(attacked.refused)
  return `honest trader alone ${figures(quiet)}; beside it ${figures(attacked)}; ratios: ${ratios}; refused ${refused}`
}
