/**
 * Promise: who listens to positions, margin accounts, liquidations and balances hears what the engine did with them: positions with
 * versions that only changes raise, to their end; health with a sequence, of marks at most once a second and only where somebody listens,
 * and of nobody else's margin account; liquidations to their recovery; and no balance that a trade of a perpetual did not move.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { marginAccountId, parentMarginId } from '../../core/layout/ids.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { BucketState, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketAt, getF64, set } from '../../core/state/rows.ts'
import type { Gateway } from '../../gateway/context.ts'
import type { Params } from '../../gateway/ws/frames.ts'
import type { ServedDeclaration, Subscriber } from '../../gateway/ws/channels/channel.ts'
import { ACCOUNT } from '../../gateway/ws/channels/account.ts'
import { BALANCES } from '../../gateway/ws/channels/balances.ts'
import { LIQUIDATIONS } from '../../gateway/ws/channels/liquidations.ts'
import { POSITIONS } from '../../gateway/ws/channels/positions.ts'
import { MarginScene } from '../support/margin_scene.ts'
import type { Frame } from '../support/sockets.ts'

const RECORD = 32

/** A channel over an engine: what was said reaches it after every step, and leaves when `turn` ends one. */
class Stage {
  readonly scene = new MarginScene({ fees: ['0', '10'] })
  readonly channel
  time = 0
  turns = true

  constructor(declaration: ServedDeclaration) {
    const { state } = this.scene
    const { genesis } = state
    const gate = new Int32Array(new SharedArrayBuffer(64))
    const pairs = new Map(genesis.pairs.map((pair) => [pair.id, pair]))
    this.channel = declaration.create({ genesis, state, gate, pairs, now: () => 0, time: () => this.time } as unknown as Gateway)
    const { send } = this.scene
    this.scene.send = (type, values, lane) => {
      const result = send.call(this.scene, type, values, lane)
      for (let record = 0; record < this.scene.said.length; record++) this.channel.take(this.scene.bench.said, record * RECORD)
      if (this.turns) this.channel.flush(100)
      return result
    }
  }

  /** Row of the account of somebody. */
  accountOf(who: string): number {
    this.scene.give(`${who} 0`)
    return Number(this.scene.send(CommandType.CANCEL_ALL, { ...this.signed(who), pair: -1, limit: 1 })['account'])
  }

  signed(who: string): { session: number; sessionGeneration: number } {
    return (this.scene as unknown as { signed(who: string): { session: number; sessionGeneration: number } }).signed(who)
  }

  listen(account: number, params: Params = {}): { frames: Frame[]; subscriber: Subscriber } {
    const frames: Frame[] = []
    const push: Subscriber['push'] = (frame) => void frames.push(JSON.parse(String(typeof frame === 'function' ? frame() : frame)) as Frame)
    const subscriber: Subscriber = { account, push }
    this.channel.subscribe(subscriber, this.channel.read(params) as Params)
    return { frames, subscriber }
  }
}

const dataOf = (frames: readonly Frame[]): Record<string, unknown>[] => frames.map(({ data }) => data as Record<string, unknown>)

t.test('positions, from their opening to their end', async (t) => {
  const stage = new Stage(POSITIONS)
  const { scene } = stage
  for (const who of ['ann', 'bob', 'cat']) scene.give(`${who} 1000`)
  const ann = stage.listen(stage.accountOf('ann'))
  t.match(ann.frames, [{ channel: 'positions', type: 'snapshot', data: { positions: [] } }])
  scene.step('bob sells 3 at 100 x10')
  t.equal(ann.frames.length, 1, 'an order is no position')
  scene.step('ann buys 3 at 100 x10')
  t.match(ann.frames.at(-1), { type: 'position_update', reason: 'trade' })
  t.match(ann.frames.at(-1), { data: { side: 'LONG', status: 'OPEN', size: '3', entryPrice: '100' } })
  t.notOk('sequence' in ann.frames.at(-1)!)
  const { length } = ann.frames
  scene.mark(101)
  t.equal(ann.frames.length, length, 'a mark changes no position')
  scene.step('cat buys 3 at 101 x10')
  scene.step('ann sells 1 at 101 x10')
  scene.step('ann sells 2 at 101 x10')
  const data = dataOf(ann.frames.slice(1))
  const versions = data.map(({ version }) => Number(version))
  t.strictSame(versions, [...new Set(versions)].sort((a, b) => a - b), 'versions grow')
  t.match(data.at(-1), { status: 'CLOSED', size: '0', side: 'LONG', entryPrice: '100', realizedPnl: '3' })
  t.equal(data.at(-1)!['positionId'], data[0]!['positionId'])
  t.ok('closedAt' in data.at(-1)!)
  t.match(dataOf(stage.listen(stage.accountOf('bob')).frames), [{ positions: [{ side: 'SHORT', size: '3' }] }], 'a snapshot')

  stage.turns = false
  scene.step('bob sells 4 at 101 x10')
  scene.step('ann buys 4 at 101 x10')
  scene.step('cat buys 4 at 101 x10')
  scene.step('ann sells 4 at 101 x10')
  const before = ann.frames.length
  stage.channel.flush(100)
  t.match(dataOf(ann.frames.slice(before)), [{ status: 'CLOSED', size: '0', side: 'LONG', entryPrice: '101', marginMode: 'ISOLATED' }])
  stage.channel.unsubscribe(ann.subscriber, {})
  scene.step('ann buys 1 at 101 x10')
  stage.channel.flush(100)
  t.equal(ann.frames.length, before + 1, 'who left hears nothing')
})

t.test('health of margin accounts', async (t) => {
  const stage = new Stage(ACCOUNT)
  const { scene } = stage
  for (const who of ['ann', 'bob', 'cat']) scene.give(`${who} 1000`)
  const account = stage.accountOf('ann')
  const ann = stage.listen(account)
  const [snapshot] = ann.frames
  t.match(snapshot, { type: 'snapshot', data: { accounts: [{ accountState: 'Normal', equity: '1000', freeCollateral: '1000' }] } })
  t.notOk('sequence' in snapshot!, 'rows of a snapshot have no sequence')
  const parent = (snapshot!.data as { accounts: { marginAccountId: string }[] }).accounts[0]!.marginAccountId
  const refusal = (marginAccountId: string | undefined, of = account): string | null | undefined =>
    stage.channel.refusal?.({ account: of, push: () => t.fail('nothing is told') }, { marginAccountId })
  const missing = 'Margin account not found'
  t.equal(refusal(marginAccountId(3, 900)), missing)
  t.equal(refusal(parent, stage.accountOf('bob')), missing, 'that of another')
  t.equal(refusal(parentMarginId(1, account)), missing, 'of who had the row before')
  t.equal(refusal(parent), null)
  t.equal(refusal(undefined), null, 'all of them')
  t.equal(typeof stage.channel.read({ marginAccountId: 'nothing' }), 'string', 'no name of a margin account')
  const one = stage.listen(account, { marginAccountId: parent })
  scene.step('bob sells 5 at 100 x10')
  scene.step('ann buys 5 at 100 x10')
  for (const { frames } of [ann, one]) {
    t.match(frames.at(-1), { type: 'account_update', sequence: Number, data: { marginAccountId: parent, totalPositionNotional: '500' } })
  }

  const { length } = ann.frames
  for (let mark = 101; mark < 120; mark++) scene.mark(mark)
  stage.time += 999
  stage.channel.flush(100)
  t.equal(ann.frames.length, length, 'not within a second')
  stage.time += 1
  stage.channel.flush(100)
  stage.channel.flush(100)
  t.equal(ann.frames.length, length + 1, 'one frame of all of them')
  t.match(ann.frames.at(-1), { data: { unrealizedPnl: '95' } })
  stage.time += 5_000
  scene.mark(99, 1)
  t.equal(ann.frames.length, length + 1, 'a pair that it does not hold')
  stage.channel.unsubscribe(ann.subscriber, {})
  stage.channel.unsubscribe(one.subscriber, { marginAccountId: parent })
  scene.mark(90)
  stage.time += 5_000
  stage.channel.flush(100)
  t.equal(ann.frames.length, length + 1, 'nobody listens')
})

t.test('a liquidation, to its recovery', async (t) => {
  const stage = new Stage(LIQUIDATIONS)
  const { scene } = stage
  for (const who of ['ann', 'bob', 'cat']) scene.give(`${who} 1000`)
  const account = stage.accountOf('ann')
  const ann = stage.listen(account)
  t.match(ann.frames, [{ type: 'snapshot', data: { liquidations: [] } }])
  scene.step('bob sells 50 at 100 x10')
  scene.step('ann buys 50 at 100 x50')
  scene.step('cat buys 50 at 98 x10')
  scene.mark(98)
  const [row] = scene.buckets('ann') as [number]
  const step = (): unknown => scene.send(CommandType.LIQUIDATION_STEP, {
    bucket: bucketAt(scene.state, row), createdSequence: getF64(scene.state, row, RISK_BUCKET.CREATED_SEQUENCE),
  }, 0)
  // As it is between two steps.
  set(scene.state, row, RISK_BUCKET.STATE, BucketState.LIQUIDATING)
  t.match(dataOf(stage.listen(account).frames), [{ liquidations: [{ status: 'UNRESOLVED', accountState: 'Liquidating' }] }])
  set(scene.state, row, RISK_BUCKET.STATE, BucketState.ACTIVE)
  for (let steps = 0; steps < 8 && dataOf(ann.frames).at(-1)!['status'] !== 'COMPLETED'; steps++) step()
  const told = dataOf(ann.frames.slice(1))
  t.strictSame(told[0]!['step'], 'STARTED')
  t.match(told.find(({ step }) => step === 'DELEVERAGED'), { quantity: '50', tradingPairId: String, price: String })
  t.match(told.at(-1), { status: 'COMPLETED', accountState: 'Normal' })
  t.ok(told.slice(0, -1).every(({ status }) => status === 'UNRESOLVED'))
  t.ok(ann.frames.slice(1).every((frame) => typeof frame['sequence'] === 'number'))
  t.match(dataOf(stage.listen(account).frames), [{ liquidations: [] }], 'none is left')
})

t.test('balances hear of collateral, not of positions', async (t) => {
  const stage = new Stage(BALANCES)
  const { scene } = stage
  for (const who of ['ann', 'bob']) scene.give(`${who} 1000`)
  const ann = stage.listen(stage.accountOf('ann'))
  scene.step('bob sells 5 at 100 x10')
  scene.step('ann buys 2 at 100 x10')
  scene.step('ann buys 1 at 99 x10')
  t.equal(ann.frames.length, 1, 'the snapshot alone')
  scene.send(CommandType.MINT, { ...stage.signed('ann'), asset: -1 })
  const { length } = ann.frames
  const moved = scene.send(CommandType.MOVE_COLLATERAL, {
    ...stage.signed('ann'), move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, amount: 5_000_000n,
  })
  t.equal(moved['code'], 0)
  t.match(ann.frames.slice(length), [{ type: 'balance_update', reason: 'transfer', data: { symbol: 'USD', reasons: ['transfer'] } }])
  t.notOk('tokenSymbol' in dataOf(ann.frames).at(-1)!)
})
