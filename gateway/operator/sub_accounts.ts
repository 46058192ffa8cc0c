/**
 * Sub-accounts whose wallets have not agreed to their masters, for an operator. They were linked before consent was
 * asked for; masters can take nothing from them until the wallets sign in or agree.
 *
 * A listing walks all rows of accounts in slices and answers in pages: of 1,000, oldest first, each with what comes
 * after it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import Type, { type Static } from 'typebox'
import { SCALAR } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { Applications } from '../../core/view/applications.ts'
import { hasConsented, masterOf } from '../../core/view/families.ts'
import { checksumAddress } from '../auth/challenge.ts'
import * as fields from '../operations/fields.ts'
import { Nullable, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { refusedField } from '../refused.ts'
import { said } from './command.ts'
import { hasAccount } from './policy.ts'
import { operatorRoute } from './route.ts'
import { table } from './text.ts'

/** Sub-accounts in one answer. */
export const UNCONSENTED_MAX = 1000
/** Rows between two turns of the thread. */
const SLICE_ROWS = 16_384

const wallet = { userId: field(Uuid, 'The user.'), address: fields.address }
const Unconsented = Type.Object({
  ...wallet,
  application: field(Type.String(), 'Name of its application.'),
  createdAt: fields.createdAt,
  master: field(Type.Object(wallet), 'Whose sub-account it is.'),
})
type Unconsented = Static<typeof Unconsented>
const List = Type.Object({
  subAccounts: field(Type.Array(Unconsented), 'Oldest first.'),
  next: field(Nullable(Uuid), 'The last one when there may be more, to ask on with as `after`; null: that was all.'),
})
export type UnconsentedList = Static<typeof List>

const [EXAMPLE_USER, EXAMPLE_MASTER] = [userId(1040, 7), userId(977, 3)]
const [WALLET, MASTER] = [`0x${'3C44'.repeat(10)}`, `0x${'7099'.repeat(10)}`]
const EXAMPLE: Unconsented = {
  userId: EXAMPLE_USER, address: WALLET, application: 'Ringbook', createdAt: '2026-01-02T03:04:05.678Z',
  master: { userId: EXAMPLE_MASTER, address: MASTER },
}

export const ListUnconsented = operatorRoute({
  method: 'GET', path: '/sub-accounts/unconsented', token: true,
  summary: 'Sub-accounts whose wallets have not agreed to their masters',
  description: `In pages of ${UNCONSENTED_MAX}; the next one is asked for with \`after\`.`,
  query: Type.Object({ after: Type.Optional(field(Uuid, 'The user id that the page before ended with.')) }),
  output: List,
  refusals: [],
  example: { input: {}, output: { subAccounts: [EXAMPLE], next: null } },
  commands: [{
    name: 'sub-accounts unconsented',
    purpose: 'sub-accounts whose wallets have not agreed to their masters',
    explains: 'They were linked by a version that did not ask the wallet. They stay what they are, and trade; their masters can take\n'
      + 'nothing from them until the wallet signs in again, with a text that names the master, or signs for CreateSubAccount.',
    example: [
      'sub-accounts unconsented',
      `CREATED                   APPLICATION  WALLET                                      MASTER\n`
        + `2026-01-02T03:04:05.678Z  Ringbook     ${WALLET}  ${MASTER}`,
    ],
    show: ({ subAccounts }) => showUnconsented(subAccounts),
    run: async (ask) => {
      const subAccounts: Unconsented[] = []
      for (let next: string | null | undefined; next !== null; ) {
        const page = await ask(next === undefined ? {} : { after: next })
        subAccounts.push(...page.subAccounts)
        next = page.next
      }
      return said({ subAccounts }, showUnconsented(subAccounts))
    },
  }],
  run: async ({ state, applications }, { after }) => {
    const id = after === undefined ? null : parseId(IdKind.USER, after)
    if (after !== undefined && (id === null || !hasAccount(state, id.slot, id.sequence))) {
      return refusedField('after', 'after must be the user id that a page ended with')
    }
    const subAccounts: Unconsented[] = []
    const count = state.scalars[SCALAR.ACCOUNTS]!
    for (let account = id === null ? 0 : id.slot + 1; account < count; account++) {
      if (account % SLICE_ROWS === 0) await nextTurn()
      if (masterOf(state, account) < 0 || hasConsented(state, account)) continue
      subAccounts.push(recordOf(state, applications, account))
      if (subAccounts.length === UNCONSENTED_MAX) return { subAccounts, next: subAccounts.at(-1)!.userId }
    }
    return { subAccounts, next: null }
  },
})

function walletOf(state: State, account: number): { userId: string; address: string } {
  const { createdSequence, address } = readAccount(state, account)
  return { userId: userId(createdSequence, account), address: checksumAddress(`0x${Buffer.from(address).toString('hex')}`) }
}

function recordOf(state: State, applications: Applications, account: number): Unconsented {
  const { application, createdAt } = readAccount(state, account)
  return {
    ...walletOf(state, account),
    application: applications.at(application)?.name ?? '',
    createdAt: new Date(createdAt).toISOString(),
    master: walletOf(state, masterOf(state, account)),
  }
}

function showUnconsented(subAccounts: readonly Unconsented[]): string {
  if (subAccounts.length === 0) return 'every sub-account has the consent of its wallet'
  const rows = subAccounts.map(({ createdAt, application, address, master }) => [createdAt, application, address, master.address])
  return table(['CREATED', 'APPLICATION', 'WALLET', 'MASTER'], rows)
}
