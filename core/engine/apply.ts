/**
 * `apply`: the whole exchange as one function of (state, command). No clock, no randomness, no I/O: sequence and time were
 * stamped before the command was journaled. Everything that changes state comes through here, one command at a time.
 */
import { CommandType, SET_MAINTENANCE_COMMAND, typeOfKind } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { cancelAll, cancelOrder } from '../orders/cancel.ts'
import { expireOrder } from '../orders/expiry.ts'
import { placeOrder } from '../orders/place.ts'
import { replaceOrder } from '../orders/replace.ts'
import { mint } from '../programs/faucet.ts'
import { openSession, refreshSession, revokeSession } from '../programs/sessions.ts'
import { CLOCK, SCALAR } from './columns.ts'
import { emitResult } from './emit.ts'
import type { State } from './state.ts'

/** Sets the sequenced time of the commands that follow, Unix ms. The sequencer never lets it go back. */
export function setTime(state: State, time: number): void {
  assert(time >= state.clock[CLOCK.TIME]!, 'sequenced time goes back')
  state.clock[CLOCK.TIME] = time
}

/** Applies the record at word `base` as the next sequence. Events go to the outbox, RESULT last. */
export function apply(state: State, command: Views, base: number): void {
  state.clock[CLOCK.SEQUENCE]!++
  switch (typeOfKind(command.u32[base]!)) {
    case CommandType.PLACE_ORDER:
      return placeOrder(state, command, base)
    case CommandType.CANCEL_ORDER:
      return cancelOrder(state, command, base)
    case CommandType.REPLACE_ORDER:
      return replaceOrder(state, command, base)
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
      state.scalars[SCALAR.MAINTENANCE] = command.i32[base + SET_MAINTENANCE_COMMAND.at.on]! === 0 ? 0 : 1
      emitResult(state, command, base, 0, -1, state.scalars[SCALAR.MAINTENANCE]!, 0)
      return
    default:
      assert(false, `unknown command type ${typeOfKind(command.u32[base]!)}`)
  }
}
