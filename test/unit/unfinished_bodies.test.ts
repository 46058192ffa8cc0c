/**
 * Promise: of the room for bodies that came in part a client has as much as is left free, also while it grows by pieces; an address of
 * `proxyAddresses`, behind which there are many, has all but a tenth; all of it is given back.
 */
import t from 'tap'
import { GATEWAY, GATEWAY_COUNTERS } from '../../core/ring/counters.ts'
import { Unfinished, type Body } from '../../gateway/http/unfinished.ts'

const MIB = 1024 * 1024
const PIECE = new ArrayBuffer(16 * 1024)

function start(proxyAddresses: string): { all: Unfinished; counters: Float64Array } {
  const counters = new Float64Array(GATEWAY_COUNTERS.length)
  return { all: new Unfinished({ bodyMb: 1, bodyKbPerSecond: 64, proxyAddresses, trustedProxies: '' }, counters), counters }
}

/** Pieces into 64 bodies in turns until one is refused each; the refusal, and the bodies. */
function fill(all: Unfinished, address: string): { refused: Set<string>; bodies: Body[] } {
  const refused = new Set<string>()
  const bodies = Array.from({ length: 64 }, () => all.begin(address, ({ code }) => refused.add(code)))
  for (let piece = 0; piece < 8; piece++) for (const body of bodies) body.add(PIECE)
  return { refused, bodies }
}

t.test('one client has half, however small its pieces', async (t) => {
  const { all, counters } = start('10.0.0.9')
  const most = (): number => counters[GATEWAY.unfinished_body_bytes]!
  const { refused, bodies } = fill(all, '10.0.0.1')
  t.same([...refused], ['RATE_LIMIT_EXCEEDED'])
  t.equal(most(), MIB / 2)
  // Another address of the same network is the same client.
  const mapped = fill(all, '::ffff:10.0.0.1')
  t.equal(most(), MIB / 2)
  for (const body of [...bodies, ...mapped.bodies]) body.end()
  t.equal(most(), 0)
  all.close()
})

t.test('a proxy has all but a tenth, and somebody else finds that', async (t) => {
  const { all, counters } = start('10.0.0.9')
  const proxy = fill(all, '10.0.0.9')
  t.same([...proxy.refused], ['RATE_LIMIT_EXCEEDED'])
  const held = counters[GATEWAY.unfinished_body_bytes]!
  t.ok(held > 0.85 * MIB && held <= 0.9 * MIB, `${held} bytes`)
  const other = all.begin('10.0.0.2', ({ code }) => t.fail(code))
  other.add(PIECE)
  t.equal(other.size, PIECE.byteLength)
  for (const body of [...proxy.bodies, other]) body.end()
  t.equal(counters[GATEWAY.unfinished_body_bytes], 0)
  all.close()
})
