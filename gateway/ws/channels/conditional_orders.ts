/**
 * `conditionalOrders {}`: take-profit, stop-loss and trailing-stop orders of the account (specification, Channels named). There are none in
 * this version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { Decimal, Timestamp } from '../../operations/operation.ts'
import * as fields from '../../operations/fields.ts'
import { field } from '../../operations/schema.ts'
import { channel, type Channel } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const ConditionalOrder = Type.Object({
  createdAt: fields.createdAt,
  conditionType: field(Type.Enum(['TAKE_PROFIT', 'STOP_LOSS', 'TRAILING_STOP']), 'What it waits for.'),
  trailBps: Type.Optional(field(Type.Integer(), 'Distance of a trailing stop from its watermark, basis points.')),
  activationPrice: Type.Optional(field(Decimal, 'Price from which on a trailing stop trails.')),
  watermarkPrice: Type.Optional(field(Decimal, 'Best price since then.')),
  trailArmedAt: Type.Optional(field(Timestamp, 'When it began to trail.')),
})

export const CONDITIONAL_ORDERS = channel({
  name: 'conditionalOrders',
  access: 'private',
  about: 'The conditional orders of the account. There are none in this version.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Conditional orders that wait.', sequenced: false,
      data: Type.Object({ conditionalOrders: field(Type.Array(ConditionalOrder), 'Conditional orders that wait.') }),
    },
    conditional_order_update: {
      about: 'A conditional order that changed.', data: ConditionalOrder, sequenced: false, reasons: ['armed', 'ratcheted'],
    },
  },
  example: {
    params: {},
    frames: {
      snapshot: { conditionalOrders: [] },
      conditional_order_update: {
        createdAt: sample.MOMENT, conditionType: 'TRAILING_STOP', trailBps: 50, activationPrice: '60000', watermarkPrice: '60010.5',
        trailArmedAt: sample.MOMENT,
      },
    },
  },
  create: createConditionalOrders,
})

function createConditionalOrders(gateway: Gateway): Channel {
  return createNotYetServed(gateway, CONDITIONAL_ORDERS, { conditionalOrders: [] })
}
