/** What the vault thread and the operator say of money in and out, as commands of a gateway harness: each done, or it throws. */
import { commandName, CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import {
  ADVANCE_CHAIN_COMMAND, ADVANCE_WITHDRAWAL_COMMAND, CONFIRM_SETTLEMENT_COMMAND, CREDIT_DEPOSIT_COMMAND, FAUCET_MINTED_COMMAND,
  OPEN_SETTLEMENT_COMMAND, REVIEW_WITHDRAWAL_COMMAND, SET_WITHDRAWAL_TERMS_COMMAND, STOP_WITHDRAWALS_COMMAND, WithdrawalStatus,
} from '../../core/layout/vault.ts'
import type { Harness } from './gateway_harness.ts'

type Operator = Pick<Harness, 'operate'>

async function done({ operate }: Operator, type: number, layout: Layout, values: Decoded): Promise<Int32Array> {
  const record = await operate(type, layout, { session: -1, ...values })
  if (record[RESULT.at.code] !== 0) throw new Error(`${commandName(type)}: ${record[RESULT.at.code]}`)
  return record
}

/** 32 bytes that are `digit` all over, as a transaction's hash. */
export const hashOf = (digit: string): string => `0x${digit.repeat(64)}`

/** The chain says so of the withdrawal with this id; `deadline` in Unix ms where it becomes SIGNED. */
export function advance(
  operator: Operator, withdrawalId: string, to: keyof typeof WithdrawalStatus, more: { deadline?: number; txHash?: string } = {},
): Promise<Int32Array> {
  const { slot: row, sequence: withdrawalSequence } = parseId(IdKind.WITHDRAWAL, withdrawalId)!
  const { deadline = 0, txHash = hashOf('0') } = more
  const values = { row, withdrawalSequence, to: WithdrawalStatus[to], deadline, block: 7, txHash: txHash.slice(2) }
  return done(operator, CommandType.ADVANCE_WITHDRAWAL, ADVANCE_WITHDRAWAL_COMMAND, values)
}

export function review(operator: Operator, withdrawalId: string, approve: boolean): Promise<Int32Array> {
  const { slot: row, sequence: withdrawalSequence } = parseId(IdKind.WITHDRAWAL, withdrawalId)!
  const values = { row, withdrawalSequence, approve: approve ? 1 : 0 }
  return done(operator, CommandType.REVIEW_WITHDRAWAL, REVIEW_WITHDRAWAL_COMMAND, values)
}

/** Atoms; what is not named has no limit. */
export function setTerms(
  operator: Operator, asset: number, { minimum = 1n, userDaily = 0n, totalDaily = 0n, approvalAbove = 0n },
): Promise<Int32Array> {
  const values = { asset, minimum, userDaily, totalDaily, approvalAbove }
  return done(operator, CommandType.SET_WITHDRAWAL_TERMS, SET_WITHDRAWAL_TERMS_COMMAND, values)
}

/** WithdrawalStop. */
export const stopWithdrawals = (operator: Operator, cause: number): Promise<Int32Array> =>
  done(operator, CommandType.STOP_WITHDRAWALS, STOP_WITHDRAWALS_COMMAND, { cause })

/** The hub is read up to this block. */
export const advanceChain = (operator: Operator, block: number): Promise<Int32Array> =>
  done(operator, CommandType.ADVANCE_CHAIN, ADVANCE_CHAIN_COMMAND, {
    chain: 0, chainId: 1328, block, blockTime: Date.now(), blockHash: hashOf('b').slice(2),
  })

/** A deposit of the wallet's in the first application, in this block of the hub. */
export const credit = (
  operator: Operator, wallet: string, asset: number, amount: bigint, block: number, txHash: string,
): Promise<Int32Array> => done(operator, CommandType.CREDIT_DEPOSIT, CREDIT_DEPOSIT_COMMAND, {
  chain: 0, logIndex: 0, block, asset, application: 0, amount, remainder: 0n, txHash: txHash.slice(2), beneficiary: wallet.slice(2),
  token: '11'.repeat(20),
})

/** What the faucet issued of the asset up to `through`, Unix ms, is on the hub. */
export const mintOnHub = (operator: Operator, asset: number, amount: bigint, through: number, txHash: string): Promise<Int32Array> =>
  done(operator, CommandType.FAUCET_MINTED, FAUCET_MINTED_COMMAND, { asset, amount, through, txHash: txHash.slice(2) })

export const openBatch = (operator: Operator, batch: number): Promise<Int32Array> =>
  done(operator, CommandType.OPEN_SETTLEMENT, OPEN_SETTLEMENT_COMMAND, { batch })

/** Its roots are all of this digit, and stand on the hub by that transaction. */
export const confirmBatch = (operator: Operator, batch: number, digit: string, txHash: string): Promise<Int32Array> =>
  done(operator, CommandType.CONFIRM_SETTLEMENT, CONFIRM_SETTLEMENT_COMMAND, {
    batch, block: 9, tradesRoot: digit.repeat(64), balancesRoot: digit.repeat(64), txHash: txHash.slice(2),
  })
