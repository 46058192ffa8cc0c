/** Writers of the events of money in and out, and of settlement; see emit.ts. */
import { DEPOSIT, EventType, SETTLEMENT, WITHDRAWAL } from '../layout/event.ts'
import { clearFrom, write, writeF64, writeI64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { CREDIT_DEPOSIT_COMMAND } from '../layout/vault.ts'
import { nextRecord } from '../state/outbox.ts'
import { get, getF64, getI64, now, sequence, settlementRow, suspenseRow, withdrawalAt, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { ADDRESS_WORDS, HASH_WORDS, SETTLEMENT_ROW, SUSPENSE, WITHDRAWAL_ROW } from '../state/vault_rows.ts'

const D = CREDIT_DEPOSIT_COMMAND.at

/** Kind of the event, its sequence and time, and `number` in the word behind the kind. */
function begin(state: State, type: number, number: number): number {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, WITHDRAWAL.at.kind, type)
  write(outbox, at, WITHDRAWAL.at.account, number)
  writeF64(outbox, at, WITHDRAWAL.at.sequence, sequence(state))
  writeF64(outbox, at, WITHDRAWAL.at.time, now(state))
  return at
}

/** Copies `words` of `source` from `from` on to field `field` of the record at `at`. */
function copyWords({ outbox }: State, at: number, field: number, words: number, source: Int32Array, from: number): void {
  for (let word = 0; word < words; word++) outbox.i32[at + field + word] = source[from + word]!
}

/** WITHDRAWAL of the one at `row` as it stands, which was `before`; 0: it was made. */
export function emitWithdrawal(state: State, row: number, before: number): void {
  const { outbox, i32 } = state
  const at = begin(state, EventType.WITHDRAWAL, get(state, row, WITHDRAWAL_ROW.ACCOUNT))
  writeF64(outbox, at, WITHDRAWAL.at.withdrawalSequence, getF64(state, row, WITHDRAWAL_ROW.SEQUENCE))
  write(outbox, at, WITHDRAWAL.at.row, withdrawalAt(state, row))
  write(outbox, at, WITHDRAWAL.at.asset, get(state, row, WITHDRAWAL_ROW.ASSET))
  writeI64(outbox, at, WITHDRAWAL.at.amount, getI64(state, row, WITHDRAWAL_ROW.AMOUNT))
  write(outbox, at, WITHDRAWAL.at.status, get(state, row, WITHDRAWAL_ROW.STATUS))
  write(outbox, at, WITHDRAWAL.at.flags, get(state, row, WITHDRAWAL_ROW.FLAGS))
  writeF64(outbox, at, WITHDRAWAL.at.deadline, getF64(state, row, WITHDRAWAL_ROW.DEADLINE))
  writeF64(outbox, at, WITHDRAWAL.at.createdAt, getF64(state, row, WITHDRAWAL_ROW.CREATED_AT))
  copyWords(state, at, WITHDRAWAL.at.txHash, HASH_WORDS, i32, wordOf(row, WITHDRAWAL_ROW.TX_HASH))
  copyWords(state, at, WITHDRAWAL.at.destination, ADDRESS_WORDS, i32, wordOf(row, WITHDRAWAL_ROW.DESTINATION))
  write(outbox, at, WITHDRAWAL.at.before, before)
}

/** DEPOSIT as row `suspense` of suspense has it, which is now that of `account`; -1: nobody's yet. */
export function emitSuspended(state: State, suspense: number, account: number): void {
  const { outbox, i32 } = state
  const row = suspenseRow(state, suspense)
  const at = begin(state, EventType.DEPOSIT, account)
  write(outbox, at, DEPOSIT.at.chain, get(state, row, SUSPENSE.CHAIN))
  write(outbox, at, DEPOSIT.at.logIndex, get(state, row, SUSPENSE.LOG_INDEX))
  writeF64(outbox, at, DEPOSIT.at.block, getF64(state, row, SUSPENSE.BLOCK))
  write(outbox, at, DEPOSIT.at.asset, get(state, row, SUSPENSE.ASSET))
  write(outbox, at, DEPOSIT.at.suspense, suspense)
  writeI64(outbox, at, DEPOSIT.at.amount, getI64(state, row, SUSPENSE.AMOUNT))
  writeI64(outbox, at, DEPOSIT.at.remainder, getI64(state, row, SUSPENSE.REMAINDER))
  copyWords(state, at, DEPOSIT.at.txHash, HASH_WORDS, i32, wordOf(row, SUSPENSE.TX_HASH))
  copyWords(state, at, DEPOSIT.at.beneficiary, ADDRESS_WORDS, i32, wordOf(row, SUSPENSE.BENEFICIARY))
  clearFrom(outbox, at, DEPOSIT.at.beneficiary + ADDRESS_WORDS)
}

/** DEPOSIT of the CREDIT_DEPOSIT at word `base`, which `account` got, or row `suspense`; -1: none. */
export function emitDeposit(state: State, command: Views, base: number, account: number, suspense: number): void {
  const { outbox } = state
  const at = begin(state, EventType.DEPOSIT, account)
  write(outbox, at, DEPOSIT.at.chain, command.i32[base + D.chain]!)
  write(outbox, at, DEPOSIT.at.logIndex, command.i32[base + D.logIndex]!)
  writeF64(outbox, at, DEPOSIT.at.block, command.f64[(base + D.block) >>> 1]!)
  write(outbox, at, DEPOSIT.at.asset, command.i32[base + D.asset]!)
  write(outbox, at, DEPOSIT.at.suspense, suspense)
  writeI64(outbox, at, DEPOSIT.at.amount, command.i64[(base + D.amount) >>> 1]!)
  writeI64(outbox, at, DEPOSIT.at.remainder, command.i64[(base + D.remainder) >>> 1]!)
  copyWords(state, at, DEPOSIT.at.txHash, HASH_WORDS, command.i32, base + D.txHash)
  copyWords(state, at, DEPOSIT.at.beneficiary, ADDRESS_WORDS, command.i32, base + D.beneficiary)
  clearFrom(outbox, at, DEPOSIT.at.beneficiary + ADDRESS_WORDS)
}

/** SETTLEMENT of batch `batch` as its row stands. */
export function emitSettlement(state: State, batch: number, block: number): void {
  const { outbox, i32 } = state
  const row = settlementRow(state, batch)
  const at = begin(state, EventType.SETTLEMENT, get(state, row, SETTLEMENT_ROW.STATUS))
  writeF64(outbox, at, SETTLEMENT.at.batch, batch)
  writeF64(outbox, at, SETTLEMENT.at.from, getF64(state, row, SETTLEMENT_ROW.FROM))
  writeF64(outbox, at, SETTLEMENT.at.through, getF64(state, row, SETTLEMENT_ROW.THROUGH))
  writeF64(outbox, at, SETTLEMENT.at.fills, getF64(state, row, SETTLEMENT_ROW.FILLS))
  writeF64(outbox, at, SETTLEMENT.at.block, block)
  copyWords(state, at, SETTLEMENT.at.txHash, HASH_WORDS, i32, wordOf(row, SETTLEMENT_ROW.TX_HASH))
  clearFrom(outbox, at, SETTLEMENT.at.txHash + HASH_WORDS)
}
