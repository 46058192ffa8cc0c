/**
 * Money in and out, counted (counted_stage.ts): with as many withdrawals as an account may have and many of others, a ring that is full of
 * deposits, most of which a rewind took back, many rows in suspense, and a list that is full of deposits without a row.
 */
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { VAULT_CHAINS_MAX, WithdrawalStatus } from '../../core/layout/vault.ts'
import { ACCOUNT, SESSION } from '../../core/state/columns.ts'
import { accountRow, bytesOf, get, getF64, sessionRow } from '../../core/state/rows.ts'
import { DEPOSIT_IDS, LOST_PER_SUSPENSE } from '../../core/state/vault_rows.ts'
import type { CountedStage } from './counted_stage.ts'

/** Steps of a look at one deposit of the ring. */
export const DEPOSIT_LOOK = 20
const OTHERS = 1000
/** Rows of suspense, and deposits without one that are known. */
export const SUSPENSE = 1024
export const LOST = SUSPENSE * LOST_PER_SUSPENSE

const hash = (number: number): string => number.toString(16).padStart(64, '0')
const DESTINATION = { destination: '11'.repeat(20) }

/** `full` gets as many withdrawals as one may have; `rest` are of others. */
export function countVault(stage: CountedStage, full: Decoded, rest: readonly Decoded[]): void {
  const { state } = stage
  const account = get(state, sessionRow(state, Number(full['session'])), SESSION.ACCOUNT)
  const createdSequence = getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
  const beneficiary = Buffer.from(bytesOf(state, accountRow(state, account), ACCOUNT.ADDRESS, 20)).toString('hex')
  const advance = (block: number, rewind = 0): Decoded =>
    ({ chain: VAULT_CHAINS_MAX - 2, chainId: VAULT_CHAINS_MAX - 1, block, rewind, blockTime: stage.time, blockHash: hash(block) })
  // The last chain but one is the one of deposits; making another looks at all of them.
  const chain = VAULT_CHAINS_MAX - 2
  for (let each = 0; each <= chain; each++) stage.make(CommandType.ADVANCE_CHAIN, { ...advance(1), chain: each, chainId: each + 1 }, 0)
  stage.count(CommandType.ADVANCE_CHAIN, { ...advance(1), chain: chain + 1, chainId: chain + 2 })
  const deposit = (number: number, values: Decoded = {}): Decoded => ({
    chain, block: 10 + number, logIndex: 0, asset: 0, application: 0, amount: 1000n, remainder: 0n, beneficiary, txHash: hash(number),
    token: '22'.repeat(20), ...values,
  })
  const nobody = { beneficiary: '33'.repeat(20) }
  const suspended = Array.from({ length: OTHERS }, (_, number) => stage.make(CommandType.CREDIT_DEPOSIT, deposit(number, nobody), 0))
  for (let number = OTHERS; number < OTHERS + DEPOSIT_IDS; number++) stage.make(CommandType.CREDIT_DEPOSIT, deposit(number), 0)
  const last = OTHERS + DEPOSIT_IDS
  const kinds: readonly Decoded[] = [{}, nobody, { asset: -1, amount: 0n }]
  for (const over of kinds) {
    stage.count(CommandType.CREDIT_DEPOSIT, deposit(last + Object.keys(over).length, over))
  }
  stage.make(CommandType.ADVANCE_CHAIN, advance(last + 20), 0)
  stage.count(CommandType.ADVANCE_CHAIN, advance(OTHERS + 20, 1))
  stage.count(CommandType.CREDIT_DEPOSIT, deposit(last - 1, { logIndex: 7 }))
  stage.count(CommandType.CREDIT_DEPOSIT, deposit(last + 9, { block: last + 90 }))
  for (let number = last + 100; number < last + 200 + LOST; number++) stage.make(CommandType.CREDIT_DEPOSIT, deposit(number, nobody), 0)
  stage.count(CommandType.CREDIT_DEPOSIT, deposit(last + 100, { txHash: hash(1e9) }))
  stage.count(CommandType.CREDIT_DEPOSIT, deposit(last + 150))
  const { detail: row, sequence: suspenseSequence } = suspended[0]!
  stage.count(CommandType.ASSIGN_SUSPENSE, { row: row!, suspenseSequence: suspenseSequence!, account, createdSequence })
  countWithdrawals(stage, full, rest)
  stage.count(CommandType.FAUCET_MINTED, { asset: 0, amount: 1n, through: stage.time, txHash: hash(1) })
  for (const batch of [1, 2]) stage.count(CommandType.OPEN_SETTLEMENT, { batch })
  stage.count(CommandType.CONFIRM_SETTLEMENT, { batch: 1, block: 1, txHash: hash(1), tradesRoot: hash(2), balancesRoot: hash(3) })
}

function countWithdrawals(stage: CountedStage, full: Decoded, rest: readonly Decoded[]): void {
  const ask = (who: Decoded, amount = 1n): Decoded => ({ ...who, ...DESTINATION, asset: 0, amount })
  for (const who of rest) for (let each = 0; each < 20; each++) stage.make(CommandType.INITIATE_WITHDRAWAL, ask(who))
  stage.count(CommandType.SET_WITHDRAWAL_TERMS, { asset: 0, minimum: 1n, userDaily: 1_000_000n, totalDaily: 0n, approvalAbove: 50n })
  const own = Array.from({ length: 19 }, () => stage.make(CommandType.INITIATE_WITHDRAWAL, ask(full)))
  const large = stage.count(CommandType.INITIATE_WITHDRAWAL, ask(full, 60n))
  const named = (said: Decoded): Decoded => ({ row: said['detail']!, withdrawalSequence: said['originalSequence']! })
  const deadline = Math.ceil(stage.time / 1000 + 60) * 1000
  const move = (said: Decoded, to: number): Decoded =>
    stage.count(CommandType.ADVANCE_WITHDRAWAL, { ...named(said), to, deadline, block: 1, txHash: hash(1) })
  stage.count(CommandType.REVIEW_WITHDRAWAL, { ...named(large), approve: 1 })
  stage.count(CommandType.REVIEW_WITHDRAWAL, { ...named(own[9]!), approve: 0 })
  for (const to of [WithdrawalStatus.SIGNED, WithdrawalStatus.SUBMITTED, WithdrawalStatus.CONFIRMED]) move(own[10]!, to)
  for (const to of [WithdrawalStatus.SIGNED, WithdrawalStatus.EXPIRED]) move(own[11]!, to)
  for (const cause of [2, 0]) stage.count(CommandType.STOP_WITHDRAWALS, { cause })
}
