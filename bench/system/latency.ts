/** One signed order at a time over one keep-alive connection: from the first byte sent to the whole durable answer received. */
import { connect, type Socket } from 'node:net'
import { removeDirectory, startExchange, temporaryDirectory } from '../../test/support/exchange.ts'
import { quantile, type Result } from '../result.ts'
import { makeTraders, signOrders, type SignedOrder } from './orders.ts'

const WARM = 3000
const ORDERS = 5000

function bytesOf({ path, headers, body }: SignedOrder, port: number): Buffer {
  const head = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, 'Content-Length': Buffer.byteLength(body) })
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

/** Sends one request and resolves when its answer is complete, in microseconds. */
function exchangeOne(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint()
    let answer = ''
    const listen = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      const head = answer.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 'NaN')
      if (answer.length < head + 4 + length) return
      socket.off('data', listen)
      if (!answer.startsWith('HTTP/1.1 200')) reject(new Error(answer))
      else resolve(Number(process.hrtime.bigint() - started) / 1000)
    }
    socket.on('data', listen)
    socket.write(request)
  })
}

export async function run(): Promise<Result> {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory)
  const micros = new Float64Array(ORDERS)
  try {
    const { traders, pair } = await makeTraders(exchange.baseUrl, 8)
    const socket = connect(exchange.port, '127.0.0.1').setNoDelay(true)
    for (const order of signOrders(traders, pair, WARM, 1)) await exchangeOne(socket, bytesOf(order, exchange.port))
    for (const [index, order] of signOrders(traders, pair, ORDERS, 2).entries()) {
      micros[index] = await exchangeOne(socket, bytesOf(order, exchange.port))
    }
    socket.destroy()
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
  micros.sort()
  return {
    name: 'latency: one signed order at a time, durable',
    settings: { transport: 'HTTP/1.1 keep-alive, one connection, raw socket client on the same two cores', warm: WARM, orders: ORDERS },
    figures: {
      'p50, ms': quantile(micros, 0.5) / 1000,
      'p90, ms': quantile(micros, 0.9) / 1000,
      'p99, ms': quantile(micros, 0.99) / 1000,
      'p99.9, ms': quantile(micros, 0.999) / 1000,
      'max, ms': micros[ORDERS - 1]! / 1000,
    },
    targets: [
      { figure: 'p50, ms', atMost: 0.8, unit: 'ms' },
      { figure: 'p99, ms', atMost: 3, unit: 'ms' },
    ],
  }
}
