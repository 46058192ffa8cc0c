/**
 * The vault as the thread runs it, turn by turn: first where the contracts are, then the hub, the other chains, suspense. Whatever is away,
 * node, signer or operator thread, the next turn tries again; what was decided stands in the journal.
 */
import type { Config } from '../../../core/config.ts'
import { confirmationsOf, depositNodes, embedsChain } from '../../../core/config.ts'
import { ChainUnavailable } from '../client.ts'
import type { Books } from './books.ts'
import { CalldataDesk } from './calldata.ts'
import { ChainSide } from './chain_side.ts'
import type { VaultCommands } from './commands.ts'
import { findContracts } from './contracts.ts'
import { countedNode } from './counted_node.ts'
import { Hub } from './hub.ts'
import type { VaultReport } from './messages.ts'
import { createChainNode } from './node.ts'
import { reportOf } from './report.ts'
import type { RootsOf } from './roots.ts'
import { createSender } from './sender.ts'
import { Suspense } from './suspense.ts'
import { Changes, type Tell } from './tell.ts'
import { hubOf, tokensOf } from './tokens.ts'
import { SignerUnavailable, type ChainNode, type Hex, type Places, type Sender, type Signer } from './types.ts'

/** Contracts that are not right are looked at again after this long, ms. */
const WRONG_MS = 30_000
/** A transaction without a block is replaced after the one, and waited for no longer than the other, ms. */
const STUCK_MS = 60_000
const WAIT_MS = 600_000
const GWEI = 1_000_000_000

export interface VaultParts {
  readonly config: Config
  readonly books: Books
  readonly commands: VaultCommands
  readonly signer: Signer
  readonly rootsOf: RootsOf
  readonly tell: Tell
  /** Sequenced time, Unix ms. */
  readonly time: () => number
  /** Where the hub is asked; `null`: nowhere yet. */
  readonly url: string | null
  /** A node for tests in place of one over JSON-RPC. */
  readonly nodeOf?: (chainId: number) => ChainNode
  /** Monotonic, ms. */
  readonly clock: () => number
}

/** `null`: the genesis has no chain of settlement. */
export function createVault(parts: VaultParts): Vault | null {
  const chainId = hubOf(parts.books.genesis)
  if (chainId === null || (embedsChain(parts.config) && chainId !== parts.books.genesis.chainId)) return null
  return new Vault(parts, chainId)
}

export class Vault {
  readonly calldata: CalldataDesk
  readonly #parts: VaultParts
  readonly #changes: Changes
  readonly #asked = { calls: 0, failures: 0 }
  readonly #node: ChainNode
  readonly #suspense: Suspense
  #places: Places | null = null
  #hub: Hub | null = null
  #others: readonly ChainSide[] = []
  #connected = false
  #wrongUntil = -Infinity

  constructor(parts: VaultParts, chainId: number) {
    const { books, commands, signer, tell, time, url } = parts
    this.#parts = parts
    this.#changes = new Changes(tell)
    this.#node = this.#nodeFor(chainId, url)
    this.#suspense = new Suspense(books, commands, tell)
    this.calldata = new CalldataDesk({ books, signer, time, tokens: tokensOf(books.genesis, chainId), places: () => this.#places })
  }

  /** Where the hub is asked from now on. */
  move(url: string | null): void {
    this.#node.move(url)
  }

  /** One bounded turn. Throws nothing. */
  async turn(): Promise<void> {
    const { commands } = this.#parts
    if (!(await commands.certain())) return
    if (this.#hub === null) this.#connected = await this.#try('contracts', () => this.#begin())
    const hub = this.#hub
    if (hub !== null) {
      await this.#part('opening a batch of settlement', () => hub.settlement.open())
      this.#connected = await this.#try('hub', () => hub.look(this.#part))
      hub.side.watch.connected = this.#connected
      for (const side of this.#others) await this.#follow(side)
    }
    await this.#part('suspense', () => this.#suspense.look())
    this.calldata.publish(this.#connected)
  }

  report(): VaultReport {
    return reportOf({
      books: this.#parts.books, hub: this.#hub, others: this.#others, places: this.#places, suspense: this.#suspense,
      calldata: this.calldata.signed, calldataFailed: this.calldata.failed, asked: this.#asked, time: this.#parts.time,
      chainId: this.#node.chainId,
    })
  }

  /** Settles when no transaction is under way. */
  async idle(): Promise<void> {
    await this.#hub?.idle()
    for (const { sweeper } of this.#others) await sweeper.idle()
  }

  async #begin(): Promise<void> {
    const { config, books, signer, tell, clock } = this.#parts
    if (clock() < this.#wrongUntil) throw new ChainUnavailable('the contracts are not right')
    const embedded = embedsChain(config)
    const others = depositNodes(config).filter(({ chainId }) => chainId !== this.#node.chainId && tokensOf(books.genesis, chainId).size > 0)
    const feePerGasMax = BigInt(Math.round(config.chainMaxFeeGwei * GWEI))
    const [vault, factory] = [config.vaultAddress.toLowerCase() as Hex, config.factoryAddress.toLowerCase() as Hex]
    const outside = { chainId: this.#node.chainId, vault, factory }
    try {
      this.#places = await findContracts({
        node: this.#node, signer, genesis: books.genesis, dataDir: config.dataDir, places: embedded ? null : outside,
        chains: others.map(({ chainId }) => chainId), feePerGasMax, tell,
      })
    } catch (error) {
      if (!isAway(error)) this.#wrongUntil = clock() + WRONG_MS
      throw error
    }
    const places = this.#places
    const address = await signer.address()
    const senderOf = (node: ChainNode, fee: bigint): Sender => createSender({
      node, signer, address, feePerGasMax: fee, stuckMs: STUCK_MS, waitMs: WAIT_MS, pollMs: embedded && node === this.#node ? 20 : 1_000,
    })
    const shared = { ...this.#parts, confirmations: confirmationsOf(config) }
    this.#others = others.map(({ chainId, url }) => {
      const node = this.#nodeFor(chainId, url)
      return new ChainSide({ ...shared, node, places: { ...places, chainId }, sender: senderOf(node, feePerGasMax), topics: [] })
    })
    this.#hub = new Hub({
      ...shared, node: this.#node, places, sender: senderOf(this.#node, embedded ? 0n : feePerGasMax), ticks: embedded,
      settlementMs: config.settlementSeconds * 1000, settlementTrades: config.settlementTrades, others: () => this.#others,
    })
    tell('info', 'the vault is open', { ...places, operator: address, chains: others.map(({ chainId }) => chainId) })
  }

  async #follow(side: ChainSide): Promise<void> {
    side.watch.connected = await this.#try(`chain ${side.node.chainId}`, async () => {
      const sight = await side.look((logs, cursor) => side.deposits.take(logs, cursor))
      if (sight !== null) await this.#part(`deposits without a row of chain ${side.node.chainId}`, () => side.lookAgain(sight))
      if (sight !== null) await this.#part(`sweeps of chain ${side.node.chainId}`, () => side.sweeper.look(sight))
    })
  }

  readonly #part = async (name: string, work: () => Promise<void>): Promise<void> => void (await this.#try(name, work))

  /** Whether it went well; what it threw is said when it is something else than before. */
  async #try(name: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      this.#changes.say(name, 'well', 'well', 'info', `the vault goes on: ${name}`)
      return true
    } catch (error) {
      const { name: kind, message } = error as Error
      // Of nodes and signers everything may be expected, of the rest nothing.
      const [away, reason] = [isAway(error), `${kind}: ${message}`]
      this.#changes.say(name, away ? kind : reason, 'well', away ? 'warn' : 'error', `the vault waits: ${name}`, { reason })
      return false
    }
  }

  #nodeFor(chainId: number, url: string | null): ChainNode {
    const { config, nodeOf } = this.#parts
    const node = nodeOf?.(chainId) ?? createChainNode({ chainId, url, timeoutMs: config.chainTimeoutMs, now: Date.now })
    return countedNode(node, this.#asked)
  }
}

const isAway = (error: unknown): boolean => error instanceof ChainUnavailable || error instanceof SignerUnavailable
