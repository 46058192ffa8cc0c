/**
 * What an application's backend reads of its own application: configuration, users, balances (specification, Application backend). The
 * server key says which application; there is nothing here to name another with.
 *
 * Users and balances come from the shared columns, in the order accounts were made. A listing counts to 10,000 pages of its page size and
 * looks no further; each row is of one moment, the listing as a whole is not (core/view/application_accounts.ts). Filters that name
 * something unknown, or of another application, match nothing.
 */
import Type, { type Static } from 'typebox'
import { ACCOUNT } from '../../core/state/columns.ts'
import { accountRow, bytesOf } from '../../core/view/rows.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { readAccount, readBalances } from '../../core/view/accounts.ts'
import { hasBalance, walkAccounts } from '../../core/view/application_accounts.ts'
import { masterOf } from '../../core/view/families.ts'
import type { Gateway } from '../context.ts'
import { Shares } from '../limits/shares.ts'
import { Refused } from '../refused.ts'
import { addressText, Balance, balanceRecord, usernameText } from './accounts.ts'
import { payoutAddressOf } from './builder_codes.ts'
import { PAGE_MAX } from './listing.ts'
import { Nullable, operation, PageOutput, PageQuery, rfc3339, Timestamp, Uuid, type Call } from './operation.ts'
import * as sample from './example_values.ts'
import { READ, WALK } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

/** Listings that one thread walks at once, of which an application has as many as are left free (limits/shares.ts); more are 503. */
const WALKS_MAX = 16
const PAGE_SIZE = 20

const ApplicationConfig = Type.Object({
  id: fields.id,
  name: field(Type.String(), 'What people call it; the text a wallet signs names it.'),
  clientId: field(Type.String(), 'What clients name the application by when they sign in.'),
  allowedOrigins: field(Type.Array(Type.String()), 'Origins of pages that may call with sessions of this application; `*` is any.'),
  payoutAddress: field(Nullable(Type.String()), 'Where builder fees go; null without.'),
  /** Whole basis points. */
  builderFeeBps: field(Type.Integer(), 'What the application adds for takers, in basis points.'),
  builderMakerFeeBps: field(Type.Integer(), 'What the application adds for makers, in basis points.'),
  isActive: field(Type.Boolean(), 'Whether anybody can sign in to it.'),
  /** `null`: made with the exchange. */
  createdAt: field(Nullable(Timestamp), 'When it was made; null: with the exchange.'),
})

const EXACT = 'Totals are exact up to 10,000 pages of the page size and end there. Each row is of one moment, the listing is not.'

export const GetApplicationConfig = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/config',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'The application itself',
  description: 'What the operator set for the application of the server key, and what it adds to the fees of its users.',
  answer: 'The application.',
  refusals: READ,
  output: ApplicationConfig,
  example: {
    input: {},
    output: {
      id: '9a1c0000-0000-4000-8000-000000000001',
      name: 'Ringbook',
      clientId: 'ringbook',
      allowedOrigins: ['*'],
      payoutAddress: null,
      builderFeeBps: 0,
      builderMakerFeeBps: 0,
      isActive: true,
      createdAt: null,
    },
  },
  run: (gateway, call) => {
    const found = gateway.applications.at(call.application)
    if (found === undefined) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const { id, name, clientId, allowedOrigins, isActive, createdAt } = found
    call.answer({
      id, name, clientId, isActive,
      allowedOrigins: [...allowedOrigins],
      payoutAddress: payoutAddressOf(gateway, found),
      builderFeeBps: found.builderFeeBps,
      builderMakerFeeBps: found.builderMakerFeeBps,
      createdAt: createdAt === 0 ? null : rfc3339(createdAt),
    })
  },
})

const AccountType = Type.Union([Type.Literal('master'), Type.Literal('sub')])
const ApplicationUser = Type.Object({
  id: fields.id,
  /** EIP-55. */
  address: fields.address,
  username: fields.username,
  accountType: field(AccountType, 'master or sub.'),
  isActive: field(Type.Boolean(), 'Whether the user may trade; every user may in this version.'),
  createdAt: fields.createdAt,
})

/** One page of what is walked: rows of it, and how many there are up to the ceiling. */
class PageOf<Row> {
  readonly page: number
  readonly pageSize: number
  readonly rows: Row[] = []
  #seen = 0

  constructor({ page = 1, pageSize = PAGE_SIZE }: { page?: number; pageSize?: number }) {
    this.page = page
    this.pageSize = pageSize
  }

  /** Takes one row into account; false when nothing more need be looked at. */
  take(row: () => Row): boolean {
    const place = this.#seen++
    const first = (this.page - 1) * this.pageSize
    if (place >= first && place < first + this.pageSize) this.rows.push(row())
    return this.#seen < this.pageSize * PAGE_MAX
  }

  fields(): { page: number; pageSize: number; total: number; totalPages: number } {
    const { page, pageSize } = this
    return { page, pageSize, total: this.#seen, totalPages: Math.ceil(this.#seen / pageSize) }
  }
}

/** Walks under way in this thread, by application. */
const walks = new Shares(WALKS_MAX)

/** Walks the accounts of the caller's application and then answers, whenever that is; `visit` as for {@link walkAccounts}. */
function walk(gateway: Gateway, call: Call<never>, visit: (account: number) => boolean, done: () => void): void {
  const whose = `application ${call.application}`
  if (walks.take(whose) !== null) return call.refuse(new Refused('OVERLOADED'))
  const ended = (whole: boolean): void => {
    if (whole) done()
    else call.refuse(new Refused('ENGINE_UNAVAILABLE'))
  }
  walkAccounts(gateway.state, gateway.gate, call.application, visit)
    .finally(() => walks.give(whose))
    .then(ended)
    .catch((error: unknown) => gateway.faults.end(error, call))
}

export const ListApplicationUsers = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/users',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Users of the application',
  description: `Users in the order they were made. ${EXACT}`,
  answer: 'A page of users.',
  refusals: WALK,
  query: Type.Object({
    ...PageQuery,
    isActive: Type.Optional(field(Type.Boolean(), 'Only users that are active, or that are not.')),
    accountType: Type.Optional(field(AccountType, 'master or sub.')),
    /** Any part of the address, in either case. */
    address: Type.Optional(
      field(Type.String({ minLength: 1, maxLength: 42 }), 'Only wallets whose address has this part, in either case.'),
    ),
  }),
  output: Type.Object({ users: field(Type.Array(ApplicationUser), 'In the order they were made.'), ...PageOutput }),
  example: {
    input: { accountType: 'master', address: '7099', pageSize: 20 },
    output: {
      users: [
        { id: sample.USER, address: sample.ADDRESS, username: null, accountType: 'master', isActive: true, createdAt: sample.MOMENT },
      ],
      ...sample.page,
    },
  },
  run: (gateway, call, input) => {
    const page = new PageOf<number>(input)
    const matches = userFilter(gateway, input)
    const visit = (account: number): boolean => !matches(account) || page.take(() => account)
    walk(gateway, call, visit, () => {
      call.answer({ users: page.rows.flatMap((account) => userRecord(gateway, account, call.application) ?? []), ...page.fields() })
    })
  },
})

interface UserFilter {
  readonly isActive?: boolean
  readonly accountType?: 'master' | 'sub'
  readonly address?: string
}

function userFilter({ state }: Gateway, { isActive = true, accountType, address }: UserFilter): (account: number) => boolean {
  const part = address?.toLowerCase()
  return (account) => {
    // Nothing closes a user in this version: every one is active.
    if (!isActive) return false
    if (accountType !== undefined && accountType !== (masterOf(state, account) < 0 ? 'master' : 'sub')) return false
    if (part === undefined) return true
    return `0x${Buffer.from(bytesOf(state, accountRow(state, account), ACCOUNT.ADDRESS, 20)).toString('hex')}`.includes(part)
  }
}

/** `null`: the row became another application's since the walk was there. */
function userRecord(gateway: Gateway, account: number, application: number): Static<typeof ApplicationUser> | null {
  const { address, createdAt, createdSequence, application: now } = readAccount(gateway.state, account)
  if (now !== application) return null
  return {
    id: userId(createdSequence, account),
    address: addressText(address),
    username: usernameText(gateway, account),
    accountType: masterOf(gateway.state, account) < 0 ? 'master' : 'sub',
    isActive: true,
    createdAt: rfc3339(createdAt),
  }
}

const ApplicationBalance = Type.Object({ userId: field(Uuid, 'User whose balance it is.'), ...Balance.properties })

export const ListApplicationBalances = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/balances',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Balances of the users of the application',
  description: `Balances that are not zero, by user. A user that is unknown here has none. ${EXACT}`,
  answer: 'A page of balances.',
  refusals: WALK,
  query: Type.Object({
    ...PageQuery,
    userId: Type.Optional(field(Uuid, 'Only balances of this user.')),
    /** Contract address, in either case. */
    token: Type.Optional(
      field(Type.String({ minLength: 1, maxLength: 42 }), 'Only balances of the token with this contract address, in either case.'),
    ),
  }),
  output: Type.Object({ balances: field(Type.Array(ApplicationBalance), 'Balances that are not zero.'), ...PageOutput }),
  example: { input: { userId: sample.USER }, output: { balances: [{ userId: sample.USER, ...sample.usdc }], ...sample.page } },
  run: (gateway, call, input) => {
    const { state, genesis } = gateway
    const page = new PageOf<{ account: number; asset: number }>(input)
    const user = input.userId === undefined ? undefined : parseId(IdKind.USER, input.userId)
    const token = input.token?.toLowerCase()
    const assets = genesis.assets.filter((asset) => token === undefined || asset.token.toLowerCase() === token)
    const visit = (account: number): boolean => {
      if (user !== undefined) {
        // Rows are walked in order: behind the one that is named there is nothing to look for.
        if (user === null || account > user.slot) return false
        if (account < user.slot || readAccount(state, account).createdSequence !== user.sequence) return true
      }
      return assets.every(({ index }) => !hasBalance(state, account, index) || page.take(() => ({ account, asset: index })))
    }
    walk(gateway, call, visit, () => {
      const balances = balanceRecords(gateway, page.rows, call.application)
      if (balances === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
      call.answer({ balances, ...page.fields() })
    })
  },
})

function balanceRecords(
  gateway: Gateway, rows: readonly { account: number; asset: number }[], application: number,
): Static<typeof ApplicationBalance>[] | null {
  const records: Static<typeof ApplicationBalance>[] = []
  for (const { account, asset } of rows) {
    const balances = readBalances(gateway.state, gateway.gate, account)
    if (balances === null) return null
    const { createdSequence, application: now } = readAccount(gateway.state, account)
    if (now !== application) continue
    records.push({ userId: userId(createdSequence, account), ...balanceRecord(gateway.genesis.assets[asset]!, balances[asset]!) })
  }
  return records
}
