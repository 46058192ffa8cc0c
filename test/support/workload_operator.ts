/** The part of the workload in which many orders are cancelled at once, and the operator accepts a clock or a loss; see workload.ts. */
import { AFTER_MS_MAX, AT_END, AT_START, CommandType, CONNECTION_KEPT, CONNECTION_OPENED } from '../../core/layout/command.ts'
import { answeredTypeOf, RESULT } from '../../core/layout/event.ts'
import type { Decoded, Views } from '../../core/layout/table.ts'
import type { Prng } from '../../core/lib/prng.ts'

/** Of the time alone, so that the rest of a stream is as it was before the operator could. */
export const operatorCancels = (time: number): boolean => time % 4 === 0

/** The sequence by which a command names an account that was made by `made`: none, the right one, or now and then one that is not its. */
export const namedSequence = (time: number, made: number): number => (time % 5 === 0 ? 0 : made + (time % 7 === 0 ? 1 : 0))

/** The fields of CANCEL_ACCOUNT_ORDERS but for the header: mostly of an account that is there, now and then of one that is no more. */
export function cancelValues(time: number, account: number, createdSequence: number, pairs: number): Decoded {
  const limits = [1, 2, 3, 1000, 5000, 0, -1]
  return {
    account, createdSequence: createdSequence + (time % 28 === 0 ? 1 : 0), pair: (time % (pairs + 3)) - 1, limit: limits[time % 7]!,
  }
}

/**
 * CANCEL_ALL that sets a deadline, takes it away, or is of a connection that opened, keeps its orders from now on, or ended, which names
 * its account; now and then another. Now and then the exchange starts, which ends every connection.
 */
export function deadlineCommand(
  random: Prng, signed: Decoded, { account }: { account: number }, madeBy: ReadonlyMap<number, number>,
): { type: CommandType; values: Decoded } {
  const values: Decoded = { ...signed, pair: -1, limit: 1 }
  const dice = random.below(12)
  if (dice === 0) return { type: CommandType.CONTINUE_CANCEL, values: { session: -1, account: -1, fires: AT_START } }
  if (dice < 4) Object.assign(values, { afterMs: CONNECTION_OPENED, fromSlot: [0, 70_000, -1][random.below(9)] ?? random.below(2000) })
  else if (random.below(2) === 0) values['afterMs'] = [-1, AFTER_MS_MAX, AFTER_MS_MAX][random.below(12)] ?? 1 + random.below(3000)
  else {
    const fromSlot = random.below(10) === 0 ? random.below(8) : account
    const fromSequence = (madeBy.get(fromSlot) ?? 1) + (random.below(12) === 0 ? 1 : 0)
    Object.assign(values, { afterMs: dice === 4 ? CONNECTION_KEPT : AT_END, fromSlot, fromSequence, limit: 1 + random.below(2) })
  }
  return { type: CommandType.CANCEL_ALL, values }
}

/** Where the last mass cancel of each account that left something was told to go on; and the sequence of the last command. */
export class OperatorMemory {
  private sequence = 0
  private readonly byAccount = new Map<number, Decoded>()
  private last: Decoded = {}

  /** Takes notice of a RESULT. */
  learn(events: Views, base: number): void {
    this.sequence = events.f64[(base + RESULT.at.sequence) >>> 1]!
    const type = answeredTypeOf(events.u32[base]!)
    const fromSequence = events.f64[(base + RESULT.at.orderSequence) >>> 1]!
    if ((type !== CommandType.CANCEL_ALL && type !== CommandType.CANCEL_ACCOUNT_ORDERS) || fromSequence === 0) return
    this.last = { fromSlot: events.i32[base + RESULT.at.slot]!, fromSequence }
    this.byAccount.set(events.i32[base + RESULT.at.account]!, this.last)
  }

  /** Where the next one of `account` begins: where it was told to, anew, or with another's order. Of the time alone, as above. */
  from(time: number, account: number): Decoded {
    if (time % 7 === 0) return this.last
    return time % 3 === 0 ? {} : (this.byAccount.get(account) ?? {})
  }

  /** What the operator accepts: the clock, or, where there are `losses`, now and then that the end of the journal is lost. */
  acceptance(time: number, losses = false): { type: CommandType; values: Decoded } {
    if (!losses || time % 2 !== 0) return { type: CommandType.ACCEPT_CLOCK, values: { session: -1, wall: 1_800_000_000_000 } }
    return { type: CommandType.ACCEPT_LOSS, values: { session: -1, resume: this.sequence + 1 + (time % 5) * 1000 } }
  }
}
