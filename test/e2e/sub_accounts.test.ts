/**
 * Promise: a master makes sub-accounts, gives them balances and lets their orders spend its own inside limits, over REST and gRPC alike;
 * a sub-account signs in with its own wallet and has nothing of its master's but that.
 */
import t, { type Test } from 'tap'
import { consentOf } from '../support/consent.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { connectGrpc } from '../support/grpc.ts'
import { farFromMidnight } from '../support/midnight.ts'
import { until } from '../support/money.ts'
import { newUser, signIn, signInFor } from '../support/sign_in.ts'
import { grpcTransport, newWallet, restTransport, type Json, type Transport, type Wallet } from '../support/transports.ts'

t.setTimeout(600_000)

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--gateways', '2', '--sign-in-per-ip', '1000', '--vault', '1'])
const client = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  client.close()
  await exchange.kill()
  removeDirectory(directory)
})
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: restTransport(exchange.port), gRPC: grpcTransport(client) }
const { tradingPairs } = await TRANSPORTS['REST']!('ListTradingPairs', { pageSize: 100 }, null) as Json
const pair: Json = tradingPairs.find((each: Json) => each['symbol'] === 'ETH/USDC')
const [USDC, ETH] = [pair['quoteAssetId'], pair['baseAssetId']] as [string, string]
const NOTHING = '00000000-0000-4000-8000-000000000000'
const EXCEEDED = { refused: 'SUB_ACCOUNT_LIMIT_EXCEEDED' }

const order = (side: string, quantity: string, price = '2000'): Json =>
  ({ tradingPairId: pair['id'], orderType: 'LIMIT', side, quantity, price })
const funded = (quantity: string, price = '2000'): Json => ({ ...order('BUY', quantity, price), useMasterBalance: true })

/** A master with funds, a sub-account without, both signed in. */
class Family {
  readonly call: Transport
  readonly master: Wallet
  readonly sub = newWallet()
  subAccountId = ''

  constructor(call: Transport, master: Wallet) {
    this.call = call
    this.master = master
  }

  static async make(t: Test, call: Transport): Promise<Family> {
    const family = new Family(call, await newUser(call))
    const { address } = family.sub.wallet
    const { subAccount }: Json = await family.byMaster('CreateSubAccount', { ...(await family.consent()), username: 'desk 1' })
    t.match(subAccount, { address, username: 'desk 1', accountType: 'sub', isActive: true, consented: true, balances: [] })
    family.subAccountId = subAccount.id
    t.match(await signIn(call, family.sub), { isNewUser: false, user: { id: subAccount.id, address, username: 'desk 1' } })
    return family
  }

  /** The word of a wallet, the sub-account's own if nothing else is said. */
  consent(who: Wallet = this.sub): Promise<Json> {
    return consentOf(this.call, who.wallet, this.master.session)
  }

  bySub(name: Parameters<Transport>[0], input: Json = {}): Promise<Json> {
    return this.call(name, input, this.sub.session)
  }

  byMaster(name: Parameters<Transport>[0], input: Json = {}): Promise<Json> {
    return this.call(name, input, this.master.session)
  }

  /** What is available and locked of an asset. */
  async balance(who: Wallet, assetId: string): Promise<[available: string, locked: string]> {
    const { availableBalance, lockedBalance }: Json = await this.call('GetBalance', { assetId }, who.session)
    return [availableBalance, lockedBalance]
  }

  async limit(): Promise<Json> {
    const { limits } = await this.byMaster('ListSubAccountLimits', { subAccountId: this.subAccountId })
    return limits[0]
  }
}

for (const [name, call] of Object.entries(TRANSPORTS)) {
  t.test(`${name}: who is who`, async (t) => {
    const family = await Family.make(t, call)
    const master = await until('the vault', async () => {
      const profile = await family.byMaster('GetProfile')
      return profile['canWithdraw'] && profile
    })
    t.match(master, { accountType: 'master', canWithdraw: true })
    t.equal(master['masterAccountId'] ?? null, null)
    t.match(await family.bySub('GetProfile'), { accountType: 'sub', canWithdraw: false, username: 'desk 1', masterAccountId: master['id'] })
    const again = await family.byMaster('CreateSubAccount', await family.consent())
    t.match(again, { subAccount: { id: family.subAccountId, username: 'desk 1' } }, 'its word again makes no other')
    const stranger = await newUser(call)
    t.match(await family.byMaster('CreateSubAccount', await family.consent(stranger)), { refused: 'ADDRESS_IN_USE' }, 'told to who agreed')
    for (const address of [family.sub.wallet.address, stranger.wallet.address, family.master.wallet.address, newWallet().wallet.address]) {
      const unasked = await family.byMaster('CreateSubAccount', { address })
      t.match(unasked, { refused: 'INVALID_SIGNATURE', message: 'The wallet has to agree: nonce and signature of its challenge' })
    }
    for (const username of ['', 'é', 'x'.repeat(33), 'a\nb']) {
      const outcome = await family.byMaster('CreateSubAccount', { address: newWallet().wallet.address, username })
      t.match(outcome, { refused: 'VALIDATION_ERROR', details: { field: 'username' } }, JSON.stringify(username))
    }
    t.match(await family.bySub('CreateSubAccount', { address: newWallet().wallet.address }), { refused: 'MASTER_ONLY' })
    const { subAccounts } = await family.byMaster('ListSubAccounts')
    t.equal(subAccounts.length, 1)
    t.equal(subAccounts[0].balances.length, 4, 'with a row for every asset')
    t.match(await family.bySub('ListSubAccounts'), { refused: 'MASTER_ONLY' })
  })

  t.test(`${name}: balances go to a sub-account and back`, async (t) => {
    const family = await Family.make(t, call)
    const { subAccountId, sub, master } = family
    const give = { subAccountId, assetId: USDC, amount: '100.50', direction: 'TO_SUB_ACCOUNT', idempotencyKey: 'a' }
    const given = await family.byMaster('TransferSubAccountBalance', give)
    t.match(given, { subAccountId, assetId: USDC, amount: '100.5', direction: 'TO_SUB_ACCOUNT' })
    t.strictSame(await family.byMaster('TransferSubAccountBalance', give), given, 'repeated, not run again')
    t.match(await family.byMaster('TransferSubAccountBalance', { ...give, amount: '1' }), { refused: 'IDEMPOTENCY_KEY_CONFLICT' })
    const take = { ...give, direction: 'FROM_SUB_ACCOUNT', idempotencyKey: 'b', amount: '100.500001' }
    t.match(await family.byMaster('TransferSubAccountBalance', take), { refused: 'INSUFFICIENT_BALANCE' })
    const taken = await family.byMaster('TransferSubAccountBalance', { ...take, amount: '0.5' })
    t.match(taken, { amount: '0.5' })
    t.strictSame(await family.balance(sub, USDC), ['100', '0'])
    t.strictSame(await family.balance(master, USDC), ['9900', '0'])
    await historyReached(exchange)
    const { movements } = await family.byMaster('ListMovements', { page: 1 })
    t.match(movements.slice(0, 2), [
      { id: taken['movementId'], entryType: 'CREDIT', amount: '0.5' }, { id: given['movementId'], entryType: 'DEBIT', amount: '100.5' },
    ])
    t.match(await family.bySub('TransferSubAccountBalance', give), { refused: 'MASTER_ONLY' })
    const wrong: [string, Json, string][] = [
      ['amount', { amount: '0' }, 'VALIDATION_ERROR'], ['amount', { amount: '-1' }, 'VALIDATION_ERROR'],
      ['amount', { amount: '0.0000001' }, 'VALIDATION_ERROR'], ['amount', { amount: '9'.repeat(28) }, 'VALIDATION_ERROR'],
      ['amount', { amount: '1e3' }, 'VALIDATION_ERROR'], ['assetId', { assetId: NOTHING }, 'NOT_FOUND'],
      ['subAccountId', { subAccountId: NOTHING }, 'NOT_FOUND'], ['idempotencyKey', { idempotencyKey: 'x'.repeat(129) }, 'VALIDATION_ERROR'],
    ]
    const message = 'maxAmount must have at most 9 digits behind the point, as amounts of ETH do'
    const digits = { refused: 'VALIDATION_ERROR', message }
    const finest = { subAccountId: family.subAccountId, assetId: ETH, maxAmount: '0.0000000001' }
    t.match(await family.byMaster('CreateSubAccountLimit', finest), digits, 'the 18 of the chain are not what is taken')
    t.match(await family.byMaster('GetBalance', { assetId: ETH }), { decimals: 18, amountDecimals: 9 })
    const { tradingPair } = await family.byMaster('GetTradingPair', { tradingPairId: pair['id'] })
    t.match(tradingPair, { baseDecimals: 18, baseAmountDecimals: 9, quoteDecimals: 6, quoteAmountDecimals: 6 })
    for (const [field, change, refused] of wrong) {
      const outcome = await family.byMaster('TransferSubAccountBalance', { ...give, ...change })
      t.match(outcome, { refused, details: { field } }, JSON.stringify(change))
    }
    t.strictSame(await family.balance(sub, USDC), ['100', '0'], 'nothing else moved')
    t.ok((await family.bySub('CreateOrder', order('BUY', '0.01', '500'))).orderId, 'what was given may be traded with')
  })

  t.test(`${name}: orders of a sub-account spend the master's balance, inside the limit`, async (t) => {
    await farFromMidnight()
    const family = await Family.make(t, call)
    const { subAccountId, sub, master } = family
    const seller = await newUser(call)
    t.match(await family.bySub('CreateOrder', funded('0.1')), EXCEEDED, 'without a limit nothing')
    const target = { subAccountId, assetId: USDC }
    const { limit } = await family.byMaster('CreateSubAccountLimit', { ...target, maxAmount: '1000.0', dailyLimit: '1500' })
    t.match(limit, { ...target, maxAmount: '1000', dailyLimit: '1500', usedToday: '0', outstanding: '0', isActive: true })
    t.match(await family.byMaster('CreateOrder', funded('0.1')), { refused: 'NOT_SUB_ACCOUNT' })
    const { orderId } = await family.bySub('CreateOrder', funded('0.4', '1990'))
    t.match(await family.bySub('GetOrder', { orderId }), { useMasterBalance: true, status: 'SUBMITTED', userId: subAccountId })
    t.match(await family.byMaster('GetOrder', { orderId }), { refused: 'ORDER_NOT_FOUND' }, 'it is the sub-account\'s order')
    t.strictSame(await family.balance(master, USDC), ['9204', '796'], 'held of the master')
    t.strictSame(await family.balance(sub, USDC), ['0', '0'])
    t.match(await family.limit(), { outstanding: '796', usedToday: '0' })
    t.match(await family.bySub('CreateOrder', funded('0.2')), EXCEEDED, 'more than may be outstanding')
    const batch = await family.bySub('BatchCreateOrders', { orders: [funded('0.2'), funded('0.001', '1900')] })
    t.match(batch['results'], [{ error: { code: 'SUB_ACCOUNT_LIMIT_EXCEEDED' } }, { orderId: /./ }], 'item by item')
    t.match(await family.bySub('CancelOrder', { orderId: batch['results'][1].orderId }), { status: 'SUCCESS' })
    t.match(await family.bySub('CreateOrder', order('BUY', '0.001')), { refused: 'INSUFFICIENT_BALANCE' }, 'of its own it has nothing')
    const replaced = await family.bySub('ReplaceOrder', { orderId, useMasterBalance: false })
    t.match(replaced, { refused: 'INSUFFICIENT_BALANCE' })

    await call('CreateOrder', { ...order('SELL', '0.4', '1990'), timeInForce: 'IOC' }, seller.session)
    t.match(await family.bySub('GetOrder', { orderId }), { status: 'FILLED', useMasterBalance: true })
    t.match(await family.limit(), { outstanding: '0', usedToday: '796' })
    t.strictSame(await family.balance(master, ETH), ['10.4', '0'], 'what was bought is the master\'s')
    t.strictSame(await family.balance(sub, ETH), ['0', '0'])
    t.match(await family.bySub('CreateOrder', funded('0.4', '1800')), EXCEEDED, 'more than the day has left')
    const rest = await family.bySub('CreateOrder', funded('0.3', '1800'))
    t.ok(rest['orderId'])
    const lower = await family.byMaster('UpdateSubAccountLimit', { ...target, maxAmount: '100' })
    t.match(lower, { limit: { id: limit.id, dailyLimit: '1500' } })
    t.match(await family.limit(), { maxAmount: '100', outstanding: '540' }, 'what rests stays')
    const both = await family.byMaster('UpdateSubAccountLimit', { ...target, dailyLimit: '1', noDailyLimit: true })
    t.match(both, { refused: 'VALIDATION_ERROR', details: { field: 'noDailyLimit' } })
    const kept = await family.byMaster('UpdateSubAccountLimit', { ...target, dailyLimit: null, noDailyLimit: false })
    t.match(kept, { limit: { dailyLimit: '1500' } }, 'neither null nor false takes the daily limit away')
    const endless = await family.byMaster('UpdateSubAccountLimit', { ...target, noDailyLimit: true })
    t.match(endless, { limit: { id: limit.id, maxAmount: '100', isActive: true } }, 'the rest of the limit stays')
    t.equal(endless['limit'].dailyLimit ?? null, null)
    const whole = await family.byMaster('UpdateSubAccountLimit', { ...target, maxAmount: '5000' })
    t.equal(whole['limit'].dailyLimit ?? null, null, 'a later change of something else keeps it so')
    const beyond = await family.bySub('CreateOrder', funded('1', '1800'))
    t.ok(beyond['orderId'], 'more than the 1500 of before in one day')
    t.match(await family.bySub('CancelOrder', { orderId: beyond['orderId'] }), { status: 'SUCCESS' })
    const again1500 = { ...target, maxAmount: '100', dailyLimit: '1500', noDailyLimit: false }
    const bounded = await family.byMaster('UpdateSubAccountLimit', again1500)
    t.match(bounded, { limit: { maxAmount: '100', dailyLimit: '1500' } })
    t.match(await family.bySub('CreateOrder', funded('0.001', '1800')), EXCEEDED)
    t.match(await family.bySub('CancelOrder', { orderId: rest['orderId'] }), { status: 'SUCCESS' })
    const off = await family.byMaster('UpdateSubAccountLimit', { ...target, isActive: false })
    t.match(off, { limit: { isActive: false, maxAmount: '100' } })
    t.match(await family.bySub('CreateOrder', funded('0.001', '1800')), EXCEEDED, 'switched off')
    t.strictSame(await family.byMaster('DeleteSubAccountLimit', target), { deleted: true })
    t.equal(await family.limit(), undefined)
    const again = await family.byMaster('CreateSubAccountLimit', { ...target, maxAmount: '1000' })
    t.not(again['limit'].id, limit.id, 'another limit')
    t.match(again['limit'], { usedToday: '796' }, 'but what was spent today was spent')
    t.equal(again['limit'].dailyLimit ?? null, null)
  })

  t.test(`${name}: an agent of a sub-account spends the master's balance where both allow it`, async (t) => {
    const family = await Family.make(t, call)
    const { subAccountId, sub, master } = family
    const agent = newWallet()
    const grant = { agentAddress: agent.wallet.address, allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [pair['id']] }
    const { id: agentId } = await family.bySub('UpsertDelegatedAgent', { ...grant, maxOrderNotional: '120' })
    t.match(await signInFor(call, sub.wallet.address, agent), { agentId, userId: subAccountId })
    t.match(await call('CreateOrder', funded('0.1', '1000'), agent.session), EXCEEDED, 'the master allows nothing')
    await family.byMaster('CreateSubAccountLimit', { subAccountId, assetId: USDC, maxAmount: '150' })
    const large = await call('CreateOrder', funded('0.13', '1000'), agent.session)
    t.match(large, { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'NOTIONAL' } }, 'the sub-account allows less')
    const { orderId }: Json = await call('CreateOrder', funded('0.1', '1000'), agent.session)
    t.strictSame(await family.balance(master, USDC), ['9900', '100'])
    t.match(await call('CreateOrder', funded('0.1', '1000'), agent.session), EXCEEDED)
    t.match(await family.byMaster('RevokeDelegatedAgent', { agentId }), { refused: 'NOT_FOUND' }, 'it is the sub-account\'s agent')
    t.strictSame(await family.bySub('RevokeDelegatedAgent', { agentId }), { revoked: true, ordersCancelled: 1 })
    const ended = await family.bySub('GetOrder', { orderId })
    t.match(ended, { status: 'CANCELLED', terminalReason: 'DELEGATION_REVOKED', useMasterBalance: true })
    t.strictSame(await family.balance(master, USDC), ['10000', '0'], 'what was held is the master\'s again')
    t.strictSame(await family.balance(sub, USDC), ['0', '0'])
    t.match(await family.limit(), { outstanding: '0', usedToday: '0' })
  })

  t.test(`${name}: limits that are none`, async (t) => {
    const family = await Family.make(t, call)
    const target = { subAccountId: family.subAccountId, assetId: USDC }
    const wrong: [string, Json, string][] = [
      ['maxAmount', { maxAmount: '-1' }, 'VALIDATION_ERROR'], ['maxAmount', { maxAmount: '-0' }, 'VALIDATION_ERROR'],
      ['maxAmount', { maxAmount: '1.0000001' }, 'VALIDATION_ERROR'], ['maxAmount', { maxAmount: '.5' }, 'VALIDATION_ERROR'],
      ['maxAmount', { maxAmount: '1'.repeat(29) }, 'VALIDATION_ERROR'], ['maxAmount', { maxAmount: '9'.repeat(28) }, 'VALIDATION_ERROR'],
      ['dailyLimit', { dailyLimit: '-1' }, 'VALIDATION_ERROR'], ['dailyLimit', { dailyLimit: '1.0000001' }, 'VALIDATION_ERROR'],
      ['assetId', { assetId: NOTHING }, 'NOT_FOUND'], ['subAccountId', { subAccountId: NOTHING }, 'NOT_FOUND'],
    ]
    for (const [field, change, refused] of wrong) {
      for (const operation of ['CreateSubAccountLimit', 'UpdateSubAccountLimit'] as const) {
        const outcome = await family.byMaster(operation, { ...target, maxAmount: '1', ...change })
        t.match(outcome, { refused, details: { field } }, `${operation} ${JSON.stringify(change)}`)
      }
    }
    t.match(await family.byMaster('UpdateSubAccountLimit', { ...target, maxAmount: '1' }), { refused: 'NOT_FOUND' })
    t.match(await family.byMaster('DeleteSubAccountLimit', target), { refused: 'NOT_FOUND' })
    t.match(await family.byMaster('CreateSubAccountLimit', { ...target, maxAmount: '0' }), { limit: { maxAmount: '0' } }, 'nothing')
    t.match(await family.byMaster('CreateSubAccountLimit', { ...target, maxAmount: '1' }), { refused: 'LIMIT_EXISTS' })
  })
}
