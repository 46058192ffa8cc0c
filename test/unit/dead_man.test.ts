/**
 * Promise: an account that set a deadline and said nothing more in time has everything cancelled that it had at rest
 * then, at that sequenced time, in bounded parts, and nothing that came later; over restarts and replays too. One
 * deadline for each account. However many accounts have how many orders, those of one wait for a part of each of the
 * others, and everybody's commands go along.
 */
import t from 'tap'
import { realIo } from '../../core/lib/io.ts'
import { AFTER_MS_MAX, CommandType, DISARM, PairStatus } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import { RECORD_BYTES, viewsOf } from '../../core/layout/table.ts'
import { CONTINUED_MAX } from '../../core/orders/continue_cancel.ts'
import { TAKEOVER_MS } from '../../core/orders/sweep_rows.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { createTimers, SWEEPS_MAX, writeDue } from '../../core/sequencer/timers.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { dueCount } from '../../core/state/due.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { allAt, arm, genesisOf, live, matcherOf, place, replays, turnAt } from '../support/dead_man_stage.ts'
import { temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, START_TIME } from '../support/journal.ts'
import { copyStored } from '../support/recording.ts'

t.test('fires at its time and not before, in parts, and spares what is newer', async (t) => {
  const matcher = matcherOf(t)
  const [ann, bob] = [openAccount(matcher, 1, 'ann'), openAccount(matcher, 1, 'bob')]
  place(matcher, ann, 600)
  place(matcher, bob, 3)
  arm(matcher, ann, 1000)
  turnAt(matcher, 0)
  t.match(answersOf(matcher, 1).at(-1), { code: 0, detail: 0, detail2: 0, time: START_TIME })
  t.same(allAt(matcher, 999), [], 'not before')
  answersOf(matcher, 1)
  t.equal(live(matcher), 603)
  place(matcher, ann, 2)
  t.same(allAt(matcher, 1000), [CONTINUED_MAX, CONTINUED_MAX, 600 - 2 * CONTINUED_MAX])
  t.equal(live(matcher), 5, 'what came behind it in that batch stays, and what others have')
  t.equal(answersOf(matcher, 1).length, 2, 'answered to nobody but for the two orders')
  t.same(allAt(matcher, 100_000), [], 'once')
  t.ok(replays(matcher))
})

t.test('setting it again puts it off, or forward; 0 takes it away', async (t) => {
  const matcher = matcherOf(t)
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 2)
  arm(matcher, ann, 1000)
  turnAt(matcher, 0)
  arm(matcher, ann, 1000)
  turnAt(matcher, 900)
  t.same(allAt(matcher, 1899), [])
  arm(matcher, ann, 50_000)
  turnAt(matcher, 1899)
  arm(matcher, ann, DISARM)
  turnAt(matcher, 2000)
  t.same(allAt(matcher, 60_000), [], 'none')
  arm(matcher, ann, AFTER_MS_MAX)
  turnAt(matcher, 60_000)
  arm(matcher, ann, 1)
  turnAt(matcher, 60_000)
  t.same(allAt(matcher, 60_001), [2])
  t.equal(live(matcher), 0)
  t.ok(replays(matcher))
})

t.test('said again in the batch of its time, it has fired: what is sequenced decides', async (t) => {
  const matcher = matcherOf(t)
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 2)
  arm(matcher, ann, 1000)
  turnAt(matcher, 0)
  arm(matcher, ann, 1000)
  t.same(allAt(matcher, 1000), [2])
  place(matcher, ann, 1)
  turnAt(matcher, 1500)
  t.same(allAt(matcher, 2000), [1], 'and is set anew')
})

t.test('many of one moment fire by turns, with the ends of orders', async (t) => {
  const matcher = matcherOf(t)
  const many = Array.from({ length: 30 }, (_, index) => openAccount(matcher, 1, `maker ${index}`))
  for (const who of many) {
    place(matcher, who, 3)
    place(matcher, who, 1, { flags: Flag.SELL | Flag.EXPIRES, expiresAt: START_TIME + 500 })
    arm(matcher, who, 500)
  }
  turnAt(matcher, 0)
  t.equal(live(matcher), 120)
  const ended = allAt(matcher, 500)
  t.equal(ended[0], 30, 'those that expired')
  t.ok(ended.slice(1).every((count) => count <= 4 * 3), ended.join(', '))
  t.equal(live(matcher), 0)
  t.ok(replays(matcher))
})

t.test('orders on a halted pair stay, as of a mass cancel', async (t) => {
  const matcher = matcherOf(t)
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 2)
  arm(matcher, ann, 10)
  turnAt(matcher, 0)
  postCommand(matcher, 0, CommandType.SET_PAIR_STATUS, { session: -1, pair: 0, status: PairStatus.HALTED })
  turnAt(matcher, 0)
  t.same(allAt(matcher, 10), [])
  t.equal(live(matcher), 2)
})

t.test('a deadline that was over while the exchange stood fires at once after the start', async (t) => {
  const dataDir = temporaryDirectory()
  const first = matcherOf(t, dataDir)
  const ann = openAccount(first, 1, 'ann')
  place(first, ann, 3)
  arm(first, ann, 1000)
  turnAt(first, 0)
  const before = stateDigest(first.sequencer.state)
  const { replayer } = fromGenesis(first.database)
  catchUp(first.database, replayer, Infinity, realIo.seconds, () => undefined)
  t.equal(stateDigest(replayer.state), before)
  const { state } = copyStored(genesisOf(), first.sequencer.state)
  checkInvariants(state)
  const batch = viewsOf(new ArrayBuffer(8 * RECORD_BYTES))
  const due = (ms: number): number => writeDue(createTimers(), state, START_TIME + ms, batch, 0, 8)
  t.same([due(999), due(1000), due(1000)], [0, 1, 0], 'a snapshot has it')
  t.same(allAt(first, 50_000), [3])
})

t.test('an account with few orders waits for a part of each of the others, whoever fires first', async (t) => {
  const matcher = matcherOf(t)
  const [OTHERS, EACH] = [16, 600]
  const [first, ...others] = Array.from({ length: OTHERS + 2 }, (_, index) => openAccount(matcher, 1, `maker ${index}`))
  const last = others.pop()!
  for (const who of others) {
    place(matcher, who, EACH)
    turnAt(matcher, 0)
    answersOf(matcher, 1)
  }
  for (const who of [first!, last]) place(matcher, who, 1)
  for (const who of [first!, ...others, last]) arm(matcher, who, 10)
  turnAt(matcher, 0)
  answersOf(matcher, 1)
  const gone = new Map<unknown, number>()
  let most = 0
  for (let turn = 1; matcher.sequencer.timers.behind || turn === 1; turn++) {
    const ended = turnAt(matcher, 10)
    most = Math.max(most, ended.length)
    for (const { account } of ended) gone.set(account, turn)
  }
  const turns = [...gone.values()]
  t.equal(live(matcher), 0)
  t.equal(turns.length, OTHERS + 2)
  t.ok(most <= SWEEPS_MAX * CONTINUED_MAX, `${most} orders end in one turn`)
  // One turn begins all of them, then each has one part.
  const fair = 1 + Math.ceil((OTHERS + 2) / SWEEPS_MAX)
  t.equal(turns.filter((turn) => turn <= fair).length, 2, `those with one order are done in ${fair} turns: ${turns.join(' ')}`)
  t.ok(replays(matcher))
})

t.test('who fires again and again does not hold up a mass cancel that was left', async (t) => {
  const matcher = matcherOf(t)
  const many = Array.from({ length: 12 }, (_, index) => openAccount(matcher, 1, `maker ${index}`))
  const bob = openAccount(matcher, 1, 'bob')
  place(matcher, bob, 700)
  turnAt(matcher, 0)
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...bob, pair: -1, limit: 1 })
  turnAt(matcher, 0)
  for (let turn = 0; turn < 6; turn++) {
    for (const who of many) {
      place(matcher, who, 1)
      arm(matcher, who, 1)
    }
    turnAt(matcher, TAKEOVER_MS + turn)
  }
  t.equal(answersOf(matcher, 1).filter(({ code }) => Number(code ?? 0) !== 0).length, 0)
  t.ok(live(matcher) < 60, `${live(matcher)} left`)
})

t.test('another mass cancel neither stops it nor makes it forget', async (t) => {
  const matcher = matcherOf(t)
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 600)
  arm(matcher, ann, 10)
  turnAt(matcher, 0)
  turnAt(matcher, 10)
  t.equal(live(matcher), 600, 'it began')
  place(matcher, ann, 3)
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...ann, pair: 1, limit: 1 })
  turnAt(matcher, 10)
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...ann, pair: -1, limit: 2 })
  turnAt(matcher, 10)
  allAt(matcher, 10)
  t.equal(live(matcher), 1, 'but the one that came later, of which the second had ended two')
  t.ok(replays(matcher))
})

t.test('however often it is set, it is one place of the due queue', async (t) => {
  const matcher = matcherOf(t)
  const ann = openAccount(matcher, 1, 'ann')
  const before = dueCount(matcher.sequencer.state)
  for (let round = 0; round < 300; round++) {
    arm(matcher, ann, round % 3 === 0 ? DISARM : 1 + ((round * 7919) % AFTER_MS_MAX))
    if (round % 50 === 0) turnAt(matcher, 0)
  }
  turnAt(matcher, 0)
  t.equal(dueCount(matcher.sequencer.state), before + 1)
})
