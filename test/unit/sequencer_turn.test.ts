/**
 * Promise: a turn of the sequencer is all or nothing. What was waiting becomes one durable batch with one run of sequences and one time
 * that never goes back; only then are state, answers and events to be seen, each by whom they are for.
 */
import { crc32 } from 'node:zlib'
import t from 'tap'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK } from '../../core/state/columns.ts'
import type { Batch } from '../../core/journal/frame.ts'
import { lastSequence, readBatches, START } from '../../core/journal/reader.ts'
import { askerOf } from '../../core/layout/answers.ts'
import { CommandType, Flag, gatewayOfKind, MINT_COMMAND, Option, slotsOfKind } from '../../core/layout/command.ts'
import { CHILD_ORDER, CONDITIONAL_ORDER, EventType, ORDER_ENDED, TWAP_OPENED, TWAP_ORDER } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, type Decoded, type Layout } from '../../core/layout/table.ts'
import { read, writtenTo } from '../../core/ring/broadcast.ts'
import { APPLYING, MATCHER } from '../../core/ring/counters.ts'
import { waiting } from '../../core/ring/spsc.ts'
import { WAIT } from '../../core/ring/wait.ts'
import { COPIES_MAX, PACE_US } from '../../core/sequencer/copy_timers.ts'
import { turn } from '../../core/sequencer/loop.ts'
import { nextRecord } from '../../core/state/outbox.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import {
  answersOf, eventsOf, openAccount, postCommand, START_TIME, startMatcher, type Matcher, type MatcherOptions, type Signed,
} from '../support/journal.ts'

function matcherOf(options: MatcherOptions = {}): Matcher {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  return startMatcher(dataDir, options)
}

/** Every batch behind the genesis, with its records. */
function journalOf({ database }: Matcher): Batch[] {
  const batches = [...readBatches(database, START)].map((batch) => ({ ...batch, records: Buffer.from(batch.records) }))
  return batches.slice(1)
}

/** Lane, slots and number of the commands of a batch; their correlation is their number. */
function mintsOf(batch: Batch): { lane: number; slots: number; number: number }[] {
  const mints = []
  for (let slot = 0; slot < batch.slots; ) {
    const at = slot * RECORD_BYTES
    const kind = batch.records.readUInt32LE(at)
    const number = batch.records.readUInt32LE(at + MINT_COMMAND.at.correlation * 4)
    mints.push({ lane: gatewayOfKind(kind), slots: slotsOfKind(kind), number })
    slot += slotsOfKind(kind)
  }
  return mints
}

const NOBODY = { session: -1 }
/** A command that is refused and changes nothing; `number` goes along. */
const mint = (matcher: Matcher, lane: number, number: number): void =>
  postCommand(matcher, lane, CommandType.MINT, { ...NOBODY, asset: -1, correlation: number })
/** Posts a command of one slot, or an order of two, with a key, or of three, with legs; orders are refused. */
const sized = (matcher: Matcher, lane: number, number: number, slots: number): void => {
  if (slots === 1) return mint(matcher, lane, number)
  const carried: Decoded = slots === 2 ? { flags: Option.KEYED, key: '11' } : { options: Option.LEGS, trailBps: 10 }
  postCommand(matcher, lane, CommandType.PLACE_ORDER, { ...NOBODY, ...carried, correlation: number })
}
const sell = (matcher: Matcher, lane: number, who: Signed, correlation: number, price: number): void =>
  postCommand(matcher, lane, CommandType.PLACE_ORDER, { ...who, correlation, pair: 0, flags: Flag.SELL, price, lots: 100 })
const buy = (matcher: Matcher, lane: number, who: Signed, correlation: number, price: number): void =>
  postCommand(matcher, lane, CommandType.PLACE_ORDER, { ...who, correlation, pair: 0, price, lots: 100 })

t.test('what waits becomes one batch: one run of sequences, one time', async (t) => {
  const matcher = matcherOf()
  matcher.clock = START_TIME + 17
  t.equal(matcher.turn(), 0, 'nothing waits')
  for (const [lane, number] of [[1, 11], [2, 21], [1, 12], [3, 31], [0, 1]] as const) mint(matcher, lane, number)
  t.equal(matcher.turn(), 5)
  const [batch, ...others] = journalOf(matcher)
  t.same(others, [])
  t.match(batch, { sequence: 2, commands: 5, slots: 5, time: START_TIME + 17 })
  const events = eventsOf(matcher)
  t.same(events.map((each) => each['sequence']), [2, 3, 4, 5, 6])
  t.ok(events.every((each) => each['time'] === START_TIME + 17))
  t.equal(matcher.turn(), 0, 'nothing is left')
  t.equal(lastSequence(matcher.database), 2, 'an empty turn writes nothing')
})

t.test('what a turn mirrors goes with the time of the commits before', async (t) => {
  const matcher = matcherOf()
  const { writer, timers } = matcher.sequencer
  const { commit } = writer
  writer.commit = (...batch) => {
    const end = performance.now() + (COPIES_MAX * PACE_US) / 1000
    while (performance.now() < end);
    return commit(...batch)
  }
  for (let each = 0; each < 2; each++) {
    mint(matcher, 1, each)
    t.equal(matcher.turn(), 1)
  }
  t.equal(timers.copies.most, COPIES_MAX)
})

t.test('sequenced time never goes back', async (t) => {
  const matcher = matcherOf()
  const times: number[] = []
  for (const offset of [1000, 2000, -7_200_000, 1500, 2000, 2001, -1, 60_000]) {
    matcher.clock = START_TIME + offset
    mint(matcher, 1, 0)
    matcher.turn()
    times.push(matcher.sequencer.state.clock[CLOCK.TIME]! - START_TIME)
  }
  t.same(times, [1000, 2000, 2000, 2000, 2000, 2001, 2001, 60_000])
  t.same(journalOf(matcher).map((batch) => batch.time - START_TIME), times, 'in the journal')
  t.same(eventsOf(matcher).map((each) => Number(each['time']) - START_TIME), times, 'in the events')
})

t.test('answers go to the lane that asked, and to no other', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  const bob = openAccount(matcher, 2, 'bob')
  sell(matcher, 1, ann, 101, 3000)
  sell(matcher, 1, ann, 102, 3001)
  buy(matcher, 2, bob, 201, 3000)
  mint(matcher, 3, 301)
  t.equal(matcher.turn(), 4)
  const summary = (lane: number): unknown[][] => answersOf(matcher, lane).map((each) => [each['event'], each['correlation'], each['code']])
  t.same(summary(1), [['RESULT', 101, 0], ['RESULT', 102, 0]])
  t.same(summary(2), [['RESULT', 201, 0]])
  t.same(summary(3), [['RESULT', 301, 113]])
  t.same(summary(0), [])
  t.ok(eventsOf(matcher).some((each) => each['event'] === 'FILL'), 'the fill was an event, not an answer')
  postCommand(matcher, 3, CommandType.CANCEL_ALL, { ...ann, correlation: 302, pair: -1, limit: 10 })
  matcher.turn()
  t.same(summary(3), [['ORDER_ENDED', 302, undefined], ['RESULT', 302, 0]], 'a mass cancel is answered order by order')
  t.same([...summary(1), ...summary(2)], [])
})

t.test('events reach the ring as they are, and the chained checksum covers them', async (t) => {
  const matcher = matcherOf()
  const { sequencer, events } = matcher
  let checksum = sequencer.eventsChecksum
  t.equal(checksum, 0)
  let records = 0
  for (let round = 0; round < 50; round++) {
    for (let number = 0; number < round; number++) mint(matcher, number % 4, number)
    matcher.turn()
    for (let count = read(events); count > 0; count = read(events)) {
      checksum = crc32(new Uint8Array(events.copy.buffer, 0, count * RECORD_BYTES), checksum)
      records += count
    }
    t.equal(sequencer.eventsChecksum, checksum, `round ${round}`)
  }
  t.equal(records, (50 * 49) / 2)
  t.equal(events.lost, 0)
})

t.test('the checksum of a batch is that of the events before it', async (t) => {
  const matcher = matcherOf()
  const before: number[] = []
  for (let round = 0; round < 10; round++) {
    before.push(matcher.sequencer.eventsChecksum)
    mint(matcher, 1, round)
    matcher.turn()
  }
  t.same(journalOf(matcher).map((batch) => batch.events), before)
})

t.test('a commit that throws leaves nothing to be seen', async (t) => {
  let fails = false
  const matcher = matcherOf({
    commit: (real) => (...batch) => {
      if (fails) throw new Error('Input/output error')
      return real(...batch)
    },
  })
  const ann = openAccount(matcher, 1, 'ann')
  const { sequencer } = matcher
  const { state, events, gate } = sequencer
  const seen = (): unknown[] => [
    stateDigest(state), state.clock[CLOCK.SEQUENCE], state.clock[CLOCK.TIME], writtenTo(events), sequencer.eventsChecksum,
    lastSequence(matcher.database), gate[APPLYING], ...matcher.gateways.map(({ replies }) => waiting(replies)),
  ]
  const before = seen()
  fails = true
  matcher.clock += 1000
  sell(matcher, 1, ann, 1, 3000)
  mint(matcher, 2, 2)
  t.throws(() => matcher.turn(), /Input.output/)
  t.same(seen(), before)
})

t.test('lanes take turns, so that a busy one starves nobody', async (t) => {
  const matcher = matcherOf({ maxSlots: 4 })
  let number = 0
  for (let lane = 0; lane < 4; lane++) for (let i = 0; i < 8; i++) mint(matcher, lane, number++)
  const lanes: number[][] = []
  for (let round = 0; round < 8; round++) {
    t.equal(matcher.turn(), 4)
    lanes.push(mintsOf(journalOf(matcher).at(-1)!).map(({ lane }) => lane))
  }
  t.same(lanes.slice(0, 4), [0, 1, 2, 3].map((lane) => [lane, lane, lane, lane]), 'each turn starts one lane further')
  const numbers = journalOf(matcher).flatMap(mintsOf).filter(({ lane }) => lane === 2).map((each) => each.number)
  t.same(numbers, [16, 17, 18, 19, 20, 21, 22, 23], 'within a lane the order is kept')
  mint(matcher, 3, 1000)
  let turns = 0
  for (let found = false; !found && turns < 10; turns++) {
    for (let i = 0; i < 4; i++) mint(matcher, 0, i)
    matcher.turn()
    found = mintsOf(journalOf(matcher).at(-1)!).some((each) => each.number === 1000)
  }
  t.ok(turns <= 4, `a single command beside a full lane waited ${turns} turns`)
})

t.test('a batch is never larger than its bound and nothing is lost or doubled', async (t) => {
  const matcher = matcherOf({ maxSlots: 7, commandRing: 64 })
  for (let number = 0; number < 160; number++) mint(matcher, number % 4, number)
  let taken = 0
  for (let turns = 0; turns < 40; turns++) taken += matcher.turn()
  t.equal(taken, 160)
  const batches = journalOf(matcher)
  t.ok(batches.every((batch) => batch.slots <= 7 && batch.slots === batch.commands))
  t.same(batches.flatMap(mintsOf).map((each) => each.number).sort((a, b) => a - b), Array.from({ length: 160 }, (_, number) => number))
})

t.test('a command of two slots is never split, and stays whole where the ring wraps', async (t) => {
  const matcher = matcherOf({ maxSlots: 3, commandRing: 8 })
  const sizes = [1, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 1, 2]
  const batches: number[][] = []
  for (let next = 0, turns = 0; (next < sizes.length || turns < 20) && turns < 40; turns++) {
    while (next < sizes.length && waiting(matcher.gateways[1]!.commands) + sizes[next]! <= 8) sized(matcher, 1, next, sizes[next++]!)
    if (matcher.turn() > 0) batches.push(mintsOf(journalOf(matcher).at(-1)!).map(({ slots }) => slots))
  }
  t.same(batches.flat(), sizes)
  t.ok(batches.every((batch) => batch.reduce((sum, slots) => sum + slots, 0) <= 3), JSON.stringify(batches))
  t.same(journalOf(matcher).flatMap(mintsOf).map(({ number }) => number), sizes.map((_, number) => number))
  t.same(eventsOf(matcher).map((each) => each['sequence']), sizes.map((_, index) => index + 2), 'one sequence each, whatever its size')
})

t.test('nor is one of three slots, and it has room beside timers', async (t) => {
  const matcher = matcherOf({ maxSlots: 6, commandRing: 8 })
  const sizes = [3, 1, 3, 2, 3, 3, 1, 1, 3, 2, 2, 3, 3, 1, 3]
  const ann = openAccount(matcher, 2, 'ann')
  // Many orders end at one moment, which is over.
  const expires = { flags: Flag.EXPIRES, expiresAt: START_TIME + 1000, pair: 0, lots: 100 }
  for (let order = 0; order < 60; order++) {
    postCommand(matcher, 2, CommandType.PLACE_ORDER, { ...ann, ...expires, price: 1000 + order })
    matcher.turn()
    answersOf(matcher, 2)
  }
  matcher.clock = START_TIME + 2000
  const before = journalOf(matcher).length
  let next = 0
  for (let turns = 0; turns < 12; turns++) {
    while (next < sizes.length && waiting(matcher.gateways[1]!.commands) + sizes[next]! <= 8) sized(matcher, 1, next, sizes[next++]!)
    matcher.turn(true)
  }
  const batches = journalOf(matcher).slice(before).map(mintsOf)
  t.ok(batches.every((batch) => batch.some(({ lane }) => lane === 0)), 'timers were behind all the time')
  t.ok(batches.every((batch) => batch.reduce((sum, { slots }) => sum + slots, 0) <= 6))
  const taken = batches.flat().filter(({ lane }) => lane === 1)
  t.same(taken.map(({ slots, number }) => [slots, number]), sizes.slice(0, taken.length).map((slots, number) => [slots, number]))
  t.ok(taken.length >= 12, `${taken.length} were taken meanwhile`)
})

t.test('the gate is odd while a batch is applied and even at rest', async (t) => {
  const during: number[] = []
  const committing: number[] = []
  const matcher = matcherOf({
    commit: (real) => (...batch) => {
      committing.push(matcher.sequencer.gate[APPLYING]! % 2)
      return real(...batch)
    },
  })
  const { gate, meter } = matcher.sequencer
  meter.refused = () => during.push(gate[APPLYING]! % 2)
  for (let round = 0; round < 3; round++) {
    mint(matcher, 1, round)
    mint(matcher, 2, round)
    matcher.turn()
    t.equal(gate[APPLYING], 2 * (round + 1), 'even at rest, and grown')
  }
  t.same(during, [1, 1, 1, 1, 1, 1], 'odd while answers are made')
  t.same(committing, [0, 0, 0], 'even while the batch becomes durable')
})

t.test('a mass cancel is answered with what it cancelled itself, and with no event that is about something else', async (t) => {
  const told: [layout: Layout, values: Decoded][] = [
    [CONDITIONAL_ORDER, { kind: EventType.CONDITIONAL, account: 5, what: 0x060402, trailBps: 250 }],
    [CONDITIONAL_ORDER, { kind: EventType.CONDITIONAL, what: 0x090401 }],
    [CONDITIONAL_ORDER, { kind: EventType.CONDITIONAL, what: 0x060404 }],
    [TWAP_ORDER, { kind: EventType.TWAP, account: 5, what: 0x0705, reached: 3 }],
    [TWAP_ORDER, { kind: EventType.TWAP, what: 0x0b02 }],
    [TWAP_OPENED, { kind: EventType.TWAP_OPENED }],
    [CHILD_ORDER, { kind: EventType.CHILD_ORDER }],
    [ORDER_ENDED, { kind: EventType.ORDER_ENDED, correlation: 0 }],
  ]
  let tells = false
  // As if the command that is applied first had these events.
  const matcher = matcherOf({
    commit: (real) => (...batch) => {
      const { outbox } = matcher.sequencer.state
      for (const [layout, values] of tells ? told : []) encode(layout, outbox, nextRecord(outbox), values)
      return real(...batch)
    },
  })
  const ann = openAccount(matcher, 1, 'ann')
  sell(matcher, 1, ann, 1, 3000)
  matcher.turn()
  answersOf(matcher, 1)
  eventsOf(matcher)
  tells = true
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...ann, correlation: 0x12_3456, pair: -1, limit: 10 })
  matcher.turn()
  const answers = answersOf(matcher, 1)
  t.match(answers, [
    { event: 'CONDITIONAL', kind: 0x1234_560f, account: 5, what: 0x060402, trailBps: 250 },
    { event: 'TWAP', kind: 0x1234_5610, account: 5, what: 0x0705, reached: 3 },
    { event: 'ORDER_ENDED', correlation: 0x12_3456 }, { event: 'RESULT', correlation: 0x12_3456, detail: 1 },
  ])
  t.equal(answers.length, 4)
  t.same(answers.slice(0, 2).map(({ kind }) => askerOf(Number(kind))), [0x12_3456, 0x12_3456])
  const kinds = eventsOf(matcher).map(({ kind }) => kind)
  t.same(kinds.slice(0, told.length), told.map(([, { kind }]) => kind), 'events are as the engine made them')
  mint(matcher, 1, 9)
  matcher.turn()
  t.match(answersOf(matcher, 1), [{ event: 'RESULT', correlation: 9 }], 'of no other command')
})

t.test('only a lane that sleeps and was answered is woken', async (t) => {
  const matcher = matcherOf()
  for (const lane of [1, 2]) matcher.gateways[lane]!.wait[WAIT.SLEEPING] = 1
  mint(matcher, 1, 1)
  mint(matcher, 3, 3)
  matcher.turn()
  t.same(matcher.gateways.map(({ wait }) => wait[WAIT.WAKE]), [0, 1, 0, 0])
})

t.test('the meter counts what happened', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  for (let number = 0; number < 5; number++) mint(matcher, 1, number)
  sell(matcher, 2, ann, 1, 3000)
  matcher.turn()
  const { counters } = matcher
  const expected = { commands: 8, batches: 3, batch_max: 6, refusals: 5, sequence: 9, live_orders: 1, accounts: 1, ring_high_water: 6 }
  for (const [name, value] of Object.entries(expected)) t.equal(counters[MATCHER[name as keyof typeof MATCHER]], value, name)
  t.equal(counters[MATCHER.events], writtenTo(matcher.sequencer.events))
})

t.test('an incomplete command in a ring is a broken invariant', async (t) => {
  const matcher = matcherOf()
  mint(matcher, 1, 1)
  const { commands } = matcher.gateways[1]!
  commands.slots.u32[0] = commands.slots.u32[0]! | (5 << 8)
  t.throws(() => turn(matcher.sequencer, START_TIME, false), { name: 'InvariantBroken' })
  t.equal(lastSequence(matcher.database), 1)
})

t.test('the events of a batch are in the ring before any of its answers is out', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  const bob = openAccount(matcher, 2, 'bob')
  const { sequencer, gateways } = matcher
  const { events } = sequencer
  const out = (): number => waiting(gateways[1]!.replies) + waiting(gateways[2]!.replies)
  const atBroadcast: number[] = []
  const watched = {
    ...events,
    get header() {
      atBroadcast.push(out())
      return events.header
    },
  }
  Object.assign(sequencer, { events: watched })
  sell(matcher, 1, ann, 101, 3000)
  sell(matcher, 1, ann, 102, 3001)
  buy(matcher, 2, bob, 201, 3001)
  matcher.turn()
  t.same(atBroadcast, [0], 'gateways read fills off the ring when they have the answer (gateway/bridge/arrival_fills.ts)')
  t.equal(out(), 3)
})
