/** The read models of orders that wait together: events in, records out. */
import { EventType, RESULT } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Genesis } from '../../state/genesis.ts'
import type { Tables } from '../store/heads.ts'
import { Conditionals } from './conditionals.ts'
import { Twaps } from './twaps.ts'

const { at: RES } = RESULT

export interface WaitingModel {
  /** Takes the event at `base` if it is one of orders that wait; `type`: its EventType. */
  take(type: number, events: Views, base: number): void
  /** RESULT of an accepted placement, whose record is number `number` of its account. */
  placed(events: Views, base: number, number: number): void
  flush(): void
}

export function createWaiting(tables: Tables, genesis: Genesis): WaitingModel {
  const conditionals = new Conditionals(tables)
  const twaps = new Twaps(tables, genesis.limits.twapOrders)
  return {
    take: (type, events, base) => {
      switch (type) {
        case EventType.CONDITIONAL:
          return conditionals.changed(events, base)
        case EventType.TWAP_OPENED:
          return twaps.opened(events, base)
        case EventType.TWAP:
          return twaps.changed(events, base)
        case EventType.CHILD_ORDER:
          return twaps.child(events, base)
      }
    },
    placed: (events, base, number) => {
      conditionals.placed(events, base)
      twaps.placed(events.i32[base + RES.account]!, events.f64[(base + RES.orderSequence) >>> 1]!, number)
    },
    flush: () => {
      conditionals.flush()
      twaps.flush()
    },
  }
}
