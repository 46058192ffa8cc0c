/**
 * Promise: the program of the guide's section on perpetuals, its pieces put together as they stand there, trades a perpetual on a real
 * exchange from the first deposit to the last withdrawal, and what it keeps is what happened.
 */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { guideText } from '../../gateway/docs/guide.ts'
import { operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'
import { runWithWallet } from '../support/wallet_pipe.ts'

t.setTimeout(600_000)
const GUIDE = join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'guide')
const directory = temporaryDirectory()
const exchange = await startExchange(directory)
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})

/** Programs of the guide, and what this one takes of them. */
const PROGRAMS = { client: 'Session', streams: 'openStreams' }
const before = `
${Object.entries(PROGRAMS).map(([file, name]) => `import { ${name} } from ${JSON.stringify(`./${file}.ts`)}`).join('\n')}
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
const base = '${exchange.baseUrl}'
const wallet = privateKeyToAccount(generatePrivateKey())
const session = await Session.open(base, wallet.address, (message) => wallet.signMessage({ message }))
await session.request('POST', '/api/v1/faucet/mint')
`
/** Waits for what the streams tell, and says what came of it. */
const behind = `
const holds = () =>
  positions.get(positionId)?.status === 'CLOSED' && health.get(accounts[0].marginAccountId)?.depositedCollateral === '0'
for (let look = 0; look < 1000 && !holds(); look++) await new Promise((wake) => setTimeout(wake, 10))
console.log(JSON.stringify({
  maintenance: [maintenanceMargin(1300), maintenanceMargin(300_000)], preview, placed, before, after, attached, waiting,
  market, fundingRates, payments,
  closed, bucket, withdrawableCollateral, told: positions.get(positionId), health: health.get(accounts[0].marginAccountId),
}))
socket.close()
`

t.test('the program of the guide', async (t) => {
  const { client: maker } = await newTrader(exchange.baseUrl)
  const tradingPairId = await pairOf(maker, 'BTC/USDC-PERP')
  const { accounts } = await maker.ListMarginAccounts()
  await maker.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount: '5000' })
  const setPrice = (): ReturnType<typeof operate> => operate(exchange, '/perps/price', { pair: 'BTC/USDC-PERP', price: '65000' })
  t.equal((await setPrice()).status, 200)
  const quote = { tradingPairId, tradingMode: 'MARGIN', orderType: 'LIMIT', quantity: '0.02', leverage: '5' } as const
  await maker.CreateOrder({ ...quote, side: 'SELL', price: '65000' })
  await maker.CreateOrder({ ...quote, side: 'BUY', price: '64990', strategyKey: 'bids' })
  const samples = [...guideText('perpetuals.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  t.equal(samples.length, 9)
  // Inside this tree, so that viem is found.
  const folder = t.testdir()
  for (const file of Object.keys(PROGRAMS)) copyFileSync(join(GUIDE, `${file}.ts`), join(folder, `${file}.ts`))
  writeFileSync(join(folder, 'perpetuals.ts'), [before, ...samples, behind].join('\n'))
  // A price is good for 30 seconds, which a start of the program alone may take.
  const again = setInterval(() => void setPrice().catch(() => undefined), 5_000)
  t.teardown(() => clearInterval(again))
  const { code, said } = await runWithWallet(process.execPath, ['--disable-warning=ExperimentalWarning', 'perpetuals.ts'], { cwd: folder })
  clearInterval(again)
  t.equal(code, 0)
  const told = JSON.parse(said.at(-1)!) as Record<string, any>
  t.strictSame(told['maintenance'], [13, 3500], 'as the tiers of the shipped markets have it')
  t.match(told['preview'], { accepted: true, estimatedFee: '0.65', expectedMatchResult: { status: 'FILLED' } })
  t.match(told['placed'], { matchResult: { status: 'FILLED', totalFilled: '0.02', averageFillPrice: '65000' } })
  t.equal(told['before'].liquidationPrice, told['preview'].estimatedLiquidationPrice, 'the preview knew it')
  t.ok(Number(told['after'].liquidationPrice) < Number(told['before'].liquidationPrice), 'margin moves it away')
  t.match(told['waiting'].conditionalOrders.map(({ conditionType, state, quantity }: any) => [conditionType, state, quantity]).sort(), [
    ['STOP_LOSS', 'ARMED', '0.02'], ['TAKE_PROFIT', 'ARMED', '0.02'], ['TRAILING_STOP', 'PENDING', '0.02'],
  ])
  t.type(told['attached'].ocoGroupId, 'string')
  t.match(told['market'], { symbol: 'BTC/USDC-PERP', indexPrice: '65000' })
  t.strictSame([told['fundingRates'], told['payments']], [[], []])
  t.match(told['closed'], { submittedQuantity: '0.02', matchResult: { status: 'FILLED', averageFillPrice: '64990' } })
  t.match(told['told'], { status: 'CLOSED', realizedPnl: '-0.2', strategyKey: 'trend' })
  t.match(told['bucket'], { state: 'ACTIVE', openPositions: 0 })
  // Two fees of 5 basis points, and what was lost.
  t.equal(told['withdrawableCollateral'], '1998.5001')
  t.match(told['health'], { accountState: 'Normal', depositedCollateral: '0' })
})
