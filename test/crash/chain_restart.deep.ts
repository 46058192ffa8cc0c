/**
 * Promise: wallets deployed on the embedded chain are there after every restart; a chain that cannot be executed again is refused
 * without stopping the exchange; a port that is taken is said so.
 */
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import Database from 'better-sqlite3'
import t from 'tap'
import { EXIT } from '../../core/threads.ts'
import { chainPath } from '../../gateway/chain/store.ts'
import { createClient, RingbookError } from '../../gateway/client/index.ts'
import { deployWallets, publicClient, type OwnedWallet } from '../support/contracts.ts'
import { logged, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, sodiumSigner } from '../support/traders.ts'

t.setTimeout(900_000)
/** A chain that answers at all answers in time. */
const FLAGS = ['--chain-timeout-ms', '20000']
const urlOf = (exchange: Exchange): string => `http://127.0.0.1:${exchange.chainPort}`

/** Signs the wallet in; its user's id. */
async function signIn(exchange: Exchange, { address, owner }: OwnedWallet): Promise<string> {
  const wallet = { address, signMessage: (message: string) => owner.signMessage({ message }) }
  const { user } = await createClient({ baseUrl: exchange.baseUrl, wallet, signer: sodiumSigner() }).signIn()
  return user.id
}

t.test('wallets are there after an orderly stop and after kill -9', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  let exchange = await startExchange(directory, FLAGS)
  t.teardown(() => exchange.kill())
  const [first] = (await deployWallets(urlOf(exchange), 1)) as [OwnedWallet]
  const user = await signIn(exchange, first)
  t.equal(await exchange.stop(), EXIT.OK)
  exchange = await startExchange(directory, FLAGS)
  t.equal(await signIn(exchange, first), user, 'the same user, by the same contract')
  const [second] = (await deployWallets(urlOf(exchange), 1)) as [OwnedWallet]
  const head = await publicClient(urlOf(exchange)).getBlock()
  await exchange.kill()
  exchange = await startExchange(directory, FLAGS)
  t.equal((await publicClient(urlOf(exchange)).getBlock()).hash, head.hash, 'what was answered is there')
  t.equal(await signIn(exchange, first), user)
  t.ok(await signIn(exchange, second))
  t.equal(await exchange.stop(), EXIT.OK)
})

const DAMAGE: [string, (path: string) => void][] = [
  ['a file that is no database', (path) => writeFileSync(path, 'x'.repeat(10_000))],
  ['a transaction that gives another block', (path) => {
    const database = new Database(path)
    database.exec('UPDATE blocks SET timestamp = timestamp + 1')
    database.close()
  }],
]
for (const [what, damage] of DAMAGE) {
  t.test(`${what}: the chain is refused, the exchange is not`, async (t) => {
    const directory = temporaryDirectory()
    t.teardown(() => removeDirectory(directory))
    const before = await startExchange(directory, FLAGS)
    const [wallet] = (await deployWallets(urlOf(before), 1)) as [OwnedWallet]
    t.equal(await before.stop(), EXIT.OK)
    damage(chainPath(directory))
    const exchange = await startExchange(directory, FLAGS)
    t.teardown(() => exchange.kill())
    const { client } = await newTrader(exchange.baseUrl)
    t.ok((await client.ListBalances()).balances.length > 0, 'keys sign in and are served')
    const refused = await signIn(exchange, wallet).then(() => null, (error: unknown) => error as RingbookError)
    t.equal(refused?.code, 'VERIFICATION_UNAVAILABLE')
    t.equal(refused?.status, 503)
    await t.rejects(publicClient(urlOf(exchange)).getChainId(), /the chain is not available/)
    t.match(await logged(exchange, /chain\.sqlite cannot be used/), { level: 'error' }, 'the log says so')
    t.equal(await exchange.stop(), EXIT.OK)
  })
}

t.test('a port that is taken refuses the start', async (t) => {
  const directory = temporaryDirectory()
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => {
    taken.close()
    removeDirectory(directory)
  })
  const { port } = taken.address() as AddressInfo
  const failed = await startExchange(directory, ['--chain-port', String(port)]).then(
    async (exchange) => {
      await exchange.kill()
      return null
    },
    (error: unknown) => error as StartFailed,
  )
  t.equal(failed?.code, EXIT.CONFIG)
  t.match(failed?.log.at(-1)?.['msg'], /^port \d+ of 127\.0\.0\.1 \(--chain-port, RINGBOOK_CHAIN_PORT\) is in use/)
  const exchange = await startExchange(directory, ['--chain-port', String(port), '--chain', '0'])
  t.equal(await exchange.stop(), EXIT.OK, 'without the chain it is not needed')
})
