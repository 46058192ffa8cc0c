/**
 * Promise: accounts that take all they can of the orders and receipts leave room for a newcomer, who signs in, asks the faucet and places a
 * keyed order, after a restart too; an honest trader beside them is never refused, cancels go on, and the operator sees who holds most, a
 * family as one, and ends it. Accounts that open sessions on sockets and streams without end have their share of those. Wallets that fill
 * the accounts with sign-ins and do nothing else give way to a newcomer when their time is over; who has something stays. The whole
 * exchange with small pools.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { OPENINGS_PER_ACCOUNT } from '../../../core/ring/replay_guard.ts'
import { createClient, type Client } from '../../../gateway/client/index.ts'
import { besideAttack } from '../../support/attack.ts'
import { historyReached, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../../support/exchange.ts'
import { connectGrpc, encodeMessage, type GrpcClient } from '../../support/grpc.ts'
import { encodeAction, STREAM, StreamClient } from '../../support/grpc_stream.ts'
import { OrderSocket } from '../../support/order_client.ts'
import type { SocketSigner } from '../../support/sockets.ts'
import { newTrader, pairOf, sodiumSigner, type Trader } from '../../support/traders.ts'

t.setTimeout(900_000)

const POOL = 4096
const ATTACKERS = 8
const BATCHES_MOST = 12
/** Orders of the first attacker's sub-account. */
const BY_SUB = 7

type Holders = { accounts: { userId: string; held: number }[]; families: { userId: string; held: number }[] }

async function ask<T>({ operatorPort, operatorToken }: Exchange, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${operatorPort}${path}`, { headers: { 'x-operator-token': operatorToken } })
  return (await response.json()) as T
}

/** Places keyed orders that rest until some are refused; how many rest, and what the others were told. */
async function takeAll({ client }: Trader, tradingPairId: string): Promise<{ rest: number; refused: string[] }> {
  let rest = 0
  for (let batch = 0; batch < BATCHES_MOST; batch++) {
    const orders = Array.from({ length: 50 }, (_, index) => ({
      tradingPairId, side: 'BUY' as const, orderType: 'LIMIT' as const, quantity: '0.01', price: String(100 + index),
      idempotencyKey: `${batch}-${index}`,
    }))
    const { results } = await client.BatchCreateOrders({ orders })
    const refused = results.flatMap(({ error }) => (error === undefined || error === null ? [] : [String(error.code ?? error)]))
    rest += results.length - refused.length
    if (refused.length > 0) return { rest, refused }
  }
  return { rest, refused: [] }
}

const resting = (tradingPairId: string, price: number) =>
  ({ tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: String(price) }) as const

/** A sub-account of this master, signed in and with funds. */
async function subAccountOf({ baseUrl }: Exchange, { client: master, signer, address }: Trader): Promise<Client> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const client = createClient({ baseUrl, wallet, signer: sodiumSigner() })
  await master.CreateSubAccount(await client.consentTo(address, signer.publicKey))
  await client.signIn()
  await client.Mint()
  return client
}

/** A wallet that was never here trades. */
async function newcomer(t: Test, exchange: Exchange, tradingPairId: string): Promise<void> {
  const { client } = await newTrader(exchange.baseUrl, 1)
  const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '100', idempotencyKey: 'mine' } as const
  const { orderId } = await client.CreateOrder(order)
  t.equal((await client.CreateOrder(order)).orderId, orderId, 'kept under its key')
  t.equal((await client.CancelOrder({ orderId })).status, 'SUCCESS')
}

/** Opens a session on StreamOrders: whether it was opened, or the number of a gRPC status. */
async function openOnStream(grpc: GrpcClient, { signer }: Trader): Promise<'opened' | number> {
  const action = encodeAction({ requestId: 'open', counter: 1, openSession: {} })
  const timestamp = Date.now()
  const text = `POST\n${STREAM}\n${timestamp}\n${createHash('sha256').update(action).digest('hex')}`
  const signature = Buffer.from(await signer.sign(Buffer.from(text))).toString('hex')
  const stream = new StreamClient(grpc)
  stream.call.write(encodeMessage('StreamOrdersRequest', { action, publicKey: signer.publicKey, timestamp, signature }))
  await stream.count(1)
  stream.call.cancel()
  return stream.answers.get('open').error?.code ?? 'opened'
}

/** Accounts that open sessions on sockets without end have their share of what is remembered of openings, on all transports together. */
async function openings(t: Test, exchange: Exchange, attackers: readonly Trader[]): Promise<void> {
  const grpc = connectGrpc(exchange.grpcPort)
  const opened: number[] = []
  const codes = new Set<string>()
  const open = async (trader: Trader): Promise<void> => {
    const socket = await OrderSocket.open(exchange.port, trader.signer as SocketSigner)
    let [done, refused] = [0, 0]
    // Two periods may fall into this; the share of each is OPENINGS_PER_ACCOUNT.
    for (let ask = 0; ask < 4 * OPENINGS_PER_ACCOUNT && refused < 8; ask++) {
      const answer = await socket.openSession(ask)
      if (answer['status'] === 200) done++
      else {
        codes.add(answer['error']?.code ?? JSON.stringify(answer))
        refused++
      }
    }
    socket.close()
    opened.push(done)
  }
  const { attacked } = await besideAttack(t, exchange, { name: 'openings', attack: () => Promise.all(attackers.map(open)) })
  t.same(attacked.refused, {})
  t.same([...codes], ['OVERLOADED'])
  t.ok(opened.every((count) => count >= OPENINGS_PER_ACCOUNT && count <= 2 * OPENINGS_PER_ACCOUNT), `each opened ${opened.join(', ')}`)
  let onStream: 'opened' | number = 'opened'
  for (let ask = 0; ask < 2 * OPENINGS_PER_ACCOUNT && onStream === 'opened'; ask++) onStream = await openOnStream(grpc, attackers[0]!)
  t.equal(onStream, status.UNAVAILABLE, 'nor more on a stream')
  const other = await newTrader(exchange.baseUrl, 0)
  t.equal(await openOnStream(grpc, other), 'opened', 'others open there')
  const socket = await OrderSocket.open(exchange.port, other.signer as SocketSigner)
  t.equal((await socket.openSession()).status, 200, 'and on sockets')
  socket.close()
  grpc.close()
}

/** The genesis of the repository with other limits, in a file. */
function smallGenesis(directory: string, limits: Record<string, number>): string {
  const source = join(import.meta.dirname, '..', '..', '..', 'data', 'genesis', 'genesis.json')
  const genesis = JSON.parse(readFileSync(source, 'utf8')) as { limits: Record<string, number> }
  Object.assign(genesis.limits, limits)
  const path = join(directory, 'genesis.json')
  writeFileSync(path, JSON.stringify(genesis))
  return path
}

t.test('orders and receipts', async (t) => {
  const directory = temporaryDirectory()
  const path = smallGenesis(directory, { orders: POOL, receipts: POOL })
  const flags = ['--genesis', path, '--gateways', '1', '--ws-order-entry', '1']
  let exchange = await startExchange(directory, flags)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const attackers: Trader[] = []
  for (let each = 0; each < ATTACKERS; each++) attackers.push(await newTrader(exchange.baseUrl, 1))
  const tradingPairId = await pairOf(attackers[0]!.client, 'ETH/USDC')
  const taken: number[] = []
  const sub = await subAccountOf(exchange, attackers[0]!)
  for (let order = 0; order < BY_SUB; order++) await sub.CreateOrder(resting(tradingPairId, 120))
  const { attacked } = await besideAttack(t, exchange, {
    name: 'orders and receipts', rate: 40,
    attack: async () => {
      for (const attacker of attackers) {
        const { rest, refused } = await takeAll(attacker, tradingPairId)
        t.ok(refused.length > 0, `${rest} rest, then: ${[...new Set(refused)].join(', ')}`)
        taken.push(rest)
      }
    },
  })
  t.same(attacked.refused, {}, 'whoever trades beside them is never refused')
  t.same(await sub.CreateOrder(resting(tradingPairId, 120)).catch(({ code }) => code), 'TOO_MANY_OPEN_ORDERS', 'a family is one')
  t.same(taken, [...taken].sort((a, b) => b - a), `each gets less than the one before: ${taken.join(' ')}`)
  await newcomer(t, exchange, tradingPairId)
  await openings(t, exchange, attackers.slice(0, 3))
  await exchange.stop()
  // Where the clients of before look for it.
  exchange = await startExchange(directory, [...flags, '--port', String(exchange.port)])
  await newcomer(t, exchange, tradingPairId)

  const { pools } = await ask<{ pools: { pool: string; used: number; capacity: number; share: number | null }[] }>(exchange, '/pools')
  const sum = taken.reduce((all, each) => all + each, BY_SUB)
  t.match(pools.find(({ pool }) => pool === 'orders'), { used: sum, capacity: POOL, share: Number })
  const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  t.match(metrics, new RegExp(`^exchange_pool_used\\{pool="orders"\\} ${sum}$`, 'm'))
  const { accounts, families } = await ask<Holders>(exchange, '/holders?pool=orders&top=3')
  t.same(accounts.map(({ held }) => held), taken.slice(0, 3), 'the largest first')
  t.same(families.map(({ held }) => held), [taken[0]! + BY_SUB, ...taken.slice(1, 3)], 'with what its sub-account holds')
  t.equal(families[0]!.userId, accounts[0]!.userId, 'named by its master')
  const { orderId } = (await sub.ListOrders({ status: ['SUBMITTED'], pageSize: 1 })).orders[0]!
  const { userId } = await sub.GetOrder({ orderId })
  const { json } = await operate(exchange, '/orders/cancel', { userId, family: true, pair: 'ETH/USDC' })
  t.match(json, { cancelled: taken[0]! + BY_SUB, left: 0, accounts: 2 }, 'whoever of the family is named')
  t.match(await sub.GetOrder({ orderId }), { status: 'CANCELLED', terminalReason: 'USER_CANCELLED', cancelledByOperator: true })
  await historyReached(exchange)
  const listed = await attackers[0]!.client.ListOrders({ status: ['CANCELLED'], pageSize: 100, page: 1 })
  t.equal(listed.total, taken[0], 'its history has them')
  t.ok(listed.orders.every(({ cancelledByOperator }) => cancelledByOperator === true), 'and who did it')
  t.same((await ask<Holders>(exchange, '/holders?pool=orders&top=1')).families.map(({ held }) => held), [taken[1]])
  const isLogged = (): boolean => exchange.log.some(({ msg }) => msg === 'orders cancelled by the operator')
  for (let look = 0; look < 500 && !isLogged(); look++) await delay(10)
  t.ok(isLogged(), 'the log says so')
})

const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1').find((path) => existsSync(path))
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => 'done', (error: { code?: string }) => error.code)
const ACCOUNTS = 5

t.test('accounts', { skip: library === undefined ? 'libfaketime is not installed' : false }, async (t) => {
  const directory = temporaryDirectory()
  const file = join(directory, 'wall')
  const environment = {
    LD_PRELOAD: library!, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1',
  }
  const path = smallGenesis(directory, { accounts: ACCOUNTS, sessionLifetimeMs: 3_600_000 })
  const flags = ['--genesis', path, '--gateways', '1', '--chain', '0', '--clock-gap-seconds', '604800']
  writeFileSync(file, '+0d\n')
  let exchange = await startExchange(directory, flags, environment)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const honest = await newTrader(exchange.baseUrl, 1)
  const { id } = await honest.client.GetProfile({})
  const attackers: Trader[] = []
  for (let each = 1; each < ACCOUNTS; each++) attackers.push(await newTrader(exchange.baseUrl, 0))
  const oldest = await attackers[0]!.client.GetProfile({})
  t.equal(await codeOf(newTrader(exchange.baseUrl, 0)), 'OVERLOADED', 'one address signed in until nothing was left')
  t.equal(await codeOf(honest.client.signIn()), 'done', 'who was there signs in')
  await exchange.stop()

  writeFileSync(file, '+2d\n')
  exchange = await startExchange(directory, flags, environment)
  const { pools } = await ask<{ pools: { pool: string; used: number }[] }>(exchange, '/pools')
  t.match(pools.find(({ pool }) => pool === 'accounts'), { used: 1 }, 'all but one may go')
  const comes = await newTrader(exchange.baseUrl, 0)
  await comes.client.syncClock()
  await comes.client.Mint()
  const profile = await comes.client.GetProfile({})
  t.equal(profile.address, comes.address)
  t.not(profile.id, oldest.id, 'a user of its own, whosever row it has')
  t.equal(await codeOf(comes.client.ListBalances({})), 'done')

  const back = createClient({ baseUrl: exchange.baseUrl, wallet: honest.wallet, signer: honest.signer })
  await back.signIn()
  await back.syncClock()
  t.equal((await back.GetProfile({})).id, id, 'who has something is who it was')
  t.ok((await back.ListBalances({})).balances.some(({ totalBalance }) => Number(totalBalance) > 0))
  for (let each = 2; each < ACCOUNTS; each++) await newTrader(exchange.baseUrl, 0)
  t.equal(await codeOf(newTrader(exchange.baseUrl, 0)), 'OVERLOADED', 'those who came now stay for as long')
})
