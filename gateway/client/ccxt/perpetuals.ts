/**
 * ccxt's verbs for positions and funding of perpetuals, which are swaps to ccxt. {@link PerpetualVerbs} is the part of the adapter that has
 * them; what they ask for goes through the session of the adapter like everything else.
 *
 * A perpetual may have several positions of an account, one in each risk bucket; verbs that are about one of them take
 * `params.positionId` and refuse to guess.
 */
import type { Client, Input, Output } from '../index.ts'
import { ArgumentsRequired, BadSymbol, NotSupported } from './errors.ts'
import { rowsOf } from './listing.ts'
import { placedOf, type Market, type UnifiedOrder } from './shapes.ts'

type Params = Readonly<Record<string, unknown>>
type Num = number | undefined
type PositionRow = Output<'GetPosition'>
type RiskRow = Output<'GetPositionRisk'>

const PAGE = 100
const PAGE_MAX = 1000
const CLOSE_PARAMS: readonly string[] = ['positionId', 'quantity', 'closeType', 'price', 'slippageToleranceBps']

/** For `has` of the adapter. */
export const PERPETUAL_VERBS = [
  'fetchPositions', 'fetchPosition', 'closePosition', 'fetchFundingRate', 'fetchFundingRateHistory', 'fetchFundingHistory',
] as const

interface Moment {
  readonly timestamp: Num
  readonly datetime: string | undefined
}

export interface Position extends Moment {
  readonly id: string
  readonly symbol: string
  readonly lastUpdateTimestamp: number
  readonly isolated: boolean
  readonly marginMode: 'isolated' | 'cross'
  /** An order of the other side closes it. */
  readonly hedged: false
  readonly side: 'long' | 'short'
  /** In the base currency: a contract is one of it. */
  readonly contracts: number
  readonly contractSize: 1
  readonly entryPrice: number
  readonly markPrice: number
  readonly lastPrice: undefined
  readonly notional: number
  readonly leverage: number
  /** Equity of its risk bucket, and the maintenance margin of the bucket divided by it; {@link PerpetualVerbs.fetchPosition} has them. */
  readonly collateral: Num
  readonly marginRatio: Num
  readonly initialMargin: number
  readonly initialMarginPercentage: Num
  readonly maintenanceMargin: number
  readonly maintenanceMarginPercentage: Num
  readonly unrealizedPnl: number
  readonly realizedPnl: number
  /** Unrealised profit in percent of the initial margin. */
  readonly percentage: Num
  readonly liquidationPrice: Num
  readonly stopLossPrice: undefined
  readonly takeProfitPrice: undefined
  readonly info: PositionRow
}

export interface FundingRate extends Moment {
  readonly symbol: string
  readonly markPrice: Num
  readonly indexPrice: Num
  readonly interestRate: undefined
  readonly estimatedSettlePrice: undefined
  /** Rate of the running interval by its samples so far, and when it is paid; it moves until then. */
  readonly fundingRate: Num
  readonly fundingTimestamp: Num
  readonly fundingDatetime: string | undefined
  /** Of the interval behind it nothing is known yet. */
  readonly nextFundingRate: undefined
  readonly nextFundingTimestamp: undefined
  readonly nextFundingDatetime: undefined
  /** Rate that was paid last, and when. */
  readonly previousFundingRate: Num
  readonly previousFundingTimestamp: Num
  readonly previousFundingDatetime: string | undefined
  /** Length of an interval, such as `8h`. */
  readonly interval: string
  readonly info: unknown
}

export interface FundingRateEntry extends Moment {
  readonly symbol: string
  readonly fundingRate: number
  readonly info: unknown
}

export interface FundingPayment extends Moment {
  readonly id: string
  readonly symbol: string
  /** Currency of the amount. */
  readonly code: string
  /** Negative: paid. */
  readonly amount: number
  readonly info: unknown
}

const numberOf = (text: string | undefined): Num => (text === undefined ? undefined : Number(text))
const momentOf = (time: string | undefined): Moment =>
  time === undefined ? { timestamp: undefined, datetime: undefined } : { timestamp: Date.parse(time), datetime: time }
/** A span of time as ccxt writes it: in hours, minutes or seconds, the largest that it is a whole number of. */
function spanOf(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}
const partOf = (part: number, whole: number): Num => (whole === 0 ? undefined : part / whole)

export function positionOf(row: PositionRow, symbol: string, risk?: RiskRow): Position {
  const [contracts, markPrice, unrealizedPnl] = [Number(row.size), Number(row.markPrice), Number(row.unrealizedPnl)]
  const [initialMargin, maintenanceMargin] = [Number(row.initialMarginRequired), Number(row.maintenanceMarginRequired)]
  const notional = contracts * markPrice
  const profit = partOf(unrealizedPnl, initialMargin)
  return {
    id: row.positionId, symbol, ...momentOf(row.createdAt), lastUpdateTimestamp: Date.parse(row.updatedAt),
    isolated: row.marginMode === 'ISOLATED', marginMode: row.marginMode === 'ISOLATED' ? 'isolated' : 'cross', hedged: false,
    side: row.side === 'LONG' ? 'long' : 'short', contracts, contractSize: 1, entryPrice: Number(row.entryPrice), markPrice,
    lastPrice: undefined, notional, leverage: Number(row.leverage), collateral: numberOf(risk?.equity),
    marginRatio: numberOf(risk?.marginRatio), initialMargin, initialMarginPercentage: partOf(initialMargin, notional), maintenanceMargin,
    maintenanceMarginPercentage: partOf(maintenanceMargin, notional), unrealizedPnl, realizedPnl: Number(row.realizedPnl),
    percentage: profit === undefined ? undefined : profit * 100, liquidationPrice: numberOf(row.liquidationPrice),
    stopLossPrice: undefined, takeProfitPrice: undefined, info: risk ?? row,
  }
}

export abstract class PerpetualVerbs {
  abstract readonly client: Client
  abstract loadMarkets(): Promise<unknown>
  /** Loads markets again when one of these pairs was listed after they were loaded. */
  protected abstract know(pairs: readonly string[]): Promise<void>
  /** The symbol of a pair, or its id where no market has it. */
  protected abstract symbolOf(pair: string): string
  abstract market(symbol: string): Market
  abstract amountToPrecision(symbol: string, amount: number | string): string
  abstract priceToPrecision(symbol: string, price: number | string): string
  /** Runs what anybody may ask of a market; errors are ccxt's. */
  protected abstract onMarket<Result>(symbol: string, act: (market: Market) => Promise<Result>): Promise<Result>
  /** The same of what only the account may ask. */
  protected abstract privately<Result>(act: () => Promise<Result>): Promise<Result>

  /** Each order has its own: `params.leverage` of createOrder. */
  async setLeverage(): Promise<never> {
    throw new NotSupported('leverage is set by each order: params.leverage of createOrder')
  }

  /** A margin mode is that of the risk bucket: `params.marginMode` of createOrder. */
  async setMarginMode(): Promise<never> {
    throw new NotSupported('the margin mode is set by each order: params.marginMode of createOrder')
  }

  /** Open positions, of all perpetuals or of these; without `collateral` and `marginRatio`. */
  fetchPositions(symbols?: readonly string[]): Promise<Position[]> {
    return this.privately(async () => {
      await this.loadMarkets()
      const wanted = symbols === undefined ? null : new Set(symbols.map((symbol) => this.market(symbol).id))
      const rows = (await this.#open({})).filter(({ tradingPairId }) => wanted?.has(tradingPairId) ?? true)
      await this.know(rows.map(({ tradingPairId }) => tradingPairId))
      return rows.map((row) => positionOf(row, this.symbolOf(row.tradingPairId)))
    })
  }

  /** The open position of a perpetual, or `undefined`. Throws ArgumentsRequired when there are several and none is named. */
  fetchPosition(symbol: string, params: Params = {}): Promise<Position | undefined> {
    return this.privately(async () => {
      const row = await this.one(symbol, params)
      if (row === undefined) return undefined
      return positionOf(row, this.market(symbol).symbol, await this.client.GetPositionRisk({ positionId: row.positionId }))
    })
  }

  /**
   * Closes a position with an order that only reduces: all of it at the market, unless `params` have `quantity`, `closeType` with `price`,
   * or `slippageToleranceBps`. `side` is not needed; one that is not the position's throws BadSymbol.
   */
  closePosition(symbol: string, side?: 'long' | 'short' | 'buy' | 'sell', params: Params = {}): Promise<UnifiedOrder> {
    return this.privately(async () => {
      const strange = Object.keys(params).find((name) => params[name] !== undefined && !CLOSE_PARAMS.includes(name))
      if (strange !== undefined) throw new NotSupported(`ClosePosition has no parameter ${strange}: nothing was sent`)
      const row = await this.one(symbol, params)
      const is = row?.side === 'LONG' ? ['long', 'buy'] : ['short', 'sell']
      if (row === undefined || (side !== undefined && !is.includes(side))) throw new BadSymbol(`${symbol} has no such open position`)
      const terms = this.#closeTerms(symbol, params)
      const answer = await this.client.ClosePosition({ positionId: row.positionId, ...terms })
      const asked = {
        tradingPairId: row.tradingPairId, orderType: terms.closeType === 'MARKET' ? 'MARKET' : 'LIMIT', reduceOnly: true,
        side: row.side === 'LONG' ? 'SELL' : 'BUY', quantity: answer.submittedQuantity,
        ...(terms.price === undefined ? {} : { price: terms.price }), ...(terms.closeType === 'IOC' ? { timeInForce: 'IOC' } : {}),
      } as Input<'CreateOrder'>
      return placedOf({ ...answer, orderId: answer.closeOrderId }, asked, this.market(symbol).symbol)
    })
  }

  /** The running interval of a perpetual; its rate is an estimate until it is paid. */
  fetchFundingRate(symbol: string): Promise<FundingRate> {
    return this.onMarket(symbol, async (market) => {
      const { id: tradingPairId } = swap(market)
      const [info, { fundingRates: [last] }, { fundingIntervalSeconds }] = await Promise.all([
        this.client.GetMarketMetadata({ tradingPairId }), this.client.ListFundingRates({ tradingPairId, pageToken: '', pageSize: 1 }),
        this.client.GetPerpConfig({ tradingPairId }),
      ])
      const [paid, next] = [momentOf(last?.fundingTime), momentOf(info.nextFundingTime)]
      return {
        symbol: market.symbol, ...momentOf(undefined), markPrice: numberOf(info.markPrice), indexPrice: numberOf(info.indexPrice),
        interestRate: undefined, estimatedSettlePrice: undefined,
        fundingRate: numberOf(info.predictedFundingRate), fundingTimestamp: next.timestamp, fundingDatetime: next.datetime,
        nextFundingRate: undefined, nextFundingTimestamp: undefined, nextFundingDatetime: undefined,
        previousFundingRate: numberOf(last?.fundingRate), previousFundingTimestamp: paid.timestamp, previousFundingDatetime: paid.datetime,
        interval: spanOf(Number(fundingIntervalSeconds)), info,
      }
    })
  }

  /** Rates that were paid from `since` on, or the newest; oldest first. */
  fetchFundingRateHistory(symbol: string, since?: number, limit?: number): Promise<FundingRateEntry[]> {
    return this.onMarket(symbol, async (market) => {
      const { id: tradingPairId } = swap(market)
      const rows = await rowsOf({
        ask: async (page) => {
          const { fundingRates, nextPageToken } = await this.client.ListFundingRates({ ...page, tradingPairId })
          return { rows: fundingRates, nextPageToken }
        },
        timeOf: ({ fundingTime }) => fundingTime,
      }, since, limit)
      return rows.map((info) =>
        ({ symbol: market.symbol, fundingRate: Number(info.fundingRate), ...momentOf(info.fundingTime), info }))
    })
  }

  /** Funding that positions got and paid from `since` on, or the newest; oldest first. A position settles when it changes. */
  fetchFundingHistory(symbol?: string, since?: number, limit = PAGE): Promise<FundingPayment[]> {
    return this.privately(async () => {
      await this.loadMarkets()
      const wanted = symbol === undefined ? undefined : swap(this.market(symbol)).symbol
      const symbols = new Map<string, string>()
      const found: FundingPayment[] = []
      // Movements do not say which market they are of, so those from `since` on are all looked at.
      for (let pageToken: string | undefined = ''; pageToken !== undefined && (since !== undefined || found.length < limit);) {
        const span = since === undefined ? {} : { startTime: String(since) }
        const terms = { ...span, transactionType: 'FUNDING', pageToken, pageSize: PAGE_MAX } as const
        const page: Output<'ListMovements'> = await this.client.ListMovements(terms)
        for (const movement of page.movements) {
          const paid = paymentOf(movement, await this.#marketOf(movement.referenceId!, symbols))
          if (wanted === undefined || paid.symbol === wanted) found.push(paid)
        }
        pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken
      }
      found.reverse()
      return since === undefined ? found.slice(-limit) : found.slice(0, limit)
    })
  }

  #closeTerms(symbol: string, { quantity, price, closeType, slippageToleranceBps }: Params): Omit<Input<'ClosePosition'>, 'positionId'> {
    return {
      closeType: String(closeType ?? 'MARKET').toUpperCase() as 'MARKET',
      ...(quantity === undefined ? {} : { quantity: this.amountToPrecision(symbol, quantity as string) }),
      ...(price === undefined ? {} : { price: this.priceToPrecision(symbol, price as string) }),
      ...(slippageToleranceBps === undefined ? {} : { slippageToleranceBps: slippageToleranceBps as number }),
    }
  }

  async #marketOf(positionId: string, known: Map<string, string>): Promise<string> {
    const found = known.get(positionId)
    if (found !== undefined) return found
    const { tradingPairId } = await this.client.GetPosition({ positionId })
    await this.know([tradingPairId])
    known.set(positionId, this.symbolOf(tradingPairId))
    return this.symbolOf(tradingPairId)
  }

  /** The open position of a perpetual; of several the one that is named. */
  protected async one(symbol: string, { positionId }: Params): Promise<PositionRow | undefined> {
    await this.loadMarkets()
    const rows = await this.#open({ tradingPairId: swap(this.market(symbol)).id })
    if (positionId !== undefined) return rows.find((row) => row.positionId === positionId)
    if (rows.length > 1) throw new ArgumentsRequired(`${symbol} has ${rows.length} positions: params.positionId`)
    return rows[0]
  }

  /** All open positions of the filter, newest first. */
  async #open(filter: { readonly tradingPairId?: string }): Promise<PositionRow[]> {
    const rows: PositionRow[] = []
    for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
      const page: Output<'ListPositions'> = await this.client.ListPositions({ ...filter, pageToken, pageSize: PAGE_MAX })
      rows.push(...page.positions)
      pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken
    }
    return rows
  }
}

function paymentOf(info: Output<'ListMovements'>['movements'][number], symbol: string): FundingPayment {
  const amount = Number(info.amount) * (info.entryType === 'DEBIT' ? -1 : 1)
  return { id: info.id, symbol, code: info.symbol ?? info.token, amount, ...momentOf(info.createdAt), info }
}

/** The market, which must be a perpetual. */
function swap(market: Market): Market {
  if (!market.swap) throw new BadSymbol(`${market.symbol} is no perpetual`)
  return market
}
