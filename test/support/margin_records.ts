/** The records, answers and numbers of margin trading, written down once more for test/unit/layout.test.ts. */

/** Word offset, name and type of every field of every record. */
export const MARGIN_RECORDS: Record<string, string[]> = {
  move_collateral: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:move:i32 5:options:u32 6:marginAccount:i32 7:bucket:i32',
    '8:createdSequence:f64 10:amount:i64 32:key:bytes16 36:payload:bytes16 40:unused:bytes40 50:former:bytes16',
  ],
  open_margin_account: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:label:bytes32',
  ],
  close_margin_account: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:marginAccount:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  open_risk_bucket: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:marginAccount:i32 5:pair:i32 6:createdSequence:f64',
    '8:keyLow:i32 9:keyHigh:i32 10:strategyKey:bytes48',
  ],
  set_index_price: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:price:i32 6:source:i32 7:force:i32',
    '8:observedAt:f64',
  ],
  set_perp: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:setting:i32 6:value:i32 7:price:i32 8:number:f64',
  ],
  fund_insurance: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:amount:i64',
  ],
  funding_step: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32',
  ],
  liquidation_step: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:bucket:i32 5:looks:i32 6:createdSequence:f64',
  ],
  settlement_step: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32',
  ],
  margin_order: [
    '0:kind:u32 1:account:i32 2:orderSequence:f64 4:slot:i32 5:pair:i32 6:marginAccount:i32 7:bucket:i32 8:marginAccountSequence:f64',
    '10:bucketSequence:f64 12:leverage:i32 13:flags:u32 14:collateral:i64 16:strategyKey:bytes48',
  ],
  position: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:pair:i32 7:position:i32 8:bucket:i32 9:marginAccount:i32 10:lots:i32',
    '11:leverage:i32 12:cost:i64 14:realized:i64 16:funding:i64 18:fees:i64 20:allocated:i64 22:openedSequence:f64 24:version:f64',
    '26:reason:i32 27:mark:i32 28:profit:i64 30:bucketSequence:f64',
  ],
  collateral: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:marginAccount:i32 7:bucket:i32 8:reason:i32 9:state:i32 10:amount:i64',
    '12:deposited:i64 14:earmarked:i64 16:allocated:i64 18:pending:i64 20:realized:i64 22:marginAccountSequence:f64',
    '24:bucketSequence:f64 26:accountKind:i32 27:asset:i32',
  ],
  mark: [
    '0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:index:i32 7:mark:i32 8:source:i32 9:mode:i32 10:observedAt:f64 12:openLots:f64',
    '14:predictedRate:i32 15:lastRate:i32 16:nextFundingAt:f64',
  ],
  funding_rate: [
    '0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:rate:i32 7:samples:i32 8:index:i32 9:mark:i32 10:cumulative:i64 12:openLots:f64',
  ],
  funding_payment: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:pair:i32 7:position:i32 8:bucket:i32 9:lots:i32 10:amount:i64 12:from:i64',
    '14:to:i64 16:openedSequence:f64 18:rate:i32 19:mark:i32',
  ],
  liquidation: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:bucket:i32 7:marginAccount:i32 8:pair:i32 9:status:i32 10:lots:i32',
    '11:price:i32 12:amount:i64 14:equity:i64 16:maintenance:i64 18:bucketSequence:f64 20:began:f64 22:openedSequence:f64',
    '24:marginAccountSequence:f64',
  ],
  order_resized: [
    '0:kind:u32 1:pair:i32 2:sequence:f64 4:time:f64 6:account:i32 7:slot:i32 8:orderSequence:f64 10:flags:u32 11:price:i32 12:lots:i32',
    '13:remaining:i32 14:less:i32 15:reserved:i32 16:filledQuote:i64 18:fee:i64 20:createdAt:f64',
  ],
}

/** Word of a RESULT and what it is there, of answers besides the head. */
export const MARGIN_ANSWERS: Record<string, string> = {
  MOVE_COLLATERAL:
    'marginAccount:detail bucket:detail2 createdSequence:originalSequence flags:flags deposited:filledQuote allocated:hold ' +
    'moveSequence:orderSequence',
  OPEN_MARGIN_ACCOUNT:
    'marginAccount:detail createdSequence:originalSequence',
  CLOSE_MARGIN_ACCOUNT:
    'marginAccount:detail amount:hold',
  OPEN_RISK_BUCKET:
    'bucket:detail isNew:detail2 createdSequence:originalSequence',
  SET_INDEX_PRICE:
    'pair:pair mark:detail before:detail2',
  SET_PERP:
    'pair:pair setting:detail before:originalSequence',
  FUND_INSURANCE:
    'deposited:hold',
}

/** The same of refusals that say more than what an agent lacks. */
export const MARGIN_REFUSED: Record<string, string> = {
  MOVE_COLLATERAL:
    'lacking:detail pair:pair asset:detail2 required:hold available:filledQuote limit:lots ofFamily:trades',
}

/** Names of the records of commands, by type. */
export const MARGIN_COMMANDS = {
  50: 'move_collateral', 51: 'open_margin_account', 52: 'close_margin_account', 53: 'open_risk_bucket', 54: 'set_index_price',
  55: 'set_perp', 56: 'fund_insurance', 57: 'funding_step', 58: 'liquidation_step', 59: 'settlement_step',
}

/** Types of commands. */
export const MARGIN_TYPES = {
  MOVE_COLLATERAL: 50, OPEN_MARGIN_ACCOUNT: 51, CLOSE_MARGIN_ACCOUNT: 52, OPEN_RISK_BUCKET: 53, SET_INDEX_PRICE: 54, SET_PERP: 55,
  FUND_INSURANCE: 56, FUNDING_STEP: 57, LIQUIDATION_STEP: 58, SETTLEMENT_STEP: 59,
}

/** Names of the records of events, by type. */
export const MARGIN_EVENTS = {
  7: 'margin_order', 8: 'position', 9: 'collateral', 10: 'mark', 11: 'funding_rate', 12: 'funding_payment', 13: 'liquidation',
  14: 'order_resized',
}

/** Types of events. */
export const MARGIN_EVENT_TYPES = {
  MARGIN_ORDER: 7, POSITION: 8, COLLATERAL: 9, MARK: 10, FUNDING_RATE: 11, FUNDING_PAYMENT: 12, LIQUIDATION: 13, ORDER_RESIZED: 14,
}

/** Refusals. */
export const MARGIN_REFUSALS = {
  INSUFFICIENT_MARGIN: 410, INSUFFICIENT_COLLATERAL: 411, LEVERAGE_TOO_HIGH: 412, LEVERAGE_TOO_LOW: 413, REDUCE_ONLY_REJECTED: 414,
  POSITION_LIMIT_EXCEEDED: 415, OPEN_INTEREST_LIMIT: 416, PRICE_STALE: 417, PAIR_REDUCE_ONLY: 418, WRONG_TRADING_MODE: 419,
  MASTER_BALANCE_NOT_ALLOWED: 420, RISK_BUCKET_MISMATCH: 421, RISK_BUCKET_IN_LIQUIDATION: 422, MARGIN_ACCOUNT_NOT_FLAT: 423,
  TOO_MANY_MARGIN_ACCOUNTS: 424, TOO_MANY_RISK_BUCKETS: 425, TOO_MANY_POSITIONS: 426, TOO_MANY_REDUCE_ONLY: 427,
  POSITION_NOT_FOUND: 428, PRICE_OUT_OF_BAND: 429, STRATEGY_KEY_UNKNOWN: 430, WRONG_PERP_MODE: 431,
}
