/**
 * `liquidations {}`: liquidations of margin accounts of the account (specification, Channels named): the snapshot has those that are
 * UNRESOLVED, and one that recovered ends with status COMPLETED and accountState Normal. There are none in this version.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import type { Channel, Declaration } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const Liquidation = Type.Object({ status: Type.String(), accountState: Type.String() })

export const LIQUIDATIONS = {
  name: 'liquidations',
  access: 'private',
  about: 'Liquidations of the account. There are none in this version.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Liquidations that are not resolved.', data: Type.Object({ liquidations: Type.Array(Liquidation) }), sequenced: false,
    },
    liquidation_update: { about: 'A liquidation that began, went on or ended.', data: Liquidation, sequenced: false },
  },
} as const satisfies Declaration

export const createLiquidations = (gateway: Gateway): Channel => createNotYetServed(gateway, LIQUIDATIONS, { liquidations: [] })
