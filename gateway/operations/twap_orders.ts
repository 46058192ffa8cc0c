/**
 * TWAP orders: a quantity that is traded in slices over a window of time. Create, read, cancel, and the orders that were its slices.
 * (Specification, TWAP order; Orders.)
 *
 * Those that wait or run are read from the shared columns, others and all slices from the history. Somebody else's and a missing one are
 * the same 404. A delegated agent makes none.
 */
import Type, { type Static } from 'typebox'
import { TWAP_ANSWER } from '../../core/layout/answers.ts'
import { Flag } from '../../core/layout/command.ts'
import { IdKind, parseId, riskBucketId, twapOrderId } from '../../core/layout/ids.ts'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import { TWAP_STATE_NAMES, TwapState } from '../../core/layout/twap.ts'
import type { Views } from '../../core/layout/table.ts'
import { readTwap, readTwaps, twapPlace, type TwapView } from '../../core/view/twaps.ts'
import { encodeCancelTwap, encodeCreateTwap } from '../bridge/encode_waiting.ts'
import { WAY_IN, WAY_OUT } from '../bridge/engine_client.ts'
import { askHistory } from '../bridge/history.ts'
import type { MarginTerms, TwapTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { pairFilter } from './history_filters.ts'
import { answerListing, AsOf, ListingQuery, readListing } from './listing.ts'
import { engineRefusal, operation, pendingRequest, rfc3339, submit, Timestamp, Uuid, type Call } from './operation.ts'
import { marginAccountName, OrderRecord, orderRecord, Sequenced, sequencedOf, type OrderFacts } from './order_record.ts'
import { COMMAND, HISTORY, READ } from './refusal_groups.ts'
import { field } from './schema.ts'
import { BucketOpening, bucketToOpen, openingRefusal } from './strategy_buckets.ts'
import { firstSliceAtField, plannedSlicesField, twapOrderIdField, TwapRecord, twapRecord, TwapStateName } from './twap_record.ts'
import { TwapBody, twapTerms } from './twap_terms.ts'
import { listWaiting, WaitingOutput, WaitingQuery, WALKS } from './waiting_listing.ts'

const Done = Type.Literal('SUCCESS')
const TwapPath = Type.Object({ twapOrderId: twapOrderIdField })
const missing = (): Refused => new Refused('ORDER_NOT_FOUND')

/** The field of a request that a refusal of the engine is about, where there is one. */
const FIELDS: Partial<Readonly<Record<RefusalCode, string>>> = {
  PAIR_NOT_ACTIVE: 'tradingPairId', BELOW_MIN_ORDER_SIZE: 'quantity', INVALID_SCHEDULE: 'endTime', INVALID_EXPIRATION: 'conditionalExpiry',
  CLIENT_ORDER_ID_CONFLICT: 'clientTwapId', LEVERAGE_TOO_LOW: 'leverage', LEVERAGE_TOO_HIGH: 'leverage',
  RISK_BUCKET_MISMATCH: 'riskBucketId',
  STRATEGY_KEY_UNKNOWN: 'strategyKey', NOT_SUB_ACCOUNT: 'useMasterBalance', MASTER_BALANCE_NOT_ALLOWED: 'useMasterBalance',
}

export const CreateTwapOrder = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/twap',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'create',
  summary: 'Place a TWAP order',
  description: 'Trades a quantity in slices over a window of time, one each 30 seconds unless the exchange says otherwise, each an order '
    + 'of its own with `parentOrderId`. Nothing is held for it: a slice needs its funds or margin when its time comes, and one that cannot '
    + 'be placed is left out, so that later ones are larger. At the end nothing is made up for: what was not filled is the `shortfall`.\n\n'
    + 'It may wait for `startTime`, and for a price: `triggerPrice` with `triggerDirection`. It ends when the session that made it is '
    + 'revoked. Once half of all places are taken, the others are for accounts that hold at least the least order of the pair. '
    + 'Delegated agents make none. A request draws one item from the budget; slices draw none.',
  answer: 'The TWAP order was accepted.',
  refusals: [
    'NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', 'BELOW_MIN_ORDER_SIZE', 'PAIR_NOT_ACTIVE', 'WRONG_TRADING_MODE', 'INVALID_SCHEDULE',
    'INVALID_EXPIRATION', 'CLIENT_ORDER_ID_CONFLICT', 'LEVERAGE_TOO_LOW', 'LEVERAGE_TOO_HIGH', 'RISK_BUCKET_MISMATCH',
    'STRATEGY_KEY_UNKNOWN', 'NOT_SUB_ACCOUNT', 'MASTER_BALANCE_NOT_ALLOWED', 'TOO_MANY_TWAP_ORDERS', 'INSUFFICIENT_BALANCE',
    'INSUFFICIENT_MARGIN', 'TOO_MANY_CONDITIONAL_ORDERS',
    'TOO_MANY_RISK_BUCKETS', 'TOO_MANY_MARGIN_ACCOUNTS', 'LEASE_LOST', ...COMMAND,
  ],
  body: TwapBody,
  output: Type.Object({
    twapOrderId: twapOrderIdField,
    status: field(Done, 'SUCCESS: what was asked for was done.'),
    message: fields.message,
    state: field(TwapStateName, 'PENDING while it waits for its start time or its price, else ACTIVE.'),
    marginAccountId: Type.Optional(field(Uuid, 'Of margin orders: margin account it trades for.')),
    riskBucketId: Type.Optional(field(Uuid, 'Of margin orders: risk bucket it trades in; absent while there is none.')),
    plannedSlices: plannedSlicesField,
    firstSliceAt: Type.Optional(firstSliceAtField),
    endTime: Type.Optional(field(Timestamp, 'When its window ends; absent while that is not known.')),
    ...Sequenced,
  }),
  example: {
    input: { tradingPairId: sample.PAIR, side: 'BUY', quantity: '0.3', durationSeconds: 300, clientTwapId: 'in-parts-1' },
    output: {
      twapOrderId: sample.TWAP, status: 'SUCCESS', message: 'TWAP order accepted', state: 'ACTIVE', plannedSlices: 10,
      firstSliceAt: sample.MOMENT, endTime: '2026-01-15T09:35:00.000Z', sequence: 72, engineTime: sample.MOMENT,
    },
  },
  run: (gateway, call, input) => {
    const terms = twapTerms(gateway, call.account, input)
    if (terms instanceof Refused) return call.refuse(terms)
    const bucket = bucketToOpen(gateway, call.account, { ...terms, key: '' })
    const opening = bucket === null ? null : new BucketOpening(bucket)
    const pending = pendingRequest(call, (records, base) => answerCreated(gateway, call, terms, records, base), (records, base) =>
      openingRefusal(records, base, opening) ?? createRefusal(terms, engineRefusal(records, base)))
    const encode = (at: number, correlation: number): void => encodeCreateTwap(gateway.engine, at, correlation, call, terms)
    submit(gateway, call, pending, encode, WAY_IN, false, opening)
  },
})

function createRefusal({ margin, durationMs }: TwapTerms, { code, message, details }: Refused): Refused {
  const field = code === 'NOT_FOUND' ? namedBy(margin) : code === 'INVALID_SCHEDULE' && durationMs > 0 ? 'startTime' : FIELDS[code]
  return new Refused(code, message, field === undefined ? details : { ...details, field })
}

const namedBy = (margin: MarginTerms | null): string | undefined =>
  margin === null ? undefined : margin.bucket !== 0 ? 'riskBucketId' : 'marginAccountId'

function answerCreated(
  gateway: Gateway, call: Call<Static<typeof CreateTwapOrder.output>>, terms: TwapTerms, records: Views, base: number,
): void {
  const { i32, f64 } = records
  const { at } = TWAP_ANSWER
  const sequenced = sequencedOf(records, base)
  const [state, first, end] = [i32[base + at.state]!, f64[(base + at.firstSliceAt) >>> 1]!, f64[(base + at.endAt) >>> 1]!]
  // What waits for its price begins when that comes.
  const known = state === TwapState.ACTIVE || terms.trigger === 0
  call.answer({
    twapOrderId: twapOrderId(sequenced.sequence, i32[base + at.twap]!),
    status: 'SUCCESS',
    message: 'TWAP order accepted',
    state: TWAP_STATE_NAMES[state] as TwapStateName,
    ...placeOf(gateway, call.account, terms),
    plannedSlices: i32[base + at.slices]!,
    ...(known && first !== 0 ? { firstSliceAt: rfc3339(first) } : {}),
    ...(end === 0 ? {} : { endTime: rfc3339(end) }),
    ...sequenced,
  })
}

/** Where a TWAP order of a perpetual trades. */
function placeOf({ state }: Gateway, account: number, { margin, pair, flags }: TwapTerms) {
  if (margin === null) return {}
  const { marginAccount, bucket, namedSequence, keyLow, keyHigh } = margin
  const place = twapPlace(state, account, {
    marginAccount: marginAccount - 1, bucket: bucket - 1, namedSequence, pair: (flags & Flag.CROSS) !== 0 ? -1 : pair, keyLow, keyHigh,
  })
  return {
    marginAccountId: marginAccountName(account, place.marginAccount),
    ...(place.bucket === null ? {} : { riskBucketId: riskBucketId(place.bucket.sequence, place.bucket.row) }),
  }
}

const Filters = Type.Object({
  ...WaitingQuery,
  state: Type.Optional(field(Type.Array(TwapStateName, { maxItems: 16 }), 'Only those in these states; may be repeated.')),
  tradingPairId: Type.Optional(fields.pairName),
})

const RUNS: readonly string[] = ['PENDING', 'ACTIVE']
const positionOf = ({ createdSequence }: TwapView) => ({ sequence: createdSequence, index: 0 })

export const ListTwapOrders = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/twap',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'TWAP orders',
  description: 'TWAP orders of the caller in any state, newest first. Asked for PENDING and ACTIVE only, it has what waits or runs at this '
    + `moment. ${WALKS}`,
  answer: 'A page of TWAP orders.',
  refusals: [...READ, ...HISTORY],
  query: Filters,
  output: Type.Object({ twapOrders: field(Type.Array(TwapRecord), 'Newest first.'), ...WaitingOutput }),
  example: {
    input: { state: ['PENDING', 'ACTIVE'], pageToken: '', pageSize: 20 },
    output: { twapOrders: [sample.twapOrder], page: 0, pageSize: 20, total: 0, nextPageToken: '' },
  },
  run: (gateway, call, input) => {
    const { state: named = [] } = input
    const states = named.map((name) => TWAP_STATE_NAMES.indexOf(name))
    const pair = pairFilter(gateway, input.tradingPairId)
    listWaiting(gateway, call, input, {
      operation: 'ListTwapOrders', question: 'twapOrders', positionOf,
      liveOnly: named.length > 0 && named.every((name) => RUNS.includes(name)),
      filters: { account: call.account, pair, states: states.length === 0 ? undefined : states },
      matches: (row) => states.includes(row.state) && (pair === undefined || row.pair === pair),
      read: () => readTwaps(gateway.state, gateway.gate, call.account)?.twaps ?? null,
    }, (rows, fields) => call.answer({ twapOrders: rows.map((row) => twapRecord(gateway, row)), ...fields }))
  },
})

export const GetTwapOrder = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/twap/{twapOrderId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One TWAP order',
  description: 'Reads one TWAP order of the caller, also after it ended.',
  answer: 'The TWAP order.',
  refusals: ['ORDER_NOT_FOUND', ...READ, ...HISTORY],
  params: TwapPath,
  output: TwapRecord,
  example: { input: { twapOrderId: sample.TWAP }, output: sample.twapOrder },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.TWAP_ORDER, input.twapOrderId)
    if (id === null) return call.refuse(missing())
    const live = readTwap(gateway.state, gateway.gate, call.account, id.slot, id.sequence)
    if (live === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    if (live !== undefined) return call.answer(twapRecord(gateway, live))
    const ask = { account: call.account, sequence: id.sequence, row: id.slot }
    askHistory(gateway.history, 'twapOrder', ask, (found, _, behind) => {
      if (found instanceof Refused) return call.refuse(found)
      // It does not run, so a history that knows of no end is behind.
      const ended = found !== null && found.state !== TwapState.PENDING && found.state !== TwapState.ACTIVE
      if (ended) return call.answer(twapRecord(gateway, found))
      call.refuse(found === null && behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
    })
  },
})

export const CancelTwapOrder = operation({
  service: 'OrdersService', method: 'DELETE', path: '/api/v1/orders/twap/{twapOrderId}',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'reduce',
  summary: 'Cancel a TWAP order',
  description: 'Ends a TWAP order that waits or runs, and its slice that rests. What was filled stays. One that is over, or was never '
    + 'there, is ORDER_NOT_FOUND: repeating a cancel is safe. Stays available in maintenance.',
  answer: 'The TWAP order is cancelled.',
  refusals: ['ORDER_NOT_FOUND', 'PAIR_NOT_ACTIVE', ...COMMAND],
  params: TwapPath,
  output: Type.Object({
    twapOrderId: twapOrderIdField, status: field(Done, 'SUCCESS: what was asked for was done.'), message: fields.message, ...Sequenced,
  }),
  example: {
    input: { twapOrderId: sample.TWAP },
    output: { twapOrderId: sample.TWAP, status: 'SUCCESS', message: 'TWAP order cancelled', sequence: 80, engineTime: sample.LATER },
  },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.TWAP_ORDER, input.twapOrderId)
    if (id === null) return call.refuse(missing())
    const pending = pendingRequest(call, (records, base) => call.answer({
      twapOrderId: input.twapOrderId.toLowerCase(), status: 'SUCCESS', message: 'TWAP order cancelled', ...sequencedOf(records, base),
    }))
    submit(gateway, call, pending, (at, correlation) =>
      encodeCancelTwap(gateway.engine, at, correlation, call, id.slot, id.sequence), WAY_OUT)
  },
})

const SliceQuery = Type.Object({
  pageSize: ListingQuery.pageSize,
  pageToken: Type.Optional(field(
    Type.String({ maxLength: 512 }), 'Cursor from nextPageToken, good for this TWAP order and direction; empty or absent: the first slice.',
  )),
  orderBy: Type.Optional(field(
    Type.Union([Type.Literal('ASC'), Type.Literal('DESC')]), 'By createdAt: ASC (default) oldest first, DESC newest first.',
  )),
})

export const ListTwapSlices = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/twap/{twapOrderId}/slices',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Slices of a TWAP order',
  description: 'The orders that a TWAP order of the caller placed, each with `parentOrderId`. It is a walk with `pageToken`; `orderBy` '
    + 'says from which end.',
  answer: 'A page of orders.',
  refusals: ['ORDER_NOT_FOUND', ...READ, ...HISTORY],
  params: TwapPath,
  query: SliceQuery,
  output: Type.Object({
    slices: field(Type.Array(OrderRecord), 'In the order that was asked for.'),
    pageSize: field(Type.Integer(), 'Rows of a page.'),
    nextPageToken: field(Type.String(), 'Cursor of the next page; empty at the end. Do not feed an empty one back: it would start again.'),
    ...AsOf,
  }),
  example: {
    input: { twapOrderId: sample.TWAP, pageSize: 20 }, output: { slices: [sample.slice], pageSize: 20, nextPageToken: '' },
  },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.TWAP_ORDER, input.twapOrderId)
    if (id === null) return call.refuse(missing())
    const { orderBy = 'ASC', pageSize, pageToken } = input
    const ascending = orderBy === 'ASC'
    // An id may be written in either case; page tokens are bound to one.
    const asked = { pageSize, pageToken, orderBy, twapOrderId: twapOrderId(id.sequence, id.slot) }
    const rules = { direction: ascending ? 'oldest-first' : 'newest-first', walks: true } as const
    const plan = readListing(gateway, call, 'ListTwapSlices', asked, rules)
    if (plan instanceof Refused) return call.refuse(plan)
    const ask = { account: call.account, sequence: id.sequence, row: id.slot, ascending, limit: plan.walk.limit, after: plan.walk.after }
    askHistory(gateway.history, 'twapSlices', ask, (listing, _, behind) => {
      if (listing instanceof Refused) return call.refuse(listing)
      if (listing === null) return call.refuse(behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
      const { pageSize, nextPageToken = '', asOf } = answerListing(gateway, plan, listing, slicePosition, behind)
      const slices = listing.rows.map((order) => orderRecord(gateway, order))
      call.answer({ slices, pageSize, nextPageToken, ...(asOf === undefined ? {} : { asOf }) })
    })
  },
})

const slicePosition = ({ sequence }: OrderFacts) => ({ sequence, index: 0 })
