/**
 * Promise: every knob is read from the file, the environment and the flags, the later wins; what is unknown or out of range refuses to
 * start and names the key; and the help says all of it.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import {
  ConfigError, confirmationsOf, configHelp, defaultsFor, depositNodes, describeConfig, hasVault, KNOBS, readConfig, type Config,
} from '../../core/config.ts'
import { removeDirectory } from '../support/exchange.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringbook-config-'))
t.teardown(() => removeDirectory(directory))

/** Path of a file with this JSON. */
function fileOf(json: unknown): string {
  const path = join(directory, 'config.json')
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json))
  return path
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const flag = (name: string): string => `--${kebab(name)}`
const variable = (name: string): string => `RINGBOOK_${kebab(name).replaceAll('-', '_').toUpperCase()}`
const read = (argv: readonly string[] = [], environment: Record<string, string> = {}): Config => readConfig(argv, environment)!

const TEXTS = [
  'config', 'dataDir', 'genesis', 'host', 'publicHost', 'logLevel', 'grpcCert', 'grpcKey', 'tlsCert', 'tlsKey', 'chainRpcUrl',
  'log', 'contractLoginFile',
  'operatorTokenFile', 'proxyAddresses', 'trustedProxies', 'priceSources',
  'vaultAddress', 'factoryAddress', 'vaultKeyFile', 'vaultSignerUrl', 'depositRpcUrls',
]
/** Least and greatest value of every number. */
const RANGES: Record<string, [low: number, high: number]> = {
  port: [0, 65_535], grpcPort: [0, 65_535], grpcThread: [0, 1], grpcIdleSeconds: [1, 86_400], grpcConnections: [1, 100_000],
  grpcRequestMb: [4, 65_536], grpcAnswerMb: [4, 65_536],
  grpcRequestSeconds: [1, 3600], httpConnections: [1, 1_000_000], firstRequestSeconds: [1, 3600],
  wsUnusedSeconds: [1, 3600],
  operatorPort: [0, 65_535], proxyPort: [0, 65_535], gateways: [1, 64], polls: [0, 10_000], spin: [0, 10_000_000],
  commandRing: [256, 1_048_576], replyRing: [4096, 1_048_576], eventRing: [1024, 4_194_304], batchMax: [1, 4096],
  clockJumpMs: [10, 3_600_000], clockGapSeconds: [1, 315_360_000],
  diskReserveMb: [0, 1_000_000], cutTail: [0, Number.MAX_SAFE_INTEGER], acceptLoss: [0, Number.MAX_SAFE_INTEGER],
  snapshotEvery: [1, 1_000_000_000], snapshotsKept: [1, 100],
  deadlineMs: [10, 3_600_000], batchDeadlineMs: [10, 3_600_000], historyReaders: [1, 16], feeTierSeconds: [1, 86_400],
  followerSilenceSeconds: [1, 3600], scrubMbPerSecond: [0, 10_000], historyScrubPages: [0, 1_000_000],
  chain: [0, 1], chainPort: [0, 65_535], chainTimeoutMs: [10, 20_000], contractChecks: [1, 1024],
  vault: [0, 1], chainIdle: [0, 1], chainConfirmations: [0, 10_000], chainPollMs: [10, 600_000], settlementSeconds: [1, 86_400],
  settlementTrades: [1, 1_000_000],
  walletThreads: [1, 16], walletQueue: [1, 100_000], signInPerAddress: [1, 1_000_000], signInPerIp: [1, 1_000_000],
  challengeLimit: [1, 10_000_000], newAccountsPerIp: [1, 10_000_000], newAccountsPerMinute: [1, 10_000_000],
  subAccountsPerMaster: [1, 10_000_000],
  rateCreatePerSecond: [1, 1_000_000], rateCreatePerMinute: [1, 10_000_000], rateFamilyFactor: [1, 100],
  rateMovementPerMinute: [1, 1_000_000], rateMovementPerDay: [1, 10_000_000], rateClosePerSecond: [1, 1_000_000], enforceRateLimits: [0, 1],
  anonymousPercent: [1, 100], readPercent: [1, 100], bodyMb: [4, 100_000], bodyKbPerSecond: [1, 1_000_000],
  answerMb: [4, 100_000], answerKbPerSecond: [1, 1_000_000],
  wsConnections: [1, 1_000_000], wsConnectionsPerAccount: [1, 100_000], wsSubscriptions: [1, 100_000], wsSubscriptionBurst: [1, 100_000],
  wsOrderEntry: [0, 1], wsOrderBytesPerSecond: [1024, 1_000_000_000], wsOrderBytesBurst: [65_536, 1_000_000_000],
  wsMessagesPerSecond: [1, 1_000_000], wsMessageBurst: [1, 1_000_000], wsBufferKb: [16, 1_000_000], wsBuffersMb: [1, 100_000],
  wsIdleSeconds: [8, 960], priceFeed: [0, 1], ownBookIndex: [0, 1],
}
/** They are only allowed together. */
const PAIRED = ['grpcCert', 'grpcKey', 'tlsCert', 'tlsKey']
const RINGS = ['commandRing', 'replyRing', 'eventRing']
/** Keeps the relation of batch and rings out of the way. */
const beside = (name: string): string[] =>
  [...(name === 'batchMax' ? [] : ['--batch-max', '1']), ...(name === 'proxyPort' ? ['--trusted-proxies', '::1'] : [])]

t.test('this test knows every knob', async (t) => {
  const known = [...TEXTS, ...Object.keys(RANGES), 'journalGb', 'chainMaxFeeGwei'].sort()
  t.same(Object.keys(KNOBS).sort(), known)
})

t.test('without anything, the defaults', async (t) => {
  const config = read()
  for (const [name, knob] of Object.entries(KNOBS)) t.equal(config[name as keyof Config], knob.fallback, name)
  t.same(describeConfig(config), config)
})

t.test('gateway threads by the cores of the machine', async (t) => {
  const [few, many] = [{ polls: 0, spin: 200 }, { polls: 32, spin: 2000 }]
  const threads = [{ gateways: 1, ...few }, { gateways: 2, ...few }, { gateways: 2, ...many }, { gateways: 7, ...many }]
  t.same([1, 2, 3, 8].map((cores) => defaultsFor(cores)), threads)
  t.match(read(), defaultsFor(availableParallelism()))
})

for (const [name, [low, high]] of Object.entries(RANGES)) {
  t.test(`${name}: from ${low} to ${high}, file before environment before flag`, async (t) => {
    const value = (argv: string[], environment: Record<string, string> = {}): unknown =>
      read([...argv, ...beside(name)], environment)[name as keyof Config]
    const refused = { name: 'ConfigError', message: new RegExp(`^${flag(name)}: `) }
    const middle = RINGS.includes(name) ? low * 2 : low + 1
    const file = ['--config', fileOf({ [name]: low })]
    t.equal(value(file), low, 'file')
    t.equal(value(file, { [variable(name)]: String(middle) }), middle, 'environment')
    t.equal(value([...file, flag(name), String(high)], { [variable(name)]: String(middle) }), high, 'flag')
    const beyond = high === Number.MAX_SAFE_INTEGER ? high + 2 : high + 1
    for (const wrong of [low - 1, beyond, `${low}.5`, 'many', '', ' ', 'NaN', 'Infinity']) {
      t.throws(() => value([`${flag(name)}=${wrong}`]), refused, `flag "${wrong}"`)
    }
    t.throws(() => value([], { [variable(name)]: 'x' }), refused, 'environment')
    for (const wrong of [null, true, [1, 2], {}, 'x']) {
      t.throws(() => value(['--config', fileOf({ [name]: wrong })]), { name: 'ConfigError' }, `file ${JSON.stringify(wrong)}`)
    }
  })
}

const CHECKED = [
  'config', 'logLevel', 'log', 'chainRpcUrl', 'proxyAddresses', 'trustedProxies',
  'vaultAddress', 'factoryAddress', 'vaultSignerUrl', 'depositRpcUrls',
]
for (const name of TEXTS.filter((each) => !CHECKED.includes(each) && !PAIRED.includes(each))) {
  t.test(`${name}: file before environment before flag`, async (t) => {
    const file = ['--config', fileOf({ [name]: 'a' })]
    const at = name as keyof Config
    t.equal(read(file)[at], 'a')
    t.equal(read(file, { [variable(name)]: 'b' })[at], 'b')
    t.equal(read([...file, flag(name), 'c'], { [variable(name)]: 'b' })[at], 'c')
  })
}

t.test('journalGb: from 0.01 to 4096, parts of one too', async (t) => {
  for (const good of ['0.01', '1', '2.5', '4096']) t.equal(read(['--journal-gb', good]).journalGb, Number(good))
  for (const wrong of ['0', '0.009', '4096.1', '-1', 'many', '', ' ', 'NaN', 'Infinity']) {
    const refused = { name: 'ConfigError', message: /^--journal-gb: must be a number from 0.01 to 4096/ }
    t.throws(() => read([`--journal-gb=${wrong}`]), refused, `"${wrong}"`)
  }
})

t.test('the file itself is named by flag before environment', async (t) => {
  const path = fileOf({ port: 1234 })
  t.equal(read([], { RINGBOOK_CONFIG: path }).port, 1234)
  t.equal(read(['--config', path], { RINGBOOK_CONFIG: '/nowhere' }).port, 1234)
  t.throws(() => read(['--config', '/nowhere/x.json']), { name: 'ConfigError', message: /no such file: \/nowhere\/x\.json/ })
})

t.test('rings are powers of two', async (t) => {
  for (const name of RINGS) {
    t.throws(() => read([flag(name), '5000', '--batch-max', '1']), { message: `${flag(name)}: must be a power of two` })
  }
})

t.test('an unknown key anywhere is refused by name', async (t) => {
  t.throws(() => read(['--prot', '1']), { name: 'ConfigError', message: /--prot/ })
  t.throws(() => read(['serve']), { name: 'ConfigError', message: /serve/ })
  t.throws(() => read(['--port']), { name: 'ConfigError', message: /--port/ })
  t.throws(() => read([], { RINGBOOK_PROT: '1' }), { name: 'ConfigError', message: /RINGBOOK_PROT/ })
  t.throws(() => read([], { RINGBOOK_port: '1' }), { name: 'ConfigError', message: /RINGBOOK_port/ }, 'in its exact case')
  t.equal(read([], { PORT: '1', RINGBOOKISH: '1' }).port, KNOBS.port.fallback, 'the variables of others are theirs')
  for (const key of ['prot', 'Port', 'data-dir', 'config', 'help', 'toString', 'constructor', '__proto__']) {
    const path = fileOf(`{ "${key}": "1" }`)
    t.throws(() => read(['--config', path]), { name: 'ConfigError', message: new RegExp(`unknown key ${key} `) }, key)
  }
})

t.test('a file that is no JSON object is refused', async (t) => {
  for (const text of ['', '{', '[]', 'null', '5', '"port"', '{"port":1}}']) {
    t.throws(() => read(['--config', fileOf(text)]), { name: 'ConfigError', message: /^--config: / }, text)
  }
})

t.test('limits that only make sense together', async (t) => {
  const rings = ['--command-ring', '256', '--gateways', '2']
  t.throws(() => read([...rings, '--batch-max', '513']), { name: 'ConfigError', message: /--batch-max/ })
  t.equal(read([...rings, '--batch-max', '512']).batchMax, 512)
  for (const name of PAIRED) t.throws(() => read([flag(name), 'x']), { name: 'ConfigError', message: /belong together/ }, name)
  t.match(read(['--grpc-cert', 'c', '--grpc-key', 'k']), { grpcCert: 'c', grpcKey: 'k' })
  t.throws(() => read(['--proxy-port', '1']), { name: 'ConfigError', message: /--proxy-port needs --trusted-proxies/ })
  t.throws(() => read(['--log-level', 'loud']), { name: 'ConfigError', message: /--log-level/ })
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) t.equal(read(['--log-level', level]).logLevel, level)
})

t.test('the URL of a node is one that can be asked, and its path is not logged', async (t) => {
  for (const wrong of ['node', 'ws://node:8546', 'file:///etc', 'https://name:secret@node', '127.0.0.1:8545']) {
    t.throws(() => read(['--chain-rpc-url', wrong]), { name: 'ConfigError', message: /^--chain-rpc-url: / }, wrong)
  }
  const config = read(['--chain-rpc-url', 'https://node.example:8545/v2/secret?key=secret'])
  t.equal(config.chainRpcUrl, 'https://node.example:8545/v2/secret?key=secret')
  t.equal(describeConfig(config)['chainRpcUrl'], 'https://node.example:8545')
  t.equal(read([], { RINGBOOK_CHAIN_RPC_URL: 'http://127.0.0.1:1' }).chainRpcUrl, 'http://127.0.0.1:1')
})

const [VAULT, FACTORY] = [`0x${'aB'.repeat(20)}`, `0x${'12'.repeat(20)}`]
const OUTSIDE = ['--chain-rpc-url', 'http://127.0.0.1:1']

t.test('the vault: on the embedded chain by itself, on an outside node with its addresses', async (t) => {
  t.match([hasVault(read()), confirmationsOf(read())], [true, 1])
  t.equal(hasVault(read(['--vault', '0'])), false)
  t.equal(hasVault(read(['--chain', '0'])), false)
  t.match([hasVault(read(OUTSIDE)), confirmationsOf(read(OUTSIDE))], [false, 12], 'a node alone is for contract wallets')
  const both = ['--vault-address', VAULT, '--factory-address', FACTORY]
  const outside = read([...OUTSIDE, ...both])
  t.match(outside, { vaultAddress: VAULT, factoryAddress: FACTORY })
  t.equal(hasVault(outside), true)
  t.equal(hasVault(read([...OUTSIDE, ...both, '--vault', '0'])), false)
  t.equal(confirmationsOf(read(['--chain-confirmations', '3'])), 3)
  for (const name of ['vaultAddress', 'factoryAddress']) {
    for (const wrong of ['0x12', VAULT.slice(2), `0x${'00'.repeat(20)}`, `${VAULT}00`, 'vault.eth']) {
      const refused = { name: 'ConfigError', message: `${flag(name)}: must be 0x and 40 hex digits` }
      t.throws(() => read([...OUTSIDE, ...both, flag(name), wrong]), refused, wrong)
    }
    t.throws(() => read([...OUTSIDE, flag(name), VAULT]), { message: '--vault-address and --factory-address belong together' })
  }
  t.throws(() => read(both), { message: /^--vault-address needs --chain-rpc-url/ })
  const keys = ['--vault-key-file', 'k', '--vault-signer-url', 'http://127.0.0.1:1']
  t.throws(() => read(keys), { message: '--vault-key-file and --vault-signer-url: one of them' })
})

t.test('nodes of other chains, and a remote signer: asked, but not logged', async (t) => {
  const urls = '11155111=https://node.example/v2/secret?key=secret, 5=http://127.0.0.1:8545'
  const config = read(['--deposit-rpc-urls', urls, '--vault-signer-url', 'https://signer.example:9000/secret'])
  t.same(depositNodes(config), [
    { chainId: 11155111, url: 'https://node.example/v2/secret?key=secret' }, { chainId: 5, url: 'http://127.0.0.1:8545' },
  ])
  t.match(describeConfig(config), {
    depositRpcUrls: '11155111=https://node.example,5=http://127.0.0.1:8545', vaultSignerUrl: 'https://signer.example:9000',
  })
  t.notOk(JSON.stringify(describeConfig(config)).includes('secret'))
  const list = { name: 'ConfigError', message: /^--deposit-rpc-urls: must be chainId=url/ }
  for (const wrong of ['node', '1=node', '0=http://a', '=http://a', 'http://a', '1=ftp://a', '1=http://u:p@a', `${2 ** 60}=http://a`]) {
    t.throws(() => read(['--deposit-rpc-urls', wrong]), list, wrong)
  }
  t.throws(() => read(['--deposit-rpc-urls', '1=http://a,1=http://b']), { message: '--deposit-rpc-urls: a chain stands there twice' })
  for (const wrong of ['signer', 'https://name:secret@signer']) {
    t.throws(() => read(['--vault-signer-url', wrong]), { name: 'ConfigError', message: /^--vault-signer-url: / }, wrong)
  }
})

t.test('chainMaxFeeGwei: parts of one too', async (t) => {
  for (const good of ['0.001', '1', '2.5', '1000000']) t.equal(read(['--chain-max-fee-gwei', good]).chainMaxFeeGwei, Number(good))
  for (const wrong of ['0', '1000001', '-1', 'many', '', 'NaN']) {
    t.throws(() => read([`--chain-max-fee-gwei=${wrong}`]), { message: /^--chain-max-fee-gwei: must be a number from / }, `"${wrong}"`)
  }
})

t.test('the key of the vault is no knob, and not taken from the command line', async (t) => {
  const key = '11'.repeat(32)
  t.notOk(JSON.stringify(read([], { RINGBOOK_VAULT_KEY: key })).includes(key))
  for (const argv of [['--vault-key', key], [`--vault-key=${key}`]]) {
    t.throws(() => read(argv), { name: 'ConfigError', message: /^--vault-key: secrets are not taken from the command line/ })
  }
  t.throws(() => read(['--config', fileOf({ vaultKey: key })]), { name: 'ConfigError', message: /unknown key vaultKey / })
})

t.test('the help says every knob: flag, variable, default, meaning', async (t) => {
  t.equal(readConfig(['--help'], {}), null)
  t.equal(readConfig(['--port', 'x', '--help'], { RINGBOOK_NONSENSE: '1' }), null, 'help is given whatever else is wrong')
  const help = configHelp()
  for (const [name, knob] of Object.entries(KNOBS)) {
    const at = help.indexOf(`  ${flag(name)} <${knob.unit}>\n`)
    t.ok(at > 0, flag(name))
    const entry = help.slice(at, help.indexOf('\n  --', at + 1))
    t.ok(entry.includes(`environment ${variable(name)}.`), variable(name))
    t.ok(entry.includes(knob.meaning), knob.meaning)
    if (typeof knob.fallback === 'number') t.ok(entry.includes(`Default ${knob.fallback};`), `default ${knob.fallback}`)
    else t.match(entry, /Default \S+;/, 'default')
  }
  const examples = [...help.matchAll(/^  npm start(?: -- (.*))?$/gm)].map(([, flags]) => flags?.split(' ') ?? [])
  t.ok(examples.length >= 4, 'it begins with examples')
  for (const flags of examples) t.ok(readConfig(flags, {}) !== null, `that are good: ${flags.join(' ')}`)
  t.notOk(help.includes(process.cwd()), 'paths are given from the project')
  t.equal(new ConfigError('x').name, 'ConfigError')
})

t.test('the form of the log', async (t) => {
  for (const form of ['auto', 'pretty', 'json']) t.equal(read(['--log', form]).log, form)
  t.equal(read([], { RINGBOOK_LOG: 'json' }).log, 'json')
  t.throws(() => read(['--log', 'text']), { name: 'ConfigError', message: '--log: must be auto, pretty or json' })
})

t.test('secrets are not taken from the command line, nor from the file of knobs', async (t) => {
  for (const argv of [['--operator-token', 'x'.repeat(32)], [`--operator-token=${'x'.repeat(32)}`]]) {
    const error = t.throws(() => read(argv), { name: 'ConfigError', message: /secrets are not taken from the command line/ })
    t.notMatch(String(error), /xxx/, 'and not repeated')
  }
  const filed = fileOf({ operatorToken: 'x'.repeat(32) })
  t.throws(() => read(['--config', filed]), { name: 'ConfigError', message: /unknown key operatorToken/ })
  const config = read([], { RINGBOOK_OPERATOR_TOKEN: 'y'.repeat(32) })
  t.notMatch(JSON.stringify(config), /yyy/, 'the environment may have it, and no knob does')
  t.match(configHelp(), /operator's token from RINGBOOK_OPERATOR_TOKEN or the file of --operator-token-file/)
})
