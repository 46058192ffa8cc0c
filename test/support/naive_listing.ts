/** Listing by the operator in the naive exchange: new assets, new pairs, other terms, as plain values. See naive.ts. */
import type { Asset, Genesis, Pair } from '../../core/state/genesis.ts'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'

/** Commands of the first lane only that this file answers. */
export const LISTING_COMMANDS: ReadonlySet<CommandType> =
  new Set([
    CommandType.LIST_ASSET, CommandType.LIST_PAIR, CommandType.SET_PAIR_TERMS, CommandType.RAISE_LIMIT, CommandType.LIMITS_IN_FORCE,
  ])

/** What is remembered of it. */
export class Listed {
  /** Maker rates of a pair whose terms were changed, since they were on an empty book. */
  readonly makerRates = new Map<number, number[]>()
  /** Limits of the next start, by name. */
  readonly raised = new Map<string, number>()
}

/** A genesis whose lists and limits the operator may change. */
export const ownGenesis = (genesis: Genesis): Genesis => ({
  ...genesis, limits: { ...genesis.limits }, assets: genesis.assets.map((each) => ({ ...each })),
  pairs: genesis.pairs.map((each) => ({ ...each })),
})

const MOST_ISSUED = 4_600_000_000_000_000_000n
const MOST = 2_147_483_647

/** What is wrong with terms, by number; the words are in core/state/pair_terms.ts. */
const FAULT = {
  SAME: 1, POSITIVE: 2, SIZES: 3, ORDER: 4, LOT: 5, ISSUED: 6, WHOLE: 7, BOUNDS: 8, NOTIONAL: 9, TAKER: 10, REBATE: 11, TAKER_DISCOUNT: 12,
  DISCOUNTS: 13, BEYOND: 14, DECIMALS: 15, FAUCET: 16, RESTING: 17,
} as const

/** Visible ASCII and then zeros, or `null`. */
function textOf(field: unknown): string | null {
  return /^[\x21-\x7e]+\0*$/.exec(Buffer.from(String(field), 'hex').toString('latin1'))?.[0].replace(/\0+$/, '') ?? null
}

/** LIST_ASSET, LIST_PAIR and SET_PAIR_TERMS; false: it is another command. */
export function list(exchange: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (!LISTING_COMMANDS.has(type as CommandType)) return false
  if (kind >>> 16 !== 0) exchange.refuse(command, CODE.OPERATOR_ONLY, -1)
  else if (type === CommandType.LIST_ASSET) listAsset(exchange, command)
  else if (type === CommandType.LIST_PAIR) listPair(exchange, command)
  else if (type === CommandType.SET_PAIR_TERMS) setTerms(exchange, command)
  else if (type === CommandType.RAISE_LIMIT) raiseLimit(exchange, command)
  else limitsInForce(exchange, command)
  return true
}

function listAsset(exchange: NaiveExchange, command: Decoded): void {
  const { assets, limits } = exchange.genesis
  const [decimals, scale, faucetAtoms] = [Number(command['decimals']), Number(command['scale']), command['faucet'] as bigint]
  const symbol = textOf(command['symbol'])
  const token = `0x${String(command['token'])}`
  const refuse = (code: number, fault = 0): void => exchange.refuse(command, code, -1, fault)
  if (symbol === null) return refuse(CODE.VALIDATION_ERROR)
  if (decimals < 0 || decimals > 18 || scale < 0 || scale > decimals) return refuse(CODE.LISTING_TERMS, FAULT.DECIMALS)
  if (faucetAtoms < 0n || faucetAtoms > MOST_ISSUED) return refuse(CODE.LISTING_TERMS, FAULT.FAUCET)
  const taken = assets.some((asset) => asset.symbol.toLowerCase() === symbol.toLowerCase() || asset.token.toLowerCase() === token)
  if (taken) return refuse(CODE.SYMBOL_IN_USE)
  if (assets.length === limits.assets) return refuse(CODE.TOO_MANY_ASSETS)
  const index = assets.length
  assets.push({ index, id: '', symbol, token, decimals, scale, faucetAtoms, iconUrl: null } satisfies Asset)
  for (const { total, version, rewards } of exchange.accounts) {
    total.push(0n)
    version.push(0n)
    rewards.push(0n)
  }
  exchange.fees.push(0n)
  exchange.issued.push(0n)
  exchange.result(command, { account: -1, detail: index })
}

/** `value` × 10^-scale, in units of 10^-18 × 10^-18. */
const exact = (value: bigint, scale: number): bigint => value * 10n ** BigInt(36 - scale)

type Numbers = Pick<
  Pair, 'base' | 'quote' | 'priceScale' | 'tickUnits' | 'lotScale' | 'lotUnits' | 'minLots' | 'maxLots' | 'minNotionalAtoms' | 'makerPpm' |
  'takerPpm'
>

/** The first thing that is wrong with the terms; 0: nothing. */
function faultOf({ genesis }: NaiveExchange, terms: Numbers): number {
  const { base, quote, priceScale, tickUnits, lotScale, lotUnits, minLots, maxLots, makerPpm, takerPpm } = terms
  if (base === quote) return FAULT.SAME
  if (tickUnits < 1 || lotUnits < 1 || priceScale < 0 || priceScale > 18 || lotScale < 0 || lotScale > 18) return FAULT.POSITIVE
  const lot = exact(BigInt(lotUnits), lotScale)
  const baseAtom = exact(1n, genesis.assets[base]!.scale)
  if (lot % baseAtom !== 0n) return FAULT.LOT
  if (minLots < 1 || maxLots > MOST) return FAULT.SIZES
  if (minLots > maxLots) return FAULT.ORDER
  if (BigInt(maxLots) * (lot / baseAtom) > MOST_ISSUED) return FAULT.ISSUED
  const step = exact(BigInt(tickUnits) * BigInt(lotUnits), priceScale + lotScale)
  const quoteAtom = exact(1n, genesis.assets[quote]!.scale)
  if (step % quoteAtom !== 0n) return FAULT.WHOLE
  if (step / quoteAtom < 1n || step / quoteAtom > BigInt(MOST)) return FAULT.BOUNDS
  if (terms.minNotionalAtoms < 0n) return FAULT.NOTIONAL
  if (Math.abs(makerPpm) > 20_000 || Math.abs(takerPpm) > 20_000) return FAULT.BEYOND
  if (takerPpm < 0) return FAULT.TAKER
  if (makerPpm + takerPpm < 0) return FAULT.REBATE
  const { tiers } = genesis.feeTiers
  if (tiers.some(({ takerDiscountPpm }) => takerDiscountPpm > takerPpm)) return FAULT.TAKER_DISCOUNT
  return loses(meetings(tiers), makerPpm, takerPpm) ? FAULT.DISCOUNTS : 0
}

type Tiers = NaiveExchange['genesis']['feeTiers']['tiers']
const meetings = (tiers: Tiers): [maker: number, taker: number][] =>
  tiers.flatMap((maker) => tiers.map((taker): [number, number] => [maker.makerDiscountPpm, taker.takerDiscountPpm]))
/** Some maker earns more than some taker pays. */
const loses = (met: [number, number][], makerPpm: number, takerPpm: number): boolean =>
  met.some(([maker, taker]) => makerPpm - maker + takerPpm - taker < 0)

function listPair(exchange: NaiveExchange, command: Decoded): void {
  const { assets, pairs, limits } = exchange.genesis
  const number = (name: string): number => Number(command[name])
  const refuse = (code: number, fault = 0): void => exchange.refuse(command, code, -1, fault)
  const symbol = textOf(command['symbol'])
  const category = /^0+$/.test(String(command['category'])) ? '' : textOf(command['category'])
  if (symbol === null || category === null) return refuse(CODE.VALIDATION_ERROR)
  const terms: Numbers = {
    base: number('base'), quote: number('quote'), priceScale: number('priceScale'), tickUnits: number('tickUnits'),
    lotScale: number('lotScale'), lotUnits: number('lotUnits'), minLots: number('minLots'), maxLots: number('maxLots'),
    minNotionalAtoms: command['minNotional'] as bigint, makerPpm: number('makerPpm'), takerPpm: number('takerPpm'),
  }
  if (assets[terms.base] === undefined || assets[terms.quote] === undefined) return refuse(CODE.NOT_FOUND)
  const fault = faultOf(exchange, terms)
  if (fault !== 0) return refuse(CODE.LISTING_TERMS, fault)
  if (pairs.some((pair) => pair.symbol.toLowerCase() === symbol.toLowerCase())) return refuse(CODE.SYMBOL_IN_USE)
  if (pairs.length === limits.pairs) return refuse(CODE.TOO_MANY_PAIRS)
  const index = pairs.length
  const lotAtoms = exact(BigInt(terms.lotUnits), terms.lotScale) / exact(1n, assets[terms.base]!.scale)
  const step = exact(BigInt(terms.tickUnits) * BigInt(terms.lotUnits), terms.priceScale + terms.lotScale)
  pairs.push({
    ...terms, index, symbol, id: '', marketType: 'SPOT',
    perp: null, category, tickSize: '', lotSize: '', makerFeeBps: '', takerFeeBps: '',
    lotAtoms, tickLotAtoms: step / exact(1n, assets[terms.quote]!.scale),
  })
  exchange.books.push([])
  exchange.statuses.push('CANCEL_ONLY')
  exchange.result(command, { account: -1, pair: index, detail: index })
}

function setTerms(exchange: NaiveExchange, command: Decoded): void {
  const pair = Number(command['pair'])
  const known = exchange.genesis.pairs[pair]
  const refuse = (code: number, fault = 0): void => exchange.refuse(command, code, -1, fault)
  if (known === undefined) return refuse(CODE.NOT_FOUND)
  const changed = {
    minLots: Number(command['minLots']), maxLots: Number(command['maxLots']), minNotionalAtoms: command['minNotional'] as bigint,
    makerPpm: Number(command['makerPpm']), takerPpm: Number(command['takerPpm']),
  }
  const fault = faultOf(exchange, { ...known, ...changed })
  if (fault !== 0) return refuse(CODE.LISTING_TERMS, fault)
  const before = exchange.listed.makerRates.get(pair) ?? [known.makerPpm]
  const rests = exchange.books[pair]!.length > 0
  const met = meetings(exchange.genesis.feeTiers.tiers)
  if (rests && before.some((ppm) => loses(met, ppm, changed.takerPpm))) return refuse(CODE.LISTING_TERMS, FAULT.RESTING)
  exchange.listed.makerRates.set(pair, rests ? [...before, changed.makerPpm] : [changed.makerPpm])
  Object.assign(known, changed)
  exchange.result(command, { account: -1, pair, detail: pair })
}

/** Names and most of the limits by number, written out: they are a promise. */
const LIMITS = [
  ['accounts', 16_777_216], ['sessions', 16_777_216], ['orders', 16_777_216], ['openOrdersPerAccount', 16_777_216],
  ['sessionsPerAccount', 16_777_216], ['subAccountsPerMaster', 1000], ['spendLimits', 16_777_216], ['agents', 16_777_216],
  ['agentsPerAccount', 1000], ['applications', 1024], ['pairs', 256], ['assets', 256],
  ['receipts', 134_217_728],
] as const

function raiseLimit(exchange: NaiveExchange, command: Decoded): void {
  const named = LIMITS[Number(command['limit'])]
  const value = Number(command['value'])
  if (named === undefined || !Number.isInteger(value)) return exchange.refuse(command, CODE.VALIDATION_ERROR, -1)
  const [name, most] = named
  const before = exchange.listed.raised.get(name) ?? exchange.genesis.limits[name]
  if (value <= before) return exchange.refuse(command, CODE.LIMIT_NOT_RAISED, -1)
  // The workload asks for what there is memory for, or far more.
  if (value > most) return exchange.refuse(command, CODE.LIMIT_TOO_LARGE, -1)
  exchange.listed.raised.set(name, value)
  exchange.result(command, { account: -1, detail: Number(command['limit']), detail2: before })
}

function limitsInForce(exchange: NaiveExchange, command: Decoded): void {
  const { limits } = exchange.genesis
  const changed = [...exchange.listed.raised].filter(([name, value]) => limits[name as keyof typeof limits] !== value)
  if (changed.length === 0) return exchange.refuse(command, CODE.LIMIT_NOT_RAISED, -1)
  Object.assign(limits, Object.fromEntries(changed))
  exchange.result(command, { account: -1, detail: changed.length })
}
