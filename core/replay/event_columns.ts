/** Columns of events, for people: a meaning for every field (meanings.ts). Sequence and time stand before all of them. */
import { IdKind } from '../layout/ids.ts'
import {
  CREDIT, CreditSource, EventType, FILL, LABEL, ORDER_ENDED, SELF_TRADE,
} from '../layout/event.ts'
import { BUILDER_EVENT_COLUMNS } from './builder_columns.ts'
import { REFERRAL_EVENT_COLUMNS } from './referral_columns.ts'
import { MARGIN_EVENT_COLUMNS } from './margin_columns.ts'
import {
  amount, asset, columnsOf, hidden, madeId, named, order, orderFlags, outcome, pair, paid, price, quantity, quote, text, time, user,
  whole, type Column,
} from './meanings.ts'
import { COPY_EVENT_COLUMNS } from './copy_columns.ts'
import { VAULT_EVENT_COLUMNS } from './vault_columns.ts'
import { WAITING_EVENT_COLUMNS } from './waiting_columns.ts'

/** The RESULT's are those of its command (answer_columns.ts). */
export const EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.FILL]: columnsOf(FILL, {
    kind: hidden,
    pair,
    sequence: hidden,
    time: hidden,
    price: price(),
    lots: quantity('quantity'),
    quote: quote('quoteQuantity'),
    index: madeId('tradeId', IdKind.TRADE, 'sequence'),
    makerAccount: user('makerUserId'),
    makerSlot: order('makerOrderId', 'makerSequence'),
    makerRemaining: quantity('makerRemainingQuantity'),
    makerSequence: hidden,
    makerFee: quote('makerFee'),
    takerFee: quote('takerFee'),
    takerAccount: user('takerUserId'),
    takerSlot: order('takerOrderId', 'sequence'),
    takerRemaining: quantity('takerRemainingQuantity'),
    makerLots: quantity('makerQuantity'),
    makerFlags: orderFlags('maker'),
    takerFlags: orderFlags('taker'),
    makerFilledQuote: quote('makerFilledQuoteQuantity'),
    makerTotalFee: quote('makerTotalFee'),
    makerCreatedAt: time(),
  }),
  [EventType.ORDER_ENDED]: columnsOf(ORDER_ENDED, {
    kind: hidden,
    pair,
    sequence: hidden,
    time: hidden,
    account: user(),
    slot: order('orderId', 'orderSequence'),
    orderSequence: hidden,
    flags: orderFlags(),
    price: price(),
    lots: quantity('quantity'),
    remaining: quantity('remainingQuantity'),
    outcome,
    correlation: hidden,
    filledQuote: quote('filledQuoteQuantity'),
    fee: quote('fee'),
    released: paid('released'),
    createdAt: time(),
    // The order that this command places, in whatever slot: who placed it says its own row.
    counterpartySequence: whole('counterpartySequence', 0),
  }),
  [EventType.LABEL]: columnsOf(LABEL, {
    kind: hidden,
    account: user(),
    orderSequence: hidden,
    slot: order('orderId', 'orderSequence'),
    length: hidden,
    label: text('clientOrderId'),
  }),
  [EventType.CREDIT]: columnsOf(CREDIT, {
    kind: hidden,
    account: user(),
    sequence: hidden,
    time: hidden,
    asset: asset(),
    source: named(CreditSource),
    amount: amount(),
    available: amount(),
    locked: amount(),
    version: whole('balanceVersion'),
  }),
  [EventType.SELF_TRADE]: columnsOf(SELF_TRADE, {
    kind: hidden,
    pair,
    sequence: hidden,
    time: hidden,
    account: user(),
    slot: order('orderId', 'orderSequence'),
    orderSequence: hidden,
  }),
  ...MARGIN_EVENT_COLUMNS,
  ...WAITING_EVENT_COLUMNS,
  ...BUILDER_EVENT_COLUMNS,
  ...COPY_EVENT_COLUMNS,
  ...REFERRAL_EVENT_COLUMNS,
  ...VAULT_EVENT_COLUMNS,
}
