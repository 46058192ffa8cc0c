/**
 * Promise: REST and gRPC are one service. The same script of calls, once over REST against one exchange and once over gRPC against
 * another, gets the same answers and the same refusals; ids are computed from sequences, so even they are equal. Only what depends
 * on the wall clock or on the wallet is masked. Every operation of the table is in the script.
 */
import t, { type Test } from 'tap'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import {
  historyReached, issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange,
} from '../support/exchange.ts'
import { signed } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { farFromFullMinute, farFromMidnight } from '../support/midnight.ts'
import { askPrograms, followLeader, waitForPrices } from '../support/program_script.ts'
import { grpcTransport, newWallet, restTransport, type Json, type Transport, type Wallet } from '../support/transports.ts'

t.setTimeout(900_000)

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** What depends on the clock or the wallet. */
const VOLATILE = [
  'nonce', 'message', 'address', 'agentAddress', 'ownerAddress', 'expiresAt', 'unixMs', 'iso', 'version', 'uptime', 'nextPageToken',
  't', 'T', 'lastPriceTimestamp', 'bucketStart', 'walletAddress', 'display',
]

/** Protobuf does not tell a list that is empty from one that is absent. */
const isNothing = (key: string, value: unknown): boolean =>
  value === null || value === undefined || (key === 'selectedTradingPairIds' && Array.isArray(value) && value.length === 0)

function masked(value: unknown, key = '', calledBy = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => masked(each, key, calledBy))
  if (typeof value === 'string' && ISO.test(value)) return '<time>'
  if (
    VOLATILE.includes(key) &&
    !(key === 'message' && calledBy !== 'Challenge') &&
    !(key === 'version' && calledBy.endsWith('Balances'))
  ) {
    return `<${key}: ${typeof value}>`
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, each]) => !isNothing(name, each))
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, masked(each, name, calledBy)]))
}

const PERPETUAL = 'BTC/USDC-PERP'

/** The script's calls so far and what they were answered, masked. */
class Script {
  readonly steps: [step: string, outcome: unknown][] = []
  readonly called = new Set<OperationName>()
  readonly maker = newWallet()
  readonly taker = newWallet()
  readonly transport: Transport
  readonly exchange: Exchange
  pair = ''
  perpetual = ''
  limit: Json = {}

  constructor(transport: Transport, exchange: Exchange) {
    this.transport = transport
    this.exchange = exchange
  }

  async call(name: OperationName, input: Json = {}, trader: Wallet | null = null): Promise<Json> {
    this.called.add(name)
    const outcome = await this.transport(name, input, trader?.session ?? null)
    this.steps.push([`${name} ${JSON.stringify(masked(input))}`, masked(outcome, '', name)])
    return outcome
  }

  async signIn({ wallet, session }: Wallet): Promise<void> {
    const key = { address: wallet.address, sessionPublicKey: session.publicKey }
    const { nonce, message } = await this.call('Challenge', { ...key, clientId: 'ringbook' })
    const signature = await wallet.signMessage({ message })
    await this.call('Verify', { ...key, nonce, signature })
  }

  /** The wallet agrees to become a sub-account of `master`. */
  async consent({ wallet }: Wallet, { wallet: { address: subAccountOf }, session }: Wallet): Promise<Json> {
    const { address } = wallet
    const { nonce, message } = await this.call('Challenge', { address, sessionPublicKey: session.publicKey, subAccountOf })
    return { address, nonce, signature: await wallet.signMessage({ message }) }
  }

  /** Opens a session of `agent` for `owner`. */
  async signInFor(owner: Wallet, { wallet, session }: Wallet): Promise<void> {
    const sessionPublicKey = session.publicKey
    const { nonce, message } = await this.call('Challenge', { address: wallet.address, sessionPublicKey })
    const signature = await wallet.signMessage({ message })
    const wallets = { agentAddress: wallet.address, ownerAddress: owner.wallet.address }
    await this.call('CreateDelegatedSession', { ...wallets, sessionPublicKey, nonce, signature })
  }
}

async function arrive(script: Script): Promise<void> {
  const { maker, taker } = script
  await script.signIn(maker)
  await script.signIn(taker)
  const { tradingPairs } = await script.call('ListTradingPairs', { pageSize: 100 })
  const pairOf = (symbol: string): string => tradingPairs.find((each: Json) => each['symbol'] === symbol).id
  script.pair = pairOf('ETH/USDC')
  script.perpetual = pairOf(PERPETUAL)
  script.limit = { tradingPairId: script.pair, orderType: 'LIMIT', side: 'SELL', quantity: '0.5', price: '2000' }
  await script.call('GetTradingPair', { tradingPairId: script.pair })
  for (const name of ['GetServerTime', 'Check'] as const) await script.call(name)
  await askPrograms(script, maker.wallet.address)
  for (const trader of [maker, taker]) await script.call('Mint', {}, trader)
  await script.call('GetFaucetInfo', {}, maker)
  await script.call('GetProfile', {}, maker)
}

async function tradeOneByOne(script: Script): Promise<void> {
  const { maker, taker, limit, pair } = script
  const keyed = { ...limit, clientOrderId: 'first', idempotencyKey: 'k1', selfTradePreventionMode: 'CANCEL_BOTH' }
  const first = await script.call('CreateOrder', keyed, maker)
  await script.call('CreateOrder', keyed, maker)
  await script.call('CreateOrder', { ...limit, clientOrderId: 'first', idempotencyKey: 'k1' }, maker)
  await script.call('CreateOrder', { ...limit, clientOrderId: 'first' }, maker)
  await script.call('CreateOrder', { ...limit, price: '2000.001' }, maker)
  await script.call('CreateOrder', { ...limit, quantity: '10000' }, maker)
  await script.call('CreateOrder', { ...limit, orderType: 'MARKET' }, maker)
  await script.call('CreateOrder', { ...limit, expirationDate: '2040-01-01T00:00:00.000Z', quantity: '0.001', price: '3000' }, maker)
  await script.call('SimulateFees', { tradingPairId: pair, side: 'BUY', orderType: 'LIMIT', quantity: '0.8', price: '2001' }, taker)
  const market = { tradingPairId: pair, orderType: 'MARKET', side: 'BUY', quantity: '0.2', slippageToleranceBps: 30, returnFills: true }
  const bought = await script.call('CreateOrder', market, taker)
  await script.call('CreateOrder', { ...limit, side: 'BUY', price: '2000', postOnly: true }, taker)
  const replaced = await script.call('ReplaceOrder', { orderId: first['orderId'], price: '2002', quantity: '0.4' }, maker)
  await script.call('ReplaceOrder', { orderId: first['orderId'], price: '2003' }, maker)
  await historyReached(script.exchange)
  await script.call('GetOrder', { orderId: first['orderId'] }, maker)
  await script.call('GetOrder', { orderId: replaced['orderId'] }, maker)
  await script.call('GetOrder', { orderId: replaced['orderId'] }, taker)
  await script.call('GetOrder', { orderId: bought['orderId'] }, taker)
  await script.call('GetOrderbook', { tradingPairId: pair, depth: 10 })
  await script.call('CancelOrder', { orderId: first['orderId'] }, maker)
  await script.call('CancelOrder', { orderId: replaced['orderId'] }, maker)
}

async function tradeInBatches(script: Script): Promise<void> {
  const { maker, limit, pair } = script
  const items = [
    { ...limit, price: '2010' },
    { ...limit, price: '0' },
    { ...limit, selfTradePreventionMode: 'CANCEL_TAKER', price: '2011' },
  ]
  const batch = await script.call('BatchCreateOrders', { orders: items }, maker)
  const [a, , c] = batch['results'].map((each: Json) => each['orderId']) as string[]
  const changed = await script.call(
    'BatchReplaceOrders',
    {
      orders: [
        { orderId: a, price: '2012' },
        { orderId: a, price: '2013' },
      ],
    },
    maker,
  )
  await script.call('BatchCancelOrders', { orderIds: [changed['results'][0].newOrderId, c, c] }, maker)
  await script.call('BatchCreateOrders', { orders: [] }, maker)
  for (const price of ['2020', '2021']) await script.call('CreateOrder', { ...limit, quantity: '0.1', price }, maker)
  await script.call('BatchCancelOrdersByPair', { tradingPairId: pair }, maker)
  await script.call('CreateOrder', { ...limit, quantity: '0.1' }, maker)
  await script.call('BatchCancelAllOrders', {}, maker)
}

async function raiseFamily(script: Script): Promise<void> {
  const { maker, taker, limit } = script
  const sub = newWallet()
  const { balances } = await script.call('ListBalances', { page: 1, pageSize: 100 }, maker)
  const { assetId } = balances.find((each: Json) => each['symbol'] === 'USDC')
  await script.call('CreateSubAccount', { address: sub.wallet.address }, maker)
  const { subAccount } = await script.call('CreateSubAccount', { ...(await script.consent(sub, maker)), username: 'desk 1' }, maker)
  await script.call('CreateSubAccount', await script.consent(sub, maker), maker)
  await script.call('CreateSubAccount', await script.consent(sub, taker), taker)
  await script.signIn(sub)
  await script.call('GetProfile', {}, sub)
  await script.call('CreateSubAccount', { address: newWallet().wallet.address }, sub)
  const subAccountId = subAccount.id
  const transfer = { subAccountId, assetId, amount: '12.5', direction: 'TO_SUB_ACCOUNT', idempotencyKey: 't1' }
  await script.call('TransferSubAccountBalance', transfer, maker)
  await script.call('TransferSubAccountBalance', transfer, maker)
  await script.call('TransferSubAccountBalance', { ...transfer, amount: '13' }, maker)
  await script.call('TransferSubAccountBalance', { ...transfer, amount: '0.5', direction: 'FROM_SUB_ACCOUNT' }, maker)
  await script.call('TransferSubAccountBalance', { subAccountId, assetId, amount: '0.5', direction: 'FROM_SUB_ACCOUNT' }, maker)
  await script.call('TransferSubAccountBalance', { subAccountId, assetId, amount: '-1', direction: 'FROM_SUB_ACCOUNT' }, maker)
  await script.call('TransferSubAccountBalance', transfer, taker)
  const target = { subAccountId, assetId }
  await script.call('UpdateSubAccountLimit', { ...target, maxAmount: '1' }, maker)
  await script.call('CreateSubAccountLimit', { ...target, maxAmount: '1500', dailyLimit: '2000' }, maker)
  await script.call('CreateSubAccountLimit', { ...target, maxAmount: '1500' }, maker)
  const funded = { ...limit, side: 'BUY', price: '1900', useMasterBalance: true }
  const { orderId } = await script.call('CreateOrder', funded, sub)
  await script.call('CreateOrder', funded, sub)
  await script.call('CreateOrder', funded, maker)
  await script.call('GetOrder', { orderId }, sub)
  await script.call('ListSubAccountLimits', { subAccountId }, maker)
  await script.call('ListSubAccountLimits', { subAccountId }, taker)
  await script.call('UpdateSubAccountLimit', { ...target, isActive: false }, maker)
  await script.call('DeleteSubAccountLimit', target, maker)
  await script.call('DeleteSubAccountLimit', target, maker)
  await script.call('CancelOrder', { orderId }, sub)
  await script.call('ListSubAccounts', {}, maker)
  await script.call('ListSubAccounts', {}, sub)
}

async function delegate(script: Script): Promise<void> {
  const { maker, taker, limit, pair } = script
  const agent = newWallet()
  const agentAddress = agent.wallet.address
  const grant = {
    agentAddress, name: 'bot é', allowedActions: ['CREATE_ORDER', 'CANCEL_ORDER'], allowedTradingPairIds: [pair],
    allowedOrderTypes: ['LIMIT'], allowedTimeInForce: ['GTC'], maxOrderNotional: '1000.5', maxLeverage: '2.5', maxOpenOrders: 2,
    noMarginAccounts: true, expiresAt: '2090-01-01T00:00:00.000Z',
  }
  const { id } = await script.call('UpsertDelegatedAgent', grant, maker)
  await script.call('UpsertDelegatedAgent', { ...grant, maxOrderNotional: '0.0000000001' }, maker)
  await script.call('UpsertDelegatedAgent', { ...grant, expiresAt: '2020-01-01T00:00:00.000Z' }, maker)
  await script.call('GetDelegatedAgent', { agentId: id }, maker)
  await script.call('GetDelegatedAgent', { agentId: id }, taker)
  await script.signInFor(taker, agent)
  await script.signInFor(maker, agent)
  const order = { ...limit, quantity: '0.1' }
  const { orderId } = await script.call('CreateOrder', order, agent)
  await script.call('CreateOrder', { ...order, quantity: '0.6' }, agent)
  await script.call('CreateOrder', { ...order, timeInForce: 'IOC' }, agent)
  await script.call('ReplaceOrder', { orderId, price: '2001' }, agent)
  await script.call('BatchCreateOrders', { orders: [order, { ...order, timeInForce: 'FOK' }, order] }, agent)
  await script.call('ListDelegatedAgents', {}, agent)
  await script.call('ListDelegatedAgents', {}, maker)
  await script.call('RevokeDelegatedAgent', { agentId: id }, taker)
  await script.call('RevokeDelegatedAgent', { agentId: id }, maker)
  await script.call('RevokeDelegatedAgent', { agentId: id }, maker)
  await historyReached(script.exchange)
  await script.call('GetOrder', { orderId }, maker)
  await script.call('GetProfile', {}, agent)
}

async function readAsBackend(script: Script): Promise<void> {
  await script.call('GetApplicationConfig')
  const { users } = await script.call('ListApplicationUsers', { pageSize: 100 })
  await script.call('ListApplicationUsers', { accountType: 'sub', isActive: true })
  await script.call('ListApplicationUsers', { isActive: false })
  await script.call('ListApplicationBalances', { page: 2, pageSize: 3 })
  const { balances } = await script.call('ListApplicationBalances', { userId: users[0].id })
  await script.call('ListApplicationBalances', { token: balances[0].token })
  await script.call('ListApplicationBalances', { userId: 'x' })
  await historyReached(script.exchange)
  const userId = users[0].id
  await script.call('ListApplicationOrders', { pageSize: 100 })
  await script.call('ListApplicationOrders', { userId, status: ['FILLED', 'CANCELLED'], side: 'SELL', orderType: 'LIMIT', pageSize: 3 })
  await script.call('ListApplicationOrders', { tradingPairId: script.pair, page: 2, pageSize: 2 })
  await script.call('ListApplicationOrders', { page: 10_001 })
  await script.call('ListApplicationMovements', { pageSize: 100 })
  await script.call('ListApplicationMovements', { transactionType: 'TRANSFER', entryType: 'DEBIT' })
  await script.call('ListApplicationMovements', { userId, token: balances[0].token, page: 1, pageSize: 5 })
  await script.call('GetApplicationStats')
  await script.call('GetApplicationStats', { since: '2099-01-01T00:00:00.000Z' })
}

async function readMarket(script: Script): Promise<void> {
  const { pair } = script
  await historyReached(script.exchange)
  await script.call('GetScreener', { marketType: 'SPOT', pageSize: 2 })
  await script.call('GetScreener', { page: 2, pageSize: 3 })
  await script.call('GetScreener', { pageSize: 101 })
  await script.call('GetMarketMetadata', { tradingPairId: pair })
  await script.call('GetMarketMetadata', { tradingPairId: '7a1c0000-0000-4000-8000-00000000dead' })
  // Whatever the clock, the trades of the script are in one week.
  const week = { tradingPairId: pair, interval: '1w' }
  const { candles } = await script.call('GetCandles', week)
  t.ok(candles[0].n > 0 && candles[0].T - candles[0].t === 604_799_999, 'there is a candle')
  await script.call('GetCandles', { ...week, startTime: '2020-01-01T00:00:00.000Z', endTime: '2021-01-01T00:00:00.000Z', limit: 3 })
  await script.call('GetCandles', { ...week, limit: 501 })
}

async function moveCollateral(script: Script, marginAccountId: string): Promise<void> {
  const { maker, taker } = script
  const deposit = { marginAccountId, amount: '2000', idempotencyKey: 'deposit' }
  await script.call('DepositCollateral', deposit, taker)
  await script.call('DepositCollateral', deposit, taker)
  await script.call('DepositCollateral', { ...deposit, amount: '2001' }, taker)
  await script.call('DepositCollateral', { marginAccountId, amount: '1000000' }, taker)
  await script.call('DepositCollateral', { marginAccountId, amount: '1' }, maker)
  await script.call('GetMarginAccount', { marginAccountId }, taker)
  await script.call('GetMarginAccount', { marginAccountId }, maker)
  await script.call('GetAvailableCollateral', {}, taker)
  const { marginAccountId: sub } = await script.call('CreateMarginSubAccount', { label: 'basis é' }, taker)
  await script.call('TransferCollateralToSubAccount', { marginAccountId: sub, amount: '10.5' }, taker)
  await script.call('TransferCollateralToSubAccount', { marginAccountId: sub, amount: '5000' }, taker)
  await script.call('TransferCollateralFromSubAccount', { marginAccountId: sub, amount: '0.5' }, taker)
  await script.call('ListMarginAccounts', {}, taker)
  await script.call('CloseMarginSubAccount', { marginAccountId }, taker)
  await script.call('CloseMarginSubAccount', { marginAccountId: sub }, taker)
  await script.call('CloseMarginSubAccount', { marginAccountId: sub }, taker)
  for (const amount of ['5000', '100.25']) await script.call('WithdrawCollateral', { marginAccountId, amount }, taker)
}

async function openPosition(script: Script, marginAccountId: string): Promise<void> {
  const { maker, taker, perpetual: tradingPairId } = script
  const preview = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.02', price: '65000', leverage: '5' }
  await script.call('GetPerpConfig', { tradingPairId })
  await script.call('GetPerpConfig', { tradingPairId: script.pair })
  await historyReached(script.exchange)
  await script.call('ListFundingRates', { tradingPairId })
  const order = { ...preview, tradingMode: 'MARGIN' }
  await script.call('CreateOrder', preview, maker)
  await script.call('CreateOrder', { ...order, side: 'SELL', leverage: '51' }, maker)
  await script.call('CreateOrder', { ...order, side: 'SELL' }, maker)
  await script.call('SimulateOrderRisk', { marginAccountId, ...preview }, taker)
  await script.call('SimulateParentOrderRisk', { ...preview, strategyKey: 'carry', marginMode: 'CROSS' }, taker)
  await script.call('SimulateParentOrderRisk', { ...preview, quantity: '1' }, taker)
  for (const more of [{ quantity: '1' }, { reduceOnly: true }]) await script.call('CreateOrder', { ...order, ...more }, taker)
  await script.call('CreateOrder', { ...order, returnFills: true }, taker)
  await script.call('CreateOrder', { ...order, price: '60000', strategyKey: 'carry', marginMode: 'CROSS' }, taker)
}

async function tradePerpetual(script: Script): Promise<void> {
  const { maker, taker, perpetual: tradingPairId } = script
  // Each full minute is a command of its own once there is a price, and ids are made of how many came before.
  await farFromFullMinute()
  const { status } = await operate(script.exchange, '/perps/price', { pair: PERPETUAL, price: '65000' })
  t.equal(status, 200, 'the index price is set')
  const parentOf = async (trader: Wallet): Promise<string> =>
    (await script.call('ListMarginAccounts', {}, trader))['accounts'][0].marginAccountId
  const marginAccountId = await parentOf(taker)
  await moveCollateral(script, marginAccountId)
  await script.call('DepositCollateral', { marginAccountId: await parentOf(maker), amount: '2000' }, maker)
  await openPosition(script, marginAccountId)
  const { positions } = await script.call('ListPositions', { tradingPairId }, taker)
  const { positionId, riskBucketId } = positions[0]
  await historyReached(script.exchange)
  for (const trader of [taker, maker]) await script.call('GetPosition', { positionId }, trader)
  await script.call('GetPositionRisk', { positionId }, taker)
  await script.call('ListFundingPayments', { positionId }, taker)
  await waitForPrices(script, positionId)
  await script.call('AddPositionMargin', { positionId, amount: '25.5' }, taker)
  for (const amount of ['25.5', '500']) await script.call('ReducePositionMargin', { positionId, amount }, taker)
  await script.call('ListRiskBuckets', {}, taker)
  for (const trader of [taker, maker]) await script.call('GetRiskBucket', { riskBucketId }, trader)
  await script.call('TransferCollateralToRiskBucket', { riskBucketId, amount: '30' }, taker)
  await script.call('TransferCollateralFromRiskBucket', { riskBucketId, amount: '20' }, taker)
  const more = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '60000', leverage: '5' }
  await script.call('SimulateRiskBucketOrderRisk', { riskBucketId, ...more }, taker)
  await script.call('CreateOrder', { ...more, quantity: '0.02', price: '64900', tradingMode: 'MARGIN' }, maker)
  await script.call('ClosePosition', { positionId, closeType: 'LIMIT', price: '64900', quantity: '0.005' }, taker)
  await script.call('ClosePosition', { positionId, closeType: 'LIMIT' }, taker)
  for (let times = 0; times < 2; times++) await script.call('ClosePosition', { positionId, closeType: 'MARKET' }, taker)
  await historyReached(script.exchange)
  await script.call('GetPosition', { positionId }, taker)
  await script.call('ListOrders', { tradingPairId, status: ['SUBMITTED'] }, taker)
  for (const trader of [taker, maker]) await script.call('BatchCancelAllOrders', {}, trader)
  await historyReached(script.exchange)
  await script.call('ListPositions', { status: 'CLOSED' }, taker)
}

async function readBack(script: Script): Promise<void> {
  const { maker, taker, pair } = script
  const nothing = '00000000-0000-4000-8000-000000000000'
  await script.call('ListOrders', { page: 1, pageSize: 5 }, maker)
  await script.call('ListOrders', { status: ['CANCELLED', 'FILLED'], side: 'SELL', pageToken: '' }, maker)
  const { trades } = await script.call('ListAccountTrades', { page: 1 }, taker)
  await script.call('ListAccountTrades', { page: 1, tradingPairId: pair }, maker)
  await script.call('ListTrades', { tradingPairId: pair, page: 1 })
  await script.call('GetTrade', { tradeId: trades[0].id })
  await script.call('GetTrade', { tradeId: nothing })
  await script.call('ListMovements', { page: 1, pageSize: 100 }, maker)
  await script.call('ListMovements', { page: 1, entryType: 'DEBIT', transactionType: 'FEE' }, taker)
  await script.call('ListMovements', { page: 1, pageToken: 'x' }, taker)
  await script.call('GetPortfolio', { period: '7d' }, taker)
  const { balances } = await script.call('ListBalances', { page: 1, pageSize: 2 }, maker)
  await script.call('GetBalance', { assetId: balances[0].assetId }, taker)
  await script.call('GetBalance', { assetId: nothing }, taker)
  await followLeader(script)
  await script.call('Refresh', {}, maker)
  await script.call('Revoke', {}, maker)
  await script.call('GetProfile', {}, maker)
}

async function play(transport: Transport, exchange: Exchange): Promise<Script['steps']> {
  const script = new Script(transport, exchange)
  const parts = [arrive, tradeOneByOne, tradeInBatches, raiseFamily, delegate, readAsBackend, readMarket, tradePerpetual, readBack]
  for (const part of parts) await part(script)
  t.strictSame([...script.called].sort(), Object.keys(TABLE).sort(), 'the script calls every operation')
  return script.steps
}

async function exchangeFor(t: Test, flags: readonly string[] = []): Promise<Exchange> {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--grpc-port', '0', ...flags])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  return exchange
}

t.test('the same script gets the same answers over both transports', async (t) => {
  await farFromMidnight()
  const [one, two] = [await exchangeFor(t), await exchangeFor(t)]
  const rest = await play(restTransport(one.port, signed, await issueServerKey(one)), one)
  const client = connectGrpc(two.grpcPort)
  t.teardown(client.close)
  const grpc = await play(grpcTransport(client, await issueServerKey(two)), two)
  t.equal(grpc.length, rest.length)
  rest.forEach(([step, outcome], index) => t.strictSame(grpc[index]?.[1], outcome, `${index} ${step}`))
})

t.test('one key used at once over both transports executes once', async (t) => {
  const exchange = await exchangeFor(t, ['--gateways', '2'])
  const rest = restTransport(exchange.port)
  const client = connectGrpc(exchange.grpcPort)
  t.teardown(client.close)
  const grpc = grpcTransport(client)
  const trader = newWallet()
  const key = { address: trader.wallet.address, sessionPublicKey: trader.session.publicKey }
  const challenge: Json = await grpc('Challenge', key, null)
  const signature = await trader.wallet.signMessage({ message: challenge['message'] })
  await rest('Verify', { ...key, nonce: challenge['nonce'], signature }, null)
  await rest('Mint', {}, trader.session)
  const pairs: Json = await grpc('ListTradingPairs', {}, null)
  for (let round = 0; round < 20; round++) {
    const order = {
      tradingPairId: pairs['tradingPairs'][0].id,
      orderType: 'LIMIT',
      side: 'BUY',
      quantity: '0.0001',
      price: '20000',
      idempotencyKey: `k${round}`,
    }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? rest : grpc)('CreateOrder', order, trader.session)),
    )
    t.equal(new Set(answers.map((answer) => (answer as Json)['orderId'])).size, 1, `round ${round}: one order`)
    for (const answer of answers) t.strictSame(answer, answers[0], 'and one answer')
  }
  const open: Json = await grpc('ListOrders', { status: ['SUBMITTED'], page: 1, pageSize: 100 }, trader.session)
  t.equal(open['total'], 20, 'twenty keys, twenty orders')
})
