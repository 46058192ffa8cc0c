/**
 * Promise: ClaimLease over the wire, the same over REST and gRPC: the maker claims and renews; a second process of the same wallet, with
 * a session and an owner id of its own, fences the first one out of single orders, replacements and batches alike, and its stale claim
 * is told the generation that there is. Others, delegated agents and malformed inputs are refused by name.
 */
import t, { type Test } from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { parseId, IdKind } from '../../core/layout/ids.ts'
import { LaunchPhase, SET_LAUNCH_COMMAND } from '../../core/layout/launches.ts'
import { RESULT } from '../../core/layout/event.ts'
import { delegate, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { sampleOrder } from '../support/session_samples.ts'
import { grpcTransport, restTransport, type Json, type Transport } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: rest, gRPC: grpcTransport(client) }
const LEASE = 60_000
const order = sampleOrder(harness.genesis)

/** A launch on the first pair whose maker is who holds the session; the one before it ends. */
async function launch(launchId: string, maker: Session, before: string): Promise<void> {
  const id = parseId(IdKind.USER, (await rest('GetProfile', {}, maker) as Json)['id'])!
  const hex = (text: string): string => Buffer.from(text).toString('hex').padEnd(80, '0')
  const terms = {
    session: -1, pair: 0, account: id.slot, createdSequence: id.sequence, phase: LaunchPhase.LIVE, leaseMs: LEASE, generation: 3, isNew: 1,
    launchId: hex(launchId),
  }
  const same = { ...terms, pair: -1, account: -1, phase: LaunchPhase.ENDED, leaseMs: -1, isNew: 0, launchId: hex(before) }
  for (const values of [...(before === '' ? [] : [same]), terms]) {
    const said = await harness.operate(CommandType.SET_LAUNCH, SET_LAUNCH_COMMAND, values)
    if (said[RESULT.at.code] !== 0) throw new Error(`SET_LAUNCH: ${said[RESULT.at.code]}`)
  }
}

/** Two sessions of one wallet that has funds. */
async function processes(): Promise<[Session, Session]> {
  const first = await harness.openSession()
  await rest('Mint', {}, first)
  return [first, await harness.openSession(0, first.address)]
}

let before = ''
for (const [way, call] of Object.entries(TRANSPORTS)) {
  t.test(`${way}: a second process of the maker fences the first one out`, async (t) => {
    const [first, second] = await processes()
    const launchId = `launch-${way}`
    await launch(launchId, first, before)
    before = launchId
    const claim = (by: Session, ownerId: string, expectedGeneration: string): Promise<Json> =>
      call('ClaimLease', { launchId, ownerId, expectedGeneration }, by)
    const { orderId } = await call('CreateOrder', order, first) as Json
    t.ok(orderId, 'before the first claim orders are taken')
    const claimed = await claim(first, 'process-1', '3')
    t.match(claimed, { launchId, ownerId: 'process-1', generation: '4', quoteRevision: '2', refreshIntervalMs: LEASE / 3, phase: 'LIVE' })
    t.ok(Math.abs(Date.parse(claimed['expiresAt']) - Date.now() - LEASE) < 30_000)
    t.match(await claim(first, 'process-1', '4'), { generation: '4', quoteRevision: '2' }, 'renewed')
    t.ok((await call('CreateOrder', order, first) as Json)['orderId'])

    t.match(await claim(second, 'process-2', '4'), { ownerId: 'process-2', generation: '5', quoteRevision: '3' })
    await fencedOut(t, call, first, orderId)
    const stale = await claim(first, 'process-1', '4')
    t.match(stale, { refused: 'LEASE_CONFLICT', message: /generation 5/, details: { generation: '5' } })
    t.ok((await call('CreateOrder', order, second) as Json)['orderId'], 'the second one quotes')
    t.match(await call('CancelOrder', { orderId }, first), { status: 'SUCCESS' }, 'cancels are always taken')
  })

  t.test(`${way}: who may claim, and with what`, async (t) => {
    const [maker, other] = [(await processes())[0], await harness.openSession()]
    const launchId = `who-${way}`
    await launch(launchId, maker, before)
    before = launchId
    const input = { launchId, ownerId: 'process-1', expectedGeneration: '3' }
    t.match(await call('ClaimLease', input, other), { refused: 'PERMISSION_DENIED', message: 'Not the configured maker of this launch' })
    t.match(await call('ClaimLease', { ...input, launchId: 'nobody' }, maker), { refused: 'NOT_FOUND' })
    const agent = await delegate(harness, maker)
    t.match(await call('ClaimLease', input, agent.session), { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'OPERATION' } })
    for (const [field, values] of Object.entries({
      ownerId: ['', 'a b', 'x'.repeat(65), '\u00e4'], expectedGeneration: ['', '-1', '01', '1.5', '1e3', '9'.repeat(15), 'x'],
    })) {
      for (const value of values) {
        const outcome = await call('ClaimLease', { ...input, [field]: value }, maker)
        t.match(outcome, { refused: 'VALIDATION_ERROR', details: { field } }, `${field} ${value}`)
      }
    }
    const long = await call('ClaimLease', { ...input, launchId: 'x'.repeat(41) }, maker)
    t.match(long, { refused: 'VALIDATION_ERROR', details: { field: 'launchId' } })
    t.match(await call('ClaimLease', { ...input, ownerId: 'x'.repeat(64) }, maker), { generation: '4' }, 'and then it is done')
  })
}

/** Orders of every kind, from the session that lost the lease. */
async function fencedOut(t: Test, call: Transport, session: Session, orderId: string): Promise<void> {
  t.match(await call('CreateOrder', order, session), { refused: 'LEASE_LOST' })
  t.match(await call('ReplaceOrder', { orderId, price: '101' }, session), { refused: 'LEASE_LOST' })
  const batch = await call('BatchCreateOrders', { orders: [order, order] }, session) as Json
  t.match(batch, { totalFailed: 2, results: [{ error: { code: 'LEASE_LOST' } }, { error: { code: 'LEASE_LOST' } }] })
  const moved = await call('BatchReplaceOrders', { orders: [{ orderId, price: '101' }] }, session) as Json
  t.match(moved, { totalFailed: 1, results: [{ error: { code: 'LEASE_LOST' } }] })
  const twap = { tradingPairId: order['tradingPairId'], side: 'BUY', quantity: '0.1', durationSeconds: 600 }
  t.match(await call('CreateTwapOrder', twap, session), { refused: 'LEASE_LOST' })
}
