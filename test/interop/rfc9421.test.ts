/**
 * Promise: whoever has read RFC 9421 can sign requests. Golden files, written by a Python program that knows nothing of this project's
 * code, are verified and produced by that program, by an npm package, by the gateway and by the client; and each of them, and the
 * programs of the guide, is served by a gateway.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, randomBytes, webcrypto, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSigner as createMessageSigner, createVerifier, httpbis } from 'http-message-signatures'
import t from 'tap'
import { CommandType, OPEN_SESSION_COMMAND } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { authenticate } from '../../gateway/auth/authenticate.ts'
import { createSessionCache } from '../../gateway/auth/session_cache.ts'
import type { SignedRequest } from '../../gateway/auth/signed_request.ts'
import { createClient, createSigner, signMessage } from '../../gateway/client/index.ts'
import { messageSignature } from '../../gateway/docs/guide/rfc9421.ts'
import { lacksPython } from '../suite/packages.ts'
import { request, startHarness, type Headers } from '../support/gateway_harness.ts'
import { findPython } from '../support/python.ts'

interface Golden {
  readonly seed: string
  readonly publicKey: string
  /** Unix seconds. */
  readonly created: number
  /** Names of the parameters in their order. */
  readonly parameters: string[]
  readonly method: string
  readonly target: string
  readonly bodyBase64: string
  readonly headers: Headers
  /** The signed text. */
  readonly base: string
}

const directory = join(import.meta.dirname, '..', 'support', 'rfc9421')
const files = readdirSync(directory).sort().map((name) => join(directory, name))
const golden = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Golden)
const bodyOf = ({ bodyBase64 }: Golden): Buffer => Buffer.from(bodyBase64, 'base64')
const FIELDS = ['@method', '@path', '@query', 'content-digest']
const HOST = 'http://exchange.test'

/** The private key of a seed, as PKCS #8 wraps it. */
const privateKeyOf = (seed: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'), format: 'der', type: 'pkcs8' })
const seedOf = (key: KeyObject): string => key.export({ format: 'der', type: 'pkcs8' }).subarray(-32).toString('hex')

const harness = await startHarness()
t.teardown(() => harness.close())

t.test('golden files were found', async (t) => {
  t.ok(golden.length >= 10)
  t.strictSame([...new Set(golden.map(({ method }) => method))].sort(), ['DELETE', 'GET', 'POST', 'PUT'])
})

t.test('the npm package verifies and produces them', async (t) => {
  for (const { seed, publicKey, created, parameters, method, target, headers } of golden) {
    const privateKey = privateKeyOf(seed)
    const digest = headers['Content-Digest']!
    const key = createMessageSigner(privateKey, 'ed25519', publicKey)
    const config = { name: 'svc', key, fields: FIELDS, params: parameters, paramValues: { created: new Date(created * 1000) } }
    const signed = await httpbis.signMessage(config, { method, url: HOST + target, headers: { 'Content-Digest': digest } })
    t.strictSame(signed.headers, headers, `${method} ${target}`)
    const check = (changed: string): Promise<boolean | null> => httpbis.verifyMessage({
      keyLookup: async ({ keyid }) => keyid === publicKey
        ? { id: publicKey, algs: ['ed25519'], verify: createVerifier(createPublicKey(privateKey), 'ed25519') }
        : null,
      requiredParams: ['created', 'keyid', 'alg'],
      requiredFields: FIELDS,
    }, { method, url: HOST + changed, headers })
    t.equal(await check(target), true)
    t.equal(await check(`${target}&`), false, 'another target')
  }
})

t.test('the gateway accepts them at their time, and nothing else', async (t) => {
  const cache = createSessionCache(harness.state, new Int32Array(harness.shared.gate))
  for (const each of golden) {
    const address = randomBytes(20).toString('hex')
    const session = { session: -1, application: 0, address, publicKey: each.publicKey }
    const record = await harness.operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, session)
    t.equal(record[RESULT.at.code], 0)
    const { headers, method, target, created } = each
    const [input, signature, contentDigest] = ['Signature-Input', 'Signature', 'Content-Digest'].map((name) => headers[name]!)
    const messageSignature = { input: input!, signature: signature!, contentDigest: contentDigest! }
    const right = { method, target, body: bodyOf(each), publicKey: '', timestamp: '', signature: '', credentials: 0, messageSignature }
    const caller = { account: -1, application: -1, session: -1, generation: -1, agent: -1 }
    const check = (change: Partial<SignedRequest> = {}): string | null =>
      authenticate(cache, { ...right, ...change }, created * 1000, new Float64Array(64), caller)?.code ?? null
    t.equal(check({ method: 'HEAD' }), 'INVALID_SIGNATURE')
    t.equal(check({ target: `${target}&` }), 'INVALID_SIGNATURE')
    t.equal(check({ body: Buffer.concat([right.body, Buffer.from(' ')]) }), 'INVALID_SIGNATURE')
    t.equal(caller.session, -1)
    t.equal(check(), null, `${method} ${target}`)
    t.equal(caller.session, record[RESULT.at.detail], 'whose session it is')
  }
})

t.test('the client produces them', async (t) => {
  const usual = golden.filter(({ parameters }) => parameters[0] === 'created')
  t.equal(usual.length, golden.length - 1)
  for (const each of usual) {
    const signer = createSigner(Buffer.from(each.seed, 'hex'))
    for (const ms of [0, 999]) {
      const headers = signMessage(signer, each.method, each.target, bodyOf(each), each.created * 1000 + ms)
      t.strictSame(headers, each.headers, `${each.method} ${each.target}`)
    }
  }
})

const found = findPython('nacl')
const skip = 'reason' in found ? lacksPython('nacl', found.reason) : false
if (skip !== false) t.comment(skip)
const program = join(import.meta.dirname, 'message_signatures.py')
const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }

t.test('Python verifies and produces them', { skip }, async (t) => {
  const { python } = found as { python: string }
  const { stdout, stderr } = spawnSync(python, [program, 'check', ...files], { encoding: 'utf8', env: environment })
  const told = stdout.trim().split('\n').map((line) => JSON.parse(line) as object)
  t.equal(told.length, golden.length, stderr)
  for (const [i, each] of told.entries()) t.strictSame(each, { verified: true, produced: true, refused: true }, files[i])
})

const ME = '/api/v1/accounts/me'
const MINT = '/api/v1/faucet/mint'
const ORDERS = '/api/v1/orders'
const order = (): string => JSON.stringify({
  tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100', idempotencyKey: 'clé ✓',
})
/** What every program asks of a running gateway. */
const asked = (): [method: string, target: string, body: string][] => [
  ['GET', ME, ''], ['GET', `${ME}?`, ''], ['POST', MINT, ''], ['POST', ORDERS, order()],
  ['GET', `${ORDERS}?clientOrderId=%61%2Bb%20c&status=FILLED&status=CANCELLED`, ''],
]

t.test('what the npm package signs is served', async (t) => {
  const { publicKey, privateKey } = await harness.openSession()
  for (const [method, target, body] of asked()) {
    const key = createMessageSigner(privateKey, 'ed25519', publicKey)
    const digest = await webcrypto.subtle.digest('SHA-256', Buffer.from(body))
    const headers = { 'Content-Digest': `sha-256=:${Buffer.from(digest).toString('base64')}:` }
    const config = { name: 'svc', key, fields: FIELDS, params: ['created', 'keyid', 'alg'] }
    const signed = await httpbis.signMessage(config, { method, url: HOST + target, headers })
    t.equal((await request(harness.port, method, target, signed.headers as Headers, body)).status, 200, `${method} ${target}`)
  }
})

t.test('what the TypeScript of the guide signs is served', async (t) => {
  const { publicKey, privateKey } = await harness.openSession()
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const keys = { privateKey: await webcrypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign']) } as CryptoKeyPair
  for (const [method, target, body] of asked()) {
    const headers = await messageSignature(keys, publicKey, method, target, new TextEncoder().encode(body))
    t.equal((await request(harness.port, method, target, headers, body)).status, 200, `${method} ${target}`)
  }
})

t.test('what the Python of the guide signs is served', { skip }, async (t) => {
  const { privateKey } = await harness.openSession()
  const guide = join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'guide')
  const places = [program, 'send', guide, `http://127.0.0.1:${harness.port}`]
  const child = spawn((found as { python: string }).python, places, { env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
  const seed = seedOf(privateKey)
  child.stdin.end(asked().map(([method, target, body]) => `${JSON.stringify({ seed, method, target, body })}\n`).join(''))
  const told: unknown[] = []
  for await (const line of createInterface({ input: child.stdout })) told.push(JSON.parse(line))
  t.strictSame(told, asked().map(() => ({ status: 200 })))
})

t.test('the client speaks it when told to', async (t) => {
  const { privateKey } = await harness.openSession()
  const signer = createSigner(Buffer.from(seedOf(privateKey), 'hex'))
  const sent: string[][] = []
  const client = createClient({
    baseUrl: `http://127.0.0.1:${harness.port}`, signer, protocol: 'rfc9421',
    fetch: (url, init) => {
      sent.push(Object.keys(init!.headers as Headers).filter((name) => /signature|digest|svc/i.test(name)))
      return fetch(url, init)
    },
  })
  await client.Mint()
  const { orderId } = await client.CreateOrder({
    tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100',
  })
  t.equal((await client.CancelOrder({ orderId })).orderId, orderId)
  t.same((await client.ListOrders({ clientOrderId: "it's (a) +&=~*!", status: ['FILLED', 'CANCELLED'] })).orders, [])
  t.strictSame(sent, sent.map(() => ['Signature-Input', 'Signature', 'Content-Digest']))
  t.equal(sent.length, 4)
})
