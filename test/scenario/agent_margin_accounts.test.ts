/**
 * Promise: a delegated agent that was granted margin accounts by name opens buckets, places, closes and replaces in those alone: the
 * parent, also before it is made, and open margin sub-accounts of its owner. One that is closed lets nothing through again, whoever gets
 * its row. A grant that names what is not the owner's, nothing, or what no record can carry is refused, and changes nothing.
 */
import t from 'tap'
import { AGENT_MARGIN_ACCOUNTS_MAX, AgentGrant, AgentMargin, CommandType, Flag } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { ACCOUNT } from '../../core/state/columns.ts'
import { POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { accountRow, bucketRow, get, getF64, positionRow } from '../../core/state/rows.ts'
import { readAgents } from '../../core/view/agents.ts'
import { MarginAccountScene } from '../support/margin_account_scene.ts'
import { granting } from '../support/scenario_agents.ts'

const { PLACE_ORDER, REPLACE_ORDER, OPEN_RISK_BUCKET, UPSERT_AGENT } = CommandType
const OTHER_ACCOUNT = ['refused', REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.MARGIN_ACCOUNT]

type Named = { sequence: number; row: number }

class AgentScene extends MarginAccountScene {
  /** How UPSERT_AGENT names the parent of somebody. */
  parent(who: string): Named {
    const { account } = this.signIn(who)
    return { sequence: getF64(this.state, accountRow(this.state, account), ACCOUNT.CREATED_SEQUENCE), row: -1 - account }
  }

  sub_(name: string): Named {
    return this.subs.get(name)!
  }

  grants(named: readonly Named[], more: Decoded = {}): number {
    const { values } = granting(['bot', 'create,replace,close', 'pairs=0,1', 'leverage=0'], this.time)
    const [sequences, rows] = [Buffer.alloc(80), Buffer.alloc(40)]
    for (const [place, { sequence, row }] of named.entries()) {
      sequences.writeDoubleLE(sequence, place * 8)
      rows.writeInt32LE(row, place * 4)
    }
    const granted = Number(values['grants']) | (AgentMargin.LISTED << 24)
    const lists = { marginSequences: sequences.toString('hex'), marginRows: rows.toString('hex') }
    return Number(this.send(UPSERT_AGENT, { ...values, ...this.signed('ann'), grants: granted, ...lists, ...more })['code'])
  }

  /** An order of Ann's agent, or of whoever signs, of one lot at 50,000; on BTC. */
  order(type: CommandType, fields: Decoded, who = 'bot@ann'): unknown[] {
    const terms = { pair: 0, price: 50_000, lots: 1, leverage: 1000, ...fields, flags: Flag.MARGIN | Number(fields['flags'] ?? 0) }
    const result = this.send(type, { ...terms, ...this.signed(who) })
    return result['code'] === 0 ? ['done'] : ['refused', result['code'], result['detail']]
  }

  in(name: string): Decoded {
    const { row, sequence } = this.sub_(name)
    return { marginAccount: row + 1, namedSequence: sequence }
  }
}

function begin(): AgentScene {
  const scene = new AgentScene()
  for (const who of ['ann', 'bob']) scene.give(`${who} 1000000`)
  for (const step of ['ann deposits 500000', 'ann opens one', 'ann opens two', 'ann gives one 100000', 'ann gives two 100000']) {
    scene.step(step)
  }
  scene.step('bob deposits 500000')
  return scene
}

t.test('orders', async (t) => {
  const scene = begin()
  t.equal(scene.grants([scene.sub_('one')]), 0)
  t.same(scene.order(PLACE_ORDER, scene.in('one')), ['done'])
  const before = scene.digest()
  t.same(scene.order(PLACE_ORDER, scene.in('two')), OTHER_ACCOUNT)
  t.same(scene.order(PLACE_ORDER, {}), OTHER_ACCOUNT, 'the parent')
  t.same(scene.order(PLACE_ORDER, { ...scene.in('two'), flags: Flag.CROSS, lots: 1000000 }), OTHER_ACCOUNT, 'before its collateral is')
  t.equal(scene.digest(), before)
  t.same(scene.order(PLACE_ORDER, { marginAccount: 99, namedSequence: 7 }), ['refused', REFUSALS.NOT_FOUND.number, 0])
  t.equal(scene.grants([scene.parent('ann'), scene.sub_('two')]), 0)
  t.same(scene.order(PLACE_ORDER, {}), ['done'])
  t.same(scene.order(PLACE_ORDER, scene.in('two')), ['done'])
  t.same(scene.order(PLACE_ORDER, scene.in('one')), OTHER_ACCOUNT)
})

t.test('orders that name a bucket, a position or another order', async (t) => {
  const scene = begin()
  t.same(scene.order(PLACE_ORDER, scene.in('one'), 'ann'), ['done'])
  const first = scene.said.at(-1)!
  t.same(scene.order(PLACE_ORDER, { flags: Flag.SELL }, 'bob'), ['done'], 'Ann is long in one')
  t.same(scene.order(PLACE_ORDER, { ...scene.in('one'), price: 49_990 }, 'ann'), ['done'])
  const resting = scene.said.at(-1)!
  const bucket = get(scene.state, positionRow(scene.state, 0), POSITION.BUCKET)
  const named = { bucket: bucket + 1, namedSequence: getF64(scene.state, bucketRow(scene.state, bucket), RISK_BUCKET.CREATED_SEQUENCE) }
  const opened = getF64(scene.state, positionRow(scene.state, 0), POSITION.OPENED_SEQUENCE)
  const closing = { position: 1, namedSequence: opened, flags: Flag.SELL | Flag.CLOSE | Flag.REDUCE_ONLY, leverage: 0 }
  const successor = { targetSlot: Number(resting['slot']), targetSequence: Number(resting['orderSequence']), price: 49_980 }
  const asked = () => [
    scene.order(PLACE_ORDER, { ...named, price: 49_970 }), scene.order(REPLACE_ORDER, successor), scene.order(PLACE_ORDER, closing),
  ]
  t.equal(scene.grants([scene.sub_('two'), scene.parent('ann')]), 0)
  t.same(asked(), [OTHER_ACCOUNT, OTHER_ACCOUNT, OTHER_ACCOUNT])
  t.equal(scene.grants([scene.sub_('two'), scene.sub_('one')]), 0)
  t.same(asked(), [['done'], ['done'], ['done']])
  t.ok(Number(first['orderSequence']) > 0)
})

t.test('buckets of strategy keys', async (t) => {
  const scene = begin()
  const key = { pair: 0, keyLow: 7, strategyKey: Buffer.from('grid').toString('hex').padEnd(96, '0') }
  const opens = (of: Decoded): unknown[] => {
    const { code, detail } = scene.send(OPEN_RISK_BUCKET, { ...key, ...of, ...scene.signed('bot@ann') })
    return code === 0 ? ['done'] : ['refused', code, detail]
  }
  const inSub = ({ row, sequence }: Named): Decoded => ({ marginAccount: row, createdSequence: sequence })
  t.equal(scene.grants([scene.sub_('two')]), 0)
  t.same([opens(inSub(scene.sub_('one'))), opens({ marginAccount: -1 })], [OTHER_ACCOUNT, OTHER_ACCOUNT])
  t.same(opens(inSub(scene.sub_('two'))), ['done'])
})

t.test('a parent that is not made yet', async (t) => {
  const scene = new AgentScene()
  scene.give('ann 1000')
  const key = { pair: 0, marginAccount: -1, keyLow: 7, strategyKey: Buffer.from('grid').toString('hex').padEnd(96, '0') }
  t.equal(scene.grants([scene.parent('ann')]), 0)
  t.equal(scene.send(OPEN_RISK_BUCKET, { ...key, ...scene.signed('bot@ann') })['code'], 0)
})

t.test('a closed one lets nothing through, whoever has its row now', async (t) => {
  const scene = begin()
  t.equal(scene.grants([scene.sub_('one')]), 0)
  const closed = scene.sub_('one')
  for (const step of ['ann takes 100000 from one', 'ann closes one', 'ann opens three', 'ann gives three 1000']) {
    t.equal(scene.step(step), 'done', step)
  }
  t.equal(scene.sub_('three').row, closed.row, 'the row is used again')
  t.same(scene.order(PLACE_ORDER, scene.in('three')), OTHER_ACCOUNT)
  t.equal(scene.grants([closed]), REFUSALS.NOT_FOUND.number)
})

t.test('grants that are refused', async (t) => {
  const scene = begin()
  t.equal(scene.grants([scene.sub_('one')]), 0)
  const before = scene.digest()
  const { account } = scene.signIn('ann')
  const refusals: [readonly Named[], Decoded, number][] = [
    [[], {}, REFUSALS.VALIDATION_ERROR.number],
    [[scene.sub_('one'), scene.parent('bob')], {}, REFUSALS.NOT_FOUND.number],
    [[{ sequence: 7, row: scene.sub_('one').row }], {}, REFUSALS.NOT_FOUND.number],
    [[{ sequence: 7, row: 99_999_999 }], {}, REFUSALS.NOT_FOUND.number],
    [[{ sequence: 7, row: -1 - account }], {}, REFUSALS.NOT_FOUND.number],
    [[scene.sub_('one')], { grants: 7 | ((AgentMargin.LISTED | AgentMargin.NONE) << 24) }, REFUSALS.VALIDATION_ERROR.number],
  ]
  for (const [named, more, code] of refusals) t.equal(scene.grants(named, more), code)
  t.equal(scene.digest(), before)
})

t.test('the most, what is read, and that a wider grant forgets them', async (t) => {
  const scene = begin()
  const named = Array.from({ length: AGENT_MARGIN_ACCOUNTS_MAX }, (_, each) => scene.sub_(each % 2 === 0 ? 'one' : 'two'))
  t.equal(scene.grants(named), 0)
  const read = () => readAgents(scene.state, new Int32Array(new SharedArrayBuffer(64)), scene.signIn('ann').account)![0]!
  t.same(read().marginAccounts, named.map(({ row, sequence }) => ({ row, sequence })))
  t.equal(scene.grants([], { grants: 15 }), 0)
  t.same([read().marginGrant, read().marginAccounts], [0, []])
  t.same(scene.order(PLACE_ORDER, {}), ['done'])
})
