/**
 * Promise: however many connections are asked for, the process keeps files for itself. At a small limit it bounds its connections lower and
 * says so once; closed ones make place for others, traders go on, and room is still made ahead of the journal.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(120_000)
const root = join(import.meta.dirname, '..', '..')
const LIMIT = 320

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`not so: ${what}`)
}

t.test('more connections than files', async (t) => {
  const dataDir = temporaryDirectory()
  const flags = ['--data-dir', dataDir, '--port', '0', '--operator-port', '0', '--chain', '0', '--gateways', '1', '--grpc-thread', '0']
  const main = ['--disable-warning=ExperimentalWarning', join(root, 'core', 'supervisor', 'main.ts'), ...flags]
  const limited = ['-c', `unset NODE_OPTIONS; ulimit -n ${LIMIT}; exec "$0" "$@"`, process.execPath, ...main]
  const child = spawn('bash', limited, { stdio: ['ignore', 'pipe', 'inherit'] })
  const log: Record<string, unknown>[] = []
  createInterface({ input: child.stdout }).on('line', (line) => log.push(JSON.parse(line) as Record<string, unknown>))
  const sockets: Socket[] = []
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    child.kill('SIGTERM')
    await once(child, 'exit')
    removeDirectory(dataDir)
  })
  const said = (what: string): Record<string, unknown> | undefined => log.find(({ msg }) => String(msg).includes(what))
  await until('ready', () => said('ready') !== undefined && log.some(({ msg }) => msg === 'ready'))
  const { port, operatorPort } = log.find(({ msg }) => msg === 'ready') as { port: number; operatorPort: number }
  t.match(said('raise LimitNOFILE'), { limit: LIMIT, fit: Number })
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
    return Number(text.split('\n').find((line) => line.startsWith(name))?.split(' ').at(-1))
  }
  let open = 0
  for (let i = 0; i < 2 * LIMIT; i++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (i % 200)}` })
    socket.once('connect', () => open++)
    socket.on('error', () => undefined)
    socket.once('close', () => open--)
    socket.write('GET /api/v1/time HTTP/1.1\r\nHost: x\r\nUser-Agent: attack\r\n\r\n')
    sockets.push(socket)
  }
  await until('most were closed', async () => open > 0 && open < LIMIT && (await metric('exchange_connections{gateway="1"}')) <= open)
  await until('they were counted', async () => (await metric('exchange_pool_used{pool="descriptors"}')) > 0)
  t.ok((await metric('exchange_pool_used{pool="descriptors"}')) < LIMIT, 'there are files left')
  for (const socket of sockets) socket.destroy()
  await until('they are gone', () => open === 0)
  const { client } = await newTrader(`http://127.0.0.1:${port}`)
  const pair = await pairOf(client, 'SEI/USDC')
  const { orderId } = await client.CreateOrder({ tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' })
  t.match(orderId, /^[0-9a-f-]{36}$/)
  t.equal(said('no room can be made'), undefined, 'the journal had its files all the time')
  await until('there is room', async () => (await metric('exchange_journal_room_bytes')) >= 2 << 20)
})
