/** Closing a position as an order: reduce-only, against it, and named so that it meets no other position (specification, Positions). */
import Type, { type Static } from 'typebox'
import { Flag } from '../../core/layout/command.ts'
import type { Pair } from '../../core/state/genesis.ts'
import type { PositionView } from '../../core/view/margin.ts'
import { noMarginTerms, type OrderTerms } from '../bridge/terms.ts'
import { refusedField, type Refused } from '../refused.ts'
import { Amount } from './amounts.ts'
import { noTerms, takePrice, takeQuantity } from './order_terms.ts'
import { field, record } from './schema.ts'

const CloseType = record(
  'CloseType', 'MARKET takes what is there inside the protective band; LIMIT rests at its price; IOC takes what it can at its price.',
  Type.Union([Type.Literal('MARKET'), Type.Literal('LIMIT'), Type.Literal('IOC')]),
)

export const CloseBody = Type.Object({
  quantity: Type.Optional(field(Amount, 'How much of it, in units of the base token; absent: all of it.')),
  closeType: Type.Optional(field(CloseType, 'MARKET (default), LIMIT or IOC.')),
  price: Type.Optional(field(Amount, 'Limit price; LIMIT and IOC need it, MARKET must not have it.')),
  slippageToleranceBps: Type.Optional(
    field(Type.Integer({ minimum: 0, maximum: 1000 }), 'MARKET only: how far from the best price it may trade, in basis points.'),
  ),
})
type CloseBody = Static<typeof CloseBody>

/** The terms of closing `position`, or which field is wrong. A quantity beyond the position closes it, no more. */
export function closeTerms(pair: Pair, position: PositionView, body: CloseBody): OrderTerms | Refused {
  const terms = noTerms()
  const size = Math.abs(position.lots)
  terms.pair = pair.index
  terms.pairId = pair.id
  terms.flags = Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | (position.lots > 0 ? Flag.SELL : 0)
  terms.lots = size
  terms.margin = { ...noMarginTerms(), namedSequence: position.openedSequence, position: position.row + 1 }
  const refused = takeType(pair, body, terms) ?? (body.quantity === undefined ? null : takeQuantity(pair, body.quantity, terms))
  if (refused !== null) return refused
  terms.lots = Math.min(terms.lots, size)
  return terms
}

function takeType(pair: Pair, { closeType = 'MARKET', price, slippageToleranceBps }: CloseBody, terms: OrderTerms): Refused | null {
  if (closeType === 'MARKET') {
    if (price !== undefined) return refusedField('price', 'A MARKET close must not carry a price')
    terms.flags |= Flag.MARKET
    if (slippageToleranceBps === undefined) return null
    terms.flags |= Flag.SLIPPAGE
    terms.slippageBps = slippageToleranceBps
    return null
  }
  if (slippageToleranceBps !== undefined) return refusedField('slippageToleranceBps', 'slippageToleranceBps is for MARKET closes only')
  if (price === undefined) return refusedField('price', `A ${closeType} close needs a price`)
  if (closeType === 'IOC') terms.flags |= Flag.IOC
  return takePrice(pair, price, terms)
}
