/**
 * `twapOrders {tradingPairId?}`: TWAP orders of the account, of all pairs or of one (specification, Channels named). There are none in this
 * version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { PairName, Uuid } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { channel, type Channel } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const TwapOrder = Type.Object({
  twapOrderId: field(Uuid, 'TWAP order.'), state: field(Type.String(), 'State of the TWAP order.'),
})

export const TWAP_ORDERS = channel({
  name: 'twapOrders',
  access: 'private',
  about: 'The TWAP orders of the account, of all pairs or of one. There are none in this version.',
  params: Type.Object({
    tradingPairId: Type.Optional(field(PairName, 'Only TWAP orders of this pair, by id or symbol; absent: all.')),
  }),
  frames: {
    snapshot: {
      about: 'TWAP orders that are PENDING or ACTIVE.',
      data: Type.Object({
        tradingPairId: Type.Optional(field(Uuid, 'The pair that was asked for; absent: all.')),
        twapOrders: field(Type.Array(TwapOrder), 'TWAP orders that are PENDING or ACTIVE.'),
      }),
      sequenced: false, reasons: ['snapshot'],
    },
    twap_order_update: { about: 'A TWAP order that changed.', data: TwapOrder, sequenced: false },
  },
  example: {
    params: { tradingPairId: sample.PAIR },
    frames: {
      snapshot: { tradingPairId: sample.PAIR, twapOrders: [] }, twap_order_update: { twapOrderId: sample.ORDER, state: 'ACTIVE' },
    },
  },
  create: createTwapOrders,
})

function createTwapOrders(gateway: Gateway): Channel {
  return createNotYetServed(gateway, TWAP_ORDERS, { twapOrders: [] })
}
