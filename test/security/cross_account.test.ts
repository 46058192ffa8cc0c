/**
 * Promise: somebody else's thing and a missing one are the same. Every operation that takes the id of something owned is called by others
 * with the owner's ids, with ids that never were, and with the owner's ids altered, over both transports: the answers differ in nothing
 * but the id, and nothing of the owner's changes. Page tokens open only the listing they came from, for who asked it. Operations and their
 * fields come from the table, so a new one is tested by existing, and a new kind of id must be said to be somebody's or everybody's.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { TSchema } from 'typebox'
import { formatDecimal, parseDecimal } from '../../core/lib/decimal.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { HANDLERS, type OperationName, TABLE } from '../../gateway/operations/index.ts'
import type { Operation } from '../../gateway/operations/operation.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { consentOf } from '../support/consent.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import {
  NO_AGENT, NO_BUCKET, NO_CONDITIONAL, NO_FOLLOW, NO_MARGIN, NO_ORDER, NO_POSITION, NO_TRADE, NO_TWAP, NO_USER, NO_WITHDRAWAL, sampleInputs,
} from '../support/session_samples.ts'
import { grpcTransport, newWallet, restTransport, signIn, type Json, type Transport } from '../support/transports.ts'

t.setTimeout(600_000)

/** Fields that name something owned, with an id of its kind that never was. */
const OWNED: Record<string, string> = {
  orderId: NO_ORDER, orderIds: NO_ORDER, subAccountId: NO_USER, agentId: NO_AGENT, marginAccountId: NO_MARGIN, riskBucketId: NO_BUCKET,
  positionId: NO_POSITION, allowedMarginAccountIds: NO_MARGIN, conditionalOrderId: NO_CONDITIONAL, twapOrderId: NO_TWAP,
  followId: NO_FOLLOW, withdrawalId: NO_WITHDRAWAL, tradeId: NO_TRADE,
}
/** Fields that name what belongs to everybody, or what the caller only makes up. */
const NOBODYS = new Set([
  'tradingPairId', 'assetId', 'clientOrderId', 'clientTwapId', 'allowedTradingPairIds', 'selectedTradingPairIds', 'launchId', 'ownerId',
])

const directory = temporaryDirectory()
const source = testGenesis({ twapSliceMs: 200 }, true)
const genesisFile = join(directory, 'genesis_of_test.json')
writeFileSync(genesisFile, source)
const genesis = parseGenesis(source)
const flags = ['--genesis', genesisFile, '--gateways', '2', '--sign-in-per-ip', '1000', '--vault', '1', '--price-feed', '1']
const exchange = await startExchange(join(directory, 'data'), flags)
const client = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  client.close()
  await exchange.kill()
  removeDirectory(directory)
})
/** A history that is behind for a moment says so (503); then it is asked again. */
const patient = (transport: Transport): Transport => async (...request) => {
  for (let i = 0; i < 300; i++) {
    const outcome = await transport(...request)
    if ((outcome as Json)['refused'] !== 'HISTORY_UNAVAILABLE') return outcome
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the history never caught up')
}
const TRANSPORTS: Record<string, Transport> = {
  REST: patient(restTransport(exchange.port)), gRPC: patient(grpcTransport(client)),
}
const rest = TRANSPORTS['REST']!

/** Listings may be a moment behind. */
async function eventually(condition: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 300; i++) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

const handlerOf = (name: OperationName): Operation<never> => HANDLERS[name] as unknown as Operation<never>
const propertiesOf = (schema: unknown): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {}

/** Every field an operation takes, also inside the elements of its lists. */
function fieldsOf(name: OperationName): string[] {
  const { params, query, body, items } = handlerOf(name)
  const parts = [params, query, body].flatMap((check) => (check === null ? [] : [check.schema]))
  return [...parts, ...Object.values(items)].flatMap((schema) => Object.keys(propertiesOf(schema)))
}

const must = (outcome: Json): Json => {
  if (outcome['refused'] !== undefined) throw new Error(JSON.stringify(outcome))
  return outcome
}

interface Person {
  readonly name: string
  readonly session: Session
}

async function person(name: string, from = newWallet(), clientId?: string): Promise<Person> {
  await signIn(rest, from, clientId)
  return { name, session: from.session }
}

type Calling = (name: OperationName, input?: Json, by?: Person) => Promise<Json>

/** Two conditional orders of a long position; two TWAP orders that are over, of whose slices none was filled. The ids of one each. */
async function wait(call: Calling, { positionId, markPrice }: Json): Promise<Record<string, string>> {
  const takeProfit = { triggerPrice: String(Math.round(2 * Number(markPrice))), orderType: 'MARKET' }
  await call('AttachTpSl', { positionId, takeProfit })
  const { takeProfitOrderId: conditionalOrderId } = await call('AttachTpSl', { positionId, takeProfit })
  const twap = { tradingPairId: genesis.pairs[0]!.id, side: 'BUY', quantity: '1', durationSeconds: 1 }
  await call('CreateTwapOrder', twap)
  const { twapOrderId } = await call('CreateTwapOrder', twap)
  if (!(await eventually(async () => (await call('ListTwapOrders', { state: ['PENDING', 'ACTIVE'] })).twapOrders.length === 0))) {
    throw new Error('a TWAP order does not end')
  }
  return { conditionalOrderId, twapOrderId }
}

/** Two margin accounts, positions on two perpetuals in a bucket each, and one of each that was closed; the ids of one. */
async function hold(call: Calling, other: Person): Promise<Record<string, string>> {
  const perpetuals = genesis.pairs.filter(({ perp }) => perp !== null).slice(0, 2)
  for (const by of [undefined, other]) {
    const { accounts } = await call('ListMarginAccounts', {}, by)
    await call('DepositCollateral', { marginAccountId: accounts[0].marginAccountId, amount: '5000' }, by)
  }
  const { marginAccountId } = await call('CreateMarginSubAccount', {})
  await call('TransferCollateralToSubAccount', { marginAccountId, amount: '2000' })
  const trade = async (side: string, back: string, inAccount: Json = {}): Promise<void> => {
    for (const { id, tickSize, perp } of perpetuals) {
      const price = formatDecimal(BigInt(perp!.reference) * parseDecimal(tickSize, 8)!, 8)
      const terms = { tradingPairId: id, tradingMode: 'MARGIN', orderType: 'LIMIT', quantity: '0.01', price, leverage: '5' }
      if (!(await eventually(async () => (await call('SimulateParentOrderRisk', { ...terms, tradingMode: undefined, side })).accepted))) {
        throw new Error('no margin order is taken')
      }
      await call('CreateOrder', { ...terms, side: back }, other)
      await call('CreateOrder', { ...terms, side, ...inAccount })
    }
  }
  await trade('BUY', 'SELL')
  await trade('SELL', 'BUY')
  await trade('BUY', 'SELL', { marginAccountId })
  const { positions } = await call('ListPositions')
  const { riskBucketId, positionId } = positions[0]
  const waiting = await wait(call, positions[0])
  return { marginAccountId, allowedMarginAccountIds: marginAccountId, riskBucketId, positionId, ...waiting }
}

/** Two withdrawals whose calldata nobody submits; the id of one. */
async function withdraw(call: Calling): Promise<string> {
  const { assets } = genesis
  const asked: Json = { assetId: assets[0]!.id, amount: '1' }
  if (!(await eventually(async () => (await call('GetProfile')).canWithdraw))) throw new Error('the vault does not come')
  await call('InitiateWithdrawal', asked)
  const { id: withdrawalId } = await call('InitiateWithdrawal', asked)
  const isSigned = async (): Promise<boolean> => (await call('GetWithdrawal', { withdrawalId })).status === 'SIGNED'
  if (!(await eventually(isSigned))) throw new Error('a withdrawal is not signed')
  return withdrawalId
}

/** A user with one of everything that can be owned, and the ids of it. */
async function owner(): Promise<{ person: Person; sub: Person; elsewhere: Person; things: Record<string, string> }> {
  const wallet = newWallet()
  const self = await person('the owner', wallet)
  const other = await person('a trading partner')
  const call = async (name: OperationName, input: Json = {}, by = self): Promise<Json> => must(await rest(name, input, by.session))
  for (const by of [self, other]) for (let i = 0; i < 2; i++) await call('Mint', {}, by)
  const order = { ...sampleInputs(genesis).CreateOrder! }
  for (let i = 0; i < 3; i++) {
    await call('CreateOrder', { ...order, side: 'SELL', price: '90' })
    await call('CreateOrder', { ...order, price: '90' }, other)
  }
  const { orderId } = await call('CreateOrder', order)
  await call('CreateOrder', { ...order, side: 'SELL', quantity: '0.04' }, other)
  await call('CreateOrder', order)
  const margin = await hold(call, other)
  await call('RegisterLeader', { handle: 'partner' }, other)
  const { followId } = await call('CreateFollow', { leader: 'partner', allocation: '100' })
  const withdrawalId = await withdraw(call)
  await historyReached(exchange)
  const { trades } = await call('ListAccountTrades', { pageSize: 1 })
  const subWallet = newWallet()
  const { subAccount } = await call('CreateSubAccount', await consentOf(rest, subWallet.wallet, self.session))
  await call('CreateSubAccountLimit', { subAccountId: subAccount.id, assetId: genesis.assets[0]!.id, maxAmount: '5' })
  const { id: agentId } = await call('UpsertDelegatedAgent', {
    agentAddress: newWallet().wallet.address, allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [genesis.pairs[0]!.id],
  })
  return {
    person: self,
    sub: await person('a sub-account of the owner', subWallet),
    elsewhere: await person("the owner's wallet in another application", newWallet(wallet.wallet), 'other'),
    things: { orderId, orderIds: orderId, subAccountId: subAccount.id, agentId, followId, withdrawalId, tradeId: trades[0].id, ...margin },
  }
}

const world = await owner()
const stranger = await person('a stranger')
must(await rest('Mint', {}, stranger.session))
const OTHERS = [stranger, world.sub, world.elsewhere]

/** All that the owner can see of what is theirs. */
async function seen(): Promise<string> {
  const { session } = world.person
  const { subAccountId, agentId } = world.things
  const reads: [OperationName, Json][] = [
    ['GetProfile', {}], ['ListBalances', {}], ['ListOrders', { status: ['SUBMITTED', 'PARTIALLY_FILLED'] }], ['ListSubAccounts', {}],
    ['ListSubAccountLimits', { subAccountId }], ['GetDelegatedAgent', { agentId }], ['ListDelegatedAgents', {}],
    ['ListConditionalOrders', { state: ['PENDING', 'ARMED'] }], ['ListFollows', {}], ['ListPendingWithdrawals', {}],
  ]
  const collateral = async (): Promise<string[]> => {
    const { accounts } = must(await rest('ListMarginAccounts', {}, session))
    const { positions } = must(await rest('ListPositions', {}, session))
    // Figures move with the mark.
    return [...accounts.map((each: Json) => each['depositedCollateral']), ...positions.map((each: Json) => each['version'])]
  }
  const answers: unknown[] = [await collateral()]
  for (const [name, input] of reads) answers.push(must(await rest(name, input, session)))
  return JSON.stringify(answers)
}

/** The sample of an operation with `id` wherever `field` stands in it. */
function withId(value: unknown, field: string, id: string): unknown {
  if (Array.isArray(value)) return value.map((each) => withId(each, field, id))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) =>
    [key, key === field ? (Array.isArray(each) ? [id] : id) : withId(each, field, id)]))
}

/** The id with one digit changed, at every few places. */
const altered = (id: string): string[] =>
  [...id].flatMap((digit, at) => (digit === '-' || at % 5 !== 3 ? [] : [id.slice(0, at) + (digit === '7' ? '8' : '7') + id.slice(at + 1)]))

const SESSION_ROWS = (Object.entries(TABLE) as [OperationName, Row][]).filter(([, row]) => row.access === 'session')

/** An outcome without the id it repeats, and without `asOf`, which a listing has only while the history is behind. */
const told = (outcome: Json, id: string): string =>
  JSON.stringify(outcome, (field, value: unknown) => (field === 'asOf' ? undefined : value)).replaceAll(id, '<id>')

t.test('every id is somebody\'s or everybody\'s', async (t) => {
  for (const [name] of SESSION_ROWS) {
    for (const field of fieldsOf(name).filter((each) => /Ids?$/.test(each))) t.ok(field in OWNED || NOBODYS.has(field), `${name}: ${field}`)
  }
  for (const field of Object.keys(OWNED)) {
    t.ok(SESSION_ROWS.some(([name]) => fieldsOf(name).includes(field)), `${field} is taken by an operation`)
  }
})

/** An order that may name a margin account or a risk bucket. */
const marginOrder = (): Json => ({
  tradingPairId: genesis.pairs.find(({ perp }) => perp !== null)!.id, tradingMode: 'MARGIN', orderType: 'LIMIT', side: 'BUY',
  quantity: '0.01', price: '1000', leverage: '5',
})

/** The sample of an operation with this id; it may lack the field, where that is optional. */
function inputWith(name: OperationName, field: string, id: string): Json {
  const named = { ...marginOrder(), [field]: id }
  if (name === 'CreateOrder') return named
  if (name === 'BatchCreateOrders') return { orders: [named] }
  // It goes with no other filter.
  if (field === 'tradeId') return { tradeId: id, proof: true }
  const sample = { ...sampleInputs(genesis)[name] }
  if (!JSON.stringify(sample).includes(`"${field}"`)) sample[field] = field.endsWith('Ids') ? [id] : id
  return withId(sample, field, id) as Json
}

async function asOthers(t: Test, transport: Transport, name: OperationName, field: string): Promise<void> {
  const theirs = world.things[field]!
  const missing = OWNED[field]!
  for (const { name: who, session } of OTHERS) {
    const attempt = async (id: string): Promise<Json> => transport(name, inputWith(name, field, id), session)
    const none = await attempt(missing)
    t.equal(told(await attempt(theirs), theirs), told(none, missing), `${who}: as if it did not exist`)
    for (const id of altered(theirs)) {
      const outcome = await attempt(id)
      if (told(outcome, id) === told(none, missing)) continue
      // No id at all, or an element of a batch that is none.
      if (!/"VALIDATION_ERROR"|MASTER_ONLY/.test(JSON.stringify(outcome))) t.fail(`${who} with ${id}: ${JSON.stringify(outcome)}`)
    }
  }
}

for (const [way, transport] of Object.entries(TRANSPORTS)) {
  for (const [name] of SESSION_ROWS) {
    for (const field of new Set(fieldsOf(name).filter((each) => each in OWNED))) {
      t.test(`${name} over ${way}: ${field} of another user is a missing one`, async (t) => {
        const before = await seen()
        await asOthers(t, transport, name, field)
        t.equal(await seen(), before, 'nothing of the owner changed')
        if (TABLE[name].method !== 'GET') return
        const { session } = world.person
        const asOwner = async (id: string): Promise<string> => told(await transport(name, inputWith(name, field, id), session), id)
        const none = await asOwner(OWNED[field]!)
        t.ok(await eventually(async () => (await asOwner(world.things[field]!)) !== none), 'the owner is served')
      })
    }
  }
}

/**
 * Listings of what this test cannot have two of: funding is paid each hour (test/e2e/funding_listings.test.ts), who follows has no
 * followers, and his follows are not over (test/wire/copy_trading.test.ts).
 */
const SCARCE: readonly OperationName[] = ['ListFundingRates', 'ListFundingPayments', 'ListMyFollowers', 'ListFollows']

const isListing = (name: OperationName): boolean => 'pageToken' in propertiesOf(handlerOf(name).query?.schema)
const LISTINGS = (Object.keys(TABLE) as OperationName[])
  .filter((name) => isListing(name) && TABLE[name].access !== 'server-key' && !SCARCE.includes(name))
/** What listings cannot do without. */
const inputOf = (name: OperationName): Json =>
  name === 'ListTrades' ? { tradingPairId: genesis.pairs[0]!.id }
    : name === 'ListTwapSlices' ? { twapOrderId: world.things['twapOrderId'] } : {}

/** A value for a filter that was not set. */
function filterValue(field: string, schema: TSchema): unknown {
  if (/Id$/.test(field)) return field in OWNED ? world.things[field]! : field === 'assetId' ? genesis.assets[0]!.id : genesis.pairs[1]!.id
  if (/Time$|since/.test(field)) return '2024-01-01T00:00:00.000Z'
  if (field === 'orderBy') return 'DESC'
  if ((schema as { type?: string }).type === 'boolean') return true
  const literals = JSON.stringify(schema).match(/"const":"(\w+)"/)
  const value = literals === null ? 'label' : literals[1]!
  return (schema as { type?: string }).type === 'array' ? [value] : value
}

t.test('page tokens open the listing they came from, to who asked it', async (t) => {
  const { session } = world.person
  for (const [way, transport] of Object.entries(TRANSPORTS)) {
    const tokens = new Map<OperationName, string>()
    for (const name of LISTINGS) {
      let nextPageToken = ''
      const found = await eventually(async () => {
        nextPageToken = must(await transport(name, { ...inputOf(name), pageToken: '', pageSize: 1 }, session))['nextPageToken']
        return nextPageToken !== ''
      })
      t.ok(found, `${name} has a second page`)
      tokens.set(name, nextPageToken)
    }
    const refused = async (what: string, name: OperationName, input: Json, by: Session): Promise<void> => {
      const outcome = await transport(name, input, by)
      t.match(outcome, { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } }, `${name} over ${way}: ${what}`)
    }
    for (const [name, pageToken] of tokens) {
      const input = { ...inputOf(name), pageToken, pageSize: 1 }
      t.equal((await transport(name, input, session))['refused'], undefined, 'it goes on')
      if (TABLE[name].access === 'session') for (const { name: who, session: by } of OTHERS) await refused(`by ${who}`, name, input, by)
      for (const other of LISTINGS) {
        if (other !== name) await refused(`a token of ${name}`, other, { ...inputOf(other), pageToken, pageSize: 1 }, session)
      }
      for (const [field, schema] of Object.entries(propertiesOf(handlerOf(name).query!.schema))) {
        if (['page', 'pageSize', 'pageToken'].includes(field)) continue
        await refused(`with another ${field}`, name, { ...input, [field]: filterValue(field, schema) }, session)
      }
      for (const at of [0, 20, 39]) {
        const digit = pageToken[at] === 'A' ? 'B' : 'A'
        await refused('altered', name, { ...input, pageToken: pageToken.slice(0, at) + digit + pageToken.slice(at + 1) }, session)
      }
    }
  }
})
