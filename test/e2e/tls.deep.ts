/**
 * Promise: a whole exchange behind TLS: SIGHUP has REST, WebSocket and gRPC take the certificate that its files have now, on every gateway
 * thread, and says so; a certificate that is not good changes nothing; a start with one is refused with exit code 2. Without a terminal
 * SIGHUP never stops the exchange; from one that goes away it does. The client trades over https and wss.
 */
import { X509Certificate } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t from 'tap'
import { EXIT } from '../../core/threads.ts'
import { certificateFiles, makeCertificate } from '../support/certificates.ts'
import { removeDirectory, startExchange, StartFailed, temporaryDirectory } from '../support/exchange.ts'
import { until } from '../support/until.ts'

t.setTimeout(600_000)
const root = join(import.meta.dirname, '..', '..')
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const first = makeCertificate(30)
const files = certificateFiles(join(directory, 'certificates'), first)
const TLS = ['--tls-cert', files.cert, '--tls-key', files.key, '--grpc-cert', files.cert, '--grpc-key', files.key]
const FLAGS = ['--gateways', '2', '--chain', '0']
const fingerprint = ({ cert }: { cert: string }): string => new X509Certificate(cert).fingerprint256

/** What a new connection shows. */
function shown(port: number): Promise<string> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] }
    const socket = connect(options, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', (error) => resolve(error.message))
  })
}

t.test('a start with a certificate that is not good', async (t) => {
  for (const [change, words] of [
    [{ key: makeCertificate().key }, /--tls-key: .* does not belong/], [{ key: '' }, /--tls-key: .* no private key/],
    [{ cert: 'x' }, /--tls-cert: .* no certificate/],
  ] as const) {
    files.write({ ...first, ...change })
    const failed = await startExchange(join(directory, 'refused'), [...FLAGS, ...TLS]).then(() => null, (error: StartFailed) => error)
    t.equal(failed?.code, EXIT.CONFIG)
    t.match(failed?.log.at(-1), { level: 'fatal', msg: words })
  }
  files.write(first)
})

t.test('SIGHUP, and what it does to certificates', async (t) => {
  const exchange = await startExchange(join(directory, 'data'), [...FLAGS, ...TLS])
  t.teardown(() => exchange.kill())
  const ports = [exchange.port, exchange.grpcPort]
  for (const port of ports) t.equal(await shown(port), fingerprint(first))
  const expiries = async (): Promise<string[]> => {
    const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
    return [...text.matchAll(/^exchange_certificate_expiry_timestamp_seconds\{.*\} (\S+)$/gm)].map(([, seconds]) => seconds!)
  }
  const expiryOf = ({ cert }: { cert: string }): string => String(Date.parse(new X509Certificate(cert).validTo) / 1000)
  t.ok(await until(async () => (await expiries()).join() === Array(3).fill(expiryOf(first)).join()), 'of both gateways and of gRPC')
  const second = makeCertificate(60)
  files.write(second)
  exchange.supervisor.kill('SIGHUP')
  t.ok(await until(async () => (await expiries()).join() === Array(3).fill(expiryOf(second)).join()))
  // The kernel spreads connections over the gateways.
  for (let i = 0; i < 16; i++) for (const port of ports) t.equal(await shown(port), fingerprint(second))
  const said = (words: RegExp): number => exchange.log.filter(({ msg }) => words.test(String(msg))).length
  t.equal(said(/the certificate is read again/), 2)
  files.write({ cert: makeCertificate().cert })
  process.kill(exchange.pid, 'SIGHUP')
  t.ok(await until(() => said(/the new certificate is not used; the old one stays/) === 2), 'REST and gRPC')
  for (const port of ports) t.equal(await shown(port), fingerprint(second))
  t.equal(await exchange.stop(), EXIT.OK, 'it is running still')
})

t.test('without certificates SIGHUP changes nothing', async (t) => {
  const exchange = await startExchange(join(directory, 'data'), FLAGS)
  t.teardown(() => exchange.kill())
  exchange.supervisor.kill('SIGHUP')
  t.ok(await until(() => exchange.log.some(({ msg }) => /there are no certificates to read again/.test(String(msg)))))
  t.equal((await fetch(`${exchange.baseUrl}/health`)).status, 200)
  t.equal(await exchange.stop(), EXIT.OK)
})

t.test('a terminal that goes away stops the exchange', async (t) => {
  const ports = ['--port', '--operator-port', '--grpc-port'].flatMap((name) => [name, '0'])
  const main = ['--disable-warning=ExperimentalWarning', join(root, 'core', 'supervisor', 'main.ts')]
  const words = [...main, '--data-dir', join(directory, 'data'), ...ports, ...FLAGS]
  const command = [process.execPath, ...words, '--log', 'json'].map((word) => `'${word}'`).join(' ')
  // `script` gives a program a terminal of its own, and is on every Debian.
  const script = spawn('script', ['-qefc', `echo pid $$; exec ${command}`, '/dev/null'], { cwd: root, stdio: ['pipe', 'pipe', 'ignore'] })
  let output = ''
  script.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  const closed = once(script, 'close')
  t.ok(await until(() => /"ready"/.test(output)), 'it runs')
  process.kill(Number(/pid (\d+)/.exec(output)![1]), 'SIGHUP')
  t.equal((await closed)[0], EXIT.OK)
  t.match(output, /"cause":"SIGHUP".*"stopping"/)
})

t.test('the client trades over https and wss, and trusts nobody it was not told to', async (t) => {
  files.write(first)
  const exchange = await startExchange(join(directory, 'data'), [...FLAGS, ...TLS, '--ws-order-entry', '1'])
  t.teardown(() => exchange.kill())
  const trade = async (environment: Record<string, string>): Promise<{ code: number; output: string }> => {
    const program = join(root, 'test', 'support', 'trade_once.ts')
    const words = ['--disable-warning=ExperimentalWarning', program, `https://127.0.0.1:${exchange.port}`]
    const env = { ...process.env, NODE_OPTIONS: '', ...environment }
    const child = spawn(process.execPath, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const [code] = (await once(child, 'close')) as [number]
    return { code, output }
  }
  const { code, output } = await trade({ NODE_EXTRA_CA_CERTS: files.cert })
  t.equal(code, 0, output.slice(0, 500))
  t.match(JSON.parse(output), { orderId: /-/, socketed: /-/, best: { quantity: '0.2' } })
  const strange = await trade({})
  t.not(strange.code, 0)
  t.match(strange.output, /NetworkError/)
  t.equal(await exchange.stop(), EXIT.OK)
})
