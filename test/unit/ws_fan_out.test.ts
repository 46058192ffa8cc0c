/**
 * Promise: the fan-out lets channels tell what happened, and connections subscribe, between two commands only, in order; what a snapshot
 * has is not told again and what follows it is; a reader that was lapped and a channel that is contradicted make everybody begin anew.
 */
import t from 'tap'
import Type from 'typebox'
import { PAIR, PAIR_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, FILL, outcomeOf, Reason, RESULT, Status } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { broadcast, createBroadcast } from '../../core/ring/broadcast.ts'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Channel } from '../../gateway/ws/channels/channel.ts'
import { ORDERBOOK } from '../../gateway/ws/channels/orderbook.ts'
import { FanOut } from '../../gateway/ws/fan_out.ts'
import { testGenesis } from '../support/gateway_harness.ts'

/** Records: the kinds and fields given. */
function records(...rows: [layout: typeof RESULT | typeof FILL, values: Decoded][]): Int32Array {
  const views = viewsOf(new ArrayBuffer(rows.length * RECORD_BYTES))
  rows.forEach(([layout, values], i) => encode(layout, views, i * RECORD_WORDS, values))
  return views.i32
}
const fill = (sequence: number): [typeof FILL, Decoded] => [FILL, { kind: EventType.FILL, sequence }]
const result = (sequence: number, values: Decoded = {}): [typeof RESULT, Decoded] => [
  RESULT, { kind: EventType.RESULT | (CommandType.PLACE_ORDER << 8), sequence, ...values },
]

/** A fan-out over a ring of 16, with a channel that writes down what it is asked. */
function stage(fails = false) {
  const ring = createBroadcast(16)
  const told: string[] = []
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const channel: Channel = {
    declaration: { name: 'log', access: 'public', about: '', params: Type.Object({}), frames: {} }, read: () => ({}), subscribe: () => true,
    unsubscribe: () => undefined,
    take: ({ f64, u32 }, base) => {
      if (fails) throw new Error('contradicted')
      const at = (u32[base]! & 0xff) === EventType.FILL ? FILL.at.sequence : RESULT.at.sequence
      told.push(`take ${f64[(base + at) >>> 1]}`)
    },
    flush: () => void told.push('flush'),
  }
  const fanOut = new FanOut({
    ring, counters, channels: new Map([['log', channel]]), send: () => told.push('send') > 0, resync: () => void told.push('resync'),
    faults: new Faults((error) => told.push((error as Error).message)), now: () => 0,
  })
  t.teardown(() => fanOut.close())
  const write = (...rows: Parameters<typeof records>): void => broadcast(ring, records(...rows), rows.length)
  return { ring, told, fanOut, write, counters }
}

t.test('half a command is neither told nor subscribed into', async (t) => {
  const { told, fanOut, write } = stage()
  fanOut.count(1)
  write(fill(1), result(1), fill(2))
  fanOut.tick()
  t.strictSame(told, ['take 1', 'take 1', 'take 2', 'send'], 'nothing is flushed in the middle')
  fanOut.betweenCommands(() => told.push('first'))
  fanOut.betweenCommands(() => told.push('second'))
  t.equal(told.length, 4, 'they wait')
  write(result(2))
  fanOut.tick()
  t.strictSame(told.slice(4), ['take 2', 'flush', 'first', 'second', 'send'])
  fanOut.betweenCommands(() => told.push('third'))
  t.strictSame(told.slice(-2), ['third', 'send'], 'at once between commands')
})

t.test('what waits for the end of a command is done although the last listener left', async (t) => {
  const { told, fanOut, write } = stage()
  fanOut.count(1)
  write(fill(1))
  fanOut.tick()
  fanOut.betweenCommands(() => told.push('waited'))
  fanOut.count(-1)
  const until = async (condition: () => boolean): Promise<boolean> => {
    for (let i = 0; i < 2000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    return condition()
  }
  // The turn that was due when he left finds the command still unfinished.
  t.ok(await until(() => told.filter((what) => what === 'send').length > 1))
  t.notOk(told.includes('waited'))
  write(result(1))
  t.ok(await until(() => told.includes('waited')))
})

t.test('without subscriptions nothing is read, and the first begins with what comes', async (t) => {
  const { told, fanOut, write } = stage()
  write(fill(1))
  fanOut.betweenCommands(() => told.push('at once'))
  fanOut.count(1)
  write(result(1), result(2))
  fanOut.tick()
  t.strictSame(told, ['at once', 'send', 'take 1', 'take 2', 'flush', 'send'])
})

t.test('a reader that was lapped says so', async (t) => {
  const { told, fanOut, write, counters } = stage()
  fanOut.count(1)
  write(...Array.from({ length: 17 }, (_, i) => result(i)))
  fanOut.tick()
  t.ok(told.includes('resync'))
  t.equal(counters[GATEWAY.lapped], 1)
  write(result(20))
  fanOut.tick()
  t.strictSame(told.slice(-3), ['take 20', 'flush', 'send'], 'and goes on with what comes')
})

t.test('a channel that is contradicted makes everybody begin anew, and an act that fails', async (t) => {
  const { told, fanOut, write } = stage(true)
  fanOut.count(1)
  write(result(1))
  fanOut.tick()
  t.strictSame(told, ['contradicted', 'resync', 'send'])
  fanOut.betweenCommands(() => {
    throw new Error('failed')
  })
  t.strictSame(told.slice(3), ['failed', 'resync', 'send'])
})

t.test('a book takes in what is behind its copy, each event of a command, and nothing the copy has', async (t) => {
  const genesis = parseGenesis(testGenesis())
  const state = createState(genesis)
  const pair = genesis.pairs[0]!
  state.pairsF64[(pair.index * PAIR_WORDS + PAIR.SEQUENCE) >>> 1] = 10
  const pairs = new Map([[pair.id, pair]])
  const gateway = { genesis, state, gate: new Int32Array(16), pairs, now: () => 0, time: () => 0 } as unknown as Gateway
  const book = ORDERBOOK.create(gateway)
  const frames: { sequence: number; data: { previousSequence: number; bids: object[]; asks: object[] } }[] = []
  const subscriber = { account: -1, push: (frame: Buffer) => void frames.push(JSON.parse(frame.toString())) }
  const terms = book.read({ tradingPairId: pair.id }) as Record<string, unknown>
  t.ok(book.subscribe(subscriber, terms))
  t.match(frames[0], { type: 'snapshot', sequence: 10 })
  const rests = { pair: pair.index, slot: 1, price: 100, lots: 5, remaining: 5, outcome: outcomeOf(Status.SUBMITTED, Reason.NONE) }
  const take = (...rows: Parameters<typeof records>): void => {
    const views = viewsOf(records(...rows).buffer as ArrayBuffer)
    rows.forEach((_, i) => book.take(views, i * RECORD_WORDS))
  }
  take(result(9, rests), result(10, rests))
  book.flush(Infinity)
  t.equal(frames.length, 1, 'the copy has it')
  take(result(11, rests), [FILL, { kind: EventType.FILL, pair: pair.index, sequence: 12, price: 100, lots: 2 }],
    [FILL, { kind: EventType.FILL, pair: pair.index, sequence: 12, price: 100, lots: 1 }],
    result(12, { ...rests, remaining: 0, outcome: 3 }))
  book.flush(Infinity)
  t.match(frames[1], { sequence: 12, data: { previousSequence: 10, asks: [] } })
  t.strictSame(frames[1]!.data.bids, [{ price: '1', quantity: '0.0002' }], 'one level, changed three times')
  const late = { account: -1, push: (frame: Buffer) => void frames.push(JSON.parse(frame.toString())) }
  take(result(13, { ...rests, price: 99 }))
  book.subscribe(late, terms)
  t.match(frames.slice(2), [{ type: 'orderbook_update', sequence: 13 }, { type: 'snapshot', sequence: 13 }], 'first told, then copied')
  t.equal(frames[3]!.data.bids.length, 2)
})
