/**
 * Promise: funding acts through the journal. Each perpetual gets one FUNDING_STEP for each full minute and each interval that is over,
 * never early and never twice, in no more than its part of a batch; none while the clock waits. Whoever recovers, from the genesis or from
 * a snapshot, goes on in the same millisecond with the same state.
 */
import t from 'tap'
import { realIo } from '../../core/lib/io.ts'
import { CommandType, kindOf } from '../../core/layout/command.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { step } from '../../core/sequencer/loop.ts'
import { writeSnapshot } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { getF64, perpRow } from '../../core/state/rows.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { MARGIN_MAX, writeMarginDue } from '../../core/sequencer/margin_timers.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { eventsOf, postCommand, START_TIME, startMatcher, type Matcher } from '../support/journal.ts'
import { genesisText, pairSpec, perpPair } from '../support/variants.ts'

/** Perpetuals stand between spot pairs; their intervals are an hour and two minutes. */
const GENESIS = genesisText({
  limits: {}, dailyLimit: 5, assets: [['USD', 6, '20000'], ['BTC', 8, '50'], ['ETH', 9, '500']],
  pairs: [
    pairSpec('BTC/USD'), perpPair('BTC/USD-PERP'), pairSpec('ETH/USD'), perpPair('ETH/USD-PERP', { fundingIntervalSeconds: 120 }),
  ],
})
/** The full minute after the start, which is 20 seconds before it. */
const MINUTE_1 = START_TIME + 40_000

function directory(): string {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  return dataDir
}

function priced(dataDir: string, maxSlots = 64): Matcher {
  const matcher = startMatcher(dataDir, { genesis: GENESIS, maxSlots })
  const values = { session: -1, price: 10_000, observedAt: START_TIME }
  for (const pair of [1, 3]) postCommand(matcher, 0, CommandType.SET_INDEX_PRICE, { ...values, pair })
  matcher.turn()
  eventsOf(matcher)
  return matcher
}

/** Turns at the time; pairs whose premium was sampled or whose funding was paid. */
function turnAt(matcher: Matcher, time: number): { marks: unknown[]; rates: unknown[] } {
  matcher.clock = time
  matcher.turn(true)
  const events = eventsOf(matcher)
  const pairs = (name: string): unknown[] => events.filter(({ event }) => event === name).map(({ pair }) => pair)
  return { marks: pairs('MARK'), rates: pairs('FUNDING_RATE') }
}

const nextSample = ({ sequencer: { state } }: Matcher, pair: number): number => getF64(state, perpRow(state, pair), PERP.NEXT_SAMPLE_AT)

t.test('each minute and each interval, once', async (t) => {
  t.equal(MINUTE_1 % 60_000, 0)
  const matcher = priced(directory())
  t.same(turnAt(matcher, MINUTE_1 - 1), { marks: [], rates: [] }, 'a millisecond early')
  t.same(turnAt(matcher, MINUTE_1), { marks: [1, 3], rates: [3] }, 'both minutes, and the end of the interval of two')
  t.same(turnAt(matcher, MINUTE_1 + 1), { marks: [], rates: [] }, 'once')
  t.same(turnAt(matcher, MINUTE_1 + 60_000), { marks: [1, 3], rates: [] })
  t.same(turnAt(matcher, MINUTE_1 + 10 * 60_000 + 5), { marks: [1, 3], rates: [3] }, 'after a gap one each, not one for each minute')
  t.equal(nextSample(matcher, 1), MINUTE_1 + 11 * 60_000, 'and full minutes again')
})

t.test('a spot pair and a perpetual without a price have nothing to do', async (t) => {
  const matcher = startMatcher(directory(), { genesis: GENESIS })
  t.same(turnAt(matcher, MINUTE_1 + 3_600_000), { marks: [], rates: [] })
})

t.test('a batch of two: each turn has one, until all had theirs', async (t) => {
  const matcher = priced(directory(), 2)
  t.same(turnAt(matcher, MINUTE_1), { marks: [1], rates: [] })
  t.equal(matcher.sequencer.timers.behind, true)
  t.same(turnAt(matcher, MINUTE_1), { marks: [3], rates: [3] })
  t.same(turnAt(matcher, MINUTE_1), { marks: [], rates: [] })
  t.equal(matcher.sequencer.timers.behind, false)
})

t.test('none is written beyond its room', async (t) => {
  const { sequencer: { state } } = priced(directory())
  const batch = viewsOf(new ArrayBuffer(MARGIN_MAX * RECORD_BYTES))
  t.equal(writeMarginDue(state, MINUTE_1, batch, 5, 5), 5)
  t.equal(writeMarginDue(state, MINUTE_1, batch, 5, 6), 6)
  t.same([0, 5, 6].map((slot) => batch.u32[slot * RECORD_WORDS]), [0, kindOf(CommandType.FUNDING_STEP, 1, 0), 0])
  t.equal(writeMarginDue(state, MINUTE_1 - 1, batch, 0, MARGIN_MAX), 0)
})

t.test('whoever recovers goes on where it stopped; while the clock waits nothing is paid', async (t) => {
  const [journaled, snapshotted] = [directory(), directory()].map((dataDir) => {
    const matcher = priced(dataDir)
    turnAt(matcher, MINUTE_1)
    turnAt(matcher, MINUTE_1 + 30_000)
    return matcher
  }) as [Matcher, Matcher]
  const { state, writer, eventsChecksum } = snapshotted.sequencer
  writeSnapshot(snapshotted.dataDir, state, GENESIS, writer.checksum, eventsChecksum)
  const digests = [journaled, snapshotted].map(({ dataDir }) => {
    const again = startMatcher(dataDir)
    // The wall clock is behind the journal.
    t.equal(again.sequencer.clock.waits, true)
    for (let looks = 0; looks < 5; looks++) step(again.sequencer)
    t.equal(nextSample(again, 1), MINUTE_1 + 60_000)
    t.same(turnAt(again, MINUTE_1 + 59_999), { marks: [], rates: [] })
    t.same(turnAt(again, MINUTE_1 + 120_000), { marks: [1, 3], rates: [3] })
    const { replayer } = fromGenesis(again.database)
    catchUp(again.database, replayer, Infinity, realIo.seconds, () => undefined)
    t.equal(stateDigest(replayer.state), stateDigest(again.sequencer.state))
    return stateDigest(again.sequencer.state)
  })
  t.equal(digests[0], digests[1])
})
