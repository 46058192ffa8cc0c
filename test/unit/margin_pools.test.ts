/**
 * Promise: margin accounts, risk buckets, positions, conditional orders and TWAP orders are pools with a share for each family, which an
 * operator sees, with who holds most of them; steps of liquidations are counted by what they did; an exchange without perpetuals shows none
 * of what is margin.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { ConditionType } from '../../core/layout/conditional.ts'
import { makeMarginAccount, makeParent } from '../../core/margin/buckets.ts'
import { makeConditional } from '../../core/margin/conditionals.ts'
import { armBucket } from '../../core/margin/guards.ts'
import { makeTwap } from '../../core/programs/twaps.ts'
import { MATCHER } from '../../core/ring/counters.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { MarginAccountKind, MarginMode } from '../../core/state/margin_rows.ts'
import { shareOf } from '../../core/state/shares.ts'
import { createState } from '../../core/state/state.ts'
import { largestHolders, readPools } from '../../core/view/pools.ts'
import { CopyStage } from '../support/copy_stage.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { postCommand, START_TIME, startMatcher } from '../support/journal.ts'
import { bucketWith, exchange, NOW, trade } from '../support/margin_rows.ts'
import { genesisText, PERPS, VARIANTS } from '../support/variants.ts'

const MARGIN_POOLS = ['margin_accounts', 'risk_buckets', 'positions', 'leaders', 'follows']

t.test('pools and their holders', async (t) => {
  const none = createState(parseGenesis(genesisText(VARIANTS['market']!)))
  t.same(readPools(none, NOW).filter(({ pool }) => MARGIN_POOLS.includes(pool)), [], 'none without perpetuals')
  const state = exchange()
  const { limits } = state.genesis
  state.scalars[SCALAR.ACCOUNTS] = 1
  for (let key = 1; key <= 3; key++) {
    const bucket = bucketWith(state, 1000n, MarginMode.CROSS, 0, key)
    for (let pair = 0; pair < (key === 1 ? 2 : 1); pair++) trade(state, bucket, pair, 10, 50_000)
  }
  makeMarginAccount(state, 0, MarginAccountKind.SUB)
  t.ok(makeParent(state, 0) >= 0)
  const seen = readPools(state, NOW).filter(({ pool }) => MARGIN_POOLS.includes(pool))
  const expected = [
    [2, limits.marginAccounts], [3, limits.riskBuckets], [4, limits.positions], [0, limits.leaders], [0, limits.follows],
  ] as const
  t.same(seen, expected.map(([used, capacity], index) =>
    ({ pool: MARGIN_POOLS[index], used, capacity, share: shareOf(capacity, capacity - used) })))
  const held = async (pool: 'margin_accounts' | 'risk_buckets' | 'positions'): Promise<number[][]> => {
    const { accounts, families } = await largestHolders(state, pool, 5)
    return [accounts.map(({ held: rows }) => rows), families.map(({ held: rows }) => rows)]
  }
  t.same(await held('margin_accounts'), [[2], []])
  t.same(await held('risk_buckets'), [[], [3]])
  t.same(await held('positions'), [[], [4]])
})

t.test('leaders and follows', async (t) => {
  const stage = new CopyStage()
  for (const name of ['lea', 'mia', 'fay']) stage.deposit(name, 10_000)
  for (const name of ['lea', 'mia']) {
    stage.register(name)
    stage.follow('fay', name, 100)
  }
  const used = readPools(stage.state, NOW).filter(({ pool }) => ['leaders', 'follows'].includes(pool))
  const { leaders, follows } = stage.state.genesis.limits
  t.same(used, [['leaders', leaders], ['follows', follows]].map(([pool, capacity]) =>
    ({ pool, used: 2, capacity, share: shareOf(Number(capacity), Number(capacity) - 2) })))
  const held = async (pool: 'leaders' | 'follows'): Promise<number[][]> => {
    const { accounts, families } = await largestHolders(stage.state, pool, 5)
    return [accounts.map(({ held: rows }) => rows), families.map(({ held: rows }) => rows)]
  }
  t.same(await held('leaders'), [[], [1, 1]])
  t.same(await held('follows'), [[2], [2]])
  const spot = createState(parseGenesis(genesisText(VARIANTS['market']!)))
  spot.scalars[SCALAR.ACCOUNTS] = 1
  t.same(await largestHolders(spot, 'follows', 5), { accounts: [], families: [] }, 'nobody where there are no perpetuals')
})

t.test('what waits', async (t) => {
  const state = exchange()
  const { limits } = state.genesis
  state.scalars[SCALAR.ACCOUNTS] = 1
  const waiting = (): unknown[] => readPools(state, NOW).filter(({ pool }) => ['conditional_orders', 'twap_orders'].includes(pool))
    .map(({ pool, used, capacity, share }) => [pool, used, capacity, share])
  const shares = (used: number, capacity: number): unknown[] => [used, capacity, shareOf(capacity, capacity - used)]
  makeConditional(state, 0, ConditionType.TWAP_START, 0, 0)
  for (let made = 0; made < 2; made++) makeTwap(state, 0)
  t.same(waiting(), [
    ['conditional_orders', ...shares(1, limits.conditionalOrders)], ['twap_orders', ...shares(2, limits.twapOrders)],
  ])
  for (const [pool, held] of [['conditional_orders', 1], ['twap_orders', 2]] as const) {
    const { accounts, families } = await largestHolders(state, pool, 5)
    t.match([accounts, families], [[{ account: 0, held }], [{ account: 0, held }]], pool)
  }
})

t.test('the matcher counts steps of liquidation', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const matcher = startMatcher(dataDir, { genesis: genesisText(PERPS) })
  const { sequencer: { state }, counters } = matcher
  postCommand(matcher, 1, CommandType.OPEN_SESSION, { session: -1, address: 'a'.repeat(40), publicKey: 'a'.repeat(64) })
  matcher.turn()
  postCommand(matcher, 0, CommandType.SET_INDEX_PRICE, { session: -1, pair: 0, price: 50_000, source: 0, force: 1, observedAt: START_TIME })
  matcher.turn()
  const counted = (): number[] => [
    MATCHER.liquidations_started, MATCHER.liquidations_reduced, MATCHER.liquidations_taken_over, MATCHER.liquidations_deleveraged,
    MATCHER.liquidations_bad_debt, MATCHER.liquidations_completed,
  ].map((index) => counters[index]!)
  t.same(counted(), [0, 0, 0, 0, 0, 0])
  // Who fails, and who is asked to close what neither book nor fund take.
  const failing = bucketWith(state, 1_000_000n, MarginMode.ISOLATED, 0, 1)
  trade(state, failing, 0, 100, 50_000)
  const other = bucketWith(state, 900_000_000n, MarginMode.ISOLATED, 0, 2)
  trade(state, other, 0, -100, 50_000)
  for (const bucket of [failing, other]) armBucket(state, bucket)
  for (let turn = 0; turn < 5; turn++) matcher.turn(true)
  t.same(counted(), [1, 0, 0, 1, 0, 1], 'started, deleveraged, completed')
})
