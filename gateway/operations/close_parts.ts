/**
 * A close as the orders that it takes. One order may have so many lots and be worth so much (core/orders/most_lots.ts),
 * and the engine cuts what reduces to that. A larger position is closed by several orders, one after the other, each as
 * soon as the one before was filled in full. A LIMIT close goes on while its orders rest.
 *
 * At most {@link ORDERS_MAX} orders, within the deadline of one request. A refusal of a later order, or no room for it, ends the close with
 * what was submitted by then.
 */
import { ORDER_ANSWER } from '../../core/layout/answers.ts'
import { CommandType } from '../../core/layout/command.ts'
import { outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { RECORD_BYTES, viewsOf, type Views } from '../../core/layout/table.ts'
import { MAX_NOTIONAL } from '../../core/state/genesis.ts'
import { encodeOrder } from '../bridge/encode.ts'
import { CREDIT, noRoom, registerUntil, send, slotAt, type PendingRequest, type Way } from '../bridge/engine_client.ts'
import type { OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { orderRefusal } from './engine_refusal.ts'
import type { Call } from './operation.ts'
import { createdId } from './order_record.ts'

/** Orders of one close, at most. */
export const ORDERS_MAX = 16
const { at } = ORDER_ANSWER

export class CloseParts implements PendingRequest {
  readonly orderIds: string[] = []
  /** All orders as if they were one: an ORDER_ANSWER at word 0, of the last order but for what is added up. */
  readonly all = viewsOf(new ArrayBuffer(RECORD_BYTES))
  /** Why the first order was refused. */
  refused: Refused | null = null
  readonly #asked: number
  readonly #gateway: Gateway
  readonly #call: Call<never>
  readonly #terms: OrderTerms
  readonly #way: Way
  readonly #until: number
  readonly #done: (parts: CloseParts) => void

  /** `terms`: of the whole close. `until`: its deadline, on performance.now()'s clock. `done` is called once. */
  constructor(gateway: Gateway, call: Call<never>, terms: OrderTerms, way: Way, until: number, done: (parts: CloseParts) => void) {
    this.#gateway = gateway
    this.#call = call
    this.#asked = terms.lots
    this.#terms = { ...terms }
    this.#way = way
    this.#until = until
    this.#done = done
  }

  /** True when everything that was asked for was submitted and filled. */
  get isClosed(): boolean {
    return this.refused === null && this.all.i32[at.lots]! >= this.#asked && this.all.i32[at.remaining] === 0
  }

  /** Encodes the next order, for which there is room; {@link send} has to follow. */
  encode(): void {
    const { engine } = this.#gateway
    const correlation = registerUntil(engine, this, this.#call.account, CREDIT, this.#way, this.#until, 0)
    encodeOrder(engine, slotAt(engine), CommandType.PLACE_ORDER, correlation, this.#call, this.#terms)
  }

  onResult(records: Views, base: number): void {
    const isFirst = this.orderIds.length === 0
    if (records.i32[base + RESULT.at.code] !== 0) {
      if (isFirst) this.refused = orderRefusal(this.#gateway, this.#call, records, base, this.#terms)
      return this.#done(this)
    }
    const asked = this.#terms.lots
    const lots = records.i32[base + at.lots]!
    const goesOn = this.#goesOn(records, base)
    this.orderIds.push(createdId(records, base))
    this.#add(records, base)
    this.#terms.lots = asked - lots
    const { engine } = this.#gateway
    if (!goesOn || noRoom(engine, this.#call.account, CREDIT, this.#way) !== null) return this.#done(this)
    this.encode()
    send(engine)
  }

  onDeadline(): void {
    if (this.orderIds.length === 0) this.refused = new Refused('SERVICE_UNAVAILABLE')
    this.#done(this)
  }

  /** True when the order at `base` leaves a part of the close for another one. */
  #goesOn({ i32 }: Views, base: number): boolean {
    const [lots, remaining] = [i32[base + at.lots]!, i32[base + at.remaining]!]
    if (lots >= this.#terms.lots || this.orderIds.length + 1 >= ORDERS_MAX || performance.now() >= this.#until) return false
    if (remaining === 0) return true
    // What rests was cut to what one order may have, or to what other orders leave of the position: then nothing more may rest.
    const rests = i32[base + at.outcome]! >>> 8 === Reason.NONE
    const pair = this.#gateway.genesis.pairs[this.#terms.pair]!
    return rests && lots >= Math.min(pair.maxLots, Math.floor(MAX_NOTIONAL / (this.#terms.price * Number(pair.tickLotAtoms))))
  }

  #add(records: Views, base: number): void {
    const { i32, u32, i64 } = this.all
    const { lots, remaining, trades, filledQuote, fee, bestPrice } = at
    const before = {
      lots: i32[lots]!, remaining: i32[remaining]!, trades: i32[trades]!, best: i32[bestPrice]!, worst: i32[at.worstPrice]!,
      quote: i64[filledQuote >>> 1]!, fee: i64[fee >>> 1]!,
    }
    u32.set(records.u32.subarray(base, base + RECORD_BYTES / 4))
    if (before.trades > 0) i32[bestPrice] = before.best
    if (i32[trades] === 0) i32[at.worstPrice] = before.worst
    i32[lots]! += before.lots
    i32[remaining]! += before.remaining
    i32[trades]! += before.trades
    i64[filledQuote >>> 1]! += before.quote
    i64[fee >>> 1]! += before.fee
    const status = i32[at.outcome]! & 0xff
    const isOpen = status === Status.SUBMITTED || status === Status.FILLED
    if (isOpen && i32[remaining]! > 0 && i32[lots]! > i32[remaining]!) i32[at.outcome] = outcomeOf(Status.PARTIALLY_FILLED, Reason.NONE)
  }
}
