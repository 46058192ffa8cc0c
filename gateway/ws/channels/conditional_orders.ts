/**
 * `conditionalOrders {}`: take-profit, stop-loss and trailing-stop orders of the account (specification, Channels named). There are none in
 * this version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import { Decimal, Timestamp } from '../../operations/operation.ts'
import type { Channel, Declaration } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'
import * as fields from '../../operations/fields.ts'

/** What the specification names of it. */
const ConditionalOrder = Type.Object({
  createdAt: fields.createdAt,
  conditionType: Type.Enum(['TAKE_PROFIT', 'STOP_LOSS', 'TRAILING_STOP']),
  trailBps: Type.Optional(Type.Integer()),
  activationPrice: Type.Optional(Decimal),
  watermarkPrice: Type.Optional(Decimal),
  trailArmedAt: Type.Optional(Timestamp),
})

export const CONDITIONAL_ORDERS = {
  name: 'conditionalOrders',
  access: 'private',
  about: 'The conditional orders of the account. There are none in this version.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Conditional orders that wait.', data: Type.Object({ conditionalOrders: Type.Array(ConditionalOrder) }), sequenced: false,
    },
    conditional_order_update: {
      about: 'A conditional order that changed.', data: ConditionalOrder, sequenced: false, reasons: ['armed', 'ratcheted'],
    },
  },
} as const satisfies Declaration

export const createConditionalOrders = (gateway: Gateway): Channel =>
  createNotYetServed(gateway, CONDITIONAL_ORDERS, { conditionalOrders: [] })
