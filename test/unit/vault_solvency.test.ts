/**
 * Promise: a deposit on another chain, whose money stays in the vault there, stops nobody's withdrawals; and while that chain does not
 * answer, nothing is stopped, and nothing is authorised that the hub alone has not.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import type { Asset } from '../../core/state/genesis.ts'
import { ChainUnavailable } from '../../gateway/chain/client.ts'
import { ChainSide, type SideParts } from '../../gateway/chain/vault/chain_side.ts'
import { createChainNode } from '../../gateway/chain/vault/node.ts'
import { Solvency, type SolvencyParts } from '../../gateway/chain/vault/solvency.ts'
import { tokensOf } from '../../gateway/chain/vault/tokens.ts'
import type { NodeBlock } from '../../gateway/chain/vault/types.ts'
import { USD, vaultStage } from '../support/vault_stage.ts'

const BLOCK: NodeBlock = { number: 5, hash: `0x${'55'.repeat(32)}`, parentHash: `0x${'44'.repeat(32)}`, time: 1_700_000_000_000 }

interface Watched {
  readonly look: () => Promise<void>
  readonly solvency: Solvency
  /** Base units of the hub, atoms elsewhere; null: that chain is away. */
  readonly held: Record<string, bigint | null>
  /** Commands and their causes. */
  readonly sent: number[]
  readonly asked: () => number
}

/** Users have 1,000 units of 6 places; the token on the hub has as many, or `decimals`. */
function createSolvency(decimals = 6): Watched {
  const asset = { index: USD, symbol: 'USD', scale: 6 } as Asset
  const held: Record<string, bigint | null> = { hub: 0n, elsewhere: 0n }
  const sent: number[] = []
  let asked = 0
  const parts = {
    node: { balanceOf: async () => held['hub'], isNonceUsed: async () => false }, places: {},
    books: {
      totals: () => ({ issued: 1_000_000_000n, faucetOutstanding: 0n }), withdrawals: () => [], stopped: () => WithdrawalStop.NONE,
    },
    commands: { send: async (type: number, { cause }: Decoded) => void sent.push(type, cause as number) },
    tokens: new Map([['0x01', { asset, token: '0x01', decimals, minSweep: 0n }]]), tell: () => undefined, clock: () => 0,
    elsewhere: async () => {
      asked++
      if (held['elsewhere'] === null) throw new ChainUnavailable('away')
      return held['elsewhere']
    },
  }
  const solvency = new Solvency(parts as unknown as SolvencyParts)
  return { look: () => solvency.look(BLOCK, true), solvency, held, sent, asked: () => asked }
}

t.test('what is on another chain counts, and is asked for when the hub has too little', async (t) => {
  const { look, solvency, held, sent, asked } = createSolvency()
  held['hub'] = 1_000_000_000n
  held['elsewhere'] = null
  await look()
  t.equal(asked(), 0, 'a chain that is away holds up nothing')
  t.match(solvency.rows, [{ holdings: '1000000000', elsewhere: '0', deficit: '0' }])
  held['hub'] = 400_000_000n
  held['elsewhere'] = 600_000_000n
  for (let time = 0; time < 5; time++) await look()
  t.match(solvency.rows, [{ holdings: '400000000', liabilities: '1000000000', elsewhere: '600000000', deficit: '0' }])
  t.equal(solvency.inDeficit, false)
  t.equal(solvency.room(USD, []), 400_000_000n, 'no more is authorised than the hub has')
  t.same(sent, [])
})

t.test('what is nowhere stops withdrawals once it is seen twice', async (t) => {
  const { look, solvency, held, sent } = createSolvency()
  held['hub'] = 400_000_000n
  held['elsewhere'] = 599_999_999n
  await look()
  t.match(solvency.rows, [{ deficit: '1' }])
  t.equal(solvency.inDeficit, true)
  t.same(sent, [])
  await look()
  t.same(sent, [CommandType.STOP_WITHDRAWALS, WithdrawalStop.SOLVENCY])
})

t.test('another chain that is away when it matters: nothing is known and nothing is stopped', async (t) => {
  const { look, solvency, held, sent } = createSolvency()
  held['hub'] = 400_000_000n
  held['elsewhere'] = null
  for (let time = 0; time < 5; time++) await t.rejects(look(), ChainUnavailable)
  t.same(sent, [])
  t.equal(solvency.room(USD, []), 400_000_000n)
})

t.test('tokens of other decimals: only whole base units count', async (t) => {
  for (const [decimals, hub, elsewhere, deficit] of [[9, 400_000_000_000n, 600_000_000n, '0'], [2, 40_000n, 599_999_999n, '1']] as const) {
    const { look, solvency, held } = createSolvency(decimals)
    held['hub'] = hub
    held['elsewhere'] = elsewhere
    await look()
    t.match(solvency.rows, [{ deficit }], `${decimals} decimals`)
  }
})

t.test('a chain says what its vault has at the block up to which deposits are known', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  const chainId = 1328
  const parts = {
    node: createChainNode({ chainId, url: stage.node.url, timeoutMs: 5_000, now: Date.now }), places: stage.places, sender: null,
    books: stage.books, commands: { send: async () => ({ code: 0 }) }, tell: () => undefined, clock: () => performance.now(),
    confirmations: 2, topics: [],
  }
  const side = new ChainSide(parts as unknown as SideParts)
  const [usd, , gold] = stage.state.genesis.assets as [Asset, Asset, Asset]
  await t.rejects(side.holding(usd), ChainUnavailable, 'not before it was looked at')
  t.equal(await side.holding(gold), 0n, 'what is not listed there is not there')
  await side.look(async (logs) => logs.length)
  const before = await side.holding(usd)
  t.equal(tokensOf(stage.state.genesis, chainId).size, 2)
  await stage.deposit(ann.wallet, 5_000_000_999n)
  t.equal(await side.holding(usd), before, 'the engine does not know of a later deposit either')
  await side.look(async (logs) => logs.length)
  t.equal(await side.holding(usd), before, 'nor of one in a block that does not count yet')
  await stage.give(ann.wallet.address, 1n)
  await side.look(async (logs) => logs.length)
  t.equal(await side.holding(usd), before + 5_000_000n, 'whole atoms')
})
