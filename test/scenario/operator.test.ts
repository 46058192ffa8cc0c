/**
 * The operator thread over real HTTP, with shared memory whose counters the test sets and a matcher that is the real engine
 * behind lane 0's rings; and the files of data/ops, whose metric names must exist.
 */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { QUEUE_MAX } from '../../gateway/limits/anonymous.ts'
import { readConfig } from '../../core/config.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { CommandType, kindOf, OPEN_SESSION_COMMAND } from '../../core/layout/command.ts'
import { orderId, userId } from '../../core/layout/ids.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { createBroadcast } from '../../core/ring/broadcast.ts'
import {
  COMMIT_BUCKETS, COMMIT_HISTOGRAM, countersBytes, GATEWAY, gatewayCounters, HISTORY, historyCounters, MATCHER, matcherCounters,
} from '../../core/ring/counters.ts'
import { portsBytes } from '../../core/ring/ports.ts'
import { attachRing, available, consume, createRing, front, push } from '../../core/ring/spsc.ts'
import { WAIT, WAIT_WORDS, wake } from '../../core/ring/wait.ts'
import type { FromThread, OperatorData, Shared, TierChange, ToOperator } from '../../core/threads.ts'
import { createDocument } from '../../gateway/operator/document.ts'
import { OCCASIONAL_METRICS } from '../../gateway/operator/metrics.ts'
import { DECLARED } from '../../gateway/operator/routes.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

const root = join(import.meta.dirname, '..', '..')
const limits = { ...shippedGenesis().limits, orders: 64, accounts: 16, sessions: 16, receipts: 16, priceTicks: 1024 }
const genesisText = JSON.stringify({ ...shippedGenesis(), limits })

const GATEWAYS = 2
const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)
const state = createState(parseGenesis(genesisText))
const shared: Shared = {
  columns: state.buffers,
  gate: new SharedArrayBuffer(8),
  events: createBroadcast(64).buffer,
  counters: new SharedArrayBuffer(countersBytes(GATEWAYS)),
  ports: new SharedArrayBuffer(portsBytes(GATEWAYS)),
  matcherWait: cell(),
  lanes: Array.from({ length: GATEWAYS + 1 }, () => ({
    commands: createRing(64).buffer, replies: createRing(64).buffer, wait: cell(), questions: cell(),
  })),
}
const matcher = matcherCounters(shared.counters)
const gateways = [gatewayCounters(shared.counters, 1), gatewayCounters(shared.counters, 2)]

/** Applies lane 0's commands with the real engine and answers them, until stopped. */
function consumer(): { stop(): Promise<void> } {
  const lane = shared.lanes[0]!
  const [commands, replies] = [attachRing(lane.commands), attachRing(lane.replies)]
  const [wait, laneWait] = [new Int32Array(shared.matcherWait), new Int32Array(lane.wait)]
  let stopped = false
  const answerAll = (): void => {
    for (; available(commands) > 0; consume(commands, 1)) {
      setTime(state, Date.now())
      apply(state, commands.slots, front(commands, 0))
      for (let i = 0; i < state.outbox.count; i++) push(replies, state.outbox.i32, i * RECORD_WORDS)
      state.outbox.count = 0
    }
    wake(laneWait)
  }
  const loop = async (): Promise<void> => {
    while (!stopped) {
      answerAll()
      const seen = Atomics.load(wait, WAIT.WAKE)
      Atomics.store(wait, WAIT.SLEEPING, 1)
      if (available(commands) > 0) continue
      const sleep = Atomics.waitAsync(wait, WAIT.WAKE, seen, 1000)
      if (sleep.async) await sleep.value
    }
  }
  const done = loop()
  return {
    stop() {
      stopped = true
      Atomics.add(wait, WAIT.WAKE, 1)
      Atomics.notify(wait, WAIT.WAKE)
      return done
    },
  }
}

const TOKEN = 'a token of the operator that nobody guesses'.replaceAll(' ', '-')
const token = { token: TOKEN, said: 'the file of this test' }
const data: OperatorData = { config: { ...readConfig([], {})!, operatorPort: 0 }, token, genesis: genesisText, shared }
const worker = new Worker(join(root, 'gateway', 'operator', 'server.ts'), { workerData: data })
const logs: string[] = []
const noted: Extract<FromThread, { type: 'log' }>[] = []
worker.on('message', (message: FromThread) => {
  if (message.type !== 'log') return
  logs.push(message.message)
  noted.push(message)
})
/** Fields of the log lines with this text. */
const fieldsOf = (text: string): unknown[] => noted.filter(({ message }) => message === text).map(({ fields }) => fields)
const told = (type: FromThread['type']): Promise<FromThread> => new Promise((resolve, reject) => {
  worker.on('message', (message: FromThread) => message.type === type && resolve(message))
  worker.once('error', reject)
})
const port = ((await told('ready')) as { port: number }).port

interface Got {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  readonly json: Record<string, unknown>
}
const WITH_TOKEN = { 'x-operator-token': TOKEN }
interface Sent {
  readonly body?: string
  readonly headers?: Record<string, string | string[]>
  readonly token?: Record<string, string | string[]>
}
function ask(method: string, path: string, { body, headers = {}, token = WITH_TOKEN }: Sent = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...token }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const isJson = response.headers['content-type'] === 'application/json' && text !== ''
        resolve({ status: response.statusCode!, headers: response.headers, text, json: isJson ? (JSON.parse(text) as Got['json']) : {} })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
const JSON_TYPE = { 'Content-Type': 'application/json' }
const post = (body: string, headers: Record<string, string> = JSON_TYPE, path = '/maintenance'): Promise<Got> =>
  ask('POST', path, { body, headers })
/** Posts what is changed to `path`. */
const change = (path: string, body: unknown): Promise<Got> => post(JSON.stringify(body), JSON_TYPE, path)

/** Samples of an exposition by name and labels; fails on anything that is not the text format. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('#')) continue
    const [, series, value] = /^([a-z_]+(?:\{[^{}]*\})?) (\S+)$/.exec(line) ?? []
    if (series === undefined || Number.isNaN(Number(value)) || samples.has(series)) throw new Error(`bad line: ${line}`)
    samples.set(series, Number(value))
  }
  return samples
}

await t.test('metrics are the shared counters in Prometheus text', async (t) => {
  matcher[MATCHER.commands] = 1000
  matcher[MATCHER.sequence] = 2 ** 40
  matcher[MATCHER.commit_seconds] = 0.75
  COMMIT_BUCKETS.forEach((_, i) => (matcher[COMMIT_HISTOGRAM + i] = i + 1))
  matcher[COMMIT_HISTOGRAM + COMMIT_BUCKETS.length] = 5
  gateways[1]![GATEWAY.responses_4xx] = 7
  const history = historyCounters(shared.counters)
  history[HISTORY.up] = 1
  history[HISTORY.lag_commands] = 12
  push(attachRing(shared.lanes[1]!.commands), new Int32Array(RECORD_WORDS), 0)

  const { status, headers, text } = await ask('GET', '/metrics')
  t.same([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  const samples = samplesOf(text)
  t.equal(samples.get('exchange_commands_total'), 1000)
  t.equal(samples.get('exchange_sequence'), 2 ** 40)
  t.equal(samples.get('exchange_responses_total{gateway="2",class="4xx"}'), 7)
  t.equal(samples.get('exchange_responses_total{gateway="1",class="4xx"}'), 0)
  t.equal(samples.get('exchange_command_ring_records{lane="1"}'), 1)
  t.equal(samples.get('exchange_command_ring_records{lane="0"}'), 0)
  t.equal(samples.get('exchange_journal_commit_seconds_bucket{le="0.0001"}'), 1)
  t.equal(samples.get('exchange_journal_commit_seconds_bucket{le="0.0002"}'), 3)
  const all = (COMMIT_BUCKETS.length * (COMMIT_BUCKETS.length + 1)) / 2 + 5
  t.equal(samples.get('exchange_journal_commit_seconds_bucket{le="+Inf"}'), all)
  t.equal(samples.get('exchange_journal_commit_seconds_count'), all)
  t.equal(samples.get('exchange_journal_commit_seconds_sum'), 0.75)
  t.ok(samples.get('exchange_resident_memory_bytes')! > 1e6)
  t.equal(samples.get('exchange_pair_status{pair="ETH/BTC"}'), 1)
  t.equal(samples.get('exchange_history_up'), 1)
  t.equal(samples.get('exchange_history_lag_records'), 12)
  t.equal(samples.get('exchange_fee_tier_changes_total'), 0)

  const heads = text.split('\n').filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' '))
  t.equal(new Set(heads.map(([, , name]) => name)).size, heads.length, 'every family once')
  for (const [, , name, kind] of heads) {
    t.match(name, /^exchange_[a-z_]+$/)
    t.equal(kind === 'counter', name!.endsWith('_total'), `${name} is a ${kind}`)
  }
  const families = text.split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'))
    .map((line) => line.replace(/^# TYPE /, '').replace(/[{ ].*/, '').replace(/_(bucket|sum|count)$/, ''))
  t.equal(families.filter((name, i) => name !== families[i - 1]).length, heads.length, 'samples of a family stand together')
})

await t.test('alive at once; ready only with fresh heartbeats of all threads', async (t) => {
  t.match((await ask('GET', '/health')).json, { status: 'ok', sequence: 2 ** 40 })
  const verdict = async (): Promise<unknown[]> => {
    const { status, json } = await ask('GET', '/ready')
    return [status, json['ready'], json['matcher'], json['gateways']]
  }
  t.same(await verdict(), [503, false, false, [false, false]], 'nobody has started')
  for (const block of gateways) block[GATEWAY.heartbeat_ms] = Date.now() + 60_000
  matcher[MATCHER.heartbeat_ms] = Date.now() + 60_000
  t.same(await verdict(), [200, true, true, [true, true]])
  matcher[MATCHER.heartbeat_ms] = Date.now() - 1001
  t.same(await verdict(), [503, false, false, [true, true]], 'the matcher stands')
  matcher[MATCHER.heartbeat_ms] = Date.now() + 60_000
  gateways[1]![GATEWAY.heartbeat_ms] = Date.now() - 2001
  t.same(await verdict(), [503, false, true, [true, false]], 'a gateway stands')
})

await t.test('status tells people the same', async (t) => {
  const { status, json } = await ask('GET', '/status')
  t.equal(status, 200)
  t.match(json, { maintenance: false, sequence: 2 ** 40, matcher: { commands: 1000 } })
  t.match(json, { pairs: { 'BTC/USDC': 'ACTIVE' }, history: { up: 1, lag_commands: 12 }, feeTierChanges: { changed: 0, waiting: 0 } })
  t.match(json['gateways'], [{ gateway: 1 }, { gateway: 2, responses_4xx: 7 }])
  t.match((json['rings'] as object[])[1], { lane: 1, commands: 1, commandSlots: 64, replies: 0, replySlots: 64 })
})

await t.test('maintenance goes through the ring and answers after it was applied', async (t) => {
  const engine = consumer()
  const on = await post('{"on":true}')
  t.same([on.status, on.json], [200, { maintenance: true, sequence: 1 }])
  t.same((await post('{"on":false}', { 'Content-Type': 'application/json; charset=utf-8' })).json, { maintenance: false, sequence: 2 })
  const many = await Promise.all(Array.from({ length: 8 }, (_, i) => post(`{"on":${i % 2 === 0}}`)))
  t.same(many.map(({ json }) => json['sequence']).sort((a, b) => Number(a) - Number(b)), [3, 4, 5, 6, 7, 8, 9, 10])
  t.ok(logs.includes('maintenance on') && logs.includes('maintenance off'))
  await engine.stop()
})

/** The pairs as `/pairs` lists them: status by symbol. */
async function statuses(): Promise<Record<string, string>> {
  const { json } = await ask('GET', '/pairs')
  return Object.fromEntries((json['pairs'] as { symbol: string; status: string }[]).map(({ symbol, status }) => [symbol, status]))
}
const ACTIVE = { 'BTC/USDC': 'ACTIVE', 'ETH/USDC': 'ACTIVE', 'SEI/USDC': 'ACTIVE', 'ETH/BTC': 'ACTIVE' }
const BTC = '7a1c0000-0000-4000-8000-000000000001'

await t.test('a pair is stopped and opened by its symbol or id, the others go on', async (t) => {
  const engine = consumer()
  t.same(await statuses(), ACTIVE)
  const halted = await change('/pairs', { pair: 'BTC/USDC', status: 'HALTED' })
  t.same([halted.status, halted.json], [200, { id: BTC, symbol: 'BTC/USDC', status: 'HALTED', before: 'ACTIVE', sequence: 11 }])
  t.same(await statuses(), { ...ACTIVE, 'BTC/USDC': 'HALTED' })
  t.equal(samplesOf((await ask('GET', '/metrics')).text).get('exchange_pair_status{pair="BTC/USDC"}'), 0)
  const softer = await change('/pairs', { pair: BTC.toUpperCase(), status: 'CANCEL_ONLY' })
  t.match(softer.json, { status: 'CANCEL_ONLY', before: 'HALTED', sequence: 12 })
  t.match((await change('/pairs', { pair: BTC, status: 'ACTIVE' })).json, { status: 'ACTIVE', before: 'CANCEL_ONLY' })
  t.same(await statuses(), ACTIVE)
  t.match((await ask('GET', '/pairs')).json, { pairs: [{ id: BTC, symbol: 'BTC/USDC', status: 'ACTIVE', bidOrders: 0, askOrders: 0 }] })
  const wrong: [object, number, string][] = [
    [{ pair: 'DOGE/USDC', status: 'HALTED' }, 404, 'pair'], [{ status: 'HALTED' }, 400, 'pair'],
    [{ pair: 0, status: 'HALTED' }, 400, 'pair'], [{ pair: BTC }, 400, 'status'],
    [{ pair: BTC, status: 0 }, 400, 'status'], [{ pair: BTC, status: 'halted' }, 400, 'status'],
    [{ pair: BTC, status: 'toString' }, 400, 'status'], [[], 400, 'body'],
  ]
  for (const [body, code, field] of wrong) {
    t.match(await change('/pairs', body), { status: code, json: { statusCode: code, details: { field } } }, JSON.stringify(body))
  }
  t.same(await statuses(), ACTIVE, 'nothing of that changed anything')
  await engine.stop()
})

/** Accounts made by the engine itself, as sign-ins would. */
const users = Array.from({ length: 3 }, (_, account) => {
  const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
  const name = `0${account + 1}`
  encode(OPEN_SESSION_COMMAND, command, 0, {
    kind: kindOf(CommandType.OPEN_SESSION, 1, 1), session: -1, address: name.repeat(20), publicKey: name.repeat(32),
  })
  setTime(state, Date.now())
  apply(state, command, 0)
  state.outbox.count = 0
  return userId(state.clock[CLOCK.SEQUENCE]!, account)
})
const tiers = (): number[] => users.map((_, account) => state.accounts[account * ACCOUNT_WORDS + ACCOUNT.TIER]!)

await t.test('the fee tier of a user is set by hand', async (t) => {
  const engine = consumer()
  t.match((await change('/fee-tier', { userId: users[1], tier: 3 })).json, { userId: users[1], tier: 3, before: 0 })
  t.match((await change('/fee-tier', { userId: users[1]!.toUpperCase(), tier: 5 })).json, { tier: 5, before: 3 })
  t.same(tiers(), [0, 5, 0])
  const wrong: [object, number, string][] = [
    [{ userId: users[0], tier: 6 }, 400, 'tier'], [{ userId: users[0], tier: -1 }, 400, 'tier'],
    [{ userId: users[0], tier: 1.5 }, 400, 'tier'], [{ userId: users[0], tier: '1' }, 400, 'tier'], [{ userId: users[0] }, 400, 'tier'],
    [{ tier: 1 }, 400, 'userId'], [{ userId: 1, tier: 1 }, 400, 'userId'], [{ userId: 'ann', tier: 1 }, 400, 'userId'],
    [{ userId: orderId(1, 0), tier: 1 }, 400, 'userId'], [{ userId: userId(1, 0), tier: 1 }, 404, 'userId'],
    [{ userId: userId(99, 3), tier: 1 }, 404, 'userId'], [{ userId: userId(0, 9), tier: 1 }, 404, 'userId'],
  ]
  for (const [body, code, field] of wrong) {
    t.match(await change('/fee-tier', body), { status: code, json: { statusCode: code, details: { field } } }, JSON.stringify(body))
  }
  t.same(tiers(), [0, 5, 0], 'nothing of that changed anything')
  await engine.stop()
})

await t.test('fee tiers that the history found are set one after the other', async (t) => {
  const engine = consumer()
  const find = (changes: TierChange[]): void => worker.postMessage({ type: 'tiers', changes } satisfies ToOperator)
  /** Changes done and waiting, once the thread has said `times` that it is through with what it was told. */
  const settled = async (times: number): Promise<unknown[]> => {
    for (let look = 0; look < 1000 && fieldsOf('fee tiers set').length < times; look++) await ask('GET', '/health')
    const samples = samplesOf((await ask('GET', '/metrics')).text)
    return [samples.get('exchange_fee_tier_changes_total'), samples.get('exchange_fee_tier_changes_waiting')]
  }
  find([{ account: 0, tier: 1 }, { account: 1, tier: 2 }, { account: 2, tier: 3 }])
  t.same(await settled(1), [3, 0])
  t.same(tiers(), [1, 2, 3])
  // The later of two wishes for one account stands; an account or a tier that does not exist is refused and holds up nobody.
  find([{ account: 0, tier: 4 }, { account: 9, tier: 1 }, { account: 0, tier: 5 }, { account: 1, tier: 99 }, { account: 2, tier: 0 }])
  t.same(await settled(2), [5, 0])
  t.same(tiers(), [5, 2, 0])
  t.same(fieldsOf('fee tiers set'), [{ changed: 3, refused: 0, unanswered: 0 }, { changed: 2, refused: 2, unanswered: 0 }])
  await engine.stop()
})

await t.test('what changes something or shows users needs the token; probes and metrics do not', async (t) => {
  const closed: [method: string, path: string][] = [
    ['POST', '/maintenance'], ['POST', '/pairs'], ['POST', '/fee-tier'], ['GET', `/sessions?userId=${userId(1, 0)}`], ['HEAD', '/sessions'],
    ['POST', '/sessions/revoke'], ['GET', '/sub-accounts/unconsented'], ['GET', '/applications'], ['POST', '/applications'],
    ['POST', '/applications/set'], ['POST', '/applications/origins'], ['POST', '/keys/issue'], ['POST', '/keys/revoke'],
  ]
  const wrong: Record<string, string | string[]>[] = [
    {}, { 'x-operator-token': '' }, { 'x-operator-token': TOKEN.slice(1) }, { 'x-operator-token': `${TOKEN}x` },
    { 'x-operator-token': TOKEN.toUpperCase() }, { 'x-operator-token': [TOKEN, TOKEN] }, { Authorization: `Bearer ${TOKEN}` },
  ]
  const before = state.clock[CLOCK.SEQUENCE]
  for (const [method, path] of closed) {
    for (const token of wrong) {
      const body = method === 'POST' ? { body: '{"on":true}', headers: JSON_TYPE } : {}
      const { status, text, json } = await ask(method, path, { ...body, token })
      t.equal(status, 401, `${method} ${path} ${JSON.stringify(token)}`)
      if (method === 'HEAD') continue
      t.equal(json['code'], 'UNAUTHENTICATED')
      t.equal(json['message'], "The operator's token is needed in the header x-operator-token; it is in the file of this test")
      t.notOk(text.includes(TOKEN), 'the token is not told')
    }
  }
  t.equal(state.clock[CLOCK.SEQUENCE], before, 'nothing was changed')
  for (const path of ['/metrics', '/health', '/status', '/pairs', '/fee-tier']) {
    for (const method of ['GET', 'HEAD']) t.equal((await ask(method, path, { token: {} })).status, 200, `${method} ${path} is open`)
  }
  t.not((await ask('GET', '/ready', { token: {} })).status, 401)
})

await t.test('what was listed is answered as the state has it then', async (t) => {
  const engine = consumer()
  const asset = { symbol: 'SOL', token: `0x${'c0'.repeat(20)}`, decimals: 9 }
  t.match(await change('/assets', asset), { status: 200, json: { ...asset, scale: 9, faucetAmount: '0', sequence: Number } })
  const terms = { minOrderSize: '0.01', maxOrderSize: '100', minNotional: '1', makerFeeBps: '1', takerFeeBps: '5' }
  const pair = { base: 'SOL', quote: 'USDC', tickSize: '0.01', lotSize: '0.01', ...terms }
  t.match(await change('/pairs/add', pair), { status: 200, json: { ...pair, symbol: 'SOL/USDC', status: 'CANCEL_ONLY' } })
  t.match(await change('/pairs/terms', { pair: 'SOL/USDC', maxOrderSize: '50' }), { status: 200, json: { ...pair, maxOrderSize: '50' } })
  t.match((await ask('GET', '/pairs')).json['pairs'], [{}, {}, {}, {}, { symbol: 'SOL/USDC' }])
  await engine.stop()
})

await t.test('every declared route is served, and nothing else', async (t) => {
  for (const { name, route: { method, path, token } } of DECLARED) {
    const { json, text } = await ask(method, path)
    t.notOk(['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'INTERNAL'].includes(String(json['code'])), `${name}: ${text.slice(0, 100)}`)
    t.equal((await ask(method, path, { token: {} })).status === 401, token, `${name} needs the token when it says so`)
  }
  const methods = Map.groupBy(DECLARED, ({ route: { path } }) => path)
  for (const [path, routes] of methods) {
    const { status, headers } = await ask('DELETE', path)
    const declared = routes.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    t.same([status, headers['allow']], [405, declared.join(', ')], path)
  }
  const parts = [...new Set([...methods.keys()].flatMap((path) => path.split('/').slice(1)))]
  const paths = parts.flatMap((first) => [`/${first}`, ...parts.map((second) => `/${first}/${second}`)])
  for (const path of paths.filter((path) => !methods.has(path))) if ((await ask('GET', path)).status !== 404) t.fail(path)
  const server = readFileSync(join(root, 'gateway', 'operator', 'server.ts'), 'utf8')
  t.equal(/['"`]\/[^'"`]*['"`]/.exec(server), null, 'no path stands in the server itself')
  t.same((await ask('GET', '/openapi.json')).json, JSON.parse(JSON.stringify(createDocument(DECLARED))))
})

await t.test('malformed requests and web pages are refused', async (t) => {
  for (const body of ['', '{', '[]', 'null', '"on"', '{}', '{"on":1}', '{"on":"true"}', '{"on":true']) {
    const [{ status, json }, field] = [await post(body), body === '' || body.endsWith('}') ? 'on' : 'body']
    t.match([status, json], [400, { error: 'VALIDATION_ERROR', statusCode: 400, details: { field } }], body)
  }
  const long = await post(JSON.stringify({ on: true, pad: 'x'.repeat(5000) }))
  t.match([long.status, long.json['code'], long.headers['connection']], [413, 'BODY_TOO_LARGE', 'close'])
  t.match(await post('{"on":true}', { 'Content-Type': 'text/plain' }), { status: 400, json: { details: { field: 'Content-Type' } } })
  t.match(await post('{"on":true}', {}), { status: 400 })
  const origin = await post('{"on":true}', { 'Content-Type': 'application/json', Origin: 'http://127.0.0.1:9100' })
  t.match(origin, { status: 400, json: { details: { field: 'Origin' } } })
  for (const host of ['evil.example', 'evil.example:9100', '127.0.0.1.evil.example', 'localhost.', '192.168.0.1', 'localhost:9100@evil']) {
    t.match(await ask('GET', '/metrics', { headers: { Host: host } }), { status: 400, json: { details: { field: 'Host' } } }, host)
  }
  for (const host of ['localhost', 'LOCALHOST:9100', '127.0.0.1:1', '[::1]:9100']) {
    t.equal((await ask('GET', '/health', { headers: { Host: host } })).status, 200, host)
  }
  const wrong = await ask('POST', '/metrics')
  t.match([wrong.status, wrong.headers['allow'], wrong.json['code']], [405, 'GET, HEAD', 'METHOD_NOT_ALLOWED'])
  t.match(await ask('GET', '/maintenance'), { status: 405, headers: { allow: 'POST' } })
  t.match(await ask('DELETE', '/pairs'), { status: 405, headers: { allow: 'GET, HEAD, POST' } })
  for (const path of ['/', '/metrics/', '/constructor', '/__proto__', '//metrics']) t.equal((await ask('GET', path)).status, 404, path)
  t.match(await ask('HEAD', '/health'), { status: 200, text: '' })
  t.equal((await ask('GET', '/health?verbose=1')).status, 200)
  t.equal(available(attachRing(shared.lanes[0]!.commands)), 0, 'none of that reached the ring')
})

await t.test('every metric named in data/ops exists', async (t) => {
  const series = [...samplesOf((await ask('GET', '/metrics')).text).keys(), ...OCCASIONAL_METRICS.map(({ name }) => name)]
  const known = new Set(series.map((each) => each.replace(/\{.*/, '')))
  let named = 0
  for (const file of ['alerts.yml', 'grafana.json']) {
    const text = readFileSync(join(root, 'data', 'ops', file), 'utf8')
    for (const [name] of text.matchAll(/exchange_[a-z_]+/g)) {
      t.ok(known.has(name), `${file}: ${name}`)
      named++
    }
  }
  t.ok(named > 20)
  t.ok(readFileSync(join(root, 'data', 'ops', 'prometheus.yml'), 'utf8').includes(`127.0.0.1:${readConfig([], {})!.operatorPort}`))
})

/** Emptied many times a millisecond; what they have room for is the pool "answers in flight". */
const RINGS = ['exchange_command_ring_capacity_records', 'exchange_reply_ring_capacity_records']

await t.test('every bounded pool has alerts at 70 and 90 %', async (t) => {
  const alerts = readFileSync(join(root, 'data', 'ops', 'alerts.yml'), 'utf8')
  const names = new Set([...samplesOf((await ask('GET', '/metrics')).text).keys()].map((series) => series.replace(/\{.*/, '')))
  const bounds = [...names].filter((name) => /_(capacity|limit)(_|$)/.test(name) && !RINGS.includes(name))
  t.ok(bounds.length >= 6, bounds.join(' '))
  for (const bound of [...bounds, String(QUEUE_MAX), '65536']) {
    for (const fill of ['0.7', '0.9']) {
      t.match(alerts, new RegExp(`expr: .*exchange_[a-z_]+\\)? > ${fill} \\* ${bound}\\b`), `${fill} of ${bound}`)
    }
  }
})

await t.test('without an answer the caller is told so; stopping closes the port', async (t) => {
  const late = post('{"on":true}')
  const { status, json } = await late
  t.same([status, json['code']], [503, 'SERVICE_UNAVAILABLE'])
  const exit = new Promise((resolve) => worker.once('exit', resolve))
  const stopped = told('stopped')
  worker.postMessage({ type: 'stop' })
  await stopped
  t.equal(await exit, 0)
  await t.rejects(ask('GET', '/health'))
})
