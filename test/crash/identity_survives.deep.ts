/**
 * Promise: who is who survives kill -9. Users in two applications, sub-accounts with limits that are partly spent and held, agents active,
 * narrowed and revoked, their sessions and their orders answer after each restart as they did before, whether a snapshot or the journal
 * brought them back; what had ended stays ended. At the end the whole journal replays to the same state.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verify } from '../../core/replay/verify.ts'
import { listSnapshots } from '../../core/snapshot/file.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import { consentOf } from '../support/consent.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { farFromMidnight } from '../support/midnight.ts'
import { newUser, signIn, signInFor } from '../support/sign_in.ts'
import { newWallet, restTransport, type Json, type Transport, type Wallet } from '../support/transports.ts'

const ROUNDS = 4
t.setTimeout(600_000)

/** Everything made so far whose answers must not change but by what the test does. */
interface World {
  /** Masters, each with a sub-account and agents. */
  readonly masters: Wallet[]
  /** Sessions of every kind that are live ... */
  readonly live: Wallet[]
  /** ... and that have ended. */
  readonly ended: Wallet[]
  readonly subAccountIds: string[]
}

/** One family: a sub-account whose orders fill and rest on its master's balance, an agent that trades and one that is revoked. */
async function raise(call: Transport, world: World, pair: Json, maker: Wallet): Promise<void> {
  const master = await newUser(call)
  const [sub, agent, former, elsewhere] = [newWallet(), newWallet(), newWallet(), newWallet(master.wallet)]
  const does = async (name: OperationName, input: Json, who: Wallet): Promise<Json> => {
    const outcome: Json = await call(name, input, who.session)
    if (outcome['refused'] !== undefined) throw new Error(`${name}: ${outcome['refused']} ${outcome['message']}`)
    return outcome
  }
  await signIn(call, elsewhere, 'other')
  const consent = await consentOf(call, sub.wallet, master.session)
  const { subAccount } = await does('CreateSubAccount', { ...consent, username: 'desk' }, master)
  const target = { subAccountId: subAccount.id, assetId: pair['quoteAssetId'] }
  await signIn(call, sub)
  await does('TransferSubAccountBalance', { ...target, amount: '12.5', direction: 'TO_SUB_ACCOUNT', idempotencyKey: 'gift' }, master)
  await does('CreateSubAccountLimit', { ...target, maxAmount: '1000', dailyLimit: '2000' }, master)
  await does('CreateSubAccountLimit', { ...target, assetId: pair['baseAssetId'], maxAmount: '0.5' }, master)
  const order = { tradingPairId: pair['id'], orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '2000' }
  await does('CreateOrder', { ...order, side: 'SELL' }, maker)
  await does('CreateOrder', { ...order, useMasterBalance: true }, sub)
  await does('CreateOrder', { ...order, price: '1000', useMasterBalance: true }, sub)
  const grant = { allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [pair['id']], maxOrderNotional: '500' }
  for (const who of [agent, former]) {
    const { id } = await does('UpsertDelegatedAgent', { ...grant, agentAddress: who.wallet.address, name: 'bot' }, master)
    await signInFor(call, master.wallet.address, who)
    await does('CreateOrder', { ...order, price: '900' }, who)
    if (who === former) await does('RevokeDelegatedAgent', { agentId: id }, master)
  }
  await does('UpsertDelegatedAgent', { ...grant, agentAddress: agent.wallet.address, maxOpenOrders: 7 }, master)
  const closed = newWallet(master.wallet)
  await signIn(call, closed)
  await does('Revoke', {}, closed)
  world.masters.push(master)
  world.live.push(master, sub, agent, elsewhere)
  world.ended.push(former, closed)
  world.subAccountIds.push(subAccount.id)
}

/** Waits for a snapshot newer than `known`, a minute at most; the newest. */
async function newSnapshot(directory: string, known: number): Promise<number> {
  for (let looks = 0; looks < 1200; looks++) {
    const newest = listSnapshots(directory)[0] ?? 0
    if (newest > known) return newest
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('there is no new snapshot')
}

/** What the exchange says of everybody. */
async function told(call: Transport, { masters, live, ended, subAccountIds }: World): Promise<unknown> {
  const said: [string, unknown][] = []
  const ask = async (name: OperationName, input: Json, { session }: Wallet): Promise<void> => {
    said.push([`${name} ${JSON.stringify(input)}`, await call(name, input, session)])
  }
  for (const who of live) {
    await ask('GetProfile', {}, who)
    await ask('ListBalances', {}, who)
    await ask('ListOrders', { status: ['SUBMITTED'] }, who)
  }
  for (const [index, master] of masters.entries()) {
    await ask('ListSubAccounts', {}, master)
    await ask('ListSubAccountLimits', { subAccountId: subAccountIds[index] }, master)
    await ask('ListDelegatedAgents', {}, master)
  }
  for (const who of ended) await ask('GetProfile', {}, who)
  return said
}

t.test(`${ROUNDS} kills`, async (t) => {
  const directory = temporaryDirectory()
  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, testGenesis())
  const world: World = { masters: [], live: [], ended: [], subAccountIds: [] }
  let before: unknown = null
  let snapshot = 0
  for (let round = 0; round <= ROUNDS; round++) {
    // Every other start has snapshots of what was before; the others replay from the genesis or from an old one.
    const often = round % 2 === 0
    const every = often ? '20' : '1000000'
    const exchange = await startExchange(directory, ['--genesis', genesis, '--snapshot-every', every, '--sign-in-per-ip', '1000'])
    running = exchange
    const call = restTransport(exchange.port)
    if (before !== null) t.strictSame(await told(call, world), before, `kill ${round}: the same answers`)
    if (round === ROUNDS) {
      t.equal(await exchange.stop(), 0, 'orderly stop')
      break
    }
    const { tradingPairs } = await call('ListTradingPairs', { pageSize: 100 }, null) as Json
    await farFromMidnight()
    const maker = await newUser(call)
    await raise(call, world, tradingPairs.find((each: Json) => each['symbol'] === 'ETH/USDC'), maker)
    before = await told(call, world)
    t.match(JSON.stringify(before), /"refused":"SESSION_INVALID"/)
    t.notMatch(JSON.stringify(before), /"refused":"(?!SESSION_INVALID)/, 'nothing else is refused')
    if (often) snapshot = await newSnapshot(directory, snapshot)
    await exchange.kill()
  }
  const { snapshots, commands } = verify(directory, () => undefined)
  t.ok(commands > ROUNDS * 20, `${commands} commands`)
  t.ok(snapshots.length > 0 && snapshots.every(({ verdict }) => verdict === 'ok'), 'every snapshot is what replay gives')
})
