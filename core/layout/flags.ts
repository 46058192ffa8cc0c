/** Bits of orders and of the commands about them. They never change their meaning within a version of the layouts (command.ts). */

/**
 * Flags of an order, one word: in commands, order rows, events and the history. Bits 24-31 hold the length of the client order id in bytes
 * (0..40). Free: bit 19; in records of layout 1 bits 9 to 13, 18 and 19 were what is now {@link Option}.
 */
export const Flag = {
  /** Set: SELL. Clear: BUY. */
  SELL: 1,
  /** Set: MARKET. Clear: LIMIT. */
  MARKET: 1 << 1,
  /** Neither IOC nor FOK: GTC. */
  IOC: 1 << 2,
  FOK: 1 << 3,
  POST_ONLY: 1 << 4,
  /** Set: CANCEL_BOTH. Clear: CANCEL_TAKER, the default. */
  CANCEL_BOTH: 1 << 5,
  /** The caller named a selfTradePreventionMode (only so that the record can say so). */
  STP_GIVEN: 1 << 6,
  /** slippageToleranceBps was given. */
  SLIPPAGE: 1 << 7,
  /** expirationDate was given; without it the default of the genesis limits applies. */
  EXPIRES: 1 << 8,
  /** Of a perpetual (tradingMode MARGIN): it moves collateral and positions, not balances. */
  MARGIN: 1 << 9,
  /** Never enlarges or turns the position. */
  REDUCE_ONLY: 1 << 10,
  /** Set: marginMode CROSS. Clear: ISOLATED, the default. */
  CROSS: 1 << 11,
  /** Closes the position that it names: allowed in maintenance. Always with REDUCE_ONLY. */
  CLOSE: 1 << 12,
  /** Legs of the order wait for it to fill (orders/legs.ts). Set by the engine only. */
  LEGS: 1 << 13,
  /** The order rests on the book. Set by the engine only; a record of a gateway never carries it. */
  RESTING: 1 << 14,
  /** RESULT only: the answer of an earlier command, repeated for its idempotency key. */
  REPEATED: 1 << 15,
  /** The order of a sub-account spends and earns on its master's balance (useMasterBalance). */
  MASTER_FUNDED: 1 << 16,
  /** A delegated agent placed the order; column `orderAgents` says which. Set by the engine only. */
  BY_AGENT: 1 << 17,
  /** Its application charges for its fills; column `addOns` says how much (ledger/add_ons.ts). Set by the engine only. */
  ADD_ON: 1 << 18,
  /** The operator cancelled the order. In ORDER_ENDED and in the history; set by the engine only. */
  BY_OPERATOR: 1 << 20,
} as const
/**
 * What a command asks for beside what the order is, one word of commands only. The bits are those that layout 1 had among the flags;
 * all others are free.
 */
export const Option = {
  /** An idempotency key was given: the record has a second slot. */
  KEYED: 1 << 9,
  /** Replace only: `price` / `lots` / STP mode / postOnly were given (otherwise as the original). */
  NEW_PRICE: 1 << 10,
  NEW_LOTS: 1 << 11,
  NEW_STP: 1 << 12,
  NEW_POST_ONLY: 1 << 13,
  /** Replace only: useMasterBalance was given. */
  NEW_FUNDING: 1 << 18,
  /** A SELF_TRADE event names the resting order that stops this one. Gateways always set it; journals from before it are without. */
  TELL_SELF_TRADE: 1 << 19,
  /** Place only: take-profit, stop-loss or trailing stop stand in a third slot. Layout 1 had none. */
  LEGS: 1 << 20,
} as const
/** Every bit of {@link Option} but LEGS. */
export const OPTION_MASK = Object.values(Option).reduce((all: number, bit) => all | bit, 0) & ~Option.LEGS
/** Flags of a gateway's record that describe the order itself and stay with it. */
export const FLAG_ORDER_MASK =
  Flag.SELL | Flag.MARKET | Flag.IOC | Flag.FOK | Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.SLIPPAGE | Flag.EXPIRES |
  Flag.MASTER_FUNDED | Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.CLOSE
export const CLIENT_ORDER_ID_SHIFT = 24

/**
 * Who asked for an order, in bits 21 to 23 of its flags: so it stands in its row, in every event about it and in the history.
 * Orders of before there were others are their clients'.
 */
export const Origin = {
  /** A request over the wire: the account's owner, its master or a delegated agent. */
  CLIENT: 0,
  LIQUIDATION: 1,
  TRIGGER: 2,
  TWAP: 3,
  COPY: 4,
} as const
export type Origin = (typeof Origin)[keyof typeof Origin]
export const ORIGIN_NAMES = ['CLIENT', 'LIQUIDATION', 'TRIGGER', 'TWAP', 'COPY'] as const
const ORIGIN_SHIFT = 21
/** The bits of {@link Origin}. */
export const ORIGIN_MASK = 7 << ORIGIN_SHIFT
export const originFlags = (origin: number): number => (origin << ORIGIN_SHIFT) & ORIGIN_MASK
export const originOf = (flags: number): number => (flags & ORIGIN_MASK) >>> ORIGIN_SHIFT
/** Longest client order id, in bytes of printable ASCII. */
export const CLIENT_ORDER_ID_BYTES = 40
