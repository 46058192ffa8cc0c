/**
 * Requests that two HTTP parsers could read differently, and everything else about framing: sent as raw
 * bytes, because no client library would send most of them.
 */
import t from 'tap'
import { request, sendRaw, startHarness } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const { port } = harness

const lines = (...head: string[]): string => `${head.join('\r\n')}\r\n\r\n`
const get = (path: string, ...head: string[]): string => lines(`GET ${path} HTTP/1.1`, 'Host: x', 'User-Agent: test', ...head)
const post = (...head: string[]): string => lines('POST /api/v1/auth/challenge HTTP/1.1', 'Host: x', 'User-Agent: test', ...head)
/** What a smuggled request would be answered with. */
const SMUGGLED = get('/api/v1/time')

t.test('a request that follows another on its connection is served', async (t) => {
  const { replies, closed } = await sendRaw(port, get('/api/v1/time') + get('/health'), 2)
  t.same(replies.map((reply) => reply.status), [200, 200])
  t.equal(closed, false)
})

/** By what they are refused with. */
const suspects: Record<number, Record<string, string>> = {
  400: {
    'two different Content-Length': `${post('Content-Length: 4', 'Content-Length: 40')}{}  `,
    'two equal Content-Length': `${post('Content-Length: 2', 'Content-Length: 2')}{}`,
    'Content-Length list': `${post('Content-Length: 2, 2')}{}`,
    'Content-Length list without space': `${post('Content-Length: 2,2')}{}`,
    'Content-Length with sign': `${post('Content-Length: +2')}{}`,
    'negative Content-Length': `${post('Content-Length: -2')}{}`,
    'hexadecimal Content-Length': `${post('Content-Length: 0x2')}{}`,
    'empty Content-Length': `${post('Content-Length:')}`,
    'blank Content-Length': `${post('Content-Length:  ')}`,
    'Content-Length with zeros in front': `${post('Content-Length: 0000000002')}{}`,
    'Content-Length with a blank inside': `${post('Content-Length: 0 2')}{}`,
    'Content-Length with a fraction': `${post('Content-Length: 2.0')}{}`,
    'Content-Length of another alphabet': `${post('Content-Length: ٢')}{}`,
    'two Host': lines('GET /api/v1/time HTTP/1.1', 'Host: x', 'Host: y', 'User-Agent: test'),
    'no Host': lines('GET /api/v1/time HTTP/1.1', 'User-Agent: test'),
    'a method that is no token': lines('G{T /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent: test'),
    'a method in quotes': lines('"GET" /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent: test'),
    'a method with a slash': lines('GET/ /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent: test'),
  },
  411: {
    'Transfer-Encoding chunked': `${post('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
    'Transfer-Encoding identity': `${post('Transfer-Encoding: identity')}2\r\n{}\r\n0\r\n\r\n`,
    'Transfer-Encoding gzip, chunked': `${post('Transfer-Encoding: gzip, chunked')}2\r\n{}\r\n0\r\n\r\n`,
    'Transfer-Encoding xchunked': `${post('Transfer-Encoding: xchunked')}2\r\n{}\r\n0\r\n\r\n`,
    'Transfer-Encoding Chunked': `${post('Transfer-Encoding: Chunked')}2\r\n{}\r\n0\r\n\r\n`,
    'empty Transfer-Encoding': post('Transfer-Encoding:'),
    'two Transfer-Encoding': `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
    'Transfer-Encoding on a GET': `${get('/api/v1/time', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    'Transfer-Encoding on an upgrade': lines(
      'GET /ws HTTP/1.1', 'Host: x', 'User-Agent: test', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Transfer-Encoding: chunked',
    ),
  },
}
/** The library itself refuses some, with an answer of its own. */
const EITHER: Record<string, string> = {
  'Content-Length with Transfer-Encoding': `${post('Content-Length: 2', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
  'Transfer-Encoding before Content-Length': `${post('Transfer-Encoding: chunked', 'Content-Length: 2')}2\r\n{}\r\n0\r\n\r\n`,
  'a method of another alphabet': lines('GÉT /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent: test'),
  'a trailer': `${post('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\nX: y\r\n\r\n`,
  'bad chunk size': `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
}

const refused: [name: string, bytes: string, statuses: readonly number[]][] = [
  ...Object.entries(suspects).flatMap(([status, cases]) =>
    Object.entries(cases).map(([name, bytes]): [string, string, number[]] => [name, bytes, [Number(status)]])),
  ...Object.entries(EITHER).map(([name, bytes]): [string, string, number[]] => [name, bytes, [400, 411, 505]]),
]

for (const [name, bytes, statuses] of refused) {
  t.test(`${name}: ${statuses.join(' or ')} and the connection ends`, async (t) => {
    const { replies, closed } = await sendRaw(port, bytes, 9)
    t.ok(closed, 'closed')
    t.ok(replies.length <= 1, 'at most one answer')
    for (const reply of replies) t.ok(statuses.includes(reply.status), `${reply.status}`)
  })
  t.test(`${name}: what follows is never served`, async (t) => {
    const { replies, closed } = await sendRaw(port, bytes + SMUGGLED, 9)
    t.ok(closed, 'closed')
    t.notOk(replies.some((reply) => reply.status === 200), 'no second answer')
  })
}

t.test('a refused Transfer-Encoding is named, and says that the connection ends', async (t) => {
  const { replies, closed, rest } = await sendRaw(port, post('Transfer-Encoding: chunked'), 9)
  t.match(replies[0], { status: 411, json: { code: 'LENGTH_REQUIRED', statusCode: 411 }, headers: { connection: 'close' } })
  t.equal(rest.trim(), '', 'the answer is as long as it says')
  t.ok(closed)
})

t.test('a smuggling pair: the body of the longer length is not read as a request', async (t) => {
  const { replies } = await sendRaw(port, post('Content-Length: 0', `Content-Length: ${SMUGGLED.length}`) + SMUGGLED, 9)
  t.notOk(replies.some((reply) => reply.status === 200))
})

t.test('User-Agent', async (t) => {
  const cases: [string, string][] = [
    ['absent', lines('GET /api/v1/time HTTP/1.1', 'Host: x')],
    ['empty', lines('GET /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent:')],
    ['blank', lines('GET /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent:   ')],
    ['twice', lines('GET /api/v1/time HTTP/1.1', 'Host: x', 'User-Agent: a', 'User-Agent: b')],
    ['absent on an unknown path', lines('GET /nope HTTP/1.1', 'Host: x')],
    ['absent with a body', `${lines('POST /api/v1/orders HTTP/1.1', 'Host: x', 'Content-Length: 2')}{}`],
    ['absent on the probe', lines('GET /health HTTP/1.1', 'Host: x')],
  ]
  for (const [name, bytes] of cases) {
    const { replies } = await sendRaw(port, bytes)
    t.equal(replies[0]?.status, 403, name)
    t.match(replies[0]?.json, { error: 'PERMISSION_DENIED', code: 'USER_AGENT_REQUIRED', statusCode: 403 }, name)
  }
  const { replies, closed } = await sendRaw(
    port, lines('POST / HTTP/1.1', 'Host: x', 'Content-Length: 0', 'Content-Length: 9') + SMUGGLED, 9,
  )
  t.notOk(replies.some((reply) => reply.status === 200), 'a suspect without User-Agent is no way round')
  t.ok(closed)
})

t.test('methods', async (t) => {
  for (const method of ['get', 'Get', 'TRACE', 'PATCH', 'FOO', 'PROPFIND']) {
    const reply = await request(port, method, '/api/v1/time')
    t.equal(reply.status, 405, method)
    t.equal(reply.headers['allow'], 'GET, HEAD, OPTIONS')
  }
  const head = await sendRaw(port, lines('HEAD /api/v1/health HTTP/1.1', 'Host: x', 'User-Agent: test') + get('/health'), 2)
  t.equal(head.replies[0]!.status, 200, 'HEAD')
  t.ok(Number(head.replies[0]!.headers['content-length']) > 0, 'HEAD says how long the body would be')
  t.equal(head.replies[1]?.status, 200, 'and sends none: the next answer follows at once')
  const options = await request(port, 'OPTIONS', '/api/v1/orders', { Origin: 'https://app.example' })
  t.equal(options.status, 204)
  t.equal(options.headers['access-control-allow-origin'], '*')
  t.match(options.headers['access-control-allow-methods'], /POST/)
  t.match(options.headers['access-control-allow-headers'], /X-Svc-Signature/)
  t.equal((await request(port, 'OPTIONS', '/nope')).status, 404)
})

t.test('a packet of pipelined requests for long answers ends its connection', async (t) => {
  const few = await sendRaw(port, get('/api/v1/market/pairs?pageSize=100').repeat(5), 5)
  t.equal(few.replies.length, 5, 'a few are served')
  const many = 4_000
  const { replies, closed } = await sendRaw(port, get('/api/v1/market/pairs?pageSize=100').repeat(many), many, 0)
  t.ok(closed, 'many are not: each would be answered into memory before the next is read')
  t.ok(replies.length < many, `${replies.length} of ${many} were answered`)
})

t.test('/ leads to the documents', async (t) => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method, redirect: 'manual' })
    t.equal(answer.status, 302, method)
    t.equal(answer.headers.get('location'), '/docs')
    t.equal(answer.headers.get('content-length'), '10')
  }
  t.match(await (await fetch(`http://127.0.0.1:${port}/`)).text(), /<!doctype html>/i)
  const wrong = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })
  t.strictSame([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD'])
  t.equal((await fetch(`http://127.0.0.1:${port}/?a`, { redirect: 'manual' })).status, 302)
})

t.test('paths are compared as sent', async (t) => {
  for (const path of [
    '//api/v1/time', '/api/v1//time', '/api/v1/time/', '/api/v1/%74ime', '/api/v1/x/../time', '/api/v1/time;a', '/API/V1/TIME',
    '/api/v1/orders/',
  ]) {
    t.equal((await request(port, 'GET', path)).json.code, 'ROUTE_NOT_FOUND', path)
  }
  for (
    const path of ['/api/v1/time?', '/api/v1/time?a=b', '/api/v1/time?%zz']
  ) t.equal((await request(port, 'GET', path)).status, 200, path)
  const raw = await sendRaw(port, Buffer.from('GET /api/v1/t\xefme HTTP/1.1\r\nHost: x\r\nUser-Agent: t\r\n\r\n', 'latin1'))
  t.ok(raw.replies.every((reply) => reply.status >= 400), 'bytes that are no visible ASCII')
})

t.test('odd request lines and headers are not served', async (t) => {
  const cases = [
    'GET http://x/api/v1/time HTTP/1.1\r\nHost: x\r\nUser-Agent: t\r\n\r\n',
    'GET /api/v1/time HTTP/1.0\r\nHost: x\r\nUser-Agent: t\r\n\r\n',
    'GET /api/v1/time HTTP/2.0\r\nHost: x\r\nUser-Agent: t\r\n\r\n',
    'GET /api/v1/time\r\n\r\n',
    'GET /api/v1/time HTTP/1.1\r\nHost : x\r\nUser-Agent: t\r\n\r\n',
    'GET /api/v1/time HTTP/1.1\r\nHost: x\r\n folded\r\nUser-Agent: t\r\n\r\n',
    'GET /api/v1/time HTTP/1.1\r\nHost: x\0\r\nUser-Agent: t\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ]
  for (const bytes of cases) {
    const { replies } = await sendRaw(port, bytes, 1, 0, 300)
    t.notOk(replies.some((reply) => reply.status === 200), JSON.stringify(bytes.slice(0, 40)))
  }
})

t.test('nothing internal leaves', async (t) => {
  for (const path of ['/nope?secret=1', '/api/v1/orders/x', '/api/v1/market/pairs/%00']) {
    const reply = await request(port, 'GET', path)
    t.notMatch(reply.text, /node_modules|\.ts|at |secret|%00/)
    t.same(Object.keys(reply.json).filter((key) => !['error', 'message', 'code', 'statusCode', 'details'].includes(key)), [])
  }
})

t.test('the server still serves', async (t) => {
  t.equal((await request(port, 'GET', '/ready')).status, 200)
  t.same(harness.logs.filter((message) => message.type === 'log' || message.type === 'fatal'), [])
})
