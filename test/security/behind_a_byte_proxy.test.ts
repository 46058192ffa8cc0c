/**
 * Promise: behind Debian's haproxy that hands on bytes with a PROXY header (send-proxy-v2), REST, WebSocket and gRPC work with TLS from end
 * to end, over two gateway threads, and a client has the address that haproxy saw.
 *
 * 127.0.0.1 is haproxy and trusted, 127.0.0.7 the client.
 */
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { credentials } from '@grpc/grpc-js'
import t from 'tap'
import { certificateFiles, makeCertificate } from '../support/certificates.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { signed, startHarness } from '../support/gateway_harness.ts'
import { connectGrpc, encodeMessage, pathOf } from '../support/grpc.ts'
import { missing, startByteProxy } from '../support/proxy.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'

const why = missing('haproxy')
const [HOST, CLIENT] = ['127.0.0.1', '127.0.0.7']
const BODY = { address: `0x${'1'.repeat(40)}`, sessionPublicKey: '2'.repeat(64), clientId: 'ringbook' }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

t.test('behind haproxy', { skip: why !== '' && why }, async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const pair = makeCertificate()
  const { cert, key } = certificateFiles(directory, pair)
  const ca = pair.cert
  const [port, grpcPort, proxyPort] = [await freePort(), await freePort(), await freePort()]
  const tls = ['--tls-cert', cert, '--tls-key', key, '--grpc-cert', cert, '--grpc-key', key]
  const proxies = ['--trusted-proxies', HOST, '--proxy-port', String(proxyPort)]
  const harness = await startHarness(['--gateways', '2', '--grpc-thread', '1', ...proxies, ...tls])
  t.teardown(() => harness.close())
  t.teardown(await startByteProxy([[port, proxyPort], [grpcPort, harness.grpcPort]]))
  const session = await harness.openSession()
  const addressAfter = async (act: () => void): Promise<string> => {
    const before = harness.asked.length
    act()
    for (let look = 0; look < 1_000 && harness.asked.length === before; look++) await new Promise((resolve) => setTimeout(resolve, 10))
    return harness.asked[before]?.ip ?? 'nothing was asked'
  }
  /** The status of a request on a connection of its own, which the kernel gives to one of the gateways. */
  const ask = (method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> =>
    new Promise((resolve, reject) => {
      const all = { 'User-Agent': 'test', 'Content-Length': String(body.length), 'X-Forwarded-For': '203.0.113.9', ...headers }
      const to = { host: HOST, port, localAddress: CLIENT, ca, servername: 'localhost', agent: false }
      const asked = request({ ...to, method, path, headers: all }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode!))
      })
      asked.on('error', reject)
      asked.end(body)
    })

  await t.test('REST and WebSocket', async (t) => {
    const path = '/api/v1/accounts/me'
    for (let again = 0; again < 8; again++) t.equal(await ask('GET', path, signed(session, 'GET', path)), 200)
    const json = { 'Content-Type': 'application/json' }
    for (let again = 0; again < 4; again++) {
      const challenge = (): void => void ask('POST', '/api/v1/auth/challenge', json, JSON.stringify(BODY)).catch(() => undefined)
      t.equal(await addressAfter(challenge), CLIENT)
    }
    const socket = await SocketClient.open(port, { 'User-Agent': 'test' }, ca)
    t.match(await socket.authenticate(signerOf(session)), { type: 'authenticated' })
    socket.socket.terminate()
  })

  await t.test('gRPC', async (t) => {
    const client = connectGrpc(grpcPort, {}, credentials.createSsl(Buffer.from(ca)))
    t.equal((await client.call('GetProfile', {}, session)).code, 0)
    client.close()
    const options = { host: HOST, port: grpcPort, localAddress: CLIENT, ca, servername: 'localhost', ALPNProtocols: ['h2'] }
    const raw = connectHttp2(`https://${HOST}:${grpcPort}`, { createConnection: () => connectTls(options as object) })
    raw.on('error', () => undefined)
    const address = await addressAfter(() => {
      const call = raw.request({ ':method': 'POST', ':path': pathOf('Challenge'), 'content-type': 'application/grpc', te: 'trailers' })
      call.on('error', () => undefined)
      const message = encodeMessage('ChallengeRequest', BODY)
      const frame = Buffer.alloc(5)
      frame.writeUInt32BE(message.length, 1)
      call.end(Buffer.concat([frame, message]))
    })
    raw.destroy()
    t.equal(address, CLIENT)
  })
})
