/**
 * Promise: whoever sends what takes long to read (2 MiB of unknown fields, deep lists, deep messages on WebSockets) or to answer (large
 * listings), without a signature and as fast as the connections allow, keeps nobody from trading; each answer is one, or a named refusal.
 */
import t, { type Test } from 'tap'
import { besideAttack, type BesideAttack } from '../../support/attack.ts'
import { historyReached, removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { fetchFrom } from '../../support/fetch_from.ts'
import { connectGrpc, type GrpcClient } from '../../support/grpc.ts'
import { SocketClient, type Frame } from '../../support/sockets.ts'
import { newTrader, pairOf } from '../../support/traders.ts'

t.setTimeout(900_000)
const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, ['--chain', '0'])
const attacker = fetchFrom('127.0.0.2', 24)
t.teardown(async () => {
  attacker.close()
  await exchange.kill()
  removeDirectory(dataDir)
})

/** What threads gave to requests of nobody so far, s. */
async function given(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('exchange_request_seconds_total') && line.includes('who="anybody"'))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** What the attacker was answered with, by status and code. */
type Answers = Record<string, number>

/** Runs `one` on so many connections beside an honest trader. */
async function flood(t: Test, name: string, connections: number, one: () => Promise<Response>): Promise<Answers> {
  const answers: Answers = {}
  const seen = await besideAttack(t, exchange, {
    name,
    attack: async (ended) => {
      const loop = async (): Promise<void> => {
        while (!ended.aborted) {
          // A connection whose body is refused may be closed while it is sent.
          const response = await one().catch(() => null)
          const { code = '' } = response === null || response.status < 300 ? {} : ((await response.json()) as { code: string })
          const outcome = response === null ? 'closed' : `${response.status} ${code}`.trim()
          answers[outcome] = (answers[outcome] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: connections }, loop))
    },
  })
  t.comment(JSON.stringify(answers))
  honest(t, seen)
  return answers
}

function honest(t: Test, { attacked }: BesideAttack): void {
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
}

const headers = { 'Content-Type': 'application/json', 'User-Agent': 'attack' }
const post = (path: string, body: string) => (): Promise<Response> =>
  attacker.fetch(`${exchange.baseUrl}${path}`, { method: 'POST', headers, body })
const FIELDS = `{${Array.from({ length: 150_000 }, (_, i) => `"k${i}":0`).join(',')}}`
const DEEP = '['.repeat(2 * 1024 * 1024)

for (const [name, text] of Object.entries({ 'unknown fields': FIELDS, 'deep lists': DEEP })) {
  t.test(`${name} to a public operation`, async (t) => {
    const answers = await flood(t, name, 8, post('/api/v1/auth/challenge', text))
    t.same(Object.keys(answers).filter((answer) => !['413 BODY_TOO_LARGE', 'closed'].includes(answer)), [])
  })
}

t.test('unknown fields, as many as fit', async (t) => {
  const answers = await flood(t, 'unknown fields, as many as fit', 8, post('/api/v1/auth/challenge', FIELDS.slice(0, 4_000)))
  t.same(Object.keys(answers).filter((answer) => !/^(400 BODY_TOO_COMPLEX|429 RATE_LIMIT_EXCEEDED|503 OVERLOADED)$/.test(answer)), [])
})

t.test('deep messages on WebSockets', async (t) => {
  const message = '['.repeat(16_000)
  let closed = 0
  honest(t, await besideAttack(t, exchange, {
    name: 'deep messages on 16 WebSockets',
    attack: async (ended) => {
      const loop = async (): Promise<void> => {
        while (!ended.aborted) {
          const client = await SocketClient.open(exchange.port)
          let open = true
          void client.closed.then(() => (open = false))
          while (open && !ended.aborted) {
            client.send(message)
            await new Promise((resolve) => setTimeout(resolve, 2))
          }
          if (!open) closed++
          client.close()
        }
      }
      await Promise.all(Array.from({ length: 16 }, loop))
    },
  }))
  t.ok(closed > 0, `${closed} were closed for what they sent`)
})

t.test('heads that are refused, preflights and documents', async (t) => {
  const paths = ['/nope', '/api/v1/openapi.json', '/api/v1/accounts/me', '/docs', '/api/v1/asyncapi.json', '/health']
  let next = 0
  const answers = await flood(t, 'documents and refusals on 24 connections', 24, () => {
    const path = paths[next++ % paths.length]!
    return attacker.fetch(`${exchange.baseUrl}${path}`, { headers, method: next % 7 === 0 && path !== '/health' ? 'OPTIONS' : 'GET' })
  })
  const named = /^(200|204|404 ROUTE_NOT_FOUND|401 UNAUTHENTICATED|405 METHOD_NOT_ALLOWED|429 RATE_LIMIT_EXCEEDED|503 OVERLOADED|closed)$/
  t.same(Object.keys(answers).filter((answer) => !named.test(answer)), [])
})

t.test('public calls over gRPC, beside who trades there', async (t) => {
  const flooding = Array.from({ length: 4 }, () => connectGrpc(exchange.grpcPort))
  const answers: Answers = {}
  const before = await given()
  honest(t, await besideAttack(t, exchange, {
    name: 'public calls over gRPC, 100 at once',
    overGrpc: true,
    attack: async (ended) => {
      const loop = async (client: GrpcClient): Promise<void> => {
        while (!ended.aborted) {
          const { code, reason } = await client.call('ListTradingPairs', { pageSize: 100 })
          const outcome = `${code} ${reason ?? ''}`.trim()
          answers[outcome] = (answers[outcome] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: 100 }, (_, i) => loop(flooding[i % flooding.length]!)))
    },
  }))
  for (const client of flooding) client.close()
  t.comment(JSON.stringify(answers))
  t.same(Object.keys(answers).filter((answer) => !/^(0|8 RATE_LIMIT_EXCEEDED|14 OVERLOADED)$/.test(answer)), [])
  t.ok(await given() > before, 'it is paid for')
})

t.test('subscriptions that come and go on several sockets', async (t) => {
  const answer = await fetch(`${exchange.baseUrl}/api/v1/market/pairs?pageSize=100`, { headers })
  const { tradingPairs } = (await answer.json()) as { tradingPairs: Frame[] }
  const ids = tradingPairs.map(({ id }) => id as string)
  const seen: Answers = {}
  honest(t, await besideAttack(t, exchange, {
    name: 'subscriptions that come and go on 24 WebSockets',
    attack: async (ended) => {
      const loop = async (number: number): Promise<void> => {
        for (let socket = 0; !ended.aborted && socket < 20; socket++) {
          const client = await SocketClient.open(exchange.port)
          let open = true
          void client.closed.then(() => (open = false))
          for (let i = 0; open && !ended.aborted; i++) {
            const params = { tradingPairId: ids[(number + i) % ids.length]! }
            for (const channel of ['orderbook', 'trades']) {
              client.send({ type: 'subscribe', channel, params })
              client.send({ type: 'unsubscribe', channel, params })
            }
            if (i % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 10))
          }
          for (const { type, code } of client.frames) {
            const outcome = type === 'error' ? String(code) : String(type)
            seen[outcome] = (seen[outcome] ?? 0) + 1
          }
          client.close()
        }
      }
      await Promise.all(Array.from({ length: 24 }, (_, number) => loop(number)))
    },
  }))
  t.comment(JSON.stringify(seen))
  t.ok(seen['subscribed']! > 0, 'who listens is served')
  const named = /^(connected|subscribed|unsubscribed|snapshot|[a-z_]*_update|MESSAGE_RATE_LIMIT|SNAPSHOT_UNAVAILABLE)$/
  t.same(Object.keys(seen).filter((outcome) => !named.test(outcome)), [])
})

t.test('large listings', async (t) => {
  const [maker, taker] = [await newTrader(exchange.baseUrl), await newTrader(exchange.baseUrl)]
  const tradingPairId = await pairOf(maker.client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT' as const, quantity: '10', price: '0.2' }
  for (let i = 0; i < 10; i++) {
    await maker.client.BatchCreateOrders({ orders: Array.from({ length: 100 }, () => ({ ...order, side: 'SELL' as const })) })
  }
  await taker.client.CreateOrder({ ...order, side: 'BUY', quantity: '10000' })
  await historyReached(exchange)
  const url = `${exchange.baseUrl}/api/v1/trades?tradingPairId=${tradingPairId}&pageToken=&pageSize=1000`
  const listing = (await (await fetch(url, { headers })).json()) as { trades: unknown[] }
  t.equal(listing.trades.length, 1_000, 'a listing is large')
  const answers = await flood(t, 'large listings', 24, () => attacker.fetch(url, { headers }))
  t.ok(answers['200']! > 0, 'readers are answered')
  const named = /^(200|429 RATE_LIMIT_EXCEEDED|503 OVERLOADED|503 HISTORY_UNAVAILABLE)$/
  t.same(Object.keys(answers).filter((answer) => !named.test(answer)), [])
})
