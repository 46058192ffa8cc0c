/**
 * Promise: nobody signs requests that act for somebody else. A session key that one user had is no other user's, while its session lives
 * and after it ended; of many who register one key at once, over two gateways and gRPC, one gets it.
 */
import { sign } from 'node:crypto'
import t from 'tap'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { connectGrpc } from '../../support/grpc.ts'
import { newUser, signIn, signInFor } from '../../support/sign_in.ts'
import { grpcTransport, newWallet, restTransport, type Json, type Transport, type Wallet } from '../../support/transports.ts'

t.setTimeout(600_000)
const dataDir = temporaryDirectory()
const limits = ['--sign-in-per-ip', '100000', '--sign-in-per-address', '100000']
const exchange = await startExchange(dataDir, ['--chain', '0', '--gateways', '2', ...limits])
const connection = connectGrpc(exchange.grpcPort)
t.teardown(async () => {
  connection.close()
  await exchange.kill()
  removeDirectory(dataDir)
})
const [rest, grpc] = [restTransport(exchange.port), grpcTransport(connection)] as [Transport, Transport]

/** Another wallet with the session key of `who`. */
const squatter = ({ session }: Wallet): Wallet => {
  const { wallet } = newWallet()
  return { wallet, session: { ...session, address: wallet.address } }
}

t.test('a key that its user signed out with', async (t) => {
  for (const call of [rest, grpc]) {
    const victim = await newUser(call)
    const [attacker, owner] = [squatter(victim), await newUser(call)]
    t.match(await signIn(call, attacker), { refused: 'SESSION_KEY_IN_USE' }, 'while it lives')
    await call('Revoke', {}, victim.session)
    t.match(await signIn(call, attacker), { refused: 'SESSION_KEY_IN_USE' }, 'when it is over')
    const grant = { agentAddress: attacker.wallet.address, allowedActions: ['CREATE_ORDER'], allowedTradingPairIds: [await pairId(call)] }
    await call('UpsertDelegatedAgent', grant, owner.session)
    t.match(await signInFor(call, owner.wallet.address, attacker), { refused: 'SESSION_KEY_IN_USE' }, "nor as somebody's agent")
    t.match(await call('GetProfile', {}, victim.session), { refused: 'SESSION_INVALID' }, 'what it signs acts for nobody')
    await signIn(call, victim)
    t.match(await call('GetProfile', {}, victim.session), { address: victim.wallet.address }, 'and for its user again')
  }
})

async function pairId(call: Transport): Promise<string> {
  const { tradingPairs }: Json = await call('ListTradingPairs', { pageSize: 1 }, null)
  return tradingPairs[0].id
}

t.test('of many who register one key at once, one gets it', async (t) => {
  for (let round = 0; round < 5; round++) {
    const first = newWallet()
    const all = [first, ...Array.from({ length: 7 }, () => squatter(first))]
    const outcomes = await Promise.all(all.map((who, i) => signIn(i % 2 === 0 ? rest : grpc, who)))
    const codes = outcomes.map((outcome) => outcome['refused'] ?? 'signed in')
    t.same(codes.toSorted(), [...Array(7).fill('SESSION_KEY_IN_USE'), 'signed in'])
    const winner = all[codes.indexOf('signed in')]!
    t.match(await rest('GetProfile', {}, first.session), { address: winner.wallet.address })
  }
})

t.test('who registers a key may prove that it is his, and a wrong proof is refused', async (t) => {
  for (const call of [rest, grpc]) {
    const [user, other] = [newWallet(), newWallet()]
    const key = { address: user.wallet.address, sessionPublicKey: user.session.publicKey }
    const { nonce, message }: Json = await call('Challenge', key, null)
    const proof = { ...key, nonce, signature: await user.wallet.signMessage({ message }) }
    const by = ({ session }: Wallet): string =>
      sign(null, Buffer.from(message as string), session.privateKey).toString('hex')
    const wrong = await call('Verify', { ...proof, sessionSignature: by(other) }, null)
    t.match(wrong, { refused: 'INVALID_SIGNATURE', details: { field: 'sessionSignature' } })
    t.match(await call('Verify', { ...proof, sessionSignature: by(user) }, null), { isNewUser: true })
  }
})
