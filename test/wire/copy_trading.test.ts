/**
 * Promise: copy trading over the wire, the same over REST and gRPC: handles, follows, what leaders and followers see of each other, and
 * closing copies, with every rule of the specification: follows are kept, stops are left alone, one batch a follow, nothing gates it but
 * that agents are refused.
 */
import t from 'tap'
import type { HistoryFollow } from '../../core/history/answer/queries.ts'
import { FollowState } from '../../core/layout/copying.ts'
import { followId, IdKind, parseId } from '../../core/layout/ids.ts'
import { SESSION } from '../../core/state/columns.ts'
import { get, sessionRow } from '../../core/state/rows.ts'
import { delegate } from '../support/gateway_harness.ts'
import type { Session } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'
import type { Json } from '../support/transports.ts'
import { eventually, must, waitingGateway } from '../support/waiting_gateway.ts'

t.setTimeout(120_000)
const history = createNaiveHistory()
const gateway = await waitingGateway((request) => answerNaively(history, request), { handlePauseMs: 3_600_000 })
t.teardown(() => gateway.close())
const { rest, perp, trader, order, price } = gateway

/** A leader of this handle, who has nothing yet; somebody who makes a market around 60,000. */
async function leaderOf(handle: string): Promise<Session> {
  const leader = await trader()
  must(await rest('RegisterLeader', { handle }, leader))
  await price(60_000)
  const maker = await trader()
  must(await rest('CreateOrder', order('BUY', '0.4', '59990'), maker))
  must(await rest('CreateOrder', order('SELL', '0.4', '60010'), maker))
  return leader
}
const buys = async (leader: Session, quantity: string): Promise<void> => {
  const market: Json = { tradingPairId: perp.id, tradingMode: 'MARGIN', orderType: 'MARKET', side: 'BUY', quantity, leverage: '10' }
  must(await rest('CreateOrder', market, leader))
}
const accountOf = ({ row }: Session): number => get(gateway.harness.state, sessionRow(gateway.harness.state, row), SESSION.ACCOUNT)
const copied = async (follower: Session, followId: string): Promise<Json[]> =>
  must(await rest('ListPositions', {}, follower))['positions'].filter(({ strategyKey }: Json) => strategyKey === `copy:${followId}`)

for (const [way, by] of Object.entries(gateway.transports)) {
  t.test(`${way}: followed, mirrored, seen by both, stopped`, async (t) => {
    const handle = `Star-${way}`
    const leader = await leaderOf(handle)
    const follower = await trader()
    const leaders = must(await by('ListLeaders', {}, follower))['leaders'] as Json[]
    t.match(leaders.find((each) => each['handle'] === handle), {
      handle, followers: 0, allocation: '0', since: String, returnPercent: null, maxDrawdownPercent: null,
    })
    t.match(await by('ListLeaderPositions', { leader: handle }, follower), { refused: 'NOT_FOUND' }, 'he does not follow yet')
    const follow = must(await by('CreateFollow', { leader: handle.toUpperCase(), allocation: '4000', maxLeverage: '5' }, follower))
    const id = String(follow['followId'])
    // What is null is absent over gRPC.
    t.strictSame({ lastSkip: null, nextAttemptAt: null, lastCopy: null, ...follow }, {
      followId: id, leader: handle, status: 'ACTIVE', allocation: '4000', maxLeverage: '5', marginMode: 'ISOLATED',
      marginAccountId: follow['marginAccountId'], strategyKey: `copy:${id}`, ordersCopied: 0, skips: 0, lastSkip: null, nextAttemptAt: null,
      lastCopy: null, slippageCost: '0', startedAt: follow['startedAt'], updatedAt: follow['updatedAt'],
    })
    t.ok(parseId(IdKind.FOLLOW, id))
    t.match(await by('CreateFollow', { leader: handle, allocation: '100' }, follower), { refused: 'ALREADY_FOLLOWING' })
    await buys(leader, '0.2')
    t.ok(await eventually(async () => (await copied(follower, id)).length === 1), 'it is mirrored')
    t.match(await copied(follower, id), [{ side: 'LONG', size: '0.1', leverage: '5', marginAccountId: follow['marginAccountId'] }])
    t.match(must(await by('ListFollows', {}, follower))['follows'], [{
      followId: id, ordersCopied: 1, skips: 0, slippageCost: '0',
      lastCopy: { tradingPairId: perp.id, quantity: '0.1', referencePrice: '60010', slippageBps: '0', at: String },
    }])
    const { positions } = must(await by('ListLeaderPositions', { leader: handle.toLowerCase() }, follower))
    t.match(positions, [{ tradingPairId: perp.id, side: 'LONG', size: '0.2', leverage: '10', marginMode: 'ISOLATED', entryPrice: '60010' }])
    t.equal(Object.keys(positions[0]).length, 8, 'and nothing else')
    const seen = must(await by('ListMyFollowers', { pageSize: 10 }, leader))
    t.match(seen, {
      followers: [{ walletAddress: /^0x/, display: /^0x.{4}….{4}$/, status: 'ACTIVE', allocation: '4000', startedAt: follow['startedAt'] }],
      nextPageToken: '',
    })
    t.match(must(await by('UpdateFollow', { followId: id, status: 'CLOSE_ONLY' }, follower)), { status: 'CLOSE_ONLY', allocation: '4000' })
    t.match(must(await by('ListMyFollowers', {}, leader))['followers'], [{ status: 'CLOSE_ONLY' }])
    t.same(must(await by('ReleaseLeader', {}, leader)), { released: true })
    t.match(await by('ListLeaderPositions', { leader: handle }, follower), { refused: 'NOT_FOUND' }, 'a released handle names no one')
    t.match(must(await by('ListFollows', {}, follower))['follows'], [{ leader: null }])
    t.match(must(await by('StopFollow', { followId: id.toUpperCase() }, follower)), { followId: id, status: 'STOPPING' })
    t.ok(await eventually(async () => must(await by('ListFollows', {}, follower))['follows'].length === 0), 'it is over')
    t.match(await by('StopFollow', { followId: id }, follower), { refused: 'NOT_FOUND' })
    t.same(must(await by('ListMyFollowers', {}, leader))['followers'], [])
    const { accounts } = must(await rest('ListMarginAccounts', {}, follower))
    t.equal(accounts.length, 1, 'what it had is in the parent again')
  })

  t.test(`${way}: a stop that cannot go on says why and when it is tried again, and ends when it can`, async (t) => {
    const follower = await trader()
    const leader = await leaderOf(`${way}-waits`)
    const { followId: id } = must(await rest('CreateFollow', { leader: `${way}-waits`, allocation: '2000' }, follower))
    await buys(leader, '0.2')
    t.ok(await eventually(async () => (await copied(follower, String(id))).length === 1))
    const follow = async (): Promise<Json | undefined> => (must(await by('ListFollows', {}, follower))['follows'] as Json[])[0]
    await gateway.halted(async () => {
      must(await by('StopFollow', { followId: id }, follower))
      t.ok(await eventually(async () => (await follow())?.['skips'] === 1))
      const waits = (await follow())!
      t.match(waits, { status: 'STOPPING', lastSkip: { reason: 'PAIR_NOT_ACTIVE', tradingPairId: perp.id } })
      t.equal(Date.parse(String(waits['nextAttemptAt'])) - Date.parse(String(waits['lastSkip'].at)) >= 5000, true)
    })
    t.ok(await eventually(async () => await follow() === undefined), 'it is over')
  })

  t.test(`${way}: closing copies keeps the follows, leaves stops alone, and nothing gates it`, async (t) => {
    const follower = await trader()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const leader = await leaderOf(`${name}${way}-close`)
      const { followId: id } = must(await rest('CreateFollow', { leader: `${name}${way}-close`, allocation: '2000' }, follower))
      ids.push(String(id))
      if (name !== 'b') await buys(leader, '0.2')
    }
    const [a, b, c] = ids as [string, string, string]
    for (const id of [a, c]) t.ok(await eventually(async () => (await copied(follower, id)).length === 1))
    const single = must(await by('CloseFollowPositions', { followId: a }, follower))
    t.same(single, { followId: a, closeOrdersPlaced: 1, positionsNotClosed: 0 })
    t.same(must(await by('CloseFollowPositions', { followId: a }, follower)), { followId: a, closeOrdersPlaced: 0, positionsNotClosed: 0 })
    await gateway.halted(async () => {
      must(await by('StopFollow', { followId: c }, follower))
      t.match(await by('CloseFollowPositions', { followId: c }, follower), { refused: 'FOLLOW_STOPPING' })
    })
    await gateway.maintenance(1)
    const all = must(await by('CloseAllFollowPositions', {}, follower))
    await gateway.maintenance(0)
    const nothing = (followId: string): Json => ({ followId, closeOrdersPlaced: 0, positionsNotClosed: 0 })
    t.same(all['follows'], [nothing(b), nothing(a)], 'nothing is left to close, newest first')
    t.ok(all['stoppingFollowIds'].length === 0 || all['stoppingFollowIds'][0] === c)
    t.same(all['failedFollows'], [])
    const live = must(await by('ListFollows', {}, follower))['follows'] as Json[]
    t.same(live.filter(({ followId: id }) => id !== c).map(({ status }) => status), ['ACTIVE', 'ACTIVE'], 'they are kept')
  })

  t.test(`${way}: what cannot be closed is counted, and the others close`, async (t) => {
    const follower = await trader()
    const leader = await leaderOf(`${way}-halted`)
    const { followId: id } = must(await rest('CreateFollow', { leader: `${way}-halted`, allocation: '2000' }, follower))
    await buys(leader, '0.2')
    t.ok(await eventually(async () => (await copied(follower, String(id))).length === 1))
    await gateway.halted(async () => {
      t.same(must(await by('CloseFollowPositions', { followId: id }, follower)), {
        followId: id, closeOrdersPlaced: 0, positionsNotClosed: 1,
      })
    })
  })
}

t.test('fields are named, what is another\'s is missing, agents do none of it', async (t) => {
  const leader = await leaderOf('fields')
  const [follower, other] = [await trader(), await trader()]
  const { followId: id } = must(await rest('CreateFollow', { leader: 'fields', allocation: '50' }, follower))
  for (const handle of ['ab', 'has space', 'x'.repeat(25)]) {
    t.match(await rest('RegisterLeader', { handle }, other), { refused: 'VALIDATION_ERROR', details: { field: 'handle' } })
  }
  t.match(await rest('CreateFollow', { leader: 'fields', allocation: '-1' }, other), { details: { field: 'allocation' } })
  t.match(await rest('CreateFollow', { leader: 'fields', allocation: '5' }, other), { refused: 'ALLOCATION_TOO_SMALL' })
  t.match(await rest('CreateFollow', { leader: 'fields', allocation: '5', maxLeverage: '0' }, other), { details: { field: 'maxLeverage' } })
  t.match(await rest('CreateFollow', { leader: 'fields', allocation: '999999' }, other), { refused: 'INSUFFICIENT_COLLATERAL' })
  t.match(await rest('UpdateFollow', { followId: id, allocation: null }, follower), { details: { field: 'status' } })
  for (const followId_ of [String(id), followId(5, 1000), '00000000-0000-4000-8000-000000000001']) {
    for (const name of ['UpdateFollow', 'StopFollow', 'CloseFollowPositions'] as const) {
      const input = { followId: followId_, ...(name === 'UpdateFollow' ? { status: 'CLOSE_ONLY' } : {}) }
      t.match(await rest(name, input, other), { refused: 'NOT_FOUND' }, `${name} ${followId_}`)
    }
  }
  t.match(await rest('RegisterLeader', { handle: 'Fields' }, other), { refused: 'HANDLE_TAKEN' })
  t.match(await rest('RegisterLeader', { handle: 'Supp0rt-1' }, other), { refused: 'HANDLE_TAKEN' }, 'reserved')
  t.match(await rest('RegisterLeader', { handle: 'another' }, follower), { refused: 'CANNOT_LEAD' })
  t.match(await rest('CreateFollow', { leader: 'fields', allocation: '50' }, leader), { refused: 'CANNOT_FOLLOW' })
  const { session: agent } = await delegate(gateway.harness, follower)
  for (const name of ['RegisterLeader', 'ReleaseLeader', 'CreateFollow', 'UpdateFollow', 'StopFollow', 'CloseFollowPositions',
    'CloseAllFollowPositions'] as const) {
    const input = { handle: 'agent', leader: 'fields', allocation: '50', followId: id, status: 'ACTIVE' }
    t.match(await rest(name, input, agent), { refused: 'AGENT_NOT_ALLOWED' }, name)
  }
  t.match(must(await rest('ListFollows', {}, agent))['follows'], [{ followId: id }])
})

t.test('leaders with the figures that the history has of them', async (t) => {
  const leader = await leaderOf('figured')
  history.figures.set(accountOf(leader), { returned: -1234, drawdown: 2050 })
  for (const by of Object.values(gateway.transports)) {
    const leaders = must(await by('ListLeaders', { pageSize: 100 }, leader))['leaders'] as Json[]
    t.match(leaders.find(({ handle }) => handle === 'figured'), { returnPercent: '-12.34', maxDrawdownPercent: '20.5' })
  }
})

t.test('follows that are over stay readable, in pages, by their owner alone', async (t) => {
  const [owner, other] = [await trader(), await trader()]
  const over = (sequence: number): HistoryFollow => ({
    account: accountOf(owner), sequence, row: 3, index: 0, state: FollowState.STOPPED, reason: 6, leaderAccount: 0, handle: 'gone', mode: 1,
    allocation: 1_500_000_000n, maxLeverage: 250, marginAccount: 7, marginSequence: sequence, copied: 4, skipped: 1, skipCode: 483,
    skipPair: perp.index, skippedAt: 1000, startedAt: 500, updatedAt: 2000,
  })
  history.follows.push(over(10), over(11), over(12), { ...over(13), state: FollowState.ACTIVE })
  for (const by of Object.values(gateway.transports)) {
    const first = must(await by('ListFollows', { status: 'STOPPED', pageSize: 2 }, owner))
    const ids = (page: Json): unknown[] => page['follows'].map(({ followId: id }: Json) => id)
    t.same(ids(first), [followId(12, 3), followId(11, 3)])
    t.match(first['follows'][0], {
      leader: 'gone', status: 'STOPPED', allocation: '1500', maxLeverage: '2.5', marginMode: 'CROSS', ordersCopied: 4, skips: 1,
      strategyKey: `copy:${followId(12, 3)}`, lastSkip: { reason: 'COPY_PARTLY_FILLED', tradingPairId: perp.id },
    })
    const second = must(await by('ListFollows', { status: 'STOPPED', pageSize: 2, pageToken: first['nextPageToken'] }, owner))
    t.same([ids(second), second['nextPageToken'] ?? ''], [[followId(10, 3)], ''])
    t.same(must(await by('ListFollows', { status: 'STOPPED' }, other))['follows'], [])
    const stolen = await by('ListFollows', { status: 'STOPPED', pageToken: first['nextPageToken'] }, other)
    t.match(stolen, { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } })
    const ofLive = await by('ListFollows', { pageToken: first['nextPageToken'] }, owner)
    t.match(ofLive, { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } }, 'the others come in one piece')
  }
})

t.test('followers in pages, newest first', async (t) => {
  const leader = await leaderOf('pages')
  const allocations = ['11', '12', '13']
  for (const allocation of allocations) must(await rest('CreateFollow', { leader: 'pages', allocation }, await trader()))
  const first = must(await rest('ListMyFollowers', { pageSize: 2 }, leader))
  t.same(first['followers'].map(({ allocation }: Json) => allocation), ['13', '12'])
  const second = must(await rest('ListMyFollowers', { pageSize: 2, pageToken: first['nextPageToken'] }, leader))
  t.same([second['followers'].map(({ allocation }: Json) => allocation), second['nextPageToken']], [['11'], ''])
  const other = await trader()
  const stolen = await rest('ListMyFollowers', { pageSize: 2, pageToken: first['nextPageToken'] }, other)
  t.match(stolen, { refused: 'VALIDATION_ERROR', details: { field: 'pageToken' } })
  t.match(await rest('ListMyFollowers', { pageSize: 1001 }, leader), { refused: 'VALIDATION_ERROR' })
})
