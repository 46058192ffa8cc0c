/**
 * Promise: what goes wrong with a message of one connection ends that connection, is logged, and leaves the others alone; a snapshot of
 * many frames draws as many messages; a subscription that its channel refuses is none, whenever that can be told.
 */
import Type from 'typebox'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { createBroadcast } from '../../core/ring/broadcast.ts'
import { BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'
import { GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import { Faults } from '../../gateway/faults.ts'
import type { Channel } from '../../gateway/ws/channels/channel.ts'
import { Connection, type Context } from '../../gateway/ws/connection.ts'
import { flushUntil } from '../../gateway/ws/flush.ts'
import { FanOut } from '../../gateway/ws/fan_out.ts'
import { AccountSockets } from '../../gateway/ws/limits.ts'
import { SignatureShares } from '../../gateway/stream/signature_shares.ts'

/**
 * Connections, and a channel that fails for whoever subscribes with `fail` and gives snapshots of `frames` frames. It refuses those who
 * name something `missing`, as soon as the state can be read.
 */
function stage(readable = { now: true }) {
  const log: string[] = []
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const gateway = {
    config: readConfig([], {})!, counters, now: () => 0, time: () => 0, faults: new Faults((error) => log.push((error as Error).message)),
  } as unknown as Gateway
  const channel: Channel = {
    declaration: { name: 'log', access: 'public', about: '', params: Type.Object({}), frames: {} },
    read: (params) => params,
    refusal: (_, { missing }) => (readable.now && missing === true ? 'not found' : null),
    subscribe: (subscriber, { fail, frames = 0 }) => {
      if (!readable.now) return false
      if (fail === true) throw new Error('a fault')
      for (let i = 0; i < (frames as number); i++) subscriber.push(Buffer.from('part'))
      return true
    },
    unsubscribe: () => void log.push('unsubscribed'),
    take: () => undefined,
    flush: () => undefined,
  }
  const channels = new Map([['log', channel]])
  const dirty = new Set<Connection>()
  const fanOut = new FanOut({
    ring: createBroadcast(16), channels, counters, faults: new Faults(() => undefined), resync: () => void log.push('resync'),
    send: (until) => flushUntil(dirty, until), now: () => 0,
  })
  t.teardown(() => fanOut.close())
  const signatures = new SignatureShares()
  const accountSockets = new AccountSockets(new SharedArrayBuffer(4 * BUDGET_ROW_WORDS), 50)
  const context: Context = {
    gateway, fanOut, channels, dirty, accountSockets, signatures, flushSoon: () => undefined, stopping: () => false,
  }
  const connect = (name: string): Connection => new Connection(context, {
    send: (frame) => log.push(`${name}: ${Buffer.from(frame).toString()}`) > 0,
    buffered: () => 0, holds: () => undefined, together: (write) => write(),
    end: (code, reason) => void log.push(`${name}: ${code} ${reason}`), drop: () => void log.push(`${name}: dropped`),
  })
  const send = (connection: Connection, message: object): void => {
    const bytes = new TextEncoder().encode(JSON.stringify(message))
    connection.receive(bytes.buffer, false)
  }
  return { log, connect, send, counters }
}

t.test('a message that fails closes its own connection with 1013 and no other', async (t) => {
  const { log, connect, send } = stage()
  const [mine, other] = [connect('mine'), connect('other')]
  send(other, { type: 'subscribe', channel: 'log' })
  send(mine, { type: 'subscribe', channel: 'log', params: { fail: true } })
  t.ok(log.includes('a fault'), 'it is logged')
  t.ok(log.includes('mine: 1013 internal error'))
  t.ok(log.includes('unsubscribed'), 'what it began is given back')
  t.notOk(log.includes('resync'), 'nobody else is sent away')
  send(other, { type: 'ping' })
  t.match(log.at(-1), /^other: \{"type":"pong"/)
  t.equal(mine.subscriptions, 0)
  other.release()
})

t.test('a snapshot of many frames draws as many messages, and never more than a third of the burst', async (t) => {
  const { log, connect, send } = stage()
  const [small, large] = [connect('small'), connect('large')]
  for (let i = 0; i < 100; i++) send(small, { type: 'subscribe', channel: 'log', params: { frames: 2 } })
  t.notOk(log.includes('small: 1008 MESSAGE_RATE_LIMIT'))
  const parts = (): number => log.filter((line) => line === 'large: part').length
  send(large, { type: 'subscribe', channel: 'log', params: { frames: 5000 } })
  send(large, { type: 'ping' })
  t.equal(parts(), 5000, 'one is always to be had')
  t.match(log.at(-1), /^large: \{"type":"pong"/)
  for (let i = 0; i < 10; i++) send(large, { type: 'subscribe', channel: 'log', params: { frames: 102 } })
  t.ok(log.includes('large: 1008 MESSAGE_RATE_LIMIT'), 'a thousand are more than the burst')
  t.ok(parts() < 5000 + 1020)
  small.release()
})

t.test('what a channel refuses', async (t) => {
  const readable = { now: true }
  const { log, connect, send } = stage(readable)
  const mine = connect('mine')
  const told = (): string[] => log.splice(0).filter((line) => line.startsWith('mine: ')).map((line) => {
    const { type, code, message } = JSON.parse(line.slice('mine: '.length)) as Record<string, string>
    return [type, code, message].join(' ').trim()
  })
  const missing = { type: 'subscribe', channel: 'log', id: 1, params: { missing: true } }
  send(mine, missing)
  mine.flush()
  t.match(told().at(-1), 'error INVALID_SUBSCRIPTION not found')
  t.equal(mine.subscriptions, 0)
  send(mine, { ...missing, type: 'unsubscribe' })
  mine.flush()
  t.same(told(), ['error INVALID_SUBSCRIPTION There is no such subscription'])

  readable.now = false
  send(mine, missing)
  send(mine, { type: 'subscribe', channel: 'log', params: {} })
  t.equal(mine.subscriptions, 2, 'nothing can be told yet')
  mine.flush()
  t.same(told().map((line) => line.split(' ')[0]), ['subscribed', 'error', 'subscribed', 'error'])
  readable.now = true
  while (log.length < 3) await new Promise((resolve) => setImmediate(resolve, mine.flush()))
  t.same(told(), ['error INVALID_SUBSCRIPTION not found', 'unsubscribed'])
  t.equal(mine.subscriptions, 1, 'the other one stands')
  mine.release()
})
