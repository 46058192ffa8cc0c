/** Commands of money in and out and of settlement, each to its handler. Readers copy between two of them (view/vault.ts). */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { advanceChain } from '../programs/chains.ts'
import { assignSuspense, creditDeposit } from '../programs/deposits.ts'
import { confirmSettlement, faucetMinted, openSettlement } from '../programs/settlement.ts'
import { setWithdrawalTerms, stopWithdrawals } from '../programs/withdrawal_policy.ts'
import { advanceWithdrawal, initiateWithdrawal, reviewWithdrawal } from '../programs/withdrawals.ts'
import { vaultRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { VAULT } from '../state/vault_rows.ts'

export function applyVault(state: State, command: Views, base: number, type: number): void {
  const turns = wordOf(vaultRow(state), VAULT.TURNS)
  Atomics.add(state.i32, turns, 1)
  applyOne(state, command, base, type)
  Atomics.add(state.i32, turns, 1)
}

function applyOne(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.INITIATE_WITHDRAWAL:
      return initiateWithdrawal(state, command, base)
    case CommandType.ADVANCE_WITHDRAWAL:
      return advanceWithdrawal(state, command, base)
    case CommandType.REVIEW_WITHDRAWAL:
      return reviewWithdrawal(state, command, base)
    case CommandType.SET_WITHDRAWAL_TERMS:
      return setWithdrawalTerms(state, command, base)
    case CommandType.STOP_WITHDRAWALS:
      return stopWithdrawals(state, command, base)
    case CommandType.CREDIT_DEPOSIT:
      return creditDeposit(state, command, base)
    case CommandType.ADVANCE_CHAIN:
      return advanceChain(state, command, base)
    case CommandType.ASSIGN_SUSPENSE:
      return assignSuspense(state, command, base)
    case CommandType.OPEN_SETTLEMENT:
      return openSettlement(state, command, base)
    case CommandType.CONFIRM_SETTLEMENT:
      return confirmSettlement(state, command, base)
    case CommandType.FAUCET_MINTED:
      return faucetMinted(state, command, base)
    default:
      assert(false, `unknown command type ${type}`)
  }
}
