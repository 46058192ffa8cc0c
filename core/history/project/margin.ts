/** The read models of margin trading together: events in, records out. */
import { EventType } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Genesis } from '../../state/genesis.ts'
import type { AccountsModel } from './accounts.ts'
import { Buckets } from './buckets.ts'
import { Exposures } from './exposures.ts'
import { createFunding } from './funding.ts'
import type { Tables } from '../store/heads.ts'
import { createLiquidations } from './liquidations.ts'
import { MarginMovements } from './margin_movements.ts'
import { createMarginOrders } from './margin_orders.ts'
import { createMarks } from './marks.ts'
import type { PortfolioModel } from './portfolio.ts'
import { Positions } from './positions.ts'
import type { Postings } from './postings.ts'

export interface MarginModel {
  /** Takes the event at `base` if it is one of margin trading; `type`: its EventType. */
  take(type: number, events: Views, base: number): void
  flush(): void
}

export function createMargin(
  tables: Tables, genesis: Genesis, accounts: AccountsModel, portfolio: PortfolioModel, postings: Postings,
): MarginModel {
  const buckets = new Buckets(tables)
  const exposures = new Exposures(tables)
  const movements = new MarginMovements(postings, buckets, exposures, accounts, portfolio, (pair) => genesis.pairs[pair]!.quote)
  const marks = createMarks(tables, genesis)
  const positions = new Positions(tables, genesis.limits.positions, buckets, movements, exposures, marks)
  const orders = createMarginOrders(tables, buckets)
  const funding = createFunding(tables)
  const liquidations = createLiquidations(tables, buckets)
  const all = [buckets, exposures, marks, positions, orders, funding, liquidations]
  return {
    take: (type, events, base) => {
      switch (type) {
        case EventType.MARGIN_ORDER:
          return orders.ordered(events, base)
        case EventType.POSITION:
          return positions.changed(events, base)
        case EventType.COLLATERAL:
          return movements.moved(events, base)
        case EventType.MARK:
          return marks.marked(events, base)
        case EventType.FUNDING_RATE:
          return funding.rated(events, base)
        case EventType.FUNDING_PAYMENT:
          return funding.paid(events, base)
        case EventType.LIQUIDATION:
          return liquidations.liquidated(events, base)
      }
    },
    flush: () => {
      for (const model of all) model.flush()
    },
  }
}
