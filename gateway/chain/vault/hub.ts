/**
 * A turn at the hub: deposits and payments of blocks that count, then solvency, withdrawals, settlement, mints and sweeps, each of which
 * may fail without the others. Authorisations need all of it: a chain whose cursor was found on it, a vault that is not paused and has
 * enough.
 */
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { WithdrawalStatus, WithdrawalStop } from '../../../core/layout/vault.ts'
import type { Asset } from '../../../core/state/genesis.ts'
import type { WithdrawalView } from '../../../core/view/vault.ts'
import { VAULT_ABI } from './artifacts.ts'
import { ChainSide, type SideParts } from './chain_side.ts'
import type { ChainSight, TakeLogs } from './chain_watch.ts'
import { WITHDRAWAL_TOPIC } from './events.ts'
import { FaucetMinter } from './faucet_minter.ts'
import { Job } from './job.ts'
import type { RootsOf } from './roots.ts'
import { Settlement } from './settlement.ts'
import { Solvency } from './solvency.ts'
import type { ChainToken } from './tokens.ts'
import type { ChainNode, Hex, Sender } from './types.ts'
import { BLOCKS_MAX } from '../values.ts'
import { Withdrawals, type Payable } from './withdrawals.ts'

/** Whether the vault is paused is asked so often when nobody waits, ms. */
const PAUSED_MS = 5_000
/** A chain without blocks of its own gets at most one so often, ms. */
const TICK_MS = 1_000
const NOT_PAYABLE: Payable = { any: false, room: () => null }

export interface HubParts extends Omit<SideParts, 'topics'> {
  /** Sequenced time, Unix ms. */
  readonly time: () => number
  readonly rootsOf: RootsOf
  readonly settlementMs: number
  readonly settlementTrades: number
  /** Other chains whose deposits are taken. */
  readonly others: () => readonly ChainSide[]
  /** The chain has a block only when there is a transaction. */
  readonly ticks: boolean
}

/** Runs one part of a turn; what it throws ends that part alone. */
export type Part = (name: string, work: () => Promise<void>) => Promise<void>

export class Hub {
  readonly side: ChainSide
  readonly withdrawals: Withdrawals
  readonly solvency: Solvency
  readonly settlement: Settlement
  readonly faucet: FaucetMinter
  readonly #parts: HubParts
  readonly #node: ChainNode
  readonly #sender: Sender
  readonly #tick: Job
  #tickedAt = -Infinity
  #pausedAt = -Infinity
  paused = false

  constructor(parts: HubParts) {
    const { node, sender, places, books, commands, tell, clock } = parts
    this.#parts = parts
    this.#node = node
    this.#sender = sender
    this.side = new ChainSide({ ...parts, topics: [WITHDRAWAL_TOPIC] })
    const { tokens, first } = this.side
    const shared = { ...parts, node, places, books, commands, tokens, tell, clock, first, sender }
    this.withdrawals = new Withdrawals(shared)
    this.solvency = new Solvency({ ...shared, elsewhere: (asset) => this.#heldElsewhere(asset) })
    const roomLeft = (): number => (parts.ticks ? Math.max(1, BLOCKS_MAX - this.side.watch.head) / BLOCKS_MAX : 1)
    this.settlement = new Settlement({ ...shared, roomLeft })
    this.faucet = new FaucetMinter(shared)
    this.#tick = new Job('making a block', tell, clock)
  }

  /** One bounded turn. Throws ChainUnavailable when nothing can be said of the chain. */
  async look(part: Part): Promise<void> {
    const sight = await this.side.look(this.#take)
    if (sight === null) return
    const open = this.#parts.books.withdrawals()
    let payable = NOT_PAYABLE
    await part('solvency', async () => {
      payable = await this.#payable(sight, open)
    })
    await part('withdrawals', () => this.withdrawals.look(sight, this.#parts.books.withdrawals(), payable))
    await part('deposits without a row', () => this.side.lookAgain(sight))
    await part('settlement', () => this.settlement.look(sight))
    await part('faucet', () => this.faucet.look(sight))
    await part('sweeps', () => this.side.sweeper.look(sight))
    this.#makeBlock()
  }

  async idle(): Promise<void> {
    await Promise.all([this.settlement.idle(), this.faucet.idle(), this.side.sweeper.idle(), this.#tick.idle()])
  }

  async #heldElsewhere(asset: Asset): Promise<bigint> {
    let atoms = 0n
    for (const side of this.#parts.others()) atoms += await side.holding(asset)
    return atoms
  }

  /** Deposits first: what a range paid is CONFIRMED when all it brought is credited. */
  readonly #take: TakeLogs = async (logs, cursor) => {
    const done = await this.side.deposits.take(logs, cursor)
    return (await this.withdrawals.take(logs.slice(0, done))) ? done : 0
  }

  /** What can be authorised now. */
  async #payable({ head, confirmed }: ChainSight, open: readonly WithdrawalView[]): Promise<Payable> {
    const { books, clock } = this.#parts
    const pending = open.filter(({ status, needsApproval }) => status === WithdrawalStatus.PENDING && !needsApproval)
    const wanted = pending.length > 0
    if (wanted || clock() - this.#pausedAt >= PAUSED_MS) {
      this.paused = (await this.#read('paused', head)) === true
      this.#pausedAt = clock()
    }
    await this.solvency.look(confirmed, wanted)
    const any = wanted && !this.paused && !this.solvency.inDeficit && books.stopped() === WithdrawalStop.NONE
    const rooms = new Map<number, bigint | null>()
    for (const token of any ? this.side.tokens.values() : []) {
      if (!pending.some(({ asset }) => asset === token.asset.index)) continue
      rooms.set(token.asset.index, (await this.#isListed(token, head)) ? this.solvency.room(token.asset.index, open) : null)
    }
    return { any, room: ({ asset }) => rooms.get(asset.index) ?? null }
  }

  async #isListed({ token }: ChainToken, head: ChainSight['head']): Promise<boolean> {
    const [listed] = (await this.#read('tokens', head, token)) as readonly [boolean]
    return listed
  }

  async #read(functionName: 'paused' | 'tokens', at: ChainSight['head'], ...args: readonly Hex[]): Promise<unknown> {
    const data = encodeFunctionData({ abi: VAULT_ABI, functionName, args } as Parameters<typeof encodeFunctionData>[0])
    const answer = await this.#node.call(this.#parts.places.vault, data, at)
    if (answer === null) throw new Error(`the vault does not answer ${functionName}`)
    return decodeFunctionResult({ abi: VAULT_ABI, functionName, data: answer } as Parameters<typeof decodeFunctionResult>[0])
  }

  #makeBlock(): void {
    const { ticks, clock } = this.#parts
    const wanted = this.withdrawals.waitsForBlock || this.settlement.waitsForBlock || this.faucet.waitsForBlock
    if (!ticks || !wanted || clock() - this.#tickedAt < TICK_MS) return
    this.#tickedAt = clock()
    this.#tick.start(async () => void (await this.#sender.tick()))
  }
}
