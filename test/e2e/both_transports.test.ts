/**
 * Promise: REST and gRPC are one service. The same script of calls, once over REST against one exchange and once over gRPC against
 * another, gets the same answers and the same refusals; ids are computed from sequences, so even they are equal. Only what depends
 * on the wall clock or on the wallet is masked. Every operation of the table is in the script.
 */
import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import protobuf from 'protobufjs'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { REFUSALS, type RefusalCode } from '../../core/engine/refusals.ts'
import { TABLE, type OperationName, type Row } from '../../gateway/operations/table.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { request, signed, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, typeOf } from '../support/grpc.ts'
import { status } from '@grpc/grpc-js'

t.setTimeout(240_000)

type Json = Record<string, any>
/** An answer, or the code and text of a refusal with the status of its transport checked against the register. */
type Outcome = Json | { refused: string; message: string }
type Transport = (name: OperationName, input: Json, session: Session | null) => Promise<Outcome>

function restTransport(exchange: Exchange): Transport {
  return async (name, input, session) => {
    const { method, path, access } = TABLE[name] as Row
    const rest = { ...input }
    let target = path.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = String(rest[field])
      delete rest[field]
      return value
    })
    if (method === 'GET' && Object.keys(rest).length > 0) {
      const pairs = Object.entries(rest).flatMap(([key, value]) => [value].flat().map((each) => [key, String(each)]))
      target += `?${new URLSearchParams(pairs).toString()}`
    }
    const body = method === 'GET' || Object.keys(rest).length === 0 ? '' : JSON.stringify(rest)
    const headers = access === 'session' ? signed(session!, method, target, body) : {}
    const reply = await request(exchange.port, method, target, headers, body)
    if (reply.status === 200) return reply.json
    const code = reply.json.code as RefusalCode
    t.equal(reply.status, REFUSALS[code].http, `${name}: ${code} over HTTP`)
    return { refused: code, message: reply.json.message }
  }
}

const prefixOf = (type: protobuf.Enum): string => `${type.name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}_`
/** Enumerations whose JSON is in lower case. */
const LOWER = new Set(['AccountType', 'TradeRole', 'HealthStatus', 'PortfolioPeriod'])

/**
 * A protobuf message as the JSON it stands for: the enum's prefix off, times as text, absent fields absent. Written apart from the
 * server's.
 */
function jsonOf(type: protobuf.Type, message: Json): Json {
  const json: Json = {}
  for (const field of type.fieldsArray) {
    field.resolve()
    const given = message[field.name]
    const optional = field.options?.['proto3_optional'] === true
    const list = field.repeated
    const absent = given === undefined || given === null || (Array.isArray(given) && !list)
    if (absent && (optional || field.resolvedType instanceof protobuf.Type)) continue
    const one = (value: any): unknown => {
      if (field.resolvedType instanceof protobuf.Enum) {
        const name = String(value).slice(prefixOf(field.resolvedType).length)
        return LOWER.has(field.resolvedType.name) ? name.toLowerCase() : name
      }
      if (!(field.resolvedType instanceof protobuf.Type)) return value
      if (field.resolvedType.name !== 'Timestamp') return jsonOf(field.resolvedType, value)
      return new Date(Number(value.seconds ?? 0) * 1000 + Math.round((value.nanos ?? 0) / 1e6)).toISOString()
    }
    json[field.name] = list ? (given ?? []).map(one) : absent ? field.typeDefault : one(given)
  }
  return json
}

function grpcTransport(port: number): { transport: Transport; close: () => void } {
  const client = connectGrpc(port)
  const transport: Transport = async (name, input, session) => {
    const reply = await client.call(name, messageOf(typeOf(`${name}Request`), input), session)
    if (reply.code === status.OK) return jsonOf(typeOf(`${name}Response`), reply.response)
    const code = reply.reason as RefusalCode
    t.equal(status[reply.code], REFUSALS[code].grpc, `${name}: ${code} over gRPC`)
    t.equal(reply.domain, 'svc')
    return { refused: code, message: reply.message }
  }
  return { transport, close: client.close }
}

/** JSON as the plain object that protobufjs makes a message of. */
function messageOf(type: protobuf.Type, json: Json): Json {
  const message: Json = {}
  for (const [key, value] of Object.entries(json)) {
    const field = type.fields[key]
    if (field === undefined) throw new Error(`${type.name} has no field ${key}`)
    field.resolve()
    const one = (each: any): unknown => {
      if (field.resolvedType instanceof protobuf.Enum) {
        return prefixOf(field.resolvedType) + String(each).toUpperCase()
      }
      if (!(field.resolvedType instanceof protobuf.Type)) return each
      if (field.resolvedType.name !== 'Timestamp') return messageOf(field.resolvedType, each)
      const ms = Date.parse(each)
      return { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 }
    }
    message[key] = field.repeated ? value.map(one) : one(value)
  }
  return message
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** What depends on the clock or the wallet. */
const VOLATILE = ['nonce', 'message', 'address', 'expiresAt', 'unixMs', 'iso', 'version', 'uptime', 'nextPageToken']

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
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, masked(each, name, calledBy)]))
}

interface Trader {
  readonly wallet: PrivateKeyAccount
  readonly session: Session
}

function newTrader(): Trader {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const wallet = privateKeyToAccount(generatePrivateKey())
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  return { wallet, session: { publicKey: key, privateKey, address: wallet.address, row: -1, generation: -1 } }
}

/** The script's calls so far and what they were answered, masked. */
class Script {
  readonly steps: [step: string, outcome: unknown][] = []
  readonly called = new Set<OperationName>()
  readonly maker = newTrader()
  readonly taker = newTrader()
  readonly transport: Transport
  pair = ''
  limit: Json = {}

  constructor(transport: Transport) {
    this.transport = transport
  }

  async call(name: OperationName, input: Json = {}, trader: Trader | null = null): Promise<Json> {
    this.called.add(name)
    const outcome = await this.transport(name, input, trader?.session ?? null)
    this.steps.push([`${name} ${JSON.stringify(masked(input))}`, masked(outcome, '', name)])
    return outcome
  }

  async signIn(trader: Trader): Promise<void> {
    const { wallet, session } = trader
    const key = { address: wallet.address, sessionPublicKey: session.publicKey }
    const { nonce, message } = await this.call('Challenge', { ...key, clientId: 'ringbook' })
    const signature = await wallet.signMessage({ message })
    this.called.add('Verify')
    this.steps.push(['Verify', masked(await this.transport('Verify', { ...key, nonce, signature }, null), '', 'Verify')])
  }
}

async function arrive(script: Script): Promise<void> {
  const { maker, taker } = script
  await script.signIn(maker)
  await script.signIn(taker)
  const { tradingPairs } = await script.call('ListTradingPairs', { pageSize: 100 })
  script.pair = tradingPairs.find((each: Json) => each['symbol'] === 'ETH/USDC').id
  script.limit = { tradingPairId: script.pair, orderType: 'LIMIT', side: 'SELL', quantity: '0.5', price: '2000' }
  await script.call('GetTradingPair', { tradingPairId: script.pair })
  await script.call('GetServerTime')
  await script.call('Check')
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
  const market = { tradingPairId: pair, orderType: 'MARKET', side: 'BUY', quantity: '0.2', slippageToleranceBps: 30 }
  const bought = await script.call('CreateOrder', market, taker)
  await script.call('CreateOrder', { ...limit, side: 'BUY', price: '2000', postOnly: true }, taker)
  const replaced = await script.call('ReplaceOrder', { orderId: first['orderId'], price: '2002', quantity: '0.4' }, maker)
  await script.call('ReplaceOrder', { orderId: first['orderId'], price: '2003' }, maker)
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
  await script.call('Refresh', {}, maker)
  await script.call('Revoke', {}, maker)
  await script.call('GetProfile', {}, maker)
}

async function play(transport: Transport): Promise<Script['steps']> {
  const script = new Script(transport)
  for (const part of [arrive, tradeOneByOne, tradeInBatches, readBack]) await part(script)
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
  const rest = await play(restTransport(await exchangeFor(t)))
  const { transport, close } = grpcTransport((await exchangeFor(t)).grpcPort)
  t.teardown(close)
  const grpc = await play(transport)
  t.equal(grpc.length, rest.length)
  rest.forEach(([step, outcome], index) => t.strictSame(grpc[index]?.[1], outcome, `${index} ${step}`))
})

t.test('one key used at once over both transports executes once', async (t) => {
  const exchange = await exchangeFor(t, ['--gateways', '2'])
  const rest = restTransport(exchange)
  const { transport: grpc, close } = grpcTransport(exchange.grpcPort)
  t.teardown(close)
  const trader = newTrader()
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
