/**
 * Fee simulation: what an order placed now would be charged, at the caller's own rates and against the live book.
 *
 * What crosses pays the taker rate; what rests would pay the maker rate if it fills whole at its limit. An order is rounded once, over
 * both (core/ledger/fees.ts), so the maker part is what the resting rest adds to the fee already charged, and the two parts sum
 * to the total exactly. What would be cancelled (the remainder of a MARKET order, or of one that meets the caller's own) costs nothing.
 */
import Type from 'typebox'
import { ACCOUNT } from '../../core/state/columns.ts'
import { accountRow, get } from '../../core/view/rows.ts'
import { Flag } from '../../core/layout/command.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { PATH_MAX } from '../../core/view/fill_path.ts'
import { Refused, refusedField } from '../refused.ts'
import { amountText } from './amounts.ts'
import { Decimal, operation } from './operation.ts'
import { simulatedTerms } from './order_terms.ts'
import { OrderType, Side, TradingMode } from './order_words.ts'
import * as sample from './example_values.ts'
import { READ } from './refusal_groups.ts'
import { addOnsOf } from '../../core/view/builder.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

const Simulated = Type.Object({
  /** Value of what trades now, and of what rests at its limit. */
  notional: field(Decimal, 'Value of what would fill now and of what would rest at its limit, in units of the quote token.'),
  makerFeeBps: field(Decimal, 'Fee of orders that rested, in basis points of the value; negative is paid to you.'),
  takerFeeBps: field(Decimal, 'Fee of orders that took, in basis points of the value.'),
  applicationTakerFeeBps: field(Decimal, 'What the application adds for takers, in basis points.'),
  applicationMakerFeeBps: field(Decimal, 'What the application adds for makers, in basis points.'),
  /** Signed: a rebate is negative. */
  makerFee: field(Decimal, 'Fee of the part that would rest; negative is paid to you.'),
  takerFee: field(Decimal, 'Fee of the part that would fill at once.'),
  applicationFee: field(Decimal, 'What the application would charge for all of it.'),
  totalFee: field(Decimal, 'Sum of all of them; negative is a net rebate.'),
  feeToken: field(Type.String(), 'Symbol of the asset the fees are in.'),
})

const PPM = 1_000_000n

/** The fee of an order whose fills sum to `numerator` (quote atoms × ppm): rounded up, a rebate toward zero. */
const feeOf = (numerator: bigint): bigint => (numerator > 0n ? numerator + PPM - 1n : numerator) / PPM

const bpsText = (ppm: number): string => formatDecimal(ppm, 2)

export const SimulateFees = operation({
  service: 'FeesService', method: 'POST', path: '/api/v1/fees/simulate',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'What an order would cost',
  description: 'The fees of an order if it came now: what would fill at once at the taker rate, what would rest at the maker rate, both '
    + "the caller's own. Nothing is placed and no funds are needed; the book may be another when the order comes.",
  answer: 'The fees.',
  refusals: ['NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', ...READ],
  body: Type.Object({
    tradingPairId: fields.pairName, side: field(Side, 'BUY or SELL.'),
    orderType: field(OrderType, 'LIMIT or MARKET.'), quantity: fields.quantity, price: Type.Optional(
      field(Decimal, 'Limit price; a LIMIT order needs it, a MARKET order must not have it.'),
    ),
    tradingMode: Type.Optional(field(TradingMode, 'MARGIN on a perpetual, which needs it; SPOT (default) on any other pair.')),
  }),
  output: Simulated,
  example: {
    input: sample.item,
    output: {
      notional: '3000',
      makerFeeBps: '-0.5',
      takerFeeBps: '5',
      applicationTakerFeeBps: '0',
      applicationMakerFeeBps: '0',
      makerFee: '-0.09',
      takerFee: '0.6',
      applicationFee: '0',
      totalFee: '0.51',
      feeToken: 'USDC',
    },
  },
  run: (gateway, call, input) => {
    const { genesis, state } = gateway
    const terms = simulatedTerms(gateway, input)
    if (terms instanceof Refused) return call.refuse(terms)
    gateway.books.path({ ...terms, account: call.account }, gateway.time(), (path) => {
      if (path instanceof Refused) return call.refuse(path)
      if (path.tooLong) return call.refuse(refusedField('quantity', `The order would trade with more than ${PATH_MAX} orders`))
      const pair = genesis.pairs[terms.pair]!
      const tier = genesis.feeTiers.tiers[get(state, accountRow(state, call.account), ACCOUNT.TIER)]!
      const makerPpm = pair.makerPpm - tier.makerDiscountPpm
      const takerPpm = pair.takerPpm - tier.takerDiscountPpm
      const rests = (terms.flags & Flag.MARKET) === 0 && !path.meetsOwn ? terms.lots - path.filled : 0
      const taken = path.tickLots * pair.tickLotAtoms
      const resting = BigInt(terms.price) * BigInt(rests) * pair.tickLotAtoms
      const takerFee = feeOf(taken * BigInt(takerPpm))
      const totalFee = feeOf(taken * BigInt(takerPpm) + resting * BigInt(makerPpm))
      const quote = genesis.assets[pair.quote]!
      const adds = addOnsOf(state, call.account)
      const applicationFee = (taken * BigInt(adds.taker) + resting * BigInt(adds.maker)) / PPM
      call.answer({
        notional: amountText(quote, taken + resting),
        makerFeeBps: bpsText(makerPpm),
        takerFeeBps: bpsText(takerPpm),
        applicationTakerFeeBps: bpsText(adds.taker),
        applicationMakerFeeBps: bpsText(adds.maker),
        makerFee: amountText(quote, totalFee - takerFee),
        takerFee: amountText(quote, takerFee),
        applicationFee: amountText(quote, applicationFee),
        totalFee: amountText(quote, totalFee + applicationFee),
        feeToken: quote.symbol,
      })
    })
  },
})
