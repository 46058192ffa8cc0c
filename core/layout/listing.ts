/** Commands by which the operator lists assets and pairs and changes terms (programs/listing.ts), and what may be wrong with them. */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Bytes of their texts. */
export const ASSET_SYMBOL_BYTES = 16
export const TOKEN_BYTES = 20
export const PAIR_SYMBOL_BYTES = 32
export const CATEGORY_BYTES = 16

/** Operator: a new asset. It gets the next number; its id is computed from the sequence. */
export const LIST_ASSET_COMMAND = defineLayout('list_asset', {
  ...HEADER,
  /** Atoms of one faucet request; 0: none. */
  faucet: 'i64',
  /** Digits after the point: of the token, 0..18, and of its atoms here, no more than those. */
  decimals: 'i32',
  scale: 'i32',
  /** Visible ASCII, zero padded. */
  symbol: 'bytes16',
  /** Address of its token, 20 bytes. */
  token: 'bytes20',
})

/** Operator: a new pair of two assets, in numbers (state/pair_terms.ts). Nothing but cancels is let through before its status is set. */
export const LIST_PAIR_COMMAND = defineLayout('list_pair', {
  ...HEADER,
  /** Least value of an order, quote atoms. */
  minNotional: 'i64',
  base: 'i32',
  quote: 'i32',
  /** A tick is tickUnits × 10^-priceScale, a lot lotUnits × 10^-lotScale. */
  priceScale: 'i32',
  tickUnits: 'i32',
  lotScale: 'i32',
  lotUnits: 'i32',
  /** Sizes of an order, lots. */
  minLots: 'i32',
  maxLots: 'i32',
  makerPpm: 'i32',
  takerPpm: 'i32',
  /** Visible ASCII, zero padded; the category may be empty. */
  symbol: 'bytes32',
  category: 'bytes16',
})

/** Operator: other terms of a pair, all of these. Its ticks and lots are for ever. */
export const SET_PAIR_TERMS_COMMAND = defineLayout('set_pair_terms', {
  ...HEADER,
  minNotional: 'i64',
  pair: 'i32',
  reserved: 'i32',
  minLots: 'i32',
  maxLots: 'i32',
  makerPpm: 'i32',
  takerPpm: 'i32',
})

/** RESULT.detail of LISTING_TERMS: the place of what is wrong here. Places never change their meaning (state/pair_terms.ts). */
export const TERM_FAULTS = [
  '',
  'base and quote are the same asset',
  'tickSize and lotSize must be positive',
  'order sizes must be 1..2^31-1 lots',
  'minOrderSize is above maxOrderSize',
  'a lot is no whole number of base atoms',
  'maxOrderSize is more than may be issued',
  'tick × lot is no whole number of quote atoms',
  'tick × lot must be 1..2^31-1 quote atoms',
  'minNotional must not be negative',
  'taker fee must not be negative',
  'the rebate exceeds the taker fee',
  'a taker discount exceeds the taker fee',
  'with all discounts the rebate exceeds the taker fee',
  'a fee is beyond 200 bps',
  'decimals and scale must be 0..18, the scale no more than the decimals',
  'faucetAmount must not be negative, nor more than may be issued',
  'the rebate of resting orders exceeds the taker fee',
] as const
export type TermFault = number
