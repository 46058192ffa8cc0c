/**
 * Invariant L, of checkInvariants (invariants.ts): listings.
 *
 *   numbers of assets and pairs are within the limits and no change is half made; symbols, and tokens, are unique; terms of every asset
 *   and pair are good (pair_terms.ts), also for what rests on the pair; matching has the terms that are listed
 */
import { broken } from '../lib/assert.ts'
import { PAIR, SCALAR, TERMS } from './columns.ts'
import { PAIR_LISTING } from './listing_rows.ts'
import { mostDiscounts } from './genesis.ts'
import { pairTermsAt } from './listing.ts'
import { assetFault, feeFault, lotAtomsOf, pairFault, restingFault, TERM_FAULTS, tickLotAtomsOf } from './pair_terms.ts'
import { assetCount, get, getI64, pairCount, pairListingRow, pairRow, termsRow } from './rows.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. */
export function checkListings(state: State): void {
  const { genesis, scalars } = state
  const { assets, pairs, limits } = genesis
  if ((scalars[SCALAR.LISTINGS]! & 1) !== 0) broken('L', 'a listing is half made')
  if (assets.length !== assetCount(state) || assets.length > limits.assets) broken('L', `${assets.length} assets of ${assetCount(state)}`)
  if (pairs.length !== pairCount(state) || pairs.length > limits.pairs) broken('L', `${pairs.length} pairs of ${pairCount(state)}`)
  for (const names of [assets.map(({ symbol }) => symbol), pairs.map(({ symbol }) => symbol), assets.map(({ token }) => token)]) {
    if (names === undefined || new Set(names).size !== names.length) broken('L', `one of ${names.join()} is listed twice`)
  }
  for (const asset of assets) {
    const fault = assetFault(asset)
    if (fault !== 0) broken('L', `asset ${asset.symbol}: ${TERM_FAULTS[fault]}`)
  }
  for (const { index } of pairs) checkPair(state, index)
}

function checkPair(state: State, pair: number): void {
  const { assets, feeTiers } = state.genesis
  const terms = pairTermsAt(state, pair)
  const [base, quote] = [assets[terms.base], assets[terms.quote]]
  if (base === undefined || quote === undefined) broken('L', `pair ${pair} is of assets ${terms.base} and ${terms.quote}`)
  const most = mostDiscounts(feeTiers.tiers)
  const row = pairListingRow(state, pair)
  const book = pairRow(state, pair)
  const resting = get(state, book, PAIR.BID_ORDERS) + get(state, book, PAIR.ASK_ORDERS)
  const fault = pairFault(terms, base.scale, quote.scale) || feeFault(terms, most) ||
    (resting > 0 ? restingFault(terms.takerPpm, get(state, row, PAIR_LISTING.LEAST_MAKER_PPM), most) : 0)
  if (fault !== 0) broken('L', `pair ${pair}: ${TERM_FAULTS[fault]}`)
  const used = termsRow(state, pair)
  const same = getI64(state, used, TERMS.LOT_ATOMS) === lotAtomsOf(terms, base.scale) &&
    getI64(state, used, TERMS.TICK_LOT_ATOMS) === tickLotAtomsOf(terms, quote.scale) &&
    get(state, used, TERMS.BASE) === terms.base && get(state, used, TERMS.QUOTE) === terms.quote &&
    get(state, used, TERMS.MAKER_PPM) === terms.makerPpm && get(state, used, TERMS.TAKER_PPM) === terms.takerPpm &&
    get(state, used, TERMS.MIN_LOTS) === terms.minLots && get(state, used, TERMS.MAX_LOTS) === terms.maxLots
  if (!same) broken('L', `pair ${pair}: matching has other terms than are listed`)
}
