/**
 * Steps of orders that wait, counted in an exchange in which an account has as many of them as it may, and a perpetual has trailing stops
 * of every distance, armed at thousands of different marks.
 */
import { CommandType, Flag, Option } from '../../core/layout/command.ts'
import { ConditionType } from '../../core/layout/conditional.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { RATCHETS_MAX } from '../../core/margin/pending_marks.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { CONDITIONAL } from '../../core/state/conditional_rows.ts'
import { PERP, POSITION } from '../../core/state/margin_rows.ts'
import { conditionalRow, get, getF64, perpRow, positionAt, scalar } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { CountedStage } from './counted_stage.ts'
import { BTC, type Given } from './liquidation_stage.ts'
import { legWords, type Legs, WaitingStage } from './waiting_stage.ts'

/** As many as an account may have. */
export const WAITING_MOST = 1000
/** Trailing stops, each of another distance. */
const STOPS = 1900
/** Steps of looking at one, and at a queue of trailing stops. */
export const [WAITING_LOOK, QUEUE_LOOK] = [20, 40]

/** Most steps of each type; `idle`: of a price that fires nothing, in each of the two directions. */
export function countWaiting(): { most: Map<number, number>; idle: number[] } {
  const limits = {
    accounts: 8192, sessions: 8192, marginAccounts: 8192, riskBuckets: 16_384, positions: 16_384, orders: 32_768, twapOrders: 16_384,
    openOrdersPerAccount: 16_384,
    conditionalOrders: 65_536, conditionalOrdersPerAccount: WAITING_MOST, twapOrdersPerAccount: WAITING_MOST,
  }
  const stage = new WaitingStage({ maxPositionSize: '100000' }, limits)
  stage.checks = false
  const longs = Array.from({ length: STOPS }, (_, index): [string, Given] =>
    [`long${index}`, { lots: 1, price: 1000, collateral: 3000, leverage: 100 }])
  stage.give(Object.fromEntries([...longs, ['ann', { lots: -STOPS, price: 1000, collateral: 900_000 }]]))
  // Each armed at a mark of its own: the price falls from one to the next by less than any of them allows.
  for (let index = 0; index < STOPS; index++) {
    if (index % 8 === 0) stage.price(BTC, 60_000 - index / 8)
    stage.attach(`long${index}`, { trail: { bps: 2000 - index } })
  }
  stage.deposit('bob', 900_000_000)
  const counted = new CountedStage(stage.bench)
  counted.time = stage.time
  const idle = [59_700, 59_699].map((price) => {
    counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price, source: 0, force: 1, observedAt: counted.time })
    return counted.steps
  })
  // One price makes one group of all the others, in parts.
  counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 61_000, source: 0, force: 1, observedAt: counted.time })
  while (get(stage.state, perpRow(stage.state, BTC), PERP.MARKS) > 0) counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
  if (STOPS / 8 <= RATCHETS_MAX / 2) throw new Error('there are too few groups')
  fire(stage, counted)
  lists(stage, counted)
  return { most: counted.most, idle }
}

/** A price that fires all of them, the first into a deep book. */
function fire(stage: WaitingStage, counted: CountedStage): void {
  for (let order = 0; order < 1000; order++) stage.order('bob', 1, 49_000 - (order % 10))
  counted.count(CommandType.SET_INDEX_PRICE, { pair: BTC, price: 49_500, source: 0, force: 1, observedAt: counted.time })
  for (let step = 0; step < 200; step++) counted.count(CommandType.TRIGGER_STEP, { pair: BTC })
}

/** Lists of one account that are as long as they may be. */
function lists(stage: WaitingStage, counted: CountedStage): void {
  const { state } = stage
  const ann = stage.signed('ann')
  const place = (values: Decoded): Decoded => ({ ...ann, pair: BTC, price: 40_000, lots: 1, leverage: 200, flags: Flag.MARGIN, ...values })
  const legs = (over: Legs = { stop: { at: 30_000 } }): Decoded => ({ options: Option.LEGS, ...legWords(over) })
  stage.deposit('ann', 900_000_000)
  const first = stage.send(CommandType.CREATE_TWAP, twap(ann, stage.time), 1)
  while (scalar(state, SCALAR.TWAPS_LIVE) < WAITING_MOST - 1) stage.send(CommandType.CREATE_TWAP, twap(ann, stage.time), 1)
  const labelled = { ...twap(ann, stage.time), labelLength: 1, label: '41'.padEnd(80, '0') }
  const last = counted.count(CommandType.CREATE_TWAP, labelled)
  stage.time += 60_000
  counted.time = stage.time
  counted.count(CommandType.TWAP_STEP, { twap: last['detail']!, createdSequence: last['sequence']! })
  counted.count(CommandType.CANCEL_TWAP, { ...ann, twap: first['detail']!, createdSequence: first['sequence']! })
  stage.price(BTC, 41_000)
  counted.count(CommandType.PLACE_ORDER, place(legs({ stop: { at: 30_000 }, profit: { at: 60_000 }, trail: { bps: 100 } })))
  const attached = attach(stage, counted)
  counted.count(CommandType.CANCEL_CONDITIONAL, { ...ann, leg: ConditionType.STOP_LOSS, createdSequence: attached })
  counted.count(CommandType.CANCEL_ALL, { ...ann, pair: -1, limit: 1000 })
  const bob = stage.signed('bob')
  for (let more = 0; more < WAITING_MOST; more++) stage.send(CommandType.CREATE_TWAP, twap(bob, stage.time), 1)
  counted.count(CommandType.REVOKE_SESSION, bob)
}

const twap = (who: Decoded, time: number): Decoded =>
  ({ ...who, pair: BTC, flags: Flag.MARGIN | Flag.SELL, lots: 10, leverage: 200, startAt: time + 60_000, durationMs: 60_000 })

/** As many as a position may have, of which the last expires at once; the sequence of the first. */
function attach(stage: WaitingStage, counted: CountedStage): number {
  const { state } = stage
  const position = findPosition(state, stage.bucket('ann'), BTC)
  const named = {
    ...stage.signed('ann'), position: positionAt(state, position), openedSequence: getF64(state, position, POSITION.OPENED_SEQUENCE),
  }
  const until = counted.time + 1
  const of = (legs: Legs): Decoded => ({ ...named, ...legWords(legs) })
  const said = counted.count(CommandType.ATTACH_CONDITIONALS, of({ stop: { at: 60_000 } }))
  for (let more = 0; more < 10; more++) counted.count(CommandType.ATTACH_CONDITIONALS, of({ stop: { at: 60_000, until } }))
  counted.time = stage.time = until
  counted.count(CommandType.EXPIRE_CONDITIONAL, expired(state, until))
  return Number(said['sequence'])
}

/** The first one whose time is over. */
function expired(state: State, until: number): Decoded {
  for (let conditional = 0; ; conditional++) {
    const row = conditionalRow(state, conditional)
    if (getF64(state, row, CONDITIONAL.EXPIRES_AT) !== until) continue
    return { conditional, createdSequence: getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) }
  }
}
