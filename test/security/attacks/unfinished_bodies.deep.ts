/**
 * Promise: 600 bodies that do not come to their end, of one address with a session, take a bounded memory and keep nobody from trading;
 * they are refused by name. Nor do those that come at 2 KB a second, which are not waited for.
 */
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { newTrader } from '../../support/traders.ts'

t.setTimeout(900_000)
const BODIES = 600
const SLOW = 200
const MB = 1024 * 1024

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, ['--chain', '0'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0)
}

/** The head of an order whose body would be long. */
const headOf = (publicKey: string): string => [
  'POST /api/v1/orders HTTP/1.1', 'Host: x', 'User-Agent: attack', `Content-Length: ${2 * MB}`, `X-Svc-PublicKey: ${publicKey}`,
  `X-Svc-Timestamp: ${Date.now()}`, `X-Svc-Signature: ${'ab'.repeat(64)}`, '', '',
].join('\r\n')

t.test('unfinished bodies beside an honest trader', async (t) => {
  const { signer } = await newTrader(exchange.baseUrl)
  const head = headOf(signer.publicKey)
  const before = await metric('exchange_resident_memory_bytes')
  let held = 0
  let resident = 0
  let answers = ''
  const { attacked } = await besideAttack(t, exchange, {
    name: `${BODIES} unfinished bodies`,
    ms: 3_000,
    attack: async (ended) => {
      const part = Buffer.alloc(MB, 'x')
      const sockets = new Set<Socket>()
      for (let i = 0; i < BODIES && !ended.aborted; i++) {
        const socket = connect({ port: exchange.port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => {
          socket.write(head)
          socket.write(part)
        })
        socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
        socket.on('data', (chunk: Buffer) => (answers = (answers + chunk.toString()).slice(-4_000)))
        sockets.add(socket)
        if (i % 50 === 49) {
          held = Math.max(held, await metric('exchange_unfinished_body_bytes'))
          resident = Math.max(resident, await metric('exchange_resident_memory_bytes'))
        }
      }
      for (let look = 0; look < 100 && !ended.aborted; look++) {
        held = Math.max(held, await metric('exchange_unfinished_body_bytes'))
        resident = Math.max(resident, await metric('exchange_resident_memory_bytes'))
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      for (const socket of sockets) socket.destroy()
    },
  })
  t.comment(`${held / MB} MiB held at most; resident ${Math.round(before / MB)} MiB before, ${Math.round(resident / MB)} MiB at most`)
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.ok(held > 0 && held <= 32 * MB, 'one address has half of the room')
  t.ok(resident - before < 400 * MB, 'the process does not grow by what was sent')
  t.ok(await metric('exchange_bodies_cut_total') > 0)
  t.match(answers, /"code":"RATE_LIMIT_EXCEEDED"/)
})

t.test('senders at 2 KB a second beside an honest trader', async (t) => {
  const { signer } = await newTrader(exchange.baseUrl)
  const head = headOf(signer.publicKey)
  const sockets = new Set<Socket>()
  const opened = new Set<Socket>()
  const pace = setInterval(() => {
    for (const socket of sockets) socket.write('x'.repeat(200))
  }, 100)
  t.teardown(() => clearInterval(pace))
  const slow = 'exchange_bodies_cut_total\\{[^}]*reason="slow"[^}]*\\}'
  const before = await metric(slow)
  const { attacked } = await besideAttack(t, exchange, {
    name: `${SLOW} senders at 2 KB a second`,
    attack: async () => {
      while (opened.size < SLOW) {
        const socket = connect({ port: exchange.port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => {
          socket.write(head)
          sockets.add(socket)
        })
        socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
        socket.resume()
        opened.add(socket)
        if (opened.size % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  })
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  for (let look = 0; look < 1_000 && sockets.size > 0; look++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(sockets.size, 0, 'none of them is waited for')
  t.ok(await metric(slow) - before > SLOW / 2, 'they are cut by name, the last perhaps by the library')
  t.equal(await metric('exchange_unfinished_body_bytes'), 0)
})
