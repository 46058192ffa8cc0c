/**
 * Promise: behind Debian's nginx and haproxy, which share their connections to the service among all their users, nobody's bytes become
 * a request on another user's connection, and honest users get their own answers, all of them.
 *
 * Attackers send requests whose end a proxy and the service could see at different places, each with a request hidden in it, beside
 * users who sign every request and look whether the answer is theirs.
 */
import { request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { missing, PROXIES, startProxy, type ProxyName } from '../support/proxy.ts'
import { signed, startHarness, type Session } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const users = [await harness.openSession(), await harness.openSession(), await harness.openSession(), await harness.openSession()]

const ME = '/api/v1/accounts/me'
const CHALLENGE = '/api/v1/auth/challenge'
const head = (line: string, ...more: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: x', 'User-Agent: attacker', ...more, '', ''].join('\r\n')
/** What would be answered to somebody else, if it got through: 404. */
const HIDDEN = head('GET /api/v1/hidden')
/** A length that covers it, behind an empty chunked body. */
const COVERING = `Content-Length: ${5 + HIDDEN.length}`
const CHUNKED = 'Transfer-Encoding: chunked'
const OPEN_HIDDEN = HIDDEN.slice(0, -2) + 'X-Rest: '
/** Fields, and behind two bytes the head of a request. */
const TRAILERS = 'POST: /api/v1/hidden HTTP/1.1\r\nHost: x\r\nUser-Agent: attacker\r\n'
const chunks = (...parts: string[]): string => parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')
const post = (body: string, ...more: string[]): string => head(`POST ${CHALLENGE}`, ...more) + body

/** Requests with another one in them. */
const ATTACKS: Record<string, string> = {
  'a trailer that is a request': post(`0\r\n${HIDDEN}\r\n`, CHUNKED),
  'a trailer field before a request': post(`0\r\nX: y\r\n\r\n${HIDDEN}`, CHUNKED),
  'trailers that begin a request': post(`${chunks('{}')}0\r\nGET /api/v1/hidden HTTP/1.1: x\r\nHost: x\r\n\r\n`, CHUNKED),
  // A parser that skips two bytes behind the last chunk and takes any bytes for a method reads these as a request.
  'trailers that are a request': post(`${chunks('{}')}0\r\n..${TRAILERS}\r\n`, CHUNKED),
  'trailers that are a request with a body to come': post(
    `${chunks('{}')}0\r\n..${TRAILERS}Content-Length: 3000\r\n\r\n`, CHUNKED,
  ),
  'a trailer whose name is two bytes': post(`${chunks('{}')}0\r\nX:\r\n\r\n`, CHUNKED),
  'long trailers': post(`${chunks('{}')}0\r\n${'A: b\r\n'.repeat(20)}\r\n`, CHUNKED),
  'a chunk extension': post(`2;x="\r\n\r\n${HIDDEN}"\r\n{}\r\n0\r\n\r\n`, CHUNKED),
  'a chunk ended by a line feed': post(`2\n{}\n0\n\n${HIDDEN}`, CHUNKED),
  'a chunk with a request': post(`${chunks(HIDDEN)}0\r\n\r\n`, CHUNKED),
  'a request behind chunks': post(`${chunks('{}')}0\r\n\r\n${HIDDEN}`, CHUNKED),
  'both, the length short': post(`${chunks('{}')}0\r\n\r\n${HIDDEN}`, 'Content-Length: 4', CHUNKED),
  'both, the length long': post(`0\r\n\r\n${HIDDEN}`, COVERING, CHUNKED),
  'an unknown coding': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer-Encoding: xchunked'),
  'two codings': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer-Encoding: identity', CHUNKED),
  'a coding behind a tab': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer-Encoding:\tchunked'),
  'a coding behind a control character': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer-Encoding:\x0bchunked'),
  'a coding with a blank in its name': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer-Encoding : chunked'),
  'a coding behind a line feed': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'X: y\nTransfer-Encoding: chunked'),
  'an underscore': post(`0\r\n\r\n${HIDDEN}`, COVERING, 'Transfer_Encoding: chunked'),
  'no length, and a request': post(HIDDEN, 'Content-Length:'),
  'two lengths': post(HIDDEN, 'Content-Length: 0', `Content-Length: ${HIDDEN.length}`),
  'two lengths, the long one first': post(HIDDEN, `Content-Length: ${HIDDEN.length}`, 'Content-Length: 0'),
  'a list of lengths': post(HIDDEN, `Content-Length: 0, ${HIDDEN.length}`),
  'a length with a sign': post(HIDDEN, `Content-Length: +${HIDDEN.length}`),
  'a length with zeros': post(HIDDEN, `Content-Length: 000000000${HIDDEN.length}`),
  'a length in the other base': post(HIDDEN, 'Content-Length: 0x10'),
  'a body of a GET': head('GET /api/v1/time', `Content-Length: ${HIDDEN.length}`) + HIDDEN,
  'a body of a HEAD': head('HEAD /api/v1/time', `Content-Length: ${HIDDEN.length}`) + HIDDEN,
  'a body of an unknown path': head('POST /nope', `Content-Length: ${HIDDEN.length}`) + HIDDEN,
  'a body of an order of nobody': head('POST /api/v1/orders', `Content-Length: ${HIDDEN.length}`) + HIDDEN,
  'a body too large': head(`POST ${CHALLENGE}`, `Content-Length: ${200 * HIDDEN.length}`) + HIDDEN.repeat(200),
  'a body that is expected': head(`POST ${CHALLENGE}`, `Content-Length: ${HIDDEN.length}`, 'Expect: 100-continue') + HIDDEN,
  'a method with a brace': head('G{T /api/v1/time', `Content-Length: ${HIDDEN.length}`) + HIDDEN,
  'half a request behind one': head('GET /api/v1/time') + OPEN_HIDDEN,
  'an upgrade with a body': head(
    'GET /ws', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 12', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Content-Length: ${HIDDEN.length}`,
  ) + HIDDEN,
  'an upgrade to something else': head(
    'GET /api/v1/time', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk',
  ) + HIDDEN,
}

/** Sends bytes, and waits until the proxy has answered something or closed. */
function attack(path: string, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write(Buffer.from(bytes, 'latin1')))
    const done = (): void => {
      socket.destroy()
      resolve()
    }
    socket.setTimeout(150, done)
    socket.on('error', done).on('close', done).once('data', done)
  })
}

/** Asks as a user, through the proxy; what is wrong with the answer, or ''. */
function ask(socketPath: string, user: Session): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'Host': 'x', 'User-Agent': 'honest', ...signed(user, 'GET', ME) }
    const asked = request({ socketPath, path: ME, headers }, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => {
        const mine = text.toLowerCase().includes(user.address.toLowerCase())
        resolve(answer.statusCode === 200 && mine ? '' : `${answer.statusCode}: ${text.slice(0, 200)}`)
      })
    })
    asked.on('error', (error) => resolve(error.message))
    asked.end()
  })
}

async function behind(name: ProxyName): Promise<Record<string, string>> {
  const proxy = await startProxy(name, harness.port)
  const wrong: Record<string, string> = {}
  try {
    for (const [what, bytes] of Object.entries(ATTACKS)) {
      const honest = users.map(async (user) => {
        for (let round = 0; round < 6; round++) {
          const answer = await ask(proxy.path, user)
          if (answer !== '') wrong[what] = answer
        }
      })
      await Promise.all([...honest, ...Array.from({ length: 6 }, () => attack(proxy.path, bytes))])
    }
  } finally {
    await proxy.stop()
  }
  return wrong
}

for (const name of PROXIES) {
  const why = missing(name)
  const skip = why !== '' && why
  t.test(`behind ${name}`, { skip }, async (t) => {
    t.strictSame(await behind(name), {}, `honest users had their own answers beside ${Object.keys(ATTACKS).length} attacks`)
  })
}
