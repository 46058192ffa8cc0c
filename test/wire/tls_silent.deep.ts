/**
 * Promise: TLS handshakes that do not end are ended, on the port of REST and WebSocket and on that of gRPC, also when bytes come one by
 * one; connections that work go on beside them.
 */
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { portBlock, PORT_COUNTER } from '../../core/ring/ports.ts'
import { certificateFiles } from '../support/certificates.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { startHarness } from '../support/gateway_harness.ts'
import { until } from '../support/until.ts'

t.setTimeout(120_000)
const directory = temporaryDirectory()
const files = certificateFiles(join(directory, 'certificates'))
const pair = (name: string): string[] => [`--${name}-cert`, files.cert, `--${name}-key`, files.key]
const harness = await startHarness(['--grpc-thread', '1', '--first-request-seconds', '2', ...pair('tls'), ...pair('grpc')])
t.teardown(async () => {
  await harness.close()
  removeDirectory(directory)
})

/** The first bytes of a handshake, without the rest. */
const HELLO = Buffer.from('16030100c8010000c40303', 'hex')
const HOST = '127.0.0.1'

for (const [name, port, thread] of [['http', harness.port, 1], ['grpc', harness.grpcPort, 2]] as const) {
  t.test(name, async (t) => {
    const open = (): number => portBlock(harness.shared.ports, thread, name)[PORT_COUNTER.open]!
    const half = [0, 5, 11].map((bytes) => {
      const socket = connectTcp({ port, host: HOST, allowHalfOpen: true })
      let ended = false
      socket.on('end', () => (ended = true)).on('close', () => (ended = true)).on('error', () => (ended = true))
      if (bytes > 0) socket.write(HELLO.subarray(0, bytes))
      const drip = setInterval(() => bytes === HELLO.length && !ended && socket.write(Buffer.from([0])), 500)
      t.teardown(() => {
        clearInterval(drip)
        socket.destroy()
      })
      return () => ended
    })
    t.ok(await until(() => open() === half.length), 'they are counted before they have said anything')
    let answered = 0
    const working = connect({ host: HOST, port: harness.port, rejectUnauthorized: false }) as TLSSocket
    working.on('data', () => answered++).on('error', () => undefined)
    const asking = setInterval(() => working.write('GET /health HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n'), 500)
    t.teardown(() => {
      clearInterval(asking)
      working.destroy()
    })
    t.ok(await until(() => half.every((ended) => ended())), 'all of them are ended')
    const before = answered
    t.ok(before > 0)
    t.ok(await until(() => answered > before), 'one that works goes on')
    clearInterval(asking)
    working.destroy()
    t.ok(await until(() => open() === 0))
  })
}
