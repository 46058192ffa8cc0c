/**
 * The chain thread: the embedded chain (devnet.ts) and its JSON-RPC server on `chainPort`, loopback only.
 *
 * It listens before the stored transactions are executed; requests wait until they are. A store that cannot be executed again refuses
 * the chain, not the exchange: every method answers an error, contract wallets are told to try later, and the log says what to do.
 * The thread is no part of trading and may end (core/supervisor/chain_thread.ts).
 */
import { parentPort, workerData } from 'node:worker_threads'
import { parseGenesis } from '../../core/state/genesis.ts'
import { CHAIN_CONNECTIONS, portBlock } from '../../core/ring/ports.ts'
import { workInBackground, workWhenIdle } from '../background.ts'
import { doorOf, listenOn, PORT_TAKEN, type Door } from '../limits/door.ts'
import { admitTo } from '../limits/http_port.ts'
import { ConnectionPort } from '../limits/port.ts'
import { readProxies } from '../limits/shares.ts'
import { hasVault } from '../../core/config.ts'
import { EXIT, type ChainData, type FromThread, type ToThread } from '../../core/threads.ts'
import { chainRules, openDevnet, type Devnet } from './devnet.ts'
import { prepareChain } from './prepare.ts'
import { createRpcServer } from './rpc_server.ts'
import { chainPath, openChainStore, type ChainStore } from './store.ts'

/** Between two lines about a long start, ms. */
const PROGRESS_MS = 5_000

const { config, genesis, ports } = workerData as ChainData
if (config.chainIdle === 1) workWhenIdle()
else workInBackground()
const parsed = parseGenesis(genesis)
const { chainId } = parsed
const post = (message: FromThread): void => parentPort!.postMessage(message)
const log = (level: 'info' | 'error', message: string, fields: Record<string, unknown>): void =>
  post({ type: 'log', level, message, fields })
let store: ChainStore | undefined

/** Tries to put the code of the tokens there. */
const PREPARATIONS = 5

/** Says every {@link PROGRESS_MS} how far the start is. */
function createProgress(): (blocks: number) => void {
  let said = performance.now()
  return (blocks) => {
    if (performance.now() - said < PROGRESS_MS) return
    said = performance.now()
    log('info', 'the chain is being executed again; contract wallets wait', { blocks })
  }
}

/**
 * Puts the code of the tokens there; what a busy machine was too slow for is tried again. A full chain serves contract wallets all
 * the same.
 */
async function prepare(devnet: Devnet): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return void (await prepareChain(devnet, parsed))
    } catch (error) {
      if (tries < PREPARATIONS) continue
      const hint = 'no vault can be set up on it'
      log('error', `the chain has no code for the tokens of the exchange: ${(error as Error).message}`, { hint })
      return
    }
  }
}

async function open(): Promise<Devnet> {
  const path = chainPath(config.dataDir)
  try {
    store = openChainStore(path, chainId, chainRules)
    const chain = await openDevnet(chainId, store, () => Math.floor(Date.now() / 1000), createProgress())
    if (hasVault(config)) await prepare(chain)
    log('info', 'the chain is open', { blocks: chain.blocks.length, head: chain.blocks.at(-1)!.hash })
    return chain
  } catch (error) {
    const hint = 'contract wallets cannot sign in; stop the exchange and move chain.sqlite away to begin a new chain'
    log('error', `the chain in ${path} cannot be used: ${(error as Error).message}`, { hint })
    throw error
  }
}

const { promise: chain, resolve } = Promise.withResolvers<Devnet>()
const server = createRpcServer(chain, (error) => log('error', 'a chain request failed', { error: error.name }))
const port = new ConnectionPort(
  CHAIN_CONNECTIONS, config.firstRequestSeconds * 1000, readProxies(config), portBlock(ports, 0, 'chain'),
)
admitTo(server, port)
let door: Door | null = null
listenOn(server, '127.0.0.1', config.chainPort).then(
  (number) => {
    door = doorOf(server, '127.0.0.1', number, () => log('error', PORT_TAKEN, { port: number }))
    post({ type: 'ready', port: number })
    resolve(open())
  },
  (error: Error) => post({ type: 'fatal', code: EXIT.CONFIG, message: `chain port: ${error.message}` }),
)
// The server hears of it with every request.
chain.catch(() => undefined)

parentPort!.on('message', (message: ToThread) => {
  if (message.type === 'listen') door?.want(message.open)
  if (message.type !== 'stop') return
  door?.end()
  server.close(() => {
    store?.close()
    post({ type: 'stopped' })
    parentPort!.close()
  })
  server.closeAllConnections()
  port.close()
})
