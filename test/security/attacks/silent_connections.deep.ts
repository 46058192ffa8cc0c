/**
 * Promise: one host that opens connections on every port and says nothing on them, as fast as it can, keeps nobody out: who comes from
 * elsewhere trades over HTTP, gRPC and WebSockets, and the operator and the chain answer.
 */
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { pathOf } from '../../support/grpc.ts'

t.setTimeout(900_000)
/** Connections held on each port at once, where there are places for 64 (operator) to 256. */
const HELD = 300
const [ATTACKER, HONEST] = ['127.0.0.2', '127.0.0.9']

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, [
  '--gateways', '1', '--grpc-connections', '128', '--http-connections', '256', '--ws-connections', '32', '--first-request-seconds', '2',
])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})

const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'

/** Keeps {@link HELD} connections to a port open that say `bytes` and no more, until it is ended. */
async function hold(port: number, bytes: string, ended: AbortSignal): Promise<void> {
  const held = new Set<Socket>()
  while (!ended.aborted) {
    for (let i = held.size; i < HELD; i++) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER, allowHalfOpen: true })
      held.add(socket)
      // Destroyed when its end comes, or this process runs out of descriptors itself.
      for (const event of ['end', 'close', 'error']) socket.on(event, () => held.delete(socket.destroy()))
      socket.resume()
      socket.write(Buffer.from(bytes, 'latin1'))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const socket of held) socket.destroy()
}

/** Status of a GET or a JSON-RPC POST from another address. */
function ask(port: number, path: string, body?: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'User-Agent': 'test', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) }
    const method = body === undefined ? 'GET' : 'POST'
    const asked = request({ port, path, method, headers, host: '127.0.0.1', localAddress: HONEST, agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode!))
    })
    asked.on('error', () => resolve(0))
    asked.end(body)
  })
}

/** grpc-status of Check on a connection of its own. */
function check(): Promise<string> {
  return new Promise((resolve) => {
    const session = connectHttp2('http://127.0.0.1', {
      createConnection: () => connect({ port: exchange.grpcPort, host: '127.0.0.1', localAddress: HONEST }),
    })
    session.on('error', (error) => resolve(error.message))
    const stream = session.request({ ':method': 'POST', ':path': pathOf('Check'), 'content-type': 'application/grpc', te: 'trailers' })
    stream.on('error', () => undefined)
    stream.on('trailers', (trailers) => resolve(String(trailers['grpc-status'])))
    stream.on('close', () => {
      resolve('closed')
      session.destroy()
    })
    stream.resume()
    stream.end(Buffer.alloc(5))
  })
}

/** First line of the answer to a request for a WebSocket. */
function upgrade(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: exchange.port, host: '127.0.0.1', localAddress: HONEST }, () => socket.write(UPGRADE))
    socket.on('error', (error) => resolve(error.message))
    socket.on('close', () => resolve('closed'))
    socket.once('data', (data: Buffer) => {
      resolve(data.toString('latin1').split('\r\n')[0]!)
      socket.destroy()
    })
  })
}

t.test('silent connections on every port', async (t) => {
  const { port, grpcPort, operatorPort, chainPort } = exchange
  const answers = { http: new Set<number>(), operator: new Set<number>(), chain: new Set<number>(), grpc: new Set(), socket: new Set() }
  const { attacked } = await besideAttack(t, exchange, {
    name: 'silent connections', ms: 4_000, rate: 20,
    attack: async (ended) => {
      const attacks = [
        hold(port, '', ended), hold(port, 'GET / HTTP/1.1\r\nHost', ended), hold(port, UPGRADE, ended), hold(grpcPort, PREFACE, ended),
        hold(operatorPort, '', ended), hold(chainPort!, 'POST / HTTP/1.1\r\nHost: localhost\r\n', ended),
      ]
      while (!ended.aborted) {
        answers.http.add(await ask(port, '/api/v1/health'))
        answers.operator.add(await ask(operatorPort, '/ready'))
        answers.chain.add(await ask(chainPort!, '/', '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'))
        answers.grpc.add(await check())
        answers.socket.add(await upgrade())
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await Promise.all(attacks)
    },
  })
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  // Whoever is told 503 was let in. A pause of the machine is taken from the time that requests without a signature share.
  t.ok(answers.http.has(200))
  t.same([...answers.http].filter((code) => code !== 200 && code !== 503), [])
  t.same([...answers.operator].filter((code) => code !== 200 && code !== 503), [], 'the operator is answered')
  t.same([...answers.chain], [200])
  t.same([...answers.grpc], ['0'])
  t.same([...answers.socket], ['HTTP/1.1 101 Switching Protocols'])
  const metrics = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  const of = (name: string, label: string): number[] =>
    [...metrics.matchAll(new RegExp(`^${name}\\{port="${label}"[^}]*\\} (\\d+)`, 'gm'))].map((match) => Number(match[1]))
  for (const name of ['http', 'websocket', 'grpc', 'operator', 'chain']) {
    const [most] = of('exchange_port_connections_limit', name)
    t.ok(Math.max(...of('exchange_port_connections', name)) <= most!, `${name}: within ${most}`)
    // Those that want a WebSocket are mostly turned away before, as connections.
    if (name === 'websocket') continue
    const turned = [...of('exchange_connections_refused_total', name), ...of('exchange_connections_ended_total', name)]
    t.ok(turned.some((count) => count > 0), `${name}: somebody was turned away`)
  }
})
