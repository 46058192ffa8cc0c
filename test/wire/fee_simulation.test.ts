/** Fee simulation over the wire: a small market with numbers checked by hand, the caller's own tier, and what is refused. */
import t from 'tap'
import { CommandType, SET_FEE_TIER_COMMAND } from '../../core/layout/command.ts'
import { ACCOUNT, ACCOUNT_WORDS, SCALAR } from '../../core/state/columns.ts'
import { call, request, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'

const SIMULATE = '/api/v1/fees/simulate'

/** The test genesis, in which tier 1 makes at -1 bps and takes at 4. */
function withTiers(): string {
  const genesis = JSON.parse(testGenesis()) as Record<string, unknown>
  genesis['feeTiers'] = {
    asset: 'USDC', tiers: [{ minVolume: '0', makerDiscountBps: '0', takerDiscountBps: '0' },
      { minVolume: '100', makerDiscountBps: '0.5', takerDiscountBps: '1' }],
  }
  return JSON.stringify(genesis)
}

async function trader(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

/** Accounts are numbered as their wallets sign in. */
const newestAccount = (harness: Harness): number => harness.state.scalars[SCALAR.ACCOUNTS]! - 1

t.test('what an order would be charged', async (t) => {
  const harness = await startHarness([], withTiers())
  t.teardown(() => harness.close())
  const tradingPairId = harness.genesis.pairs[0]!.id
  const [maker, taker] = [await trader(harness), await trader(harness)]
  const account = newestAccount(harness)
  const orders = [['0.1', '100'], ['0.1', '101'], ['0.1', '200']].map(([quantity, price]) =>
    ({ tradingPairId, orderType: 'LIMIT', side: 'SELL', quantity, price }))
  t.equal((await call(harness, maker, 'POST', '/api/v1/orders/batch-create', { orders })).json.totalFailed, 0)
  const simulate = (session: Session, body: object): Promise<Reply> => call(harness, session, 'POST', SIMULATE, { tradingPairId, ...body })
  const rates = { applicationTakerFeeBps: '0', applicationMakerFeeBps: '0', applicationFee: '0', feeToken: 'USDC' }

  // 0.2 cross at 100 and 101, 0.3 rest at 101: 20.1 × 5 bps and 30.3 × -0.5 bps.
  const buy = { side: 'BUY', orderType: 'LIMIT', quantity: '0.5', price: '101' }
  t.same((await simulate(taker, buy)).json, {
    ...rates, notional: '50.4', makerFeeBps: '-0.5', takerFeeBps: '5', takerFee: '0.01005', makerFee: '-0.001515', totalFee: '0.008535',
  })
  t.match((await simulate(maker, buy)).json, { notional: '0', takerFee: '0', makerFee: '0' }, 'her own orders would cancel it')
  t.match((await simulate(taker, { ...buy, price: '99' })).json, { notional: '49.5', takerFee: '0', totalFee: '-0.002475' }, 'only rests')
  // The band ends at 110: the third order is out of reach, and what is left would be cancelled.
  t.match((await simulate(taker, { side: 'BUY', orderType: 'MARKET', quantity: '1', tradingMode: 'SPOT' })).json, {
    notional: '20.1', takerFee: '0.01005', makerFee: '0', totalFee: '0.01005',
  })
  t.match((await simulate(taker, { side: 'SELL', orderType: 'MARKET', quantity: '1' })).json, { notional: '0', totalFee: '0' }, 'no bids')

  await harness.operate(CommandType.SET_FEE_TIER, SET_FEE_TIER_COMMAND, { session: -1, account, tier: 1 })
  t.equal(harness.state.accounts[account * ACCOUNT_WORDS + ACCOUNT.TIER], 1)
  t.same((await simulate(taker, buy)).json, {
    ...rates, notional: '50.4', makerFeeBps: '-1', takerFeeBps: '4', takerFee: '0.00804', makerFee: '-0.00303', totalFee: '0.00501',
  })
  t.match((await simulate(maker, { ...buy, side: 'SELL', price: '300' })).json, { makerFeeBps: '-0.5' }, "nobody else's tier")

  const placed = await call(harness, taker, 'POST', '/api/v1/orders', { tradingPairId, ...buy })
  const { fee } = (await call(harness, taker, 'GET', `/api/v1/orders/${placed.json.orderId}`)).json
  t.equal(fee, '0.00804', 'and that is what it is charged')
})

t.test('what is refused', async (t) => {
  const harness = await startHarness()
  t.teardown(() => harness.close())
  const session = await trader(harness)
  const good = { tradingPairId: harness.genesis.pairs[0]!.id, side: 'BUY', orderType: 'LIMIT', quantity: '1', price: '100' }
  for (const [change, status, code, field] of [
    [{ price: undefined }, 400, 'VALIDATION_ERROR', 'price'],
    [{ orderType: 'MARKET' }, 400, 'VALIDATION_ERROR', 'price'],
    [{ price: '100.001' }, 400, 'INVALID_TICK', 'price'],
    [{ quantity: '0' }, 400, 'INVALID_LOT', 'quantity'],
    [{ quantity: '1e3' }, 400, 'VALIDATION_ERROR', 'quantity'],
    [{ tradingMode: 'MARGIN' }, 400, 'WRONG_TRADING_MODE', 'tradingMode'],
    [{ side: undefined }, 400, 'VALIDATION_ERROR', 'side'],
    [{ tradingPairId: '7a1c0000-0000-4000-8000-00000000dead' }, 404, 'NOT_FOUND', 'tradingPairId'],
  ] as const) {
    const { json } = await call(harness, session, 'POST', SIMULATE, { ...good, ...change })
    t.match(json, { statusCode: status, code, details: { field } }, JSON.stringify(change))
  }
  t.equal((await request(harness.port, 'POST', SIMULATE, {}, JSON.stringify(good))).status, 401)
})
