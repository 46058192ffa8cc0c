/**
 * Promise: what listeners are sent leaves in slices, between which the thread does other things. Of each connection frames leave in their
 * order, also those that are made only then; a snapshot goes on as its client reads, and who does not read is cut; the next turn waits
 * for the last slice, and how late that was is counted once.
 */
import { mock } from 'node:test'
import Type from 'typebox'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { CommandType } from '../../core/layout/command.ts'
import { EventType, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { broadcast, createBroadcast } from '../../core/ring/broadcast.ts'
import { BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'
import { countersBytes, GATEWAY, gatewayCounters, LAG_BUCKETS, LAG_HISTOGRAM, LAG_SUM } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Channel } from '../../gateway/ws/channels/channel.ts'
import { Connection, type Context } from '../../gateway/ws/connection.ts'
import { flushUntil } from '../../gateway/ws/flush.ts'
import { FanOut } from '../../gateway/ws/fan_out.ts'
import { LATER_BYTES, READS_MS } from '../../gateway/ws/outbox.ts'
import { AccountSockets } from '../../gateway/ws/limits.ts'
import { SignatureShares } from '../../gateway/stream/signature_shares.ts'

const HELD = 5_000_000
const NOW = 1_000_020

/** Connections with sockets that write down what they are sent; `held`: bytes that their clients do not take, `kept`: that wait here. */
function stage(send?: (until: number) => boolean) {
  const log: string[] = []
  const counters = gatewayCounters(new SharedArrayBuffer(countersBytes(1)), 1)
  const held = new Map<string, number>()
  const kept = new Map<string, number>()
  const dirty = new Set<Connection>()
  const channel: Channel = {
    declaration: { name: 'log', access: 'public', about: '', params: Type.Object({}), frames: {} },
    read: (params) => params, subscribe: () => true, unsubscribe: () => undefined, take: () => undefined,
    flush: (most) => void log.push(most === Infinity ? 'flush all' : 'flush'),
  }
  const channels = new Map([['log', channel]])
  const ring = createBroadcast(16)
  const fanOut = new FanOut({
    ring, channels, counters, faults: new Faults(() => undefined), resync: () => undefined, now: () => NOW,
    send: send ?? ((until) => flushUntil(dirty, until)),
  })
  t.teardown(() => fanOut.close())
  const gateway = {
    config: readConfig([], {})!, counters, now: () => NOW, time: () => NOW,
    faults: new Faults((error) => log.push((error as Error).message)),
  } as unknown as Gateway
  const signatures = new SignatureShares()
  const accountSockets = new AccountSockets(new SharedArrayBuffer(4 * BUDGET_ROW_WORDS), 50)
  const context: Context = {
    gateway, fanOut, channels, dirty, accountSockets, signatures, flushSoon: () => undefined, stopping: () => false,
  }
  const connect = (name: string): Connection => new Connection(context, {
    send: (frame) => log.push(`${name} ${Buffer.from(frame).toString()}`) > 0 && !held.has(name), buffered: () => held.get(name) ?? 0,
    together: (write) => write(), holds: (bytes) => void kept.set(name, bytes),
    end: (code) => void log.push(`${name} ${code}`), drop: () => void log.push(`${name} dropped`),
  })
  return { log, counters, held, kept, dirty, fanOut, connect, ring }
}

const text = (value: string): Buffer => Buffer.from(value)

t.test('a slice ends when its time is over and the next goes on', async (t) => {
  const { log, dirty, connect } = stage()
  const connections = Array.from({ length: 40 }, (_, i) => connect(String(i)))
  for (const connection of connections) connection.push(text('one'))
  t.notOk(flushUntil(dirty, 0))
  const first = log.length
  t.ok(first > 0 && first < 40, 'part of them')
  connections[39]!.push(text('two'))
  t.ok(flushUntil(dirty, Infinity))
  t.strictSame(log, [...connections.map((_, i) => `${i} one`), '39 two'], 'each once, in order')
  t.equal(dirty.size, 0)
})

t.test('frames that are made later keep their place, and others go on between them', async (t) => {
  const { log, dirty, connect } = stage()
  const [long, short] = [connect('long'), connect('short')]
  const page = (number: number) => () => {
    log.push(`make ${number}`)
    return text(`page ${number}`)
  }
  for (const frame of [text('subscribed'), page(1), page(2), text('update'), page(3)]) long.push(frame)
  short.push(text('update'))
  t.notOk(flushUntil(dirty, 0), 'one step is a slice')
  t.strictSame(log, ['long subscribed'])
  t.ok(flushUntil(dirty, Infinity))
  t.strictSame(log, [
    'long subscribed', 'short update', 'make 1', 'long page 1', 'make 2', 'long page 2', 'long update', 'make 3', 'long page 3',
  ])
  log.length = 0
  for (const frame of [page(1), page(2), text('update')]) long.push(frame)
  long.close(1001, 'going')
  t.strictSame(log, ['make 1', 'long page 1', 'make 2', 'long page 2', 'long update', 'long 1001'], 'a close waits for all')
})

t.test('a snapshot longer than the bound goes on as its client reads, and who reads nothing is cut', async (t) => {
  const { log, dirty, connect, held, counters } = stage()
  const page = (): Buffer => text('page')
  const begin = (name: string): Connection => {
    const connection = connect(name)
    for (const frame of [text('subscribed'), page, page, text('update')]) connection.push(frame)
    flushUntil(dirty, 0)
    held.set(name, HELD)
    t.ok(flushUntil(dirty, Infinity), 'nothing that could be sent is left')
    t.strictSame(log.splice(0), [`${name} subscribed`], 'no page is made for who does not read')
    return connection
  }
  const reads = begin('reads')
  reads.drained()
  while (reads.flush());
  t.strictSame(log, [], 'it read too little')
  held.set('reads', 400_000)
  reads.drained()
  while (reads.flush());
  t.strictSame(log.splice(0), ['reads page', 'reads page', 'reads update'])
  const behind = begin('behind')
  const update = Buffer.alloc(500_000)
  behind.push(update)
  behind.reply(update)
  t.notOk(behind.closed, 'within the bound')
  behind.push(update)
  t.ok(behind.closed)
  t.strictSame(log.splice(0), ['behind dropped'])
  const later = begin('later')
  for (let i = 0; i < 2000 && !later.closed; i++) later.push(page)
  t.ok(later.closed, 'snapshots that wait are bounded too')
  t.strictSame(log.splice(0), ['later dropped'])
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const silent = begin('silent')
  mock.timers.tick(READS_MS - 1)
  t.notOk(silent.closed)
  mock.timers.tick(1)
  t.ok(silent.closed)
  t.strictSame(log, ['silent dropped'])
  t.equal(counters[GATEWAY.ws_slow], 3)
})

t.test('what a snapshot is made of is held for its socket until it was made, and what waits behind it', async (t) => {
  const { connect, dirty, held, kept } = stage()
  const connection = connect('a')
  const page = (): Buffer => text('page')
  for (let i = 0; i < 3; i++) connection.push(page)
  t.equal(kept.get('a'), 3 * LATER_BYTES)
  t.notOk(flushUntil(dirty, 0))
  t.equal(kept.get('a'), 2 * LATER_BYTES)
  connection.push(Buffer.alloc(1000))
  held.set('a', HELD)
  t.ok(flushUntil(dirty, Infinity))
  t.equal(kept.get('a'), 2 * LATER_BYTES + 1000, 'it reads nothing')
  connection.push(Buffer.alloc(500))
  connection.push(page)
  t.equal(kept.get('a'), 3 * LATER_BYTES + 1500)
  held.delete('a')
  connection.drained()
  while (connection.flush());
  t.equal(kept.get('a'), 0)
  connection.push(() => {
    throw new Error('a fault')
  })
  connection.push(page)
  connection.flush()
  t.ok(connection.closed)
})

t.test('a frame that cannot be made ends its connection with 1013 and no other', async (t) => {
  const { log, dirty, connect } = stage()
  const [mine, other] = [connect('mine'), connect('other')]
  mine.push(() => {
    throw new Error('a fault')
  })
  mine.push(text('never'))
  other.push(text('one'))
  t.ok(flushUntil(dirty, Infinity))
  t.strictSame(log, ['a fault', 'mine 1013', 'other one'])
})

t.test('a turn ends with its last slice, and its lag is counted once', async (t) => {
  let slices = 0
  let frames = 0
  let done = (): void => undefined
  const ended = new Promise<void>((resolve) => (done = resolve))
  const { counters, fanOut, ring, log } = stage(() => {
    counters[GATEWAY.ws_frames] = ++frames
    if (++slices === 4) setImmediate(done)
    return slices >= 4
  })
  // Without a listener no timer makes a turn of its own.
  const views = viewsOf(new ArrayBuffer(2 * RECORD_BYTES))
  for (const [i, time] of [NOW - 20, NOW].entries()) {
    encode(RESULT, views, i * (RECORD_BYTES / 4), { kind: EventType.RESULT | (CommandType.PLACE_ORDER << 8), sequence: i + 1, time })
  }
  broadcast(ring, views.i32, 2)
  fanOut.tick()
  t.equal(slices, 1, 'one at once')
  fanOut.betweenCommands(() => log.push('act'))
  t.strictSame(log, ['flush', 'act'], 'who comes meanwhile is served')
  t.equal(slices, 1, 'and told with the next slice')
  await ended
  t.equal(slices, 4)
  const buckets = [...counters.subarray(LAG_HISTOGRAM, LAG_HISTOGRAM + LAG_BUCKETS.length + 1)]
  t.equal(buckets.reduce((sum, count) => sum + count), 1)
  t.equal(buckets[LAG_BUCKETS.indexOf(0.02)], 1, 'of the oldest event')
  t.equal(counters[LAG_SUM], 0.02)
})

t.test('the last turn before a stop leaves no topic to a next one', async (t) => {
  const { log, fanOut } = stage()
  fanOut.tick()
  fanOut.tick(Infinity)
  t.strictSame(log, ['flush', 'flush all'])
})

t.test('an answer that leaves at once does not overtake what waits, and cuts who does not read', async (t) => {
  const { log, counters, held, connect } = stage()
  const connection = connect('a')
  connection.push(text('first'))
  const answer = text('full')
  connection.replyNow(answer)
  answer.write('gone')
  while (connection.flush());
  connection.replyNow(text('now'))
  t.same(log, ['a first', 'a full', 'a now'], 'bytes that are used again are copied before they wait')
  held.set('a', 1)
  connection.replyNow(text('a little waits'))
  t.notOk(connection.closed)
  held.set('a', 2 ** 30)
  connection.replyNow(text('too much waits'))
  t.ok(connection.closed)
  t.equal(log.at(-1), 'a dropped')
  t.equal(counters[GATEWAY.ws_slow], 1)
  t.equal(counters[GATEWAY.ws_frames], 5)
})
