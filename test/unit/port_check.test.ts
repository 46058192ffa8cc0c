/**
 * Promise: a port that cannot be had is found before anything is opened, and the message names the port, its setting
 * and who has it; what only looks like a port in use is none.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { ConfigError, readConfig } from '../../core/config.ts'
import { portHolder } from '../../core/lib/port_holder.ts'
import { checkPorts } from '../../core/port_check.ts'

const FREE = ['--port', '0', '--grpc-port', '0', '--operator-port', '0', '--chain-port', '0']
const check = (...flags: string[]): Promise<void> => checkPorts(readConfig([...FREE, ...flags], {})!)

async function listener(t: Test, options: ListenOptions = {}): Promise<{ server: Server; port: number }> {
  const server = createServer()
  server.listen({ host: '127.0.0.1', port: 0, ...options })
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

t.test('each port that is served, by its setting and with who has it', async (t) => {
  const { port } = await listener(t)
  for (const flag of ['--port', '--grpc-port', '--operator-port', '--chain-port']) {
    const variable = `RINGBOOK_${flag.slice(2).replace('-', '_').toUpperCase()}`
    const refused = await check(flag, String(port)).then(() => null, (error: unknown) => error as Error)
    t.ok(refused instanceof ConfigError, flag)
    const by = process.platform === 'linux' ? `process ${process.pid} (` : 'another process'
    const message = String(refused?.message)
    t.ok(message.includes(`port ${port} of 127.0.0.1 (${flag}, ${variable}) is in use by ${by}`), message)
  }
  await check('--grpc-thread', '0', '--grpc-port', String(port))
  await check('--chain', '0', '--chain-port', String(port))
  await check('--chain-rpc-url', 'http://127.0.0.1:1', '--chain-port', String(port))
  t.pass('what is not served may be taken')
})

t.test('another exchange, whose gateways share their port', async (t) => {
  const { port } = await listener(t, { reusePort: true } as ListenOptions)
  await t.rejects(check('--port', String(port)), /is in use by/)
})

t.test('a port of one address, and of all', async (t) => {
  const { port } = await listener(t, { host: '127.0.0.1' })
  await t.rejects(check('--host', '0.0.0.0', '--port', String(port)), /is in use by/)
  const every = await listener(t, { host: '::' })
  await t.rejects(check('--port', String(every.port)), /is in use by/)
})

t.test('connections that are still being closed keep no port', async (t) => {
  const { server, port } = await listener(t)
  const client = connect(port, '127.0.0.1')
  const [accepted] = (await once(server, 'connection')) as [ReturnType<typeof connect>]
  // Who closes first keeps the connection in TIME_WAIT.
  accepted.end()
  client.resume()
  await Promise.all([once(client, 'close'), once(accepted.resume(), 'close')])
  await new Promise((resolve) => server.close(resolve))
  t.equal(portHolder('127.0.0.1', port), '', 'they are nobody who listens')
  await check('--port', String(port))
  await check('--port', String(port))
  t.pass('it is free, also behind a look')
})

t.test('one number for two settings', async (t) => {
  const { server, port } = await listener(t)
  await new Promise((resolve) => server.close(resolve))
  const twice = check('--port', String(port), '--operator-port', String(port))
  await t.rejects(twice, { message: /^port \d+ is named twice, by --port, \w+ and by --operator-port, \w+$/ })
  await check('--port', String(port))
})

t.test('an address that this machine does not have', async (t) => {
  const refused = check('--host', '192.0.2.1', '--port', '8080')
  await t.rejects(refused, { message: /^192\.0\.2\.1 \(--host, .*no address of this machine/ })
})

t.test('nobody has a free port', async (t) => {
  const { server, port } = await listener(t)
  await new Promise((resolve) => server.close(resolve))
  t.equal(portHolder('127.0.0.1', port), '')
})
