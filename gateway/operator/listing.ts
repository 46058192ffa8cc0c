/**
 * Listing, for an operator: assets, pairs and their terms as decimals, made into the numbers of LIST_ASSET, LIST_PAIR and SET_PAIR_TERMS
 * (core/programs/listing.ts). The engine decides; what it finds wrong with terms is told in its words.
 */
import Type from 'typebox'
import { CommandType, PAIR_STATUS_NAMES } from '../../core/layout/command.ts'
import {
  ASSET_SYMBOL_BYTES, CATEGORY_BYTES, LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, PAIR_SYMBOL_BYTES, SET_PAIR_TERMS_COMMAND, TERM_FAULTS,
} from '../../core/layout/listing.ts'
import { REFUSALS, refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import type { DecodedAnswer } from '../../core/layout/answers.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal, scaleOf } from '../../core/lib/decimal.ts'
import { PAIR } from '../../core/state/columns.ts'
import { get, pairRow } from '../../core/view/rows.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { oneByOne } from '../one_by_one.ts'
import { amountText, quantityText } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Nullable, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { printable, table } from './text.ts'

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
function listingRefusal({ code, fault }: Decoded): Refused {
  if (code !== REFUSALS.LISTING_TERMS.number) return new Refused(refusalByNumber(Number(code)).code as RefusalCode)
  return new Refused('LISTING_TERMS', `${REFUSALS.LISTING_TERMS.message}: ${TERM_FAULTS[Number(fault)]}`)
}

/** What `run` answers, or which field is wrong. */
async function checked<Out>(input: Readonly<Record<string, unknown>>, run: (fields: Fields) => Promise<Out | Refused>) {
  try {
    return await run(new Fields(input))
  } catch (error) {
    if (error instanceof Wrong) return refusedField(error.field, `${error.field} is not what it must be`)
    throw error
  }
}

const named = <T extends Asset | Pair>(listed: readonly T[], name: string): T | undefined =>
  listed.find(({ id, symbol }) => symbol === name || id.toLowerCase() === name.toLowerCase())

/** Sends a command; answers what `said` makes of its result. What changed is in the log. */
const send = <T extends CommandType, Out extends object>(
  context: OperatorContext, type: T, layout: Layout, values: Decoded, said: (result: DecodedAnswer<T>) => Out,
): Promise<(Out & { sequence: number }) | Refused> =>
  sendCommand(context, type, layout, values, (result) => {
    const answer = { ...said(result), sequence: Number(result.sequence) }
    note(context, layout.name.replaceAll('_', ' '), answer)
    return answer
  }, listingRefusal)

/** Changes of terms: each sets all terms, those that are not given as the one before left them. Connections of the port bound them. */
const inTurn = oneByOne()

const TOKEN = '0x00000000000000000000000000000000000010ff'
const digits = Type.Integer({ minimum: 0, maximum: 18 })
const assetFields = {
  symbol: field(Type.String(), 'Symbol of the asset.'), token: fields.token, decimals: field(digits, 'Digits of the token.'),
}
const AssetFields = Type.Object({
  id: fields.assetId, ...assetFields, scale: field(digits, 'How many of them are kept here.'),
  faucetAmount: field(Decimal, 'What the faucet gives.'),
})
const ASSET = {
  id: '5a550000-0000-4000-8000-000000000005', symbol: 'SOL', token: TOKEN, decimals: 9, scale: 9, faucetAmount: '100',
}

export const ListAssets = operatorRoute({
  method: 'GET', path: '/assets', token: false,
  summary: 'Every asset', description: 'Its token, digits and what the faucet gives.',
  output: Type.Object({
    assets: field(Type.Array(AssetFields), 'The assets.'), room: field(Type.Integer(), 'How many more can be listed.'),
  }),
  refusals: [],
  example: { input: {}, output: { assets: [ASSET], room: 4 } },
  commands: [{
    name: 'assets list',
    purpose: 'every asset: its token, digits and what the faucet gives',
    explains: 'ROOM is how many more can be listed before the limit is raised.',
    example: ['assets list', `SYMBOL  DECIMALS  SCALE  FAUCET  TOKEN\nUSDC           6      6  10000   ${TOKEN}\n\nroom for 4 more`],
    show: ({ assets, room }) => {
      const rows = assets.map(({ symbol, decimals, scale, faucetAmount, token }) => [symbol, decimals, scale, faucetAmount, token])
      return `${table(['SYMBOL', 'DECIMALS', 'SCALE', 'FAUCET', 'TOKEN'], rows)}\n\nroom for ${room} more`
    },
  }],
  run: ({ state: { genesis } }) => ({ assets: genesis.assets.map(assetRecord), room: genesis.limits.assets - genesis.assets.length }),
})

const WHOLE = 'a whole number from 0 to 18'

export const AddAsset = operatorRoute({
  method: 'POST', path: '/assets', token: true,
  summary: 'List an asset, for good', description: 'Symbol, token and digits cannot be changed later.',
  body: Type.Object({
    ...assetFields, scale: Type.Optional(field(digits, 'How many of them are kept here; 9 or fewer if it is not given.')),
    faucetAmount: Type.Optional(field(Decimal, 'What the faucet gives a request; nothing if it is not given.')),
  }),
  output: Type.Object({ ...AssetFields.properties, sequence: fields.sequence }),
  refusals: [...SENDS, 'LISTING_TERMS', 'TOO_MANY_ASSETS'],
  example: {
    input: { symbol: 'SOL', token: TOKEN, decimals: 9, faucetAmount: '100' }, output: { ...ASSET, sequence: 1042 },
  },
  commands: [{
    name: 'assets add', parameters: [{ field: 'symbol', typed: 'SYMBOL' }],
    options: [
      { field: 'token', typed: 'ADDRESS', option: 'token' },
      { field: 'decimals', typed: 'DIGITS', option: 'decimals', must: WHOLE },
      { field: 'scale', typed: 'DIGITS', option: 'scale', must: WHOLE },
      { field: 'faucetAmount', typed: 'AMOUNT', option: 'faucet' },
    ],
    purpose: 'list an asset, for good',
    explains: 'Decimals are those of the token; scale is how many of them are kept here, 9 or fewer if it is not given: 64 bits hold all\n'
      + 'balances. The faucet gives AMOUNT a request, nothing if it is not given. Symbol, token and digits cannot be changed later,\n'
      + 'and an asset is never taken away. It is in the journal; users see it at once.',
    example: [`assets add SOL --token ${TOKEN} --decimals 9 --faucet 100`, 'SOL is listed (sequence 1042)'],
    show: ({ symbol, sequence }) => `${printable(symbol)} is listed (sequence ${sequence})`,
  }],
  run: (context, input) => checked(input, async (fields) => {
    const symbol = fields.text('symbol', ASSET_SYMBOL_BYTES)
    const token = fields.text('token', 42)
    if (!/^0x[0-9a-fA-F]{40}$/.test(token)) throw new Wrong('token')
    const decimals = fields.whole('decimals', 0, 18)
    const scale = fields.has('scale') ? fields.whole('scale', 0, decimals) : Math.min(decimals, 9)
    const faucet = fields.has('faucetAmount') ? fields.decimal('faucetAmount', scale) : 0n
    const values = { faucet, decimals, scale, symbol: hex(symbol), token: token.slice(2) }
    const { assets } = context.state.genesis
    return send(context, CommandType.LIST_ASSET, LIST_ASSET_COMMAND, values, ({ asset }) => assetRecord(assets[Number(asset)]!))
  }),
})

const step = (what: string) => field(Decimal, `Step of ${what}.`)
const termFields = {
  minOrderSize: field(Decimal, 'Least quantity of an order.'), maxOrderSize: field(Decimal, 'Largest quantity of an order.'),
  minNotional: field(Decimal, 'Least value of an order.'), makerFeeBps: field(Decimal, 'Rate of makers, basis points; below 0: a rebate.'),
  takerFeeBps: field(Decimal, 'Rate of takers, basis points.'),
}
const PairTerms = Type.Object({
  id: field(Uuid, 'Trading pair.'), symbol: field(Type.String(), 'BASE/QUOTE.'), base: field(Type.String(), 'Symbol of the base.'),
  quote: field(Type.String(), 'Symbol of the quote.'), tickSize: step('prices'), lotSize: step('quantities'), ...termFields,
  category: field(Nullable(Type.String()), 'Category, or null.'), status: field(Type.String(), 'What it lets happen.'),
  sequence: fields.sequence,
})
const PAIR_EXAMPLE = {
  id: '7a1c0000-0000-4000-8000-000000000005', symbol: 'SOL/USDC', base: 'SOL', quote: 'USDC', tickSize: '0.01', lotSize: '0.01',
  minOrderSize: '0.01', maxOrderSize: '100000', minNotional: '1', makerFeeBps: '1', takerFeeBps: '5', category: null,
  status: 'CANCEL_ONLY', sequence: 1043,
}
const TERM_OPTIONS = [
  { field: 'minOrderSize', typed: 'SIZE', option: 'min' }, { field: 'maxOrderSize', typed: 'SIZE', option: 'max' },
  { field: 'minNotional', typed: 'AMOUNT', option: 'min-notional' }, { field: 'makerFeeBps', typed: 'BPS', option: 'maker' },
  { field: 'takerFeeBps', typed: 'BPS', option: 'taker' },
] as const

export const AddPair = operatorRoute({
  method: 'POST', path: '/pairs/add', token: true,
  summary: 'List a trading pair, for good', description: 'It is CANCEL_ONLY until its status is set.',
  body: Type.Object({
    base: field(Type.String(), 'Asset, by id or symbol.'), quote: field(Type.String(), 'Asset, by id or symbol.'),
    tickSize: step('prices'), lotSize: step('quantities'), ...termFields,
    symbol: Type.Optional(field(Type.String(), 'BASE/QUOTE if it is not given.')),
    category: Type.Optional(field(Type.String(), 'Category; none if it is not given.')),
  }),
  output: PairTerms,
  refusals: [...SENDS, 'NOT_FOUND', 'LISTING_TERMS', 'TOO_MANY_PAIRS'],
  example: {
    input: {
      base: 'SOL', quote: 'USDC', tickSize: '0.01', lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '100000', minNotional: '1',
      makerFeeBps: '1', takerFeeBps: '5',
    },
    output: PAIR_EXAMPLE,
  },
  commands: [{
    name: 'pairs add', parameters: [{ field: 'base', typed: 'BASE' }, { field: 'quote', typed: 'QUOTE' }],
    options: [
      { field: 'tickSize', typed: 'PRICE', option: 'tick' }, { field: 'lotSize', typed: 'SIZE', option: 'lot' }, ...TERM_OPTIONS,
      { field: 'category', typed: 'NAME', option: 'category' },
    ],
    purpose: 'list a trading pair, for good; it is CANCEL_ONLY until pairs set lets orders in',
    explains: 'BASE and QUOTE are listed assets. Tick is the step of prices, lot that of quantities; tick times lot must be a\n'
      + 'whole number of the quote\'s smallest units, and neither can be changed later. Fees are basis points; a maker fee below 0 is a\n'
      + 'rebate, typed --maker=-0.5, which the taker fee must pay whatever the fee tiers take off. Look at it, then:\n'
      + 'pairs set BASE/QUOTE ACTIVE.',
    example: ['pairs add SOL USDC --tick 0.01 --lot 0.01 --min 0.01 --max 100000 --min-notional 1 --maker 1 --taker 5',
      'SOL/USDC is listed and CANCEL_ONLY (sequence 1043); pairs set SOL/USDC ACTIVE lets orders in'],
    show: ({ symbol, status, sequence }) =>
      `${printable(symbol)} is listed and ${status} (sequence ${sequence}); pairs set ${printable(symbol)} ACTIVE lets orders in`,
  }],
  run: (context, input) => checked(input, async (fields) => {
    const { assets, pairs } = context.state.genesis
    const [base, quote] = [named(assets, fields.text('base', 64)), named(assets, fields.text('quote', 64))]
    if (base === undefined || quote === undefined) {
      return new Refused('NOT_FOUND', undefined, { field: base === undefined ? 'base' : 'quote' })
    }
    const values = pairValues(fields, base, quote)
    return send(context, CommandType.LIST_PAIR, LIST_PAIR_COMMAND, values, ({ pair }) => pairRecord(context.state, pairs[Number(pair)]!))
  }),
})

export const SetTerms = operatorRoute({
  method: 'POST', path: '/pairs/terms', token: true,
  summary: 'Change sizes, least value and fees of a pair', description: 'What is not given stays. Tick and lot are for ever.',
  body: Type.Object({ pair: field(Type.String(), 'Trading pair, by id or symbol.'), ...Type.Partial(Type.Object(termFields)).properties }),
  output: PairTerms,
  refusals: [...SENDS, 'NOT_FOUND', 'LISTING_TERMS'],
  example: {
    input: { pair: 'SOL/USDC', makerFeeBps: '0', takerFeeBps: '4' },
    output: { ...PAIR_EXAMPLE, makerFeeBps: '0', takerFeeBps: '4', sequence: 1044 },
  },
  commands: [{
    name: 'pairs terms', parameters: [{ field: 'pair', typed: 'PAIR' }], options: TERM_OPTIONS,
    purpose: 'change sizes, least value and fees of a pair; what is not given stays',
    explains: 'From the next command on. Resting orders keep the maker fee they were placed with, and their size; when takers would\n'
      + 'pay less than such an order earns, the change is refused until it is gone. Tick and lot are for ever.',
    example: ['pairs terms SOL/USDC --maker 0 --taker 4',
      'SOL/USDC: orders of 0.01 to 100000, worth 1 at least; maker 0 bps, taker 4 bps (sequence 1044)'],
    wants: (input) => (Object.keys(input).length > 1 ? null : 'which terms? There is: --min, --max, --min-notional, --maker, --taker'),
    show: ({ symbol, minOrderSize, maxOrderSize, minNotional, makerFeeBps, takerFeeBps, sequence }) =>
      `${printable(symbol)}: orders of ${minOrderSize} to ${maxOrderSize}, worth ${minNotional} at least; `
      + `maker ${makerFeeBps} bps, taker ${takerFeeBps} bps (sequence ${sequence})`,
  }],
  run: (context, input) => checked(input, async (fields) => {
    const { pairs, assets } = context.state.genesis
    const pair = named(pairs, fields.text('pair', 64))
    if (pair === undefined) return new Refused('NOT_FOUND', undefined, { field: 'pair' })
    return inTurn(async () => {
      const values = termValues(fields, pairs[pair.index]!, assets[pair.quote]!)
      return send(context, CommandType.SET_PAIR_TERMS, SET_PAIR_TERMS_COMMAND, values, () => pairRecord(context.state, pairs[pair.index]!))
    })
  }),
})

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

const assetRecord = ({ id, symbol, token, decimals, scale, faucetAtoms }: Asset) =>
  ({ id, symbol, token, decimals, scale, faucetAmount: formatDecimal(faucetAtoms, scale) })

function pairRecord(state: State, pair: Pair) {
  const { genesis } = state
  const [base, quote] = [genesis.assets[pair.base]!, genesis.assets[pair.quote]!]
  return {
    id: pair.id, symbol: pair.symbol, base: base.symbol, quote: quote.symbol, tickSize: pair.tickSize, lotSize: pair.lotSize,
    minOrderSize: quantityText(pair, pair.minLots), maxOrderSize: quantityText(pair, pair.maxLots),
    minNotional: amountText(quote, pair.minNotionalAtoms), makerFeeBps: pair.makerFeeBps, takerFeeBps: pair.takerFeeBps,
    category: pair.category, status: PAIR_STATUS_NAMES[get(state, pairRow(state, pair.index), PAIR.STATUS)],
  }
}
