/**
 * What a batch of settlement posts: the root of its trades, which the history knows, and that of all balances at its end, which the
 * snapshot follower put into a file. Both come a while after the batch was opened.
 */
import type { MessagePort } from 'node:worker_threads'
import type { HistoryReply, HistoryRequest } from '../../../core/history/answer/queries.ts'
import { openBalances } from '../../../core/settlement/balances_file.ts'
import type { BatchView } from '../../../core/view/vault.ts'
import { toHex, type Hex } from '../values.ts'

/** The history answers in 2 s, or never. */
const DEADLINE_MS = 5_000

export interface Roots {
  readonly through: number
  readonly trades: number
  readonly tradesRoot: Hex
  readonly balances: number
  readonly balancesRoot: Hex
}

/** Roots of a batch; `null`: one of them is not known yet. Throws when what is known cannot be right. */
export type RootsOf = (batch: BatchView) => Promise<Roots | null>

/** What the history says of a batch; `null`: nothing, or not yet. */
export interface TradesAnswer {
  readonly through: number
  readonly fills: number
  readonly tradesRoot: string
}

/** Asks a history reader, when there is one. */
export class TradeRoots {
  #port: MessagePort | null = null
  #next = 1
  readonly #open = new Map<number, (answer: TradesAnswer | null) => void>()

  take(port: MessagePort): void {
    this.#port?.close()
    this.#port = port
    port.on('message', (reply: HistoryReply<'settlement'>) => this.#open.get(reply.id)?.('answer' in reply ? reply.answer : null))
    port.on('close', () => {
      if (this.#port === port) this.#port = null
    })
  }

  /** `atLeast`: the sequence that opened the batch. */
  of(batch: number, atLeast: number): Promise<TradesAnswer | null> {
    const port = this.#port
    if (port === null) return Promise.resolve(null)
    const id = this.#next++
    return new Promise((resolve) => {
      const done = (answer: TradesAnswer | null): void => {
        clearTimeout(timer)
        this.#open.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(done, DEADLINE_MS, null)
      this.#open.set(id, done)
      port.postMessage({ id, name: 'settlement', ask: { batch }, atLeast } satisfies HistoryRequest<'settlement'>)
    })
  }

  close(): void {
    for (const done of [...this.#open.values()]) done(null)
    this.#port?.close()
    this.#port = null
  }
}

/** Roots of batches of a data directory. */
export const rootsOf = (dataDir: string, trades: Pick<TradeRoots, 'of'>): RootsOf => async ({ batch, through, fills }) => {
  const known = await trades.of(batch, through)
  if (known === null) return null
  // Last: the whole file is read for its checksum.
  const balances = openBalances(dataDir, batch)
  if (balances === null) return null
  const { count, root, through: balancesThrough } = balances
  balances.close()
  if (known.through !== through || known.fills !== fills || balancesThrough !== through) {
    throw new Error(`batch ${batch} ends with ${through} and has ${fills} trades; the history says ${known.through} and ${known.fills},` +
      ` its balances ${balancesThrough}`)
  }
  return { through, trades: fills, tradesRoot: known.tradesRoot as Hex, balances: count, balancesRoot: toHex(root) }
}
