/**
 * Promise: what a user reads of deposits, of the faucet's mints on the chain and of settlement, the same over REST and gRPC and on sockets:
 * deposits as movements with their transaction, filled orders and trades PENDING, SETTLED and SETTLED_ON_CHAIN as batches go, and a proof
 * of a trade that hashes to the root of its batch, for its two sides alone. Engine and history are real; the vault thread is the test.
 */
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { readTradeLeaf } from '../../core/settlement/leaves.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import { PLACES, startHarness, testGenesis, type Harness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { liveHistorian } from '../support/live_history.ts'
import { NO_TRADE, sampleOrder } from '../support/session_samples.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'
import { grpcTransport, restTransport, type Json, type Transport } from '../support/transports.ts'
import { advanceChain, confirmBatch, credit, hashOf, mintOnHub, openBatch } from '../support/withdrawal_records.ts'

t.setTimeout(240_000)
const BALANCE_PROOF = {
  batch: {
    batch: 4, from: 1, through: 9, fills: 2, status: 2, openedAt: 1, confirmedAt: 2, tradesRoot: hashOf('1'), block: 3, txHash: hashOf('2'),
  },
  leaf: '0x0011', place: 5, count: 7, proof: [hashOf('3')], root: hashOf('4'),
}
const live = liveHistorian(() => harness)
/** Balances of a batch are written by the snapshot follower, which no harness has. */
let proven: typeof BALANCE_PROOF | null = null
const harness: Harness = await startHarness(['--grpc-thread', '1'], testGenesis(), (request) => {
  const reply = live(request)
  return request.name === 'balanceProof' && reply !== null ? { id: request.id, answer: proven, sequence: request.atLeast } : reply
})
harness.giveVault(PLACES, () => null)
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: rest, gRPC: grpcTransport(client) }
const { genesis } = harness
const [usdc] = genesis.assets

async function must(by: Transport, name: OperationName, input: Json, session: Session | null): Promise<Json> {
  const answer = await by(name, input, session) as Json
  if ('refused' in answer) throw new Error(`${name}: ${answer['refused']}, ${answer['message']}`)
  return answer
}
async function funded(): Promise<Session> {
  const session = await harness.openSession()
  await must(rest, 'Mint', {}, session)
  return session
}

t.test('a deposit is a movement with its transaction, and a frame of balances', async (t) => {
  const session = await harness.openSession()
  const socket = await SocketClient.open(harness.port)
  t.teardown(() => socket.close())
  await socket.authenticate(signerOf(session))
  await socket.subscribe('balances')
  await advanceChain(harness, 5)
  const txHash = hashOf('a')
  await credit(harness, session.address, usdc!.index, 2_500_001n, 6, txHash)
  const frame = await socket.next(({ type, data }) => type === 'balance_update' && data.assetId === usdc!.id)
  t.match(frame, { reason: 'deposit', data: { availableBalance: '2.500001', lockedBalance: '0', reasons: ['deposit'] } })
  for (const [way, by] of Object.entries(TRANSPORTS)) {
    const { movements } = await must(by, 'ListMovements', { transactionType: 'DEPOSIT' }, session)
    t.match(movements, [{ entryType: 'CREDIT', transactionType: 'DEPOSIT', amount: '2.500001', balanceAfter: '2.500001', txHash }], way)
    t.notOk(movements[0].referenceId, 'it is named by its transaction')
  }
})

t.test("the faucet's mints are shown with the transaction that made them on the chain", async (t) => {
  const session = await harness.openSession()
  const { requestedAt } = await must(rest, 'Mint', { assetId: usdc!.id }, session)
  const shown = async (by: Transport): Promise<unknown> =>
    (await must(by, 'GetFaucetInfo', {}, session))['recentRequests'][0].minted[0].txHash ?? null
  t.equal(await shown(rest), null, 'it waits')
  const txHash = hashOf('e')
  await mintOnHub(harness, usdc!.index, 10_000_000_000n, Date.parse(requestedAt), txHash)
  for (const [way, by] of Object.entries(TRANSPORTS)) t.equal(await shown(by), txHash, way)
})

const order = sampleOrder(genesis)

/** Two users of whom one buys of the other; ids of the orders and of the trade. */
async function trade(maker: Session, taker: Session): Promise<Record<'sold' | 'bought' | 'tradeId', string>> {
  const { orderId: sold } = await must(rest, 'CreateOrder', { ...order, side: 'SELL' }, maker)
  const { orderId: bought } = await must(rest, 'CreateOrder', order, taker)
  const { trades } = await must(rest, 'ListAccountTrades', { pageSize: 1 }, taker)
  return { sold, bought, tradeId: trades[0].id }
}

/** What everybody and both sides read of a trade and its orders. */
async function statuses(by: Transport, maker: Session, taker: Session, ids: Awaited<ReturnType<typeof trade>>): Promise<string[]> {
  const { sold, bought, tradeId } = ids
  const orders = [await must(by, 'GetOrder', { orderId: sold }, maker), await must(by, 'GetOrder', { orderId: bought }, taker)]
  const listed = await must(by, 'ListOrders', { pageSize: 1 }, taker)
  const own = await must(by, 'ListAccountTrades', { pageSize: 1 }, maker)
  return [
    ...[...orders, listed['orders'][0]].map(({ status }) => status), (await must(by, 'GetTrade', { tradeId }, null))['settlementStatus'],
    (await must(by, 'ListTrades', { pageSize: 1 }, null))['trades'][0].settlementStatus, own['trades'][0].settlementStatus,
  ]
}
const ofStatus = async (session: Session, ...status: string[]): Promise<string[]> =>
  (await must(rest, 'ListOrders', { status }, session))['orders'].map(({ orderId }: Json) => orderId)

t.test('settlement, as batches go', async (t) => {
  const [maker, taker] = [await funded(), await funded()]
  const socket = await SocketClient.open(harness.port)
  t.teardown(() => socket.close())
  await socket.authenticate(signerOf(taker))
  await socket.subscribe('orders')
  const ids = await trade(maker, taker)
  await socket.next(({ data }) => data?.eventType === 'OrderFilled')
  const all = async (status: string, tradeStatus: string): Promise<void> => {
    for (const [way, by] of Object.entries(TRANSPORTS)) {
      const expected = [status, status, status, tradeStatus, tradeStatus, tradeStatus]
      t.strictSame(await statuses(by, maker, taker, ids), expected, `${status} over ${way}`)
    }
    for (const each of ['FILLED', 'SETTLED', 'SETTLED_ON_CHAIN']) {
      t.strictSame(await ofStatus(taker, each), each === status ? [ids.bought] : [], `filter ${each}`)
    }
  }
  await all('FILLED', 'PENDING')
  await openBatch(harness, 1)
  await all('SETTLED', 'SETTLED')
  const later = await trade(maker, taker)
  t.strictSame((await statuses(rest, maker, taker, later)).slice(0, 2), ['FILLED', 'FILLED'], 'behind the batch')
  t.strictSame(await ofStatus(taker, 'FILLED', 'SETTLED'), [later.bought, ids.bought])
  await confirmBatch(harness, 1, '5', hashOf('f'))
  t.strictSame(await ofStatus(maker, 'SETTLED_ON_CHAIN'), [ids.sold])
  t.match(await must(rest, 'GetTrade', { tradeId: ids.tradeId }, null), { settlementStatus: 'SETTLED_ON_CHAIN' })
  await told(t, socket, ids.bought)
  await proof(t, maker, taker, ids.tradeId, later.tradeId)
})

/** OrderSettled of the one order, twice, with all of its record, and nothing of the other one. */
async function told(t: Test, socket: SocketClient, orderId: string): Promise<void> {
  await socket.next(({ data }) => data?.eventType === 'OrderSettled' && data.status === 'SETTLED_ON_CHAIN')
  const settled = socket.of('orders').map(({ data }) => data).filter(({ eventType }) => eventType === 'OrderSettled')
  const facts = { orderId, quantity: order['quantity'], filledQuantity: order['quantity'], remainingQuantity: '0', fee: '0', feeRaw: '0' }
  t.match(settled, [{ ...facts, status: 'SETTLED' }, { ...facts, status: 'SETTLED_ON_CHAIN' }])
  t.equal(settled.length, 2)
  t.ok(settled[0].commandSequence < settled[1].commandSequence)
  t.notOk(settled[0].tradeId)
}

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()
const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

/** The root that leaf, place and siblings come to, by the rule that the field says. */
function rootOf({ leaf, index, count, proof: siblings }: Json): string {
  let hash = sha256(Buffer.of(0), bytes(leaf))
  let [at, width, next] = [index, count, 0]
  for (; width > 1; at >>= 1, width = (width + 1) >> 1) {
    if ((at ^ 1) >= width) continue
    const sibling = bytes(siblings[next++])
    hash = (at & 1) === 1 ? sha256(Buffer.of(1), sibling, hash) : sha256(Buffer.of(1), hash, sibling)
  }
  return `0x${hash.toString('hex')}`
}

async function proof(t: Test, maker: Session, taker: Session, tradeId: string, later: string): Promise<void> {
  const stranger = await funded()
  for (const [way, by] of Object.entries(TRANSPORTS)) {
    const read = async (session: Session, id: string, more: Json = { proof: true }): Promise<Json> =>
      must(by, 'ListAccountTrades', { tradeId: id, ...more }, session)
    for (const session of [maker, taker]) {
      const { trades, total } = await read(session, tradeId)
      t.match([trades, total], [[{ id: tradeId, settlementStatus: 'SETTLED_ON_CHAIN' }], 1])
      const { settlement } = trades[0]
      t.match(settlement, { batch: 1, status: 'SETTLED_ON_CHAIN', txHash: hashOf('f') }, way)
      t.equal(rootOf(settlement), settlement.root)
      const profiles = [await must(rest, 'GetProfile', {}, taker), await must(rest, 'GetProfile', {}, maker)]
      t.match(readTradeLeaf(bytes(settlement.leaf)), { pair: order['tradingPairId'], taker: profiles[0]!['id'], maker: profiles[1]!['id'] })
      t.notOk((await read(session, tradeId, {}))['trades'][0].settlement, 'only when it is asked for')
    }
    t.equal((await read(taker, later))['trades'][0].settlement ?? null, null, 'it waits for its batch')
    for (const id of [tradeId, NO_TRADE, '00000000-0000-4000-8000-000000000000']) {
      t.strictSame((await read(stranger, id))['trades'], [], 'nobody else has it')
    }
    t.match(await by('ListAccountTrades', { proof: true }, taker), { refused: 'VALIDATION_ERROR', details: { field: 'proof' } })
    const both = { tradeId, tradingPairId: order['tradingPairId'], proof: true }
    t.match(await by('ListAccountTrades', both, taker), { refused: 'VALIDATION_ERROR', details: { field: 'tradingPairId' } })
  }
}

t.test('the proof of a balance is asked for, and null where there is none', async (t) => {
  const session = await funded()
  for (const [way, by] of Object.entries(TRANSPORTS)) {
    const read = (more: Json): Promise<Json> => must(by, 'GetBalance', { assetId: usdc!.id, ...more }, session)
    proven = null
    t.notOk('settlement' in await read({}), 'not asked for')
    t.equal((await read({ proof: true }))['settlement'] ?? null, null, `${way}: nothing yet`)
    proven = BALANCE_PROOF
    t.match(await read({ proof: true }), {
      availableBalance: '10000',
      settlement: {
        batch: 4, status: 'SETTLED_ON_CHAIN', leaf: '0x0011', index: 5, count: 7, proof: [hashOf('3')], root: hashOf('4'),
        txHash: hashOf('2'),
      },
    }, way)
  }
})
