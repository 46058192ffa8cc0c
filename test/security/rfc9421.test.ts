/**
 * Every session operation against every way a message signature (RFC 9421) can be wrong or be written otherwise: always 401 with its
 * code, never an effect, never a second try as a legacy request. The table is support/message_defects.ts.
 */
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { authenticate } from '../../gateway/auth/authenticate.ts'
import { createSessionCache } from '../../gateway/auth/session_cache.ts'
import { FRESHNESS_MS } from '../../gateway/auth/signed_request.ts'
import { openDeadSessions, PLACES, request, signed, startHarness, type Reply } from '../support/gateway_harness.ts'
import { INVALID, LIST, messageDefects, type HeaderPairs } from '../support/message_defects.ts'
import { digestOf, headersOf, messageSigned, parametersOf, partsOf, unixSeconds } from '../support/message_signature.ts'
import { sampleOrder, sessionSamples } from '../support/session_samples.ts'

const harness = await startHarness()
// Withdrawals go to a vault.
harness.giveVault(PLACES, () => null)
t.teardown(() => harness.close())
const { port, genesis } = harness

const session = await harness.openSession()
const other = await harness.openSession()
const dead = await openDeadSessions(harness)

for (const sample of sessionSamples(genesis)) {
  t.test(`${sample.name}: every wrong message signature is refused`, async (t) => {
    const before = harness.lastSequence()
    let refused = 0
    for (const [name, headers, code] of messageDefects(sample, { session, other, ...dead })) {
      const reply: Reply = await request(port, sample.row.method, sample.target, headers, sample.body)
      if (reply.status !== 401 || reply.json.code !== code) t.fail(`${name}: ${reply.status} ${reply.text}, not 401 ${code}`)
      else if (code === 'CLOCK_SKEW') t.equal(reply.json.message, 'request timestamp outside allowed skew')
      refused++
    }
    t.ok(refused > 250, 'the table was run')
    t.equal(harness.lastSequence(), before, `nothing of ${refused} requests reached the engine`)
    const own = await harness.openSession()
    const headers = messageSigned(own, sample.row.method, sample.target, sample.body)
    const reply = await request(port, sample.row.method, sample.target, headers, sample.body)
    // The request is signed; whose consent it carries is another question, of CreateSubAccount alone.
    const asked = /^The wallet has to agree/.test(reply.json?.message)
    t.ok((reply.status !== 401 || asked) && reply.status > 0 && reply.status < 500, `signed right it is let through: ${reply.status}`)
  })
}

const ME = '/api/v1/accounts/me'
const ORDERS = '/api/v1/orders'
const get = (target: string, signedTarget = target): Promise<Reply> =>
  request(port, 'GET', target, messageSigned(session, 'GET', signedTarget))

t.test('a changed body or target is refused', async (t) => {
  const body = JSON.stringify(sampleOrder(genesis))
  const headers = messageSigned(session, 'POST', ORDERS, body)
  for (const changed of [body.replace('0.1', '0.2'), `${body} `, '', body.toUpperCase()]) {
    t.equal((await request(port, 'POST', ORDERS, headers, changed)).json.code, INVALID)
  }
  const asSigned = `${ORDERS}?page=1&pageSize=2`
  for (const target of [
    `${ORDERS}?pageSize=2&page=1`, `${ORDERS}?page=1&pageSize=3`, `${ORDERS}?page=%31&pageSize=2`, `${asSigned}&`, `${asSigned}?`, ORDERS,
    `${ORDERS}?`, `${ORDERS}?p%61ge=1&pageSize=2`,
  ]) {
    t.equal((await get(target, asSigned)).json.code, INVALID, target)
  }
  t.equal((await get(asSigned)).status, 200, 'as signed it is served')
  t.equal((await request(port, 'HEAD', asSigned, messageSigned(session, 'GET', asSigned))).status, 401, 'HEAD is not GET')
  const order = '/api/v1/orders/00000000-0005-8001-8000-00001f2a335e'
  const escaped = order.replace('5e', '%35e')
  t.equal((await get(escaped, order)).json.code, INVALID, 'the path is signed as sent')
  t.not((await get(escaped)).status, 401)
})

t.test('what is right is served', async (t) => {
  const gateway = gatewayCounters(harness.shared.counters, 1)
  const before = gateway[GATEWAY.signature_ok]!
  t.equal((await get(ME)).status, 200, 'without a query')
  t.equal((await get(`${ORDERS}?page=1&pageSize=2`)).status, 200, 'with a query')
  t.equal((await get(`${ORDERS}?clientOrderId=%61%2Bb%20c&status=FILLED&status=CANCELLED`)).status, 200, 'with an escaped query')
  t.equal((await get(`${ME}?`)).status, 200, 'with a bare question mark')
  t.equal((await get(`${ME}?`, ME)).status, 200, 'which RFC 9421 cannot tell from none')
  t.equal(gateway[GATEWAY.signature_ok], before + 5, 'counted')

  const mint = '/api/v1/faucet/mint'
  t.equal((await request(port, 'POST', mint, messageSigned(session, 'POST', mint))).status, 200, 'POST without a body')
  const body = JSON.stringify({ ...sampleOrder(genesis), idempotencyKey: 'clé ✓' })
  const made = await request(port, 'POST', ORDERS, messageSigned(session, 'POST', ORDERS, body), body)
  t.equal(made.status, 200, made.text)
  const order = `${ORDERS}/${made.json.orderId as string}`
  t.equal((await request(port, 'DELETE', order, messageSigned(session, 'DELETE', order))).status, 200)
  const headers = messageSigned(session, 'GET', ME)
  for (const time of ['once', 'twice']) t.equal((await request(port, 'GET', ME, headers)).status, 200, `${time}: no replay cache`)
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), `  ${value}\t`]))
  t.equal((await request(port, 'GET', ME, lower)).status, 200, 'names in any case, white space around values')
})

t.test('the parameters may come in any order, and are signed in theirs', async (t) => {
  const [created, keyid, alg] = parametersOf(session.publicKey).slice(1).split(';')
  for (const order of [[created, keyid, alg], [created, alg, keyid], [keyid, created, alg], [keyid, alg, created], [alg, created, keyid],
    [alg, keyid, created]]) {
    const parameters = `;${order.join(';')}`
    t.equal((await request(port, 'GET', ME, headersOf({ ...partsOf(session, 'GET', ME), parameters }))).status, 200, parameters)
    const signedParameters = LIST + [...order].reverse().map((text) => `;${text}`).join('')
    const otherwise = headersOf({ ...partsOf(session, 'GET', ME), parameters, signedParameters })
    t.equal((await request(port, 'GET', ME, otherwise)).json.code, INVALID)
  }
})

t.test('Content-Digest alone selects nothing', async (t) => {
  const legacy = signed(session, 'GET', ME)
  for (const digest of [digestOf(''), digestOf('another body'), 'nonsense', '']) {
    t.equal((await request(port, 'GET', ME, { ...legacy, 'Content-Digest': digest })).status, 200, `legacy with ${digest}`)
  }
  t.equal((await request(port, 'GET', ME, [...Object.entries(legacy), ['Content-Digest', 'a'], ['Content-Digest', 'b']])).status, 200)
  t.equal((await request(port, 'GET', ME, { 'Content-Digest': digestOf('') })).json.code, 'UNAUTHENTICATED')
})

t.test('the headers of one request are not seen by the next', async (t) => {
  t.equal((await get(ME)).status, 200)
  t.equal((await request(port, 'GET', ME, signed(session, 'GET', ME))).status, 200, 'legacy')
  const headers = messageSigned(session, 'GET', ME)
  for (const name of Object.keys(headers)) {
    await get(ME)
    const rest = Object.entries(headers).filter(([key]) => key !== name)
    t.equal((await request(port, 'GET', ME, rest)).json.code, 'UNAUTHENTICATED', `${name} is not remembered`)
  }
})

t.test('public operations need no signature and refuse headers that are doubled or mixed', async (t) => {
  const time = '/api/v1/time'
  t.equal((await request(port, 'GET', time, { Signature: 'nonsense', 'Content-Digest': 'nonsense' })).status, 200)
  const twice: HeaderPairs = [['Signature', 'a'], ['Signature', 'b']]
  t.equal((await request(port, 'GET', time, twice)).json.code, 'UNAUTHENTICATED')
  t.equal((await request(port, 'GET', time, { 'Signature-Input': 'x', 'X-Svc-Timestamp': '1' })).json.code, 'MIXED_CREDENTIALS')
})

t.test('the window is 30,000 ms to the millisecond', async (t) => {
  const cache = createSessionCache(harness.state, new Int32Array(harness.shared.gate))
  const created = unixSeconds()
  const headers = headersOf({ ...partsOf(session, 'GET', '/x'), parameters: parametersOf(session.publicKey, created) })
  const attempt = (age: number): string | null => authenticate(cache, {
    method: 'GET', target: '/x', body: new Uint8Array(0), publicKey: '', timestamp: '', signature: '', credentials: 0,
    messageSignature: { input: headers['Signature-Input']!, signature: headers['Signature']!, contentDigest: headers['Content-Digest']! },
  }, created * 1000 + age, new Float64Array(64), { account: 0, application: 0, session: 0, generation: 0, agent: -1 })?.code ?? null
  t.equal(attempt(0), null)
  t.equal(attempt(FRESHNESS_MS), null)
  t.equal(attempt(-FRESHNESS_MS), null)
  t.equal(attempt(FRESHNESS_MS + 1), 'CLOCK_SKEW')
  t.equal(attempt(-FRESHNESS_MS - 1), 'CLOCK_SKEW')
})

t.test('a session is dead on the request after its revocation', async (t) => {
  const mine = await harness.openSession()
  const ask = (method: string, target: string): Promise<Reply> => request(port, method, target, messageSigned(mine, method, target))
  t.equal((await ask('GET', ME)).status, 200)
  t.same((await ask('POST', '/api/v1/auth/revoke')).json, { revoked: true })
  for (const [method, target] of [['GET', ME], ['POST', '/api/v1/auth/revoke'], ['POST', '/api/v1/auth/refresh']] as const) {
    t.equal((await ask(method, target)).json.code, 'SESSION_INVALID')
  }
})
