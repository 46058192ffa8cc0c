/**
 * Listings: assets and pairs as they are now. The genesis lists the first of them; the operator lists the others and changes terms of pairs
 * (programs/listing.ts). Their numbers and texts stand in rows of the state, so that snapshots, replay and other threads have them.
 *
 * A state's `genesis` is a {@link ListedGenesis}: the document with the assets and pairs of now, which looks at SCALAR.LISTINGS whenever it
 * is asked for them. So whoever reads `genesis.pairs` sees a pair as soon as its command was applied, on every thread and without being
 * told. The lists grow and the objects in them change in place: number, id and symbol of an asset or a pair never change, nor do its ticks
 * and lots, and nothing is ever taken back.
 *
 * Reading needs no gate: LISTINGS is odd while a row changes, and a copy that it changed during is dropped for the one before.
 */
import { assetId, pairId } from '../layout/ids.ts'
import { ASSET_SYMBOL_BYTES, CATEGORY_BYTES, PAIR_SYMBOL_BYTES, TOKEN_BYTES } from '../layout/listing.ts'
import { formatDecimal } from '../lib/decimal.ts'
import { NO_ASK, PAIR, SCALAR, TERMS } from './columns.ts'
import { ASSET_LISTING, PAIR_LISTING } from './listing_rows.ts'
import type { Application, Asset, FeeTiers, Genesis, Limits, Pair } from './genesis.ts'
import { lotAtomsOf, tickLotAtomsOf, type PairTerms } from './pair_terms.ts'
import { assetListingRow, get, getF64, getI64, pairListingRow, pairRow, set, setF64, setI64, termsRow } from './rows.ts'
import type { State } from './shape.ts'
import type { SweeperChain } from './sweeper.ts'

/** A genesis whose assets and pairs are those of a state. */
export class ListedGenesis implements Genesis {
  readonly name: string
  readonly chainId: number
  readonly rules: number
  readonly limits: Limits
  readonly firstAssets: number
  readonly faucetDailyLimit: number
  readonly feeTiers: FeeTiers
  readonly applications: Application[]
  readonly sweeperChains: readonly SweeperChain[]
  readonly referralSharesPpm: readonly number[]
  readonly #assets: Asset[]
  readonly #pairs: Pair[]
  /** Of these the document has the texts. */
  readonly #documented: { readonly assets: number; readonly pairs: number }
  #state: State | null = null
  /** SCALAR.LISTINGS as it was read last. */
  #version = 0

  constructor(document: Genesis) {
    this.name = document.name
    this.chainId = document.chainId
    this.rules = document.rules
    this.limits = { ...document.limits }
    this.firstAssets = document.firstAssets
    this.faucetDailyLimit = document.faucetDailyLimit
    this.feeTiers = document.feeTiers
    this.applications = document.applications
    this.sweeperChains = document.sweeperChains
    this.referralSharesPpm = document.referralSharesPpm
    // Objects of its own: they change in place.
    this.#assets = document.assets.map((asset) => ({ ...asset }))
    this.#pairs = document.pairs.map((pair) => ({ ...pair }))
    this.#documented = { assets: this.#assets.length, pairs: this.#pairs.length }
  }

  /** Has it follow the rows of `state`. */
  follow(state: State): void {
    this.#state = state
  }

  get assets(): Asset[] {
    this.#look()
    return this.#assets
  }

  get pairs(): Pair[] {
    this.#look()
    return this.#pairs
  }

  #look(): void {
    if (this.#state === null) return
    const version = Atomics.load(this.#state.scalars, SCALAR.LISTINGS)
    if (version !== this.#version && (version & 1) === 0) this.#read(this.#state, version)
  }

  #read(state: State, version: number): void {
    const { scalars } = state
    const assets = numbersTo(scalars[SCALAR.ASSETS]!).slice(this.#assets.length).map((asset) => assetAt(state, asset))
    const scaleOf = (asset: number): number => (this.#assets[asset] ?? assets[asset - this.#assets.length])?.scale ?? 0
    const pairs = numbersTo(scalars[SCALAR.PAIRS]!).map((pair) => pairAt(state, pair, scaleOf))
    // Changed and not loaded, so that nothing is read after it (view/consistent.ts). What changed meanwhile is read the next time.
    if (Atomics.add(scalars, SCALAR.LISTINGS, 0) !== version) return
    this.#assets.push(...assets)
    for (const pair of pairs) this.#take(pair)
    this.#version = version
  }

  #take(pair: Pair): void {
    const { index } = pair
    const known = this.#pairs[index]
    if (known === undefined) this.#pairs.push(pair)
    else if (index >= this.#documented.pairs) Object.assign(known, pair)
    else changeTerms(known, pair)
  }
}

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

/** Takes over what SET_PAIR_TERMS changes; rates that are the same keep the words of the document. */
function changeTerms(known: Pair, { minLots, maxLots, minNotionalAtoms, makerPpm, takerPpm, makerFeeBps, takerFeeBps }: Pair): void {
  if (known.makerPpm !== makerPpm) known.makerFeeBps = makerFeeBps
  if (known.takerPpm !== takerPpm) known.takerFeeBps = takerFeeBps
  Object.assign(known, { minLots, maxLots, minNotionalAtoms, makerPpm, takerPpm })
}

const TEXT = new TextDecoder()

/** Where texts stand: the memory of a state, or a command. */
type Words = Pick<State, 'i32'>

/** Text of at most so many bytes at `field` of a row, without the zeros behind it. */
export function listedText({ i32 }: Words, row: number, field: number, bytes: number): string {
  const words = i32.slice(row + field, row + field + bytes / 4)
  const all = new Uint8Array(words.buffer)
  const end = all.indexOf(0)
  return TEXT.decode(end < 0 ? all : all.subarray(0, end))
}

/** A token at this word, as an address. */
export function listedToken({ i32 }: Words, at: number): string {
  const words = i32.slice(at, at + TOKEN_BYTES / 4)
  return `0x${Array.from(new Uint8Array(words.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function assetAt(state: State, index: number): Asset {
  const row = assetListingRow(state, index)
  return {
    index,
    id: assetId(getF64(state, row, ASSET_LISTING.SEQUENCE), index),
    symbol: listedText(state, row, ASSET_LISTING.SYMBOL, ASSET_SYMBOL_BYTES),
    token: listedToken(state, row + ASSET_LISTING.TOKEN),
    decimals: get(state, row, ASSET_LISTING.DECIMALS),
    scale: get(state, row, ASSET_LISTING.SCALE),
    faucetAtoms: getI64(state, row, ASSET_LISTING.FAUCET),
    iconUrl: null,
  }
}

function pairAt(state: State, index: number, scaleOf: (asset: number) => number): Pair {
  const row = pairListingRow(state, index)
  const terms = pairTermsAt(state, index)
  const { lotUnits, lotScale, tickUnits, priceScale, makerPpm, takerPpm } = terms
  return {
    ...terms,
    index,
    id: pairId(getF64(state, row, PAIR_LISTING.SEQUENCE), index),
    symbol: listedText(state, row, PAIR_LISTING.SYMBOL, PAIR_SYMBOL_BYTES),
    marketType: 'SPOT',
    perp: null,
    category: listedText(state, row, PAIR_LISTING.CATEGORY, CATEGORY_BYTES) || null,
    tickSize: formatDecimal(tickUnits, priceScale),
    lotSize: formatDecimal(lotUnits, lotScale),
    lotAtoms: lotAtomsOf(terms, scaleOf(terms.base)),
    tickLotAtoms: tickLotAtomsOf(terms, scaleOf(terms.quote)),
    makerFeeBps: formatDecimal(makerPpm, 2),
    takerFeeBps: formatDecimal(takerPpm, 2),
  }
}

/** The numbers of a pair, from its row. */
export function pairTermsAt(state: State, pair: number): PairTerms {
  const row = pairListingRow(state, pair)
  return {
    base: get(state, row, PAIR_LISTING.BASE),
    quote: get(state, row, PAIR_LISTING.QUOTE),
    priceScale: get(state, row, PAIR_LISTING.PRICE_SCALE),
    tickUnits: get(state, row, PAIR_LISTING.TICK_UNITS),
    lotScale: get(state, row, PAIR_LISTING.LOT_SCALE),
    lotUnits: get(state, row, PAIR_LISTING.LOT_UNITS),
    minLots: get(state, row, PAIR_LISTING.MIN_LOTS),
    maxLots: get(state, row, PAIR_LISTING.MAX_LOTS),
    minNotionalAtoms: getI64(state, row, PAIR_LISTING.MIN_NOTIONAL),
    makerPpm: get(state, row, PAIR_LISTING.MAKER_PPM),
    takerPpm: get(state, row, PAIR_LISTING.TAKER_PPM),
  }
}

/** Writes the numbers of a pair into its row. */
export function setPairTermsAt(state: State, pair: number, terms: PairTerms): void {
  const row = pairListingRow(state, pair)
  setI64(state, row, PAIR_LISTING.MIN_NOTIONAL, terms.minNotionalAtoms)
  set(state, row, PAIR_LISTING.BASE, terms.base)
  set(state, row, PAIR_LISTING.QUOTE, terms.quote)
  set(state, row, PAIR_LISTING.PRICE_SCALE, terms.priceScale)
  set(state, row, PAIR_LISTING.TICK_UNITS, terms.tickUnits)
  set(state, row, PAIR_LISTING.LOT_SCALE, terms.lotScale)
  set(state, row, PAIR_LISTING.LOT_UNITS, terms.lotUnits)
  set(state, row, PAIR_LISTING.MIN_LOTS, terms.minLots)
  set(state, row, PAIR_LISTING.MAX_LOTS, terms.maxLots)
  set(state, row, PAIR_LISTING.MAKER_PPM, terms.makerPpm)
  set(state, row, PAIR_LISTING.TAKER_PPM, terms.takerPpm)
}

/** The rows of what the genesis lists, of a new state. */
export function writeListings(state: State, { assets, pairs }: Genesis): void {
  for (const { index, decimals, scale, faucetAtoms } of assets) {
    const row = assetListingRow(state, index)
    set(state, row, ASSET_LISTING.DECIMALS, decimals)
    set(state, row, ASSET_LISTING.SCALE, scale)
    setI64(state, row, ASSET_LISTING.FAUCET, faucetAtoms)
  }
  for (const pair of pairs) {
    setPairTermsAt(state, pair.index, pair)
    openBook(state, pair.index)
  }
  state.scalars[SCALAR.ASSETS] = assets.length
  state.scalars[SCALAR.PAIRS] = pairs.length
}

/** The empty book of a pair that was just listed: from now on its terms are those of all its orders. */
export function openBook(state: State, pair: number): void {
  set(state, pairRow(state, pair), PAIR.BEST_ASK, NO_ASK)
  setOrderBounds(state, pair)
  writeTerms(state, pair)
}

/** No order rests that was placed under other terms than those of now. */
export function setOrderBounds(state: State, pair: number): void {
  const row = pairListingRow(state, pair)
  set(state, row, PAIR_LISTING.LEAST_MAKER_PPM, get(state, row, PAIR_LISTING.MAKER_PPM))
  set(state, row, PAIR_LISTING.MOST_MAKER_PPM, get(state, row, PAIR_LISTING.MAKER_PPM))
  set(state, row, PAIR_LISTING.MOST_LOTS, get(state, row, PAIR_LISTING.MAX_LOTS))
}

/** What matching needs of a pair, as numbers in one row (TERMS). */
export function writeTerms(state: State, pair: number): void {
  const terms = pairTermsAt(state, pair)
  const scaleOf = (asset: number): number => get(state, assetListingRow(state, asset), ASSET_LISTING.SCALE)
  const tickLotAtoms = tickLotAtomsOf(terms, scaleOf(terms.quote))
  const row = termsRow(state, pair)
  setI64(state, row, TERMS.LOT_ATOMS, lotAtomsOf(terms, scaleOf(terms.base)))
  setI64(state, row, TERMS.TICK_LOT_ATOMS, tickLotAtoms)
  setF64(state, row, TERMS.TICK_LOT_ATOMS_F64, Number(tickLotAtoms))
  setF64(state, row, TERMS.MIN_NOTIONAL, Number(terms.minNotionalAtoms))
  set(state, row, TERMS.BASE, terms.base)
  set(state, row, TERMS.QUOTE, terms.quote)
  set(state, row, TERMS.MAKER_PPM, terms.makerPpm)
  set(state, row, TERMS.TAKER_PPM, terms.takerPpm)
  set(state, row, TERMS.MIN_LOTS, terms.minLots)
  set(state, row, TERMS.MAX_LOTS, terms.maxLots)
  set(state, row, TERMS.DIRECTORY, state.directoryAt + pair * state.pagesPerPair)
}
