/**
 * Promise: a client whose clock is wrong measures it once, when the service says so, and sends the call again, signed for the service's
 * time; and what it signs is the path that the service gets, whatever path a proxy in front of it takes off.
 */
import t from 'tap'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { createClient, createSigner, type Client, type ClientOptions } from '../../gateway/client/index.ts'

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const ORDER = { tradingPairId: 'p', orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '1' } as const

interface Venue {
  readonly client: Client
  readonly asked: string[]
}

/** A service whose clock is ahead by so many ms; `knowsTime`: it says what time it is. */
function venueOf(aheadMs: number, knowsTime = true, options: Partial<ClientOptions> = {}): Venue {
  const asked: string[] = []
  const refusal = (status: number, code: string): Response =>
    Response.json({ error: 'X', message: 'no', code, statusCode: status }, { status })
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const target = new URL(String(url)).pathname
    asked.push(`${init!.method} ${target}`)
    if (target.endsWith('/time')) return knowsTime ? Response.json({ unixMs: Date.now() + aheadMs }) : refusal(503, 'OVERLOADED')
    const time = Number((init!.headers as Record<string, string>)['X-Svc-Timestamp'])
    return Math.abs(Date.now() + aheadMs - time) > 30_000 ? refusal(401, 'CLOCK_SKEW') : Response.json({ orderId: 'o' })
  }
  return { client: createClient({ baseUrl: 'http://x', signer: createSigner(), fetch, ...options }), asked }
}

for (const aheadMs of [45_000, -45_000, 86_400_000]) {
  t.test(`the clock of the service is ${aheadMs} ms ahead`, async (t) => {
    const { client, asked } = venueOf(aheadMs)
    t.same(await client.CreateOrder(ORDER), { orderId: 'o' })
    t.equal(asked.length, 3, 'sent, measured, sent again')
    t.match(asked[1], /^GET .*time$/)
    await client.CreateOrder(ORDER)
    t.equal(asked.length, 4, 'and never again')
  })
}

t.test('many calls at once measure once', async (t) => {
  const { client, asked } = venueOf(45_000)
  await Promise.all(Array.from({ length: 20 }, () => client.ListBalances()))
  t.equal(asked.filter((each) => each.endsWith('time')).length, 1)
})

t.test('without a time, or with one that does not help, the refusal is told', async (t) => {
  const dumb = venueOf(45_000, false)
  await t.rejects(dumb.client.CreateOrder(ORDER), { code: 'CLOCK_SKEW', outcome: 'not-applied' })
  t.equal(dumb.asked.length, 2)
  const odd = venueOf(0, true, { fetch: async (url) => String(url).endsWith('/time') ? Response.json({ unixMs: 0 })
    : Response.json({ error: 'X', message: 'no', code: 'CLOCK_SKEW', statusCode: 401 }, { status: 401 }) })
  await t.rejects(odd.client.CreateOrder(ORDER), { code: 'CLOCK_SKEW' })
})

t.test('a path of the base URL is not signed', async (t) => {
  const signer = createSigner()
  for (const baseUrl of ['http://x/venue', 'http://x/venue/a/', 'http://x']) {
    const sent: [string, Record<string, string>][] = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      sent.push([new URL(String(url)).pathname, init!.headers as Record<string, string>])
      return Response.json({})
    }
    await createClient({ baseUrl, signer, fetch }).ListBalances()
    const [path, headers] = sent[0]!
    t.equal(path, `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/api/v1/accounts/balances`)
    const lines = `GET\n/api/v1/accounts/balances\n${headers['X-Svc-Timestamp']}\n${EMPTY}`
    t.ok(ed25519.verify(hexToBytes(headers['X-Svc-Signature']!), utf8ToBytes(lines), hexToBytes(signer.publicKey)), baseUrl)
  }
})
