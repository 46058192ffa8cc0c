/**
 * Promise: the hash of a keyed payload is over what the client asked for, in the normal form of gateway/bridge/payload.ts, and over nothing
 * else: not the bits of flags, nor the layout of records. Said in other words it is the same; any other order is another one.
 *
 * The texts and hashes below are fixed. Receipts of running exchanges have them: what changes one of them is a new version of the form.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { COMMAND_LAYOUTS, CommandType, Option, slotsOfKind } from '../../core/layout/command.ts'
import { LegFlag } from '../../core/layout/conditional.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { decode, RECORD_WORDS, type Decoded } from '../../core/layout/table.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { ACCOUNT } from '../../core/state/columns.ts'
import { accountRow, setF64 } from '../../core/state/rows.ts'
import { createState } from '../../core/state/state.ts'
import { marginAccountId, parentMarginId, riskBucketId } from '../../core/layout/ids.ts'
import { createRing } from '../../core/ring/spsc.ts'
import { encodeCollateral, encodeOrder, encodeTransfer, encodeTransferRewards, encodeWithdrawal } from '../../gateway/bridge/encode.ts'
import type { CollateralTerms, OrderTerms, RewardsTerms, TransferTerms, WithdrawalTerms } from '../../gateway/bridge/terms.ts'
import {
  formOfCollateral, formOfOrder, formOfReplacement, formOfRewards, formOfTransfer, formOfWithdrawal,
} from '../../gateway/bridge/payload.ts'
import type { EngineClient } from '../../gateway/bridge/engine_client.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Refused } from '../../gateway/refused.ts'
import { namedReplacement, placeTerms, replaceTerms, type OrderItem, type ReplaceItem } from '../../gateway/operations/order_terms.ts'
import { genesisText, perpPair, VARIANTS } from '../support/variants.ts'

const market = VARIANTS['market']!
const genesis = parseGenesis(genesisText({ ...market, pairs: [...market.pairs, perpPair('BTC/USD-PERP')] }))
const [pair] = genesis.pairs
const pairs = new Map(genesis.pairs.map((each) => [each.id, each]))
// Without any margin account or bucket: with a key the engine decides what ids name.
const state = createState(genesis)
const gateway = { genesis, pairs, state, gate: new Int32Array(16), time: () => 1_700_000_000_000 } as unknown as Gateway
/** What made the account. */
const CREATED = 1234
setF64(state, accountRow(state, 4), ACCOUNT.CREATED_SEQUENCE, CREATED)
const caller = { account: 4, session: 7, generation: 9 } as Parameters<typeof encodeOrder>[4]

/** The command that `write` encodes; `former`: with the hash of before beside it. */
function encoded(type: number, former: boolean, write: (bridge: EngineClient, at: number) => void): Decoded {
  const bridge = { gateway: 3, commands: createRing(8), written: 0, formerKeys: () => former } as unknown as EngineClient
  write(bridge, 0)
  const { slots } = bridge.commands
  t.equal(bridge.written, slotsOfKind(slots.u32[0]!))
  t.ok(slots.i32.subarray(bridge.written * RECORD_WORDS).every((word) => word === 0))
  return decode(COMMAND_LAYOUTS[type]!, slots, 0)
}

function taken(terms: OrderTerms | Refused): OrderTerms {
  if (terms instanceof Refused) throw terms
  return terms
}

type Item = Omit<OrderItem, 'tradingPairId'>
const placed = (item: Item): OrderTerms =>
  taken(placeTerms(gateway, caller.account, { tradingPairId: pair!.id, idempotencyKey: 'a key', ...item }))
const replaced = (item: ReplaceItem): OrderTerms =>
  ({ ...taken(replaceTerms({ idempotencyKey: 'a key', ...item }, pair!)), targetSlot: 11, targetSequence: 1_000_000 })

const hashes = (type: number, terms: OrderTerms): [payload: string, former: string] => {
  const { payload, former } = encoded(type, true, (bridge, at) => encodeOrder(bridge, at, type, 5, caller, terms))
  return [String(payload), String(former)]
}
const sha = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

const LIMIT: Item = { orderType: 'LIMIT', side: 'BUY', price: '1.5', quantity: '0.1' }
const FULL: Item = {
  orderType: 'LIMIT', side: 'SELL', price: '123.45', quantity: '6.7', postOnly: true, expirationDate: '2030-01-01T00:00:00Z',
  useMasterBalance: true, selfTradePreventionMode: 'CANCEL_BOTH', clientOrderId: 'a;price=1',
}
const ID = '00000000-0000-4000-8000-000000002000'

/** Order, its normal form, and the hashes of now and of before the rules 4. */
const ORDERS: readonly [item: Item, form: string, payload: string, former: string][] = [
  [
    LIMIT, `place/1;pair=${ID};side=BUY;type=LIMIT;quantity=1000;price=150`,
    'f0faa075c9de905bafeb31e2df821b49', '90d3863cc32fbfd04b5a9677373fa2a7',
  ],
  [
    FULL,
    `place/1;pair=${ID};side=SELL;type=LIMIT;quantity=67000;price=12345;postOnly=true;expirationDate=1893456000000;` +
    'useMasterBalance=true;selfTradePreventionMode=CANCEL_BOTH;clientOrderId=9:a;price=1',
    'f9561792031e008cf771dac17c6e56ee', '2f6042d47a72aa5b355cb053abb0d559',
  ],
  [
    { orderType: 'MARKET', side: 'SELL', quantity: '1', slippageToleranceBps: 0 },
    `place/1;pair=${ID};side=SELL;type=MARKET;quantity=10000;slippageToleranceBps=0`,
    'fbda22e62a141efccd21b767b295b682', 'a90848962b53ea2be7dd27e0b6eaba33',
  ],
  [
    { ...LIMIT, timeInForce: 'IOC' }, `place/1;pair=${ID};side=BUY;type=LIMIT;quantity=1000;price=150;timeInForce=IOC`,
    '71f60f1b778798ea1446cfeffe0dc316', 'bcbb492d8e710e992b44bd3da4a67661',
  ],
  [
    { ...LIMIT, timeInForce: 'FOK' }, `place/1;pair=${ID};side=BUY;type=LIMIT;quantity=1000;price=150;timeInForce=FOK`,
    '0ab5708cd857e48b8448c7341eaf46c5', 'beeec50928a64e4f09dcd94fec219316',
  ],
]
const REPLACEMENTS: readonly [item: ReplaceItem, form: string, payload: string, former: string][] = [
  [{}, 'replace/1;order=1000000/11', '6f20f78c51b07477c804d07e7a84ec5d', 'ad7a96f869bb19783ec9faca3dbceb6c'],
  [
    {
      price: '2.00', quantity: '0.5', postOnly: false, useMasterBalance: false, selfTradePreventionMode: 'CANCEL_TAKER', clientOrderId: 'x',
    },
    'replace/1;order=1000000/11;price=200;quantity=5000;postOnly=false;useMasterBalance=false;' +
    'selfTradePreventionMode=CANCEL_TAKER;clientOrderId=1:x',
    '5a1bee963ba03d5fd813e7f892004ec4', '7042f791a43549a648822d9769a6e1f1',
  ],
  [
    { postOnly: true, useMasterBalance: true, selfTradePreventionMode: 'CANCEL_BOTH' },
    'replace/1;order=1000000/11;postOnly=true;useMasterBalance=true;selfTradePreventionMode=CANCEL_BOTH',
    '9e49f7db676cfca564692d023a6fa212', 'b245cd2c76fef85ee42bb33daad86df2',
  ],
]
const TRANSFERS: readonly [terms: Omit<TransferTerms, 'key'>, form: string, payload: string, former: string][] = [
  [
    { asset: 2, subAccount: 6, toSub: true, amount: 77n }, 'transfer/1;subAccount=6;asset=2;direction=TO_SUB_ACCOUNT;amount=77',
    '7762407c98701507b261c02c311e2ca6', '813f7eb12e1fa025dac8e9a2edc1025e',
  ],
  [
    { asset: 0, subAccount: 7, toSub: false, amount: 10n ** 18n },
    'transfer/1;subAccount=7;asset=0;direction=FROM_SUB_ACCOUNT;amount=1000000000000000000',
    '05f8f47b32d675a9129d4abd71021c9f', '295ef50777141f89da4f523d28955f4a',
  ],
]
/** Younger than the hash of before. */
const REWARDS: readonly [terms: Omit<RewardsTerms, 'key'>, form: string, payload: string][] = [
  [{ asset: 0, amount: 1n }, 'rewards/1;asset=0;amount=1', '6894dd48ede7e5c487549fafaf3e1ba2'],
  [{ asset: 2, amount: 10n ** 18n }, 'rewards/1;asset=2;amount=1000000000000000000', 'fbf5e80ac6dafa2d24c875eb5db974f5'],
]
const WITHDRAWALS: readonly [terms: Omit<WithdrawalTerms, 'key'>, form: string, payload: string][] = [
  [
    { asset: 0, amount: 1n, destination: '0xabababababababababababababababababababab' },
    'withdrawal/1;asset=0;amount=1;destination=0xabababababababababababababababababababab', '5ae503991ffef2b1a41c49a6a40e30dd',
  ],
  [
    { asset: 2, amount: 10n ** 18n, destination: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' },
    'withdrawal/1;asset=2;amount=1000000000000000000;destination=0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    '117f9a58667e294a0356cc710b50b1af',
  ],
]
const COLLATERAL: readonly [terms: Omit<CollateralTerms, 'key'>, form: string, payload: string][] = [
  [
    { move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, createdSequence: 0, amount: 77n },
    'collateral/1;move=DEPOSIT;amount=77', 'a7e64eae879e41ad50b5fb4f0f488f68',
  ],
  [
    { move: CollateralMove.FROM_SUB, marginAccount: 3, bucket: -1, createdSequence: 77, amount: 5n },
    'collateral/1;move=FROM_SUB;account=77/3;amount=5', 'e43f2747968f1e09a3c7ffe22b25a05e',
  ],
  [
    { move: CollateralMove.TO_BUCKET, marginAccount: -1, bucket: 5, createdSequence: 88, amount: 10n ** 18n },
    'collateral/1;move=TO_BUCKET;bucket=88/5;amount=1000000000000000000', '3830c788a615f612e9a266b0ce48f6c8',
  ],
]

t.test('orders have these normal forms and hashes', async (t) => {
  for (const [item, form, payload, former] of ORDERS) {
    t.equal(formOfOrder(placed(item)), form)
    t.same(hashes(CommandType.PLACE_ORDER, placed(item)), [payload, former], form)
    t.equal(payload, sha(form))
  }
})

/** Of a perpetual: order, what its form ends with, and which words of its record it fills. */
const ON_MARGIN: Item & { tradingPairId?: string } = {
  orderType: 'LIMIT', side: 'BUY', price: '100', quantity: '0.5', tradingMode: 'MARGIN', leverage: '10',
}
const PERP_ID = '00000000-0000-4000-8000-000000002003'
const onMargin = (more: Partial<Item>): OrderTerms => {
  const item = { tradingPairId: PERP_ID, idempotencyKey: 'a key', ...ON_MARGIN, ...more }
  if (item.leverage === '') delete item.leverage
  return taken(placeTerms(gateway, caller.account, item))
}
const ACCOUNT_ID = marginAccountId(77, 3)
const BUCKET_ID = riskBucketId(88, 5)
const NO_MARGIN = {
  collateral: 0n, namedSequence: 0, marginAccount: 0, bucket: 0, leverage: 0, keyLow: 0, keyHigh: 0, position: 0,
}
/** The first 8 bytes of SHA-256 over `a;leverage=1`. */
const KEY_WORDS = { keyLow: -1_256_367_083, keyHigh: 287_234_450 }
const MARGIN_ORDERS: readonly [more: Partial<Item>, end: string, words: Partial<Record<keyof typeof NO_MARGIN, number | bigint>>][] = [
  [{}, ';leverage=1000', { leverage: 1000 }],
  [{ leverage: '2.50', marginMode: 'CROSS' }, ';marginMode=CROSS;leverage=250', { leverage: 250 }],
  [{ reduceOnly: true }, ';reduceOnly=true', {}],
  [{ reduceOnly: true, leverage: '' }, ';reduceOnly=true', {}],
  [
    { marginAccountId: ACCOUNT_ID, riskBucketCollateral: '12.500001' },
    ';leverage=1000;marginAccount=77/3;riskBucketCollateral=12500001',
    { leverage: 1000, marginAccount: 4, namedSequence: 77, collateral: 12_500_001n },
  ],
  [
    { marginAccountId: ACCOUNT_ID, riskBucketId: BUCKET_ID }, ';leverage=1000;marginAccount=77/3;riskBucket=88/5',
    { leverage: 1000, marginAccount: 4, bucket: 6, namedSequence: 88 },
  ],
  [{ riskBucketId: BUCKET_ID }, ';leverage=1000;riskBucket=88/5', { leverage: 1000, bucket: 6, namedSequence: 88 }],
  [{ strategyKey: 'a;leverage=1', clientOrderId: 'x' }, ';leverage=1000;strategyKey=12:a;leverage=1', { leverage: 1000, ...KEY_WORDS }],
]

t.test('and orders of perpetuals, whose terms stand in words 22 to 31 of their record', async (t) => {
  for (const [more, end, words] of MARGIN_ORDERS) {
    const terms = onMargin(more)
    const label = more.clientOrderId === undefined ? '' : ';clientOrderId=1:x'
    const form = `place/1;pair=${PERP_ID};side=BUY;type=LIMIT;quantity=500;price=10000${label};tradingMode=MARGIN${end}`
    t.equal(formOfOrder(terms), form)
    const { payload, former, ...record } = encoded(CommandType.PLACE_ORDER, true, (bridge, at) =>
      encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, terms))
    t.same([payload, former], [sha(form), '00'.repeat(16)], 'no hash of before: there were no such orders')
    t.match(record, { ...NO_MARGIN, ...words }, end)
  }
})

/** Legs, what the form ends with, and the words of the third slot. */
const LEGS: readonly [legs: Partial<Item>, end: string, words: Decoded][] = [
  [
    { takeProfit: { triggerPrice: '120', orderType: 'MARKET' } }, ';takeProfit=12000', { profitTrigger: 12_000, profitFlags: 0 },
  ],
  [
    { stopLoss: { triggerPrice: '90', orderType: 'LIMIT', limitPrice: '89.5', quantity: '0.25', expiresAt: '2030-01-01T00:00:00Z' } },
    ';stopLoss=9000,limit=8950,quantity=250,expiresAt=1893456000000',
    { stopTrigger: 9000, stopLimit: 8950, stopLots: 250, stopExpiresAt: 1_893_456_000_000, stopFlags: LegFlag.LIMIT | LegFlag.EXPIRES },
  ],
  [
    {
      takeProfit: { triggerPrice: '120', orderType: 'LIMIT', limitPrice: '121', timeInForce: 'FOK' },
      stopLoss: { triggerPrice: '90', orderType: 'MARKET', slippageToleranceBps: 0 },
      trailingStop: { trailBps: 50, activationPrice: '110', quantity: '0.1', slippageToleranceBps: 9 },
    },
    ';takeProfit=12000,limit=12100,timeInForce=FOK;stopLoss=9000,slippageToleranceBps=0' +
    ';trailingStop=50,activation=11000,quantity=100,slippageToleranceBps=9',
    {
      profitTrigger: 12_000, profitLimit: 12_100, profitFlags: LegFlag.LIMIT | LegFlag.FOK, stopTrigger: 9000, stopFlags: LegFlag.SLIPPAGE,
      stopSlippageBps: 0, trailBps: 50, trailActivation: 11_000, trailLots: 100, trailSlippageBps: 9, trailFlags: LegFlag.SLIPPAGE,
    },
  ],
  [{ trailingStop: { trailBps: 2000, closePosition: true } }, ';trailingStop=2000', { trailBps: 2000, trailLots: 0 }],
  [
    { takeProfit: { triggerPrice: '120.00', orderType: 'LIMIT', limitPrice: '121', timeInForce: 'GTC' } }, ';takeProfit=12000,limit=12100',
    { profitFlags: LegFlag.LIMIT },
  ],
  [
    { takeProfit: { triggerPrice: '120', orderType: 'LIMIT', limitPrice: '121', timeInForce: 'IOC' } },
    ';takeProfit=12000,limit=12100,timeInForce=IOC', { profitFlags: LegFlag.LIMIT | LegFlag.IOC },
  ],
]

t.test('and legs, at the end and only where there are any, in the third slot of the record', async (t) => {
  const { payload, options } = encoded(CommandType.PLACE_ORDER, false, (bridge, at) =>
    encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, onMargin({})))
  t.notOk(Number(options) & Option.LEGS)
  for (const [legs, end, words] of LEGS) {
    const terms = onMargin(legs)
    const form = `${formOfOrder(onMargin({}))}${end}`
    t.equal(formOfOrder(terms), form)
    const record = encoded(CommandType.PLACE_ORDER, true, (bridge, at) =>
      encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, terms))
    t.same([record['payload'], record['former']], [sha(form), '00'.repeat(16)])
    t.not(record['payload'], payload)
    t.ok(Number(record['options']) & Option.LEGS)
    t.match(record, { ...words }, end)
  }
})

t.test('every field of a margin order makes another payload, and what says nothing makes none', async (t) => {
  const all = MARGIN_ORDERS.filter(([more]) => more.leverage !== '').map(([more]) => formOfOrder(onMargin(more)))
  all.push(formOfOrder(onMargin({ strategyKey: 'b' })), formOfOrder(onMargin({ leverage: '3' })))
  t.equal(new Set(all).size, all.length)
  const same: Partial<Item>[] = [
    { leverage: '010.00' }, { marginMode: 'ISOLATED' }, { reduceOnly: false }, { positionSide: 'SHORT' }, { riskBucketCollateral: '0' },
    { marginAccountId: parentMarginId(CREATED, caller.account) }, { useMasterBalance: false },
  ]
  for (const more of same) t.equal(formOfOrder(onMargin(more)), formOfOrder(onMargin({})), JSON.stringify(more))
})

t.test('and replacements', async (t) => {
  for (const [item, form, payload, former] of REPLACEMENTS) {
    t.equal(formOfReplacement(replaced(item)), form)
    t.same(hashes(CommandType.REPLACE_ORDER, replaced(item)), [payload, former], form)
    t.equal(payload, sha(form))
  }
})

t.test('a replacement of an order that is named by its client order id has decimals, and no hash of before', async (t) => {
  const form = 'replace/1;order=client:7:my;name;price=2.5;quantity=0.0001;clientOrderId=1:x'
  for (const [price, quantity] of [['2.5', '0.0001'], ['02.50', '0.00010']] as const) {
    const terms = taken(namedReplacement({ price, quantity, clientOrderId: 'x', idempotencyKey: 'a key' }, 'my;name'))
    t.equal(formOfReplacement(terms), form)
    t.same(hashes(CommandType.REPLACE_ORDER, terms), [sha(form), '00'.repeat(16)])
  }
})

t.test('and transfers', async (t) => {
  for (const [terms, form, payload, former] of TRANSFERS) {
    const keyed = { ...terms, key: 'a key' }
    t.equal(formOfTransfer(keyed), form)
    const record = encoded(CommandType.TRANSFER, true, (bridge, at) => encodeTransfer(bridge, at, 5, caller, keyed))
    t.same([record['payload'], record['former']], [payload, former], form)
    t.equal(payload, sha(form))
  }
})

t.test('and transfers of rewards, and moves of collateral', async (t) => {
  for (const [terms, form, payload] of REWARDS) {
    const keyed = { ...terms, key: 'a key' }
    t.equal(formOfRewards(keyed), form)
    const record = encoded(CommandType.TRANSFER_REWARDS, true, (bridge, at) => encodeTransferRewards(bridge, at, 5, caller, keyed))
    t.match(record, { ...terms, payload }, form)
  }
  for (const [terms, form, payload] of COLLATERAL) {
    const keyed = { ...terms, key: 'a key' }
    t.equal(formOfCollateral(keyed), form)
    const record = encoded(CommandType.MOVE_COLLATERAL, true, (bridge, at) => encodeCollateral(bridge, at, 5, caller, keyed))
    t.match(record, { ...terms, payload }, form)
  }
})

t.test('and withdrawals', async (t) => {
  for (const [terms, form, payload] of WITHDRAWALS) {
    const keyed = { ...terms, key: 'a key' }
    t.equal(formOfWithdrawal(keyed), form)
    const record = encoded(CommandType.INITIATE_WITHDRAWAL, true, (bridge, at) => encodeWithdrawal(bridge, at, 5, caller, keyed))
    t.match(record, { ...terms, destination: terms.destination.slice(2), payload }, form)
    t.equal(payload, sha(form))
    const { key, payload: none } = encoded(CommandType.INITIATE_WITHDRAWAL, false, (bridge, at) =>
      encodeWithdrawal(bridge, at, 5, caller, { ...terms, key: '' }))
    t.same([key, none], [undefined, undefined], 'without a key it is one slot')
  }
})

t.test('what is said in other words is the same payload', async (t) => {
  const same: readonly [Item, Item][] = [
    [LIMIT, { ...LIMIT, price: '001.500', quantity: '0.1000' }],
    [LIMIT, { ...LIMIT, timeInForce: 'GTC' }],
    [LIMIT, { ...LIMIT, postOnly: false, useMasterBalance: false, reduceOnly: false, tradingMode: 'SPOT' }],
    [LIMIT, { ...LIMIT, selfTradePreventionMode: 'CANCEL_TAKER' }],
    [FULL, { ...FULL, expirationDate: '2030-01-01T01:00:00.000+01:00' }],
  ]
  for (const [one, other] of same) t.same(hashes(CommandType.PLACE_ORDER, placed(other)), hashes(CommandType.PLACE_ORDER, placed(one)))
})

t.test('every field that matters makes another payload', async (t) => {
  const others: readonly Item[] = [
    LIMIT, { ...LIMIT, side: 'SELL' }, { ...LIMIT, price: '1.51' }, { ...LIMIT, quantity: '0.2' }, { ...LIMIT, timeInForce: 'IOC' },
    { ...LIMIT, timeInForce: 'FOK' }, { ...LIMIT, postOnly: true }, { ...LIMIT, expirationDate: '2030-01-01T00:00:00Z' },
    { ...LIMIT, expirationDate: '2030-01-01T00:00:01Z' }, { ...LIMIT, useMasterBalance: true }, { ...LIMIT, clientOrderId: 'a' },
    { ...LIMIT, clientOrderId: 'b' }, { ...LIMIT, selfTradePreventionMode: 'CANCEL_BOTH' },
    { orderType: 'MARKET', side: 'BUY', quantity: '0.1' }, { orderType: 'MARKET', side: 'BUY', quantity: '0.1', slippageToleranceBps: 0 },
    { orderType: 'MARKET', side: 'BUY', quantity: '0.1', slippageToleranceBps: 1 },
  ]
  const item = { ...LIMIT, tradingPairId: genesis.pairs[1]!.id, idempotencyKey: 'a key', quantity: '1' }
  const other = taken(placeTerms(gateway, caller.account, item))
  const replacements: readonly ReplaceItem[] = [
    {}, { price: '1.5' }, { quantity: '1.5' }, { postOnly: true }, { postOnly: false }, { useMasterBalance: true },
    { useMasterBalance: false }, { selfTradePreventionMode: 'CANCEL_TAKER' }, { selfTradePreventionMode: 'CANCEL_BOTH' },
    { clientOrderId: 'a' },
  ]
  const all = [
    ...others.map((item) => hashes(CommandType.PLACE_ORDER, placed(item))), hashes(CommandType.PLACE_ORDER, other),
    ...replacements.map((item) => hashes(CommandType.REPLACE_ORDER, replaced(item))),
    hashes(CommandType.REPLACE_ORDER, { ...replaced({}), targetSlot: 12 }),
    hashes(CommandType.REPLACE_ORDER, { ...replaced({}), targetSequence: 1_000_001 }),
  ]
  for (const which of [0, 1]) t.equal(new Set(all.map((pairOf) => pairOf[which])).size, all.length)
})

t.test('the hash of before goes out only while a receipt may have it, and nothing is hashed without a key', async (t) => {
  const without = encoded(CommandType.PLACE_ORDER, false, (bridge, at) =>
    encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, placed(LIMIT)))
  t.same([without['payload'], without['former']], [ORDERS[0]![2], '00'.repeat(16)])
  const plain = encoded(CommandType.PLACE_ORDER, true, (bridge, at) =>
    encodeOrder(bridge, at, CommandType.PLACE_ORDER, 5, caller, { ...placed(LIMIT), key: '' }))
  t.same([plain['payload'], slotsOfKind(Number(plain['kind']))], [undefined, 1])
})
