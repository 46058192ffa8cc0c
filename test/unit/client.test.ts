/** The typed client against a small HTTP server: what goes over the wire, and what comes back as which error. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import t from 'tap'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import {
  createClient, createSigner, NetworkError, RingbookError, signRequest, type Client, type ClientOptions,
} from '../../gateway/client/index.ts'

interface Seen {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}
type Answer = [status: number, body: unknown, headers?: Record<string, string>] | 'hang up' | 'never'
type Teardown = { teardown(handler: () => void): void }

/** A server that answers from a list, the last answer for ever, and remembers what it was asked. */
async function serverOf(t: Teardown, ...answers: Answer[]): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)]!
      seen.push({ method: request.method!, target: request.url!, headers: request.headers, body: Buffer.concat(chunks) })
      if (answer === 'hang up') request.socket.destroy()
      else if (answer !== 'never') {
        response.writeHead(answer[0], answer[2]).end(typeof answer[1] === 'string' ? answer[1] : JSON.stringify(answer[1]))
      }
    })
  }
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const refusal = (statusCode: number, code: string, details?: object): [number, object] =>
  [statusCode, { error: 'CLASS', message: 'words', code, statusCode, details }]

/** Whether the request was signed as the specification says, by the key it names. */
function signed({ method, target, headers, body }: Seen): boolean {
  const timestamp = headers['x-svc-timestamp'] as string
  const key = headers['x-svc-publickey'] as string
  const lines = [method, target, timestamp, bytesToHex(sha256(body))].join('\n')
  return ed25519.verify(hexToBytes(headers['x-svc-signature'] as string), utf8ToBytes(lines), hexToBytes(key))
}

const call = (options: ClientOptions): Client => createClient({ signer: createSigner(), ...options })
const failure = (promise: Promise<unknown>): Promise<RingbookError> =>
  promise.then(() => { throw new Error('no failure') }, (error: unknown) => error as RingbookError)

t.test('signRequest signs the four lines', (t) => {
  const signer = createSigner(new Uint8Array(32).fill(7))
  const headers = signRequest(signer, 'POST', '/api/v1/orders?a=%20b', utf8ToBytes('{}'), 1_700_000_000_000)
  t.match(headers['X-Svc-PublicKey'], /^[0-9a-f]{64}$/)
  t.match(headers['X-Svc-Signature'], /^[0-9a-f]{128}$/)
  t.equal(headers['X-Svc-Timestamp'], '1700000000000')
  const lines = `POST\n/api/v1/orders?a=%20b\n1700000000000\n${bytesToHex(sha256(utf8ToBytes('{}')))}`
  t.ok(ed25519.verify(hexToBytes(headers['X-Svc-Signature']), utf8ToBytes(lines), hexToBytes(signer.publicKey)))
  const fast = signRequest({ ...signer, sha256: () => 'ff' }, 'POST', '/', utf8ToBytes('{}'), 1)
  t.ok(ed25519.verify(hexToBytes(fast['X-Svc-Signature']), utf8ToBytes('POST\n/\n1\nff'), hexToBytes(signer.publicKey)))
  const empty = signRequest(signer, 'GET', '/', new Uint8Array(0), 1)
  const hash = bytesToHex(sha256(new Uint8Array(0)))
  t.ok(ed25519.verify(hexToBytes(empty['X-Svc-Signature']), utf8ToBytes(`GET\n/\n1\n${hash}`), hexToBytes(signer.publicKey)))
  t.end()
})

t.test('parameters go into path, query and body, and what is sent is what is signed', async (t) => {
  const { baseUrl, seen } = await serverOf(t, [200, {}])
  const client = call({ baseUrl }) as unknown as Record<string, (input: object) => Promise<unknown>>
  const clientOrderId = "it's (a) é+&=~*!"
  await client['ListOrders']!({ status: ['FILLED', 'CANCELLED'], clientOrderId, pageSize: 5, side: null, pageToken: undefined })
  await client['CancelOrder']!({ orderId: "a/b?c#d'e", useMasterBalance: true })
  await client['ReplaceOrder']!({ orderId: 'o-1', price: '1.5', quantity: undefined })
  await client['BatchCancelAllOrders']!({})
  t.same(seen.map(({ method, target }) => `${method} ${target}`), [
    'GET /api/v1/orders?status=FILLED&status=CANCELLED&clientOrderId=it%27s%20(a)%20%C3%A9%2B%26%3D~*!&pageSize=5',
    "DELETE /api/v1/orders/a%2Fb%3Fc%23d'e?useMasterBalance=true",
    'PUT /api/v1/orders/o-1',
    'POST /api/v1/orders/batch-cancel-all',
  ])
  t.same(seen.map(({ body }) => body.toString()), ['', '', '{"price":"1.5"}', ''])
  t.same(seen.map(signed), [true, true, true, true])
  t.match(seen[0]!.headers['user-agent'], /ringbook-client/)
  t.equal(seen[2]!.headers['content-type'], 'application/json')
  for (const orderId of ['', '.', '..', undefined]) await t.rejects(client['CancelOrder']!({ orderId }), TypeError)
  t.equal(seen.length, 4, 'nothing was sent for those')
})

t.test('an address may end with a slash', async (t) => {
  const { baseUrl, seen } = await serverOf(t, [200, {}])
  await call({ baseUrl: `${baseUrl}//` }).ListBalances()
  t.same([seen[0]!.target, signed(seen[0]!)], ['/api/v1/accounts/balances', true])
})

t.test('signing in: challenge, wallet, verify; then calls are signed by the new key', async (t) => {
  const challenge = { nonce: 'n', message: 'text', expiresAt: 1 }
  const { baseUrl, seen } = await serverOf(t, [200, challenge], [200, { expiresAt: 2 }], [200, { id: 'u' }])
  const wallet = { address: '0xabc', signMessage: (text: string) => `signed ${text}` }
  const client = createClient({ baseUrl, wallet, clientId: 'app', userAgent: 'mine/2' })
  await t.rejects(client.GetProfile(), /sign in first/)
  t.equal(client.signer, null)
  t.same(await client.signIn({ referralCode: 'r' }), { expiresAt: 2 })
  await client.GetProfile({}, { requestId: 'mine-1' })
  t.same(seen.map(({ headers }) => headers['x-request-id']), [undefined, undefined, 'mine-1'])
  const sessionPublicKey = client.signer!.publicKey
  t.same(JSON.parse(seen[0]!.body.toString()), { address: '0xabc', sessionPublicKey, clientId: 'app' })
  const { sessionSignature } = JSON.parse(seen[1]!.body.toString()) as { sessionSignature: string }
  t.ok(ed25519.verify(Buffer.from(sessionSignature, 'hex'), Buffer.from('text'), Buffer.from(sessionPublicKey, 'hex')), 'it has the key')
  t.same(JSON.parse(seen[1]!.body.toString()), {
    address: '0xabc', sessionPublicKey, clientId: 'app', nonce: 'n', signature: 'signed text', referralCode: 'r', sessionSignature,
  })
  t.notOk('x-svc-signature' in seen[1]!.headers, 'public calls carry no signature')
  t.ok(signed(seen[2]!))
  t.equal(seen[2]!.headers['user-agent'], 'mine/2')
  await t.rejects(createClient({ baseUrl }).signIn(), /without a wallet/)
})

t.test('refusals, strangers and silence are different errors', async (t) => {
  const unknown = refusal(404, 'ORDER_NOT_FOUND', { field: 'orderId' })
  const { baseUrl } = await serverOf(t, unknown, [431, '<html>'], [200, 'not json'], 'hang up', [302, '', { location: '/x' }])
  const silent = await serverOf(t, 'never')
  const client = call({ baseUrl })
  const refused = await failure(client.GetProfile())
  t.ok(refused instanceof RingbookError)
  t.match(refused, { status: 404, code: 'ORDER_NOT_FOUND', error: 'CLASS', details: { field: 'orderId' }, retry: 'no', message: 'words' })
  t.match(await failure(client.GetProfile()), { status: 431, code: 'UNEXPECTED_RESPONSE', retry: 'no' })
  t.match(await failure(client.GetProfile()), { status: 200, code: 'UNEXPECTED_RESPONSE' })
  const cut = await failure(client.GetProfile())
  const late = await failure(call({ baseUrl: silent.baseUrl, timeoutMs: 300 }).GetProfile())
  const redirected = await failure(client.GetProfile())
  for (const error of [cut, late, redirected]) t.ok((error as Error) instanceof NetworkError)
  t.match(late, { timedOut: true })
  t.match(cut, { timedOut: false })
})

t.test('without a policy a call is sent once', async (t) => {
  const { baseUrl, seen } = await serverOf(t, refusal(503, 'OVERLOADED'))
  t.match(await failure(call({ baseUrl }).GetProfile()), { code: 'OVERLOADED', retry: 'safe' })
  t.equal(seen.length, 1)
})

t.test('a policy repeats what may be repeated, within its bounds', async (t) => {
  const order = { tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '1' } as const
  const retry = { attempts: 3, baseMs: 1, capMs: 1500 }
  type Case = [what: string, answers: Answer[], ask: (client: Client) => Promise<unknown>, sent: number, ok: boolean]
  const batch = { orders: [{ ...order, idempotencyKey: 'k' }, order] }
  const cases: Case[] = [
    ['a read', [refusal(503, 'OVERLOADED'), [502, 'proxy'], [200, {}]], (c) => c.GetProfile(), 3, true],
    ['a read without answer', ['hang up', [200, {}]], (c) => c.GetProfile(), 2, true],
    ['too often', [refusal(503, 'OVERLOADED')], (c) => c.GetProfile(), 3, false],
    ['a cancel', ['hang up', [200, {}]], (c) => c.CancelOrder({ orderId: 'o' }), 2, true],
    ['a creation without key', [refusal(503, 'OVERLOADED'), [200, {}]], (c) => c.CreateOrder(order), 1, false],
    ['a creation with key', ['hang up', [200, {}]], (c) => c.CreateOrder({ ...order, idempotencyKey: 'k' }), 2, true],
    ['a batch without keys', ['hang up', [200, {}]], (c) => c.BatchCreateOrders(batch), 1, false],
    ['a refusal', [refusal(404, 'ORDER_NOT_FOUND'), [200, {}]], (c) => c.CancelOrder({ orderId: 'o' }), 1, false],
    ['an ended session', [refusal(401, 'SESSION_INVALID'), [200, {}]], (c) => c.GetProfile(), 1, false],
    ['a limit', [[429, { error: 'R', message: 'm' }, { 'retry-after': '1' }], [200, {}]], (c) => c.GetProfile(), 2, true],
    ['a long limit', [refusal(429, 'RATE_LIMIT_EXCEEDED', { retryAfter: 60 }), [200, {}]], (c) => c.GetProfile(), 1, false],
  ]
  for (const [what, answers, ask, sent, ok] of cases) {
    const { baseUrl, seen } = await serverOf(t, ...answers)
    const started = Date.now()
    const outcome = await ask(call({ baseUrl, retry })).then(() => true, () => false)
    t.same([outcome, seen.length], [ok, sent], what)
    if (what === 'a limit') t.ok(Date.now() - started >= 990, 'Retry-After was kept')
    t.ok(seen.every(signed), 'every try is signed for itself')
  }
})

/** Never called: this is for the compiler. */
export async function typesOf(client: Client): Promise<string[]> {
  // @ts-expect-error: a required field is missing
  await client.CreateOrder({ tradingPairId: 'p' })
  // @ts-expect-error: the path parameter is missing
  await client.CancelOrder()
  // @ts-expect-error: no such operation
  await client.call('Nothing', {})
  // @ts-expect-error: not a side
  await client.CreateOrder({ tradingPairId: 'p', orderType: 'LIMIT', side: 'LONG', quantity: '1' })
  // @ts-expect-error: no such output
  ;(await client.GetProfile()).nothing
  const { nonce } = await client.call('Challenge', { address: '0x', sessionPublicKey: 'k' })
  const { orderId } = await client.CreateOrder({ tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '1' })
  const { tradingPairs } = await client.ListTradingPairs()
  return [nonce, orderId, ...tradingPairs.map(({ symbol }) => symbol)]
}

t.test('what does no harm is repeated, with an idempotency key what takes one, and nothing else', async (t) => {
  const keyed = OPERATIONS.flatMap(({ name, operation: { body, items } }) => {
    const schemas = [body?.schema, ...Object.values(items)] as ({ properties?: object } | undefined)[]
    return schemas.some((schema) => 'idempotencyKey' in (schema?.properties ?? {})) ? [name] : []
  })
  t.ok(keyed.includes('CreateOrder') && keyed.includes('TransferSubAccountBalance'))
  const { baseUrl, seen } = await serverOf(t, 'hang up')
  const client = call({ baseUrl, retry: { attempts: 2, baseMs: 1 } })
  const margin = { marginAccountId: 'm', riskBucketId: 'b', positionId: 'p' }
  const waits = { conditionalOrderId: 'c', twapOrderId: 't', launchId: 'l', followId: 'f' }
  const item = { idempotencyKey: 'k', orderId: 'o', subAccountId: 's', assetId: 'a', agentId: 'g', ...margin, ...waits }
  for (const { name, row, operation: { items } } of OPERATIONS) {
    const { method, rate, access } = row
    if (method === 'GET' || access === 'server-key') continue
    const harmless = rate === 'reduce' || rate === 'mass-exit' || ['Challenge', 'Refresh'].includes(name) || name.startsWith('Simulate')
    const before = seen.length
    const input = 'orders' in items ? { ...item, orders: [item] } : item
    await failure(client.call(name, input as never))
    t.equal(seen.length - before, harmless || keyed.includes(name) ? 2 : 1, name)
  }
})

t.test('an aborted call is not repeated', async (t) => {
  const { baseUrl, seen } = await serverOf(t, 'never')
  const abort = new AbortController()
  const pending = failure(call({ baseUrl, retry: { attempts: 3 } }).GetProfile(undefined, { signal: abort.signal }))
  setImmediate(() => abort.abort())
  t.ok((await pending as Error) instanceof NetworkError)
  t.ok(seen.length <= 1)
})

t.test('signed calls carry the server clock once it is known', async (t) => {
  const { baseUrl, seen } = await serverOf(t, [200, { serverTime: 'text', unixMs: Date.now() + 3_600_000 }], [200, {}])
  const client = call({ baseUrl })
  const offset = await client.syncClock()
  t.ok(Math.abs(offset - 3_600_000) < 5_000)
  await client.GetProfile()
  t.ok(Math.abs(Number(seen[1]!.headers['x-svc-timestamp']) - Date.now() - 3_600_000) < 5_000)
  t.ok(signed(seen[1]!))
})

t.test('with the protocol of RFC 9421 calls carry its headers, signed, at the server\'s second', async (t) => {
  const serverMs = Date.now() + 3_600_000
  const { baseUrl, seen } = await serverOf(t, [200, { serverTime: 'text', unixMs: serverMs }], [200, {}])
  const client = call({ baseUrl, protocol: 'rfc9421' })
  await client.syncClock()
  await client.ListOrders({ clientOrderId: "it's" })
  const { method, target, headers, body } = seen[1]!
  t.strictSame(Object.keys(headers).filter((name) => name.startsWith('x-svc-')), [])
  const digest = `sha-256=:${Buffer.from(sha256(body)).toString('base64')}:`
  t.equal(headers['content-digest'], digest)
  const parameters = (headers['signature-input'] as string).slice('svc='.length)
  const [path, query] = target.split('?')
  const lines = [
    `"@method": ${method}`, `"@path": ${path}`, `"@query": ?${query}`, `"content-digest": ${digest}`, `"@signature-params": ${parameters}`,
  ].join('\n')
  const signature = Buffer.from((headers['signature'] as string).slice('svc=:'.length, -1), 'base64')
  t.ok(ed25519.verify(signature, utf8ToBytes(lines), hexToBytes(client.signer!.publicKey)))
  const created = Number(/;created=(\d+);/.exec(parameters)![1])
  t.ok(Math.abs(created * 1000 - serverMs) < 30_000)
})

t.test('browsers can load it: no file that it loads has anything of Node', async (t) => {
  const root = join(import.meta.dirname, '..', '..', 'gateway', 'client')
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const code = stripTypeScriptTypes(readFileSync(file, 'utf8'))
    for (const [, target] of code.matchAll(/(?:from|import\()\s*'([^']+)'/g)) {
      if (target!.startsWith('.')) visit(join(file, '..', target!))
      else packages.add(target!)
    }
    t.notMatch(code, /\bprocess\.|\bBuffer\b|\brequire\(/, file.slice(root.length))
  }
  visit(join(root, 'index.ts'))
  t.ok([...seen].some((file) => file.endsWith('streams.ts')))
  t.strictSame([...packages].sort(), ['@noble/curves/ed25519.js', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'])
})
