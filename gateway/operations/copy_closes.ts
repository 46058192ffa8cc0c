/**
 * Closing the copy positions of follows, which are kept: CloseFollowPositions and CloseAllFollowPositions (specification, Copy trading).
 *
 * A follow is one batch of orders: a MARKET close for each open position of its margin account, as ClosePosition places
 * it, by several orders where one may not be as large (close_parts.ts), and admitted as a whole. One that finds no room
 * is a failed follow, and the others still close. Neither copy trading nor maintenance stops it: closes are taken
 * always. How it ends is counted by the answers: `positionsNotClosed` are those whose close was refused or not filled in
 * full.
 */
import Type from 'typebox'
import { FollowState } from '../../core/layout/copying.ts'
import { followId } from '../../core/layout/ids.ts'
import { readFollows, type FollowView } from '../../core/view/copying.ts'
import { readMarginAccounts, type MarginAccountView } from '../../core/view/margin.ts'
import { CREDIT, noRoom, send, WAY_OUT } from '../bridge/engine_client.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { CloseParts } from './close_parts.ts'
import { closeTerms } from './close_terms.ts'
import { followIdField, followNamed, noFollow } from './copy_record.ts'
import * as sample from './example_values.ts'
import { operation, Uuid, type Call } from './operation.ts'
import { BATCH, READ } from './refusal_groups.ts'
import { field, record } from './schema.ts'

const ClosedFollow = record('ClosedFollow', 'What closing the positions of a follow came to.', Type.Object({
  followId: followIdField,
  closeOrdersPlaced: field(Type.Integer(), 'Close orders that were accepted.'),
  positionsNotClosed: field(Type.Integer(), 'Positions whose close was refused or not filled in full.'),
}))
interface ClosedFollow { followId: string; closeOrdersPlaced: number; positionsNotClosed: number }
interface FailedFollow { followId: string; reason: string }

const idOf = ({ createdSequence, row }: FollowView): string => followId(createdSequence, row)

/** Closes of the open positions in the margin account of a follow. */
function closesOf({ genesis }: Gateway, accounts: readonly MarginAccountView[], follow: FollowView): OrderTerms[] {
  const margin = accounts.find(({ row, createdSequence }) => row === follow.marginAccount && createdSequence === follow.marginSequence)
  const open = margin?.buckets.flatMap(({ positions }) => positions.filter(({ openedSequence }) => openedSequence > 0)) ?? []
  return open.flatMap((position) => {
    const pair = genesis.pairs[position.pair]!
    const terms = closeTerms(pair, position, {})
    return terms instanceof Refused ? [] : [terms]
  })
}

/** Closes the positions of all `follows`, each a batch of its own; then `done` with what came of it. */
function closeFollows(
  gateway: Gateway, call: Call<never>, follows: readonly FollowView[], accounts: readonly MarginAccountView[],
  done: (closed: ClosedFollow[], failed: FailedFollow[]) => void,
): void {
  const { engine, config } = gateway
  const failed: FailedFollow[] = []
  const closings: ClosedFollow[] = []
  const until = performance.now() + config.batchDeadlineMs
  let left = 1
  const finish = (): void => {
    if (--left === 0) done(closings, failed)
  }
  for (const follow of follows) {
    const closes = closesOf(gateway, accounts, follow)
    const closed: ClosedFollow = { followId: idOf(follow), closeOrdersPlaced: 0, positionsNotClosed: 0 }
    const full = closes.length === 0 ? null : noRoom(engine, call.account, closes.length * CREDIT, WAY_OUT)
    if (full !== null) {
      failed.push({ followId: closed.followId, reason: full })
      continue
    }
    closings.push(closed)
    if (closes.length === 0) continue
    left += closes.length
    const count = ({ orderIds, isClosed }: CloseParts): void => {
      closed.closeOrdersPlaced += orderIds.length
      if (!isClosed) closed.positionsNotClosed++
      finish()
    }
    for (const terms of closes) new CloseParts(gateway, call, terms, WAY_OUT, until, count).encode()
    send(engine)
  }
  finish()
}

/** Follows of the caller with his margin accounts, or why they cannot be read. */
function readBoth({ state, gate }: Gateway, account: number): [FollowView[], MarginAccountView[]] | Refused {
  const follows = readFollows(state, gate, account)
  const accounts = readMarginAccounts(state, gate, account)
  return follows === null || accounts === null ? new Refused('ENGINE_UNAVAILABLE') : [follows, accounts]
}

export const CloseFollowPositions = operation({
  service: 'CopyTradingService', method: 'POST', path: '/api/v1/copy-trading/follows/{followId}/close-positions',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'close',
  summary: 'Close the positions of a follow',
  description: 'Closes its copy positions at market and keeps the follow, which goes on mirroring. Not gated by maintenance.',
  answer: 'What came of it.',
  refusals: ['NOT_FOUND', 'FOLLOW_STOPPING', ...READ, ...BATCH],
  params: Type.Object({ followId: followIdField }),
  output: ClosedFollow,
  example: {
    input: { followId: sample.FOLLOW }, output: { followId: sample.FOLLOW, closeOrdersPlaced: 2, positionsNotClosed: 0 },
  },
  run: (gateway, call, input) => {
    const named = followNamed(input.followId)
    if (named instanceof Refused) return call.refuse(named)
    const read = readBoth(gateway, call.account)
    if (read instanceof Refused) return call.refuse(read)
    const [follows, accounts] = read
    const follow = follows.find(({ row, createdSequence }) => row === named.row && createdSequence === named.createdSequence)
    if (follow === undefined) return call.refuse(noFollow())
    if (follow.state === FollowState.STOPPING) return call.refuse(new Refused('FOLLOW_STOPPING'))
    closeFollows(gateway, call, [follow], accounts, ([closed], [failed]) => {
      if (closed !== undefined) call.answer(closed)
      else call.refuse(new Refused(failed!.reason === 'TOO_MANY_IN_FLIGHT' ? 'TOO_MANY_IN_FLIGHT' : 'OVERLOADED'))
    })
  },
})

export const CloseAllFollowPositions = operation({
  service: 'CopyTradingService', method: 'POST', path: '/api/v1/copy-trading/follows/close-positions',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'close',
  summary: 'Close the positions of all follows',
  description: 'Closes the copy positions of every live follow of the caller, one batch for each, and keeps the follows, which go on '
    + 'mirroring: no guarantee that everything is flat. One whose stop is in progress is left to it and listed; one whose close could not '
    + 'run is listed too, and the others still close. One with nothing to close has 0 orders placed. Not gated by maintenance. It '
    + 'shares the rate limit of closing a single follow.',
  answer: 'What came of each.',
  refusals: READ,
  output: Type.Object({
    follows: field(Type.Array(ClosedFollow), 'Live follows, newest first.'),
    stoppingFollowIds: field(Type.Array(Uuid), 'Follows whose stop is in progress.'),
    failedFollows: field(Type.Array(Type.Object({
      followId: followIdField, reason: field(Type.String(), 'Code of the refusal, such as TOO_MANY_IN_FLIGHT.'),
    })), 'Follows whose close could not run.'),
  }),
  example: {
    input: {},
    output: {
      follows: [{ followId: sample.FOLLOW, closeOrdersPlaced: 2, positionsNotClosed: 0 }], stoppingFollowIds: [], failedFollows: [],
    },
  },
  run: (gateway, call) => {
    const read = readBoth(gateway, call.account)
    if (read instanceof Refused) return call.refuse(read)
    const [all, accounts] = read
    const live = all.filter(({ state }) => state !== FollowState.STOPPING)
    const stoppingFollowIds = all.filter(({ state }) => state === FollowState.STOPPING).map(idOf)
    closeFollows(gateway, call, live, accounts, (follows, failedFollows) => call.answer({ follows, stoppingFollowIds, failedFollows }))
  },
})
