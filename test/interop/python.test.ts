/**
 * Promise: a stranger with the .proto files and the guide can trade. A Python program whose stubs are made here, by protoc, signs in,
 * places, reads, replaces and cancels over gRPC, streams orders, reads errors apart, and does the same over REST with the guide's own
 * program and every Python sample of the document. Another uses the Python client to follow its orders, balances and a book.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createDocument } from '../../gateway/docs/rest/document.ts'
import { BASE } from '../../gateway/docs/rest/samples.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { issueServerKey, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { findOperation, type ApiDocument } from '../support/openapi_check.ts'
import { findPython } from '../support/python.ts'
import { newTrader } from '../support/traders.ts'

t.setTimeout(180_000)
const root = join(import.meta.dirname, '..', '..')
const PACKAGES = 'grpc, grpc_tools, google.protobuf, nacl'
/** Where the Python client is. */
const PACKAGE = join(root, 'gateway', 'client', 'python', 'src')

/** A Python that has the packages, where there is a protoc. Otherwise why there is none. */
function findPythonAndCompiler(): { python: string } | { reason: string } {
  const protoc = spawnSync('protoc', ['--version'], { encoding: 'utf8' })
  return protoc.status === 0 ? findPython(PACKAGES) : { reason: `protoc: ${protoc.error?.message ?? protoc.stderr}` }
}

/** Python samples of the document by operation, for the exchange at `baseUrl`; the one that ends the session comes last. */
function samples(baseUrl: string): Record<string, string> {
  const document = createDocument() as unknown as ApiDocument
  const names = (Object.keys(TABLE) as OperationName[]).filter((name) => name !== 'Revoke')
  return Object.fromEntries([...names, 'Revoke' as const].map((name) => {
    const operation = findOperation(document, TABLE[name].method, TABLE[name].path) as unknown as {
      'x-codeSamples': { lang: string; source: string }[]
    }
    return [name, operation['x-codeSamples'].find(({ lang }) => lang === 'Python')!.source.replaceAll(BASE, baseUrl)]
  }))
}

type Told = Record<string, Record<string, unknown>>

const found = findPythonAndCompiler()
const skip = 'reason' in found ? `protobuf-compiler or Python with ${PACKAGES} is missing: ${found.reason}` : false
if (skip !== false) t.comment(skip)

t.test('a Python client trades over gRPC and REST', { skip }, async (t) => {
  const directory = temporaryDirectory()
  const stubs = mkdtempSync(join(tmpdir(), 'stubs-'))
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
    rmSync(stubs, { recursive: true, force: true })
  })
  const serverKey = await issueServerKey(exchange)
  const account = privateKeyToAccount(generatePrivateKey())
  const guide = join(root, 'gateway', 'docs', 'guide')
  const program = [join(import.meta.dirname, 'trade.py'), join(root, 'proto'), stubs, guide]
  const places = [`127.0.0.1:${exchange.grpcPort}`, exchange.baseUrl, account.address]
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn((found as { python: string }).python, [...program, ...places], { env })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const told: Told = {}
  const codes: Record<string, unknown> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Told & { sign?: string }
    if (said.sign !== undefined) child.stdin.write(`${await account.signMessage({ message: said.sign as unknown as string })}\n`)
    else if ('sample' in said) codes[said['sample']!['name'] as string] = said['sample']!['code']
    else Object.assign(told, said)
    if ('rest' in said) child.stdin.write(`${JSON.stringify({ serverKey, samples: samples(exchange.baseUrl) })}\n`)
  }
  t.equal(await ended, 0, errors)
  t.strictSame(told['signed_in'], { address: account.address, new: true, profile: true })
  t.strictSame(told['minted'], { count: 4 })
  t.match(told['placed'], { status: 1, price: '2000', label: 'python', made: /^20\d\d-\d\d-\d\dT[\d:.]+Z$/ })
  t.strictSame(told['replaced'], { original: true, bids: [['2001', '0.5']] })
  t.strictSame(told['cancelled'], { order: true })
  t.strictSame(told['missing'], { status: 'NOT_FOUND', reason: 'ORDER_NOT_FOUND', domain: 'svc', metadata: {} })
  t.strictSame(told['tick'], { status: 'INVALID_ARGUMENT', reason: 'INVALID_TICK', domain: 'svc', metadata: { field: 'price' } })
  t.match(told['funds'], { status: 'INVALID_ARGUMENT', reason: 'INSUFFICIENT_BALANCE' })
  t.match(told['unsigned'], { status: 'UNAUTHENTICATED', reason: 'UNAUTHENTICATED' })
  t.strictSame(told['batch'], { done: 2, code: 'INVALID_TICK' })
  t.strictSame(told['emptied'], { count: 2 })
  t.strictSame(told['streamed'], { orders: 20, cancelled: 20, opened: true, error: 'ORDER_NOT_FOUND', rest: 0 })
  t.strictSame(told['rest'], { status: 'SUBMITTED', same: '0.5' })
  t.strictSame(Object.keys(codes).sort(), Object.keys(TABLE).sort(), 'every sample ran')
  for (const [name, code] of Object.entries(codes)) t.match(String(code), /^(null|ORDER_NOT_FOUND|NOT_FOUND|NONCE_INVALID)$/, name)
})

/** As much of the package eth_account as the README uses; the wallet is on the other side of the pipe. */
const ETH_ACCOUNT = `
import json, os
class Signed:
    def __init__(self, text):
        self.signature = bytes.fromhex(text[2:])
class Account:
    address = os.environ["WALLET"]
    @classmethod
    def create(cls):
        return cls()
    def sign_message(self, message):
        print(json.dumps({"sign": message}), flush=True)
        return Signed(input())
`

t.test('the Python of the README works as printed', { skip }, async (t) => {
  const script = /```python\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))![1]!
  const directory = temporaryDirectory()
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
    rmSync(folder, { recursive: true, force: true })
  })
  mkdirSync(join(folder, 'eth_account'))
  writeFileSync(join(folder, 'eth_account', '__init__.py'), ETH_ACCOUNT)
  writeFileSync(join(folder, 'eth_account', 'messages.py'), 'encode_defunct = lambda text: text\n')
  writeFileSync(join(folder, 'readme.py'), script.replace('http://127.0.0.1:8080', exchange.baseUrl))
  const account = privateKeyToAccount(generatePrivateKey())
  const env = { ...process.env, WALLET: account.address, PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn((found as { python: string }).python, ['readme.py'], { cwd: folder, env })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const printed: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) printed.push(line)
    else child.stdin.write(`${await account.signMessage({ message: (JSON.parse(line) as { sign: string }).sign })}\n`)
  }
  t.equal(await ended, 0, errors)
  t.strictSame(printed, ['USDC 10000', 'BTC 1', 'ETH 10', 'SEI 50000'])
})

const listening = findPython('websockets, nacl')
const skipStreams = 'reason' in listening ? `Python with websockets and PyNaCl is missing: ${listening.reason}` : false
if (skipStreams !== false) t.comment(skipStreams)

t.test('a Python client has book, orders and balances from frames alone, as over REST', { skip: skipStreams }, async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { client: taker } = await newTrader(exchange.baseUrl)
  const account = privateKeyToAccount(generatePrivateKey())
  const program = [join(import.meta.dirname, 'listen.py'), PACKAGE, exchange.baseUrl, account.address]
  const child = spawn((listening as { python: string }).python, program, { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const told: Told = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Told & { sign?: string }
    if (said.sign !== undefined) child.stdin.write(`${await account.signMessage({ message: said.sign })}\n`)
    Object.assign(told, said)
    // Takes two asks whole and half of the third.
    const tradingPairId = said['resting']?.['pair'] as string | undefined
    if (tradingPairId !== undefined) {
      await taker.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.25', price: '2002' })
    }
  }
  t.equal(await ended, 0, errors)
  for (const what of ['sequence', 'bids', 'asks', 'balances', 'orders']) t.strictSame(told[what]!['frames'], told[what]!['rest'], what)
  t.equal((told['bids']!['frames'] as object[]).length, 12)
  t.strictSame((told['asks']!['frames'] as object[])[0], ['2002', '0.05'])
  t.equal((told['orders']!['frames'] as object[]).length, 21)
})
