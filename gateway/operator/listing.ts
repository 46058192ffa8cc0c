/**
 * Listing, for an operator: assets, pairs and their terms as decimals, made into the numbers of LIST_ASSET, LIST_PAIR and SET_PAIR_TERMS
 * (core/programs/listing.ts). The engine decides; what it finds wrong with terms is told in its words.
 */
import { CommandType, PAIR_STATUS_NAMES } from '../../core/layout/command.ts'
import {
  ASSET_SYMBOL_BYTES, CATEGORY_BYTES, LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, PAIR_SYMBOL_BYTES, SET_PAIR_TERMS_COMMAND, TERM_FAULTS,
} from '../../core/layout/listing.ts'
import { REFUSALS, refusalByNumber } from '../../core/layout/refusals.ts'
import type { DecodedAnswer } from '../../core/layout/answers.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal, scaleOf } from '../../core/lib/decimal.ts'
import { PAIR } from '../../core/state/columns.ts'
import { get, pairRow } from '../../core/view/rows.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import type { FromThread } from '../../core/threads.ts'
import { oneByOne } from '../one_by_one.ts'
import { amountText, quantityText } from '../operations/amounts.ts'
import type { Admin } from './admin.ts'
import { json, readFields, refuse, refused, type Answer, type Handler } from './http.ts'
import { change } from './policy.ts'

export interface Listing {
  readonly listAssets: Handler
  readonly addAsset: Handler
  readonly addPair: Handler
  readonly setTerms: Handler
}

/** A field that is not what it must be. */
class Wrong extends Error {
  readonly field: string
  constructor(field: string) {
    super(field)
    this.field = field
  }
}

/** The fields of a body, by what they must be; each throws {@link Wrong}. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>
  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined
  }

  text(name: string, bytes: number): string {
    const value = this.#fields[name]
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || value.length > bytes) throw new Wrong(name)
    return value
  }

  whole(name: string, low: number, high: number): number {
    const value = this.#fields[name]
    if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) throw new Wrong(name)
    return value
  }

  /** A decimal × 10^scale, whole and within 63 bits. */
  decimal(name: string, scale: number): bigint {
    const value = this.#fields[name]
    const units = typeof value === 'string' ? parseDecimal(value, scale) : null
    if (units === null || units >= 2n ** 63n || units < -(2n ** 63n)) throw new Wrong(name)
    return units
  }

  /** A positive decimal as units of its last digit, and its digits after the point. */
  step(name: string): { units: number; scale: number } {
    const value = this.#fields[name]
    if (typeof value !== 'string' || parseDecimal(value, 18) === null) throw new Wrong(name)
    const scale = scaleOf(value)
    const units = Number(this.decimal(name, scale))
    if (units < 1 || units > 2 ** 31 - 1) throw new Wrong(name)
    return { units, scale }
  }

  /** A quantity in lots. */
  lots(name: string, lot: { units: number; scale: number }): number {
    const units = this.decimal(name, lot.scale)
    const lots = Number(units / BigInt(lot.units))
    if (units % BigInt(lot.units) !== 0n || lots < 1 || lots > 2 ** 31 - 1) throw new Wrong(name)
    return lots
  }

  /** Basis points with two digits, in ppm. */
  rate(name: string): number {
    const ppm = Number(this.decimal(name, 2))
    if (Math.abs(ppm) > 1_000_000) throw new Wrong(name)
    return ppm
  }
}

const hex = (text: string): string => Buffer.from(text, 'ascii').toString('hex')

/** What is wrong with terms is told in words; any other refusal as it is. */
function listingRefusal({ code, fault }: Decoded): Answer {
  if (code !== REFUSALS.LISTING_TERMS.number) return refused(refusalByNumber(Number(code)))
  const { message, ...refusal } = REFUSALS.LISTING_TERMS
  return refused({ ...refusal, message: `${message}: ${TERM_FAULTS[Number(fault)]}` })
}

const handler = (run: (fields: Fields) => Promise<Answer>): Handler => async (request) => {
  const read = await readFields(request)
  if ('refusal' in read) return read.refusal
  try {
    return await run(new Fields(read.fields))
  } catch (error) {
    if (error instanceof Wrong) return refuse('VALIDATION_ERROR', { field: error.field })
    throw error
  }
}

const named = <T extends Asset | Pair>(listed: readonly T[], name: string): T | undefined =>
  listed.find(({ id, symbol }) => symbol === name || id.toLowerCase() === name.toLowerCase())

/** `tell`: messages to the main thread, for the log. */
export function createListing(state: State, admin: Admin, tell: (message: FromThread) => void): Listing {
  const { genesis } = state
  /** Sends a command; answers what `said` makes of its result. What changed is in the log. */
  const send = <T extends CommandType>(
    type: T, layout: Layout, values: Decoded, said: (result: DecodedAnswer<T>) => object,
  ): Promise<Answer> =>
    change(admin, type, layout, values, (result) => {
      const fields = { ...said(result), sequence: result.sequence }
      tell({ type: 'log', level: 'warn', message: layout.name.replaceAll('_', ' '), fields })
      return json(200, fields)
    }, listingRefusal)
  /** Changes of terms: each sets all terms, those that are not given as the one before left them. Connections of the port bound them. */
  const inTurn = oneByOne()
  const pairSaid = ({ pair }: { readonly pair: Decoded[string] }): object => pairRecord(state, genesis.pairs[Number(pair)]!)
  return {
    listAssets: () => json(200, { assets: genesis.assets.map(assetRecord), room: genesis.limits.assets - genesis.assets.length }),

    addAsset: handler(async (fields) => {
      const symbol = fields.text('symbol', ASSET_SYMBOL_BYTES)
      const token = fields.text('token', 42)
      if (!/^0x[0-9a-fA-F]{40}$/.test(token)) throw new Wrong('token')
      const decimals = fields.whole('decimals', 0, 18)
      const scale = fields.has('scale') ? fields.whole('scale', 0, decimals) : Math.min(decimals, 9)
      const faucet = fields.has('faucetAmount') ? fields.decimal('faucetAmount', scale) : 0n
      const values = { faucet, decimals, scale, symbol: hex(symbol), token: token.slice(2) }
      return send(CommandType.LIST_ASSET, LIST_ASSET_COMMAND, values, ({ asset }) => assetRecord(genesis.assets[Number(asset)]!))
    }),

    addPair: handler(async (fields) => {
      const { assets } = genesis
      const [base, quote] = [named(assets, fields.text('base', 64)), named(assets, fields.text('quote', 64))]
      if (base === undefined || quote === undefined) return refuse('NOT_FOUND', { field: base === undefined ? 'base' : 'quote' })
      return send(CommandType.LIST_PAIR, LIST_PAIR_COMMAND, pairValues(fields, base, quote), pairSaid)
    }),

    setTerms: handler(async (fields) => {
      const pair = named(genesis.pairs, fields.text('pair', 64))
      if (pair === undefined) return refuse('NOT_FOUND', { field: 'pair' })
      return inTurn(async () => {
        const values = termValues(fields, genesis.pairs[pair.index]!, genesis.assets[pair.quote]!)
        return send(CommandType.SET_PAIR_TERMS, SET_PAIR_TERMS_COMMAND, values, pairSaid)
      })
    }),
  }
}

/** The fields of LIST_PAIR. */
function pairValues(fields: Fields, base: Asset, quote: Asset): Decoded {
  const symbol = fields.has('symbol') ? fields.text('symbol', PAIR_SYMBOL_BYTES) : `${base.symbol}/${quote.symbol}`
  if (symbol.length > PAIR_SYMBOL_BYTES) throw new Wrong('symbol')
  const [tick, lot] = [fields.step('tickSize'), fields.step('lotSize')]
  return {
    base: base.index, quote: quote.index, symbol: hex(symbol),
    category: fields.has('category') ? hex(fields.text('category', CATEGORY_BYTES)) : '',
    priceScale: tick.scale, tickUnits: tick.units, lotScale: lot.scale, lotUnits: lot.units,
    minLots: fields.lots('minOrderSize', lot), maxLots: fields.lots('maxOrderSize', lot),
    minNotional: fields.decimal('minNotional', quote.scale), makerPpm: fields.rate('makerFeeBps'), takerPpm: fields.rate('takerFeeBps'),
  }
}

/** The fields of SET_PAIR_TERMS; what is not given stays. */
function termValues(fields: Fields, pair: Pair, quote: Asset): Decoded {
  const lot = { units: pair.lotUnits, scale: pair.lotScale }
  return {
    pair: pair.index,
    minLots: fields.has('minOrderSize') ? fields.lots('minOrderSize', lot) : pair.minLots,
    maxLots: fields.has('maxOrderSize') ? fields.lots('maxOrderSize', lot) : pair.maxLots,
    minNotional: fields.has('minNotional') ? fields.decimal('minNotional', quote.scale) : pair.minNotionalAtoms,
    makerPpm: fields.has('makerFeeBps') ? fields.rate('makerFeeBps') : pair.makerPpm,
    takerPpm: fields.has('takerFeeBps') ? fields.rate('takerFeeBps') : pair.takerPpm,
  }
}

const assetRecord = ({ id, symbol, token, decimals, scale, faucetAtoms }: Asset): object =>
  ({ id, symbol, token, decimals, scale, faucetAmount: formatDecimal(faucetAtoms, scale) })

function pairRecord(state: State, pair: Pair): object {
  const { genesis } = state
  const [base, quote] = [genesis.assets[pair.base]!, genesis.assets[pair.quote]!]
  return {
    id: pair.id, symbol: pair.symbol, base: base.symbol, quote: quote.symbol, tickSize: pair.tickSize, lotSize: pair.lotSize,
    minOrderSize: quantityText(pair, pair.minLots), maxOrderSize: quantityText(pair, pair.maxLots),
    minNotional: amountText(quote, pair.minNotionalAtoms), makerFeeBps: pair.makerFeeBps, takerFeeBps: pair.takerFeeBps,
    category: pair.category, status: PAIR_STATUS_NAMES[get(state, pairRow(state, pair.index), PAIR.STATUS)],
  }
}
