/**
 * `liquidations {}`: liquidations of margin accounts of the account (specification, Channels named): the snapshot has those that are
 * UNRESOLVED, and one that recovered ends with status COMPLETED and accountState Normal. There are none in this version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import { field } from '../../operations/schema.ts'
import { channel, type Channel } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const Liquidation = Type.Object({
  status: field(Type.String(), 'How far the liquidation is.'), accountState: field(Type.String(), 'State of the margin account.'),
})

export const LIQUIDATIONS = channel({
  name: 'liquidations',
  access: 'private',
  about: 'Liquidations of the account. There are none in this version.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Liquidations that are not resolved.', sequenced: false,
      data: Type.Object({ liquidations: field(Type.Array(Liquidation), 'Liquidations that are not resolved.') }),
    },
    liquidation_update: { about: 'A liquidation that began, went on or ended.', data: Liquidation, sequenced: false },
  },
  example: {
    params: {},
    frames: { snapshot: { liquidations: [] }, liquidation_update: { status: 'COMPLETED', accountState: 'Normal' } },
  },
  create: createLiquidations,
})

function createLiquidations(gateway: Gateway): Channel {
  return createNotYetServed(gateway, LIQUIDATIONS, { liquidations: [] })
}
