/**
 * Promise: the operator lists assets and pairs while the exchange runs and changes terms of pairs. Whoever looks at the state sees them at
 * once, a state that is loaded again has them, terms that cannot be are refused by name, and a full table says so before it is full.
 */
import t from 'tap'
import { CommandType, kindOf, COMMAND_LAYOUTS, PairStatus } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { PAIR, PAIR_WORDS, SCALAR } from '../../core/state/columns.ts'
import { loadColumns, storedColumns } from '../../core/state/digest.ts'
import { GenesisError, parseGenesis } from '../../core/state/genesis.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { TERM_FAULTS } from '../../core/layout/listing.ts'
import { createOutbox } from '../../core/state/outbox.ts'
import { attachState, createState } from '../../core/state/state.ts'
import { readPools } from '../../core/view/pools.ts'
import { benchOf, type Bench } from '../support/naive_compare.ts'
import { genesisText, pairSpec, type VariantSpec } from '../support/variants.ts'

const SPEC: VariantSpec = {
  limits: { orders: 64, accounts: 8, priceTicks: 4096, assets: 4, pairs: 4 },
  dailyLimit: 5,
  assets: [['USD', 4, '1000'], ['A', 3, '50']],
  pairs: [pairSpec('A/USD', { lotSize: '0.01', minOrderSize: '0.01', maxOrderSize: '20', makerFeeBps: '-2', takerFeeBps: '5' })],
  feeTiers: { asset: 'USD', tiers: [['0', '0', '0'], ['10', '1', '1']] },
}
const TEXT = genesisText(SPEC)
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** Sends commands to an engine; each answers with its RESULT. */
class Desk {
  readonly bench: Bench
  time = 1_700_000_000_000

  constructor(bench: Bench = benchOf(createState(parseGenesis(TEXT)))) {
    this.bench = bench
  }

  send(type: CommandType, values: Decoded): Decoded {
    const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { kind: kindOf(type, 1, 0), session: -1, ...values })
    const records = this.bench.run(command, 0, this.time++)
    checkInvariants(this.bench.state)
    return decode(RESULT, this.bench.said, (records - 1) * RECORD_WORDS)
  }

  /** 'done' or the refusal; of terms, what is wrong with them. */
  says(type: CommandType, values: Decoded): string {
    const { code, detail } = this.send(type, values)
    if (code === 0) return 'done'
    const name = refusalByNumber(Number(code)).code
    return name === 'LISTING_TERMS' ? TERM_FAULTS[Number(detail)]! : name
  }

  asset(over: Decoded = {}): string {
    const values = { decimals: 6, scale: 3, faucet: 5000n, symbol: hex('SOL', 16), token: 'ab'.repeat(20) }
    return this.says(CommandType.LIST_ASSET, { ...values, ...over })
  }

  pair(over: Decoded = {}): string {
    const values = {
      base: 1, quote: 0, priceScale: 2, tickUnits: 1, lotScale: 2, lotUnits: 1, minLots: 1, maxLots: 1000, minNotional: 0n, makerPpm: 0,
      takerPpm: 500, symbol: hex('X/USD', 32), category: hex('', 16),
    }
    return this.says(CommandType.LIST_PAIR, { ...values, ...over })
  }

  terms(over: Decoded = {}): string {
    const values = { pair: 0, minLots: 1, maxLots: 2000, minNotional: 0n, makerPpm: -200, takerPpm: 500 }
    return this.says(CommandType.SET_PAIR_TERMS, { ...values, ...over })
  }

  /** Signs in a new wallet, which asks the faucet; its signature. */
  signIn(name: string): Decoded {
    const opened = this.send(CommandType.OPEN_SESSION, { address: hex(name, 20), publicKey: hex(name, 32), application: 0 })
    const signed = { session: opened['detail']!, sessionGeneration: opened['detail2']! }
    this.send(CommandType.MINT, { ...signed, asset: -1 })
    return signed
  }
}

t.test('an asset and a pair are listed, minted and traded; other threads see them, a loaded state has them', async (t) => {
  const desk = new Desk()
  const { state } = desk.bench
  const reader = attachState(parseGenesis(TEXT), state.buffers, createOutbox(1))
  t.same(reader.genesis.assets.map(({ symbol }) => symbol), ['USD', 'A'])
  t.equal(desk.asset(), 'done')
  t.equal(desk.pair({ base: 2, symbol: hex('SOL/USD', 32), category: hex('major', 16) }), 'done')
  t.match(reader.genesis.assets[2], { index: 2, symbol: 'SOL', token: `0x${'ab'.repeat(20)}`, decimals: 6, scale: 3, faucetAtoms: 5000n })
  t.match(reader.genesis.pairs[1], {
    index: 1, symbol: 'SOL/USD', base: 2, quote: 0, tickSize: '0.01', lotSize: '0.01', lotAtoms: 10n, tickLotAtoms: 1n, makerFeeBps: '0',
    takerFeeBps: '5', category: 'major', marketType: 'SPOT',
  })
  t.match(reader.genesis.pairs[1]!.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a UUID')
  t.equal(state.pairs[PAIR_WORDS + PAIR.STATUS], PairStatus.CANCEL_ONLY, 'nobody trades it before it is opened')

  const [ann, cat] = [desk.signIn('ann'), desk.signIn('cat')]
  const order = { pair: 1, price: 100, lots: 100 }
  t.equal(desk.says(CommandType.PLACE_ORDER, { ...ann, ...order, flags: 1 }), 'PAIR_NOT_ACTIVE')
  t.equal(desk.says(CommandType.PLACE_ORDER, { ...ann, ...order, pair: 2 }), 'PAIR_NOT_ACTIVE', 'not listed, and its row is there')
  t.equal(desk.says(CommandType.SET_PAIR_STATUS, { pair: 2, status: 1 }), 'NOT_FOUND')
  t.equal(desk.says(CommandType.SET_PAIR_STATUS, { pair: 1, status: PairStatus.ACTIVE }), 'done')
  t.equal(desk.says(CommandType.PLACE_ORDER, { ...ann, ...order, flags: 1 }), 'done')
  t.match(desk.send(CommandType.PLACE_ORDER, { ...cat, ...order, lots: 40 }), { code: 0, trades: 1, remaining: 0 })

  const copy = createState(parseGenesis(TEXT))
  loadColumns(copy, storedColumns(state).map(({ name, bytes }) => ({ name, bytes: bytes.slice() })))
  t.equal(stateDigest(copy), stateDigest(state))
  checkInvariants(copy)
  t.same(copy.genesis.pairs, reader.genesis.pairs)
  const again = new Desk(benchOf(copy))
  again.time = desk.time
  t.match(again.send(CommandType.PLACE_ORDER, { ...cat, ...order, lots: 60 }), { code: 0, trades: 1, remaining: 0 }, 'and goes on')
})

t.test('what cannot be listed is refused by name', async (t) => {
  const desk = new Desk()
  for (const [over, said] of [
    [{ symbol: hex('', 16) }, 'VALIDATION_ERROR'], [{ symbol: hex('a b', 16) }, 'VALIDATION_ERROR'],
    [{ symbol: hex('usd', 16) }, 'SYMBOL_IN_USE'],
    [{ token: '0'.repeat(39) + '1' }, 'SYMBOL_IN_USE'], [{ decimals: 2 }, TERM_FAULTS[15]], [{ faucet: -1n }, TERM_FAULTS[16]],
    [{ faucet: 2n ** 62n }, TERM_FAULTS[16]],
  ] as const) t.equal(desk.asset(over), said)
  for (const [over, said] of [
    [{ symbol: hex('', 32) }, 'VALIDATION_ERROR'], [{ category: hex('ü', 16) }, 'VALIDATION_ERROR'],
    [{ symbol: hex('a/usd', 32) }, 'SYMBOL_IN_USE'],
    [{ base: 2 }, 'NOT_FOUND'], [{ quote: 3 }, 'NOT_FOUND'], [{ quote: 1 }, TERM_FAULTS[1]], [{ tickUnits: 0 }, TERM_FAULTS[2]],
    [{ minLots: 0 }, TERM_FAULTS[3]], [{ minLots: 9, maxLots: 8 }, TERM_FAULTS[4]], [{ lotScale: 4 }, TERM_FAULTS[5]],
    [{ lotUnits: 2 ** 31 - 1, maxLots: 2 ** 31 - 1, lotScale: 0 }, TERM_FAULTS[6]], [{ priceScale: 3 }, TERM_FAULTS[7]],
    [{ priceScale: 0, tickUnits: 2 ** 31 - 1 }, TERM_FAULTS[8]], [{ minNotional: -1n }, TERM_FAULTS[9]],
    [{ takerPpm: -1 }, TERM_FAULTS[10]],
    [{ makerPpm: -501 }, TERM_FAULTS[11]], [{ takerPpm: 99, makerPpm: 200 }, TERM_FAULTS[12]], [{ makerPpm: -301 }, TERM_FAULTS[13]],
    [{ makerPpm: 20_001 }, TERM_FAULTS[14]],
  ] as const) t.equal(desk.pair(over), said)
  t.same([desk.bench.state.scalars[SCALAR.ASSETS], desk.bench.state.scalars[SCALAR.PAIRS]], [2, 1], 'nothing was listed')
})

t.test('terms change; what resting orders earn must go on to be paid', async (t) => {
  const desk = new Desk()
  const { state } = desk.bench
  const [ann, cat] = [desk.signIn('ann'), desk.signIn('cat')]
  const place = (signed: Decoded, over: Decoded): Decoded =>
    desk.send(CommandType.PLACE_ORDER, { ...signed, pair: 0, price: 100, lots: 100, ...over })
  t.match(place(ann, { flags: 1 }), { code: 0, remaining: 100 })
  t.equal(desk.terms({ makerPpm: 0, takerPpm: 250 }), TERM_FAULTS[17], 'ann earns 200 ppm, tiers may take 200 more')
  t.equal(desk.terms({ makerPpm: 0, takerPpm: 400 }), 'done')
  t.equal(desk.terms({ makerPpm: 100, takerPpm: 399 }), TERM_FAULTS[17], 'although the rate of now is another')
  t.match(state.genesis.pairs[0], { makerPpm: 0, takerPpm: 400, makerFeeBps: '0', takerFeeBps: '4', maxLots: 2000 })
  t.match(place(cat, { lots: 10 }), { code: 0, fee: 1n }, '1000 atoms at 4 bps, rounded up')
  t.equal(desk.terms({ minLots: 50, maxLots: 60, makerPpm: 0, takerPpm: 400 }), 'done', 'smaller than what rests')
  t.match(place(cat, { lots: 49 }), { code: 402 }, 'BELOW_MIN_ORDER_SIZE')
  t.match(place(cat, { lots: 61 }), { code: 403 }, 'ABOVE_MAX_ORDER_SIZE')
  t.match(place(cat, { lots: 60 }), { code: 0, trades: 1, remaining: 0 }, 'what rests is traded')
  t.equal(desk.terms({ minNotional: 600_000n, makerPpm: 0, takerPpm: 400 }), 'done')
  t.match(place(cat, { lots: 50 }), { code: 401 }, 'BELOW_MIN_NOTIONAL')
  t.match(desk.send(CommandType.CANCEL_ALL, { ...ann, pair: -1, limit: 10 }), { code: 0, detail: 1 })
  t.equal(desk.terms({ makerPpm: 0, takerPpm: 250 }), 'done', 'nothing rests any more')
  t.equal(desk.terms({ pair: 1 }), 'NOT_FOUND')
})

t.test('a full table is refused by name and is seen before it is full', async (t) => {
  const desk = new Desk()
  const fullness = (pool: string): number => {
    const { used, capacity } = readPools(desk.bench.state, desk.time).find((each) => each.pool === pool)!
    return used / capacity
  }
  t.equal(fullness('pairs'), 0.25)
  for (const [index, expected] of ['done', 'done', 'done', 'TOO_MANY_PAIRS'].entries()) {
    t.equal(desk.pair({ symbol: hex(`P${index}`, 32) }), expected)
    if (index === 1) t.ok(fullness('pairs') > 0.7, 'the first alarm: data/ops/alerts.yml, every pool')
  }
  t.equal(fullness('pairs'), 1)
  const assets = ['done', 'done', 'TOO_MANY_ASSETS'] as const
  for (const [index, expected] of assets.entries()) {
    t.equal(desk.asset({ symbol: hex(`T${index}`, 16), token: `c${index}`.repeat(20) }), expected)
  }
  t.equal(fullness('assets'), 1)
})

t.test('room for more: as the genesis says, or as many pairs again', async (t) => {
  const limitsOf = (limits: Record<string, number>): number[] => {
    const { assets: _, pairs: __, ...others } = SPEC.limits
    const { assets, pairs } = parseGenesis(genesisText({ ...SPEC, limits: { ...others, ...limits } })).limits
    return [assets, pairs]
  }
  t.same(limitsOf({}), [2, 9])
  t.same(limitsOf({ assets: 2, pairs: 1 }), [2, 1])
  t.same(limitsOf({ priceTicks: 2 ** 28 }), [2, 1], 'none where a pair is large')
  t.throws(() => limitsOf({ pairs: 257 }), GenesisError)
  t.throws(() => limitsOf({ assets: 1 }), GenesisError)
})
