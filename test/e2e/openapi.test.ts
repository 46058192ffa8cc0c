/**
 * Promise: what the exchange answers is what its OpenAPI document says, for every operation, in success and in refusal; what the
 * document calls refused is refused; and the documents are served as documents should be.
 */
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createClient, signRequest, type Client, type Signer, type Wallet } from '../../gateway/client/index.ts'
import { Session } from '../../gateway/docs/guide/client.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import {
  historyReached, issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange,
} from '../support/exchange.ts'
import { refusalWhenReached } from '../support/history_behind.ts'
import {
  checkingFetch, createChecker, fieldsOf, findOperation, type ApiDocument, type Checker, type DocumentOperation,
} from '../support/openapi_check.ts'
import { calldataOf, signedWithdrawal } from '../support/money.ts'
import { openPosition } from '../support/perpetual_position.ts'
import { earnReward, newTrader, pairOf, sodiumSigner } from '../support/traders.ts'
import { wrongBodies, wrongValues } from '../support/wrong_values.ts'

t.setTimeout(600_000)
const names = Object.keys(TABLE) as OperationName[]
/** It answers nothing but 403. */
const CLOSED: OperationName = 'SubmitApplication'
const MISSING = '5a1c0000-0000-4000-8000-00000000ffff'

let exchange: Exchange
let document: ApiDocument
let checker: Checker
const problems: string[] = []
let send: typeof fetch
/** Of the backend of the first application. */
let serverKey: string

t.before(async () => {
  const directory = temporaryDirectory()
  exchange = await startExchange(directory, [
    '--gateways', '2', '--enforce-rate-limits', '1', '--rate-create-per-second', '100', '--rate-movement-per-minute', '100',
    '--price-feed', '1', '--vault', '1',
  ])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  serverKey = await issueServerKey(exchange)
  document = (await (await fetch(`${exchange.baseUrl}/api/v1/openapi.json`)).json()) as ApiDocument
  checker = createChecker(document)
  send = checkingFetch(checker, (problem) => problems.push(problem))
})

const walletOf = (account: PrivateKeyAccount): Wallet =>
  ({ address: account.address, signMessage: (message) => account.signMessage({ message }) })

/** A new wallet, signed in, with test funds; its answers are checked. */
const trader = async (): Promise<Client> => (await newTrader(exchange.baseUrl, 1, send)).client

/** The key of a new wallet's session. */
const session = async (): Promise<Signer> => (await trader()).signer!

/** A schema, looked up where it is a reference. */
function resolve(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $ref } = schema
  return typeof $ref === 'string' ? document.components.schemas[$ref.split('/').pop()!]! : schema
}

type Sampled = { readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[] }

/** What ids and nonces of the examples name is not here, and who calls is no payout wallet and earned nothing. */
const NOTHING_HERE = /^(null|(ORDER_|POSITION_)?NOT_FOUND|NONCE_INVALID|NOT_PAYOUT_WALLET|INSUFFICIENT_BALANCE)$/

t.test('every operation answers 200 as the document says', async (t) => {
  const [maker, taker] = [await trader(), await trader()]
  const tradingPairId = await pairOf(maker, 'ETH/USDC')
  const limit = { tradingPairId, orderType: 'LIMIT', side: 'SELL', quantity: '0.5', price: '2000' } as const
  const ask = await maker.CreateOrder({ ...limit, clientOrderId: 'ask', idempotencyKey: 'k', selfTradePreventionMode: 'CANCEL_BOTH' })
  await maker.GetOrder({ orderId: ask.orderId })
  await taker.CreateOrder({ ...limit, side: 'BUY', quantity: '0.2' })
  await taker.CreateOrder({ tradingPairId, orderType: 'MARKET', side: 'BUY', quantity: '0.1', slippageToleranceBps: 50 })
  await maker.GetOrder({ orderId: ask.orderId })
  await maker.GetOrderbook({ tradingPairId, depth: 5, magnitude: 10, denomination: 'QUOTE' })
  await historyReached(exchange)
  const { trades } = await taker.ListTrades({ tradingPairId })
  await taker.GetTrade({ tradeId: trades[0]!.id })
  await maker.ListAccountTrades({ pageToken: '' })
  await maker.ListMovements({ page: 1, pageSize: 5 })
  await maker.GetPortfolio({ period: 'all' })
  await maker.GetScreener({ marketType: 'SPOT' })
  await maker.GetMarketMetadata({ tradingPairId })
  await maker.GetCandles({ tradingPairId, interval: '1h', startTime: '0', limit: 10 })
  await taker.SimulateFees({ ...limit, side: 'BUY', quantity: '1' })
  const replaced = await maker.ReplaceOrder({ orderId: ask.orderId, price: '2001' })
  await maker.CancelOrder({ orderId: replaced.orderId })
  await maker.ListOrders({ status: ['CANCELLED', 'SUBMITTED'], pageToken: '' })
  const far = new Date(Date.now() + 3_600_000).toISOString()
  const orders = [limit, { ...limit, price: '0.001' }, { ...limit, price: '2002', expirationDate: far }] as const
  const { results } = await maker.BatchCreateOrders({ orders: [...orders] })
  const replacements = [{ orderId: results[0]!.orderId!, quantity: '0.1' }, { orderId: MISSING }]
  const again = await maker.BatchReplaceOrders({ orders: replacements })
  await maker.BatchCancelOrders({ orderIds: [again.results[0]!.newOrderId!, MISSING] })
  await maker.BatchCancelOrdersByPair({ tradingPairId })
  await maker.BatchCancelAllOrders()
  await maker.GetProfile()
  const { balances } = await maker.ListBalances()
  await maker.GetBalance({ assetId: balances[0]!.assetId })
  const backend = createClient({ baseUrl: exchange.baseUrl, serverKey, fetch: send })
  await backend.GetApplicationConfig()
  await backend.ListApplicationUsers({ accountType: 'master', isActive: true })
  await backend.ListApplicationBalances({ token: balances[0]!.token })
  await backend.ListApplicationOrders({ side: 'BUY', pageSize: 5 })
  await backend.ListApplicationMovements({ token: balances[0]!.token })
  await backend.GetApplicationStats({ since: '2026-01-01T00:00:00Z' })
  await raiseFamily(maker, balances[0]!.assetId)
  await delegate(maker, tradingPairId)
  await tradePerpetual(maker, taker)
  await copy(maker, taker)
  await maker.ListPendingWithdrawals({ pageToken: '' })
  await calldataOf(maker, await signedWithdrawal(maker, balances[0]!.assetId))
  await maker.GetFaucetInfo()
  await maker.GetTradingPair({ tradingPairId })
  for (const name of ['GetServerTime', 'Check', 'ListSweeperChains'] as const) await maker.call(name, {})
  const launch = { launchId: 'launch-1', pair: 'BTC/USDC', userId: (await maker.GetProfile()).id }
  await operate(exchange, '/launches', launch)
  await operate(exchange, '/builder', { capBps: 50, builderFees: true })
  await operate(exchange, '/builder/enroll', { application: 'ringbook', payoutUserId: (await maker.GetProfile()).id })
  await maker.SetBuilderFee({ bps: 0, makerBps: null })
  await maker.GetBuildercodesConfig({ clientId: 'ringbook' })
  await maker.ClaimLease({ launchId: 'launch-1', ownerId: 'process-1', expectedGeneration: '0' })
  await maker.TransferRewards(await earnReward(exchange.baseUrl, maker, { tradingPairId, quantity: '0.1', price: '2000' }, send))
  for (const name of ['GetReferralPosition', 'GetReferralDownline', 'Refresh', 'Revoke'] as const) await maker.call(name, {})
  await t.rejects(maker.SubmitApplication(JSON.parse(example(CLOSED).body!)), { code: 'PERMISSION_DENIED' })
  for (const name of names) t.ok(checker.seen.has(`${name} ${name === CLOSED ? 'PERMISSION_DENIED' : 200}`), `${name} was called`)
  t.strictSame(problems.splice(0), [])
})

async function raiseFamily(maker: Client, assetId: string): Promise<void> {
  const wallet = walletOf(privateKeyToAccount(generatePrivateKey()))
  const sub = createClient({ baseUrl: exchange.baseUrl, wallet, signer: sodiumSigner(), fetch: send })
  const consent = await sub.consentTo((await maker.GetProfile()).address, maker.signer!.publicKey)
  const { subAccount } = await maker.CreateSubAccount({ ...consent, username: 'desk' })
  const target = { subAccountId: subAccount.id, assetId }
  await maker.TransferSubAccountBalance({ ...target, amount: '1', direction: 'TO_SUB_ACCOUNT', idempotencyKey: 't' })
  await maker.ListSubAccounts()
  await maker.CreateSubAccountLimit({ ...target, maxAmount: '10', dailyLimit: '20' })
  await maker.UpdateSubAccountLimit({ ...target, isActive: false })
  await maker.ListSubAccountLimits({ subAccountId: subAccount.id })
  await maker.DeleteSubAccountLimit(target)
  await sub.signIn()
  await sub.GetProfile()
}

async function delegate(maker: Client, tradingPairId: string): Promise<void> {
  const wallet = walletOf(privateKeyToAccount(generatePrivateKey()))
  const grant = { agentAddress: wallet.address, allowedActions: ['CREATE_ORDER' as const], allowedTradingPairIds: [tradingPairId] }
  const { id } = await maker.UpsertDelegatedAgent({ ...grant, name: 'bot', maxLeverage: '2', maxOrderNotional: '5', maxOpenOrders: 3 })
  await maker.UpsertDelegatedAgent({ ...grant, allowedMarginAccountIds: [], expiresAt: '2090-01-01T00:00:00Z' })
  await maker.GetDelegatedAgent({ agentId: id })
  await maker.ListDelegatedAgents()
  const agent = createClient({ baseUrl: exchange.baseUrl, wallet, signer: sodiumSigner(), fetch: send })
  await agent.signInFor((await maker.GetProfile()).address)
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '1000' } as const
  await agent.CreateOrder(order)
  await agent.CancelOrder({ orderId: MISSING }).catch(() => undefined)
  await agent.ListDelegatedAgents().catch(() => undefined)
  await maker.RevokeDelegatedAgent({ agentId: id })
}

async function copy(maker: Client, taker: Client): Promise<void> {
  await taker.RegisterLeader({ handle: 'South-Star' })
  await maker.ListLeaders({ page: 1, pageSize: 5 })
  const terms = { leader: 'south-star', allocation: '50', maxLeverage: '3', marginMode: 'CROSS' } as const
  const { followId } = await maker.CreateFollow(terms)
  await maker.ListFollows()
  await maker.ListLeaderPositions({ leader: 'south-star' })
  await taker.ListMyFollowers({ pageSize: 5, pageToken: '' })
  await maker.UpdateFollow({ followId, status: 'CLOSE_ONLY', allocation: '60' })
  await maker.CloseFollowPositions({ followId })
  await maker.CloseAllFollowPositions()
  await maker.StopFollow({ followId })
  await taker.ReleaseLeader()
}

async function tradePerpetual(maker: Client, taker: Client): Promise<void> {
  const { tradingPairId, marginAccountId, riskBucketId, positionId } = await openPosition(maker, taker)
  await maker.GetPerpConfig({ tradingPairId })
  await maker.ListFundingRates({ tradingPairId, pageToken: '' })
  await maker.GetMarginAccount({ marginAccountId })
  await maker.GetMarginAccount({ marginAccountId, tradingPairId })
  await maker.GetAvailableCollateral({ marginAccountId })
  const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '60000', leverage: '5' } as const
  await maker.SimulateOrderRisk({ marginAccountId, ...order })
  await maker.SimulateParentOrderRisk({ ...order, quantity: '100', marginMode: 'CROSS', selectedTradingPairIds: [tradingPairId] })
  await maker.SimulateRiskBucketOrderRisk({ riskBucketId, ...order })
  await maker.ListRiskBuckets({ state: 'ACTIVE' })
  await maker.GetRiskBucket({ riskBucketId })
  await maker.TransferCollateralToRiskBucket({ riskBucketId, amount: '10' })
  await maker.TransferCollateralFromRiskBucket({ riskBucketId, amount: '1' })
  await maker.GetPosition({ positionId })
  await maker.GetPositionRisk({ positionId })
  await maker.AddPositionMargin({ positionId, amount: '5', idempotencyKey: 'add' })
  await maker.ReducePositionMargin({ positionId, amount: '5' })
  await maker.ListFundingPayments({ positionId })
  await waitForPrices(maker, tradingPairId, positionId)
  await taker.CreateOrder({ ...order, tradingMode: 'MARGIN', price: '64000' })
  await maker.ClosePosition({ positionId, closeType: 'IOC', price: '64000' })
  await historyReached(exchange)
  await maker.ListPositions({ status: 'CLOSED' })
  const { marginAccountId: sub } = await maker.CreateMarginSubAccount({ label: 'basis' })
  await maker.TransferCollateralToSubAccount({ marginAccountId: sub, amount: '10' })
  await maker.TransferCollateralFromSubAccount({ marginAccountId: sub, amount: '4' })
  await maker.CloseMarginSubAccount({ marginAccountId: sub })
  await maker.WithdrawCollateral({ marginAccountId, amount: '1' })
}

async function waitForPrices(maker: Client, tradingPairId: string, positionId: string): Promise<void> {
  const stopLoss = { triggerPrice: '50000', orderType: 'LIMIT', limitPrice: '49000', timeInForce: 'GTC' } as const
  const legs = await maker.AttachTpSl({ positionId, takeProfit: { triggerPrice: '90000', orderType: 'MARKET' }, stopLoss })
  const { trailingStopOrderId } = await maker.AttachTpSl({ positionId, trailingStop: { trailBps: 2000 } })
  await maker.ListConditionalOrders({ state: ['ARMED'], pageToken: '' })
  await maker.ListConditionalOrders({ page: 1 })
  await maker.CancelConditionalOrder({ conditionalOrderId: trailingStopOrderId! })
  await maker.GetConditionalOrder({ conditionalOrderId: legs.takeProfitOrderId! })
  const terms = { tradingPairId, side: 'BUY', quantity: '0.02', tradingMode: 'MARGIN', leverage: '5' } as const
  const { twapOrderId } = await maker.CreateTwapOrder({ ...terms, durationSeconds: 600, limitPrice: '60000', clientTwapId: 'in parts' })
  const waits = { triggerPrice: '90000', triggerDirection: 'ABOVE', conditionalExpiry: '2090-01-01T00:00:00Z' } as const
  await maker.CreateTwapOrder({ ...terms, ...waits, durationSeconds: 60, executionStyle: 'PASSIVE' })
  await maker.ListTwapOrders({ pageToken: '' })
  await historyReached(exchange)
  await maker.ListTwapSlices({ twapOrderId })
  await maker.CancelTwapOrder({ twapOrderId })
  await historyReached(exchange)
  await maker.GetTwapOrder({ twapOrderId })
}

interface Sent {
  readonly method: string
  readonly target: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** Sends a request as it is, checked; the code it was refused with, or `null`, and the field that was named. */
async function raw({ method, target, body, headers = {} }: Sent): Promise<{ code: string | null; field: string | null }> {
  const init = { method, headers, ...(body === undefined || body === '' ? {} : { body }) }
  const answer = await send(exchange.baseUrl + target, init)
  const { code = null, details } = (await answer.json()) as { code?: string; details?: { field?: string } }
  return answer.ok ? { code: null, field: null } : { code, field: details?.field ?? null }
}

/** The same request with the headers of a session. `at` in Unix ms. */
function signed(signer: Signer, sent: Sent, at = Date.now()): Sent {
  const signature = signRequest(signer, sent.method, sent.target, new TextEncoder().encode(sent.body ?? ''), at)
  return { ...sent, headers: { ...signature, ...sent.headers } }
}

/** The same request as the operation's caller sends it: signed, with the server key, or as it is. */
function authorised(name: OperationName, signer: Signer, sent: Sent): Sent {
  const { access }: Row = TABLE[name]
  if (access === 'public') return sent
  return access === 'session' ? signed(signer, sent) : { ...sent, headers: { 'x-server-key': serverKey, ...sent.headers } }
}

/** The example call of an operation, as the document has it. */
function example(name: OperationName): Sent {
  const row: Row = TABLE[name]
  const operation = findOperation(document, row.method, row.path)!
  const [parameters, { requestBody }] = [fieldsOf(operation), operation]
  const path = row.path.replace(/\{(\w+)\}/g, (_, field) => String(parameters.find((each) => each.name === field)!.example))
  const body = requestBody?.content['application/json']!.example
  return { method: row.method, target: path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
}

/** A path with one parameter's value, and the examples of the others. */
function pathWith(path: string, parameters: NonNullable<DocumentOperation['parameters']>, field: string, value: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === field ? value : String(parameters.find((each) => each.name === name)!.example)))
}

t.test('refusals of the edge and of the signature are announced, for every operation', async (t) => {
  const signer = await session()
  for (const name of names) {
    const call = example(name)
    const refused = async (sent: Sent, code: string): Promise<unknown> => t.equal((await raw(sent)).code, code, `${name} ${code}`)
    await refused({ ...call, headers: { 'User-Agent': '' } }, 'USER_AGENT_REQUIRED')
    await refused({ ...call, headers: { 'X-Svc-Timestamp': '1', Signature: 'svc=:AA==:' } }, 'MIXED_CREDENTIALS')
    if (TABLE[name].access === 'public') continue
    await refused(call, 'UNAUTHENTICATED')
    if (TABLE[name].access === 'server-key') continue
    await refused(signed(signer, call, Date.now() - 60_000), 'CLOCK_SKEW')
    await refused(signed(signer, call, Date.now() + 60_000), 'CLOCK_SKEW')
    await refused({ ...signed(signer, call), target: `${call.target}?other=1` }, 'INVALID_SIGNATURE')
  }
  t.strictSame(problems.splice(0), [])
})

t.test('what the document does not allow is refused, field by field', async (t) => {
  const signer = await session()
  const { idempotencyKey: _, ...order } = JSON.parse(example('CreateOrder').body!) as Record<string, unknown>
  const placing = signed(signer, { ...example('CreateOrder'), body: JSON.stringify(order) })
  const placed = await send(exchange.baseUrl + placing.target, placing)
  const { orderId } = (await placed.json()) as { orderId: string }
  let tried = 0
  const refused = async (name: OperationName, sent: Sent, field: string, why: string): Promise<void> => {
    const answer = await raw(authorised(name, signer, sent))
    // Of an object it may be what is wrong inside.
    const named = new RegExp(`^${field}(\\.|$)`)
    t.match(answer, { code: /^(VALIDATION_ERROR|INVALID_EXPIRATION)$/, field: named }, `${name}.${field} ${why}`)
    tried++
  }
  for (const name of names) {
    const { method, path }: Row = TABLE[name]
    const operation = findOperation(document, method, path)!
    const [parameters, { requestBody }] = [fieldsOf(operation), operation]
    // A replacement is judged in ticks and lots of its original, so there must be one.
    const call = { ...example(name), ...(name === 'ReplaceOrder' ? { target: path.replace('{orderId}', orderId) } : {}) }
    for (const { name: field, in: place, schema } of parameters) {
      for (const value of wrongValues(checker, schema)) {
        const query = `${call.target}?${field}=${encodeURIComponent(value)}`
        const target = place === 'path' ? pathWith(path, parameters, field, value) : query
        await refused(name, { ...call, target }, field, value)
      }
    }
    const content = requestBody?.content['application/json']
    if (content === undefined) continue
    const schema = resolve(content.schema)
    const good = content.example as Record<string, unknown>
    for (const [field, property] of Object.entries(schema['properties'] as Record<string, Record<string, unknown>>)) {
      for (const value of wrongBodies(checker, property)) {
        await refused(name, { ...call, body: JSON.stringify({ ...good, [field]: value }) }, field, JSON.stringify(value))
      }
    }
    for (const field of (schema['required'] ?? []) as string[]) {
      await refused(name, { ...call, body: JSON.stringify({ ...good, [field]: null }) }, field, 'left out')
    }
  }
  t.ok(tried > 150, `${tried} wrong values`)
  t.strictSame(problems.splice(0), [])
})

t.test('things that are not there, bodies that are none, budgets and maintenance', async (t) => {
  const signer = await session()
  const missing: Partial<Record<OperationName, string>> = {
    GetBalance: 'NOT_FOUND', GetOrder: 'ORDER_NOT_FOUND', CancelOrder: 'ORDER_NOT_FOUND', ReplaceOrder: 'ORDER_NOT_FOUND',
    GetDelegatedAgent: 'NOT_FOUND', RevokeDelegatedAgent: 'NOT_FOUND', ListSubAccountLimits: 'NOT_FOUND', GetMarginAccount: 'NOT_FOUND',
    GetRiskBucket: 'NOT_FOUND', GetPosition: 'POSITION_NOT_FOUND', GetPerpConfig: 'NOT_FOUND',
    UpdateSubAccountLimit: 'NOT_FOUND', DeleteSubAccountLimit: 'NOT_FOUND',
    GetTradingPair: 'NOT_FOUND', GetMarketMetadata: 'NOT_FOUND', GetCandles: 'NOT_FOUND', GetOrderbook: 'NOT_FOUND', GetTrade: 'NOT_FOUND',
  }
  for (const [name, code] of Object.entries(missing) as [OperationName, string][]) {
    const target = TABLE[name].path.replaceAll(/\{\w+\}/g, MISSING)
    t.equal(await refusalWhenReached(exchange, async () => (await raw(signed(signer, { ...example(name), target }))).code), code, name)
  }
  const order = JSON.parse(example('CreateOrder').body!) as Record<string, unknown>
  const place = (change: object): Promise<{ code: string | null }> =>
    raw(signed(signer, { ...example('CreateOrder'), body: JSON.stringify({ ...order, idempotencyKey: undefined, ...change }) }))
  t.match(await place({ quantity: '1' }), { code: 'INSUFFICIENT_BALANCE' })
  t.match(await place({ price: '60000.001' }), { code: 'INVALID_TICK' })
  t.match(await place({ quantity: '0.00001' }), { code: 'INVALID_LOT' })
  t.match(await place({ tradingPairId: MISSING }), { code: 'NOT_FOUND' })
  t.match(await place({ expirationDate: '2020-01-01T00:00:00Z' }), { code: 'INVALID_EXPIRATION' })
  t.match(await raw(signed(signer, { ...example('CreateOrder'), body: '{' })), { code: 'MALFORMED_REQUEST' })
  t.match(await raw(signed(signer, { ...example('CreateOrder'), body: ' '.repeat(2 ** 21 + 1) })), { code: 'BODY_TOO_LARGE' })
  for (let i = 0; i < 4; i++) await raw(signed(signer, example('Mint')))
  t.match(await raw(signed(signer, example('Mint'))), { code: 'FAUCET_LIMIT' })
  const cancels = JSON.stringify({ orderIds: Array.from({ length: 100 }, () => MISSING) })
  const over = async (): Promise<string | null> => (await raw(signed(signer, { ...example('BatchCancelOrders'), body: cancels }))).code
  let code: string | null = null
  for (let i = 0; i < 20 && code === null; i++) code = await over()
  t.equal(code, 'RATE_LIMIT_EXCEEDED')
  const maintenance = (on: boolean): Promise<unknown> => operate(exchange, '/maintenance', { on })
  const other = await session()
  await maintenance(true)
  for (const name of names.filter((each) => TABLE[each].maintenance === 'blocked')) {
    t.equal((await raw(signed(other, example(name)))).code, 'OPERATIONS_BLOCKED', name)
  }
  await maintenance(false)
  t.strictSame(problems.splice(0), [])
})

t.test('the document and the page are served with an entity tag, from the box alone', async (t) => {
  const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(exchange.baseUrl + path, init)
  const types = {
    '/api/v1/openapi.json': 'application/json', '/docs': 'text/html; charset=utf-8', '/docs/page.css': 'text/css; charset=utf-8',
    '/docs/page.js': 'text/javascript; charset=utf-8', '/api/v1/asyncapi.json': 'application/json',
    '/docs/guide': 'text/html; charset=utf-8', '/docs/kept/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
    '/docs/kept/hashes/sha3.js': 'text/javascript; charset=utf-8', '/docs/proto/svc/v1/order.proto': 'text/plain; charset=utf-8',
    '/docs/proto.zip': 'application/zip',
  }
  for (const [path, type] of Object.entries(types)) {
    const answer = await get(path)
    const etag = answer.headers.get('etag')!
    const text = Buffer.from(await answer.arrayBuffer())
    t.equal(answer.status, 200, path)
    t.equal(answer.headers.get('content-type'), type)
    t.equal(etag, `"${createHash('sha256').update(text).digest('base64url')}"`, 'the tag is of these bytes')
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    t.equal((await get(path, { headers: { 'If-None-Match': `W/"x", ${etag}` } })).status, 304)
    t.equal((await get(path, { headers: { 'If-None-Match': '"other"' } })).status, 200)
    const head = await get(path, { method: 'HEAD' })
    t.equal(head.headers.get('content-length'), String(text.length))
    const wrong = await get(path, { method: 'POST', body: '{}' })
    t.equal(wrong.status, 405)
    t.equal(wrong.headers.get('allow'), 'GET, HEAD')
    t.equal((await get(path, { headers: { 'User-Agent': '' } })).status, 403, 'the rules of the edge hold here too')
  }
  for (const page of ['/docs', '/docs/guide']) {
    const policy = (await get(page)).headers.get('content-security-policy')!
    t.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
    t.notMatch(policy, /unsafe|\*|https?:/)
  }
  t.equal((await get('/docs/kept/package.json')).status, 404)
  t.equal((await get('/docs/nothing.js')).status, 404)
  t.equal((await get('/docs/__proto__')).status, 404)
})

t.test('a burst of pipelined requests for the document ends its connection', async (t) => {
  const socket = connect(exchange.port, '127.0.0.1')
  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  socket.on('error', () => undefined)
  socket.write('GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\n\r\n'.repeat(1000))
  await new Promise((resolve) => socket.on('close', resolve))
  t.ok(received < 2_000_000, `${received} bytes`)
})

t.test('the program of the guide signs in and trades, and every sample is one that runs', async (t) => {
  const account = privateKeyToAccount(generatePrivateKey())
  const session = await Session.open(exchange.baseUrl, account.address, (message) => account.signMessage({ message }))
  t.equal((await session.request('GET', '/api/v1/accounts/me')).address, account.address)
  await session.request('POST', '/api/v1/faucet/mint', {})
  const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => (session: Session) => Promise<unknown>
  const revoke = 'Revoke'
  for (const name of [...names.filter((each) => each !== revoke), revoke] as OperationName[]) {
    const operation = findOperation(document, TABLE[name].method, TABLE[name].path) as unknown as Sampled
    const { source } = operation['x-codeSamples'].find(({ lang }) => lang === 'TypeScript')!
    if (TABLE[name].access === 'server-key') {
      const here = source.replace(/http:\/\/[^/]+/, exchange.baseUrl)
      const answer = await new AsyncFunction('serverKey', `${here}; return answer`)(serverKey as never)
      t.notOk((answer as { code?: string }).code, `${name}: ${source}`)
      continue
    }
    const refused = await refusalWhenReached(exchange, () =>
      new AsyncFunction('session', source)(session).then(() => null, (envelope: { code: string }) => envelope.code))
    if (name === CLOSED) t.equal(refused, 'PERMISSION_DENIED')
    else t.match(String(refused), NOTHING_HERE, `${name}: ${source}`)
  }
})
