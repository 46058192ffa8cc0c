/**
 * Promise: a gated request draws its items from the account's budget whichever thread takes it; its answer says what is left; over budget
 * it is refused whole, with the time to wait, and nothing reaches the engine. Mass cancels are never refused. Switched off, it only counts.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { GATEWAY, gatewayCounters, type GatewayCounter } from '../../core/ring/counters.ts'
import { call, makeSubAccount, request, signed, startHarness, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'

const PER_MINUTE = 12
const budgets = ['--rate-create-per-second', '1000', '--rate-create-per-minute', String(PER_MINUTE), '--gateways', '2']
const enforcing = await startHarness([...budgets, '--enforce-rate-limits', '1'])
const measuring = await startHarness(budgets)
t.teardown(() => Promise.all([enforcing.close(), measuring.close()]))

const ORDERS = '/api/v1/orders'
const ORDER_ID = '00000000-0005-8001-8000-00001f2a335e'
const pair = enforcing.genesis.pairs[0]!
const order = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.001', price: '1000' }

const create = (harness: Harness, session: Session): Promise<Reply> => call(harness, session, 'POST', ORDERS, order)
const batch = (harness: Harness, session: Session, items: number): Promise<Reply> =>
  call(harness, session, 'POST', `${ORDERS}/batch-create`, { orders: Array.from({ length: items }, () => order) })
const cancel = (harness: Harness, session: Session): Promise<Reply> => call(harness, session, 'DELETE', `${ORDERS}/${ORDER_ID}`)
const massCancel = (harness: Harness, session: Session): Promise<Reply> => call(harness, session, 'POST', `${ORDERS}/batch-cancel-all`)

/** Two items of a budget that needs no funds and is answered 200. */
const cancelTwice = (harness: Harness, session: Session): Promise<Reply> =>
  call(harness, session, 'POST', `${ORDERS}/batch-cancel`, { orderIds: [ORDER_ID, ORDER_ID] })
const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`

const times = async (count: number, make: () => Promise<Reply>): Promise<Reply[]> => {
  const replies: Reply[] = []
  for (let i = 0; i < count; i++) replies.push(await make())
  return replies
}
const statuses = (replies: Reply[]): number[] => replies.map(({ status }) => status)
const left = ({ headers }: Reply): string => `${headers['x-ratelimit-remaining-second']} ${headers['x-ratelimit-remaining-minute']}`
const minuteOf = (ms: number): number => Math.floor(ms / 60_000)
const counted = (harness: Harness, name: GatewayCounter): number =>
  [1, 2].reduce((sum, gateway) => sum + gatewayCounters(harness.shared.counters, gateway)[GATEWAY[name]]!, 0)
const sequence = (harness: Harness): number => harness.lastSequence()

/** Between when the last body below began and ended, Unix ms. */
let span = { from: 0, to: 0 }

/** What `body` gives for a new account with funds when it begins and ends in one minute of the wall clock. */
async function inOneMinute<T>(harness: Harness, body: (session: Session) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const session = await harness.openSession()
    await call(harness, session, 'POST', '/api/v1/faucet/mint')
    const from = Date.now()
    const result = await body(session)
    span = { from, to: Date.now() }
    if (minuteOf(span.to) === minuteOf(from)) return result
  }
  throw new Error('five times a minute ended meanwhile')
}

/** A refusal of a budget in the last body: envelope, header and details agree, and the wait ends with the minute. */
function isOverBudget(t: Test, reply: Reply): void {
  t.equal(reply.status, 429, reply.text)
  t.match(reply.json, { error: 'RATE_LIMIT_EXCEEDED', code: 'RATE_LIMIT_EXCEEDED', statusCode: 429 })
  const { retryAfter } = reply.json.details
  t.equal(reply.headers['retry-after'], String(retryAfter))
  t.ok(Number.isInteger(retryAfter) && retryAfter >= 1 && retryAfter <= 60, `${retryAfter} s`)
  const end = (minuteOf(span.from) + 1) * 60
  const [least, most] = [Math.floor(end - span.to / 1000), Math.ceil(end - span.from / 1000)]
  t.ok(retryAfter >= least && retryAfter <= most + 1, 'when it may come again, the minute has just ended')
}

t.test('answers tell the budget', async (t) => {
  const replies = await inOneMinute(enforcing, async (session) => [
    await create(enforcing, session), await batch(enforcing, session, 3), await cancel(enforcing, session),
    await massCancel(enforcing, session), await call(enforcing, session, 'GET', '/api/v1/accounts/me'),
    await request(enforcing.port, 'GET', '/api/v1/time'),
  ])
  const [created, batched, cancelled, mass, read, open] = replies as [Reply, Reply, Reply, Reply, Reply, Reply]
  t.same(statuses(replies), [200, 200, 404, 200, 200, 200])
  t.match(created.headers, { 'x-ratelimit-limit-second': '1000', 'x-ratelimit-limit-minute': String(PER_MINUTE) })
  t.equal(left(created), `999 ${PER_MINUTE - 1}`)
  t.ok(left(batched).endsWith(` ${PER_MINUTE - 4}`), 'a batch draws an item for each of its orders')
  t.notMatch(cancelled.headers, { 'x-ratelimit-limit-second': /./ }, 'only successful answers tell it')
  const twice = { 'x-ratelimit-limit-second': '2000', 'x-ratelimit-limit-minute': String(2 * PER_MINUTE) }
  t.match(mass.headers, twice, 'cancels have twice as much')
  t.ok(left(mass).endsWith(` ${2 * PER_MINUTE - 2}`), 'one item for the refused cancel, one for the mass cancel')
  for (const reply of [read, open]) t.equal(left(reply), 'undefined undefined', 'what is not gated tells nothing')
})

t.test('over budget', async (t) => {
  const { replies, applied } = await inOneMinute(enforcing, async (session) => {
    const fits = await times(PER_MINUTE, () => create(enforcing, session))
    const before = sequence(enforcing)
    const over = await create(enforcing, session)
    return { replies: [...fits, over], applied: sequence(enforcing) - before }
  })
  t.same(statuses(replies), [...Array.from({ length: PER_MINUTE }, () => 200), 429])
  t.equal(left(replies[PER_MINUTE - 1]!).split(' ')[1], '0')
  isOverBudget(t, replies[PER_MINUTE]!)
  t.equal(applied, 0, 'nothing reached the engine')
  t.equal(left(replies[PER_MINUTE]!), 'undefined undefined')
})

t.test('a batch over budget is refused whole and draws nothing', async (t) => {
  const replies = await inOneMinute(enforcing, async (session) => [
    await batch(enforcing, session, 5), await batch(enforcing, session, PER_MINUTE - 4), await batch(enforcing, session, PER_MINUTE - 5),
    await batch(enforcing, session, PER_MINUTE + 1),
  ])
  t.same(statuses(replies), [200, 429, 200, 429])
  isOverBudget(t, replies[1]!)
  t.match(replies[3]!.json.message, `${PER_MINUTE + 1} items are more than the ${PER_MINUTE}`, 'a batch that never fits is told so')
})

t.test('cancels have their own budget of twice the size, and mass cancels are never refused', async (t) => {
  const replies = await inOneMinute(enforcing, async (session) => [
    ...await times(PER_MINUTE + 1, () => create(enforcing, session)),
    ...await times(2 * PER_MINUTE + 1, () => cancel(enforcing, session)),
    await massCancel(enforcing, session),
    await call(enforcing, session, 'POST', `${ORDERS}/batch-cancel-by-pair`, { tradingPairId: pair.id }),
  ])
  const many = (count: number, status: number): number[] => Array.from({ length: count }, () => status)
  t.same(statuses(replies), [...many(PER_MINUTE, 200), 429, ...many(2 * PER_MINUTE, 404), 429, 200, 200])
  t.equal(replies.at(-2)!.json.totalCancelled, PER_MINUTE)
  t.equal(left(replies.at(-1)!).split(' ')[1], '0')
})

t.test('two threads share one budget', async (t) => {
  const handled = (): number[] =>
    [1, 2].map((gateway) => gatewayCounters(enforcing.shared.counters, gateway)[GATEWAY.requests]!)
  const before = handled()
  const replies = await inOneMinute(enforcing, (session) => Promise.all(Array.from({ length: 64 }, () => create(enforcing, session))))
  const threads = handled().filter((count, i) => count > before[i]!).length
  t.equal(threads, 2, 'both took part')
  t.equal(statuses(replies).filter((status) => status === 200).length, PER_MINUTE)
  t.equal(statuses(replies).filter((status) => status === 429).length, 64 - PER_MINUTE)
  const remaining = replies.filter(({ status }) => status === 200).map((reply) => Number(left(reply).split(' ')[1])).sort((a, b) => a - b)
  t.same(remaining, Array.from({ length: PER_MINUTE }, (_, i) => i), 'each answer tells another remainder')
})

t.test('another account has a budget of its own', async (t) => {
  const replies = await inOneMinute(enforcing, async (session) => {
    const other = await enforcing.openSession()
    await call(enforcing, other, 'POST', '/api/v1/faucet/mint')
    return [...await times(PER_MINUTE + 1, () => create(enforcing, session)), await create(enforcing, other)]
  })
  t.same(statuses(replies).slice(-2), [429, 200])
})

t.test('a master and its sub-accounts share a budget on top of their own, whichever thread draws', async (t) => {
  const families = await startHarness([...budgets, '--enforce-rate-limits', '1', '--rate-family-factor', '2'])
  t.teardown(() => families.close())
  const replies = await inOneMinute(families, async (master) => {
    const subs: Session[] = []
    for (let i = 0; i < 2; i++) {
      const address = newAddress()
      await makeSubAccount(families, master, address)
      subs.push(await families.openSession(0, address.toLowerCase()))
    }
    const stranger = await families.openSession()
    const [first, second] = subs as [Session, Session]
    return [
      ...await times(PER_MINUTE - 1, () => cancelTwice(families, first)), ...await times(PER_MINUTE, () => cancelTwice(families, master)),
      await cancelTwice(families, second), await cancelTwice(families, second), await cancelTwice(families, first),
      await massCancel(families, second), await cancelTwice(families, stranger),
    ]
  })
  const codes = statuses(replies)
  t.same(codes.slice(0, 2 * PER_MINUTE), Array.from({ length: 2 * PER_MINUTE }, () => 200), 'twice the budget of one for all three')
  t.same(codes.slice(2 * PER_MINUTE), [429, 429, 200, 200], 'nobody of the family has any left; who is not of it has')
  isOverBudget(t, replies[2 * PER_MINUTE]!)
  t.equal(left(replies.at(-2)!).split(' ')[1], '0', 'getting out is never refused')
  t.equal(left(replies[0]!).split(' ')[1], String(2 * PER_MINUTE - 2), 'the tighter of the own and the family\'s is told')
})

t.test('what is refused before costs nothing', async (t) => {
  const maintenance = (on: boolean): Promise<Int32Array> =>
    enforcing.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { on: on ? 1 : 0 })
  const replies = await inOneMinute(enforcing, async (session) => {
    const malformed = await call(enforcing, session, 'POST', ORDERS, { ...order, side: 'UP' })
    const forged = await request(enforcing.port, 'POST', ORDERS, signed(session, 'POST', ORDERS, '{}'), JSON.stringify(order))
    await maintenance(true)
    const blocked = await create(enforcing, session)
    await maintenance(false)
    return [malformed, forged, blocked, await create(enforcing, session)]
  })
  t.same(statuses(replies), [400, 401, 503, 200])
  t.equal(left(replies[3]!).split(' ')[1], String(PER_MINUTE - 1))
})

t.test('switched off, requests over budget are admitted and counted', async (t) => {
  const [over, refused] = [counted(measuring, 'rate_over_create'), counted(measuring, 'rate_refused_create')]
  const replies = await inOneMinute(measuring, async (session) => [
    ...await times(PER_MINUTE, () => create(measuring, session)), await create(measuring, session), await batch(measuring, session, 2),
  ])
  t.ok(replies.every(({ status }) => status === 200))
  t.equal(left(replies.at(-1)!).split(' ')[1], '0', 'the answers tell the budget all the same')
  t.equal(replies.at(-1)!.json.totalSucceeded, 2)
  t.ok(counted(measuring, 'rate_over_create') - over >= 2, 'both were counted')
  t.equal(counted(measuring, 'rate_refused_create'), refused)
  t.ok(counted(enforcing, 'rate_refused_create') > 0, 'enforcement counts what it refuses')
  t.ok(counted(enforcing, 'rate_refused_reduce') > 0)
  t.equal(counted(enforcing, 'rate_over_create'), counted(enforcing, 'rate_refused_create'))
})

t.test('browsers may read the headers', async (t) => {
  const { headers } = await request(enforcing.port, 'GET', '/api/v1/time', { Origin: 'https://app.example' })
  t.same(headers['access-control-expose-headers']?.split(', '), [
    'Retry-After', 'X-Request-Id', 'X-RateLimit-Limit-Second', 'X-RateLimit-Limit-Minute', 'X-RateLimit-Remaining-Second',
    'X-RateLimit-Remaining-Minute',
  ])
})
