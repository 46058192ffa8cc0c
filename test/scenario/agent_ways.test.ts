/**
 * Promise: every grant of a delegated agent binds every way in which an order comes about or ends. The table of ways
 * (programs/grants.ts) is walked: each way is refused without each grant that it asks for, which the refusal names, taken
 * with it, and taken without any other.
 */
import t from 'tap'
import { AgentAction, AgentGrant, AgentMargin, CommandType, CONNECTION_OPENED, Flag, Option } from '../../core/layout/command.ts'
import { ConditionType, LegFlag } from '../../core/layout/conditional.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { WAYS, type Way } from '../../core/programs/grants.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { getF64, positionRow } from '../../core/state/rows.ts'
import { MarginAccountScene } from '../support/margin_account_scene.ts'
import { granting } from '../support/scenario_agents.ts'

const {
  PLACE_ORDER, REPLACE_ORDER, CANCEL_ORDER, CANCEL_ALL, ATTACH_CONDITIONALS, CANCEL_CONDITIONAL, CREATE_TWAP, CANCEL_TWAP, OPEN_RISK_BUCKET,
  UPSERT_AGENT,
} = CommandType
const ALL = AgentAction.CREATE_ORDER | AgentAction.CANCEL_ORDER | AgentAction.REPLACE_ORDER | AgentAction.CLOSE_POSITION

/** In the margin account "one" Ann has a position of 10 lots at 50,000 (5 USDC each), an order, a stop-loss and a TWAP order. */
class WayScene extends MarginAccountScene {
  order: Decoded = {}
  stop: Decoded = {}
  twap: Decoded = {}
  position: Decoded = {}

  constructor() {
    super()
    for (const who of ['ann', 'bob']) this.give(`${who} 1000000`)
    const steps = ['ann deposits 500000', 'ann opens one', 'ann opens two', 'ann gives one 100000', 'ann gives two 100000']
    for (const step of [...steps, 'bob deposits 5000']) t.equal(this.step(step), 'done', step)
    this.grant({})
    this.must('ann', PLACE_ORDER, { ...this.terms, lots: 10 })
    this.must('bob', PLACE_ORDER, { ...this.terms, marginAccount: 0, namedSequence: 0, flags: Flag.MARGIN | Flag.SELL, lots: 10 })
    this.must('bob', PLACE_ORDER, { ...this.terms, marginAccount: 0, namedSequence: 0, flags: Flag.MARGIN | Flag.SELL, lots: 50 })
    const { slot, orderSequence } = this.must('ann', PLACE_ORDER, { ...this.terms, price: 49_000 })
    this.order = { targetSlot: Number(slot), targetSequence: Number(orderSequence) }
    this.position = { position: 0, openedSequence: getF64(this.state, positionRow(this.state, 0), POSITION.OPENED_SEQUENCE) }
    const attached = this.must('ann', ATTACH_CONDITIONALS, this.legs('stop', 40_000))
    this.stop = { leg: ConditionType.STOP_LOSS, createdSequence: attached['sequence']! }
    const twap = { ...this.terms, price: 0, lots: 100, durationMs: 600_000, options: 0 }
    const { detail, sequence } = this.must('ann', CREATE_TWAP, twap)
    this.twap = { twap: Number(detail), createdSequence: Number(sequence) }
    this.must('bot@ann', PLACE_ORDER, { ...this.terms, price: 48_000 })
  }

  /** An order of one lot in "one". */
  get terms(): Decoded {
    const { row, sequence } = this.subs.get('one')!
    return { pair: 0, price: 50_000, lots: 1, leverage: 1000, flags: Flag.MARGIN, marginAccount: row + 1, namedSequence: sequence }
  }

  /** A leg, MARKET or, with `limit`, LIMIT; for all of the position that `of` names, or of an entry order. */
  legs(prefix: 'profit' | 'stop', trigger: number, limit = 0, of: Decoded = this.position): Decoded {
    return { ...of, [`${prefix}Trigger`]: trigger, [`${prefix}Flags`]: limit === 0 ? 0 : LegFlag.LIMIT, [`${prefix}Limit`]: limit }
  }

  must(who: string, type: CommandType, values: Decoded): Decoded {
    const result = this.send(type, { ...values, ...this.signed(who) })
    if (result['code'] !== 0) throw new Error(`${who}: ${CommandType[type as never] ?? type} is refused: ${String(result['code'])}`)
    return result
  }

  /** Grants everything but what `less` says. */
  grant(less: Decoded): void {
    const { values } = granting(['bot', 'create,cancel,replace,close', 'pairs=0,1,2', 'leverage=0'], this.time)
    this.must('ann', UPSERT_AGENT, { ...values, ...less })
  }

  /** Takes a grant away that an order of one lot, LIMIT and GTC, in "one" asks for. */
  take(grant: number, { action }: Way): void {
    const { row, sequence } = this.subs.get('two')!
    const [sequences, rows] = [Buffer.alloc(80), Buffer.alloc(40)]
    sequences.writeDoubleLE(sequence, 0)
    rows.writeInt32LE(row, 0)
    const lists = { marginSequences: sequences.toString('hex'), marginRows: rows.toString('hex') }
    const less: Record<number, Decoded> = {
      [AgentGrant.ACTION]: { grants: ALL & ~action }, [AgentGrant.PAIR]: { pairs: '06'.padEnd(64, '0') },
      [AgentGrant.ORDER_TYPE]: { grants: ALL | (2 << 8) }, [AgentGrant.TIME_IN_FORCE]: { grants: ALL | (2 << 16) },
      [AgentGrant.NOTIONAL]: { maxNotional: 4_000_000_000n }, [AgentGrant.OPEN_ORDERS]: { maxOpenOrders: 1 },
      [AgentGrant.LEVERAGE]: { maxLeverage: 100 }, [AgentGrant.MARGIN_ACCOUNT]: { grants: ALL | (AgentMargin.LISTED << 24), ...lists },
    }
    this.grant(less[grant]!)
  }
}

interface Act {
  way: Way
  /** What the agent sends, and fields of it. */
  does: (scene: WayScene) => [type: CommandType, values: Decoded]
}

const closing = (scene: WayScene): Decoded => ({
  ...scene.terms, position: 1, namedSequence: scene.position['openedSequence']!, marginAccount: 0, leverage: 0, price: 51_000, lots: 10,
  flags: Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CLOSE | Flag.SELL,
})
const entry = { asks: WAYS.PLACE.asks & ~(1 << AgentGrant.NOTIONAL) | WAYS.LEG.asks, action: WAYS.LEG.action }
const ACTS: Record<string, Act> = {
  'an order': { way: WAYS.PLACE, does: (scene) => [PLACE_ORDER, { ...scene.terms, price: 47_000 }] },
  'a close': { way: WAYS.CLOSE, does: (scene) => [PLACE_ORDER, closing(scene)] },
  'a leg of a position': { way: WAYS.LEG, does: (scene) => [ATTACH_CONDITIONALS, scene.legs('profit', 60_000, 60_000)] },
  'a leg of an entry order': {
    way: entry,
    does: (scene) => [PLACE_ORDER, {
      ...scene.terms, price: 0, flags: Flag.MARGIN | Flag.MARKET, options: Option.LEGS, ...scene.legs('profit', 60_000, 60_000, {}),
    }],
  },
  'a strategy key': {
    way: WAYS.BUCKET,
    does: ({ subs }) => {
      const { row, sequence } = subs.get('one')!
      const strategyKey = Buffer.from('grid').toString('hex').padEnd(96, '0')
      return [OPEN_RISK_BUCKET, { pair: 0, keyLow: 7, strategyKey, marginAccount: row, createdSequence: sequence }]
    },
  },
  'a successor': {
    way: WAYS.REPLACE, does: ({ order }) => [REPLACE_ORDER, { ...order, options: Option.NEW_PRICE, price: 48_990 }],
  },
  'a cancel': { way: WAYS.CANCEL, does: ({ order }) => [CANCEL_ORDER, order] },
  'a cancel of a conditional order': { way: WAYS.CANCEL, does: ({ stop }) => [CANCEL_CONDITIONAL, stop] },
  'a cancel of a TWAP order': { way: WAYS.CANCEL, does: ({ twap }) => [CANCEL_TWAP, twap] },
  'a mass cancel': { way: WAYS.CANCEL_ALL, does: () => [CANCEL_ALL, { pair: -1, limit: 100 }] },
  'a deadline': { way: WAYS.CANCEL_EVERYTHING, does: () => [CANCEL_ALL, { pair: -1, limit: 100, afterMs: 1000 }] },
  'a connection that cancels': {
    way: WAYS.CANCEL_EVERYTHING, does: () => [CANCEL_ALL, { pair: -1, limit: 1, afterMs: CONNECTION_OPENED, fromSlot: 100 }],
  },
}

t.test('the table is walked', async (t) => {
  t.strictSame(Object.values(WAYS).filter((way) => !Object.values(ACTS).some((act) => act.way === way)), [], 'every way is tried')
  const grants = Object.entries(AgentGrant).filter(([, grant]) => grant !== AgentGrant.OPERATION)
  for (const [name, { way, does }] of Object.entries(ACTS)) {
    for (const [grantName, grant] of grants) {
      const scene = new WayScene()
      scene.take(grant, way)
      const [type, values] = does(scene)
      const before = scene.digest()
      const { code, detail } = scene.send(type, { ...values, ...scene.signed('bot@ann') })
      if (grant !== AgentGrant.ACTION && (way.asks & (1 << grant)) === 0) {
        t.equal(code, 0, `${name} without ${grantName}, which it does not need`)
        continue
      }
      t.strictSame([code, detail], [REFUSALS.AGENT_NOT_ALLOWED.number, grant], `${name} without ${grantName}`)
      t.equal(scene.digest(), before, 'nothing moved')
      scene.grant({})
      t.equal(scene.send(type, { ...values, ...scene.signed('bot@ann') })['code'], 0, `${name} with it`)
    }
  }
})

t.test('an agent of LIMIT orders of 30 USDC has no MARKET stop-loss, and none for a position of 50', async (t) => {
  const scene = new WayScene()
  scene.send(CANCEL_CONDITIONAL, { ...scene.stop, ...scene.signed('ann') })
  const attach = (legs: Decoded): unknown[] => {
    const { code, detail } = scene.send(ATTACH_CONDITIONALS, { ...legs, ...scene.signed('bot@ann') })
    return code === 0 ? ['done'] : [code, detail]
  }
  scene.grant({ grants: ALL | (1 << 8), maxNotional: 30_000_000_000n })
  t.same(attach(scene.legs('stop', 45_000)), [REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.ORDER_TYPE])
  t.same(attach(scene.legs('stop', 45_000, 44_000)), [REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.NOTIONAL], '10 lots are worth 45')
  t.same(attach({ ...scene.legs('stop', 45_000, 44_000), stopLots: 7 }), [REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.NOTIONAL])
  t.same(attach({ ...scene.legs('stop', 45_000, 44_000), stopLots: 6 }), ['done'])
  const trails = { ...scene.position, trailBps: 100 }
  t.same(attach(trails), [REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.ORDER_TYPE], 'a trailing stop is MARKET')
  scene.grant({ maxNotional: 30_000_000_000n })
  t.same(attach({ ...scene.position, trailBps: 100 }), [REFUSALS.AGENT_NOT_ALLOWED.number, AgentGrant.NOTIONAL])
  t.same(attach({ ...scene.position, trailBps: 100, trailLots: 6 }), ['done'])
})

t.test('a mass cancel leaves alone what is of other margin accounts', async (t) => {
  const scene = new WayScene()
  scene.take(AgentGrant.MARGIN_ACCOUNT, WAYS.CANCEL_ALL)
  const all = (who: string): unknown => scene.send(CANCEL_ALL, { pair: -1, limit: 100, ...scene.signed(who) })['detail']
  t.equal(all('bot@ann'), 0)
  scene.grant({ grants: ALL | (AgentMargin.NONE << 24) })
  t.equal(all('bot@ann'), 0, 'nor with no margin account at all')
  scene.grant({})
  t.equal(all('bot@ann'), 4, 'two orders, a stop-loss and a TWAP order')
})
