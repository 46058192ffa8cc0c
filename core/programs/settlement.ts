/**
 * Settlement: fills in batches, whose roots stand on the hub. OPEN_SETTLEMENT ends a batch with itself, so what is in it is a function of
 * the journal; the roots are worked out by who replays it (core/settlement), and posted. CONFIRM_SETTLEMENT says that they stand there, in
 * order. Which orders and trades are settled follows from the batches when they are read; nothing is written to them.
 *
 * And what the faucet issued: minted on the hub as well, for the vault, so that it holds what it owes.
 */
import { SETTLEMENT_ANSWER } from '../layout/answers.ts'
import { read, readF64, readI64, writeF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import {
  CONFIRM_SETTLEMENT_COMMAND, FAUCET_MINTED_COMMAND, OPEN_SETTLEMENT_COMMAND, OPEN_SETTLEMENTS_MAX, SettlementStatus,
} from '../layout/vault.ts'
import { emitResult, emitSettlement } from '../events/emit.ts'
import { R } from '../state/balances.ts'
import { CLOCK } from '../state/columns.ts'
import {
  addF64, assetCount, clearWords, faucetMintRow, gain, getF64, now, sequence, set, setF64, settlementRow, setWords, vaultRow,
  vaultTotalRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { faucetOutstanding } from '../state/vault_pools.ts'
import { FAUCET_MINT, HASH_WORDS, SETTLEMENT_ROW, SETTLEMENT_WORDS, VAULT, VAULT_TOTAL } from '../state/vault_rows.ts'
import { laneRefusal } from './policy.ts'
import { refuse } from './sessions.ts'

const C = CONFIRM_SETTLEMENT_COMMAND.at
const F = FAUCET_MINTED_COMMAND.at

/** SETTLEMENT, then SETTLEMENT_ANSWER. SETTLEMENT_ORDER: another batch is next, or too many wait for the hub. */
export function openSettlement(state: State, command: Views, base: number): void {
  const vault = vaultRow(state)
  const batch = readF64(command, base, OPEN_SETTLEMENT_COMMAND.at.batch)
  const last = getF64(state, vault, VAULT.BATCH)
  let code = laneRefusal(command, base)
  if (code === 0 && (batch !== last + 1 || last - getF64(state, vault, VAULT.CONFIRMED) >= OPEN_SETTLEMENTS_MAX)) {
    code = REFUSALS.SETTLEMENT_ORDER.number
  }
  if (code !== 0) return refuse(state, command, base, code)
  const row = settlementRow(state, batch)
  const fills = state.clock[CLOCK.FILLS]!
  clearWords(state, row, 0, SETTLEMENT_WORDS)
  set(state, row, SETTLEMENT_ROW.STATUS, SettlementStatus.OPENED)
  setF64(state, row, SETTLEMENT_ROW.BATCH, batch)
  setF64(state, row, SETTLEMENT_ROW.FROM, getF64(state, vault, VAULT.THROUGH) + 1)
  setF64(state, row, SETTLEMENT_ROW.THROUGH, sequence(state))
  setF64(state, row, SETTLEMENT_ROW.FILLS, fills - getF64(state, vault, VAULT.FILLS))
  setF64(state, row, SETTLEMENT_ROW.OPENED_AT, now(state))
  setF64(state, vault, VAULT.BATCH, batch)
  setF64(state, vault, VAULT.THROUGH, sequence(state))
  setF64(state, vault, VAULT.FILLS, fills)
  emitSettlement(state, batch, 0)
  answerBatch(state, command, base, batch)
}

/** SETTLEMENT, then SETTLEMENT_ANSWER. SETTLEMENT_ORDER: it is not the oldest one that waits. */
export function confirmSettlement(state: State, command: Views, base: number): void {
  const vault = vaultRow(state)
  const batch = readF64(command, base, C.batch)
  let code = laneRefusal(command, base)
  if (code === 0 && (batch !== getF64(state, vault, VAULT.CONFIRMED) + 1 || batch > getF64(state, vault, VAULT.BATCH))) {
    code = REFUSALS.SETTLEMENT_ORDER.number
  }
  if (code !== 0) return refuse(state, command, base, code)
  const row = settlementRow(state, batch)
  set(state, row, SETTLEMENT_ROW.STATUS, SettlementStatus.CONFIRMED)
  setWords(state, row, SETTLEMENT_ROW.TRADES_ROOT, HASH_WORDS, command.i32, base + C.tradesRoot)
  setWords(state, row, SETTLEMENT_ROW.BALANCES_ROOT, HASH_WORDS, command.i32, base + C.balancesRoot)
  setWords(state, row, SETTLEMENT_ROW.TX_HASH, HASH_WORDS, command.i32, base + C.txHash)
  setF64(state, vault, VAULT.CONFIRMED, batch)
  setF64(state, vault, VAULT.CONFIRMED_THROUGH, getF64(state, row, SETTLEMENT_ROW.THROUGH))
  emitSettlement(state, batch, readF64(command, base, C.block))
  answerBatch(state, command, base, batch)
}

function answerBatch(state: State, command: Views, base: number, batch: number): void {
  const { outbox } = state
  const row = settlementRow(state, batch)
  const at = emitResult(state, command, base, 0, -1, 0, 0)
  writeF64(outbox, at, SETTLEMENT_ANSWER.at.batch, batch)
  writeF64(outbox, at, SETTLEMENT_ANSWER.at.through, getF64(state, row, SETTLEMENT_ROW.THROUGH))
  writeF64(outbox, at, SETTLEMENT_ANSWER.at.fills, getF64(state, row, SETTLEMENT_ROW.FILLS))
}

/** NOT_FOUND: no such asset; VALIDATION_ERROR: nothing, more than the faucet issued and is not minted yet, or no time. */
export function faucetMinted(state: State, command: Views, base: number): void {
  const asset = read(command, base, F.asset)
  const through = readF64(command, base, F.through)
  let code = laneRefusal(command, base)
  if (code === 0 && (asset < 0 || asset >= assetCount(state))) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && !isOutstanding(state, asset, command, base)) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0 && !(Number.isSafeInteger(through) && through >= 0)) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) return refuse(state, command, base, code)
  state.registers[R.AMOUNT] = readI64(command, base, F.amount)
  gain(state, vaultTotalRow(state, asset), VAULT_TOTAL.MINTED, R.AMOUNT)
  const row = faucetMintRow(state, getF64(state, vaultRow(state), VAULT.FAUCET_MINTS))
  set(state, row, FAUCET_MINT.ASSET, asset)
  setF64(state, row, FAUCET_MINT.THROUGH, through)
  setWords(state, row, FAUCET_MINT.TX_HASH, HASH_WORDS, command.i32, base + F.txHash)
  addF64(state, vaultRow(state), VAULT.FAUCET_MINTS, 1)
  emitResult(state, command, base, 0, -1, 0, 0)
}

/** Whether so much of what the faucet issued is not on the hub. */
function isOutstanding(state: State, asset: number, command: Views, base: number): boolean {
  const amount = readI64(command, base, F.amount)
  return amount >= 1n && amount <= faucetOutstanding(state, asset)
}
