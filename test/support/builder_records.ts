/** What records of the builder-codes program have stood for since they came, for unit/layout.test.ts. */
const head = '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'

export const BUILDER_RECORDS: Record<string, string[]> = {
  set_builder_program: [head, '4:capBps:i32 5:builderFees:i32 6:revenueSharePpm:i32 7:reserved:i32'],
  enroll_application: [
    head, '4:application:i32 5:account:i32 6:createdSequence:f64 8:active:i32 9:bps:i32 10:makerBps:i32 11:reserved:i32',
  ],
  set_builder_fee: [head, '4:bps:i32 5:makerBps:i32'],
  application_fee: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:pair:i32 7:index:i32 8:orderSequence:f64 10:slot:i32 11:flags:u32',
    '12:rested:i32 13:asset:i32 14:amount:i64 16:charged:i64',
  ],
}
const fee = 'bps:price previousBps:lots makerBps:bestPrice previousMakerBps:worstPrice changesLeft:remaining nextChangeAt:expiresAt'
export const BUILDER_ANSWERS: Record<string, string> = {
  SET_BUILDER_PROGRAM: 'capBps:detail before:detail2', ENROLL_APPLICATION: 'application:detail active:detail2', SET_BUILDER_FEE: fee,
}
export const BUILDER_REFUSED: Record<string, string> = { SET_BUILDER_FEE: fee }
export const BUILDER_COMMANDS = { 67: 'set_builder_program', 68: 'enroll_application', 69: 'set_builder_fee' }
export const BUILDER_TYPES = { SET_BUILDER_PROGRAM: 67, ENROLL_APPLICATION: 68, SET_BUILDER_FEE: 69 }
export const BUILDER_REFUSALS = {
  BUILDER_FEE_ABOVE_CAP: 450, NOT_ENROLLED: 451, NOT_PAYOUT_WALLET: 452, BUILDER_FEES_OFF: 453, NO_FEE_CHANGES_LEFT: 454,
}
