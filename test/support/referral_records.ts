/** What records of the referral program have stood for since they came, for unit/layout.test.ts. */
const head = '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'

export const REFERRAL_RECORDS: Record<string, string[]> = {
  set_referral_shares: [head, '4:first:i32 5:second:i32 6:third:i32 7:reserved:i32'],
  transfer_rewards: [head, '4:asset:i32 5:options:u32 6:amount:i64 32:key:bytes16 36:payload:bytes16 40:unused2:bytes56'],
  referral_reward: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:pair:i32 7:index:i32 8:source:i32 9:asset:i32 10:rested:i32 11:first:i32',
    '12:second:i32 13:third:i32 14:income:i64 16:firstAmount:i64 18:secondAmount:i64 20:thirdAmount:i64',
  ],
}
export const REFERRAL_ANSWERS: Record<string, string> = {
  SET_REFERRAL_SHARES: 'before:detail first:price second:lots third:remaining',
  TRANSFER_REWARDS: 'asset:detail2 flags:flags transferSequence:orderSequence',
}
export const REFERRAL_COMMANDS = { 77: 'set_referral_shares', 78: 'transfer_rewards' }
export const REFERRAL_TYPES = { SET_REFERRAL_SHARES: 77, TRANSFER_REWARDS: 78 }
