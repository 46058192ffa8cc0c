/**
 * Promise: a session is good until the second it was told, and refused from that second on, the same over every transport and every
 * protocol. Judged by the clock alone: what was answered before the second must have been served, what was sent at it or later refused.
 */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { authenticate } from '../../gateway/auth/authenticate.ts'
import { createSessionCache } from '../../gateway/auth/session_cache.ts'
import type { SignedRequest } from '../../gateway/auth/signed_request.ts'
import { ALL_CREDENTIALS } from '../../gateway/auth/signed_request.ts'
import { request, signed, startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, detailsOf, schema } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { digestOf, headersOf, messageSigned, partsOf } from '../support/message_signature.ts'

const LIFETIME_MS = 2500
const harness = await startHarness(['--grpc-thread', '1'], testGenesis({ sessionLifetimeMs: LIFETIME_MS }))
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})

const OVER = { code: status.UNAUTHENTICATED, reason: 'SESSION_INVALID' }
const ME = '/api/v1/accounts/me'
/** What was made of a request: served, refused because the session is over, or anything else in words. */
type Outcome = 'served' | 'over' | string

const http = async (headers: Record<string, string>): Promise<Outcome> => {
  const { status: code, json, text } = await request(harness.port, 'GET', ME, headers)
  return code === 200 ? 'served' : code === 401 && json.code === 'SESSION_INVALID' ? 'over' : `${code} ${text}`
}
const reasonOf = (answer: any): string => {
  if (answer.error === undefined || answer.error === null) return 'served'
  const type = schema.lookupType('google.rpc.Status')
  const { reason } = detailsOf(type.encode(type.fromObject(answer.error)).finish())
  return reason === 'SESSION_INVALID' ? 'over' : String(reason)
}
let asked = 0
const anAction = (): { requestId: string } => Object.assign({ requestId: `${asked++}` }, { batchCancelAllOrders: {} })

/** One try over each way to sign. */
const WAYS: Record<string, (session: Session, stream: StreamClient) => Promise<Outcome>> = {
  'HTTP, legacy headers': (session) => http(signed(session, 'GET', ME)),
  'HTTP, RFC 9421': (session) => http(messageSigned(session, 'GET', ME)),
  'a call over gRPC': async (session) => {
    const { code, reason, message } = await client.call('GetProfile', {}, session)
    if (code === status.OK) return 'served'
    return code === status.UNAUTHENTICATED && reason === 'SESSION_INVALID' ? 'over' : `${status[code]} ${reason} ${message}`
  },
  'signed actions of a stream': async (session, stream) => reasonOf(await stream.ask(anAction(), session)),
}

interface Opened {
  readonly session: Session
  /** What the service told of its end, Unix ms. */
  readonly expiresAt: number
  /** In its session mode. */
  readonly streams: readonly StreamClient[]
}

/** Sequenced time and the wall clock are two clocks, each read in whole ms, and the one only follows the other. */
const CLOCKS_MS = 2

/** A new session with two open streams. On a machine that stands still for seconds one may end before it is open; then the next. */
async function opened(t: Test): Promise<Opened> {
  for (let i = 0; i < 20; i++) {
    const before = Date.now()
    const session = await harness.openSession()
    const after = Date.now()
    const streams = [new StreamClient(client), new StreamClient(client)]
    const open = (stream: StreamClient): Promise<any> =>
      stream.ask(Object.assign({ requestId: `open ${asked++}`, openSession: {} }, { counter: 1 }), session).catch(() => ({}))
    const answers = await Promise.all(streams.map(open))
    const [expiresAt, same] = answers.map(({ openSession }) => Number(openSession?.expiresAt ?? 0) * 1000) as [number, number]
    if (expiresAt === 0 || same === 0) continue
    t.equal(same, expiresAt)
    t.ok(expiresAt > before + LIFETIME_MS - 1000 && expiresAt <= after + LIFETIME_MS, 'as long as the genesis says, in whole seconds')
    return { session, expiresAt, streams }
  }
  throw new Error('no session was opened in time')
}

for (const [way, attempt] of Object.entries(WAYS)) {
  t.test(`${way}: to the second`, async (t) => {
    const actions = new StreamClient(client)
    const { session, expiresAt, streams } = await opened(t)
    let refused = 0
    for (let i = 0; i < 100_000 && refused < 20; i++) {
      const before = Date.now()
      const outcome = await attempt(session, actions)
      const after = Date.now()
      if (outcome === 'over') refused++
      else if (outcome !== 'served') t.fail(outcome)
      if (after < expiresAt - CLOCKS_MS && outcome === 'over') t.fail(`refused ${expiresAt - after} ms before its end`)
      if (before >= expiresAt + CLOCKS_MS && outcome === 'served') t.fail(`served ${before - expiresAt} ms after its end`)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    t.equal(refused, 20)
    for (const { ended } of streams) t.match(await ended, OVER, 'its streams are cut')
    t.match(await client.call('Refresh', {}, session), { reason: 'SESSION_INVALID' }, 'and it cannot be refreshed any more')
    actions.call.cancel()
  })
}

t.test('the session of a stream: actions without signatures, and the stream itself', async (t) => {
  const { expiresAt, streams } = await opened(t)
  const [stream] = streams as [StreamClient]
  let endedAt = 0
  const over = Promise.all(streams.map(({ ended }) => ended)).then((ends) => {
    endedAt = Date.now()
    return ends
  })
  for (let counter = 2; counter < 100_000 && endedAt === 0; counter++) {
    const before = Date.now()
    const action = Object.assign(anAction(), { counter })
    const answer = await stream.ask(action).catch(() => null)
    if (answer === null) break
    if (reasonOf(answer) !== 'served') t.equal(reasonOf(answer), 'over')
    else if (before >= expiresAt + CLOCKS_MS) t.fail(`served ${before - expiresAt} ms after its end`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  for (const end of await over) t.match(end, OVER)
  t.ok(endedAt >= expiresAt - CLOCKS_MS, 'not before its end')
})

t.test('to the millisecond, by the clock of the gateway', async (t) => {
  const session = await harness.openSession()
  const cache = createSessionCache(harness.state, new Int32Array(harness.shared.gate))
  // Far from now and no whole second, as the engine writes it.
  const second = Math.floor(Date.now() / 1000) * 1000 + 60_000
  harness.state.sessionsF64[(session.row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = second + 789
  const legacy = (now: number): SignedRequest => {
    const headers = signed(session, 'GET', ME, '', String(now))
    return {
      method: 'GET', target: ME, body: new Uint8Array(0), timestamp: String(now), credentials: ALL_CREDENTIALS,
      publicKey: headers['X-Svc-PublicKey']!, signature: headers['X-Svc-Signature']!, messageSignature: null,
    }
  }
  const structured = (now: number): SignedRequest => {
    const parameters = `;created=${Math.floor(now / 1000)};keyid="${session.publicKey}";alg="ed25519"`
    const headers = headersOf({ ...partsOf(session, 'GET', ME), parameters })
    const messageSignature = { input: headers['Signature-Input']!, signature: headers['Signature']!, contentDigest: digestOf('') }
    return {
      method: 'GET', target: ME, body: new Uint8Array(0), timestamp: '', credentials: 0, publicKey: '', signature: '', messageSignature,
    }
  }
  for (const [protocol, make] of Object.entries({ legacy, structured })) {
    const caller = { account: 0, application: 0, session: 0, generation: 0, agent: 0 }
    const at = (now: number): string | null => authenticate(cache, make(now), now, new Float64Array(64), caller)?.code ?? null
    t.equal(at(second - 1), null, `${protocol}: the last millisecond`)
    for (const late of [0, 1, 788, 789, 1000]) t.equal(at(second + late), 'SESSION_INVALID', `${protocol}: ${late} ms later`)
  }
})
