/** The records, answers and numbers of orders that wait, written down once more for test/unit/layout.test.ts. */

/** Word offset, name and type of every field of every record. */
export const WAITING_RECORDS: Record<string, string[]> = {
  attach_conditionals: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:position:i32 5:reserved:i32 6:openedSequence:f64',
    '8:profitTrigger:i32 9:profitFlags:i32 10:profitLimit:i32 11:profitLots:i32 12:profitSlippageBps:i32 13:profitReserved:i32',
    '14:profitExpiresAt:f64 16:stopTrigger:i32 17:stopFlags:i32 18:stopLimit:i32 19:stopLots:i32 20:stopSlippageBps:i32',
    '21:stopReserved:i32 22:stopExpiresAt:f64 24:trailBps:i32 25:trailFlags:i32 26:trailActivation:i32 27:trailLots:i32',
    '28:trailSlippageBps:i32 29:trailReserved:i32 30:trailExpiresAt:f64',
  ],
  cancel_conditional: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:leg:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  expire_conditional: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:conditional:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  trigger_step: ['0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32'],
  create_twap: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:pair:i32 5:flags:u32 6:price:i32 7:lots:i32',
    '8:slippageBps:i32 9:options:i32 10:trigger:i32 11:labelLength:i32 12:startAt:f64 14:endAt:f64 16:conditionalExpiry:f64',
    '18:seed:i64 20:durationMs:i32 21:reserved:i32 22:collateral:i64 24:namedSequence:f64 26:marginAccount:i32 27:bucket:i32',
    '28:leverage:i32 29:keyLow:i32 30:keyHigh:i32 31:position:i32 32:label:bytes40',
  ],
  cancel_twap: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:twap:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  twap_step: [
    '0:kind:u32 1:correlation:u32 2:session:i32 3:sessionGeneration:u32 4:twap:i32 5:reserved:i32 6:createdSequence:f64',
  ],
  conditional_order: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:createdSequence:f64 8:what:i32 9:pair:i32 10:flags:i32 11:trigger:i32',
    '12:limit:i32 13:lots:i32 14:slippageBps:i32 15:trailBps:i32 16:activation:i32 17:watermark:i32 18:expiresAt:f64 20:armedAt:f64',
    '22:createdAt:f64 24:orderSequence:f64 26:openedSequence:f64 28:orderSlot:i32 29:position:i32 30:code:i32 31:ordered:i32',
  ],
  twap_order: [
    '0:kind:u32 1:account:i32 2:sequence:f64 4:time:f64 6:createdSequence:f64 8:twap:i32 9:what:i32 10:pair:i32 11:flags:u32',
    '12:lots:i32 13:filled:i32 14:slices:i32 15:reached:i32 16:placed:i32 17:childSlot:i32 18:code:i32 19:reserved:i32',
    '20:startAt:f64 22:endAt:f64 24:nextAt:f64 26:filledQuote:i64 28:fee:i64',
  ],
  twap_opened: [
    '0:kind:u32 1:account:i32 2:createdSequence:f64 4:twap:i32 5:pair:i32 6:price:i32 7:slippageBps:i32 8:options:i32 9:trigger:i32',
    '10:conditionalExpiry:f64 12:durationMs:i32 13:leverage:i32 14:marginAccount:i32 15:bucket:i32 16:namedSequence:f64',
    '18:labelLength:i32 19:reserved:i32 20:label:bytes40',
  ],
  child_order: [
    '0:kind:u32 1:account:i32 2:orderSequence:f64 4:slot:i32 5:pair:i32 6:twap:i32 7:reserved:i32 8:twapSequence:f64',
  ],
}

/** The third slot of an order. */
export const LEG_WORDS = [
  '64:profitTrigger:i32 65:profitFlags:i32 66:profitLimit:i32 67:profitLots:i32 68:profitSlippageBps:i32 69:profitReserved:i32',
  '70:profitExpiresAt:f64 72:stopTrigger:i32 73:stopFlags:i32 74:stopLimit:i32 75:stopLots:i32 76:stopSlippageBps:i32',
  '77:stopReserved:i32 78:stopExpiresAt:f64 80:trailBps:i32 81:trailFlags:i32 82:trailActivation:i32 83:trailLots:i32',
  '84:trailSlippageBps:i32 85:trailReserved:i32 86:trailExpiresAt:f64',
]

/** Word of a RESULT and what it is there, of answers besides the head. */
export const WAITING_ANSWERS: Record<string, string> = {
  ATTACH_CONDITIONALS: 'legs:detail',
  CANCEL_CONDITIONAL: 'pair:pair',
  CREATE_TWAP: 'twap:detail slices:detail2 state:outcome firstSliceAt:originalSequence endAt:expiresAt',
  CANCEL_TWAP: 'pair:pair',
}

/** Names of the records of commands, by type. */
export const WAITING_COMMANDS = {
  60: 'attach_conditionals', 61: 'cancel_conditional', 62: 'expire_conditional', 63: 'trigger_step', 64: 'create_twap', 65: 'cancel_twap',
  66: 'twap_step',
}

/** Types of commands. */
export const WAITING_TYPES = {
  ATTACH_CONDITIONALS: 60, CANCEL_CONDITIONAL: 61, EXPIRE_CONDITIONAL: 62, TRIGGER_STEP: 63, CREATE_TWAP: 64, CANCEL_TWAP: 65,
  TWAP_STEP: 66,
}

/** Names of the records of events, by type. */
export const WAITING_EVENTS = { 15: 'conditional_order', 16: 'twap_order', 17: 'twap_opened', 18: 'child_order' }

/** Types of events. */
export const WAITING_EVENT_TYPES = { CONDITIONAL: 15, TWAP: 16, TWAP_OPENED: 17, CHILD_ORDER: 18 }

/** Refusals. */
export const WAITING_REFUSALS = {
  TRAILING_STOP_EXISTS: 440, INVALID_TRIGGER_PRICE: 441, TOO_MANY_CONDITIONAL_ORDERS: 442, TOO_MANY_TWAP_ORDERS: 443, INVALID_SCHEDULE: 444,
  TRIGGERS_BEHIND: 907, BEYOND_LIMIT_PRICE: 445,
}
