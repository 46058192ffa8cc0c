/**
 * Trades, newest first: everybody's without who made them, and the caller's own with his side of each. From the history.
 *
 * A filter that names something unknown matches nothing: the answer is an empty list, as for any other value without matches.
 */
import Type, { type Static } from 'typebox'
import type { HistoryTrade } from '../../core/history/answer/queries.ts'
import { IdKind, orderId, parseId, tradeId } from '../../core/layout/ids.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { amountText, priceText, quantityText, rawText } from './amounts.ts'
import { pairFilter, TimeRange, UNKNOWN } from './history_filters.ts'
import { listHistory } from './history_listing.ts'
import { answerListing, ListingOutput, ListingQuery, PAGES, readListing } from './listing.ts'
import { Decimal, Nullable, operation, rfc3339, Timestamp, Uuid, type Call } from './operation.ts'
import { Side } from './order_words.ts'
import * as sample from './example_values.ts'
import { HISTORY } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { settlementOf, SettlementProof, SettlementStatus, tradeSettlement } from './settlement.ts'

const PUBLIC = {
  id: fields.id,
  tradingPairId: fields.tradingPairId,
  price: field(Decimal, 'Units of the quote token for one of the base token; a positive multiple of tickSize.'),
  quantity: fields.quantity,
  quoteQuantity: field(Decimal, 'Price times quantity, in units of the quote token.'),
  makerSide: field(Side, 'Side of the order that rested.'),
  executedAt: field(Timestamp, 'When it was matched.'),
  settlementStatus: field(SettlementStatus, 'How far settlement on the chain has come.'),
}
/** A trade as everybody sees it: nothing of it tells who traded. */
export const TradeRecord = record('Trade', 'A trade as everybody sees it: nothing of it tells who traded.', Type.Object(PUBLIC))
export type TradeRecord = Static<typeof TradeRecord>

export const Role = Type.Union([Type.Literal('maker'), Type.Literal('taker')])
export type Role = Static<typeof Role>

export const AccountTradeRecord = record('AccountTrade', 'A trade with the side of the caller.', Type.Object({
  ...PUBLIC,
  orderId: fields.orderId,
  side: field(Side, 'BUY or SELL.'),
  role: field(Role, 'maker: your order rested; taker: it came and took.'),
  /** Quote units; negative is a rebate. */
  fee: field(Decimal, 'In units of the quote token: positive paid, negative earned.'),
  /** Smallest units of the token. */
  feeRaw: field(Type.String(), 'The fee in smallest units of the token.'),
  applicationFee: field(Decimal, 'What the application of the order charged besides, in units of the quote token.'),
  /** Symbol of the asset the fee is in. */
  feeToken: field(Type.String(), 'Symbol of the asset the fees are in.'),
  settlement: Type.Optional(field(
    Nullable(SettlementProof), 'With `proof`: what proves that it is in its batch; null while it waits for one. Its leaf names both sides.',
  )),
}))
export type AccountTradeRecord = Static<typeof AccountTradeRecord>

/** What everybody may know of a trade: a fill has it, wherever it comes from. */
export type PublicTrade = Pick<HistoryTrade, 'pair' | 'sequence' | 'index' | 'price' | 'lots' | 'quote' | 'makerSells' | 'time'>

export function tradeRecord(gateway: Gateway, trade: PublicTrade): TradeRecord {
  const pair = gateway.genesis.pairs[trade.pair]!
  return {
    id: tradeId(trade.sequence, trade.index),
    tradingPairId: pair.id,
    price: priceText(pair, trade.price),
    quantity: quantityText(pair, trade.lots),
    quoteQuantity: amountText(gateway.genesis.assets[pair.quote]!, trade.quote),
    makerSide: trade.makerSells ? 'SELL' : 'BUY',
    executedAt: rfc3339(trade.time),
    settlementStatus: settlementOf(gateway.state, trade.sequence),
  }
}

/** The trade from the side of `account`, which is its maker or its taker: nobody trades with himself. */
function accountTradeRecord(gateway: Gateway, trade: HistoryTrade, account: number): AccountTradeRecord {
  const quote = gateway.genesis.assets[gateway.genesis.pairs[trade.pair]!.quote]!
  const maker = trade.makerAccount === account
  const fee = maker ? trade.makerFee : trade.takerFee
  return {
    ...tradeRecord(gateway, trade),
    orderId: maker ? orderId(trade.makerSequence, trade.makerSlot) : orderId(trade.sequence, trade.takerSlot),
    side: trade.makerSells === maker ? 'SELL' : 'BUY',
    role: maker ? 'maker' : 'taker',
    fee: amountText(quote, fee),
    feeRaw: rawText(quote, fee),
    applicationFee: amountText(quote, trade.applicationFee ?? 0n),
    feeToken: quote.symbol,
  }
}

const exampleAccountTrade = {
  ...sample.trade, orderId: sample.SUCCESSOR, side: 'BUY' as const, role: 'taker' as const, fee: '1.5', feeRaw: '1500000',
  applicationFee: '0', feeToken: 'USDC',
}

export const ListTrades = operation({
  service: 'TradesService', method: 'GET', path: '/api/v1/trades',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Trades of everybody',
  description: `Trades, newest first, without who made them. ${PAGES}`,
  answer: 'A page of trades.',
  refusals: HISTORY,
  query: Type.Object({ ...ListingQuery, tradingPairId: Type.Optional(fields.pairName), ...TimeRange }),
  output: Type.Object({ trades: field(Type.Array(TradeRecord), 'Newest first.'), ...ListingOutput }),
  example: { input: { tradingPairId: sample.PAIR, page: 1, pageSize: 20 }, output: { trades: [sample.trade], ...sample.page } },
  run: (gateway, call, input) =>
    listHistory(gateway, call, 'ListTrades', input, 'trades', { pair: pairFilter(gateway, input.tradingPairId) }, (rows, fields) =>
      call.answer({ trades: rows.map((trade) => tradeRecord(gateway, trade)), ...fields }),
    ),
})

export const GetTrade = operation({
  service: 'TradesService', method: 'GET', path: '/api/v1/trades/{tradeId}',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'One trade',
  description: 'A trade as everybody sees it.',
  answer: 'The trade.',
  refusals: ['NOT_FOUND', ...HISTORY],
  params: Type.Object({ tradeId: field(Uuid, 'Trade.') }),
  output: TradeRecord,
  example: { input: { tradeId: sample.TRADE }, output: sample.trade },
  run: (gateway, call, input) => {
    const missing = new Refused('NOT_FOUND', 'Trade not found')
    const id = parseId(IdKind.TRADE, input.tradeId)
    if (id === null) return call.refuse(missing)
    askHistory(gateway.history, 'trade', { sequence: id.sequence, index: id.slot }, (trade) => {
      if (trade instanceof Refused) call.refuse(trade)
      else if (trade === null) call.refuse(missing)
      else call.answer(tradeRecord(gateway, trade))
    })
  },
})

/** Sequence of the order an id names. */
const orderSequence = (id: string | undefined): number | undefined =>
  id === undefined ? undefined : (parseId(IdKind.ORDER, id)?.sequence ?? UNKNOWN)

const AccountTradesQuery = Type.Object({
  ...ListingQuery, tradingPairId: Type.Optional(fields.pairName),
  side: Type.Optional(field(Side, 'BUY or SELL.')), orderId: Type.Optional(fields.orderId), ...TimeRange,
  tradeId: Type.Optional(field(Uuid, 'Only this trade. It goes with `proof` and with no other filter.')),
  proof: Type.Optional(field(Type.Boolean(), 'With `tradeId`: the trade has its `settlement`.')),
})
const AccountTrades = Type.Object({ trades: field(Type.Array(AccountTradeRecord), 'Newest first.'), ...ListingOutput })

export const ListAccountTrades = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/trades',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Own trades',
  description: `Trades of the caller with his side, role and fee, newest first. ${PAGES} Asked for one \`tradeId\` with \`proof=true\` it `
    + 'has what proves that the trade was settled on the chain.',
  answer: 'A page of trades.',
  refusals: HISTORY,
  query: AccountTradesQuery,
  output: AccountTrades,
  example: {
    input: { tradingPairId: sample.PAIR, pageToken: '' },
    output: { trades: [exampleAccountTrade], pageSize: 20, nextPageToken: '' },
  },
  run: (gateway, call, input) => {
    const { account } = call
    const { tradeId, proof, ...listed } = input
    if (tradeId !== undefined) return answerOwnTrade(gateway, call, input, tradeId)
    if (proof === true) return call.refuse(refusedProof(gateway, call, input))
    const filters = {
      account,
      pair: pairFilter(gateway, input.tradingPairId),
      sell: input.side === undefined ? undefined : input.side === 'SELL',
      orderSequence: orderSequence(input.orderId),
    }
    listHistory(gateway, call, 'ListAccountTrades', listed, 'trades', filters, (rows, fields) =>
      call.answer({ trades: rows.map((trade) => accountTradeRecord(gateway, trade, account)), ...fields }),
    )
  },
})

/** A proof is of one trade; first comes what is wrong with the page. */
function refusedProof(gateway: Gateway, call: Call<never>, input: Static<typeof AccountTradesQuery>): Refused {
  const plan = readListing(gateway, call, 'ListAccountTrades', input)
  return plan instanceof Refused ? plan : refusedField('proof', 'proof goes with tradeId: a proof is of one trade')
}

/** The page that has the one trade, if it is the caller's; with its proof when that is asked for. */
function answerOwnTrade(
  gateway: Gateway, call: Call<Static<typeof AccountTrades>>, input: Static<typeof AccountTradesQuery>, name: string,
): void {
  const { account } = call
  const { history } = gateway
  const plan = readListing(gateway, call, 'ListAccountTrades', input)
  if (plan instanceof Refused) return call.refuse(plan)
  const other = (['tradingPairId', 'side', 'orderId', 'startTime', 'endTime'] as const).find((field) => input[field] !== undefined)
  if (other !== undefined) return call.refuse(refusedField(other, `${other} and tradeId exclude each other`))
  const answer = (rows: readonly HistoryTrade[], settlement: Pick<AccountTradeRecord, 'settlement'>): void => {
    const trades = rows.map((trade) => ({ ...accountTradeRecord(gateway, trade, account), ...settlement }))
    const listing = { rows: [...rows], total: rows.length, more: false }
    call.answer({ trades, ...answerListing(gateway, plan, listing, ({ sequence, index }) => ({ sequence, index }), null) })
  }
  const id = parseId(IdKind.TRADE, name)
  if (id === null) return answer([], {})
  const ask = { sequence: id.sequence, index: id.slot }
  askHistory(history, 'trade', ask, (trade) => {
    if (trade instanceof Refused) return call.refuse(trade)
    const isOwn = trade !== null && (trade.makerAccount === account || trade.takerAccount === account)
    if (!isOwn || input.proof !== true) return answer(isOwn ? [trade] : [], {})
    askHistory(history, 'tradeProof', ask, (found) => {
      if (found instanceof Refused) call.refuse(found)
      else answer([trade], { settlement: found === null ? null : tradeSettlement(found) })
    })
  })
}
