/** The part of the workload in which the operator cancels somebody's orders; see workload.ts. */
import type { Decoded } from '../../core/layout/table.ts'

/** Of the time alone, so that the rest of a stream is as it was before the operator could. */
export const operatorCancels = (time: number): boolean => time % 4 === 0

/** The fields of CANCEL_ACCOUNT_ORDERS but for the header: mostly of an account that is there, now and then of one that is no more. */
export function cancelValues(time: number, account: number, createdSequence: number, pairs: number): Decoded {
  const limits = [1, 2, 3, 1000, 5000, 0, -1]
  return {
    account, createdSequence: createdSequence + (time % 28 === 0 ? 1 : 0), pair: (time % (pairs + 3)) - 1, limit: limits[time % 7]!,
  }
}
