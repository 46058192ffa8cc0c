/**
 * Orders that wait as plain rows, from decoded events, one at a time: what the history must say of them (answer/waiting_queries.ts).
 * Nothing is shared with the history but the shapes of its answers.
 */
import type { HistoryConditionalOrder, HistoryOrder, HistoryTwapOrder, Named } from '../../core/history/answer/queries.ts'
import { CommandType, Flag } from '../../core/layout/command.ts'
import {
  conditionalReasonOf, conditionalStateOf, ConditionalState, conditionOf, LegFlag,
} from '../../core/layout/conditional.ts'
import { answeredTypeOf } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { twapReasonOf, twapStateOf } from '../../core/layout/twap.ts'
import { MarginMode } from '../../core/state/margin_rows.ts'
import type { NaiveHistory } from './naive_history.ts'

type Place = NonNullable<HistoryConditionalOrder['place']>
type Conditional = Omit<HistoryConditionalOrder, 'held' | 'place'>
/** `lots`: signed. */
export interface PlainPosition {
  account: number
  row: number
  opened: number
  lots: number
  bucket: Named
}
const placed: readonly number[] = [CommandType.PLACE_ORDER, CommandType.REPLACE_ORDER, CommandType.ENTER_ORDER]
const textOf = (hex: string, length = 40): string => Buffer.from(hex, 'hex').subarray(0, length).toString('latin1').replace(/\0+$/, '')
const keyOf = ({ sequence, row }: Named): string => `${sequence}/${row}`

export class PlainWaiting {
  readonly conditionals = new Map<string, Conditional>()
  readonly twaps = new Map<string, HistoryTwapOrder>()
  /** By sequence of an order: whose slice it is; and of each account the orders that were accepted. */
  readonly parents = new Map<number, Named>()
  readonly orders = new Map<number, number[]>()
  /** By sequence that opened it and row. */
  readonly positions = new Map<string, PlainPosition>()
  /** By sequence of the bucket. */
  readonly #buckets = new Map<number, Place>()
  /** By sequence of an order of a perpetual. */
  readonly #places = new Map<number, Place>()

  take(events: readonly Decoded[]): void {
    for (const event of events) {
      const name = event['event']
      if (name === 'CONDITIONAL') this.#conditional(event)
      else if (name === 'TWAP_OPENED') this.#opened(event)
      else if (name === 'TWAP') this.#twap(event)
      else if (name === 'CHILD_ORDER') this.#child(event)
      else if (name === 'MARGIN_ORDER') this.#place(event)
      else if (name === 'POSITION') this.#position(event)
      else if (name === 'RESULT') this.#result(event)
    }
  }

  /** The rows, as a history has them; `orders` are its own, but whose slices they are. */
  fill(history: NaiveHistory, orders: readonly HistoryOrder[]): void {
    const { conditionals, twaps } = history
    conditionals.splice(0, Infinity, ...[...this.conditionals.values()].map((each) => this.#shown(each)))
    twaps.splice(0, Infinity, ...this.twaps.values())
    history.orders.splice(0, Infinity, ...orders.map(({ parent: _, ...order }) => {
      const parent = this.parents.get(order.sequence)
      return parent === undefined ? order : { ...order, parent }
    }))
  }

  #shown(order: Conditional): HistoryConditionalOrder {
    const { state, flags, openedSequence, position, entrySequence } = order
    const its = openedSequence === 0 ? undefined : this.positions.get(keyOf({ sequence: openedSequence, row: position }))
    const waits = state === ConditionalState.PENDING || state === ConditionalState.ARMED
    const lots = (its?.lots ?? 0) * ((flags & LegFlag.SELL) === 0 ? -1 : 1)
    const place = its === undefined ? this.#places.get(entrySequence) : this.#buckets.get(its.bucket.sequence)
    return { ...order, held: waits && lots > 0 ? lots : 0, ...(place === undefined ? {} : { place }) }
  }

  #conditional(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    const what = n('what')
    const [kind, state] = [conditionOf(what), conditionalStateOf(what)]
    const key = `${n('createdSequence')}/${kind}`
    const before = this.conditionals.get(key)
    const named = n('orderSequence') !== 0
    const isEntry = named && state !== ConditionalState.TRIGGERED
    const [entrySequence, entrySlot] =
      isEntry ? [n('orderSequence'), n('orderSlot')] : [before?.entrySequence ?? 0, before?.entrySlot ?? 0]
    const isFirst = named && !isEntry
    const shows = isFirst || (isEntry && state === ConditionalState.PENDING)
    this.conditionals.set(key, {
      account: n('account'), createdSequence: n('createdSequence'), kind, state, reason: conditionalReasonOf(what), pair: n('pair'),
      flags: n('flags'), trigger: n('trigger'), limit: n('limit'), lots: n('lots'), slippageBps: n('slippageBps'), trailBps: n('trailBps'),
      activation: n('activation'), watermark: n('watermark'), expiresAt: n('expiresAt'), armedAt: n('armedAt'), createdAt: n('createdAt'),
      updatedAt: n('time'), orderSequence: shows ? n('orderSequence') : 0, orderSlot: shows ? n('orderSlot') : 0,
      entrySequence, entrySlot, openedSequence: n('openedSequence'), position: n('position'), code: n('code'),
      ordered: (before?.ordered ?? 0) + n('ordered'), orders: (before?.orders ?? 0) + (n('ordered') === 0 ? 0 : 1),
    })
  }

  #opened(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    this.twaps.set(keyOf({ sequence: n('createdSequence'), row: n('twap') }), {
      account: n('account'), createdSequence: n('createdSequence'), twap: n('twap'), state: 0, reason: 0, pair: n('pair'), flags: 0,
      options: n('options'), lots: 0, filled: 0, price: n('price'), trigger: n('trigger'), slippageBps: n('slippageBps'), slices: 0,
      reached: 0, placed: 0, code: 0, startAt: 0, endAt: 0, nextAt: 0, conditionalExpiry: n('conditionalExpiry'),
      durationMs: n('durationMs'), leverage: n('leverage'), createdAt: 0, updatedAt: 0, filledQuote: 0n, fee: 0n,
      label: textOf(String(event['label']), n('labelLength')), namedMarginAccount: n('marginAccount'), namedBucket: n('bucket'),
      namedSequence: n('namedSequence'),
    })
  }

  #twap(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    const twap = this.twaps.get(keyOf({ sequence: n('createdSequence'), row: n('twap') }))!
    if (twap.state === 0) twap.createdAt = n('time')
    Object.assign(twap, {
      state: twapStateOf(n('what')), reason: twapReasonOf(n('what')), flags: n('flags'), lots: n('lots'), filled: n('filled'),
      slices: n('slices'), reached: n('reached'), placed: n('placed'), code: n('code'), startAt: n('startAt'), endAt: n('endAt'),
      nextAt: n('nextAt'), updatedAt: n('time'), filledQuote: event['filledQuote'], fee: event['fee'],
    })
  }

  #child(event: Decoded): void {
    const parent: Named = { sequence: Number(event['twapSequence']), row: Number(event['twap']) }
    this.parents.set(Number(event['orderSequence']), parent)
    const place = this.#places.get(Number(event['orderSequence']))
    if (place === undefined) return
    const { marginAccount, bucket, strategyKey } = place
    this.twaps.get(keyOf(parent))!.place = { marginAccount, bucket, strategyKey }
  }

  #place(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    const place: Place = {
      marginAccount: { sequence: n('marginAccountSequence'), row: n('marginAccount') },
      bucket: { sequence: n('bucketSequence'), row: n('bucket') },
      mode: (n('flags') & Flag.CROSS) !== 0 ? MarginMode.CROSS : MarginMode.ISOLATED,
      strategyKey: textOf(String(event['strategyKey']), 48),
    }
    this.#buckets.set(n('bucketSequence'), place)
    this.#places.set(n('orderSequence'), place)
  }

  #position(event: Decoded): void {
    const n = (field: string): number => Number(event[field])
    const [opened, row] = [n('openedSequence'), n('position')]
    if (opened === 0) return
    const bucket = { sequence: n('bucketSequence'), row: n('bucket') }
    this.positions.set(keyOf({ sequence: opened, row }), { account: n('account'), row, opened, lots: n('lots'), bucket })
  }

  /** Legs of an order that filled at once are told before it, and never named it. */
  #result(event: Decoded): void {
    const sequence = Number(event['orderSequence'])
    const [flags, account] = [Number(event['flags']), Number(event['account'])]
    const accepted = Number(event['code']) === 0 && (flags & Flag.REPEATED) === 0
    if (!accepted || !placed.includes(answeredTypeOf(Number(event['kind'])))) return
    this.orders.set(account, [...(this.orders.get(account) ?? []), sequence])
    for (const order of this.conditionals.values()) {
      if (order.createdSequence === sequence) Object.assign(order, { entrySequence: sequence, entrySlot: Number(event['slot']) })
    }
  }
}
