/**
 * Promise: a thousand listeners that stop reading hurt nobody. Each is cut when as much waits for it as the operator allows, and what it
 * got before has no gap; the process needs no more memory than that; those that read miss nothing, orders are answered, and nothing is
 * kept of who was cut.
 * Alone: slow readers beside quick ones.
 */
import t from 'tap'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Client } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { Listener } from '../support/listener.ts'
import { findPython } from '../support/python.ts'
import { SlowSockets, socketsPossible } from '../support/slow_sockets.ts'
import { SocketClient } from '../support/sockets.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const SLOW = socketsPossible(1000)
const BUFFER_KB = 32
const HEALTHY = 4
const MAGNITUDES = [1, 10]
/** Many times what it takes. */
const ROUNDS_MAX = 2000
const BATCH = 100
/** What trading makes the process touch and what the collector leaves lying, MiB. */
const SLACK_MB = 200
/** A buffer grows by doubling. */
const MEMORY_MOST = SLOW * 2 * BUFFER_KB * 1024 + SLACK_MB * 2 ** 20
t.setTimeout(600_000)

/** A batch around 0.3, a part of which trades. */
async function trade(client: Client, pair: string, random: Prng): Promise<number> {
  const orders = Array.from({ length: BATCH }, () => {
    const buys = random.below(2) === 0
    const away = (random.below(120) - 10) * 0.0001
    return {
      tradingPairId: pair, orderType: 'LIMIT' as const, side: buys ? 'BUY' as const : 'SELL' as const,
      quantity: String(5 * (1 + random.below(4))), price: (0.3 + (buys ? -away : away)).toFixed(4),
    }
  })
  const { totalSucceeded } = await client.BatchCreateOrders({ orders })
  return totalSucceeded
}

const found = findPython('socket')
const python = 'python' in found ? found.python : ''
const skip = 'reason' in found ? `no Python: ${found.reason}` : false
const directory = temporaryDirectory()
// The ring is longer than all that happens here: nobody is lapped. Nobody is idle for too long either.
const exchange = await startExchange(directory, [
  '--gateways', '1', '--chain', '0', '--event-ring', '262144', '--ws-buffer-kb', String(BUFFER_KB), '--ws-idle-seconds', '960',
])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/e2e/ws_slow_sockets.test.ts`)

/** A sample of the operator's metrics, of the gateway. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  const samples = [...text.matchAll(new RegExp(`^exchange_${name}(?:\\{gateway="1"[^}]*\\})? (\\S+)$`, 'gm'))]
  return samples.reduce((sum, [, value]) => sum + Number(value), 0)
}

/** Somebody who reads both books of the pair. */
async function listen(pair: string): Promise<Listener> {
  const socket = await SocketClient.open(exchange.port)
  for (const magnitude of MAGNITUDES) await socket.subscribe('orderbook', { tradingPairId: pair, magnitude })
  return new Listener(socket)
}

t.test('a thousand that do not read', { skip }, async (t) => {
  const random = createPrng(SEED)
  const traders = [await newTrader(exchange.baseUrl, 5), await newTrader(exchange.baseUrl, 5)]
  const { client } = traders[0]!
  const pair = await pairOf(client, 'SEI/USDC')
  const listeners = await Promise.all(Array.from({ length: HEALTHY }, () => listen(pair)))
  for (let i = 0; i < 10; i++) await trade(traders[i % 2]!.client, pair, random)

  const before = await metric('resident_memory_bytes')
  const slow = await SlowSockets.open(python, exchange.port, SLOW, [pair])
  t.teardown(() => slow.stop())
  let [cut, most, rounds, unanswered] = [0, 0, 0, 0]
  for (; rounds < ROUNDS_MAX && cut < SLOW && most < MEMORY_MOST; rounds++) {
    const { client: each } = traders[rounds % 2]!
    // What is locked comes back now and then, so that there are always funds.
    if (rounds % 16 > 13) await each.BatchCancelAllOrders({})
    else if (await trade(each, pair, random) === 0) unanswered++
    for (const listener of listeners) listener.catchUp()
    cut = await metric('websocket_slow_total')
    most = Math.max(most, await metric('resident_memory_bytes') - before)
  }
  t.comment(`${SLOW} sockets cut in ${rounds} rounds; ${(most / 2 ** 20).toFixed(0)} MiB more at most`)
  t.equal(cut, SLOW, 'each is cut')
  t.equal(unanswered, 0, 'trading went on')
  t.ok(most < MEMORY_MOST, 'memory is bounded')
  const left = await slow.read()
  t.equal(left.ended, SLOW)
  t.equal(left.gaps, 0, 'nothing was dropped in between')
  t.ok(left.frames > 2 * SLOW, `${left.frames} frames were written before`)

  for (const magnitude of MAGNITUDES) {
    const { sequence, checksum } = await client.GetOrderbook({ tradingPairId: pair, depth: 1000, magnitude })
    for (const listener of listeners) {
      await listener.client.next(({ channel, data, sequence: told }) =>
        channel === 'orderbook' && data?.magnitude === magnitude && told >= sequence)
      listener.catchUp()
      t.match(listener.books.get(magnitude), { sequence, checksum }, 'who reads has everything')
    }
  }
  t.equal(await metric('websocket_connections'), HEALTHY)
  for (const listener of listeners) listener.client.close()
  for (let i = 0; i < 1000 && await metric('websocket_connections') > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  for (const name of ['connections', 'subscriptions', 'authenticated_connections']) t.equal(await metric(`websocket_${name}`), 0, name)
  t.equal(await metric('websocket_waiting_bytes'), 0, 'nothing is kept of who was cut')
  t.equal(await metric('websocket_closes_total'), 0, 'none with a code: who does not read would not see it')
  t.equal(await metric('unhandled_errors_total'), 0)
})
