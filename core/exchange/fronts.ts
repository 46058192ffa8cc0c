/**
 * What clients and operator meet: the sign-in thread, the chain, the operator's thread, readers of the history, gateways and gRPC. All are
 * started side by side: loading a thread's modules takes longer than anything it does before it is ready. What one asks of another that is
 * not ready yet waits in its port.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { embedsChain, frontThreads, hasVault, type Config } from '../config.ts'
import type { Logger } from '../lib/log.ts'
import type { OperatorToken } from '../operator_token.ts'
import { budgetsBytes } from '../ring/budgets.ts'
import { createReplayGuard } from '../ring/replay_guard.ts'
import { parseGenesis } from '../state/genesis.ts'
import { startChain, type ChainThread } from '../supervisor/chain_thread.ts'
import { startVault, type VaultPorts, type VaultThread } from '../supervisor/vault_thread.ts'
import type { SignInData, FromThread, Shared, VaultKeyPlace } from '../threads.ts'
import type { Crew } from './crew.ts'

/** What names of history reader threads begin with. */
export const READER = 'history reader'
/** Name of the thread for gRPC; of the others `gateway 1` and so on. */
export const GRPC = 'gateway for gRPC'
const GATEWAY = join(import.meta.dirname, '..', '..', 'gateway')
const READER_THREAD = join(import.meta.dirname, '..', 'history', 'answer', 'reader.ts')
/** Said of an outside node that was configured for contract wallets alone. */
const NO_VAULT = 'no vault: without --vault-address nothing is deposited or withdrawn on the chain of --chain-rpc-url'

export interface FrontsParts {
  readonly config: Config
  readonly log: Logger
  readonly crew: Crew
  readonly genesis: string
  readonly shared: Shared
  readonly pageTokenKey: Uint8Array
  readonly token: OperatorToken
  /** `null`: there is no vault. */
  readonly vaultKey: VaultKeyPlace | null
  readonly heard: (name: string, message: FromThread) => void
}

/** Ports that were bound. */
export interface Ports {
  readonly port: number
  readonly grpcPort: number | undefined
  readonly operatorPort: number | undefined
}

export interface Fronts {
  /** `null`: it is not embedded. */
  readonly chain: ChainThread | null
  /** Settles when all but the chain and the vault are ready. */
  readonly ready: Promise<Ports>
  /** Starts the vault; nobody waits for it. Once, when all others are ready. */
  openVault(): void
  /** Ends it, if there is one. */
  closeVault(): Promise<void>
}

export function startFronts(parts: FrontsParts): Fronts {
  const { config, crew, genesis, shared, token } = parts
  const readers = startReaders(parts)
  const signIn = startSignIn(parts)
  const hub: Hub = { url: config.chainRpcUrl === '' ? null : config.chainRpcUrl, vault: null }
  const chain = embedsChain(config) ? startOwnChain(parts, hub) : null
  const operator = crew.ready('operator', join(GATEWAY, 'operator', 'server.ts'), { config, genesis, shared, token })
  const ready = async (): Promise<Ports> => {
    const { port, grpcPort } = await startGateways(parts, signIn.ports, readers.ports)
    await Promise.all([signIn.ready, operator, ...readers.ready])
    return { port, grpcPort, operatorPort: (await operator).port }
  }
  return {
    chain, ready: ready(),
    openVault() {
      if (config.vault === 1 && config.chainRpcUrl !== '' && !hasVault(config)) parts.log.info({}, NO_VAULT)
      if (parts.vaultKey !== null) hub.vault = startOwnVault(parts, parts.vaultKey, hub.url)
    },
    closeVault: () => hub.vault?.finish() ?? Promise.resolve(),
  }
}

/** Where the chain of settlement is asked, and who does. */
interface Hub {
  url: string | null
  vault: VaultThread | null
}

/** Starts the sign-in thread; for each gateway a port to it. */
function startSignIn({ config, crew, genesis, shared }: FrontsParts): { ports: MessagePort[]; ready: Promise<unknown> } {
  const channels = Array.from({ length: frontThreads(config) }, () => new MessageChannel())
  const own = channels.map((channel) => channel.port1)
  const { columns, gate, counters } = shared
  const data: SignInData = { config, genesis, columns, gate, counters, ports: own }
  const ready = crew.ready('sign-in', join(GATEWAY, 'auth', 'sign_in.ts'), data, own)
  return { ports: channels.map((channel) => channel.port2), ready }
}

/** Starts the embedded chain; the sign-in thread and the vault thread hear where it is. */
function startOwnChain({ config, crew, genesis, shared, log, heard }: FrontsParts, hub: Hub): ChainThread {
  return startChain(join(GATEWAY, 'chain', 'thread.ts'), { config, genesis, ports: shared.ports }, {
    heard: (message) => heard('chain', message),
    moved: (url) => {
      crew.tell('sign-in', { type: 'chain', url })
      hub.url = url
      hub.vault?.moved(url)
    },
    ended: (reason) => log.error({ reason }, 'the chain thread ended; trading goes on, it is started again'),
  })
}

/** Starts the vault thread and the signer's; whoever talks to the former gets a port with each of its starts. */
function startOwnVault({ config, crew, genesis, shared, log, heard }: FrontsParts, place: VaultKeyPlace, url: string | null): VaultThread {
  const { columns, gate, counters } = shared
  const directory = join(GATEWAY, 'chain', 'vault')
  const paths = { vault: join(directory, 'thread.ts'), signer: join(directory, 'signer_thread.ts') }
  const data = { config, genesis, columns, gate, counters }
  return startVault({ paths, place, data, gateways: frontThreads(config), history: config.historyReaders > 0, url }, {
    heard,
    ended: (name, reason) => log.error({ thread: name, reason }, 'a thread of the vault ended; trading goes on, it is started again'),
    connect: (ports) => connectVault(config, crew, ports),
  })
}

/** Gives the ports of a new vault thread to operator, gateways and the first history reader. */
function connectVault(config: Config, crew: Crew, { operator, gateways, history }: VaultPorts): void {
  crew.tell('operator', { type: 'vault', port: operator }, [operator])
  for (const [index, port] of gateways.entries()) {
    crew.tell(index < config.gateways ? `gateway ${index + 1}` : GRPC, { type: 'vault', port }, [port])
  }
  if (history !== null) crew.tell(`${READER} 1`, { type: 'port', port: history }, [history])
}

/** Starts the gateways and the gRPC thread. The first gateway finds the port that the others share. */
async function startGateways(
  { config, crew, genesis, shared, pageTokenKey }: FrontsParts, signIns: readonly MessagePort[], history: readonly MessagePort[][],
): Promise<Pick<Ports, 'port' | 'grpcPort'>> {
  const budgets = new SharedArrayBuffer(budgetsBytes(parseGenesis(genesis).limits.accounts))
  const replayGuard = createReplayGuard(Date.now(), randomBytes(32))
  const start = (index: number, name: string, path: string, port: number): ReturnType<Crew['ready']> => {
    const [signIn, readers] = [signIns[index]!, history[index]!]
    const data = {
      config: { ...config, port }, genesis, shared, number: index + 1, signIn, budgets, replayGuard, pageTokenKey, history: readers,
    }
    return crew.ready(name, path, data, [signIn, ...readers])
  }
  const grpc = config.grpcThread === 1
    ? start(config.gateways, GRPC, join(GATEWAY, 'grpc', 'thread.ts'), config.port) : undefined
  const gateway = join(GATEWAY, 'thread.ts')
  const { port = config.port } = await start(0, 'gateway 1', gateway, config.port)
  await Promise.all(Array.from({ length: config.gateways - 1 }, (_, i) => start(i + 1, `gateway ${i + 2}`, gateway, port)))
  return { port, grpcPort: (await grpc)?.port }
}

/** Starts the history readers; for each gateway one port to each of them. */
function startReaders({ config, crew, genesis, shared: { columns } }: FrontsParts): { ports: MessagePort[][]; ready: Promise<unknown>[] } {
  const ready: Promise<unknown>[] = []
  const ports: MessagePort[][] = Array.from({ length: frontThreads(config) }, () => [])
  for (let reader = 1; reader <= config.historyReaders; reader++) {
    const channels = ports.map(() => new MessageChannel())
    channels.forEach((channel, gateway) => ports[gateway]!.push(channel.port2))
    const own = channels.map((channel) => channel.port1)
    ready.push(crew.ready(`${READER} ${reader}`, READER_THREAD, { config, genesis, columns, ports: own }, own))
  }
  return { ports, ready }
}
