/**
 * Sign-in against the real desk thread and its pool, with real wallets: every way round the nonce, the signature and the limits
 * of challenge and verify. (Specification, Verify rules.)
 */
import { join } from 'node:path'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { readConfig, type Config } from '../../core/config.ts'
import { countersBytes } from '../../core/ring/counters.ts'
import { PROFILE, PROFILE_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { createAccount } from '../../core/programs/accounts.ts'
import type { SignInData, FromThread } from '../../core/threads.ts'
import type {
  ChallengeReply, ChallengeRequest, ConsentRequest, SignInReply, RefusalReply, VerifyReply, VerifyRequest,
} from '../../gateway/auth/challenge.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

type Teardown = { teardown(handler: () => Promise<void>): void }
type Ask = Partial<Omit<VerifyRequest, 'id' | 'kind'>>

const root = join(import.meta.dirname, '..', '..')
/** The default genesis with a second application. */
const genesis = ((): string => {
  const json = shippedGenesis()
  json.applications.push({ id: '9a1c0000-0000-4000-8000-000000000002', name: 'Second', clientId: 'second', allowedOrigins: [] })
  Object.assign(json.limits, { orders: 64, accounts: 16, sessions: 64, receipts: 16, priceTicks: 1024 })
  return JSON.stringify(json)
})()

/** Resolves with the worker's next message of this type; fails when the worker does. */
function told(worker: Worker, type: FromThread['type']): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: FromThread) => message.type === type && resolve(message))
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the desk ended with ${code}`)))
  })
}

class Desk {
  readonly worker: Worker
  readonly ports: MessagePort[] = []
  readonly logs: FromThread[] = []
  readonly waiting = new Map<number, (reply: SignInReply) => void>()
  readonly state = createState(parseGenesis(genesis))
  next = 1

  constructor(config: Partial<Config>, gateways: number) {
    const far: MessagePort[] = []
    for (let i = 0; i < gateways; i++) {
      const { port1, port2 } = new MessageChannel()
      port1.on('message', (reply: SignInReply) => {
        this.waiting.get(reply.id)!(reply)
        this.waiting.delete(reply.id)
      })
      this.ports.push(port1)
      far.push(port2)
    }
    const defaults = readConfig([], {})!
    const counters = new SharedArrayBuffer(countersBytes(gateways))
    const limits = { signInPerAddress: 1000, signInPerIp: 1000, chain: 0 }
    const shared = { columns: this.state.buffers, gate: new SharedArrayBuffer(64), counters }
    const data: SignInData = { config: { ...defaults, ...limits, ...config }, genesis, ports: far, ...shared }
    this.worker = new Worker(join(root, 'gateway', 'auth', 'sign_in.ts'), { workerData: data, transferList: far })
    this.worker.on('message', (message: FromThread) => message.type === 'log' && this.logs.push(message))
  }

  ask(request: Omit<ChallengeRequest, 'id'> | Omit<VerifyRequest, 'id'> | Omit<ConsentRequest, 'id'>, gateway = 0): Promise<SignInReply> {
    const id = this.next++
    return new Promise((resolve) => {
      this.waiting.set(id, resolve)
      this.ports[gateway]!.postMessage({ id, ...request })
    })
  }

  /** Makes the account of a wallet in the first application, as a sub-account of the account in row `master`; its row. */
  addAccount(wallet: string, master = -1, consented = false): number {
    const words = new Int32Array(5)
    new Uint8Array(words.buffer).set(Buffer.from(wallet.slice(2), 'hex'))
    const account = createAccount(this.state, 0, words, 0)
    this.state.profiles[account * PROFILE_WORDS + PROFILE.MASTER] = master + 1
    this.state.profiles[account * PROFILE_WORDS + PROFILE.CONSENTED] = consented ? 1 : 0
    return account
  }
}

async function deskOf(t: Teardown, config: Partial<Config> = {}, gateways = 1): Promise<Desk> {
  const desk = new Desk(config, gateways)
  await told(desk.worker, 'ready')
  t.teardown(async () => {
    const exit = new Promise((resolve) => desk.worker.once('exit', resolve))
    const stopped = told(desk.worker, 'stopped')
    desk.worker.postMessage({ type: 'stop' })
    await stopped
    for (const port of desk.ports) port.close()
    await exit
  })
  return desk
}

/** A wallet with a session key, and its requests. */
class Client {
  readonly desk: Desk
  readonly wallet = privateKeyToAccount(generatePrivateKey())
  readonly key = ed25519.keygen()
  readonly sessionPublicKey = Buffer.from(this.key.publicKey).toString('hex')
  constructor(desk: Desk) {
    this.desk = desk
  }
  get base() {
    return { address: this.wallet.address as string, sessionPublicKey: this.sessionPublicKey, ip: '203.0.113.7' }
  }
  challenge(over: Ask = {}, gateway = 0): Promise<SignInReply> {
    return this.desk.ask({ ...this.base, ...over, kind: 'challenge' }, gateway)
  }
  /** A challenge and the wallet's signature of its text: what a verify needs. */
  async proof(over: Ask = {}): Promise<{ nonce: string; signature: string }> {
    const { nonce, message } = (await this.challenge(over)) as ChallengeReply
    return { nonce, signature: await this.wallet.signMessage({ message }) }
  }
  verify(proof: { nonce: string; signature: string }, over: Ask = {}, gateway = 0): Promise<SignInReply> {
    return this.desk.ask({ ...this.base, ...proof, ...over, kind: 'verify' }, gateway)
  }
}

const codeOf = (reply: SignInReply): string => ('refusal' in reply ? reply.refusal : 'nonce' in reply ? 'challenged' : 'signed')

await t.test('a wallet signs in once with a nonce', async (t) => {
  const desk = await deskOf(t)
  const client = new Client(desk)
  const before = Math.floor(Date.now() / 1000)
  const challenge = (await client.challenge()) as ChallengeReply
  t.match(challenge.nonce, /^[0-9a-f]{64}$/)
  t.ok(challenge.expiresAt >= before + 300 && challenge.expiresAt <= before + 302)
  const parts = [client.wallet.address, client.sessionPublicKey, challenge.nonce, 'Application: Ringbook', 'Host: localhost', '1328']
  for (const part of parts) t.ok(challenge.message.includes(part), part)
  const proof = { nonce: challenge.nonce, signature: await client.wallet.signMessage({ message: challenge.message }) }
  t.equal(((await client.verify(proof)) as VerifyReply).application, 0)
  t.equal(codeOf(await client.verify(proof)), 'NONCE_INVALID')

  const second = await client.proof({ clientId: 'second' })
  t.equal(((await client.verify(second, { clientId: 'second' })) as VerifyReply).application, 1)
  const plain = await client.proof()
  const upper = { nonce: plain.nonce, signature: plain.signature.slice(2).toUpperCase() }
  const spelled = { address: client.wallet.address.toLowerCase(), clientId: 'ringbook', chainId: '1328' }
  t.equal(codeOf(await client.verify(upper, spelled)), 'signed')
})

await t.test('a nonce of another address, key, application or chain opens nothing, and stays good for its owner', async (t) => {
  const desk = await deskOf(t)
  const [client, other] = [new Client(desk), new Client(desk)]
  const proof = await client.proof()
  t.equal(codeOf(await other.verify(proof)), 'NONCE_INVALID')
  t.equal(codeOf(await client.verify(proof, { sessionPublicKey: other.sessionPublicKey })), 'NONCE_INVALID')
  t.equal(codeOf(await client.verify(proof, { clientId: 'second' })), 'NONCE_INVALID')
  t.equal(codeOf(await client.verify(proof, { clientId: 'nobody' })), 'NOT_FOUND')
  t.same((await client.verify(proof, { chainId: 1 }) as RefusalReply).details, { field: 'chainId' })
  t.equal(codeOf(await client.verify({ ...proof, nonce: '0'.repeat(64) })), 'NONCE_INVALID')
  t.equal(codeOf(await client.verify(proof)), 'signed')
  t.equal(codeOf(await client.challenge({ clientId: 'nobody' })), 'NOT_FOUND')
  t.same((await client.challenge({ address: '0x12' }) as RefusalReply).details, { field: 'address' })
})

await t.test('of parallel verifies with one nonce, over several gateways, exactly one wins', async (t) => {
  const desk = await deskOf(t, { walletThreads: 2 }, 3)
  const client = new Client(desk)
  for (let round = 0; round < 5; round++) {
    const proof = await client.proof()
    const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => client.verify(proof, {}, i % 3)))
    t.same(replies.map(codeOf).filter((code) => code !== 'NONCE_INVALID'), ['signed'])
  }
})

await t.test('a signature that is rejected opens nothing, and the nonce stays good for the one that is right', async (t) => {
  const desk = await deskOf(t)
  const [client, other] = [new Client(desk), new Client(desk)]
  const flip = (hex: string, at: number): string => hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)
  const bad: Record<string, (message: string, good: string) => string | Promise<string>> = {
    'altered message': (message) => client.wallet.signMessage({ message: `${message} ` }),
    'another wallet': (message) => other.wallet.signMessage({ message }),
    'one bit of r': (_, good) => flip(good, 10),
    'v 37': (_, good) => `${good.slice(0, 130)}25`,
    'r and s zero': () => `0x${'00'.repeat(64)}1b`,
    'r above the order': () => `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`,
    '64 bytes': (_, good) => good.slice(0, 130),
    '66 bytes': (_, good) => `${good}00`,
    'odd digits': (_, good) => good.slice(0, -1),
    'not hex': (_, good) => `${good.slice(0, -1)}g`,
    'empty bytes': () => '0x',
    '8192 bytes': () => `0x${'11'.repeat(8192)}`,
    '8193 bytes': () => `0x${'11'.repeat(8193)}`,
  }
  for (const [what, make] of Object.entries(bad)) {
    const { nonce, message } = (await client.challenge()) as ChallengeReply
    const good = await client.wallet.signMessage({ message })
    t.equal(codeOf(await client.verify({ nonce, signature: await make(message, good) })), 'INVALID_SIGNATURE', what)
    t.equal(codeOf(await client.verify({ nonce, signature: good })), 'signed', `${what}: strangers spend no nonce`)
    t.equal(codeOf(await client.verify({ nonce, signature: good })), 'NONCE_INVALID', `${what}: its wallet does`)
  }
})

await t.test('v 0 and 1 are 27 and 28; the mirrored signature with high s is refused', async (t) => {
  const desk = await deskOf(t)
  const client = new Client(desk)
  for (let i = 0; i < 4; i++) {
    const proof = await client.proof()
    const v = Number.parseInt(proof.signature.slice(130), 16) - 27
    t.equal(codeOf(await client.verify({ nonce: proof.nonce, signature: `${proof.signature.slice(0, 130)}0${v}` })), 'signed')
  }
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { nonce, signature } = await client.proof()
  const mirrored = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const high = signature.slice(0, 66) + mirrored + (signature.endsWith('1b') ? '1c' : '1b')
  t.equal(codeOf(await client.verify({ nonce, signature: high })), 'INVALID_SIGNATURE')
})

await t.test('at capacity the answer is 503, no verdict, and the nonce is still good', async (t) => {
  const desk = await deskOf(t, { walletThreads: 1, walletQueue: 1 })
  const clients = Array.from({ length: 12 }, () => new Client(desk))
  const proofs = await Promise.all(clients.map((client) => client.proof()))
  const codes = (await Promise.all(clients.map((client, i) => client.verify(proofs[i]!)))).map(codeOf)
  t.same([...new Set(codes)].sort(), ['VERIFICATION_UNAVAILABLE', 'signed'])
  for (const [i, client] of clients.entries()) {
    t.equal(codeOf(await client.verify(proofs[i]!)), codes[i] === 'signed' ? 'NONCE_INVALID' : 'signed')
  }
})

await t.test('one client network is bounded by itself, long before the queue is full, whatever wallets it names', async (t) => {
  const desk = await deskOf(t, { walletThreads: 1, walletQueue: 100 })
  const victim = new Client(desk)
  const proof = await victim.proof()
  // Garbage of the right form: each costs a recovery. The share of a network is a quarter of the places.
  const garbage = { ...proof, signature: `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` }
  const flood = Array.from({ length: 90 }, async () => {
    const { nonce } = (await victim.challenge({ ip: '198.51.100.9' })) as ChallengeReply
    return codeOf(await victim.verify({ ...garbage, nonce }, { ip: '198.51.100.9' }))
  })
  t.equal(codeOf(await victim.verify(proof)), 'signed', 'the wallet they name signs in meanwhile')
  t.same([...new Set(await Promise.all(flood))].sort(), ['INVALID_SIGNATURE', 'VERIFICATION_UNAVAILABLE'])
})

await t.test('asking for challenges takes no room; what is remembered of used ones is bounded', async (t) => {
  const desk = await deskOf(t, { challengeLimit: 3 })
  const clients = Array.from({ length: 4 }, () => new Client(desk))
  const from = (i: number): Ask => ({ ip: `203.0.113.${i}` })
  const proofs = await Promise.all(clients.map((client, i) => client.proof(from(i))))
  for (let i = 0; i < 500; i++) t.equal(codeOf(await clients[0]!.challenge()), 'challenged')
  for (let i = 0; i < 3; i++) t.equal(codeOf(await clients[i]!.verify(proofs[i]!, from(i))), 'signed')
  t.equal(codeOf(await clients[3]!.verify(proofs[3]!, from(3))), 'VERIFICATION_UNAVAILABLE', 'never a double use')
  t.equal(codeOf(await clients[0]!.verify(proofs[0]!, from(0))), 'NONCE_INVALID')
  t.equal(codeOf(await clients[3]!.challenge()), 'challenged')
})

await t.test('a challenge of before a start is none after it', async (t) => {
  const before = new Client(await deskOf(t))
  const proof = await before.proof()
  const after = await deskOf(t)
  t.equal(codeOf(await after.ask({ ...before.base, ...proof, kind: 'verify' })), 'NONCE_INVALID')
  t.equal(codeOf(await before.verify(proof)), 'signed')
})

await t.test("a session key's own signature is checked when it is given", async (t) => {
  const desk = await deskOf(t)
  const client = new Client(desk)
  const { nonce, message } = (await client.challenge()) as ChallengeReply
  const proof = { nonce, signature: await client.wallet.signMessage({ message }) }
  const stranger = ed25519.keygen()
  const by = (secretKey: Uint8Array, text: string): string => Buffer.from(ed25519.sign(Buffer.from(text), secretKey)).toString('hex')
  const { secretKey } = client.key
  for (const sessionSignature of [by(stranger.secretKey, message), by(secretKey, `${message} `), '00'.repeat(64), 'ab', '', 'zz']) {
    const reply = (await client.verify(proof, { sessionSignature })) as RefusalReply
    t.same([reply.refusal, reply.details], ['INVALID_SIGNATURE', { field: 'sessionSignature', reason: 'WRONG_SESSION_SIGNATURE' }])
  }
  t.equal(codeOf(await client.verify(proof, { sessionSignature: by(secretKey, message) })), 'signed', 'and costs no nonce')
})

const SLACK_MS = 5
/** Seconds of the clock since `began`, Unix ms, the first and the last one too: each has a budget. Clocks of threads differ by little. */
const secondsSince = (began: number): number => Math.floor((Date.now() + SLACK_MS) / 1000) - Math.floor((began - SLACK_MS) / 1000) + 1

await t.test('limits per client network, over all gateways', async (t) => {
  const desk = await deskOf(t, { signInPerIp: 12 }, 2)
  const clients = Array.from({ length: 40 }, () => new Client(desk))
  const began = Date.now()
  const ofOne = await Promise.all(clients.map((each, i) => each.challenge({ ip: `2001:db8:0:7::${i + 1}` }, i % 2)))
  const through = ofOne.filter((reply) => codeOf(reply) === 'challenged').length
  const seconds = secondsSince(began)
  t.ok(through >= 12 && through <= 12 * seconds, `${through} of 40 for one network in ${seconds} seconds`)
  const refused = ofOne.find((reply) => 'refusal' in reply) as RefusalReply
  t.same([refused.refusal, refused.details], ['RATE_LIMIT_EXCEEDED', { retryAfter: 1, limit: 12 }])
  t.equal(refused.message, 'Rate limit exceeded: 12 sign-ins from an address in a second')
  const verifies = await Promise.all(clients.map((each) => each.verify({ nonce: 'x', signature: '0x' }, { ip: '198.51.100.1' })))
  t.ok(verifies.some((reply) => codeOf(reply) === 'RATE_LIMIT_EXCEEDED'), 'verifies draw from it too')
})

await t.test('the budget of a wallet is drawn on by what it signed, and by nobody who names it', async (t) => {
  const desk = await deskOf(t, { signInPerAddress: 4, walletThreads: 2 })
  const client = new Client(desk)
  const proofs = await Promise.all(Array.from({ length: 20 }, () => client.proof()))
  const strangers = Array.from({ length: 100 }, (_, i) => client.challenge({ ip: `198.51.100.${i}` }))
  for (const proof of proofs) strangers.push(client.verify({ ...proof, signature: '0x1234' }, { ip: '198.51.100.200' }))
  t.same([...new Set((await Promise.all(strangers)).map(codeOf))].sort(), ['INVALID_SIGNATURE', 'challenged'])
  const began = Date.now()
  const codes = (await Promise.all(proofs.map((proof) => client.verify(proof)))).map(codeOf)
  const seconds = secondsSince(began)
  const signed = codes.filter((code) => code === 'signed').length
  t.ok(signed >= 4 && signed <= 4 * seconds, `${signed} of 20 of its own in ${seconds} seconds`)
  t.same(codes.filter((code) => code !== 'signed' && code !== 'RATE_LIMIT_EXCEEDED'), [])
})

await t.test('accounts that sign-ins of one network make are budgeted; those who have one sign in', async (t) => {
  const desk = await deskOf(t, { newAccountsPerIp: 3 })
  const clients = Array.from({ length: 5 }, () => new Client(desk))
  const codes: string[] = []
  for (const client of clients) codes.push(codeOf(await client.verify(await client.proof())))
  t.same(codes.slice(0, 3), ['signed', 'signed', 'signed'])
  t.same(codes.slice(3), ['RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'])
  const elsewhere = { ip: '203.0.113.77' }
  t.equal(codeOf(await clients[4]!.verify(await clients[4]!.proof(elsewhere), elsewhere)), 'signed')
  const agent = new Client(desk)
  t.equal(codeOf(await agent.verify(await agent.proof(), { delegated: true })), 'signed', "an agent's session makes no account")
  const known = new Client(desk)
  desk.addAccount(known.wallet.address)
  t.equal(codeOf(await known.verify(await known.proof())), 'signed')
})

await t.test('accounts are bounded for the /48 of an IPv6 client and for everybody, with some for who made none', async (t) => {
  const desk = await deskOf(t, { newAccountsPerIp: 2, newAccountsPerMinute: 10 })
  const ask = async (ip: string, at = desk): Promise<string> => {
    const client = new Client(at)
    return codeOf(await client.verify(await client.proof({ ip }), { ip }))
  }
  const codes = [await ask('2001:db8:1:1::1'), await ask('2001:db8:1:2::1'), await ask('2001:db8:1:3::1'), await ask('2001:db8:2:1::1')]
  t.same(codes, ['signed', 'signed', 'RATE_LIMIT_EXCEEDED', 'signed'])
  const wide = await deskOf(t, { newAccountsPerIp: 1000, newAccountsPerMinute: 10 })
  // The windows are minutes of the clock: over their border both bounds begin anew, and the loop goes on.
  const refusals: string[] = []
  for (let tries = 0; tries < 40 && refusals.length === 0; tries++) {
    const got = await ask('203.0.113.9', wide)
    if (got !== 'signed') refusals.push(got)
  }
  t.same(refusals, ['RATE_LIMIT_EXCEEDED'], 'one that made many')
  t.equal(await ask('203.0.113.10', wide), 'signed', 'while another makes its first')
})

await t.test('whoever asks for the text of a wallet is not told whose sub-account it agreed to be', async (t) => {
  const desk = await deskOf(t)
  const [client, master, stranger] = [new Client(desk), new Client(desk), new Client(desk)]
  const lines = async (): Promise<string[]> => {
    const asked = { address: client.wallet.address, sessionPublicKey: stranger.sessionPublicKey, ip: '203.0.113.7' }
    const { message } = (await desk.ask({ ...asked, kind: 'challenge' })) as ChallengeReply
    return message.split('\n').filter((line) => !/^(Nonce|Issued at|Expires at): /.test(line))
  }
  const alone = await lines()
  const before = await client.proof()
  const row = desk.addAccount(master.wallet.address)
  desk.addAccount(client.wallet.address, row, true)
  t.same(await lines(), alone, 'the same as of a wallet that nobody knows')
  t.same(await client.verify(before), { id: desk.next - 1, application: 0, master: -1 }, 'and its signature is good')
  t.same(await client.verify(await client.proof()), { id: desk.next - 1, application: 0, master: -1 })
})

await t.test('a text of a wallet that has not agreed names its master, and one from before the link is no longer good', async (t) => {
  const desk = await deskOf(t)
  const [client, master] = [new Client(desk), new Client(desk)]
  const before = await client.proof()
  const row = desk.addAccount(master.wallet.address)
  desk.addAccount(client.wallet.address, row)
  t.equal(codeOf(await client.verify(before)), 'NONCE_INVALID', 'it did not say whose sub-account it is')
  const { message } = (await client.challenge()) as ChallengeReply
  t.ok(message.includes(`Sub-account of: ${master.wallet.address}`))
  t.same(await client.verify(await client.proof()), { id: desk.next - 1, application: 0, master: row })
  t.match(await master.verify(await master.proof()), { application: 0, master: -1 })
})

await t.test('a consent is the wallet\'s, for one master, one session of his and one application, once', async (t) => {
  const desk = await deskOf(t)
  const [sub, master, other] = [new Client(desk), new Client(desk), new Client(desk)]
  const asked = { address: sub.wallet.address, sessionPublicKey: master.sessionPublicKey, ip: '203.0.113.7' }
  const about = { ...asked, subAccountOf: master.wallet.address }
  const { nonce, message } = (await desk.ask({ ...about, kind: 'challenge' })) as ChallengeReply
  t.ok(message.includes(`Address: ${sub.wallet.address}\nSub-account of: ${master.wallet.address}`))
  const signature = await sub.wallet.signMessage({ message })
  const consent = { ...asked, nonce, signature, master: master.wallet.address, application: 0, kind: 'consent' as const }
  const wrong: Partial<typeof consent>[] = [
    { master: other.wallet.address }, { sessionPublicKey: other.sessionPublicKey }, { application: 1 }, { application: 99 },
    { address: other.wallet.address }, { nonce: '0'.repeat(64) },
  ]
  for (const over of wrong) t.equal(codeOf(await desk.ask({ ...consent, ...over })), 'NONCE_INVALID', JSON.stringify(over))
  for (const by of [master, other]) {
    t.equal(codeOf(await desk.ask({ ...consent, signature: await by.wallet.signMessage({ message }) })), 'INVALID_SIGNATURE')
  }
  const asSignIn = { address: sub.wallet.address, sessionPublicKey: master.sessionPublicKey }
  t.equal(codeOf(await sub.verify({ nonce, signature }, asSignIn)), 'NONCE_INVALID', 'it signs nobody in')
  t.match(await desk.ask(consent), { consented: true })
  t.equal(codeOf(await desk.ask(consent)), 'NONCE_INVALID')
  const signIn = await sub.proof(asSignIn)
  t.equal(codeOf(await desk.ask({ ...consent, ...signIn })), 'NONCE_INVALID', 'a sign-in is no consent')
  for (const subAccountOf of [sub.wallet.address, sub.wallet.address.toLowerCase(), '0x12', '']) {
    t.match(await desk.ask({ ...about, subAccountOf, kind: 'challenge' }), { details: { field: 'subAccountOf' } })
  }
})

await t.test('session keys that more than one private key, or none, can sign for are refused', async (t) => {
  const desk = await deskOf(t)
  const client = new Client(desk)
  const smallOrder = [
    `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`, '00'.repeat(32), `${'00'.repeat(31)}80`, `01${'00'.repeat(30)}80`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ]
  const nonCanonical = Array.from({ length: 19 }, (_, i) => `${(0xed + i).toString(16)}${'ff'.repeat(30)}7f`)
  const torsion = ed25519.Point.fromHex(smallOrder[5]!)
  const mixed = ed25519.Point.fromHex(client.sessionPublicKey).add(torsion).toHex()
  const offCurve = `02${'00'.repeat(31)}`
  const misspelled = ['', 'ab', client.sessionPublicKey.toUpperCase(), `0x${client.sessionPublicKey}`]
  for (const key of [...smallOrder, ...nonCanonical, mixed, offCurve, ...misspelled]) {
    t.same((await client.challenge({ sessionPublicKey: key }) as RefusalReply).details, { field: 'sessionPublicKey' }, key)
  }
  for (let i = 0; i < 20; i++) {
    const key = Buffer.from(ed25519.keygen(randomBytes(32)).publicKey).toString('hex')
    t.equal(codeOf(await client.challenge({ sessionPublicKey: key })), 'challenged')
  }
})

await t.test('stopping answers what is under way and tells nobody anything secret', async (t) => {
  const desk = new Desk({ walletQueue: 100 }, 1)
  await told(desk.worker, 'ready')
  const clients = Array.from({ length: 30 }, () => new Client(desk))
  const proofs = await Promise.all(clients.map((client) => client.proof()))
  const exit = new Promise((resolve) => desk.worker.once('exit', resolve))
  const answers = Promise.all(clients.map((client, i) => client.verify(proofs[i]!)))
  const stopped = told(desk.worker, 'stopped')
  desk.worker.postMessage({ type: 'stop' })
  const codes = new Set((await answers).map(codeOf))
  t.ok([...codes].every((code) => code === 'signed' || code === 'VERIFICATION_UNAVAILABLE'), [...codes].join())
  await stopped
  for (const port of desk.ports) port.close()
  await exit
  t.same(desk.logs, [])
})
