/** Starts gateway threads in front of the loopback matcher, opens sessions and signs requests as a client would. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { MessageChannel, Worker, type MessagePort, type WorkerOptions } from 'node:worker_threads'
import { frontThreads, readConfig, type Config } from '../../core/config.ts'
import { startBundledThread, startQuickThread } from '../../core/lib/quick_thread.ts'
import { CLOCK, SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { parseGenesis, type Genesis } from '../../core/state/genesis.ts'
import { createState, type State } from '../../core/state/state.ts'
import {
  CommandType, CREATE_SUB_ACCOUNT_COMMAND, kindOf, OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND, REVOKE_AGENT_COMMAND,
  SESSION_COMMAND, slotsOfKind, UPSERT_AGENT_COMMAND,
} from '../../core/layout/command.ts'
import { userId } from '../../core/layout/ids.ts'
import { RESULT } from '../../core/layout/event.ts'
import { encode, type Decoded, type Layout } from '../../core/layout/table.ts'
import { createBroadcast } from '../../core/ring/broadcast.ts'
import { createReplayGuard } from '../../core/ring/replay_guard.ts'
import { budgetsBytes } from '../../core/ring/budgets.ts'
import type { HistoryReply, HistoryRequest, Queries } from '../../core/history/answer/queries.ts'
import { countersBytes, DISK, HISTORY, historyCounters, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { portsBytes } from '../../core/ring/ports.ts'
import { createQuestions } from '../../core/ring/questions.ts'
import { attachRing, available, commandSlots, consume, createRing, front, publish, reserve, type Ring } from '../../core/ring/spsc.ts'
import { WAIT_WORDS, wake } from '../../core/ring/wait.ts'
import type { FromThread, GatewayData, Lane, Shared, ToGateway, ToThread } from '../../core/threads.ts'
import type { SignInRequest } from '../../gateway/auth/challenge.ts'
import type { CalldataAsk, CalldataReply, FromVault } from '../../gateway/chain/vault/messages.ts'
import type { Places } from '../../gateway/chain/vault/types.ts'
import type { LoopbackData } from './loopback_matcher.ts'
import { shippedGenesis } from './shipped_genesis.ts'

const root = join(import.meta.dirname, '..', '..')
// As core/main.ts does: read by uWebSockets.js when a gateway thread loads it.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'

export interface Harness {
  readonly port: number
  /** With the flags --grpc-thread 1. */
  readonly grpcPort: number
  readonly genesis: Genesis
  readonly state: State
  /** Sequence of the last command that the engine applied. The matcher's counters are written after its answers are out. */
  lastSequence(): number
  readonly shared: Shared
  readonly logs: FromThread[]
  /** What the gateways asked of the sign-in thread, which answers nothing here. */
  readonly asked: SignInRequest[]
  /** Opens a session for a new wallet, or for this one, in an application of the genesis. */
  openSession(application?: number, address?: string): Promise<Session>
  /** Sends one command as the operator and waits for its RESULT record. */
  operate(type: number, layout: Layout, values: Decoded): Promise<Int32Array>
  /** Says something to every gateway thread. */
  tell(message: ToThread): void
  /** Every gateway thread gets a vault thread that stands at `places` and answers as `answer` says; `null`: never. */
  giveVault(places: Places | null, answer: (ask: CalldataAsk) => CalldataReply | null): void
  /** Holds commands back, so that nothing is answered. */
  hold(on: boolean): void
  /** Stops the gateways in order; the engine goes on. */
  stopGateways(): Promise<void>
  close(): Promise<void>
}

export interface Session {
  readonly publicKey: string
  readonly privateKey: KeyObject
  readonly address: string
  readonly row: number
  readonly generation: number
}

const cell = (): SharedArrayBuffer => new SharedArrayBuffer(WAIT_WORDS * 4)

function lane(config: Config): Lane {
  const [commands, replies] = [createRing(commandSlots(config)), createRing(config.replyRing)]
  return { commands: commands.buffer, replies: replies.buffer, wait: cell(), questions: createQuestions() }
}

/** Small limits, so that a test process stays small. The spot pairs of the shipped document only; `perpetuals`: all pairs. */
export function testGenesis(limits: Record<string, number> = {}, perpetuals = false): string {
  const genesis = shippedGenesis(perpetuals)
  const rows = { marginAccounts: 2048, riskBuckets: 2048, positions: 2048 }
  // The first application is the one every test means; the second is there to be told apart from it.
  genesis.applications.push({ ...genesis.applications[0], id: '9a1c0000-0000-4000-8000-000000000002', name: 'Other', clientId: 'other' })
  Object.assign(genesis.limits, { orders: 65_536, accounts: 1024, sessions: 1024, receipts: 4096, priceTicks: 16_777_216, ...rows }, limits)
  return JSON.stringify(genesis)
}

/** Answers the gateways' questions to the history; `null`: never. */
export type Historian = (request: HistoryRequest) => HistoryReply | null

/** A history in which nothing happened. */
const NOTHING: { readonly [Name in keyof Queries]: Queries[Name]['answer'] } = {
  order: null, trade: null,
  orders: { rows: [], total: 0, more: false }, trades: { rows: [], total: 0, more: false }, movements: { rows: [], total: 0, more: false },
  portfolio: { asset: 0, points: [], realizedPnl: 0n, volume: 0n, fees: 0n },
  applicationOrders: { rows: [], total: 0, more: false }, applicationMovements: { rows: [], total: 0, more: false },
  applicationStats: { asset: 0, volume: 0n, makerFee: 0n, takerFee: 0n, applicationFee: 0n, totalUsers: 0, activeUsers: 0, totalTrades: 0 },
  screener: { rows: [], total: 0 }, market: null, markets: [], candles: [], position: null,
  positions: { rows: [], total: 0, more: false }, liquidations: { rows: [], total: 0, more: false },
  fundingPayments: { rows: [], total: 0, more: false }, fundingRates: { rows: [], total: 0, more: false },
  conditionalOrders: { rows: [], total: 0, more: false }, conditionalOrder: null,
  twapOrders: { rows: [], total: 0, more: false }, twapOrder: null, twapSlices: null,
  rewards: { totals: [], entries: [] }, rewardSources: { totals: [], sources: [] },
  follows: { rows: [], total: 0, more: false }, leaderFigures: [],
  withdrawal: null, withdrawals: { rows: [], total: 0, more: false }, deposits: { rows: [], total: 0, more: false }, settlement: null,
  tradeProof: null, balanceProof: null,
}
const emptyHistory: Historian = ({ id, name, ask, atLeast: sequence }) =>
  ({ id, answer: name === 'markets' ? (ask as Queries['markets']['ask']).pairs.map(() => null) : NOTHING[name], sequence })

/** The gateway's end of a channel to `historian`. */
function historyPort(historian: Historian): MessagePort {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (request: HistoryRequest) => {
    const reply = historian(request)
    if (reply !== null) port1.postMessage(reply)
  })
  port1.unref()
  return port2
}

/** For {@link Harness.giveVault}. */
export const PLACES: Places =
  { chainId: 1328, vault: '0x9a8f92a830a5cb89a3816e3d267cb7791c16b04d', factory: '0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6' }

/** The gateway's end of a channel to such a vault thread. */
function vaultPort(places: Places | null, answer: (ask: CalldataAsk) => CalldataReply | null): MessagePort {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (ask: CalldataAsk) => {
    const reply = answer(ask)
    if (reply !== null) port1.postMessage(reply)
  })
  port1.unref()
  port1.postMessage({ type: 'places', places, connected: places !== null } satisfies FromVault)
  return port2
}

/** What the threads share, as if a history were up and the disk had room. */
function memoryOf(config: Config, state: State): Shared {
  const shared: Shared = {
    columns: state.buffers,
    gate: new SharedArrayBuffer(64),
    events: createBroadcast(config.eventRing).buffer,
    counters: new SharedArrayBuffer(countersBytes(frontThreads(config))),
    ports: new SharedArrayBuffer(portsBytes(frontThreads(config))),
    matcherWait: cell(),
    lanes: Array.from({ length: frontThreads(config) + 1 }, () => lane(config)),
  }
  historyCounters(shared.counters)[HISTORY.up] = 1
  matcherCounters(shared.counters)[MATCHER.disk_level] = DISK.OPEN
  return shared
}

/** `faults`: gateway threads are those of faulty_gateway.ts, which fail as this memory says. `timers`: time acts on orders. */
export async function startHarness(
  flags: readonly string[] = [], source: string = testGenesis(), historian: Historian = emptyHistory, faults?: SharedArrayBuffer,
  timers = false,
): Promise<Harness> {
  const config = readConfig(['--port', '0', '--gateways', '1', '--grpc-port', '0', '--grpc-thread', '0', ...flags], {})!
  const genesis = parseGenesis(source)
  const state = createState(genesis)
  const shared = memoryOf(config, state)
  const { lanes } = shared
  const control = new SharedArrayBuffer(8)
  const words = new Int32Array(control)
  const logs: FromThread[] = []
  const asked: SignInRequest[] = []
  const loopback: LoopbackData = { genesis: source, shared, batchMax: config.batchMax, control, timers }
  const matcher = startQuickThread(join(import.meta.dirname, 'loopback_matcher.ts'), { workerData: loopback })
  const stopGateways = async (): Promise<void> => void (await Promise.all(gateways.splice(0).map(stopGateway)))
  const close = async (): Promise<void> => {
    await stopGateways()
    Atomics.store(words, 0, 1)
    wake(new Int32Array(shared.matcherWait))
    await once(matcher, 'exit')
  }
  const gateways: Worker[] = []
  const budgets = new SharedArrayBuffer(budgetsBytes(genesis.limits.accounts))
  const [replayGuard, pageTokenKey] = [createReplayGuard(Date.now(), randomBytes(32)), randomBytes(32)]
  let { port, grpcPort } = config
  for (let number = 1; number <= frontThreads(config); number++) {
    try {
      const history = [historyPort(historian)]
      const data = { config: { ...config, port }, genesis: source, shared, number, budgets, replayGuard, pageTokenKey, history }
      const grpc = number > config.gateways
      const file = join(root, 'gateway', ...(grpc ? ['grpc', 'thread.ts'] : ['thread.ts']))
      const { gateway, ready } = await startGateway(file, data, logs, asked, faults)
      gateways.push(gateway)
      if (grpc) grpcPort = ready
      else port = ready
    } catch (error) {
      await close()
      throw error
    }
  }
  const [commands, replies] = [attachRing(lanes[0]!.commands), attachRing(lanes[0]!.replies)]
  const operate = (type: number, layout: Layout, values: Decoded): Promise<Int32Array> => {
    const at = reserve(commands, 0)
    encode(layout, commands.slots, at, { ...values, kind: kindOf(type, 1, 0) })
    publish(commands, slotsOfKind(commands.slots.u32[at]!))
    wake(new Int32Array(shared.matcherWait))
    return nextReply(replies)
  }
  return {
    port, grpcPort, genesis, state, shared, logs, asked, operate, close, stopGateways, lastSequence: () => state.clock[CLOCK.SEQUENCE]!,
    openSession: (application = 0, address = `0x${randomBytes(20).toString('hex')}`) => openSession(operate, application, address),
    tell: (message) => gateways.forEach((gateway) => gateway.postMessage(message)),
    giveVault: (places, answer) => gateways.forEach((gateway) => {
      const port = vaultPort(places, answer)
      gateway.postMessage({ type: 'vault', port } satisfies ToGateway, [port])
    }),
    hold: (on) => {
      Atomics.store(words, 1, on ? 1 : 0)
      wake(new Int32Array(shared.matcherWait))
    },
  }
}

async function startGateway(
  file: string, data: Omit<GatewayData, 'signIn'>, logs: FromThread[], asked: SignInRequest[], faults?: SharedArrayBuffer,
): Promise<{ gateway: Worker; ready: number }> {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (request: SignInRequest) => asked.push(request))
  port1.unref()
  const transferList = [port2, ...data.history]
  const entry = faults === undefined ? file : join(import.meta.dirname, 'faulty_gateway.ts')
  const options: WorkerOptions = { workerData: { ...data, signIn: port2, faults, thread: file }, transferList }
  // The faulty gateway puts its faults into modules that a bundle would have twice.
  const gateway = faults === undefined ? startBundledThread(entry, options) : new Worker(entry, options)
  gateway.on('message', (message: FromThread) => logs.push(message))
  const ready = await new Promise<number>((resolve, reject) => {
    gateway.on('error', reject)
    gateway.on('message', (message: FromThread) => {
      if (message.type === 'ready') resolve(message.port!)
      if (message.type === 'fatal') reject(new Error(message.message))
    })
  })
  return { gateway, ready }
}

async function stopGateway(gateway: Worker): Promise<void> {
  const exit = once(gateway, 'exit')
  gateway.postMessage({ type: 'stop' })
  await exit
}

async function nextReply(replies: Ring): Promise<Int32Array> {
  for (let i = 0; i < 10_000; i++) {
    if (available(replies) > 0) {
      const at = front(replies, 0)
      const record = replies.slots.i32.slice(at, at + 32)
      consume(replies, 1)
      return record
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  throw new Error('the loopback matcher did not answer')
}

async function openSession(operate: Harness['operate'], application: number, wallet: string): Promise<Session> {
  const { privateKey, publicKey } = newKey()
  const address = wallet.slice(2)
  const record = await operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, { session: -1, application, address, publicKey })
  if (record[RESULT.at.code] !== 0) throw new Error(`open session: ${record[RESULT.at.code]}`)
  return { publicKey, privateKey, address: wallet, row: record[RESULT.at.detail]!, generation: record[RESULT.at.detail2]! }
}

/** Makes the wallet `address` a sub-account of who holds the session, as if it had agreed; its id. */
export async function makeSubAccount({ operate }: Pick<Harness, 'operate'>, master: Session, address: string): Promise<string> {
  const by = { session: master.row, sessionGeneration: master.generation }
  const values = { ...by, address: address.slice(2), consented: 1, username: '' }
  const record = await operate(CommandType.CREATE_SUB_ACCOUNT, CREATE_SUB_ACCOUNT_COMMAND, values)
  if (record[RESULT.at.code] !== 0) throw new Error(`sub-account: ${record[RESULT.at.code]}`)
  const sequence = new Float64Array(record.buffer, record.byteOffset)[RESULT.at.originalSequence >>> 1]!
  return userId(sequence, record[RESULT.at.detail]!)
}

export interface DeadSessions {
  readonly revoked: Session
  readonly expired: Session
  /** Ended because its wallet opened too many others. */
  readonly crowded: Session
  /** Of a delegated agent that was revoked. */
  readonly dismissed: Session
}

/** One session for every way to end. */
export async function openDeadSessions(harness: Harness): Promise<DeadSessions> {
  const [revoked, expired, crowded] = [await harness.openSession(), await harness.openSession(), await harness.openSession()]
  await harness.operate(CommandType.REVOKE_SESSION, SESSION_COMMAND, { session: revoked.row, sessionGeneration: revoked.generation })
  harness.state.sessionsF64[(expired.row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = Date.now() - 1
  for (let i = 0; i < harness.genesis.limits.sessionsPerAccount; i++) await harness.openSession(0, crowded.address)
  const agent = await delegate(harness, await harness.openSession())
  await agent.revoke()
  return { revoked, expired, crowded, dismissed: agent.session }
}

export interface Delegate {
  /** The agent's own. */
  readonly session: Session
  readonly row: number
  /** Grants it again what it has, until `expiresAt`, Unix ms; 0: for ever. */
  grant(expiresAt: number): Promise<void>
  revoke(): Promise<void>
}

/** An agent of `owner` that may do all an agent may on these pairs, by index, or on all, with an open session. */
export async function delegate(harness: Harness, owner: Session, granted?: readonly number[]): Promise<Delegate> {
  const { operate, genesis } = harness
  const mask = Buffer.alloc(32)
  for (const index of granted ?? genesis.pairs.map((pair) => pair.index)) mask[index >>> 3]! |= 1 << (index & 7)
  const pairs = mask.toString('hex')
  const by = { session: owner.row, sessionGeneration: owner.generation }
  const { privateKey, publicKey } = newKey()
  const address = randomBytes(20).toString('hex')
  const done = async (type: number, layout: Layout, values: Decoded): Promise<Int32Array> => {
    const record = await operate(type, layout, values)
    if (record[RESULT.at.code] !== 0) throw new Error(`command ${type}: ${record[RESULT.at.code]}`)
    return record
  }
  const grant = (expiresAt: number): Promise<Int32Array> =>
    done(CommandType.UPSERT_AGENT, UPSERT_AGENT_COMMAND, { ...by, address, grants: 0xf, expiresAt, pairs })
  const made = await grant(0)
  const row = made[RESULT.at.detail]!
  const createdSequence = new Float64Array(made.buffer, made.byteOffset)[RESULT.at.originalSequence >>> 1]!
  const opened = await done(CommandType.OPEN_DELEGATED_SESSION, OPEN_DELEGATED_SESSION_COMMAND, {
    session: -1, application: 0, owner: owner.address.slice(2), agent: address, publicKey,
  })
  return {
    row,
    session: {
      publicKey, privateKey, address: `0x${address}`, row: opened[RESULT.at.detail]!, generation: opened[RESULT.at.detail2]!,
    },
    grant: async (expiresAt) => void (await grant(expiresAt)),
    revoke: async () => void (await done(CommandType.REVOKE_AGENT, REVOKE_AGENT_COMMAND, { ...by, agent: row, createdSequence })),
  }
}

function newKey(): { privateKey: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex') }
}

export type Headers = Record<string, string>

/** The three headers of the legacy protocol for this request. */
export function signed(
  session: Session, method: string, target: string, body: string | Buffer = '', timestamp = String(Date.now()),
): Headers {
  const digest = createHash('sha256').update(body).digest('hex')
  const signature = sign(null, Buffer.from(`${method}\n${target}\n${timestamp}\n${digest}`), session.privateKey)
  return { 'X-Svc-PublicKey': session.publicKey, 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature.toString('hex') }
}

export interface Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  /** Parsed body; `null` when it is no JSON. */
  readonly json: any
}

/**
 * Sends bytes on a connection of their own and reads answers until `count` are complete or the server closes, and `lingerMs` longer
 * to see whether it closes; bounded by `timeoutMs` without any data. `rest` is what came after the last whole answer.
 */
export function sendRaw(
  port: number, text: string | Buffer, count = 1, lingerMs = 20, timeoutMs = 2000,
): Promise<{ replies: Reply[]; closed: boolean; rest: string }> {
  const bytes = Buffer.from(text as string)
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    let closed = false
    const bodies = !bytes.toString('latin1', 0, 5).startsWith('HEAD ')
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const finish = (): void => {
      socket.destroy()
      const { replies, rest } = parseReplies(received, bodies)
      resolve({ replies, closed, rest })
    }
    socket.setTimeout(timeoutMs, finish)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (parseReplies(received, bodies).replies.length < count) return
      if (lingerMs === 0) finish()
      else setTimeout(finish, lingerMs)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      closed = true
      finish()
    })
  })
}

export function parseReplies(bytes: Buffer, bodies = true): { replies: Reply[]; rest: string } {
  const replies: Reply[] = []
  let at = 0
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end < 0) break
    const [status, ...lines] = bytes.subarray(at, end).toString('latin1').split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines) headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim()
    const length = bodies ? Number(headers['content-length'] ?? 0) : 0
    if (bytes.length < end + 4 + length) break
    const text = bytes.subarray(end + 4, end + 4 + length).toString()
    let json: unknown = null
    try {
      json = JSON.parse(text)
    } catch {
      // Not every body is JSON.
    }
    replies.push({ status: Number(status!.split(' ')[1]), headers, text, json })
    at = end + 4 + length
  }
  return { replies, rest: bytes.subarray(at).toString('latin1') }
}

/** How long an answer may take on a busy machine, ms. */
const ANSWER_MS = 20_000

/** One request with exactly these headers (plus Host, User-Agent and Content-Length unless given). */
export async function request(
  port: number, method: string, target: string, headers: Headers | [string, string][] = {}, body: string | Buffer = '',
): Promise<Reply> {
  const list: [string, string][] = Array.isArray(headers) ? headers : Object.entries(headers)
  const has = (name: string): boolean => list.some(([key]) => key.toLowerCase() === name)
  const bytes = Buffer.from(body)
  const lines = [`${method} ${target} HTTP/1.1`, ...list.map(([key, value]) => `${key}: ${value}`)]
  if (!has('host')) lines.push('Host: test')
  if (!has('user-agent')) lines.push('User-Agent: test')
  if (!has('content-length') && bytes.length > 0) lines.push(`Content-Length: ${bytes.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const { replies } = await sendRaw(port, Buffer.concat([head, bytes]), 1, 0, ANSWER_MS)
  const reply = replies[0]
  if (reply === undefined) return { status: 0, headers: {}, text: '', json: null }
  return reply
}

/** A signed request with a JSON body. */
export function call(harness: Harness, session: Session, method: string, target: string, body?: unknown): Promise<Reply> {
  const text = body === undefined ? '' : JSON.stringify(body)
  return request(harness.port, method, target, signed(session, method, target, text), text)
}
