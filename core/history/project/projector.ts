/**
 * The projector: events in, tables of the history out. A pure function of the events and of what never changes of their accounts
 * (identities.ts), whatever the transactions it is cut into.
 *
 * Everything a transaction changes is gathered in memory and written by {@link Projector.flush}: an order that rested, traded and ended
 * in between is written once. Refusals and answers repeated for an idempotency key change nothing.
 */
import { SESSION_ANSWER, SUB_ACCOUNT_ANSWER } from '../../layout/answers.ts'
import { CommandType, Flag } from '../../layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, RESULT, Status } from '../../layout/event.ts'
import { RECORD_WORDS, type Views } from '../../layout/table.ts'
import type { Genesis } from '../../state/genesis.ts'
import { createApplicationTrades } from './application_trades.ts'
import { createAccounts, type AccountsModel } from './accounts.ts'
import { createCandles } from './candles.ts'
import { createCopies } from './copies.ts'
import { openTables, type Tables } from '../store/heads.ts'
import type { Identities } from './identities.ts'
import { createMargin } from './margin.ts'
import { createMovements } from './movements.ts'
import { createOrders } from './orders.ts'
import { createPortfolio } from './portfolio.ts'
import { Postings } from './postings.ts'
import { createRewards } from './rewards.ts'
import { createSettlements } from './settlements.ts'
import { createTrades } from './trades.ts'
import { createVault } from './vault.ts'
import { createWaiting } from './waiting.ts'
import type { HistoryDatabase } from '../store/store.ts'

const { at: RES } = RESULT
const { PLACE_ORDER, REPLACE_ORDER, ENTER_ORDER, CANCEL_ORDER, OPEN_SESSION, CREATE_SUB_ACCOUNT } = CommandType

export interface Projector {
  /** Balances and tallies as they are now, flushed or not. */
  readonly accounts: AccountsModel
  /** Takes `count` records. */
  project(events: Views, count: number): void
  /** Writes what changed; part of the caller's transaction. What its position must say then as `roots`. */
  flush(): Buffer
  /** Accounts that traded since they were last taken; the caller empties it. */
  readonly traded: Set<number>
}

const rests = (outcome: number): boolean => (outcome & 0xff) === Status.SUBMITTED || (outcome & 0xff) === Status.PARTIALLY_FILLED

/** The read models, and all of them in the order in which they are written. */
function createModels(tables: Tables, genesis: Genesis, identities: Identities, report: (leaves: number) => void) {
  const accounts = createAccounts(tables, genesis)
  const portfolio = createPortfolio(tables, genesis, accounts)
  const settlements = createSettlements(tables, identities, genesis.limits.pairs, report)
  const orders = createOrders(tables, genesis.limits.orders, identities, settlements)
  const trades = createTrades(tables)
  const candles = createCandles(tables, genesis.limits.pairs)
  const postings = new Postings(tables, identities)
  const movements = createMovements(postings, genesis, identities, accounts, portfolio)
  const margin = createMargin(tables, genesis, accounts, portfolio, postings)
  const waiting = createWaiting(tables, genesis)
  const takers = [margin, waiting, createCopies(tables), createVault(tables), settlements]
  const applications = createApplicationTrades(tables, genesis, identities, portfolio)
  const rewards = createRewards(tables)
  const all = [orders, trades, candles, ...takers, postings, applications, rewards, accounts, portfolio]
  return { accounts, portfolio, orders, trades, candles, movements, waiting, takers, applications, rewards, settlements, all }
}

/**
 * A projector that goes on where the tables stand. `report` hears how many trades a store of a format without settlement was gone through:
 * as long as that takes there is nothing else to hear.
 */
export function createProjector(
  database: HistoryDatabase, genesis: Genesis, identities: Identities, report: (leaves: number) => void = () => undefined,
): Projector {
  const tables = openTables(database)
  const models = createModels(tables, genesis, identities, report)
  const { accounts, portfolio, orders, trades, candles, movements, waiting, takers, applications, rewards, settlements } = models
  const traded = new Set<number>()

  const fill = (events: Views, base: number): void => {
    const { i32, f64 } = events
    portfolio.traded(i32[base + FILL.at.pair]!, i32[base + FILL.at.price]!, f64[(base + FILL.at.time) >>> 1]!)
    trades.filled(events, base)
    candles.filled(events, base)
    movements.filled(events, base)
    applications.filled(events, base)
    orders.filled(events, base)
    settlements.filled(events, base)
    traded.add(i32[base + FILL.at.takerAccount]!).add(i32[base + FILL.at.makerAccount]!)
  }
  const charge = (events: Views, base: number): void => {
    movements.charged(events, base)
    applications.charged(events, base)
  }
  const result = (events: Views, base: number): void => {
    const { i32 } = events
    const type = answeredTypeOf(i32[base]!)
    if (i32[base + RES.code] !== 0 || (i32[base + RES.flags]! & Flag.REPEATED) !== 0) return
    if (type === PLACE_ORDER || type === REPLACE_ORDER || type === ENTER_ORDER) {
      waiting.placed(events, base, orders.placed(events, base))
      if (rests(i32[base + RES.outcome]!)) movements.locked(events, base)
    } else if (type === CANCEL_ORDER) {
      orders.cancelled(events, base)
      movements.cancelled(events, base)
    } else if (type === OPEN_SESSION && i32[base + SESSION_ANSWER.at.isNew] === 1) applications.joined(i32[base + RES.account]!)
    else if (type === CREATE_SUB_ACCOUNT) applications.joined(i32[base + SUB_ACCOUNT_ANSWER.at.subAccount]!)
  }
  const one = (events: Views, base: number): void => {
    const type = eventTypeOf(events.i32[base]!)
    if (type === EventType.RESULT) result(events, base)
    else if (type === EventType.FILL) fill(events, base)
    else if (type === EventType.ORDER_ENDED) {
      orders.ended(events, base)
      movements.ended(events, base)
    } else if (type === EventType.ORDER_RESIZED) orders.resized(events, base)
    else if (type === EventType.LABEL) orders.label(events, base)
    else if (type === EventType.CREDIT) movements.credited(events, base)
    else if (type === EventType.APPLICATION_FEE) charge(events, base)
    else if (type === EventType.REFERRAL_REWARD) rewards.earned(events, base)
    else {
      if (type === EventType.WITHDRAWAL) movements.withdrawn(events, base)
      for (const model of takers) model.take(type, events, base)
    }
  }
  return {
    accounts,
    traded,
    project: (events, count) => {
      for (let record = 0; record < count; record++) one(events, record * RECORD_WORDS)
    },
    flush: () => {
      for (const model of models.all) model.flush()
      return tables.flush()
    },
  }
}
