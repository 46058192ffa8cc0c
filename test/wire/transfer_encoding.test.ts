/**
 * Promise: a connection on which Transfer-Encoding appeared never gets another request served, in whatever pieces its bytes arrive and
 * whatever follows them: chunks, trailers, a whole request, or requests that its client does not read the answers of.
 *
 * Every request of the stream has an address of its own in its query, which the answers do not repeat; so answers are counted by status.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { startHarness } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const { port } = harness
const counters = gatewayCounters(harness.shared.counters, 1)

const head = (line: string, ...more: string[]): string => [`${line} HTTP/1.1`, 'Host: x', 'User-Agent: test', ...more, '', ''].join('\r\n')
const TIME = head('GET /api/v1/time')
const CHUNKED = head('POST /api/v1/auth/challenge', 'Transfer-Encoding: chunked')

/** What may follow the head of a chunked request. */
const ENDINGS: Record<string, string> = {
  'nothing': '',
  'a whole body': '2\r\n{}\r\n0\r\n\r\n',
  'an empty body': '0\r\n\r\n',
  'a trailer': '0\r\nX: y\r\n\r\n',
  'a trailer that is a request': `0\r\n${TIME}`,
  'two bytes and a request': `0\r\n..${TIME}`,
  'an extension': '0;x=y\r\n\r\n',
  'a size that is none': 'zz\r\n',
  'a chunk with a request in it': `${TIME.length.toString(16)}\r\n${TIME}\r\n0\r\n\r\n`,
}

/** Sends the pieces one after the other, each when the one before has been taken, and waits for the end of the connection. */
async function send(pieces: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await once(socket, 'connect')
  for (const piece of pieces) {
    if (socket.destroyed) break
    await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)))
  }
  await closed
  return received
}

const served = (received: string): number => received.split('HTTP/1.1 200').length - 1

for (const [name, ending] of Object.entries(ENDINGS)) {
  const bytes = `${CHUNKED}${ending}${TIME}${TIME}`
  t.test(`${name}, split at each byte`, async (t) => {
    const ats = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1)
    let answers = 0
    for (let at = 0; at < ats.length; at += 64) {
      const received = await Promise.all(ats.slice(at, at + 64).map((cut) => send([bytes.slice(0, cut), bytes.slice(cut)])))
      received.forEach((text, i) => served(text) > 0 && t.fail(`split at ${ats[at + i]}: ${text}`))
      answers += received.filter((text) => text.startsWith('HTTP/1.1 411')).length
    }
    t.comment(`${answers} of ${ats.length} read the answer before the connection was gone`)
    t.pass('nothing was served')
  })
  t.test(`${name}, byte by byte`, async (t) => {
    t.equal(served(await send([...bytes])), 0)
  })
}

t.test('behind a request that is served', async (t) => {
  for (const [name, ending] of Object.entries(ENDINGS)) {
    const received = await send([`${TIME}${CHUNKED}${ending}${TIME}`])
    t.ok(served(received) <= 1, name)
  }
})

t.test('of a client that does not take its answers', async (t) => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  await once(socket, 'connect')
  const before = counters[GATEWAY.requests]!
  // Each turn of the service gives few answers, so that the connection stays; together they are more than the kernel takes.
  const listing = head('GET /api/v1/openapi.json')
  let asked = 0
  for (; asked < 400 && !socket.destroyed; asked++) {
    const sequence = counters[GATEWAY.requests]!
    socket.write(listing)
    for (let look = 0; look < 200 && counters[GATEWAY.requests]! === sequence && !socket.destroyed; look++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    if (asked === 40) socket.write(CHUNKED)
  }
  t.ok(counters[GATEWAY.requests]! - before <= 42, `${counters[GATEWAY.requests]! - before} requests were looked at`)
  socket.destroy()
})
