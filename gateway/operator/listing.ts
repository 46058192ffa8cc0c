/**
 * Listing, for an operator: assets, pairs and their terms as decimals, made into the numbers of LIST_ASSET, LIST_PAIR
 * and SET_PAIR_TERMS (core/programs/listing.ts). The schemas say what the form of a field is; here is said which
 * decimals are numbers of the engine. The engine decides; what it finds wrong with terms is told in its words.
 */
import Type, { type Static } from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import {
  CATEGORY_BYTES, LIST_ASSET_COMMAND, LIST_PAIR_COMMAND, PAIR_SYMBOL_BYTES, SET_PAIR_TERMS_COMMAND, TERM_FAULTS,
} from '../../core/layout/listing.ts'
import { REFUSALS, refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import { ASSET_SYMBOL, SPOT_SYMBOL } from '../../core/layout/symbols.ts'
import type { DecodedAnswer } from '../../core/layout/answers.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { formatDecimal, parseDecimal, scaleOf } from '../../core/lib/decimal.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { oneByOne } from '../one_by_one.ts'
import { Amount, amountText, quantityText } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Uuid } from '../operations/operation.ts'
import { describeForm } from '../operations/schema_errors.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { pairName, pairStatus } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { printable, table } from './text.ts'

const hex = (text: string): string => Buffer.from(text, 'ascii').toString('hex')

/** What is wrong with terms is told in words; any other refusal as it is. */
function listingRefusal({ code, fault }: Decoded): Refused {
  if (code !== REFUSALS.LISTING_TERMS.number) return new Refused(refusalByNumber(Number(code)).code as RefusalCode)
  return new Refused('LISTING_TERMS', `${REFUSALS.LISTING_TERMS.message}: ${TERM_FAULTS[Number(fault)]}`)
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

const INT32_MAX = 2 ** 31 - 1
const INT64_END = 2n ** 63n
const PPM_MAX = 1_000_000
/** Basis points have two digits, as ppm. */
const BPS_DIGITS = 2

/** `text` × 10^scale; or the refusal that names `field`. */
function unitsOf(field: string, text: string, scale: number): bigint | Refused {
  const units = parseDecimal(text, scale)
  if (units === null) return refusedField(field, `${field} has more than ${scale} digits behind the point`)
  return units < INT64_END && units >= -INT64_END ? units : refusedField(field, `${field} is out of range`)
}

/** What prices or quantities are multiples of: units × 10^-scale. */
interface Step {
  readonly units: number
  readonly scale: number
}

function stepOf(field: string, text: string): Step | Refused {
  const scale = scaleOf(text)
  const units = unitsOf(field, text, scale)
  if (units instanceof Refused) return units
  if (units >= 1n && units <= INT32_MAX) return { units: Number(units), scale }
  return refusedField(field, `${field} must be positive and at most ${formatDecimal(INT32_MAX, scale)}, when it has ${scale} digits`)
}

/** A quantity in lots. */
function lotsOf(field: string, text: string, lot: Step): number | Refused {
  const units = unitsOf(field, text, lot.scale)
  if (units instanceof Refused) return units
  const lots = units / BigInt(lot.units)
  if (units % BigInt(lot.units) === 0n && lots >= 1n && lots <= INT32_MAX) return Number(lots)
  const most = formatDecimal(BigInt(lot.units) * BigInt(INT32_MAX), lot.scale)
  return refusedField(field, `${field} must be a multiple of the lot, ${formatDecimal(lot.units, lot.scale)}, and at most ${most}`)
}

/** A rate in ppm. */
function rateOf(field: string, text: string): number | Refused {
  const ppm = unitsOf(field, text, BPS_DIGITS)
  if (ppm instanceof Refused) return ppm
  return Math.abs(Number(ppm)) <= PPM_MAX ? Number(ppm) : refusedField(field, `${field} must be within 10000 basis points`)
}

/** The values, or the first refusal among them. */
function allOf<T extends object>(values: { readonly [Name in keyof T]: T[Name] | Refused }): T | Refused {
  return Object.values(values).find((value) => value instanceof Refused) as Refused | undefined ?? (values as T)
}

/**
 * Changes of terms: each sets all terms, those that are not given as the one before left them. Connections of the port
 * bound them.
 */
const inTurn = oneByOne()

const TOKEN = '0x00000000000000000000000000000000000010ff'
const digits = Type.Integer({ minimum: 0, maximum: 18 })
const TOKEN_FORM = /^0x([0-9a-fA-F]{40})$/
describeForm(TOKEN_FORM, 'the address of a token: 0x and 40 hex digits')
/** Text of the engine's columns: visible ASCII of so many bytes. */
function visible(bytes: number) {
  const form = new RegExp(`^[!-~]{1,${bytes}}$`)
  describeForm(form, `1 to ${bytes} visible ASCII characters`)
  return Type.String({ pattern: form.source })
}
describeForm(ASSET_SYMBOL, '1 to 16 capital letters, digits and points')
describeForm(SPOT_SYMBOL, 'BASE/QUOTE: twice 1 to 16 capital letters, digits and points')
const PairSymbol = Type.String({ pattern: SPOT_SYMBOL.source, maxLength: PAIR_SYMBOL_BYTES })
const assetFields = {
  symbol: field(Type.String({ pattern: ASSET_SYMBOL.source }), 'Symbol of the asset: capital letters, digits and points.'),
  token: field(Type.String({ pattern: TOKEN_FORM.source }), 'Address of its token.'),
  decimals: field(digits, 'Digits of the token.'),
}
const AssetFields = Type.Object({
  id: fields.assetId, ...assetFields, scale: field(digits, 'How many of them are kept here.'),
  faucetAmount: field(Amount, 'What the faucet gives.'),
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
    example: ['assets list', `SYMBOL  DECIMALS  SCALE  FAUCET  TOKEN\nSOL            9      9  100     ${TOKEN}\n\nroom for 4 more`],
    show: ({ assets, room }) => {
      const rows = assets.map(({ symbol, decimals, scale, faucetAmount, token }) => [symbol, decimals, scale, faucetAmount, token])
      return `${table(['SYMBOL', 'DECIMALS', 'SCALE', 'FAUCET', 'TOKEN'], rows)}\n\nroom for ${room} more`
    },
  }],
  run: ({ state: { genesis } }) => ({ assets: genesis.assets.map(assetRecord), room: genesis.limits.assets - genesis.assets.length }),
})

const WHOLE = 'a whole number from 0 to 18'
/** Digits kept of a token that says no scale: 64 bits hold all balances. */
const KEPT_DIGITS = 9

export const AddAsset = operatorRoute({
  method: 'POST', path: '/assets', token: true,
  summary: 'List an asset, for good', description: 'Symbol, token and digits cannot be changed later.',
  body: Type.Object({
    ...assetFields, scale: Type.Optional(field(digits, 'How many of them are kept here; 9 or fewer if it is not given.')),
    faucetAmount: Type.Optional(field(Amount, 'What the faucet gives a request; nothing if it is not given.')),
  }),
  output: Type.Object({ ...AssetFields.properties, sequence: fields.sequence }),
  refusals: [...SENDS, 'LISTING_TERMS', 'SYMBOL_IN_USE', 'TOO_MANY_ASSETS'],
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
  run: (context, { symbol, token, decimals, scale = Math.min(decimals, KEPT_DIGITS), faucetAmount = '0' }) => {
    const faucet = unitsOf('faucetAmount', faucetAmount, scale)
    if (faucet instanceof Refused) return faucet
    const values = { faucet, decimals, scale, symbol: hex(symbol), token: TOKEN_FORM.exec(token)![1]! }
    const { genesis } = context.state
    return send(context, CommandType.LIST_ASSET, LIST_ASSET_COMMAND, values, ({ asset }) => assetRecord(genesis.assets[Number(asset)]!))
  },
})

const step = (what: string) => field(Amount, `Step of ${what}.`)
const termFields = {
  minOrderSize: field(Amount, 'Least quantity of an order.'), maxOrderSize: field(Amount, 'Largest quantity of an order.'),
  minNotional: field(Amount, 'Least value of an order.'), makerFeeBps: field(Amount, 'Rate of makers, basis points; below 0: a rebate.'),
  takerFeeBps: field(Amount, 'Rate of takers, basis points.'),
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

const Terms = Type.Object(termFields)
const assetName = field(Type.String({ minLength: 1, maxLength: 64 }), 'Asset, by id or symbol.')
const NewPair = Type.Object({
  base: assetName, quote: assetName, tickSize: step('prices'), lotSize: step('quantities'), ...termFields,
  symbol: Type.Optional(field(PairSymbol, 'BASE/QUOTE if it is not given.')),
  category: Type.Optional(field(visible(CATEGORY_BYTES), 'Category; none if it is not given.')),
})

export const AddPair = operatorRoute({
  method: 'POST', path: '/pairs/add', token: true,
  summary: 'List a trading pair, for good', description: 'It is CANCEL_ONLY until its status is set.',
  body: NewPair,
  output: PairTerms,
  refusals: [...SENDS, 'NOT_FOUND', 'LISTING_TERMS', 'SYMBOL_IN_USE', 'TOO_MANY_PAIRS'],
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
  run: (context, input) => {
    const { state } = context
    const [base, quote] = [input.base, input.quote].map((name) => named(state.genesis.assets, name))
    if (base === undefined || quote === undefined) {
      return new Refused('NOT_FOUND', undefined, { field: base === undefined ? 'base' : 'quote' })
    }
    const values = pairValues(input, base, quote)
    if (values instanceof Refused) return values
    return send(context, CommandType.LIST_PAIR, LIST_PAIR_COMMAND, values, ({ pair }) => pairRecord(state, Number(pair)))
  },
})

export const SetTerms = operatorRoute({
  method: 'POST', path: '/pairs/terms', token: true,
  summary: 'Change sizes, least value and fees of a pair', description: 'What is not given stays. Tick and lot are for ever.',
  body: Type.Object({ pair: pairName, ...Type.Partial(Terms).properties }),
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
  run: (context, input) => {
    const { state, state: { genesis } } = context
    const pair = named(genesis.pairs, input.pair)
    if (pair === undefined) return new Refused('NOT_FOUND', undefined, { field: 'pair' })
    return inTurn(async () => {
      const values = termValues(input, genesis.pairs[pair.index]!, genesis.assets[pair.quote]!)
      if (values instanceof Refused) return values
      return send(context, CommandType.SET_PAIR_TERMS, SET_PAIR_TERMS_COMMAND, values, () => pairRecord(state, pair.index))
    })
  },
})

/** The fields of LIST_PAIR. */
function pairValues(input: Static<typeof NewPair>, base: Asset, quote: Asset): Decoded | Refused {
  const { symbol = `${base.symbol}/${quote.symbol}`, category = '' } = input
  const { minOrderSize, maxOrderSize, minNotional, makerFeeBps, takerFeeBps } = input
  if (symbol.length > PAIR_SYMBOL_BYTES) {
    return refusedField('symbol', `symbol must be given: ${symbol} has more than ${PAIR_SYMBOL_BYTES} characters`)
  }
  if (!SPOT_SYMBOL.test(symbol)) return refusedField('symbol', `symbol must be given: ${printable(symbol)} is not of the form BASE/QUOTE`)
  const steps = allOf({ tick: stepOf('tickSize', input.tickSize), lot: stepOf('lotSize', input.lotSize) })
  if (steps instanceof Refused) return steps
  const { tick, lot } = steps
  const terms = allOf({
    minLots: lotsOf('minOrderSize', minOrderSize, lot), maxLots: lotsOf('maxOrderSize', maxOrderSize, lot),
    minNotional: unitsOf('minNotional', minNotional, quote.scale),
    makerPpm: rateOf('makerFeeBps', makerFeeBps), takerPpm: rateOf('takerFeeBps', takerFeeBps),
  })
  if (terms instanceof Refused) return terms
  return {
    base: base.index, quote: quote.index, symbol: hex(symbol), category: hex(category),
    priceScale: tick.scale, tickUnits: tick.units, lotScale: lot.scale, lotUnits: lot.units, ...terms,
  }
}

/** The fields of SET_PAIR_TERMS; what is not given stays. */
function termValues(input: Partial<Static<typeof Terms>>, pair: Pair, quote: Asset): Decoded | Refused {
  const { minOrderSize, maxOrderSize, minNotional, makerFeeBps, takerFeeBps } = input
  const lot = { units: pair.lotUnits, scale: pair.lotScale }
  const terms = allOf({
    minLots: minOrderSize === undefined ? pair.minLots : lotsOf('minOrderSize', minOrderSize, lot),
    maxLots: maxOrderSize === undefined ? pair.maxLots : lotsOf('maxOrderSize', maxOrderSize, lot),
    minNotional: minNotional === undefined ? pair.minNotionalAtoms : unitsOf('minNotional', minNotional, quote.scale),
    makerPpm: makerFeeBps === undefined ? pair.makerPpm : rateOf('makerFeeBps', makerFeeBps),
    takerPpm: takerFeeBps === undefined ? pair.takerPpm : rateOf('takerFeeBps', takerFeeBps),
  })
  return terms instanceof Refused ? terms : { pair: pair.index, ...terms }
}

const assetRecord = ({ id, symbol, token, decimals, scale, faucetAtoms }: Asset) =>
  ({ id, symbol, token, decimals, scale, faucetAmount: formatDecimal(faucetAtoms, scale) })

/** What is listed now: `genesis.assets` and `genesis.pairs` are other lists after each listing and each change of terms. */
function pairRecord(state: State, index: number) {
  const { genesis } = state
  const pair = genesis.pairs[index]!
  const [base, quote] = [genesis.assets[pair.base]!, genesis.assets[pair.quote]!]
  return {
    id: pair.id, symbol: pair.symbol, base: base.symbol, quote: quote.symbol, tickSize: pair.tickSize, lotSize: pair.lotSize,
    minOrderSize: quantityText(pair, pair.minLots), maxOrderSize: quantityText(pair, pair.maxLots),
    minNotional: amountText(quote, pair.minNotionalAtoms), makerFeeBps: pair.makerFeeBps, takerFeeBps: pair.takerFeeBps,
    category: pair.category, status: pairStatus(state, pair),
  }
}
