/** What records of money in and out, and of settlement, have stood for since they came, for unit/layout.test.ts. */
const head = '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'

export const VAULT_RECORDS: Record<string, string[]> = {
  advance_chain: [head, '4:chain:i32 5:rewind:i32 6:chainId:f64 8:block:f64 10:blockTime:f64 12:blockHash:bytes32'],
  advance_withdrawal: [head, '4:row:i32 5:to:i32 6:withdrawalSequence:f64 8:deadline:f64 10:block:f64 12:txHash:bytes32'],
  assign_suspense: [head, '4:row:i32 5:account:i32 6:suspenseSequence:f64 8:createdSequence:f64'],
  confirm_settlement: [head, '4:batch:f64 6:block:f64 8:tradesRoot:bytes32 16:balancesRoot:bytes32 24:txHash:bytes32'],
  credit_deposit: [
    head,
    '4:chain:i32 5:logIndex:i32 6:block:f64 8:asset:i32 9:application:i32 10:amount:i64 12:remainder:i64 14:txHash:bytes32',
    '22:beneficiary:bytes20 27:token:bytes20',
  ],
  deposit: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:chain:i32 7:logIndex:i32 8:block:f64 10:asset:i32 11:suspense:i32',
    '12:amount:i64 14:remainder:i64 16:txHash:bytes32 24:beneficiary:bytes20',
  ],
  faucet_minted: [head, '4:asset:i32 5:reserved:i32 6:amount:i64 8:through:f64 10:txHash:bytes32'],
  initiate_withdrawal: [
    head,
    '4:asset:i32 5:options:u32 6:amount:i64 8:destination:bytes20 32:key:bytes16 36:payload:bytes16 40:unused2:bytes56',
  ],
  open_settlement: [head, '4:batch:f64'],
  review_withdrawal: [head, '4:row:i32 5:approve:i32 6:withdrawalSequence:f64'],
  settlement: [
    '0:kind:u32 1:status:i32 2:sequence:f64 4:time:f64 6:batch:f64 8:from:f64 10:through:f64 12:fills:f64 14:block:f64',
    '16:txHash:bytes32',
  ],
  set_withdrawal_terms: [head, '4:asset:i32 5:reserved:i32 6:minimum:i64 8:userDaily:i64 10:totalDaily:i64 12:approvalAbove:i64'],
  stop_withdrawals: [head, '4:cause:i32'],
  withdrawal: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:withdrawalSequence:f64 8:row:i32 9:asset:i32 10:amount:i64 12:status:i32',
    '13:flags:i32 14:deadline:f64 16:createdAt:f64 18:txHash:bytes32 26:destination:bytes20 31:before:i32',
  ],
}
/** Word of a RESULT and what it is there. */
export const VAULT_ANSWERS: Record<string, string> = {
  INITIATE_WITHDRAWAL:
    'row:detail status:detail2 withdrawalSequence:originalSequence asset:pair amount:hold flags:trades deadline:expiresAt',
  ADVANCE_WITHDRAWAL:
    'row:detail status:detail2 withdrawalSequence:originalSequence asset:pair amount:hold flags:trades deadline:expiresAt',
  REVIEW_WITHDRAWAL:
    'row:detail status:detail2 withdrawalSequence:originalSequence asset:pair amount:hold flags:trades deadline:expiresAt',
  STOP_WITHDRAWALS: 'pair:pair now:detail before:detail2',
  CREDIT_DEPOSIT: 'suspense:detail repeated:detail2',
  ASSIGN_SUSPENSE: 'suspense:detail repeated:detail2',
  OPEN_SETTLEMENT: 'batch:originalSequence through:orderSequence fills:expiresAt',
  CONFIRM_SETTLEMENT: 'batch:originalSequence through:orderSequence fills:expiresAt',
}
export const VAULT_COMMANDS: Record<number, string> = {
  90: 'initiate_withdrawal', 91: 'advance_withdrawal', 92: 'review_withdrawal', 93: 'set_withdrawal_terms',
  94: 'stop_withdrawals', 95: 'credit_deposit', 96: 'advance_chain', 97: 'assign_suspense', 98: 'open_settlement',
  99: 'confirm_settlement', 100: 'faucet_minted',
}
export const VAULT_TYPES = {
  INITIATE_WITHDRAWAL: 90, ADVANCE_WITHDRAWAL: 91, REVIEW_WITHDRAWAL: 92, SET_WITHDRAWAL_TERMS: 93, STOP_WITHDRAWALS: 94,
  CREDIT_DEPOSIT: 95, ADVANCE_CHAIN: 96, ASSIGN_SUSPENSE: 97, OPEN_SETTLEMENT: 98, CONFIRM_SETTLEMENT: 99, FAUCET_MINTED: 100,
}
export const VAULT_EVENTS: Record<number, string> = { 23: 'withdrawal', 24: 'deposit', 25: 'settlement' }
export const VAULT_EVENT_TYPES = { WITHDRAWAL: 23, DEPOSIT: 24, SETTLEMENT: 25 }
export const VAULT_REFUSALS: Record<string, number> = {
  WITHDRAWALS_STOPPED: 490, WITHDRAWAL_TOO_SMALL: 491, WITHDRAWAL_LIMIT: 492, TOO_MANY_WITHDRAWALS: 493, WITHDRAWAL_STATUS: 494,
  CHAIN_ORDER: 495, SETTLEMENT_ORDER: 496, CHAIN_UNAVAILABLE: 909,
}

const [INT, ROW_MAX] = [2 ** 31 - 1, 2 ** 30 - 1]
type Bounds = [wrong: readonly number[], right: readonly number[]]
const sequence: Bounds = [[NaN, -1, 0.5, 2 ** 48, Infinity, -Infinity], [0, 2 ** 48 - 1]]
const moment: Bounds = [[NaN, Infinity, -Infinity, 1e16], [0, 8.64e15]]
const row: Bounds = [[-2, ROW_MAX + 1], [0, ROW_MAX]]
/** Values that fields may not have and some that they may, for unit/record_checks.test.ts. */
export const VAULT_NUMBERS: Record<string, Bounds> = {
  'initiate_withdrawal.asset': [[-1], [0]], 'initiate_withdrawal.options': [[1 << 11, 1, 1 << 24], [0, 1 << 9]],
  'set_withdrawal_terms.asset': [[-1], [0]], 'faucet_minted.asset': [[-1], [0]],
  row, to: [[1, 7, -1], [2, 6]], withdrawalSequence: sequence, suspenseSequence: sequence, deadline: moment, block: sequence,
  approve: [[-1, 2], [0, 1]], cause: [[-1, 3], [0, 2]], chain: [[-1, 8], [0, 7]], rewind: [[-1, 2], [0, 1]],
  logIndex: [[-1], [0, INT]], chainId: sequence, blockTime: moment, batch: sequence, through: moment,
}
/** Fields of which the engine knows every value. */
export const VAULT_FREE: readonly string[] = ['remainder', 'minimum', 'userDaily', 'totalDaily', 'approvalAbove']
/** Types that only the operator's lane sends. */
export const VAULT_OPERATORS: readonly number[] = Object.values(VAULT_TYPES).filter((type) => type !== VAULT_TYPES.INITIATE_WITHDRAWAL)
