/**
 * Promise: `@ringbook/client` as `npm pack` makes it works for a stranger who has nothing else of this project: in a fresh folder on
 * Node 20, on Node 22 and in Chromium it signs in, trades, keeps a verified book and sends orders over a socket; the compiler takes right
 * uses and refuses wrong ones; no type leads out of the package, and each says what the service declares. Built twice, it is the same.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { lacks } from '../suite/packages.ts'
import { operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'

t.setTimeout(600_000)
const root = join(import.meta.dirname, '..', '..')
const CONSUMER = join(import.meta.dirname, 'consumer')
const CHROMIUM = '/usr/bin/chromium'
const builds = [1, 2].map((number) => join('build', `package-${process.pid}-${number}`)) as [string, string]
const fresh = mkdtempSync(join(tmpdir(), 'stranger-'))
t.teardown(() => {
  for (const build of builds) rmSync(join(root, build), { recursive: true, force: true })
  rmSync(fresh, { recursive: true, force: true })
})

const run = (command: string, words: string[], cwd: string): string =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Builds the package and packs it; the tarball's path. */
function pack(out: string): string {
  run(process.execPath, ['--disable-warning=ExperimentalWarning', 'gateway/client/build/main.ts', '--out', out], root)
  const [packed] = JSON.parse(run('npm', ['pack', '--json'], join(root, out))) as [{ filename: string }]
  return join(root, out, packed.filename)
}

const tarball = pack(builds[0])
writeFileSync(join(fresh, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], fresh)
for (const file of readdirSync(CONSUMER)) {
  // Text here, because the compiler of this tree does not know the package.
  copyFileSync(join(CONSUMER, file), join(fresh, file === 'types.txt' ? 'types.ts' : file))
}
const installed = join(fresh, 'node_modules', '@ringbook', 'client')

t.test('two builds give the same bytes', async (t) => {
  const [first, second] = [tarball, pack(builds[1])].map((file) => createHash('sha256').update(readFileSync(file)).digest('hex'))
  t.equal(second, first)
})

t.test('it brings what it needs, and nothing of the service', async (t) => {
  t.strictSame(readdirSync(join(fresh, 'node_modules')).filter((name) => !name.startsWith('.')), ['@ringbook'])
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((file) => extname(file) !== '').sort()
  const wanted = ['dist/index.js', 'dist/index.d.ts', 'dist/ccxt.js', 'dist/ccxt.d.ts', 'README.md', 'LICENSES.txt']
  for (const file of wanted) t.ok(files.includes(file), file)
  t.match(readFileSync(join(installed, 'LICENSES.txt'), 'utf8'), /Paul Miller/)
  for (const file of files.filter((each) => /\.d\.ts$|\.js$/.test(each))) {
    const text = readFileSync(join(installed, file), 'utf8')
    const targets = [...text.matchAll(/(?:^(?:im|ex)port .*?from |import\()["']([^"']+)["']/gm)].map(([, target]) => target!)
    for (const target of targets) {
      const there = file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
      t.ok(target.startsWith('./') && existsSync(join(installed, 'dist', there)), `${file} imports ${target}`)
    }
    t.notMatch(text, /typebox|\bTObject\b|core\/|gateway\/|node:/, file)
    const map = /sourceMappingURL=(\S+)/.exec(text)?.[1]
    if (map !== undefined) t.ok(existsSync(join(installed, 'dist', map)), `${file}: ${map}`)
  }
  const sourcesOf = (map: string): string[] => (JSON.parse(readFileSync(join(installed, map), 'utf8')) as { sources: string[] }).sources
  const own = files.filter((each) => each.endsWith('.js.map')).flatMap(sourcesOf).filter((source) => !source.includes('/node_modules/'))
  t.ok(own.length > 10 && own.every((source) => existsSync(join(installed, 'dist', source))), 'source maps lead to sources that are there')
})

const tsc = (cwd: string, ...words: string[]): string => {
  const { stdout, status } = spawnSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...words], { cwd })
  return status === 0 ? '' : stdout.toString().slice(0, 2000)
}

t.test('the compiler takes right uses, and refuses wrong ones', async (t) => {
  for (const resolution of [['nodenext', 'nodenext'], ['esnext', 'bundler']] as const) {
    const terms = ['--module', resolution[0], '--moduleResolution', resolution[1], '--target', 'es2022', '--lib', 'es2022,dom']
    t.equal(tsc(fresh, '--strict', '--noEmit', ...terms, 'types.ts'), '', resolution.join(' '))
  }
})

t.test('the types say what the service declares', async (t) => {
  const check = `
    import type { OperationTypes as Declared } from '../../gateway/operations/index.ts'
    import type { ChannelTypes as DeclaredChannels } from '../../gateway/client/channel_types.ts'
    import type { OperationTypes } from "./src/operations/index.ts"
    import type { ChannelTypes } from "./src/client/channel_types.ts"
    type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
    type Differ<A, B> = { [K in keyof A | keyof B]: K extends keyof A & keyof B ? (Same<A[K], B[K]> extends true ? never : K) : K }
    type None<D> = [D[keyof D]] extends [never] ? true : D[keyof D]
    export const operations: None<Differ<Declared, OperationTypes>> = true
    export const channels: None<Differ<DeclaredChannels, ChannelTypes>> = true
    // @ts-expect-error: a type that lacks something is noticed
    export const less: None<Differ<Declared, Omit<OperationTypes, 'Mint'>>> = true
  `
  writeFileSync(join(root, builds[0], 'same.ts'), check)
  const config = { extends: '../../tsconfig.json', include: ['same.ts'] }
  writeFileSync(join(root, builds[0], 'tsconfig.same.json'), JSON.stringify(config))
  t.equal(tsc(join(root, builds[0]), '-p', 'tsconfig.same.json'), '')
})

/** Signs for wallets whose keys are here, and serves the files of the stranger's folder to a page. */
function handle(request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url!, 'http://here').pathname
  if (request.method === 'GET') {
    const file = join(fresh, path)
    if (path === '/') return void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>stranger</title>')
    if (!existsSync(file)) return void response.writeHead(404).end()
    return void response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(file))
  }
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => void sign(text).then((answer) => response.end(JSON.stringify(answer))))
}

const keys = new Map<string, ReturnType<typeof privateKeyToAccount>>()
async function sign(text: string): Promise<object> {
  const asked = JSON.parse(text) as { make?: number; address?: string; text?: string }
  if (asked.make === undefined) return { signature: await keys.get(asked.address!)!.signMessage({ message: asked.text! }) }
  const made = Array.from({ length: asked.make }, () => privateKeyToAccount(generatePrivateKey()))
  for (const account of made) keys.set(account.address, account)
  return { addresses: made.map(({ address }) => address) }
}

const directory = temporaryDirectory()
const exchange = await startExchange(directory, ['--ws-order-entry', '1'])
const server = createServer(handle)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
t.teardown(async () => {
  server.closeAllConnections()
  server.close()
  await exchange.kill()
  removeDirectory(directory)
})
const { baseUrl } = exchange
const signer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const EXPECTED = {
  status: 'FILLED', rested: true, sameBook: true, refused: ['INVALID_TICK', 'not-applied'], batchItem: 'unknown', socket: 'open',
}

/** Node of this major version: this one, or the machine's. */
function nodeOf(major: number): string | null {
  const candidates = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))
  return candidates.find((path) => run(path, ['--version'], fresh).startsWith(`v${major}.`)) ?? null
}

for (const [major, words] of [[22, []], [20, ['--experimental-websocket']]] as [number, string[]][]) {
  const node = nodeOf(major)
  const skip = node === null && `no Node ${major} here: install it as /usr/bin/node or /usr/local/bin/node`
  t.test(`Node ${major}`, { skip }, async (t) => {
    const { stdout, stderr } = await spawned(node!, [...words, 'node.mjs'])
    t.match(stdout === '' ? stderr : JSON.parse(stdout), { ...EXPECTED, platform: `node ${major}` })
  })
}

/** Runs a program of the stranger while the signer of this process answers it. */
async function spawned(command: string, words: string[]): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = spawn(command, words, { cwd: fresh, env: { ...process.env, EXCHANGE: baseUrl, SIGNER: signer }, timeout: 500_000 })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { ...said, code }
}

t.test('every sample of the README compiles and runs', async (t) => {
  const samples = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  t.ok(samples.length >= 4)
  const given = `declare const baseUrl: string
    declare const address: string
    declare const signMessage: (text: string) => Promise<string>
  `
  const words = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom']
  samples.forEach((code, at) => writeFileSync(join(fresh, `sample${at}.mts`), given + code))
  t.equal(tsc(fresh, '--strict', ...words, ...samples.map((_, at) => `sample${at}.mts`)), '')
  for (const at of samples.keys()) {
    const before = `import { wallets } from "./wallets.mjs"
      const [{ address, signMessage }] = await wallets(process.env.SIGNER)
      const baseUrl = process.env.EXCHANGE
      const { createClient: create } = await import('@ringbook/client')
      const minter = create({ baseUrl, wallet: { address, signMessage } })
      await minter.signIn()
      await minter.Mint()
    `
    writeFileSync(join(fresh, `sample${at}.mjs`), before + readFileSync(join(fresh, `sample${at}.mjs`), 'utf8'))
    const { stderr, code } = await spawned(process.execPath, [`sample${at}.mjs`])
    t.same([code, stderr], [0, ''], samples[at])
  }
})

t.test('Chromium', { skip: !existsSync(CHROMIUM) && lacks(['chromium'], 'there is no browser here') }, async (t) => {
  await operate(exchange, '/applications/origins', { application: 'ringbook', origin: signer, allowed: true })
  const profile = join(fresh, 'profile')
  mkdirSync(profile)
  const flags = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync',
  ]
  const browser = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM, headless: true, args: flags })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(90_000)
  await page.goto(signer)
  const told = await page.evaluate(async ([exchangeUrl, signerUrl]) => {
    const load = (path: string): Promise<Record<string, (...words: unknown[]) => Promise<unknown>>> => import(path)
    const [api, { trade }, { wallets }] = await Promise.all(
      ['/node_modules/@ringbook/client/dist/index.js', '/trade.mjs', '/wallets.mjs'].map(load))
    return await trade!(api, { baseUrl: exchangeUrl, makers: await wallets!(signerUrl) })
  }, [baseUrl, signer] as const)
  t.match(told, { ...EXPECTED, platform: 'page' })
})
