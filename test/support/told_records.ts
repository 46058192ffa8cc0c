/**
 * Records made again from what export tells people: the inverse of core/replay/meanings.ts, written from the layouts' own words and with
 * nothing of it, so that a meaning that loses or changes something is found. What nobody is told (correlations, reserved words) is left
 * out.
 */
import {
  AgentAction, AgentOrderType, AgentTimeInForce, CLIENT_ORDER_ID_SHIFT, Flag, LimitChange, LimitField, Option, OPTION_MASK, ORIGIN_NAMES,
} from '../../core/layout/command.ts'
import { CONDITION_TYPE_NAMES, CONDITIONAL_REASON_NAMES, CONDITIONAL_STATE_NAMES, LegFlag } from '../../core/layout/conditional.ts'
import { CreditSource, REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { TWAP_REASON_NAMES, TWAP_STATE_NAMES, TwapOption } from '../../core/layout/twap.ts'
import { parseDecimal } from '../../core/lib/decimal.ts'
import type { Genesis, Pair } from '../../core/state/genesis.ts'

export type Told = Readonly<Record<string, unknown>>
/** The value that the raw record has, as export prints it raw. */
type Inverse = (told: Told, genesis: Genesis) => string | number | undefined
export type Inverses = Readonly<Record<string, Inverse>>

const pairOf = (told: Told, { pairs }: Genesis): Pair | undefined => pairs.find(({ symbol }) => symbol === told['pair'])

const index = (name: unknown, symbols: readonly string[], none: number): number =>
  name === undefined ? none : typeof name === 'string' && name.startsWith('#') ? Number(name.slice(1)) : symbols.indexOf(name as string)
const pair: Inverse = (told, { pairs }) => index(told['pair'], pairs.map(({ symbol }) => symbol), -1)
const asset: Inverse = (told, { assets }) => index(told['asset'], assets.map(({ symbol }) => symbol), -1)

const ticks = (name: string): Inverse => (told, genesis) => {
  const found = pairOf(told, genesis)
  if (found === undefined) return undefined
  return told[name] === undefined ? 0 : Number(parseDecimal(told[name] as string, found.priceScale)! / BigInt(found.tickUnits))
}
const lots = (name: string): Inverse => (told, genesis) => {
  const found = pairOf(told, genesis)
  if (found === undefined || told[name] === undefined) return undefined
  return Number(parseDecimal(told[name] as string, found.lotScale)! / BigInt(found.lotUnits))
}
const atoms = (name: string, scaleOf: (told: Told, genesis: Genesis) => number | undefined): Inverse => (told, genesis) => {
  const scale = scaleOf(told, genesis)
  return scale === undefined || told[name] === undefined ? undefined : parseDecimal(told[name] as string, scale)!.toString()
}
const quote = (name: string): Inverse => atoms(name, (told, genesis) => {
  const found = pairOf(told, genesis)
  return found === undefined ? undefined : genesis.assets[found.quote]!.scale
})
const paid = (name: string): Inverse => atoms(name, (told, genesis) => {
  const found = pairOf(told, genesis)
  return found === undefined ? undefined : genesis.assets[told['side'] === 'SELL' ? found.base : found.quote]!.scale
})
const amount = (name: string): Inverse => atoms(name, (told, { assets }) => assets.find(({ symbol }) => symbol === told['asset'])?.scale)

const ms = (name: string): Inverse => (told) => told[name] === undefined ? 0 : Date.parse(told[name] as string)
const whole = (name: string, none = 0): Inverse => (told) => told[name] === undefined ? none : Number(told[name])
const place = (name: string, names: readonly string[]): Inverse => (told) => index(told[name], names, 0)
const valueOf = (name: string, names: Readonly<Record<string, number>>): Inverse => (told) => names[told[name] as string]

/** Row, or sequence, that an id has inside; an id that is not ours is no number. */
function within(name: string, kind: number, part: 'slot' | 'sequence', none: number): Inverse {
  return (told) => {
    const text = told[name] as string | undefined
    if (text === undefined) return none
    if (text.startsWith('#')) return part === 'slot' ? Number(text.slice(1)) : undefined
    const id = parseId(kind, text)
    return id === null ? NaN : id[part]
  }
}
const user = (name = 'userId'): Inverse => within(name, IdKind.USER, 'slot', -1)
/** What is not told is not held against anything. */
const ifTold = (name: string, inverse: Inverse): Inverse => (told, genesis) =>
  told[name] === undefined ? undefined : inverse(told, genesis)

/** Of an order. */
const slot = (name: string): Inverse => ifTold(name, within(name, IdKind.ORDER, 'slot', 0))
const placed = (name: string): Inverse => within(name, IdKind.ORDER, 'sequence', 0)

function bitsOf(text: unknown, names: Readonly<Record<string, number>>): number {
  if (text === undefined) return 0
  return (text as string).split('|').reduce((all, name) => all | (names[name] ?? Number(name)), 0)
}
const bits = (name: string, names: Readonly<Record<string, number>>): Inverse => (told) => bitsOf(told[name], names)

/** All bits but the length of the client order id: see {@link comparable}. */
const flags = (prefix = ''): Inverse => (told) => {
  const at = (name: string): unknown => told[prefix === '' ? name : `${prefix}${name[0]!.toUpperCase()}${name.slice(1)}`]
  const origin = ORIGIN_NAMES.indexOf((at('origin') ?? 'CLIENT') as 'CLIENT') << 21
  return bitsOf(at('flags'), Flag) | origin | (at('side') === 'SELL' ? Flag.SELL : 0) | (at('orderType') === 'MARKET' ? Flag.MARKET : 0)
    | bitsOf(at('timeInForce'), { IOC: Flag.IOC, FOK: Flag.FOK, GTC: 0 })
}
const outcome: Inverse = (told) => STATUS_NAMES.indexOf((told['status'] ?? '') as 'FILLED')
  | (REASON_NAMES.indexOf((told['reason'] ?? '') as 'REPLACED') << 8)
const bytes = (name: string, length: number): Inverse => (told) =>
  Buffer.from((told[name] ?? '') as string).toString('hex').padEnd(length * 2, '0')
const hex = (name: string, length: number): Inverse => (told) => ((told[name] ?? '') as string).replace(/^0x/, '').padEnd(length * 2, '0')
const code: Inverse = (told) => Object.values(REFUSALS).find((known) => known.code === told['refusal'])?.number ?? 0
const yes = (name: string): Inverse => (told) => told[name] as never

/** Lots that are not told when they are 0. */
const lotsIf = (name: string): Inverse => (told, genesis) => (told[name] === undefined ? 0 : lots(name)(told, genesis))
/** Hundredths. */
const leverage: Inverse = (told) => (told['leverage'] === undefined ? 0 : Number(parseDecimal(told['leverage'] as string, 2)))
const sells = (told: Told): number => (told['side'] === 'SELL' ? 1 : 0)
/** Names at their places in lists, 8 bits each. */
const packed = (...parts: readonly [name: string, names: readonly string[]][]): Inverse => (told) =>
  parts.reduce((word, [name, names], part) => word | (names.indexOf(told[name] as string) << (8 * part)), 0)
const twap = (name = 'twapOrderId'): Inverse => within(name, IdKind.TWAP_ORDER, 'slot', 0)
const twapMade = (name = 'twapOrderId'): Inverse => within(name, IdKind.TWAP_ORDER, 'sequence', 0)

/** A take-profit or stop-loss of a command. */
const leg = (field: string, name: string): Inverses => ({
  [`${field}Trigger`]: ticks(`${name}TriggerPrice`), [`${field}Flags`]: bits(`${name}Flags`, LegFlag),
  [`${field}Limit`]: ticks(`${name}LimitPrice`), [`${field}Lots`]: lotsIf(`${name}Quantity`),
  [`${field}SlippageBps`]: whole(`${name}SlippageToleranceBps`), [`${field}ExpiresAt`]: ms(`${name}ExpiresAt`),
})
const LEGS: Inverses = {
  ...leg('profit', 'takeProfit'), ...leg('stop', 'stopLoss'), trailBps: whole('trailingStopBps'),
  trailFlags: bits('trailingStopFlags', LegFlag), trailActivation: ticks('trailingStopActivationPrice'),
  trailLots: lotsIf('trailingStopQuantity'), trailSlippageBps: whole('trailingStopSlippageToleranceBps'),
  trailExpiresAt: ms('trailingStopExpiresAt'),
}
/** What an order of a perpetual has besides. */
const MARGIN: Inverses = {
  collateral: quote('riskBucketCollateral'), namedSequence: whole('namedSequence'), marginAccount: whole('marginAccountRow'),
  bucket: whole('riskBucketRow'), leverage, position: whole('positionRow'),
}

const ORDER: Inverses = {
  code, account: user(), pair, flags: flags(), slot: slot('orderId'), orderSequence: placed('orderId'), price: ticks('price'),
  lots: lots('quantity'), remaining: lots('remainingQuantity'), outcome, trades: whole('tradesCount'),
  filledQuote: quote('filledQuoteQuantity'),
  fee: quote('fee'), bestPrice: ticks('bestPrice'), worstPrice: ticks('worstPrice'),
}
const PLACED: Inverses = {
  ...ORDER, hold: paid('held'), expiresAt: ms('expiresAt'), replacedSequence: placed('replacedOrderId'),
  replacedSlot: slot('replacedOrderId'),
}

export const EVENT_INVERSES: Readonly<Record<string, Inverses>> = {
  FILL: {
    pair, price: ticks('price'), lots: lots('quantity'), quote: quote('quoteQuantity'), index: within('tradeId', IdKind.TRADE, 'slot', NaN),
    sequence: within('tradeId', IdKind.TRADE, 'sequence', NaN), makerAccount: user('makerUserId'), makerSlot: slot('makerOrderId'),
    makerSequence: placed('makerOrderId'), makerRemaining: lots('makerRemainingQuantity'), makerFee: quote('makerFee'),
    takerFee: quote('takerFee'), takerAccount: user('takerUserId'), takerSlot: slot('takerOrderId'),
    takerRemaining: lots('takerRemainingQuantity'), makerLots: lots('makerQuantity'), makerFlags: flags('maker'),
    takerFlags: flags('taker'), makerFilledQuote: quote('makerFilledQuoteQuantity'), makerTotalFee: quote('makerTotalFee'),
    makerCreatedAt: ms('makerCreatedAt'),
  },
  ORDER_ENDED: {
    pair, account: user(), slot: slot('orderId'), orderSequence: placed('orderId'), flags: flags(), price: ticks('price'),
    lots: lots('quantity'), remaining: lots('remainingQuantity'), outcome, filledQuote: quote('filledQuoteQuantity'), fee: quote('fee'),
    released: paid('released'),
    createdAt: ms('createdAt'), counterpartySequence: whole('counterpartySequence'),
  },
  LABEL: {
    account: user(), orderSequence: placed('orderId'), slot: slot('orderId'), label: bytes('clientOrderId', 40),
    length: (told) => (told['clientOrderId'] as string).length,
  },
  CREDIT: {
    account: user(), asset, source: valueOf('source', CreditSource), amount: amount('amount'), available: amount('available'),
    locked: amount('locked'), version: (told) => String(told['balanceVersion']),
  },
  SELF_TRADE: { pair, account: user(), slot: slot('orderId'), orderSequence: placed('orderId') },
  CONDITIONAL: {
    account: user(), createdSequence: within('conditionalOrderId', IdKind.CONDITIONAL_ORDER, 'sequence', NaN),
    what: packed(['conditionType', CONDITION_TYPE_NAMES], ['state', CONDITIONAL_STATE_NAMES], ['reason', CONDITIONAL_REASON_NAMES]),
    pair, flags: (told) => sells(told) | bitsOf(told['flags'], LegFlag), trigger: ticks('triggerPrice'), limit: ticks('limitPrice'),
    lots: lotsIf('quantity'), slippageBps: whole('slippageToleranceBps'), trailBps: whole('trailBps'),
    activation: ticks('activationPrice'), watermark: ticks('watermarkPrice'), expiresAt: ms('expiresAt'), armedAt: ms('armedAt'),
    createdAt: ms('createdAt'), orderSequence: placed('orderId'), orderSlot: slot('orderId'),
    openedSequence: within('positionId', IdKind.POSITION, 'sequence', 0),
    position: ifTold('positionId', within('positionId', IdKind.POSITION, 'slot', 0)), code, ordered: lotsIf('orderedQuantity'),
  },
  TWAP: {
    account: user(), createdSequence: twapMade(), twap: twap(), what: packed(['state', TWAP_STATE_NAMES], ['reason', TWAP_REASON_NAMES]),
    pair, flags: (told) => sells(told) | bitsOf(told['flags'], Flag), lots: lots('quantity'), filled: lots('filledQuantity'),
    slices: whole('plannedSlices'), reached: whole('slicesReached'), placed: whole('slicesPlaced'),
    childSlot: within('childOrderId', IdKind.ORDER, 'slot', -1), code, startAt: ms('startAt'), endAt: ms('endAt'),
    nextAt: ms('nextSliceAt'), filledQuote: quote('filledQuoteQuantity'), fee: quote('fee'),
  },
  TWAP_OPENED: {
    account: user(), createdSequence: twapMade(), twap: twap(), pair, price: ticks('limitPrice'),
    slippageBps: whole('slippageToleranceBps'), options: bits('options', TwapOption), trigger: ticks('triggerPrice'),
    conditionalExpiry: ms('conditionalExpiry'), durationMs: whole('durationMs'), leverage, marginAccount: whole('marginAccountRow', -1),
    bucket: whole('riskBucketRow', -1), namedSequence: whole('namedSequence'), label: bytes('clientTwapId', 40),
    labelLength: (told) => ((told['clientTwapId'] ?? '') as string).length,
  },
  CHILD_ORDER: {
    account: user(), orderSequence: placed('orderId'), slot: slot('orderId'), pair, twap: twap('parentOrderId'),
    twapSequence: twapMade('parentOrderId'),
  },
}

/** By the command that is answered, when it was done. */
export const ANSWER_INVERSES: Readonly<Record<string, Inverses>> = {
  PLACE_ORDER: PLACED,
  REPLACE_ORDER: PLACED,
  ENTER_ORDER: PLACED,
  CANCEL_ORDER: { ...ORDER, released: paid('released'), createdAt: ms('createdAt') },
  CANCEL_ALL: { code, account: user(), ended: whole('ordersEnded'), more: whole('more') },
  OPEN_SESSION: {
    code, account: user(), session: within('sessionId', IdKind.SESSION, 'slot', -1),
    generation: within('sessionId', IdKind.SESSION, 'sequence', 0),
    accountSequence: within('userId', IdKind.USER, 'sequence', 0), expiresAt: ms('expiresAt'), isNew: yes('isNewAccount'),
  },
  SET_SPEND_LIMIT: {
    code, account: user(), limit: within('spendLimitId', IdKind.SPEND_LIMIT, 'slot', 0),
    createdSequence: within('spendLimitId', IdKind.SPEND_LIMIT, 'sequence', 0),
  },
  UPSERT_AGENT: {
    code, agent: within('agentId', IdKind.AGENT, 'slot', 0), createdSequence: within('agentId', IdKind.AGENT, 'sequence', 0),
  },
  CREATE_SUB_ACCOUNT: { code, subAccount: user('subAccountId'), createdSequence: within('subAccountId', IdKind.USER, 'sequence', 0) },
  ATTACH_CONDITIONALS: { code, account: user(), legs: bits('legs', { TAKE_PROFIT: 2, STOP_LOSS: 4, TRAILING_STOP: 8 }) },
  CANCEL_CONDITIONAL: { code, account: user(), pair },
  CREATE_TWAP: {
    code, account: user(), twap: twap(), sequence: twapMade(), slices: whole('plannedSlices'), state: place('state', TWAP_STATE_NAMES),
    firstSliceAt: ms('firstSliceAt'), endAt: ms('endAt'),
  },
  CANCEL_TWAP: { code, account: user(), pair },
}

const session = { session: within('sessionId', IdKind.SESSION, 'slot', -1) }
const keys = { key: hex('idempotencyKeyHash', 16), payload: hex('payloadHash', 16) }

/** What was asked for. */
export const COMMAND_INVERSES: Readonly<Record<string, Inverses>> = {
  PLACE_ORDER: {
    ...session, ...keys, pair, flags: flags(), price: ticks('price'), lots: lots('quantity'), label: bytes('clientOrderId', 40),
    options: bits('options', Option), ...LEGS,
  },
  REPLACE_ORDER: {
    ...session, ...keys, targetSlot: slot('replacedOrderId'), targetSequence: placed('replacedOrderId'), label: bytes('clientOrderId', 40),
    options: bits('options', Option),
    price: ifTold('price', ticks('price')), lots: lots('quantity'),
  },
  ENTER_ORDER: {
    pair, price: ticks('price'), lots: lots('quantity'), account: user(),
    createdSequence: ifTold('userId', within('userId', IdKind.USER, 'sequence', 0)),
    origin: place('origin', ORIGIN_NAMES),
  },
  CANCEL_ORDER: { ...session, targetSlot: slot('orderId'), targetSequence: placed('orderId') },
  EXPIRE_ORDER: { targetSlot: slot('orderId'), targetSequence: placed('orderId') },
  CANCEL_ALL: { ...session, pair, limit: whole('limit') },
  MINT: { ...session, asset },
  TRANSFER: { ...session, ...keys, asset, subAccount: user('subAccountId'), toSub: yes('toSubAccount'), amount: amount('amount') },
  SET_SPEND_LIMIT: {
    ...session, asset, subAccount: user('subAccountId'), change: valueOf('change', LimitChange), fields: bits('fields', LimitField),
    maxAmount: amount('maxAmount'),
  },
  CREATE_SUB_ACCOUNT: { ...session, address: hex('wallet', 20), username: bytes('username', 32), consented: yes('consented') },
  UPSERT_AGENT: {
    ...session, address: hex('agentWallet', 20), name: bytes('name', 32), expiresAt: ms('expiresAt'), maxOpenOrders: whole('maxOpenOrders'),
    maxNotional: (told) => (parseDecimal((told['maxOrderNotional'] ?? '0') as string, 9)!).toString(),
    grants: (told) => (bitsOf(told['allowedActions'], AgentAction) | (bitsOf(told['allowedOrderTypes'], AgentOrderType) << 8)
      | (bitsOf(told['allowedTimeInForce'], AgentTimeInForce) << 16)
      | (bitsOf(told['allowedMarginAccounts'], { NONE: 1, LISTED: 2 }) << 24)) >>> 0,
  },
  OPEN_SESSION: { address: hex('wallet', 20), publicKey: hex('publicKey', 32) },
  LIST_PAIR: { symbol: bytes('pair', 32), category: bytes('category', 16) },
  ATTACH_CONDITIONALS: {
    ...session, position: within('positionId', IdKind.POSITION, 'slot', 0),
    openedSequence: within('positionId', IdKind.POSITION, 'sequence', 0), ...LEGS,
  },
  CANCEL_CONDITIONAL: {
    ...session, leg: within('conditionalOrderId', IdKind.CONDITIONAL_ORDER, 'slot', 0),
    createdSequence: within('conditionalOrderId', IdKind.CONDITIONAL_ORDER, 'sequence', 0),
  },
  EXPIRE_CONDITIONAL: { conditional: whole('conditionalOrderRow'), createdSequence: whole('createdSequence') },
  TRIGGER_STEP: { pair },
  CREATE_TWAP: {
    ...session, pair, flags: (told) => sells(told) | bitsOf(told['flags'], Flag), price: ticks('limitPrice'), lots: lots('quantity'),
    slippageBps: whole('slippageToleranceBps'), options: bits('options', TwapOption), trigger: ticks('triggerPrice'),
    startAt: ms('startAt'), endAt: ms('endAt'), conditionalExpiry: ms('conditionalExpiry'), seed: (told) => told['seed'] as string,
    durationMs: whole('durationMs'), labelLength: (told) => ((told['clientTwapId'] ?? '') as string).length,
    label: bytes('clientTwapId', 40), ...MARGIN,
  },
  CANCEL_TWAP: { ...session, twap: twap(), createdSequence: twapMade() },
  TWAP_STEP: { twap: twap(), createdSequence: twapMade() },
  SET_MAINTENANCE: { on: yes('maintenance') },
  SET_FEE_TIER: { tier: whole('tier') },
}

const FLAGS = ['flags', 'makerFlags', 'takerFlags']
/** Commands of layout 1 had their options among the flags. */
const FREE_FLAGS = 2 ** CLIENT_ORDER_ID_SHIFT - 1

const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
const TEXTS = ['label', 'username', 'name', 'symbol', 'category']
/** A text is what stands before the first zero. */
const textOf = (hex: string): string => hex.replace(/^((?:..)*?)00.*$/, '$1').padEnd(hex.length, '0')

/** What of a raw record is not what was told of it: `field: raw, told`. A field that was not told, or is not there, is left out. */
export function differences(inverses: Inverses, told: Told, raw: Told, genesis: Genesis, isFirstLayout = false): string[] {
  return Object.entries(inverses).flatMap(([field, inverse]) => {
    const [was, again] = [raw[field], inverse(told, genesis)]
    if (was === undefined || again === undefined) return []
    if (typeof again === 'boolean') return again === (was !== 0) ? [] : [`${field}: ${String(was)}, told ${String(again)}`]
    // RFC 3339 has no time before its era, none behind the year 9999.
    if (field === 'expiresAt') return again === Math.min(Math.max(Math.floor(was as number), 0), LATEST) ? [] : [`${field}: ${String(was)}`]
    if (TEXTS.includes(field)) return String(again) === textOf(String(was)) ? [] : [`${field}: ${String(was)}, told ${String(again)}`]
    const optionBits = isFirstLayout ? OPTION_MASK : 0
    const expected = FLAGS.includes(field) ? (was as number) & FREE_FLAGS & ~optionBits : was
    return expected === again ? [] : [`${field}: ${String(expected)}, told ${String(again)}`]
  })
}
