/** Promise: a connection that a proxy handed on counts for its client, and for nobody once it is closed, however full the port is. */
import type { Socket } from 'node:net'
import t from 'tap'
import { PORT_COUNTER, PORT_COUNTERS } from '../../core/ring/ports.ts'
import { ConnectionPort } from '../../gateway/limits/port.ts'
import { readProxies } from '../../gateway/limits/shares.ts'
import { Connection } from '../support/connection.ts'

const PROXY = '10.0.0.1'

t.test('a full port loses no place when a proxy names a client that has its share', async (t) => {
  const counters = new Float64Array(PORT_COUNTERS.length)
  const port = new ConnectionPort(100, 60_000, readProxies({ proxyAddresses: '', trustedProxies: PROXY }), counters)
  t.teardown(() => port.close())
  const open = (address: string): Socket => {
    const socket = new Connection(address) as unknown as Socket
    t.ok(port.admit(socket))
    return socket
  }
  const handedOn = Array.from({ length: 90 }, () => open(PROXY))
  const direct = Array.from({ length: 10 }, (_, i) => open(`192.0.2.${i}`))
  t.equal(port.moveTo(handedOn[0]!, '192.0.2.1'), false, 'it is closed')
  t.equal(counters[PORT_COUNTER.refused_share], 1)
  t.equal(port.moveTo(handedOn[1]!, '198.51.100.1'), true)
  t.same([port.shares.heldBy(PROXY), port.shares.heldBy('198.51.100.1'), port.shares.total], [88, 1, 99])
  for (const socket of [...handedOn, ...direct]) socket.destroy()
  t.equal(port.shares.total, 0)
})
