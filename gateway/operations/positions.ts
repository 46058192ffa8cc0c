/**
 * Positions of the caller: read them, close them, add and take isolated margin, and the funding that they got.
 *
 * Open positions are read from the shared columns, closed ones from the history. Somebody else's position and a missing one are the same
 * 404.
 */
import Type, { type Static } from 'typebox'
import { COLLATERAL_ANSWER, ORDER_ANSWER } from '../../core/layout/answers.ts'
import { IdKind, parseId, positionId, type Id } from '../../core/layout/ids.ts'
import type { Views } from '../../core/layout/table.ts'
import type { HistoryFundingPayment, Named } from '../../core/history/answer/queries.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { MarginMode } from '../../core/view/margin.ts'
import { readMarginAccounts, readPosition, type PositionInBucket } from '../../core/view/margin.ts'
import { CREDIT, noRoom, send, WAY_IN } from '../bridge/engine_client.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { amountText, priceText, quantityText } from './amounts.ts'
import { CloseParts, ORDERS_MAX } from './close_parts.ts'
import { CloseBody, closeTerms } from './close_terms.ts'
import { collateralRefusal } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import { pairFilter, TimeRange } from './history_filters.ts'
import { listHistory } from './history_listing.ts'
import { ListingOutput, ListingQuery, PAGES, type ListingFields, type ListingInput } from './listing.ts'
import { listLive } from './live_listing.ts'
import { bucketIdOf, marginAccountIdField, marginIdOf, riskBucketIdField } from './margin_summary.ts'
import { bucketMove, MoveBody, moveCollateral } from './margin_transfers.ts'
import { Decimal, fullRefusal, operation, rfc3339, Timestamp, Uuid, type Call } from './operation.ts'
import { MatchResult, matchResultOf, orderSequenced, Sequenced } from './order_record.ts'
import {
  closedPositionRecord, positionIdField, PositionRecord, positionRecord, PositionRiskRecord, positionRiskRecord, PositionSideName,
  PositionStatus,
} from './position_record.ts'
import { COMMAND, HISTORY, KEYED, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

const missing = (): Refused => new Refused('POSITION_NOT_FOUND')
const PositionPath = Type.Object({ positionId: positionIdField })

/** The caller's open position with this id, or the id of one that may be closed. */
function findPosition({ state, gate }: Gateway, account: number, text: string): PositionInBucket | Id | Refused {
  const id = parseId(IdKind.POSITION, text)
  if (id === null) return missing()
  const found = readPosition(state, gate, account, id.slot, id.sequence)
  return found === null ? new Refused('ENGINE_UNAVAILABLE') : found ?? id
}

/** The same where only an open one will do. */
export function findOpen(gateway: Gateway, account: number, text: string): PositionInBucket | Refused {
  const found = findPosition(gateway, account, text)
  return found instanceof Refused || 'bucket' in found ? found : missing()
}

const Filters = {
  status: Type.Optional(field(PositionStatus, 'OPEN (default) or CLOSED.')),
  tradingPairId: Type.Optional(fields.pairName),
  marginAccountId: Type.Optional(marginAccountIdField),
  riskBucketId: Type.Optional(riskBucketIdField),
}
type PositionsInput = ListingInput & Static<Type.TObject<typeof Filters>>

export const ListPositions = operation({
  service: 'PositionsService', method: 'GET', path: '/api/v1/positions',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Positions',
  description: 'Open positions of the caller, or with `status` CLOSED those that were closed, by when they were opened, newest first. '
    + `A filter that names nothing of the caller's matches nothing. ${PAGES}`,
  answer: 'A page of positions.',
  refusals: [...READ, ...HISTORY],
  query: Type.Object({ ...ListingQuery, ...Filters }),
  output: Type.Object({ positions: field(Type.Array(PositionRecord), 'Newest first.'), ...ListingOutput }),
  example: { input: { page: 1, pageSize: 20 }, output: { positions: [sample.position], ...sample.page } },
  run: (gateway, call, input) => {
    const answer = (positions: PositionRecord[], fields: ListingFields): void => call.answer({ positions, ...fields })
    if (input.status === 'CLOSED') listClosed(gateway, call, input, answer)
    else listOpen(gateway, call, input, answer)
  },
})

type Answered = (positions: PositionRecord[], fields: ListingFields) => void

function listOpen(gateway: Gateway, call: Call<never>, input: PositionsInput, answer: Answered): void {
  const pair = pairFilter(gateway, input.tradingPairId)
  const named = (id: string | undefined, own: string): boolean => id === undefined || id.toLowerCase() === own
  const matches = ({ margin, bucket, position }: PositionInBucket): boolean =>
    position.openedSequence > 0 && (pair === undefined || position.pair === pair) &&
    named(input.marginAccountId, marginIdOf(gateway, call.account, margin)) && named(input.riskBucketId, bucketIdOf(bucket))
  const read = (): PositionInBucket[] | null =>
    readMarginAccounts(gateway.state, gateway.gate, call.account)?.flatMap((margin) =>
      margin.buckets.flatMap((bucket) => bucket.positions.map((position) => ({ margin, bucket, position })))).filter(matches) ?? null
  const positionOf = ({ position }: PositionInBucket) => ({ sequence: position.openedSequence, index: position.row })
  listLive(gateway, call, 'ListPositions', input, read, positionOf, (rows, fields) =>
    answer(rows.map((found) => positionRecord(gateway, call.account, found)), fields))
}

/** What an id names for the history; of one that is none a thing that never was. */
function namedBy(kind: number, text: string): Named {
  const id = parseId(kind, text)
  return id === null ? { sequence: -1, row: -1 } : { sequence: id.sequence, row: id.slot }
}

function listClosed(gateway: Gateway, call: Call<never>, input: PositionsInput, answer: Answered): void {
  const { marginAccountId, riskBucketId } = input
  const parent = marginAccountId === undefined ? null : parseId(IdKind.PARENT_MARGIN, marginAccountId)
  const marginAccount = marginAccountId === undefined ? undefined
    : parent === null ? namedBy(IdKind.MARGIN_ACCOUNT, marginAccountId) : { sequence: parent.sequence, row: -1 }
  const filters = {
    account: call.account, open: false, pair: pairFilter(gateway, input.tradingPairId),
    ...(marginAccount === undefined ? {} : { marginAccount }),
    ...(riskBucketId === undefined ? {} : { bucket: namedBy(IdKind.RISK_BUCKET, riskBucketId) }),
  }
  listHistory(gateway, call, 'ListPositions', input, 'positions', filters, (rows, fields) =>
    answer(rows.map((closed) => closedPositionRecord(gateway, call.account, closed)), fields))
}

export const GetPosition = operation({
  service: 'PositionsService', method: 'GET', path: '/api/v1/positions/{positionId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One position',
  description: 'Reads one position of the caller, also after it closed.',
  answer: 'The position.',
  refusals: ['POSITION_NOT_FOUND', ...READ, ...HISTORY],
  params: PositionPath,
  output: PositionRecord,
  example: { input: { positionId: sample.POSITION }, output: sample.position },
  run: (gateway, call, input) => {
    const found = findPosition(gateway, call.account, input.positionId)
    if (found instanceof Refused) return call.refuse(found)
    if ('bucket' in found) return call.answer(positionRecord(gateway, call.account, found))
    const ask = { account: call.account, sequence: found.sequence, row: found.slot }
    askHistory(gateway.history, 'position', ask, (closed, _, behind) => {
      if (closed instanceof Refused) return call.refuse(closed)
      if (closed !== null && closed.closedAt > 0) return call.answer(closedPositionRecord(gateway, call.account, closed))
      // A history that is behind may not have its end yet.
      call.refuse(behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
    })
  },
})

export const GetPositionRisk = operation({
  service: 'PositionsService', method: 'GET', path: '/api/v1/positions/{positionId}/risk',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'What a position risks',
  description: 'An open position with the ratio of its margin, its liquidation and bankruptcy price and the equity behind it.',
  answer: 'The position and its risk.',
  refusals: ['POSITION_NOT_FOUND', ...READ],
  params: PositionPath,
  output: PositionRiskRecord,
  example: { input: { positionId: sample.POSITION }, output: sample.positionRisk },
  run: (gateway, call, input) => {
    const found = findOpen(gateway, call.account, input.positionId)
    if (found instanceof Refused) call.refuse(found)
    else call.answer(positionRiskRecord(gateway, call.account, found))
  },
})

export const ClosePosition = operation({
  service: 'PositionsService', method: 'POST', path: '/api/v1/positions/{positionId}/close',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'none',
  summary: 'Close a position',
  description: 'Places a reduce-only order against the position: MARKET for all of it unless the request says otherwise. It never turns '
    + 'the position and cannot meet another one. A position that is larger than one order may be (`maxOrderSize`) is closed by several '
    + `orders, one after the other, ${ORDERS_MAX} at most, until one of them is not filled in full: \`submittedQuantity\` and `
    + '`matchResult` are of all of them, `closeOrderIds` names them. What is left is closed by the next request. Stays available in '
    + 'maintenance, while prices are stale and where only reduceOnly orders are taken.',
  answer: 'The order was accepted.',
  refusals: [
    'POSITION_NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', 'PAIR_NOT_ACTIVE', 'REDUCE_ONLY_REJECTED', 'RISK_BUCKET_IN_LIQUIDATION',
    'WRONG_PERP_MODE', 'TOO_MANY_REDUCE_ONLY', 'TOO_MANY_OPEN_ORDERS', 'AGENT_NOT_ALLOWED', ...READ, ...COMMAND,
  ],
  params: PositionPath,
  body: CloseBody,
  bodyRule: 'optional',
  output: Type.Object({
    closeOrderId: field(Uuid, 'The order that closes it, or the first of them.'),
    closeOrderIds: field(Type.Array(Uuid), 'All orders that close it, in the order in which they were placed.'),
    status: field(Type.Literal('SUCCESS'), 'SUCCESS: what was asked for was done.'),
    message: fields.message,
    submittedQuantity: field(Decimal, 'Quantity of all these orders: what was asked for, at most what is open.'),
    matchResult: field(MatchResult, 'What the orders met when they arrived, together.'),
    ...Sequenced,
  }),
  example: {
    input: { positionId: sample.POSITION, quantity: '0.05' },
    output: {
      closeOrderId: sample.ORDER, closeOrderIds: [sample.ORDER], status: 'SUCCESS', message: 'Close accepted', submittedQuantity: '0.05',
      matchResult: sample.filled, sequence: 42, engineTime: sample.MOMENT,
    },
  },
  run: (gateway, call, input) => {
    const found = findOpen(gateway, call.account, input.positionId)
    if (found instanceof Refused) return call.refuse(found)
    const pair = gateway.genesis.pairs[found.position.pair]!
    const terms = closeTerms(pair, found.position, input)
    if (terms instanceof Refused) return call.refuse(terms)
    const full = noRoom(gateway.engine, call.account, CREDIT, WAY_IN)
    if (full !== null) return call.refuse(fullRefusal(full))
    new CloseParts(gateway, call, terms, WAY_IN, performance.now() + gateway.config.deadlineMs, ({ refused, orderIds, all }) => {
      if (refused !== null) return call.refuse(refused)
      call.answer({
        closeOrderId: orderIds[0]!,
        closeOrderIds: orderIds,
        status: 'SUCCESS',
        message: 'Close accepted',
        submittedQuantity: quantityText(pair, all.i32[ORDER_ANSWER.at.lots]!),
        matchResult: matchResultOf(gateway, all, 0, false),
        ...orderSequenced(all, 0),
      })
    }).encode()
    send(gateway.engine)
  },
})

const MarginAnswer = Type.Object({
  positionId: positionIdField,
  marginAccountId: marginAccountIdField,
  newIsolatedMargin: field(Decimal, 'Collateral that the bucket of the position has committed now.'),
  status: field(Type.Literal('SUCCESS'), 'SUCCESS: what was asked for was done.'),
})
const exampleMargin = {
  input: { positionId: sample.POSITION, amount: '50' },
  output: { positionId: sample.POSITION, marginAccountId: sample.PARENT_MARGIN, newIsolatedMargin: '350', status: 'SUCCESS' as const },
}

type MarginCall = Call<Static<typeof MarginAnswer>>
type MarginInput = MoveBody & { positionId: string }

function moveMargin(gateway: Gateway, call: MarginCall, input: MarginInput, into: boolean): void {
  const found = findPosition(gateway, call.account, input.positionId)
  if (found instanceof Refused) return call.refuse(found)
  if (!('bucket' in found)) return repeatMargin(gateway, call, input, found, into)
  const { margin, bucket } = found
  if (bucket.mode !== MarginMode.ISOLATED) {
    return call.refuse(refusedField('positionId', 'Only an isolated position has margin of its own: move collateral of the risk bucket'))
  }
  moveCollateral(gateway, call, input, bucketMove(bucket, into), (records, base) =>
    call.answer(marginAnswer(gateway, records, base, input, marginIdOf(gateway, call.account, margin))))
}

/** A request with a key whose position is not open any more: the answer that it had, or none was given and the position is missing. */
function repeatMargin(gateway: Gateway, call: MarginCall, input: MarginInput, { sequence, slot }: Id, into: boolean): void {
  if (input.idempotencyKey === undefined) return call.refuse(missing())
  askHistory(gateway.history, 'position', { account: call.account, sequence, row: slot }, (closed, _, behind) => {
    if (closed instanceof Refused) return call.refuse(closed)
    // A history that is behind may not have its beginning yet.
    if (closed === null) return call.refuse(behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
    const move = { ...bucketMove({ row: closed.bucket.row, createdSequence: closed.bucket.sequence }, into), onlyRepeated: true }
    const { marginAccountId } = closedPositionRecord(gateway, call.account, closed)
    moveCollateral(
      gateway, call, input, move, (records, base) => call.answer(marginAnswer(gateway, records, base, input, marginAccountId)),
      (_gateway, records, base) => {
        const refused = collateralRefusal(gateway, records, base)
        return refused.code === 'NOT_FOUND' ? missing() : refused
      },
    )
  })
}

const marginAnswer = (
  { genesis, state }: Gateway, { i64 }: Views, base: number, { positionId: id }: MarginInput, marginAccountId: string,
): Static<typeof MarginAnswer> => ({
  positionId: id.toLowerCase(),
  marginAccountId,
  newIsolatedMargin: amountText(genesis.assets[state.collateralAsset]!, i64[(base + COLLATERAL_ANSWER.at.allocated) >>> 1]!),
  status: 'SUCCESS',
})

const moveRefusals = [
  'POSITION_NOT_FOUND', 'NOT_FOUND', 'INSUFFICIENT_COLLATERAL', 'RISK_BUCKET_IN_LIQUIDATION', 'PRICE_STALE', ...KEYED, ...READ, ...HISTORY,
  ...COMMAND,
] as const

export const AddPositionMargin = operation({
  service: 'PositionsService', method: 'POST', path: '/api/v1/positions/{positionId}/margin/add',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Add margin to an isolated position',
  description: 'Commits collateral of the margin account to the bucket of the position, which moves its liquidation price away.',
  answer: 'It was added.',
  refusals: moveRefusals,
  params: PositionPath,
  body: MoveBody,
  output: MarginAnswer,
  example: exampleMargin,
  run: (gateway, call, input) => moveMargin(gateway, call, input, true),
})

export const ReducePositionMargin = operation({
  service: 'PositionsService', method: 'POST', path: '/api/v1/positions/{positionId}/margin/reduce',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Take margin from an isolated position',
  description: 'Moves collateral of the bucket of the position back to the margin account, at most its `withdrawableCollateral`.',
  answer: 'It was taken.',
  refusals: moveRefusals,
  params: PositionPath,
  body: MoveBody,
  output: MarginAnswer,
  example: { ...exampleMargin, output: { ...exampleMargin.output, newIsolatedMargin: '250' } },
  run: (gateway, call, input) => moveMargin(gateway, call, input, false),
})

const FundingPayment = record('FundingPayment', 'Funding that a position got for the intervals since the payment before.', Type.Object({
  positionId: positionIdField,
  tradingPairId: fields.tradingPairId,
  amount: field(Decimal, 'In units of the collateral asset; negative: it was paid.'),
  side: field(PositionSideName, 'LONG or SHORT.'),
  size: field(Decimal, 'Quantity that it was for, in units of the base token.'),
  fundingRate: field(Decimal, 'Rate of the interval that was paid last; positive: longs paid shorts.'),
  markPrice: field(Decimal, 'Mark price then.'),
  createdAt: field(Timestamp, 'When it was settled.'),
}))

const RATE_DIGITS = 8

function paymentRecord({ genesis }: Gateway, payment: HistoryFundingPayment): Static<typeof FundingPayment> {
  const pair = genesis.pairs[payment.pair]!
  return {
    positionId: positionId(payment.position.sequence, payment.position.row),
    tradingPairId: pair.id,
    amount: amountText(genesis.assets[pair.quote]!, payment.amount),
    side: payment.lots > 0 ? 'LONG' : 'SHORT',
    size: quantityText(pair, Math.abs(payment.lots)),
    fundingRate: formatDecimal(payment.rate, RATE_DIGITS),
    markPrice: priceText(pair, payment.mark),
    createdAt: rfc3339(payment.time),
  }
}

export const ListFundingPayments = operation({
  service: 'PositionsService', method: 'GET', path: '/api/v1/positions/{positionId}/funding',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Funding of a position',
  description: 'Funding that a position of the caller got or paid, newest first, also after it closed. It is settled when the position '
    + `changes; until then it is in \`accruedFunding\`. ${PAGES}`,
  answer: 'A page of payments.',
  refusals: ['POSITION_NOT_FOUND', ...READ, ...HISTORY],
  params: PositionPath,
  query: Type.Object({ ...ListingQuery, ...TimeRange }),
  output: Type.Object({ payments: field(Type.Array(FundingPayment), 'Newest first.'), ...ListingOutput }),
  example: {
    input: { positionId: sample.POSITION, page: 1, pageSize: 20 }, output: { payments: [sample.fundingPayment], ...sample.page },
  },
  run: (gateway, call, input) => {
    const found = findPosition(gateway, call.account, input.positionId)
    if (found instanceof Refused) return call.refuse(found)
    const position = 'bucket' in found ? { sequence: found.position.openedSequence, row: found.position.row }
      : { sequence: found.sequence, row: found.slot }
    // An id may be written in either case; page tokens are bound to one.
    const asked = { ...input, positionId: positionId(position.sequence, position.row) }
    const filters = { account: call.account, position }
    const list = (): void => listHistory(gateway, call, 'ListFundingPayments', asked, 'fundingPayments', filters, (rows, fields) =>
      call.answer({ payments: rows.map((payment) => paymentRecord(gateway, payment)), ...fields }))
    if ('bucket' in found) return list()
    askHistory(gateway.history, 'position', { account: call.account, ...position }, (closed, _, behind) => {
      if (closed instanceof Refused) call.refuse(closed)
      else if (closed !== null) list()
      else call.refuse(behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
    })
  },
})
