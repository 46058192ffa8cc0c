/**
 * `account {marginAccountId?}`: health of margin accounts, of all or of one (specification, Channels named): rows of the snapshot have no
 * sequence, live frames always have one. There are no margin accounts in this version, so one that is named is not there; somebody else's
 * and a missing one are the same.
 */
import Type from 'typebox'
import type { Gateway } from '../../context.ts'
import { Uuid } from '../../operations/operation.ts'
import type { Channel, Declaration } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const MarginAccount = Type.Object({ marginAccountId: Uuid })

export const ACCOUNT = {
  name: 'account',
  access: 'private',
  about: 'The health of the margin accounts of the account, of all or of one. There are none in this version.',
  params: Type.Object({ marginAccountId: Type.Optional(Uuid) }),
  frames: {
    snapshot: { about: 'Margin accounts.', data: Type.Object({ accounts: Type.Array(MarginAccount) }), sequenced: false },
    account_update: { about: 'A margin account that changed.', data: MarginAccount, sequenced: true },
  },
} as const satisfies Declaration

export const createAccount = (gateway: Gateway): Channel =>
  createNotYetServed(gateway, ACCOUNT, { accounts: [] }, ({ marginAccountId }) =>
    marginAccountId === undefined ? null : 'marginAccountId names no margin account')
