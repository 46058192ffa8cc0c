/**
 * Promise: the typed client signs in and calls every declared operation of the real exchange; maintenance blocks exactly what the table
 * says.
 */
import t, { type Test } from 'tap'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { createClient, RingbookError, type Client } from '../../gateway/client/index.ts'
import {
  historyReached, issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange,
} from '../support/exchange.ts'
import { openPosition } from '../support/perpetual_position.ts'
import { signedWithdrawal, until, vaultOpens } from '../support/money.ts'
import { earnReward, newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
/** What cannot be called like the others while operations are blocked: sign-in, its end, what there is none of, what is always refused. */
const ELSEWHERE: OperationName[] = [
  'Challenge', 'Verify', 'Revoke', 'GetTrade', 'CreateDelegatedSession', 'SubmitApplication', 'ClaimLease', 'SetBuilderFee',
]

t.test('every operation of the table, once', async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--gateways', '2', '--price-feed', '1', '--vault', '1'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { client, address } = await newTrader(exchange.baseUrl, 1)
  const tradingPairId = await pairOf(client, 'ETH/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '2000' } as const

  const profile = await client.GetProfile()
  t.equal(profile.address, address)
  const { balances } = await client.ListBalances()
  const usdc = balances.find((row) => row.symbol === 'USDC')!
  t.match(await client.GetBalance({ assetId: usdc.assetId }), { symbol: 'USDC', availableBalance: '10000', lockedBalance: '0' })
  t.match(await client.GetFaucetInfo(), { dailyLimit: 5, remainingRequests24h: 4 })
  t.equal((await client.Mint({ assetId: usdc.assetId })).minted[0]!.amount, '10000')
  t.match(await client.GetTradingPair({ tradingPairId }), { tradingPair: { symbol: 'ETH/USDC' } })
  t.ok(Math.abs((await client.GetServerTime()).unixMs - Date.now()) < 60_000)

  const placed = await client.CreateOrder({ ...order, clientOrderId: 'one', idempotencyKey: 'k1' })
  const repeated = await client.CreateOrder({ ...order, clientOrderId: 'one', idempotencyKey: 'k1' })
  t.equal(repeated.orderId, placed.orderId, 'repeated, not run again')
  t.match(await client.GetOrder({ orderId: placed.orderId }), { status: 'SUBMITTED', clientOrderId: 'one', remainingQuantity: '0.5' })
  const replaced = await client.ReplaceOrder({ orderId: placed.orderId, price: '2001' })
  t.equal(replaced.originalOrderId, placed.orderId)
  t.match(await client.GetOrder({ orderId: placed.orderId }), { status: 'CANCELLED', terminalReason: 'REPLACED' })
  t.match((await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'] })).orders, [{ orderId: replaced.orderId, price: '2001' }])
  t.match((await client.GetOrderbook({ tradingPairId })).bids, [{ price: '2001', quantity: '0.5', orderCount: 1 }])
  t.equal((await client.CancelOrder({ orderId: replaced.orderId })).status, 'SUCCESS')
  const batch = await client.BatchCreateOrders({ orders: [order, { ...order, price: '0.001' }, { ...order, price: '1999' }] })
  t.match(batch, { totalRequested: 3, totalSucceeded: 2, totalFailed: 1, results: [{}, { error: { code: 'INVALID_TICK' } }, {}] })
  const ids = batch.results.flatMap(({ orderId }) => orderId ?? [])
  const moved = await client.BatchReplaceOrders({ orders: [{ orderId: ids[0]!, price: '2002' }, { orderId: ids[0]!, price: '2003' }] })
  t.match(moved, { totalSucceeded: 1, results: [{ originalOrderId: ids[0] }, { error: { code: 'ORDER_NOT_FOUND' } }] })
  t.match(await client.BatchCancelOrders({ orderIds: [ids[1]!] }), { totalSucceeded: 1, totalFailed: 0 })
  await client.CreateOrder(order)
  t.equal((await client.BatchCancelOrdersByPair({ tradingPairId })).totalCancelled, 2)
  await client.CreateOrder(order)
  t.equal((await client.BatchCancelAllOrders()).totalCancelled, 1)
  await readHistory(t, exchange, client, tradingPairId)
  await readAsBackend(t, exchange, address)
  await raiseFamily(t, exchange.baseUrl, client)
  await delegate(t, exchange.baseUrl, client, tradingPairId)
  await tradePerpetual(t, exchange, client)
  await tradeInSlices(t, exchange, client, tradingPairId)
  await follow(t, exchange.baseUrl, client)
  await withdraw(t, client, usdc.assetId)
  t.match(await client.Check(), { status: 'ok', degraded: [] })
  const launch = { launchId: 'launch-1', pair: 'BTC/USDC', userId: (await client.GetProfile()).id, phase: 'LIVE' }
  t.match((await operate(exchange, '/launches', launch)).json, { ...launch, generation: 0, expiresAt: null })
  const claim = { launchId: 'launch-1', ownerId: 'process-1', expectedGeneration: '0' }
  t.match(await client.ClaimLease(claim), { generation: '1', quoteRevision: '2', refreshIntervalMs: 10_000, phase: 'LIVE' })
  await operate(exchange, '/builder', { capBps: 50, builderFees: true })
  await operate(exchange, '/builder/enroll', { application: 'ringbook', payoutUserId: (await client.GetProfile()).id })
  t.match(await client.SetBuilderFee({ bps: 5 }), { builderFeeBps: 5, previousBuilderFeeBps: 0, changesRemaining: 1 })
  const { application } = await client.GetBuildercodesConfig({ clientId: 'ringbook' })
  t.match(application, { enrolled: true, payoutAddress: address, builderFeeBps: 5, builderMakerFeeBps: 0 })
  t.match(await client.GetReferralPosition(), { referralCode: /^[0-9A-Z-]{14}$/, referrer: null, totalEarned: [], rewards: [] })
  await historyReached(exchange)
  // A price that came since may not be there yet: then it says as of when it is.
  const { summary, asOf: _, ...downline } = await client.GetReferralDownline()
  t.strictSame(downline, { earningsBySource: [], directReferees: [], complete: true })
  t.match(summary, [{ level: 1, referees: 0, share: '0.2' }, {}, {}])
  const reward = await earnReward(exchange.baseUrl, client, { tradingPairId, quantity: '0.1', price: '2000' })
  t.match(await client.TransferRewards(reward), reward)
  t.strictSame(await client.GetRewardsBalance(), { balances: [] })
  t.match((await client.ListSweeperChains()).chains, [{ chainId: 1328, isHub: true }, { chainId: 11_155_111, isHub: false }])
  const applicant = { walletAddress: address, email: 'a@b.example', twitterUsername: 'a', telegramUsername: 'abcde' }
  await t.rejects(client.SubmitApplication(applicant), { status: 403, code: 'PERMISSION_DENIED' }, 'the whitelist is closed')
  t.ok((await client.Refresh()).expiresAt > Date.now() / 1000)
  t.strictSame(await client.Revoke(), { revoked: true })
  await t.rejects(client.GetProfile(), { status: 401, code: 'SESSION_INVALID' }, 'a revoked session signs nothing')

  const called = 'Challenge Verify Refresh Revoke GetProfile ListBalances GetBalance CreateOrder GetOrder ListOrders CancelOrder'
  const others = 'ReplaceOrder BatchCreateOrders BatchCancelAllOrders ListTradingPairs GetTradingPair GetServerTime GetOrderbook'
  const batches = 'BatchReplaceOrders BatchCancelOrders BatchCancelOrdersByPair SimulateFees'
  const history = 'ListMovements ListAccountTrades GetPortfolio ListTrades GetTrade GetScreener GetMarketMetadata GetCandles'
  const rest = 'GetFaucetInfo Mint Check GetApplicationConfig ListApplicationUsers ListApplicationBalances'
  const backend = 'ListApplicationOrders ListApplicationMovements GetApplicationStats'
  const answered = 'SubmitApplication ListSweeperChains ClaimLease GetBuildercodesConfig SetBuilderFee'
  const referrals = 'GetReferralPosition GetReferralDownline GetRewardsBalance TransferRewards'
  const family = 'ListSubAccounts CreateSubAccount TransferSubAccountBalance'
  const limits = 'CreateSubAccountLimit ListSubAccountLimits UpdateSubAccountLimit DeleteSubAccountLimit'
  const agents = 'UpsertDelegatedAgent ListDelegatedAgents GetDelegatedAgent RevokeDelegatedAgent CreateDelegatedSession'
  const margin = 'ListMarginAccounts GetMarginAccount GetAvailableCollateral CreateMarginSubAccount CloseMarginSubAccount'
  const collateral = 'DepositCollateral WithdrawCollateral TransferCollateralToSubAccount TransferCollateralFromSubAccount'
  const buckets = 'ListRiskBuckets GetRiskBucket TransferCollateralToRiskBucket TransferCollateralFromRiskBucket'
  const previews = 'SimulateOrderRisk SimulateParentOrderRisk SimulateRiskBucketOrderRisk GetPerpConfig ListFundingRates'
  const positions = 'ListPositions GetPosition GetPositionRisk ClosePosition AddPositionMargin ReducePositionMargin ListFundingPayments'
  const waiting = 'AttachTpSl ListConditionalOrders GetConditionalOrder CancelConditionalOrder'
  const twap = 'CreateTwapOrder ListTwapOrders GetTwapOrder CancelTwapOrder ListTwapSlices'
  const leaders = 'ListLeaders RegisterLeader ReleaseLeader ListLeaderPositions ListMyFollowers'
  const follows = 'CreateFollow ListFollows UpdateFollow StopFollow CloseFollowPositions CloseAllFollowPositions'
  const perpetuals = [margin, collateral, buckets, previews, positions, waiting, twap, leaders, follows]
  const spot = [called, others, batches, history, family, limits, agents, rest, backend, answered, referrals]
  const money = 'InitiateWithdrawal ListPendingWithdrawals GetWithdrawal GetWithdrawalCalldata'
  const all = [...spot, money, ...perpetuals].join(' ').split(' ')
  t.strictSame(all.sort(), Object.keys(TABLE).sort(), 'that was the whole table')
})

/** What the backend of the application reads. */
async function readAsBackend(t: Test, { baseUrl, ...exchange }: Exchange, address: string): Promise<void> {
  const backend = createClient({ baseUrl, serverKey: await issueServerKey({ baseUrl, ...exchange }) })
  t.match(await backend.GetApplicationConfig(), { clientId: 'ringbook', isActive: true, builderFeeBps: 0, createdAt: null })
  const { users } = await backend.ListApplicationUsers({ address })
  t.match(users, [{ address, accountType: 'master', isActive: true }])
  const { balances } = await backend.ListApplicationBalances({ userId: users[0]!.id })
  t.ok(balances.every(({ userId }) => userId === users[0]!.id))
  t.ok(balances.some(({ symbol }) => symbol === 'USDC'))
  await historyReached({ baseUrl, ...exchange })
  const userId = users[0]!.id
  const { orders } = await backend.ListApplicationOrders({ userId, status: ['FILLED'] })
  t.match(orders, [{ userId, side: 'BUY', quantity: '0.1' }])
  const { movements, total } = await backend.ListApplicationMovements({ transactionType: 'FEE' })
  t.match(movements, [{ userId, entryType: 'DEBIT', amount: orders[0]!.fee }])
  t.equal(total, 1, 'the maker had a rebate')
  const stats = await backend.GetApplicationStats()
  t.match(stats, { volume: '200', takerFee: orders[0]!.fee, totalUsers: 2, activeUsers: 2, totalTrades: 1, since: null })
  const none = await backend.GetApplicationStats({ since: '2099-01-01T00:00:00Z' })
  t.match(none, { volume: '0', makerFee: '0', takerFee: '0', totalUsers: 2, activeUsers: 0, totalTrades: 0 })
}

/** A trade with somebody else, simulated first, and what the history says of it. */
async function readHistory(t: Test, exchange: Exchange, client: Client, tradingPairId: string): Promise<void> {
  const { client: seller } = await newTrader(exchange.baseUrl, 1)
  const limit = { tradingPairId, orderType: 'LIMIT', quantity: '0.1', price: '2000' } as const
  await seller.CreateOrder({ ...limit, side: 'SELL' })
  const fees = await client.SimulateFees({ ...limit, side: 'BUY' })
  const { orderId } = await client.CreateOrder({ ...limit, side: 'BUY' })
  t.match(await client.GetOrder({ orderId }), { status: 'FILLED', fee: fees.takerFee }, 'the fee is the one that was simulated')
  await historyReached(exchange)
  const { trades } = await client.ListAccountTrades()
  t.match(trades, [{ orderId, role: 'taker', side: 'BUY', price: '2000', quantity: '0.1', fee: fees.takerFee }])
  t.match((await client.ListTrades({ tradingPairId })).trades, [{ id: trades[0]!.id, makerSide: 'SELL' }])
  t.match(await client.GetTrade({ tradeId: trades[0]!.id }), { id: trades[0]!.id, quoteQuantity: '200' })
  await readMarket(t, client, tradingPairId)
  const { movements } = await client.ListMovements({ transactionType: 'FEE' })
  t.match(movements, [{ entryType: 'DEBIT', amount: fees.takerFee, referenceId: trades[0]!.id }])
  t.match(await client.GetPortfolio({ period: '24h' }), { volume: '200', fees: fees.takerFee })
}

/** What the market says of the one trade there is. */
async function readMarket(t: Test, client: Client, tradingPairId: string): Promise<void> {
  const { items } = await client.GetScreener()
  t.match(items[0], { tradingPairId, lastPrice: '2000', quoteVolume1h: '200', quoteVolume24h: '200', totalTradeCountLtd: 1 })
  t.match(items[1], { lastPrice: null, quoteVolume24h: null, totalTradeCountLtd: null }, 'nothing else was traded')
  t.match(await client.GetMarketMetadata({ tradingPairId }), { lastPrice: '2000', volume24h: '0.1', high24h: '2000', low24h: '2000' })
  const { candles } = await client.GetCandles({ tradingPairId, interval: '5m' })
  t.match(candles, [{ o: '2000', h: '2000', l: '2000', c: '2000', v: '0.1', q: '200', n: 1 }])
  t.equal(candles[0]!.t % 300_000, 0)
}

/** A sub-account, its balance and its limit. */
async function raiseFamily(t: Test, baseUrl: string, client: Client): Promise<void> {
  const wallet = newWallet()
  const sub = clientOf(baseUrl, wallet)
  const consent = await sub.consentTo((await client.GetProfile()).address, client.signer!.publicKey)
  const { subAccount } = await client.CreateSubAccount({ ...consent, username: 'desk' })
  t.match(subAccount, { consented: true, address: wallet.address, username: 'desk', accountType: 'sub', isActive: true, balances: [] })
  const { assetId, token } = (await client.ListBalances()).balances.find((row) => row.symbol === 'USDC')!
  const target = { subAccountId: subAccount.id, assetId }
  const moved = await client.TransferSubAccountBalance({ ...target, amount: '1.50', direction: 'TO_SUB_ACCOUNT' })
  t.match(moved, { ...target, token, amount: '1.5', direction: 'TO_SUB_ACCOUNT' })
  const { subAccounts } = await client.ListSubAccounts()
  t.equal(subAccounts.length, 1)
  t.match(subAccounts[0]!.balances.find((row) => row.assetId === assetId), { availableBalance: '1.5', lockedBalance: '0' })
  const { limit } = await client.CreateSubAccountLimit({ ...target, maxAmount: '10' })
  t.match(limit, { ...target, token, maxAmount: '10', dailyLimit: null, usedToday: '0', outstanding: '0', isActive: true })
  t.match(await client.UpdateSubAccountLimit({ ...target, dailyLimit: '3' }), { limit: { id: limit.id, maxAmount: '10', dailyLimit: '3' } })
  t.match(await client.ListSubAccountLimits({ subAccountId: subAccount.id }), { limits: [{ id: limit.id, dailyLimit: '3' }] })
  t.strictSame(await client.DeleteSubAccountLimit(target), { deleted: true })
  t.match(await sub.signIn(), { isNewUser: false, user: { id: subAccount.id, username: 'desk' } })
  t.match(await sub.GetProfile(), { accountType: 'sub', canWithdraw: false, masterAccountId: limit.masterAccountId })
}

/** An agent, its session, its end. */
async function delegate(t: Test, baseUrl: string, client: Client, tradingPairId: string): Promise<void> {
  const account = newWallet()
  const { id: userId, address } = await client.GetProfile()
  const grant = {
    agentAddress: account.address, allowedActions: ['CREATE_ORDER' as const], allowedTradingPairIds: [tradingPairId], maxOpenOrders: 3,
  }
  const granted = await client.UpsertDelegatedAgent(grant)
  t.match(granted, { ...grant, isActive: true, allowedOrderTypes: ['LIMIT', 'MARKET'], noMarginAccounts: false })
  t.strictSame((await client.ListDelegatedAgents()).agents, [granted])
  t.strictSame(await client.GetDelegatedAgent({ agentId: granted.id }), granted)
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const agent = createClient({ baseUrl, wallet })
  t.match(await agent.signInFor(address), { agentId: granted.id, userId })
  t.equal((await agent.GetProfile()).id, userId, 'it acts for the owner')
  await agent.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '1000' })
  t.strictSame(await client.RevokeDelegatedAgent({ agentId: granted.id }), { revoked: true, ordersCancelled: 1 })
  await t.rejects(agent.GetProfile(), { status: 401, code: 'SESSION_INVALID' })
}

/** Collateral, a position, what it risks, and its end. */
async function tradePerpetual(t: Test, exchange: Exchange, client: Client): Promise<void> {
  const { client: other } = await newTrader(exchange.baseUrl, 1)
  const { tradingPairId, marginAccountId, riskBucketId, positionId } = await openPosition(client, other)
  t.match(await client.GetPerpConfig({ tradingPairId }), { symbol: 'BTC/USDC-PERP', maxLeverage: '50', riskTiers: [{ tierLevel: 1 }] })
  t.match(await client.ListFundingRates({ tradingPairId }), { fundingRates: [] })
  t.match(await client.GetMarginAccount({ marginAccountId }), { accountState: 'Normal', depositedCollateral: '2000' })
  t.match(await client.GetAvailableCollateral(), { marginAccountId, symbol: 'USDC' })
  const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '60000', leverage: '5' } as const
  t.match(await client.SimulateOrderRisk({ marginAccountId, ...order }), { accepted: true, riskBucketId })
  const inBucket = await client.SimulateRiskBucketOrderRisk({ riskBucketId, ...order })
  t.match(inBucket, { accepted: true, expectedMatchResult: { status: 'SUBMITTED' } })
  t.match((await client.ListRiskBuckets()).riskBuckets, [{ riskBucketId, openPositions: 1, tradingPairId }])
  t.match(await client.TransferCollateralToRiskBucket({ riskBucketId, amount: '50' }), { toRiskBucketId: riskBucketId })
  t.match(await client.TransferCollateralFromRiskBucket({ riskBucketId, amount: '20' }), { fromRiskBucketId: riskBucketId })
  const bucket = await client.GetRiskBucket({ riskBucketId })
  const position = await client.GetPosition({ positionId })
  t.match(position, { side: 'LONG', size: '0.01', entryPrice: '65000', isolatedMargin: bucket.allocatedCollateral })
  t.match(await client.GetPositionRisk({ positionId }), { equity: bucket.equity, tierLevel: 1 })
  t.match(await client.AddPositionMargin({ positionId, amount: '5' }), { status: 'SUCCESS', marginAccountId })
  t.match(await client.ReducePositionMargin({ positionId, amount: '5' }), { newIsolatedMargin: position.isolatedMargin })
  t.match(await client.ListFundingPayments({ positionId }), { payments: [] })
  await protectPosition(t, exchange, client, positionId)
  await other.CreateOrder({ ...order, tradingMode: 'MARGIN', price: '64000' })
  const closed = await client.ClosePosition({ positionId, closeType: 'LIMIT', price: '64000' })
  t.match(closed, { submittedQuantity: '0.01', matchResult: { status: 'FILLED' } })
  await historyReached(exchange)
  t.match(await client.GetPosition({ positionId }), { status: 'CLOSED', size: '0', entryPrice: '65000', realizedPnl: '-10' })
  t.match((await client.ListPositions({ status: 'CLOSED' })).positions, [{ positionId }])
  const sub = (await client.CreateMarginSubAccount({ label: 'basis' })).marginAccountId
  t.match(await client.TransferCollateralToSubAccount({ marginAccountId: sub, amount: '10' }), { toMarginAccountId: sub })
  t.match(await client.TransferCollateralFromSubAccount({ marginAccountId: sub, amount: '4' }), { fromMarginAccountId: sub })
  t.match(await client.CloseMarginSubAccount({ marginAccountId: sub }), { defaultMarginAccountId: marginAccountId, amount: '6' })
  t.match(await client.WithdrawCollateral({ marginAccountId, amount: '1' }), { amount: '1', fromMarginAccountId: marginAccountId })
}

/** Conditional orders of a position, attached, read, cancelled. */
async function protectPosition(t: Test, exchange: Exchange, client: Client, positionId: string): Promise<void> {
  const attached = await client.AttachTpSl({
    positionId, takeProfit: { triggerPrice: '130000', orderType: 'MARKET' }, stopLoss: { triggerPrice: '1000', orderType: 'MARKET' },
    trailingStop: { trailBps: 2000 },
  })
  const conditionalOrderId = attached.trailingStopOrderId!
  t.match(await client.GetConditionalOrder({ conditionalOrderId }), { state: 'ARMED', trailBps: 2000, positionId, quantity: '0.01' })
  t.match(await client.CancelConditionalOrder({ conditionalOrderId }), { conditionalOrderId, status: 'SUCCESS' })
  await historyReached(exchange)
  t.match(await client.GetConditionalOrder({ conditionalOrderId }), { state: 'CANCELLED', terminalReason: 'USER_CANCELLED' })
  const { conditionalOrders } = await client.ListConditionalOrders({ positionId })
  t.same(conditionalOrders.map(({ state }) => state).sort(), ['ARMED', 'ARMED', 'CANCELLED'])
  const { ocoGroupId } = attached
  t.match((await client.ListConditionalOrders({ state: ['ARMED'] })).conditionalOrders, [{ ocoGroupId }, { ocoGroupId }])
}

/** A leader, who is followed and left again. */
async function follow(t: Test, baseUrl: string, client: Client): Promise<void> {
  const { client: leader } = await newTrader(baseUrl, 1)
  t.match(await leader.RegisterLeader({ handle: 'North-Star' }), { handle: 'North-Star', followers: 0 })
  const { followId } = await client.CreateFollow({ leader: 'north-star', allocation: '100' })
  t.match((await client.ListFollows()).follows, [{ followId, leader: 'North-Star', status: 'ACTIVE' }])
  t.match((await client.ListLeaders()).leaders, [{ handle: 'North-Star', followers: 1, allocation: '100' }])
  t.same(await client.ListLeaderPositions({ leader: 'north-star' }), { positions: [] })
  t.match((await leader.ListMyFollowers()).followers, [{ status: 'ACTIVE', allocation: '100' }])
  t.match(await client.UpdateFollow({ followId, allocation: '120' }), { allocation: '120' })
  const nothing = { followId, closeOrdersPlaced: 0, positionsNotClosed: 0 }
  t.same(await client.CloseFollowPositions({ followId }), nothing)
  t.same(await client.CloseAllFollowPositions(), { follows: [nothing], stoppingFollowIds: [], failedFollows: [] })
  t.match(await client.StopFollow({ followId }), { followId, status: 'STOPPING' })
  t.same(await leader.ReleaseLeader(), { released: true })
}

/** A withdrawal, up to the transaction that its owner may submit. */
async function withdraw(t: Test, client: Client, assetId: string): Promise<void> {
  await vaultOpens(client)
  const { address, depositAddress } = await client.GetProfile()
  t.match(depositAddress, /^0x[0-9a-fA-F]{40}$/)
  const made = await client.InitiateWithdrawal({ assetId, amount: '12.5', idempotencyKey: 'w1' })
  t.match(made, { assetId, amount: '12.5', amountRaw: '12500000', destination: address, needsApproval: false })
  const withdrawalId = made.id
  t.equal((await client.InitiateWithdrawal({ assetId, amount: '12.50', idempotencyKey: 'w1' })).id, withdrawalId, 'repeated, not run again')
  t.match((await client.ListPendingWithdrawals()).withdrawals, [{ id: withdrawalId }])
  await until('the authorisation', async () => (await client.GetWithdrawal({ withdrawalId })).status === 'SIGNED')
  const { nonce, expiresAt } = await client.GetWithdrawal({ withdrawalId })
  t.equal(nonce, made.nonce)
  const calldata = await client.GetWithdrawalCalldata({ withdrawalId })
  t.match(calldata, { withdrawalId, chainId: 1328, data: /^0x[0-9a-f]+$/, value: '0', nonce, expiresAt })
  t.equal((await client.ListSweeperChains()).chains[0]!.vault, calldata.to)
}

/** A TWAP order, its first slice and its end. */
async function tradeInSlices(t: Test, exchange: Exchange, client: Client, tradingPairId: string): Promise<void> {
  const { twapOrderId } = await client.CreateTwapOrder({ tradingPairId, side: 'BUY', quantity: '1', durationSeconds: 3600 })
  for (let asked = 0; asked < 400 && (await client.GetTwapOrder({ twapOrderId })).slicesPlaced === 0; asked++) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  t.match((await client.ListTwapOrders({ state: ['ACTIVE'] })).twapOrders, [{ twapOrderId, plannedSlices: 120 }])
  await historyReached(exchange)
  t.match((await client.ListTwapSlices({ twapOrderId })).slices, [{ parentOrderId: twapOrderId, orderType: 'MARKET' }])
  t.match(await client.CancelTwapOrder({ twapOrderId }), { twapOrderId, status: 'SUCCESS' })
  await historyReached(exchange)
  t.match(await client.GetTwapOrder({ twapOrderId }), { state: 'CANCELLED', quantity: '1', slicesPlaced: 1 })
  t.match((await client.ListTwapOrders()).twapOrders, [{ twapOrderId, state: 'CANCELLED' }])
}

const clientOf = (baseUrl: string, wallet: PrivateKeyAccount): Client =>
  createClient({ baseUrl, wallet: { address: wallet.address, signMessage: (message) => wallet.signMessage({ message }) } })
const newWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

t.test('maintenance by operator command blocks what the table says, and nothing else', async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--price-feed', '1', '--vault', '1'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { client, signer } = await newTrader(exchange.baseUrl, 1)
  const tradingPairId = await pairOf(client, 'ETH/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '2000' } as const
  const { orderId } = await client.CreateOrder(order)
  const second = await client.CreateOrder(order)
  await client.CreateOrder(order)
  const master = (await client.GetProfile()).address
  const consent = (): ReturnType<Client['consentTo']> => clientOf(exchange.baseUrl, newWallet()).consentTo(master, signer.publicKey)
  const { subAccount } = await client.CreateSubAccount(await consent())
  const { assetId } = (await client.ListBalances()).balances[0]!
  const limit = { subAccountId: subAccount.id, assetId }
  const agentAddress = newWallet().address
  const grant = { agentAddress, allowedActions: ['CREATE_ORDER' as const], allowedTradingPairIds: [tradingPairId] }
  const agentId = (await client.UpsertDelegatedAgent(grant)).id
  const { client: partner } = await newTrader(exchange.baseUrl, 1)
  const { marginAccountId, riskBucketId, positionId, tradingPairId: perpetual } = await openPosition(client, partner)
  const sub = (await client.CreateMarginSubAccount({})).marginAccountId
  const preview = {
    tradingPairId: perpetual, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '60000', leverage: '5',
  } as const
  const margin: Partial<Record<OperationName, object>> = {
    GetMarginAccount: { marginAccountId }, DepositCollateral: { marginAccountId, amount: '1' },
    WithdrawCollateral: { marginAccountId, amount: '1' }, TransferCollateralToSubAccount: { marginAccountId: sub, amount: '1' },
    TransferCollateralFromSubAccount: { marginAccountId: sub, amount: '1' }, CloseMarginSubAccount: { marginAccountId: sub },
    GetRiskBucket: { riskBucketId }, TransferCollateralToRiskBucket: { riskBucketId, amount: '1' },
    TransferCollateralFromRiskBucket: { riskBucketId, amount: '1' }, SimulateOrderRisk: { marginAccountId, ...preview },
    SimulateParentOrderRisk: preview, SimulateRiskBucketOrderRisk: { riskBucketId, ...preview },
    GetPosition: { positionId }, GetPositionRisk: { positionId }, ListFundingPayments: { positionId },
    AddPositionMargin: { positionId, amount: '1' }, ReducePositionMargin: { positionId, amount: '1' },
    ClosePosition: { positionId, closeType: 'IOC', price: '70000' }, GetPerpConfig: { tradingPairId: perpetual },
    ListFundingRates: { tradingPairId: perpetual },
  }
  const trailingStop = { trailBps: 2000 }
  const conditionalOrderId = (await client.AttachTpSl({ positionId, trailingStop })).trailingStopOrderId!
  const twap = { tradingPairId, side: 'BUY', quantity: '1', durationSeconds: 3600 } as const
  const { twapOrderId } = await client.CreateTwapOrder(twap)
  const waiting: Partial<Record<OperationName, object>> = {
    AttachTpSl: { positionId, trailingStop }, GetConditionalOrder: { conditionalOrderId }, CreateTwapOrder: twap,
    GetTwapOrder: { twapOrderId }, ListTwapSlices: { twapOrderId },
  }
  await partner.RegisterLeader({ handle: 'partner' })
  const { followId } = await client.CreateFollow({ leader: 'partner', allocation: '50' })
  const copying: Partial<Record<OperationName, object>> = {
    CreateFollow: { leader: 'partner', allocation: '50' }, UpdateFollow: { followId, status: 'CLOSE_ONLY' },
    ListLeaderPositions: { leader: 'partner' }, CloseFollowPositions: { followId },
  }
  /** What a follower, or somebody whose follow is over, cannot do. */
  const notByFollower = ['RegisterLeader', 'ReleaseLeader', 'StopFollow']
  const withdrawalId = await signedWithdrawal(client, assetId)
  const maintenance = async (on: boolean): Promise<void> => {
    t.match((await operate(exchange, '/maintenance', { on })).json, { maintenance: on })
  }
  await maintenance(true)
  const inputs: Partial<Record<OperationName, object>> = {
    CreateOrder: order, ReplaceOrder: { orderId, price: '2001' }, BatchCreateOrders: { orders: [order] }, Mint: {},
    GetOrder: { orderId }, GetBalance: { assetId }, GetTradingPair: { tradingPairId },
    GetMarketMetadata: { tradingPairId }, GetCandles: { tradingPairId },
    GetOrderbook: { tradingPairId }, BatchReplaceOrders: { orders: [{ orderId, price: '2001' }] },
    SimulateFees: { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '2000' },
    CreateSubAccount: await consent(), ListSubAccountLimits: { subAccountId: subAccount.id },
    CreateSubAccountLimit: { ...limit, maxAmount: '1' },
    UpdateSubAccountLimit: { ...limit, maxAmount: '2' }, DeleteSubAccountLimit: limit,
    TransferSubAccountBalance: { ...limit, amount: '1', direction: 'TO_SUB_ACCOUNT' },
    TransferRewards: { token: `0x${'0'.repeat(40)}`, amount: '1' },
    UpsertDelegatedAgent: grant, GetDelegatedAgent: { agentId }, RevokeDelegatedAgent: { agentId }, ...margin, ...waiting,
    ...copying, InitiateWithdrawal: { assetId, amount: '1' }, GetWithdrawal: { withdrawalId }, GetWithdrawalCalldata: { withdrawalId },
  }
  const serverKey = await issueServerKey(exchange)
  await historyReached(exchange)
  const once = createClient({ baseUrl: exchange.baseUrl, signer, serverKey })
  for (const [name, row] of Object.entries(TABLE) as [OperationName, Row][]) {
    if (ELSEWHERE.includes(name) || notByFollower.includes(name) || /Cancel/.test(name)) continue
    const failed = await once.call(name, (inputs[name] ?? {}) as never).then(
      () => null,
      (error: RingbookError) => error,
    )
    t.equal(failed?.code ?? null, row.maintenance === 'blocked' ? 'OPERATIONS_BLOCKED' : null, name)
    if (failed !== null) t.equal(failed.status, 503, name)
  }
  t.equal((await client.StopFollow({ followId })).status, 'STOPPING', 'stops stay available')
  t.equal((await partner.RegisterLeader({ handle: 'PARTNER' })).handle, 'PARTNER')
  t.equal((await partner.ReleaseLeader()).released, true)
  t.equal((await client.CancelOrder({ orderId })).status, 'SUCCESS', 'cancels stay available')
  t.equal((await client.BatchCancelOrders({ orderIds: [second.orderId] })).totalSucceeded, 1)
  t.equal((await client.CancelTwapOrder({ twapOrderId })).status, 'SUCCESS')
  t.equal((await client.BatchCancelOrdersByPair({ tradingPairId })).totalCancelled, 1)
  t.equal((await client.CancelConditionalOrder({ conditionalOrderId })).status, 'SUCCESS')
  t.equal((await client.BatchCancelAllOrders()).totalCancelled, 0)
  await t.rejects(client.GetTrade({ tradeId: orderId }), { status: 404, code: 'NOT_FOUND' }, 'reads stay available')
  const other = await newTrader(exchange.baseUrl, 0)
  t.ok((await other.client.GetProfile()).id, 'sign-in stays available')
  await maintenance(false)
  t.ok((await client.CreateOrder(order)).orderId, 'and trading goes on')
})
