/**
 * Take-profit, stop-loss and trailing stop: attached to an open position, read and cancelled. With the order that opens the position they
 * are legs of that order (orders.ts, leg_terms.ts). (Specification, Positions, Attach rules; Orders.)
 *
 * Those that wait are read from the shared columns, others from the history. Somebody else's and a missing one are the same 404.
 */
import Type, { type Static } from 'typebox'
import { ATTACH_ANSWER } from '../../core/layout/answers.ts'
import { CONDITION_TYPE_NAMES, CONDITIONAL_STATE_NAMES, ConditionalState } from '../../core/layout/conditional.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { RESULT } from '../../core/layout/event.ts'
import { readConditional, readConditionals, type ConditionalView } from '../../core/view/conditionals.ts'
import { encodeAttach, encodeCancelConditional } from '../bridge/encode_waiting.ts'
import { WAY_OUT } from '../bridge/engine_client.ts'
import { askHistory } from '../bridge/history.ts'
import type { LegsTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import {
  conditionalOrderIdField, ConditionalRecord, conditionalRecord, ConditionalStateName, ConditionTypeName,
} from './conditional_record.ts'
import { legField } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { pairFilter, UNKNOWN } from './history_filters.ts'
import { LegIds, legIds } from './leg_answer.ts'
import { lackingOf, LEG_NAMES, legsOf, TpSlLeg, TrailingStopLeg } from './leg_terms.ts'
import { engineRefusal, operation, pendingRequest, submit, Uuid } from './operation.ts'
import { Sequenced, sequencedOf } from './order_record.ts'
import { findOpen } from './positions.ts'
import { positionIdField } from './position_record.ts'
import { COMMAND, HISTORY, LEGS, READ } from './refusal_groups.ts'
import { field } from './schema.ts'
import { listWaiting, WaitingOutput, WaitingQuery, WALKS } from './waiting_listing.ts'

const Done = Type.Literal('SUCCESS')
const ConditionalPath = Type.Object({ conditionalOrderId: conditionalOrderIdField })

export const AttachTpSl = operation({
  service: 'PositionsService', method: 'POST', path: '/api/v1/positions/{positionId}/tp-sl',
  access: 'session', agent: 'grant', maintenance: 'blocked', rate: 'create',
  summary: 'Attach take-profit, stop-loss, trailing stop',
  description: 'Attaches up to three conditional orders to an open position; all of them or none. Each fires on the mark price, only while '
    + 'that is fresh, and closes the position or `quantity` of it, never more than there is. They end when the position is closed.\n\n'
    + 'A take-profit and a stop-loss that are attached together are a pair: when one fires the other is cancelled. A trailing stop fires '
    + 'when the mark price is `trailBps` behind its best since it was armed; a position has one at most, another is '
    + 'TRAILING_STOP_EXISTS, and it is never in a pair. Nothing of them can be changed: cancel and attach again. A trigger that '
    + 'the mark price has reached already is INVALID_TRIGGER_PRICE. A request draws one item from the budget, whatever it attaches.',
  answer: 'They are attached.',
  refusals: ['POSITION_NOT_FOUND', 'RISK_BUCKET_IN_LIQUIDATION', ...LEGS, ...READ, ...COMMAND],
  params: Type.Object({ positionId: positionIdField }),
  body: Type.Object({
    takeProfit: Type.Optional(field(TpSlLeg, 'Closes at a gain: above the mark price of a long position, below of a short one.')),
    stopLoss: Type.Optional(field(TpSlLeg, 'Closes at a loss: below the mark price of a long position, above of a short one.')),
    trailingStop: Type.Optional(field(TrailingStopLeg, 'Closes when the mark price turns.')),
  }),
  output: Type.Object({ ...LegIds, ...Sequenced }),
  example: {
    input: {
      positionId: sample.POSITION, takeProfit: { triggerPrice: '66000', orderType: 'MARKET' },
      stopLoss: { triggerPrice: '57000', orderType: 'LIMIT', limitPrice: '56900', timeInForce: 'IOC' },
    },
    output: {
      takeProfitOrderId: sample.TAKE_PROFIT, stopLossOrderId: sample.STOP_LOSS, ocoGroupId: sample.OCO_GROUP, sequence: 70,
      engineTime: sample.LATER,
    },
  },
  run: (gateway, call, input) => {
    if (LEG_NAMES.every((name) => input[name] === undefined)) {
      return call.refuse(refusedField('takeProfit', `One of ${LEG_NAMES.join(', ')} is needed`))
    }
    const lacking = lackingOf(input)
    if (lacking !== null) return call.refuse(lacking)
    const found = findOpen(gateway, call.account, input.positionId)
    if (found instanceof Refused) return call.refuse(found)
    const { pair, lots, row, openedSequence } = found.position
    const legs = legsOf(gateway, input, gateway.genesis.pairs[pair]!, gateway.time())
    if (legs instanceof Refused) return call.refuse(legs)
    const pending = pendingRequest(call, (records, base) => {
      const sequence = records.f64[(base + RESULT.at.sequence) >>> 1]!
      call.answer({ ...legIds(sequence, records.i32[base + ATTACH_ANSWER.at.legs]!), ...sequencedOf(records, base) })
    }, (records, base) => attachRefusal(gateway, engineRefusal(records, base), legs, pair, lots > 0))
    submit(gateway, call, pending, (at, correlation) =>
      encodeAttach(gateway.engine, at, correlation, call, row, openedSequence, legs))
  },
})

function attachRefusal(gateway: Gateway, refused: Refused, legs: LegsTerms, pair: number, long: boolean): Refused {
  const field = legField(gateway, refused.code, legs, pair, long, 0)
  return field === undefined ? refused : new Refused(refused.code, refused.message, { ...refused.details, field })
}

const Filters = Type.Object({
  ...WaitingQuery,
  state: Type.Optional(field(Type.Array(ConditionalStateName, { maxItems: 16 }), 'Only those in these states; may be repeated.')),
  conditionType: Type.Optional(field(ConditionTypeName, 'Only those of this type.')),
  tradingPairId: Type.Optional(fields.pairName),
  positionId: Type.Optional(field(Uuid, 'Only those of this position.')),
})

const WAITS: readonly string[] = ['PENDING', 'ARMED']
const positionOf = ({ createdSequence, kind }: ConditionalView) => ({ sequence: createdSequence, index: kind })

export const ListConditionalOrders = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/conditional',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Conditional orders',
  description: 'Take-profit, stop-loss and trailing-stop orders of the caller in any state, newest first. Asked for PENDING and ARMED '
    + `only, it has what waits at this moment. ${WALKS}`,
  answer: 'A page of conditional orders.',
  refusals: [...READ, ...HISTORY],
  query: Filters,
  output: Type.Object({ conditionalOrders: field(Type.Array(ConditionalRecord), 'Newest first.'), ...WaitingOutput }),
  example: {
    input: { state: ['PENDING', 'ARMED'], pageToken: '', pageSize: 20 },
    output: { conditionalOrders: [sample.conditionalOrder], page: 0, pageSize: 20, total: 0, nextPageToken: '' },
  },
  run: (gateway, call, input) => {
    const { state: named = [] } = input
    const states = named.map((name) => CONDITIONAL_STATE_NAMES.indexOf(name))
    const kind = input.conditionType === undefined ? undefined : CONDITION_TYPE_NAMES.indexOf(input.conditionType)
    const pair = pairFilter(gateway, input.tradingPairId)
    const position = positionFilter(input)
    const matches = (row: ConditionalView): boolean =>
      states.includes(row.state) && (kind === undefined || row.kind === kind) && (pair === undefined || row.pair === pair) &&
      (position === undefined || (row.openedSequence === position.sequence && row.position === position.row))
    listWaiting(gateway, call, input, {
      operation: 'ListConditionalOrders', question: 'conditionalOrders', matches, positionOf,
      liveOnly: named.length > 0 && named.every((name) => WAITS.includes(name)),
      filters: { account: call.account, pair, kind, position, states: states.length === 0 ? undefined : states },
      read: () => readConditionals(gateway.state, gateway.gate, call.account)?.conditionals ?? null,
    }, (rows, fields) => call.answer({ conditionalOrders: rows.map((row) => conditionalRecord(gateway, row)), ...fields }))
  },
})

/** The position that a filter names; a thing that never was, when it is no id of one. */
function positionFilter({ positionId: text }: Static<typeof Filters>): { sequence: number; row: number } | undefined {
  if (text === undefined) return undefined
  const id = parseId(IdKind.POSITION, text)
  return id === null ? { sequence: UNKNOWN, row: UNKNOWN } : { sequence: id.sequence, row: id.slot }
}

const missing = (): Refused => new Refused('ORDER_NOT_FOUND')

export const GetConditionalOrder = operation({
  service: 'OrdersService', method: 'GET', path: '/api/v1/orders/conditional/{conditionalOrderId}',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'One conditional order',
  description: 'Reads one conditional order of the caller, also after it ended.',
  answer: 'The conditional order.',
  refusals: ['ORDER_NOT_FOUND', ...READ, ...HISTORY],
  params: ConditionalPath,
  output: ConditionalRecord,
  example: { input: { conditionalOrderId: sample.TRAILING_STOP }, output: sample.conditionalOrder },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.CONDITIONAL_ORDER, input.conditionalOrderId)
    if (id === null) return call.refuse(missing())
    const live = readConditional(gateway.state, gateway.gate, call.account, id.slot, id.sequence)
    if (live === null) return call.refuse(new Refused('ENGINE_UNAVAILABLE'))
    if (live !== undefined) return call.answer(conditionalRecord(gateway, live))
    const ask = { account: call.account, sequence: id.sequence, kind: id.slot }
    askHistory(gateway.history, 'conditionalOrder', ask, (found, _, behind) => {
      if (found instanceof Refused) return call.refuse(found)
      // It does not wait, so a history that knows of no end is behind.
      const ended = found !== null && found.state !== ConditionalState.PENDING && found.state !== ConditionalState.ARMED
      if (ended) return call.answer(conditionalRecord(gateway, found))
      call.refuse(found === null && behind === null ? missing() : new Refused('HISTORY_UNAVAILABLE'))
    })
  },
})

export const CancelConditionalOrder = operation({
  service: 'OrdersService', method: 'DELETE', path: '/api/v1/orders/conditional/{conditionalOrderId}',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'reduce',
  summary: 'Cancel a conditional order',
  description: 'Cancels a conditional order that waits; of a pair the other one stays. One that fired or ended, or was never there, is '
    + 'ORDER_NOT_FOUND: repeating a cancel is safe. Stays available in maintenance.',
  answer: 'The conditional order is cancelled.',
  refusals: ['ORDER_NOT_FOUND', 'PAIR_NOT_ACTIVE', ...COMMAND],
  params: ConditionalPath,
  output: Type.Object({
    conditionalOrderId: conditionalOrderIdField, status: field(Done, 'SUCCESS: what was asked for was done.'), message: fields.message,
    ...Sequenced,
  }),
  example: {
    input: { conditionalOrderId: sample.TRAILING_STOP },
    output: {
      conditionalOrderId: sample.TRAILING_STOP, status: 'SUCCESS', message: 'Conditional order cancelled', sequence: 71,
      engineTime: sample.LATER,
    },
  },
  run: (gateway, call, input) => {
    const id = parseId(IdKind.CONDITIONAL_ORDER, input.conditionalOrderId)
    if (id === null) return call.refuse(missing())
    const pending = pendingRequest(call, (records, base) => call.answer({
      conditionalOrderId: input.conditionalOrderId.toLowerCase(), status: 'SUCCESS', message: 'Conditional order cancelled',
      ...sequencedOf(records, base),
    }))
    submit(gateway, call, pending, (at, correlation) =>
      encodeCancelConditional(gateway.engine, at, correlation, call, id.slot, id.sequence), WAY_OUT)
  },
})
