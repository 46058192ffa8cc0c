/**
 * Closing the copy positions of follows, which are kept: CloseFollowPositions and CloseAllFollowPositions (specification, Copy trading).
 *
 * A follow is one batch of orders: a MARKET close for each open position of its margin account, as ClosePosition places it, and admitted as
 * a whole. One that finds no room is a failed follow, and the others still close. Neither copy trading nor maintenance stops it: closes are
 * taken always. How it ends is counted by the answers: `positionsNotClosed` are those whose close was refused or not filled in full.
 */
import Type from 'typebox'
import { ORDER_ANSWER } from '../../core/layout/answers.ts'
import { CommandType } from '../../core/layout/command.ts'
import { FollowState } from '../../core/layout/copying.ts'
import { RESULT } from '../../core/layout/event.ts'
import { followId } from '../../core/layout/ids.ts'
import type { Views } from '../../core/layout/table.ts'
import { readFollows, type FollowView } from '../../core/view/copying.ts'
import { readMarginAccounts, type MarginAccountView } from '../../core/view/margin.ts'
import { encodeOrder } from '../bridge/encode.ts'
import { CREDIT, noRoom, registerUntil, send, slotAt, WAY_OUT, type PendingRequest } from '../bridge/engine_client.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
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

/** The closes of one follow, in flight. */
class Closing implements PendingRequest {
  readonly closed: ClosedFollow
  readonly #lots: readonly number[]
  readonly #done: () => void
  #left: number

  constructor(followId: string, lots: readonly number[], done: () => void) {
    this.closed = { followId, closeOrdersPlaced: 0, positionsNotClosed: 0 }
    this.#lots = lots
    this.#left = lots.length
    this.#done = done
  }

  onResult({ i32 }: Views, base: number, index: number): void {
    const accepted = i32[base + RESULT.at.code]! === 0
    if (accepted) this.closed.closeOrdersPlaced++
    // As much of it as there was when it was read.
    const filled = accepted && i32[base + ORDER_ANSWER.at.remaining]! === 0 && i32[base + ORDER_ANSWER.at.lots]! >= this.#lots[index]!
    if (!filled) this.closed.positionsNotClosed++
    if (--this.#left === 0) this.#done()
  }

  onDeadline(): void {
    this.closed.positionsNotClosed++
    if (--this.#left === 0) this.#done()
  }
}

/** Closes of the open positions in the margin account of a follow, and what each has. */
function closesOf({ genesis }: Gateway, accounts: readonly MarginAccountView[], follow: FollowView): { terms: OrderTerms; size: number }[] {
  const margin = accounts.find(({ row, createdSequence }) => row === follow.marginAccount && createdSequence === follow.marginSequence)
  const open = margin?.buckets.flatMap(({ positions }) => positions.filter(({ openedSequence }) => openedSequence > 0)) ?? []
  return open.flatMap((position) => {
    const pair = genesis.pairs[position.pair]!
    const terms = closeTerms(pair, position, {})
    if (terms instanceof Refused) return []
    const size = terms.lots
    terms.lots = Math.min(size, pair.maxLots)
    return [{ terms, size }]
  })
}

/** Closes the positions of all `follows`, each a batch of its own; then `done` with what came of it. */
function closeFollows(
  gateway: Gateway, call: Call<never>, follows: readonly FollowView[], accounts: readonly MarginAccountView[],
  done: (closed: ClosedFollow[], failed: FailedFollow[]) => void,
): void {
  const { engine, config } = gateway
  const failed: FailedFollow[] = []
  const closings: Closing[] = []
  const until = performance.now() + config.batchDeadlineMs
  let left = 1
  const finish = (): void => {
    if (--left === 0) done(closings.map(({ closed }) => closed), failed)
  }
  for (const follow of follows) {
    const closes = closesOf(gateway, accounts, follow)
    const closing = new Closing(idOf(follow), closes.map(({ size }) => size), finish)
    const full = closes.length === 0 ? null : noRoom(engine, call.account, closes.length * CREDIT, WAY_OUT)
    if (full !== null) {
      failed.push({ followId: idOf(follow), reason: full })
      continue
    }
    closings.push(closing)
    if (closes.length === 0) continue
    left++
    closes.forEach(({ terms }, index) => {
      const correlation = registerUntil(engine, closing, call.account, CREDIT, WAY_OUT, until, index)
      encodeOrder(engine, slotAt(engine), CommandType.PLACE_ORDER, correlation, call, terms)
    })
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
