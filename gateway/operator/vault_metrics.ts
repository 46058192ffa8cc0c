/**
 * Metrics of money in and out: withdrawals, deposits, settlement, the chains that are read, and whether the vault has what users have. What
 * the state has is always there; the rest is what the vault thread said last, and absent without one. Amounts in units of the asset.
 */
import type { State } from '../../core/state/state.ts'
import { settlementState } from '../../core/view/vault.ts'
import { vaultCounts } from '../../core/view/vault_sums.ts'
import type { ChainReport, TokenSolvency, VaultReport } from '../chain/vault/messages.ts'
import { counter, gauge, type Metric } from './metric_names.ts'

type Sample = (metric: Metric, value: number, labels?: string) => void

const STOPPED = gauge('exchange_withdrawals_stopped', '0: withdrawals are open, 1: an operator stopped them, 2: the exchange did itself')
const UNDER_WAY = gauge('exchange_withdrawals_under_way', 'Withdrawals under way')
const NEED_APPROVAL = gauge('exchange_withdrawals_need_approval', 'Of them, those that wait for the approval of an operator')
const DEPOSITS = counter('exchange_deposits_total', 'Deposits that the engine took, suspense included')
const SUSPENDED = gauge('exchange_deposits_suspended', 'Deposits in suspense: they came and are nobody\'s')
const OPENED = gauge('exchange_settlement_opened_batch', 'The last batch of settlement that was opened')
const CONFIRMED = gauge('exchange_settlement_confirmed_batch', 'The last one that stands on the chain')
const OLDEST_OPEN = gauge('exchange_settlement_oldest_open_seconds', 'How long the oldest batch waits that does not stand on the chain yet')

/** Of the report as a whole. */
const OF_REPORT: readonly (readonly [Metric, (report: VaultReport) => number])[] = [
  [
    gauge('exchange_withdrawals_oldest_pending_seconds', 'How long the oldest withdrawal waits to be signed'),
    (r) => r.oldestPendingMs / 1000,
  ],
  [counter('exchange_withdrawals_confirmed_total', 'Withdrawals that the chain paid'), (r) => r.confirmedWithdrawals],
  [counter('exchange_withdrawals_expired_total', 'Withdrawals whose authorisation ran out unused'), (r) => r.expiredWithdrawals],
  [counter('exchange_withdrawals_authorised_total', 'Authorisations given to users'), (r) => r.calldata],
  [
    counter('exchange_withdrawals_signer_failures_total', 'Authorisations not given, because the signer was away or refused'),
    (r) => r.calldataFailed,
  ],
  [counter('exchange_deposits_credited_total', 'Deposits that the vault thread found and the engine took'), (r) => r.depositsCredited],
  [counter('exchange_deposits_assigned_total', 'Deposits in suspense that found their account by themselves'), (r) => r.suspenseAssigned],
  [counter('exchange_deposits_sweeps_total', 'Deposit addresses that were swept into the vault'), (r) => r.sweeps],
  [
    gauge('exchange_settlement_stopped', '1: batches are not posted any more; settlement show says why'),
    (r) => (r.settlement.stopped === null ? 0 : 1),
  ],
  [counter('exchange_vault_faucet_mints_total', 'Mints on the chain of what the faucet issued'), (r) => r.faucetMints],
  [counter('exchange_vault_rpc_calls_total', 'Calls of the vault thread to nodes'), (r) => r.rpcCalls],
  [counter('exchange_vault_rpc_failures_total', 'Of them, not answered or not usably'), (r) => r.rpcFailures],
  [gauge('exchange_vault_paused', '1 while the vault contract is paused'), (r) => (r.paused ? 1 : 0)],
]
const BY_STATUS = gauge('exchange_withdrawals', 'Withdrawals under way by how far they are')
const AGE = gauge('exchange_vault_report_age_seconds', 'Time since the vault thread was last heard of')

const OF_CHAIN: readonly (readonly [Metric, (chain: ChainReport) => number])[] = [
  [gauge('exchange_vault_chain_up', '1 while the node of a chain answers'), ({ connected }) => (connected ? 1 : 0)],
  [gauge('exchange_vault_chain_head_block', 'Newest block that the node says; -1: not known'), ({ head }) => head],
  [gauge('exchange_vault_chain_read_block', 'Block up to which all deposits were taken; -1: none yet'), ({ cursor }) => cursor],
  [gauge('exchange_vault_chain_lag_blocks', 'Blocks behind the confirmations that were not read yet'), ({ lag }) => lag],
  [
    gauge('exchange_vault_chain_reorganised', '1: the chain has another block where it was read; deposits and settlement rest'),
    ({ reorganised }) => (reorganised ? 1 : 0),
  ],
]
const OF_TOKEN: readonly (readonly [Metric, (token: TokenSolvency) => string | null])[] = [
  [gauge('exchange_vault_holdings', 'What the vault has of a token; NaN: not known'), ({ holdings }) => holdings],
  [gauge('exchange_vault_liabilities', 'What it must have'), ({ liabilities }) => liabilities],
  [
    gauge('exchange_vault_in_flight', 'What it paid and the engine does not know of yet; looked for when it matters'),
    ({ inFlight }) => inFlight,
  ],
  [gauge('exchange_vault_deficit', 'What it lacks; 0: nothing'), ({ deficit }) => deficit],
]

/** Names of all of them, whatever the vault thread said. */
export const VAULT_METRICS: readonly Metric[] = [
  STOPPED, UNDER_WAY, NEED_APPROVAL, DEPOSITS, SUSPENDED, OPENED, CONFIRMED, OLDEST_OPEN, BY_STATUS, AGE,
  ...OF_REPORT.map(([metric]) => metric), ...OF_CHAIN.map(([metric]) => metric), ...OF_TOKEN.map(([metric]) => metric),
]

const quoted = (text: string): string => text.replace(/["\\\n]/g, '_')

/** `now`: Unix ms. */
export function sampleVault(sample: Sample, state: State, report: VaultReport | null, now: number): void {
  ofState(sample, state, now)
  if (report === null) return
  sample(AGE, Math.max(0, now - report.at) / 1000)
  for (const [metric, value] of OF_REPORT) sample(metric, value(report))
  for (const [status, count] of Object.entries(report.withdrawals)) sample(BY_STATUS, count, `status="${status}"`)
  for (const chain of report.chains) {
    for (const [metric, value] of OF_CHAIN) sample(metric, value(chain), `chain="${chain.chainId}"`)
  }
  const hub = state.genesis.sweeperChains.find(({ hub: is }) => is)
  for (const token of report.solvency) {
    const decimals = hub?.assets.find(({ symbol }) => symbol === token.symbol)?.decimals ?? 0
    for (const [metric, value] of OF_TOKEN) {
      const units = value(token)
      sample(metric, units === null ? Number.NaN : Number(units) / 10 ** decimals, `asset="${quoted(token.symbol)}"`)
    }
  }
}

function ofState(sample: Sample, state: State, now: number): void {
  const { stopped, withdrawals, needApproval, deposits, suspense } = vaultCounts(state)
  sample(STOPPED, stopped)
  sample(UNDER_WAY, withdrawals)
  sample(NEED_APPROVAL, needApproval)
  sample(DEPOSITS, deposits)
  sample(SUSPENDED, suspense)
  try {
    const { batch, confirmed, open } = settlementState(state)
    sample(OPENED, batch)
    sample(CONFIRMED, confirmed)
    sample(OLDEST_OPEN, open.length === 0 ? 0 : Math.max(0, now - open[0]!.openedAt) / 1000)
  } catch {
    // The matcher stands in the middle of a change: there is nothing to say.
  }
}
