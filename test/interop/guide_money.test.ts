/**
 * Promise: the program of the guide's section on money, its pieces put together as they stand there, withdraws, deposits in both ways and
 * verifies its balance on a real exchange and its embedded chain, and every token is where it says.
 */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { guideText } from '../../gateway/docs/guide.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'
import { runWithWallet } from '../support/wallet_pipe.ts'

t.setTimeout(600_000)
const GUIDE = join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'guide')
const directory = temporaryDirectory()
const flags = ['--vault', '1', '--chain-poll-ms', '50', '--settlement-seconds', '2']
const exchange = await startExchange(directory, flags)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})

const before = `
import { Session } from ${JSON.stringify('./client.ts')}
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
const base = '${exchange.baseUrl}'
const chainUrl = 'http://127.0.0.1:${exchange.chainPort}'
const wallet = privateKeyToAccount(generatePrivateKey())
const session = await Session.open(base, wallet.address, (message) => wallet.signMessage({ message }))
await session.request('POST', '/api/v1/faucet/mint')
while (!(await session.request('GET', '/api/v1/accounts/me')).canWithdraw) await new Promise((wake) => setTimeout(wake, 200))
console.log('funded')
`
const behind = `
const tokens = await node.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [wallet.address] })
const [owned] = (await session.request('GET', '/api/v1/accounts/balances')).balances
const { id } = await session.request('GET', '/api/v1/accounts/me')
console.log(JSON.stringify({ withdrawn, deposited, proven, tokens: String(tokens), owned, id }))
`

/** Two others trade: a batch of settlement has trades, and balances of everybody. */
async function trade(): Promise<void> {
  const [maker, taker] = [(await newTrader(exchange.baseUrl)).client, (await newTrader(exchange.baseUrl)).client]
  const order = { tradingPairId: await pairOf(maker, 'ETH/USDC'), orderType: 'LIMIT', quantity: '0.1', price: '2000' } as const
  await maker.CreateOrder({ ...order, side: 'SELL' })
  await taker.CreateOrder({ ...order, side: 'BUY' })
}

t.test('the program of the guide', async (t) => {
  const samples = [...guideText('money.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  t.equal(samples.length, 6)
  // Inside this tree, so that viem is found.
  const folder = t.testdir()
  copyFileSync(join(GUIDE, 'client.ts'), join(folder, 'client.ts'))
  writeFileSync(join(folder, 'money.ts'), [before, ...samples, behind].join('\n'))
  const onLine = (line: string): Promise<void> | void => (line === 'funded' ? trade() : undefined)
  const words = ['--disable-warning=ExperimentalWarning', 'money.ts']
  const { code, said } = await runWithWallet(process.execPath, words, { cwd: folder, onLine })
  t.equal(code, 0)
  const { withdrawn, deposited, proven, tokens, owned, id } = JSON.parse(said.at(-1)!) as Record<string, any>
  t.match(withdrawn, { status: 'CONFIRMED', amount: '100', amountRaw: '100000000', txHash: /^0x[0-9a-f]{64}$/ })
  t.match(deposited, [{ amount: '25', entryType: 'CREDIT' }, { amount: '40', entryType: 'CREDIT' }])
  t.not(deposited[0].txHash, deposited[1].txHash)
  t.equal(tokens, '35000000', '100 came, 40 and 25 went')
  t.match(owned, { symbol: 'USDC', availableBalance: '9965', lockedBalance: '0' })
  t.match(proven, { status: 'SETTLED_ON_CHAIN', txHash: /^0x[0-9a-f]{64}$/ })
  t.equal(proven.leaf.length, 2 + 2 * 88)
  t.ok(proven.leaf.includes(id.replaceAll('-', '')), 'the leaf is of this user')
})
