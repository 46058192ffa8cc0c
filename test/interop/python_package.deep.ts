/**
 * Promise: the Python package can be built and installed without a registry, and from a fresh folder does everything
 * that it says it does against a real exchange: every operation, streams over cut connections, a verified book, orders
 * over a socket; its README runs as it is printed, and its types are sound.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { lacksPython } from '../suite/packages.ts'
import { issueServerKey, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { findPython } from '../support/python.ts'
import { writeEthAccount } from '../support/wallet_pipe.ts'

t.setTimeout(600_000)
const source = join(import.meta.dirname, '..', '..', 'gateway', 'client', 'python')
const found = findPython('websockets, nacl, setuptools, wheel, pip, venv')
const skip = 'reason' in found ? lacksPython('websockets, nacl, setuptools, wheel, pip, venv', found.reason) : false
if (skip !== false) t.comment(skip)
const typed = findPython('mypy, websockets, nacl')
const skipTypes = 'reason' in typed ? lacksPython('mypy, websockets, nacl', typed.reason) : false
if (skipTypes !== false) t.comment(skipTypes)

const folder = mkdtempSync(join(tmpdir(), 'ringbook-python-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command to its end; what it printed. */
function run(command: string, words: readonly string[], cwd = folder): string {
  const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' }
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8', env: environment, timeout: 500_000 })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${status}\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`)
  return stdout
}

/** A Python with the package installed from its wheel, and nothing of the tree in its path. */
function install(): string {
  cpSync(source, join(folder, 'source'), { recursive: true })
  const python = (found as { python: string }).python
  run(python, ['-m', 'pip', 'wheel', '--no-index', '--no-deps', '--no-build-isolation', '-w', 'wheels', './source'])
  run(python, ['-m', 'venv', '--system-site-packages', 'environment'])
  const installed = join(folder, 'environment', 'bin', 'python')
  const [wheel] = globSync('wheels/ringbook-*-py3-none-any.whl', { cwd: folder })
  run(installed, ['-m', 'pip', 'install', '--no-index', '--no-deps', wheel!])
  return installed
}

async function exchangeOf(t: Test): Promise<Exchange> {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--ws-order-entry', '1', '--price-feed', '1', '--vault', '1'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  return exchange
}

/** Hands bytes on to a port, until it is cut. */
async function proxyOf(t: Test, port: number): Promise<{ url: string; cut: () => void }> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from)
      from.on('error', () => undefined).on('close', () => to.destroy()).pipe(to)
    }
  })
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}

t.test('from a fresh folder it does everything against a real exchange', { skip }, async (t) => {
  const python = install()
  const exchange = await exchangeOf(t)
  const proxy = await proxyOf(t, exchange.port)
  const fresh = join(folder, 'fresh')
  mkdirSync(fresh)
  for (const name of ['python_package.py', 'pipe.py']) copyFileSync(join(import.meta.dirname, name), join(fresh, name))
  const words = ['python_package.py', join(source, 'examples'), exchange.baseUrl, proxy.url, await issueServerKey(exchange)]
  const child = spawn(python, ['-W', 'error', ...words], { cwd: fresh, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } })
  t.teardown(() => child.kill())
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = once(child, 'close')
  const told: Record<string, Record<string, unknown>> = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as typeof told
    Object.assign(told, said)
    if (!('cut' in said)) continue
    proxy.cut()
    child.stdin.write('\n')
  }
  t.strictSame(await ended, [0, null], errors)
  t.ok(String(told['package']!['place']).startsWith(join(folder, 'environment')), 'it is the installed one')
  t.equal(told['package']!['typed'], true)
  for (const name of ['threads', 'asyncio']) {
    for (const protocol of ['legacy', 'rfc9421']) {
      const everything = { missing: [], codes: ['NONCE_INVALID', 'SESSION_INVALID'], offset: true }
      t.strictSame(told[`${name} ${protocol}`], everything, `${name}, ${protocol}`)
    }
    t.strictSame(told[`${name} streams`], {
      kinds: Array.from({ length: 12 }, () => 'snapshot'), cuts: 4, book: true, levels: 30, over: 'SESSION_INVALID',
      ended: ['SESSION_INVALID'],
    }, name)
    t.strictSame(told[`${name} entry`], { placed: 300, code: 'INVALID_TICK', again: true, left: 299 }, name)
    t.strictSame(told[`${name} unified`], {
      ask: 'open', bid: ['closed', 4, 0.5], rest: true, trade: ['buy', 'taker', 0.5, 4], public: 'buy', candle: 0.5, ticker: [0.5, 0.6],
      book: [[0.6, 6]], used: 6, closed: true, refused: 'InsufficientFunds', cancelled: 1, status: 'ok',
      swap: {
        bought: ['closed', 'BTC/USDC:USDC'], closed: ['closed', 'sell', 64000],
        position: ['BTC/USDC:USDC', 'long', 0.01, 65000, 5, 'isolated'], risk: true, left: [], next: 0,
      },
    }, name)
  }
})

/** As much of the package eth_account as the README uses, with a wallet of the examples. */
const ETH_ACCOUNT = `
from types import SimpleNamespace
from throwaway_wallet import new_wallet
class Account:
    @classmethod
    def create(cls):
        account = cls()
        account.wallet = new_wallet()
        account.address = account.wallet.address
        return account
    def sign_message(self, message):
        return SimpleNamespace(signature=bytes.fromhex(self.wallet.sign(message)[2:]))
`

t.test('its README works as it is printed', { skip }, async (t) => {
  const samples = readFileSync(join(source, 'README.md'), 'utf8').matchAll(/```python\n([\s\S]*?)```/g)
  const script = [...samples].map(([, text]) => text).join('\n')
  const exchange = await exchangeOf(t)
  const place = join(folder, 'readme')
  writeEthAccount(place, ETH_ACCOUNT)
  copyFileSync(join(source, 'examples', 'throwaway_wallet.py'), join(place, 'throwaway_wallet.py'))
  writeFileSync(join(place, 'readme.py'), script.replaceAll('http://127.0.0.1:8080', exchange.baseUrl))
  const printed = run(join(folder, 'environment', 'bin', 'python'), ['readme.py'], place)
  t.strictSame(printed.trim().split('\n'), [
    'SUBMITTED', "['2000']", 'INVALID_TICK price', 'snapshot', 'OrderSubmitted', '1999 True', '[True]', "['1997', '1996', '1995']",
    "open 1994.0 {'amount': 0.001, 'price': 0.01, 'base': 1e-09, 'quote': 1e-06}", 'InsufficientFunds',
  ])
})

t.test('its types are sound, for Python 3.10 too, and so is code that uses them', { skip: skipTypes }, async (t) => {
  const { python } = typed as { python: string }
  const place = join(folder, 'types')
  cpSync(source, place, { recursive: true })
  const right = `
from decimal import Decimal
from ringbook import Client
from ringbook.types import CreateOrderResponse, OrderItem
client = Client("http://x")
order: OrderItem = {"tradingPairId": "a", "orderType": "LIMIT", "side": "BUY", "quantity": Decimal("1"), "price": "5"}
placed: CreateOrderResponse = client.create_order(**order)
client.batch_create_orders(orders=[order])
for frame in client.streams.orderbook(tradingPairId="a"):
    if frame["type"] == "snapshot":
        sequence: int = frame["sequence"]
`
  const wrong = right.replace('"BUY"', '"BYE"').replace('sequence: int', 'sequence: str')
  writeFileSync(join(place, 'right.py'), right)
  writeFileSync(join(place, 'wrong.py'), wrong)
  const check = (files: readonly string[]): { status: number | null; stdout: string } =>
    spawnSync(python, ['-m', 'mypy', '--no-incremental', ...files], {
      cwd: place, encoding: 'utf8', env: { ...process.env, MYPYPATH: 'src:tests' }, timeout: 500_000,
    })
  const { status, stdout } = check(['src/ringbook', 'tests', 'examples', 'right.py'])
  t.equal(status, 0, stdout)
  const refused = check(['wrong.py'])
  t.equal(refused.status, 1)
  t.match(refused.stdout, /Incompatible types \(expression has type "Literal\['BYE'\]"/)
  t.match(refused.stdout, /expression has type "int", variable has type "str"/)
})
