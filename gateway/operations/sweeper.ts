/** Sweeper chains (specification, Sweeper chains), from the genesis document (core/state/sweeper.ts). */
import Type, { type Static } from 'typebox'
import { checksumAddress } from '../auth/challenge.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { Nullable, operation } from './operation.ts'
import { field, record } from './schema.ts'

const SweeperAsset = record(
  'SweeperAsset', 'A token that is swept from a chain.',
  Type.Object({
    symbol: fields.symbol,
    tokenAddress: field(Type.String(), 'Contract address of the token on that chain.'),
    decimals: field(Type.Integer(), 'Decimals of the token on that chain; may differ from those of the asset.'),
    minSweepRaw: field(Type.String(), 'Least amount that is swept, in base units of the token: a whole number as text.'),
  }),
)
const SweeperChain = record(
  'SweeperChain', 'A chain from which deposits are swept.',
  Type.Object({
    chainId: field(Type.Integer(), 'EVM chain id.'),
    shortName: field(Type.String(), 'Short name of the chain.'),
    isHub: field(Type.Boolean(), 'True of the one chain of settlement, to which all others are swept.'),
    assets: field(Type.Array(SweeperAsset), 'Tokens that are swept.'),
    vault: field(Nullable(Type.String()), 'The vault, which takes deposits; that of the hub pays withdrawals. Null while it is not known.'),
    factory: field(
      Nullable(Type.String()), 'The factory of deposit addresses, the same on every chain; null while it is not known.',
    ),
  }),
)
type SweeperChain = Static<typeof SweeperChain>

export const ListSweeperChains = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/sweeper/chains',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Sweeper chains',
  description: 'Chains from which deposits are swept to the chain of settlement, with the tokens that are and the least amount of each. '
    + 'An empty list: this exchange sweeps nothing.',
  answer: 'All chains, as the operator configured them.',
  refusals: [],
  output: Type.Object({ chains: field(Type.Array(SweeperChain), 'Chains; exactly one of them is the hub.') }),
  example: {
    input: {},
    output: {
      chains: [{
        chainId: 1328, shortName: 'sei-testnet', isHub: true,
        assets: [{ symbol: 'USDC', tokenAddress: sample.usdc.token, decimals: 6, minSweepRaw: '1000000' }],
        vault: sample.VAULT, factory: sample.FACTORY,
      }],
    },
  },
  run: ({ genesis, vault: { places } }, call) => {
    const [vault, factory] = places === null ? [null, null] : [checksumAddress(places.vault), checksumAddress(places.factory)]
    call.answer({
      chains: genesis.sweeperChains.map(({ chainId, shortName, hub, assets }): SweeperChain =>
        ({ chainId, shortName, isHub: hub, assets: assets.map((asset) => ({ ...asset })), vault, factory })),
    })
  },
})
