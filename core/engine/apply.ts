/**
 * `apply`: the whole exchange as one function of (state, command). No clock, no randomness, no I/O: sequence and time were
 * stamped before the command was journaled. Everything that changes state comes through here, one command at a time.
 */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { cancelAll, cancelOrder } from '../orders/cancel.ts'
import { cancelAccountOrders } from '../orders/cancel_account.ts'
import { continueCancel } from '../orders/continue_cancel.ts'
import { expireOrder } from '../orders/expiry.ts'
import { enterOwnOrder } from '../orders/own_orders.ts'
import { placeOrder } from '../orders/place.ts'
import { replaceOrder } from '../orders/replace.ts'
import { openDelegatedSession, revokeAgent, upsertAgent } from '../programs/agents.ts'
import { setApplication, setOrigin, setServerKey } from '../programs/applications.ts'
import { limitsInForce, raiseLimit } from '../programs/limits.ts'
import { listAsset, listPair, setPairTerms } from '../programs/listing.ts'
import { mint } from '../programs/faucet.ts'
import { acceptLoss } from '../programs/loss.ts'
import { acceptClock, setFeeTier, setMaintenance, setPairStatus, setRules } from '../programs/policy.ts'
import { openSession, refreshSession, revokeSession } from '../programs/sessions.ts'
import { setSpendLimit } from '../programs/spend_limits.ts'
import { createSubAccount, transfer } from '../programs/sub_accounts.ts'
import { CLOCK } from '../state/columns.ts'
import { countCommand } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { applyProgram } from './apply_programs.ts'

/** Sets the sequenced time of the commands that follow, Unix ms. The sequencer never lets it go back. */
export function setTime(state: State, time: number): void {
  assert(time >= state.clock[CLOCK.TIME]!, 'sequenced time goes back')
  state.clock[CLOCK.TIME] = time
}

/** Applies the record at word `base` as the next sequence. Events go to the outbox, RESULT last. */
export function apply(state: State, command: Views, base: number): void {
  countCommand(state)
  const type = command.i32[base]! & 0xff
  if (type === CommandType.PLACE_ORDER) placeOrder(state, command, base)
  else if (type === CommandType.CANCEL_ORDER) cancelOrder(state, command, base)
  else if (type === CommandType.REPLACE_ORDER) replaceOrder(state, command, base)
  else applyRare(state, command, base, type)
}

function applyRare(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.ENTER_ORDER:
      return enterOwnOrder(state, command, base)
    case CommandType.CANCEL_ALL:
      return cancelAll(state, command, base)
    case CommandType.EXPIRE_ORDER:
      return expireOrder(state, command, base)
    case CommandType.MINT:
      return mint(state, command, base)
    case CommandType.OPEN_SESSION:
      return openSession(state, command, base)
    case CommandType.REFRESH_SESSION:
      return refreshSession(state, command, base)
    case CommandType.REVOKE_SESSION:
      return revokeSession(state, command, base)
    case CommandType.SET_MAINTENANCE:
      return setMaintenance(state, command, base)
    case CommandType.SET_PAIR_STATUS:
      return setPairStatus(state, command, base)
    case CommandType.SET_FEE_TIER:
      return setFeeTier(state, command, base)
    case CommandType.CREATE_SUB_ACCOUNT:
      return createSubAccount(state, command, base)
    case CommandType.TRANSFER:
      return transfer(state, command, base)
    case CommandType.SET_SPEND_LIMIT:
      return setSpendLimit(state, command, base)
    case CommandType.UPSERT_AGENT:
      return upsertAgent(state, command, base)
    case CommandType.REVOKE_AGENT:
      return revokeAgent(state, command, base)
    case CommandType.OPEN_DELEGATED_SESSION:
      return openDelegatedSession(state, command, base)
    case CommandType.SET_APPLICATION:
      return setApplication(state, command, base)
    case CommandType.SET_ORIGIN:
      return setOrigin(state, command, base)
    case CommandType.SET_SERVER_KEY:
      return setServerKey(state, command, base)
    case CommandType.SET_RULES:
      return setRules(state, command, base)
    case CommandType.ACCEPT_LOSS:
      return acceptLoss(state, command, base)
    case CommandType.ACCEPT_CLOCK:
      return acceptClock(state, command, base)
    case CommandType.CONTINUE_CANCEL:
      return continueCancel(state, command, base)
    case CommandType.CANCEL_ACCOUNT_ORDERS:
      return cancelAccountOrders(state, command, base)
    case CommandType.LIST_ASSET:
      return listAsset(state, command, base)
    case CommandType.LIST_PAIR:
      return listPair(state, command, base)
    case CommandType.SET_PAIR_TERMS:
      return setPairTerms(state, command, base)
    case CommandType.RAISE_LIMIT:
      return raiseLimit(state, command, base)
    case CommandType.LIMITS_IN_FORCE:
      return limitsInForce(state, command, base)
    default:
      return applyProgram(state, command, base, type)
  }
}
