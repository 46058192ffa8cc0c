/**
 * Promise: a page may read an answer when its origin is one that the application of the session allows; what nobody signed is answered
 * to origins of any active application. What the operator changes holds from the next request on.
 */
import t from 'tap'
import { CommandType, SET_APPLICATION_COMMAND, SET_ORIGIN_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { request, signed, startHarness, testGenesis, type Reply, type Session } from '../support/gateway_harness.ts'
import { giveServerKey } from '../support/server_keys.ts'

const ONE = 'https://one.example'
const TWO = 'https://two.example:8443'
const STRANGER = 'https://evil.example'

const source = JSON.parse(testGenesis()) as { applications: { allowedOrigins: string[] }[] }
source.applications[0]!.allowedOrigins = [ONE]
source.applications[1]!.allowedOrigins = [TWO]
const harness = await startHarness([], JSON.stringify(source))
t.teardown(() => harness.close())
const [first, second] = [await harness.openSession(0), await harness.openSession(1)]

const hex = (text: string): string => Buffer.from(text).toString('hex')
async function operate(type: number, layout: Layout, values: Decoded): Promise<void> {
  const result = await harness.operate(type, layout, { session: -1, ...values })
  if (result[RESULT.at.code] !== 0) throw new Error(`refused: ${result[RESULT.at.code]}`)
}
const allow = (application: number, origin: string, allowed = 1): Promise<void> =>
  operate(CommandType.SET_ORIGIN, SET_ORIGIN_COMMAND, { application, allowed, origin: hex(origin) })
const activate = (application: number, active: number): Promise<void> =>
  operate(CommandType.SET_APPLICATION, SET_APPLICATION_COMMAND, { application, active, clientId: hex('other'), name: hex('Other') })

const ME = '/api/v1/accounts/me'
const from = (origin: string): Record<string, string> => (origin === '' ? {} : { Origin: origin })
const publicly = (origin: string): Promise<Reply> => request(harness.port, 'GET', '/api/v1/time', from(origin))
const as = (session: Session, origin: string): Promise<Reply> =>
  request(harness.port, 'GET', ME, { ...signed(session, 'GET', ME, ''), ...from(origin) })

/** The origin an answer may be read from, and what it varies with. */
const told = ({ headers }: Reply): [allowed: unknown, vary: unknown] => [headers['access-control-allow-origin'], headers['vary']]
const NONE = [undefined, 'Origin']

t.test('a signed answer is for the origins of its own application', async (t) => {
  t.same(told(await as(first, ONE)), [ONE, 'Origin'])
  t.same(told(await as(second, TWO)), [TWO, 'Origin'])
  for (const [session, origin] of [[first, TWO], [second, ONE], [first, STRANGER], [first, 'null'], [first, `${ONE}.evil`]] as const) {
    const reply = await as(session, origin)
    t.equal(reply.status, 200, 'it is answered all the same: browsers enforce')
    t.same(told(reply), NONE, origin)
  }
})

t.test('what nobody signed is for the origins of any active application', async (t) => {
  for (const origin of [ONE, TWO]) t.same(told(await publicly(origin)), [origin, 'Origin'])
  t.same(told(await publicly(STRANGER)), NONE)
  t.same(told(await publicly('')), NONE, 'a cache must not give this to a page')
  const preflight = await request(harness.port, 'OPTIONS', '/api/v1/orders', { ...from(TWO), 'Access-Control-Request-Method': 'POST' })
  t.same([preflight.status, ...told(preflight)], [204, TWO, 'Origin'])
  t.notMatch(preflight.headers['access-control-allow-headers'], /x-server-key|x-operator-token/i, 'server keys are for servers')
  const unsigned = await request(harness.port, 'GET', ME, from(TWO))
  t.same([unsigned.status, ...told(unsigned)], [401, TWO, 'Origin'], 'a refusal can be read')
  t.same(told(await request(harness.port, 'GET', '/nowhere', from(STRANGER))), NONE)
})

t.test('an answer to a server key is for origins of its application at most', async (t) => {
  const headers = { 'x-server-key': await giveServerKey(harness, 0) }
  const config = (origin: string): Promise<Reply> =>
    request(harness.port, 'GET', '/api/v1/applications/config', { ...headers, ...from(origin) })
  t.same(told(await config(ONE)), [ONE, 'Origin'])
  t.same(told(await config(TWO)), NONE)
})

t.test('the operator allows and forbids', async (t) => {
  const added = 'http://localhost:5173'
  await allow(0, added)
  t.same(told(await as(first, added)), [added, 'Origin'])
  t.same(told(await as(second, added)), NONE)
  t.same(told(await publicly(added)), [added, 'Origin'])
  await allow(0, ONE, 0)
  t.same([told(await as(first, ONE)), told(await publicly(ONE)), told(await as(first, added))], [NONE, NONE, [added, 'Origin']])
  await allow(0, ONE)
  t.same(told(await as(first, ONE)), [ONE, 'Origin'])
})

t.test('an application that is not active keeps its sessions, and lends its origins to nobody else', async (t) => {
  await activate(1, 0)
  t.same(told(await as(second, TWO)), [TWO, 'Origin'])
  t.same(told(await publicly(TWO)), NONE)
  await activate(1, 1)
  t.same(told(await publicly(TWO)), [TWO, 'Origin'])
})

t.test('any origin', async (t) => {
  await allow(1, '*')
  t.same(told(await as(second, STRANGER)), ['*', undefined])
  t.same(told(await publicly(STRANGER)), ['*', undefined])
  t.same(told(await publicly('')), [undefined, undefined])
  t.same(told(await as(first, STRANGER)), NONE, 'of the other application not')
})
