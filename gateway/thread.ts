/** The gateway thread: attaches to the shared memory, serves HTTP and WebSockets, stops in order. Its messages are in core/threads.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { httpCertificate } from '../core/certificates.ts'
import { settingOf } from '../core/config.ts'
import { GATEWAY } from '../core/ring/counters.ts'
import { CERTIFICATE_STAYS, EXIT, type FromThread, type GatewayData, type ToGateway } from '../core/threads.ts'
import { settleCancels } from './bridge/cancel_at_end.ts'
import { attachGateway, detachGateway } from './context.ts'
import { Apps } from './http/apps.ts'
import { HttpConnections } from './http/connections.ts'
import { createCors } from './http/cors.ts'
import { createDispatcher } from './http/dispatch.ts'
import { createRouter } from './http/router.ts'
import { testnetOperations } from './http/signature_debug.ts'
import { closeDoor, closeServer, createServer, listen, listenAgain, listenWithin } from './http/server.ts'
import { Relay } from './http/relay.ts'
import { Door, PORT_TAKEN } from './limits/door.ts'
import { ConnectionPort } from './limits/port.ts'
import { readProxies } from './limits/shares.ts'
import { OPERATIONS } from './operations/index.ts'
import { serveSockets } from './ws/server.ts'

/** Requests under way get this long to end at a stop, ms. */
const GRACE_MS = 5000
const HEARTBEAT_MS = 250

const data = workerData as GatewayData
const post = (message: FromThread): void => parentPort!.postMessage(message)

process.on('uncaughtException', (error) => {
  post({ type: 'fatal', code: EXIT.THREAD, message: `gateway ${data.number}: ${error.stack ?? error.message}` })
})

const { config } = data
const apps = createApps()
const gateway = attachGateway(data, post)
const connections = new HttpConnections(config.httpConnections, readProxies(config), gateway.portCounters('http'))
const router = createRouter([...OPERATIONS, ...testnetOperations(gateway.genesis)])
const server = createServer(
  gateway.counters, config, createDispatcher(gateway, router), createCors(gateway.applications), connections, apps,
  gateway.requestIds,
)
const sockets = serveSockets(gateway, server, connections, data.shared.events, data.budgets)

const beat = (): void => {
  gateway.counters[GATEWAY.heartbeat_ms] = Date.now()
  gateway.counters[GATEWAY.openings] = gateway.replayGuard.used
  gateway.counters[GATEWAY.connections] = connections.open
  gateway.counters[GATEWAY.certificate_expires_ms] = apps.expiresAt
}
beat()
const heartbeat = setInterval(beat, HEARTBEAT_MS)

let stopping = false
let door: Door | null = null
let relay: Relay | null = null
let relayDoor: Door | null = null

/** Says that a port is not had again. */
const portTaken = (port: number) => (): void => post({ type: 'log', level: 'error', message: PORT_TAKEN, fields: { port } })

function createApps(): Apps {
  try {
    return new Apps(httpCertificate(config))
  } catch (error) {
    post({ type: 'fatal', code: EXIT.CONFIG, message: (error as Error).message })
    throw error
  }
}

/** Takes the certificate that the files have now; what is wrong with it is said, and the old one stays. */
function renew(): void {
  // What served it then would be closed by nobody.
  if (stopping) return
  try {
    apps.renew()
  } catch (error) {
    post({ type: 'log', level: 'error', message: CERTIFICATE_STAYS, fields: { reason: (error as Error).message } })
  }
  beat()
}

/** Ends what keeps the thread alive. */
function detach(): void {
  clearInterval(heartbeat)
  detachGateway(gateway)
  parentPort!.close()
}

/** No new connections; requests under way end; then the sockets close, because uWebSockets.js must not outlive its thread. */
async function stop(graceMs: number): Promise<void> {
  if (stopping) return
  stopping = true
  relay?.stopListening()
  await closeServer(server, graceMs, () => sockets.stop(graceMs))
  relay?.close()
  await settleCancels(gateway.cancelsAtEnd, graceMs, post)
  post({ type: 'stopped' })
  detach()
}

parentPort!.on('message', (message: ToGateway) => {
  if (message.type === 'vault') return gateway.vault.take(message.port)
  if (message.type === 'listen') {
    door?.want(message.open)
    relayDoor?.want(message.open)
    return
  }
  if (message.type === 'certificates') return renew()
  door?.end()
  relayDoor?.end()
  void stop(message.type === 'stop' ? GRACE_MS : 0)
})
try {
  const port = listen(server, config.host, config.port, data.number === 1)
  door = new Door(
    () => listenAgain(server, config.host, port),
    () => closeDoor(server),
    portTaken(port),
  )
  if (config.proxyPort !== 0) {
    const places = new ConnectionPort(
      config.httpConnections, config.firstRequestSeconds * 1000, readProxies(config), gateway.portCounters('proxy'),
    )
    relay = new Relay(places, server.addresses, listenWithin(server))
    relayDoor = await relay.listen(config.host, config.proxyPort, portTaken(config.proxyPort))
  }
  post({ type: 'ready', port })
} catch (error) {
  post({ type: 'fatal', code: EXIT.CONFIG, message: `${(error as Error).message} (${settingOf('port')})` })
  detach()
}
