/** A history in memory, slow and obvious: rows, and what the contract (core/history/answer/queries.ts) makes of them. */
import type { Genesis } from '../../core/state/genesis.ts'
import { Flag } from '../../core/layout/command.ts'
import type {
  ApplicationMovementsAsk, ApplicationOrdersAsk, ApplicationStats, CandlesAsk, ConditionalOrdersAsk, DepositsAsk, FundingPaymentsAsk,
  FundingRatesAsk, HistoryDeposit, HistoryWithdrawal, WithdrawalsAsk,
  HistoryConditionalOrder, HistoryFollow, HistoryFundingPayment, HistoryFundingRate, HistoryLiquidation, HistoryMovement, HistoryOrder,
  HistoryPosition, HistoryReply, HistoryRequest, HistoryTrade, HistoryTwapOrder, LeaderFigures, LiquidationsAsk, Listing, MovementsAsk,
  Named, OrdersAsk, Portfolio, Position, PositionsAsk, Queries, QueryName, ScreenerAsk, TradesAsk, TwapOrdersAsk, TwapSlicesAsk, Walk,
} from '../../core/history/answer/queries.ts'
import type { CopyQueries } from '../../core/history/answer/copy_queries.ts'
import type { RewardQueries } from '../../core/history/answer/reward_queries.ts'
import type { VaultQueries } from '../../core/history/answer/vault_queries.ts'
import { candlesAsked, naiveCandles, naiveScreener, naiveStats } from './naive_market.ts'
import { NaiveRewards } from './naive_rewards.ts'
import { NaiveSettlement } from './naive_settlement.ts'

export interface NaiveHistory {
  readonly orders: HistoryOrder[]
  readonly trades: HistoryTrade[]
  readonly movements: HistoryMovement[]
  readonly positions: HistoryPosition[]
  /** Each with its account. */
  readonly payments: (HistoryFundingPayment & { account: number })[]
  readonly rates: HistoryFundingRate[]
  readonly liquidations: HistoryLiquidation[]
  readonly conditionals: HistoryConditionalOrder[]
  readonly twaps: HistoryTwapOrder[]
  readonly follows: HistoryFollow[]
  /** By account of the leader. */
  readonly figures: Map<number, LeaderFigures>
  portfolio: Portfolio
  /** Applications of the accounts that there are, by account. */
  readonly applications: Map<number, number>
  /** What trades were worth in the reference asset when they were made; without one its own quote atoms count. */
  readonly values: Map<HistoryTrade, TradeValue>
  /** What applications charged, in quote atoms and in the reference asset. */
  readonly charges: Charge[]
  /** What referrers earned. */
  readonly rewards: NaiveRewards
  /** Money in and out, and how far trades and orders are settled. */
  readonly settlement: NaiveSettlement
  /** Its pairs are what a screener lists; without it there are none. */
  genesis: Genesis | null
  /** When its newest command was, Unix ms, while it lacks the last one; `null`: it lacks nothing. */
  behind: number | null
  /** Everything that was asked, newest last. */
  readonly asked: HistoryRequest[]
}

export interface Charge {
  readonly account: number
  readonly sequence: number
  readonly index: number
  readonly time: number
  readonly amount: bigint
  readonly value: bigint
}

export type TradeValue = Readonly<Record<'quote' | 'makerFee' | 'takerFee', bigint>>

export const createNaiveHistory = (): NaiveHistory => ({
  orders: [], trades: [], movements: [], positions: [], payments: [], rates: [], liquidations: [], conditionals: [],
  twaps: [], follows: [], figures: new Map(),
  portfolio: { asset: 0, points: [], realizedPnl: 0n, volume: 0n, fees: 0n },
  applications: new Map(), values: new Map(), charges: [], rewards: new NaiveRewards(), settlement: new NaiveSettlement(),
  genesis: null, behind: null, asked: [],
})

const same = <T>(wanted: T | undefined, value: T): boolean => wanted === undefined || wanted === value
const within = (time: number, { from = -Infinity, to = Infinity }: { from?: number; to?: number }): boolean => time >= from && time <= to
const older = (a: Position, b: Position): boolean => a.sequence < b.sequence || (a.sequence === b.sequence && a.index < b.index)

function listing<Row>(rows: readonly Row[], { after, skip, limit, countMost }: Walk, position: (row: Row) => Position): Listing<Row> {
  const newest = [...rows].sort((a, b) => (older(position(a), position(b)) ? 1 : -1))
  const left = newest.filter((row) => after === null || older(position(row), after))
  return { rows: left.slice(skip, skip + limit), total: Math.min(newest.length, countMost), more: left.length > skip + limit }
}

/** Orders and trades as they are by now. */
const ordersNow = ({ orders, settlement, trades }: NaiveHistory): HistoryOrder[] => settlement.orders(orders, trades)
const tradesNow = ({ settlement, trades }: NaiveHistory): HistoryTrade[] => trades.map((trade) => settlement.trade(trade))

function orders(history: NaiveHistory, ask: OrdersAsk): Listing<HistoryOrder> {
  const found = ordersNow(history).filter((order) =>
    order.account === ask.account && same(ask.pair, order.pair) && within(order.createdAt, ask) &&
      same(ask.clientOrderId, order.clientOrderId) &&
    (ask.statuses === undefined || ask.statuses.includes(order.outcome & 0xff)) &&
    same(ask.sell, (order.flags & Flag.SELL) !== 0) && same(ask.market, (order.flags & Flag.MARKET) !== 0) &&
    same(ask.margin, (order.flags & Flag.MARGIN) !== 0))
  return listing(found, ask, ({ sequence }) => ({ sequence, index: 0 }))
}

function trades(history: NaiveHistory, ask: TradesAsk): Listing<HistoryTrade> {
  const found = tradesNow(history).filter((trade) => {
    if (!same(ask.pair, trade.pair) || !within(trade.time, ask)) return false
    if (ask.account === undefined) return true
    const maker = trade.makerAccount === ask.account
    if (!maker && trade.takerAccount !== ask.account) return false
    return same(ask.sell, trade.makerSells === maker) && same(ask.orderSequence, maker ? trade.makerSequence : trade.sequence)
  })
  return listing(found, ask, ({ sequence, index }) => ({ sequence, index }))
}

function movements(history: NaiveHistory, ask: MovementsAsk): Listing<HistoryMovement> {
  const found = history.movements.filter((movement) =>
    movement.account === ask.account && same(ask.asset, movement.asset) && same(ask.entry, movement.entry) &&
    same(ask.transaction, movement.transaction) && within(movement.time, ask))
  return listing(found, ask, ({ sequence, index }) => ({ sequence, index }))
}

const isNamed = (wanted: Named | undefined, { sequence, row }: Named): boolean => same(wanted?.sequence, sequence) && same(wanted?.row, row)
const place = ({ sequence, index }: Position): Position => ({ sequence, index })

function positions(history: NaiveHistory, ask: PositionsAsk): Listing<HistoryPosition> {
  const found = history.positions.filter((position) =>
    position.account === ask.account && same(ask.open, position.lots !== 0) && same(ask.pair, position.pair) &&
    isNamed(ask.bucket, position.bucket) && isNamed(ask.marginAccount, position.marginAccount) && within(position.openedAt, ask))
  return listing(found, ask, place)
}

function fundingPayments(history: NaiveHistory, ask: FundingPaymentsAsk): Listing<HistoryFundingPayment> {
  const found = history.payments.filter((payment) =>
    payment.account === ask.account && isNamed(ask.position, payment.position) && within(payment.time, ask))
  return listing(found.map(({ account: _, ...payment }) => payment), ask, place)
}

const fundingRates = (history: NaiveHistory, ask: FundingRatesAsk): Listing<HistoryFundingRate> =>
  listing(history.rates.filter((rate) => rate.pair === ask.pair && within(rate.time, ask)), ask, place)

function liquidations(history: NaiveHistory, ask: LiquidationsAsk): Listing<HistoryLiquidation> {
  const found = history.liquidations.filter((each) => each.account === ask.account && same(ask.unresolved, each.endedAt === 0))
  return listing(found, ask, place)
}

function conditionalOrders(history: NaiveHistory, ask: ConditionalOrdersAsk): Listing<HistoryConditionalOrder> {
  const found = history.conditionals.filter((each) =>
    each.account === ask.account && same(ask.pair, each.pair) && same(ask.kind, each.kind) && within(each.createdAt, ask) &&
    (ask.states === undefined || ask.states.includes(each.state)) &&
      isNamed(ask.position, { sequence: each.openedSequence, row: each.position }))
  return listing(found, ask, ({ createdSequence, kind }) => ({ sequence: createdSequence, index: kind }))
}

function twapOrders(history: NaiveHistory, ask: TwapOrdersAsk): Listing<HistoryTwapOrder> {
  const found = history.twaps.filter((each) =>
    each.account === ask.account && same(ask.pair, each.pair) && within(each.createdAt, ask) &&
    (ask.states === undefined || ask.states.includes(each.state)))
  return listing(found, ask, ({ createdSequence }) => ({ sequence: createdSequence, index: 0 }))
}

const findTwap = ({ twaps }: NaiveHistory, { account, sequence, row }: Named & { account: number }): HistoryTwapOrder | null =>
  twaps.find((each) => each.account === account && each.createdSequence === sequence && each.twap === row) ?? null

function twapSlices(history: NaiveHistory, ask: TwapSlicesAsk): Listing<HistoryOrder> | null {
  const { account, ascending, limit, after } = ask
  if (findTwap(history, ask) === null) return null
  const sign = ascending ? 1 : -1
  const left = ordersNow(history)
    .filter(({ account: its, parent }) => its === account && parent !== undefined && isNamed(ask, parent))
    .sort((a, b) => sign * (a.sequence - b.sequence))
    .filter(({ sequence }) => after === null || sign * (sequence - after.sequence) > 0)
  return { rows: left.slice(0, limit), total: 0, more: left.length > limit }
}

function applicationOrders(history: NaiveHistory, ask: ApplicationOrdersAsk): Listing<HistoryOrder> {
  const found = ordersNow(history).filter((order) =>
    history.applications.get(order.account) === ask.application && same(ask.pair, order.pair) &&
    (ask.statuses === undefined || ask.statuses.includes(order.outcome & 0xff)) &&
    same(ask.sell, (order.flags & Flag.SELL) !== 0) && same(ask.market, (order.flags & Flag.MARKET) !== 0))
  return listing(found, ask, ({ sequence }) => ({ sequence, index: 0 }))
}

function applicationMovements(history: NaiveHistory, ask: ApplicationMovementsAsk): Listing<HistoryMovement> {
  const found = history.movements.filter((movement) =>
    history.applications.get(movement.account) === ask.application && same(ask.asset, movement.asset) && same(ask.entry, movement.entry) &&
    same(ask.transaction, movement.transaction))
  return listing(found, ask, ({ sequence, index }) => ({ sequence, index }))
}

function applicationStats(history: NaiveHistory, { application, since }: Queries['applicationStats']['ask']): ApplicationStats {
  const { applications, values, portfolio } = history
  const is = (account: number): boolean => applications.get(account) === application
  const stats: ApplicationStats = {
    asset: portfolio.asset, volume: 0n, makerFee: 0n, takerFee: 0n, applicationFee: 0n, totalTrades: 0, activeUsers: 0,
    totalUsers: [...applications.values()].filter((its) => its === application).length,
  }
  const active = new Set<number>()
  for (const trade of history.trades) {
    const { makerAccount, takerAccount } = trade
    if (trade.time < since || (!is(makerAccount) && !is(takerAccount))) continue
    const { quote, makerFee, takerFee } = values.get(trade) ?? trade
    if (is(takerAccount)) stats.volume += quote
    if (is(takerAccount)) stats.takerFee += takerFee
    if (is(makerAccount)) stats.makerFee += makerFee
    for (const account of [makerAccount, takerAccount]) if (is(account)) active.add(account)
    stats.totalTrades++
  }
  stats.activeUsers = active.size
  stats.applicationFee = history.charges.reduce((sum, { account, time, value }) => (is(account) && time >= since ? sum + value : sum), 0n)
  return stats
}

function follows({ follows: all }: NaiveHistory, asked: Queries['follows']['ask']): Listing<HistoryFollow> {
  const { account, states } = asked
  const found = all.filter((each) => each.account === account && (states === undefined || states.includes(each.state)))
  return listing(found, asked, ({ sequence, index }) => ({ sequence, index }))
}

/** Answers one question of a gateway, as a history that has reached what is asked for. */
export function answerNaively(history: NaiveHistory, request: HistoryRequest): HistoryReply {
  history.asked.push(request)
  const [{ id, atLeast }, { behind }] = [request, history]
  const answer = answerOf(history, request)
  return behind === null ? { id, answer, sequence: atLeast } : { id, answer, sequence: atLeast - 1, behind }
}

function answerOf(history: NaiveHistory, request: HistoryRequest): Queries[QueryName]['answer'] {
  const { name } = request
  const ask = request.ask as Queries['order']['ask'] & Queries['trade']['ask']
  switch (name) {
    case 'order':
      return ordersNow(history).find(({ account, sequence }) => account === ask.account && sequence === ask.sequence) ?? null
    case 'trade':
      return tradesNow(history).find(({ sequence, index }) => sequence === ask.sequence && index === ask.index) ?? null
    case 'orders':
      return orders(history, request.ask as OrdersAsk)
    case 'trades':
      return trades(history, request.ask as TradesAsk)
    case 'movements':
      return movements(history, request.ask as MovementsAsk)
    case 'portfolio':
      return history.portfolio
    case 'applicationOrders':
      return applicationOrders(history, request.ask as ApplicationOrdersAsk)
    case 'applicationMovements':
      return applicationMovements(history, request.ask as ApplicationMovementsAsk)
    case 'applicationStats':
      return applicationStats(history, request.ask as Queries['applicationStats']['ask'])
    case 'screener': {
      const { genesis } = history
      return genesis === null ? { rows: [], total: 0 } : naiveScreener(history.trades, genesis, request.ask as ScreenerAsk)
    }
    case 'market': {
      const { pair, now } = request.ask as Queries['market']['ask']
      return naiveStats(history.trades, pair, now)
    }
    case 'markets': {
      const { pairs, now } = request.ask as Queries['markets']['ask']
      return pairs.map((pair) => naiveStats(history.trades, pair, now))
    }
    case 'candles': {
      const asked = request.ask as CandlesAsk
      return candlesAsked(naiveCandles(history.trades, asked), asked)
    }
    case 'positions':
      return positions(history, request.ask as PositionsAsk)
    case 'position': {
      const named = request.ask as Queries['position']['ask']
      return history.positions.find((each) => each.account === named.account && isNamed(named, each)) ?? null
    }
    case 'fundingPayments':
      return fundingPayments(history, request.ask as FundingPaymentsAsk)
    case 'fundingRates':
      return fundingRates(history, request.ask as FundingRatesAsk)
    case 'liquidations':
      return liquidations(history, request.ask as LiquidationsAsk)
    case 'conditionalOrders':
      return conditionalOrders(history, request.ask as ConditionalOrdersAsk)
    case 'conditionalOrder': {
      const { account, sequence, kind } = request.ask as Queries['conditionalOrder']['ask']
      const isIt = (each: HistoryConditionalOrder): boolean =>
        each.account === account && each.createdSequence === sequence && each.kind === kind
      return history.conditionals.find(isIt) ?? null
    }
    case 'twapOrders':
      return twapOrders(history, request.ask as TwapOrdersAsk)
    case 'twapOrder':
      return findTwap(history, request.ask as Queries['twapOrder']['ask'])
    case 'twapSlices':
      return twapSlices(history, request.ask as TwapSlicesAsk)
    default:
      return answerOfProgram(history, { ...request, name })
  }
}

/** Referrals and copy trading. */
function answerOfProgram(
  history: NaiveHistory, { name, ask }: { name: keyof (RewardQueries & CopyQueries & VaultQueries); ask: unknown },
): Queries[QueryName]['answer'] {
  switch (name) {
    case 'rewards':
      return history.rewards.of((ask as Queries['rewards']['ask']).account).rewards()
    case 'rewardSources':
      return history.rewards.of((ask as Queries['rewardSources']['ask']).account).rewardSources()
    case 'follows':
      return follows(history, ask as Queries['follows']['ask'])
    case 'leaderFigures':
      return (ask as Queries['leaderFigures']['ask']).accounts.map((account) => history.figures.get(account) ?? null)
    default:
      return answerOfVault(history, { name, ask })
  }
}

function withdrawals({ settlement }: NaiveHistory, ask: WithdrawalsAsk): Listing<HistoryWithdrawal> {
  const found = settlement.withdrawals.filter(({ account, status, asset }) =>
    account === ask.account && (ask.statuses === undefined || ask.statuses.includes(status)) && same(ask.asset, asset))
  return listing(found, ask, ({ sequence }) => ({ sequence, index: 0 }))
}

function deposits({ settlement }: NaiveHistory, ask: DepositsAsk): Listing<HistoryDeposit> {
  const found = settlement.deposits.filter(({ account, asset }) => account === ask.account && same(ask.asset, asset))
  return listing(found, ask, ({ sequence }) => ({ sequence, index: 0 }))
}

/** Money in and out, and settlement. */
function answerOfVault(
  history: NaiveHistory, request: { name: keyof VaultQueries; ask: unknown },
): Queries[QueryName]['answer'] {
  const { settlement, trades } = history
  switch (request.name) {
    case 'withdrawal': {
      const { account, sequence, row } = request.ask as Queries['withdrawal']['ask']
      return settlement.withdrawals.find((each) => each.account === account && each.sequence === sequence && each.row === row) ?? null
    }
    case 'withdrawals':
      return withdrawals(history, request.ask as WithdrawalsAsk)
    case 'deposits':
      return deposits(history, request.ask as DepositsAsk)
    case 'settlement': {
      const { batch } = request.ask as Queries['settlement']['ask']
      return settlement.batch(batch === 0 ? settlement.batches.length : batch, trades)
    }
    case 'tradeProof':
      return settlement.prove(request.ask as Queries['tradeProof']['ask'], trades)
    case 'balanceProof': {
      const { account, asset } = request.ask as Queries['balanceProof']['ask']
      return settlement.balances.get(`${account} ${asset}`) ?? null
    }
  }
}
