/**
 * Managed markets in the engine: of a maker's processes one at a time quotes on the pair of a launch: whose session holds the lease.
 * Who may claim; renewal, take-over, expiry; what the fence lets through; what the operator changes; two claims in one moment, in both
 * orders; what the alert of lapsed leases sees; and that snapshots keep all of it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { apply, setTime } from '../../core/engine/apply.ts'
import { COMMAND_LAYOUTS, CommandType, Flag, kindOf, Option } from '../../core/layout/command.ts'
import { LAUNCHES_MAX, LaunchPhase } from '../../core/layout/launches.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { encode, RECORD_BYTES, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { launchesOf } from '../../core/view/launches.ts'
import { sampleLeases } from '../../gateway/operator/lease_metrics.ts'
import { BTC, ETH, LiquidationStage } from '../support/liquidation_stage.ts'
import { copyStored } from '../support/recording.ts'

const LEASE = 30_000
const ALERTS = join(import.meta.dirname, '../../data/ops/alerts.yml')
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** A market with one maker, `mia`, who signs in once for each process. */
class Market extends LiquidationStage {
  readonly processes = new Map<string, Decoded>()
  readonly maker: Decoded

  constructor() {
    super()
    for (const name of ['mia', 'ann']) this.deposit(name, 500_000)
    const opened = this.send(CommandType.OPEN_SESSION, { address: hex('mia', 20), publicKey: hex('mia-key-0', 32) }, 1)
    this.maker = { account: opened['account']!, createdSequence: opened['originalSequence']! }
    for (const key of ['a', 'b']) this.start(key)
  }

  /** A process of the maker has a session of its own. */
  start(key: string): void {
    const said = this.send(CommandType.OPEN_SESSION, { address: hex('mia', 20), publicKey: hex(`mia ${key}`, 32) }, 1)
    this.processes.set(key, { session: said['detail']!, sessionGeneration: said['detail2']! })
  }

  of(key: string): Decoded {
    return this.processes.get(key) ?? this.signed(key)
  }

  /** How a command ended, and its RESULT. */
  ask(type: CommandType, values: Decoded, lane = 1): { code: string; said: Decoded } {
    const said = this.events(type, values, lane).at(-1)!
    return { code: said['code'] === 0 ? 'done' : refusalByNumber(Number(said['code'])).code, said }
  }

  launch(values: Decoded = {}, id = 'btc'): string {
    const terms = { pair: BTC, ...this.maker, phase: LaunchPhase.LIVE, leaseMs: LEASE, generation: 7, isNew: 1, launchId: hex(id, 40) }
    return this.ask(CommandType.SET_LAUNCH, { ...terms, ...values }, 0).code
  }

  change(values: Decoded, id = 'btc'): string {
    const same = { pair: -1, account: -1, createdSequence: 0, phase: -1, leaseMs: -1, generation: 0, isNew: 0, launchId: hex(id, 40) }
    return this.ask(CommandType.SET_LAUNCH, { ...same, ...values }, 0).code
  }

  claimOf(key: string, owner: string, expectedGeneration: number, id = 'btc'): Decoded {
    return { ...this.of(key), expectedGeneration, launchId: hex(id, 40), owner: hex(owner, 64) }
  }

  claim(key: string, owner: string, expectedGeneration: number, id = 'btc'): [code: string, generation: number] {
    const { code, said } = this.ask(CommandType.CLAIM_LEASE, this.claimOf(key, owner, expectedGeneration, id))
    return [code, Number(said['originalSequence'])]
  }

  /** An order of a process: how it ended. */
  quote(key: string, over: Decoded = {}, pair = BTC): { code: string; said: Decoded } {
    const flags = Flag.MARGIN | Number(over['flags'] ?? 0)
    return this.ask(CommandType.PLACE_ORDER, { ...this.of(key), pair, price: 900, lots: 1, leverage: 200, ...over, flags })
  }

  /** Time goes by, and the price is fresh. */
  wait(ms: number): void {
    this.time += ms
    this.price(BTC, 1000)
  }

  get lease(): { revision: number; generation: number; until: number } {
    const { quoteRevision: revision, generation, leaseEndsAt } = launchesOf(this.state)[0]!
    return { revision, generation, until: leaseEndsAt === 0 ? 0 : leaseEndsAt - this.time }
  }
}

t.test('a second process of the maker fences the first one out', async (t) => {
  const market = new Market()
  t.equal(market.launch(), 'done')
  for (const key of ['a', 'b']) t.equal(market.quote(key).code, 'done', `before the first claim ${key} may`)
  t.same(market.claim('a', 'first', 7), ['done', 8], 'the first claim is a change of who holds it')
  t.same(market.lease, { revision: 2, generation: 8, until: LEASE })
  const resting = market.quote('a').said
  t.same(market.claim('b', 'second', 7), ['LEASE_CONFLICT', 8], 'it must know the generation, and is told')
  t.equal(market.quote('b').code, 'LEASE_LOST')
  t.same(market.claim('b', 'second', 8), ['done', 9])
  t.equal(market.quote('a').code, 'LEASE_LOST', 'the next order of the first one')
  const target = { ...market.of('a'), pair: BTC, targetSlot: resting['slot']!, targetSequence: resting['orderSequence']! }
  const replacement = { ...target, options: Option.NEW_LOTS | Option.NEW_PRICE, price: 901, lots: 2 }
  t.equal(market.ask(CommandType.REPLACE_ORDER, replacement).code, 'LEASE_LOST')
  const twap = { ...market.of('a'), pair: BTC, flags: Flag.MARGIN, lots: 10, leverage: 200, durationMs: 600_000 }
  t.equal(market.ask(CommandType.CREATE_TWAP, twap).code, 'LEASE_LOST')
  t.same(market.claim('a', 'first', 8), ['LEASE_CONFLICT', 9], 'and its claim with the old generation')
  t.equal(market.quote('b').code, 'done')
  t.equal(market.ask(CommandType.REPLACE_ORDER, { ...replacement, ...market.of('b') }).code, 'done', 'orders are the account\'s')
})

t.test('what the fence lets through', async (t) => {
  const market = new Market()
  market.launch()
  market.give({ mia: { lots: 5, price: 1000, collateral: 3000 }, ann: { lots: -5, price: 1000, collateral: 3000 } })
  const { said } = market.quote('a')
  market.claim('b', 'second', 7)
  t.equal(market.quote('a', { flags: Flag.SELL | Flag.REDUCE_ONLY, price: 1100 }).code, 'done', 'what reduces its position')
  t.equal(market.quote('a', {}, ETH).code, 'done', 'other pairs')
  t.equal(market.quote('ann').code, 'done', 'other accounts')
  const own = { pair: BTC, price: 900, lots: 1, leverage: 200, flags: Flag.MARGIN, origin: 1, ...market.maker }
  t.equal(market.ask(CommandType.ENTER_ORDER, own, 0).code, 'done', 'orders of the exchange itself')
  const target = { targetSlot: said['slot']!, targetSequence: said['orderSequence']! }
  t.equal(market.ask(CommandType.CANCEL_ORDER, { ...market.of('a'), pair: BTC, ...target }).code, 'done', 'cancels')
  t.equal(market.ask(CommandType.CANCEL_ALL, { ...market.of('a'), pair: -1, limit: 100 }).code, 'done')
})

t.test('renewed, over, claimed again', async (t) => {
  const market = new Market()
  market.launch()
  market.claim('a', 'first', 7)
  market.wait(20_000)
  t.same(market.claim('a', 'first', 8), ['done', 8], 'its holder renews it')
  t.same(market.lease, { revision: 2, generation: 8, until: LEASE })
  market.wait(LEASE - 1)
  t.equal(market.quote('a').code, 'done')
  market.wait(1)
  for (const key of ['a', 'b']) t.equal(market.quote(key).code, 'LEASE_LOST', `over: ${key}`)
  t.same(market.claim('a', 'first', 8), ['done', 8], 'nobody quoted meanwhile, so the generation stays')
  t.equal(market.quote('a').code, 'done')
  t.same(market.claim('a', 'another start', 8), ['VALIDATION_ERROR', 0], 'no spaces in an owner id')
  t.same(market.claim('a', 'another', 8), ['done', 9], 'another owner id with the same session takes over')
  t.same(market.claim('b', 'another', 9), ['done', 10], 'and so does the same one with another session')
  market.wait(LEASE)
  t.same(market.claim('a', 'another', 10), ['done', 11], 'also when it was over')
  const signedOut = market.of('a')
  market.ask(CommandType.REVOKE_SESSION, signedOut)
  t.same(market.claim('a', 'another', 11), ['SESSION_INVALID', 0])
  market.start('a')
  t.same(market.claim('a', 'another', 11), ['done', 11], 'the same session key, signed in again, holds it still')
})

/** The series that the alert is about, as it stands in the rule, and its value now. */
const SERIES = /RingbookMakerLeaseLapsed\n +expr: (\w+\{.*\}) > 0\n/.exec(readFileSync(ALERTS, 'utf8'))![1]!
function lapsed({ state, time }: Market): number | undefined {
  const samples = new Map<string, number>()
  sampleLeases(({ name }, value, labels) => samples.set(`${name}{${labels}}`, value), state, time)
  return samples.get(SERIES)
}

t.test('the alert sees a LIVE launch whose lease ended without renewal, and nothing else', async (t) => {
  const market = new Market()
  t.equal(lapsed(market), 0, 'no launch')
  market.launch()
  market.wait(10 * LEASE)
  t.equal(lapsed(market), 0, 'nobody claimed it')
  market.claim('a', 'first', 7)
  market.wait(LEASE - 1)
  t.equal(lapsed(market), 0)
  market.wait(1)
  t.equal(lapsed(market), 1, 'over')
  market.claim('a', 'first', 8)
  t.equal(lapsed(market), 0, 'renewed')
  market.wait(LEASE)
  for (const [phase, count] of [[LaunchPhase.CLOSING, 0], [LaunchPhase.LIVE, 1], [LaunchPhase.ENDED, 0]] as const) {
    t.equal(market.change({ phase }), 'done')
    t.equal(lapsed(market), count, `phase ${phase}`)
  }
})

t.test('who may claim', async (t) => {
  const market = new Market()
  market.launch()
  t.same(market.claim('a', 'first', 7, 'eth'), ['NOT_FOUND', 0])
  t.same(market.claim('ann', 'first', 7), ['PERMISSION_DENIED', 0])
  const agent = { ...market.of('a'), address: hex('bot', 20), grants: 0x0007_030f, maxLeverage: 2000, pairs: '03'.padEnd(64, '0') }
  market.send(CommandType.UPSERT_AGENT, agent, 1)
  const delegated = { owner: hex('mia', 20), agent: hex('bot', 20), publicKey: hex('bot', 32) }
  const opened = market.send(CommandType.OPEN_DELEGATED_SESSION, delegated, 1)
  market.processes.set('bot', { session: opened['detail']!, sessionGeneration: opened['detail2']! })
  t.equal(market.quote('bot').code, 'done')
  t.same(market.claim('bot', 'first', 7), ['AGENT_NOT_ALLOWED', 0])
  market.claim('a', 'first', 7)
  t.equal(market.quote('bot').code, 'LEASE_LOST', 'an agent of the maker has a session of its own')
})

t.test('two claims in one moment: the one that comes first has it', async (t) => {
  for (const order of [['a', 'b'], ['b', 'a']] as const) {
    const market = new Market()
    market.launch()
    const { state } = market
    setTime(state, market.time)
    const codes = order.map((key) => {
      const command = viewsOf(new ArrayBuffer(RECORD_BYTES))
      const values = { ...market.claimOf(key, `process-${key}`, 7), kind: kindOf(CommandType.CLAIM_LEASE, 1, 1) }
      encode(COMMAND_LAYOUTS[CommandType.CLAIM_LEASE]!, command, 0, values)
      apply(state, command, 0)
      return state.outbox.i32[(state.outbox.count - 1) * (RECORD_BYTES / 4) + 6]!
    })
    state.outbox.count = 0
    t.same(codes.map((code) => (code === 0 ? 'done' : refusalByNumber(code).code)), ['done', 'LEASE_CONFLICT'])
    t.same(order.map((key) => market.quote(key).code), ['done', 'LEASE_LOST'])
  }
})

t.test('what the operator changes', async (t) => {
  const market = new Market()
  t.equal(market.launch(), 'done')
  t.equal(market.launch(), 'LAUNCH_EXISTS', 'of this id')
  t.equal(market.launch({}, 'more'), 'LAUNCH_EXISTS', 'on this pair')
  const terms: Decoded[] = [{ phase: LaunchPhase.ENDED }, { leaseMs: 999 }, { leaseMs: 3_600_001 }, { generation: 2 ** 40 + 1 }]
  for (const wrong of terms) {
    t.equal(market.launch({ pair: ETH, ...wrong }, 'eth'), 'VALIDATION_ERROR')
  }
  t.equal(market.launch({ pair: ETH }, 'a b'), 'VALIDATION_ERROR')
  const missing: Decoded[] = [{ pair: 2 }, { account: 99 }, { createdSequence: 1 }, { account: -1 }]
  for (const wrong of missing) {
    t.equal(market.launch({ pair: ETH, ...wrong }, 'eth'), 'NOT_FOUND')
  }
  t.equal(market.change({ phase: LaunchPhase.CLOSING }, 'eth'), 'NOT_FOUND')
  market.claim('a', 'first', 7)
  t.equal(market.change({}), 'done')
  t.equal(market.lease.revision, 2, 'nothing changed')
  t.equal(market.change({ phase: LaunchPhase.CLOSING, leaseMs: 5000 }), 'done')
  t.same(market.lease, { revision: 3, generation: 8, until: LEASE }, 'a lease that runs keeps its end')
  const ann = market.send(CommandType.OPEN_SESSION, { address: hex('ann', 20), publicKey: hex('ann again', 32) }, 1)
  t.equal(market.change({ account: ann['account']!, createdSequence: ann['originalSequence']! }), 'done')
  t.same(market.lease, { revision: 4, generation: 9, until: 0 }, 'another maker ends the lease')
  t.equal(market.quote('b').code, 'done', 'who is no maker any more is anybody')
  t.same(market.claim('a', 'first', 9), ['PERMISSION_DENIED', 0])
  t.same(market.claim('ann', 'first', 9), ['done', 10])
  market.wait(LEASE)
  t.equal(market.quote('ann').code, 'LEASE_LOST')
  t.equal(market.change({ phase: LaunchPhase.ENDED }), 'done')
  t.equal(market.quote('ann').code, 'done', 'nobody is fenced out any more')
  t.same(market.claim('ann', 'first', 10), ['LAUNCH_ENDED', 0])
  t.equal(market.change({ phase: LaunchPhase.LIVE }), 'LAUNCH_ENDED', 'for ever')
  t.equal(market.launch({}, 'again'), 'done', 'the pair is free')
  t.equal(market.ask(CommandType.SET_LAUNCH, {}, 1).code, 'OPERATOR_ONLY')
})

t.test('there is an end to launches', async (t) => {
  const market = new Market()
  for (let launch = 0; launch < LAUNCHES_MAX; launch++) {
    t.equal(market.launch({}, `launch-${launch}`), 'done')
    t.equal(market.change({ phase: LaunchPhase.ENDED }, `launch-${launch}`), 'done')
  }
  t.equal(market.launch({}, 'one-more'), 'TOO_MANY_LAUNCHES')
})

t.test('a snapshot has leases, and an exchange without launches is what it was', async (t) => {
  const market = new Market()
  const before = copyStored(null, market.state).state
  t.equal(stateDigest(before), stateDigest(market.state))
  market.launch()
  market.claim('a', 'first', 7)
  const bench = copyStored(null, market.state)
  checkInvariants(bench.state)
  t.equal(stateDigest(bench.state), stateDigest(market.state))
  t.same(launchesOf(bench.state), launchesOf(market.state))
  Object.assign(market.bench, bench)
  t.equal(market.quote('b').code, 'LEASE_LOST', 'it is fenced out behind a start too')
  t.same(market.claim('a', 'first', 8), ['done', 8])
  t.equal(market.quote('a').code, 'done')
})
