/**
 * Copy trading (specification, Copy trading): leaders and their handles, follows, and what a leader and his followers may see of each
 * other. Closing copies is copy_closes.ts. A leader that has no handle, that was released, and one whom the caller does not follow are the
 * same 404.
 */
import Type from 'typebox'
import { FOLLOW_ANSWER } from '../../core/layout/answers.ts'
import { FollowState } from '../../core/layout/copying.ts'
import type { HistoryFollow } from '../../core/history/answer/queries.ts'
import { parsePositive } from '../../core/lib/decimal.ts'
import {
  readFollowedLeader, readFollowers, readFollows, readLeaderOf, readLeaders, type FollowView,
} from '../../core/view/copying.ts'
import { MarginMode, readMarginAccounts } from '../../core/view/margin.ts'
import type { Views } from '../../core/layout/table.ts'
import type { Asset } from '../../core/state/genesis.ts'
import {
  encodeCreateFollow, encodeRegisterLeader, encodeReleaseLeader, encodeStopFollow, encodeUpdateFollow,
} from '../bridge/encode_copying.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { Amount, atomsOf } from './amounts.ts'
import { ClientId } from './auth.ts'
import {
  followerRecord, FollowerRecord, followIdField, followNamed, followRecord, FollowRecord, Handle, handleField, leaderRecord, LeaderRecord,
  LiveStatus, noFollow, statusOf, FollowStatus, stoppedFollowRecord,
} from './copy_record.ts'
import { collateralRefusal } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import { answerListing, AsOf, ListingQuery, readListing, type ListingInput } from './listing.ts'
import { listLive } from './live_listing.ts'
import { collateralOf, MarginModeName } from './margin_summary.ts'
import { Decimal, operation, PageOutput, pageOf, PageQuery, pendingRequest, submit, type Call } from './operation.ts'
import { positionRecord, PositionSideName } from './position_record.ts'
import * as fields from './fields.ts'
import { isReserved } from './reserved_handles.ts'
import { COMMAND, HISTORY, READ } from './refusal_groups.ts'
import { field, record } from './schema.ts'

const missingLeader = (): Refused => new Refused('NOT_FOUND', 'Leader not found', { field: 'leader' })
const LEVERAGE_SCALE = 2
interface StoppedFollows { follows: FollowRecord[]; nextPageToken?: string; asOf?: string }
const FollowPath = Type.Object({ followId: followIdField })

export const ListLeaders = operation({
  service: 'CopyTradingService', method: 'GET', path: '/api/v1/copy-trading/leaders',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Leaders',
  description: 'Everybody who has a handle in an application, by what is allocated to them, the most first: copy trading stays inside one '
    + 'application. Return and drawdown are those of the last 30 days at the last full hour; they are null while the history cannot be '
    + 'read.',
  answer: 'A page of leaders.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({
    ...PageQuery,
    clientId: field(ClientId, 'Application, as for the sign-in; absent: the default one.'),
  }),
  output: Type.Object({ leaders: field(Type.Array(LeaderRecord), 'The most allocated first.'), ...PageOutput }),
  example: { input: { page: 1, pageSize: 20 }, output: { leaders: [sample.leader], ...sample.page } },
  run: (gateway, call, { page, pageSize, clientId }) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const { applications } = gateway
    const application = clientId === undefined ? applications.at(0) : applications.byClientId(clientId)
    if (application === undefined) return call.refuse(new Refused('NOT_FOUND', 'Application not found', { field: 'clientId' }))
    const all = readLeaders(gateway.state, gateway.gate, application.application)
    if (all === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    all.sort((a, b) => (a.allocated === b.allocated ? a.since - b.since : a.allocated < b.allocated ? 1 : -1))
    const { items, ...rest } = pageOf(all, page, pageSize)
    const accounts = items.map(({ account }) => account)
    if (accounts.length === 0) return call.answer({ leaders: [], ...rest })
    askHistory(gateway.history, 'leaderFigures', { accounts }, (given) => {
      const figures = given instanceof Refused ? [] : given
      call.answer({ leaders: items.map((view, index) => leaderRecord(asset, view, figures[index] ?? null)), ...rest })
    })
  },
})

export const RegisterLeader = operation({
  service: 'CopyTradingService', method: 'PUT', path: '/api/v1/copy-trading/leaders/me',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Take a handle',
  description: 'The caller may be followed under this handle from now on. Handles are unique in the application, '
    + 'whatever their case. One that was released is nobody else\'s for a pause (30 days by default), and who released it takes no other '
    + 'one meanwhile. Who follows anybody cannot lead. Taking the own handle again changes nothing but its letters\' case. '
    + 'Names of the service and its staff are reserved.',
  answer: 'The handle is the caller\'s.',
  refusals: [
    'NOT_FOUND', 'COPY_TRADING_OFF', 'HANDLE_TAKEN', 'HANDLE_CHANGE_TOO_SOON', 'ALREADY_LEADER', 'CANNOT_LEAD', 'TOO_MANY_LEADERS',
    ...READ, ...COMMAND,
  ],
  body: Type.Object({ handle: field(Handle, '3 to 24 letters, digits, underscores or hyphens.') }),
  output: LeaderRecord,
  example: { input: { handle: sample.leader.handle }, output: sample.leader },
  run: (gateway, call, { handle }) => {
    if (isReserved(handle)) return call.refuse(refusedField('handle', 'The handle is reserved', 'HANDLE_TAKEN'))
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const pending = pendingRequest(call, () => {
      const leader = readLeaderOf(gateway.state, gateway.gate, call.account)
      // It was done; only the answer could not be read.
      if (leader === null || leader === undefined) call.refuse(new Refused('SERVICE_UNAVAILABLE'))
      else call.answer(leaderRecord(asset, leader, null))
    })
    submit(gateway, call, pending, (at, correlation) => encodeRegisterLeader(gateway.engine, at, correlation, call, handle))
  },
})

export const ReleaseLeader = operation({
  service: 'CopyTradingService', method: 'DELETE', path: '/api/v1/copy-trading/leaders/me',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Give the handle back',
  description: 'The handle names no one from now on, for followers too. Live follows go on until their owners stop them.',
  answer: 'It is released.',
  refusals: ['NOT_FOUND', ...COMMAND],
  output: Type.Object({ released: field(Type.Literal(true), 'True.') }),
  example: { input: {}, output: { released: true } },
  run: (gateway, call) => {
    const pending = pendingRequest(call, () => call.answer({ released: true }))
    submit(gateway, call, pending, (at, correlation) => encodeReleaseLeader(gateway.engine, at, correlation, call))
  },
})

const LeaderPosition = record('LeaderPosition', 'What a leader holds of a perpetual.', Type.Object({
  tradingPairId: fields.tradingPairId,
  side: field(PositionSideName, 'LONG or SHORT.'),
  size: field(Decimal, 'Open quantity, in units of the base token.'),
  entryPrice: field(Decimal, 'Average price of what is open.'),
  markPrice: field(Decimal, 'Mark price.'),
  unrealizedPnl: field(Decimal, 'Profit of what is open at the mark price.'),
  leverage: field(Decimal, 'Its leverage.'),
  marginMode: field(MarginModeName, 'ISOLATED or CROSS.'),
}))

export const ListLeaderPositions = operation({
  service: 'CopyTradingService', method: 'GET', path: '/api/v1/copy-trading/leaders/{leader}/positions',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Positions of a leader',
  description: 'For those who follow the leader now, ACTIVE or CLOSE_ONLY, in the application of the session. A handle that was released '
    + 'names no one: 404, also for them.',
  answer: 'Open positions of the leader.',
  refusals: ['NOT_FOUND', ...READ],
  params: Type.Object({ leader: handleField }),
  output: Type.Object({ positions: field(Type.Array(LeaderPosition), 'Open ones, newest first.') }),
  example: { input: { leader: sample.leader.handle }, output: { positions: [sample.leaderPosition] } },
  run: (gateway, call, { leader }) => {
    const { state, gate } = gateway
    const account = readFollowedLeader(state, gate, call.account, leader)
    if (account === undefined) return call.refuse(missingLeader())
    const accounts = account === null ? null : readMarginAccounts(state, gate, account)
    if (account === null || accounts === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    const open = accounts.flatMap((margin) => margin.buckets.flatMap((bucket) =>
      bucket.positions.filter(({ openedSequence }) => openedSequence > 0).map((position) => ({ margin, bucket, position }))))
    open.sort((a, b) => b.position.openedSequence - a.position.openedSequence)
    call.answer({
      positions: open.map((found) => {
        const { tradingPairId, side, size, entryPrice, markPrice, unrealizedPnl, leverage, marginMode } =
          positionRecord(gateway, account, found)
        return { tradingPairId, side, size, entryPrice, markPrice, unrealizedPnl, leverage, marginMode }
      }),
    })
  },
})

export const ListMyFollowers = operation({
  service: 'CopyTradingService', method: 'GET', path: '/api/v1/copy-trading/leaders/me/followers',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Who follows the caller',
  description: 'Live follows of the caller, newest first, each by wallet and display. Omit `pageToken` for the first page.',
  answer: 'A page of followers.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({ pageSize: ListingQuery.pageSize, pageToken: ListingQuery.pageToken }),
  output: Type.Object({
    followers: field(Type.Array(FollowerRecord), 'Newest first.'),
    nextPageToken: field(Type.String(), 'Cursor of the next page; empty at the end.'),
  }),
  example: { input: { pageSize: 20 }, output: { followers: [sample.follower], nextPageToken: '' } },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const read = () => readFollowers(gateway.state, gateway.gate, call.account)
    const positionOf = ({ createdSequence, row }: FollowView) => ({ sequence: createdSequence, index: row })
    listLive(gateway, call, 'ListMyFollowers', input, read, positionOf, (rows, { nextPageToken = '' }) =>
      call.answer({ followers: rows.map((view) => followerRecord(gateway, asset, view)), nextPageToken }), { walks: true })
  },
})

/** Why the engine refused: how much there is, or what is `missing`. */
const followRefusal = (gateway: Gateway, missing: () => Refused) => (records: Views, base: number): Refused => {
  const { code, message, details } = collateralRefusal(gateway, records, base)
  if (code === 'NOT_FOUND') return missing()
  return new Refused(code, message, code === 'INSUFFICIENT_COLLATERAL' ? { ...details, field: 'allocation' } : details)
}

/** Answers with the follow that a RESULT names, as it is by now. */
function answerFollow(gateway: Gateway, call: Call<FollowRecord>, { i32, f64 }: Views, base: number): void {
  const { at } = FOLLOW_ANSWER
  const [row, sequence] = [i32[base + at.follow]!, f64[(base + at.createdSequence) >>> 1]!]
  const asset = collateralOf(gateway)
  const view = readFollows(gateway.state, gateway.gate, call.account)?.find((each) => each.row === row && each.createdSequence === sequence)
  // It was done; only the answer could not be read, or it is over by now.
  if (asset instanceof Refused || view === undefined) call.refuse(new Refused('SERVICE_UNAVAILABLE'))
  else call.answer(followRecord(gateway, asset, view))
}

const exampleFollow = { leader: sample.leader.handle, allocation: '1500', maxLeverage: '5', marginMode: 'ISOLATED' as const }

export const CreateFollow = operation({
  service: 'CopyTradingService', method: 'POST', path: '/api/v1/copy-trading/follows',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'none',
  summary: 'Follow a leader',
  description: 'Moves the allocation from the free collateral of the parent margin account into a margin sub-account of its own, and '
    + 'mirrors what the leader does on perpetuals from now on: MARKET orders in proportion allocation : equity of the leader, rounded down '
    + 'to lots, in risk buckets with the strategy key `copy:<followId>`. The allocation counts up to 10 times that equity, and a leader '
    + 'with less than 100 is not copied. A copy opens within 50 basis points of the fill of the leader and of the mark price; it waits 20 '
    + 'seconds for such a price and is left out then, with `lastSkip` COPY_PRICE. What the leader has already is not copied. A leader '
    + 'cannot follow, nobody follows his own family or an account of another application, and a leader is followed once.',
  answer: 'The follow.',
  refusals: [
    'NOT_FOUND', 'COPY_TRADING_OFF', 'CANNOT_FOLLOW', 'ALREADY_FOLLOWING', 'ALLOCATION_TOO_SMALL', 'INSUFFICIENT_COLLATERAL',
    'TOO_MANY_FOLLOWS', 'LEADER_FULL', 'TOO_MANY_MARGIN_ACCOUNTS', ...READ, ...COMMAND,
  ],
  body: Type.Object({
    leader: handleField,
    allocation: field(Amount, 'In the collateral asset; 10 at least by default.'),
    maxLeverage: Type.Optional(field(Amount, 'Most leverage of a copy; absent: as the leader.')),
    marginMode: Type.Optional(field(MarginModeName, 'ISOLATED (default): a bucket for each pair; CROSS: one for all.')),
  }),
  output: FollowRecord,
  example: { input: exampleFollow, output: sample.follow },
  run: (gateway, call, { leader, allocation, maxLeverage, marginMode }) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const atoms = atomsOf(asset, 'allocation', allocation, 1n)
    if (atoms instanceof Refused) return call.refuse(atoms)
    const leverage = maxLeverage === undefined ? 0 : parsePositive(maxLeverage, LEVERAGE_SCALE)
    if (leverage < 0 || leverage > 1_000_000) {
      return call.refuse(refusedField('maxLeverage', 'maxLeverage must be positive, with at most 2 digits behind the point'))
    }
    const mode = marginMode === 'CROSS' ? MarginMode.CROSS : MarginMode.ISOLATED
    const terms = { handle: leader, allocation: atoms, maxLeverage: leverage, mode }
    const answer = (records: Views, base: number): void => answerFollow(gateway, call, records, base)
    const pending = pendingRequest(call, answer, followRefusal(gateway, missingLeader))
    submit(gateway, call, pending, (at, correlation) => encodeCreateFollow(gateway.engine, at, correlation, call, terms))
  },
})

export const ListFollows = operation({
  service: 'CopyTradingService', method: 'GET', path: '/api/v1/copy-trading/follows',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Follows of the caller',
  description: 'Live follows and those that are being stopped, all of them, newest first, each with why the last copy was left out. With '
    + '`status` STOPPED those that are over, by when they began; these in pages: omit `pageToken` for the first one.',
  answer: 'The follows.',
  refusals: ['NOT_FOUND', ...READ, ...HISTORY],
  query: Type.Object({
    status: Type.Optional(field(Type.Literal('STOPPED'), 'STOPPED: those that are over; absent: all others.')),
    pageSize: ListingQuery.pageSize, pageToken: ListingQuery.pageToken,
  }),
  output: Type.Object({
    follows: field(Type.Array(FollowRecord), 'Newest first.'),
    nextPageToken: Type.Optional(field(Type.String(), 'Of those that are over: cursor of the next page; empty at the end.')),
    ...AsOf,
  }),
  example: { input: {}, output: { follows: [sample.follow] } },
  run: (gateway, call, input) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    if (input.status === 'STOPPED') return listStopped(gateway, call, asset, input)
    if ((input.pageToken ?? '') !== '') return call.refuse(refusedField('pageToken', 'pageToken goes with status STOPPED only'))
    const views = readFollows(gateway.state, gateway.gate, call.account)
    if (views === null) call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    else call.answer({ follows: views.map((view) => followRecord(gateway, asset, view)) })
  },
})

function listStopped(gateway: Gateway, call: Call<StoppedFollows>, asset: Asset, input: ListingInput): void {
  const plan = readListing(gateway, call, 'ListFollows', input, { walks: true })
  if (plan instanceof Refused) return call.refuse(plan)
  const ask = { ...plan.walk, account: call.account, states: [FollowState.STOPPED] }
  askHistory(gateway.history, 'follows', ask, (listing, _, behind) => {
    if (listing instanceof Refused) return call.refuse(listing)
    const positionOf = ({ sequence, index }: HistoryFollow) => ({ sequence, index })
    const { nextPageToken = '', asOf } = answerListing(gateway, plan, listing, positionOf, behind)
    const follows = listing.rows.map((each) => stoppedFollowRecord(gateway, asset, each))
    call.answer({ follows, nextPageToken, ...(asOf === undefined ? {} : { asOf }) })
  })
}

export const UpdateFollow = operation({
  service: 'CopyTradingService', method: 'PATCH', path: '/api/v1/copy-trading/follows/{followId}',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Change a follow',
  description: 'Sets status, allocation or both. More allocation comes from the free collateral of the parent; less goes back there, as '
    + 'far as it is free in the margin account of the follow. While copy trading is switched off a follow is mirrored as CLOSE_ONLY, and '
    + 'neither becomes ACTIVE nor gets more allocation.',
  answer: 'The follow.',
  refusals: ['NOT_FOUND', 'FOLLOW_STOPPING', 'COPY_TRADING_OFF', 'ALLOCATION_TOO_SMALL', 'INSUFFICIENT_COLLATERAL', ...READ, ...COMMAND],
  params: FollowPath,
  body: Type.Object({
    status: Type.Optional(field(LiveStatus, 'ACTIVE or CLOSE_ONLY.')),
    allocation: Type.Optional(field(Amount, 'In the collateral asset.')),
  }),
  output: FollowRecord,
  example: {
    input: { followId: sample.FOLLOW, status: 'CLOSE_ONLY' }, output: { ...sample.follow, status: 'CLOSE_ONLY', updatedAt: sample.LATER },
  },
  run: (gateway, call, { followId, status, allocation }) => {
    const asset = collateralOf(gateway)
    if (asset instanceof Refused) return call.refuse(asset)
    const atoms = allocation === undefined ? undefined : atomsOf(asset, 'allocation', allocation, 1n)
    if (atoms instanceof Refused) return call.refuse(atoms)
    if (status === undefined && atoms === undefined) return call.refuse(refusedField('status', 'status or allocation must be given'))
    const named = followNamed(followId)
    if (named instanceof Refused) return call.refuse(named)
    const state = status === undefined ? undefined : FollowState[status]
    const answer = (records: Views, base: number): void => answerFollow(gateway, call, records, base)
    const pending = pendingRequest(call, answer, followRefusal(gateway, noFollow))
    submit(gateway, call, pending, (at, correlation) =>
      encodeUpdateFollow(gateway.engine, at, correlation, call, named, { state, allocation: atoms }))
  },
})

export const StopFollow = operation({
  service: 'CopyTradingService', method: 'POST', path: '/api/v1/copy-trading/follows/{followId}/stop',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'close',
  summary: 'Stop a follow',
  description: 'Nothing is mirrored to it any more. Its positions are closed at market within 50 basis points of the mark price; what '
    + 'cannot be closed is tried again after pauses of 5 seconds at first and 320 at most, within 100, 200 and 400 basis points after four '
    + 'attempts each. Then everything in its margin account goes back to the parent. `lastSkip` and '
    + '`nextAttemptAt` of the follow say why it takes long. Done as well when it is being stopped already.',
  answer: 'It is being stopped.',
  refusals: ['NOT_FOUND', ...COMMAND],
  params: FollowPath,
  output: Type.Object({ followId: followIdField, status: field(FollowStatus, 'STOPPING.') }),
  example: { input: { followId: sample.FOLLOW }, output: { followId: sample.FOLLOW, status: 'STOPPING' } },
  run: (gateway, call, { followId }) => {
    const named = followNamed(followId)
    if (named instanceof Refused) return call.refuse(named)
    const answer = ({ i32 }: Views, base: number): void =>
      call.answer({ followId: followId.toLowerCase(), status: statusOf(i32[base + FOLLOW_ANSWER.at.state]!) })
    const pending = pendingRequest(call, answer, followRefusal(gateway, noFollow))
    submit(gateway, call, pending, (at, correlation) => encodeStopFollow(gateway.engine, at, correlation, call, named))
  },
})
