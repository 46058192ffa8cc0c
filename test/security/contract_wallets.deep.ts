/**
 * Promise: a contract wallet signs in when, and only when, its own code accepts the signature; keys go on signing in without the chain;
 * and while the chain, or the list of who may be a contract, cannot be asked there is no verdict: 503, and the same nonce is good later.
 * The whole path, over HTTP. (Specification, Verify rules.)
 */
import { randomBytes } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeAbiParameters, type Address, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { deploy, deployData, deployWallets, newKey, walletClient, type OwnedWallet } from '../support/contracts.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { ACCEPTED, FAULTS, startRpcStub, type Fault, type RpcStub } from '../support/rpc_stub.ts'
import { sodiumSigner } from '../support/traders.ts'

t.setTimeout(900_000)

/** Limits of sign-in out of the way; a chain that answers at all answers in time. */
const FLAGS = ['--sign-in-per-address', '100000', '--sign-in-per-ip', '100000', '--chain-timeout-ms', '20000']
/** Faults that only time ends. */
const ENDLESS: readonly Fault[] = ['silent', 'drip']
const TRIES = 200

interface Answer {
  readonly status: number
  readonly body: { readonly code?: string; readonly user?: { readonly id: string; readonly address: string }; readonly isNewUser?: boolean }
}

async function post(exchange: Exchange, path: string, body: object): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'test' }
  const response = await fetch(`${exchange.baseUrl}/api/v1/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

/** What a verify sends, ready to be sent as often as one likes. */
type Proof = { address: string; sessionPublicKey: string; nonce: string; signature: string }

/** A challenge for this address, signed. */
async function proofOf(exchange: Exchange, address: string, sign: (message: string) => Hex | Promise<Hex>): Promise<Proof> {
  const sessionPublicKey = sodiumSigner().publicKey
  const { body } = await post(exchange, 'challenge', { address, sessionPublicKey })
  const { nonce, message } = body as unknown as { nonce: string; message: string }
  return { address, sessionPublicKey, nonce, signature: await sign(message) }
}

const signing = (key: PrivateKeyAccount) => (message: string): Promise<Hex> => key.signMessage({ message })
const bytes = (length: number): Hex => `0x${randomBytes(length).toString('hex')}`
const codeOf = ({ status, body }: Answer): string => (status === 200 ? 'signed' : `${status} ${body.code}`)
const REJECTED = '401 INVALID_SIGNATURE'
const UNAVAILABLE = '503 VERIFICATION_UNAVAILABLE'

async function outcome(exchange: Exchange, address: string, sign: (message: string) => Hex | Promise<Hex>): Promise<string> {
  return codeOf(await post(exchange, 'verify', await proofOf(exchange, address, sign)))
}

/** Sends the same verify until there is a verdict: without one the nonce stays good. */
async function verdict(exchange: Exchange, proof: Proof): Promise<string> {
  let code = ''
  for (let i = 0; i < TRIES; i++) {
    code = codeOf(await post(exchange, 'verify', proof))
    if (code !== UNAVAILABLE) return code
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return code
}

async function exchangeOf(t: Test, flags: readonly string[] = [], directory = temporaryDirectory()): Promise<Exchange> {
  const exchange = await startExchange(directory, [...FLAGS, ...flags])
  t.teardown(async () => {
    await exchange.stop()
    removeDirectory(directory)
  })
  return exchange
}

await t.test('with the embedded chain', async (t) => {
  const exchange = await exchangeOf(t)
  const chain = `http://127.0.0.1:${exchange.chainPort}`
  await goodWallets(t, exchange, chain)
  await families(t, exchange, chain)
  await answers(t, exchange, chain)
  await accounts(t, exchange, chain)

  await t.test('the metrics count what the chain said', async (t) => {
    const metrics = await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text()
    const value = (name: string): number => Number(metrics.split('\n').find((line) => line.startsWith(`${name} `))?.split(' ')[1])
    t.ok(value('exchange_contract_signatures_total{outcome="signed"}') > 0)
    t.ok(value('exchange_contract_signatures_total{outcome="rejected"}') > 0)
    t.equal(value('exchange_contract_signatures_total{outcome="unavailable"}'), 0)
    t.ok(value('exchange_sign_in_verifies_total{outcome="signed"}') > value('exchange_contract_signatures_total{outcome="signed"}'))
    t.ok(value('exchange_chain_calls_total') > 0)
    t.equal(value('exchange_chain_failures_total'), 0)
    t.equal(value('exchange_contract_checks'), 0)
  })
})

function goodWallets(t: Test, exchange: Exchange, chain: string): Promise<unknown> {
  return t.test('a good wallet signs in, is a user like any other, and once with a nonce', async (t) => {
    const [{ address, owner }, other] = (await deployWallets(chain, 2)) as [OwnedWallet, OwnedWallet]
    const wallet = { address, signMessage: (message: string) => owner.signMessage({ message }) }
    const client = createClient({ baseUrl: exchange.baseUrl, wallet, signer: sodiumSigner() })
    const { user, isNewUser } = await client.signIn()
    t.match(user, { address })
    t.equal(isNewUser, true)
    await client.Mint()
    t.ok((await client.ListBalances()).balances.length > 0, 'requests of its session are served')
    const proof = await proofOf(exchange, address.toLowerCase(), signing(owner))
    t.match(await post(exchange, 'verify', proof), { status: 200, body: { isNewUser: false, user: { id: user.id, address } } })
    t.equal(codeOf(await post(exchange, 'verify', proof)), '401 NONCE_INVALID')
    for (let round = 0; round < 3; round++) {
      const shared = await proofOf(exchange, address, signing(owner))
      const replies = await Promise.all(Array.from({ length: 10 }, () => post(exchange, 'verify', shared)))
      t.same(replies.map(codeOf).sort(), ['signed', ...Array(9).fill('401 NONCE_INVALID')].sort(), 'of parallel verifies one wins')
    }
    t.equal(await outcome(exchange, address, signing(other.owner)), REJECTED, 'the owner of another wallet')
    t.equal(await outcome(exchange, other.address, signing(owner)), REJECTED)
    t.equal(await outcome(exchange, address, (message) => owner.signMessage({ message: `${message} ` })), REJECTED, 'another text')
    const lost = await proofOf(exchange, address, () => bytes(65))
    t.equal(codeOf(await post(exchange, 'verify', lost)), REJECTED)
    t.equal(codeOf(await post(exchange, 'verify', lost)), REJECTED, 'a rejected signature spends nothing')
  })
}

function families(t: Test, exchange: Exchange, chain: string): Promise<unknown> {
  return t.test('a contract wallet agrees to a master as it signs in, and tells nobody whose sub-account it is', async (t) => {
    const [{ address, owner }] = (await deployWallets(chain, 1)) as [OwnedWallet]
    const clientOf = (wallet: string, key: PrivateKeyAccount): Client => {
      const signMessage = (message: string): Promise<Hex> => key.signMessage({ message })
      return createClient({ baseUrl: exchange.baseUrl, wallet: { address: wallet, signMessage }, signer: sodiumSigner() })
    }
    const key = newKey()
    const master = clientOf(key.address, key)
    await master.signIn()
    const forged = await clientOf(address, key).consentTo(key.address, master.signer!.publicKey)
    await t.rejects(master.CreateSubAccount(forged), { status: 401, code: 'INVALID_SIGNATURE' }, 'by a key the contract does not accept')
    const consent = await clientOf(address, owner).consentTo(key.address, master.signer!.publicKey)
    t.match(await master.CreateSubAccount(consent), { subAccount: { address, accountType: 'sub', consented: true } })
    const { body } = await post(exchange, 'challenge', { address, sessionPublicKey: sodiumSigner().publicKey })
    t.notMatch((body as { message?: string }).message!, new RegExp(key.address, 'i'))
    const sub = clientOf(address, owner)
    t.match(await sub.signIn(), { isNewUser: false })
    t.match(await sub.GetProfile(), { accountType: 'sub' })
  })
}

function answers(t: Test, exchange: Exchange, chain: string): Promise<unknown> {
  return t.test('what a contract answers decides, and nothing it does otherwise', async (t) => {
    const word = (magic: string): string => `0x${magic}${'00'.repeat(28)}`
    const sayings: [string, string, string][] = [
      ['the magic value and zeros', ACCEPTED, 'signed'],
      ['a second word behind it', `${ACCEPTED}${'ff'.repeat(32)}`, 'signed'],
      ['1024 bytes', `${ACCEPTED}${'00'.repeat(992)}`, 'signed'],
      ['1025 bytes', `${ACCEPTED}${'00'.repeat(993)}`, REJECTED],
      ['another magic value', word('ffffffff'), REJECTED],
      ['the magic value of EIP-1271 as it was proposed first', word('20c13b0b'), REJECTED],
      ['the magic value on the right', `0x${'00'.repeat(28)}1626ba7e`, REJECTED],
      ['something behind the magic value', `0x1626ba7e${'00'.repeat(27)}01`, REJECTED],
      ['four bytes', '0x1626ba7e', REJECTED],
      ['31 bytes', ACCEPTED.slice(0, -2), REJECTED],
      ['true', `0x${'00'.repeat(31)}01`, REJECTED],
      ['nothing', '0x', REJECTED],
    ]
    for (const [what, said, expected] of sayings) {
      t.equal(await outcome(exchange, await deploy(chain, 'SayingWallet', [said]), () => bytes(65)), expected, what)
    }
    t.equal(await outcome(exchange, await deploy(chain, 'HugeWallet', [32n]), () => bytes(1)), 'signed')
    t.equal(await outcome(exchange, await deploy(chain, 'HugeWallet', [1_000_000n]), () => bytes(1)), REJECTED, 'a huge answer')
    t.equal(await outcome(exchange, await deploy(chain, 'RevertingWallet'), () => bytes(65)), REJECTED, 'a revert')
    t.equal(await outcome(exchange, await deploy(chain, 'EndlessWallet'), () => bytes(65)), REJECTED, 'out of gas')
    t.equal(await outcome(exchange, await deploy(chain, 'InvalidWallet'), () => bytes(65)), REJECTED, 'an invalid instruction')
    const counting = await deploy(chain, 'CountingWallet')
    for (let i = 0; i < 2; i++) t.equal(await outcome(exchange, counting, () => bytes(65)), 'signed', 'what it would write is not written')
    for (const length of [1, 64, 200, 8192]) {
      const address = await deploy(chain, 'LengthWallet', [BigInt(length)])
      t.equal(await outcome(exchange, address, () => bytes(length)), 'signed', `${length} bytes`)
      t.equal(await outcome(exchange, address, () => bytes(length).slice(2) as Hex), 'signed', `${length} bytes without 0x`)
    }
    const longer = await deploy(chain, 'LengthWallet', [8193n])
    t.equal(await outcome(exchange, longer, () => bytes(8193).slice(2) as Hex), REJECTED, '8193 bytes in 16386 characters')
    t.equal(await outcome(exchange, longer, () => bytes(8193)), '400 VALIDATION_ERROR', '16388 characters')
    t.equal(await outcome(exchange, longer, () => `${bytes(100)}0`), '400 VALIDATION_ERROR', 'half a byte')
  })
}

/** The signature of a wallet that is yet to be deployed (ERC-6492). */
function wrapped(factory: Address, data: Hex, signature: Hex): Hex {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }]
  return `${encodeAbiParameters(types, [factory, data, signature])}${'6492'.repeat(16)}`
}

function accounts(t: Test, exchange: Exchange, chain: string): Promise<unknown> {
  return t.test('accounts with keys, accounts that delegate, and contracts that are not there', async (t) => {
    const [key, owner, stranger] = [newKey(), newKey(), newKey()]
    t.equal(await outcome(exchange, key.address, signing(key)), 'signed', 'an ordinary account')
    t.equal(await outcome(exchange, key.address, signing(stranger)), REJECTED)
    t.equal(await outcome(exchange, key.address, () => bytes(200)), REJECTED, 'no code, so nothing was signed')
    t.equal(await outcome(exchange, key.address, () => wrapped(stranger.address, deployData('CountingWallet'), bytes(65))), REJECTED)
    t.equal(await outcome(exchange, `0x${'00'.repeat(19)}01`, () => bytes(65)), REJECTED, 'a precompiled contract has no code')

    const target = await deploy(chain, 'OwnedWallet', [owner.address])
    const delegate = async (contractAddress: Address, nonce: number): Promise<void> => {
      const authorization = await key.signAuthorization({ contractAddress, chainId: 1328, nonce })
      await walletClient(chain).sendTransaction({ to: stranger.address, authorizationList: [authorization] })
    }
    await delegate(target, 0)
    t.equal(await outcome(exchange, key.address, signing(key)), 'signed', 'its own key, after it delegated its code')
    t.equal(await outcome(exchange, key.address, signing(owner)), 'signed', 'whom its code accepts')
    t.equal(await outcome(exchange, key.address, signing(stranger)), REJECTED)
    await delegate(stranger.address, 1)
    t.equal(await outcome(exchange, key.address, signing(owner)), REJECTED, 'delegated to an address without code')
    t.equal(await outcome(exchange, key.address, signing(key)), 'signed')
    const [wallet] = (await deployWallets(chain, 1)) as [OwnedWallet]
    const signature = async (message: string): Promise<Hex> => wrapped(stranger.address, '0x', await signing(wallet.owner)(message))
    t.equal(await outcome(exchange, wallet.address, signature), 'signed', 'the signature inside the wrapper counts')
  })
}

/** An exchange that asks a stub instead of a chain. */
async function withStub(t: Test, flags: readonly string[] = [], directory?: string): Promise<{ exchange: Exchange; stub: RpcStub }> {
  const stub = await startRpcStub()
  t.teardown(() => stub.close())
  return { stub, exchange: await exchangeOf(t, ['--chain-rpc-url', stub.url, ...flags], directory) }
}

await t.test('whatever is wrong with the chain there is no verdict, and the nonce is good when it is right again', async (t) => {
  const { exchange, stub } = await withStub(t)
  const key = newKey()
  t.equal(exchange.chainPort, undefined, 'no chain is embedded beside an outside one')
  // The chain's number is asked for once a minute, so that only the first question sees a wrong one.
  for (const fault of FAULTS.filter((each) => !ENDLESS.includes(each) && each !== 'no chain id')) {
    stub.fault = fault
    const proof = await proofOf(exchange, newKey().address, () => bytes(70))
    t.equal(codeOf(await post(exchange, 'verify', proof)), UNAVAILABLE, fault)
    const asked = stub.asked.length
    t.equal(await outcome(exchange, key.address, signing(key)), 'signed', `${fault}: keys sign in`)
    t.equal(stub.asked.length, asked, 'and the chain is not asked about them')
    stub.fault = 'good'
    t.equal(await verdict(exchange, proof), 'signed', `${fault}: and is over`)
  }
  stub.said = { error: { code: 3, message: 'execution reverted' } }
  t.equal(await outcome(exchange, newKey().address, () => bytes(70)), REJECTED, 'a revert is a verdict')
  stub.code = '0x'
  t.equal(await outcome(exchange, newKey().address, () => bytes(70)), REJECTED, 'no code is a verdict')
  const asked = stub.asked.length
  t.equal(await outcome(exchange, newKey().address, () => bytes(8193).slice(2) as Hex), REJECTED)
  t.equal(stub.asked.length, asked, 'a signature that is too long is not forwarded')
  await stub.close()
  t.equal(await outcome(exchange, newKey().address, () => bytes(70)), UNAVAILABLE, 'nobody there')
  t.notOk(JSON.stringify(exchange.log).includes('/key'), 'the URL is not logged beyond its host')
})

await t.test('a chain that does not answer in time gives no verdict', async (t) => {
  const { exchange, stub } = await withStub(t, ['--chain-timeout-ms', '200'])
  for (const fault of ENDLESS) {
    stub.fault = fault
    const proof = await proofOf(exchange, newKey().address, () => bytes(70))
    t.equal(codeOf(await post(exchange, 'verify', proof)), UNAVAILABLE, fault)
    stub.fault = 'good'
    t.equal(await verdict(exchange, proof), 'signed', `${fault}: and is over`)
  }
})

await t.test('at capacity the next is refused at once without a verdict, and keys go on signing in', async (t) => {
  const { exchange, stub } = await withStub(t, ['--contract-checks', '2'])
  stub.holding = true
  const proofs = await Promise.all([1, 2, 3].map(() => proofOf(exchange, newKey().address, () => bytes(70))))
  const first = proofs.slice(0, 2).map((proof) => post(exchange, 'verify', proof))
  for (let i = 0; i < 2 * TRIES && stub.held < 2; i++) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(stub.held, 2, 'two questions are open')
  t.equal(codeOf(await post(exchange, 'verify', proofs[2]!)), UNAVAILABLE)
  t.equal(stub.held, 2, 'the third was not asked')
  const key = newKey()
  t.equal(await outcome(exchange, key.address, signing(key)), 'signed')
  stub.release()
  t.same((await Promise.all(first)).map(codeOf), ['signed', 'signed'])
  t.equal(await verdict(exchange, proofs[2]!), 'signed')
})

await t.test('who may be a contract is read from a file, also while it runs', async (t) => {
  const directory = temporaryDirectory()
  const file = join(directory, 'contract_login.json')
  const write = (text: string): void => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  const listed = newKey()
  write(JSON.stringify({ contractLogin: [listed.address] }))
  const { exchange, stub } = await withStub(t, ['--contract-login-file', file], directory)
  t.equal(await outcome(exchange, listed.address, () => bytes(70)), 'signed', 'one that is listed')
  const asked = stub.asked.length
  t.equal(await outcome(exchange, newKey().address, () => bytes(70)), REJECTED, 'one that is not')
  t.equal(stub.asked.length, asked, 'about whom the chain is not asked')
  const key = newKey()
  /** Tries until the outcome is this one: the file is looked at once a second. */
  const comes = async (address: string, sign: (message: string) => Hex | Promise<Hex>, expected: string): Promise<string> => {
    let found = ''
    for (let i = 0; i < TRIES && found !== expected; i++) {
      found = await outcome(exchange, address, sign)
      if (found !== expected) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return found
  }
  write('{"contractLogin":"none"}')
  t.equal(await comes(listed.address, () => bytes(70), REJECTED), REJECTED, 'none')
  t.equal(await outcome(exchange, key.address, signing(key)), 'signed')
  write('{"contractLogin":"some"}')
  t.equal(await comes(key.address, signing(key), UNAVAILABLE), UNAVAILABLE, 'a file that says nothing: no sign-in of anybody')
  write('{"contractLogin":"all"}')
  t.equal(await comes(newKey().address, () => bytes(70), 'signed'), 'signed')
  renameSync(file, `${file}.away`)
  const proof = await proofOf(exchange, key.address, signing(key))
  t.equal(await comes(key.address, signing(key), UNAVAILABLE), UNAVAILABLE, 'no file')
  renameSync(`${file}.away`, file)
  t.equal(await verdict(exchange, proof), 'signed', 'and its nonce is good when there is one')
})

await t.test('without a chain only keys sign in', async (t) => {
  const exchange = await exchangeOf(t, ['--chain', '0'])
  t.equal(exchange.chainPort, undefined)
  const key = newKey()
  t.equal(await outcome(exchange, key.address, signing(key)), 'signed')
  t.equal(await outcome(exchange, key.address, () => bytes(70)), REJECTED)
  t.equal(await outcome(exchange, newKey().address, signing(key)), REJECTED)
})
