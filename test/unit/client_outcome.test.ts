/**
 * Promise: an error of the client says whether what was asked took effect, and never says "not applied" of what may have been. Only
 * refusals that name themselves are known to have applied nothing; 502, 503 without a code, 504, a cut connection and a timeout of a
 * creation are ambiguous. (Specification, Errors, rules 6 and 7.)
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { REFUSALS, type Refusal } from '../../core/layout/refusals.ts'
import {
  createClient, createSigner, NetworkError, outcomeOf, RingbookError, type Client, type Outcome,
} from '../../gateway/client/index.ts'

type Teardown = { teardown(handler: () => void): void }
/** What the server does with one request: bytes to answer with before it closes, or nothing but closing; `early`: before reading it. */
type Step = string | 'cut' | 'cut early'

const http = (status: string, body: object | string, headers = ''): string => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return `HTTP/1.1 ${status}\r\n${headers}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
    + `Connection: close\r\n\r\n${text}`
}
const named = (statusCode: number, code: string, error = 'UNAVAILABLE', headers = ''): string =>
  http(`${statusCode} Words`, { error, message: 'words', code, statusCode }, headers)

/** A server that takes one step for each connection, the last for ever; `whole` counts requests that came whole. */
async function serverOf(t: Teardown, ...steps: Step[]): Promise<{ baseUrl: string; seen: { whole: number } }> {
  const seen = { whole: 0 }
  const sockets = new Set<Socket>()
  let connections = 0
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    const step = steps[Math.min(connections++, steps.length - 1)]!
    if (step === 'cut early') return socket.resetAndDestroy()
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const [head, body] = text.split('\r\n\r\n') as [string, string?]
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (body === undefined || body.length < length) return
      seen.whole++
      if (step === 'cut') socket.destroy()
      else socket.end(step)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const BROKEN_OFF = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90'
const OTHER_PAGE = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 17\r\n\r\n<p>Please sign in'
const ORDER = { tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '1' } as const
const KEYED = { ...ORDER, idempotencyKey: 'k' }
const RETRY = { attempts: 3, baseMs: 1, capMs: 1500 }
const clientOf = (baseUrl: string, more: object = {}): Client => createClient({ baseUrl, signer: createSigner(), ...more })
const failure = (promise: Promise<unknown>): Promise<RingbookError | NetworkError> =>
  promise.then(() => { throw new Error('no failure') }, (error: unknown) => error as RingbookError)

t.test('a creation that failed says what became of it', async (t) => {
  const cases: [what: string, step: Step, outcome: Outcome, retry: string][] = [
    ['502 of a proxy', http('502 Bad Gateway', '<html>'), 'unknown', 'ambiguous'],
    ['503 without a code', http('503 Service Unavailable', '<html>'), 'unknown', 'ambiguous'],
    ['503 of the class alone', http('503 No', { error: 'UNAVAILABLE', message: 'm', statusCode: 503 }), 'unknown', 'ambiguous'],
    ['503 with a code of nobody', named(503, 'SOMETHING_NEW'), 'unknown', 'ambiguous'],
    ['503 whose JSON is of another make', http('503 No', { code: 'OVERLOADED' }), 'unknown', 'ambiguous'],
    ['504 of a proxy', http('504 Gateway Timeout', 'late'), 'unknown', 'ambiguous'],
    ['500 without an envelope', http('500 Error', 'oh'), 'unknown', 'ambiguous'],
    ['520 of a network in front', http('520 Unknown', 'oh'), 'unknown', 'ambiguous'],
    ['408 of a proxy', http('408 Request Timeout', ''), 'unknown', 'ambiguous'],
    ['409 without a name', http('409 Conflict', 'oh'), 'unknown', 'ambiguous'],
    ['409 of the class alone', http('409 Conflict', { error: 'CONFLICT', message: 'm', statusCode: 409 }), 'unknown', 'ambiguous'],
    ['INTERNAL', named(500, 'INTERNAL', 'INTERNAL'), 'unknown', 'ambiguous'],
    ['SERVICE_UNAVAILABLE', named(503, 'SERVICE_UNAVAILABLE'), 'unknown', 'ambiguous'],
    ['ORDER_SUBMISSION_UNAVAILABLE', named(503, 'ORDER_SUBMISSION_UNAVAILABLE'), 'unknown', 'same-key'],
    ['ORDER_SUBMISSION_CAPACITY_EXCEEDED', named(503, 'ORDER_SUBMISSION_CAPACITY_EXCEEDED'), 'not-applied', 'same-key'],
    ['OVERLOADED', named(503, 'OVERLOADED'), 'not-applied', 'safe'],
    ['OPERATIONS_BLOCKED', named(503, 'OPERATIONS_BLOCKED', 'OPERATIONS_BLOCKED'), 'not-applied', 'safe'],
    ['OPERATIONS_BLOCKED as class', http('503 No', { error: 'OPERATIONS_BLOCKED', message: 'm', statusCode: 503 }), 'not-applied', 'safe'],
    ['IDEMPOTENCY_KEY_CONFLICT', named(409, 'IDEMPOTENCY_KEY_CONFLICT', 'CONFLICT'), 'not-applied', 'no'],
    ['429 of a proxy', http('429 Too Many', ''), 'not-applied', 'after'],
    ['413 of a proxy', http('413 Too Large', ''), 'not-applied', 'no'],
    ['a cut connection behind the request', 'cut', 'unknown', 'ambiguous'],
    ['200 that broke off', `${BROKEN_OFF}\r\n\r\n{"orderId":`, 'applied', 'same-key'],
    ['200 that is no JSON', http('200 OK', 'oh'), 'applied', 'same-key'],
    ['200 of something in between', OTHER_PAGE, 'unknown', 'ambiguous'],
    ['200 of something in between that broke off', OTHER_PAGE.slice(0, -1), 'unknown', 'ambiguous'],
    ['204 of nobody', 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n', 'unknown', 'ambiguous'],
  ]
  for (const [what, step, outcome, retry] of cases) {
    const { baseUrl } = await serverOf(t, step)
    const error = await failure(clientOf(baseUrl).CreateOrder(ORDER))
    t.same([error.outcome, error.retry], [outcome, retry], what)
    t.equal((await failure(clientOf(baseUrl).GetProfile())).outcome, 'not-applied', `${what}: a read changes nothing`)
  }
})

t.test('a request that never left is not applied; one that may have left is ambiguous', async (t) => {
  const { baseUrl } = await serverOf(t, 'cut early')
  t.match(await failure(clientOf(baseUrl).CreateOrder(ORDER)), { name: 'NetworkError', outcome: 'unknown' })
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const refused = await failure(clientOf(`http://127.0.0.1:${port}`).CreateOrder(ORDER))
  t.match(refused, { name: 'NetworkError', outcome: 'not-applied', retry: 'safe' }, 'nobody listened')
  const { baseUrl: mute } = await serverOf(t, 'cut')
  const signal = AbortSignal.abort()
  t.match(await failure(clientOf(mute).CreateOrder(ORDER, { signal })), { outcome: 'not-applied' }, 'given up before it was sent')
  t.match(await failure(clientOf(mute, { fetch: () => Promise.reject(new TypeError('Failed to fetch')) }).CreateOrder(ORDER)),
    { outcome: 'unknown' }, 'a browser does not say why')
})

t.test('a later try does not make an earlier one safe', async (t) => {
  const busy = named(503, 'OVERLOADED')
  type Case = [what: string, steps: Step[], outcome: Outcome, sent: number]
  const cases: Case[] = [
    ['refused from the first', [busy], 'not-applied', 3],
    ['cut, then refused', ['cut', busy], 'unknown', 3],
    ['cut, then a limit that is too long', ['cut', named(429, 'RATE_LIMIT_EXCEEDED', 'X', 'Retry-After: 60\r\n')], 'unknown', 2],
    ['502, then a named refusal', [http('502 Bad', ''), named(400, 'INSUFFICIENT_BALANCE', 'X')], 'unknown', 2],
  ]
  for (const [what, steps, outcome, sent] of cases) {
    const { baseUrl, seen } = await serverOf(t, ...steps)
    t.equal((await failure(clientOf(baseUrl, { retry: RETRY }).CreateOrder(KEYED))).outcome, outcome, what)
    t.equal(seen.whole, sent, `${what}: times sent`)
  }
})

t.test('only what may be repeated is, whatever it failed with', async (t) => {
  const ambiguous = ['cut', http('502 Bad', ''), http('503 No', ''), http('504 Late', ''), named(500, 'INTERNAL')]
  for (const step of [...ambiguous, named(503, 'OVERLOADED')]) {
    const { baseUrl, seen } = await serverOf(t, step)
    const client = clientOf(baseUrl, { retry: RETRY })
    const sent = async (promise: Promise<unknown>): Promise<number> => {
      const before = seen.whole
      await failure(promise)
      return seen.whole - before
    }
    const replaced = client.ReplaceOrder.bind(client, { orderId: 'o', price: '1' })
    const once = [await sent(client.CreateOrder(ORDER)), await sent(client.Mint()), await sent(replaced())]
    t.same(once, [1, 1, 1], 'no key: sent once')
    t.same([await sent(client.CreateOrder(KEYED)), await sent(client.GetProfile()), await sent(client.CancelOrder({ orderId: 'o' }))],
      [3, 3, 3], 'a key, a read, a cancel')
  }
})

t.test('a cancel by client order id is repeated only when nothing was done', async (t) => {
  const busy = named(503, 'OVERLOADED')
  for (const [step, times] of [['cut', 1], [http('502 Bad', ''), 1], [named(500, 'INTERNAL'), 1], [busy, 3]] as const) {
    const { baseUrl, seen } = await serverOf(t, step)
    const client = clientOf(baseUrl, { retry: RETRY })
    const outcome = times === 1 ? 'unknown' : 'not-applied'
    t.equal((await failure(client.CancelOrder({ orderId: 'client:quote' }))).outcome, outcome)
    t.equal((await failure(client.BatchCancelOrders({ orderIds: ['o', 'client:quote'] }))).outcome, outcome)
    t.equal(seen.whole, 2 * times, `${step.slice(0, 30)}: by then another order may rest under the name`)
    await failure(client.BatchCancelOrders({ orderIds: ['o', 'p'] }))
    t.equal(seen.whole, 2 * times + 3, 'by id they are repeated')
  }
})

t.test('an error has the name of its request', async (t) => {
  const { baseUrl } = await serverOf(t, http('404 No', '{}', 'X-Request-Id: theirs\r\n'), named(503, 'OVERLOADED'), 'cut')
  const client = clientOf(baseUrl)
  const requestId = 'mine'
  t.equal((await failure(client.GetProfile())).requestId, 'theirs')
  t.equal((await failure(client.GetProfile({}, { requestId }))).requestId, 'mine', 'what the answer does not say, the caller did')
  t.equal((await failure(client.GetProfile({}, { requestId }))).requestId, 'mine', 'without an answer')
  t.equal((await failure(client.GetProfile())).requestId, undefined)
})

t.test('Retry-After is seconds or a date', async (t) => {
  const later = new Date(Date.now() + 60_000).toUTCString()
  for (const [header, least, most] of [['7', 7, 7], [later, 50, 60]] as const) {
    const { baseUrl } = await serverOf(t, http('503 No', '', `Retry-After: ${header}\r\n`))
    const { retryAfter } = (await failure(clientOf(baseUrl).GetProfile())) as RingbookError
    t.ok(retryAfter! >= least && retryAfter! <= most, `${header}: ${retryAfter}`)
  }
  const { baseUrl } = await serverOf(t, http('503 No', '', 'Retry-After: soon\r\n'))
  t.equal(((await failure(clientOf(baseUrl).GetProfile())) as RingbookError).retryAfter, undefined)
})

t.test('the outcome of every refusal of the register', (t) => {
  const open = Object.values<Refusal>(REFUSALS).filter(({ http, code }) => outcomeOf(http, code) === 'unknown').map(({ code }) => code)
  t.strictSame(open, ['ORDER_SUBMISSION_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'INTERNAL'], 'all others applied nothing')
  for (const { http, code, retry } of Object.values<Refusal>(REFUSALS)) {
    if (retry === 'safe') t.equal(outcomeOf(http, code), 'not-applied', code)
    if (retry === 'ambiguous') t.equal(outcomeOf(http, code), 'unknown', code)
  }
  t.equal(outcomeOf(200, 'SERVICE_UNAVAILABLE'), 'unknown', 'of an item of a batch')
  t.equal(outcomeOf(200, 'INSUFFICIENT_BALANCE'), 'not-applied', 'of an item of a batch')
  t.end()
})

t.test('a name of the system is of a connection that never stood, or of one that was lost on the way', async (t) => {
  for (const [code, syscall, outcome] of [
    ['EHOSTUNREACH', 'connect', 'not-applied'], ['EHOSTUNREACH', 'read', 'unknown'], ['ENETUNREACH', 'write', 'unknown'],
    ['ENOTFOUND', 'getaddrinfo', 'not-applied'], ['ECONNREFUSED', undefined, 'not-applied'], ['ETIMEDOUT', 'connect', 'unknown'],
    ['ECONNRESET', 'read', 'unknown'],
  ] as const) {
    const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
    const client = clientOf('http://127.0.0.1:1', { fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) })
    t.equal((await failure(client.CreateOrder(ORDER))).outcome, outcome, `${syscall} ${code}`)
  }
})
