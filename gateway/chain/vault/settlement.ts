/**
 * Settlement: a batch is opened when there are trades enough, or some for long enough; its roots are posted to the vault in the order of
 * batches, and a batch is confirmed when the block counts and the chain gives back the very roots.
 *
 * What the chain has is asked before anything is posted, so a batch is posted once whatever was cut off. A chain that has other roots, or
 * batches that this exchange never opened, stops settlement for good: somebody has to look. Trading does not notice.
 */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { CommandType } from '../../../core/layout/command.ts'
import { OPEN_SETTLEMENTS_MAX } from '../../../core/layout/vault.ts'
import type { BatchView, SettlementView } from '../../../core/view/vault.ts'
import { VAULT_ABI } from './artifacts.ts'
import type { ChainSight } from './chain_watch.ts'
import { reasonOf, wasTaken } from './commands.ts'
import { BATCH_TOPIC, topicOf } from './events.ts'
import { findLog } from './find_log.ts'
import { Job } from './job.ts'
import type { ChainParts } from './parts.ts'
import type { Roots, RootsOf } from './roots.ts'
import { Changes } from './tell.ts'
import type { At } from './types.ts'

const BATCHES = parseAbi([
  'function batches(uint64 number) view returns (uint64, uint32, bytes32, uint32, bytes32, uint64)',
])

export interface SettlementParts extends Omit<ChainParts, 'tokens'> {
  readonly rootsOf: RootsOf
  readonly settlementMs: number
  readonly settlementTrades: number
  /** Part of the chain that is not used up, above 0; 1 of a chain that grows for ever. */
  readonly roomLeft: () => number
}

/** However many trades there are, batches are so many times closer than {@link SettlementParts.settlementMs} at most. */
const CLOSER = 12

export class Settlement {
  readonly #parts: SettlementParts
  readonly #job: Job
  readonly #changes: Changes
  readonly #roots = new Map<number, Roots>()
  /** Since when there are trades of no batch, monotonic; `null`: there are none. */
  #since: number | null = null
  /** When the last batch was opened, monotonic. */
  #openedAt = -Infinity
  /** Why it does not go on, in words. */
  stopped: string | null = null
  /** Of the batch confirmed last. */
  last: Roots | null = null
  /** A batch was posted in a block that does not count yet. */
  waitsForBlock = false

  constructor(parts: SettlementParts) {
    this.#parts = parts
    this.#job = new Job('posting a batch of settlement', parts.tell, parts.clock)
    this.#changes = new Changes(parts.tell)
  }

  /**
   * Opens a batch if it is time. Needs no chain. The fuller a chain of so many blocks is, the rarer batches are: each has its part of what
   * is left, so that settlement alone never fills it, at any load.
   */
  async open(): Promise<void> {
    const { books, commands, clock, settlementTrades } = this.#parts
    const { batch, waiting, open } = books.settlement()
    if (waiting <= 0) {
      this.#since = null
      return
    }
    this.#since ??= clock()
    const longest = this.#parts.settlementMs / this.#parts.roomLeft()
    const isTime = clock() - this.#since >= longest || (waiting >= settlementTrades && clock() - this.#openedAt >= longest / CLOSER)
    if (!isTime || this.stopped !== null || open.length >= OPEN_SETTLEMENTS_MAX) return
    const outcome = await commands.send(CommandType.OPEN_SETTLEMENT, { batch: batch + 1 })
    if (wasTaken(outcome)) {
      this.#since = null
      this.#openedAt = clock()
    } else {
      const fields = { batch: batch + 1, reason: reasonOf(outcome) }
      this.#changes.say('open', String(batch + 1), '', 'warn', 'a batch of settlement was not opened; it is tried again', fields)
    }
  }

  /** Posts and confirms what is open. Throws ChainUnavailable. */
  async look(sight: ChainSight): Promise<void> {
    const view = this.#parts.books.settlement()
    this.waitsForBlock = false
    if (this.stopped !== null || view.open.length === 0) return
    const confirmed = await this.#lastBatch(sight.confirmed)
    if (confirmed > view.batch) return this.#stop(`the vault has batch ${confirmed}, and this exchange opened ${view.batch}`)
    for (const batch of view.open) {
      if (batch.batch > confirmed) break
      if (!(await this.#confirm(batch, sight))) return
    }
    const posted = await this.#lastBatch(sight.head)
    this.waitsForBlock = posted > confirmed
    this.#post(view, posted)
  }

  /** Settles when nothing is being posted. */
  idle(): Promise<void> {
    return this.#job.idle()
  }

  async #confirm(batch: BatchView, { confirmed }: ChainSight): Promise<boolean> {
    const { node, places, commands, first, tell } = this.#parts
    const [own, chain] = [await this.#rootsOf(batch), await this.#posted(batch.batch, confirmed)]
    // Without roots of its own nothing can be compared.
    if (own === null) return false
    if (!isSame(own, chain)) {
      this.#stop(`batch ${batch.batch} is another one in the vault`)
      tell('error', 'roots of the vault and of the exchange', { batch: batch.batch, own, chain })
      return false
    }
    const log = await findLog(node, places.vault, [BATCH_TOPIC, topicOf(BigInt(batch.batch))], await first(), confirmed)
    if (log === null) return false
    const outcome = await commands.send(CommandType.CONFIRM_SETTLEMENT, {
      batch: batch.batch, block: log.block, txHash: log.txHash.slice(2),
      tradesRoot: own.tradesRoot.slice(2), balancesRoot: own.balancesRoot.slice(2),
    })
    if (!wasTaken(outcome)) return false
    this.last = own
    this.#roots.delete(batch.batch)
    const { trades, balances } = own
    tell('info', 'a batch of settlement is on the chain', { batch: batch.batch, trades, balances, txHash: log.txHash })
    return true
  }

  /** Posts the batch behind the last one that the chain has. */
  #post(view: SettlementView, posted: number): void {
    const next = view.open.find(({ batch }) => batch === posted + 1)
    if (next === undefined) return
    const { node, sender, places } = this.#parts
    this.#job.start(async () => {
      const own = await this.#rootsOf(next)
      if (own === null) return
      // One that was sent before and takes its time is not sent twice: the vault takes a batch in its turn only.
      const args = [BigInt(next.batch), BigInt(own.through), own.trades, own.tradesRoot, own.balances, own.balancesRoot] as const
      const data = encodeFunctionData({ abi: VAULT_ABI, functionName: 'postBatch', args })
      const receipt = await sender.send(places.vault, data)
      if (receipt.succeeded || (await this.#lastBatch(await node.head())) >= next.batch) return
      throw new Error(`postBatch reverted in ${receipt.txHash}`)
    })
  }

  async #rootsOf(batch: BatchView): Promise<Roots | null> {
    const known = this.#roots.get(batch.batch)
    if (known !== undefined) return known
    const roots = await this.#parts.rootsOf(batch)
    if (roots !== null) this.#roots.set(batch.batch, roots)
    return roots
  }

  async #lastBatch(at: At): Promise<number> {
    const { node, places } = this.#parts
    const data = encodeFunctionData({ abi: VAULT_ABI, functionName: 'lastBatch' })
    const answer = await node.call(places.vault, data, at)
    return answer === null ? 0 : Number(BigInt(answer))
  }

  async #posted(batch: number, at: At): Promise<Roots | null> {
    const { node, places } = this.#parts
    const answer = await node.call(places.vault, encodeFunctionData({ abi: BATCHES, args: [BigInt(batch)] }), at)
    if (answer === null) return null
    const [through, trades, tradesRoot, balances, balancesRoot] = decodeFunctionResult({ abi: BATCHES, data: answer })
    return { through: Number(through), trades, tradesRoot, balances, balancesRoot }
  }

  #stop(reason: string): void {
    this.stopped = reason
    this.#parts.tell('error', 'settlement stops: the chain and the exchange do not agree', { reason })
  }
}

const isSame = (a: Roots, b: Roots | null): boolean => b !== null && a.through === b.through && a.trades === b.trades &&
  a.tradesRoot === b.tradesRoot && a.balances === b.balances && a.balancesRoot === b.balancesRoot
