/**
 * Promise: what holds of sign-in at the sign-in thread holds over every way to it: a nonce that many spend at once, over two gateways and
 * gRPC, opens one session; a nonce and a session are of one application; session keys that more than one private key can sign for are
 * refused. (Specification, Verify rules, Sessions.) sign_in.test.ts has the sign-in thread alone.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { movedKeys, NON_CANONICAL, OFF_CURVE, SMALL_ORDER } from '../support/hostile_vectors.ts'
import { messageSigned } from '../support/message_signature.ts'
import { grpcTransport, newWallet, restTransport, signIn, type Json, type Transport, type Wallet } from '../support/transports.ts'

t.setTimeout(600_000)

const directory = temporaryDirectory()
const genesisFile = join(directory, 'genesis_of_test.json')
writeFileSync(genesisFile, testGenesis())
const limits = ['--sign-in-per-ip', '100000', '--sign-in-per-address', '100000']
const exchange = await startExchange(join(directory, 'data'), ['--genesis', genesisFile, '--gateways', '2', '--chain', '0', ...limits])
const client = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  client.close()
  await exchange.kill()
  removeDirectory(directory)
})
const TRANSPORTS: readonly Transport[] = [restTransport(exchange.port), grpcTransport(client)]
const [rest] = TRANSPORTS as [Transport]
const structured = restTransport(exchange.port, messageSigned)

/** What verify wants, signed by the wallet. */
async function proofOf({ wallet, session }: Wallet, through: Transport, clientId = 'ringbook'): Promise<Json> {
  const key = { address: wallet.address, sessionPublicKey: session.publicKey, clientId }
  const { nonce, message } = (await through('Challenge', key, null)) as Json
  return { ...key, nonce, signature: await wallet.signMessage({ message }) }
}
const codeOf = (outcome: Json): string => outcome['refused'] ?? 'signed in'

t.test('of many verifies with one nonce, at once over two gateways and gRPC, one opens a session', async (t) => {
  for (let round = 0; round < 6; round++) {
    const wallet = newWallet()
    const proof = await proofOf(wallet, TRANSPORTS[round % 2]!)
    // A connection each: the kernel spreads those of HTTP over the gateways.
    const all = Array.from({ length: 24 }, (_, i) => TRANSPORTS[i % 2]!('Verify', proof, null))
    const codes = (await Promise.all(all)).map((outcome) => codeOf(outcome as Json))
    t.same(codes.filter((code) => code !== 'NONCE_INVALID'), ['signed in'])
    for (const transport of TRANSPORTS) t.equal(codeOf((await transport('Verify', proof, null)) as Json), 'NONCE_INVALID', 'nor later')
    t.equal(((await rest('GetProfile', {}, wallet.session)) as Json)['address'], wallet.wallet.address, 'and the session is good')
  }
})

t.test('a nonce, a session key and a session are of one application', async (t) => {
  for (const [here, there] of [TRANSPORTS, [...TRANSPORTS].reverse()] as [Transport, Transport][]) {
    const wallet = newWallet()
    const proof = await proofOf(wallet, here)
    const foreign = { ...proof, clientId: 'other' }
    t.equal(codeOf((await there('Verify', foreign, null)) as Json), 'NONCE_INVALID', 'a nonce of the one in the other')
    t.equal(codeOf((await there('Verify', { ...proof, clientId: 'nobody' }, null)) as Json), 'NOT_FOUND')
    const { user }: Json = await there('Verify', proof, null)
    t.ok(user.id, 'where it belongs it is good still')
    const again = await proofOf(wallet, there, 'other')
    t.equal(codeOf((await here('Verify', again, null)) as Json), 'SESSION_KEY_IN_USE', 'the live key of the one is no key in the other')
    const elsewhere = newWallet(wallet.wallet)
    const signed = await signIn(there, elsewhere, 'other')
    t.equal(signed['isNewUser'], true)
    t.not(signed['user'].id, user.id, 'the wallet is another user there')
    for (const transport of [here, there, structured]) {
      const ids = [wallet, elsewhere].map(async ({ session }) => ((await transport('GetProfile', {}, session)) as Json)['id'])
      t.same(await Promise.all(ids), [user.id, signed['user'].id], 'and each session is its own user everywhere')
    }
  }
})

t.test('hostile session keys are refused at challenge and at verify', async (t) => {
  const good = newWallet()
  const keys = [...SMALL_ORDER, ...NON_CANONICAL, ...movedKeys(good.session.publicKey), OFF_CURVE, good.session.publicKey.slice(2)]
  for (const transport of TRANSPORTS) {
    const proof = await proofOf(good, transport)
    for (const sessionPublicKey of keys) {
      const challenge = (await transport('Challenge', { address: good.wallet.address, sessionPublicKey }, null)) as Json
      t.match(challenge, { refused: 'VALIDATION_ERROR', details: { field: 'sessionPublicKey' } }, sessionPublicKey)
      const verified = (await transport('Verify', { ...proof, sessionPublicKey }, null)) as Json
      if (!['NONCE_INVALID', 'VALIDATION_ERROR'].includes(codeOf(verified))) t.fail(`${sessionPublicKey}: ${codeOf(verified)}`)
    }
    t.equal(codeOf((await transport('Verify', proof, null)) as Json), 'signed in', 'the key it was made for is good still')
  }
})
