/** Promise: ListSweeperChains tells the chains of the genesis document, over REST and gRPC alike, to anybody; without any an empty list. */
import t from 'tap'
import { startHarness, testGenesis } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { grpcTransport, restTransport } from '../support/transports.ts'

const USDC = { symbol: 'USDC', tokenAddress: `0x${'aB'.repeat(20)}`, decimals: 6, minSweepRaw: '9'.repeat(78) }
const BTC = { symbol: 'BTC', tokenAddress: `0x${'1'.repeat(40)}`, decimals: 0, minSweepRaw: '1' }
const sepolia = { chainId: 11_155_111, shortName: 'sepolia', assets: [USDC, BTC] }
const sei = { chainId: 1328, shortName: 'sei-testnet', assets: [] }
const withSweeper = (sweeper?: object): string => JSON.stringify({ ...JSON.parse(testGenesis()), sweeper })

for (const [what, source, chains] of [
  ['two chains', withSweeper({ chains: [sepolia, { ...sei, hub: true }] }), [{ ...sepolia, isHub: false }, { ...sei, isHub: true }]],
  ['none', withSweeper(), []],
] as const) {
  t.test(what, async (t) => {
    const harness = await startHarness(['--grpc-thread', '1'], source)
    const client = connectGrpc(harness.grpcPort)
    t.teardown(async () => {
      client.close()
      await harness.close()
    })
    for (const [way, transport] of Object.entries({ REST: restTransport(harness.port), gRPC: grpcTransport(client) })) {
      t.strictSame(await transport('ListSweeperChains', {}, null), { chains }, way)
    }
  })
}
