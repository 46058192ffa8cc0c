/**
 * Settlement of the history: how far it is, batches, and proofs of trades (batch_trees.ts), each checked against the root of its batch
 * before it is given out.
 */
import { FILL, outcomeOf, Reason, Status } from '../../layout/event.ts'
import { SettlementStatus } from '../../layout/vault.ts'
import type { Genesis } from '../../state/genesis.ts'
import { HASH_BYTES, verifyProof } from '../../settlement/merkle.ts'
import type { Position } from '../../view/listing.ts'
import { TradeLeafText, type TradeNames } from '../project/trade_tree.ts'
import { HistoryDamaged } from '../store/checks.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import { SETTLEMENT_RECORD } from '../store/vault_layout.ts'
import { proveBalance, type BalancesOf } from './balance_answers.ts'
import { BatchTrees } from './batch_trees.ts'
import { findTrade, type Settlements } from './trade_answers.ts'
import { hexAt, hexOf } from './vault_answers.ts'
import type { HistorySettlement, TradeProof, VaultQueries } from './vault_queries.ts'

const { at: R } = SETTLEMENT_RECORD
const { at: F } = FILL
/** Owner of all of these records. */
const ALL = 0
const FILLED = outcomeOf(Status.FILLED, Reason.NONE)
const SETTLED = outcomeOf(Status.SETTLED, Reason.NONE)
const SETTLED_ON_CHAIN = outcomeOf(Status.SETTLED_ON_CHAIN, Reason.NONE)

/** How far settlement is: numbers of the newest batches, and the last sequences in them. 0: there is none. */
export interface SettlementProgress {
  readonly opened: number
  readonly confirmed: number
  readonly openedThrough: number
  readonly confirmedThrough: number
}

export interface SettlementReader extends Settlements {
  readonly answers: {
    readonly [N in 'settlement' | 'tradeProof' | 'balanceProof']:
    (ask: VaultQueries[N]['ask']) => Generator<undefined, VaultQueries[N]['answer']>
  }
  /** What an order with this outcome is by now, before whose last fill so many batches were opened. */
  outcomeOf(outcome: number, batches: number): number
  /** The store may have changed. */
  forget(): void
  readonly readers: readonly PageReader[]
}

/** What is not in the store: ids that no event says, and balances when batches were opened. */
export interface Outside {
  readonly names: TradeNames
  readonly balances: BalancesOf
}

/** `trades` by pair. */
export function createSettlementReader(
  store: CheckedStore, genesis: Genesis, trades: readonly PageReader[], { names, balances }: Outside,
): SettlementReader {
  const batches = createPageReader(store, 'settlement_page')
  const chunks = createPageReader(store, 'settlement_chunk_page')
  const leaf = new TradeLeafText(names)
  const trees = new BatchTrees(chunks, trades, leaf)
  let known: SettlementProgress | null = null
  const progress = (): SettlementProgress => (known ??= progressOf(batches))
  const batch = (number: number): HistorySettlement | null =>
    (Number.isInteger(number) && number >= 1 && number <= batches.count(ALL) ? batchAt(batches, number) : null)
  function* prove({ views }: PageReader, at: number): Generator<undefined, TradeProof> {
    leaf.write(views, at)
    const bytes = leaf.bytes.slice()
    const trade = {
      sequence: views.f64[(at + F.sequence) >>> 1]!, index: views.i32[at + F.index]!,
      takerAccount: views.i32[at + F.takerAccount]!, makerAccount: views.i32[at + F.makerAccount]!, leaf: hexOf(bytes),
    }
    const number = batches.search(ALL, batches.count(ALL), (each) => batches.views.f64[(each + R.through) >>> 1]! < trade.sequence) + 1
    const found = batch(number)
    if (found === null) return { ...trade, batch: null, place: 0, proof: [] }
    return { ...trade, batch: found, ...(yield* proofOf(batches, trees, found, trade, bytes)) }
  }
  return {
    answers: {
      *settlement({ batch: number }) {
        return batch(number === 0 ? progress().opened : number)
      },
      *tradeProof({ sequence, index }) {
        for (const [pair, reader] of trades.entries()) {
          const at = findTrade(reader, pair, sequence, index)
          if (at >= 0) return yield* prove(reader, at)
        }
        return null
      },
      *balanceProof({ account, asset, batch: asked }) {
        const found = batch(asked ?? progress().confirmed)
        return found === null ? null : proveBalance(balances, names, genesis, found, account, asset)
      },
    },
    readers: [batches, chunks],
    outcomeOf: (outcome, before) => {
      if (outcome !== FILLED) return outcome
      const { opened, confirmed } = progress()
      return before < confirmed ? SETTLED_ON_CHAIN : before < opened ? SETTLED : FILLED
    },
    statusOf: (sequence) => {
      const { openedThrough, confirmedThrough } = progress()
      if (sequence > openedThrough) return undefined
      return sequence <= confirmedThrough ? SettlementStatus.CONFIRMED : SettlementStatus.OPENED
    },
    forget: () => {
      known = null
    },
  }
}

function progressOf(batches: PageReader): SettlementProgress {
  const opened = batches.count(ALL)
  // Confirmed ones are the first ones, all but the last few.
  const confirmed = batches.search(ALL, opened, (at) => batches.views.i32[at + R.status] === SettlementStatus.CONFIRMED)
  const through = (number: number): number =>
    (number === 0 ? 0 : batches.views.f64[(batches.locate(ALL, number - 1) + R.through) >>> 1]!)
  return { opened, confirmed, openedThrough: through(opened), confirmedThrough: through(confirmed) }
}

function batchAt(batches: PageReader, number: number): HistorySettlement {
  const at = batches.locate(ALL, number - 1)
  const { i32, f64 } = batches.views
  const isConfirmed = i32[at + R.status] === SettlementStatus.CONFIRMED
  return {
    batch: number,
    from: f64[(at + R.from) >>> 1]!,
    through: f64[(at + R.through) >>> 1]!,
    fills: f64[(at + R.fills) >>> 1]!,
    status: i32[at + R.status]!,
    openedAt: f64[(at + R.openedAt) >>> 1]!,
    confirmedAt: f64[(at + R.confirmedAt) >>> 1]!,
    tradesRoot: hexAt(batches.views, at + R.tradesRoot, HASH_BYTES),
    block: f64[(at + R.block) >>> 1]!,
    txHash: isConfirmed ? hexAt(batches.views, at + R.txHash, HASH_BYTES) : null,
  }
}

/** Place and siblings of a trade of `batch`, whose leaf is `bytes`. */
function* proofOf(
  batches: PageReader, trees: BatchTrees, batch: HistorySettlement, trade: Position, bytes: Uint8Array,
): Generator<undefined, Pick<TradeProof, 'place' | 'proof'>> {
  const at = batches.locate(ALL, batch.batch - 1)
  const [first, chunks] = [batches.views.f64[(at + R.firstChunk) >>> 1]!, batches.views.i32[at + R.chunks]!]
  const said = yield* trees.prove({ ...batch, first, chunks }, trade)
  if (!verifyProof(Buffer.from(batch.tradesRoot.slice(2), 'hex'), bytes, said.place, batch.fills, said.proof)) {
    throw new HistoryDamaged(`trade ${trade.sequence}/${trade.index} is not in its batch of settlement`)
  }
  return { place: said.place, proof: said.proof.map(hexOf) }
}
