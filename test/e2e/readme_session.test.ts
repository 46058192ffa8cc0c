/** Promise: the programs of the README work as printed, against the real exchange over real sockets. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'

t.setTimeout(600_000)
const root = join(import.meta.dirname, '..', '..')

/** Runs a script as the README does; its output. */
function runScript(source: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin.end(source)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

t.test('sign in, mint, two orders that trade, the book and the balances; then listen', async (t) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [session, streams, ...others] = [...readme.matchAll(/<<'JS'\n([\s\S]*?)\nJS\n/g)].map(([, script]) => script!)
  t.ok(session !== undefined && streams !== undefined && others.length === 0, 'the README has a session and streams')
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--gateways', '2'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const run = (script: string) => runScript(script.replaceAll('http://127.0.0.1:8080', exchange.baseUrl))
  const { code, output } = await run(session!)
  t.equal(code, 0, output)
  t.match(output, /maker sells: SUBMITTED/)
  t.match(output, /taker buys: FILLED 0.02 at 60000/)
  t.match(output, /price: '60000', quantity: '0.03', orderCount: 1/)
  // 0.02 BTC at 60000 = 1200 USDC; taker fee 5 bps = 0.6; maker rebate 0.5 bps = 0.06.
  t.match(output, /maker: 0.95 BTC available, 0.03 locked/)
  t.match(output, /maker: 11200.06 USDC available, 0 locked/)
  t.match(output, /taker: 1.02 BTC available, 0 locked/)
  t.match(output, /taker: 8799.4 USDC available, 0 locked/)
  const listened = await run(streams!)
  t.equal(listened.code, 0, listened.output)
  const lines = ['open orders: 0', 'book at 0 best bid: undefined', 'OrderSubmitted BUY 0.5 at 2000', 'OrderCancelled BUY 0.5 at 2000']
  for (const line of lines) {
    t.ok(listened.output.includes(line), `${line} in ${listened.output}`)
  }
  t.equal(await exchange.stop(), 0)
})

t.test('the commands and files the README names exist', async (t) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const scripts = Object.keys(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
  )
  for (const [, name] of readme.matchAll(/npm run (?:--silent )?([\w:]+)/g)) t.ok(scripts.includes(name!), `npm run ${name}`)
  for (const [, path] of readme.matchAll(/`((?:core|gateway|bench|test|data)\/[\w./]+\.\w+)`/g))
    t.ok(readFileSync(join(root, path!)).length > 0, path)
})
