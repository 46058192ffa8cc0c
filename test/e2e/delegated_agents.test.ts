/**
 * Promise: a wallet trades for an account inside what its owner granted and nowhere else, over REST and gRPC alike; every lack is named;
 * a narrower grant holds from the next order on; revoking ends grant, sessions and orders at once.
 */
import t, { type Test } from 'tap'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { connectGrpc } from '../support/grpc.ts'
import { newUser, signIn, signInFor } from '../support/sign_in.ts'
import { grpcTransport, newWallet, restTransport, type Json, type Transport, type Wallet } from '../support/transports.ts'

t.setTimeout(600_000)

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '2', '--sign-in-per-address', '1000', '--sign-in-per-ip', '1000'])
const client = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  client.close()
  await exchange.kill()
  removeDirectory(directory)
})
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: restTransport(exchange.port), gRPC: grpcTransport(client) }
const { tradingPairs } = await TRANSPORTS['REST']!('ListTradingPairs', { pageSize: 100 }, null) as Json
const pairOf = (symbol: string): string => tradingPairs.find((each: Json) => each['symbol'] === symbol).id
const [ETH, BTC] = [pairOf('ETH/USDC'), pairOf('BTC/USDC')]
const NOTHING = '00000000-0000-4000-8000-000000000000'

const order = { tradingPairId: ETH, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '1000' }
const grantOf = (agent: Wallet): Json => ({
  agentAddress: agent.wallet.address, allowedActions: ['CREATE_ORDER', 'CANCEL_ORDER'], allowedTradingPairIds: [ETH],
  allowedOrderTypes: ['LIMIT'], allowedTimeInForce: ['GTC'], maxOrderNotional: '100.5', maxOpenOrders: 2,
})

interface Pair {
  readonly owner: Wallet
  readonly agent: Wallet
  /** The agent's record. */
  readonly record: Json
}

/** An owner with funds and an agent with a session. */
async function newPair(t: Test, call: Transport): Promise<Pair> {
  const owner = await newUser(call)
  const agent = newWallet()
  const record: Json = await call('UpsertDelegatedAgent', grantOf(agent), owner.session)
  const { id: userId }: Json = await call('GetProfile', {}, owner.session)
  const opened = await signInFor(call, owner.wallet.address, agent)
  t.match(opened, { agentId: record['id'], userId }, 'the session is the owner\'s')
  return { owner, agent, record }
}

for (const [name, call] of Object.entries(TRANSPORTS)) {
  t.test(`${name}: what is not granted is refused and named`, async (t) => {
    const { owner, agent } = await newPair(t, call)
    const { orderId }: Json = await call('CreateOrder', order, agent.session)
    t.ok(orderId, 'what is granted is done')
    t.match(await call('GetOrder', { orderId }, owner.session), { status: 'SUBMITTED' }, 'the order is the owner\'s')
    const lacks: [string, string, Json][] = [
      ['PAIR', 'CreateOrder', { ...order, tradingPairId: BTC }],
      ['ORDER_TYPE', 'CreateOrder', { tradingPairId: ETH, orderType: 'MARKET', side: 'SELL', quantity: '0.1' }],
      ['TIME_IN_FORCE', 'CreateOrder', { ...order, timeInForce: 'IOC' }],
      ['NOTIONAL', 'CreateOrder', { ...order, quantity: '0.101' }],
      ['ACTION', 'ReplaceOrder', { orderId, price: '999' }],
    ]
    for (const [grant, operation, input] of lacks) {
      const outcome = await call(operation as 'CreateOrder', input, agent.session)
      t.match(outcome, { refused: 'AGENT_NOT_ALLOWED', details: { grant } }, grant)
    }
    await call('CreateOrder', order, agent.session)
    t.match(await call('CreateOrder', order, agent.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'OPEN_ORDERS' } })
    const batch: Json = await call('BatchCreateOrders', { orders: [{ ...order, tradingPairId: BTC }, order] }, agent.session)
    t.match(batch['results'], [
      { error: { code: 'AGENT_NOT_ALLOWED', message: /trading pair/ } }, { error: { code: 'AGENT_NOT_ALLOWED', message: /open orders/ } },
    ])
    t.match(await call('ListDelegatedAgents', {}, owner.session), { agents: [{ openOrders: 2, isActive: true }] })
    t.match(await call('ListDelegatedAgents', {}, agent.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'OPERATION' } })
    t.match(await call('CancelOrder', { orderId }, agent.session), { status: 'SUCCESS' })
  })

  t.test(`${name}: an agent's mass cancel leaves the pairs that are not granted`, async (t) => {
    const { owner, agent } = await newPair(t, call)
    const elsewhere: Json = await call('CreateOrder', { ...order, tradingPairId: BTC }, owner.session)
    const here: Json = await call('CreateOrder', order, owner.session)
    t.match(await call('CancelOrder', { orderId: elsewhere['orderId'] }, agent.session), { refused: 'AGENT_NOT_ALLOWED' })
    t.strictSame(await call('BatchCancelAllOrders', {}, agent.session), {
      totalCancelled: 1, orderIds: [here['orderId']], totalNotCancelled: 1,
      notCancelled: [{ orderId: elsewhere['orderId'], tradingPairId: BTC, reason: 'AGENT_NOT_ALLOWED' }],
    })
    t.match(await call('GetOrder', { orderId: elsewhere['orderId'] }, owner.session), { status: 'SUBMITTED' })
  })

  t.test(`${name}: a narrower grant holds from the next order on, under the same id`, async (t) => {
    const { owner, agent, record } = await newPair(t, call)
    await call('CreateOrder', order, agent.session)
    const narrow: Json = await call('UpsertDelegatedAgent', { ...grantOf(agent), allowedTradingPairIds: [BTC] }, owner.session)
    t.match(narrow, { id: record['id'], allowedTradingPairIds: [BTC], openOrders: 1, createdAt: record['createdAt'] })
    t.match(await call('CreateOrder', order, agent.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'PAIR' } })
    const open: Json = await call('ListOrders', { status: ['SUBMITTED'] }, owner.session)
    t.equal(open['total'], 1, 'what rests stays')
  })

  t.test(`${name}: revoking ends grant, sessions and orders; granting again is the same agent`, async (t) => {
    const { owner, agent, record } = await newPair(t, call)
    const second = newWallet(agent.wallet)
    await signInFor(call, owner.wallet.address, second)
    const { orderId }: Json = await call('CreateOrder', order, agent.session)
    const own: Json = await call('CreateOrder', order, owner.session)
    const agentId = record['id']
    t.strictSame(await call('RevokeDelegatedAgent', { agentId }, owner.session), { revoked: true, ordersCancelled: 1 })
    for (const each of [agent, second]) {
      t.match(await call('CreateOrder', order, each.session), { refused: 'SESSION_INVALID' })
    }
    t.match(await call('GetOrder', { orderId }, owner.session), { status: 'CANCELLED', terminalReason: 'DELEGATION_REVOKED' })
    t.match(await call('GetOrder', { orderId: own['orderId'] }, owner.session), { status: 'SUBMITTED' }, 'the owner\'s own order stays')
    t.match(await call('GetDelegatedAgent', { agentId }, owner.session), { id: agentId, isActive: false, openOrders: 0 })
    t.match(await call('RevokeDelegatedAgent', { agentId }, owner.session), { refused: 'NOT_FOUND' })
    t.match(await signInFor(call, owner.wallet.address, newWallet(agent.wallet)), { refused: 'AGENT_NOT_ALLOWED' })
    t.match(await call('UpsertDelegatedAgent', grantOf(agent), owner.session), { id: agentId, isActive: true })
    const again = newWallet(agent.wallet)
    t.match(await signInFor(call, owner.wallet.address, again), { agentId })
    t.ok((await call('CreateOrder', order, again.session) as Json)['orderId'])
    t.match(await call('CreateOrder', order, agent.session), { refused: 'SESSION_INVALID' }, 'an ended session stays ended')
  })

  t.test(`${name}: who may open a session as an agent`, async (t) => {
    const { owner, agent } = await newPair(t, call)
    const [stranger, nobody] = [await newUser(call), newWallet()]
    const notAllowed = await signInFor(call, owner.wallet.address, nobody)
    t.match(notAllowed, { refused: 'AGENT_NOT_ALLOWED' }, 'no agent at all')
    for (const address of [stranger.wallet.address, nobody.wallet.address]) {
      t.strictSame(await signInFor(call, address, newWallet(agent.wallet)), notAllowed, 'an agent of somebody else; the same text')
    }
    await call('UpsertDelegatedAgent', grantOf(agent), stranger.session)
    t.match(await signInFor(call, stranger.wallet.address, agent), { refused: 'SESSION_KEY_IN_USE' }, 'one key, one owner')
    const itself = newWallet(agent.wallet)
    t.match(await signIn(call, itself), { isNewUser: true }, 'the same wallet has an account of its own')
    t.match(await call('CreateOrder', order, itself.session), { refused: 'INSUFFICIENT_BALANCE' }, 'with its own funds')
    const key = { sessionPublicKey: newWallet().session.publicKey, address: agent.wallet.address }
    const { nonce, message }: Json = await call('Challenge', key, null)
    const { sessionPublicKey } = key
    const wallets = { agentAddress: agent.wallet.address, ownerAddress: owner.wallet.address, sessionPublicKey, nonce }
    const forged = await stranger.wallet.signMessage({ message })
    t.match(await call('CreateDelegatedSession', { ...wallets, signature: forged }, null), { refused: 'INVALID_SIGNATURE' })
    const good = await agent.wallet.signMessage({ message })
    t.match(await call('CreateDelegatedSession', { ...wallets, signature: good }, null), { expiresAt: Number }, 'strangers spend no nonce')
    t.match(await call('CreateDelegatedSession', { ...wallets, signature: good }, null), { refused: 'NONCE_INVALID' }, 'used up')
  })

  t.test(`${name}: a session ends with the grant at the latest`, async (t) => {
    const owner = await newUser(call)
    const agent = newWallet()
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    t.match(await call('UpsertDelegatedAgent', { ...grantOf(agent), expiresAt }, owner.session), { expiresAt })
    const seconds = Math.floor(Date.parse(expiresAt) / 1000)
    t.match(await signInFor(call, owner.wallet.address, agent), { expiresAt: seconds })
    t.match(await call('Refresh', {}, agent.session), { expiresAt: seconds }, 'refreshing does not reach further')
  })

  t.test(`${name}: a grant that is none is refused with its field`, async (t) => {
    const owner = await newUser(call)
    const good = grantOf(newWallet())
    const wrong: [string, Json, string][] = [
      ['agentAddress', { agentAddress: owner.wallet.address }, 'VALIDATION_ERROR'],
      ['agentAddress', { agentAddress: '0x12' }, 'VALIDATION_ERROR'],
      ['allowedActions', { allowedActions: [] }, 'VALIDATION_ERROR'],
      ['allowedTradingPairIds', { allowedTradingPairIds: [] }, 'VALIDATION_ERROR'],
      ['allowedTradingPairIds', { allowedTradingPairIds: [ETH, NOTHING] }, 'NOT_FOUND'],
      ['allowedMarginAccountIds', { allowedMarginAccountIds: [NOTHING] }, 'NOT_FOUND'],
      ['allowedMarginAccountIds', { allowedMarginAccountIds: Array(11).fill(NOTHING) }, 'VALIDATION_ERROR'],
      ['maxOpenOrders', { maxOpenOrders: 0 }, 'VALIDATION_ERROR'],
      ['maxOpenOrders', { maxOpenOrders: 1001 }, 'VALIDATION_ERROR'],
      ['maxLeverage', { maxLeverage: '2.125' }, 'VALIDATION_ERROR'],
      ['maxLeverage', { maxLeverage: '0' }, 'VALIDATION_ERROR'],
      ['maxLeverage', { maxLeverage: '21474836.48' }, 'VALIDATION_ERROR'],
      ['maxOrderNotional', { maxOrderNotional: '0.0000000001' }, 'VALIDATION_ERROR'],
      ['maxOrderNotional', { maxOrderNotional: '-1' }, 'VALIDATION_ERROR'],
      ['maxOrderNotional', { maxOrderNotional: '1e3' }, 'VALIDATION_ERROR'],
      ['maxOrderNotional', { maxOrderNotional: '9223372036.854775808' }, 'VALIDATION_ERROR'],
      ['name', { name: 'x'.repeat(33) }, 'VALIDATION_ERROR'],
      ['name', { name: 'é'.repeat(17) }, 'VALIDATION_ERROR'],
      ['name', { name: 'a\u0000b' }, 'VALIDATION_ERROR'],
      ['expiresAt', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'VALIDATION_ERROR'],
    ]
    for (const [field, change, refused] of wrong) {
      const outcome = await call('UpsertDelegatedAgent', { ...good, ...change }, owner.session)
      t.match(outcome, { refused, details: { field } }, JSON.stringify(change))
    }
    t.strictSame(await call('ListDelegatedAgents', {}, owner.session), { agents: [] })
    const { accounts: [parent] } = await call('ListMarginAccounts', {}, owner.session) as Json
    const { marginAccountId } = parent
    const both = { ...good, noMarginAccounts: true, allowedMarginAccountIds: [marginAccountId] }
    const refusal = await call('UpsertDelegatedAgent', both, owner.session)
    t.match(refusal, { refused: 'VALIDATION_ERROR', details: { field: 'noMarginAccounts' } })
    const inParent = { ...good, allowedMarginAccountIds: [marginAccountId, marginAccountId] }
    t.match(await call('UpsertDelegatedAgent', inParent, owner.session), { allowedMarginAccountIds: [marginAccountId] }, 'each once')
    t.match(await call('ListDelegatedAgents', {}, owner.session), { agents: [{ allowedMarginAccountIds: [marginAccountId] }] })
    const widest = { maxOrderNotional: '9223372036.854775807', maxLeverage: '21474836.47', name: 'é'.repeat(16), maxOpenOrders: 1000 }
    t.match(await call('UpsertDelegatedAgent', { ...good, ...widest }, owner.session), widest)
  })
}
