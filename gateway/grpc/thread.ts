/** The gRPC thread: attaches to the shared memory like a gateway, serves gRPC, stops in order. Its messages are in core/threads.ts. */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../../core/config.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { EXIT, type FromThread, type GatewayData, type ToThread } from '../../core/threads.ts'
import { attachGateway, detachGateway } from '../context.ts'
import { doorOf, PORT_TAKEN, type Door } from '../limits/door.ts'
import { closeGrpc, createGrpcServer, listenGrpc } from './server.ts'

/** Calls under way get this long to end at a stop, ms. */
const GRACE_MS = 5000
const HEARTBEAT_MS = 250

const data = workerData as GatewayData
const post = (message: FromThread): void => parentPort!.postMessage(message)

process.on('uncaughtException', (error) => {
  post({ type: 'fatal', code: EXIT.THREAD, message: `gRPC: ${error.stack ?? error.message}` })
})

const gateway = attachGateway(data, post)

/** Certificate and key of the configuration; `null` for plain HTTP/2. */
const tlsOf = ({ grpcCert, grpcKey }: Config): { cert: Buffer; key: Buffer } | null =>
  grpcCert === '' ? null : { cert: readFileSync(grpcCert), key: readFileSync(grpcKey) }

/** Serves until main says stop. */
async function serve(): Promise<void> {
  const served = createGrpcServer(gateway, tlsOf(data.config))
  const beat = (): void => {
    gateway.counters[GATEWAY.heartbeat_ms] = Date.now()
    gateway.counters[GATEWAY.openings] = gateway.replayGuard.used
    gateway.counters[GATEWAY.grpc_held_bytes] = served.memory.total
    served.health.look()
  }
  beat()
  const heartbeat = setInterval(beat, HEARTBEAT_MS)
  let stopping = false
  const stop = async (graceMs: number): Promise<void> => {
    if (stopping) return
    stopping = true
    await closeGrpc(served, graceMs)
    post({ type: 'stopped' })
    clearInterval(heartbeat)
    detach()
  }
  let door: Door | null = null
  parentPort!.on('message', (message: ToThread) => {
    if (message.type === 'listen') return door?.want(message.open)
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
