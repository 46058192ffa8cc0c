/**
 * Promise: a request says what its schema says and nothing else. Two users in the same position make the same calls, one of them with
 * fields that only the service sets, with unknown ones and with keys that mean something to JavaScript: answers and everything stored
 * afterwards are the same. Decimals are decimal text. Nothing that JSON or protobuf can carry makes an operation stumble. Operations and
 * their fields come from the table, so a new one is tested by existing.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { status } from '@grpc/grpc-js'
import type { TSchema } from 'typebox'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { HANDLERS, type OperationName, TABLE } from '../../gateway/operations/index.ts'
import { DECIMAL, type Operation } from '../../gateway/operations/operation.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { makeSubAccount, request, signed, startHarness, testGenesis, type Session, PLACES } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, decodeMessage, encodeMessage, pathOf, typeOf } from '../support/grpc.ts'
import { setIndexPrice } from '../support/margin_stage.ts'
import { sampleInputs } from '../support/session_samples.ts'
import { messageOf, restRequest, restTransport, type Json } from '../support/transports.ts'

t.setTimeout(240_000)

const harness = await startHarness(['--grpc-thread', '1'], testGenesis({}, true))
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const { genesis, port } = harness
harness.giveVault(PLACES, () => null)
const rest = restTransport(port)

const ROWS = (Object.entries(TABLE) as [OperationName, Row][]).filter(([, row]) => row.access === 'session')
const handlerOf = (name: OperationName): Operation<never> => HANDLERS[name] as unknown as Operation<never>
const propertiesOf = (schema: unknown): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {}

/** Fields of the body and of the elements of its lists, with the list they stand in. */
function bodyFields(name: OperationName): { list: string | null; field: string; schema: TSchema }[] {
  const { body, items } = handlerOf(name)
  const own = Object.entries(propertiesOf(body?.schema)).map(([field, schema]) => ({ list: null, field, schema }))
  const inner = Object.entries(items).flatMap(([list, item]) =>
    Object.entries(propertiesOf(item)).map(([field, schema]) => ({ list, field, schema })))
  return [...own, ...inner]
}
const knownFields = (name: OperationName): Set<string> => {
  const { params, query } = handlerOf(name)
  const names = [params, query].flatMap((check) => Object.keys(propertiesOf(check?.schema)))
  return new Set([...names, ...bodyFields(name).map(({ field }) => field)])
}

/** What only the service sets, and what nobody does. */
const SERVER_SET: Json = {
  accountType: 'master', status: 'FILLED', version: 99, isActive: true, usedToday: '-1000000', id: '00000000-0000-4000-8000-000000000000',
  userId: '00000000-0001-8000-8000-0000b1a5e2d7', account: 0, session: 0, generation: 1, sessionGeneration: 1, agent: 0, application: 1,
  canWithdraw: true, masterAccountId: '00000000-0001-8000-8000-0000b1a5e2d7', outstanding: '0', lastResetAt: '2040-01-01T00:00:00.000Z',
  createdAt: '2000-01-01T00:00:00.000Z', updatedAt: '2000-01-01T00:00:00.000Z', filledQuantity: '1000', remainingQuantity: '0', fee: '-5',
  availableBalance: '1000000', lockedBalance: '0', balances: [{ availableBalance: '1000000' }], makerFeeBps: '-10', takerFeeBps: '-10',
  tier: 3, sequence: 1, slot: 0, flags: -1, kind: 8, time: 0, bodyRule: 'ignored', openOrders: 0, admin: true, role: 'operator',
  toString: 'x', hasOwnProperty: 1, valueOf: null, then: 'x', toJSON: 'x', length: 9,
}
/** As text, because an object literal cannot say it. */
const JAVASCRIPT = '"__proto__":{"price":"1","quantity":"7","isActive":true,"amount":"1000"},"constructor":{"prototype":{"quantity":"7"}},'
  + '"prototype":{"side":"SELL"}'

/** The JSON of an object with all of that in it and in the objects of its lists, but for what the operation does take. */
function loaded(name: OperationName, value: Json): string {
  const known = knownFields(name)
  const extras = Object.entries(SERVER_SET).filter(([field]) => !known.has(field))
  const text = JSON.stringify({ ...value, ...Object.fromEntries(extras) }, (_, each: unknown) =>
    Array.isArray(each) && each.some((item) => typeof item === 'object')
      ? each.map((item: Json) => ({ ...item, ...Object.fromEntries(extras.filter(([field]) => field !== 'balances')) }))
      : each)
  return `{${JAVASCRIPT},${text.slice(1)}`
}

interface User {
  readonly session: Session
  /** A session more, for looking when the first is gone. */
  readonly looker: Session
  readonly ids: Json
}

const must = (outcome: Json): Json => {
  if (outcome['refused'] !== undefined) throw new Error(JSON.stringify(outcome))
  return outcome
}

const perpetual = genesis.pairs.find(({ perp }) => perp !== null)!
const marginOrder = {
  tradingPairId: perpetual.id, tradingMode: 'MARGIN', orderType: 'LIMIT', quantity: '0.001', price: '60000', leverage: '20',
}
type Calling = (operation: OperationName, input?: Json) => Promise<Json>

/** Deposits collateral of a user's; the id of the parent margin account. */
async function deposit(call: Calling, amount: string): Promise<string> {
  const { accounts } = await call('ListMarginAccounts')
  const { marginAccountId } = accounts[0]
  await call('DepositCollateral', { marginAccountId, amount })
  return marginAccountId as string
}

/** Who sells to every user. */
const seller = await harness.openSession()
const sell: Calling = async (operation, input = {}) => must(await rest(operation, input, seller))
await sell('Mint')
await deposit(sell, '9000')
await setIndexPrice(harness, perpetual, 60_000)
await sell('CreateOrder', { ...marginOrder, quantity: '2', side: 'SELL' })

/** Whom users follow; does nothing. */
const leader = await harness.openSession()
must(await rest('Mint', {}, leader))
must(await rest('RegisterLeader', { handle: sampleInputs(genesis).CreateFollow!['leader'] }, leader))
const OF_WITHDRAWAL: readonly OperationName[] = ['GetWithdrawal', 'GetWithdrawalCalldata', 'ListPendingWithdrawals']
const OF_FOLLOW: readonly OperationName[] = ['UpdateFollow', 'StopFollow', 'CloseFollowPositions', 'ListLeaderPositions']

/** A margin sub-account with collateral, and a position with more margin than it needs. */
async function hold(call: Calling): Promise<Json> {
  // Fresh for the time of a test.
  await setIndexPrice(harness, perpetual, 60_000)
  await deposit(call, '1000')
  const { marginAccountId } = await call('CreateMarginSubAccount')
  await call('TransferCollateralToSubAccount', { marginAccountId, amount: '100' })
  await call('CreateOrder', { ...marginOrder, side: 'BUY' })
  const { positionId, riskBucketId } = (await call('ListPositions'))['positions'][0]
  await call('TransferCollateralToRiskBucket', { riskBucketId, amount: '10' })
  return { marginAccountId, riskBucketId, positionId }
}

/** A user with funds, an order, a sub-account with a limit, an agent and a position: every user of this is in the same position. */
async function newUser(name: OperationName): Promise<User> {
  const session = await harness.openSession()
  const looker = await harness.openSession(0, session.address)
  const call = async (operation: OperationName, input: Json = {}): Promise<Json> => must(await rest(operation, input, session))
  await call('Mint')
  const { orderId } = await call('CreateOrder', sampleInputs(genesis).CreateOrder)
  const subAccountId = await makeSubAccount(harness, session, `0x${randomBytes(20).toString('hex')}`)
  const limit = { subAccountId, assetId: genesis.assets[0]!.id, maxAmount: '5' }
  if (name !== 'CreateSubAccountLimit') await call('CreateSubAccountLimit', limit)
  const { id } = await call('UpsertDelegatedAgent', {
    agentAddress: `0x${randomBytes(20).toString('hex')}`, allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [genesis.pairs[0]!.id],
  })
  const held = await hold(call)
  const { followId } = OF_FOLLOW.includes(name) ? await call('CreateFollow', sampleInputs(genesis).CreateFollow) : {}
  const { InitiateWithdrawal } = sampleInputs(genesis)
  const { id: withdrawalId } = OF_WITHDRAWAL.includes(name) ? await call('InitiateWithdrawal', InitiateWithdrawal) : {}
  const more = { ...(followId && { followId }), ...(withdrawalId && { withdrawalId }) }
  return { session, looker, ids: { orderId, orderIds: [orderId], subAccountId, agentId: id, ...held, ...more } }
}

/** The sample of an operation about this user's own things, each user with wallets of its own. */
function inputOf(name: OperationName, { ids }: User): Json {
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, key in ids ? ids[key] : replaced(each)]))
  }
  const input = replaced(sampleInputs(genesis)[name]) as Json
  if ('handle' in input) input['handle'] = `user-${randomBytes(6).toString('hex')}`
  for (const field of ['address', 'agentAddress']) if (field in input) input[field] = `0x${randomBytes(20).toString('hex')}`
  return input
}

/** Without ids, sequences, times and wallets, which differ between two users; equal ids stay equal. */
function masked(value: unknown): string {
  const ids = new Map<string, string>()
  return JSON.stringify(value)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `<id ${ids.size}>`)
      return ids.get(id)!
    })
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"|\{"seconds":\d+(,"nanos":\d+)?\}/g, '"time"')
    .replace(/0x[0-9a-fA-F]{40}/g, '<address>')
    .replace(/user-[0-9a-f]{12}/g, '<handle>')
    .replace(/"[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}"/g, '<code>')
    .replace(/"expiresAt":"?\d+"?/g, '"expiresAt"')
    .replace(/"(sequence|nonce)":"?\d+"?/g, '"sequence"')
}

/** Everything the service stores of a user, as far as it shows. */
async function stored({ looker, ids }: User): Promise<string> {
  const reads: [OperationName, Json][] = [
    ['GetProfile', {}], ['ListBalances', { pageSize: 100 }], ['ListOrders', { status: ['SUBMITTED', 'PARTIALLY_FILLED'] }],
    ['GetFaucetInfo', {}], ['ListSubAccounts', {}], ['ListSubAccountLimits', { subAccountId: ids['subAccountId'] }],
    ['ListDelegatedAgents', {}], ['ListMarginAccounts', {}], ['ListRiskBuckets', {}], ['ListPositions', {}],
    ['ListPendingWithdrawals', {}],
  ]
  const answers = []
  for (const [name, input] of reads) answers.push(must(await rest(name, input, looker)))
  return masked(answers)
}

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly field: string | undefined
  readonly json: any
}

/** An operation with exactly this text as its body, or as additions to its query. */
async function overRest(name: OperationName, session: Session, input: Json, text?: string): Promise<Answer> {
  const { method, target, body } = restRequest(TABLE[name], input)
  const sent = text ?? body
  const reply = await request(port, method, target, signed(session, method, target, sent), sent)
  return { status: reply.status, code: reply.json?.code, field: reply.json?.details?.field, json: reply.json }
}

async function overGrpc(
  name: OperationName, session: Session, bytes: Buffer,
): Promise<{ code: status; reason: string | undefined; json: any }> {
  const path = pathOf(name)
  const reply = await client.send(path, bytes, credentialsFor(session, path, bytes), `${name}Response`)
  return { code: reply.code, reason: reply.reason, json: reply.response ?? reply.message }
}
const bytesOf = (name: OperationName, input: Json): Buffer => encodeMessage(`${name}Request`, messageOf(typeOf(`${name}Request`), input))

/** Samples that there is nothing here for: no word of the wallet, no enrollment, no launch, no rewards. */
const NOT_SERVED: Partial<Record<OperationName, number>> =
  { CreateSubAccount: 401, SetBuilderFee: 403, ClaimLease: 404, TransferRewards: 400, GetWithdrawalCalldata: 409 }
/** The specification has it refuse fields that are not its own. */
const STRICT: readonly OperationName[] = ['SetBuilderFee']

for (const [name, row] of ROWS.filter(([name]) => !STRICT.includes(name))) {
  t.test(`${name}: fields that are not its own have no effect`, async (t) => {
    const users: User[] = []
    for (let i = 0; i < 4; i++) users.push(await newUser(name))
    const [plain, extra, called, unknown] = users as [User, User, User, User]
    const inputs = users.map((user) => inputOf(name, user))
    const { bodyRule } = handlerOf(name)
    const outcomes = [await overRest(name, plain.session, inputs[0]!)]
    if (row.method === 'GET') {
      const query = Object.fromEntries(Object.entries(SERVER_SET).filter(([field]) => !knownFields(name).has(field)))
      outcomes.push(await overRest(name, extra.session, { ...inputs[1]!, ...query, __proto__: null, 'constructor[prototype]': '1' }))
    } else if (bodyRule === 'empty') {
      outcomes.push(await overRest(name, extra.session, inputs[1]!))
    } else {
      const { target } = restRequest(row, inputs[1]!)
      const fields = Object.fromEntries(Object.entries(inputs[1]!).filter(([field]) => !row.path.includes(`{${field}}`)))
      t.ok(target.startsWith('/api/v1/'))
      outcomes.push(await overRest(name, extra.session, inputs[1]!, loaded(name, fields)))
    }
    t.equal(masked(outcomes[1]), masked(outcomes[0]), 'the answer over REST')
    const answer = await overGrpc(name, called.session, bytesOf(name, inputs[2]!))
    const untouched = await stored(unknown)
    const other = await overGrpc(name, unknown.session, Buffer.concat([bytesOf(name, inputs[3]!), UNKNOWN_FIELDS]))
    // A term of an order must not be lost, and what takes no body over REST takes no field here.
    const isClosed = row.rate === 'create' || bodyRule === 'empty'
    if (!isClosed) t.equal(masked(other), masked(answer), 'the answer over gRPC')
    else t.match([other.code, other.reason], [status.INVALID_ARGUMENT, 'VALIDATION_ERROR'], 'refused over gRPC')
    const expected = await stored(plain)
    for (const [i, user] of users.entries()) {
      t.equal(await stored(user), isClosed && user === unknown ? untouched : expected, `what is stored of user ${i}`)
    }
  })
}

/** Fields 1000 to 1003 of a message that has none: a number, a text, eight bytes and four. */
const UNKNOWN_FIELDS = Buffer.concat([
  Buffer.from('c03e01', 'hex'), Buffer.from('ca3e06', 'hex'), Buffer.from('MASTER'), Buffer.from('d13e0000000000000000', 'hex'),
  Buffer.from('dd3e00000000', 'hex'),
])

t.test('of a field that comes twice the last one counts, in JSON and in protobuf', async (t) => {
  const user = await newUser('CreateOrder')
  const order = sampleInputs(genesis).CreateOrder!
  const twice = `{"quantity":"999","side":"SELL","price":"1",${JSON.stringify(order).slice(1)}`
  const { json } = await overRest('CreateOrder', user.session, order, twice)
  const record = must(await rest('GetOrder', { orderId: json.orderId }, user.session))
  t.match(record, { quantity: order['quantity'], side: order['side'], price: order['price'] })
  const first = bytesOf('CreateOrder', { ...order, quantity: '999', side: 'SELL' })
  const answer = await overGrpc('CreateOrder', user.session, Buffer.concat([first, bytesOf('CreateOrder', order)]))
  const second = must(await rest('GetOrder', { orderId: answer.json.orderId }, user.session))
  t.match(second, { quantity: order['quantity'], side: order['side'] })
})

t.test('deprecated fields: the side is what side says', async (t) => {
  const user = await newUser('CreateOrder')
  const order = sampleInputs(genesis).CreateOrder!
  const records = []
  for (const fields of [{}, { positionSide: 'LONG' }, { positionSide: 'SHORT' }]) {
    const { orderId } = must(await rest('CreateOrder', { ...order, ...fields }, user.session))
    records.push(masked(must(await rest('GetOrder', { orderId }, user.session))))
  }
  t.equal(records[1], records[0])
  t.equal(records[2], records[0])
})

/** Texts that are no decimal, or more of one than there may be. */
const NO_DECIMALS = [
  '', ' ', '1e3', '1E3', '+1', '.5', '1.', '-1', '01x', '0x10', '1,000', '1 000', ' 1', '1 ', '1\n', '\u00001', '1\u0000', 'NaN',
  'Infinity', '1'.repeat(29), `0.${'1'.repeat(19)}`, `1${'0'.repeat(28)}`, '1e400', '1e-400', '١٢', '１２', '1_000', '1.2.3', '--1', '-',
  'null', 'true', '1n', '\ufeff1', '\u200b1', '½', '²', '1'.repeat(1_000_000),
]
/** What is no text. */
const NO_TEXTS: unknown[] = [1, 0.1, -0, 1e3, true, [], {}, ['1'], { toString: '1' }]

const isDecimal = (schema: TSchema): boolean => {
  const { type, pattern, maxLength } = schema as { type?: string; pattern?: string; maxLength?: number }
  return type === 'string' && (pattern === DECIMAL.source || (pattern === undefined && maxLength === 64))
}

/** The input with `value` in this field, of the first element where it is one of a list's. */
function withField(input: Json, list: string | null, field: string, value: unknown): Json {
  if (list === null) return { ...input, [field]: value }
  const [first, ...others] = input[list] as Json[]
  return { ...input, [list]: [{ ...first, [field]: value }, ...others] }
}

/** The refusal of the request or of its first element. */
function refusalOf(json: any): { code: string | undefined; field: string | undefined } {
  const first = json?.results?.[0]?.error
  return first === undefined || first === null ? { code: json?.code, field: json?.details?.field } : { code: first.code, field: undefined }
}

const DECIMAL_FIELDS = ROWS.flatMap(([name]) =>
  bodyFields(name).filter(({ schema }) => isDecimal(schema)).map((each) => ({ name, ...each })))

async function noDecimal(t: Test, name: OperationName, list: string | null, field: string): Promise<void> {
  const user = await newUser(name)
  const input = inputOf(name, user)
  const before = harness.lastSequence()
  for (const value of [...NO_DECIMALS, ...NO_TEXTS]) {
    const { json } = await overRest(name, user.session, withField(input, list, field, value))
    const { code, field: named } = refusalOf(json)
    if (code === undefined || code === 'INTERNAL') t.fail(`${JSON.stringify(value)?.slice(0, 50)}: ${JSON.stringify(json)}`)
    else if (list === null && named !== field) t.fail(`${JSON.stringify(value).slice(0, 50)} names ${named}`)
  }
  for (const value of NO_DECIMALS) {
    const { code, json } = await overGrpc(name, user.session, bytesOf(name, withField(input, list, field, value)))
    const refused = code === status.INVALID_ARGUMENT || (list !== null && json?.results?.[0]?.error?.code !== undefined)
    if (!refused) t.fail(`over gRPC ${JSON.stringify(value).slice(0, 50)}: ${status[code]} ${JSON.stringify(json)}`)
  }
  t.equal(harness.lastSequence(), before, 'nothing reached the engine')
}

for (const { name, list, field } of DECIMAL_FIELDS) {
  t.test(`${name}: ${list === null ? '' : `${list}.`}${field} is decimal text`, async (t) => noDecimal(t, name, list, field))
}

t.test('every amount of the interface was among them', async (t) => {
  const names = new Set(DECIMAL_FIELDS.map(({ field }) => field))
  for (const field of ['price', 'quantity', 'amount', 'maxAmount', 'dailyLimit']) t.ok(names.has(field), field)
})

/** Values for any field at all. `RAW` ones are JSON text. */
const RAW = [
  '"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\\ufeff"', '-0', '1e400', '-1e400', '9007199254740993', '1e-400',
  '123456789012345678901234567890', `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, `"${'x'.repeat(100_000)}"`, '""', '[null]',
  '[[]]', '{"__proto__":null}', '{"length":4294967296}', '"__proto__"', '"constructor"', 'true', '"%00"', '"../../etc/passwd"', '"\\u202e"',
]

/** Bodies that are no JSON object. */
const NO_OBJECTS = [
  '\ufeff{}', '[]', '"x"', '1', 'null', '{', '{}{}', '{"a":1,}', "{'a':1}", '[['.repeat(1_000_000), '\u0000{}', '{"a":\u0001}',
]

for (const [name] of ROWS.filter(([each]) => bodyFields(each).length > 0)) {
  t.test(`${name}: nothing that JSON can say makes it stumble`, async (t) => {
    const user = await newUser(name)
    const input = inputOf(name, user)
    const { body } = restRequest(TABLE[name], input)
    for (const { list, field } of bodyFields(name)) {
      for (const text of RAW) {
        const marked = JSON.stringify(withField(JSON.parse(body === '' ? '{}' : body) as Json, list, field, '@@@'))
        const answer = await overRest(name, user.session, input, marked.replace('"@@@"', () => text))
        if (answer.status >= 500 || answer.status === 0 || answer.json === null) t.fail(`${field} = ${text.slice(0, 40)}: ${answer.status}`)
      }
    }
    for (const bytes of NO_OBJECTS) {
      const answer = await overRest(name, user.session, input, bytes)
      if (answer.status !== 400) t.fail(`${JSON.stringify(bytes.slice(0, 20))}: ${answer.status} ${JSON.stringify(answer.json)}`)
    }
    // Of another user: some of those values are allowed, and then done.
    const fresh = await newUser(name)
    const served = NOT_SERVED[name] ?? 200
    t.equal((await overRest(name, fresh.session, inputOf(name, fresh))).status, served, 'and as it should be it is served')
  })
}

t.test('a field that is not its own is refused by name, and nothing is changed', async (t) => {
  for (const name of STRICT) {
    const user = await newUser(name)
    const answer = await overRest(name, user.session, { ...inputOf(name, user), payoutAddress: '0x00' })
    t.match(answer, { status: 400, code: 'VALIDATION_ERROR', field: 'payoutAddress' }, name)
  }
})

t.test('no thread stumbled', async (t) => {
  for (const number of [1, 2]) t.equal(gatewayCounters(harness.shared.counters, number)[GATEWAY.unhandled], 0)
  t.ok(decodeMessage('GetProfileResponse', Buffer.alloc(0)) !== null)
})
