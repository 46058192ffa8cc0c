/**
 * Promise: a gateway finds exactly the orders that ended lately, as they ended, and no others. Random ends of every kind against a plain
 * list, far beyond the room.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { CommandType, Flag, CLIENT_ORDER_ID_SHIFT, Origin, originFlags } from '../../core/layout/command.ts'
import {
  EventType, FILL, LABEL, MARGIN_ORDER, ORDER_ENDED, outcomeOf, Reason, RESULT, Status,
} from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { CHILD_ORDER } from '../../core/layout/twap.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { MarginMode } from '../../core/state/margin_rows.ts'
import { broadcast, createBroadcast } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import {
  closeClosedOrderCache, createClosedOrderCache, drainClosedOrders, findFinished, type ClosedOrder, type ClosedOrderCache,
} from '../../gateway/bridge/closed_orders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const ROOM = 64

function setUp(capacity: number): { tail: ClosedOrderCache; counters: Float64Array; say: (layout: Layout, values: Decoded) => void } {
  const ring = createBroadcast(capacity)
  const counters = new Float64Array(64)
  const tail = createClosedOrderCache(ring, counters, ROOM)
  const record = viewsOf(new ArrayBuffer(RECORD_BYTES))
  const say = (layout: Layout, values: Decoded): void => {
    encode(layout, record, 0, values)
    broadcast(ring, record.i32, 1)
  }
  return { tail, counters, say }
}

const result = (type: number): number => EventType.RESULT | (type << 8)
const hex = (text: string): string => Buffer.from(text).toString('hex').padEnd(80, '0')

/** Says that `order` ended, by the event that belongs to its outcome. */
function end(say: (layout: Layout, values: Decoded) => void, order: ClosedOrder, kind: number): void {
  const { account, slot, sequence, flags, outcome, createdAt, expiresAt, pair, price, lots, remaining, filledQuote, fee } = order
  const common = { pair, price, time: order.updatedAt, sequence: order.endSequence }
  const named = { ...common, account, slot, orderSequence: sequence, flags, outcome, lots, remaining, filledQuote, fee }
  if (kind === 0) say(RESULT, { ...named, kind: result(CommandType.PLACE_ORDER), expiresAt, detail2: order.slippageBps })
  else if (kind === 1) say(RESULT, { ...named, kind: result(CommandType.CANCEL_ORDER), originalSequence: createdAt })
  else if (kind === 2) say(ORDER_ENDED, { ...named, kind: EventType.ORDER_ENDED, createdAt })
  else {
    say(FILL, {
      ...common, kind: EventType.FILL, makerAccount: account, makerSlot: slot, makerSequence: sequence, makerFlags: flags,
      makerLots: lots, makerRemaining: 0, makerFilledQuote: filledQuote, makerTotalFee: fee, makerCreatedAt: createdAt,
    })
  }
}

t.test('the newest ends are found as they were, older ones not at all', async (t) => {
  const random = createPrng(SEED)
  const { tail, say } = setUp(1024)
  t.teardown(() => closeClosedOrderCache(tail))
  t.comment(`SEED=${SEED} npm test -- test/unit/closed_orders.test.ts`)
  const ended: ClosedOrder[] = []
  const wrong: string[] = []
  let sequence = 1
  for (let index = 0; index < 20 * ROOM; index++) {
    // Sequences leave gaps, some of them whole turns of the chains.
    sequence += 1 + random.below(3) + (random.below(10) === 0 ? ROOM * random.below(3) : 0)
    const kind = random.below(4)
    const time = 1000 + index
    const clientOrderId = random.below(3) === 0 ? `label ${index}` : ''
    const order: ClosedOrder = {
      sequence, clientOrderId,
      slot: random.below(500), account: random.below(4), pair: random.below(3),
      flags: ((clientOrderId.length << CLIENT_ORDER_ID_SHIFT) | Flag.SELL) >>> 0,
      price: 1 + random.below(1000), lots: 1 + random.below(1000), remaining: kind === 3 ? 0 : random.below(5),
      filledQuote: BigInt(random.below(1e9)), fee: BigInt(random.below(1000) - 500), createdAt: kind === 0 ? time : time - 5,
      updatedAt: time, expiresAt: kind === 0 ? time + 50 : 0, slippageBps: kind === 0 ? random.below(100) : 0,
      endSequence: sequence + (kind === 0 ? 0 : random.below(50)),
      outcome: kind === 3 ? outcomeOf(Status.FILLED, Reason.NONE) : outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED),
    }
    const { account, slot } = order
    if (clientOrderId !== '') {
      const { length } = clientOrderId
      say(LABEL, {
        kind: EventType.LABEL, account, orderSequence: sequence, slot, length, label: hex(clientOrderId),
      })
    }
    // What ends no order: a refusal, an order that rests, a repeated answer.
    say(RESULT, { kind: result(CommandType.PLACE_ORDER), code: 400, orderSequence: sequence, outcome: order.outcome })
    say(RESULT, { kind: result(CommandType.PLACE_ORDER), orderSequence: sequence, outcome: Status.SUBMITTED, account: 9 })
    end(say, order, kind)
    const repeated = { flags: Flag.REPEATED, orderSequence: sequence, outcome: order.outcome }
    say(RESULT, { kind: result(CommandType.PLACE_ORDER), ...repeated })
    ended.push(order)
    drainClosedOrders(tail)
    const back = random.below(3 * ROOM)
    for (const age of [0, ROOM - 1, ROOM, back]) {
      const asked = ended[ended.length - 1 - age]
      if (asked === undefined) continue
      const found = findFinished(tail, asked.account, asked.sequence, asked.slot)
      const same = isDeepStrictEqual(found, age < ROOM ? asked : undefined)
      if (!same) wrong.push(`end ${index}, ${age} back`)
    }
  }
  t.same(wrong, [])
})

const order = (sequence: number): ClosedOrder => ({
  sequence, slot: 3, account: 1, pair: 0, flags: 0, price: 1, lots: 1, remaining: 1, filledQuote: 0n, fee: 0n, createdAt: 1, updatedAt: 1,
  expiresAt: 0, slippageBps: 0, clientOrderId: '', endSequence: sequence,
  outcome: outcomeOf(Status.CANCELLED, Reason.EXPIRED),
})

t.test("somebody else's order, another slot, an order that never was", async (t) => {
  const { tail, say } = setUp(1024)
  t.teardown(() => closeClosedOrderCache(tail))
  t.equal(findFinished(tail, 1, 7, 3), undefined, 'nothing yet')
  end(say, order(7), 2)
  drainClosedOrders(tail)
  t.same(findFinished(tail, 1, 7, 3), order(7))
  t.equal(findFinished(tail, 2, 7, 3), undefined)
  t.equal(findFinished(tail, 1, 7, 4), undefined)
  t.equal(findFinished(tail, 1, 7 + ROOM, 3), undefined, 'of the same chain')
})

t.test('an order of a perpetual is remembered with where it stood', async (t) => {
  const { tail, say } = setUp(1024)
  t.teardown(() => closeClosedOrderCache(tail))
  const flags = Flag.MARGIN | Flag.CROSS
  const stood = (sequence: number, strategyKey: string): void => say(MARGIN_ORDER, {
    kind: EventType.MARGIN_ORDER, account: 1, orderSequence: sequence, slot: 3, marginAccount: -1, bucket: 6, marginAccountSequence: 20,
    bucketSequence: 90, leverage: 250, flags, strategyKey: Buffer.from(strategyKey).toString('hex').padEnd(96, '0'),
  })
  const margin = (strategyKey: string): object => ({
    marginAccount: { sequence: 20, row: -1 }, bucket: { sequence: 90, row: 6 }, mode: MarginMode.CROSS, strategyKey, leverage: 250,
  })
  const keys = ['', 'grid', 'x'.repeat(48)]
  keys.forEach((key, i) => stood(7 + i, key))
  for (const kind of [0, 1, 2, 3]) {
    keys.forEach((key, i) => stood(100 * kind + 7 + i, key))
    for (const [i, key] of keys.entries()) {
      const ended = { ...order(100 * kind + 7 + i), flags, ...(kind === 3 ? { remaining: 0 } : {}) }
      end(say, ended, kind)
      drainClosedOrders(tail)
      t.match(findFinished(tail, 1, ended.sequence, 3), { flags, margin: margin(key) }, `end ${kind} with key ${key}`)
    }
  }
  end(say, { ...order(3), flags }, 2)
  drainClosedOrders(tail)
  t.notOk('margin' in findFinished(tail, 1, 3, 3)!, 'of an order that is older than the cache it is not known')
})

t.test('a slice is remembered with the TWAP order that it is of, and nothing else is', async (t) => {
  const { tail, say } = setUp(1024)
  t.teardown(() => closeClosedOrderCache(tail))
  const child = (sequence: number): void =>
    say(CHILD_ORDER, { kind: EventType.CHILD_ORDER, account: 1, orderSequence: sequence, slot: 3, twap: 8, twapSequence: 77 })
  for (const kind of [0, 1, 2, 3]) {
    const slice = { ...order(10 + kind), flags: originFlags(Origin.TWAP), ...(kind === 3 ? { remaining: 0 } : {}) }
    child(slice.sequence)
    end(say, slice, kind)
    drainClosedOrders(tail)
    t.same(findFinished(tail, 1, slice.sequence, 3)?.parent, { sequence: 77, row: 8 }, `end ${kind}`)
  }
  child(20)
  end(say, order(20), 2)
  end(say, { ...order(21), flags: originFlags(Origin.TWAP) }, 2)
  drainClosedOrders(tail)
  t.notOk('parent' in findFinished(tail, 1, 20, 3)!, 'its flags say that it is none')
  t.notOk('parent' in findFinished(tail, 1, 21, 3)!, 'of an order that is older than the cache it is not known')
})

t.test('a lapped reader misses what it missed and goes on', async (t) => {
  const { tail, counters, say } = setUp(32)
  t.teardown(() => closeClosedOrderCache(tail))
  for (let sequence = 1; sequence <= 40; sequence++) end(say, order(sequence), 2)
  drainClosedOrders(tail)
  t.equal(counters[GATEWAY.lapped], 1)
  t.equal(findFinished(tail, 1, 40, 3), undefined)
  end(say, order(41), 2)
  drainClosedOrders(tail)
  t.same(findFinished(tail, 1, 41, 3), order(41))
})
