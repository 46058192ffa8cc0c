/**
 * Promise: who asks for challenges without end, names somebody's wallet all the time, signs wallets of its own in by the hundred or sends
 * masters' requests with invented wallets, takes nothing that others need: they sign in meanwhile, the wallet that is named too, and no row
 * is made without a signature and a budget.
 */
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createClient, type Client } from '../../../gateway/client/index.ts'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { fetchFrom } from '../../support/fetch_from.ts'
import { sodiumSigner } from '../../support/traders.ts'

t.setTimeout(900_000)
/** Few used challenges are remembered, and few accounts an hour are an address's: floods are past both at once. */
const CHALLENGES = 240
const ACCOUNTS = 30
const FLAGS = [
  '--chain', '0', '--sign-in-per-ip', '100000', '--challenge-limit', String(CHALLENGES), '--new-accounts-per-ip', String(ACCOUNTS),
]
const CONNECTIONS = 8

const dataDir = temporaryDirectory()
const exchange = await startExchange(dataDir, FLAGS)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(dataDir)
})

/** A connection pool of one client address, and what it posts. */
class Address {
  readonly #from: ReturnType<typeof fetchFrom>

  constructor(t: Test, address: string) {
    this.#from = fetchFrom(address, CONNECTIONS)
    t.teardown(() => this.#from.close())
  }

  async post(path: 'challenge' | 'verify', body: object): Promise<{ status: number; json: Record<string, string> }> {
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'attack' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await this.#from.fetch(`${exchange.baseUrl}/api/v1/auth/${path}`, init)
    return { status: response.status, json: (await response.json()) as Record<string, string> }
  }

  client(wallet: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey())): Client {
    const { baseUrl } = exchange
    const signer = { address: wallet.address, signMessage: (message: string) => wallet.signMessage({ message }) }
    return createClient({ baseUrl, wallet: signer, signer: sodiumSigner(), fetch: this.#from.fetch })
  }
}

/** Does `one` on all connections until it is over; how often. */
async function forAsLong(ended: AbortSignal, one: () => Promise<void>): Promise<number> {
  let times = 0
  const loop = async (): Promise<void> => {
    for (; !ended.aborted; times++) await one()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, loop))
  return times
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
  return Number(text.split('\n').find((line) => line.startsWith(`${name} `))?.split(' ')[1])
}

/** Accounts there are, read from the state itself: metrics of the matcher are some ms old. */
async function accounts(): Promise<number> {
  const init = { headers: { 'x-operator-token': exchange.operatorToken } }
  const { pools } = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/pools`, init)).json() as {
    pools: { pool: string; used: number }[]
  }
  return pools.find(({ pool }) => pool === 'accounts')!.used
}

t.test('challenges without end leave nothing behind, and everybody signs in', async (t) => {
  const attackers = ['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((address) => new Address(t, address))
  const [honest, last] = [new Address(t, '127.0.0.8'), attackers[0]!]
  let asked = 0
  const ask = async (from: Address): Promise<string | undefined> => {
    const { status, json } = await from.post('challenge', { address: `0x${'ab'.repeat(20)}`, sessionPublicKey: sodiumSigner().publicKey })
    if (status === 200) asked++
    return json['nonce']
  }
  const first = await ask(last)
  // The honest trader signs in before it trades, and nobody else does meanwhile.
  const { attacked } = await besideAttack(t, exchange, {
    name: `challenges over ${attackers.length * CONNECTIONS} connections`, ms: 2_000,
    attack: async (ended) => {
      const before = await metric('exchange_spent_nonces')
      await Promise.all(attackers.map((from) => forAsLong(ended, async () => void (await ask(from)))))
      t.equal(await metric('exchange_spent_nonces'), before, 'nothing is kept of those that are only given')
    },
  })
  t.same(attacked.refused, {})
  // A busy machine gives fewer in that time than are remembered of used ones.
  for (let more = 0; asked <= CHALLENGES && more < 2 * CHALLENGES; more++) await ask(last)
  t.ok(asked > CHALLENGES, `${asked} were given`)
  t.comment(`${asked} challenges were given`)
  const kept = await metric('exchange_spent_nonces')
  t.equal(kept, 1, 'the one sign-in is all that is kept')
  const signature = `0x${'11'.repeat(32)}${'22'.repeat(32)}1b`
  const named = { address: `0x${'ab'.repeat(20)}`, sessionPublicKey: sodiumSigner().publicKey, nonce: first!, signature }
  t.equal((await last.post('verify', named)).status, 401)
  t.equal(await metric('exchange_spent_nonces'), kept, 'a wrong signature uses none up')
  await t.resolves(honest.client().signIn())
  t.equal(await metric('exchange_spent_nonces'), kept + 1, 'a sign-in uses its own up')
})

t.test('a wallet that is named all the time signs in all the time', async (t) => {
  const attackers = ['127.0.0.2', '127.0.0.3', '127.0.0.4'].map((address) => new Address(t, address))
  const wallet = privateKeyToAccount(generatePrivateKey())
  const victim = new Address(t, '127.0.0.8')
  const key = { address: wallet.address, sessionPublicKey: sodiumSigner().publicKey }
  let [signedIn, overloaded] = [0, 0]
  let garbage = 0
  const { attacked } = await besideAttack(t, exchange, {
    name: "a victim's wallet",
    attack: async (ended) => {
      const floods = attackers.map((from) => forAsLong(ended, async () => {
        const { json } = await from.post('challenge', key)
        const signature = `0x${'11'.repeat(32)}${'22'.repeat(32)}1b`
        const { status } = await from.post('verify', { ...key, nonce: json['nonce'], signature })
        if (status !== 200) garbage++
      }))
      // Slower than its own budget of ten a second.
      while (!ended.aborted && signedIn < 6) {
        // A pause of the machine is taken from the time that all requests without a signature share, whoever is named in them.
        const code = await victim.client(wallet).signIn().then(() => 'signed in', (error: { code: string }) => error.code)
        if (code === 'signed in') signedIn++
        else if (code === 'OVERLOADED') overloaded++
        else t.fail(`the victim: ${code}`)
        await new Promise((resolve) => setTimeout(resolve, 120))
      }
      await Promise.all(floods)
    },
  })
  t.same(attacked.refused, {})
  t.ok(garbage > 40, `${garbage} sign-ins in its name`)
  t.ok(signedIn > 0, `it signed in ${signedIn} times, and was never refused in its own name; ${overloaded} times for everybody`)
})

t.test('one address makes so many accounts an hour; masters with invented wallets make none', async (t) => {
  const [attacker, honest] = [new Address(t, '127.0.0.2'), new Address(t, '127.0.0.8')]
  const before = await accounts()
  const clients = Array.from({ length: ACCOUNTS + 10 }, () => attacker.client())
  const codes: string[] = []
  for (const client of clients) codes.push(await client.signIn().then(() => 'signed in', (error: { code: string }) => error.code))
  t.same(codes, [...Array(ACCOUNTS).fill('signed in'), ...Array(10).fill('RATE_LIMIT_EXCEEDED')])
  await t.resolves(clients[0]!.signIn(), 'who has an account signs in')
  await t.resolves(honest.client().signIn(), 'and so does another address')
  t.equal(await accounts(), before + ACCOUNTS + 1)
  const invented = Array.from({ length: 200 }, async (_, i) => {
    const input = { address: `0x${randomBytes(20).toString('hex')}`, nonce: '0'.repeat(64), signature: `0x${'11'.repeat(65)}` }
    return clients[i % ACCOUNTS]!.CreateSubAccount(input).then(() => 'made', (error: { code: string }) => error.code)
  })
  t.same([...new Set(await Promise.all(invented))], ['NONCE_INVALID'])
  const consents = Array.from({ length: 3 }, async () => {
    const { address } = await clients[0]!.GetProfile()
    const consent = await attacker.client().consentTo(address, clients[0]!.signer!.publicKey)
    return clients[0]!.CreateSubAccount(consent).then(() => 'made', (error: { code: string }) => error.code)
  })
  t.same(await Promise.all(consents), ['RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'], 'sub-accounts are accounts')
  t.equal(await accounts(), before + ACCOUNTS + 1)
})
