/**
 * Promise: behind Debian's nginx with the configuration that is shipped, data/ops/nginx.conf, REST, WebSocket and gRPC work over TLS, what
 * is signed arrives as it was signed, and a client has the address that nginx saw, whatever it writes into X-Forwarded-For.
 *
 * The file is run as it is; ports and the files of the certificate are put in. 127.0.0.1 is nginx and trusted, 127.0.0.7 the client.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { credentials, status } from '@grpc/grpc-js'
import t from 'tap'
import { certificateFiles, makeCertificate } from '../support/certificates.ts'
import { signed, startHarness } from '../support/gateway_harness.ts'
import { connectGrpc, encodeMessage, pathOf } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { missing, startNginx } from '../support/proxy.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'

const why = missing('nginx')
const [HOST, CLIENT] = ['127.0.0.1', '127.0.0.7']
/** An order that nobody has. */
const UNKNOWN = '00000000-0005-8001-8000-00001f2a335e'
const root = join(import.meta.dirname, '..', '..')

/** A port that nobody had a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The shipped file with these in place of what it has. */
function sample(places: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(root, 'data', 'ops', 'nginx.conf'), 'utf8')
  for (const [what, other] of Object.entries(places)) {
    if (!text.includes(what)) throw new Error(`data/ops/nginx.conf has no "${what}"`)
    text = text.replaceAll(what, other)
  }
  return text
}

t.test('behind nginx', { skip: why !== '' && why }, async (t) => {
  const { cert: ca, key } = makeCertificate()
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-nginx-'))
  const files = certificateFiles(directory, { cert: ca, key })
  const harness = await startHarness(['--grpc-thread', '1', '--trusted-proxies', HOST])
  t.teardown(() => harness.close())
  const port = await freePort()
  const stop = await startNginx(directory, sample({
    'listen 443 ssl': `listen ${HOST}:${port} ssl`, 'listen [::]:443 ssl http2;': '', '127.0.0.1:8080': `${HOST}:${harness.port}`,
    '127.0.0.1:9090': `${HOST}:${harness.grpcPort}`, '/etc/ssl/ringbook/cert.pem': files.cert, '/etc/ssl/ringbook/key.pem': files.key,
  }), port)
  t.teardown(stop)
  const session = await harness.openSession()
  const body = { address: `0x${'1'.repeat(40)}`, sessionPublicKey: '2'.repeat(64), clientId: 'ringbook' }
  const forged = { 'x-forwarded-for': '203.0.113.9, 127.0.0.1' }

  /** The address that the sign-in thread was told by what `act` does. */
  const addressAfter = async (act: () => void): Promise<string> => {
    const before = harness.asked.length
    act()
    for (let look = 0; look < 1_000 && harness.asked.length === before; look++) await new Promise((resolve) => setTimeout(resolve, 10))
    return harness.asked[before]?.ip ?? 'nothing was asked'
  }
  const ask = (method: string, path: string, headers: Record<string, string>, body = ''): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const all = { 'User-Agent': 'test', 'Content-Length': String(body.length), ...headers }
      const to = { host: HOST, port, localAddress: CLIENT, ca, servername: 'localhost' }
      const asked = request({ ...to, method, path, headers: all }, (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
        answer.on('end', () => resolve({ status: answer.statusCode!, text }))
      })
      asked.on('error', reject)
      asked.end(body)
    })

  await t.test('REST', async (t) => {
    t.equal((await ask('GET', '/health', {})).status, 200)
    for (const path of ['/api/v1/accounts/me', '/api/v1/orders?status=%53UBMITTED&page=1']) {
      for (let again = 0; again < 3; again++) t.equal((await ask('GET', path, signed(session, 'GET', path))).status, 200, path)
    }
    const headers = { 'Content-Type': 'application/json', ...forged }
    const challenge = (): void => void ask('POST', '/api/v1/auth/challenge', headers, JSON.stringify(body)).catch(() => undefined)
    t.equal(await addressAfter(challenge), CLIENT)
  })

  await t.test('WebSocket', async (t) => {
    const socket = await SocketClient.open(port, { 'User-Agent': 'test', ...forged }, ca)
    t.match(await socket.authenticate(signerOf(session)), { type: 'authenticated' })
    socket.socket.terminate()
  })

  await t.test('gRPC', async (t) => {
    const client = connectGrpc(port, {}, credentials.createSsl(Buffer.from(ca)))
    t.equal((await client.call('Check')).code, 0)
    t.equal((await client.call('GetProfile', {}, session)).code, 0)
    const stream = new StreamClient(client)
    const cancelled = await stream.ask({ requestId: 'one', cancelOrder: { orderId: UNKNOWN } } as { requestId: string }, session)
    t.match(cancelled, { error: { code: status.NOT_FOUND } }, 'streams go through in both directions')
    stream.call.cancel()
    client.close()
    const options = { host: HOST, port, localAddress: CLIENT, ca, servername: 'localhost', ALPNProtocols: ['h2'] } as ConnectionOptions
    const raw = connectHttp2(`https://${HOST}:${port}`, { createConnection: () => connectTls(options) })
    raw.on('error', () => undefined)
    const address = await addressAfter(() => {
      const call = raw.request({
        ':method': 'POST', ':path': pathOf('Challenge'), 'content-type': 'application/grpc', te: 'trailers', ...forged,
      })
      call.on('error', () => undefined)
      const message = encodeMessage('ChallengeRequest', body)
      const frame = Buffer.alloc(5)
      frame.writeUInt32BE(message.length, 1)
      call.end(Buffer.concat([frame, message]))
    })
    raw.destroy()
    t.equal(address, CLIENT)
  })
})
