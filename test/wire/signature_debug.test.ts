/**
 * Promise: on a test net whoever signs wrongly is told where to ask, and there what the gateway rebuilt and what
 * differs; on any other exchange there is no such path and no word of it. Secrets are not asked for, taken or logged.
 */
import t from 'tap'
import { call, request, signed, startHarness, testGenesis, type Harness, type Headers, type Reply } from '../support/gateway_harness.ts'
import { connectGrpc, credentialsFor, encodeMessage, pathOf } from '../support/grpc.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'

const ME = '/api/v1/accounts/me'
const DEBUG = '/debug/signature'

const testnet = await startHarness(['--ws-order-entry', '1', '--grpc-thread', '1'])
t.teardown(() => testnet.close())
const session = await testnet.openSession()
/** Questions of one address in a second: the test waits until it may ask. */
async function ask(body: object, harness: Harness = testnet): Promise<Reply> {
  for (let i = 0; i < 200; i++) {
    const reply = await post(body, harness)
    if (reply.status !== 429) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('never asked')
}

const post = (body: object, { port }: Harness = testnet): Promise<Reply> =>
  request(port, 'POST', DEBUG, { 'Content-Type': 'application/json' }, JSON.stringify(body))

t.test('what is right', async (t) => {
  const headers = signed(session, 'GET', `${ME}?a=1`, '')
  const { status, json } = await ask({ method: 'GET', target: `${ME}?a=1`, headers })
  t.equal(status, 200)
  t.match(json, { valid: true, fresh: true, protocol: 'legacy', components: ['method', 'target', 'timestamp', 'body'] })
  t.match(json.signedText, new RegExp(`^GET\n${ME}\\?a=1\n[0-9]{13}\n[0-9a-f]{64}$`))
  t.equal(json.contentDigest, 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:')
  t.equal(json.code, undefined)
})

t.test('what is wrong, from the refusal to its reason', async (t) => {
  const headers = signed(session, 'GET', ME, '')
  const refused = await request(testnet.port, 'GET', `${ME}?a=1`, headers)
  t.match(refused.json, { code: 'INVALID_SIGNATURE', details: { hint: /POST \/debug\/signature/ } })
  const { json } = await ask({ method: 'GET', target: `${ME}?a=1`, headers, signedText: `GET\n${ME}` })
  t.match(json, {
    valid: false, code: 'INVALID_SIGNATURE', differs: { component: 'target', message: /without its query/ },
    firstDifference: { line: 2, component: 'target', expected: `${ME}?a=1`, yours: ME },
  })
  const old = await ask({ method: 'GET', target: ME, headers: signed(session, 'GET', ME, '', '1700000000000') })
  t.match(old.json, { valid: true, fresh: false, code: 'CLOCK_SKEW', message: /ms before the server's time: 30000 ms/ })
})

t.test('a message of order entry', async (t) => {
  const message = signedOrder(signerOf(session), 'order.cancel_all', '{}')
  const { publicKey, timestamp, signature } = message as Record<string, string>
  const headers = { 'X-Svc-PublicKey': publicKey, 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature }
  t.match((await ask({ method: 'WS', target: 'order.cancel_all', headers, body: '{}' })).json, { valid: true })
  t.match((await ask({ method: 'WS', target: 'order.cancel_all', headers, bodyBase64: 'e30=' })).json, { valid: true })
  const socket = await OrderSocket.open(testnet.port, signerOf(session))
  const { error } = await socket.send({ ...message, id: 'wrong', body: '{ }' })
  t.match(error, { code: 'INVALID_SIGNATURE', details: { hint: /debug/ } })
  socket.close()
})

t.test('a gRPC call', async (t) => {
  const client = connectGrpc(testnet.grpcPort)
  t.teardown(() => client.close())
  const [path, bytes] = [pathOf('GetBalance'), encodeMessage('GetBalanceRequest', { assetId: 'x' })]
  const headers = credentialsFor(session, path, bytes)
  const { reason, details } = await client.send(path, Buffer.alloc(0), headers)
  t.match([reason, details], ['INVALID_SIGNATURE', { hint: /debug/ }])
  const question = { method: 'POST', target: path, headers }
  t.match((await ask({ ...question, bodyBase64: bytes.toString('base64') })).json, { valid: true })
  t.match((await ask(question)).json, { valid: false, differs: undefined, code: 'INVALID_SIGNATURE' })
})

t.test('nothing but what is signed is taken', async (t) => {
  const right = { method: 'GET', target: ME, headers: signed(session, 'GET', ME, '') as Headers }
  const secret = `sk_${'s'.repeat(43)}`
  const wrong: [body: object, field: string][] = [
    [{ ...right, privateKey: secret }, 'privateKey'],
    [{ ...right, headers: { ...right.headers, 'x-server-key': secret } }, 'headers'],
    [{ ...right, headers: { ...right.headers, 'x-svc-publickey': 'ab' } }, 'headers'],
    [{ ...right, headers: { 'X-Svc-PublicKey': 'a'.repeat(1025) } }, 'headers.X-Svc-PublicKey'],
    [{ ...right, body: '', bodyBase64: '' }, 'bodyBase64'],
    [{ ...right, bodyBase64: '!' }, 'bodyBase64'],
    [{ ...right, body: 'x'.repeat(65_537) }, 'body'],
    [{ method: 'GET', headers: right.headers }, 'target'],
  ]
  for (const [body, field] of wrong) {
    const { status, json, text } = await ask(body)
    t.same([status, json.code, json.details.field], [400, 'VALIDATION_ERROR', field])
    t.notMatch(text, secret)
  }
  t.notMatch(JSON.stringify(testnet.logs), secret)
  t.equal((await post({ ...right, body: 'x'.repeat(500_000) })).status, 413)
})

t.test('so many questions of one address in a second', async (t) => {
  const question = { method: 'GET', target: ME, headers: {} }
  const replies = await Promise.all(Array.from({ length: 30 }, () => post(question)))
  const refused = replies.filter(({ status }) => status === 429)
  t.ok(refused.length > 0)
  t.match(refused[0]!.json, { code: 'RATE_LIMIT_EXCEEDED', message: /5 a second from one address/ })
})

t.test('an exchange without a faucet', async (t) => {
  const genesis = JSON.parse(testGenesis()) as { faucet: { dailyLimit: number } }
  genesis.faucet.dailyLimit = 0
  const mainnet = await startHarness([], JSON.stringify(genesis))
  t.teardown(() => mainnet.close())
  const own = await mainnet.openSession()
  const headers = signed(own, 'GET', ME, '')
  t.match(await post({ method: 'GET', target: ME, headers }, mainnet), { status: 404, json: { code: 'ROUTE_NOT_FOUND' } })
  t.equal((await call(mainnet, own, 'GET', ME)).status, 200)
  const { json } = await request(mainnet.port, 'GET', `${ME}?a=1`, headers)
  t.equal(json.code, 'INVALID_SIGNATURE')
  t.equal(json.details, undefined)
})
