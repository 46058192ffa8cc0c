/**
 * `/ws` on the port of a gateway thread: upgrades, and the sockets of the library as connections.
 *
 * An upgrade is refused like a request (http/header_validation.ts: framing, User-Agent), when it is no WebSocket of version 13, and when
 * there is no place for it (places.ts). Whoever breaks the protocol of frames (reserved bits, unknown opcodes, broken UTF-8, more than
 * {@link PAYLOAD_MAX} announced) is cut by the library without a close frame. There is no compression: it costs memory per socket and
 * leaks lengths. The library pings a silent client and closes one that stays silent for `wsIdleSeconds`.
 *
 * What waits for clients that do not read is bounded for all sockets together, too (limits/backlog.ts). A socket is looked at when the
 * library could not send all, when it sent some of it, and when frames left together; between two looks it may have up to 16 KiB more.
 * Whoever is cut for it gets no close frame, which it would not read.
 *
 * An orderly stop takes in what the ring has, sends it, and closes with 1001.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { WebSocket } from 'uWebSockets.js'
import { attachBroadcast } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import type { HttpConnections } from '../http/connections.ts'
import { peerOf, refuseUpgrade, screenUpgrade, type Server } from '../http/server.ts'
import { Refused } from '../refused.ts'
import { Backlog, type Backlogged } from '../limits/backlog.ts'
import { lookMs } from '../limits/port.ts'
import { networkOf } from '../limits/network.ts'
import { readProxies } from '../limits/shares.ts'
import { createChannels } from './channels/index.ts'
import { Connection, type Context } from './connection.ts'
import { FanOut } from './fan_out.ts'
import { flushUntil } from './flush.ts'
import { connectedFrame, PAYLOAD_MAX } from './frames.ts'
import type { Socket } from './outbox.ts'
import { Places } from './places.ts'
import { AccountSockets } from './limits.ts'
import { CLOSE } from './protocol.ts'
import { MessageScheduler } from './message_scheduler.ts'
import { SignatureShares } from '../stream/signature_shares.ts'
import { ANSWERS_MS } from '../stream/signed_stream.ts'

const PATH = '/ws'
/** More than any connection is let have (wsBufferKb and a snapshot): only then the library cuts it itself. */
const BACKPRESSURE_MAX = 256 * 1024 * 1024
const WAITING = { waiting: GATEWAY.ws_waiting_bytes, capacity: GATEWAY.ws_waiting_capacity, cut: GATEWAY.ws_crowded }
/** With more than this waiting a client is not told why it is closed: it does not read, bytes. */
const LAST_WORDS_MAX = 64 * 1024
/** How long clients get to see the close frame of a stop, ms. */
const FAREWELL_MS = 50
/** Between two looks whether answers under way have left, ms. */
const LOOK_MS = 5

interface UserData extends Backlogged {
  connection: Connection | null
  /** Bytes that its outbox holds. */
  outbox: number
}

export interface Sockets {
  /** Says goodbye to everybody, once answers under way have left (for `graceMs` at most); then the port may be closed. */
  stop(graceMs: number): Promise<void>
}

/** Serves `/ws` on `server`, whose plain connections are `plain`. `events`, `budgets`: shared memory of core/threads.ts. */
export function serveSockets(
  gateway: Gateway, server: Server, plain: HttpConnections, events: SharedArrayBuffer, budgets: SharedArrayBuffer,
): Sockets {
  const { config, counters } = gateway
  const connections = new Set<Connection>()
  const places = new Places(config, gateway.portCounters('websocket'))
  const backlog = new Backlog(config.wsBuffersMb * 1024 * 1024, readProxies(config), counters, WAITING)
  const dirty = new Set<Connection>()
  const channels = createChannels(gateway)
  let stopping = false
  const fanOut = new FanOut({
    ring: attachBroadcast(events), channels, counters, now: gateway.time, faults: gateway.faults,
    send: (until) => flushUntil(dirty, until),
    resync: () => {
      for (const connection of connections) if (connection.subscriptions > 0) connection.close(CLOSE.RESYNC, 'resync')
    },
  })
  const context: Context = {
    gateway, fanOut, channels, dirty, flushSoon: createReplies(), stopping: () => stopping,
    accountSockets: new AccountSockets(budgets, config.wsConnectionsPerAccount), signatures: new SignatureShares(),
  }
  server.apps.serve((app) => app.ws<UserData>(PATH, {
    maxPayloadLength: PAYLOAD_MAX,
    maxBackpressure: BACKPRESSURE_MAX,
    closeOnBackpressureLimit: true,
    compression: 0,
    idleTimeout: config.wsIdleSeconds,
    sendPingsAutomatically: true,
    upgrade: (response, request, upgrading) => {
      if (!screenUpgrade(server, response, request)) return
      const client = networkOf(server.addresses.clientOf(peerOf(server, response), server.head.forwardedFor))
      if (stopping || !places.take(client)) return refuseUpgrade(server, response, request, new Refused('OVERLOADED'))
      plain.upgraded()
      // No subprotocol and no extension is agreed to.
      response.upgrade(userDataOf(client), request.getHeader('sec-websocket-key'), '', '', upgrading)
    },
    open: (socket) => {
      const connection = new Connection(context, socketOf(socket, backlog), new MessageScheduler(gateway, socket.getUserData().client))
      socket.getUserData().connection = connection
      connections.add(connection)
      connection.push(connectedFrame(randomUUID(), config.wsIdleSeconds * 1000))
      connection.flush()
    },
    message: (socket, bytes, binary) => guard(gateway, socket, (connection) => connection.receive(bytes, binary)),
    ping: (socket, bytes) => guard(gateway, socket, (connection) => void connection.acquire(bytes.byteLength)),
    drain: (socket) => drained(socket, backlog),
    close: (socket) => {
      const data = socket.getUserData()
      places.give(data.client)
      backlog.end(data)
      if (data.connection === null) return
      connections.delete(data.connection)
      data.connection.release()
    },
  }))
  const unused = setInterval(() => places.endUnused(connections), lookMs(config.wsUnusedSeconds * 1000)).unref()
  return {
    stop: async (graceMs) => {
      stopping = true
      clearInterval(unused)
      fanOut.tick(Infinity)
      const any = connections.size > 0
      for (const connection of [...connections]) connection.close(CLOSE.GOING_AWAY, 'shutting down', null, Math.min(graceMs, ANSWERS_MS))
      // Each ends by itself, however late its answers are.
      while ([...connections].some(({ ending }) => ending)) await pause(LOOK_MS)
      fanOut.close()
      if (any) await pause(FAREWELL_MS)
    },
  }
}

/** Flushes connections behind everything else of this callback: replies of the engine are read many at once, and leave together. */
function createReplies(): (connection: Connection) => void {
  let replied: Connection[] = []
  const send = (): void => {
    const connections = replied
    replied = []
    for (const connection of connections) connection.flush()
  }
  return (connection) => {
    if (replied.length === 0) queueMicrotask(send)
    replied.push(connection)
  }
}

/** What goes wrong with one connection is logged, and ends that one. */
function guard(gateway: Gateway, socket: WebSocket<UserData>, act: (connection: Connection) => void): void {
  const { connection } = socket.getUserData()
  if (connection === null) return
  try {
    act(connection)
  } catch (error) {
    gateway.faults.end(error, null)
    connection.close(CLOSE.RESYNC, 'internal error')
  }
}

/** The kernel took some of what waited for the client. */
function drained(socket: WebSocket<UserData>, backlog: Backlog): void {
  const data = socket.getUserData()
  backlog.note(data, socket.getBufferedAmount() + data.outbox)
  data.connection?.drained()
}

const userDataOf = (client: string): UserData => ({ connection: null, outbox: 0, client, held: 0, over: false, cut: () => undefined })

/** What `send` of the library says when the kernel took all of it. */
const SENT = 1

function socketOf(socket: WebSocket<UserData>, backlog: Backlog): Socket {
  const data = socket.getUserData()
  data.cut = () => socket.close()
  const note = (): void => {
    if (!data.over) backlog.note(data, socket.getBufferedAmount() + data.outbox)
  }
  return {
    send: (frame) => {
      const isSent = socket.send(frame, false, false) === SENT
      if (!isSent) note()
      return isSent
    },
    buffered: () => socket.getBufferedAmount(),
    holds: (bytes) => {
      data.outbox = bytes
      note()
    },
    together: (write) => {
      socket.cork(write)
      note()
    },
    // The library says at once that an ended socket closed, and keeps what waits for it for a while yet.
    end: (code, reason) => (socket.getBufferedAmount() > LAST_WORDS_MAX ? socket.close() : socket.end(code, reason)),
    drop: () => socket.close(),
  }
}
