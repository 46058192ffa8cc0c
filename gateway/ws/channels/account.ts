/**
 * `account {marginAccountId?}`: health of margin accounts, of all or of one (specification, Channels named): rows of the snapshot have no
 * sequence, live frames always have one. There are no margin accounts in this version, so one that is named is not there; somebody else's
 * and a missing one are the same.
 */
import Type from 'typebox'
import { userId } from '../../../core/layout/ids.ts'
import type { Gateway } from '../../context.ts'
import { Uuid } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { channel, type Channel } from './channel.ts'
import { createNotYetServed } from './not_yet_served.ts'

/** What the specification names of it. */
const MarginAccount = Type.Object({ marginAccountId: field(Uuid, 'Margin account.') })

export const ACCOUNT = channel({
  name: 'account',
  access: 'private',
  about: 'The health of the margin accounts of the account, of all or of one. There are none in this version.',
  params: Type.Object({ marginAccountId: Type.Optional(field(Uuid, 'Only this margin account; absent: all.')) }),
  frames: {
    snapshot: {
      about: 'Margin accounts.', data: Type.Object({ accounts: field(Type.Array(MarginAccount), 'Margin accounts.') }), sequenced: false,
    },
    account_update: { about: 'A margin account that changed.', data: MarginAccount, sequenced: true },
  },
  example: { params: {}, frames: { snapshot: { accounts: [] }, account_update: { marginAccountId: userId(2, 2) } } },
  create: createAccount,
})

function createAccount(gateway: Gateway): Channel {
  return createNotYetServed(gateway, ACCOUNT, { accounts: [] }, ({ marginAccountId }) =>
    marginAccountId === undefined ? null : 'marginAccountId names no margin account')
}
