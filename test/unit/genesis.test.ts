/**
 * Promise: the genesis becomes exact integers, and a document that would not be exact, or not safe, is refused with the field at fault.
 * What 64-bit arithmetic needs besides is in engine_genesis.test.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  FAUCET_LIMIT_MAX, FEE_TIERS_MAX, GenesisError, MAX_FEE_PPM, MAX_ISSUED, MAX_NOTIONAL, parseGenesis,
} from '../../core/state/genesis.ts'
import { LOT_VALUE_MOST, NOTIONAL_MOST } from '../../core/state/perp_terms.ts'
import { RULES } from '../../core/state/rules.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'

type Json = Record<string, unknown>
const SHIPPED = readFileSync(join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json'), 'utf8')

interface Document extends Json {
  feeTiers: { asset: string; tiers: Json[] }
  limits: Json
  faucet: Json
  assets: Json[]
  pairs: Json[]
  applications: Json[]
}

/** The shipped document, changed. */
function changed(change: (document: Document) => void): string {
  const document = JSON.parse(SHIPPED) as Document
  change(document)
  return JSON.stringify(document)
}

t.test('the shipped genesis as integers', async (t) => {
  const { name, chainId, rules, limits, faucetDailyLimit, assets, pairs, feeTiers, applications } = parseGenesis(SHIPPED)
  t.same([name, chainId, rules, faucetDailyLimit], ['ringbook-testnet', 1328, RULES, 5])
  t.same(limits, {
    orders: 1_048_576, accounts: 131_072, sessions: 262_144, receipts: 134_217_728, receiptPages: 2048,
    openOrdersPerAccount: 10_000, priceTicks: 67_108_864, sessionLifetimeMs: 86_400_000,
    receiptLifetimeMs: 86_400_000, orderLifetimeMs: 7_776_000_000, sessionsPerAccount: 64,
    subAccountsPerMaster: 100, spendLimits: 65_536, agents: 65_536,
    agentsPerAccount: 32, applications: 64, assets: 8, pairs: 20,
    perps: 3, marginAccounts: 262_144, riskBuckets: 262_144, positions: 262_144, marginSubAccounts: 32, bucketsPerMarginAccount: 64,
    conditionalOrders: 262_144, conditionalOrdersPerAccount: 200, twapOrders: 65_536, twapOrdersPerAccount: 50, twapSliceMs: 30_000,
    leaders: 1024, follows: 16_384, followsPerAccount: 10, followersPerLeader: 10_000, followLeast: 10, copyBandBps: 50,
    leaderLeast: 100, copyRatio: 10, handlePauseMs: 2_592_000_000,
    withdrawals: 16_384, withdrawalsPerAccount: 20, withdrawalLifetimeMs: 3_600_000, suspense: 4096,
  })
  t.same(assets.map(({ index, symbol, decimals, scale, faucetAtoms }) => [index, symbol, decimals, scale, faucetAtoms]), [
    [0, 'USDC', 6, 6, 10_000_000_000n], [1, 'BTC', 8, 8, 100_000_000n], [2, 'ETH', 18, 9, 10_000_000_000n],
    [3, 'SEI', 18, 9, 50_000_000_000_000n],
  ])
  t.same(
    pairs.map((p) => [p.symbol, p.base, p.quote, p.tickUnits, p.priceScale, p.lotUnits, p.lotScale, p.lotAtoms, p.tickLotAtoms]),
    [
      ['BTC/USDC', 1, 0, 1, 2, 1, 4, 10_000n, 1n], ['ETH/USDC', 2, 0, 1, 2, 1, 3, 1_000_000n, 10n],
      ['SEI/USDC', 3, 0, 1, 4, 1, 1, 100_000_000n, 10n], ['ETH/BTC', 2, 1, 1, 5, 1, 3, 1_000_000n, 1n],
      ['BTC/USDC-PERP', 1, 0, 1, 1, 1, 4, 10_000n, 10n], ['ETH/USDC-PERP', 2, 0, 1, 2, 1, 3, 1_000_000n, 10n],
      ['SEI/USDC-PERP', 3, 0, 1, 4, 1, 0, 1_000_000_000n, 100n],
    ],
  )
  t.same(pairs.map((p) => [p.minLots, p.maxLots, p.minNotionalAtoms, p.makerPpm, p.takerPpm]), [
    [1, 10_000_000, 1_000_000n, -50, 500], [1, 10_000_000, 1_000_000n, -50, 500], [10, 100_000_000, 1_000_000n, 100, 500],
    [1, 10_000_000, 10_000n, 100, 500], [1, 2_000_000, 5_000_000n, 100, 500], [1, 5_000_000, 5_000_000n, 100, 500],
    [1, 2_000_000, 5_000_000n, 100, 500],
  ])
  t.equal(feeTiers.asset, 0)
  t.same(feeTiers.tiers.map((tier) => [tier.minVolumeAtoms, tier.makerDiscountPpm, tier.takerDiscountPpm]), [
    [0n, 0, 0], [100_000_000_000n, 0, 50], [1_000_000_000_000n, 10, 100], [10_000_000_000_000n, 25, 150], [50_000_000_000_000n, 50, 200],
    [250_000_000_000_000n, 75, 250],
  ])
  t.same(applications, [{
    index: 0, id: '9a1c0000-0000-4000-8000-000000000001', name: 'Ringbook', clientId: 'ringbook', allowedOrigins: ['*'],
  }])
})

t.test('terms of withdrawals: exact, each optional', async (t) => {
  const of = (withdrawal?: Json): unknown => parseGenesis(changed(({ assets }) => {
    if (withdrawal === undefined) delete assets[2]!['withdrawal']
    else assets[2]!['withdrawal'] = withdrawal
  })).assets[2]!.withdrawal
  t.equal(of(), undefined)
  t.same(of({}), { minimum: 1n, userDaily: 0n, totalDaily: 0n, approvalAbove: 0n })
  t.same(of({ minimum: '0.000000001', userDailyLimit: '2', dailyLimit: '30.5', approvalAbove: '0' }),
    { minimum: 1n, userDaily: 2_000_000_000n, totalDaily: 30_500_000_000n, approvalAbove: 0n })
  t.same(parseGenesis(SHIPPED).assets.map(({ withdrawal }) => withdrawal), [
    { minimum: 100_000n, userDaily: 100_000_000_000n, totalDaily: 2_000_000_000_000n, approvalAbove: 50_000_000_000n },
    { minimum: 1000n, userDaily: 500_000_000n, totalDaily: 5_000_000_000n, approvalAbove: 200_000_000n },
    { minimum: 100_000n, userDaily: 50_000_000_000n, totalDaily: 1_000_000_000_000n, approvalAbove: 20_000_000_000n },
    { minimum: 100_000_000n, userDaily: 1_000_000_000_000_000n, totalDaily: 20_000_000_000_000_000n, approvalAbove: 500_000_000_000_000n },
  ])
})

t.test('the perpetuals of the shipped genesis: three tiers each, and room below the bounds of 64-bit arithmetic', async (t) => {
  const { pairs, limits } = parseGenesis(SHIPPED)
  const perpetuals = pairs.filter(({ perp }) => perp !== null)
  t.same(perpetuals.map(({ symbol, marketType, perp }) => [symbol, marketType, perp!.reference, perp!.tiers.map((tier) => [
    tier.lowerBound, tier.initialPpm, tier.maintenancePpm, tier.maxLeverage, tier.initialDeduction, tier.maintenanceDeduction,
  ])]), [
    ['BTC/USDC-PERP', 'MARGIN', 650_000, [
      [0n, 20_000, 10_000, 5000, 0n, 0n], [250_000_000_000n, 40_000, 20_000, 2500, 5_000_000_000n, 2_500_000_000n],
      [1_000_000_000_000n, 100_000, 50_000, 1000, 65_000_000_000n, 32_500_000_000n],
    ]],
    ['ETH/USDC-PERP', 'MARGIN', 350_000, [
      [0n, 20_000, 10_000, 5000, 0n, 0n], [100_000_000_000n, 40_000, 20_000, 2500, 2_000_000_000n, 1_000_000_000n],
      [500_000_000_000n, 100_000, 50_000, 1000, 32_000_000_000n, 16_000_000_000n],
    ]],
    ['SEI/USDC-PERP', 'MARGIN', 2500, [
      [0n, 50_000, 25_000, 2000, 0n, 0n], [25_000_000_000n, 100_000, 50_000, 1000, 1_250_000_000n, 625_000_000n],
      [100_000_000_000n, 200_000, 100_000, 500, 11_250_000_000n, 5_625_000_000n],
    ]],
  ])
  for (const { perp, tickLotAtoms } of perpetuals) {
    const dearest = BigInt(limits.priceTicks) * tickLotAtoms
    t.ok(dearest <= LOT_VALUE_MOST, 'a lot')
    t.ok(BigInt(perp!.maxPositionLots) * dearest < NOTIONAL_MOST, 'a position')
  }
})

t.test('integers and texts of the shipped pairs agree', async (t) => {
  const { assets, pairs } = parseGenesis(SHIPPED)
  for (const pair of pairs) {
    t.equal(formatDecimal(pair.tickUnits, pair.priceScale), pair.tickSize)
    t.equal(formatDecimal(pair.lotUnits, pair.lotScale), pair.lotSize)
    t.equal(formatDecimal(pair.lotAtoms, assets[pair.base]!.scale), pair.lotSize)
    // One lot at one tick, multiplied out in quote atoms.
    const scale = assets[pair.quote]!.scale
    const atoms = BigInt(pair.tickUnits * pair.lotUnits) * 10n ** BigInt(scale)
    t.equal(pair.tickLotAtoms * 10n ** BigInt(pair.priceScale + pair.lotScale), atoms)
  }
})

t.test('ticks and lots that are no powers of ten', async (t) => {
  const [pair] = parseGenesis(changed(({ pairs }) => {
    Object.assign(pairs[0]!, { tickSize: '0.25', lotSize: '0.0008', minOrderSize: '0.0024', maxOrderSize: '8', minNotional: '0' })
  })).pairs
  t.match(pair, { tickUnits: 25, priceScale: 2, lotUnits: 8, lotScale: 4 })
  t.match(pair, { lotAtoms: 80_000n, tickLotAtoms: 200n, minLots: 3, maxLots: 10_000 })
})

t.test('the bounds of the arithmetic', async (t) => {
  t.same([MAX_NOTIONAL, MAX_FEE_PPM, MAX_ISSUED, FAUCET_LIMIT_MAX], [4.5e14, 20_000, 4_600_000_000_000_000_000n, 15])
  t.ok(MAX_ISSUED * 2n <= 2n ** 63n, 'twice what may be issued fits')
  t.ok(BigInt(MAX_NOTIONAL) * BigInt(MAX_FEE_PPM) < 2n ** 63n, 'value × fee rate fits')
})

const first = (fields: Json) => (document: Document): void => void Object.assign(document.pairs[0]!, fields)
const undiscounted = (fields: Json) => (document: Document): void => {
  first(fields)(document)
  delete (document as Partial<Document>).feeTiers
}
const limit = (fields: Json) => (document: Document): void => void Object.assign(document.limits, fields)
const application = (change: Json) => ({ applications }: Document): void => void Object.assign(applications[0]!, change)
const REFUSED: [what: string, change: (document: Document) => void, message: RegExp][] = [
  ['tick × lot below a quote atom', first({ tickSize: '0.001' }), /BTC\/USDC: tick × lot is no whole number of quote atoms/],
  ['tick × lot between quote atoms', first({ tickSize: '0.015', lotSize: '0.0001' }), /no whole number of quote atoms/],
  ['tick × lot beyond 31 bits', first({ tickSize: '1000', lotSize: '1000', minOrderSize: '1000' }), /tick × lot must be/],
  ['a lot of nothing', first({ lotSize: '0' }), /BTC\/USDC/],
  ['a tick of nothing', first({ tickSize: '0' }), /tickSize and lotSize must be positive/],
  ['a negative tick', first({ tickSize: '-0.01' }), /tickSize and lotSize must be positive/],
  ['a pair of an asset with itself', first({ quote: 'BTC', tickSize: '0.0001', lotSize: '0.0001', makerFeeBps: '1' }), /the same asset/],
  ['a least size above the greatest', first({ minOrderSize: '2', maxOrderSize: '1' }), /minOrderSize is above maxOrderSize/],
  ['a negative least value', first({ minNotional: '-1' }), /minNotional must not be negative/],
  ['a lot below a base atom', first({ lotSize: '0.000000001', tickSize: '1000' }), /a lot is no whole number of base atoms/],
  ['a least size between lots', first({ minOrderSize: '0.00015' }), /minOrderSize is no multiple of the lot/],
  ['a greatest size between lots', first({ maxOrderSize: '1.00005' }), /maxOrderSize is no multiple of the lot/],
  ['a least size of nothing', first({ minOrderSize: '0' }), /order sizes must be/],
  ['sizes beyond 31 bits of lots', first({ maxOrderSize: '214748.3648' }), /order sizes must be/],
  ['a least value with more digits than the quote', first({ minNotional: '0.0000001' }), /minNotional/],
  ['a rebate above the taker fee', first({ makerFeeBps: '-5.01' }), /the rebate exceeds the taker fee/],
  ['a negative taker fee', first({ takerFeeBps: '-0.01', makerFeeBps: '1' }), /taker fee must not be negative/],
  ['a maker fee beyond the limit', first({ makerFeeBps: '200.01' }), /makerFeeBps is beyond 200 bps/],
  ['a taker fee beyond the limit', first({ takerFeeBps: '201' }), /takerFeeBps is beyond 200 bps/],
  ['a rebate beyond the limit', first({ makerFeeBps: '-200.01' }), /makerFeeBps is beyond 200 bps/],
  ['a fee finer than a millionth', first({ takerFeeBps: '5.001' }), /takerFeeBps must be a decimal with at most 2 digits/],
  ['a fee that is a number', first({ takerFeeBps: 5 }), /takerFeeBps must be a non-empty string/],
  ['an unknown base', first({ base: 'DOGE' }), /BTC\/USDC: unknown base asset/],
  ['an unknown quote', first({ quote: 'usdc' }), /BTC\/USDC: unknown quote asset/],
  ['a pair without a name', first({ symbol: '' }), /symbol must be a non-empty string/],
  ['a pair id twice', first({ id: '7a1c0000-0000-4000-8000-000000000002' }), /a pair is named twice/],
  ['a pair symbol twice', first({ symbol: 'ETH/USDC' }), /a pair is named twice/],
  ['an asset id twice', ({ assets }) => void (assets[0]!['id'] = assets[1]!['id']), /an? asset is named twice/],
  ['an asset symbol twice', ({ assets }) => void (assets[3]!['symbol'] = 'ETH'), /SEI\/USDC|named twice/],
  ['an application twice', ({ applications }) => void applications.push({ ...applications[0]! }), /application is named twice/],
  ['a client id twice', ({ applications }) => void applications.push({ ...applications[0]!, id: 'other' }), /application is named twice/],
  ['a client id that does not fit', application({ clientId: 'x'.repeat(41) }), /application 0: clientId must be at most 40 printable/],
  ['a client id that cannot be printed', application({ clientId: 'é' }), /application 0: clientId must be/],
  ['a name that does not fit', application({ name: 'ü'.repeat(25) }), /application 0: name must be at most 48 bytes/],
  ['a name of two lines', application({ name: 'a\nb' }), /application 0: name must be .* without control characters/],
  ['an origin that does not fit', application({ allowedOrigins: ['x'.repeat(97)] }), /application 0: an allowed origin must be at most 96/],
  ['an origin that is a number', application({ allowedOrigins: [5] }), /application 0: an allowed origin must be/],
  ['an origin twice', application({ allowedOrigins: ['*', '*'] }), /application 0: an origin is allowed twice/],
  ['a text for a list of origins', application({ allowedOrigins: '*' }), /application 0: allowedOrigins must be a list of at most 16/],
  [
    'too many origins', application({ allowedOrigins: Array.from({ length: 17 }, (_, index) => `https://a${index}.example`) }),
    /application 0: allowedOrigins must be a list of at most 16/,
  ],
  ['a scale above the decimals', ({ assets }) => void (assets[0]!['scale'] = 7), /scale must be a whole number from 0 to 6/],
  ['more than 18 decimals', ({ assets }) => void (assets[0]!['decimals'] = 19), /decimals must be a whole number from 0 to 18/],
  ['a faucet amount below an atom', ({ assets }) => void (assets[0]!['faucetAmount'] = '0.0000001'), /faucetAmount/],
  ['a faucet amount that is no decimal', ({ assets }) => void (assets[0]!['faucetAmount'] = '1e3'), /faucetAmount/],
  ...([
    ['a text', '5', / must be an object/], ['nothing', null, / must be an object/], ['a list', [], / must be an object/],
    ['an unknown limit', { daily: '5' }, / has no daily/],
    ['a number', { minimum: 5 }, /\.minimum must be a decimal, as text, with at most 6/],
    ['a minimum of nothing', { minimum: '0' }, /\.minimum must be above 0/],
    ['a negative minimum', { minimum: '-1' }, /\.minimum must be above 0/],
    ['a limit finer than an atom', { dailyLimit: '0.0000001' }, /\.dailyLimit must be a decimal, as text, with at most 6 digits/],
    ['a negative limit', { userDailyLimit: '-1' }, /\.userDailyLimit must be 0 or more/],
    ['a threshold below nothing', { approvalAbove: '-0.1' }, /\.approvalAbove must be 0 or more/],
    ['a limit of more than there can be', { dailyLimit: '4600000000000.000001' }, /\.dailyLimit is more than may be issued/],
  ] as [string, unknown, RegExp][]).map(([what, withdrawal, message]): (typeof REFUSED)[number] => [
    `terms of withdrawals: ${what}`, ({ assets }) => void (assets[0]!['withdrawal'] = withdrawal as Json),
    new RegExp(`^genesis: USDC: withdrawal${message.source}`),
  ]),
  ['more faucet requests than a row holds', ({ faucet }) => void (faucet['dailyLimit'] = 16), /dailyLimit must be .* from 0 to 15/],
  ['prices that are no power of two', limit({ priceTicks: 65_535 }), /priceTicks must be a power of two/],
  ['prices beyond 2^30', limit({ priceTicks: 2 ** 31 }), /priceTicks must be a whole number/],
  ['too few orders', limit({ orders: 15 }), /orders must be a whole number from 16/],
  ['too many orders', limit({ orders: 2 ** 24 + 1 }), /orders must be a whole number/],
  ['a fraction of an account', limit({ accounts: 100.5 }), /accounts must be a whole number/],
  ['sessions as text', limit({ sessions: '100' }), /sessions must be a whole number/],
  ['no receipts', limit({ receipts: 0 }), /receipts must be a whole number/],
  ['more receipts than positions reach', limit({ receipts: 2 ** 27 + 1 }), /receipts must be a whole number/],
  ['a session of no time', limit({ sessionLifetimeMs: 0 }), /sessionLifetimeMs must be a whole number/],
  ['a chain without number', (document) => void (document['chainId'] = 0), /chainId must be a whole number/],
  ['no name', (document) => void delete document['name'], /name must be a non-empty string/],
  ['no pairs', (document) => void (document.pairs = []), /at least one asset, one pair and one application/],
  ['no applications', (document) => void (document.applications = []), /at least one asset, one pair and one application/],
]
const tiers = (...each: [minVolume: string, maker: string, taker: string][]) => ({ feeTiers }: Document): void => {
  feeTiers.tiers = each.map(([minVolume, makerDiscountBps, takerDiscountBps]) => ({ minVolume, makerDiscountBps, takerDiscountBps }))
}
const many = (count: number): [string, string, string][] => Array.from({ length: count }, (_, index) => [String(index), '0', '0'])
REFUSED.push(
  ['no tiers', tiers(), /feeTiers: there must be 1 to 16 tiers/],
  ['too many tiers', tiers(...many(FEE_TIERS_MAX + 1)), /feeTiers: there must be 1 to 16 tiers/],
  ['no list of tiers', ({ feeTiers }) => void delete (feeTiers as Partial<typeof feeTiers>).tiers, /feeTiers: tiers are missing/],
  ['tiers by an unknown asset', ({ feeTiers }) => void (feeTiers.asset = 'DOGE'), /feeTiers: unknown asset/],
  ['a first tier with a volume', tiers(['1', '0', '0']), /feeTiers: tier 0 must have minVolume 0/],
  ['a first tier with a discount', tiers(['0', '0', '1']), /feeTiers: tier 0 must have no discounts/],
  ['two tiers of one volume', tiers(['0', '0', '0'], ['5', '0', '0'], ['5', '0', '0']), /feeTiers: minVolume of tier 2 is not above/],
  ['a volume below nothing', tiers(['-1', '0', '0']), /feeTiers: tier 0 must have minVolume 0/],
  ['a volume finer than an atom', tiers(['0', '0', '0'], ['0.0000001', '0', '0']), /feeTiers: minVolume has more digits/],
  ['a volume that is a number', ({ feeTiers }) => void (feeTiers.tiers[1]!['minVolume'] = 5), /minVolume must be a non-empty string/],
  ['a discount that costs', tiers(['0', '0', '0'], ['1', '-0.01', '0']), /feeTiers: discounts of tier 1 must not be negative/],
  ['a discount finer than a millionth', tiers(['0', '0', '0'], ['1', '0.001', '0']), /makerDiscountBps must be a decimal with at most 2/],
  ['a taker who earns', tiers(['0', '0', '0'], ['1', '0', '5.01']), /BTC\/USDC: a taker discount exceeds the taker fee/],
  [
    'a rebate that exceeds the fee when two tiers meet', tiers(['0', '0', '0'], ['1', '2.51', '0'], ['2', '0', '2']),
    /BTC\/USDC: with all discounts the rebate exceeds the taker fee/,
  ],
)
for (const part of ['limits', 'faucet', 'assets', 'pairs', 'applications']) {
  REFUSED.push([`without ${part}`, (document) => void delete document[part], new RegExp(`${part} (is|are) missing`)])
}

t.test('what is refused, with the field at fault', async (t) => {
  for (const [what, change, message] of REFUSED) t.throws(() => parseGenesis(changed(change)), { name: 'GenesisError', message }, what)
  t.equal(new GenesisError('x').name, 'GenesisError')
})

t.test('what stands at the bound is accepted', async (t) => {
  const accepted: [string, (document: Document) => void][] = [
    ['rebate = taker fee', undiscounted({ makerFeeBps: '-5' })],
    ['the highest fee', first({ makerFeeBps: '200', takerFeeBps: '200' })],
    ['no fee', undiscounted({ makerFeeBps: '0', takerFeeBps: '0' })],
    ['the greatest size in lots', first({ maxOrderSize: '214748.3647' })],
    ['no least value', first({ minNotional: '0' })],
    ['no fee tiers', (document) => void delete (document as Partial<Document>).feeTiers],
    ['all the tiers there may be', tiers(...many(FEE_TIERS_MAX))],
    ['a taker who pays nothing', tiers(['0', '0', '0'], ['1', '0', '4.5'])],
    ['a rebate of all the fee that is left', tiers(['0', '0', '0'], ['1', '2.5', '0'], ['2', '0', '2'])],
    ['no faucet', ({ faucet }) => void (faucet['dailyLimit'] = 0)],
    ['an asset without faucet', ({ assets }) => void delete assets[3]!['faucetAmount']],
  ]
  const { feeTiers } = parseGenesis(changed((document) => void delete (document as Partial<Document>).feeTiers))
  t.same(feeTiers, { asset: 0, tiers: [{ minVolumeAtoms: 0n, makerDiscountPpm: 0, takerDiscountPpm: 0 }] }, 'one tier that changes nothing')
  for (const [what, change] of accepted) t.doesNotThrow(() => parseGenesis(changed(change)), what)
})
