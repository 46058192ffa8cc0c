/**
 * Every session operation against every way a signed request can be wrong: always the
 * specified refusal, and never an effect. The operations come from the table, so a new one is tested by existing.
 */
import { sign } from 'node:crypto'
import t from 'tap'
import { authenticate } from '../../gateway/auth/authenticate.ts'
import { createSessionCache } from '../../gateway/auth/session_cache.ts'
import { FRESHNESS_MS } from '../../gateway/auth/signed_request.ts'
import { ALL_CREDENTIALS } from '../../gateway/auth/signed_request.ts'
import type { RequestContext } from '../../gateway/http/server.ts'
import { request, signed, openDeadSessions, startHarness, type Headers, type Reply, type Session } from '../support/gateway_harness.ts'
import { malleated, sampleOrder, sessionSamples, type Sample } from '../support/session_samples.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const { port, genesis } = harness

const session = await harness.openSession()
const other = await harness.openSession()
const foreign = await harness.openSession(1, session.address)
const { revoked, expired, crowded, dismissed } = await openDeadSessions(harness)
const unknown = { ...session, publicKey: 'ab'.repeat(32) }

const order = sampleOrder(genesis)
const samples = sessionSamples(genesis)

type List = [string, string][]
const without = (headers: Headers, name: string): Headers => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))
const twice = (headers: Headers, name: string): List => [...Object.entries(headers), [name, headers[name]!]]

/** Headers of a wrong request and the code it must get. Each is built for one sample. */
function defects({ row, target, body }: Sample): Record<string, [Headers | List, string]> {
  const { method } = row
  const good = signed(session, method, target, body)
  const at = (timestamp: string): Headers => signed(session, method, target, body, timestamp)
  const put = (name: string, value: string): Headers => ({ ...good, [name]: value })
  const now = Date.now()
  const key = session.publicKey
  const signature = good['X-Svc-Signature']!
  const list: Record<string, [Headers | List, string]> = {
    'no headers': [{}, 'UNAUTHENTICATED'],
    'never registered key': [{ ...good, 'X-Svc-PublicKey': unknown.publicKey }, 'UNAUTHENTICATED'],
    'all-zero key': [put('X-Svc-PublicKey', '0'.repeat(64)), 'UNAUTHENTICATED'],
    'key in upper case': [put('X-Svc-PublicKey', key.toUpperCase()), 'UNAUTHENTICATED'],
    'key with 0x': [put('X-Svc-PublicKey', `0x${key}`), 'UNAUTHENTICATED'],
    'key of 31 bytes': [put('X-Svc-PublicKey', key.slice(2)), 'UNAUTHENTICATED'],
    'key of 33 bytes': [put('X-Svc-PublicKey', `${key}00`), 'UNAUTHENTICATED'],
    'key that is not hex': [put('X-Svc-PublicKey', 'g'.repeat(64)), 'UNAUTHENTICATED'],
    'another session\'s key': [put('X-Svc-PublicKey', other.publicKey), 'INVALID_SIGNATURE'],
    'the key of the same wallet in another application': [put('X-Svc-PublicKey', foreign.publicKey), 'INVALID_SIGNATURE'],
    'expired session': [signed(expired, method, target, body), 'SESSION_INVALID'],
    'revoked session': [signed(revoked, method, target, body), 'SESSION_INVALID'],
    'session that a newer one replaced': [signed(crowded, method, target, body), 'SESSION_INVALID'],
    'session of a revoked agent': [signed(dismissed, method, target, body), 'SESSION_INVALID'],
    'signature in upper case': [put('X-Svc-Signature', signature.toUpperCase()), 'INVALID_SIGNATURE'],
    'signature with 0x': [put('X-Svc-Signature', `0x${signature}`), 'INVALID_SIGNATURE'],
    'signature of 63 bytes': [put('X-Svc-Signature', signature.slice(2)), 'INVALID_SIGNATURE'],
    'signature with bytes behind it': [put('X-Svc-Signature', `${signature}00`), 'INVALID_SIGNATURE'],
    'signature of zeros': [put('X-Svc-Signature', '0'.repeat(128)), 'INVALID_SIGNATURE'],
    'signature with S + L': [put('X-Svc-Signature', malleated(Buffer.from(signature, 'hex')).toString('hex')), 'INVALID_SIGNATURE'],
    'signature with another R': [put('X-Svc-Signature', `${signature.startsWith('00') ? '01' : '00'}${signature.slice(2)}`), BAD],
    'signature of another method': [signed(session, method === 'GET' ? 'POST' : 'GET', target, body), 'INVALID_SIGNATURE'],
    'signature of the method in lower case': [signed(session, method.toLowerCase(), target, body), 'INVALID_SIGNATURE'],
    'signature of another path': [signed(session, method, `${target}/`, body), 'INVALID_SIGNATURE'],
    'signature of another query': [signed(session, method, `${target}?page=1`, body), 'INVALID_SIGNATURE'],
    'signature of a bare question mark': [signed(session, method, `${target}?`, body), 'INVALID_SIGNATURE'],
    'signature of another body': [signed(session, method, target, `${body} `), 'INVALID_SIGNATURE'],
    'signature of another timestamp': [{ ...at(String(now - 5)), 'X-Svc-Timestamp': String(now) }, 'INVALID_SIGNATURE'],
    'mixed with Signature': [{ ...good, Signature: 'svc=:AA==:' }, 'MIXED_CREDENTIALS'],
    'mixed with Signature-Input': [{ ...good, 'Signature-Input': 'svc=()' }, 'MIXED_CREDENTIALS'],
    'mixed with one legacy header': [{ 'Signature-Input': 'svc=()', 'X-Svc-Timestamp': String(now) }, 'MIXED_CREDENTIALS'],
    'RFC 9421 alone': [{ 'Signature-Input': 'svc=()', Signature: 'svc=:AA==:' }, 'UNAUTHENTICATED'],
    'timestamp 31 s old': [at(String(now - 31_000)), 'CLOCK_SKEW'],
    'timestamp 31 s ahead': [at(String(now + 31_000)), 'CLOCK_SKEW'],
  }
  for (const text of [
    String(Math.floor(now / 1000)), `+${now}`, `-${now}`, `${now}.0`, '1e12', '', `0x${now.toString(16)}`, `0${now}`, '9'.repeat(20),
    '١٢٣',
  ]) {
    list[`timestamp '${text}'`] = [at(text), 'CLOCK_SKEW']
  }
  for (const name of Object.keys(good)) {
    list[`without ${name}`] = [without(good, name), 'UNAUTHENTICATED']
    list[`${name} twice`] = [twice(good, name), 'UNAUTHENTICATED']
    list[`${name} with a space inside`] = [put(name, `${good[name]!.slice(0, 5)} ${good[name]!.slice(5)}`), CODES[name]!]
  }
  return list
}
const BAD = 'INVALID_SIGNATURE'
const TIME_MISTAKE = /^request timestamp outside allowed skew$|^X-Svc-Timestamp must be Unix milliseconds: 13 digits$/
const CODES: Record<string, string> = {
  'X-Svc-PublicKey': 'UNAUTHENTICATED', 'X-Svc-Timestamp': 'CLOCK_SKEW', 'X-Svc-Signature': 'INVALID_SIGNATURE',
}

for (const sample of samples) {
  t.test(`${sample.name}: every wrong request is refused`, async (t) => {
    const before = harness.lastSequence()
    for (const [name, [headers, code]] of Object.entries(defects(sample))) {
      const reply: Reply = await request(port, sample.row.method, sample.target, headers, sample.body)
      if (reply.status !== 401 || reply.json.code !== code) t.fail(`${name}: ${reply.status} ${reply.text}, expected 401 ${code}`)
      if (code === 'CLOCK_SKEW' && !TIME_MISTAKE.test(reply.json.message)) t.fail(`${name}: ${reply.json.message}`)
    }
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  })
}

t.test('a changed body or target is refused', async (t) => {
  const body = JSON.stringify(order)
  const headers = signed(session, 'POST', '/api/v1/orders', body)
  for (const changed of [body.replace('0.1', '0.2'), `${body} `, '', body.toUpperCase()]) {
    t.equal((await request(port, 'POST', '/api/v1/orders', headers, changed)).json.code, 'INVALID_SIGNATURE')
  }
  const query = signed(session, 'GET', '/api/v1/orders?page=1&pageSize=2')
  for (const target of [
    '/api/v1/orders?pageSize=2&page=1', '/api/v1/orders?page=1&pageSize=3', '/api/v1/orders?page=%31&pageSize=2',
    '/api/v1/orders?page=1&pageSize=2&',
  ]) {
    t.equal((await request(port, 'GET', target, query)).json.code, 'INVALID_SIGNATURE', target)
  }
  t.equal((await request(port, 'GET', '/api/v1/orders?page=1&pageSize=2', query)).status, 200, 'as signed it is served')
  t.equal((await request(port, 'HEAD', '/api/v1/orders?page=1&pageSize=2', query)).status, 401, 'HEAD is not GET')
})

t.test('what is right is served', async (t) => {
  const me = '/api/v1/accounts/me'
  t.equal((await request(port, 'GET', me, signed(session, 'GET', me))).status, 200)
  t.equal(
    (await request(port, 'GET', me, { ...signed(session, 'GET', me), 'Content-Digest': 'sha-256=:x:' })).status, 200,
    'Content-Digest alone selects nothing',
  )
  // Some seconds are left for the request itself.
  for (const offset of [-25_000, 25_000]) t.equal(
    (await request(port, 'GET', me, signed(session, 'GET', me, '', String(Date.now() + offset)))).status, 200,
  )
  const headers = signed(session, 'GET', me)
  t.equal((await request(port, 'GET', me, headers)).status, 200)
  t.equal((await request(port, 'GET', me, headers)).status, 200, 'freshness is a window, not a replay cache')
  const target = `${me}?`
  t.equal((await request(port, 'GET', target, signed(session, 'GET', target))).status, 200, 'a bare question mark is part of the target')
})

t.test('the window is 30,000 ms to the millisecond', async (t) => {
  const cache = createSessionCache(harness.state, new Int32Array(harness.shared.gate))
  const now = Date.now()
  const attempt = (offset: number, by: Session = session): string | null => {
    const timestamp = String(now + offset)
    const headers = signed(by, 'GET', '/x', '', timestamp)
    const exchange = {
      method: 'GET', target: '/x', body: new Uint8Array(0), timestamp, credentials: ALL_CREDENTIALS,
      publicKey: headers['X-Svc-PublicKey']!, signature: headers['X-Svc-Signature']!, messageSignature: null,
    } as RequestContext
    const caller = { account: 0, application: 0, session: 0, generation: 0, agent: -1 }
    return authenticate(cache, exchange, now, new Float64Array(64), caller)?.code ?? null
  }
  t.equal(attempt(-FRESHNESS_MS), null)
  t.equal(attempt(FRESHNESS_MS), null)
  t.equal(attempt(-FRESHNESS_MS - 1), 'CLOCK_SKEW')
  t.equal(attempt(FRESHNESS_MS + 1), 'CLOCK_SKEW')
  t.equal(attempt(0, { ...session, privateKey: other.privateKey }), 'INVALID_SIGNATURE')
})

t.test('a session is dead on the request after its revocation, and its key can be opened again', async (t) => {
  const mine = await harness.openSession()
  const me = '/api/v1/accounts/me'
  t.equal((await request(port, 'GET', me, signed(mine, 'GET', me))).status, 200)
  const revoke = '/api/v1/auth/revoke'
  t.same((await request(port, 'POST', revoke, signed(mine, 'POST', revoke))).json, { revoked: true })
  t.equal((await request(port, 'GET', me, signed(mine, 'GET', me))).json.code, 'SESSION_INVALID')
  t.equal((await request(port, 'POST', revoke, signed(mine, 'POST', revoke))).json.code, 'SESSION_INVALID')
  const refresh = '/api/v1/auth/refresh'
  t.equal((await request(port, 'POST', refresh, signed(mine, 'POST', refresh))).json.code, 'SESSION_INVALID')
})

t.test('public operations need no signature and refuse mixed credentials', async (t) => {
  t.equal((await request(port, 'GET', '/api/v1/time')).status, 200)
  t.equal((await request(port, 'GET', '/api/v1/time', { 'X-Svc-PublicKey': 'nonsense' })).status, 200)
  t.equal((await request(port, 'GET', '/api/v1/time', { 'X-Svc-PublicKey': 'x', Signature: 'y' })).json.code, 'MIXED_CREDENTIALS')
})

t.test('a signature of another text by the right key is refused', async (t) => {
  const me = '/api/v1/accounts/me'
  const headers = signed(session, 'GET', me)
  for (const text of ['', `GET\n${me}\n`, `GET\n${me}\n${headers['X-Svc-Timestamp']}`, `GET ${me}`]) {
    const signature = sign(null, Buffer.from(text), session.privateKey).toString('hex')
    t.equal((await request(port, 'GET', me, { ...headers, 'X-Svc-Signature': signature })).json.code, 'INVALID_SIGNATURE')
  }
})
