/** Promise: a header of the PROXY protocol is read exactly, wherever it is cut; what is none, or too long, is known at once. */
import { PassThrough } from 'node:stream'
import type { Socket } from 'node:net'
import t from 'tap'
import { LENGTH_MAX, parseProxyHeader, readProxyHeader, type Beginning } from '../../gateway/limits/proxy_header.ts'
import { LOCAL_HEADER, proxyHeader, proxyHeader6, rawProxyHeader, SIGNATURE } from '../support/proxy_header.ts'

const REST = Buffer.from('PRI * HTTP/2.0')
const V4 = proxyHeader('198.51.100.1')
const V6 = proxyHeader6('2001:db8:0:0:0:0:0:7')
const LONG = proxyHeader('198.51.100.1', Buffer.alloc(1_000))

const GOOD: [what: string, header: Buffer, source: string | null][] = [
  ['IPv4', V4, '198.51.100.1'], ['IPv6', V6, '2001:db8:0:0:0:0:0:7'], ['with fields behind the addresses', LONG, '198.51.100.1'],
  ['of the proxy itself', LOCAL_HEADER, null], ['of the proxy itself, with an address', rawProxyHeader(0x20, 0x11, V4.subarray(16)), null],
  ['no family', rawProxyHeader(0x21, 0x00, Buffer.alloc(0)), null], ['UNIX', rawProxyHeader(0x21, 0x31, Buffer.alloc(216)), null],
]
for (const [what, header, source] of GOOD) {
  t.test(`a good header: ${what}`, async (t) => {
    for (let end = 0; end < header.length; end++) t.equal(parseProxyHeader(header.subarray(0, end)), 'more', `${end} bytes`)
    for (const bytes of [header, Buffer.concat([header, REST])]) t.same(parseProxyHeader(bytes), { length: header.length, source })
  })
}

t.test('what is no header, or a bad one', async (t) => {
  const texts = ['PROXY TCP4 1.2.3.4', '\r\n\r\n\r\n', '\r\nGET', '\x16\x03\x01'].map((text) => Buffer.from(text, 'latin1'))
  for (const bytes of [REST, ...texts]) {
    t.equal(parseProxyHeader(bytes), 'none', JSON.stringify(bytes.toString('latin1')))
  }
  for (const [what, bytes] of [
    ['version 1 in the byte', rawProxyHeader(0x11, 0x11, V4.subarray(16))],
    ['an unknown command', rawProxyHeader(0x22, 0x11, V4.subarray(16))],
    ['UDP', rawProxyHeader(0x21, 0x12, V4.subarray(16))], ['IPv4 cut short', rawProxyHeader(0x21, 0x11, Buffer.alloc(11))],
    ['IPv4 of nothing', rawProxyHeader(0x21, 0x11, Buffer.alloc(0))], ['IPv6 cut short', rawProxyHeader(0x21, 0x21, Buffer.alloc(35))],
    ['too long', rawProxyHeader(0x21, 0x11, Buffer.alloc(0), LENGTH_MAX - 15)],
    ['much too long', rawProxyHeader(0x21, 0x11, Buffer.alloc(0), 65_535)],
  ] as const) t.equal(parseProxyHeader(bytes), 'bad', what)
  t.equal(parseProxyHeader(rawProxyHeader(0x21, 0x11, Buffer.alloc(0), LENGTH_MAX - 16)), 'more', 'as long as it may be')
})

/** What is read of a connection that says this, one piece after the other, and what is left in it. */
async function readOf(pieces: readonly Buffer[]): Promise<{ read: Beginning | null; left: string }> {
  const socket = new PassThrough()
  let read: Beginning | null = null
  readProxyHeader(socket as unknown as Socket, (beginning) => (read = beginning))
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { read, left: (socket.read() as Buffer | null)?.toString('latin1') ?? '' }
}

t.test('of a connection: whole, byte by byte, with a second one behind it, which is the client’s', async (t) => {
  const expected = { length: V4.length, source: '198.51.100.1' }
  t.same(await readOf([Buffer.concat([V4, REST])]), { read: expected, left: REST.toString() })
  t.same(await readOf([...V4].map((byte) => Buffer.from([byte]))), { read: expected, left: '' })
  t.same(await readOf([...Buffer.concat([V4, REST])].map((byte) => Buffer.from([byte]))), { read: expected, left: REST.toString() })
  t.same(await readOf([Buffer.concat([V4, V6, REST])]), { read: expected, left: Buffer.concat([V6, REST]).toString('latin1') })
  t.same(await readOf([REST]), { read: 'none', left: REST.toString() })
  t.same(await readOf([SIGNATURE.subarray(0, 4), REST]), { read: 'none', left: `${SIGNATURE.subarray(0, 4).toString('latin1')}${REST}` })
  t.same(await readOf([V4.subarray(0, 15)]), { read: null, left: '' })
})
