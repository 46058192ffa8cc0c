/**
 * What a caller may ask for of a TWAP order, and its terms as numbers. (Specification, TWAP order.)
 *
 * Here is what a request can be told by itself, by the name of the field. Whether the window is one, and what there is room for, the engine
 * decides. The schedule is a function of 64 random bits, which are drawn here.
 */
import { randomBytes } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Flag } from '../../core/layout/command.ts'
import { TWAP_DURATION_MAX, TWAP_LABEL_BYTES, TwapOption } from '../../core/layout/twap.ts'
import type { Pair } from '../../core/state/genesis.ts'
import type { TwapTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { parseDateTime } from './date_time.ts'
import * as fields from './fields.ts'
import { lotsIn, tickOf } from './leg_terms.ts'
import { pairOf } from './lookup.ts'
import { Decimal, Timestamp } from './operation.ts'
import { checkTradingMode, takeMargin } from './order_margin.ts'
import { MarginMode, Side, TradingMode } from './order_words.ts'
import { field, record } from './schema.ts'

export const ExecutionStyle = record(
  'ExecutionStyle', 'MARKET: slices take what is there. PASSIVE: they rest at the best price of their own side until the next one, and '
    + 'take nothing.',
  Type.Union([Type.Literal('MARKET'), Type.Literal('PASSIVE')]),
)
export const TriggerDirection = record(
  'TriggerDirection', 'ABOVE: at the price or above; BELOW: at it or below.', Type.Union([Type.Literal('ABOVE'), Type.Literal('BELOW')]),
)

const SECOND = 1000
const CLIENT_TWAP_ID = new RegExp(`^[\\x20-\\x7e]{1,${TWAP_LABEL_BYTES}}$`)

export const TwapBody = Type.Object({
  tradingPairId: fields.pairName,
  side: field(Side, 'BUY or SELL.'),
  quantity: field(Decimal, 'Of all slices together, in units of the base token; a positive multiple of lotSize.'),
  durationSeconds: Type.Optional(field(
    Type.Integer({ minimum: 1, maximum: TWAP_DURATION_MAX / SECOND }),
    'From its start to its end, at most 7 days. This or endTime is needed.',
  )),
  startTime: Type.Optional(field(Timestamp, 'When its window begins; absent, or in the past: at once.')),
  endTime: Type.Optional(field(Timestamp, 'When its window ends. This or durationSeconds is needed.')),
  limitPrice: Type.Optional(field(Decimal, 'No slice trades beyond this price; a multiple of tickSize.')),
  slippageToleranceBps: Type.Optional(field(
    Type.Integer({ minimum: 0, maximum: 1000 }),
    'How far from the best price a slice may trade, in basis points, 0 to 1000; not for PASSIVE.',
  )),
  randomize: Type.Optional(field(Type.Boolean(), 'Sizes and times of slices vary by a fifth. Default: true.')),
  reduceOnly: Type.Optional(field(Type.Boolean(), 'Margin orders: slices only make the position smaller.')),
  tradingMode: Type.Optional(field(TradingMode, 'MARGIN on a perpetual, which needs it; SPOT (default) on any other pair.')),
  marginAccountId: Type.Optional(field(Type.String(), 'Margin orders: margin account it trades for; absent: the parent.')),
  riskBucketId: Type.Optional(field(Type.String(), 'Margin orders: risk bucket it trades in.')),
  marginMode: Type.Optional(field(MarginMode, 'Margin orders: ISOLATED (default) or CROSS.')),
  leverage: Type.Optional(field(Decimal, 'Margin orders: needed unless reduceOnly, at most 2 digits behind the point.')),
  strategyKey: Type.Optional(field(
    Type.String(), 'Margin orders: name of your own for a risk bucket, 1 to 48 printable ASCII characters.',
    { minLength: 1, maxLength: 48 },
  )),
  useMasterBalance: Type.Optional(
    field(Type.Boolean(), 'Spend and earn on the balance of the master account, inside its limits; only a sub-account can.'),
  ),
  clientTwapId: Type.Optional(field(
    Type.String(), 'Name of your own, 1 to 40 printable ASCII characters; one TWAP order of yours that is not over may hold it.',
    { minLength: 1, maxLength: TWAP_LABEL_BYTES },
  )),
  executionStyle: Type.Optional(field(ExecutionStyle, 'MARKET (default) or PASSIVE.')),
  triggerPrice: Type.Optional(field(
    Decimal, 'It waits until the price is there: the mark price of a perpetual; the last trade of any other pair, within the average '
      + 'prices at which 100 times minNotional can be sold and bought, so a book that is too thin has none. A multiple of tickSize.',
  )),
  triggerDirection: Type.Optional(field(TriggerDirection, 'With triggerPrice: from which side.')),
  conditionalExpiry: Type.Optional(field(Timestamp, 'With triggerPrice: until when it waits for it.')),
})
export type TwapBody = Static<typeof TwapBody>

/** The terms of a TWAP order of `account`, or which field is wrong. */
export function twapTerms(gateway: Gateway, account: number, body: TwapBody): TwapTerms | Refused {
  const pair = pairOf(gateway, body.tradingPairId)
  if (pair instanceof Refused) return pair
  const terms: TwapTerms = {
    pair: pair.index, flags: body.side === 'SELL' ? Flag.SELL : 0, options: 0, price: 0, lots: 0, slippageBps: 0, trigger: 0, startAt: 0,
    endAt: 0, durationMs: 0, conditionalExpiry: 0, seed: randomBytes(8).readBigInt64LE(), label: '', margin: null,
  }
  return checkTradingMode(pair, body) ?? takeStyle(body, terms) ?? takeNumbers(gateway, body, pair, terms) ??
    takeWindow(body, terms) ?? takeTrigger(gateway, body, pair, terms) ?? takeLabel(body, terms) ??
    takeFunding(gateway, account, body, pair, terms) ?? terms
}

function takeStyle(body: TwapBody, terms: TwapTerms): Refused | null {
  if (body.randomize !== false) terms.options |= TwapOption.RANDOMIZE
  const { slippageToleranceBps } = body
  if (body.executionStyle === 'PASSIVE') {
    terms.options |= TwapOption.PASSIVE
    return slippageToleranceBps === undefined ? null
      : refusedField('slippageToleranceBps', 'PASSIVE slices take nothing, so they carry no slippageToleranceBps')
  }
  if (slippageToleranceBps === undefined) return null
  terms.flags |= Flag.SLIPPAGE
  terms.slippageBps = slippageToleranceBps
  return null
}

function takeNumbers(gateway: Gateway, body: TwapBody, pair: Pair, terms: TwapTerms): Refused | null {
  const lots = lotsIn('quantity', body.quantity, pair)
  if (lots instanceof Refused) return lots
  terms.lots = lots
  const price = body.limitPrice === undefined ? 0 : tickOf(gateway, 'limitPrice', body.limitPrice, pair)
  if (price instanceof Refused) return price
  terms.price = price
  return null
}

/** Unix ms of a time that was given, 0 of none; or the refusal of what is no time. */
function timeIn(name: 'startTime' | 'endTime' | 'conditionalExpiry', text: string | undefined): number | Refused {
  const at = text === undefined ? 0 : parseDateTime(text)
  return Number.isNaN(at) || at < 0 ? refusedField(name, `${name} must be an RFC 3339 date-time`) : at
}

function takeWindow(body: TwapBody, terms: TwapTerms): Refused | null {
  const { durationSeconds, endTime } = body
  if (durationSeconds === undefined && endTime === undefined) return refusedField('durationSeconds', 'durationSeconds or endTime is needed')
  if (durationSeconds !== undefined && endTime !== undefined) {
    return refusedField('endTime', 'durationSeconds and endTime exclude each other')
  }
  const start = timeIn('startTime', body.startTime)
  if (start instanceof Refused) return start
  const end = timeIn('endTime', endTime)
  if (end instanceof Refused) return end
  terms.startAt = start
  terms.endAt = end
  terms.durationMs = (durationSeconds ?? 0) * SECOND
  return null
}

function takeTrigger(gateway: Gateway, body: TwapBody, pair: Pair, terms: TwapTerms): Refused | null {
  const { triggerPrice, triggerDirection, conditionalExpiry } = body
  if (triggerPrice === undefined) {
    if (triggerDirection !== undefined) return refusedField('triggerDirection', 'triggerDirection needs a triggerPrice')
    return conditionalExpiry === undefined ? null : refusedField('conditionalExpiry', 'conditionalExpiry needs a triggerPrice')
  }
  const trigger = tickOf(gateway, 'triggerPrice', triggerPrice, pair)
  if (trigger instanceof Refused) return trigger
  if (triggerDirection === undefined) return refusedField('triggerDirection', 'triggerPrice needs a triggerDirection')
  const until = timeIn('conditionalExpiry', conditionalExpiry)
  if (until instanceof Refused) return until
  if (conditionalExpiry !== undefined && until <= gateway.time()) {
    return refusedField('conditionalExpiry', 'conditionalExpiry is not in the future', 'INVALID_EXPIRATION')
  }
  if (triggerDirection === 'ABOVE') terms.options |= TwapOption.ABOVE
  terms.trigger = trigger
  terms.conditionalExpiry = until
  return null
}

function takeLabel({ clientTwapId }: TwapBody, terms: TwapTerms): Refused | null {
  if (clientTwapId === undefined) return null
  if (!CLIENT_TWAP_ID.test(clientTwapId)) {
    return refusedField('clientTwapId', `clientTwapId must be 1 to ${TWAP_LABEL_BYTES} printable ASCII characters`)
  }
  terms.label = clientTwapId
  return null
}

/** What pays for its slices. */
function takeFunding(gateway: Gateway, account: number, body: TwapBody, pair: Pair, terms: TwapTerms): Refused | null {
  if (pair.perp !== null) return takeMargin(gateway, account, body, pair, terms)
  if (body.useMasterBalance === true) terms.flags |= Flag.MASTER_FUNDED
  return null
}
