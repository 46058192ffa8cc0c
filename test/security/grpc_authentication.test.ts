/**
 * Every session method of gRPC against every way a signed call can be wrong: always UNAUTHENTICATED with the specified reason, and never
 * an effect. The methods come from the table, so a new one is tested by existing. The cases are those of HTTP where they make sense.
 */
import { createHash, sign } from 'node:crypto'
import { Metadata, status } from '@grpc/grpc-js'
import t from 'tap'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { openDeadSessions, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, encodeMessage, pathOf, typeOf } from '../support/grpc.ts'
import { malleated, sampleOrder, sessionSamples } from '../support/session_samples.ts'
import { messageOf } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})

const session = await harness.openSession()
const other = await harness.openSession()
const foreign = await harness.openSession(1, session.address)
const { revoked, expired, crowded, dismissed } = await openDeadSessions(harness)

const samples = sessionSamples(harness.genesis)
const { bytes: ORDER_BYTES } = samples.find(({ name }) => name === 'CreateOrder')!

type Entries = Record<string, string>
const [KEY, TIME, SIGNATURE] = ['x-svc-publickey', 'x-svc-timestamp', 'x-svc-signature'] as const

/** Entries with a signature over exactly this text. */
function signedText(by: Session, text: string, timestamp: string): Entries {
  return { [KEY]: by.publicKey, [TIME]: timestamp, [SIGNATURE]: sign(null, Buffer.from(text), by.privateKey).toString('hex') }
}

/** Metadata of a wrong call and the reason it must get. */
function defects(name: OperationName, bytes: Buffer): [string, Entries | Metadata, string][] {
  const path = pathOf(name)
  const good = credentialsFor(session, path, bytes)
  const { method, path: httpPath } = TABLE[name]
  const now = Date.now()
  const digest = createHash('sha256').update(bytes).digest('hex')
  const put = (entry: string, value: string): Entries => ({ ...good, [entry]: value })
  const at = (timestamp: string): Entries => credentialsFor(session, path, bytes, timestamp)
  const text = (...lines: string[]): Entries => signedText(session, lines.join('\n'), String(now))
  const list: [string, Entries | Metadata, string][] = [
    ['no entries', {}, 'UNAUTHENTICATED'],
    ['never registered key', put(KEY, 'ab'.repeat(32)), 'UNAUTHENTICATED'],
    ['all-zero key', put(KEY, '0'.repeat(64)), 'UNAUTHENTICATED'],
    ['key in upper case', put(KEY, session.publicKey.toUpperCase()), 'UNAUTHENTICATED'],
    ['key of 31 bytes', put(KEY, session.publicKey.slice(2)), 'UNAUTHENTICATED'],
    ['key of 33 bytes', put(KEY, `${session.publicKey}00`), 'UNAUTHENTICATED'],
    ["another session's key", put(KEY, other.publicKey), 'INVALID_SIGNATURE'],
    ['the key of the same wallet in another application', put(KEY, foreign.publicKey), 'INVALID_SIGNATURE'],
    ['revoked session', credentialsFor(revoked, path, bytes), 'SESSION_INVALID'],
    ['expired session', credentialsFor(expired, path, bytes), 'SESSION_INVALID'],
    ['session that a newer one replaced', credentialsFor(crowded, path, bytes), 'SESSION_INVALID'],
    ['session of a revoked agent', credentialsFor(dismissed, path, bytes), 'SESSION_INVALID'],
    ['signature in upper case', put(SIGNATURE, good[SIGNATURE]!.toUpperCase()), 'INVALID_SIGNATURE'],
    ['signature of 63 bytes', put(SIGNATURE, good[SIGNATURE]!.slice(2)), 'INVALID_SIGNATURE'],
    ['signature with bytes behind it', put(SIGNATURE, `${good[SIGNATURE]!}00`), 'INVALID_SIGNATURE'],
    ['signature of zeros', put(SIGNATURE, '0'.repeat(128)), 'INVALID_SIGNATURE'],
    ['signature with S + L', put(SIGNATURE, malleated(Buffer.from(good[SIGNATURE]!, 'hex')).toString('hex')), 'INVALID_SIGNATURE'],
    ['signature of other bytes', credentialsFor(session, path, Buffer.concat([bytes, Buffer.of(0x78, 0)])), 'INVALID_SIGNATURE'],
    [
      'signature of another method with the same bytes',
      credentialsFor(session, pathOf(name === 'Revoke' ? 'Refresh' : 'Revoke'), bytes),
      'INVALID_SIGNATURE',
    ],
    ['signature without the leading slash', credentialsFor(session, path.slice(1), bytes), 'INVALID_SIGNATURE'],
    ['signature over the HTTP path', text('POST', httpPath, String(now), digest), 'INVALID_SIGNATURE'],
    ['signature over the HTTP method', text(method === 'POST' ? 'PUT' : method, path, String(now), digest), 'INVALID_SIGNATURE'],
    ['signature over three lines', text('POST', path, String(now)), 'INVALID_SIGNATURE'],
    ['signature of another timestamp', { ...at(String(now - 5)), [TIME]: String(now) }, 'INVALID_SIGNATURE'],
    ['mixed with signature', { ...good, signature: 'svc=:AA==:' }, 'MIXED_CREDENTIALS'],
    ['mixed with signature-input', { ...good, 'signature-input': 'svc=()' }, 'MIXED_CREDENTIALS'],
    ['timestamp 31 s old', at(String(now - 31_000)), 'CLOCK_SKEW'],
    ['timestamp 31 s ahead', at(String(now + 31_000)), 'CLOCK_SKEW'],
  ]
  for (const wrong of [
    String(Math.floor(now / 1000)),
    `+${now}`,
    `-${now}`,
    `${now}.0`,
    '1e12',
    `0x${now.toString(16)}`,
    `0${now}`,
    '9'.repeat(20),
  ]) {
    list.push([`timestamp '${wrong}'`, at(wrong), 'CLOCK_SKEW'])
  }
  for (const entry of [KEY, TIME, SIGNATURE]) {
    const { [entry]: _, ...without } = good
    const twice = Metadata.fromHttp2Headers(good)
    twice.add(entry, good[entry]!)
    const binary = Metadata.fromHttp2Headers(without)
    binary.add(`${entry}-bin`, Buffer.from(good[entry]!))
    list.push([`without ${entry}`, without, 'UNAUTHENTICATED'], [`${entry} twice`, twice, 'UNAUTHENTICATED'])
    list.push([`${entry} as bytes`, binary, 'UNAUTHENTICATED'])
  }
  return list
}

for (const { name, grpcPath, bytes } of samples) {
  t.test(`${name}: every wrong call is refused`, async (t) => {
    const before = harness.lastSequence()
    for (const [defect, metadata, reason] of defects(name, bytes)) {
      const reply = await client.send(grpcPath, bytes, metadata)
      if (reply.code !== status.UNAUTHENTICATED || reply.reason !== reason) {
        t.fail(`${defect}: ${status[reply.code]} ${reply.reason} ${reply.message}, expected UNAUTHENTICATED ${reason}`)
      }
      if (reply.response !== null) t.fail(`${defect}: a refusal carries a response`)
    }
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  })
}

t.test('changed bytes under a good signature are refused, the signed ones served', async (t) => {
  const path = pathOf('CreateOrder')
  const bytes = ORDER_BYTES
  const metadata = credentialsFor(session, path, bytes)
  const other = { ...sampleOrder(harness.genesis), quantity: '0.2' }
  const changed = [
    encodeMessage('CreateOrderRequest', messageOf(typeOf('CreateOrderRequest'), other)),
    Buffer.concat([bytes, Buffer.of(0x78, 0)]),
    Buffer.alloc(0),
  ]
  for (const each of changed) t.equal((await client.send(path, each, metadata)).reason, 'INVALID_SIGNATURE')
  t.equal((await client.send(path, bytes, metadata)).reason, 'INSUFFICIENT_BALANCE', 'as signed it reaches the engine')
})

t.test('public methods need no credentials and refuse mixed ones', async (t) => {
  const bytes = encodeMessage('GetServerTimeRequest', {})
  t.equal((await client.send(pathOf('GetServerTime'), bytes, {})).code, status.OK)
  t.equal((await client.send(pathOf('GetServerTime'), bytes, { [KEY]: 'x', signature: 'y' })).reason, 'MIXED_CREDENTIALS')
})

t.test('a signature for gRPC is none for HTTP', async (t) => {
  const bytes = encodeMessage('GetProfileRequest', {})
  const entries = credentialsFor(session, pathOf('GetProfile'), bytes)
  const answer = await fetch(`http://127.0.0.1:${harness.port}/api/v1/accounts/me`, { headers: entries })
  t.equal(answer.status, 401)
  t.match(await answer.json(), { code: 'INVALID_SIGNATURE' })
})
