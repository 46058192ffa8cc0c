/**
 * Promise: clients of one address that ask and do not read what they are sent take a bounded memory, over REST and WebSockets, and keep
 * nobody from trading.
 */
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { findPython } from '../../support/python.ts'
import { SlowSockets } from '../../support/slow_sockets.ts'
import { newTrader, pairOf } from '../../support/traders.ts'

t.setTimeout(180_000)
const MB = 1024 * 1024
/** Room of a gateway thread for answers, and for what waits for WebSockets, MiB. One address has half of it. */
const ROOM_MB = 8
/** Connections at once: of each the kernels hold some MiB before anything waits in the service. */
const CONNECTIONS = 40
/** Between two requests of one: each finds the one before it answered. */
const EVERY_MS = 20
const ATTACKER = '127.0.0.2'
/** What trading makes the process touch and what the collector leaves lying, MiB. */
const SLACK_MB = 250

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, [
  '--chain', '0', '--gateways', '1', '--answer-mb', String(ROOM_MB), '--ws-buffers-mb', String(ROOM_MB),
])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})

async function metrics(): Promise<(name: string) => number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return (name) =>
    [...text.matchAll(new RegExp(`^exchange_${name}(?:{.*})? (\\S+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0)
}

/** The most each of these metrics was until `ended`. */
async function watch(names: readonly string[], ended: AbortSignal): Promise<number[]> {
  const most = names.map(() => 0)
  while (!ended.aborted) {
    const read = await metrics()
    for (const [at, name] of names.entries()) most[at] = Math.max(most[at]!, read(name))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return most
}

/** Keeps {@link CONNECTIONS} connections open that never read and ask all the time; returns how many of them were closed. */
async function ask(next: (turn: number) => string, ended: AbortSignal): Promise<number> {
  const turns = new Map<Socket, number>()
  let closed = 0
  while (!ended.aborted) {
    while (turns.size < CONNECTIONS) {
      const socket = connect({ port: exchange.port, host: '127.0.0.1', localAddress: ATTACKER })
      // A socket that does not read learns from its next write that it was closed.
      socket.on('error', () => undefined).on('close', () => (closed += turns.delete(socket) ? 1 : 0))
      socket.pause()
      turns.set(socket, 0)
    }
    for (const [socket, turn] of turns) {
      socket.write(next(turn))
      turns.set(socket, turn + 1)
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  }
  for (const socket of turns.keys()) socket.destroy()
  return closed
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: attack\r\n\r\n`

t.test('REST: long listings that nobody reads, one after the other and pipelined', async (t) => {
  const before = (await metrics())('resident_memory_bytes')
  let most: number[] = []
  let closed = 0
  const { attacked } = await besideAttack(t, exchange, {
    name: `${CONNECTIONS} connections that do not read`, ms: 4_000,
    attack: async (ended) => {
      const attack = Promise.all([
        ask(() => get('/api/v1/openapi.json'), ended), ask(() => get('/health').repeat(50), ended),
      ])
      const [seen, [long, short]] = await Promise.all([watch(['unsent_answer_bytes', 'resident_memory_bytes'], ended), attack])
      most = seen
      closed = long + short
    },
  })
  const [held, resident] = most as [number, number]
  t.comment(`${held / MB} MiB held at most, ${closed} connections closed; ${Math.round((resident - before) / MB)} MiB more at most`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.ok(held > 0 && held <= (ROOM_MB / 2) * MB, 'one address has half of the room')
  t.ok(resident - before < (ROOM_MB + SLACK_MB) * MB, 'the process does not grow by what was asked for')
  const read = await metrics()
  t.ok(read('answers_refused_total') + read('answers_cut_total') + closed > 0)
})

/** A book that is long to tell. */
async function fillBook(): Promise<string> {
  const { client } = await newTrader(exchange.baseUrl, 5)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  for (let batch = 0; batch < 8; batch++) {
    const orders = Array.from({ length: 100 }, (_, i) => {
      const away = 0.0001 * (batch * 100 + i + 1)
      return { tradingPairId, orderType: 'LIMIT' as const, side: 'BUY' as const, quantity: '5', price: (0.3 - away).toFixed(4) }
    })
    if ((await client.BatchCreateOrders({ orders })).totalSucceeded !== 100) throw new Error('no book')
  }
  return tradingPairId
}

const found = findPython('socket')
const skip = 'reason' in found ? `no Python: ${found.reason}` : false

t.test('WebSockets: snapshots that nobody reads', { skip }, async (t) => {
  const tradingPairId = await fillBook()
  const before = (await metrics())('resident_memory_bytes')
  let most: number[] = []
  const { attacked } = await besideAttack(t, exchange, {
    name: `${CONNECTIONS} WebSockets that do not read`, ms: 4_000,
    attack: async (ended) => {
      const sampled = watch(['websocket_waiting_bytes', 'resident_memory_bytes'], ended)
      const python = 'python' in found ? found.python : ''
      const slow = await SlowSockets.open(python, exchange.port, CONNECTIONS, [tradingPairId], { from: ATTACKER, times: 30 })
      most = await sampled
      slow.stop()
    },
  })
  const [waiting, resident] = most as [number, number]
  const read = await metrics()
  t.comment(`${waiting / MB} MiB waited at most, ${read('websocket_crowded_total')} were cut for that; `
    + `${Math.round((resident - before) / MB)} MiB more at most`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.ok(waiting > 0 && waiting <= (ROOM_MB / 2) * MB, 'one address has half of the room')
  t.ok(read('websocket_crowded_total') > 0, 'who has most of it is cut')
  t.ok(resident - before < (ROOM_MB + SLACK_MB) * MB)
})
