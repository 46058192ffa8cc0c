/**
 * Promise: a mass cancel that began is brought to its end, whoever of those who asked for it ends first, the exchange too; in bounded
 * parts, and without an order that was placed after it began.
 */
import t from 'tap'
import { realIo } from '../../core/lib/io.ts'
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { TAKEOVER_MS } from '../../core/orders/sweep_rows.ts'
import { CONTINUED_MAX } from '../../core/orders/continue_cancel.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { ACCOUNT, ACCOUNT_WORDS, SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, eventsOf, openAccount, postCommand, START_TIME, startMatcher, type Matcher, type Signed } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const spec = VARIANTS['market']!
const GENESIS = genesisText({ ...spec, limits: { ...spec.limits, orders: 131_072, openOrdersPerAccount: 16_384 } })

function matcherOf(dataDir = temporaryDirectory()): Matcher {
  t.teardown(() => removeDirectory(dataDir))
  return startMatcher(dataDir, { maxSlots: 2048, genesis: GENESIS, commandRing: 4096 })
}

const live = (matcher: Matcher): number => matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE]!

/** Takes one batch, with timers, at so many ms after the start. */
function turnAt(matcher: Matcher, ms: number): { answers: Decoded[]; ended: number } {
  matcher.clock = START_TIME + ms
  matcher.turn(true)
  const events = eventsOf(matcher)
  const refused = events.find(({ code }) => Number(code ?? 0) !== 0)
  if (refused !== undefined) throw new Error(`refused: ${String(refused['code'])}`)
  const ended = events.filter(({ event }) => event === 'ORDER_ENDED').length
  checkInvariants(matcher.sequencer.state)
  return { answers: answersOf(matcher, 1).filter(({ event }) => event === 'RESULT'), ended }
}

function place(matcher: Matcher, who: Signed, count: number, pair = 0): void {
  for (let order = 0; order < count; order++) {
    postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...who, pair, flags: Flag.SELL, price: 3000, lots: 100 })
  }
}

const cancelAll = (matcher: Matcher, who: Signed, values: Decoded): void =>
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...who, pair: -1, limit: 10, ...values })

function replays(matcher: Matcher): boolean {
  const { replayer } = fromGenesis(matcher.database)
  catchUp(matcher.database, replayer, Infinity, realIo.seconds, () => undefined)
  return stateDigest(replayer.state) === stateDigest(matcher.sequencer.state)
}

t.test('the sequencer goes on when nobody does, in parts', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 700)
  turnAt(matcher, 0)
  cancelAll(matcher, ann, {})
  t.match(turnAt(matcher, 1000).answers, [{ detail: 10, detail2: 1 }])
  place(matcher, ann, 5)
  t.equal(turnAt(matcher, 1000 + TAKEOVER_MS - 1).ended, 0, 'not before its time')
  t.equal(live(matcher), 695)
  const parts = [1, 2, 3, 4].map(() => turnAt(matcher, 1000 + TAKEOVER_MS))
  t.same(parts.map(({ ended }) => ended), [CONTINUED_MAX, CONTINUED_MAX, 690 - 2 * CONTINUED_MAX, 0])
  t.same(parts.flatMap(({ answers }) => answers), [], 'answered to nobody')
  t.equal(live(matcher), 5, 'what was placed after it began stays')
  t.ok(replays(matcher))
})

t.test('while whoever asked goes on, the sequencer does not', async (t) => {
  const matcher = matcherOf()
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 30)
  turnAt(matcher, 0)
  let from: Decoded = {}
  for (const part of [1, 2]) {
    cancelAll(matcher, ann, from)
    place(matcher, ann, 1)
    const [said] = turnAt(matcher, part * (TAKEOVER_MS - 1)).answers
    t.match(said, { detail: 10, detail2: 1 })
    from = { fromSlot: said!['slot']!, fromSequence: said!['orderSequence']! }
  }
  // The order to go on from ends, so the next part begins with the newest.
  postCommand(matcher, 1, CommandType.CANCEL_ORDER, { ...ann, targetSlot: from['fromSlot']!, targetSequence: from['fromSequence']! })
  cancelAll(matcher, ann, { ...from, limit: 1000 })
  t.match(turnAt(matcher, 3 * (TAKEOVER_MS - 1)).answers, [{ code: 0 }, { detail: 9, detail2: 0 }])
  t.equal(live(matcher), 2, 'and looks past those that came later')
  t.equal(turnAt(matcher, 10 * TAKEOVER_MS).ended, 0)
  t.ok(replays(matcher))
})

t.test('it survives a restart', async (t) => {
  const dataDir = temporaryDirectory()
  const first = matcherOf(dataDir)
  const [ann, bob] = [openAccount(first, 1, 'ann'), openAccount(first, 1, 'bob')]
  for (const who of [ann, bob]) for (const pair of [0, 1]) place(first, who, 300, pair)
  turnAt(first, 0)
  cancelAll(first, ann, { pair: 1 })
  const { state } = first.sequencer
  const createdSequence = state.accountsF64[(ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
  postCommand(first, 0, CommandType.CANCEL_ACCOUNT_ORDERS, { session: -1, account: 1, createdSequence, pair: -1, limit: 1 })
  turnAt(first, 10)
  turnAt(first, 10 + TAKEOVER_MS)
  t.equal(live(first), 1200 - 11 - 2 * CONTINUED_MAX, 'a part of each')
  const digest = stateDigest(state)
  void first.database.close()
  const second = matcherOf(dataDir)
  t.equal(stateDigest(second.sequencer.state), digest)
  for (let turn = 0; turn < 8; turn++) turnAt(second, 10 + TAKEOVER_MS)
  t.equal(live(second), 300, 'hers of the other pair')
  t.ok(replays(second))
})
