/**
 * Promise: nobody gets at a wallet's funds by making it a sub-account. Without the wallet's signature nothing is linked and nothing is told
 * about it; a wallet that was linked by a version that did not ask keeps what it has until it signs in with a text that names its master.
 */
import t from 'tap'
import { CommandType } from '../../../core/layout/command.ts'
import { RESULT } from '../../../core/layout/event.ts'
import { decode } from '../../../core/layout/table.ts'
import type { UnconsentedList } from '../../../gateway/operator/sub_accounts.ts'
import { consentOf } from '../../support/consent.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { testGenesis } from '../../support/gateway_harness.ts'
import { connectGrpc } from '../../support/grpc.ts'
import { postCommand, startMatcher, takeAnswers } from '../../support/journal.ts'
import { newUser, signIn } from '../../support/sign_in.ts'
import { grpcTransport, newWallet, restTransport, type Json, type Transport, type Wallet } from '../../support/transports.ts'

t.setTimeout(600_000)
const FLAGS = ['--chain', '0', '--gateways', '1']

t.test('a victim that has not signed in yet', async (t) => {
  const dataDir = temporaryDirectory()
  const exchange = await startExchange(dataDir, FLAGS)
  const connection = connectGrpc(exchange.grpcPort)
  t.teardown(async () => {
    connection.close()
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const rest = restTransport(exchange.port)
  for (const call of [rest, grpcTransport(connection)] as Transport[]) {
    const [attacker, user] = [await newUser(call), await newUser(call)]
    const [victim, stranger] = [newWallet(), newWallet()]
    const claim = (input: Json): Promise<Json> => call('CreateSubAccount', input, attacker.session)
    const { address } = victim.wallet
    const plain: Json = await call('Challenge', { address, sessionPublicKey: attacker.session.publicKey }, null)
    const asked: Json = await call('Challenge', {
      address, sessionPublicKey: attacker.session.publicKey, subAccountOf: attacker.wallet.address,
    }, null)
    const forOther = await consentOf(call, victim.wallet, user.session)
    const tries: Json[] = [
      { address }, { address, nonce: asked['nonce'] }, { address, nonce: asked['nonce'], signature: '0x' + '00'.repeat(65) },
      { address, nonce: asked['nonce'], signature: await attacker.wallet.signMessage({ message: asked['message'] }) },
      { address, nonce: plain['nonce'], signature: await victim.wallet.signMessage({ message: plain['message'] }) },
      forOther, { ...(await consentOf(call, stranger.wallet, attacker.session)), address },
    ]
    for (const input of tries) {
      const refused = await claim(input)
      if (!['INVALID_SIGNATURE', 'NONCE_INVALID'].includes(refused['refused'])) t.fail(JSON.stringify([input, refused]))
    }
    const about = async (wallet: string): Promise<Json> => claim({ address: wallet, nonce: 'x', signature: '0x12' })
    t.strictSame(await about(user.wallet.address), await about(newWallet().wallet.address), 'a user and nobody are told alike')
    t.match(await signIn(call, victim), { isNewUser: true }, 'the victim is its own master')
    t.match(await call('GetProfile', {}, victim.session), { accountType: 'master' })
    const { subAccounts }: Json = await call('ListSubAccounts', {}, attacker.session)
    t.strictSame(subAccounts, [])
    const late = await consentOf(call, victim.wallet, attacker.session)
    t.match(await claim(late), { refused: 'ADDRESS_IN_USE' }, 'even with its word: it has an account')
  }
})

/** A directory of a version that did not ask: the attacker's account, and the victim's wallet linked to it. */
async function olderDirectory(dataDir: string, attacker: Wallet, victim: Wallet): Promise<void> {
  const genesis = JSON.stringify({ ...(JSON.parse(testGenesis()) as object), rules: 0 })
  const matcher = startMatcher(dataDir, { genesis })
  matcher.clock = Date.now()
  const done = (type: CommandType, values: Record<string, number | string>): ReturnType<typeof decode> => {
    postCommand(matcher, 1, type, values)
    matcher.turn()
    const answer = decode(RESULT, takeAnswers(matcher.gateways[1]!), 0)
    if (answer['code'] !== 0) throw new Error(`command ${type}: ${answer['code']}`)
    return answer
  }
  const { session, wallet } = attacker
  const words = { address: wallet.address.slice(2).toLowerCase(), publicKey: session.publicKey }
  const opened = done(CommandType.OPEN_SESSION, { session: -1, ...words })
  const by = { session: Number(opened['detail']), sessionGeneration: Number(opened['detail2']) }
  done(CommandType.CREATE_SUB_ACCOUNT, { ...by, address: victim.wallet.address.slice(2).toLowerCase(), username: '' })
  await matcher.database.close()
}

t.test('a victim that was linked before its word was asked for', async (t) => {
  const dataDir = temporaryDirectory()
  const [attacker, victim] = [newWallet(), newWallet()]
  await olderDirectory(dataDir, attacker, victim)
  const exchange = await startExchange(dataDir, FLAGS)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const call = restTransport(exchange.port)
  await signIn(call, attacker)
  const unconsented = async (): Promise<UnconsentedList['subAccounts']> => {
    const headers = { 'x-operator-token': exchange.operatorToken }
    const response = await fetch(`http://127.0.0.1:${exchange.operatorPort}/sub-accounts/unconsented`, { headers })
    return ((await response.json()) as UnconsentedList).subAccounts
  }
  t.match(await unconsented(), [{ address: victim.wallet.address, master: { address: attacker.wallet.address } }])
  const listed = async (): Promise<Json> => ((await call('ListSubAccounts', {}, attacker.session)) as Json)['subAccounts'][0]
  const { id: subAccountId, consented, balances } = await listed()
  t.same([consented, balances], [false, []], 'the master sees that it is linked, and not what it has')
  const { balances: own }: Json = await call('ListBalances', { page: 1, pageSize: 100 }, attacker.session)
  const { assetId } = own.find((each: Json) => each['symbol'] === 'USDC')
  await call('Mint', {}, attacker.session)
  const transfer = { subAccountId, assetId, amount: '5', direction: 'TO_SUB_ACCOUNT' }
  t.match(await call('TransferSubAccountBalance', transfer, attacker.session), { amount: '5' }, 'giving is free')
  const take = { ...transfer, amount: '1', direction: 'FROM_SUB_ACCOUNT' }
  t.match(await call('TransferSubAccountBalance', take, attacker.session), { refused: 'CONSENT_REQUIRED' })
  t.match(await call('TransferSubAccountBalance', { ...take, amount: '999' }, attacker.session), { refused: 'CONSENT_REQUIRED' })

  const key = { address: victim.wallet.address, sessionPublicKey: victim.session.publicKey }
  const { nonce, message }: Json = await call('Challenge', key, null)
  t.ok(message.includes(`Sub-account of: ${attacker.wallet.address}`), 'the text it signs says so')
  t.match(await call('TransferSubAccountBalance', take, attacker.session), { refused: 'CONSENT_REQUIRED' }, 'as long as it has not')
  const signature = await victim.wallet.signMessage({ message })
  t.match(await call('Verify', { ...key, nonce, signature }, null), { isNewUser: false })
  t.match(await call('TransferSubAccountBalance', take, attacker.session), { amount: '1' })
  t.match(await listed(), { consented: true })
  t.same(await unconsented(), [])
})
