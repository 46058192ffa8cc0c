/**
 * Commands: everything that changes state, as fixed records.
 *
 * A gateway encodes a request into one 128-byte slot (cold commands may span consecutive slots), the sequencer journals the
 * slot byte for byte and the engine applies it. Sequence number and time are not in the record: the journal batch carries
 * the first sequence and one time in ms for all its records, so a record's sequence is `first + index`.
 *
 * Header: `kind` = type | slots << 8 | gateway << 16. `correlation` is the gateway's own number for the answer.
 * `session` and `sessionGeneration` name the signing session; the engine checks both again at sequence time (-1: none, an
 * operator or timer command).
 */
import { defineLayout, type Layout } from './table.ts'

const HEADER = { kind: 'u32', correlation: 'u32', session: 'i32', sessionGeneration: 'u32' } as const

export const CommandType = {
  GENESIS: 1,
  PLACE_ORDER: 2,
  CANCEL_ORDER: 3,
  REPLACE_ORDER: 4,
  CANCEL_ALL: 5,
  EXPIRE_ORDER: 6,
  MINT: 7,
  OPEN_SESSION: 8,
  REFRESH_SESSION: 9,
  REVOKE_SESSION: 10,
  SET_MAINTENANCE: 11,
  SET_PAIR_STATUS: 12,
  SET_FEE_TIER: 13,
} as const
export type CommandType = (typeof CommandType)[keyof typeof CommandType]

/** Order flags, one word. Bits 24-31 hold the length of the client order id in bytes (0..40). */
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
  /** An idempotency key was given. */
  KEYED: 1 << 9,
  /** Replace only: `price` / `lots` / STP mode / postOnly / client order id were given (otherwise as the original). */
  NEW_PRICE: 1 << 10,
  NEW_LOTS: 1 << 11,
  NEW_STP: 1 << 12,
  NEW_POST_ONLY: 1 << 13,
  /** The order rests on the book. Set by the engine only; a record of a gateway never carries it. */
  RESTING: 1 << 14,
  /** RESULT only: the answer of an earlier command, repeated for its idempotency key. */
  REPEATED: 1 << 15,
} as const
/** Flags of a gateway's record that describe the order itself and stay with it. */
export const FLAG_ORDER_MASK =
  Flag.SELL | Flag.MARKET | Flag.IOC | Flag.FOK | Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.SLIPPAGE | Flag.EXPIRES
export const LABEL_SHIFT = 24
/** Longest client order id, in bytes of printable ASCII. */
export const LABEL_BYTES = 40

/** PLACE_ORDER and REPLACE_ORDER share one layout; CANCEL_ORDER and EXPIRE_ORDER use its target fields only. */
export const ORDER_COMMAND = defineLayout('order', {
  ...HEADER,
  /** Index of the trading pair (genesis order). */
  pair: 'i32',
  /** {@link Flag} bits. */
  flags: 'u32',
  /** Limit price in ticks, 1..2^30; 0 for MARKET. */
  price: 'i32',
  /** Quantity in lots, 1..2^31-1. */
  lots: 'i32',
  /** Slippage tolerance in bps, 0..1000, when Flag.SLIPPAGE. */
  slippageBps: 'i32',
  /** The order to cancel, replace or expire: its slot in the order pool ... */
  targetSlot: 'i32',
  /** ... the expiration time in Unix ms, when Flag.EXPIRES ... */
  expiresAt: 'f64',
  /** First 16 bytes of SHA-256 over the account's idempotency key. */
  key: 'bytes16',
  /** First 16 bytes of SHA-256 over the normalised payload. */
  payload: 'bytes16',
  /** Client order id, zero padded; its length is in the flags. */
  label: 'bytes40',
  /** ... and the sequence of the target order, which is its identity. */
  targetSequence: 'f64',
})

export const CANCEL_ALL_COMMAND = defineLayout('cancel_all', {
  ...HEADER,
  /** Only orders of this pair; -1 for all. */
  pair: 'i32',
  /** At most this many orders, 1..{@link CANCEL_ALL_MAX}; the result says how many are left. */
  limit: 'i32',
})
/** Orders one CANCEL_ALL record may end: bounds the work of one command and the answers it puts on a reply ring. */
export const CANCEL_ALL_MAX = 1000

export const MINT_COMMAND = defineLayout('mint', {
  ...HEADER,
  /** Index of the asset; -1 for every asset with a faucet amount. */
  asset: 'i32',
})

export const OPEN_SESSION_COMMAND = defineLayout('open_session', {
  ...HEADER,
  application: 'i32',
  reserved: 'i32',
  /** Wallet address, 20 bytes. */
  address: 'bytes20',
  reserved2: 'i32',
  /** ed25519 session public key. */
  publicKey: 'bytes32',
})

/** REFRESH_SESSION and REVOKE_SESSION say everything in the header. */
export const SESSION_COMMAND = defineLayout('session', { ...HEADER })

export const SET_MAINTENANCE_COMMAND = defineLayout('set_maintenance', { ...HEADER, on: 'i32' })

/** What a trading pair lets happen. The numbers are part of the journal and snapshot format. */
export const PairStatus = {
  /** Nothing moves but expiry: no orders, no replacements, no cancels. */
  HALTED: 0,
  ACTIVE: 1,
  /** Cancels work; orders and replacements are refused. */
  CANCEL_ONLY: 2,
} as const
export type PairStatus = (typeof PairStatus)[keyof typeof PairStatus]
export const PAIR_STATUS_NAMES = ['HALTED', 'ACTIVE', 'CANCEL_ONLY'] as const

export const SET_PAIR_STATUS_COMMAND = defineLayout('set_pair_status', {
  ...HEADER,
  pair: 'i32',
  /** {@link PairStatus}. */
  status: 'i32',
})

export const SET_FEE_TIER_COMMAND = defineLayout('set_fee_tier', {
  ...HEADER,
  /** Row of the account. */
  account: 'i32',
  /** Index into the genesis' feeTiers. */
  tier: 'i32',
})

/**
 * The first record of every journal: the genesis document as UTF-8 JSON, spanning as many slots as it needs. The header
 * slot is followed by the text; `slots` of the header counts modulo 256, `length` is authoritative.
 */
export const GENESIS_COMMAND = defineLayout('genesis', { ...HEADER, length: 'i32' })

/** Layout of each command type, for the journal printer and the digest of the format. */
export const COMMAND_LAYOUTS: Readonly<Record<number, Layout>> = {
  [CommandType.GENESIS]: GENESIS_COMMAND,
  [CommandType.PLACE_ORDER]: ORDER_COMMAND,
  [CommandType.CANCEL_ORDER]: ORDER_COMMAND,
  [CommandType.REPLACE_ORDER]: ORDER_COMMAND,
  [CommandType.CANCEL_ALL]: CANCEL_ALL_COMMAND,
  [CommandType.EXPIRE_ORDER]: ORDER_COMMAND,
  [CommandType.MINT]: MINT_COMMAND,
  [CommandType.OPEN_SESSION]: OPEN_SESSION_COMMAND,
  [CommandType.REFRESH_SESSION]: SESSION_COMMAND,
  [CommandType.REVOKE_SESSION]: SESSION_COMMAND,
  [CommandType.SET_MAINTENANCE]: SET_MAINTENANCE_COMMAND,
  [CommandType.SET_PAIR_STATUS]: SET_PAIR_STATUS_COMMAND,
  [CommandType.SET_FEE_TIER]: SET_FEE_TIER_COMMAND,
}
const NAMES = Object.fromEntries(Object.entries(CommandType).map(([name, type]) => [type, name]))

export const commandName = (type: number): string => NAMES[type] ?? `UNKNOWN_${type}`

/** Packs the header word. `gateway` 0 is the operator's ring, 1..N the gateway threads. */
export const kindOf = (type: number, slots: number, gateway: number): number => ((gateway << 16) | ((slots & 0xff) << 8) | type) >>> 0
export const typeOfKind = (kind: number): number => kind & 0xff
export const slotsOfKind = (kind: number): number => (kind >>> 8) & 0xff
export const gatewayOfKind = (kind: number): number => kind >>> 16
