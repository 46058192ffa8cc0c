/**
 * Promise: the receipt of an order or a replacement holds its whole original answer, every figure of it, for exactly 24 hours of
 * sequenced time, whatever happens to the order, the pair or the account meanwhile, and across snapshots, restarts and replay. After
 * that the key is free. (Specification, Orders, rule 2; Errors, rules 4 and 7.)
 */
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { refusalByNumber, type RefusalCode } from '../../core/layout/refusals.ts'
import { CommandType, Flag, Option } from '../../core/layout/command.ts'
import { writeSnapshot } from '../../core/snapshot/file.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, START_TIME, startMatcher, type Matcher } from '../support/journal.ts'
import { Scene } from '../support/scenario.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const DAY_MS = 86_400_000

/** A RESULT without what belongs to the command that asked, and without the mark of a repetition. */
function answerOf(result: Decoded): Decoded {
  const { correlation: _correlation, sequence: _sequence, time: _time, ...answer } = result
  return { ...answer, flags: (Number(answer['flags']) & ~Flag.REPEATED) >>> 0 }
}
const isRepeated = (result: Decoded): boolean => (Number(result['flags']) & Flag.REPEATED) !== 0

interface Case {
  before: string[]
  /** The keyed step, and its outcome. */
  step: string
  outcome: string
  /** Figures the answer must have, so that there is something to keep. */
  figures: Decoded
  /** How the step ends when the key's 24 hours are over: it runs anew. */
  anew: 'accepted' | RefusalCode
}

const ASKS = ['ann sells 1 at 100', 'ann sells 1 at 101', 'ann sells 1 at 103']
const CASES: Record<string, Case> = {
  'an order that rests': {
    before: [], step: 'cat buys 1 at 90 key=k id=mine', outcome: 'SUBMITTED',
    figures: { lots: 1000, remaining: 1000, hold: 90_090_000n, trades: 0 }, anew: 'CLIENT_ORDER_ID_CONFLICT',
  },
  'one that takes and rests': {
    before: ASKS, step: 'cat buys 3 at 101 key=k', outcome: 'PARTIALLY_FILLED, filled 2',
    figures: { remaining: 1000, trades: 2, filledQuote: 201_000_000n, fee: 603_000n, bestPrice: 10_000, worstPrice: 10_100 },
    anew: 'accepted',
  },
  'a market order that its slippage stops': {
    before: ASKS, step: 'cat buys 3 at market slippage=150 key=k', outcome: 'CANCELLED SLIPPAGE_LIMIT, filled 2',
    figures: { trades: 2, bestPrice: 10_000, worstPrice: 10_100, detail2: 150, price: 0 }, anew: 'accepted',
  },
  'IOC with a remainder': {
    before: ASKS, step: 'cat buys 2 at 100 ioc key=k', outcome: 'CANCELLED IOC_REMAINDER, filled 1',
    figures: { trades: 1, remaining: 1000 }, anew: 'accepted',
  },
  'FOK without depth': {
    before: ASKS, step: 'cat buys 9 at 101 fok key=k', outcome: 'CANCELLED INSUFFICIENT_DEPTH',
    figures: { trades: 0, remaining: 9000 }, anew: 'accepted',
  },
  'self-trade prevention after a fill': {
    before: [...ASKS, 'cat sells 1 at 101.5'], step: 'cat buys 3 at 103 cancel-both key=k',
    outcome: 'CANCELLED SELF_TRADE_PREVENTION, filled 2', figures: { trades: 2, remaining: 1000 }, anew: 'accepted',
  },
  'a replacement at another price': {
    before: ['a: cat buys 2 at 90'], step: 'cat replaces a price=91 key=k', outcome: 'SUBMITTED',
    figures: { price: 9100, lots: 2000 }, anew: 'ORDER_NOT_FOUND',
  },
  'a replacement that keeps its place': {
    before: ['a: cat buys 2 at 90'], step: 'cat replaces a quantity=1.5 key=k', outcome: 'SUBMITTED',
    figures: { price: 9000, lots: 1500 }, anew: 'ORDER_NOT_FOUND',
  },
  'a replacement that trades': {
    before: ['a: cat buys 2 at 90', ...ASKS], step: 'cat replaces a price=101 quantity=5 key=k', outcome: 'PARTIALLY_FILLED, filled 2',
    figures: { trades: 2, bestPrice: 10_000, worstPrice: 10_100, filledQuote: 201_000_000n }, anew: 'ORDER_NOT_FOUND',
  },
}

for (const [name, { before, step, outcome, figures, anew }] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const scene = new Scene({
      pair: { makerFeeBps: '10', takerFeeBps: '30' }, tiers: [['5', '10']],
      limits: { sessionLifetimeMs: 10 * DAY_MS },
    })
    for (const line of ['ann 100 BTC, 100000 USD', 'cat 100 BTC, 100000 USD']) scene.give(line)
    for (const line of before) scene.step(line)
    t.equal(scene.step(step), outcome)
    const original = answerOf(scene.result)
    const { time } = scene
    t.match(original, figures)
    if (step.includes('replaces')) t.ok(Number(original['originalSequence']) > 0, 'it names the order it replaced')

    const same = (when: string): void => {
      scene.step(step)
      t.ok(isRepeated(scene.result), `${when}: repeated`)
      t.same(answerOf(scene.result), original, `${when}: the same in every figure`)
    }
    same('at once')
    scene.step('cat cancels all')
    const others = ['ann sells 1 at 89', 'tier 1 cat', 'maintenance on', 'pair halted']
    for (const other of others) scene.step(other)
    same('after everything changed')
    scene.reload()
    same('after a snapshot')
    scene.time = time + DAY_MS - 1
    same('in the last millisecond')
    scene.reload()
    for (const line of ['maintenance off', 'pair active', 'ann cancels all', ...ASKS, 'cat buys 1 at 88 id=mine']) scene.step(line)
    scene.time = time + DAY_MS
    scene.step(step)
    const { code, orderSequence } = scene.result
    t.equal(isRepeated(scene.result), false, 'then the key is free')
    t.equal(code === 0 ? 'accepted' : refusalByNumber(Number(code)).code, anew, 'it runs anew')
    t.not(orderSequence, original['orderSequence'])
  })
}

const GENESIS = ((): string => {
  const market = VARIANTS['market']!
  return genesisText({ ...market, limits: { ...market.limits, sessionLifetimeMs: 10 * DAY_MS } })
})()

t.test('receipts outlive the process: by replay of the journal, and by a snapshot and what came after it', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  let matcher: Matcher = startMatcher(dataDir, { genesis: GENESIS })
  const [ann, cat] = [openAccount(matcher, 1, 'ann'), openAccount(matcher, 2, 'cat')]
  const ask = (lane: number, type: CommandType, values: Decoded): Decoded => {
    postCommand(matcher, lane, type, values)
    matcher.turn()
    return answersOf(matcher, lane).at(-1)!
  }
  const hex = (text: string): string => Buffer.from(text).toString('hex').padEnd(32, '0')
  const keyed = (key: string): Decoded => ({ key: hex(key), payload: hex(`payload of ${key}`) })
  ask(1, CommandType.PLACE_ORDER, { ...ann, pair: 0, flags: Flag.SELL, price: 10_000, lots: 1000 })
  ask(1, CommandType.PLACE_ORDER, { ...ann, pair: 0, flags: Flag.SELL, price: 10_100, lots: 1000 })
  matcher.clock = START_TIME + 1000
  const order = {
    ...cat, pair: 0, flags: Flag.MARKET | Flag.SLIPPAGE | Option.KEYED, price: 0, lots: 3000, slippageBps: 50, ...keyed('order'),
  }
  const placed = ask(2, CommandType.PLACE_ORDER, order)
  t.match(placed, { code: 0, trades: 1, remaining: 2000, bestPrice: 10_000, detail2: 50 })
  const resting = ask(2, CommandType.PLACE_ORDER, { ...cat, pair: 0, flags: 0, price: 9000, lots: 2000 })
  const target = { targetSlot: resting['slot']!, targetSequence: resting['orderSequence']! }
  const replacement = { ...cat, ...target, flags: Option.NEW_PRICE | Option.KEYED, price: 10_100, ...keyed('replacement') }
  const replaced = ask(2, CommandType.REPLACE_ORDER, replacement)
  t.match(replaced, { code: 0, trades: 1, remaining: 1000, lots: 2000, originalSequence: resting['orderSequence']! })

  const restart = async (): Promise<void> => {
    const { clock } = matcher
    await matcher.database.close()
    matcher = startMatcher(dataDir, { genesis: GENESIS })
    matcher.clock = clock
  }
  const bothRepeated = (when: string): void => {
    for (const [type, command, first] of [
      [CommandType.PLACE_ORDER, order, placed], [CommandType.REPLACE_ORDER, replacement, replaced],
    ] as const) {
      const again = ask(2, type, command)
      t.ok(isRepeated(again), `${when}: repeated`)
      t.same(answerOf(again), answerOf(first), `${when}: the same in every figure`)
    }
  }
  await restart()
  bothRepeated('replayed')
  const { sequencer } = matcher
  writeSnapshot(dataDir, sequencer.state, GENESIS, sequencer.writer.checksum, sequencer.eventsChecksum)
  postCommand(matcher, 0, CommandType.SET_MAINTENANCE, { session: -1, on: 1 })
  matcher.turn()
  await restart()
  t.equal(matcher.sequencer.state.scalars[SCALAR.MAINTENANCE], 1, 'the journal behind the snapshot was replayed')
  bothRepeated('after the snapshot, in maintenance')
  matcher.clock = START_TIME + 1000 + DAY_MS - 1
  bothRepeated('in the last millisecond')
  await restart()
  matcher.clock = START_TIME + 1000 + DAY_MS
  t.equal(ask(2, CommandType.PLACE_ORDER, order)['code'], 300, 'the key is free: the order meets the maintenance')
  t.equal(ask(2, CommandType.REPLACE_ORDER, replacement)['code'], 502, 'and the replacement an order that is gone')
  await matcher.database.close()
})
