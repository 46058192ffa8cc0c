/**
 * Read model of the portfolio: prices by the hour, and what a fill means for volume, fees and profit, in atoms of the reference asset.
 *
 * The reference asset is the one fee tiers count in. What is quoted in another asset is worth its last price in the reference asset, and
 * nothing while there is none; values are rounded toward zero. Profit is realised by average cost: what comes in of an asset adds its
 * value to the cost of the holding, what goes out takes its share of the cost along, rounded down, and realises its value less that
 * share. Credits from outside and transfers within a family come in, and transfers go out, at the last price. A fee is an outgoing too,
 * and is told apart as `fees`; a rebate is an income of that name. Hence always, for every account, a transfer that takes being a
 * negative credit: reference balance + costs = credits at their values + realised PnL - fees.
 */
import type { Genesis, Pair } from '../../state/genesis.ts'
import { addWide, HOLDING, holdingAt, HOUR_MS, TALLY, wideAt, type AccountsModel } from './accounts.ts'
import type { Tables } from '../store/heads.ts'
import { PRICE_HOUR } from '../store/layout.ts'
import type { PageTable } from '../store/pages.ts'

const { at: PRICE } = PRICE_HOUR
/** Pages of prices in memory: only the last of each pair is ever changed. */
const PAGES = 256

/**
 * Which pair prices each asset in the reference asset: the first spot pair that is quoted in it; -1: none. One that is listed later prices
 * only what nothing priced before, and nothing before it traded: so values are those of the journal's order, whenever this is looked up.
 */
export function pricingPairs(genesis: Genesis): number[] {
  const { asset } = genesis.feeTiers
  const prices = (pair: Pair, base: number): boolean => pair.base === base && pair.quote === asset && pair.perp === null
  return genesis.assets.map(({ index }) => genesis.pairs.findIndex((pair) => prices(pair, index)))
}

/** `atoms` of the base asset of a pair at `ticks`, in quote atoms, rounded toward zero. */
export const valueAt = (genesis: Genesis, pair: number, ticks: number, atoms: bigint): bigint =>
  (atoms * BigInt(ticks) * genesis.pairs[pair]!.tickLotAtoms) / genesis.pairs[pair]!.lotAtoms

export interface PortfolioModel {
  /** The last price of a pair. */
  traded(pair: number, ticks: number, time: number): void
  /**
   * One side of a fill, before the balances of `row` changed: `quote` and `base` atoms change hands, `fee` quote atoms are paid, or
   * earned when negative. `trader`: row of the account that traded, which has the volume; `row` is that of the account that pays.
   */
  filled(row: number, trader: number, pair: number, buys: boolean, quote: bigint, base: bigint, fee: bigint): void
  /** One side of a fill of a perpetual: `quote` atoms are volume of the account in `row`; the rest comes with its position. */
  tradedOnMargin(row: number, pair: number, quote: bigint): void
  /** `atoms` credited from outside or, when negative, taken away, before the balance changed. */
  credited(row: number, asset: number, atoms: bigint): void
  /** An application charged `atoms`, before the balance changed. */
  charged(row: number, asset: number, atoms: bigint): void
  /** Value of `atoms` in the reference asset now, rounded toward zero. */
  valueOf(asset: number, atoms: bigint): bigint
  flush(): void
}

/** The last price of each pair, and its last price of each hour in the table. */
class Prices {
  readonly ticks: Int32Array
  readonly #pages: PageTable
  /** Hour of the price that is not written yet, or -1. */
  readonly #hours: Int32Array

  constructor(tables: Tables, genesis: Genesis) {
    this.#pages = tables.pages('price_hour_page', PAGES)
    this.ticks = Int32Array.from({ length: genesis.limits.pairs }, (_, pair) => {
      const count = this.#pages.count(pair)
      return count === 0 ? 0 : this.#pages.views.i32[this.#pages.locate(pair, count - 1) + PRICE.ticks]!
    })
    this.#hours = new Int32Array(genesis.limits.pairs).fill(-1)
  }

  traded(pair: number, price: number, time: number): void {
    const hour = Math.floor(time / HOUR_MS)
    if (this.#hours[pair] !== hour) {
      if (this.#hours[pair]! >= 0) this.#write(pair, this.#hours[pair]!)
      this.#hours[pair] = hour
    }
    this.ticks[pair] = price
  }

  flush(): void {
    this.#hours.forEach((hour, pair) => {
      if (hour >= 0) this.#write(pair, hour)
    })
    this.#hours.fill(-1)
    this.#pages.flush()
  }

  #write(pair: number, hour: number): void {
    const pages = this.#pages
    const { f64, i32 } = pages.views
    const count = pages.count(pair)
    const isThere = count > 0 && f64[(pages.locate(pair, count - 1) + PRICE.hour) >>> 1] === hour
    const at = isThere ? pages.change(pair, count - 1) : pages.append(pair)
    f64[(at + PRICE.hour) >>> 1] = hour
    i32[at + PRICE.ticks] = this.ticks[pair]!
  }
}

export function createPortfolio(tables: Tables, genesis: Genesis, accounts: AccountsModel): PortfolioModel {
  const reference = genesis.feeTiers.asset
  let pricing = pricingPairs(genesis)
  const prices = new Prices(tables, genesis)
  const { ticks } = prices

  const valueOf = (asset: number, atoms: bigint): bigint => {
    if (asset === reference) return atoms
    if (asset >= pricing.length || pricing[asset]! < 0) pricing = pricingPairs(genesis)
    const pair = pricing[asset]!
    return pair < 0 || ticks[pair] === 0 ? 0n : valueAt(genesis, pair, ticks[pair]!, atoms)
  }
  const totalOf = (holding: number): bigint => accounts.rows[holding + HOLDING.AVAILABLE]! + accounts.rows[holding + HOLDING.LOCKED]!
  /** `atoms` worth `value` leave a holding that has `total`. */
  const leave = (row: number, holding: number, atoms: bigint, total: bigint, value: bigint): void => {
    const { rows } = accounts
    const cost = wideAt(rows, holding + HOLDING.COST)
    const share = atoms === total ? cost : (cost * atoms) / total
    addWide(rows, holding + HOLDING.COST, -share)
    addWide(rows, row + TALLY.REALIZED, value - share)
  }
  const enter = (holding: number, value: bigint): void => addWide(accounts.rows, holding + HOLDING.COST, value)
  /** The quote leg and the fee of a pair whose quote asset is not the reference. */
  const quoteLegs = (row: number, asset: number, buys: boolean, quote: bigint, value: bigint, fee: bigint, feeValue: bigint): void => {
    const holding = holdingAt(row, asset)
    const total = totalOf(holding)
    if (buys) leave(row, holding, quote, total, value)
    else enter(holding, value)
    if (fee > 0n) leave(row, holding, fee, buys ? total - quote : total + quote, feeValue)
    else enter(holding, -feeValue)
  }

  return {
    traded: (pair, price, time) => prices.traded(pair, price, time),
    filled: (row, trader, pair, buys, quote, base, fee) => {
      const { rows } = accounts
      const { base: baseAsset, quote: quoteAsset } = genesis.pairs[pair]!
      const value = valueOf(quoteAsset, quote)
      const feeValue = valueOf(quoteAsset, fee)
      addWide(rows, trader + TALLY.VOLUME, value)
      addWide(rows, row + TALLY.FEES, feeValue)
      if (baseAsset !== reference) {
        const holding = holdingAt(row, baseAsset)
        if (buys) enter(holding, value)
        else leave(row, holding, base, totalOf(holding), value)
      }
      if (quoteAsset !== reference) quoteLegs(row, quoteAsset, buys, quote, value, fee, feeValue)
    },
    tradedOnMargin: (row, pair, quote) => addWide(accounts.rows, row + TALLY.VOLUME, valueOf(genesis.pairs[pair]!.quote, quote)),
    credited: (row, asset, atoms) => {
      if (asset === reference) return
      const holding = holdingAt(row, asset)
      if (atoms < 0n) leave(row, holding, -atoms, totalOf(holding), valueOf(asset, -atoms))
      else enter(holding, valueOf(asset, atoms))
    },
    charged: (row, asset, atoms) => {
      const value = valueOf(asset, atoms)
      addWide(accounts.rows, row + TALLY.FEES, value)
      if (asset === reference) return
      const holding = holdingAt(row, asset)
      leave(row, holding, atoms, totalOf(holding), value)
    },
    valueOf,
    flush: () => prices.flush(),
  }
}
