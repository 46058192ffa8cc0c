/**
 * Promise: a client whose connection was ended as a flood is refused for a second, for twice as long after each other one, for a minute at
 * most; a client that was quiet begins anew; proxies are never refused, and neither are others.
 */
import type { Socket } from 'node:net'
import t from 'tap'
import { PORT_COUNTER, PORT_COUNTERS } from '../../core/ring/ports.ts'
import { Backoff, FIRST_MS, FORGET_MS, LONGEST_MS } from '../../gateway/limits/backoff.ts'
import { ConnectionPort } from '../../gateway/limits/port.ts'
import { siteOf, networkOf } from '../../gateway/limits/network.ts'
import { Connection } from '../support/connection.ts'

t.test('times', async (t) => {
  let now = 0
  const backoff = new Backoff(new Set(['proxy']), () => now)
  t.notOk(backoff.isOff('a'))
  for (let strikes = 1, ms = FIRST_MS; strikes <= 10; strikes++, ms = Math.min(2 * ms, LONGEST_MS)) {
    backoff.strike('a')
    t.ok(backoff.isOff('a'))
    now += ms - 1
    t.ok(backoff.isOff('a'), `${strikes}: ${ms} ms`)
    now++
    t.notOk(backoff.isOff('a'))
  }
  t.notOk(backoff.isOff('b'))
  now += FORGET_MS + 1
  backoff.strike('a')
  now += FIRST_MS
  t.notOk(backoff.isOff('a'), 'it was quiet')
  backoff.strike('proxy')
  t.notOk(backoff.isOff('proxy'))
})

t.test('a port', async (t) => {
  let now = 0
  const counters = new Float64Array(PORT_COUNTERS.length)
  const port = new ConnectionPort(100, 60_000, new Set(['10.0.0.1']), counters, undefined, () => now)
  t.teardown(() => port.close())
  const open = (address: string): { socket: Socket; admitted: boolean } => {
    const socket = new Connection(address) as unknown as Socket
    return { socket, admitted: port.admit(socket) }
  }
  const first = open('192.0.2.1')
  const idle = open('192.0.2.2')
  port.end(first.socket, 'flood', true)
  port.end(idle.socket, 'flood')
  t.equal(counters[PORT_COUNTER.cut_flood], 2)
  t.equal(open('192.0.2.1').admitted, false)
  t.equal(open('192.0.2.2').admitted, true, 'its end was no flood')
  const handedOn = open('10.0.0.1')
  t.equal(port.moveTo(handedOn.socket, '192.0.2.1'), false, 'behind a proxy neither')
  t.equal(counters[PORT_COUNTER.refused_backoff], 2)
  now = FIRST_MS
  t.equal(open('192.0.2.1').admitted, true)
  t.equal(port.shares.heldBy('192.0.2.1'), 2, 'the ended one and the new one')
})

t.test('a site is an IPv4 address, or the /48 around an IPv6 client', async (t) => {
  t.equal(siteOf(networkOf('192.0.2.7')), '192.0.2.7')
  t.equal(siteOf(networkOf('2001:db8:1:2::1')), '2001:db8:1')
  t.equal(siteOf(networkOf('2001:db8:1:ffff:1::1')), siteOf(networkOf('2001:db8:1::')))
  t.not(siteOf(networkOf('2001:db8:2:2::1')), siteOf(networkOf('2001:db8:1:2::1')))
  t.equal(siteOf(networkOf('::ffff:192.0.2.7')), '192.0.2.7')
})
