/** `positions {}`: positions of the account (specification, Channels named; Events, rule 5). There are none in this version. */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import { field } from '../../operations/schema.ts'
import { channel, type Channel } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it: a higher version replaces, an equal one is a duplicate, a lower one is ignored. */
const Position = Type.Object({ version: field(Type.Integer(), 'Ranks states of one thing: higher is newer.') })

export const POSITIONS = channel({
  name: 'positions',
  access: 'private',
  about: 'The positions of the account. There are none in this version.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Open positions.', data: Type.Object({ positions: field(Type.Array(Position), 'Open positions.') }), sequenced: false,
    },
    position_update: { about: 'A position that changed.', data: Position, sequenced: false },
  },
  example: { params: {}, frames: { snapshot: { positions: [] }, position_update: { version: 43 } } },
  create: createPositions,
})

function createPositions(gateway: Gateway): Channel {
  return createNotYetServed(gateway, POSITIONS, { positions: [] })
}
