/** The gRPC thread: attaches to the shared memory like a gateway, serves gRPC, stops in order. Its messages are in core/threads.ts. */
import { parentPort, workerData } from 'node:worker_threads'
import { grpcCertificate, readCertificate, readNewCertificate } from '../../core/certificates.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { CERTIFICATE_STAYS, EXIT, type FromThread, type GatewayData, type ToGateway } from '../../core/threads.ts'
import { settleCancels } from '../bridge/cancel_at_end.ts'
import { attachGateway, detachGateway } from '../context.ts'
import { doorOf, PORT_TAKEN, type Door } from '../limits/door.ts'
import { closeGrpc, createGrpcServer, listenGrpc, renewCertificate } from './server.ts'

/** Calls under way get this long to end at a stop, ms. */
const GRACE_MS = 5000
const HEARTBEAT_MS = 250

const data = workerData as GatewayData
const post = (message: FromThread): void => parentPort!.postMessage(message)

process.on('uncaughtException', (error) => {
  post({ type: 'fatal', code: EXIT.THREAD, message: `gRPC: ${error.stack ?? error.message}` })
})

const gateway = attachGateway(data, post)

/** Serves until main says stop. */
async function serve(): Promise<void> {
  const files = grpcCertificate(data.config)
  let certificate = readCertificate(files)
  const served = createGrpcServer(gateway, certificate)
  const beat = (): void => {
    gateway.counters[GATEWAY.heartbeat_ms] = Date.now()
    gateway.counters[GATEWAY.openings] = gateway.replayGuard.used
    gateway.counters[GATEWAY.grpc_held_bytes] = served.memory.total
    gateway.counters[GATEWAY.certificate_expires_ms] = certificate?.expiresAt ?? 0
    served.health.look()
  }
  beat()
  const heartbeat = setInterval(beat, HEARTBEAT_MS)
  let stopping = false
  const stop = async (graceMs: number): Promise<void> => {
    if (stopping) return
    stopping = true
    await closeGrpc(served, graceMs)
    await settleCancels(gateway.cancelsAtEnd, graceMs, post)
    post({ type: 'stopped' })
    clearInterval(heartbeat)
    detach()
  }
  const renew = (): void => {
    try {
      const next = readNewCertificate(files)
      if (next === null || certificate === null) return
      renewCertificate(served, next)
      certificate = next
    } catch (error) {
      post({ type: 'log', level: 'error', message: CERTIFICATE_STAYS, fields: { reason: (error as Error).message } })
    }
    beat()
  }
  let door: Door | null = null
  parentPort!.on('message', (message: ToGateway) => {
    if (message.type === 'vault') return gateway.vault.take(message.port)
    if (message.type === 'listen') return door?.want(message.open)
    if (message.type === 'certificates') return renew()
    door?.end()
    void stop(message.type === 'stop' ? GRACE_MS : 0)
  })
  try {
    const { host, grpcPort } = data.config
    const port = await listenGrpc(served, host, grpcPort)
    door = doorOf(served.listener.server, host, port, () => post({ type: 'log', level: 'error', message: PORT_TAKEN, fields: { port } }))
    post({ type: 'ready', port })
  } catch (error) {
    clearInterval(heartbeat)
    throw error
  }
}

/** Ends what keeps the thread alive. */
function detach(): void {
  detachGateway(gateway)
  parentPort!.close()
}

try {
  await serve()
} catch (error) {
  post({ type: 'fatal', code: EXIT.CONFIG, message: `gRPC: ${(error as Error).message}` })
  detach()
}
