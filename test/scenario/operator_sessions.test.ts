/**
 * Promise: an operator sees exactly the live sessions of an account, the newest first, and ends exactly the one that is named. The
 * routes over the real engine, without sockets.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { Applications } from '../../core/view/applications.ts'
import { apply, setTime } from '../../core/engine/apply.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import {
  CommandType, kindOf, OPEN_DELEGATED_SESSION_COMMAND, OPEN_SESSION_COMMAND, UPSERT_AGENT_COMMAND,
} from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { agentId, formatId, IdKind, orderId, parseId, userId } from '../../core/layout/ids.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout } from '../../core/layout/table.ts'
import { KEY_KEPT_MS } from '../../core/state/session_lists.ts'
import type { FromThread } from '../../core/threads.ts'
import type { Admin } from '../../gateway/operator/admin.ts'
import type { Answer } from '../../gateway/operator/http.ts'
import type { OperatorContext } from '../../gateway/operator/route.ts'
import { handlerOf } from '../../gateway/operator/serve.ts'
import { LISTED_MAX, ListSessions, RevokeSession } from '../../gateway/operator/sessions.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

const HOUR = 3_600_000
const LIFETIME = 24 * HOUR
/** Fewer rows than sessions are opened, so that rows are used again. */
const ROWS = 256

const AGENT_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

interface World {
  /** Opens a session with a new key at `time`, Unix ms. */
  open(account: number, time: number): { id: string; key: string; createdAt: string; expiresAt: string; user: string }
  /** Account 0 grants the agent, by its session; the agent's id. */
  grant(session: string): string
  /** The agent signs in for account 0; the session's id. */
  delegate(time: number): string
  list(user: string): Promise<Listing>
  revoke(body: unknown): Promise<{ status: number; json: Record<string, unknown> }>
  readonly log: Extract<FromThread, { type: 'log' }>[]
  readonly live: () => number
}

interface Listing {
  readonly status: number
  readonly live: number
  readonly sessions: readonly (Record<'id' | 'createdAt' | 'expiresAt' | 'application' | 'publicKey', string> & { agent: object | null })[]
}

/** The shipped genesis with few rows, and no limit of sessions that binds anybody. */
function smallGenesis(): string {
  const json = shippedGenesis()
  const rows = { sessions: ROWS, sessionsPerAccount: ROWS, sessionLifetimeMs: LIFETIME }
  const small = { orders: 64, accounts: 16, receipts: 16, priceTicks: 1024, ...rows }
  json.limits = { ...json.limits, ...small }
  return JSON.stringify(json)
}

function createWorld(): World {
  const state = createState(parseGenesis(smallGenesis()))
  const run = (type: number, layout: Layout, values: Decoded, lane: number): Decoded => {
    const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
    encode(layout, command, 0, { kind: kindOf(type, 1, lane), session: -1, ...values })
    apply(state, command, 0)
    const result = decode(RESULT, state.outbox, (state.outbox.count - 1) * RECORD_WORDS)
    state.outbox.count = 0
    return result
  }
  const admin: Admin = {
    send: (type, layout, values) => {
      setTime(state, Math.max(Date.now(), state.clock[CLOCK.TIME]!))
      return Promise.resolve(run(type, layout, values, 0))
    },
    stop: () => undefined,
  }
  const log: World['log'] = []
  const gate = new Int32Array(1)
  const applications = new Applications(state, gate)
  const tell: OperatorContext['tell'] = (message) => message.type === 'log' && log.push(message)
  const context = { state, gate, applications, admin, time: Date.now, tell } as Partial<OperatorContext> as OperatorContext
  const [list, revoke] = [handlerOf(ListSessions, context), handlerOf(RevokeSession, context)]
  const users = new Map<number, string>()
  let keys = 0
  return {
    log,
    live: () => state.scalars[SCALAR.SESSIONS_USED]!,
    open(account, time) {
      setTime(state, Math.max(time, state.clock[CLOCK.TIME]!))
      const key = (0xabc00000 + keys++).toString(16).padEnd(64, 'e')
      const address = (account + 1).toString(16).padStart(40, '0')
      const { code, detail, detail2 } = run(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, { publicKey: key, address }, 1)
      if (code !== 0) throw new Error(`not opened: ${String(code)}`)
      const now = state.clock[CLOCK.TIME]!
      if (!users.has(account)) users.set(account, userId(state.clock[CLOCK.SEQUENCE]!, users.size))
      const id = formatId(IdKind.SESSION, (detail2 as number) >>> 0, detail as number)
      const createdAt = new Date(now).toISOString()
      // Users are told whole seconds.
      const expiresAt = new Date(Math.floor((now + LIFETIME) / 1000) * 1000).toISOString()
      return { id, key, createdAt, expiresAt, user: users.get(account)! }
    },
    grant(session) {
      const { sequence, slot } = parseId(IdKind.SESSION, session)!
      const grants = { address: AGENT_ADDRESS.slice(2).toLowerCase(), grants: 1, pairs: '01'.padEnd(64, '0') }
      const { code, detail, originalSequence } = run(
        CommandType.UPSERT_AGENT, UPSERT_AGENT_COMMAND, { session: slot, sessionGeneration: sequence, ...grants }, 1,
      )
      if (code !== 0) throw new Error(`not granted: ${String(code)}`)
      return agentId(originalSequence as number, detail as number)
    },
    delegate(time) {
      setTime(state, Math.max(time, state.clock[CLOCK.TIME]!))
      const [owner, agent] = ['1'.padStart(40, '0'), AGENT_ADDRESS.slice(2).toLowerCase()]
      const values = { owner, agent, publicKey: 'd'.repeat(64) }
      const { code, detail, detail2 } = run(CommandType.OPEN_DELEGATED_SESSION, OPEN_DELEGATED_SESSION_COMMAND, values, 1)
      if (code !== 0) throw new Error(`not opened: ${String(code)}`)
      return formatId(IdKind.SESSION, (detail2 as number) >>> 0, detail as number)
    },
    async list(user) {
      const { status, body } = await list({ url: `/sessions?userId=${user}` } as IncomingMessage)
      return { status, ...(JSON.parse(body) as Omit<Listing, 'status'>) }
    },
    async revoke(body) {
      const stream = Object.assign(Readable.from([Buffer.from(JSON.stringify(body))]), { headers: { 'content-type': 'application/json' } })
      const answer: Answer = await revoke(stream as unknown as IncomingMessage)
      return { status: answer.status, json: JSON.parse(answer.body) as Record<string, unknown> }
    },
  }
}

t.test('the live sessions of one account, and nobody else', async (t) => {
  const world = createWorld()
  const now = Date.now()
  world.open(0, now - LIFETIME - HOUR)
  const old = world.open(0, now - 2 * HOUR)
  const others = world.open(1, now - 2 * HOUR)
  const recent = world.open(0, now - HOUR)
  const { live, sessions } = await world.list(old.user)
  t.equal(live, 2, 'neither the expired one nor the one of somebody else is counted')
  const shown = [recent, old].map(({ id, key, createdAt, expiresAt }) => ({
    id, createdAt, expiresAt, application: 'Ringbook', publicKey: key.slice(0, 8), agent: null,
  }))
  t.strictSame(sessions, shown)
  t.notOk(JSON.stringify(sessions).includes(recent.key.slice(0, 9)), 'no more of the key than 8 characters')
  t.match(await world.list(others.user), { status: 200, live: 1, sessions: [{ id: others.id }] })
  t.match(await world.list(others.user.toUpperCase()), { status: 200, live: 1 })
  for (const [user, status] of [['', 400], ['ann', 400], [orderId(2, 0), 400], [userId(2, 0), 404], [userId(1, 9), 404]] as const) {
    t.equal((await world.list(user)).status, status, user)
  }
})

t.test('revoking ends the named session only', async (t) => {
  const world = createWorld()
  const [first, second] = [world.open(0, Date.now() - HOUR), world.open(0, Date.now() - HOUR)]
  const revoked = await world.revoke({ session: first.id.toUpperCase() })
  t.match(revoked, { status: 200, json: { session: first.id, userId: first.user, sequence: 3 } })
  t.strictSame(world.log.map(({ level, message, fields }) => [level, message, fields]), [
    ['warn', 'session revoked by the operator', { session: first.id, userId: first.user, sequence: 3 }],
  ])
  t.match(await world.list(first.user), { live: 1, sessions: [{ id: second.id }] })
  t.match(await world.revoke({ session: first.id }), { status: 401, json: { code: 'SESSION_INVALID' } }, 'it has ended already')
  const wrong: [unknown, number][] = [
    [{}, 400], [{ session: 1 }, 400], [{ session: 'one' }, 400], [{ session: first.user }, 400],
    [{ session: formatId(IdKind.SESSION, 2, 0) }, 404], [{ session: formatId(IdKind.SESSION, 1, 1) }, 404],
    [{ session: formatId(IdKind.SESSION, 0, 9) }, 404], [{ session: formatId(IdKind.SESSION, 1, 2 ** 30 - 1) }, 404],
  ]
  for (const [body, status] of wrong) {
    t.match(await world.revoke(body), { status, json: { details: { field: 'session' } } }, JSON.stringify(body))
  }
  t.match(await world.list(first.user), { live: 1, sessions: [{ id: second.id }] }, 'nothing of that ended anything')
})

t.test('a row that was opened again is another session', async (t) => {
  const world = createWorld()
  // So long ago that their keys are kept no more.
  const old = world.open(0, Date.now() - LIFETIME - KEY_KEPT_MS - HOUR)
  for (let row = 1; row < ROWS; row++) world.open(1, Date.now() - LIFETIME - KEY_KEPT_MS - HOUR)
  t.equal(world.live(), ROWS, 'every row is used')
  const fresh = world.open(0, Date.now())
  t.not(fresh.id, old.id)
  t.equal(fresh.id.slice(19, 28), old.id.slice(19, 28), 'the same row')
  t.match(await world.revoke({ session: old.id }), { status: 404, json: { details: { field: 'session' } } })
  t.match(await world.list(fresh.user), { live: 1, sessions: [{ id: fresh.id }] }, 'the new one lives')
})

t.test('of many sessions all are counted and the newest listed', async (t) => {
  const world = createWorld()
  const opened = Array.from({ length: 240 }, (_, i) => world.open(0, Date.now() - HOUR + i * 1000))
  const { live, sessions } = await world.list(opened[0]!.user)
  t.equal(live, 240)
  t.equal(LISTED_MAX, 100)
  t.strictSame(sessions.map(({ id }) => id), opened.slice(-LISTED_MAX).reverse().map(({ id }) => id))
})

t.test('sessions of delegated agents are the owner\'s, and name the agent', async (t) => {
  const world = createWorld()
  const own = world.open(0, Date.now() - 2 * HOUR)
  const agent = world.grant(own.id)
  const session = world.delegate(Date.now() - HOUR)
  const { live, sessions } = await world.list(own.user)
  t.equal(live, 2)
  t.strictSame(sessions.map(({ id, agent }) => [id, agent]), [[session, { id: agent, address: AGENT_ADDRESS }], [own.id, null]])
})
