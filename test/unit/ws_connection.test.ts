/** Promise: what goes wrong with a message of one connection ends that connection, is logged, and leaves the others alone. */
import Type from 'typebox'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { createBroadcast } from '../../core/ring/broadcast.ts'
import { BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'
import { GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Channel } from '../../gateway/ws/channels/channel.ts'
import { Connection, flushUntil, type Context } from '../../gateway/ws/connection.ts'
import { FanOut } from '../../gateway/ws/fan_out.ts'
import { AccountSockets } from '../../gateway/ws/limits.ts'

/** Two connections and a channel that fails for whoever subscribes with `fail`. */
function stage() {
  const log: string[] = []
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  const gateway = {
    config: readConfig([], {})!, counters, now: () => 0, bridge: { onError: (error: Error) => void log.push(error.message) },
  } as unknown as Gateway
  const channel: Channel = {
    declaration: { name: 'log', access: 'public', about: '', params: Type.Object({}), frames: {} },
    read: (params) => params,
    subscribe: (_, { fail }) => {
      if (fail === true) throw new Error('a fault')
      return true
    },
    unsubscribe: () => void log.push('unsubscribed'),
    take: () => undefined,
    flush: () => undefined,
  }
  const channels = new Map([['log', channel]])
  const dirty = new Set<Connection>()
  const fanOut = new FanOut({
    ring: createBroadcast(16), channels, counters, onError: () => undefined, resync: () => void log.push('resync'),
    send: (until) => flushUntil(dirty, until), now: () => 0,
  })
  t.teardown(() => fanOut.close())
  const accountSockets = new AccountSockets(new SharedArrayBuffer(4 * BUDGET_ROW_WORDS), 50)
  const context: Context = { gateway, fanOut, channels, dirty, accountSockets, flushSoon: () => undefined, stopping: () => false }
  const connect = (name: string): Connection => new Connection(context, {
    send: (frame) => void log.push(`${name}: ${frame.toString()}`), buffered: () => 0, together: (write) => write(),
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
