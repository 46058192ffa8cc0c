/**
 * Which orders rest, as far as a stream told. A snapshot that comes after a lost connection has the orders that rest
 * then: those that ended meanwhile are not in it, and how they ended has to be asked for.
 */
import type { Status } from './shapes.ts'

const RESTING: ReadonlySet<Status> = new Set(['SUBMITTED', 'PARTIALLY_FILLED'])

interface Known {
  readonly orderId: string
  readonly status: Status
}

export class RestingOrders {
  #ids: Set<string> | null = null

  /** Takes a snapshot in. Ids of orders that rested before it and do not any more; `null`: it is the first. */
  snapshot(orders: readonly Known[]): string[] | null {
    const before = this.#ids
    const ids = new Set(orders.map(({ orderId }) => orderId))
    this.#ids = ids
    return before === null ? null : [...before].filter((id) => !ids.has(id))
  }

  update({ orderId, status }: Known): void {
    if (RESTING.has(status)) this.#ids?.add(orderId)
    else this.#ids?.delete(orderId)
  }
}
