/**
 * The listeners of the bench `fanout`, a process of their own: raw sockets that subscribe when they are told, count what comes and look
 * into nothing, but for some probes, which read when the trades they are told of were sequenced. A WebSocket library for each of thousands
 * of sockets would cost the two cores more than the exchange.
 */
import { connect, type Socket } from 'node:net'
import { rawFrame, UPGRADE } from '../../test/support/sockets.ts'

export interface Order {
  readonly do: 'connect' | 'subscribe' | 'unsubscribe' | 'report'
  readonly port?: number
  readonly sockets?: number
  readonly pairs?: readonly string[]
  /** Every so many sockets one is a probe. */
  readonly probeEvery?: number
}

export interface Report {
  readonly bytes: number
  /** From the sequenced time of a trade to its receipt, ms. */
  readonly lags: readonly number[]
  /** Of each probe, in the order they came. */
  readonly books: readonly ProbeBooks[]
  readonly closed: number
  /** Of this process since the last report, seconds. */
  readonly cpuSeconds: number
}

/** Frames of its book that a probe got. */
export interface ProbeBooks {
  /** Index of the pair. */
  readonly market: number
  /** Of the last change in each frame. */
  readonly sequences: number[]
  /** When each was read, Unix ms. */
  readonly times: number[]
}

interface Listener {
  readonly socket: Socket
  readonly pair: string
  readonly market: number
  readonly probe: boolean
  rest: Buffer
}

const listeners: Listener[] = []
let bytes = 0
let closed = 0
let lags: number[] = []
let books = new Map<Listener, ProbeBooks>()
let cpu = process.cpuUsage()
const EXECUTED_AT = '"executedAt":"'
const BOOK = '"orderbook_update"'
const SEQUENCE = /"sequence":(\d+)/

function noteBook(listener: Listener, sequence: number, now: number): void {
  let noted = books.get(listener)
  if (noted === undefined) books.set(listener, (noted = { market: listener.market, sequences: [], times: [] }))
  noted.sequences.push(sequence)
  noted.times.push(now)
}

/** Takes in what came to a probe: whole frames. Trades say when they were made, books up to which change they go. */
function probe(listener: Listener, chunk: Buffer): void {
  const now = Date.now()
  let received = Buffer.concat([listener.rest, chunk])
  for (let length = frameLength(received); length > 0; length = frameLength(received)) {
    const text = received.toString('latin1', 0, length)
    for (let at = text.indexOf(EXECUTED_AT); at >= 0; at = text.indexOf(EXECUTED_AT, at + 1)) {
      const from = at + EXECUTED_AT.length
      lags.push(now - Date.parse(text.slice(from, text.indexOf('"', from))))
    }
    if (text.includes(BOOK)) noteBook(listener, Number(SEQUENCE.exec(text)![1]), now)
    received = received.subarray(length)
  }
  listener.rest = received
}

/** Of the frame at the beginning, head included; 0: it is not all there. */
function frameLength(received: Buffer): number {
  if (received.length < 10) return 0
  const short = received[1]! & 0x7f
  const length = short < 126 ? 2 + short : short === 126 ? 4 + received.readUInt16BE(2) : 10 + Number(received.readBigUInt64BE(2))
  return length <= received.length ? length : 0
}

/** One buffer for all: what is read is counted at once. */
const shared = Buffer.alloc(256 * 1024)

function open(port: number, pair: string, market: number, isProbe: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let upgraded = false
    const take = (count: number): boolean => {
      if (!upgraded) {
        upgraded = true
        resolve()
        return true
      }
      bytes += count
      if (isProbe) probe(listener, Buffer.from(shared.subarray(0, count)))
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: shared, callback: take } })
    socket.setNoDelay(true)
    const listener: Listener = { socket, pair, market, probe: isProbe, rest: Buffer.alloc(0) }
    listeners.push(listener)
    socket.on('connect', () => socket.write(`${UPGRADE.join('\r\n')}\r\n\r\n`))
    socket.on('error', reject)
    socket.on('close', () => void closed++)
  })
}

function say({ socket, pair, probe: isProbe }: Listener, type: string): void {
  const message = (channel: string): Buffer => rawFrame(0x81, JSON.stringify({ type, channel, params: { tradingPairId: pair } }))
  socket.write(isProbe ? Buffer.concat([message('orderbook'), message('trades')]) : message('orderbook'))
}

function report(): Report {
  const used = process.cpuUsage(cpu)
  const result = { bytes, lags, books: [...books.values()], closed, cpuSeconds: (used.user + used.system) / 1e6 }
  bytes = 0
  lags = []
  books = new Map()
  cpu = process.cpuUsage()
  return result
}

process.on('message', async (order: Order) => {
  if (order.do === 'connect') {
    const { port, sockets, pairs, probeEvery } = order as Required<Order>
    // A few at a time: the queue of connections to be accepted is bounded.
    for (let i = 0; i < sockets; i += 50) {
      const some = Array.from({ length: Math.min(50, sockets - i) }, (_, k) => i + k)
      await Promise.all(some.map((k) => open(port, pairs[k % pairs.length]!, k % pairs.length, k % probeEvery === 0)))
    }
  }
  if (order.do === 'subscribe' || order.do === 'unsubscribe') for (const listener of listeners) say(listener, order.do)
  process.send!(order.do === 'report' ? report() : {})
})
process.on('disconnect', () => process.exit(0))
