/**
 * Promise: every sample of `/llms.txt`, as the exchange serves it, runs as it stands there, and every address it names is served.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { findPython } from '../support/python.ts'

t.setTimeout(120_000)
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

/** Runs a program; lines of {"sign": text} are answered by the wallet, the others are what it printed. */
async function run(command: string, words: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<{ code: unknown; said: string[] }> {
  const account = privateKeyToAccount(generatePrivateKey())
  const child = spawn(command, words, { cwd, env: { ...process.env, WALLET: account.address, PYTHONDONTWRITEBYTECODE: '1', ...env } })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"sign"')) said.push(line)
    else child.stdin.write(`${await account.signMessage({ message: (JSON.parse(line) as { sign: string }).sign })}\n`)
  }
  const code = await ended
  return { code: code === 0 ? 0 : errors, said }
}

t.test('what it names is served, and there are no samples but these', async (t) => {
  t.strictSame(samples.map(({ language }) => language), ['sh', 'ts', 'ts', 'python', 'python'])
  const paths = [...text.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path]) => path!)
  t.ok(paths.length >= 5)
  for (const path of paths) t.equal((await fetch(exchange.baseUrl + path, { method: 'HEAD' })).status, 200, path)
})

t.test('curl', async (t) => {
  const { code, said } = await run('sh', ['-c', of('sh')[0]!], '/')
  t.equal(code, 0)
  t.match(JSON.parse(said.join('')), { tradingPairs: [{ symbol: String }] })
})

t.test('TypeScript', async (t) => {
  // Inside this tree, so that viem is found.
  const folder = t.testdir({ 'client.ts': of('ts')[0]!, 'trade.ts': of('ts')[1]! })
  t.strictSame(await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'trade.ts'], folder), { code: 0, said: ['SUCCESS'] })
})

/** As much of the package eth_account as the sample uses; the wallet is on the other side of the pipe. */
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
const found = findPython('nacl')
t.test('Python', { skip: 'reason' in found && `Python with PyNaCl is missing: ${found.reason}` }, async (t) => {
  const folder = t.testdir({ 'client.py': of('python')[0]!, 'trade.py': of('python')[1]! })
  mkdirSync(join(folder, 'eth_account'))
  writeFileSync(join(folder, 'eth_account', '__init__.py'), ETH_ACCOUNT)
  writeFileSync(join(folder, 'eth_account', 'messages.py'), 'encode_defunct = lambda text: text\n')
  t.strictSame(await run((found as { python: string }).python, ['trade.py'], folder), { code: 0, said: ['SUCCESS'] })
})
