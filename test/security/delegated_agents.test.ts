/**
 * Promise: what only an owner may do is refused to every agent, whatever it was granted, over every protocol and transport and without an
 * effect; what a grant decides is refused to an agent without the grant. Agents and sub-accounts of others are as if they did not exist.
 * The operations come from the table, so a new one is tested by existing.
 */
import { generateKeyPairSync } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { CommandType, OPEN_DELEGATED_SESSION_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import { makeSubAccount, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, detailsOf, schema, typeOf } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { messageSigned } from '../support/message_signature.ts'
import { NO_AGENT, NO_USER, sampleInputs, sampleOrder, sessionSamples } from '../support/session_samples.ts'
import { grpcTransport, messageOf, restTransport, type Json, type Outcome, type Transport } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = {
  'REST': rest,
  'RFC 9421': restTransport(harness.port, messageSigned),
  'gRPC': grpcTransport(client),
}

/** A session of `agent` for `owner`'s account, opened as the sign-in thread would have it opened. */
async function openAsAgent(owner: Session, agent: string): Promise<Session> {
  const { privateKey, publicKey: key } = generateKeyPairSync('ed25519')
  const publicKey = key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const values = { session: -1, application: 0, owner: owner.address.slice(2), agent: agent.slice(2), publicKey }
  const record = await harness.operate(CommandType.OPEN_DELEGATED_SESSION, OPEN_DELEGATED_SESSION_COMMAND, values)
  if (record[RESULT.at.code] !== 0) throw new Error(`open delegated session: ${record[RESULT.at.code]}`)
  return { publicKey, privateKey, address: agent, row: record[RESULT.at.detail]!, generation: record[RESULT.at.detail2]! }
}

const ACTIONS = ['CREATE_ORDER', 'CANCEL_ORDER', 'REPLACE_ORDER', 'CLOSE_POSITION']
const everyPair = harness.genesis.pairs.map(({ id }) => id)
const grant = (byte: string, allowedActions: readonly string[], allowedTradingPairIds = everyPair): Json =>
  ({ agentAddress: `0x${byte.repeat(20)}`, allowedActions, allowedTradingPairIds })

const [owner, other] = [await harness.openSession(), await harness.openSession()]
for (const each of [owner, other]) await rest('Mint', {}, each)
const mine: Json = await rest('UpsertDelegatedAgent', grant('a1', ACTIONS), owner)
const idle: Json = await rest('UpsertDelegatedAgent', grant('a2', ['CLOSE_POSITION']), owner)
const agent = await openAsAgent(owner, mine['agentAddress'])
const idler = await openAsAgent(owner, idle['agentAddress'])

const samples = sessionSamples(harness.genesis)
const isRefused = ({ refused }: Outcome): boolean => refused === 'AGENT_NOT_ALLOWED'

for (const [transport, call] of Object.entries(TRANSPORTS)) {
  t.test(`${transport}: what only the owner may do`, async (t) => {
    const before = harness.lastSequence()
    const rows = samples.filter(({ row }) => row.agent === 'no')
    t.ok(rows.length >= 12, `${rows.length} operations`)
    for (const { name, input } of rows) {
      const outcome = await call(name, input, agent)
      t.match(outcome, { refused: 'AGENT_NOT_ALLOWED', details: { grant: 'OPERATION' } }, name)
    }
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  })

  t.test(`${transport}: what a grant decides, and what every agent may`, async (t) => {
    const { orderId }: Json = await call('CreateOrder', sampleOrder(harness.genesis), owner)
    const { twapOrderId }: Json = await call('CreateTwapOrder', samples.find(({ name }) => name === 'CreateTwapOrder')!.input, owner)
    for (const { name, row, input } of samples) {
      if (row.agent !== 'grant' && row.agent !== 'yes') continue
      // What ends the session comes last.
      if (name === 'Revoke') continue
      const named = 'orderId' in input ? { ...input, orderId } : 'orderIds' in input ? { orderIds: [orderId] }
        : 'twapOrderId' in input ? { ...input, twapOrderId } : input
      const orders = name === 'BatchReplaceOrders' ? { orders: [{ orderId, price: '101' }] } : {}
      const outcome: Json = await call(name, { ...named, ...orders }, idler)
      const refused = isRefused(outcome) || outcome['results']?.[0]?.error?.code === 'AGENT_NOT_ALLOWED'
      // There is no position, and no conditional order.
      const missing = ['ClosePosition', 'AttachTpSl', 'CancelConditionalOrder'].includes(name)
      t.equal(refused, row.agent === 'grant' && !missing, `${name}: ${JSON.stringify(outcome)}`)
    }
    t.match(await call('GetOrder', { orderId }, owner), { status: 'SUBMITTED', price: '100' }, 'and the owner\'s order is as it was')
    t.match(await call('GetTwapOrder', { twapOrderId }, owner), { state: 'ACTIVE' }, 'and so is his TWAP order')
    const session = await openAsAgent(owner, idle['agentAddress'])
    t.strictSame(await call('Revoke', {}, session), { revoked: true }, 'an agent may end its own session')
    t.match(await call('GetProfile', {}, session), { refused: 'SESSION_INVALID' })
  })
}

t.test('actions of an order stream, signed one by one or in a session, are held to the grant', async (t) => {
  const stream = new StreamClient(client)
  const createOrder = messageOf(typeOf('CreateOrderRequest'), sampleOrder(harness.genesis))
  const refusalOf = ({ error }: Json): Json => {
    const type = schema.lookupType('google.rpc.Status')
    return detailsOf(type.encode(type.fromObject(error)).finish())
  }
  const lacking = { reason: 'AGENT_NOT_ALLOWED', details: { grant: 'ACTION' } }
  t.match(refusalOf(await stream.ask({ requestId: 'signed', createOrder } as { requestId: string }, idler)), lacking)
  t.ok((await stream.ask({ requestId: 'open', counter: 1, openSession: {} } as { requestId: string }, idler)).openSession)
  t.match(refusalOf(await stream.ask({ requestId: 'counted', counter: 2, createOrder } as { requestId: string })), lacking)
  t.ok((await stream.ask({ requestId: 'granted', createOrder } as { requestId: string }, agent)).createOrder, 'and what is granted is done')
  stream.call.end()
  t.equal((await stream.ended).code, status.OK)
})

/** The same thing with one digit changed. */
const altered = (id: string): string => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')

t.test('agents of another owner are as if they did not exist', async (t) => {
  for (const [transport, call] of Object.entries(TRANSPORTS)) {
    for (const name of ['GetDelegatedAgent', 'RevokeDelegatedAgent'] as const) {
      const missing = await call(name, { agentId: NO_AGENT }, other)
      t.match(missing, { refused: 'NOT_FOUND' })
      for (const agentId of [mine['id'], altered(mine['id']), NO_USER]) {
        t.strictSame(await call(name, { agentId }, other), missing, `${transport} ${name}`)
      }
    }
    t.strictSame(await call('ListDelegatedAgents', {}, other), { agents: [] })
  }
  t.match(await rest('GetDelegatedAgent', { agentId: mine['id'] }, owner), { isActive: true }, 'and it is as it was')
})

t.test('sub-accounts of another master are as if they did not exist', async (t) => {
  const address = `0x${'b1'.repeat(20)}`
  const mySubAccount = await makeSubAccount(harness, owner, address)
  const sub = await harness.openSession(0, address)
  const { id: ownId }: Json = await rest('GetProfile', {}, other)
  const inputs = sampleInputs(harness.genesis)
  const operations: OperationName[] = [
    'TransferSubAccountBalance', 'CreateSubAccountLimit', 'ListSubAccountLimits', 'UpdateSubAccountLimit', 'DeleteSubAccountLimit',
  ]
  for (const [transport, call] of Object.entries(TRANSPORTS)) {
    for (const name of operations) {
      const missing = await call(name, { ...inputs[name], subAccountId: NO_USER }, other)
      t.match(missing, { refused: 'NOT_FOUND' })
      for (const subAccountId of [mySubAccount, altered(mySubAccount), ownId, mine['id']]) {
        t.strictSame(await call(name, { ...inputs[name], subAccountId }, other), missing, `${transport} ${name} ${subAccountId}`)
      }
      t.match(await call(name, { ...inputs[name], subAccountId: mySubAccount }, sub), { refused: 'MASTER_ONLY' }, name)
    }
    for (const name of ['ListSubAccounts', 'CreateSubAccount'] as const) {
      t.match(await call(name, inputs[name]!, sub), { refused: 'MASTER_ONLY' }, `${transport} ${name}`)
    }
  }
  const { subAccounts }: Json = await rest('ListSubAccounts', {}, owner)
  t.equal(subAccounts.length, 1)
  t.strictSame(await rest('ListSubAccountLimits', { subAccountId: mySubAccount }, owner), { limits: [] })
})
