/** Promise: sweeper chains of a genesis document are as it says, absent ones are none, and what cannot be is refused with its reason. */
import t from 'tap'
import { GenesisError, parseGenesis } from '../../core/state/genesis.ts'
import { SWEEPER_ASSETS_MAX, SWEEPER_CHAINS_MAX } from '../../core/state/sweeper.ts'
import { createState } from '../../core/state/state.ts'
import { testGenesis } from '../support/gateway_harness.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

type Json = Record<string, any>

const token = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`
const asset = (more: Json = {}): Json => ({ symbol: 'USDC', tokenAddress: token(1), decimals: 6, minSweepRaw: '1', ...more })
const chain = (more: Json = {}): Json => ({ chainId: 1, shortName: 'hub', hub: true, assets: [asset()], ...more })
const spoke = (number: number, more: Json = {}): Json => chain({ chainId: number, shortName: `c-${number}`, hub: false, ...more })
const genesisWith = (sweeper: unknown): string => JSON.stringify({ ...JSON.parse(testGenesis()), sweeper })
const read = (chains: unknown): Json => parseGenesis(genesisWith({ chains })).sweeperChains
const range = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

t.test('chains as the document says', async (t) => {
  const { hub: _, ...spokeWithoutFlag } = spoke(9)
  t.same(read([spokeWithoutFlag, chain()]), [spoke(9), chain()], 'in the order of the document; without the flag no hub')
  t.same(read([]), [])
  t.same(createState(parseGenesis(genesisWith({ chains: [chain()] }))).genesis.sweeperChains, [chain()], 'a state has them too')
  const shipped = parseGenesis(JSON.stringify(shippedGenesis()))
  t.match(shipped.sweeperChains, [{ chainId: shipped.chainId, hub: true }, { shortName: 'sepolia', hub: false }])
  const { sweeper: __, ...before } = JSON.parse(testGenesis()) as Json
  t.same(parseGenesis(JSON.stringify(before)).sweeperChains, [], 'a document of before has none')
})

t.test('what stands at the bound is taken', async (t) => {
  const most = range(SWEEPER_CHAINS_MAX - 1).map((number) => spoke(number + 2))
  t.equal(read([chain(), ...most]).length, SWEEPER_CHAINS_MAX)
  const tokens = range(SWEEPER_ASSETS_MAX).map((number) => asset({ tokenAddress: token(number) }))
  t.equal(read([chain({ assets: tokens })])[0].assets.length, SWEEPER_ASSETS_MAX)
  const edges = [asset({ decimals: 0, minSweepRaw: '9'.repeat(78) }), asset({ tokenAddress: token(2), decimals: 36 })]
  t.same(read([chain({ assets: edges, chainId: Number.MAX_SAFE_INTEGER, shortName: 'x'.repeat(32) })])[0].assets, edges)
  t.same(read([chain({ assets: [] })])[0].assets, [])
  t.ok(read([chain(), spoke(2)]), 'two chains may have the same token')
})

const WRONG: Record<string, [chains: unknown, words: RegExp]> = {
  'no hub': [[spoke(2)], /exactly one chain must be the hub/],
  'two hubs': [[chain(), spoke(2, { hub: true })], /exactly one chain must be the hub/],
  'a chain id twice': [[chain(), spoke(1)], /chain id is listed twice/],
  'a short name twice': [[chain(), spoke(2, { shortName: 'hub' })], /short name is listed twice/],
  'too many chains': [[chain(), ...range(SWEEPER_CHAINS_MAX).map((number) => spoke(number + 2))], /list of at most 32/],
  'no list': [{}, /chains must be a list/],
  'a chain that is none': [[null], /genesis/],
  'a token twice, in other letters': [
    [chain({ assets: ['a', 'A'].map((digit) => asset({ tokenAddress: `0x${digit.repeat(40)}` })) })], /token is listed twice/,
  ],
  ...Object.fromEntries([0, -1, 1.5, '1', 2 ** 53, null].map((chainId) => [`chainId ${chainId}`, [[chain({ chainId })], /hub: chainId/]])),
  ...Object.fromEntries(['', 'A', 'a b', '-a', 'x'.repeat(33), 7].map((shortName) =>
    [`shortName ${shortName}`, [[chain({ shortName })], /shortName/]])),
  ...Object.fromEntries([null, {}, range(65).map((n) => asset({ tokenAddress: token(n) }))].map((assets, at) =>
    [`assets ${at}`, [[chain({ assets })], /assets must be a list of at most 64/]])),
  ...Object.fromEntries([
    [{ symbol: 'NONE' }, /no asset has/], [{ symbol: 7 }, /no asset has/], [{ tokenAddress: token(1).slice(0, -1) }, /tokenAddress/],
    [{ tokenAddress: 7 }, /tokenAddress/], [{ decimals: -1 }, /decimals/], [{ decimals: 37 }, /decimals/], [{ decimals: '6' }, /decimals/],
    ...['0', '-1', '01', '1.5', '', '1e9', '1'.repeat(79), 5].map((minSweepRaw) => [{ minSweepRaw }, /minSweepRaw/]),
  ].map(([more, words]) => [JSON.stringify(more), [[chain({ assets: [asset(more as Json)] })], words]])),
  'a hub that is no flag': [[chain({ hub: 'yes' })], /hub must be true or false/],
}

for (const [what, [chains, words]] of Object.entries(WRONG)) {
  t.test(`refused: ${what}`, async (t) => {
    t.throws(() => read(chains), { message: words })
    t.throws(() => read(chains), GenesisError)
  })
}
