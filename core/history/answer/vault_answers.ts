/** Withdrawals and deposits of the history, one and those of an account, and the transactions of their movements. */
import type { Views } from '../../layout/table.ts'
import { HASH_BYTES } from '../../settlement/merkle.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import { DEPOSIT_RECORD, WITHDRAWAL_RECORD } from '../store/vault_layout.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import type { DepositsAsk, HistoryDeposit, HistoryWithdrawal, VaultQueries, WithdrawalsAsk } from './vault_queries.ts'
import { walk, type Trail } from './walk.ts'

const { at: W } = WITHDRAWAL_RECORD
const { at: D } = DEPOSIT_RECORD
const ADDRESS_BYTES = 20
/** Records of both begin with their sequence. */
const SEQUENCE = W.sequence

/** 0x and hex digits. */
export const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

/** The same of `length` bytes at word `word`. */
export const hexAt = ({ bytes }: Views, word: number, length: number): string => hexOf(bytes.subarray(word * 4, word * 4 + length))

type Name = 'withdrawal' | 'withdrawals' | 'deposits'
export interface VaultReader {
  readonly answers: { readonly [N in Name]: (ask: VaultQueries[N]['ask']) => Generator<undefined, VaultQueries[N]['answer']> }
  /** Transaction of the movement of a withdrawal that was paid, and of that of a deposit, by the sequence of its record. */
  readonly paidBy: (account: number, sequence: number) => string
  readonly cameBy: (account: number, sequence: number) => string
  readonly loads: () => number
  readonly readers: readonly PageReader[]
}

export function createVaultReader(store: CheckedStore): VaultReader {
  const withdrawals = createPageReader(store, 'withdrawal_page')
  const deposits = createPageReader(store, 'deposit_page')
  return {
    readers: [withdrawals, deposits],
    loads: () => withdrawals.loads + deposits.loads,
    paidBy: (account, sequence) => hexAt(withdrawals.views, known(withdrawals, account, sequence) + W.txHash, HASH_BYTES),
    cameBy: (account, sequence) => hexAt(deposits.views, known(deposits, account, sequence) + D.txHash, HASH_BYTES),
    answers: {
      *withdrawal({ account, sequence, row }) {
        const at = find(withdrawals, account, sequence)
        return at < 0 || withdrawals.views.i32[at + W.row] !== row ? null : withdrawalAt(withdrawals.views, account, at)
      },
      withdrawals: (ask) => walk(withdrawalTrail(withdrawals, ask), ask),
      deposits: (ask) => walk(depositTrail(deposits, ask), ask),
    },
  }
}

/** Address of the record of `account` with this sequence, or -1. */
function find(reader: PageReader, account: number, sequence: number): number {
  const { f64 } = reader.views
  const number = reader.search(account, reader.count(account), (at) => f64[(at + SEQUENCE) >>> 1]! <= sequence) - 1
  if (number < 0) return -1
  const at = reader.locate(account, number)
  return f64[(at + SEQUENCE) >>> 1] === sequence ? at : -1
}

/** The same of one that a posting names. */
function known(reader: PageReader, account: number, sequence: number): number {
  const at = find(reader, account, sequence)
  if (at < 0) throw new Error(`the history lacks what moved money of ${account} at ${sequence}`)
  return at
}

function withdrawalAt(views: Views, account: number, at: number): HistoryWithdrawal {
  const { i32, f64, i64 } = views
  const isSeen = views.bytes.subarray((at + W.txHash) * 4, (at + W.txHash) * 4 + HASH_BYTES).some((byte) => byte !== 0)
  return {
    account,
    sequence: f64[(at + W.sequence) >>> 1]!,
    row: i32[at + W.row]!,
    asset: i32[at + W.asset]!,
    amount: i64[(at + W.amount) >>> 1]!,
    destination: hexAt(views, at + W.destination, ADDRESS_BYTES),
    status: i32[at + W.status]!,
    flags: i32[at + W.flags]!,
    createdAt: f64[(at + W.createdAt) >>> 1]!,
    updatedAt: f64[(at + W.updatedAt) >>> 1]!,
    deadline: f64[(at + W.deadline) >>> 1]!,
    txHash: isSeen ? hexAt(views, at + W.txHash, HASH_BYTES) : null,
  }
}

function withdrawalTrail(reader: PageReader, ask: WithdrawalsAsk): Trail<HistoryWithdrawal> {
  const { i32, f64 } = reader.views
  const { account, statuses, asset } = ask
  const count = start(reader, account, boundsOf(ask), W.sequence, W.createdAt)
  const all = statuses === undefined && asset === undefined
  return {
    ...(all ? descendThrough(reader, account, count, 0, W.createdAt) : descend(reader, account, count)),
    isOver: () => false,
    rows: (at) => {
      if (statuses !== undefined && !statuses.includes(i32[at + W.status]!)) return 0
      return asset === undefined || i32[at + W.asset] === asset ? 1 : 0
    },
    position: (at) => ({ sequence: f64[(at + W.sequence) >>> 1]!, index: 0 }),
    build: (at) => withdrawalAt(reader.views, account, at),
    loads: () => reader.loads,
  }
}

function depositAt(views: Views, account: number, at: number): HistoryDeposit {
  const { i32, f64, i64 } = views
  return {
    account,
    sequence: f64[(at + D.sequence) >>> 1]!,
    time: f64[(at + D.time) >>> 1]!,
    chain: i32[at + D.chain]!,
    block: f64[(at + D.block) >>> 1]!,
    logIndex: i32[at + D.logIndex]!,
    txHash: hexAt(views, at + D.txHash, HASH_BYTES),
    beneficiary: hexAt(views, at + D.beneficiary, ADDRESS_BYTES),
    asset: i32[at + D.asset]!,
    amount: i64[(at + D.amount) >>> 1]!,
    remainder: i64[(at + D.remainder) >>> 1]!,
  }
}

function depositTrail(reader: PageReader, ask: DepositsAsk): Trail<HistoryDeposit> {
  const { i32, f64 } = reader.views
  const { account, asset } = ask
  const count = start(reader, account, boundsOf(ask), D.sequence, D.time)
  return {
    ...(asset === undefined ? descendThrough(reader, account, count, 0, D.time) : descend(reader, account, count)),
    isOver: () => false,
    rows: (at) => (asset === undefined || i32[at + D.asset] === asset ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + D.sequence) >>> 1]!, index: 0 }),
    build: (at) => depositAt(reader.views, account, at),
    loads: () => reader.loads,
  }
}
