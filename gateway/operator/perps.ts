/**
 * Perpetuals, for an operator: their prices, what they let happen, the insurance fund, buckets in liquidation. Each change is one command
 * of lane 0 (core/programs/prices.ts, perp_settings.ts, insurance.ts).
 */
import Type from 'typebox'
import { CommandType } from '../../core/layout/command.ts'
import { riskBucketId, userId } from '../../core/layout/ids.ts'
import {
  FUND_INSURANCE_COMMAND, PERP_MODE_NAMES, PerpMode, PerpSetting, PRICE_SOURCE_NAMES, PriceSource, SET_INDEX_PRICE_COMMAND,
  SET_PERP_COMMAND,
} from '../../core/layout/margin.ts'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { fundFigures, inLiquidation, perpFigures } from '../../core/view/perps.ts'
import { Amount, amountText, atomsOf, priceText, ticksOf } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Nullable, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { pairName } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { count, facts, momentOf, printable, table } from './text.ts'

const PAIR_ID = '7a1c0000-0000-4000-8000-000000000005'
export const SYMBOL = 'BTC/USDC-PERP'
/** Longest time that a mark may be forced for, seconds: a week. */
const FORCED_MOST = 604_800
/** Buckets in one answer. */
const LISTED_MOST = 1000

const symbol = field(Type.String(), 'The perpetual.')
const price = (what: string) => field(Decimal, what)
export const changed = { symbol, sequence: fields.sequence }

const Perp = Type.Object({
  id: field(Uuid, 'The perpetual.'), symbol,
  mode: field(Type.Enum(PERP_MODE_NAMES), 'What it lets happen.'),
  indexPrice: field(Nullable(Decimal), 'null: there is none yet.'),
  markPrice: field(Nullable(Decimal), 'null: there is none yet.'),
  source: field(Type.Enum(PRICE_SOURCE_NAMES), 'Where the index price came from.'),
  ageSeconds: field(Nullable(Type.Number()), 'Age of the index price.'),
  stale: field(Type.Boolean(), 'Whether it is too old: then nothing is liquidated or paid, and only reduceOnly orders are taken.'),
  unconfirmed: field(Type.Boolean(), 'Whether the index jumped and is not confirmed: then only reduceOnly orders are taken.'),
  indexStepBps: field(Decimal, 'Most that the next price may differ: the index band, at most the least initial margin less costs.'),
  forcedUntil: field(Nullable(Timestamp), 'The mark is forced until then; null: it is not.'),
  openInterest: field(Decimal, 'Size of all long positions.'),
  openInterestCap: field(Nullable(Decimal), 'Most that there may be; null: no cap.'),
  fundShareBps: field(Decimal, 'Of the insurance fund, what a day of it may cost.'),
  fundOwnerAllowance: field(Decimal, 'What the insurance fund covers in a day for one owner.'),
  positions: field(Type.Integer(), 'Open positions.'),
  fundingRate: field(Decimal, 'Paid last; positive: longs pay.'),
  predictedFundingRate: field(Decimal, 'Rate of the running interval, if the minutes that are left are like those sampled.'),
  nextFundingAt: field(Nullable(Timestamp), 'null: funding is not paid.'),
})

/** Sizes of many positions: beyond 31 bits. */
const sizeText = (pair: Pair, lots: number): string => formatDecimal(BigInt(lots) * BigInt(pair.lotUnits), pair.lotScale)

function perpRecord(state: State, pair: Pair, now: number) {
  const perp = perpFigures(state, pair.index)
  const age = now - perp.indexAt
  const priced = (ticks: number): string | null => (ticks === 0 ? null : priceText(pair, ticks))
  return {
    id: pair.id, symbol: pair.symbol, mode: PERP_MODE_NAMES[perp.mode]!,
    indexPrice: priced(perp.index), markPrice: priced(perp.mark), source: PRICE_SOURCE_NAMES[perp.source]!,
    ageSeconds: perp.index === 0 ? null : Math.max(0, age) / 1000,
    stale: perp.mode < PerpMode.SETTLING && (perp.index === 0 || age > perp.staleMs),
    unconfirmed: perp.unconfirmed, indexStepBps: formatDecimal(perp.indexBandPpm, 2),
    forcedUntil: perp.forcedMark !== 0 && perp.forcedUntil > now ? momentOf(perp.forcedUntil) : null,
    openInterest: sizeText(pair, perp.openLots), openInterestCap: perp.openCap === 0 ? null : sizeText(pair, perp.openCap),
    fundShareBps: formatDecimal(perp.fundSharePpm, 2),
    fundOwnerAllowance: amountText(collateralOf(state)!, BigInt(perp.fundAllowance)),
    positions: perp.positions, fundingRate: formatDecimal(perp.lastRate, 8), predictedFundingRate: formatDecimal(perp.predictedRate, 8),
    nextFundingAt: momentOf(perp.nextFundingAt),
  }
}

/** The perpetual of this name, or the refusal. */
export function perpNamed({ state }: OperatorContext, named: string): Pair | Refused {
  const pair = state.genesis.pairs.find(({ id, symbol, perp }) =>
    perp !== null && (symbol === named || id.toLowerCase() === named.toLowerCase()))
  return pair ?? new Refused('NOT_FOUND', 'no such perpetual', { field: 'pair' })
}

function ticksIn(pair: Pair, name: string, text: string): number | Refused {
  const ticks = ticksOf(pair, text)
  return ticks < 1 ? refusedField(name, `${name} must be a positive multiple of ${pair.tickSize}`) : ticks
}

export const ListPerps = operatorRoute({
  method: 'GET', path: '/perps', token: false,
  summary: 'Every perpetual: prices, mode, open interest and funding',
  description: 'In the order of their listing.',
  output: Type.Object({ perps: field(Type.Array(Perp), 'The perpetuals.') }),
  refusals: [],
  example: {
    input: {},
    output: {
      perps: [{
        id: PAIR_ID, symbol: SYMBOL, mode: 'NORMAL', indexPrice: '65000', markPrice: '65010.5', source: 'EMBEDDED', ageSeconds: 0.4,
        stale: false, unconfirmed: false, indexStepBps: '145', forcedUntil: null, openInterest: '12.5', openInterestCap: '5000',
        fundShareBps: '2500',
        fundOwnerAllowance: '1000', positions: 31,
        fundingRate: '0.0000125', predictedFundingRate: '0.00001', nextFundingAt: '2026-01-02T04:00:00.000Z',
      }],
    },
  },
  commands: [{
    name: 'perps list',
    purpose: 'every perpetual: prices, mode, open interest and funding',
    explains: 'AGE is that of the index price. While it is stale nothing is liquidated or paid, and only reduceOnly orders are taken.\n'
      + 'RATE was paid last; NEXT is what would be paid now. Positive: longs pay.',
    example: [
      'perps list',
      'SYMBOL         MODE    INDEX  MARK     AGE    OPEN  RATE       NEXT\n'
        + 'BTC/USDC-PERP  NORMAL  65000  65010.5  0.4 s  12.5  0.0000125  0.00001',
    ],
    show: ({ perps }) => table(
      ['SYMBOL', 'MODE', 'INDEX', 'MARK', 'AGE', 'OPEN', 'RATE', 'NEXT'],
      perps.map((p) => [
        printable(p.symbol), p.mode, p.indexPrice ?? '-', `${p.markPrice ?? '-'}${p.forcedUntil === null ? '' : ' forced'}`,
        p.ageSeconds === null ? '-' : `${p.ageSeconds.toFixed(1)} s${p.stale ? ' STALE' : p.unconfirmed ? ' UNCONFIRMED' : ''}`,
        p.openInterest, p.fundingRate, p.predictedFundingRate,
      ]),
    ),
    good: ({ perps }) => perps.every(({ stale }) => !stale),
  }],
  run: ({ state, time }) => ({
    perps: state.genesis.pairs.filter(({ perp }) => perp !== null).map((pair) => perpRecord(state, pair, time())),
  }),
})

export const SetIndexPrice = operatorRoute({
  method: 'POST', path: '/perps/price', token: true,
  summary: 'Set the index price of a perpetual',
  description: 'The price feeder leaves it alone until it is stale. A price farther from the one before than `indexStepBps` is refused '
    + 'unless it is forced; behind an outage the third that agrees, each a second after the one before, is taken.',
  body: Type.Object({
    pair: pairName, price: field(Amount, 'The index price, a multiple of the tick.'),
    force: Type.Optional(field(Type.Boolean(), 'Also outside of the band around the price before.')),
    source: Type.Optional(field(Type.Enum(['OPERATOR', 'REPLAY']), 'Where it comes from; OPERATOR if it is not given.')),
    observedAt: Type.Optional(field(Type.Integer({ minimum: 0 }), 'When it was seen, Unix ms; now if it is not given.')),
  }),
  output: Type.Object({
    ...changed, indexPrice: price('The index price now.'), markPrice: price('The mark price now.'),
    before: field(Nullable(Decimal), 'The index price before; null: there was none.'),
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'WRONG_PERP_MODE', 'PRICE_OUT_OF_BAND'],
  example: {
    input: { pair: SYMBOL, price: '65000' },
    output: { symbol: SYMBOL, indexPrice: '65000', markPrice: '65000', before: '64990', sequence: 1042 },
  },
  commands: [{
    name: 'perps price', parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'price', typed: 'PRICE' }],
    options: [{ option: 'force', field: 'force', typed: 'true' }],
    purpose: 'set the index price of a perpetual',
    explains: 'The price feeder leaves it alone until it is stale. A price outside of the band around the one before is refused:\n'
      + 'look whether it is right, then --force true. When the one before is stale, the third in a row that agrees, a second or more\n'
      + 'apart, is taken without it. Positions are liquidated by what follows from it.',
    example: [`perps price ${SYMBOL} 65000`, `${SYMBOL}: index 65000, was 64990, mark 65000 (sequence 1042)`],
    show: ({ symbol: name, indexPrice, markPrice, before, sequence }) =>
      `${printable(name)}: index ${indexPrice}, was ${before ?? 'none'}, mark ${markPrice} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, price: text, force = false, source = 'OPERATOR', observedAt }) => {
    const pair = perpNamed(context, named)
    if (pair instanceof Refused) return pair
    const ticks = ticksIn(pair, 'price', text)
    if (ticks instanceof Refused) return ticks
    const values = {
      pair: pair.index, price: ticks, source: PriceSource[source], force: force ? 1 : 0, observedAt: observedAt ?? context.time(),
    }
    return sendCommand(context, CommandType.SET_INDEX_PRICE, SET_INDEX_PRICE_COMMAND, values, ({ mark, before, sequence }) => {
      const [markPrice, was] = [priceText(pair, Number(mark)), Number(before) === 0 ? null : priceText(pair, Number(before))]
      const answer = { symbol: pair.symbol, indexPrice: priceText(pair, ticks), markPrice, before: was, sequence: Number(sequence) }
      if (source === 'OPERATOR') note(context, 'index price', { ...answer, force })
      return answer
    })
  },
})

/** Sends SET_PERP and says in the log what an operator changed. */
export const setPerp = <Out extends object>(
  context: OperatorContext, pair: Pair, values: { setting: number; value?: number; price?: number; number?: number }, what: Out,
) => sendCommand(context, CommandType.SET_PERP, SET_PERP_COMMAND, { pair: pair.index, ...values }, ({ sequence }) => {
  const answer = { symbol: pair.symbol, ...what, sequence: Number(sequence) }
  note(context, 'perpetual changed', answer)
  return answer
})

export const SetPerpMode = operatorRoute({
  method: 'POST', path: '/perps/mode', token: true,
  summary: 'What a perpetual lets happen: everything, only what reduces, or its settlement',
  description: 'SETTLING closes all positions at a price and cannot be taken back.',
  body: Type.Object({
    pair: pairName, mode: field(Type.Enum(['NORMAL', 'REDUCE_ONLY', 'SETTLING']), 'What it shall let happen.'),
    price: Type.Optional(field(Amount, 'SETTLING: the settlement price.')),
  }),
  output: Type.Object({ ...changed, mode: field(Type.Enum(PERP_MODE_NAMES), 'What it lets happen now.') }),
  refusals: [...SENDS, 'NOT_FOUND', 'WRONG_PERP_MODE'],
  example: { input: { pair: SYMBOL, mode: 'REDUCE_ONLY' }, output: { symbol: SYMBOL, mode: 'REDUCE_ONLY', sequence: 1042 } },
  commands: [{
    name: 'perps mode', parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'mode', typed: 'MODE' }],
    options: [{ option: 'price', field: 'price', typed: 'PRICE' }],
    purpose: 'what a perpetual lets happen: NORMAL, REDUCE_ONLY, SETTLING',
    explains: '  NORMAL       everything\n'
      + '  REDUCE_ONLY  only reduceOnly orders\n'
      + '  SETTLING     orders end and all positions are closed at --price; it cannot be taken back\n'
      + 'When all positions are closed it is SETTLED, and may be NORMAL or REDUCE_ONLY again. It is in the journal.',
    example: [`perps mode ${SYMBOL} REDUCE_ONLY`, `${SYMBOL} is REDUCE_ONLY (sequence 1042)`],
    show: ({ symbol: name, mode, sequence }) => `${printable(name)} is ${mode} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, mode, price: text }) => {
    const pair = perpNamed(context, named)
    if (pair instanceof Refused) return pair
    if ((mode === 'SETTLING') !== (text !== undefined)) return refusedField('price', 'price is of SETTLING, and of nothing else')
    const settlement = text === undefined ? 0 : ticksIn(pair, 'price', text)
    if (settlement instanceof Refused) return settlement
    return setPerp(context, pair, { setting: PerpSetting.MODE, value: PerpMode[mode], price: settlement }, { mode })
  },
})

export const SetOpenInterestCap = operatorRoute({
  method: 'POST', path: '/perps/cap', token: true,
  summary: 'Most open interest that a perpetual may have',
  description: 'Orders that would open more are refused; what is open stays.',
  body: Type.Object({ pair: pairName, size: field(Amount, 'Size of all long positions; 0: no cap.') }),
  output: Type.Object({ ...changed, size: price('The cap now; 0: none.') }),
  refusals: [...SENDS, 'NOT_FOUND'],
  example: { input: { pair: SYMBOL, size: '5000' }, output: { symbol: SYMBOL, size: '5000', sequence: 1042 } },
  commands: [{
    name: 'perps cap', parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'size', typed: 'SIZE' }],
    purpose: 'most open interest that a perpetual may have',
    explains: 'SIZE is that of all long positions, in the base asset; 0: no cap. What is open stays; orders that would open more are\n'
      + 'refused, 409 OPEN_INTEREST_LIMIT.',
    example: [`perps cap ${SYMBOL} 5000`, `${SYMBOL}: open interest up to 5000 (sequence 1042)`],
    show: ({ symbol: name, size, sequence }) =>
      `${printable(name)}: open interest ${size === '0' ? 'without a cap' : `up to ${size}`} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, size }) => {
    const pair = perpNamed(context, named)
    if (pair instanceof Refused) return pair
    const units = parseDecimal(size, pair.lotScale)
    const lots = units === null || units < 0n || units % BigInt(pair.lotUnits) !== 0n ? -1n : units / BigInt(pair.lotUnits)
    if (lots < 0n || lots > 2n ** 48n) return refusedField('size', `size must be a multiple of ${pair.lotSize}`)
    return setPerp(context, pair, { setting: PerpSetting.OPEN_CAP, number: Number(lots) }, { size: sizeText(pair, Number(lots)) })
  },
})

export const ForceMark = operatorRoute({
  method: 'POST', path: '/perps/mark', token: true,
  summary: 'Force the mark of a perpetual for a while',
  description: 'Margin is counted at it until its time is over, whatever index and book say. 0 seconds: it is no longer forced.',
  body: Type.Object({
    pair: pairName, price: field(Amount, 'The mark price, a multiple of the tick.'),
    seconds: field(Type.Integer({ minimum: 0, maximum: FORCED_MOST }), 'For how long; 0: no longer.'),
  }),
  output: Type.Object({ ...changed, markPrice: price('What was asked for.'), until: field(Nullable(Timestamp), 'null: no longer.') }),
  refusals: [...SENDS, 'NOT_FOUND', 'WRONG_PERP_MODE', 'PRICE_STALE'],
  example: {
    input: { pair: SYMBOL, price: '65000', seconds: 600 },
    output: { symbol: SYMBOL, markPrice: '65000', until: '2026-01-02T03:14:05.678Z', sequence: 1042 },
  },
  commands: [{
    name: 'perps mark',
    parameters: [{ field: 'pair', typed: 'PAIR' }, { field: 'price', typed: 'PRICE' }, { field: 'seconds', typed: 'SECONDS' }],
    purpose: 'force the mark of a perpetual for a while',
    explains: 'Margin is counted at PRICE until SECONDS are over, whatever index and book say: positions are liquidated by it. With 0\n'
      + 'seconds the mark is that of index and book again.',
    example: [`perps mark ${SYMBOL} 65000 600`, `${SYMBOL}: mark 65000 until 2026-01-02T03:14:05.678Z (sequence 1042)`],
    show: ({ symbol: name, markPrice, until, sequence }) =>
      `${printable(name)}: mark ${until === null ? 'is not forced' : `${markPrice} until ${until}`} (sequence ${sequence})`,
  }],
  run: (context, { pair: named, price: text, seconds }) => {
    const pair = perpNamed(context, named)
    if (pair instanceof Refused) return pair
    const ticks = ticksIn(pair, 'price', text)
    if (ticks instanceof Refused) return ticks
    const until = seconds === 0 ? 0 : context.time() + seconds * 1000
    const values = { setting: PerpSetting.FORCED_MARK, value: seconds === 0 ? 0 : ticks, number: until }
    return setPerp(context, pair, values, { markPrice: priceText(pair, ticks), until: momentOf(until) })
  },
})

export const collateralOf = ({ genesis, collateralAsset }: State): Asset | null => genesis.assets[collateralAsset] ?? null

export const ShowInsurance = operatorRoute({
  method: 'GET', path: '/insurance', token: false,
  summary: 'The insurance fund, and losses that nobody could bear',
  description: 'Amounts are of the collateral asset.',
  output: Type.Object({
    asset: field(Nullable(Type.String()), 'Symbol of the collateral asset; null: there are no perpetuals.'),
    deposited: field(Decimal, 'What was put into the fund, and what its trading was settled with.'),
    equity: field(Decimal, 'What it is worth, with its positions at their marks.'),
    positions: field(Type.Integer(), 'Positions that it took over.'),
    badDebt: field(Decimal, 'Losses that neither a bucket nor the fund could bear.'),
    feeIncome: field(Decimal, 'Fee income of the house, of which the fund may be given.'),
  }),
  refusals: [],
  example: { input: {}, output: { asset: 'USDC', deposited: '1000', equity: '990.5', positions: 1, badDebt: '0', feeIncome: '250' } },
  commands: [{
    name: 'insurance show',
    purpose: 'the insurance fund, and losses that nobody could bear',
    explains: 'Liquidation fees go to the fund, and it bears what a liquidated bucket cannot. EQUITY has its positions at their marks.',
    example: ['insurance show', 'asset       USDC\nequity      990.5\ndeposited   1000'],
    show: ({ asset, equity, deposited, positions, badDebt, feeIncome }) => facts([
      ['asset', asset ?? 'none'], ['equity', equity], ['deposited', deposited], ['positions', positions], ['bad debt', badDebt],
      ['fee income', feeIncome],
    ]),
  }],
  run: ({ state }) => {
    const { deposited, equity, badDebt, feeIncome, positions } = fundFigures(state)
    const asset = collateralOf(state)
    const text = (atoms: bigint): string => (asset === null ? '0' : amountText(asset, atoms))
    return {
      asset: asset?.symbol ?? null, deposited: text(deposited), equity: text(equity), positions, badDebt: text(badDebt),
      feeIncome: text(feeIncome),
    }
  },
})

export const FundInsurance = operatorRoute({
  method: 'POST', path: '/insurance', token: true,
  summary: 'Fee income of the house to the insurance fund',
  description: 'The fund is there from the first index price on.',
  body: Type.Object({ amount: field(Amount, 'How much, of the collateral asset.') }),
  output: Type.Object({ deposited: field(Decimal, 'What the fund has deposited now.'), sequence: fields.sequence }),
  refusals: [...SENDS, 'NOT_FOUND', 'INSUFFICIENT_BALANCE'],
  example: { input: { amount: '100' }, output: { deposited: '1100', sequence: 1042 } },
  commands: [{
    name: 'insurance fund', parameters: [{ field: 'amount', typed: 'AMOUNT' }],
    purpose: 'give fee income of the house to the insurance fund',
    explains: 'At most the fee income of the collateral asset, which insurance show has.',
    example: ['insurance fund 100', 'the insurance fund has 1100 deposited (sequence 1042)'],
    show: ({ deposited, sequence }) => `the insurance fund has ${deposited} deposited (sequence ${sequence})`,
  }],
  run: (context, { amount: text }) => {
    const asset = collateralOf(context.state)
    if (asset === null) return new Refused('NOT_FOUND', 'there are no perpetuals')
    const amount = atomsOf(asset, 'amount', text, 1n)
    if (amount instanceof Refused) return amount
    return sendCommand(context, CommandType.FUND_INSURANCE, FUND_INSURANCE_COMMAND, { amount }, (result) => {
      const answer = { deposited: amountText(asset, BigInt(result.deposited)), sequence: Number(result.sequence) }
      note(context, 'insurance fund', { amount: text, ...answer })
      return answer
    })
  },
})

export const ListLiquidations = operatorRoute({
  method: 'GET', path: '/liquidations', token: true,
  summary: 'Risk buckets in liquidation now',
  description: `Those that began first first, ${count(LISTED_MOST)} at most.`,
  output: Type.Object({
    total: field(Type.Integer(), 'How many there are.'),
    buckets: field(Type.Array(Type.Object({
      riskBucketId: field(Uuid, 'The bucket.'), userId: field(Uuid, 'Whose it is.'),
      pair: field(Nullable(Type.String()), 'Symbol of an isolated bucket; null: a cross one.'),
      began: field(Type.Integer(), 'Sequence at which it began.'), positions: field(Type.Integer(), 'Positions that are left.'),
      allocated: field(Decimal, 'Its collateral.'), realized: field(Decimal, 'What its trading made or lost since it was settled.'),
    })), 'The buckets.'),
  }),
  refusals: [],
  example: {
    input: {},
    output: {
      total: 1,
      buckets: [{
        riskBucketId: riskBucketId(990, 3), userId: userId(977, 3), pair: SYMBOL, began: 1040, positions: 1, allocated: '100',
        realized: '-4',
      }],
    },
  },
  commands: [{
    name: 'liquidations list',
    purpose: 'risk buckets in liquidation now',
    explains: 'Each goes on with a step a turn until it is healthy again, or has nothing left. One that stays has no counterparty, or its\n'
      + 'index price is stale: perps list.',
    example: ['liquidations list', '1 in liquidation'],
    show: ({ total, buckets }) => [`${count(total)} in liquidation`, ...(total === 0 ? [] : [table(
      ['BUCKET', 'USER', 'PAIR', 'BEGAN', 'POSITIONS', 'COLLATERAL', 'REALIZED'],
      buckets.map((b) => [b.riskBucketId, b.userId, printable(b.pair ?? 'cross'), b.began, b.positions, b.allocated, b.realized]),
    )])].join('\n'),
  }],
  run: ({ state }) => {
    const asset = collateralOf(state)
    const { total, buckets } = inLiquidation(state, LISTED_MOST)
    if (asset === null) return { total, buckets: [] }
    return {
      total,
      buckets: buckets.map(({ account, accountSequence, bucket, bucketSequence, pair, began, positions, allocated, realized }) => ({
        riskBucketId: riskBucketId(bucketSequence, bucket), userId: userId(accountSequence, account),
        pair: pair < 0 ? null : state.genesis.pairs[pair]!.symbol, began, positions, allocated: amountText(asset, allocated),
        realized: amountText(asset, realized),
      })),
    }
  },
})
