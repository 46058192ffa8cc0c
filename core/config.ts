/**
 * Configuration: every knob once. Read from a JSON file (`--config`), then RINGBOOK_* environment, then flags; later wins. An
 * unknown key anywhere refuses to start. Knobs never influence what the engine decides: that is the genesis, in the journal.
 */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DEFAULT_DATA_DIR } from './lib/about.ts'
import { Networks } from './lib/networks.ts'

interface Knob<T> {
  /** Camel-case name; the flag is its kebab-case, the variable RINGBOOK_ plus its upper snake case. */
  readonly fallback: T
  readonly unit: string
  readonly meaning: string
  readonly parse: (text: string) => T
}

class ConfigError extends Error {
  override name = 'ConfigError'
}

const text = (fallback: string, unit: string, meaning: string): Knob<string> => ({ fallback, unit, meaning, parse: (t) => t })

function number(fallback: number, low: number, high: number, unit: string, meaning: string): Knob<number> {
  const parse = (t: string): number => {
    const value = Number(t)
    if (t.trim() === '' || !Number.isInteger(value) || value < low || value > high)
      throw new ConfigError(`must be a whole number from ${low} to ${high}`)
    return value
  }
  return { fallback, unit, meaning, parse }
}

/** A number of so many units, of which a part will do. */
function amount(fallback: number, low: number, high: number, unit: string, meaning: string): Knob<number> {
  const parse = (t: string): number => {
    const value = Number(t)
    if (t.trim() === '' || !(value >= low && value <= high)) throw new ConfigError(`must be a number from ${low} to ${high}`)
    return value
  }
  return { fallback, unit, meaning, parse }
}

function powerOfTwo(fallback: number, low: number, high: number, unit: string, meaning: string): Knob<number> {
  const knob = number(fallback, low, high, unit, meaning)
  return {
    ...knob,
    parse: (t) => {
      const value = knob.parse(t)
      if ((value & (value - 1)) !== 0) throw new ConfigError('must be a power of two')
      return value
    },
  }
}

const root = join(import.meta.dirname, '..')

/**
 * Gateway threads, and looks in vain of theirs and the matcher's, by the cores of the machine; `bench/README.md` has what was measured
 * (`rest`, `ws-orders`). Verifying signatures is most of the work, and the matcher sleeps in the disk's fsync most of its time: on two
 * cores both are for gateways, and nobody looks in vain for long, because another thread wants that core. More cores leave one to the
 * matcher.
 */
export const defaultsFor = (cores: number): { gateways: number; polls: number; spin: number } =>
  cores > 2 ? { gateways: cores - 1, polls: 32, spin: 2000 } : { gateways: cores, polls: 0, spin: 200 }
const byCores = defaultsFor(availableParallelism())

export const KNOBS = {
  config: text('', 'path', 'JSON file with any of these keys (camelCase)'),
  dataDir: text(DEFAULT_DATA_DIR, 'path', 'Journal, snapshots and lock of this exchange'),
  genesis: text(
    join(root, 'data', 'genesis', 'genesis.json'),
    'path',
    'Genesis of a fresh data directory; an existing one keeps its own',
  ),
  host: text('127.0.0.1', 'address', 'Address the REST and WebSocket port listens on; 0.0.0.0 for all'),
  port: number(8080, 0, 65535, 'port', 'REST and WebSocket; 0 picks a free one'),
  tlsCert: text('', 'path', 'PEM certificate chain; with it and --tls-key REST and WebSocket are TLS, without both plain HTTP'),
  tlsKey: text('', 'path', 'PEM private key of --tls-cert'),
  grpcPort: number(9090, 0, 65535, 'port', 'gRPC, on the same address; 0 picks a free one'),
  grpcThread: number(1, 0, 1, 'switch', '1 serves gRPC, in a thread of its own; 0 does not'),
  grpcCert: text('', 'path', 'PEM certificate chain; with it and --grpc-key gRPC is TLS, without both plain HTTP/2'),
  grpcKey: text('', 'path', 'PEM private key of --grpc-cert'),
  grpcIdleSeconds: number(300, 1, 86_400, 'seconds', 'A gRPC connection without calls is closed after this long'),
  grpcConnections: number(1024, 1, 100_000, 'connections', 'Most gRPC connections at once; more are closed at once'),
  grpcRequestMb: number(64, 4, 65_536, 'MiB', 'Most bytes held for gRPC requests at once, a share of it per client; more are refused'),
  grpcRequestSeconds: number(20, 1, 3600, 'seconds', 'Longest time a gRPC request may take to come whole'),
  grpcAnswerMb: number(64, 4, 65_536, 'MiB', 'Most bytes of gRPC answers that clients have not taken; the largest connection is ended'),
  httpConnections: number(10_000, 1, 1_000_000, 'connections', 'Most HTTP connections of each gateway thread; more are closed at once'),
  firstRequestSeconds: number(
    20, 1, 3600, 'seconds', 'A connection of gRPC, operator or chain without a request is closed after this long',
  ),
  proxyAddresses: text(
    '', 'networks', 'Addresses and networks, between commas, that stand for many clients and have no share of their own',
  ),
  trustedProxies: text(
    '', 'networks', 'Addresses and networks, between commas, of proxies whose X-Forwarded-For and PROXY headers count; of others none',
  ),
  proxyPort: number(
    0, 0, 65535, 'port', 'REST and WebSocket for trusted proxies that begin each connection with a PROXY header, version 2; 0: none',
  ),
  operatorPort: number(9100, 0, 65535, 'port', 'Metrics and operator API, on loopback only; 0 picks a free one'),
  operatorTokenFile: text(
    '', 'path', "File with the operator's token; without it operator.token of the data directory, made at the first start",
  ),
  gateways: number(
    byCores.gateways, 1, 64, 'threads',
    'Gateway threads sharing the port; default: cores - 1, which leaves one to the matcher, but 2 on two cores',
  ),
  polls: number(
    byCores.polls, 0, 10_000, 'turns',
    'Turns of its event loop in which a gateway looks for answers before it parks; default: 32, and 0 on one or two cores',
  ),
  spin: number(
    byCores.spin, 0, 10_000_000, 'looks',
    'How often an idle matcher looks before it parks; more lowers latency and burns a core; default: 2000, and 200 on one or two cores',
  ),
  commandRing: powerOfTwo(8192, 256, 1 << 20, 'commands', 'Command ring of each gateway; full answers 503'),
  replyRing: powerOfTwo(16384, 4096, 1 << 20, 'records', 'Reply ring of each gateway; bounds its requests in flight'),
  eventRing: powerOfTwo(65536, 1024, 1 << 22, 'records', 'Broadcast ring of events; a reader further behind resynchronises'),
  batchMax: number(2048, 1, 4096, 'records', 'Most records in one journal batch'),
  journalGb: amount(
    64, 0.01, 4096, 'GiB', 'Most the journal may grow to; near it new orders are refused, then nothing is recorded any more',
  ),
  diskReserveMb: number(256, 0, 1_000_000, 'MiB', 'With less free disk, or unknown, new orders are refused; cancels go on'),
  clockJumpMs: number(1000, 10, 3_600_000, 'ms', 'A step of the wall clock above this is a jump: counted, said, followed slowly'),
  clockGapSeconds: number(
    86_400, 1, 315_360_000, 'seconds',
    'A start whose wall clock is further ahead of the journal, or behind it, lets timers rest until the operator accepts the clock',
  ),
  cutTail: number(
    0,
    0,
    Number.MAX_SAFE_INTEGER,
    'sequence',
    'Cut a last journal batch with this first sequence that is invalid or cannot be applied; what it held is lost',
  ),
  acceptLoss: number(
    0,
    0,
    Number.MAX_SAFE_INTEGER,
    'sequence',
    'Go on with a journal that ends at this sequence although snapshots, history or journal/head know more; what is missing is lost',
  ),
  snapshotEvery: number(1_000_000, 1, 1_000_000_000, 'commands', 'Commands between snapshots'),
  snapshotsKept: number(3, 1, 100, 'files', 'Newest snapshots kept'),
  followerSilenceSeconds: number(
    30, 1, 3600, 'seconds', 'A follower of history or snapshots that says nothing for this long hangs: it is killed and started again',
  ),
  deadlineMs: number(30_000, 10, 3_600_000, 'ms', 'Longest wait for the engine to answer a request; then 503, applied or not'),
  batchDeadlineMs: number(600_000, 10, 3_600_000, 'ms', 'The same for the items of a batch, each of which is refused for itself'),
  historyReaders: number(1, 1, 16, 'threads', 'Threads that read the history for the gateways'),
  scrubMbPerSecond: number(16, 0, 10_000, 'MB per second', 'Rate at which the journal is read back and checked, pass after pass; 0: not'),
  historyScrubPages: number(250, 0, 1_000_000, 'pages per second', 'Pages of the history, 4 KB each, read back and checked; 0: none'),
  feeTierSeconds: number(60, 1, 86_400, 'seconds', 'How often the fee tiers of accounts that traded are worked out'),
  walletThreads: number(1, 1, 16, 'threads', 'Threads that recover wallet signatures at sign-in'),
  walletQueue: number(256, 1, 100_000, 'requests', 'Wallet signatures waiting; more answers 503'),
  chain: number(1, 0, 1, 'switch', '1 runs the embedded chain, in a thread of its own; 0 does not'),
  chainPort: number(8545, 0, 65535, 'port', 'JSON-RPC of the embedded chain, on loopback only; 0 picks a free one'),
  chainRpcUrl: text('', 'url', 'JSON-RPC of an outside node for contract wallets and the vault, instead of the embedded chain'),
  chainIdle: number(0, 0, 1, 'switch', '1: the embedded chain computes when a core is idle, as if it were elsewhere; 0: below trading'),
  chainTimeoutMs: number(2000, 10, 20_000, 'ms', 'Longest wait for the chain to answer about one signature; then 503 and no verdict'),
  vault: number(1, 0, 1, 'switch', '1 takes deposits and pays withdrawals on the chain; 0 does not'),
  vaultAddress: text('', 'address', 'Vault on the node of --chain-rpc-url (npm run chain -- deploy); without it there is none'),
  factoryAddress: text('', 'address', 'Factory of deposit addresses there'),
  vaultKeyFile: text(
    '', 'path', "File with the vault's operator key, mode 0600; without it the embedded chain has vault.key of the data directory",
  ),
  vaultSignerUrl: text('', 'url', 'JSON-RPC of a remote signer that holds the key instead: eth_signTypedData_v4, eth_signTransaction'),
  chainConfirmations: number(0, 0, 10_000, 'blocks', 'Blocks, its own among them, after which one counts; 0: 1 embedded, 12 outside'),
  chainPollMs: number(500, 10, 600_000, 'ms', 'How often the vault looks at the chain'),
  chainMaxFeeGwei: amount(500, 0.001, 1_000_000, 'gwei', 'Most that the vault pays for a unit of gas; while it costs more, it waits'),
  depositRpcUrls: text('', 'list', 'Nodes of other chains whose deposits are taken: chainId=url, between commas'),
  settlementSeconds: number(60, 1, 86_400, 'seconds', 'Longest time until trades are put into a batch of settlement'),
  settlementTrades: number(10_000, 1, 1_000_000, 'trades', 'A batch of settlement is made earlier with so many'),
  contractChecks: number(32, 1, 1024, 'requests', 'Signatures the chain is asked about at once; more answers 503'),
  contractLoginFile: text('', 'path', 'JSON file {"contractLogin": "all", "none" or [addresses]}: which wallets may be contracts'),
  signInPerAddress: number(10, 1, 1_000_000, 'per second', 'Sign-ins per wallet address, counting only what its wallet signed'),
  signInPerIp: number(50, 1, 1_000_000, 'per second', 'Challenges and verifies per client address'),
  challengeLimit: number(400_000, 1, 10_000_000, 'nonces', 'Used challenges remembered until they expire; more answers 503'),
  newAccountsPerIp: number(2000, 1, 10_000_000, 'per hour', 'Accounts that sign-ins of one client address (IPv6: /48) make'),
  newAccountsPerMinute: number(1000, 1, 10_000_000, 'per minute', 'The same of everybody; a tenth is for addresses that made none'),
  subAccountsPerMaster: number(100, 1, 10_000_000, 'per hour', 'Sub-accounts that one master makes'),
  rateCreatePerSecond: number(100, 1, 1_000_000, 'items', 'New and replacing orders per second and account; cancels have twice as much'),
  rateCreatePerMinute: number(3000, 1, 10_000_000, 'items', 'The same per minute'),
  rateFamilyFactor: number(4, 1, 100, 'times', 'Budget a master shares with its sub-accounts, in budgets of one account'),
  rateMovementPerMinute: number(10, 1, 1_000_000, 'requests', 'Withdrawals and collateral transfers per minute and account'),
  rateMovementPerDay: number(200, 1, 10_000_000, 'requests', 'The same per UTC day'),
  rateClosePerSecond: number(5, 1, 1_000_000, 'requests', 'Copy-trading closes per second and account'),
  enforceRateLimits: number(0, 0, 1, 'switch', '1 answers 429 over these budgets; 0 admits and counts'),
  anonymousPercent: number(25, 1, 100, 'percent', 'Time of a gateway thread for requests without a signature, while signed ones come'),
  readPercent: number(40, 1, 100, 'percent', 'Time of a gateway thread for signed reads, while orders come; families have it in rotation'),
  bodyMb: number(64, 4, 100_000, 'MiB', 'Unfinished request bodies of each gateway thread; one address has half of what is free'),
  bodyKbPerSecond: number(64, 1, 1_000_000, 'KiB/s', 'Least rate of a request body, after five seconds; a slower one is 408'),
  answerMb: number(64, 4, 100_000, 'MiB', 'Answers of each gateway thread that clients do not take; a client has its share of it'),
  answerKbPerSecond: number(16, 1, 1_000_000, 'KiB/s', 'Least rate at which such an answer is taken, after five seconds'),
  wsConnections: number(10_000, 1, 1_000_000, 'connections', 'Most WebSockets of each gateway thread; more are answered 503'),
  wsConnectionsPerAccount: number(50, 1, 100_000, 'connections', 'Most authenticated WebSockets of one account'),
  wsUnusedSeconds: number(60, 1, 3600, 'seconds', 'A WebSocket without session and subscription is closed after this long'),
  wsSubscriptions: number(1024, 1, 100_000, 'subscriptions', 'Most subscriptions of one WebSocket'),
  wsSubscriptionBurst: number(1200, 1, 100_000, 'subscriptions', 'The same for ten seconds, so that a client may change over'),
  wsMessagesPerSecond: number(20, 1, 1_000_000, 'messages', 'Messages a second of one WebSocket'),
  wsMessageBurst: number(300, 1, 1_000_000, 'messages', 'Messages of one WebSocket at once'),
  wsOrderEntry: number(0, 0, 1, 'switch', '1 takes orders on WebSockets, signed one by one or in a signed session; 0 does not'),
  wsOrderBytesPerSecond: number(
    8_388_608, 1024, 1_000_000_000, 'bytes', 'Bytes a second of the order messages of one WebSocket, which are not counted as messages',
  ),
  wsOrderBytesBurst: number(8_388_608, 65_536, 1_000_000_000, 'bytes', 'Bytes of the order messages of one WebSocket at once'),
  wsBufferKb: number(1024, 16, 1_000_000, 'KiB', 'Bytes a WebSocket may have waiting; one that does not read is cut there'),
  wsBuffersMb: number(128, 1, 100_000, 'MiB', 'The same of all WebSockets of a gateway thread; the largest is cut'),
  wsIdleSeconds: number(60, 8, 960, 'seconds', 'A WebSocket that is silent for this long, pings included, is closed'),
  priceFeed: number(1, 0, 1, 'switch', '1 feeds index prices to perpetuals; 0 leaves that to the operator'),
  priceSources: text(
    '', 'path', 'JSON file of sources of index prices; a perpetual without any has the price that its spot book can bear',
  ),
  ownBookIndex: number(
    0, 0, 1, 'switch', '1 starts although users bring real money and the spot book of this exchange makes an index price',
  ),
  publicHost: text('localhost', 'name', 'Host named in the text a wallet signs'),
  logLevel: text('info', 'level', 'fatal, error, warn, info, debug or trace'),
  log: text('auto', 'form', 'json: an object a line; pretty: words for people; auto: pretty on a terminal, else json'),
} as const

/** Where the operator's token may stand; it is no knob (operator_token.ts). The file is one of the data directory. */
export const OPERATOR_TOKEN_VARIABLE = 'RINGBOOK_OPERATOR_TOKEN'
export const OPERATOR_TOKEN_FILE = 'operator.token'
/** Where the vault's key may stand, 64 hex digits (exchange/vault_key.ts). The file is one of the data directory. */
export const VAULT_KEY_VARIABLE = 'RINGBOOK_VAULT_KEY'
export const VAULT_KEY_FILE = 'vault.key'
/** What somebody may take for knobs although they are secrets. */
const SECRETS: Readonly<Record<string, string>> = {
  operatorToken: `${OPERATOR_TOKEN_VARIABLE} or the file of --operator-token-file`,
  vaultKey: `${VAULT_KEY_VARIABLE} or the file of --vault-key-file`,
}

type Knobs = typeof KNOBS
export type Config = { readonly [K in keyof Knobs]: Knobs[K]['fallback'] extends number ? number : string }

const kebab = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)
const variable = (name: string): string => `RINGBOOK_${kebab(name).replaceAll('-', '_').toUpperCase()}`

/** A knob as messages name it: by its flag and its variable. */
export const settingOf = (name: keyof Knobs): string => `--${kebab(name)}, ${variable(name)}`

/** What `--help` says first. */
const LESSON = `Ringbook: an exchange in one box.

Usage: npm start -- [flags]

  npm start
      Serves on 127.0.0.1: REST and WebSocket on 8080, gRPC on 9090, the operator on 9100, the chain on 8545.
      Its data is in data/var; the next start goes on from there.
  npm start -- --data-dir /srv/ringbook --host 0.0.0.0
      Another exchange, for other machines too.
  npm start -- --config data/ops/config.json --log-level warn
      Settings of production from a file, one of them from a flag.
  npm start -- --port 0 --grpc-port 0 --operator-port 0 --chain-port 0
      On any free ports; the greeting says which.
  npm start | cat
      The log as JSON, one object a line, as --log json has it on a terminal too.

While it runs, http://127.0.0.1:8080/docs describes its interface, npm run operator -- --help lists what an operator can
look at and change, and Ctrl-C or SIGTERM stops it in order. Every setting comes from the file of --config, from the
environment or from a flag, later ones winning; an unknown one refuses to start. README.md has the exit codes.`

/** Headings of `--help`, each above the knob it begins with. */
const HEADINGS: { readonly [Name in keyof Knobs]?: string } = {
  config: 'Files', host: 'Addresses, ports and connections', gateways: 'Threads and rings',
  journalGb: 'Journal, disk and clock', snapshotEvery: 'Snapshots, history and checks',
  walletThreads: 'Wallets and the chain', vault: 'Deposits, withdrawals and settlement', contractChecks: 'Contract wallets',
  signInPerAddress: 'Rates', anonymousPercent: 'Requests and answers',
  wsConnections: 'WebSocket', priceFeed: 'Index prices of perpetuals', publicHost: 'Names and log',
}

/** What `--help` prints: how to use it, then every knob with its flag, variable, default and meaning. */
export function configHelp(): string {
  const rows = Object.entries(KNOBS).map(([name, knob]) => {
    const fallback =
      typeof knob.fallback === 'string' && knob.fallback.startsWith(root) ? knob.fallback.slice(root.length + 1) : knob.fallback
    const origin = `Default ${fallback === '' ? 'none' : fallback}; environment ${variable(name)}.`
    const heading = HEADINGS[name as keyof Knobs]
    const above = heading === undefined ? '' : `${heading}\n\n`
    return `${above}  --${kebab(name)} <${knob.unit}>\n      ${knob.meaning}.\n      ${origin}\n`
  })
  const [token, key] = [SECRETS['operatorToken'], SECRETS['vaultKey']]
  const secrets = `Secrets come from files or the environment: the operator's token from ${token}, the vault's key from\n${key}.`
  return `${LESSON}\n\n${rows.join('\n')}\n  --help\n      This text.\n  --version\n      The version of the program.\n\n${secrets}\n`
}

/** The configuration of these arguments and environment; throws ConfigError naming the key at fault. `null`: help was asked for. */
export function readConfig(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): Config | null {
  const options = Object.fromEntries(Object.keys(KNOBS).map((name) => [kebab(name), { type: 'string' as const }]))
  refuseSecrets(argv)
  let flags: Record<string, unknown>
  try {
    flags = parseArgs({ args: [...argv], options: { ...options, help: { type: 'boolean' } }, strict: true }).values
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('. ')[0]}. Try --help`)
  }
  if (flags['help'] === true) return null
  const names = new Set([...Object.keys(KNOBS).map(variable), OPERATOR_TOKEN_VARIABLE, VAULT_KEY_VARIABLE])
  for (const key of Object.keys(environment)) {
    if (key.startsWith('RINGBOOK_') && !names.has(key)) throw new ConfigError(`unknown environment variable ${key}. Try --help`)
  }
  const path = (flags['config'] as string | undefined) ?? environment[variable('config')] ?? ''
  const file = path === '' ? {} : readFile(path)
  const config: Record<string, string | number> = {}
  for (const [name, knob] of Object.entries(KNOBS)) {
    const given = flags[kebab(name)] ?? environment[variable(name)] ?? file[name]
    try {
      config[name] = given === undefined ? knob.fallback : knob.parse(String(given))
    } catch (error) {
      throw new ConfigError(`--${kebab(name)}: ${(error as Error).message}`)
    }
  }
  return checkRelations(config as unknown as Config)
}

/** Every process of the machine can read a command line. */
function refuseSecrets(argv: readonly string[]): void {
  for (const [name, place] of Object.entries(SECRETS)) {
    const flag = `--${kebab(name)}`
    if (!argv.some((word) => word === flag || word.startsWith(`${flag}=`))) continue
    throw new ConfigError(`${flag}: secrets are not taken from the command line, which others can read; use ${place}`)
  }
}

function readFile(path: string): Record<string, unknown> {
  if (!existsSync(path)) throw new ConfigError(`--config: no such file: ${path}`)
  let json: Record<string, unknown>
  try {
    json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  } catch (error) {
    throw new ConfigError(`--config: ${(error as Error).message}`)
  }
  if (json === null || typeof json !== 'object' || Array.isArray(json)) throw new ConfigError(`--config: no JSON object: ${path}`)
  for (const key of Object.keys(json)) {
    if (!Object.hasOwn(KNOBS, key) || key === 'config') throw new ConfigError(`--config: unknown key ${key} in ${path}`)
  }
  return json
}

/** Limits that only make sense together. */
function checkRelations(config: Config): Config {
  if (config.batchMax > config.commandRing * config.gateways) throw new ConfigError('--batch-max exceeds what the command rings hold')
  if (config.replyRing < 4 * 1024) throw new ConfigError('--reply-ring must hold a mass cancel')
  if ((config.tlsCert === '') !== (config.tlsKey === '')) throw new ConfigError('--tls-cert and --tls-key belong together')
  if ((config.grpcCert === '') !== (config.grpcKey === '')) throw new ConfigError('--grpc-cert and --grpc-key belong together')
  if (config.proxyPort !== 0 && config.trustedProxies === '') throw new ConfigError('--proxy-port needs --trusted-proxies')
  for (const name of ['proxyAddresses', 'trustedProxies'] as const) checkNetworks(name, config[name])
  for (const name of ['chainRpcUrl', 'vaultSignerUrl'] as const) {
    if (config[name] !== '' && !isNodeUrl(config[name])) throw new ConfigError(`--${kebab(name)}: must be an http or https URL`)
  }
  checkVault(config)
  if (!['fatal', 'error', 'warn', 'info', 'debug', 'trace'].includes(config.logLevel)) throw new ConfigError('--log-level: unknown level')
  if (!['auto', 'pretty', 'json'].includes(config.log)) throw new ConfigError('--log: must be auto, pretty or json')
  return config
}

function checkNetworks(name: string, list: string): void {
  try {
    void new Networks(list)
  } catch (error) {
    throw new ConfigError(`--${kebab(name)}: ${(error as Error).message}; addresses and networks stand between commas`)
  }
}

function checkVault(config: Config): void {
  const { vaultAddress, factoryAddress, chainRpcUrl, vaultKeyFile, vaultSignerUrl } = config
  for (const name of ['vaultAddress', 'factoryAddress'] as const) {
    const good = config[name] === '' || (/^0x[0-9a-fA-F]{40}$/.test(config[name]) && !/^0x0{40}$/.test(config[name]))
    if (!good) throw new ConfigError(`--${kebab(name)}: must be 0x and 40 hex digits`)
  }
  if ((vaultAddress === '') !== (factoryAddress === '')) throw new ConfigError('--vault-address and --factory-address belong together')
  if (vaultAddress !== '' && chainRpcUrl === '') throw new ConfigError('--vault-address needs --chain-rpc-url')
  if (vaultKeyFile !== '' && vaultSignerUrl !== '') throw new ConfigError('--vault-key-file and --vault-signer-url: one of them')
  depositNodes(config)
}

/** A node of another chain. */
export interface DepositNode {
  readonly chainId: number
  readonly url: string
}

/** Those of `depositRpcUrls`. Throws ConfigError. */
export function depositNodes({ depositRpcUrls }: Pick<Config, 'depositRpcUrls'>): readonly DepositNode[] {
  const parts = depositRpcUrls.split(',').map((part) => part.trim()).filter((part) => part !== '')
  const nodes = parts.map((part) => {
    const [, id = '', url = ''] = /^([1-9]\d{0,15})=(.+)$/.exec(part) ?? []
    if (!Number.isSafeInteger(Number(id)) || !isNodeUrl(url)) {
      throw new ConfigError('--deposit-rpc-urls: must be chainId=url between commas, with http or https URLs')
    }
    return { chainId: Number(id), url }
  })
  const ids = new Set(nodes.map(({ chainId }) => chainId))
  if (ids.size < nodes.length) throw new ConfigError('--deposit-rpc-urls: a chain stands there twice')
  return nodes
}

/** Credentials go into the path, as node providers have it; fetch takes none in front of the host. */
function isNodeUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** Whether the embedded chain is to run. */
export const embedsChain = (config: Config): boolean => config.chain === 1 && config.chainRpcUrl === ''

/** Whether there is a vault: on the embedded chain always, on an outside node when its address is given. */
export const hasVault = (config: Config): boolean => config.vault === 1 && (embedsChain(config) || config.vaultAddress !== '')

/** Blocks after which one counts on the hub, its own among them. */
export const confirmationsOf = (config: Config): number =>
  config.chainConfirmations !== 0 ? config.chainConfirmations : embedsChain(config) ? 1 : 12

/** Threads that turn requests into commands, each with a lane of its own: the gateways, then the one for gRPC. */
export const frontThreads = (config: Config): number => config.gateways + config.grpcThread

/** The configuration as logged at start; of URLs only the host, because providers put keys into the rest. */
export function describeConfig(config: Config): Record<string, string | number> {
  const origin = (url: string): string => (url === '' ? '' : new URL(url).origin)
  const { chainRpcUrl, vaultSignerUrl } = config
  const depositRpcUrls = depositNodes(config).map(({ chainId, url }) => `${chainId}=${origin(url)}`).join(',')
  return { ...config, chainRpcUrl: origin(chainRpcUrl), vaultSignerUrl: origin(vaultSignerUrl), depositRpcUrls }
}

export { ConfigError }
