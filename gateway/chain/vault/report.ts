/** The report of the vault thread: what metrics, the operator and the solvency command are told. */
import { WithdrawalStatus } from '../../../core/layout/vault.ts'
import type { Books } from './books.ts'
import type { ChainSide } from './chain_side.ts'
import type { Asked } from './counted_node.ts'
import type { Hub } from './hub.ts'
import type { ChainReport, VaultReport } from './messages.ts'
import type { Suspense } from './suspense.ts'
import type { Places } from './types.ts'

export interface ReportParts {
  readonly books: Books
  /** `null`: the contracts are not known yet. */
  readonly hub: Hub | null
  readonly others: readonly ChainSide[]
  readonly places: Places | null
  readonly suspense: Suspense
  readonly calldata: number
  readonly calldataFailed: number
  readonly asked: Asked
  readonly time: () => number
  /** Of the hub. */
  readonly chainId: number
}

export function reportOf(parts: ReportParts): VaultReport {
  const { books, hub, others, places, suspense, asked, time, chainId } = parts
  const away: ChainReport = { chainId, connected: false, head: -1, confirmed: -1, cursor: -1, lag: 0, reorganised: false }
  const sides = hub === null ? [] : [hub.side, ...others]
  const { batch, confirmed } = books.settlement()
  return {
    at: time(), chains: hub === null ? [away] : sides.map((side) => side.report()), places,
    depositsCredited: sum(sides, ({ deposits }) => deposits.credited), suspense: suspense.rows, suspenseAssigned: suspense.assigned,
    ...withdrawalsOf(books, time()),
    confirmedWithdrawals: hub?.withdrawals.confirmed ?? 0, expiredWithdrawals: hub?.withdrawals.expired ?? 0,
    settlement: {
      opened: batch, confirmed, stopped: hub?.settlement.stopped ?? null,
      tradesRoot: hub?.settlement.last?.tradesRoot ?? null, balancesRoot: hub?.settlement.last?.balancesRoot ?? null,
    },
    sweeps: sum(sides, ({ sweeper }) => sweeper.sweeps), faucetMints: hub?.faucet.mints ?? 0, calldata: parts.calldata,
    calldataFailed: parts.calldataFailed,
    rpcCalls: asked.calls, rpcFailures: asked.failures, stopped: books.stopped(), paused: hub?.paused ?? false,
    solvency: hub?.solvency.rows ?? [],
  }
}

function withdrawalsOf(books: Books, now: number): Pick<VaultReport, 'withdrawals' | 'oldestPendingMs'> {
  const withdrawals = { pending: 0, signed: 0, submitted: 0, needApproval: 0 }
  let oldest = now
  for (const { status, needsApproval, createdAt } of books.withdrawals()) {
    if (status === WithdrawalStatus.SIGNED) withdrawals.signed++
    else if (status === WithdrawalStatus.SUBMITTED) withdrawals.submitted++
    else if (needsApproval) withdrawals.needApproval++
    else {
      withdrawals.pending++
      oldest = Math.min(oldest, createdAt)
    }
  }
  return { withdrawals, oldestPendingMs: now - oldest }
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0)
