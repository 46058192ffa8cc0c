/**
 * Promise: a stranger with the .proto files and the guide can trade. A Python program whose stubs are made here, by protoc, signs in,
 * places, reads, replaces and cancels over gRPC, streams orders, reads errors apart, and does the same over REST with the guide's own
 * program and every Python sample of the document. Another uses the Python client to follow its orders, balances and a book.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createDocument } from '../../gateway/docs/rest/document.ts'
import { BASE } from '../../gateway/docs/rest/samples.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { lacksPython } from '../suite/packages.ts'
import { issueServerKey, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { vaultOpens } from '../support/money.ts'
import { findOperation, type ApiDocument } from '../support/openapi_check.ts'
import { findPython } from '../support/python.ts'
import { newTrader } from '../support/traders.ts'
import { newWallet, runWithWallet, writeEthAccount } from '../support/wallet_pipe.ts'

t.setTimeout(600_000)
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
const skip = 'reason' in found ? lacksPython(`protobuf-compiler, ${PACKAGES}`, found.reason) : false
if (skip !== false) t.comment(skip)

t.test('a Python client trades over gRPC and REST', { skip }, async (t) => {
  const directory = temporaryDirectory()
  const stubs = mkdtempSync(join(tmpdir(), 'stubs-'))
  // One sample withdraws.
  const exchange = await startExchange(directory, ['--vault', '1'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
    rmSync(stubs, { recursive: true, force: true })
  })
  const serverKey = await issueServerKey(exchange)
  await vaultOpens((await newTrader(exchange.baseUrl)).client)
  const wallet = newWallet()
  const guide = join(root, 'gateway', 'docs', 'guide')
  const program = [join(import.meta.dirname, 'trade.py'), join(root, 'proto'), stubs, guide]
  const places = [`127.0.0.1:${exchange.grpcPort}`, exchange.baseUrl, wallet.address]
  const told: Told = {}
  const codes: Record<string, unknown> = {}
  const onLine = (line: string, answer: (text: string) => void): void => {
    const said = JSON.parse(line) as Told
    if ('sample' in said) codes[said['sample']!['name'] as string] = said['sample']!['code']
    else Object.assign(told, said)
    if ('rest' in said) answer(JSON.stringify({ serverKey, samples: samples(exchange.baseUrl) }))
  }
  const { code } = await runWithWallet((found as { python: string }).python, [...program, ...places], { wallet, onLine })
  t.equal(code, 0)
  t.strictSame(told['signed_in'], { address: wallet.address, new: true, profile: true })
  t.strictSame(told['minted'], { count: 4 })
  t.match(told['placed'], { status: 1, price: '2000', label: 'python', made: /^20\d\d-\d\d-\d\dT[\d:.]+Z$/ })
  t.strictSame(told['replaced'], { original: true, bids: [['2001', '0.5']] })
  t.strictSame(told['cancelled'], { order: true })
  const ended = { status: 'CANCELLED', filledQuantity: '0' }
  t.strictSame(told['missing'], { status: 'NOT_FOUND', reason: 'ORDER_NOT_FOUND', domain: 'svc', metadata: ended })
  t.strictSame(told['tick'], { status: 'INVALID_ARGUMENT', reason: 'INVALID_TICK', domain: 'svc', metadata: { field: 'price' } })
  t.match(told['funds'], { status: 'INVALID_ARGUMENT', reason: 'INSUFFICIENT_BALANCE' })
  t.match(told['unsigned'], { status: 'UNAUTHENTICATED', reason: 'UNAUTHENTICATED' })
  t.strictSame(told['batch'], { done: 2, code: 'INVALID_TICK' })
  t.strictSame(told['emptied'], { count: 2 })
  t.strictSame(told['streamed'], { orders: 20, cancelled: 20, opened: true, error: 'ORDER_NOT_FOUND', rest: 0 })
  t.strictSame(told['rest'], { status: 'SUBMITTED', same: '0.5' })
  t.strictSame(Object.keys(codes).sort(), Object.keys(TABLE).sort(), 'every sample ran')
  const honest = /^(null|(ORDER_|POSITION_)?NOT_FOUND|NONCE_INVALID|BUILDER_FEE_ABOVE_CAP|BUILDER_FEES_OFF|INSUFFICIENT_BALANCE)$/
  for (const [name, of] of Object.entries(codes)) {
    t.match(String(of), name === 'SubmitApplication' ? /^PERMISSION_DENIED$/ : honest, name)
  }
})

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
  writeEthAccount(folder)
  writeFileSync(join(folder, 'readme.py'), script.replace('http://127.0.0.1:8080', exchange.baseUrl))
  const env = { PYTHONPATH: PACKAGE }
  const { code, said } = await runWithWallet((found as { python: string }).python, ['readme.py'], { cwd: folder, env })
  t.equal(code, 0)
  t.strictSame(said, ['USDC 10000', 'BTC 1', 'ETH 10', 'SEI 50000'])
})

const listening = findPython('websockets, nacl')
const skipStreams = 'reason' in listening ? lacksPython('websockets, nacl', listening.reason) : false
if (skipStreams !== false) t.comment(skipStreams)

t.test('a Python client has book, orders and balances from frames alone, as over REST', { skip: skipStreams }, async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const { client: taker } = await newTrader(exchange.baseUrl)
  const wallet = newWallet()
  const program = [join(import.meta.dirname, 'listen.py'), PACKAGE, exchange.baseUrl, wallet.address]
  const told: Told = {}
  const onLine = async (line: string): Promise<void> => {
    const said = JSON.parse(line) as Told
    Object.assign(told, said)
    // Takes two asks whole and half of the third.
    const tradingPairId = said['resting']?.['pair'] as string | undefined
    if (tradingPairId !== undefined) {
      await taker.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.25', price: '2002' })
    }
  }
  const { code } = await runWithWallet((listening as { python: string }).python, program, { wallet, onLine })
  t.equal(code, 0)
  for (const what of ['sequence', 'bids', 'asks', 'balances', 'orders']) t.strictSame(told[what]!['frames'], told[what]!['rest'], what)
  t.equal((told['bids']!['frames'] as object[]).length, 12)
  t.strictSame((told['asks']!['frames'] as object[])[0], ['2002', '0.05'])
  t.equal((told['orders']!['frames'] as object[]).length, 21)
})
