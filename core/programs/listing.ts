/**
 * Listing by the operator: assets and pairs that the genesis does not have, and other terms of pairs. All of it comes through lane 0, as in
 * policy.ts; the rows are those of state/listing.ts, what must hold between their numbers is in state/pair_terms.ts.
 *
 * What is listed stays: number, symbol, token, scales, ticks and lots are for ever, because books, balances and the history count in them.
 * A new pair lets nothing through but cancels until the operator sets its status, so that it can be looked at first. SET_PAIR_TERMS changes
 * sizes, the least value and the rates. Orders that rest keep what they were placed with: a maker rate is fixed at placing. Their rebates
 * must go on to be paid by what takers pay, so rates that break this are refused while they rest. A resting order outside of new sizes
 * stays and may be filled or cancelled; replaced, it is a new order.
 */
import { PairStatus } from '../layout/command.ts'
import { PAIR_ANSWER } from '../layout/answers.ts'
import {
  ASSET_SYMBOL_BYTES, CATEGORY_BYTES, LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, PAIR_SYMBOL_BYTES, SET_PAIR_TERMS_COMMAND, TOKEN_BYTES,
} from '../layout/listing.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK, PAIR, SCALAR } from '../state/columns.ts'
import { ASSET_LISTING, PAIR_LISTING } from '../state/listing_rows.ts'
import { mostDiscounts } from '../state/genesis.ts'
import {
  listedText, listedToken, openBook, pairTermsAt, setOrderBounds, setPairTermsAt, writeTerms,
} from '../state/listing.ts'
import { assetFault, feeFault, pairFault, restingFault, type PairTerms } from '../state/pair_terms.ts'
import { assetCount, assetListingRow, get, pairCount, pairListingRow, pairRow, set, setF64, setI64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { emitResult } from '../events/emit.ts'
import { isText } from './applications.ts'
import { laneRefusal } from './policy.ts'

const A = LIST_ASSET_COMMAND.at
const P = LIST_PAIR_COMMAND.at
const T = SET_PAIR_TERMS_COMMAND.at
const FIRST_VISIBLE = 0x21
const LAST_VISIBLE = 0x7e

/** A refusal and what is wrong: a place in TERM_FAULTS, of LISTING_TERMS. */
interface Refused {
  readonly code: number
  readonly fault: number
}
const GOOD: Refused = { code: 0, fault: 0 }
const refused = (code: number): Refused => ({ code, fault: 0 })
const ofFault = (fault: number): Refused => (fault === 0 ? GOOD : { code: REFUSALS.LISTING_TERMS.number, fault })

/** Readers of other threads see by SCALAR.LISTINGS that rows change (state/listing.ts). */
function changing(state: State, change: () => void): void {
  Atomics.add(state.scalars, SCALAR.LISTINGS, 1)
  change()
  Atomics.add(state.scalars, SCALAR.LISTINGS, 1)
}

const sameSymbol = (a: string, b: string): boolean => a.toUpperCase() === b.toUpperCase()

/**
 * A new asset. ASSET_ANSWER. VALIDATION_ERROR: a text that is none; LISTING_TERMS: scales or faucet amount, what is wrong
 * with them in detail; SYMBOL_IN_USE: its symbol, whatever the case, or its token is another's; TOO_MANY_ASSETS: all rows are taken.
 */
export function listAsset(state: State, command: Views, base: number): void {
  const { code, fault } = assetRefusal(state, command, base)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, fault, 0)
    return
  }
  const asset = assetCount(state)
  changing(state, () => {
    const row = assetListingRow(state, asset)
    setF64(state, row, ASSET_LISTING.SEQUENCE, state.clock[CLOCK.SEQUENCE]!)
    setF64(state, row, ASSET_LISTING.AT, state.clock[CLOCK.TIME]!)
    setI64(state, row, ASSET_LISTING.FAUCET, command.i64[(base + A.faucet) >>> 1]!)
    set(state, row, ASSET_LISTING.DECIMALS, command.i32[base + A.decimals]!)
    set(state, row, ASSET_LISTING.SCALE, command.i32[base + A.scale]!)
    copyWords(state, row + ASSET_LISTING.SYMBOL, command, base + A.symbol, ASSET_SYMBOL_BYTES + TOKEN_BYTES)
    state.scalars[SCALAR.ASSETS] = asset + 1
  })
  emitResult(state, command, base, 0, -1, asset, 0)
}

/** Fields that follow each other in the command follow each other in the row. */
function copyWords(state: State, at: number, command: Views, from: number, bytes: number): void {
  for (let word = 0; word < bytes / 4; word++) state.i32[at + word] = command.i32[from + word]!
}

function assetRefusal(state: State, command: Views, base: number): Refused {
  const lane = laneRefusal(command, base)
  if (lane !== 0) return refused(lane)
  if (!isText(command.bytes, base + A.symbol, ASSET_SYMBOL_BYTES / 4, FIRST_VISIBLE, LAST_VISIBLE)) {
    return refused(REFUSALS.VALIDATION_ERROR.number)
  }
  const terms = {
    decimals: command.i32[base + A.decimals]!, scale: command.i32[base + A.scale]!, faucetAtoms: command.i64[(base + A.faucet) >>> 1]!,
  }
  const { code, fault } = ofFault(assetFault(terms))
  if (code !== 0) return { code, fault }
  const symbol = listedText(command, base, A.symbol, ASSET_SYMBOL_BYTES)
  const token = listedToken(command, base + A.token)
  const inUse = state.genesis.assets.some((asset) => sameSymbol(asset.symbol, symbol) || asset.token.toLowerCase() === token)
  if (inUse) return refused(REFUSALS.SYMBOL_IN_USE.number)
  return assetCount(state) < state.genesis.limits.assets ? GOOD : refused(REFUSALS.TOO_MANY_ASSETS.number)
}

/**
 * A new pair, CANCEL_ONLY. PAIR_ANSWER. VALIDATION_ERROR: a text that is none; NOT_FOUND: an asset that is not
 * listed; LISTING_TERMS: what is wrong in detail; SYMBOL_IN_USE: another pair's, whatever the case; TOO_MANY_PAIRS: all rows are taken.
 */
export function listPair(state: State, command: Views, base: number): void {
  const { code, fault } = pairRefusal(state, command, base)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, fault, 0)
    return
  }
  const pair = pairCount(state)
  changing(state, () => {
    const row = pairListingRow(state, pair)
    setF64(state, row, PAIR_LISTING.SEQUENCE, state.clock[CLOCK.SEQUENCE]!)
    setF64(state, row, PAIR_LISTING.AT, state.clock[CLOCK.TIME]!)
    setPairTermsAt(state, pair, listedTerms(command, base))
    copyWords(state, row + PAIR_LISTING.SYMBOL, command, base + P.symbol, PAIR_SYMBOL_BYTES + CATEGORY_BYTES)
    openBook(state, pair)
    set(state, pairRow(state, pair), PAIR.STATUS, PairStatus.CANCEL_ONLY)
    state.scalars[SCALAR.PAIRS] = pair + 1
  })
  const at = emitResult(state, command, base, 0, -1, pair, 0)
  state.outbox.i32[at + PAIR_ANSWER.at.pair] = pair
}

const listedTerms = ({ i32, i64 }: Views, base: number): PairTerms => ({
  base: i32[base + P.base]!, quote: i32[base + P.quote]!,
  priceScale: i32[base + P.priceScale]!, tickUnits: i32[base + P.tickUnits]!,
  lotScale: i32[base + P.lotScale]!, lotUnits: i32[base + P.lotUnits]!,
  minLots: i32[base + P.minLots]!, maxLots: i32[base + P.maxLots]!, minNotionalAtoms: i64[(base + P.minNotional) >>> 1]!,
  makerPpm: i32[base + P.makerPpm]!, takerPpm: i32[base + P.takerPpm]!,
})

function pairRefusal(state: State, command: Views, base: number): Refused {
  const lane = laneRefusal(command, base)
  if (lane !== 0) return refused(lane)
  const hasCategory = command.i32[base + P.category] !== 0
  const texts = isText(command.bytes, base + P.symbol, PAIR_SYMBOL_BYTES / 4, FIRST_VISIBLE, LAST_VISIBLE)
    && (!hasCategory || isText(command.bytes, base + P.category, CATEGORY_BYTES / 4, FIRST_VISIBLE, LAST_VISIBLE))
  if (!texts) return refused(REFUSALS.VALIDATION_ERROR.number)
  const terms = listedTerms(command, base)
  const { assets, pairs, feeTiers, limits } = state.genesis
  const [sold, paid] = [assets[terms.base], assets[terms.quote]]
  if (sold === undefined || paid === undefined) return refused(REFUSALS.NOT_FOUND.number)
  const { code, fault } = ofFault(pairFault(terms, sold.scale, paid.scale) || feeFault(terms, mostDiscounts(feeTiers.tiers)))
  if (code !== 0) return { code, fault }
  const symbol = listedText(command, base, P.symbol, PAIR_SYMBOL_BYTES)
  if (pairs.some((pair) => sameSymbol(pair.symbol, symbol))) return refused(REFUSALS.SYMBOL_IN_USE.number)
  return pairCount(state) < limits.pairs ? GOOD : refused(REFUSALS.TOO_MANY_PAIRS.number)
}

/**
 * Other terms of a pair, from the next command on. PAIR_ANSWER. NOT_FOUND: no such pair; LISTING_TERMS: what is
 * wrong in detail.
 */
export function setPairTerms(state: State, command: Views, base: number): void {
  const pair = command.i32[base + T.pair]!
  const terms = changedTerms(state, command, base, pair)
  const { code, fault } = termsRefusal(state, command, base, pair, terms)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, fault, 0)
    return
  }
  changing(state, () => {
    const row = pairListingRow(state, pair)
    setPairTermsAt(state, pair, terms)
    if (isEmpty(state, pair)) setOrderBounds(state, pair)
    else {
      set(state, row, PAIR_LISTING.LEAST_MAKER_PPM, Math.min(get(state, row, PAIR_LISTING.LEAST_MAKER_PPM), terms.makerPpm))
      set(state, row, PAIR_LISTING.MOST_MAKER_PPM, Math.max(get(state, row, PAIR_LISTING.MOST_MAKER_PPM), terms.makerPpm))
      set(state, row, PAIR_LISTING.MOST_LOTS, Math.max(get(state, row, PAIR_LISTING.MOST_LOTS), terms.maxLots))
    }
    writeTerms(state, pair)
  })
  const at = emitResult(state, command, base, 0, -1, pair, 0)
  state.outbox.i32[at + PAIR_ANSWER.at.pair] = pair
}

const isEmpty = (state: State, pair: number): boolean => {
  const row = pairRow(state, pair)
  return get(state, row, PAIR.BID_ORDERS) + get(state, row, PAIR.ASK_ORDERS) === 0
}

const changedTerms = (state: State, { i32, i64 }: Views, base: number, pair: number): PairTerms => ({
  ...pairTermsAt(state, Math.max(pair, 0)),
  minLots: i32[base + T.minLots]!, maxLots: i32[base + T.maxLots]!, minNotionalAtoms: i64[(base + T.minNotional) >>> 1]!,
  makerPpm: i32[base + T.makerPpm]!, takerPpm: i32[base + T.takerPpm]!,
})

function termsRefusal(state: State, command: Views, base: number, pair: number, terms: PairTerms): Refused {
  const lane = laneRefusal(command, base)
  if (lane !== 0) return refused(lane)
  if (pair < 0 || pair >= pairCount(state)) return refused(REFUSALS.NOT_FOUND.number)
  const { assets, feeTiers } = state.genesis
  const most = mostDiscounts(feeTiers.tiers)
  const fault = pairFault(terms, assets[terms.base]!.scale, assets[terms.quote]!.scale) || feeFault(terms, most)
  if (fault !== 0 || isEmpty(state, pair)) return ofFault(fault)
  return ofFault(restingFault(terms.takerPpm, get(state, pairListingRow(state, pair), PAIR_LISTING.LEAST_MAKER_PPM), most))
}
