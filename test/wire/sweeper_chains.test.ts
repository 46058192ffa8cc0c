/**
 * Promise: ListSweeperChains tells the chains of the genesis document, over REST and gRPC alike, to anybody, and where the vault is once
 * that is known; without any an empty list.
 */
import t from 'tap'
import { PLACES, startHarness, testGenesis } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { until } from '../support/money.ts'
import { grpcTransport, restTransport, type Json } from '../support/transports.ts'

const USDC = { symbol: 'USDC', tokenAddress: `0x${'aB'.repeat(20)}`, decimals: 6, minSweepRaw: '9'.repeat(78) }
const BTC = { symbol: 'BTC', tokenAddress: `0x${'1'.repeat(40)}`, decimals: 0, minSweepRaw: '1' }
const sepolia = { chainId: 11_155_111, shortName: 'sepolia', assets: [USDC, BTC] }
const sei = { chainId: 1328, shortName: 'sei-testnet', assets: [] }
const withSweeper = (sweeper?: object): string => JSON.stringify({ ...JSON.parse(testGenesis()), sweeper })
const KNOWN = { vault: '0x9A8f92a830A5cB89a3816e3D267CB7791c16b04D', factory: '0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6' }

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
    const transports = { REST: restTransport(harness.port), gRPC: grpcTransport(client) }
    const at = (places: object): Json => ({ chains: chains.map((chain) => ({ ...chain, ...places })) })
    t.strictSame(await transports.REST('ListSweeperChains', {}, null), at({ vault: null, factory: null }), 'without a vault')
    t.strictSame(await transports.gRPC('ListSweeperChains', {}, null), at({}), 'what is null is absent over gRPC')
    harness.giveVault(PLACES, () => null)
    for (const [way, transport] of Object.entries(transports)) {
      const read = async (): Promise<Json> => transport('ListSweeperChains', {}, null)
      await until('the places', async () => chains.length === 0 || (await read())['chains'][0].vault === KNOWN.vault)
      t.strictSame(await read(), at(KNOWN), `${way}: the contracts in EIP-55 form`)
    }
  })
}
