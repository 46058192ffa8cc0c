/**
 * Promise: every sample of `/llms.txt`, as the exchange serves it, runs as it stands there, and every address it names is served.
 */
import t from 'tap'
import { lacksPython } from '../suite/packages.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { findPython } from '../support/python.ts'
import { runWithWallet, writeEthAccount } from '../support/wallet_pipe.ts'

t.setTimeout(600_000)
const directory = temporaryDirectory()
const exchange = await startExchange(directory)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})
const text = await (await fetch(`${exchange.baseUrl}/llms.txt`)).text()
const samples = [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
  .map(([, language, code]) => ({ language: language!, code: code!.replaceAll('http://127.0.0.1:8080', exchange.baseUrl) }))
const of = (language: string): string[] => samples.filter((each) => each.language === language).map(({ code }) => code)

t.test('what it names is served, and there are no samples but these', async (t) => {
  t.strictSame(samples.map(({ language }) => language), ['sh', 'ts', 'ts', 'python', 'python'])
  const paths = [...text.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path]) => path!)
  t.ok(paths.length >= 5)
  for (const path of paths) t.equal((await fetch(exchange.baseUrl + path, { method: 'HEAD' })).status, 200, path)
})

t.test('curl', async (t) => {
  const { code, said } = await runWithWallet('sh', ['-c', of('sh')[0]!], { cwd: '/' })
  t.equal(code, 0)
  t.match(JSON.parse(said.join('')), { tradingPairs: [{ symbol: String }] })
})

t.test('TypeScript', async (t) => {
  // Inside this tree, so that viem is found.
  const folder = t.testdir({ 'client.ts': of('ts')[0]!, 'trade.ts': of('ts')[1]! })
  const words = ['--disable-warning=ExperimentalWarning', 'trade.ts']
  t.strictSame(await runWithWallet(process.execPath, words, { cwd: folder }), { code: 0, said: ['SUCCESS'] })
})

const found = findPython('nacl')
t.test('Python', { skip: 'reason' in found && lacksPython('nacl', found.reason) }, async (t) => {
  const folder = t.testdir({ 'client.py': of('python')[0]!, 'trade.py': of('python')[1]! })
  writeEthAccount(folder)
  const { python } = found as { python: string }
  t.strictSame(await runWithWallet(python, ['trade.py'], { cwd: folder }), { code: 0, said: ['SUCCESS'] })
})
