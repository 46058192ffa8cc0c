/**
 * Promise: mass cancels, of the owner, an agent, the operator, a deadline, end conditional and TWAP orders too, in bounded parts; what is
 * on a halted pair stays, as orders do; a revoked agent's conditional orders end with him.
 */
import t from 'tap'
import { CommandType, Flag } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { BTC, ETH } from '../support/liquidation_stage.ts'
import { WaitingStage } from '../support/waiting_stage.ts'

const TWAP = { flags: Flag.MARGIN, leverage: 200, lots: 10, durationMs: 600_000 }

/** Ann is long on both pairs with two conditional orders on each, waits with a TWAP order on each, and has an order at rest. */
function stageOf(): WaitingStage {
  const stage = new WaitingStage()
  stage.give({ ann: { lots: 10, price: 1000, collateral: 5000 }, bob: { lots: -10, price: 1000, collateral: 50_000 } })
  stage.give({
    'ann 2': { pair: ETH, lots: 10, price: 1000, collateral: 5000 }, 'bob 2': { pair: ETH, lots: -10, price: 1000, collateral: 50_000 },
  })
  stage.deposit('ann', 100_000)
  for (const pair of [BTC, ETH]) {
    stage.attach('ann', { stop: { at: 900 }, profit: { at: 1100 } }, pair)
    stage.twap('ann', { ...TWAP, pair, startAt: stage.time + 60_000 })
  }
  stage.order('ann', 1, 950)
  return stage
}
const cancelAll = (stage: WaitingStage, values: Decoded = {}): Decoded[] =>
  stage.events(CommandType.CANCEL_ALL, { ...stage.signed('ann'), pair: -1, limit: 1000, ...values }, 1)
const kinds = (stage: WaitingStage, events: readonly Decoded[]): string[] =>
  [...stage.toldOf(events), ...events.filter(({ event }) => event === 'ORDER_ENDED').map(() => 'ORDER_ENDED')]

t.test('of everything: what waits first, newest first, then orders', async (t) => {
  const stage = stageOf()
  const events = cancelAll(stage)
  const conditional = kinds(stage, events).slice(0, 4)
  const names = ['STOP_LOSS', 'STOP_LOSS', 'TAKE_PROFIT', 'TAKE_PROFIT']
  t.same([...conditional].sort(), names.map((kind) => `ann ${kind} CANCELLED USER_CANCELLED`))
  t.same(kinds(stage, events).slice(4), ['ann TWAP CANCELLED USER_CANCELLED 0', 'ann TWAP CANCELLED USER_CANCELLED 0', 'ORDER_ENDED'])
  t.equal(kinds(stage, events).length, 7, '4 conditional orders, 2 TWAP orders, 1 order')
  t.match(events.at(-1), { detail: 7, detail2: 0 })
  t.same(stage.move(850), [], 'nothing is left to fire')
  t.equal(cancelAll(stage).at(-1)!['detail'], 0)
})

t.test('of one pair; what is on a halted pair stays', async (t) => {
  const stage = stageOf()
  const eth = cancelAll(stage, { pair: ETH })
  t.same(stage.toldOf(eth).length, 3)
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 0 })
  t.equal(cancelAll(stage).at(-1)!['detail'], 0)
  stage.send(CommandType.SET_PAIR_STATUS, { pair: BTC, status: 2 })
  t.equal(cancelAll(stage).at(-1)!['detail'], 4, 'where orders are not taken, cancels are')
})

t.test('in parts: each as long as it may be, until all are gone; what came later stays', async (t) => {
  const stage = stageOf()
  const ended: unknown[] = []
  let from: Decoded = {}
  for (let part = 0; part < 10; part++) {
    if (part === 1) stage.attach('ann', { stop: { at: 800 } })
    const result = cancelAll(stage, { limit: 2, ...from }).at(-1)!
    ended.push(result['detail'])
    if (result['detail2'] === 0) break
    from = { fromSlot: result['slot']!, fromSequence: result['orderSequence']! }
  }
  t.same(ended, [2, 2, 2, 1])
  t.same(stage.move(800).filter((line) => line.includes('STOP_LOSS')), ['ann STOP_LOSS TRIGGERED TRIGGERED'])
})

t.test('by the operator, and by a deadline', async (t) => {
  const stage = stageOf()
  const account = stage.account('ann')
  const values = { account, createdSequence: stage.made('ann'), pair: BTC, limit: 1000 }
  const said = stage.toldOf(stage.events(CommandType.CANCEL_ACCOUNT_ORDERS, values))
  t.ok(said.length === 3 && said.every((line) => line.includes('BY_OPERATOR')), said.join(', '))
  stage.send(CommandType.CANCEL_ALL, { ...stage.signed('ann'), pair: -1, limit: 1, afterMs: 1000 }, 1)
  stage.time += 1000
  const { told } = stage.settleDown()
  t.same(told.filter((line) => line.includes('USER_CANCELLED')).length, 3, told.join(', '))
  const bare = stageOf()
  bare.send(CommandType.CANCEL_ALL, { ...bare.signed('ann'), pair: -1, limit: 1000 }, 1)
  bare.attach('ann', { stop: { at: 900 } })
  bare.send(CommandType.CANCEL_ALL, { ...bare.signed('ann'), pair: -1, limit: 1, afterMs: 1000 }, 1)
  bare.time += 1000
  t.same(bare.settleDown().told, ['ann STOP_LOSS CANCELLED USER_CANCELLED'], 'also when nothing rests')
})

t.test('a delegated agent: inside his grants, and what he asked for ends with him', async (t) => {
  const stage = stageOf()
  const grant = (over: Decoded = {}): Decoded => stage.send(CommandType.UPSERT_AGENT, {
    ...stage.signed('ann'), address: 'aa'.repeat(20), grants: 1 | 2, pairs: '01'.padEnd(64, '0'), ...over,
  }, 1)
  const agent = grant()
  const owner = Buffer.from('ann').toString('hex').padEnd(40, '0')
  const opened = stage.send(CommandType.OPEN_DELEGATED_SESSION, { owner, agent: 'aa'.repeat(20), publicKey: 'bb'.repeat(32) }, 1)
  const signed = { session: opened['detail']!, sessionGeneration: opened['detail2']! }
  t.equal(WaitingStage.codeOf(stage.attach('ann', { stop: { at: 800 } }, ETH, signed).events), 'AGENT_NOT_ALLOWED', 'not granted that pair')
  t.equal(WaitingStage.codeOf(stage.attach('ann', { stop: { at: 800 } }, BTC, signed).events), '')
  t.equal(WaitingStage.codeOf(stage.events(CommandType.CREATE_TWAP, { pair: BTC, ...TWAP, ...signed }, 1)), 'AGENT_NOT_ALLOWED')
  grant({ grants: 2 })
  t.equal(WaitingStage.codeOf(stage.attach('ann', { stop: { at: 800 } }, BTC, signed).events), 'AGENT_NOT_ALLOWED', 'no CREATE_ORDER')
  const named = { agent: agent['detail']!, createdSequence: agent['originalSequence']! }
  const revoked = stage.events(CommandType.REVOKE_AGENT, { ...stage.signed('ann'), ...named }, 1)
  t.same(stage.toldOf(revoked), ['ann STOP_LOSS CANCELLED DELEGATION_REVOKED'])
  t.equal(cancelAll(stage).at(-1)!['detail'], 7, 'the owner\'s own stay until he ends them')
})
