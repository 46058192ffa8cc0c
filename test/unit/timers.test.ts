/**
 * Promise: time acts through the journal. A resting order whose time is over gets one EXPIRE_ORDER command, never early, never twice,
 * never at the cost of more than half a batch; and a replay without any clock ends in the same state. Which are due and in which order:
 * due_queue.test.ts.
 */
import t from 'tap'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { realIo } from '../../core/lib/io.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { CommandType, Flag, ORDER_COMMAND, typeOfKind } from '../../core/layout/command.ts'
import { Reason, Status } from '../../core/layout/event.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { step } from '../../core/sequencer/loop.ts'
import { TIMED_MAX } from '../../core/sequencer/timers.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, eventsOf, openAccount, postCommand, START_TIME, startMatcher, type Matcher, type Signed } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

function matcherOf(maxSlots = 64, genesis?: string): Matcher {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  return startMatcher(dataDir, genesis === undefined ? { maxSlots } : { maxSlots, genesis, commandRing: 16_384 })
}

/** An order that rests until `seconds` after the start. */
const sell = (matcher: Matcher, who: Signed, seconds: number, price = 3000): void =>
  postCommand(matcher, 1, CommandType.PLACE_ORDER, {
    ...who, pair: 0, flags: Flag.SELL | Flag.EXPIRES, price, lots: 100, expiresAt: START_TIME + seconds * 1000,
  })

/** Turns at `seconds` after the start, with the timers due; the orders that ended. */
function turnAt(matcher: Matcher, seconds: number): Decoded[] {
  matcher.clock = START_TIME + seconds * 1000
  matcher.turn(true)
  return eventsOf(matcher).filter((event) => event['event'] === 'ORDER_ENDED')
}

const live = (matcher: Matcher): number => matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE]!

/** Types of the commands of the last batch, and its records. */
function lastBatch(matcher: Matcher): { types: number[]; records: Decoded[] } {
  let last = Buffer.alloc(0)
  for (const batch of readBatches(matcher.database, START)) last = Buffer.from(batch.records)
  const views = viewsOf(new ArrayBuffer(last.length))
  views.bytes.set(last)
  const records = Array.from({ length: last.length / RECORD_BYTES }, (_, slot) => decode(ORDER_COMMAND, views, slot * RECORD_WORDS))
  return { types: records.map((record) => typeOfKind(Number(record['kind']))), records }
}

/** The journal replays to the state of the matcher. */
function replays(matcher: Matcher): boolean {
  const { replayer } = fromGenesis(matcher.database)
  catchUp(matcher.database, replayer, Infinity, realIo.seconds, () => undefined)
  return stateDigest(replayer.state) === stateDigest(matcher.sequencer.state)
}

t.test('an order expires at its time, not before', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, ann, 10)
  t.same(turnAt(matcher, 0), [])
  answersOf(matcher, 1)
  t.same(turnAt(matcher, 9.999), [], 'a millisecond early')
  t.equal(live(matcher), 1)
  const [ended, ...others] = turnAt(matcher, 10)
  t.same(others, [])
  t.match(ended, { outcome: Status.EXPIRED | (Reason.EXPIRED << 8), time: START_TIME + 10_000 })
  t.equal(live(matcher), 0)
  const { types, records } = lastBatch(matcher)
  t.same(types, [CommandType.EXPIRE_ORDER])
  t.match(records[0], { session: -1, targetSlot: ended!['slot'], targetSequence: ended!['orderSequence'] })
  t.same([0, 1, 2, 3].flatMap((lane) => answersOf(matcher, lane)), [], 'nobody asked, nobody is answered')
  t.equal(matcher.counters[MATCHER.timers], 1)
  t.same(turnAt(matcher, 20), [], 'once')
  t.ok(replays(matcher))
})

t.test('an order without a time of its own gets that of the genesis', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...ann, pair: 0, flags: Flag.SELL, price: 3000, lots: 100 })
  const lifetime = matcher.sequencer.state.genesis.limits.orderLifetimeMs / 1000
  turnAt(matcher, 0)
  t.same(turnAt(matcher, lifetime - 0.001), [])
  t.equal(turnAt(matcher, lifetime).length, 1)
})

t.test('timers that are not due are not looked at', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, ann, 1)
  turnAt(matcher, 0)
  matcher.clock = START_TIME + 5000
  t.equal(matcher.turn(false), 0)
  t.equal(live(matcher), 1)
})

t.test('a clock that goes back expires nothing early and delays nothing that was due', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, ann, 10)
  sell(matcher, ann, 20, 3001)
  turnAt(matcher, 0)
  matcher.clock = START_TIME + 15_000
  postCommand(matcher, 1, CommandType.MINT, { session: -1 })
  matcher.turn(false)
  t.equal(turnAt(matcher, -3600).length, 1, 'due by sequenced time')
  t.same(turnAt(matcher, 19.999), [])
  t.equal(turnAt(matcher, 20).length, 1)
  t.ok(replays(matcher))
})

t.test('timers take at most half a batch, and everything due has its turn', async (t) => {
  const matcher = matcherOf(8)
  const ann = openAccount(matcher, 1, 'ann')
  for (let order = 0; order < 10; order++) sell(matcher, ann, 5, 3000 + order)
  turnAt(matcher, 0)
  turnAt(matcher, 0)
  t.equal(live(matcher), 10)
  for (let command = 0; command < 12; command++) postCommand(matcher, 2, CommandType.MINT, { session: -1 })
  const ended = [1, 2, 3, 4].map(() => turnAt(matcher, 6).length)
  t.ok(ended.includes(4) && ended.every((count) => count <= 4), `at most four of eight slots: ${ended.join(', ')}`)
  t.equal(ended.reduce((sum, count) => sum + count), 10)
  t.equal(answersOf(matcher, 2).length, 12, 'the commands of others went along')
  t.equal(live(matcher), 0)
})

t.test('a batch of one record still has room for timers', async (t) => {
  const matcher = matcherOf(1)
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, ann, 5)
  turnAt(matcher, 0)
  t.equal(turnAt(matcher, 6).length, 1)
  t.equal(live(matcher), 0)
})

t.test('a cancel in the same batch finds the order gone', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, ann, 5)
  turnAt(matcher, 0)
  const { slot, orderSequence } = answersOf(matcher, 1)[0]!
  postCommand(matcher, 1, CommandType.CANCEL_ORDER, { ...ann, targetSlot: slot!, targetSequence: orderSequence! })
  t.equal(turnAt(matcher, 5).length, 1)
  t.same(lastBatch(matcher).types, [CommandType.EXPIRE_ORDER, CommandType.CANCEL_ORDER])
  t.match(answersOf(matcher, 1), [{ code: 502 }])
  t.ok(replays(matcher))
})

t.test('an expired order never fills, even when no timer came yet', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  const bob = openAccount(matcher, 2, 'bob')
  sell(matcher, ann, 5)
  turnAt(matcher, 0)
  matcher.clock = START_TIME + 5000
  postCommand(matcher, 2, CommandType.PLACE_ORDER, { ...bob, pair: 0, price: 3000, lots: 100 })
  matcher.turn(false)
  const events = eventsOf(matcher)
  t.notOk(events.some((event) => event['event'] === 'FILL'))
  t.match(answersOf(matcher, 2), [{ code: 0, remaining: 100 }])
})

t.test('a storm: everybody else goes on, and what is left is gone on with at once', async (t) => {
  const ORDERS = 3000
  const spec = VARIANTS['market']!
  // One account holds all of them: shares of the pool are not what this is about.
  const genesis = genesisText({ ...spec, rules: 0, limits: { ...spec.limits, orders: 16_384, openOrdersPerAccount: 16_384 } })
  const matcher = matcherOf(4096, genesis)
  const ann = openAccount(matcher, 1, 'ann')
  for (let order = 0; order < ORDERS; order++) {
    const values = { ...ann, pair: 0, flags: Flag.SELL | Flag.EXPIRES, price: 3000, lots: 10, expiresAt: START_TIME + 500 }
    postCommand(matcher, 1, CommandType.PLACE_ORDER, values)
    if (order % 1000 !== 999) continue
    matcher.turn()
    eventsOf(matcher)
    answersOf(matcher, 1)
  }
  t.equal(live(matcher), ORDERS)
  const { sequencer } = matcher
  // Sequenced time follows the wall clock slowly; here it stands.
  Object.defineProperty(sequencer.clock, 'now', { value: () => START_TIME + 500 })
  for (let turn = 0; turn < Math.ceil(ORDERS / TIMED_MAX); turn++) {
    for (let command = 0; command < 100; command++) postCommand(matcher, 2, CommandType.MINT, { session: -1 })
    t.equal(sequencer.timers.behind || turn === 0, true)
    step(sequencer)
    eventsOf(matcher)
    t.equal(live(matcher), Math.max(0, ORDERS - (turn + 1) * TIMED_MAX), 'so many in a turn, though the clock stands')
    t.equal(answersOf(matcher, 2).length, 100, 'the commands of others went along')
  }
  t.notOk(sequencer.timers.behind)
  t.ok(replays(matcher))
})
