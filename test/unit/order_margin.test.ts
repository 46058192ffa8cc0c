/**
 * Promise: an order of a perpetual says what it means or is refused by the name of the field; a spot order with anything of margin is
 * refused too. Margin accounts and risk buckets of others, of another kind or of nobody are the same 404.
 */
import t from 'tap'
import { Flag } from '../../core/layout/command.ts'
import { marginAccountId, parentMarginId, riskBucketId, userId } from '../../core/layout/ids.ts'
import { ACCOUNT, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { BucketState, MARGIN_ACCOUNT, MarginAccountKind, MarginMode, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { accountRow, bucketRow, marginAccountRow, set, setF64 } from '../../core/state/rows.ts'
import { createState } from '../../core/state/state.ts'
import { strategyKeyWords } from '../../gateway/bridge/strategy_key.ts'
import type { OrderTerms } from '../../gateway/bridge/terms.ts'
import type { Gateway } from '../../gateway/context.ts'
import { placeTerms, simulatedTerms, type OrderItem } from '../../gateway/operations/order_terms.ts'
import { bucketToOpen } from '../../gateway/operations/strategy_buckets.ts'
import { Refused } from '../../gateway/refused.ts'
import { genesisText, pairSpec, perpPair } from '../support/variants.ts'

const [ME, OTHER] = [2, 3]
const genesis = parseGenesis(genesisText({
  limits: { priceTicks: 65_536, bucketsPerMarginAccount: 2 }, dailyLimit: 5, assets: [['USD', 6, '1000000'], ['BTC', 8, '1000']],
  pairs: [pairSpec('BTC/USD'), perpPair('BTC/USD-PERP')],
}))
const state = createState(genesis)
const names = genesis.pairs.flatMap((pair) => [[pair.id, pair], [pair.symbol.toLowerCase(), pair]] as const)
const gateway = { genesis, pairs: new Map(names), state, gate: new Int32Array(16), time: () => 1_767_225_600_000 } as unknown as Gateway

// Margin accounts: 0 the parent of ME, 1 a sub-account of it, 2 one of OTHER, 3 a closed one of ME. Buckets: 0 and 1 of the sub-account.
state.scalars[SCALAR.MARGIN_ACCOUNTS_USED] = 4
state.scalars[SCALAR.BUCKETS_USED] = 3
for (const [account, sequence] of [[ME, 20], [OTHER, 30]] as const) {
  setF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE, sequence)
}
set(state, accountRow(state, ME), ACCOUNT.PARENT_MARGIN, 1)
for (const [number, account, kind, open] of [
  [0, ME, MarginAccountKind.PARENT, 1], [1, ME, MarginAccountKind.SUB, 1], [2, OTHER, MarginAccountKind.SUB, 1],
  [3, ME, MarginAccountKind.SUB, 0],
] as const) {
  const row = marginAccountRow(state, number)
  set(state, row, MARGIN_ACCOUNT.ACCOUNT, account)
  set(state, row, MARGIN_ACCOUNT.KIND, kind)
  set(state, row, MARGIN_ACCOUNT.OPEN, open)
  setF64(state, row, MARGIN_ACCOUNT.CREATED_SEQUENCE, 100 + number)
}
set(state, marginAccountRow(state, 1), MARGIN_ACCOUNT.FIRST_BUCKET, 1)
function bucket(number: number, mode: number, pair: number, key: string, next: number, account = ME, margin = 1): void {
  const row = bucketRow(state, number)
  set(state, row, RISK_BUCKET.ACCOUNT, account)
  set(state, row, RISK_BUCKET.MARGIN_ACCOUNT, margin)
  set(state, row, RISK_BUCKET.MODE, mode)
  set(state, row, RISK_BUCKET.PAIR, pair)
  set(state, row, RISK_BUCKET.STATE, BucketState.ACTIVE)
  set(state, row, RISK_BUCKET.NEXT, next)
  setF64(state, row, RISK_BUCKET.CREATED_SEQUENCE, 200 + number)
  const [low, high] = strategyKeyWords(key)
  set(state, row, RISK_BUCKET.KEY_LOW, low)
  set(state, row, RISK_BUCKET.KEY_HIGH, high)
}
bucket(0, MarginMode.CROSS, -1, 'cross', 2)
bucket(1, MarginMode.ISOLATED, 1, 'own', 0)
bucket(2, MarginMode.ISOLATED, 1, '', 0, OTHER, 2)

const ORDER: OrderItem = {
  tradingPairId: 'BTC/USD-PERP', orderType: 'LIMIT', side: 'SELL', price: '100', quantity: '1', tradingMode: 'MARGIN', leverage: '10',
}
const SPOT: OrderItem = { tradingPairId: 'BTC/USD', orderType: 'LIMIT', side: 'SELL', price: '100', quantity: '1' }
const asked = (more: Partial<Record<keyof OrderItem, unknown>>, base = ORDER): OrderTerms | Refused => {
  const item = Object.fromEntries(Object.entries({ ...base, ...more }).filter(([, value]) => value !== undefined))
  return placeTerms(gateway, ME, item as unknown as OrderItem)
}
const taken = (more: Parameters<typeof asked>[0]): OrderTerms => {
  const terms = asked(more)
  if (terms instanceof Refused) throw terms
  return terms
}

t.test('what an order of a perpetual may not say', async (t) => {
  const refused: readonly [more: Parameters<typeof asked>[0], field: string, code?: string][] = [
    [{ tradingMode: undefined }, 'tradingMode', 'WRONG_TRADING_MODE'], [{ tradingMode: 'SPOT' }, 'tradingMode', 'WRONG_TRADING_MODE'],
    [{ useMasterBalance: true }, 'useMasterBalance', 'MASTER_BALANCE_NOT_ALLOWED'],
    [{ leverage: undefined }, 'leverage'], [{ leverage: '0' }, 'leverage'], [{ leverage: '1.001' }, 'leverage'],
    [{ leverage: '-2' }, 'leverage'], [{ leverage: '1e1' }, 'leverage'], [{ leverage: '21474836.48' }, 'leverage'],
    [{ leverage: '' }, 'leverage'],
    [{ riskBucketCollateral: '-1' }, 'riskBucketCollateral'], [{ riskBucketCollateral: '0.0000001' }, 'riskBucketCollateral'],
    [{ riskBucketCollateral: 'x' }, 'riskBucketCollateral'], [{ riskBucketCollateral: '1', reduceOnly: true }, 'riskBucketCollateral'],
    [{ strategyKey: '' }, 'strategyKey'], [{ strategyKey: 'x'.repeat(49) }, 'strategyKey'], [{ strategyKey: 'é' }, 'strategyKey'],
    [{ strategyKey: 'a\n' }, 'strategyKey'],
    [{ trailingStop: {} }, 'trailingStop.trailBps'], [{ takeProfit: {} }, 'takeProfit.triggerPrice'],
    [{ stopLoss: { triggerPrice: '1' } }, 'stopLoss.orderType'], [{ trailingStop: { trailBps: 50 }, reduceOnly: true }, 'trailingStop'],
    [{ slippageToleranceBps: 5 }, 'slippageToleranceBps'], [{ quantity: '0.0001' }, 'quantity', 'INVALID_LOT'],
  ]
  for (const [more, field, code = 'VALIDATION_ERROR'] of refused) {
    t.match(asked(more), { code, details: { field } }, JSON.stringify(more))
    t.ok(asked(more) instanceof Refused)
  }
})

t.test('what a spot order may not say', async (t) => {
  for (const [field, value] of [
    ['leverage', '2'], ['marginMode', 'ISOLATED'], ['strategyKey', 'x'], ['marginAccountId', 'x'], ['riskBucketId', 'x'],
    ['riskBucketCollateral', '0'], ['reduceOnly', true], ['trailingStop', {}], ['takeProfit', {}], ['stopLoss', {}],
  ] as const) t.match(asked({ [field]: value }, SPOT), { code: 'VALIDATION_ERROR', details: { field } }, field)
  t.match(asked({ tradingMode: 'MARGIN' }, SPOT), { code: 'WRONG_TRADING_MODE', details: { field: 'tradingMode' } })
  t.equal((asked({ tradingMode: 'SPOT', reduceOnly: false, positionSide: 'LONG' }, SPOT) as OrderTerms).margin, null)
})

t.test('margin accounts and risk buckets are named by whose they are', async (t) => {
  const parent = parentMarginId(20, ME)
  for (const id of [
    'x', '', parentMarginId(30, OTHER), parentMarginId(21, ME), parentMarginId(20, OTHER), marginAccountId(102, 2), marginAccountId(101, 2),
    marginAccountId(100, 0), marginAccountId(103, 3), marginAccountId(104, 4), marginAccountId(101, 2 ** 30 - 1), riskBucketId(101, 1),
    userId(20, ME),
  ]) t.match(asked({ marginAccountId: id }), { code: 'NOT_FOUND', details: { field: 'marginAccountId' } }, id)
  for (const id of ['x', riskBucketId(202, 2), riskBucketId(201, 0), riskBucketId(203, 3), marginAccountId(101, 1)]) {
    t.match(asked({ riskBucketId: id }), { code: 'NOT_FOUND', details: { field: 'riskBucketId' } }, id)
  }
  t.match(taken({ marginAccountId: parent }).margin, { marginAccount: 0, namedSequence: 0, accountSequence: 0 })
  t.match(taken({ marginAccountId: parent.toUpperCase() }).margin, { marginAccount: 0 }, 'in either case')
  t.match(taken({ marginAccountId: marginAccountId(101, 1) }).margin, { marginAccount: 2, namedSequence: 101, accountSequence: 101 })
  const [keyLow, keyHigh] = strategyKeyWords('own')
  t.match(taken({ riskBucketId: riskBucketId(201, 1) }).margin, { marginAccount: 2, bucket: 2, namedSequence: 201, keyLow, keyHigh },
    'a bucket has its margin account and its key with it')
})

t.test('with an idempotency key the engine decides whose things are: a repeated key has its first answer when they are gone', async (t) => {
  const idempotencyKey = 'a key'
  t.match(taken({ idempotencyKey, marginAccountId: marginAccountId(103, 3) }).margin, { marginAccount: 4, namedSequence: 103 })
  t.match(taken({ idempotencyKey, riskBucketId: riskBucketId(205, 5) }).margin, { marginAccount: 0, bucket: 6, namedSequence: 205 })
  for (const id of ['x', marginAccountId(101, 2 ** 30 - 1), parentMarginId(30, OTHER)]) {
    t.match(asked({ idempotencyKey, marginAccountId: id }), { code: 'NOT_FOUND' }, 'what no record can name is not asked')
  }
})

t.test('terms', async (t) => {
  t.equal(taken({}).flags, Flag.SELL | Flag.MARGIN)
  t.equal(taken({ marginMode: 'CROSS', reduceOnly: true }).flags, Flag.SELL | Flag.MARGIN | Flag.CROSS | Flag.REDUCE_ONLY)
  t.equal(taken({ marginMode: 'ISOLATED', reduceOnly: false }).flags, Flag.SELL | Flag.MARGIN)
  t.equal(taken({ leverage: '2.5' }).margin!.leverage, 250)
  for (const leverage of [undefined, '3', 'what it says is ignored']) {
    t.equal(taken({ reduceOnly: true, leverage }).margin!.leverage, 0, `${leverage}`)
  }
  t.equal(taken({ riskBucketCollateral: '1.000001' }).margin!.collateral, 1_000_001n)
  t.match(taken({ orderType: 'MARKET', price: undefined, slippageToleranceBps: 7 }), { slippageBps: 7, margin: { leverage: 1000 } })
})

t.test('what is only reckoned with needs no leverage', async (t) => {
  const { leverage: _, ...item } = ORDER
  t.match(simulatedTerms(gateway, item), { pair: 1, margin: null })
  t.match(simulatedTerms(gateway, { ...item, tradingMode: 'SPOT' }), { code: 'WRONG_TRADING_MODE' })
})

t.test('a strategy key that no bucket of the margin account has is opened first', async (t) => {
  const account = marginAccountId(101, 1)
  const opens = (more: Parameters<typeof asked>[0]): unknown => bucketToOpen(gateway, ME, taken(more))
  t.equal(opens({}), null, 'without a key nothing is')
  t.same(opens({ strategyKey: 'new' }), { marginAccount: -1, createdSequence: 0, pair: 1, strategyKey: 'new' })
  t.same(opens({ strategyKey: 'own' }), { marginAccount: -1, createdSequence: 0, pair: 1, strategyKey: 'own' }, 'of the parent it is new')
  t.same(opens({ strategyKey: 'own', marginMode: 'CROSS', marginAccountId: account }),
    { marginAccount: 1, createdSequence: 101, pair: -1, strategyKey: 'own' }, 'in the other mode too')
  t.equal(opens({ strategyKey: 'own', marginAccountId: account }), null)
  t.equal(opens({ strategyKey: 'cross', marginMode: 'CROSS', marginAccountId: account }), null)
  t.equal(opens({ strategyKey: 'new', marginAccountId: account, riskBucketId: riskBucketId(201, 1) }), null, 'one that is named is there')
  t.same(opens({ strategyKey: 'new', idempotencyKey: 'never used' }), opens({ strategyKey: 'new' }), 'also for a key that was not used yet')
})
