/**
 * Promise: the whitelist is closed, over REST and gRPC alike. What has the right form is refused as 403 PERMISSION_DENIED, what has not as
 * 400 that names the field; neither becomes a command, and nothing of it is logged.
 */
import t from 'tap'
import { request, startHarness } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { grpcTransport, restTransport, type Json } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const PATH = '/api/v1/whitelist'
const EMAIL = 'somebody@desk.example'
const good: Json = { walletAddress: `0x${'aB'.repeat(20)}`, email: EMAIL, twitterUsername: 'a', telegramUsername: 'abcde' }
/** What is taken at the edge of each field, and what is not. */
const EDGES: Record<string, { taken: string[]; refused: unknown[] }> = {
  walletAddress: {
    taken: [`0x${'0'.repeat(40)}`],
    refused: [`0x${'a'.repeat(39)}`, `0x${'a'.repeat(41)}`, `0X${'a'.repeat(40)}`, `0x${'g'.repeat(40)}`, `0x${'a'.repeat(40)}\n`],
  },
  email: { taken: [`${'a'.repeat(243)}@b.example`.slice(-254)], refused: ['', 'a', '@b', 'a@', 'a@b@c', 'a b@c', `${'a'.repeat(254)}@b`] },
  twitterUsername: { taken: ['A_9', 'x'.repeat(15)], refused: ['', 'x'.repeat(16), 'a-b', '@a', 'ä'] },
  telegramUsername: { taken: ['A_9aa', 'x'.repeat(32)], refused: ['', 'abcd', 'x'.repeat(33), 'abc-de', '@abcde'] },
}

for (const [way, transport] of Object.entries({ REST: restTransport(harness.port), gRPC: grpcTransport(client) })) {
  t.test(`${way}: what is decoded is refused, what is not names its field`, async (t) => {
    const before = harness.lastSequence()
    t.match(await transport('SubmitApplication', good, null), { refused: 'PERMISSION_DENIED' })
    for (const [field, { taken, refused }] of Object.entries(EDGES)) {
      for (const value of taken) {
        const outcome = await transport('SubmitApplication', { ...good, [field]: value }, null)
        t.match(outcome, { refused: 'PERMISSION_DENIED' }, `${field} ${value}`)
      }
      for (const value of refused) {
        const outcome = await transport('SubmitApplication', { ...good, [field]: value }, null)
        t.match(outcome, { refused: 'VALIDATION_ERROR', details: { field } }, `${field} ${JSON.stringify(value)}`)
      }
      const { [field]: _, ...lacking } = good
      t.match(await transport('SubmitApplication', lacking, null), { refused: 'VALIDATION_ERROR', details: { field } }, `no ${field}`)
    }
    t.equal(harness.lastSequence(), before, 'nothing reached the engine')
    t.notOk(JSON.stringify(harness.logs).includes(EMAIL), 'nothing was logged')
  })
}

t.test('REST: types, bodies, envelope', async (t) => {
  const post = (body: string): ReturnType<typeof request> => request(harness.port, 'POST', PATH, {}, body)
  t.match((await post(JSON.stringify(good))).json, { error: 'PERMISSION_DENIED', code: 'PERMISSION_DENIED', statusCode: 403 })
  t.match((await post(JSON.stringify({ ...good, email: 7 }))).json, { statusCode: 400, details: { field: 'email' } })
  t.match((await post(JSON.stringify({ ...good, walletAddress: null }))).json, { statusCode: 400, details: { field: 'walletAddress' } })
  for (const body of ['', 'null', '[]', '{', '"x"']) t.equal((await post(body)).status, 400, body)
  t.equal((await post(JSON.stringify({ ...good, more: 'x'.repeat(5000) }))).status, 413)
})
