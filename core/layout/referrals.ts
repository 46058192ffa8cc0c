/** The referral program, as commands and as the event that tells of it. What it does is in programs/referrals.ts and ledger/rewards.ts. */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Levels of referrers that earn of a fill. */
export const REFERRAL_LEVELS = 3

/** Operator: what part of the net fee income of a fill each level earns, ppm, together at most all of it. */
export const SET_REFERRAL_SHARES_COMMAND = defineLayout('set_referral_shares', {
  ...HEADER,
  first: 'i32',
  second: 'i32',
  third: 'i32',
  reserved: 'i32',
})

/**
 * Signed by the account's own wallet: moves atoms from its rewards to what it has available. Key and payload stand as in ORDER_COMMAND
 * (command.ts).
 */
export const TRANSFER_REWARDS_COMMAND = defineLayout('transfer_rewards', {
  ...HEADER,
  asset: 'i32',
  /** Option.KEYED or 0. */
  options: 'u32',
  /** Atoms, at least 1. */
  amount: 'i64',
}, {
  key: 'bytes16',
  payload: 'bytes16',
  /** Where orders have their client order id and the payload hash of before the rules 4. */
  unused2: 'bytes56',
})

/**
 * What the referrers of the owner of an order earned of the fill before it, when one of them earned anything. Follows its FILL, and what
 * applications get of it; the taker's first.
 */
export const REFERRAL_REWARD = defineLayout('referral_reward', {
  kind: 'u32',
  /** The owner of the order. */
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  pair: 'i32',
  /** Number of the fill within its command. */
  index: 'i32',
  /** Whose referrers they are: the owner, or its master. */
  source: 'i32',
  asset: 'i32',
  /** 1: the order rested. */
  rested: 'i32',
  /** Accounts of the three levels that earned something; -1: nobody did. */
  first: 'i32',
  second: 'i32',
  third: 'i32',
  /** Atoms that the house earned of this side, the referrers' part included. */
  income: 'i64',
  /** Atoms of each level; 0: none. */
  firstAmount: 'i64',
  secondAmount: 'i64',
  thirdAmount: 'i64',
})
const { first, second, third, firstAmount, secondAmount, thirdAmount } = REFERRAL_REWARD.at
/** Where it has the account and the atoms of each level. */
export const REWARD_EARNERS = [first, second, third] as const
export const REWARD_AMOUNTS = [firstAmount, secondAmount, thirdAmount] as const
