/** Refusals of the programs: builder fees, leases, copy trading, money in and out (4xx from 450 on). Part of refusals.ts. */
import { refusal, type Refusal } from './refusal.ts'

export const PROGRAM_REFUSALS = {
  BUILDER_FEE_ABOVE_CAP: refusal(
    450, 'BUILDER_FEE_ABOVE_CAP', 'VALIDATION_ERROR', 'The builder fee is above builderFeeCapBps', 'BadRequest',
  ),
  NOT_ENROLLED: refusal(451, 'NOT_ENROLLED', 'CONFLICT', 'The application is not enrolled with a payout address', 'BadRequest'),
  NOT_PAYOUT_WALLET: refusal(
    452, 'NOT_PAYOUT_WALLET', 'PERMISSION_DENIED', 'Only the payout wallet of the application may do this', 'PermissionDenied',
  ),
  BUILDER_FEES_OFF: refusal(
    453, 'BUILDER_FEES_OFF', 'PERMISSION_DENIED', 'Builder fees and the revenue share are both switched off', 'PermissionDenied',
  ),
  NO_FEE_CHANGES_LEFT: refusal(
    454, 'NO_FEE_CHANGES_LEFT', 'CONFLICT', 'The builder fee may be changed twice in 24 hours; see nextChangeAllowedAt', 'BadRequest',
  ),
  PERMISSION_DENIED: refusal(460, 'PERMISSION_DENIED', 'PERMISSION_DENIED', 'This is not allowed', 'PermissionDenied'),
  LEASE_CONFLICT: refusal(461, 'LEASE_CONFLICT', 'CONFLICT', 'The lease has another generation than was expected', 'BadRequest'),
  LEASE_LOST: refusal(
    462, 'LEASE_LOST', 'CONFLICT', 'Another session holds the lease of this maker, or it is over; cancels are taken', 'InvalidOrder',
  ),
  LAUNCH_EXISTS: refusal(463, 'LAUNCH_EXISTS', 'CONFLICT', 'There is a launch of this id, or one is under way on this pair', 'BadRequest'),
  TOO_MANY_LAUNCHES: refusal(464, 'TOO_MANY_LAUNCHES', 'CONFLICT', 'Too many launches', 'BadRequest'),
  LAUNCH_ENDED: refusal(465, 'LAUNCH_ENDED', 'CONFLICT', 'The launch ended', 'BadRequest'),
  HANDLE_TAKEN: refusal(470, 'HANDLE_TAKEN', 'CONFLICT', 'The handle is taken, or was released not long enough ago', 'BadRequest'),
  HANDLE_CHANGE_TOO_SOON: refusal(
    471, 'HANDLE_CHANGE_TOO_SOON', 'CONFLICT', 'Another handle may be registered when the pause of the last one is over', 'BadRequest',
  ),
  ALREADY_LEADER: refusal(472, 'ALREADY_LEADER', 'CONFLICT', 'The account has a handle; release it first', 'BadRequest'),
  TOO_MANY_LEADERS: refusal(473, 'TOO_MANY_LEADERS', 'CONFLICT', 'There is no room for another leader', 'BadRequest'),
  ALREADY_FOLLOWING: refusal(474, 'ALREADY_FOLLOWING', 'CONFLICT', 'The account follows this leader already', 'BadRequest'),
  CANNOT_FOLLOW: refusal(
    475, 'CANNOT_FOLLOW', 'CONFLICT', 'A leader cannot follow, and nobody follows an account of his own family', 'BadRequest',
  ),
  CANNOT_LEAD: refusal(476, 'CANNOT_LEAD', 'CONFLICT', 'Who follows cannot be a leader; stop the follows first', 'BadRequest'),
  TOO_MANY_FOLLOWS: refusal(477, 'TOO_MANY_FOLLOWS', 'CONFLICT', 'Too many follows, of the account or its family', 'BadRequest'),
  LEADER_FULL: refusal(478, 'LEADER_FULL', 'CONFLICT', 'The leader has as many followers as there may be', 'BadRequest'),
  ALLOCATION_TOO_SMALL: refusal(479, 'ALLOCATION_TOO_SMALL', 'VALIDATION_ERROR', 'The allocation is below the least one', 'BadRequest'),
  FOLLOW_STOPPING: refusal(480, 'FOLLOW_STOPPING', 'CONFLICT', 'The follow is being stopped', 'BadRequest'),
  COPY_MARGIN_ACCOUNT: refusal(
    481, 'COPY_MARGIN_ACCOUNT', 'CONFLICT', 'The margin account is that of a follow: its positions can only be closed, at market',
    'InvalidOrder',
  ),
  LEADER_EQUITY: refusal(482, 'LEADER_EQUITY', 'CONFLICT', 'The leader has less equity than copies need', 'BadRequest'),
  COPY_PARTLY_FILLED: refusal(
    483, 'COPY_PARTLY_FILLED', 'CONFLICT', 'The book had less within the band than was to be copied', 'BadRequest',
  ),
  COPY_TRADING_OFF: refusal(484, 'COPY_TRADING_OFF', 'PERMISSION_DENIED', 'Copy trading is switched off', 'PermissionDenied'),
  COPY_PRICE: refusal(
    485, 'COPY_PRICE', 'CONFLICT', 'The book has no price near enough to the mark and to the fill of the leader', 'BadRequest',
  ),
  WITHDRAWALS_STOPPED: refusal(
    490, 'WITHDRAWALS_STOPPED', 'UNAVAILABLE', 'Withdrawals are stopped for now; nothing was applied', 'ExchangeNotAvailable',
  ),
  WITHDRAWAL_TOO_SMALL: refusal(491, 'WITHDRAWAL_TOO_SMALL', 'VALIDATION_ERROR', 'The amount is below the least withdrawal', 'BadRequest'),
  WITHDRAWAL_LIMIT: refusal(
    492, 'WITHDRAWAL_LIMIT', 'VALIDATION_ERROR', 'The withdrawal is beyond what may be withdrawn today', 'BadRequest',
  ),
  TOO_MANY_WITHDRAWALS: refusal(
    493, 'TOO_MANY_WITHDRAWALS', 'CONFLICT', 'Too many withdrawals are under way, of the account or its family', 'BadRequest',
  ),
  WITHDRAWAL_STATUS: refusal(
    494, 'WITHDRAWAL_STATUS', 'CONFLICT', 'The status of the withdrawal does not allow this', 'BadRequest',
  ),
  CHAIN_ORDER: refusal(
    495, 'CHAIN_ORDER', 'CONFLICT', 'What the chain says does not follow what it said before', 'BadRequest',
  ),
  SETTLEMENT_ORDER: refusal(
    496, 'SETTLEMENT_ORDER', 'CONFLICT', 'Another batch of settlement is next, or too many are open', 'BadRequest',
  ),
} as const satisfies Record<string, Refusal>
