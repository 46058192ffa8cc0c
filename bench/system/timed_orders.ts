/** Signed orders over HTTP at fixed times, on raw sockets: what benches of latency share (open_loop.ts says why fixed times). */
import type { Socket } from 'node:net'
import { lateness, offer, until, type Offer } from './open_loop.ts'
import type { SignedOrder } from './orders.ts'

export { lateness }

export function bytesOf({ path, headers, body }: SignedOrder, port: number): Buffer {
  const head = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, 'Content-Length': Buffer.byteLength(body) })
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

/** Sends one request; resolves when its answer is complete, with the status. */
export function exchangeOne(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const closed = (): void => reject(new Error('the exchange closed a connection'))
    let answer = ''
    const listen = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      const head = answer.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 'NaN')
      if (answer.length < head + 4 + length) return
      socket.off('data', listen)
      socket.off('error', reject)
      socket.off('close', closed)
      resolve(answer.slice(9, 12))
    }
    socket.on('data', listen)
    socket.once('error', reject)
    socket.once('close', closed)
    socket.write(request)
  })
}

export interface Answers {
  /** ms from when each was due, sorted. */
  readonly latencies: Float64Array
  /** How late the generator was, ms, sorted. */
  readonly late: Float64Array
  readonly refused: number
}

/** Offers the requests at fixed times; one that is due goes out on a connection that is free, or waits for one. */
export async function atFixedTimes(
  pace: Pick<Offer, 'perSecond' | 'ms'>, requests: readonly Buffer[], sockets: readonly Socket[],
): Promise<Answers> {
  const latencies: number[] = []
  let refused = 0
  let failure: Error | null = null
  const free = [...sockets]
  const waiting: { due: number; request: Buffer }[] = []
  const take = (): void => {
    while (free.length > 0 && waiting.length > 0) {
      // The one that rested longest: the service ends connections without requests.
      const socket = free.shift()!
      const { due, request } = waiting.shift()!
      exchangeOne(socket, request).then((status) => {
        latencies.push(performance.now() - due)
        if (status !== '200') refused++
        free.push(socket)
        take()
      }, (error: Error) => void (failure = error))
    }
  }
  const late = await offer({ ...pace, exact: true }, (due, index) => {
    waiting.push({ due, request: requests[index]! })
    take()
  })
  const answered = await until(() => latencies.length === late.length || failure !== null, 30_000)
  if (failure !== null) throw failure
  if (!answered) throw new Error('orders were not answered')
  return { latencies: Float64Array.from(latencies).sort(), late, refused }
}
