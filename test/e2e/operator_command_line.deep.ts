/**
 * Promise: `npm run operator` does to a running exchange what it says, teaches what there is, and tells what went wrong with the exit
 * code its help names. The real exchange, the command line as a process of its own.
 */
import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import t, { type Test } from 'tap'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { COMMANDS } from '../../gateway/operator/commands.ts'
import { usage } from '../../gateway/operator/help.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, sodiumSigner } from '../support/traders.ts'

t.setTimeout(900_000)

const root = join(import.meta.dirname, '..', '..')
const MAIN = join(root, 'gateway', 'operator', 'main.ts')

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command line, or another program of the tree, with these words. */
function operator(words: readonly string[], environment: Record<string, string> = {}, program: string = MAIN): Promise<Ended> {
  const { RINGBOOK_OPERATOR_PORT: _, ...inherited } = process.env
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...words], {
    env: { ...inherited, ...environment }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err]: Buffer[][] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => out!.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err!.push(chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out: Buffer.concat(out!).toString('utf8'), err: Buffer.concat(err!).toString('utf8') }))
  })
}

/** `operator -- metrics` into a reader that leaves at once. */
function cut(exchange: Exchange): Promise<Omit<Ended, 'out'>> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'metrics', '--port', String(exchange.operatorPort)])
  child.stdout.destroy()
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  return new Promise((resolve) => child.on('exit', (code) => resolve({ code, err })))
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

t.test('help teaches every command with an example that can be typed', async (t) => {
  const { code, out, err } = await operator(['--help'])
  t.same([code, err], [0, ''])
  // A shell reads a call that goes on behind a backslash as one line.
  const typed = out.replace(/ \\\n +/g, ' ')
  for (const command of COMMANDS) {
    t.ok(typed.includes(`\n  ${usage(command)}\n      ${command.purpose}\n      npm run operator -- ${command.example[0]}\n`), command.name)
    const [call] = command.example[0].split(' | ') as [string]
    t.ok(call.startsWith(command.name), 'the example is one of the command')
    const given = call.slice(command.name.length).split(' ').filter((word) => word !== '')
    const { options = [] } = command
    const least = command.parameters.length + 2 * options.filter(({ optional }) => optional !== true).length
    t.ok(given.length >= least && given.length <= command.parameters.length + 2 * options.length, call)
    const flags = given.filter((word) => word.startsWith('--'))
    t.ok(flags.every((flag) => options.some(({ name }) => `--${name}` === flag)), 'with options of the command only')
  }
  t.match(out, /--port PORT\n +.*Default 9100; environment RINGBOOK_OPERATOR_PORT/)
  t.match(out, /Exit codes: 0 done; 1 refused, not ready, not running or no answer; 2 the call was wrong/)
  t.same(await operator(['help']), { code, out, err })
  t.ok(Math.max(...out.split('\n').map((line) => line.length)) <= 140)
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  t.ok(scripts['operator']!.endsWith(' gateway/operator/main.ts'))
})

t.test('help after a command tells more about it', async (t) => {
  const one = await operator(['pairs', 'set', '--help'])
  t.equal(one.code, 0)
  t.match(one.out, /^pairs set PAIR STATUS\n[^]*CANCEL_ONLY {2}orders and replacements are refused/)
  t.match(one.out, /^ {2}Example:\n {4}npm run operator -- pairs set BTC\/USDC CANCEL_ONLY\n/m)
  t.notOk(one.out.includes('pairs list'))
  t.same(await operator(['help', 'pairs', 'set']), one)
  const family = await operator(['sessions', '--help'])
  t.ok(family.out.startsWith('sessions list --user USER_ID\n') && family.out.includes('\nsessions revoke SESSION\n'))
  t.match(await operator(['trades', '--help']), { code: 2, out: '', err: /no such command: trades/ })
})

t.test('a wrong call asks nothing and says what is right', async (t) => {
  let asked = 0
  const port = await listening(t, createServer(() => asked++))
  const wrong: [words: string[], says: RegExp][] = [
    [[], /which command\? There is: status, health, ready, metrics/],
    [['trades'], /no such command: trades\n/],
    [['pairs'], /which of them: pairs list, pairs set, pairs add, pairs terms\?/],
    [['pairs', 'show'], /no such command: pairs show; there is: pairs list, pairs set/],
    [['pairs', 'set', 'BTC/USDC'], /it is typed as: pairs set PAIR STATUS/],
    [['pairs', 'set', 'BTC/USDC', 'OPEN'], /STATUS is one of HALTED, ACTIVE, CANCEL_ONLY/],
    [['pairs', 'set', 'BTC/USDC', 'ACTIVE', 'now'], /it is typed as/],
    [['pairs', 'list', '--user', 'x'], /it is typed as: pairs list\n/],
    [['tiers', 'set', 'x', 'gold'], /TIER is a number/],
    [['tiers', 'set', 'x', '-1'], /Unknown option '-1'/],
    [['tiers', 'set', 'x', '1.5'], /TIER is a number/],
    [['sessions', 'list'], /it is typed as: sessions list --user USER_ID/],
    [['maintenance'], /which of them: maintenance show, maintenance on, maintenance off\?/],
    [['maintenance', 'maybe'], /no such command: maintenance maybe/],
    [['status', '--verbose'], /Unknown option '--verbose'/],
    [['status', 'now'], /it is typed as: status\n/],
    [['status', '--timeout', '0'], /--timeout is a whole number from 1 to 60/],
    [['status', '--timeout', '1e1'], /--timeout is a whole number/],
    [['status', '--port', '65536'], /--port is a whole number from 1 to 65535/],
  ]
  await Promise.all([0, 1].map(async (half) => {
    for (const [words, says] of wrong.filter((_, i) => i % 2 === half)) {
      const { code, out, err } = await operator(words, { RINGBOOK_OPERATOR_PORT: String(port) })
      t.same([code, out], [2, ''], words.join(' '))
      t.match(err, says)
      t.match(err, /^operator: .*\nTry: npm run operator -- --help\n$/)
    }
  }))
  t.match(await operator(['status'], { RINGBOOK_OPERATOR_PORT: '0' }), { code: 2, err: /RINGBOOK_OPERATOR_PORT is a whole number from 1/ })
  const json = await operator(['trades', '--json'], { RINGBOOK_OPERATOR_PORT: String(port) })
  t.same([json.code, json.out, JSON.parse(json.err)], [2, '', { code: 'USAGE', message: 'no such command: trades', details: {} }])
  t.equal(asked, 0)
})

t.test('without an exchange it says how to start one', async (t) => {
  const port = String(await freePort())
  const { code, out, err } = await operator(['status', '--port', port])
  t.same([code, out], [1, ''])
  t.match(err, new RegExp(`^operator: NOT_RUNNING: no exchange answers on 127\\.0\\.0\\.1:${port}\\. Start it with: npm start\\. .*--port`))
  const json = await operator(['maintenance', 'on', '--json'], { RINGBOOK_OPERATOR_PORT: port })
  t.same([json.code, json.out], [1, ''])
  t.match(JSON.parse(json.err), { code: 'NOT_RUNNING', details: {} })
})

t.test('somebody else on the port, silence and broken connections are told apart', async (t) => {
  const mute = String(await listening(t, createServer(() => undefined)))
  const silent = await operator(['health', '--port', mute, '--timeout', '1'])
  t.match(silent, { code: 1, out: '', err: 'operator: NO_ANSWER: no answer in 1 s\n' })
  const change = await operator(['maintenance', 'on', '--port', mute, '--timeout', '1'])
  t.match(change, { code: 1, out: '', err: /NO_ANSWER: no answer in 1 s\. The change may have been made .*look before you repeat it/ })
  const hangUp = String(await listening(t, createServer((socket) => socket.once('data', () => socket.destroy()))))
  t.match(await operator(['pairs', 'list', '--port', hangUp]), { code: 1, err: 'operator: NO_ANSWER: the connection broke\n' })
  const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
  const cut = String(await listening(t, createServer((socket) => socket.once('data', () => socket.end(half)))))
  t.match(await operator(['pairs', 'list', '--port', cut]), { code: 1, out: '', err: 'operator: NO_ANSWER: the connection broke\n' })

  const strange = /^operator: UNEXPECTED_RESPONSE: what answers on 127\.0\.0\.1:\d+ is not the operator port of this version/
  const other = String(await listening(t, createServer((socket) => socket.once('data', () => socket.end('220 mail.example ESMTP\r\n')))))
  t.match(await operator(['status', '--port', other]), { code: 1, out: '', err: strange })
  for (const [status, type, body] of [
    [200, 'application/json', '{}'], [200, 'application/json', '[]'], [200, 'application/json', '{'], [404, 'text/html', '<h1>no</h1>'],
    [200, 'text/html', '<h1>hello</h1>'], [200, 'application/json', 'x'.repeat(9 * 1024 * 1024)], [302, 'application/json', '{}'],
  ] as const) {
    const server = createHttpServer((_request, response) => response.writeHead(status, { 'Content-Type': type }).end(body))
    const port = String(await listening(t, server))
    t.match(await operator(['status', '--port', port]), { code: 1, out: '', err: strange }, `${status} ${type} ${body.slice(0, 20)}`)
  }
  const standing = createHttpServer((_request, response) =>
    response.writeHead(503, { 'Content-Type': 'application/json' })
      .end('{"ready":false,"matcher":false,"gateways":[true,false],"degraded":[]}'),
  )
  const notReady = await operator(['ready', '--port', String(await listening(t, standing))])
  t.same(notReady, { code: 1, out: 'NOT ready: matcher, gateway 2\n', err: '' })
  const envelope = { error: 'X', code: 'X\u001b[2J', message: 'bad\u0007', statusCode: 400, details: { field: '\u001b]0;x' } }
  const server = createHttpServer((_request, response) =>
    response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify(envelope)),
  )
  const rude = await operator(['status', '--port', String(await listening(t, server))])
  t.same([rude.code, rude.err], [1, 'operator: X?[2J: bad? (field ?]0;x)\n'], 'nothing that a terminal would obey')
})

t.test('a running exchange', async (t) => {
  const directory = temporaryDirectory()
  let exchange = await startExchange(directory, ['--gateways', '2'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  /** What it prints, for people; fails unless it ends with 0. */
  const says = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await operator([...words, '--port', String(exchange.operatorPort), '--data-dir', directory])
    if (code !== 0 || err !== '') throw new Error(`${words.join(' ')}: ${code} ${err}`)
    return out
  }
  const gives = async <T = Record<string, unknown>>(...words: string[]): Promise<T> => JSON.parse(await says(...words, '--json')) as T
  const fails = (...words: string[]): Promise<Ended> =>
    operator([...words, '--port', String(exchange.operatorPort), '--data-dir', directory])

  await t.test('is looked at', (t) => looks(t, exchange, says, gives))
  await t.test('is put into maintenance, which outlives a restart', async (t) => {
    const { client } = await newTrader(exchange.baseUrl, 1)
    t.equal(await says('maintenance', 'show'), 'maintenance is off\n')
    t.match(await says('maintenance', 'on'), /^maintenance is on \(sequence \d+\)\n$/)
    t.equal(await says('maintenance', 'show'), 'maintenance is on\n')
    await t.rejects(client.Mint(), { status: 503, code: 'OPERATIONS_BLOCKED' })
    const { matcher: { accounts } } = await gives<{ matcher: { accounts: number } }>('status')
    t.equal(accounts, 1)
    await exchange.stop()
    exchange = await startExchange(directory, ['--gateways', '1'])
    t.same(await gives('maintenance', 'show'), { maintenance: true }, 'before the first command after the start')
    t.match(await gives('status'), { maintenance: true, matcher: { maintenance: 1, accounts } })
    t.match(await says('status'), /^maintenance {2}ON: orders are refused$/m)
    const off = await gives('maintenance', 'off')
    t.match(off, { maintenance: false, sequence: Number })
    t.equal(await says('maintenance', 'show'), 'maintenance is off\n')
  })
  await t.test('has its pairs stopped and opened', (t) => stopsPairs(t, exchange, says, gives, fails))
  await t.test('has fee tiers', (t) => setsTiers(t, exchange, says, gives, fails))
  await t.test('has sessions', (t) => endsSessions(t, exchange, says, gives, fails))
  await t.test('has applications and server keys', (t) => keepsApplications(t, exchange, says, gives, fails))
  await t.test('has all of that in its journal, which replays', async (t) => {
    await exchange.stop()
    const { code, out } = await operator(['verify', '--data-dir', directory], {}, join(root, 'core', 'replay', 'main.ts'))
    t.equal(code, 0, out)
  })
})

type Says = (...words: string[]) => Promise<string>
type Gives = <T = Record<string, unknown>>(...words: string[]) => Promise<T>
type Fails = (...words: string[]) => Promise<Ended>

async function looks(t: Test, exchange: Exchange, says: Says, gives: Gives): Promise<void> {
  t.match(await says('health'), /^alive, sequence \d+\n$/)
  t.match(await gives('health'), { status: 'ok', sequence: Number })
  t.equal(await says('ready'), 'ready: matcher and 3 gateways\n')
  t.same(await gives('ready'), { ready: true, matcher: true, gateways: [true, true, true], degraded: [] })
  const status = await says('status')
  const lines = [/^maintenance {2}off$/m, /^history +up, /m, /^GATEWAY +REQUESTS +2XX/m, /^ +3 +\d/m, /^BTC\/USDC +ACTIVE +-$/m]
  for (const line of lines) t.match(status, line)
  t.equal(await says('sub-accounts', 'unconsented'), 'every sub-account has the consent of its wallet\n')
  const json = await gives('status')
  t.match(json, { maintenance: false, matcher: { commands: Number }, gateways: [{ gateway: 1 }, { gateway: 2 }, { gateway: 3 }] })
  const metrics = await says('metrics')
  t.match(metrics, /^# TYPE exchange_commands_total counter\nexchange_commands_total \d+$/m)
  const samples = await gives<Record<string, number>>('metrics')
  t.equal(samples['exchange_pair_status{pair="BTC/USDC"}'], 1)
  const series = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replace(/ \S+$/, ''))
  t.same(Object.keys(samples).sort(), series.sort())
  t.same(await cut(exchange), { code: 0, err: '' }, 'a reader that leaves is no failure')
  const byVariable = await operator(['health'], { RINGBOOK_OPERATOR_PORT: String(exchange.operatorPort) })
  t.equal(byVariable.code, 0)
  const flagWins = await operator(['health', '--port', String(exchange.operatorPort)], { RINGBOOK_OPERATOR_PORT: String(await freePort()) })
  t.equal(flagWins.code, 0)
}

async function stopsPairs(t: Test, exchange: Exchange, says: Says, gives: Gives, fails: Fails): Promise<void> {
  const { client } = await newTrader(exchange.baseUrl, 1)
  const tradingPairId = await pairOf(client, 'ETH/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '2000' } as const
  const { orderId } = await client.CreateOrder(order)
  t.match(await says('pairs', 'list'), new RegExp(`^ETH/USDC +ACTIVE +1 +0 +${tradingPairId}$`, 'm'))
  t.match(await says('pairs', 'set', 'ETH/USDC', 'halted'), /^ETH\/USDC is HALTED, was ACTIVE \(sequence \d+\)\n$/)
  await t.rejects(client.CancelOrder({ orderId }), { status: 400, code: 'PAIR_NOT_ACTIVE' }, 'nothing moves')
  t.match(await gives('pairs', 'set', tradingPairId, 'CANCEL_ONLY'), { symbol: 'ETH/USDC', status: 'CANCEL_ONLY', before: 'HALTED' })
  t.equal((await client.CancelOrder({ orderId })).status, 'SUCCESS')
  await t.rejects(client.CreateOrder(order), { status: 400, code: 'PAIR_NOT_ACTIVE' })
  t.match(await gives('pairs', 'list'), { pairs: [{}, { symbol: 'ETH/USDC', status: 'CANCEL_ONLY', bidOrders: 0 }, {}, {}] })
  await says('pairs', 'set', 'ETH/USDC', 'ACTIVE')
  t.ok((await client.CreateOrder(order)).orderId)
  const unknown = await fails('pairs', 'set', 'DOGE/USDC', 'HALTED')
  t.same(unknown, { code: 1, out: '', err: 'operator: NOT_FOUND: Not found (field pair)\n' })
  const asJson = await fails('pairs', 'set', 'DOGE/USDC', 'HALTED', '--json')
  t.same([asJson.code, asJson.out], [1, ''])
  t.same(JSON.parse(asJson.err), { code: 'NOT_FOUND', message: 'Not found', details: { field: 'pair' } })
}

async function setsTiers(t: Test, exchange: Exchange, says: Says, gives: Gives, fails: Fails): Promise<void> {
  const { client } = await newTrader(exchange.baseUrl, 0)
  const { id } = await client.GetProfile()
  const text = readFileSync(join(root, 'data', 'genesis', 'genesis.json'), 'utf8')
  const { feeTiers } = JSON.parse(text) as { feeTiers: { asset: string; tiers: object[] } }
  const tiers = feeTiers.tiers.map((tier, i) => ({ tier: i, ...tier }))
  t.same(await gives('tiers', 'list'), { asset: feeTiers.asset, tiers }, 'as the genesis has them')
  t.match(await says('tiers', 'list'), /^TIER {2}VOLUME USDC [^]*^ {3}1 {2}100000 +0 +0\.5$/m)
  t.match(await says('tiers', 'set', id, '3'), new RegExp(`^${id} is in tier 3, was in 0 \\(sequence \\d+\\)\n$`))
  t.match(await gives('tiers', 'set', id, '0'), { userId: id, tier: 0, before: 3 })
  t.match(await fails('tiers', 'set', id, '6'), { code: 1, out: '', err: /^operator: VALIDATION_ERROR: .* \(field tier, tiers 6\)\n$/ })
  t.match(await fails('tiers', 'set', 'ann', '1'), { code: 1, out: '', err: /VALIDATION_ERROR: .* \(field userId\)/ })
}

async function keepsApplications(t: Test, exchange: Exchange, says: Says, gives: Gives, fails: Fails): Promise<void> {
  const heads = '^CLIENT ID +NAME +ACTIVE +USERS +SERVER KEY +ORIGINS +ID\\n'
  t.match(await says('applications', 'list'), new RegExp(`${heads}ringbook +Ringbook +yes +\\d+ +none +\\* +`))
  const site = 'https://desk.example'
  const origins = ['--origin', site, '--origin', `${site}:8443`]
  const added = await gives('applications', 'add', '--client-id', 'desk', '--name', 'The Desk', ...origins)
  t.match(added, { clientId: 'desk', name: 'The Desk', isActive: true, sequence: Number })
  const listed = { id: added['id'], allowedOrigins: [site, `${site}:8443`], serverKey: null }
  t.match(await gives('applications', 'list'), { applications: [{}, listed] })
  t.match(await says('origins', 'remove', 'desk', site), /^https:\/\/desk\.example is not allowed; origins: 1 \(sequence \d+\)\n$/)
  t.match(await says('origins', 'add', String(added['id']), '*'), /^\* is allowed; origins: 2 /)
  t.match(await fails('origins', 'remove', 'desk', site), { code: 1, err: /^operator: NOT_FOUND/ })
  t.match(await says('applications', 'set', 'desk', '--name', 'Desk'), /^application desk \(Desk\) is active \(sequence \d+\)\n$/)

  const issued = await fails('keys', 'issue', 'desk')
  t.match([issued.code, issued.out], [0, /^sk_[A-Za-z0-9_-]{43}\n$/], 'the key and nothing else')
  t.match(issued.err, /^This key is not shown again/)
  const first = issued.out.trim()
  const file = join(exchange.dataDir, 'desk.key')
  const filed = await fails('keys', 'issue', 'desk', '--grace', '24h', '--out', file)
  t.equal(filed.code, 0)
  t.notMatch(filed.out + filed.err, /sk_/, 'not shown')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const second = readFileSync(file, 'utf8').trim()
  const config = async (key: string): Promise<number> =>
    (await fetch(`${exchange.baseUrl}/api/v1/applications/config`, { headers: { 'x-server-key': key } })).status
  t.same([await config(first), await config(second)], [200, 200])
  const over = await fails('keys', 'issue', 'desk', '--out', file)
  t.match(over, { code: 2, err: /--out: no new file can be made there/ }, 'never over a file')
  t.same([await config(first), await config(second)], [200, 200], 'and nothing was issued')
  for (const grace of ['1', '1.5h', '-1h', '1w', '366d', '01h', '']) {
    t.equal((await fails('keys', 'issue', 'desk', `--grace=${grace}`)).code, 2, grace)
  }
  t.match(await says('keys', 'revoke', 'desk'), /^application desk has no server key \(sequence \d+\)\n$/)
  t.same([await config(first), await config(second)], [401, 401])
  for (const words of ['applications add --name x', 'applications set desk', 'keys issue', 'status --grace 1h']) {
    t.equal((await fails(...words.split(' '))).code, 2, words)
  }
  const port = ['--port', String(exchange.operatorPort)]
  const nowhere = await operator(['applications', 'list', ...port, '--data-dir', join(exchange.dataDir, 'none')])
  t.equal(nowhere.code, 1)
  t.match(nowhere.err, /UNAUTHENTICATED: The operator's token is needed .*operator\.token/, 'it says where the token is')
  const environment = { RINGBOOK_OPERATOR_TOKEN: exchange.operatorToken }
  t.equal((await operator(['applications', 'list', ...port, '--data-dir', '/nowhere'], environment)).code, 0, 'from the environment')
  const byFile = ['--token-file', join(exchange.dataDir, 'operator.token')]
  t.equal((await operator(['applications', 'list', ...port, ...byFile], { RINGBOOK_OPERATOR_TOKEN: 'wrong' })).code, 0, 'from a file')
  t.equal((await operator(['applications', 'list', ...port, '--token-file', '/nowhere'])).code, 2)
}

async function endsSessions(t: Test, exchange: Exchange, says: Says, gives: Gives, fails: Fails): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = { address: account.address, signMessage: (message: string) => account.signMessage({ message }) }
  const signers = [sodiumSigner(), sodiumSigner()]
  const clients = signers.map((signer) => createClient({ baseUrl: exchange.baseUrl, wallet, signer }))
  for (const client of clients) await client.signIn()
  // Without a wallet a client cannot sign in again by itself.
  const [lost, kept] = signers.map((signer) => createClient({ baseUrl: exchange.baseUrl, signer })) as [Client, Client]
  const { id: user } = await kept.GetProfile()
  const list = (): Promise<{ live: number; sessions: Record<string, string>[] }> => gives('sessions', 'list', '--user', user)
  const { live, sessions } = await list()
  t.equal(live, 2)
  t.same(sessions.map(({ publicKey }) => publicKey), signers.map(({ publicKey }) => publicKey.slice(0, 8)).reverse(), 'newest first')
  for (const { createdAt, expiresAt, application } of sessions) {
    t.equal(application, 'Ringbook')
    const early = Date.parse(createdAt!) + 86_400_000 - Date.parse(expiresAt!)
    t.ok(early >= 0 && early < 1000, `a day, to the whole second before it: ${early} ms`)
  }
  const table = await says('sessions', 'list', '--user', user)
  t.match(table, /^CREATED +EXPIRES +APPLICATION +KEY +SESSION\n/)
  t.notOk(table.includes(signers[0]!.publicKey.slice(0, 9)), 'no more of the key')

  const stolen = sessions[1]!['id']!
  const revoked = await says('sessions', 'revoke', stolen)
  t.match(revoked, new RegExp(`^session ${stolen} of user ${user} is revoked \\(sequence \\d+\\)\n$`))
  await t.rejects(lost.GetProfile(), { status: 401, code: 'SESSION_INVALID' }, 'its key signs nothing any more')
  t.equal((await kept.GetProfile()).id, user, 'the other session goes on')
  t.match(await list(), { live: 1, sessions: [{ id: sessions[0]!['id'] }] })
  t.match(await fails('sessions', 'revoke', stolen), { code: 1, out: '', err: /^operator: SESSION_INVALID: Session expired or revoked\n$/ })
  t.match(await fails('sessions', 'revoke', user), { code: 1, err: /VALIDATION_ERROR: .* \(field session\)/ })
  await says('sessions', 'revoke', sessions[0]!['id']!)
  t.equal(await says('sessions', 'list', '--user', user), `user ${user} has no live session\n`)
  t.match(await fails('sessions', 'list', '--user', 'ann'), { code: 1, err: /VALIDATION_ERROR: .* \(field userId\)/ })
  const log = JSON.stringify(exchange.log)
  t.ok(log.includes('session revoked by the operator'))
  for (const { publicKey } of signers) t.notOk(log.includes(publicKey.slice(0, 8)), 'no key in the log')
}
