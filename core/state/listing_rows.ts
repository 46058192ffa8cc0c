/** Rows of what is listed: columns assetListings and pairListings (columns.ts). */
import { f64, i64 } from './fields.ts'

/** Assets and pairs as they are listed (listing.ts). SEQUENCE 0: by the genesis, whose texts stand in its document alone. */
export const ASSET_LISTING_WORDS = 24
export const ASSET_LISTING = {
  /** f64 each: the command that listed it; Unix ms. */
  SEQUENCE: f64(0), AT: f64(2),
  /** i64: atoms of one faucet request. */
  FAUCET: i64(4),
  DECIMALS: 6, SCALE: 7,
  /** 16 bytes of visible ASCII, zero padded; 20 bytes. */
  SYMBOL: 8, TOKEN: 12,
} as const
export const PAIR_LISTING_WORDS = 32
export const PAIR_LISTING = {
  SEQUENCE: f64(0), AT: f64(2),
  /** i64. */
  MIN_NOTIONAL: i64(4),
  BASE: 6, QUOTE: 7, PRICE_SCALE: 8, TICK_UNITS: 9, LOT_SCALE: 10, LOT_UNITS: 11,
  MIN_LOTS: 12, MAX_LOTS: 13, MAKER_PPM: 14, TAKER_PPM: 15,
  /** 32 and 16 bytes, as above; no category: all zero. */
  SYMBOL: 16, CATEGORY: 24,
  /** What orders that rest may have been placed with: maker rates and sizes that the pair had since its terms were set on an empty book. */
  LEAST_MAKER_PPM: 28, MOST_MAKER_PPM: 29, MOST_LOTS: 30,
} as const
