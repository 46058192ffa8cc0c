/** Columns of money in and out and of settlement, for people: commands, answers and events (meanings.ts). */
import { DEPOSIT_ANSWER, SETTING_ANSWER, SETTLEMENT_ANSWER, WITHDRAWAL_ANSWER } from '../layout/answers.ts'
import { CommandType } from '../layout/command.ts'
import { EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import {
  ADVANCE_CHAIN_COMMAND, ADVANCE_WITHDRAWAL_COMMAND, ASSIGN_SUSPENSE_COMMAND, CONFIRM_SETTLEMENT_COMMAND, CREDIT_DEPOSIT_COMMAND, DEPOSIT,
  FAUCET_MINTED_COMMAND, INITIATE_WITHDRAWAL_COMMAND, OPEN_SETTLEMENT_COMMAND, REVIEW_WITHDRAWAL_COMMAND, SET_WITHDRAWAL_TERMS_COMMAND,
  SETTLEMENT, SettlementStatus, STOP_WITHDRAWALS_COMMAND, WITHDRAWAL, WITHDRAWAL_STATUS_NAMES, WITHDRAWAL_STOP_NAMES, WithdrawalFlag,
} from '../layout/vault.ts'
import {
  address, amount, application, asset, bits, columnsOf, decimals, hex, hidden, madeId, named, options, time, unless, user, userMadeAt,
  whole, yes, type Column, type Meaning,
} from './meanings.ts'

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>

const withdrawal = madeId('withdrawalId', IdKind.WITHDRAWAL, 'withdrawalSequence')
const status = (name = 'status'): Meaning => named(WITHDRAWAL_STATUS_NAMES, name)
const txHash = hex('txHash', '0x')
const block = whole('block', 0)
/** Base units of the token, which are less than an atom. */
const remainder = decimals('remainderBaseUnits', 0)
const chain = whole('chainRow')

/** Columns of the commands, whose heads say who signs them. */
export const vaultCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.INITIATE_WITHDRAWAL]: columnsOf(INITIATE_WITHDRAWAL_COMMAND, {
    ...signed, asset: asset(), options, amount: amount(), destination: address('destination'), key: hex('idempotencyKeyHash'),
    payload: hex('payloadHash'), unused2: hidden,
  }),
  [CommandType.ADVANCE_WITHDRAWAL]: columnsOf(ADVANCE_WITHDRAWAL_COMMAND, {
    ...own, row: withdrawal, to: status(), withdrawalSequence: hidden, deadline: time('deadline'), block, txHash,
  }),
  [CommandType.REVIEW_WITHDRAWAL]: columnsOf(REVIEW_WITHDRAWAL_COMMAND, {
    ...own, row: withdrawal, approve: yes('approved'), withdrawalSequence: hidden,
  }),
  [CommandType.SET_WITHDRAWAL_TERMS]: columnsOf(SET_WITHDRAWAL_TERMS_COMMAND, {
    ...own, asset: asset(), reserved: hidden, minimum: amount('minimum', -1n), userDaily: amount('userDailyLimit', -1n),
    totalDaily: amount('dailyLimit', -1n), approvalAbove: amount('approvalAbove', -1n),
  }),
  [CommandType.STOP_WITHDRAWALS]: columnsOf(STOP_WITHDRAWALS_COMMAND, { ...own, cause: named(WITHDRAWAL_STOP_NAMES, 'stop') }),
  [CommandType.CREDIT_DEPOSIT]: columnsOf(CREDIT_DEPOSIT_COMMAND, {
    ...own, chain, logIndex: whole(), block, asset: asset(), application, amount: amount(), remainder, txHash,
    beneficiary: address('beneficiary'), token: address('token'),
  }),
  [CommandType.ADVANCE_CHAIN]: columnsOf(ADVANCE_CHAIN_COMMAND, {
    ...own, chain, rewind: yes('rewind'), chainId: whole(), block, blockTime: time('blockTime'), blockHash: hex('blockHash', '0x'),
  }),
  [CommandType.ASSIGN_SUSPENSE]: columnsOf(ASSIGN_SUSPENSE_COMMAND, {
    ...own, row: whole('suspenseRow'), account: userMadeAt('userId', 'createdSequence'), suspenseSequence: whole(), createdSequence: hidden,
  }),
  [CommandType.OPEN_SETTLEMENT]: columnsOf(OPEN_SETTLEMENT_COMMAND, { ...own, batch: whole() }),
  [CommandType.CONFIRM_SETTLEMENT]: columnsOf(CONFIRM_SETTLEMENT_COMMAND, {
    ...own, batch: whole(), block, tradesRoot: hex('tradesRoot', '0x'), balancesRoot: hex('balancesRoot', '0x'), txHash,
  }),
  [CommandType.FAUCET_MINTED]: columnsOf(FAUCET_MINTED_COMMAND, {
    ...own, asset: asset(), reserved: hidden, amount: amount(), through: time('mintedThrough'), txHash,
  }),
} as const)

type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>

/** Columns of their answers, when they were done. */
export const vaultAnswerColumns = (head: AnswerHead): Readonly<Record<number, readonly Column[]>> => {
  const told = columnsOf(WITHDRAWAL_ANSWER, {
    ...head, row: withdrawal, status: status(), withdrawalSequence: hidden, asset: asset(), amount: amount(),
    flags: bits(WithdrawalFlag, 'flags'), deadline: time('deadline'),
  })
  const deposit = columnsOf(DEPOSIT_ANSWER, { ...head, suspense: whole('suspenseRow', -1), repeated: yes('repeated') })
  const batch = columnsOf(SETTLEMENT_ANSWER, { ...head, batch: whole(), through: whole(), fills: whole() })
  return {
    [CommandType.INITIATE_WITHDRAWAL]: told, [CommandType.ADVANCE_WITHDRAWAL]: told, [CommandType.REVIEW_WITHDRAWAL]: told,
    [CommandType.STOP_WITHDRAWALS]: columnsOf(SETTING_ANSWER, {
      ...head, pair: hidden, now: named(WITHDRAWAL_STOP_NAMES, 'stop'), before: named(WITHDRAWAL_STOP_NAMES, 'stopBefore'),
    }),
    [CommandType.CREDIT_DEPOSIT]: deposit, [CommandType.ASSIGN_SUSPENSE]: deposit,
    [CommandType.OPEN_SETTLEMENT]: batch, [CommandType.CONFIRM_SETTLEMENT]: batch,
  }
}

export const VAULT_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.WITHDRAWAL]: columnsOf(WITHDRAWAL, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, withdrawalSequence: hidden, row: withdrawal, asset: asset(),
    amount: amount(), status: status(), flags: bits(WithdrawalFlag, 'flags'), deadline: time('deadline'), createdAt: time('createdAt'),
    txHash, destination: address('destination'), before: status('statusBefore'),
  }),
  [EventType.DEPOSIT]: columnsOf(DEPOSIT, {
    kind: hidden, account: unless(user(), -1), sequence: hidden, time: hidden, chain, logIndex: whole(), block, asset: asset(),
    suspense: whole('suspenseRow', -1), amount: amount(), remainder, txHash, beneficiary: address('beneficiary'),
  }),
  [EventType.SETTLEMENT]: columnsOf(SETTLEMENT, {
    kind: hidden, status: named(SettlementStatus, 'status'), sequence: hidden, time: hidden, batch: whole(), from: whole(),
    through: whole(), fills: whole(), block, txHash,
  }),
}
