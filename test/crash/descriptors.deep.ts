/**
 * Promise: however many connections are asked for, the process keeps files for itself. At a small limit it bounds its connections lower and
 * says so once; closed ones make place for others, traders go on, and room is still made ahead of the journal.
 *
 * When something else takes every file, the ports stop listening, which is said once, and nothing turns in circles: open
 * connections go on, room is made ahead of the journal, and with files again all ports listen and a follower that ended
 * meanwhile is back.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { fetchFrom } from '../support/fetch_from.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const LIMIT = 320
/** Files are numbered from 0: of those open some have higher numbers, so none below this is free. */
const NONE = 20

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`not so: ${what}`)
}

const dataDir = temporaryDirectory()
const limited = ['bash', '-c', `unset NODE_OPTIONS; ulimit -n ${LIMIT}; exec "$0" "$@"`]
const exchange = await startExchange(dataDir, ['--gateways', '1'], {}, limited)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})
const said = ({ log }: Exchange, what: string): Record<string, unknown>[] => log.filter(({ msg }) => String(msg).includes(what))

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return Number(text.split('\n').find((line) => line.startsWith(name))?.split(' ').at(-1))
}

/** Whose every purchase is 100 orders, and some 30 kB of the journal. */
async function newBuyer(): Promise<() => Promise<string>> {
  const { client } = await newTrader(exchange.baseUrl, 5, fetchFrom('127.0.0.9', 2).fetch)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  return async () => {
    const { results } = await client.BatchCreateOrders({ orders: Array.from({ length: 100 }, () => order) })
    return results[99]!.orderId!
  }
}

t.test('more connections than files', async (t) => {
  t.match(said(exchange, 'raise LimitNOFILE'), [{ limit: LIMIT, kept: Number, fit: Number }])
  const sockets: Socket[] = []
  let open = 0
  for (let i = 0; i < 2 * LIMIT; i++) {
    const socket = connect({ port: exchange.port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (i % 200)}` })
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
  const buy = await newBuyer()
  t.match(await buy(), /^[0-9a-f-]{36}$/)
  t.same(said(exchange, 'no room can be made'), [], 'the journal had its files all the time')
  await until('there is room', async () => (await metric('exchange_journal_room_bytes')) >= 2 << 20)
})

/** Processor time of the exchange process so far, seconds. */
function processorTime(): number {
  const fields = readFileSync(`/proc/${exchange.pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const limitFiles = (soft: number): unknown => execFileSync('prlimit', ['--pid', String(exchange.pid), `--nofile=${soft}:`])

/** Asks for `count` connections to a port; how many were made, and how many the system refused. */
async function knock(port: number, count: number): Promise<{ made: number; refused: number }> {
  const knocks = Array.from({ length: count }, () => new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  }))
  const made = (await Promise.all(knocks)).filter((each) => each).length
  return { made, refused: count - made }
}

async function noFiles(t: Test): Promise<void> {
  const ports = [exchange.port, exchange.grpcPort, exchange.operatorPort, exchange.chainPort!]
  const buy = await newBuyer()
  await buy()
  const from = exchange.log.length
  const lines = (): string[] => {
    const said = exchange.log.slice(from).map(({ msg }) => String(msg))
    return said.flatMap((msg) => /^(no file can|there are files)/.exec(msg)?.[0] ?? [])
  }
  limitFiles(NONE)
  await until('it is said', () => lines().length > 0)
  for (const port of ports) await until('nobody is let in', async () => (await knock(port, 1)).refused === 1)
  const [used, begun, size] = [processorTime(), performance.now(), statSync(dataFile(dataDir)).size]
  const seen = { made: 0, refused: 0, orders: 0 }
  for (let round = 0; round < 200 && (round < 20 || statSync(dataFile(dataDir)).size === size); round++) {
    for (const port of ports) {
      const { made, refused } = await knock(port, 10)
      seen.made += made
      seen.refused += refused
    }
    t.match(await buy(), /^[0-9a-f-]{36}$/)
    seen.orders++
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const cores = (processorTime() - used) / ((performance.now() - begun) / 1000)
  t.comment(`without a file: ${cores.toFixed(2)} of a core, ${JSON.stringify(seen)}`)
  t.equal(seen.made, 0, 'the system refuses who comes')
  t.ok(statSync(dataFile(dataDir)).size > size, 'room was made ahead of the journal')
  const follower = Number(said(exchange, 'history follower started').at(-1)!['pid'])
  process.kill(follower, 'SIGKILL')
  await until('its successor cannot be started either', () => said(exchange, 'history follower ended').length > 1)
  limitFiles(LIMIT)
  for (const port of ports) await until('the port listens', async () => (await knock(port, 1)).made === 1)
  await until('both are said', () => lines().length > 1)
  t.same(lines(), ['no file can', 'there are files'], 'one line a crossing')
  t.match(await buy(), /^[0-9a-f-]{36}$/)
  t.same(said(exchange, 'no room can be made'), [])
  t.same(said(exchange, 'the disk is full'), [])
  await until('the history is back', async () => (await metric('exchange_history_up')) === 1)
}

const skip = process.platform === 'linux' ? false : 'limits of a running process are changed with prlimit'
t.test('no files at all, and some again', { skip }, noFiles)
