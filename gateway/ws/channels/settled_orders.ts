/**
 * Orders that the `orders` channel told to be filled and whose settlement it has yet to tell (orders.ts): of each the facts, and the
 * command of its last fill, by which batches of settlement name it.
 *
 * Room is bounded, in all and for an account, and the last part of it is for accounts that have few here. What finds no room is left out
 * and counted: the settlement of that order is not told, and is to be read.
 */
import { outcomeOf, Reason, Status } from '../../../core/layout/event.ts'
import { GATEWAY } from '../../../core/ring/counters.ts'
import type { OrderFacts } from '../../operations/order_record.ts'

/** Orders that are remembered in all, and of one account. */
const ROOM = 16_384
const ACCOUNT_ROOM = 2048
/** Of the room, what only accounts with less than {@link FEW} orders here take. */
const RESERVE = ROOM / 4
const FEW = 64

interface Remembered {
  readonly order: OrderFacts
  /** Command of its last fill. */
  readonly sequence: number
  isSettled: boolean
}

/** Something that a batch says of an order, to be told: by the command `sequence` of the sequenced time `time`. */
export interface Settled {
  readonly order: OrderFacts
  readonly sequence: number
  readonly time: number
}

const SETTLED = outcomeOf(Status.SETTLED, Reason.NONE)
const ON_CHAIN = outcomeOf(Status.SETTLED_ON_CHAIN, Reason.NONE)

export interface Room {
  readonly all: number
  readonly account: number
  readonly reserve: number
  readonly few: number
}

export class SettledOrders {
  readonly #counters: Float64Array
  readonly #room: Room
  /** By account, in the order of their fills. */
  readonly #accounts = new Map<number, Remembered[]>()
  #count = 0
  /** What is to be told, the oldest first, and how much of it was. */
  #waiting: Settled[] = []
  #told = 0

  constructor(counters: Float64Array, room: Room = { all: ROOM, account: ACCOUNT_ROOM, reserve: RESERVE, few: FEW }) {
    this.#counters = counters
    this.#room = room
  }

  /** Takes in an order that was told to be filled by the command `sequence`. */
  remember(order: OrderFacts, sequence: number): void {
    const { all, account, reserve, few } = this.#room
    const own = this.#accounts.get(order.account) ?? []
    const isFull = own.length >= account || this.#count >= (own.length < few ? all : all - reserve)
    if (isFull) {
      this.#counters[GATEWAY.ws_settled_left_out]!++
      return
    }
    own.push({ order, sequence, isSettled: false })
    this.#accounts.set(order.account, own)
    this.#count++
  }

  /** Nobody listens to the account any more. */
  forget(account: number): void {
    this.#count -= this.#accounts.get(account)?.length ?? 0
    this.#accounts.delete(account)
  }

  /** A batch up to the command `through` was opened, or `isConfirmed`: says so the command `sequence`. */
  settle(through: number, isConfirmed: boolean, sequence: number, time: number): void {
    for (const [account, orders] of this.#accounts) {
      let ended = 0
      for (const each of orders) {
        if (each.sequence > through) break
        if (!each.isSettled) this.#waiting.push({ order: { ...each.order, outcome: SETTLED }, sequence, time })
        each.isSettled = true
        if (!isConfirmed) continue
        this.#waiting.push({ order: { ...each.order, outcome: ON_CHAIN }, sequence, time })
        ended++
      }
      if (ended === 0) continue
      this.#count -= ended
      orders.splice(0, ended)
      if (orders.length === 0) this.#accounts.delete(account)
    }
  }

  /** Hands out what is to be told, at most `most`; the time of the oldest that is left, 0: nothing is. */
  tell(most: number, tell: (settled: Settled) => void): number {
    const end = Math.min(this.#waiting.length, this.#told + most)
    while (this.#told < end) tell(this.#waiting[this.#told++]!)
    if (end < this.#waiting.length) return this.#waiting[end]!.time
    if (this.#told > 0) this.#waiting = []
    this.#told = 0
    return 0
  }
}
