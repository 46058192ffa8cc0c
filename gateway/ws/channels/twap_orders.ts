/**
 * `twapOrders {tradingPairId?}`: TWAP orders of the account, of all pairs or of one (specification, Channels named). There are none in this
 * version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import { Uuid } from '../../operations/operation.ts'
import type { Channel, Declaration } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'
import { PairName } from '../../operations/operation.ts'

/** What the specification names of it. */
const TwapOrder = Type.Object({ twapOrderId: Uuid, state: Type.String() })

export const TWAP_ORDERS = {
  name: 'twapOrders',
  access: 'private',
  about: 'The TWAP orders of the account, of all pairs or of one. There are none in this version.',
  params: Type.Object({ tradingPairId: Type.Optional(PairName) }),
  frames: {
    snapshot: {
      about: 'TWAP orders that are PENDING or ACTIVE.',
      data: Type.Object({ tradingPairId: Type.Optional(Uuid), twapOrders: Type.Array(TwapOrder) }), sequenced: false, reasons: ['snapshot'],
    },
    twap_order_update: { about: 'A TWAP order that changed.', data: TwapOrder, sequenced: false },
  },
} as const satisfies Declaration

export const createTwapOrders = (gateway: Gateway): Channel => createNotYetServed(gateway, TWAP_ORDERS, { twapOrders: [] })
