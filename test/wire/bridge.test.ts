/**
 * The bridge between requests and rings: credits, shares, deadlines, late replies, sleeping, waking. Both ring ends are in this thread.
 * Alone: it tells a thread that was woken from one that looked by itself.
 */
import t, { type Test } from 'tap'
import { askedKindOf } from '../../core/layout/answers.ts'
import { CONDITIONAL_ORDER, eventName, EventType, eventTypeOf, ORDER_ENDED, RESULT, TWAP_ORDER } from '../../core/layout/event.ts'
import { encode, type Decoded, type Layout } from '../../core/layout/table.ts'
import { DISK, GATEWAY, MATCHER } from '../../core/ring/counters.ts'
import {
  attachRing, available, commandSlots, consume, createRing, publish, reserve, SLOTS_RECKONED, waiting,
} from '../../core/ring/spsc.ts'
import { WAIT, WAIT_WORDS, wake } from '../../core/ring/wait.ts'
import {
  allowance, closeEngineClient, createEngineClient, CREDIT, register, noRoom, send, slotAt, WAY_IN, WAY_OUT, type EngineClient, type
  PendingRequest, type Way,
} from '../../gateway/bridge/engine_client.ts'
import { Faults } from '../../gateway/faults.ts'
import { until } from '../support/until.ts'

const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)

const ACCOUNTS = 1024

interface SetUp {
  readonly engine: EngineClient
  readonly matcher: ReturnType<typeof matcherSide>
  readonly errors: unknown[]
}

function setUp(commands = 64, replies = 4096, polls = 32): SetUp {
  const ring = createRing(commandSlots({ commandRing: commands }))
  const lane = { commands: ring.buffer, replies: createRing(replies).buffer, wait: cell(), questions: cell() }
  const errors: unknown[] = []
  const matcher = new Float64Array(128)
  matcher[MATCHER.disk_level] = DISK.OPEN
  const faults = new Faults((error) => errors.push(error))
  const engine = createEngineClient({
    lane, matcherWait: cell(), gateway: 1, accounts: ACCOUNTS, counters: new Float64Array(128), matcher, faults,
    formerKeys: () => false, polls,
  })
  return { engine, errors, matcher: matcherSide(lane.commands, lane.replies, lane.wait) }
}

function matcherSide(commandBuffer: SharedArrayBuffer, replyBuffer: SharedArrayBuffer, wait: SharedArrayBuffer) {
  const commands = attachRing(commandBuffer)
  const replies = attachRing(replyBuffer)
  const tell = (layout: Layout, values: Decoded): void => {
    const at = reserve(replies, 0)
    if (at < 0) throw new Error('the reply ring is full')
    encode(layout, replies.slots, at, values)
    publish(replies, 1)
    wake(new Int32Array(wait))
  }
  const reply = (kind: number, correlation: number): void => tell(kind === EventType.RESULT ? RESULT : ORDER_ENDED, { kind, correlation })
  return { commands, replies, reply, tell }
}

const silent: PendingRequest = { onResult: () => undefined, onDeadline: () => undefined }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function post(
  engine: EngineClient, pending: PendingRequest, credits = CREDIT, deadlineMs = 10_000, account = 0, way: Way = WAY_IN,
): number {
  slotAt(engine)
  const row = register(engine, pending, account, credits, way, deadlineMs)
  send(engine, SLOTS_RECKONED)
  return row
}

/** Sends commands of `account` until there is no room for another; how many it sent. */
function fill(engine: EngineClient, account: number, way: Way, rows: number[] = []): number {
  const before = rows.length
  while (noRoom(engine, account, CREDIT, way) === null) rows.push(post(engine, silent, CREDIT, 10_000, account, way))
  return rows.length - before
}

t.test('a full command ring is an answer', async (t) => {
  const { engine } = setUp(64)
  t.equal(noRoom(engine, 0, 28, WAY_IN), null)
  t.equal(noRoom(engine, 0, 29, WAY_IN), 'OVERLOADED', 'a batch fits whole or not at all')
  for (let account = 0; account < ACCOUNTS; account++) fill(engine, account, WAY_OUT)
  t.equal(noRoom(engine, 0, 1, WAY_OUT), 'OVERLOADED')
  t.equal(waiting(engine.commands), 63 * SLOTS_RECKONED)
  closeEngineClient(engine)
})

t.test('an account has half of what is free, whoever is there, and a newcomer gets as much', async (t) => {
  const { engine } = setUp(8192, 8192)
  const taken = [0, 1, 2].map((account) => fill(engine, account, WAY_IN))
  t.same(taken, [2389, 1593, 1062], 'a third, and what is left is shared in the same way')
  t.equal(noRoom(engine, 0, 1, WAY_IN), 'TOO_MANY_IN_FLIGHT')
  t.equal(noRoom(engine, 3, 100, WAY_IN), null, 'a batch of somebody else')
  t.equal(noRoom(engine, -1, 100, WAY_IN), null, 'and a sign-in')
  t.equal(engine.counters[GATEWAY.share_full], 4)
  t.equal(engine.counters[GATEWAY.ring_full], 0)
  closeEngineClient(engine)
})

t.test('ways out find room when orders do not', async (t) => {
  const { engine } = setUp(8192, 16384)
  for (let account = 0; account < ACCOUNTS; account++) fill(engine, account, WAY_IN)
  t.equal(noRoom(engine, ACCOUNTS - 1, 1, WAY_IN), 'OVERLOADED')
  t.equal(engine.counters[GATEWAY.exits_refused], 0)
  for (let account = 0; account < ACCOUNTS; account++) {
    if (noRoom(engine, account, 1, WAY_OUT) !== null) t.fail(`account ${account} cannot cancel`)
  }
  t.ok(allowance(engine, 1000, WAY_OUT) >= 500, 'whole batches of cancels')
  fill(engine, 0, WAY_OUT)
  t.equal(noRoom(engine, 2, 100, WAY_OUT), null, 'and nobody takes that room either')
  closeEngineClient(engine)
})

t.test('replies in flight never exceed the reply ring', async (t) => {
  const { engine, matcher } = setUp(8192, 4096)
  const rows: number[] = []
  const chunk = 128
  const masses: number[] = []
  for (let account = 0; account < 8; account++) {
    while (noRoom(engine, account, 1 + chunk, WAY_OUT) === null) masses.push(post(engine, silent, 1 + chunk, 10_000, account, WAY_OUT))
  }
  for (let account = 8; account < ACCOUNTS; account++) fill(engine, account, WAY_OUT, rows)
  t.equal(engine.credits, 1, 'all but what is less than half')
  t.ok(masses.length > 16)
  // Everything the commands may cause fits: mass cancels with all their orders, then the rest.
  for (const row of masses) for (let n = 0; n < chunk; n++) matcher.reply(EventType.ORDER_ENDED, row)
  for (const row of [...masses, ...rows]) matcher.reply(EventType.RESULT, row)
  t.equal(waiting(matcher.replies), 4095)
  t.ok(await until(() => engine.inFlight === 0))
  t.equal(engine.credits, 4096)
  t.ok(engine.shares.every((share) => share === 0), 'every share is given back')
  t.equal(new Set([...masses, ...rows]).size, masses.length + rows.length, 'every command has a number of its own')
  closeEngineClient(engine)
})

t.test('what a mass cancel ended goes to who asked for it, and to nobody else', async (t) => {
  const { engine, matcher } = setUp()
  const seen: string[] = []
  const asks = (name: string): PendingRequest => ({
    ...silent,
    onRecord: ({ u32, i32 }, base) => {
      seen.push(`${name} ${eventName(eventTypeOf(u32[base]!))} ${i32[base + ORDER_ENDED.at.correlation]}`)
    },
    onResult: () => seen.push(`${name} RESULT`),
  })
  const [ann, bob] = ['ann', 'bob'].map((name) => post(engine, asks(name), 4)) as [number, number]
  t.not(ann, bob)
  // The words that ORDER_ENDED has its correlation in say something else in these.
  matcher.tell(CONDITIONAL_ORDER, { kind: askedKindOf(EventType.CONDITIONAL, bob), trailBps: ann })
  matcher.tell(TWAP_ORDER, { kind: askedKindOf(EventType.TWAP, ann), reached: bob })
  matcher.reply(EventType.ORDER_ENDED, bob)
  for (const row of [ann, bob]) matcher.reply(EventType.RESULT, row)
  t.ok(await until(() => engine.inFlight === 0))
  t.same(seen, [`bob CONDITIONAL ${ann}`, `ann TWAP ${bob}`, `bob ORDER_ENDED ${bob}`, 'ann RESULT', 'bob RESULT'])
  closeEngineClient(engine)
})

/** How each park from now on ended: `ok`, woken; or `timed-out`. */
function endsOfParking(t: Test): string[] {
  const ends: string[] = []
  const { waitAsync } = Atomics
  t.teardown(() => (Atomics.waitAsync = waitAsync))
  Atomics.waitAsync = ((...given: Parameters<typeof waitAsync>) => {
    const wait = waitAsync(...given)
    if (wait.async) void wait.value.then((end) => ends.push(end))
    return wait
  }) as typeof waitAsync
  return ends
}

t.test('a parked gateway is woken by its reply', async (t) => {
  const { engine, matcher } = setUp()
  const ends = endsOfParking(t)
  let answered = 0
  // A park may be over by itself just before the reply; then with another request.
  for (let tries = 1; tries <= 20 && ends[0] !== 'ok'; tries++) {
    const row = post(engine, { ...silent, onResult: () => answered++ })
    t.ok(await until(() => Atomics.load(engine.cell, WAIT.SLEEPING) === 1), 'parks when nothing comes')
    ends.length = 0
    matcher.reply(EventType.RESULT, row)
    t.ok(await until(() => answered === tries))
  }
  t.equal(ends[0], 'ok', 'woken, and not by itself when it would have looked again')
  t.equal(Atomics.load(engine.cell, WAIT.SLEEPING), 0)
  await turn()
  t.equal(engine.polling, false, 'and rests when nothing is in flight')
  closeEngineClient(engine)
})

t.test('a gateway looks as often as it was told to before it parks, and without looks at once', async (t) => {
  for (const polls of [0, 3]) {
    const { engine, matcher } = setUp(64, 4096, polls)
    let answered = 0
    const row = post(engine, { ...silent, onResult: () => answered++ })
    let turns = 0
    while (Atomics.load(engine.cell, WAIT.SLEEPING) === 0 && turns < 100) {
      await turn()
      turns++
    }
    t.equal(turns, polls + 1, `${polls} looks`)
    matcher.reply(EventType.RESULT, row)
    t.ok(await until(() => answered === 1), 'its reply wakes it')
    closeEngineClient(engine)
  }
})

t.test('a sleeping matcher is woken once per turn', async (t) => {
  const { engine } = setUp()
  Atomics.store(engine.matcherCell, WAIT.SLEEPING, 1)
  for (let i = 0; i < 10; i++) post(engine, silent)
  t.equal(Atomics.load(engine.matcherCell, WAIT.WAKE), 0)
  await turn()
  t.equal(Atomics.load(engine.matcherCell, WAIT.WAKE), 1)
  closeEngineClient(engine)
})

t.test('a deadline gives the pending request up, its late reply only frees the row', async (t) => {
  const { engine, matcher, errors } = setUp()
  const seen: string[] = []
  const row = post(engine, { onResult: () => seen.push('result'), onDeadline: () => seen.push('deadline') }, CREDIT, 1)
  t.ok(await until(() => seen.length > 0))
  t.same(seen, ['deadline'])
  t.equal(engine.credits, 4095, 'the credit stays reserved while a reply may come')
  matcher.reply(EventType.RESULT, row)
  t.ok(await until(() => engine.inFlight === 0))
  t.same(seen, ['deadline'])
  t.equal(engine.credits, 4096)
  matcher.reply(EventType.RESULT, row + 7)
  post(engine, silent)
  t.ok(await until(() => errors.length === 1), 'a reply to nothing is reported')
  closeEngineClient(engine)
})

t.test('a pending request that throws harms nobody else', async (t) => {
  const { engine, matcher, errors } = setUp()
  let answered = 0
  const bad = post(engine, { ...silent, onResult: () => { throw new Error('boom') } })
  const good = post(engine, { ...silent, onResult: () => answered++ })
  matcher.reply(EventType.RESULT, bad)
  matcher.reply(EventType.RESULT, good)
  t.ok(await until(() => answered === 1))
  t.equal(errors.length, 1)
  t.equal(engine.inFlight, 0)
  consume(matcher.commands, available(matcher.commands))
  closeEngineClient(engine)
})
