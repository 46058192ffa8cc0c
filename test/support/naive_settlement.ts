/** Money in and out and settlement of a history in memory, slow and obvious: trees are made of all trades, for every question. */
import { SettlementStatus } from '../../core/layout/vault.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { pairId, userId } from '../../core/layout/ids.ts'
import { tradeLeaf } from '../../core/settlement/leaves.ts'
import { MerkleTree } from '../../core/settlement/merkle.ts'
import type {
  BalanceProof, HistoryDeposit, HistoryOrder, HistorySettlement, HistoryTrade, HistoryWithdrawal, Queries, TradeProof,
} from '../../core/history/answer/queries.ts'

export class NaiveSettlement {
  readonly withdrawals: HistoryWithdrawal[] = []
  readonly deposits: HistoryDeposit[] = []
  /** Batches that were opened, in their order. */
  readonly batches: Omit<HistorySettlement, 'tradesRoot'>[] = []
  /** By account and asset, as `1 0`. */
  readonly balances = new Map<string, BalanceProof>()
  /** Public ids. */
  user = (account: number): string => userId(0, account)
  pair = (pair: number): string => pairId(0, pair)

  #batchOf(sequence: number): (typeof this.batches)[number] | undefined {
    return this.batches.find(({ through }) => sequence <= through)
  }

  /** The trade as it is by now. */
  trade(trade: HistoryTrade): HistoryTrade {
    const batch = this.#batchOf(trade.sequence)
    return batch === undefined ? trade : { ...trade, settlement: batch.status }
  }

  /** Orders as they are by now: the last fill of each decides. */
  orders(orders: readonly HistoryOrder[], trades: readonly HistoryTrade[]): HistoryOrder[] {
    if (this.batches.length === 0) return [...orders]
    const last = new Map<number, number>()
    for (const { sequence, makerSequence } of trades) {
      for (const order of [sequence, makerSequence]) last.set(order, Math.max(sequence, last.get(order) ?? 0))
    }
    return orders.map((order) => {
      const batch = order.outcome === outcomeOf(Status.FILLED, Reason.NONE) ? this.#batchOf(last.get(order.sequence)!) : undefined
      if (batch === undefined) return order
      const status = batch.status === SettlementStatus.CONFIRMED ? Status.SETTLED_ON_CHAIN : Status.SETTLED
      return { ...order, outcome: outcomeOf(status, Reason.NONE) }
    })
  }

  #leaf(trade: HistoryTrade): Uint8Array {
    const { takerAccount, makerAccount, pair, ...rest } = trade
    return tradeLeaf({ ...rest, pair: this.pair(pair), taker: this.user(takerAccount), maker: this.user(makerAccount) })
  }

  #treeOf(
    { from, through }: { from: number; through: number }, trades: readonly HistoryTrade[],
  ): { leaves: HistoryTrade[]; tree: MerkleTree } {
    const leaves = trades
      .filter(({ sequence }) => sequence >= from && sequence <= through)
      .sort((a, b) => a.sequence - b.sequence || a.index - b.index)
    return { leaves, tree: MerkleTree.of(leaves.map((trade) => this.#leaf(trade))) }
  }

  batch(number: number, trades: readonly HistoryTrade[]): HistorySettlement | null {
    const batch = this.batches[number - 1]
    return batch === undefined ? null : { ...batch, tradesRoot: hex(this.#treeOf(batch, trades).tree.root) }
  }

  prove({ sequence, index }: Queries['tradeProof']['ask'], trades: readonly HistoryTrade[]): TradeProof | null {
    const trade = trades.find((each) => each.sequence === sequence && each.index === index)
    if (trade === undefined) return null
    const { takerAccount, makerAccount } = trade
    const said = { sequence, index, takerAccount, makerAccount, leaf: hex(this.#leaf(trade)) }
    const number = this.batches.findIndex(({ through }) => sequence <= through) + 1
    const batch = this.batch(number, trades)
    if (batch === null) return { ...said, batch, place: 0, proof: [] }
    const { leaves, tree } = this.#treeOf(batch, trades)
    const place = leaves.indexOf(trade)
    return { ...said, batch, place, proof: tree.proof(place).map(hex) }
  }
}

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`
