/**
 * Promise: what is an application backend's is told to its server key and to nothing else, over both transports, and a key sees nothing of
 * another application (specification, Server key). The operations come from the table, so a new one is tested by existing.
 */
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import type { Row } from '../../gateway/operations/row.ts'
import { call, request, signed, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, pathOf } from '../support/grpc.ts'
import { endServerKeys, giveServerKey, hashOfKey, newServerKey } from '../support/server_keys.ts'
import { sessionSamples } from '../support/session_samples.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})

const HEADER = 'x-server-key'
const NO_BYTES = Buffer.alloc(0)
const first = await harness.openSession(0)
const second = await harness.openSession(1, first.address)
for (const session of [first, second]) await call(harness, session, 'POST', '/api/v1/faucet/mint')
const key = await giveServerKey(harness, 0)
const otherKey = await giveServerKey(harness, 1)

const backend = (Object.entries(TABLE) as [OperationName, Row][]).filter(([, { access }]) => access === 'server-key')

type Entries = readonly (readonly [name: string, value: string])[]
/** Calls an operation of backends with these headers; the code of the refusal, `null` when it was answered. */
type Ask = (name: OperationName, headers: Entries) => Promise<string | null>

const rest: Ask = async (name, headers) => {
  const given = headers.map(([header, value]): [string, string] => [header, value])
  const { status, json } = await request(harness.port, 'GET', TABLE[name].path, given)
  return status === 200 ? null : (json.code as string)
}

const grpc: Ask = async (name, headers) => {
  const metadata = new Metadata()
  for (const [header, value] of headers) metadata.add(header, value)
  const { response, reason } = await client.send(pathOf(name), NO_BYTES, metadata, `${name}Response`)
  return response === null ? String(reason) : null
}

const sessionEntries = (session: Session, name: OperationName, transport: string): Entries =>
  Object.entries(transport === 'REST' ? signed(session, 'GET', TABLE[name].path, '') : credentialsFor(session, pathOf(name), NO_BYTES))

/** Headers that are wrong, and the code they get. */
function defects(name: OperationName, transport: string): [what: string, headers: Entries, code: string][] {
  const by = (value: string): Entries => [[HEADER, value]]
  const session = sessionEntries(first, name, transport)
  const changed = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')
  return [
    ['nothing', [], 'UNAUTHENTICATED'],
    ['an empty key', by(''), 'UNAUTHENTICATED'],
    ['the prefix only', by('sk_'), 'UNAUTHENTICATED'],
    ['a key that nobody was given', by(newServerKey()), 'UNAUTHENTICATED'],
    ['a key of zeros', by(`sk_${'A'.repeat(43)}`), 'UNAUTHENTICATED'],
    ['another last character', by(changed), 'UNAUTHENTICATED'],
    ['a character more', by(`${key}A`), 'UNAUTHENTICATED'],
    ['a character less', by(key.slice(0, -1)), 'UNAUTHENTICATED'],
    ['without its prefix', by(key.slice(3)), 'UNAUTHENTICATED'],
    ['another prefix', by(`pk_${key.slice(3)}`), 'UNAUTHENTICATED'],
    ['the prefix in upper case', by(`SK_${key.slice(3)}`), 'UNAUTHENTICATED'],
    ['the hash instead of the key', by(hashOfKey(key)), 'UNAUTHENTICATED'],
    ['the hash in the form of a key', by(`sk_${Buffer.from(hashOfKey(key), 'hex').toString('base64url')}`), 'UNAUTHENTICATED'],
    ['a bearer token', [['authorization', `Bearer ${key}`]], 'UNAUTHENTICATED'],
    ['the header of the operator', [['x-operator-token', key]], 'UNAUTHENTICATED'],
    ['twice', [...by(key), ...by(key)], 'UNAUTHENTICATED'],
    ['two keys', [...by(key), ...by(otherKey)], 'UNAUTHENTICATED'],
    ['a session', session, 'UNAUTHENTICATED'],
    ['a session and the key', [...session, ...by(key)], 'MIXED_CREDENTIALS'],
    ['one header of a session and the key', [session[0]!, ...by(key)], 'MIXED_CREDENTIALS'],
    ['another header of that kind and the key', [['x-svc-anything', '1'], ...by(key)], 'MIXED_CREDENTIALS'],
    ['Signature and the key', [['signature', 'svc=:AA==:'], ...by(key)], 'MIXED_CREDENTIALS'],
    ['Signature-Input and the key', [['signature-input', 'svc=()'], ...by(key)], 'MIXED_CREDENTIALS'],
  ]
}

const TRANSPORTS: [name: string, ask: Ask][] = [['REST', rest], ['gRPC', grpc]]

t.test('the operations of backends were found', async (t) => {
  t.ok(backend.length >= 3)
})

for (const [transport, ask] of TRANSPORTS) {
  for (const [name] of backend) {
    t.test(`${name} over ${transport}`, async (t) => {
      t.equal(await ask(name, [[HEADER, key]]), null, 'its key')
      t.equal(await ask(name, [[HEADER, otherKey]]), null, 'the key of another application is for that one')
      for (const [what, headers, code] of defects(name, transport)) t.equal(await ask(name, headers), code, what)
    })
  }
}

t.test('a key in binary metadata is none', async (t) => {
  const metadata = new Metadata()
  metadata.add(`${HEADER}-bin`, Buffer.from(key))
  const { reason } = await client.send(pathOf('GetApplicationConfig'), NO_BYTES, metadata)
  t.equal(reason, 'UNAUTHENTICATED')
})

t.test('a server key signs nobody in: every operation of a session refuses it', async (t) => {
  for (const { name, row, target, body, grpcPath, bytes } of sessionSamples(harness.genesis)) {
    const reply = await request(harness.port, row.method, target, { [HEADER]: key, 'Content-Type': 'application/json' }, body)
    t.match([reply.status, reply.json.code], [401, 'UNAUTHENTICATED'], name)
    t.equal((await client.send(grpcPath, bytes, { [HEADER]: key })).reason, 'UNAUTHENTICATED', `${name} over gRPC`)
  }
})

t.test('public operations do not ask for it, and refuse credentials that contradict each other', async (t) => {
  t.equal((await request(harness.port, 'GET', '/api/v1/time', { [HEADER]: key })).status, 200)
  t.equal((await request(harness.port, 'GET', '/api/v1/time', { [HEADER]: 'sk_wrong' })).status, 200)
  const mixed = await request(harness.port, 'GET', '/api/v1/time', { [HEADER]: key, 'X-Svc-Timestamp': '1' })
  t.match([mixed.status, mixed.json.code], [401, 'MIXED_CREDENTIALS'])
  const doubled = await request(harness.port, 'GET', '/api/v1/time', [[HEADER, key], [HEADER, key]])
  t.match([doubled.status, doubled.json.code], [401, 'UNAUTHENTICATED'])
})

t.test('an application sees its own users and their balances only', async (t) => {
  const get = async (target: string, by: string): Promise<any> => (await request(harness.port, 'GET', target, { [HEADER]: by })).json
  const [mine, theirs] = [await get('/api/v1/applications/users', key), await get('/api/v1/applications/users', otherKey)]
  t.equal(mine.total, 1)
  t.equal(theirs.total, 1)
  t.equal(mine.users[0].address, theirs.users[0].address, 'one wallet ...')
  t.not(mine.users[0].id, theirs.users[0].id, '... is two users')
  for (const [by, own, strange] of [[key, mine, theirs], [otherKey, theirs, mine]] as const) {
    const all = await get('/api/v1/applications/balances?pageSize=100', by)
    t.ok(all.total > 0)
    t.ok(all.balances.every(({ userId }: { userId: string }) => userId === own.users[0].id))
    const target = (id: string): string => `/api/v1/applications/balances?userId=${id}`
    t.equal((await get(target(own.users[0].id), by)).total, all.total)
    const foreign = await get(target(strange.users[0].id), by)
    t.same(foreign, await get(target('00000000-0000-4000-8000-000000000000'), by), 'a stranger is as one who does not exist')
    t.equal(foreign.total, 0)
  }
  t.equal((await get('/api/v1/applications/config', key)).clientId, 'ringbook')
  t.equal((await get('/api/v1/applications/config', otherKey)).clientId, 'other')
})

/** Looks until the key is refused, for a few seconds at most. */
async function refusedAtLast(t: Test, name: OperationName, headers: Entries): Promise<void> {
  let refused = false
  for (let look = 0; look < 2000 && !refused; look++) refused = (await rest(name, headers)) !== null
  t.ok(refused, 'refused at last')
}

t.test('rotation: the old key is good for its grace, an older one not at all, and a revocation ends both', async (t) => {
  const name = 'GetApplicationConfig'
  const by = (value: string): Entries => [[HEADER, value]]
  const next = await giveServerKey(harness, 0, 3_600_000)
  for (const [, ask] of TRANSPORTS) for (const good of [key, next]) t.equal(await ask(name, by(good)), null)
  const third = await giveServerKey(harness, 0, 3_600_000)
  t.same([await rest(name, by(key)), await rest(name, by(next)), await rest(name, by(third))], ['UNAUTHENTICATED', null, null])
  const fourth = await giveServerKey(harness, 0)
  t.same([await rest(name, by(third)), await rest(name, by(fourth))], ['UNAUTHENTICATED', null], 'without grace')
  const fifth = await giveServerKey(harness, 0, 100)
  await refusedAtLast(t, name, by(fourth))
  t.equal(await rest(name, by(fifth)), null, 'the new one goes on')
  await giveServerKey(harness, 0, 3_600_000)
  await endServerKeys(harness, 0)
  for (const [, ask] of TRANSPORTS) t.equal(await ask(name, by(fifth)), 'UNAUTHENTICATED')
  t.equal(await rest(name, by(otherKey)), null, 'the other application keeps its own')
})
