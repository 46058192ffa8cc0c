/**
 * A matcher in this thread whose accounts set deadlines, turn by turn at moments that the test says; see
 * unit/dead_man.test.ts.
 */
import type { Test } from 'tap'
import { realIo } from '../../core/lib/io.ts'
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { removeDirectory, temporaryDirectory } from './exchange.ts'
import { eventsOf, postCommand, START_TIME, startMatcher, type Matcher, type Signed } from './journal.ts'
import { genesisText, VARIANTS } from './variants.ts'

const spec = VARIANTS['market']!
const LIMITS = { ...spec.limits, orders: 131_072, openOrdersPerAccount: 16_384 }
/** The genesis of {@link matcherOf}. */
export const genesisOf = (limits: Record<string, number> = {}): string => genesisText({ ...spec, limits: { ...LIMITS, ...limits } })

export function matcherOf(t: Pick<Test, 'teardown'>, dataDir = temporaryDirectory(), limits: Record<string, number> = {}): Matcher {
  t.teardown(() => removeDirectory(dataDir))
  return startMatcher(dataDir, { maxSlots: 2048, genesis: genesisOf(limits), commandRing: 4096 })
}

/** Orders at rest. */
export const live = (matcher: Matcher): number => matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE]!

/** Takes one batch, with timers, at so many ms after the start; orders that ended. */
export function turnAt(matcher: Matcher, ms: number): Decoded[] {
  matcher.clock = START_TIME + ms
  matcher.turn(true)
  checkInvariants(matcher.sequencer.state)
  return eventsOf(matcher).filter(({ event }) => event === 'ORDER_ENDED')
}

export const place = (matcher: Matcher, who: Signed, count: number, values: Decoded = {}): void => {
  for (let order = 0; order < count; order++) {
    postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...who, pair: 0, flags: Flag.SELL, price: 3000, lots: 100, ...values })
  }
}
/** Sets the deadline of an account, or takes it away. */
export const arm = (matcher: Matcher, who: Signed, afterMs: number): void =>
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...who, pair: -1, limit: 1, afterMs })

/** Turns at this moment until nothing more is due; how many orders ended in each that ended any. */
export function allAt(matcher: Matcher, ms: number): number[] {
  const ended: number[] = []
  do ended.push(turnAt(matcher, ms).length)
  while (matcher.sequencer.timers.behind)
  return ended.filter((count) => count > 0)
}

/** The journal replays to the state of the matcher. */
export function replays(matcher: Matcher): boolean {
  const { replayer } = fromGenesis(matcher.database)
  catchUp(matcher.database, replayer, Infinity, realIo.seconds, () => undefined)
  return stateDigest(replayer.state) === stateDigest(matcher.sequencer.state)
}
