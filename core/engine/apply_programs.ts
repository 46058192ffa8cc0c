/** Commands of the builder-codes and the referral program; what is none goes on to margin trading. See apply.ts. */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { enrollApplication, setBuilderFee, setBuilderProgram } from '../programs/builder.ts'
import { setReferralShares, transferRewards } from '../programs/referrals.ts'
import type { State } from '../state/state.ts'
import { applyMargin } from './apply_margin.ts'

/** Applies the record at word `base`, of type `type`. */
export function applyProgram(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.SET_BUILDER_PROGRAM:
      return setBuilderProgram(state, command, base)
    case CommandType.ENROLL_APPLICATION:
      return enrollApplication(state, command, base)
    case CommandType.SET_BUILDER_FEE:
      return setBuilderFee(state, command, base)
    case CommandType.SET_REFERRAL_SHARES:
      return setReferralShares(state, command, base)
    case CommandType.TRANSFER_REWARDS:
      return transferRewards(state, command, base)
    default:
      return applyMargin(state, command, base, type)
  }
}
