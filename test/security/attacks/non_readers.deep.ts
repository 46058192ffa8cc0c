/**
 * Promise: clients of one address that ask and do not read what they are sent take a bounded memory, over REST and WebSockets, and keep
 * nobody from trading.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { findPython } from '../../support/python.ts'
import { SlowSockets } from '../../support/slow_sockets.ts'
import { newTrader, pairOf } from '../../support/traders.ts'

t.setTimeout(900_000)
const MB = 1024 * 1024
/** Room of a gateway thread for answers, and for what waits for WebSockets, MiB. One address has half of it. */
const ROOM_MB = 8
/** Connections at once. */
const CONNECTIONS = 40
/** Between two requests of one: each finds the one before it answered. */
const EVERY_MS = 50
const LOOKS_MAX = 1500
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

async function until(holds: (read: (name: string) => number) => boolean): Promise<boolean> {
  for (let look = 0; look < 500; look++) {
    if (holds(await metrics())) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

/** The most each of these metrics was until `ended`, and until the first of them was more than nothing. */
async function watch(names: readonly string[], ended: AbortSignal): Promise<number[]> {
  const most = names.map(() => 0)
  for (let look = 0; look < LOOKS_MAX && !(ended.aborted && most[0]! > 0); look++) {
    const read = await metrics()
    for (const [at, name] of names.entries()) most[at] = Math.max(most[at]!, read(name))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return most
}

const found = findPython('socket')
const python = 'python' in found ? found.python : ''
const skip = 'reason' in found ? `no Python: ${found.reason}` : false

t.test('REST: a long answer that nobody reads, asked for again and again', { skip }, async (t) => {
  const before = (await metrics())('resident_memory_bytes')
  let most: number[] = []
  const { attacked } = await besideAttack(t, exchange, {
    name: `${CONNECTIONS} connections that do not read`, ms: 4_000,
    attack: async (ended) => {
      const script = join(import.meta.dirname, '..', '..', 'support', 'mute_requests.py')
      const words = [exchange.port, CONNECTIONS, ATTACKER, EVERY_MS, '/api/v1/openapi.json'].map(String)
      const attackers = spawn(python, [script, ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
      most = await watch(['unsent_answer_bytes', 'resident_memory_bytes'], ended)
      attackers.kill('SIGKILL')
    },
  })
  const [held, resident] = most as [number, number]
  const read = await metrics()
  const cut = read('answers_refused_total') + read('answers_cut_total')
  t.comment(`${held / MB} MiB held at most, ${cut} refused or cut; ${Math.round((resident - before) / MB)} MiB more at most`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.ok(held > 0 && held <= (ROOM_MB / 2) * MB, `one address has half of the room, not ${held} bytes`)
  t.ok(resident - before < (ROOM_MB + SLACK_MB) * MB, 'the process does not grow by what was asked for')
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

t.test('WebSockets: snapshots that nobody reads', { skip }, async (t) => {
  const tradingPairId = await fillBook()
  const before = (await metrics())('resident_memory_bytes')
  let most: number[] = []
  const { attacked } = await besideAttack(t, exchange, {
    name: `${CONNECTIONS} WebSockets that do not read`, ms: 4_000,
    attack: async (ended) => {
      const sampled = watch(['websocket_waiting_bytes', 'resident_memory_bytes'], ended)
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
  t.ok(await until((read) => read('websocket_waiting_bytes') === 0), 'what was closed is given back')

  const late = await SlowSockets.open(python, exchange.port, 1, [tradingPairId], { from: ATTACKER, times: 20 })
  t.teardown(() => late.stop())
  t.ok(await until((read) => read('websocket_waiting_bytes') > 0))
  late.read().catch(() => undefined)
  t.ok(await until((read) => read('websocket_waiting_bytes') === 0), 'what is read is given back')
  t.equal((await metrics())('websocket_connections'), 1)
})
