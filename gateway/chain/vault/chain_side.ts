/** One chain of the exchange: how it is followed, and its deposits and sweeps. The hub has more (hub.ts). */
import type { Asset } from '../../../core/state/genesis.ts'
import { ChainUnavailable } from '../client.ts'
import { atomsOf } from './amounts.ts'
import { DEPOSIT_TOPIC } from './events.ts'
import { ChainWatch, type ChainSight, type TakeLogs } from './chain_watch.ts'
import { firstBlock } from './contracts.ts'
import { Deposits } from './deposits.ts'
import type { ChainReport } from './messages.ts'
import type { ChainParts } from './parts.ts'
import { Sweeper } from './sweeper.ts'
import { tokenOfAsset, tokensOf, type ChainToken } from './tokens.ts'
import type { ChainNode, Hex, NodeBlock } from './types.ts'

export interface SideParts extends Omit<ChainParts, 'tokens' | 'first'> {
  readonly confirmations: number
  /** Logs of the vault that are told besides deposits. */
  readonly topics: readonly Hex[]
}

export class ChainSide {
  readonly node: ChainNode
  readonly tokens: ReadonlyMap<string, ChainToken>
  readonly deposits: Deposits
  readonly sweeper: Sweeper
  readonly watch: ChainWatch
  /** Before which block nothing of the vault is: known exactly when the chain is read for the first time. */
  readonly first: () => Promise<number>
  readonly #vault: Hex
  /** The newest block that counts, at the last look: the engine knows of no deposit behind it. */
  #seen: NodeBlock | null = null

  constructor(parts: SideParts) {
    const { node, places, sender, books, commands, tell, clock, confirmations, topics } = parts
    this.node = node
    this.#vault = places.vault
    this.tokens = tokensOf(books.genesis, node.chainId)
    this.deposits = new Deposits({ chainId: node.chainId, books, commands, tokens: this.tokens, tell })
    let found: number | null = null
    this.first = async () => {
      if (found === null && books.cursors().some(({ chainId }) => chainId === node.chainId)) found = 0
      return (found ??= await firstBlock(node, places, tell))
    }
    this.sweeper = new Sweeper({ node, places, books, sender, tokens: this.tokens, tell, clock, first: this.first })
    this.watch = new ChainWatch({
      node, books, commands, tell, clock, confirmations, addresses: [places.vault], topics: [DEPOSIT_TOPIC, ...topics], first: this.first,
    })
  }

  /** Follows the chain; `take`: what else becomes of its logs. */
  async look(take: TakeLogs): Promise<ChainSight | null> {
    const sight = await this.watch.look(take)
    if (sight !== null) this.#seen = sight.confirmed
    return sight
  }

  /** Sends deposits again that found no row in suspense. */
  lookAgain(sight: ChainSight): Promise<void> {
    return this.deposits.again(this.node, this.#vault, sight)
  }

  /** Atoms of an asset that the vault has on this chain, as far as the engine may know. Throws ChainUnavailable. */
  async holding(asset: Asset): Promise<bigint> {
    const token = tokenOfAsset(this.tokens, asset.index)
    if (token === undefined) return 0n
    if (this.#seen === null) throw new ChainUnavailable(`chain ${this.node.chainId} was not looked at yet`)
    const raw = await this.node.balanceOf(token.token, this.#vault, this.#seen)
    return atomsOf(raw, token.decimals, asset.scale).atoms
  }

  report(): ChainReport {
    const { chainId, connected, head, confirmed, lag, reorganised } = this.watch
    return { chainId, connected, head, confirmed, cursor: this.watch.cursor?.block ?? -1, lag, reorganised }
  }
}
