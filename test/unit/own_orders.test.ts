/**
 * Promise: an order that nobody asked for over the wire is an order like any other, by the one entry that all have, and says whose doing it
 * was: in the record, in its row, in every event about it. It is journaled and replayed, taken from no ring and answered to nobody; what
 * is refused is an event and changes nothing. (The history's rows: property/history_*; beside the naive exchange:
 * property/engine_equals_naive.)
 */
import t, { type Test } from 'tap'
import {
  COMMAND_LAYOUTS, CommandType, ENTER_ORDER_COMMAND, Flag, Option, Origin, ORIGIN_MASK, originFlags, originOf,
} from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { type Decoded } from '../../core/layout/table.ts'
import { openSource, printable } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { ACCOUNT, ORDER, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { accountRow, get, getF64, orderRow } from '../../core/state/rows.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, eventsOf, openAccount, postCommand, startMatcher, type Matcher, type Signed } from '../support/journal.ts'

class Stage {
  readonly matcher: Matcher
  readonly signed: Signed[]

  constructor(t: Test) {
    const dataDir = temporaryDirectory()
    t.teardown(() => removeDirectory(dataDir))
    this.matcher = startMatcher(dataDir)
    this.signed = ['ann', 'bob'].map((name, lane) => openAccount(this.matcher, lane + 1, name))
  }

  get state() {
    return this.matcher.sequencer.state
  }

  /** Row and identity of an account. */
  account(account: number): Decoded {
    return { account, createdSequence: getF64(this.state, accountRow(this.state, account), ACCOUNT.CREATED_SEQUENCE) }
  }

  /** An order of the exchange for an account; the events. */
  enter(account: number, origin: number, values: Decoded): Decoded[] {
    commitOwn(this.matcher.sequencer, CommandType.ENTER_ORDER, { ...this.account(account), pair: 0, origin, ...values })
    checkInvariants(this.state)
    return eventsOf(this.matcher)
  }

  /** A client's command; the events. */
  ask(client: number, type: CommandType, values: Decoded): Decoded[] {
    postCommand(this.matcher, client + 1, type, { ...this.signed[client]!, ...values })
    this.matcher.turn()
    answersOf(this.matcher, client + 1)
    checkInvariants(this.state)
    return eventsOf(this.matcher)
  }

  unanswered(t: Test): void {
    t.same([0, 1, 2, 3].flatMap((lane) => answersOf(this.matcher, lane)), [], 'nobody is answered')
  }
}

t.test('it rests, trades and ends as any other, and its origin is in every event about it', async (t) => {
  const stage = new Stage(t)
  const [rests] = stage.enter(0, Origin.TRIGGER, { price: 3000, lots: 100 })
  t.match(rests, { event: 'RESULT', code: 0, account: 0, lots: 100, remaining: 100, price: 3000 })
  t.equal(originOf(Number(rests!['flags'])), Origin.TRIGGER)
  const row = orderRow(stage.state, Number(rests!['slot']))
  t.equal(originOf(get(stage.state, row, ORDER.FLAGS)), Origin.TRIGGER, 'in its row')
  stage.unanswered(t)

  const [fill, taken] = stage.enter(1, Origin.LIQUIDATION, { price: 3000, lots: 40, flags: Flag.SELL | Flag.IOC })
  t.match(fill, { event: 'FILL', lots: 40, price: 3000, makerAccount: 0, takerAccount: 1 })
  t.same([originOf(Number(fill!['makerFlags'])), originOf(Number(fill!['takerFlags']))], [Origin.TRIGGER, Origin.LIQUIDATION])
  t.match(taken, { event: 'RESULT', code: 0, remaining: 0 })
  t.equal(originOf(Number(taken!['flags'])), Origin.LIQUIDATION)
  stage.unanswered(t)

  const target = { targetSlot: rests!['slot']!, targetSequence: rests!['orderSequence']! }
  const [ended, successor] = stage.ask(0, CommandType.REPLACE_ORDER, { ...target, options: Option.NEW_LOTS, lots: 50 })
  t.equal(originOf(Number(ended!['flags'])), Origin.TRIGGER, 'its owner may replace it')
  t.match(successor, { event: 'RESULT', code: 0, lots: 50 })
  t.equal(originOf(Number(successor!['flags'])), Origin.CLIENT, 'and is who asked for the successor')

  const [copied] = stage.enter(0, Origin.COPY, { price: 2999, lots: 100 })
  const [cancelled] = stage.ask(0, CommandType.CANCEL_ORDER, {
    targetSlot: copied!['slot']!, targetSequence: copied!['orderSequence']!,
  })
  t.match(cancelled, { event: 'RESULT', code: 0 })
  t.equal(originOf(Number(cancelled!['flags'])), Origin.COPY)
})

t.test('what is refused is an event that says whose order it was and what was wanted, and changes nothing', async (t) => {
  const stage = new Stage(t)
  const said = (events: Decoded[]): Decoded => {
    t.equal(events.length, 1)
    stage.unanswered(t)
    return events[0]!
  }
  const before = { digest: stateDigest(stage.state), orders: stage.state.scalars[SCALAR.ORDERS_LIVE] }
  const order = { price: 3000, lots: 100 }
  const cases: [values: Decoded, origin: number, code: number][] = [
    [{ ...order, lots: 2 ** 30 }, Origin.TWAP, REFUSALS.ABOVE_MAX_ORDER_SIZE.number],
    [{ ...order, price: 0 }, Origin.TWAP, REFUSALS.INVALID_TICK.number],
    [{ ...order, pair: 99 }, Origin.TWAP, REFUSALS.PAIR_NOT_ACTIVE.number],
    [{ ...order, pair: -1 }, Origin.TWAP, REFUSALS.PAIR_NOT_ACTIVE.number],
    [{ ...order, createdSequence: 1 }, Origin.TWAP, REFUSALS.NOT_FOUND.number],
    [{ ...order, account: 77 }, Origin.TWAP, REFUSALS.NOT_FOUND.number],
    [{ ...order, account: -1 }, Origin.TWAP, REFUSALS.NOT_FOUND.number],
    [order, Origin.CLIENT, REFUSALS.VALIDATION_ERROR.number],
    [order, 5, REFUSALS.VALIDATION_ERROR.number],
    [order, -1, REFUSALS.VALIDATION_ERROR.number],
    [{ ...order, flags: 3 * 2 ** 24 }, Origin.TWAP, REFUSALS.VALIDATION_ERROR.number],
    [{ ...order, flags: Flag.RESTING }, Origin.TWAP, REFUSALS.VALIDATION_ERROR.number],
    [{ ...order, flags: Flag.MASTER_FUNDED }, Origin.TWAP, REFUSALS.NOT_SUB_ACCOUNT.number],
    [{ ...order, flags: Flag.EXPIRES, expiresAt: 1 }, Origin.TWAP, REFUSALS.INVALID_EXPIRATION.number],
  ]
  for (const [values, origin, code] of cases) {
    const event = said(stage.enter(0, origin, values))
    t.match(event, { event: 'RESULT', code, account: values['account'] ?? 0, price: values['price']!, lots: values['lots']! })
    t.equal(Number(event['flags']) & ORIGIN_MASK, originFlags(origin))
  }
  t.equal(stage.state.scalars[SCALAR.ORDERS_LIVE], before.orders)

  commitOwn(stage.matcher.sequencer, CommandType.SET_PAIR_STATUS, { pair: 0, status: 2 })
  answersOf(stage.matcher, 0)
  eventsOf(stage.matcher)
  t.match(said(stage.enter(0, Origin.TWAP, order)), { code: REFUSALS.PAIR_NOT_ACTIVE.number }, 'where clients may not, it may not')
})

t.test('it is journaled, printed by name and replayed', async (t) => {
  const stage = new Stage(t)
  const { dataDir, database, sequencer } = stage.matcher
  const events = [
    stage.enter(0, Origin.TWAP, { price: 3000, lots: 100 }), stage.enter(1, Origin.COPY, { flags: Flag.SELL | Flag.MARKET, lots: 30 }),
    stage.enter(1, Origin.COPY, { price: 3000, lots: 2 ** 30 }),
  ].flat()
  const digest = stateDigest(sequencer.state)
  await database.close()
  const again = startMatcher(dataDir)
  t.equal(stateDigest(again.sequencer.state), digest, 'a start does it once')
  await again.database.close()
  t.match(verify(dataDir, () => undefined), { digest })
  const steps = [...openSource(dataDir).steps].map(printable).slice(-3)
  t.match(steps, [
    { command: 'ENTER_ORDER', origin: Origin.TWAP, session: -1, account: 0 }, { command: 'ENTER_ORDER', origin: Origin.COPY },
    { command: 'ENTER_ORDER', lots: 2 ** 30 },
  ])
  t.equal(steps.flatMap((step) => step['events'] as object[]).length, events.length)
})

t.test('its words are where those of a client\'s order are', async (t) => {
  const { at: own } = ENTER_ORDER_COMMAND
  const { at: order } = COMMAND_LAYOUTS[CommandType.PLACE_ORDER]!
  const same = ['pair', 'flags', 'price', 'lots', 'slippageBps', 'expiresAt', 'options'] as const
  for (const name of same) t.equal(own[name], order[name], name)
})
