/** The records, answers and numbers of copy trading, written down once more for test/unit/layout.test.ts. */

/** Word offset, name and type of every field of every record. */
export const COPY_RECORDS: Record<string, string[]> = {
  register_leader: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:length:i32 5:reserved:i32 6:handle:bytes24',
  ],
  release_leader: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32'],
  create_follow: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:length:i32 5:mode:i32 6:handle:bytes24 12:allocation:i64',
    '14:maxLeverage:i32 15:reserved:i32',
  ],
  update_follow: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:follow:i32 5:fields:i32 6:createdSequence:f64 8:state:i32',
    '9:reserved:i32 10:allocation:i64',
  ],
  stop_follow: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:follow:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  set_copy_program: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:on:i32 5:reserved:i32'],
  copy_step: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:work:i32 5:reserved:i32'],
  follow_changed: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:createdSequence:f64 8:follow:i32 9:what:i32 10:leaderAccount:i32',
    '11:leader:i32 12:leaderSequence:f64 14:allocation:i64 16:marginAccount:i32 17:mode:i32 18:marginSequence:f64 20:maxLeverage:i32',
    '21:pair:i32 22:lots:i32 23:orderSlot:i32 24:code:i32 25:reference:i32 26:slippage:i32 27:reserved:i32',
  ],
  leader_changed: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:createdSequence:f64 8:leader:i32 9:what:i32 10:followers:i32 11:length:i32',
    '12:handle:bytes24',
  ],
}
export const COPY_COMMANDS: Record<number, string> = {
  70: 'register_leader', 71: 'release_leader', 72: 'create_follow', 73: 'update_follow', 74: 'stop_follow', 75: 'copy_step',
  76: 'set_copy_program',
}
export const COPY_EVENTS: Record<number, string> = { 20: 'follow_changed', 21: 'leader_changed' }
/** Word of a RESULT and what it is there. */
export const COPY_ANSWERS: Record<string, string> = {
  REGISTER_LEADER: 'leader:detail createdSequence:originalSequence',
  RELEASE_LEADER: 'leader:detail createdSequence:originalSequence',
  CREATE_FOLLOW: 'follow:detail state:detail2 createdSequence:originalSequence',
  UPDATE_FOLLOW: 'follow:detail state:detail2 createdSequence:originalSequence',
  STOP_FOLLOW: 'follow:detail state:detail2 createdSequence:originalSequence',
  SET_COPY_PROGRAM: 'pair:pair now:detail before:detail2',
}
export const COPY_REFUSALS: Record<string, number> = {
  HANDLE_TAKEN: 470, HANDLE_CHANGE_TOO_SOON: 471, ALREADY_LEADER: 472, TOO_MANY_LEADERS: 473, ALREADY_FOLLOWING: 474,
  CANNOT_FOLLOW: 475, CANNOT_LEAD: 476, TOO_MANY_FOLLOWS: 477, LEADER_FULL: 478, ALLOCATION_TOO_SMALL: 479, FOLLOW_STOPPING: 480,
  COPY_MARGIN_ACCOUNT: 481, LEADER_EQUITY: 482, COPY_PARTLY_FILLED: 483, COPY_TRADING_OFF: 484, COPY_PRICE: 485,
}
