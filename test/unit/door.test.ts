/** Promise: a port that cannot be had is tried again as often as it takes, and nothing is left behind by a try. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { listenOn } from '../../gateway/limits/door.ts'

t.test('tries in vain leave no listeners, and the one that succeeds says the port', async (t) => {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const server = createServer()
  const before = [server.listenerCount('listening'), server.listenerCount('error')]
  for (let i = 0; i < 20; i++) await t.rejects(listenOn(server, '127.0.0.1', port), { code: 'EADDRINUSE' })
  t.same([server.listenerCount('listening'), server.listenerCount('error')], before)
  await new Promise((resolve) => other.close(resolve))
  t.equal(await listenOn(server, '127.0.0.1', port), port)
  t.same([server.listenerCount('listening'), server.listenerCount('error')], before)
  await new Promise((resolve) => server.close(resolve))
})
