/**
 * What an application's backend reads of the past of its own users: orders, movements and statistics. From the history.
 *
 * Pages by number, newest first: page 1 to 10,000, totals exact up to that many pages and never more. (Specification, Application
 * backend.) A user of another application, like one that does not exist, matches nothing: the answer is the same empty page.
 */
import Type, { type Static } from 'typebox'
import { SCALAR } from '../../core/state/columns.ts'
import {
  Entry, Transaction, type ApplicationStats, type HistoryMovement, type HistoryOrder, type Listing, type Walk,
} from '../../core/history/answer/queries.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { STATUS_NAMES } from '../../core/layout/event.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { userIdOf } from './accounts.ts'
import { amountText } from './amounts.ts'
import { pairFilter, Time, timeIn, UNKNOWN } from './history_filters.ts'
import { AsOf, asOfField, PAGE_MAX, PAGE_SIZE } from './listing.ts'
import { EntryType, movementRecord, MovementRecord, TransactionType } from './movements.ts'
import { Decimal, Nullable, operation, PageOutput, PageQuery, rfc3339, Timestamp, Uuid, type Call } from './operation.ts'
import { OrderType, Side } from './order_words.ts'
import { orderRecord, OrderRecord, OrderStatus } from './order_record.ts'
import * as sample from './example_values.ts'
import { HISTORY } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

/** Row of the application's user with this id; {@link UNKNOWN} when there is none. */
function findUser({ state }: Gateway, { application }: Call<never>, id: string): number {
  const found = parseId(IdKind.USER, id)
  if (found === null || found.slot >= state.scalars[SCALAR.ACCOUNTS]!) return UNKNOWN
  const account = readAccount(state, found.slot)
  return account.createdSequence === found.sequence && account.application === application ? found.slot : UNKNOWN
}

/** What the history has of the row that was `id`'s when it was asked; nothing, when it has become another user's since. */
function ofUser<Row>(gateway: Gateway, call: Call<never>, id: string | undefined, listing: Listing<Row>): Listing<Row> {
  return id === undefined || findUser(gateway, call, id) !== UNKNOWN ? listing : { ...listing, rows: [], total: 0 }
}

interface PageInput {
  readonly page?: number
  readonly pageSize?: number
}

const walkOf = ({ page = 1, pageSize = PAGE_SIZE }: PageInput): Walk =>
  ({ limit: pageSize, skip: (page - 1) * pageSize, after: null, countMost: pageSize * PAGE_MAX })

type PageFields = Static<typeof PageFields>
const HistoryPage = { ...PageOutput, ...AsOf }
const PageFields = Type.Object(HistoryPage)

/** The page fields of an answer. */
function pageFields(
  { page = 1, pageSize = PAGE_SIZE }: PageInput, { total }: Listing<unknown>, behind: number | null,
): PageFields {
  return { page, pageSize, total, totalPages: Math.ceil(total / pageSize), ...asOfField(behind) }
}

const USERS = 'A `userId` of another application matches nothing. Totals are exact up to 10,000 pages of the page size and end there.'

export const ListApplicationOrders = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/orders',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Orders of all users',
  description: `Orders of the users of the application, of any age, newest first. ${USERS}`,
  answer: 'A page of orders.',
  refusals: HISTORY,
  query: Type.Object({
    ...PageQuery,
    status: Type.Optional(field(Type.Array(OrderStatus, { maxItems: 32 }), 'Only orders in these states; may be repeated.')),
    tradingPairId: Type.Optional(fields.pairName),
    userId: Type.Optional(field(Uuid, 'Orders of this user.')),
    side: Type.Optional(field(Side, 'BUY or SELL.')),
    orderType: Type.Optional(field(OrderType, 'LIMIT or MARKET.')),
  }),
  output: Type.Object({ orders: field(Type.Array(OrderRecord), 'Newest first.'), ...HistoryPage }),
  example: { input: { userId: sample.USER, side: 'BUY', page: 1, pageSize: 20 }, output: { orders: [sample.order], ...sample.page } },
  run: (gateway, call, input) => {
    const { status, side, orderType, userId } = input
    const account = userId === undefined ? null : findUser(gateway, call, userId)
    const filters = {
      ...walkOf(input),
      statuses: status === undefined || status.length === 0 ? undefined : status.map((name) => STATUS_NAMES.indexOf(name)),
      pair: account === UNKNOWN ? UNKNOWN : pairFilter(gateway, input.tradingPairId),
      sell: side === undefined ? undefined : side === 'SELL',
      market: orderType === undefined ? undefined : orderType === 'MARKET',
    }
    const answer = (found: Listing<HistoryOrder> | Refused, _: number, behind: number | null): void => {
      if (found instanceof Refused) return call.refuse(found)
      const listing = ofUser(gateway, call, userId, found)
      const orders = listing.rows.map((order) => orderRecord(gateway, order))
      call.answer({ orders, ...pageFields(input, listing, behind) })
    }
    if (account === null || account === UNKNOWN) {
      askHistory(gateway.history, 'applicationOrders', { ...filters, application: call.application }, answer)
    } else askHistory(gateway.history, 'orders', { ...filters, account }, answer)
  },
})

const ApplicationMovement = Type.Object({ ...MovementRecord.properties, userId: field(Uuid, 'User whose balance changed.') })

/** The asset with this contract address. */
function assetFilter({ genesis }: Gateway, token: string | undefined): number | undefined {
  if (token === undefined) return undefined
  const address = token.toLowerCase()
  return genesis.assets.find((asset) => asset.token.toLowerCase() === address)?.index ?? UNKNOWN
}

export const ListApplicationMovements = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/movements',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Movements of all users',
  description: `Every change of a balance of a user of the application, newest first. ${USERS}`,
  answer: 'A page of movements.',
  refusals: HISTORY,
  query: Type.Object({
    ...PageQuery,
    userId: Type.Optional(field(Uuid, 'Movements of this user.')),
    entryType: Type.Optional(
      field(EntryType, 'CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.'),
    ),
    transactionType: Type.Optional(field(TransactionType, 'What caused the movement.')),
    token: Type.Optional(field(Type.String({ minLength: 1, maxLength: 42 }), 'Movements of the asset with this contract address.')),
  }),
  output: Type.Object({ movements: field(Type.Array(ApplicationMovement), 'Newest first.'), ...HistoryPage }),
  example: {
    input: { transactionType: 'FEE', page: 1, pageSize: 20 }, output: {
      movements: [{ ...sample.movement, userId: sample.USER }], ...sample.page,
    },
  },
  run: (gateway, call, input) => {
    const { entryType, transactionType, userId } = input
    const account = userId === undefined ? null : findUser(gateway, call, userId)
    const filters = {
      ...walkOf(input),
      asset: account === UNKNOWN ? UNKNOWN : assetFilter(gateway, input.token),
      entry: entryType === undefined ? undefined : Entry[entryType],
      transaction: transactionType === undefined ? undefined : Transaction[transactionType],
    }
    const record = (movement: HistoryMovement): Static<typeof ApplicationMovement> =>
      ({ ...movementRecord(gateway, movement), userId: userIdOf(gateway, movement.account) })
    const answer = (found: Listing<HistoryMovement> | Refused, _: number, behind: number | null): void => {
      if (found instanceof Refused) return call.refuse(found)
      const listing = ofUser(gateway, call, userId, found)
      call.answer({ movements: listing.rows.map(record), ...pageFields(input, listing, behind) })
    }
    if (account === null || account === UNKNOWN) {
      askHistory(gateway.history, 'applicationMovements', { ...filters, application: call.application }, answer)
    } else askHistory(gateway.history, 'movements', { ...filters, account }, answer)
  },
})

const ApplicationStatsRecord = Type.Object({
  /** The asset of every amount here. */
  assetId: field(Uuid, 'Asset of every amount here.'),
  symbol: fields.symbol,
  /** Value of the trades in which a user of the application was the taker. */
  volume: field(Decimal, 'Value of the trades in which a user was the taker.'),
  /** Of the application's users; positive: paid, negative: earned. */
  makerFee: field(Decimal, 'Fees of the users as makers: positive paid, negative earned.'),
  takerFee: field(Decimal, 'Fees of the users as takers: positive paid, negative earned.'),
  applicationFee: field(Decimal, 'What the application charged the users besides.'),
  totalUsers: field(Type.Integer(), 'Users of the application.'),
  /** Users that traded. */
  activeUsers: field(Type.Integer(), 'Users that traded since then.'),
  /** Trades in which a user of the application took part. */
  totalTrades: field(Type.Integer(), 'Trades since then in which a user took part; one between two users counts once.'),
  /** As asked for; `null`: from the beginning. */
  since: field(Nullable(Timestamp), 'The moment asked for; null: from the beginning.'),
  /** The newest command in it, and when it is complete to: now, or when that command was if others are missing. */
  sequence: field(Type.Integer(), 'Newest command in it.'),
  asOf: fields.asOf,
})
type StatsRecord = Static<typeof ApplicationStatsRecord>

interface Asked {
  readonly since: number | null
  readonly sequence: number
  readonly asOf: number
}

function statsRecord(gateway: Gateway, stats: ApplicationStats, { since, sequence, asOf }: Asked): StatsRecord {
  const { asset: index, volume, makerFee, takerFee, applicationFee, ...counts } = stats
  const asset = gateway.genesis.assets[index]!
  return {
    assetId: asset.id,
    symbol: asset.symbol,
    volume: amountText(asset, volume),
    makerFee: amountText(asset, makerFee),
    takerFee: amountText(asset, takerFee),
    applicationFee: amountText(asset, applicationFee),
    ...counts,
    since: since === null ? null : rfc3339(since),
    sequence,
    asOf: rfc3339(asOf),
  }
}

export const GetApplicationStats = operation({
  service: 'ApplicationsService', method: 'GET', path: '/api/v1/applications/stats',
  access: 'server-key', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'What the users traded',
  description: 'Volume, fees and numbers of users and trades, exact, of all time or from a moment on. Amounts are in one asset, at the '
    + 'prices of the moment of each trade.',
  answer: 'The statistics.',
  refusals: HISTORY,
  query: Type.Object({ since: field(Time, 'Only trades at or after it count; absent: all.') }),
  output: ApplicationStatsRecord,
  example: {
    input: { since: sample.MOMENT },
    output: {
      assetId: sample.USDC, symbol: 'USDC', volume: '3000', makerFee: '-0.15', takerFee: '1.5', applicationFee: '0', totalUsers: 12,
      activeUsers: 2, totalTrades: 1, since: sample.MOMENT, sequence: 43, asOf: sample.LATER,
    },
  },
  run: (gateway, call, input) => {
    const since = input.since === undefined ? null : timeIn('since', input.since)
    if (since instanceof Refused) return call.refuse(since)
    const now = gateway.time()
    const ask = { application: call.application, since: since ?? 0 }
    askHistory(gateway.history, 'applicationStats', ask, (stats, sequence, behind) => {
      if (stats instanceof Refused) call.refuse(stats)
      else call.answer(statsRecord(gateway, stats, { since, sequence, asOf: behind ?? now }))
    })
  },
})
