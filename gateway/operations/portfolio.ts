/**
 * Portfolio analytics of the caller: equity over time, realised profit, volume and fees of a period, in one asset. From the history;
 * when that cannot be read the answer is 503, never something else. (Specification, Errors, rule 9.)
 */
import Type, { type Static } from 'typebox'
import type { Portfolio } from '../../core/history/answer/queries.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText } from './amounts.ts'
import { Decimal, Nullable, operation, rfc3339, Timestamp,  } from './operation.ts'
import * as sample from './example_values.ts'
import { HISTORY } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

export const PortfolioPeriod = Type.Union([Type.Literal('24h'), Type.Literal('7d'), Type.Literal('30d'), Type.Literal('all')])
type PortfolioPeriod = Static<typeof PortfolioPeriod>

export const PortfolioRecord = Type.Object({
  period: field(PortfolioPeriod, 'Span of time that ends now.'),
  /** The asset of every amount here. */
  assetId: fields.assetId,
  symbol: fields.symbol,
  /** Oldest first; the last one is as of `asOf`. `equity` is `null` while some balance has no price yet. */
  points: field(
    Type.Array(
      Type.Object(
        {
          timestamp: field(Timestamp, 'When the equity was this.'),
          equity: field(Nullable(Decimal), 'Value of all balances; null while one of them has no price yet.'),
        },
      ),
    ),
    'Equity over the period, oldest first; the last point is at asOf.',
  ),
  /** Average cost method. */
  realizedPnl: field(Decimal, 'Realised profit of the period, average cost method; negative is a loss.'),
  volume: field(Decimal, 'Traded value of the period.'),
  /** Positive: paid; negative: earned. */
  fees: field(Decimal, 'Fees of the period: positive paid, negative earned.'),
  /** The newest command in it, and when it is complete to: now, or when that command was if others are missing. */
  sequence: field(Type.Integer(), 'Newest command in it.'),
  asOf: fields.asOf,
})
export type PortfolioRecord = Static<typeof PortfolioRecord>

/** `behind`: when the history stood, if it lacks anything; what it says of later hours is what was before them. */
function portfolioRecord(
  gateway: Gateway, period: PortfolioPeriod, portfolio: Portfolio, sequence: number, behind: number | null, now: number,
): PortfolioRecord {
  const { asset: index, points: all, ...sums } = portfolio
  const asset = gateway.genesis.assets[index]!
  const asOf = behind ?? now
  const points = behind === null ? all : all.filter(({ time }, i) => time < asOf || i === all.length - 1)
  return {
    period,
    assetId: asset.id,
    symbol: asset.symbol,
    points: points.map(({ time, equity }) => ({
      timestamp: rfc3339(behind === null ? time : Math.min(time, behind)),
      equity: equity === null ? null : amountText(asset, equity),
    })),
    realizedPnl: amountText(asset, sums.realizedPnl),
    volume: amountText(asset, sums.volume),
    fees: amountText(asset, sums.fees),
    sequence,
    asOf: rfc3339(asOf),
  }
}

export const GetPortfolio = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/portfolio',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Portfolio of a period',
  description: 'Equity over time, realised profit, volume and fees of the caller, in one asset. When the history cannot be read this is '
    + '503, never something else; when it is behind, `asOf` says what the answer is complete to.',
  answer: 'The portfolio.',
  refusals: HISTORY,
  query: Type.Object({ period: Type.Optional(field(PortfolioPeriod, 'Span of time that ends now.')) }),
  output: PortfolioRecord,
  example: {
    input: { period: '7d' },
    output: {
      period: '7d', assetId: sample.USDC, symbol: 'USDC', realizedPnl: '-1.5', volume: '3000', fees: '1.5',
      points: [{ timestamp: '2026-01-15T09:00:00.000Z', equity: null }, { timestamp: sample.LATER, equity: '69998.5' }],
      sequence: 43, asOf: sample.LATER,
    },
  },
  run: (gateway, call, { period = '24h' }) => {
    const now = gateway.time()
    askHistory(gateway.history, 'portfolio', { account: call.account, period, now }, (answer, sequence, behind) => {
      if (answer instanceof Refused) call.refuse(answer)
      else call.answer(portfolioRecord(gateway, period, answer, sequence, behind, now))
    })
  },
})
